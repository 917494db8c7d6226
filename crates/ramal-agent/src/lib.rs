//! A session at work: turns with a model and tools, navigation that brings home a summary,
//! compaction, and the events and hooks by which others take part.
//!
//! [`AgentSession`] is a cheap handle; one task at a time owns a turn, nobody owns the log. The
//! crate knows no terminal and no JavaScript.

mod events;
pub mod hooks;
pub mod permission;
pub mod shell;
pub mod tools;

pub use events::{AgentEvent, CompactionReason};

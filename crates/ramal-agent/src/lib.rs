//! A session at work: turns with a model and tools, navigation that brings home a summary,
//! compaction, and the events and hooks by which others take part.
//!
//! [`AgentSession`] is a cheap handle; one task at a time owns a turn, nobody owns the log. The
//! crate knows no terminal and no JavaScript.

mod ask;
pub mod compact;
mod events;
pub mod hooks;
pub mod summary;
#[cfg(test)]
mod testing;
mod tokens;
pub mod tools;
mod transcript;

pub use events::{AgentEvent, CompactionReason};

//! A session at work: turns with a model and tools, navigation that brings home a summary,
//! compaction, and the events and hooks by which others take part.
//!
//! [`AgentSession`] is a cheap handle; one task at a time owns a turn, nobody owns the log. The
//! crate knows no terminal and no JavaScript.

mod again;
mod appended;
mod aside;
mod ask;
mod attached;
mod branch;
mod chosen;
mod clear;
mod compacting;
mod context_parts;
mod error;
mod events;
mod handoff;
mod hooked;
mod interrupted;
mod move_to;
mod navigate;
mod object;
mod offered;
mod operation;
mod queue;
mod request;
mod retrying;
mod session;
mod side_question;
mod system_prompt;
#[cfg(test)]
mod testing;
mod title;
mod tokens;
mod transcript;
mod turn;
mod watched;

pub mod compact;
pub mod hooks;
pub mod permission;
pub mod shell;
pub mod summary;
pub mod tools;

pub use attached::AttachError;
pub use branch::Branched;
pub use chosen::ModelChoice;
pub use compacting::Compacted;
pub use context_parts::{ContextBreakdown, ContextKind, ContextPart};
pub use error::AgentError;
pub use events::{AgentEvent, CompactionReason};
pub use handoff::HandedOff;
pub use interrupted::{Interruption, interruption};
pub use move_to::Moved;
pub use navigate::{NavigateOptions, Navigated};
pub use operation::{Operation, Within};
pub use queue::{Prompt, QueueMode};
pub use session::{AgentConfig, AgentSession, FindModel, Permit, Reconfigure};
pub use side_question::SideAnswer;
pub use system_prompt::{ContextFile, ContextFiles, context_files, system_prompt};

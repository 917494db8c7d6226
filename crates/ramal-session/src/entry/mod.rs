//! Entries: the lines of a log that are not its header.

pub(crate) mod envelope;
pub(crate) mod id;
mod kind;
pub mod time;

pub(crate) mod header;
pub(crate) mod payload;

pub use header::Header;
pub use id::{EntryId, stable_hash};
pub use kind::{Kind, Role};
pub use payload::{Entry, Message, ToolCall, Usage};

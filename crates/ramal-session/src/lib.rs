//! Sessions of coding agents as trees in append-only logs.
//!
//! The log is bytes; the tree is an index over it. [`SessionManager`] is where everything begins.

pub mod check;
pub mod context;
pub mod error;
pub mod json;
pub mod library;

mod branch_out;
mod entry;
mod log;
mod manager;
mod migrate;
mod tree;

pub use context::{ContextError, ContextMessage, ModelInput, SessionContext, SessionStats};
pub use entry::{Entry, EntryId, Header, Kind, Message, Role, ToolCall, Usage, stable_hash, time};
pub use error::{AppendError, CopyError, NoSuchEntry, OpenError, ReadError, ReadOnly};
pub use manager::{
    At, BranchSummary, Compaction, Durability, EntryRef, Irregular, LogTail, Moved, NameSource,
    NavigateError, NewEntry, SessionManager,
};
pub use migrate::Format;
pub use tree::projection::{
    BranchFacts, BranchTotals, CallOf, Calls, Detail, EntryFacts, EntrySet, Filter, Guide, Projection, Row,
    Search, Searcher, Shown, TreeOrder, View,
};

/// The examples of the README are run as they stand there.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

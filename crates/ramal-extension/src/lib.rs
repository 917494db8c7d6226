//! Users' own JavaScript and TypeScript around a session at work: events, commands, tools, dialogs.
//!
//! Each extension has an engine and a thread of its own ([`thread`]); what it is asked goes there as a job,
//! and what it wants done goes through [`natives`], as JSON both ways. To the session it is a hook like any
//! other ([`extension`]). The crate draws nothing: whoever has a user implements [`Ui`], whoever decides
//! implements [`Permits`].

mod bridge;
mod builtin;
mod bytes;
mod events;
mod extension;
mod host;
mod loader;
mod natives;
mod owner;
mod permit;
mod record;
pub mod strip;
mod thread;
mod tool;
pub mod ui;
mod watch;
mod world;

pub use builtin::imports;
pub use events::{EventName, events};
pub use extension::{Brings, Extension};
pub use host::{CommandInfo, Extensions, FlagInfo, Input, LoadProblem, Resources, RunError, ShortcutInfo};
pub use permit::{Always, Identity, Permits, Wish};
pub use record::name_of;
pub use ui::{NoUi, Ui};
pub use world::{LogLine, Mode, NoProgram, Options, OtherCommand, Program};

//! Models over their streaming interfaces.
//!
//! A session's messages go in as `ramal_session` answers them ([`Request`]), an answer comes out as
//! it is made ([`Event`]) and at the end as one assistant message in the form of the log
//! ([`Answer`]). Blocks are kept as they came and in their order, and go back unchanged to the api,
//! provider and model that made them.
//!
//! The crate knows no files of sessions, no tree and no terminal.

mod address;
mod answer;
mod body;
mod client;
mod error;
mod models;
mod replay;
mod request;
mod retry;
mod stream;
mod wait;
mod watch;

pub mod catalog;
pub mod wire;

pub use address::without_credentials;
pub use answer::{Answer, Block, Event, StopReason, Usage};
pub use catalog::Catalog;
pub use client::{Client, LanguageModel, Timeouts};
pub use error::{ModelError, Passing};
pub use models::Models;
pub use replay::Replay;
pub use request::{Api, Cost, Endpoint, Request, Secret, ThinkingLevel, ToolSpec};
pub use retry::RetryPolicy;
pub use stream::{AnswerStream, Outcome, Source};
pub use wait::{asked_wait, retry_after};
pub use watch::{Watch, Watching};

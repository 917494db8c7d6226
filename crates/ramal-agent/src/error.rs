//! Why a command to a session at work did not go through.

use std::path::PathBuf;

use ramal_model::ModelError;
use ramal_session::{
    AppendError, ContextError, CopyError, EntryId, NavigateError, NoSuchEntry, OpenError, ReadError,
};

/// Why a command did not go through. Unless it says otherwise, the session is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// Something else is being done that must end first.
    #[error("the session is busy with {with}")]
    Busy {
        /// What is being done.
        with: &'static str,
    },
    /// No model is chosen.
    #[error("no model is chosen; name one with `--model provider/id`, and see `ramal models`")]
    NoModel,
    /// The model that is chosen cannot be used.
    #[error("{name} cannot be used: {why}")]
    UnusableModel {
        /// The model's name.
        name: String,
        /// Why not.
        why: String,
    },
    /// The directory that the session works in is not there any more.
    #[error(
        "the directory of this session is not there: {}; a copy of it can go on elsewhere (`--fork`)",
        path.display()
    )]
    NoDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// A branch can only be made before a user message.
    #[error("entry {id} is no user message")]
    NotAUserMessage {
        /// The entry.
        id: EntryId,
    },
    /// The model failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The model answered nothing where a summary was wanted.
    #[error("the model's summary is empty")]
    EmptySummary,
    /// There is nothing that could be compacted.
    #[error("there is nothing to compact")]
    NothingToCompact,
    /// The last turn came to its end.
    #[error("there is nothing to repeat: the last turn did not fail, and was not interrupted")]
    NothingToRetry,
    /// Nothing was said that a brief could be made of.
    #[error("there is nothing to hand off: nothing was said in this session yet")]
    NothingToHandOff,
    /// Nothing was said that a title could be made from.
    #[error("there is nothing to make a title from: nothing was said in this session yet")]
    NothingToName,
    /// What the model answered does not do as a title.
    #[error("the model proposed no title that would do; give one yourself")]
    NoTitle,
    /// The model said nothing, or wanted to run a tool in place of it.
    #[error("the model gave no answer in words; ask it in the conversation, where it can use its tools")]
    NoAnswer,
    /// The user ended what was waited for.
    #[error("{what} was aborted")]
    Aborted {
        /// What was ended.
        what: &'static str,
    },
    /// The session is in memory only, so that there is nothing to copy.
    #[error("this session is kept in memory only, so it cannot move to {}", path.display())]
    OnlyInMemory {
        /// Where it was to go.
        path: PathBuf,
    },
    /// The directory that the session is to go to cannot be worked in.
    #[error("the session cannot move to {}: {source}", path.display())]
    NoSuchDirectory {
        /// The directory.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The session is at work in that directory already.
    #[error("the session is in {} already", path.display())]
    AlreadyThere {
        /// The directory.
        path: PathBuf,
    },
    /// Something that this version knows no name for.
    #[error("{message}")]
    Other {
        /// What was said.
        message: String,
    },
    /// There is no such entry.
    #[error(transparent)]
    NoSuchEntry(#[from] NoSuchEntry),
    /// The log could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The log could not be appended to.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// A copy could not be made.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// A session could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
}

impl From<ContextError> for AgentError {
    fn from(error: ContextError) -> Self {
        match error {
            ContextError::NoSuchEntry(error) => error.into(),
            ContextError::Read(error) => error.into(),
            other => AgentError::Other { message: other.to_string() },
        }
    }
}

impl From<NavigateError> for AgentError {
    fn from(error: NavigateError) -> Self {
        match error {
            NavigateError::NoSuchEntry(error) => error.into(),
            NavigateError::Read(error) => error.into(),
            NavigateError::Append(error) => error.into(),
            other => AgentError::Other { message: other.to_string() },
        }
    }
}

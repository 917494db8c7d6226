//! What can go wrong, in types. The program turns these into sentences with a hint.

use std::io;
use std::path::PathBuf;

use crate::entry::EntryId;

/// Why a session could not be opened or made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The system refused.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file has no header and nothing in it looks like an entry.
    #[error("{path} is no session: it has no header, and nothing in it looks like an entry", path = path.display())]
    NotASession {
        /// The file.
        path: PathBuf,
    },
    /// The file is in a version of the format that this program cannot read at all.
    #[error("{path} is in format {version}, which this version of ramal cannot read", path = path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// The version as the file states it.
        version: String,
    },
    /// There is no folder for sessions.
    #[error("no folder for sessions can be told: neither a home folder nor XDG_DATA_HOME is set")]
    NoPlace,
    /// A session id that is no name for a file.
    #[error("{id:?} cannot be a session id: only letters, digits, '-', '_' and '.' may be in one")]
    BadSessionId {
        /// The id.
        id: String,
    },
}

/// No entry has the id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no entry {id} in this session")]
pub struct NoSuchEntry {
    /// The id that was asked for.
    pub id: EntryId,
}

/// Why an entry could not be read from the log.
#[derive(Debug, thiserror::Error)]
#[error("cannot read entry {id} of {path}: {source}", path = path.display())]
pub struct ReadError {
    /// The entry.
    pub id: EntryId,
    /// The file; empty for a session in memory.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// Why a session takes no entries.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadOnly {
    /// Its log is in a later version than this program writes.
    NewerVersion(String),
    /// Its log has no header that can be read; `check --repair` makes one.
    NoHeader,
}

/// Why nothing was appended. The entry is not in the tree then, and the log is still valid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// An entry that the new one refers to is not in the session.
    #[error(transparent)]
    NoSuchEntry(#[from] NoSuchEntry),
    /// The entry is not one that can be appended.
    #[error("this is no entry that can be appended: {why}")]
    BadEntry {
        /// What is wrong with it.
        why: &'static str,
    },
    /// The session takes no entries.
    #[error("{path} takes no entries: {}", match why {
        ReadOnly::NewerVersion(version) => format!("it is in version {version} of the format, and this version of ramal writes 3"),
        ReadOnly::NoHeader => "its header is missing or damaged; `ramal check --repair` makes it whole".into(),
    }, path = path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// Why.
        why: ReadOnly,
    },
    /// Somebody else held the lock for longer than one waits.
    #[error("{path} is locked by another program; nothing was written", path = path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The file is shorter than it was when it was read.
    #[error("{path} was cut short by another program: it had {had} bytes and has {has}; nothing was written", path = path.display())]
    CutShort {
        /// The file.
        path: PathBuf,
        /// Bytes that were read from it.
        had: u64,
        /// Bytes in it now.
        has: u64,
    },
    /// Another file stands at the path, and it does not continue this session.
    #[error("{path} was replaced by {with}; nothing was written", path = path.display())]
    Replaced {
        /// The file.
        path: PathBuf,
        /// What stands there now.
        with: &'static str,
    },
    /// The file appeared while the session was still waiting for its first message.
    #[error("{path} appeared meanwhile and is not empty; nothing was written", path = path.display())]
    Appeared {
        /// The file.
        path: PathBuf,
    },
    /// An old log could not be rewritten in the present version.
    #[error("{path} is in an old version and could not be rewritten beside its place: {source}; fork the session to go on", path = path.display())]
    Migration {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system refused.
    #[error("cannot write to {path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Why a session could not be copied into a new one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CopyError {
    /// The entry to copy up to is not in the session.
    #[error(transparent)]
    NoSuchEntry(#[from] NoSuchEntry),
    /// Only before a user message can a session be begun anew.
    #[error("entry {id} is no user message")]
    NotAUserMessage {
        /// The entry.
        id: EntryId,
    },
    /// There is no path to copy.
    #[error("there is nothing to copy before the first entry")]
    Empty,
    /// The source could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The source could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The new file could not be written.
    #[error("cannot write {path}: {source}", path = path.display())]
    Write {
        /// The new file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

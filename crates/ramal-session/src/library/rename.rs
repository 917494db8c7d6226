//! A name for a session that is not open.

use std::path::{Path, PathBuf};

use crate::error::{AppendError, OpenError};
use crate::manager::{NameSource, SessionManager};

/// Why a session got no other name. Nothing was written then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenameError {
    /// There is no such file any more.
    #[error("{path} is gone, so that it cannot be renamed", path = path.display())]
    Gone {
        /// The file.
        path: PathBuf,
    },
    /// It cannot be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It takes no entries, or not now.
    #[error(transparent)]
    Append(#[from] AppendError),
}

/// Gives the session in a file a name; an empty one takes the name off. For the session that is open here, its
/// own [`SessionManager::set_session_name`] does the same with less work.
///
/// The name is an entry at the end, where opening the session leads anyway.
///
/// # Errors
/// If the file is gone, cannot be read, or takes no entries: it is damaged, in a later version, or another
/// program holds its lock.
pub fn rename(path: &Path, name: &str) -> Result<(), RenameError> {
    let gone = || RenameError::Gone { path: path.into() };
    if !path.exists() {
        // Opening it would begin a new session there.
        return Err(gone());
    }
    let mut session = SessionManager::open(path, None)?;
    if !session.is_on_disk() {
        return Err(gone());
    }
    session.set_session_name(name, NameSource::User)?;
    Ok(())
}

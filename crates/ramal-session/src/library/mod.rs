//! Where sessions live, and how they are found.

use std::path::{Path, PathBuf};

use crate::error::OpenError;

/// The folders of sessions.
#[derive(Debug, Clone, Default)]
pub struct Places {}

impl Places {
    /// As the environment says.
    pub fn from_environment() -> Places {
        Places {}
    }

    /// The folder of our own sessions for `cwd`.
    ///
    /// # Errors
    /// If none can be told.
    pub fn own_folder(&self, cwd: &Path) -> Result<PathBuf, OpenError> {
        Ok(std::env::temp_dir().join(cwd.file_name().unwrap_or_default()))
    }
}

/// The name of a session's file.
///
/// # Errors
/// If the id may not be part of a path.
pub fn file_name(id: &str, now: i64) -> Result<String, OpenError> {
    Ok(format!("{}_{id}.jsonl", crate::entry::time::format(now).replace([':', '.'], "-")))
}

/// A session that was found.
#[derive(Debug, Clone)]
pub struct SessionInfo {}

/// The sessions in a folder.
pub fn list_folder(_folder: &Path) -> Vec<SessionInfo> {
    Vec::new()
}

/// The sessions of a working directory.
pub fn list(_places: &Places, _cwd: &Path) -> Vec<SessionInfo> {
    Vec::new()
}

/// The most recent of them.
pub fn most_recent(_sessions: &[SessionInfo], _cwd: Option<&Path>) -> Option<PathBuf> {
    None
}

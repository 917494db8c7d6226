//! Where the user left each log, remembered beside it and not in it (contract, sections 1 and 13).
//!
//! One small file per session below the state folder. It counts only while the log is, byte for
//! byte as far as its length and its end tell, the one that was left; then the user stands where
//! they stood. Otherwise the log's own rule decides. Nothing here ever fails the command that asks.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use ramal_session::{LogTail, SessionManager};
use serde::{Deserialize, Serialize};

use crate::{failure, state};

/// A file of this memory that is longer is none of ours.
const LONGEST: u64 = 1 << 20;

/// What is remembered of a log.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Left {
    /// The log's canonical path: the file's name is only a hash of it.
    path: String,
    session_id: String,
    /// None: before the first entry.
    leaf_id: Option<String>,
    /// Bytes in the log when it was left.
    length: u64,
    /// A hash of its last bytes, in hexadecimal: not every reader of JSON has 64 bits.
    tail: String,
}

/// Moves a session that was just opened to where the user left it, if that is known and still holds.
pub(crate) fn recall(session: &mut SessionManager) {
    if let Some(left) = recalled(session) {
        match left.leaf_id {
            // An entry that is not there any more is no reason to do anything.
            Some(id) => drop(session.branch(&id)),
            None => session.reset_leaf(),
        }
    }
}

/// The same for the end of the log at `file`, read by itself.
pub(crate) fn recall_in_tail(tail: &mut LogTail, file: &Path) {
    let Ok(path) = fs::canonicalize(file) else { return };
    let Some(left) = stored(&path) else { return };
    let (length, hash) = tail.fingerprint();
    if left == Left::at(&path, tail.session_id(), left.leaf_id.clone(), length, hash) {
        tail.go(left.leaf_id.as_deref());
    }
}

fn recalled(session: &SessionManager) -> Option<Left> {
    let path = canonical(session)?;
    let left = stored(&path)?;
    let now = Left::of(session, &path, left.leaf_id.clone()).ok()??;
    (left == now).then_some(left)
}

/// What is remembered of the log at a canonical path.
fn stored(path: &Path) -> Option<Left> {
    let mut text = String::new();
    let file = fs::File::open(place(&folder()?, path)).ok()?;
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// Remembers the leaf of a session as the place where the user left it. Called at every move; an
/// append needs it only where the log's own rule would not lead to the leaf.
///
/// What goes wrong is said once on standard error. Answers whether the leaf is
/// remembered now: a session without a file has no such memory.
pub(crate) fn remember(session: &SessionManager) -> bool {
    static SAID: AtomicBool = AtomicBool::new(false);
    let error = match try_remember(session) {
        Ok(remembered) => return remembered,
        Err(error) => error,
    };
    if !SAID.swap(true, Ordering::Relaxed) {
        failure::warn(&format!("where you are in this session cannot be remembered: {error}"));
    }
    false
}

fn try_remember(session: &SessionManager) -> io::Result<bool> {
    let (Some(folder), Some(path)) = (folder(), canonical(session)) else { return Ok(false) };
    let leaf = session.get_leaf_entry();
    let id = leaf.map(|leaf| leaf.id()).transpose().map_err(|error| error.source)?;
    let place = place(&folder, &path);
    // An id that means another entry would lead astray: better nothing is known.
    let leads_there = id.as_deref().is_none_or(|id| session.get_entry(id) == leaf);
    match Left::of(session, &path, id.as_deref().map(str::to_owned))? {
        Some(left) if leads_there => {
            state::replace(&folder, &place, &serde_json::to_vec(&left)?).map(|()| true)
        }
        _ => state::remove(&place).map(|()| false),
    }
}

impl Left {
    fn of(session: &SessionManager, path: &Path, leaf_id: Option<String>) -> io::Result<Option<Left>> {
        let fingerprint = session.log_fingerprint()?;
        let at = |(length, tail)| Left::at(path, session.get_session_id(), leaf_id, length, tail);
        Ok(fingerprint.map(at))
    }

    fn at(path: &Path, session_id: &str, leaf_id: Option<String>, length: u64, tail: u64) -> Left {
        Left {
            path: path.to_string_lossy().into_owned(),
            session_id: session_id.to_owned(),
            leaf_id,
            length,
            tail: format!("{tail:016x}"),
        }
    }
}

/// The canonical path of a session's file, if the file is there.
fn canonical(session: &SessionManager) -> Option<PathBuf> {
    if !session.is_on_disk() {
        return None;
    }
    fs::canonicalize(session.get_session_file()?).ok()
}

/// The folder of this memory; none where the environment names no place for it.
fn folder() -> Option<PathBuf> {
    state::folder("leaves")
}

fn place(folder: &Path, log: &Path) -> PathBuf {
    folder.join(format!("{}.json", state::name_for(&[log.as_os_str().as_encoded_bytes()])))
}

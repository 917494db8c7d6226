//! One session found by what somebody typed: a path, the beginning of an id, a name.

use std::fs::File as StdFile;
use std::io::Read;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use super::listing::{File, Files, Scope, list_with};
use super::names::shortened;
use super::{Places, SessionInfo};
use crate::entry::Header;

/// Bytes in which the header of a file is looked for before the whole file is read for it.
const HEAD: u64 = 16 * 1024;

/// Why no session was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// No session has an id that begins so, or such a name.
    #[error("no session whose id begins with {what:?}, and none of that name")]
    NotFound {
        /// What was asked for.
        what: String,
    },
    /// Several have.
    #[error("{what:?} can be {} sessions", candidates.len())]
    Ambiguous {
        /// What was asked for.
        what: String,
        /// The sessions it can be.
        candidates: Vec<Candidate>,
    },
}

/// One of several sessions that something typed can mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// As much of its id as tells it from the others; typed again, it is found. The same for two that
    /// share an id: then only the path tells them apart.
    pub id: String,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its file.
    pub path: PathBuf,
}

/// Finds the session that `what` means: a path, the beginning of an id, or a name.
///
/// What has a separator in it, or ends in `.jsonl`, or names a file, is a path, and is answered
/// whether there is such a file or not. Of ids and names, those of sessions of `cwd` go first; then
/// those of all others count. A whole id goes before the beginning of one, an id before a name, and a
/// name as it is before one in other letters.
///
/// # Errors
/// If there is no such session, or several are meant.
pub fn find(places: &Places, cwd: &Path, what: &str) -> Result<PathBuf, FindError> {
    let is_path = what.contains(['/', MAIN_SEPARATOR]) || what.ends_with(".jsonl");
    if is_path || (!what.is_empty() && Path::new(what).is_file()) {
        return Ok(PathBuf::from(what));
    }
    let not_found = || FindError::NotFound { what: what.into() };
    if what.trim().is_empty() {
        return Err(not_found());
    }
    for scope in [Scope::Cwd(cwd), Scope::All] {
        if let Some(found) = by_id(places, scope, what) {
            return found;
        }
    }
    for scope in [Scope::Cwd(cwd), Scope::All] {
        if let Some(found) = by_name(places, scope, what) {
            return found;
        }
    }
    Err(not_found())
}

/// Only heads of files are read for this, however many there are.
fn by_id(places: &Places, scope: Scope<'_>, what: &str) -> Option<Result<PathBuf, FindError>> {
    let mut files = Files::default();
    files.gather(places, scope);
    let mut found: Vec<(&File, String)> = Vec::new();
    for file in &files.found {
        if let Some(id) = id_of(file, scope, what) {
            found.push((file, id));
        }
    }
    if found.iter().any(|(_, id)| id == what) {
        found.retain(|(_, id)| id == what);
    }
    match &*found {
        [] => None,
        [(file, _)] => Some(Ok(file.path.clone())),
        _ => {
            let sessions = found.iter().map(|(file, id)| {
                let name = SessionInfo::read(&file.path).ok().and_then(|session| session.name);
                (id.clone(), name, file.path.clone())
            });
            Some(Err(ambiguous(what, sessions.collect())))
        }
    }
}

/// The id of a session of the scope, if it begins with `what`.
fn id_of(file: &File, scope: Scope<'_>, what: &str) -> Option<String> {
    let header = header_in_head(&file.path);
    let header = match header {
        Some(header) if !header.id().starts_with(what) => return None,
        // A header says whose the session is; what is rare is left to the reader of sessions.
        Some(header) if matches!(scope, Scope::All | Scope::Folder(_)) => return Some(header.id().into()),
        header => header,
    };
    if header.is_none() && !may_be_session(&file.path) {
        return None;
    }
    let session = SessionInfo::read(&file.path).ok()?;
    (session.id.starts_with(what) && file.is_wanted(&session, scope)).then_some(session.id)
}

fn may_be_session(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0)
}

/// The header, if it is among the first bytes of the file, as nearly always.
fn header_in_head(path: &Path) -> Option<Header> {
    if !may_be_session(path) {
        return None;
    }
    let mut head = Vec::new();
    StdFile::open(path).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head);
    let lines = head.split_inclusive(|&b| b == b'\n').filter(|line| line.ends_with(b"\n"));
    let full = lines.filter(|line| !line.trim_ascii().is_empty());
    full.take(crate::manager::HEADER_WITHIN).find_map(|line| {
        match crate::log::scan::classify(line.trim_ascii_end()) {
            crate::log::scan::What::Session(line) => Header::read(&line),
            _ => None,
        }
    })
}

fn by_name(places: &Places, scope: Scope<'_>, what: &str) -> Option<Result<PathBuf, FindError>> {
    let sessions = list_with(places, scope, &mut |_, _| {}).sessions;
    let wanted = what.trim();
    let folded = wanted.to_lowercase();
    let named = |is: &dyn Fn(&str) -> bool| -> Vec<&SessionInfo> {
        sessions.iter().filter(|session| session.name.as_deref().is_some_and(is)).collect()
    };
    let mut found = named(&|name| name == wanted);
    if found.is_empty() {
        found = named(&|name| name.to_lowercase() == folded);
    }
    match &*found {
        [] => None,
        [session] => Some(Ok(session.path.clone())),
        several => {
            let sessions = several
                .iter()
                .map(|session| (session.id.clone(), session.name.clone(), session.path.clone()));
            Some(Err(ambiguous(what, sessions.collect())))
        }
    }
}

fn ambiguous(what: &str, sessions: Vec<(String, Option<String>, PathBuf)>) -> FindError {
    let ids = shortened(&sessions.iter().map(|(id, ..)| &**id).collect::<Vec<_>>());
    let candidates =
        sessions.into_iter().zip(ids).map(|((_, name, path), id)| Candidate { id, name, path }).collect();
    FindError::Ambiguous { what: what.into(), candidates }
}

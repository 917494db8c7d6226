//! Sessions listed, with true counts (contract, sections 2, 13 and 14).
//!
//! Every file is read by the reader that also opens sessions, so that a list and a session never
//! disagree. Several files are read at a time; of each only the index is held, and only as long as
//! it takes to look at it.

use std::collections::HashSet;
use std::fs::Metadata;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::parallel::in_parallel;
use super::places::{self, Origin, Places};
use super::state::{self, LastMessage, SessionState};
use crate::entry::{Entry, Message, time};
use crate::error::{OpenError, ReadOnly};
use crate::log::Log;
use crate::log::file::FileLog;
use crate::manager::SessionManager;
use crate::migrate::Format;

/// User messages that are looked at for something to show; sessions of nothing but markup are rare.
const LOOKED_AT: usize = 32;
/// A message larger than this was not typed, and is not read to be shown in a list.
pub(super) const TYPED: u64 = 4 * 1024 * 1024;
/// Characters of the first message that are kept.
const SHOWN: usize = 2000;

/// A session that was found, and what there is to say about it without opening it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionInfo {
    /// The file.
    pub path: PathBuf,
    /// The id in its header; a made-up one if it has no header ([`SessionInfo::read_only`] says so).
    pub id: String,
    /// The working directory in its header; empty if there is none.
    pub cwd: String,
    /// The name it was given, by hand or by a program.
    pub name: Option<String>,
    /// What the user said first, in one line and cut after 2,000 characters. Injected and hidden
    /// messages are passed over, and such as begin with markup, if there is anything else.
    pub first_message: Option<String>,
    /// What was said last where one would go on.
    pub last_message: Option<LastMessage>,
    /// What its last turn came to.
    pub state: SessionState,
    /// Entries of type `message`, on all branches.
    pub messages: usize,
    /// Entries of any type.
    pub entries: usize,
    /// Conversation entries that no conversation follows.
    pub branches: usize,
    /// Bytes of the file.
    pub size: u64,
    /// Last activity, in milliseconds since 1970: the time of the newest conversation entry, or else
    /// of the header, or else of the file.
    pub modified: i64,
    /// When the session was begun, in milliseconds since 1970, if the header says so.
    pub created: Option<i64>,
    /// What it was copied from: a path or an id, as it stands in the header.
    pub parent_session: Option<String>,
    /// Whose folder it was found in.
    pub origin: Origin,
    /// Lines that are no entries and should be.
    pub damaged_lines: u64,
    /// The version of the format that the file is in.
    pub format: Format,
    /// Why nothing can be appended to it, if so.
    pub read_only: Option<ReadOnly>,
}

impl SessionInfo {
    /// What there is to say about the session in the file at `path`.
    ///
    /// # Errors
    /// If the file cannot be read, or is no session.
    pub fn read(path: &Path) -> Result<SessionInfo, OpenError> {
        read(path, Origin::Elsewhere, &mut Vec::new())
    }

    /// Whether it belongs to work in `cwd`.
    pub fn is_of(&self, cwd: &Path) -> bool {
        !self.cwd.is_empty() && places::is_same_folder(Path::new(&self.cwd), cwd)
    }
}

/// What a listing found.
#[derive(Debug, Default)]
pub struct Listing {
    /// The sessions, the most recently active first.
    pub sessions: Vec<SessionInfo>,
    /// Files and folders that should be there to be listed and could not be.
    pub problems: Vec<Problem>,
}

/// A file that is no session, or a file or folder that could not be read.
#[derive(Debug)]
pub struct Problem {
    /// The file or folder.
    pub path: PathBuf,
    /// What is wrong.
    pub error: OpenError,
}

/// Which sessions to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'a> {
    /// Those of a working directory.
    Cwd(&'a Path),
    /// All in the known places.
    All,
    /// All in a folder, whatever working directory they are of.
    Folder(&'a Path),
}

/// The sessions of a working directory: ours, pi's and oh-my-pi's.
pub fn list(places: &Places, cwd: &Path) -> Listing {
    list_with(places, Scope::Cwd(cwd), &mut |_, _| {})
}

/// All sessions: ours, pi's and oh-my-pi's.
pub fn list_all(places: &Places) -> Listing {
    list_with(places, Scope::All, &mut |_, _| {})
}

/// The sessions in a folder.
pub fn list_folder(folder: &Path) -> Listing {
    list_with(&Places::default(), Scope::Folder(folder), &mut |_, _| {})
}

/// The sessions of a scope. `progress` hears how many files of how many have been read; it is called
/// from this thread, first with none.
pub fn list_with(places: &Places, scope: Scope<'_>, progress: &mut dyn FnMut(usize, usize)) -> Listing {
    let mut files = Files::default();
    files.gather(places, scope);
    let mut listing = Listing { sessions: Vec::new(), problems: files.problems };
    read_all(&files.found, progress, &mut |file, result| match result {
        Ok(session) if !file.is_wanted(&session, scope) => {}
        Ok(session) => listing.sessions.push(session),
        Err(error) => listing.problems.push(Problem { path: file.path.clone(), error }),
    });
    listing.sessions.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| b.path.cmp(&a.path)));
    listing.problems.sort_by(|a, b| a.path.cmp(&b.path));
    listing
}

/// What is heard while sessions are listed one by one.
#[derive(Debug)]
pub enum Heard {
    /// So many files of how many have been read.
    Progress {
        /// Files that have been read.
        done: usize,
        /// Files that there are.
        of: usize,
    },
    /// A session of the scope.
    Session(Box<SessionInfo>),
    /// Something that should be there to be listed and could not be.
    Problem(Problem),
}

/// Lists the sessions of a scope, telling `hear` of each as soon as it has been read, those begun last about
/// first. It is called from this thread, first of all with how many files there are; once it breaks off, no
/// further file is begun.
pub fn list_each(places: &Places, scope: Scope<'_>, hear: &mut dyn FnMut(Heard) -> ControlFlow<()>) {
    let mut files = Files::default();
    files.gather(places, scope);
    // Their names begin with the time at which they were begun.
    files.found.sort_by(|a, b| b.path.file_name().cmp(&a.path.file_name()));
    let (of, mut done) = (files.found.len(), 0);
    let mut first = vec![Heard::Progress { done, of }];
    first.extend(files.problems.into_iter().map(Heard::Problem));
    if first.into_iter().any(|heard| hear(heard).is_break()) {
        return;
    }
    in_parallel(&files.found, &read_file, &mut |number, result| {
        let file = &files.found[number];
        match result {
            Ok(session) if !file.is_wanted(&session, scope) => {}
            Ok(session) => hear(Heard::Session(Box::new(session)))?,
            Err(error) => hear(Heard::Problem(Problem { path: file.path.clone(), error }))?,
        }
        done += 1;
        hear(Heard::Progress { done, of })
    });
}

/// The most recently active of some sessions that can be gone on with; of those of a working
/// directory, if one is given.
pub fn most_recent(sessions: &[SessionInfo], cwd: Option<&Path>) -> Option<PathBuf> {
    let wanted =
        |session: &&SessionInfo| session.read_only.is_none() && cwd.is_none_or(|cwd| session.is_of(cwd));
    let newest = sessions
        .iter()
        .filter(wanted)
        .max_by(|a, b| a.modified.cmp(&b.modified).then_with(|| a.path.cmp(&b.path)));
    newest.map(|session| session.path.clone())
}

/// Files that may be sessions.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) found: Vec<File>,
    pub(super) problems: Vec<Problem>,
    folders: HashSet<PathBuf>,
    links: HashSet<PathBuf>,
}

#[derive(Debug)]
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) origin: Origin,
    /// It lies in the folder of the working directory that was asked for.
    at_home: bool,
}

impl File {
    /// Two directories may share a folder, and a folder may hold sessions of any: the header tells.
    /// Where it does not, the folder does.
    pub(super) fn is_wanted(&self, session: &SessionInfo, scope: Scope<'_>) -> bool {
        match scope {
            Scope::Cwd(cwd) => session.is_of(cwd) || (session.cwd.is_empty() && self.at_home),
            Scope::All | Scope::Folder(_) => true,
        }
    }
}

impl Files {
    pub(super) fn gather(&mut self, places: &Places, scope: Scope<'_>) {
        match scope {
            Scope::Folder(folder) => {
                self.add_folder(folder, Origin::Elsewhere, true, true);
            }
            Scope::Cwd(cwd) => {
                let mut names = vec![places::folder_name(cwd)];
                if let Ok(real) = std::fs::canonicalize(cwd) {
                    names.push(places::folder_name(&real));
                }
                for (origin, root) in places.roots() {
                    for name in &names {
                        self.add_folder(&root.join(name), origin, true, false);
                    }
                    // A program that was given a folder of its own puts everything right into it.
                    self.add_folder(root, origin, false, false);
                }
            }
            Scope::All => {
                for (origin, root) in places.roots() {
                    for folder in self.add_folder(root, origin, false, false) {
                        self.add_folder(&folder, origin, false, true);
                    }
                }
            }
        }
    }

    /// Takes in the files of one folder, once; answers the folders in it, to which nothing leads
    /// further: a link in a circle is followed once at most. A folder that is not there is empty,
    /// unless it is `expected`.
    fn add_folder(&mut self, folder: &Path, origin: Origin, at_home: bool, expected: bool) -> Vec<PathBuf> {
        let mut inner = Vec::new();
        let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        if !self.folders.insert(real) {
            return inner;
        }
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                if expected || error.kind() != io::ErrorKind::NotFound {
                    self.problem(folder, error);
                }
                return inner;
            }
        };
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.problem(folder, error);
                    break;
                }
            };
            let path = entry.path();
            let link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            let is_dir = match entry.file_type() {
                Ok(kind) if !kind.is_symlink() => kind.is_dir(),
                _ => path.is_dir(),
            };
            if is_dir {
                inner.push(path);
            } else if is_log_name(&path) && (!link || self.is_new_link(&path)) {
                self.found.push(File { path, origin, at_home });
            }
        }
        inner.sort_unstable();
        inner
    }

    /// Several links to one file, or a link beside it, are one session.
    fn is_new_link(&mut self, path: &Path) -> bool {
        match std::fs::canonicalize(path) {
            Ok(real) => {
                let beside = real.parent() == path.parent().and_then(|p| p.canonicalize().ok()).as_deref();
                let listed = beside && is_log_name(&real);
                !listed && self.links.insert(real)
            }
            // It leads nowhere: reading it will say so.
            Err(_) => true,
        }
    }

    fn problem(&mut self, path: &Path, source: io::Error) {
        self.problems.push(Problem { path: path.into(), error: OpenError::Io { path: path.into(), source } });
    }
}

/// Sessions are in files called `*.jsonl`; a name with a dot in front is something else's.
pub(super) fn is_log_name(path: &Path) -> bool {
    let hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
    !hidden && path.extension().is_some_and(|extension| extension == "jsonl")
}

/// Reads all files, several at a time, and gives each to `take` in any order.
pub(super) fn read_all(
    files: &[File],
    progress: &mut dyn FnMut(usize, usize),
    take: &mut dyn FnMut(&File, Result<SessionInfo, OpenError>),
) {
    progress(0, files.len());
    let mut done = 0;
    in_parallel(files, &read_file, &mut |number, result| {
        take(&files[number], result);
        done += 1;
        progress(done, files.len());
        ControlFlow::Continue(())
    });
}

fn read_file(file: &File, buffer: &mut Vec<u8>) -> Result<SessionInfo, OpenError> {
    read(&file.path, file.origin, buffer)
}

/// Opens a session to look at it and let it go again. There has to be one.
pub(super) fn open_to_read(
    path: &Path,
    buffer: &mut Vec<u8>,
) -> Result<(SessionManager, Metadata), OpenError> {
    let io_error = |source| OpenError::Io { path: path.into(), source };
    let metadata = std::fs::metadata(path).map_err(io_error)?;
    if !metadata.is_file() {
        // Opening a pipe would wait for somebody to write into it.
        return Err(OpenError::NotASession { path: path.into() });
    }
    let file = FileLog::open(path).map_err(io_error)?;
    let session = SessionManager::read_with(Log::File(file), path, Path::new(""), buffer)?;
    if !session.is_on_disk() {
        return Err(OpenError::NotASession { path: path.into() });
    }
    Ok((session, metadata))
}

fn read(path: &Path, origin: Origin, buffer: &mut Vec<u8>) -> Result<SessionInfo, OpenError> {
    let (session, metadata) = open_to_read(path, buffer)?;
    let header = session.get_header();
    let made_up = header.is_made_up();
    let created = header.timestamp().and_then(time::parse);
    let file_time = || {
        let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        i64::try_from(since.as_millis()).ok()
    };
    // What a program noted after the last message says nothing about when somebody worked.
    let modified = session.last_activity().or(created).or_else(file_time).unwrap_or_default();
    let (state, last_message) = state::end_of(&session);
    Ok(SessionInfo {
        path: path.into(),
        id: match path.to_str().and_then(super::names::id_in_name) {
            Some(id) if made_up => id.to_owned(),
            _ => header.id().to_owned(),
        },
        cwd: header.cwd().to_owned(),
        name: session.get_session_name().map(|name| one_line(&name)),
        first_message: first_message(&session),
        last_message,
        state,
        messages: session.message_count(),
        entries: session.entry_count(),
        branches: session.branch_count(),
        size: metadata.len(),
        modified,
        created,
        parent_session: header.parent_session().map(String::from),
        origin,
        damaged_lines: session.damaged_lines(),
        format: session.format().clone(),
        read_only: session.read_only(),
    })
}

/// What the user said first.
fn first_message(session: &SessionManager) -> Option<String> {
    let mut second_best = None;
    for number in session.tree.user_messages().take(LOOKED_AT) {
        if session.tree.node(number).len() > TYPED {
            continue;
        }
        // What cannot be read any more costs a row its text and nothing else.
        let Ok(entry) = session.entry(number) else { continue };
        let text = one_line(&entry.text());
        if text.is_empty() || entry.message().is_none_or(|message| is_injected(&entry, message)) {
            continue;
        }
        if !is_markup(&text) {
            return Some(text);
        }
        second_best.get_or_insert(text);
    }
    second_best
}

/// Programs mark what they say in the user's name in several ways.
fn is_injected(entry: &Entry, message: Message<'_>) -> bool {
    let says = |key, value| entry.get(key) == Some(value) || message.get(key) == Some(value);
    says("display", "false")
        || says("synthetic", "true")
        || says("isMeta", "true")
        || says("attribution", "\"agent\"")
}

fn is_markup(text: &str) -> bool {
    let begins = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c));
    text.strip_prefix('<').is_some_and(|rest| begins(rest) && rest.contains('>'))
}

pub(super) fn one_line(text: &str) -> String {
    let mut line = String::new();
    let mut left = SHOWN;
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().take(left));
        left = left.saturating_sub(word.chars().take(left).count() + 1);
        if left == 0 {
            break;
        }
    }
    line
}

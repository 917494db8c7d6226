//! Opening and making sessions (contract, sections 2, 7 and 11).

use std::io;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::intake::{Intake, Last};
use super::{DamageFound, Durability, Place, ReadUpTo, SessionManager};
use crate::context::Surveys;
use crate::entry::{Header, time};
use crate::error::OpenError;
use crate::library;
use crate::log::file::FileLog;
use crate::log::{Log, scan};
use crate::migrate::Format;
use crate::tree::Tree;
use crate::tree::node::Flags;

impl SessionManager {
    /// A new session for work in `cwd`, in a file of its own below `session_dir`, or below the
    /// program's own folder for `cwd` if none is given.
    ///
    /// The file appears with the first message.
    ///
    /// # Errors
    /// If no folder for sessions can be told, because neither a home nor a data folder is set.
    pub fn create(cwd: &Path, session_dir: Option<&Path>) -> Result<SessionManager, OpenError> {
        let folder = match session_dir {
            Some(folder) => folder.to_owned(),
            None => library::Places::from_environment().own_folder(cwd)?,
        };
        let (id, now) = (new_session_id(), time::now());
        let path = folder.join(library::file_name(&id, now)?);
        let mut session = SessionManager::blank(Header::new(id, now, &cwd.to_string_lossy(), None));
        session.place = Place::Planned { path, occupied: None };
        session.session_dir = Some(folder);
        Ok(session)
    }

    /// A new session that lives in memory only.
    pub fn in_memory(cwd: impl AsRef<Path>) -> SessionManager {
        SessionManager::blank(Header::new(
            new_session_id(),
            time::now(),
            &cwd.as_ref().to_string_lossy(),
            None,
        ))
    }

    /// Opens the session in the file at `path`.
    ///
    /// Nothing is written. A missing file, or one without content, is a new session that will stand
    /// there. Copies go beside it unless `session_dir` names another folder.
    ///
    /// # Errors
    /// If the file cannot be read, is no session, or is in a format that cannot be read.
    pub fn open(path: &Path, session_dir: Option<&Path>) -> Result<SessionManager, OpenError> {
        let cwd = std::env::current_dir().unwrap_or_default();
        SessionManager::open_in(path, session_dir, &cwd)
    }

    /// As [`SessionManager::open`]; a session that is new belongs to `cwd`.
    ///
    /// # Errors
    /// As for [`SessionManager::open`].
    pub fn open_in(path: &Path, session_dir: Option<&Path>, cwd: &Path) -> Result<SessionManager, OpenError> {
        // A session stays where it is when the program goes to another directory.
        let path = &std::path::absolute(path).unwrap_or_else(|_| path.into());
        let mut session = match FileLog::open(path) {
            Ok(file) => SessionManager::read(Log::File(file), path, cwd)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => SessionManager::new_at(path, None, cwd),
            Err(source) => return Err(OpenError::Io { path: path.into(), source }),
        };
        session.session_dir = session_dir.map(PathBuf::from);
        Ok(session)
    }

    /// Opens the most recent session of `cwd` that takes entries, in `session_dir` or else wherever
    /// this program lists sessions of `cwd`; a new one if there is none.
    ///
    /// # Errors
    /// As for [`SessionManager::open`] and [`SessionManager::create`].
    pub fn continue_recent(cwd: &Path, session_dir: Option<&Path>) -> Result<SessionManager, OpenError> {
        match SessionManager::most_recent(cwd, session_dir) {
            Some(path) => SessionManager::open_in(&path, session_dir, cwd),
            None => SessionManager::create(cwd, session_dir),
        }
    }

    /// The file that [`SessionManager::continue_recent`] goes on with; none if there is no such session.
    pub fn most_recent(cwd: &Path, session_dir: Option<&Path>) -> Option<PathBuf> {
        match session_dir {
            Some(folder) => library::most_recent(&library::list_folder(folder).sessions, Some(cwd)),
            None => {
                library::most_recent(&library::list(&library::Places::from_environment(), cwd).sessions, None)
            }
        }
    }

    /// Goes over to a new session beside this one, or in memory as this one, for the same working
    /// directory. `parent_session` names where it comes from.
    ///
    /// # Errors
    /// If no name can be made for its file; the session is as it was.
    pub fn start_new(&mut self, parent_session: Option<&str>) -> Result<(), OpenError> {
        let header = Header::new(new_session_id(), time::now(), self.get_cwd(), parent_session);
        let fresh = self.planned_beside(header)?;
        self.replace_with(fresh);
        Ok(())
    }

    /// A session with nothing but a header, in memory.
    pub(crate) fn blank(header: Header) -> SessionManager {
        let mut bytes = header.json().as_bytes().to_vec();
        bytes.push(b'\n');
        let settled = bytes.len() as u64;
        SessionManager {
            log: Log::Memory(bytes),
            tree: Tree::new(),
            header,
            format: Format::Three,
            leaf: None,
            place: Place::Memory,
            session_dir: None,
            read: ReadUpTo { settled, end: settled, lines: 1, json_lines: 1, ..ReadUpTo::default() },
            damage: DamageFound::default(),
            header_at: Some(0),
            durability: Durability::OnDisk,
            has_locks: true,
            surveys: Surveys::default(),
        }
    }

    /// A new session that will stand at `path`. `content` is what stands there already: white space,
    /// or a byte-order mark; it stays.
    fn new_at(path: &Path, content: Option<&[u8]>, cwd: &Path) -> SessionManager {
        let header = Header::new(new_session_id(), time::now(), &cwd.to_string_lossy(), None);
        let mut session = SessionManager::blank(header);
        if let (Some(content), Log::Memory(bytes)) = (content, &mut session.log) {
            let mut prefix = content.to_vec();
            if !prefix.is_empty() && !prefix.ends_with(b"\n") && prefix != b"\xef\xbb\xbf" {
                prefix.push(b'\n');
            }
            session.read.lines += prefix.iter().filter(|&&b| b == b'\n').count() as u64;
            session.header_at = Some(prefix.len() as u64);
            bytes.splice(0..0, prefix);
            session.read.settled = bytes.len() as u64;
            session.read.end = session.read.settled;
        }
        session.place =
            Place::Planned { path: path.into(), occupied: content.map(|content| content.len() as u64) };
        session
    }

    /// A session with `header` that will stand beside this one, or in memory as this one.
    pub(crate) fn planned_beside(&self, header: Header) -> Result<SessionManager, OpenError> {
        let path = self.is_persisted().then(|| self.path_for_copy(&header)).transpose()?;
        let mut session = SessionManager::blank(header);
        if let Some(path) = path {
            session.place = Place::Planned { path, occupied: None };
        }
        session.session_dir = self.get_session_dir().map(PathBuf::from);
        Ok(session)
    }

    /// Where a copy with `header` goes.
    pub(crate) fn path_for_copy(&self, header: &Header) -> Result<PathBuf, OpenError> {
        let name = library::file_name(header.id(), time::now())?;
        Ok(self.get_session_dir().unwrap_or(Path::new(".")).join(name))
    }

    /// Goes over to another session.
    pub(crate) fn replace_with(&mut self, other: SessionManager) {
        *self = other;
    }

    pub(crate) fn set_session_dir(&mut self, folder: Option<PathBuf>) {
        self.session_dir = folder;
    }

    /// Takes in lines that were copied into a session in memory.
    pub(crate) fn take_in_copied(&mut self, lines: &[u8]) -> Result<(), OpenError> {
        if let Log::Memory(bytes) = &mut self.log {
            bytes.extend_from_slice(lines);
        }
        let end = self.read.end + lines.len() as u64;
        self.take_in_from_tail(end).map_err(|source| OpenError::Io { path: PathBuf::new(), source })
    }

    /// Stands at the last entry; where that is one that moved the position, where opening the log leads.
    pub(crate) fn stand_at_last(&mut self) {
        let last = (self.tree.len() as u32).checked_sub(1);
        self.leaf = match last {
            Some(last) if self.tree.node(last).kind == crate::entry::Kind::Leaf => {
                self.tree.leaf_after_opening()
            }
            last => last,
        };
    }

    pub(crate) fn leaf_number(&self) -> Option<u32> {
        self.leaf
    }

    pub(crate) fn parent_number(&self, number: u32) -> Option<u32> {
        self.tree.parent(number)
    }

    pub(crate) fn is_user_message(&self, number: u32) -> bool {
        let node = self.tree.node(number);
        node.kind == crate::entry::Kind::Message && node.role == crate::entry::Role::User
    }

    /// Reads the whole log in one pass.
    pub(crate) fn read(log: Log, path: &Path, cwd: &Path) -> Result<SessionManager, OpenError> {
        SessionManager::read_with(log, path, cwd, &mut Vec::new())
    }

    /// As [`SessionManager::read`], with a buffer that whoever reads many logs uses again.
    pub(crate) fn read_with(
        log: Log,
        path: &Path,
        cwd: &Path,
        buffer: &mut Vec<u8>,
    ) -> Result<SessionManager, OpenError> {
        match index(&log, path, buffer)? {
            Indexed::Blank(content) => Ok(SessionManager::new_at(path, Some(&content), cwd)),
            Indexed::Session(index) => {
                let mut session = SessionManager::blank(index.header.clone());
                session.log = log;
                session.place = Place::File;
                session.take_index(*index);
                Ok(session)
            }
        }
    }

    /// Takes what was read of the log in place of what was known. One stands where the log says.
    pub(super) fn take_index(&mut self, index: Index) {
        let Index { tree, header, header_at, format, damage, read } = index;
        self.leaf = tree.leaf_after_opening();
        (self.tree, self.header, self.header_at, self.format) = (tree, header, header_at, format);
        (self.damage, self.read) = (damage, read);
    }
}

/// What one pass over a log found.
pub(super) enum Indexed {
    /// Nothing but white space, or a byte-order mark: these bytes.
    Blank(Vec<u8>),
    Session(Box<Index>),
}

/// All that is known of a log besides its bytes.
pub(super) struct Index {
    tree: Tree,
    header: Header,
    header_at: Option<u64>,
    format: Format,
    damage: DamageFound,
    read: ReadUpTo,
}

impl Index {
    /// The node of an entry that was read, if one can stand there.
    pub(super) fn find(&self, id: &str) -> Option<u32> {
        self.tree.find(id).filter(|&number| !self.tree.node(number).flags.has(Flags::NO_ID))
    }

    /// The header, or what stands in for one.
    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    /// Whether it is of the session with that id.
    pub(super) fn is_of(&self, session: &str) -> bool {
        self.header.id() == session
    }
}

/// Reads a log in one pass.
pub(super) fn index(log: &Log, path: &Path, buffer: &mut Vec<u8>) -> Result<Indexed, OpenError> {
    let io_error = |source| OpenError::Io { path: path.into(), source };
    let len = log.len().map_err(io_error)?;
    let (mut intake, mut scanned) = take_in(log, len, false, buffer).map_err(io_error)?;
    if intake.mistaken {
        (intake, scanned) = take_in(log, len, true, buffer).map_err(io_error)?;
    }
    if intake.blank {
        return Ok(Indexed::Blank(log.read(0, len).map_err(io_error)?));
    }
    if intake.header.is_none() {
        if let Some(version) = intake.other_format {
            return Err(OpenError::UnknownFormat { path: path.into(), version });
        }
        if !intake.looks_like_a_session {
            return Err(OpenError::NotASession { path: path.into() });
        }
    }
    let mut header = intake.header.take().unwrap_or_else(|| Header::made_up(new_session_id()));
    if intake.format.is_old() {
        header.migrate();
    }
    Ok(Indexed::Session(Box::new(Index {
        header,
        read: ReadUpTo::after(scanned, intake.last, intake.json_lines()),
        tree: intake.tree,
        header_at: intake.header_at,
        format: intake.format,
        damage: intake.damage,
    })))
}

fn take_in(
    log: &Log,
    len: u64,
    force_three: bool,
    buffer: &mut Vec<u8>,
) -> io::Result<(Intake, scan::Scanned)> {
    let mut intake = Intake::new(len, force_three);
    let scanned = scan::scan_with(log, 0, len, 0, buffer, &mut |lines| intake.take_all(log, lines))?;
    intake.finish(log)?;
    Ok((intake, scanned))
}

impl ReadUpTo {
    pub(super) fn after(scanned: scan::Scanned, last: Last, json_lines: u64) -> ReadUpTo {
        ReadUpTo {
            settled: scanned.settled,
            end: scanned.end,
            lines: scanned.lines,
            json_lines,
            tail_is_entry: matches!(last, Last::Entry(at) if at >= scanned.settled),
            tail_is_damaged: matches!(last, Last::Damaged(at) if at >= scanned.settled),
            broken: false,
        }
    }
}

/// An id for a session: a UUID of version 7, so that ids sort by time.
pub(crate) fn new_session_id() -> String {
    Uuid::now_v7().to_string()
}

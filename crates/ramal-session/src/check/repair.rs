//! A damaged log made whole (contract, section 2): beside its place, under the lock, the old bytes kept.
//!
//! Up to three drafts follow one another, each read by the reader of sessions before the next is made
//! from it: the present version, lines that are entries, links that lead somewhere. What is in order
//! keeps its bytes.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

use super::blocks::{Block, Blocks, on_one_line, pieces};
use crate::entry::header::StatedVersion;
use crate::entry::{EntryId, Header, Kind, time};
use crate::error::{AppendError, OpenError};
use crate::json::{self, ObjectEdit, quote};
use crate::library;
use crate::log::file::{AtPath, FileLog};
use crate::log::replace::{Draft, real_path};
use crate::log::scan::{self, What};
use crate::log::{Log, lock};
use crate::manager::{SessionManager, copy, new_session_id};
use crate::migrate;
use crate::tree::node::{Flags, NONE};

/// What was mended and is listed; more is only counted.
const KEPT: usize = 10_000;

/// What a repair did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// Where the old bytes are. None if there was nothing to mend, and nothing was written.
    pub backup: Option<PathBuf>,
    /// What was mended, in the order of the file, up to the first ten thousand.
    pub mended: Vec<Mended>,
    /// How much was mended in all.
    pub count: u64,
}

/// One thing that was mended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mended {
    /// The log was rewritten in the present version first.
    Migrated,
    /// The log got a header: one that stood elsewhere in it, or a new one.
    Header {
        /// The session's id.
        id: String,
        /// True if it is new.
        made: bool,
    },
    /// Damaged lines are gone.
    Lines {
        /// Their numbers, counted from 1.
        lines: RangeInclusive<u64>,
        /// Whole entries that stood in them and have lines of their own now.
        recovered: usize,
    },
    /// A word-for-word repeat of an entry whose link was mended is gone; it would be another entry
    /// now. The number of its line counts without damaged lines, which are gone before.
    Repeat {
        /// The number of the line, counted from 1.
        line: u64,
    },
    /// An entry got the id under which it was shown.
    Id {
        /// The id.
        id: EntryId,
    },
    /// An entry whose parent was not there hangs on the entry before it.
    Parent {
        /// The entry.
        id: EntryId,
        /// What it hangs on; none if it is the first, or the entry before it hangs on it.
        parent: Option<EntryId>,
    },
}

/// Why nothing was mended. The file is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RepairError {
    /// It cannot be opened at all.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It is in a later version than this program writes.
    #[error("{path} is in version {version} of the format, and this version of ramal writes 3", path = path.display())]
    NewerVersion {
        /// The file.
        path: PathBuf,
        /// The version as the file states it.
        version: String,
    },
    /// Somebody else held the lock for longer than one waits.
    #[error("{path} is locked by another program; nothing was written", path = path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// Other programs did not leave it alone.
    #[error("{path} was changed by another program; nothing was written", path = path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The mended file would hold fewer entries than can be read now.
    #[error("{path} could not be mended without losing entries; nothing was written", path = path.display())]
    WouldLose {
        /// The file.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot write beside {path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Mends the log at `path`: makes a header where there is none (for work in `cwd`), recovers whole
/// entries from damaged lines and takes out what else is in those, gives ids to entries without, and
/// hangs entries whose parent is not there on the entry before them.
///
/// A log of an old version is rewritten in the present one with it; one with nothing to mend stays as
/// it is. What is inside an unreadable entry cannot be mended; it stays, too.
///
/// # Errors
/// If the log was not mended. Nothing was written then, except perhaps the backup.
pub fn repair(path: &Path, cwd: &Path) -> Result<Repaired, RepairError> {
    let target = real_path(path);
    let io_error = |source| RepairError::Io { path: path.into(), source };
    let mut session = open_locked(&target, cwd)?;
    if !session.is_on_disk() {
        return Ok(Repaired::default());
    }
    session.wait_for_tail().map_err(|error| match error {
        AppendError::Io { source, .. } => io_error(source),
        _ => RepairError::Changed { path: path.into() },
    })?;
    if let migrate::Format::Newer(version) = session.format() {
        return Err(RepairError::NewerVersion { path: path.into(), version: version.clone() });
    }
    let mut repair = Repair { target: &target, cwd, done: Repaired::default() };
    let Some(draft) = repair.draft(&session).map_err(io_error)? else { return Ok(Repaired::default()) };
    let mended = repair.read(&draft).map_err(io_error)?;
    if mended.entry_count() < session.entry_count() {
        return Err(RepairError::WouldLose { path: path.into() });
    }
    drop(mended);
    repair.done.backup = Some(put_in_place(draft, &session, &target).map_err(io_error)?);
    Ok(repair.done)
}

/// The session with its file locked. The lock lasts as long as the session is open.
fn open_locked(target: &Path, cwd: &Path) -> Result<SessionManager, RepairError> {
    let open_error = |source| OpenError::Io { path: target.into(), source };
    // Each turn meets another file at the path; a few are plenty.
    for _ in 0..16 {
        let mut file = FileLog::open(target).map_err(open_error)?;
        match file.writer() {
            Ok(Some(_)) => {}
            Ok(None) => continue,
            // It is replaced, not written to: a file that only reads can be mended.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            Err(source) => return Err(open_error(source).into()),
        }
        match lock::lock(file.lockable()) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(RepairError::Locked { path: target.into() });
            }
            Err(source) => return Err(open_error(source).into()),
        }
        if matches!(file.at_path(), Ok(AtPath::Same(_))) {
            return Ok(SessionManager::read(Log::File(file), target, cwd)?);
        }
    }
    Err(RepairError::Changed { path: target.into() })
}

/// Puts the draft where the log is, and answers where the old bytes are.
fn put_in_place(draft: Draft, old: &SessionManager, target: &Path) -> io::Result<PathBuf> {
    let Log::File(file) = &old.log else { return Err(io::ErrorKind::InvalidInput.into()) };
    // Whoever opens the new file waits until the late lines are in it, too.
    lock::lock(draft.file())?;
    let permissions = file.permissions()?;
    let (_new, backup) = draft.replace(target, permissions)?;
    let len = file.len()?;
    if len > old.bytes_read() {
        // Somebody who does not lock wrote meanwhile. A damaged tail was taken out: it comes whole.
        let mut writer = std::fs::OpenOptions::new().append(true).open(target)?;
        copy(&old.log, old.taken_out_from(), len, |bytes| io::Write::write_all(&mut writer, bytes))?;
        writer.sync_all()?;
    }
    Ok(backup)
}

struct Repair<'a> {
    target: &'a Path,
    cwd: &'a Path,
    done: Repaired,
}

impl Repair<'_> {
    fn note(&mut self, mended: Mended) {
        self.done.count += 1;
        if self.done.mended.len() < KEPT {
            self.done.mended.push(mended);
        }
    }

    /// A draft as the reader of sessions sees it.
    fn read(&self, draft: &Draft) -> io::Result<SessionManager> {
        let file = FileLog::from_file(self.target.into(), draft.file().try_clone()?)?;
        SessionManager::read(Log::File(file), self.target, self.cwd).map_err(io::Error::other)
    }

    /// The mended log; none if there is nothing to mend.
    fn draft(&mut self, session: &SessionManager) -> io::Result<Option<Draft>> {
        let lines_are_bad = session.get_header().is_made_up() || session.damaged_lines() > 0;
        if !lines_are_bad && !links_are_bad(session) {
            return Ok(None);
        }
        let mut draft = None;
        if session.format().is_old() {
            let mut migrated = Draft::beside(self.target)?;
            session.write_migrated(&mut |bytes| migrated.write_all(bytes))?;
            self.note(Mended::Migrated);
            draft = Some(migrated);
        }
        if lines_are_bad {
            let from = draft.as_ref().map(|draft| self.read(draft)).transpose()?;
            draft = Some(self.mend_lines(from.as_ref().unwrap_or(session))?);
        }
        let from = draft.as_ref().map(|draft| self.read(draft)).transpose()?;
        let from = from.as_ref().unwrap_or(session);
        if links_are_bad(from) {
            draft = Some(self.mend_links(from)?);
        }
        Ok(draft)
    }

    /// A log of lines that are entries, with a header.
    fn mend_lines(&mut self, session: &SessionManager) -> io::Result<Draft> {
        let mut draft = Draft::beside(self.target)?;
        let mut copied = 0;
        if session.get_header().is_made_up() {
            let mut mark = [0; 3];
            if session.log.read_at(0, &mut mark)? == 3 && mark == *b"\xef\xbb\xbf" {
                draft.write_all(&mark)?;
                copied = 3;
            }
            draft.write_all(&self.header_for(session)?)?;
            draft.write_all(b"\n")?;
        }
        let mut known = Known { session, keys: RandomState::new(), recovered: HashSet::new() };
        each_block(session, &mut |block| {
            copy(&session.log, copied, block.start, |bytes| draft.write_all(bytes))?;
            let recovered = known.recover(block, &mut |line| {
                draft.write_all(line)?;
                draft.write_all(b"\n")
            })?;
            copied = behind_line_end(&session.log, block.end)?;
            if let (Some(first), Some(last)) = (block.lines.first(), block.lines.last()) {
                self.note(Mended::Lines { lines: first.number..=last.number, recovered });
            }
            Ok(())
        })?;
        copy(&session.log, copied, session.bytes_read(), |bytes| draft.write_all(bytes))?;
        Ok(draft)
    }

    /// A header that stands where no reader looks for it, or in a damaged line, or a new one.
    fn header_for(&mut self, session: &SessionManager) -> io::Result<Vec<u8>> {
        let usable = |line: &[u8]| {
            Header::read(line).filter(|header| !matches!(header.version, StatedVersion::Newer(_)))
        };
        let mut found = None;
        let mut blocks = Blocks::default();
        let mut error = None;
        let mut look =
            |block: Block, found: &mut Option<Header>| match session.log.read(block.start, block.len()) {
                Ok(bytes) => {
                    let mut headers = pieces(&bytes).into_iter().filter(|piece| piece.is_header);
                    *found = headers.find_map(|piece| usable(&on_one_line(&bytes[piece.at])));
                }
                Err(failed) => error = Some(failed),
            };
        scan::scan_lines(&session.log, session.bytes_read(), &mut |line| {
            if found.is_some() {
                return;
            }
            if let Some(block) = blocks.take(&line) {
                look(block, &mut found);
            }
            if let (What::Session(bytes), None) = (&line.what, &found) {
                found = usable(bytes);
            }
        })?;
        if let (Some(block), None) = (blocks.finish(), &found) {
            look(block, &mut found);
        }
        if let Some(error) = error {
            return Err(error);
        }
        if let Some(header) = found {
            self.note(Mended::Header { id: header.id().into(), made: false });
            return Ok(migrate::header(header.json().as_bytes()));
        }
        // Names of session files end in the id; who referred to this session still finds it.
        let named = self.target.to_str().and_then(library::id_in_name);
        let id = named.filter(|id| library::check_id(id).is_ok()).map_or_else(new_session_id, String::from);
        let began = session.tree.nodes.iter().map(|node| node.time).find(|&at| at != time::UNREADABLE);
        let header =
            Header::new(id.clone(), began.unwrap_or_else(time::now), &self.cwd.to_string_lossy(), None);
        self.note(Mended::Header { id, made: true });
        Ok(header.json().as_bytes().to_vec())
    }

    /// A log in which every entry has an id, and a parent that is there.
    fn mend_links(&mut self, session: &SessionManager) -> io::Result<Draft> {
        let mut draft = Draft::beside(self.target)?;
        let mut above = Above::new(session);
        let gone = self.repeats_to_go(session)?;
        let mut gone = gone.iter().peekable();
        let mut at = 0;
        let mut last = None;
        for number in 0..session.tree.len() as u32 {
            let node = *session.tree.node(number);
            // A moved position is not a place to be.
            let before = if node.kind == Kind::Leaf { last } else { last.replace(number) };
            if !node.flags.has(broken_link()) {
                continue;
            }
            let line = session.log.read(node.offset(), node.len())?;
            let mut edit = ObjectEdit::new();
            let id = session.entry_id(number)?;
            if node.flags.has(Flags::NO_ID) {
                edit = edit.set("id", quote(&id));
                self.note(Mended::Id { id: id.clone() });
            }
            if !node.flags.has(Flags::NO_ID) || !above.keeps_stated(session, number, &line) {
                let parent = above.before(session, number, &id, before)?;
                edit = edit.set("parentId", parent.as_deref().map_or_else(|| "null".into(), quote));
                self.note(Mended::Parent { id, parent });
            }
            let mut copy_to = |end, at: &mut u64| {
                while let Some(repeat) = gone.next_if(|repeat| repeat.start < end) {
                    copy(&session.log, *at, repeat.start, |bytes| draft.write_all(bytes))?;
                    *at = repeat.end;
                }
                copy(&session.log, *at, end, |bytes| draft.write_all(bytes))
            };
            copy_to(node.offset(), &mut at)?;
            draft.write_all(&edit.apply(&line))?;
            at = node.offset() + node.len();
        }
        for repeat in gone {
            copy(&session.log, at, repeat.start, |bytes| draft.write_all(bytes))?;
            at = repeat.end;
        }
        copy(&session.log, at, session.bytes_read(), |bytes| draft.write_all(bytes))?;
        Ok(draft)
    }

    /// The lines that repeat an entry whose link is broken: the entry will be another, they would not.
    fn repeats_to_go(&mut self, session: &SessionManager) -> io::Result<Vec<Range<u64>>> {
        let mut gone = Vec::new();
        if session.tree.repeats == 0 {
            return Ok(gone);
        }
        let keys = RandomState::new();
        let mut broken = HashSet::new();
        for node in session.tree.nodes.iter().filter(|node| node.flags.has(broken_link())) {
            broken.insert(keys.hash_one(session.log.read(node.offset(), node.len())?));
        }
        let mut nodes = session.tree.nodes.iter().map(|node| node.offset()).peekable();
        let mut result = Ok(());
        scan::scan_lines(&session.log, session.bytes_read(), &mut |line| {
            let is_node = nodes.next_if_eq(&line.offset).is_some();
            if is_node || result.is_err() || !matches!(line.what, What::Entry(..)) {
                return;
            }
            let read = || -> io::Result<_> {
                let bytes = session.log.read(line.offset, line.len)?;
                let end = behind_line_end(&session.log, line.offset + line.len)?;
                Ok((keys.hash_one(bytes), end))
            };
            match read() {
                Ok((hash, end)) if broken.contains(&hash) => {
                    gone.push(line.offset..end);
                    self.note(Mended::Repeat { line: line.number });
                }
                Ok(_) => {}
                Err(error) => result = Err(error),
            }
        })?;
        result.map(|()| gone)
    }
}

fn broken_link() -> Flags {
    let mut flags = Flags::NO_ID;
    for flag in [Flags::ORPHAN, Flags::NO_PARENT, Flags::OWN_PARENT, Flags::CUT] {
        flags.set(flag);
    }
    flags
}

fn links_are_bad(session: &SessionManager) -> bool {
    session.tree.nodes.iter().any(|node| node.flags.has(broken_link()))
}

/// Gives the damaged lines of a log to `take`, those that follow one another together.
fn each_block(session: &SessionManager, take: &mut dyn FnMut(&Block) -> io::Result<()>) -> io::Result<()> {
    let mut blocks = Blocks::default();
    let mut result = Ok(());
    scan::scan_lines(&session.log, session.bytes_read(), &mut |line| {
        if let (Some(block), Ok(())) = (blocks.take(&line), &result) {
            result = take(&block);
        }
    })?;
    result?;
    blocks.finish().map_or(Ok(()), |block| take(&block))
}

/// Where the line that ends at `end` leaves off, its line end included.
fn behind_line_end(log: &Log, end: u64) -> io::Result<u64> {
    let mut next = [0; 2];
    let count = log.read_at(end, &mut next)?;
    Ok(end
        + match &next[..count] {
            [b'\n', ..] => 1,
            [b'\r', b'\n'] => 2,
            _ => 0,
        })
}

/// Entries that need not be recovered, since they are there.
struct Known<'a> {
    session: &'a SessionManager,
    keys: RandomState,
    recovered: HashSet<u64>,
}

impl Known<'_> {
    /// Gives the entries of a block that are new to `out`; answers how many those are.
    fn recover(&mut self, block: &Block, out: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<usize> {
        let bytes = self.session.log.read(block.start, block.len())?;
        let mut recovered = 0;
        for piece in pieces(&bytes).into_iter().filter(|piece| !piece.is_header) {
            let line = on_one_line(&bytes[piece.at]);
            if !self.has(&line)? {
                out(&line)?;
                recovered += 1;
            }
        }
        Ok(recovered)
    }

    fn has(&mut self, line: &[u8]) -> io::Result<bool> {
        let Some(id) = json::get_str(line, "id").filter(|id| !id.is_empty()) else { return Ok(false) };
        if let Some(number) = self.session.tree.find(&id) {
            let node = self.session.tree.node(number);
            if node.len() == line.len() as u64 && self.session.log.read(node.offset(), node.len())? == line {
                return Ok(true);
            }
        }
        Ok(!self.recovered.insert(self.keys.hash_one(line)))
    }
}

/// What hangs on what while links are mended: enough to see a circle coming.
struct Above {
    /// The parent of each node, or some ancestor of it.
    up: Vec<u32>,
}

impl Above {
    fn new(session: &SessionManager) -> Above {
        Above { up: session.tree.nodes.iter().map(|node| node.parent).collect() }
    }

    fn root(&mut self, mut at: u32) -> u32 {
        while self.up[at as usize] != NONE {
            let next = self.up[at as usize];
            let further = self.up[next as usize];
            if further != NONE {
                self.up[at as usize] = further;
            }
            at = next;
        }
        at
    }

    /// Hangs `number`, a root so far, on `parent`; false if that hangs on it.
    fn hang(&mut self, number: u32, parent: u32) -> bool {
        let free = self.root(parent) != number;
        if free {
            self.up[number as usize] = parent;
        }
        free
    }

    /// Whether the parent that a line states can be its parent: once the entry has an id, it will be.
    fn keeps_stated(&mut self, session: &SessionManager, number: u32, line: &[u8]) -> bool {
        match json::get(line, "parentId") {
            Some(b"null") => true,
            Some(value) => json::members::as_str(value)
                .and_then(|id| session.tree.find_seen_from(&id, number))
                .is_some_and(|parent| self.hang(number, parent)),
            None => false,
        }
    }

    /// The id of `before`, if `number` can hang there.
    fn before(
        &mut self,
        session: &SessionManager,
        number: u32,
        own: &EntryId,
        before: Option<u32>,
    ) -> io::Result<Option<EntryId>> {
        let Some(before) = before else { return Ok(None) };
        let id = session.entry_id(before)?;
        if id == *own {
            return Ok(None);
        }
        let meant = match session.tree.node(before).flags.has(Flags::NO_ID) {
            true => Some(before),
            false => session.tree.find_seen_from(&id, number),
        };
        Ok(meant.is_some_and(|meant| self.hang(number, meant)).then_some(id))
    }
}

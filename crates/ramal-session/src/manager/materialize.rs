//! Files written whole: a session's first, one whose path is gone, an old version (contract,
//! sections 3 and 11).

use std::io;
use std::path::{Path, PathBuf};

use super::{Durability, NewEntry, Place, SessionManager};
use crate::error::AppendError;
use crate::json::ObjectEdit;
use crate::log::file::{self, AtPath, FileLog};
use crate::log::replace::{Draft, real_path};
use crate::log::{Log, lock, scan};
use crate::migrate::{self, Format};

/// Bytes that are copied at once.
const CHUNK: u64 = 256 * 1024;

impl SessionManager {
    /// Writes a session that has no file yet, its header at least. Answers the path; none for a
    /// session in memory.
    ///
    /// # Errors
    /// If the file could not be written, or something else stands there meanwhile.
    pub fn write_now(&mut self) -> Result<Option<PathBuf>, AppendError> {
        if matches!(self.place, Place::Planned { .. }) {
            self.write_planned(&[])?;
        }
        Ok(self.get_session_file().map(PathBuf::from))
    }

    /// The first message of a new session brings its file, with all that was appended before.
    pub(super) fn append_first_message(&mut self, entry: &NewEntry) -> Result<u32, AppendError> {
        let mut line = self.line_of(entry).map_err(|source| self.io_error(source))?;
        let offset = self.read.end;
        let len = line.len();
        line.push(b'\n');
        self.write_planned(&line)?;
        self.take_in_own(offset, &line[..len], line.len() as u64)
    }

    /// Puts the session's bytes and `more` where they belong.
    fn write_planned(&mut self, more: &[u8]) -> Result<(), AppendError> {
        let Place::Planned { path, occupied } = self.place.clone() else { return Ok(()) };
        let Log::Memory(bytes) = &self.log else { return Ok(()) };
        let mut is_forced = true;
        let written = match occupied {
            None => match place_new(&path, &[bytes, more]) {
                // If what appeared there is empty, it is still the place for this session.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    is_forced = false;
                    fill_empty(&path, &[], &[bytes, more].concat())
                }
                placed => placed,
            },
            Some(len) => {
                is_forced = false;
                let rest = &bytes[usize::try_from(len).unwrap_or(bytes.len()).min(bytes.len())..];
                match fill_empty(&path, &bytes[..bytes.len() - rest.len()], &[rest, more].concat()) {
                    // What had no content is gone: nothing stands there.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => place_new(&path, &[bytes, more]),
                    filled => filled,
                }
            }
        };
        match written {
            Ok(log) => {
                self.log = Log::File(log);
                self.place = Place::File;
                self.durability = if is_forced { Durability::OnDisk } else { Durability::WithTheSystem };
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(AppendError::Appeared { path }),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(AppendError::Locked { path }),
            Err(source) => Err(AppendError::Io { path, source }),
        }
    }

    /// Nothing stands at the path any more: the log is written there anew from the descriptor that
    /// was kept, with the new entry, unless somebody else was quicker.
    pub(super) fn write_missing(&mut self, entry: &NewEntry) -> Result<Option<u32>, AppendError> {
        let path = self.path_for_errors();
        let len = self.log.len().map_err(|source| self.io_error(source))?;
        self.catch_up(len)?;
        self.check_takes_entries()?;
        if self.format.is_old() {
            return Err(AppendError::Replaced { path, with: "nothing, and it is in an old version" });
        }
        let line = self.line_of(entry).map_err(|source| self.io_error(source))?;
        let lead: &[u8] = if self.tail_is_open() { b"\n" } else { b"" };
        let end = self.read.end;
        let write = || -> io::Result<FileLog> {
            let target = real_path(&path);
            let mut draft = Draft::beside(&target)?;
            if let Log::File(old) = &self.log {
                draft.set_permissions(old.permissions()?)?;
            }
            copy(&self.log, 0, end, |bytes| draft.write_all(bytes))?;
            for bytes in [lead, &line, b"\n"] {
                draft.write_all(bytes)?;
            }
            let file = draft.place_new(&target)?;
            FileLog::from_file(path.clone(), file)
        };
        match write() {
            Ok(log) => self.log = Log::File(log),
            // Another program was quicker: see what it put there.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            Err(source) => return Err(self.io_error(source)),
        }
        if !lead.is_empty() {
            self.read.lines += 1;
            self.read.settled = end + 1;
        }
        self.durability = Durability::OnDisk;
        self.take_in_own(end + lead.len() as u64, &line, line.len() as u64 + 1).map(Some)
    }

    /// Rewrites a log of an old version in the present one, keeping the old bytes beside it. The
    /// lock on the old file is held.
    pub(super) fn migrate_file(&mut self) -> Result<(), AppendError> {
        let path = self.path_for_errors();
        let target = real_path(&path);
        self.migrate_to(&target).map_err(|source| AppendError::Migration { path, source })
    }

    fn migrate_to(&mut self, target: &Path) -> io::Result<()> {
        let Log::File(old) = &self.log else { return Ok(()) };
        let permissions = old.permissions()?;
        let mut draft = Draft::beside(target)?;
        self.write_migrated(&mut |bytes| draft.write_all(bytes))?;
        if self.tail_is_open() {
            // The new file is nobody's half-written one: its last line ends.
            draft.write_all(b"\n")?;
        }
        // Whoever opens the new file waits until the late lines are in it, too.
        lock::lock(draft.file())?;
        let (file, _backup) = draft.replace(target, permissions)?;
        let new = FileLog::from_file(self.path_for_errors(), file)?;
        self.carry_over_late_lines(&new)?;
        // Opened again, since the descriptor of the draft cannot append; the lock on it goes with it.
        let file = FileLog::open(new.path())?;
        drop(new);
        self.read_anew(Some(file))?;
        self.durability = Durability::OnDisk;
        Ok(())
    }

    /// Writers that do not lock may have appended to the old file until its name was gone.
    fn carry_over_late_lines(&mut self, new: &FileLog) -> io::Result<()> {
        let before = self.read.end;
        let late = self.log.len()?;
        if late <= before {
            return Ok(());
        }
        let known = self.tree.len();
        let half_a_line = self.tail_is_open();
        self.catch_up(late).map_err(io::Error::other)?;
        let mut writer = std::fs::OpenOptions::new().append(true).open(new.path())?;
        let mut write = |bytes: &[u8]| io::Write::write_all(&mut writer, bytes);
        // Half a line that became whole meanwhile is written again as a whole, behind its half.
        if half_a_line && (known..self.tree.len()).any(|number| self.tree.nodes[number].offset() < before) {
            write(b"\n")?;
        }
        self.write_migrated_from(known as u32, before, &mut write)?;
        writer.sync_all()
    }

    /// The whole log as version 3 has it, in pieces. What is no entry stays byte for byte.
    pub(crate) fn write_migrated(&self, out: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        self.write_migrated_from(0, 0, out)
    }

    /// The log from the entry `first` and the offset `at` on.
    fn write_migrated_from(
        &self,
        first: u32,
        mut at: u64,
        out: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        for number in first..self.tree.len() as u32 {
            let node = self.tree.node(number);
            self.copy_between(at, node.offset(), out)?;
            out(&self.line(number)?)?;
            at = node.offset() + node.len();
        }
        self.copy_between(at, self.read.end, out)
    }

    /// Copies the lines between two entries. The header among them gets its version, and exact
    /// repeats of entries read as those entries do.
    fn copy_between(
        &self,
        from: u64,
        to: u64,
        out: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        if from >= to {
            return Ok(());
        }
        let header = self.header_at.filter(|at| (from..to).contains(at) && self.format.is_old());
        if header.is_none() && (self.tree.repeats == 0 || !self.is_format(&Format::Two)) {
            return copy(&self.log, from, to, out);
        }
        let bytes = self.log.read(from, to - from)?;
        for line in bytes.split_inclusive(|&b| b == b'\n') {
            let body = line.strip_suffix(b"\n").unwrap_or(line);
            let body = body.strip_suffix(b"\r").unwrap_or(body);
            let mark = if body.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
            let (mark, content) = body.split_at(mark);
            out(mark)?;
            match scan::classify(content) {
                scan::What::Session(_)
                    if header.is_some() && crate::entry::Header::read(content).is_some() =>
                {
                    out(&migrate::header(content))?;
                }
                scan::What::Entry(..) => out(&migrate::role(content, ObjectEdit::new()).apply(content))?,
                _ => out(content)?,
            }
            out(&line[body.len()..])?;
        }
        Ok(())
    }
}

/// Gives the bytes `from..to` of a log to `out`, in pieces.
pub(crate) fn copy(
    log: &Log,
    mut from: u64,
    to: u64,
    mut out: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffer = Vec::new();
    while from < to {
        let count = (to - from).min(CHUNK);
        log.read_into(from, count, &mut buffer)?;
        out(&buffer)?;
        from += count;
    }
    Ok(())
}

/// Writes a file where none may stand.
fn place_new(path: &Path, parts: &[&[u8]]) -> io::Result<FileLog> {
    let target = real_path(path);
    let mut draft = Draft::beside(&target)?;
    for part in parts {
        draft.write_all(part)?;
    }
    let file = draft.place_new(&target)?;
    FileLog::from_file(path.into(), file)
}

/// Writes to a file that had no content when it was opened, if that is still so.
fn fill_empty(path: &Path, content: &[u8], rest: &[u8]) -> io::Result<FileLog> {
    let mut log = FileLog::open(path)?;
    if log.writer()?.is_none() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    lock::lock(log.lockable())?;
    let unchanged = log.at_path()? == AtPath::Same(content.len() as u64) && {
        let mut now = vec![0; content.len()];
        log.read_at(0, &mut now)? == content.len() && now == content
    };
    // The lock ends with the descriptor where something fails.
    let Some(writer) = log.opened_writer().filter(|_| unchanged) else {
        return Err(io::ErrorKind::AlreadyExists.into());
    };
    let written = file::append(writer, rest)?;
    if written.count < rest.len() {
        // Half a header would be no session any more. What was just written goes, and nothing else.
        if written.count > 0 && log.len()? == written.end {
            writer.set_len(written.end - written.count as u64)?;
        }
        return Err(written.error.unwrap_or_else(|| io::ErrorKind::WriteZero.into()));
    }
    lock::unlock(log.lockable());
    Ok(log)
}

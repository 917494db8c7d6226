//! What others appended, read before we go on (contract, section 11).

use std::io;
use std::time::{Duration, SystemTime};

use super::intake::{Intake, Last};
use super::open::{self, Indexed};
use super::{Place, ReadUpTo, SessionManager};
use crate::error::AppendError;
use crate::log::Log;
use crate::log::file::FileLog;
use crate::log::scan::{self, What};
use crate::tree::Tree;
use crate::tree::node::Flags;

/// A tail without newline that is younger than this may still be growing.
const TAIL_IS_FRESH: Duration = Duration::from_secs(2);
/// How long one waits for such a tail.
const WAIT_FOR_TAIL: Duration = Duration::from_millis(200);
/// A longer line is not read again just to see whether it is still there.
const LINE_COMPARED: u64 = 64 * 1024;

impl SessionManager {
    /// Takes in what other programs appended to the file since it was read. Answers whether there
    /// was anything. The leaf stays where it is.
    ///
    /// # Errors
    /// If the file cannot be read, or has become shorter.
    pub fn refresh(&mut self) -> Result<bool, AppendError> {
        if self.place != Place::File {
            return Ok(false);
        }
        let len = self.log.len().map_err(|source| self.io_error(source))?;
        self.catch_up(len)
    }

    /// Reads what stands between what was read and `len`.
    pub(super) fn catch_up(&mut self, len: u64) -> Result<bool, AppendError> {
        if self.read.broken {
            self.read_anew(None).map_err(|source| self.io_error(source))?;
            if len <= self.read.end {
                return Ok(true);
            }
        }
        if len < self.read.end {
            return Err(AppendError::CutShort { path: self.path_for_errors(), had: self.read.end, has: len });
        }
        if len == self.read.end {
            return Ok(false);
        }
        if !self.still_stands().map_err(|source| self.io_error(source))? {
            // Nothing of the tree is right any more. If this is the same session, it goes on there.
            self.read.broken = true;
            self.read_anew(None).map_err(|_| AppendError::Replaced {
                path: self.path_for_errors(),
                with: "other content in the same file",
            })?;
            return Ok(true);
        }
        self.take_in_from_tail(len).map_err(|source| self.io_error(source))?;
        Ok(true)
    }

    /// Whether what was read last is still there: programs exist that rewrite a log in its place, and
    /// then nothing stands where it stood. Costs the last line, and only if something was added.
    fn still_stands(&self) -> io::Result<bool> {
        let mut before = [b'\n'];
        if let Some(at) = self.read.settled.checked_sub(1) {
            self.log.read_at(at, &mut before)?;
        }
        let Some(node) = self.tree.nodes.last().filter(|_| before == *b"\n") else {
            return Ok(before == *b"\n");
        };
        if node.len() > LINE_COMPARED {
            return Ok(true);
        }
        let line = self.log.read(node.offset(), node.len())?;
        let made_up = node.flags.has(Flags::MIGRATED) || node.flags.has(Flags::NO_ID);
        Ok(match scan::classify(&line) {
            What::Entry(envelope, _) | What::Title(envelope, _) => {
                envelope.id == (!made_up).then_some(node.id)
            }
            _ => false,
        })
    }

    pub(super) fn take_in_from_tail(&mut self, len: u64) -> io::Result<()> {
        let mut read = self.read;
        if read.end > read.settled {
            let mut next = [0; 2];
            let count = self.log.read_at(read.end, &mut next)?;
            // One carriage return at the end of a line is no part of it; of two, the first is.
            let returned = read.tail_is_entry
                && self.tree.nodes.last().is_some_and(|node| node.offset() + node.len() < read.end);
            let closed = match &next[..count] {
                [b'\n', ..] => Some(1),
                [b'\r', b'\n'] if !returned => Some(2),
                _ => None,
            };
            if let Some(bytes) = closed.filter(|_| !read.tail_is_damaged) {
                // The line that had no newline has got it: what it was, it stays.
                read.settled = read.end + bytes;
                read.lines += 1;
                (read.tail_is_entry, read.tail_is_damaged) = (false, false);
            } else if read.tail_is_entry {
                // What counted as an entry goes on: it was none. Rare enough to read all anew.
                return self.read_anew(None);
            } else if read.tail_is_damaged {
                self.damage.forget_last();
                read.tail_is_damaged = false;
            }
        }
        if read.settled >= len {
            self.read = ReadUpTo { end: len.max(read.settled), ..read };
            return Ok(());
        }
        let tree = std::mem::replace(&mut self.tree, Tree::new());
        let damage = std::mem::take(&mut self.damage);
        let has_header = !self.header.is_made_up();
        let mut intake = Intake::resume(tree, self.format.clone(), damage, read.json_lines, has_header);
        let log = &self.log;
        let scanned =
            scan::scan(log, read.settled, len, read.lines, &mut |lines| intake.take_all(log, lines));
        let finished = intake.finish(log);
        let json_lines = intake.json_lines();
        let (last, mistaken) = (intake.last, intake.mistaken);
        self.tree = intake.tree;
        self.damage = intake.damage;
        let mut scanned = match scanned.and_then(|scanned| finished.map(|()| scanned)) {
            Ok(scanned) => scanned,
            Err(error) => {
                // Some of the lines are in the tree already, and would come in twice.
                self.read.broken = true;
                return Err(error);
            }
        };
        scanned.lines += read.lines;
        self.read = ReadUpTo::after(scanned, last, json_lines);
        if mistaken {
            self.read.broken = true;
            return self.read_anew(None);
        }
        Ok(())
    }

    /// Reads the whole log again, that of `file` if one is given, and stands where one stood: at the
    /// same entry, or at the nearest above it that is still there.
    ///
    /// # Errors
    /// If it cannot be read, or is not this session any more; all is as it was then.
    pub(super) fn read_anew(&mut self, file: Option<FileLog>) -> io::Result<()> {
        let path = self.path_for_errors();
        let log = file.map(Log::File);
        let index = match open::index(log.as_ref().unwrap_or(&self.log), &path, &mut Vec::new())
            .map_err(io::Error::other)?
        {
            Indexed::Session(index) => index,
            Indexed::Blank(_) => {
                return Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "the file was emptied while it was open",
                ));
            }
        };
        if !self.header.is_made_up() && !index.is_of(self.header.id()) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "another session was written over it"));
        }
        let mut leaf = None;
        for number in self.leaf.into_iter().flat_map(|leaf| self.tree.upwards(leaf)) {
            leaf = index.find(&self.entry_id(number)?);
            if leaf.is_some() {
                break;
            }
        }
        let stood_in_tail = |number: u32| self.tree.node(number).offset() >= self.read.settled;
        if leaf.is_none() && self.leaf.is_some_and(|number| !stood_in_tail(number)) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the entry that one stands at is not in it any more",
            ));
        }
        self.take_index(*index);
        self.leaf = leaf;
        if let Some(log) = log {
            self.log = log;
        }
        Ok(())
    }

    /// A tail that another program is just writing gets a moment to be finished.
    pub(crate) fn wait_for_tail(&mut self) -> Result<(), AppendError> {
        let mut waited = Duration::ZERO;
        while self.read.end > self.read.settled && waited < WAIT_FOR_TAIL && self.tail_is_fresh() {
            let pause = Duration::from_millis(10);
            std::thread::sleep(pause);
            waited += pause;
            self.refresh()?;
        }
        Ok(())
    }

    fn tail_is_fresh(&self) -> bool {
        let Log::File(file) = &self.log else { return false };
        let age = file.modified().ok().and_then(|modified| SystemTime::now().duration_since(modified).ok());
        age.is_some_and(|age| age < TAIL_IS_FRESH)
    }

    /// Whether the last line that was taken in has no newline.
    pub(super) fn tail_is_open(&self) -> bool {
        self.read.end > self.read.settled
    }

    pub(super) fn note_tail(&mut self, last: Last) {
        self.read.tail_is_entry = matches!(last, Last::Entry(at) if at >= self.read.settled);
    }
}

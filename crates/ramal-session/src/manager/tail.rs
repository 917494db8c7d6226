//! The end of a log, read before the log is: what a first look at a session needs.
//!
//! Opening reads all of a log, which takes its time where that is long. What is shown first stands at the end
//! of it. Nothing is written or locked here, and nothing is guessed: where the end alone does not tell, the
//! answer is none.

use std::io;
use std::path::Path;

use super::open::{self, Indexed};
use super::{FINGERPRINT_BYTES, HEADER_WITHIN, SessionManager};
use crate::EntryRef;
use crate::entry::{Header, stable_hash};
use crate::error::OpenError;
use crate::log::Log;
use crate::log::file::FileLog;
use crate::log::scan::{self, What};
use crate::migrate::Format;
use crate::tree::node::Flags;

/// The last entries of a log, as a session that can be looked at.
///
/// Its positions and offsets are not those in the log, and what stands further up is not there: labels and
/// names may be missing, and ids or lines that repeat older ones are not known to do so. It is for showing
/// the end of the path while [`SessionManager::open`] is at work.
#[derive(Debug)]
pub struct LogTail {
    session: SessionManager,
    fingerprint: (u64, u64),
    /// Where the part begins, in the bytes that were read, of which nothing is known what stood before it;
    /// none if the whole log was read.
    midway: Option<u64>,
    leaf_is_known: bool,
}

/// Bytes from the beginning in which the header is looked for first.
const HEAD: u64 = 64 * 1024;

impl LogTail {
    /// Reads about so many bytes at the end of the log at `path`, and its header. Where an entry is longer or
    /// nothing tells the leaf, it reads more, up to 32 times as much.
    ///
    /// None if there is no such file, or its end cannot be read by itself: its header is not where it should
    /// be, it is in version 1 of the format, or its last line is too long.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn open(path: &Path, bytes: u64) -> Result<Option<LogTail>, OpenError> {
        let log = match FileLog::open(path) {
            Ok(file) => Log::File(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(OpenError::Io { path: path.into(), source }),
        };
        let io_error = |source| OpenError::Io { path: path.into(), source };
        let len = log.len().map_err(io_error)?;
        let most = bytes.saturating_mul(32);
        let Some(head) = head(&log, len, most).map_err(io_error)? else { return Ok(None) };
        let mut bytes = bytes.max(1);
        loop {
            let tail = LogTail::read(&log, path, len, &head, bytes)?;
            let is_enough = tail.as_ref().is_some_and(LogTail::shows_something);
            if is_enough || bytes >= most.min(len) {
                return Ok(tail);
            }
            bytes = bytes.saturating_mul(4);
        }
    }

    fn read(log: &Log, path: &Path, len: u64, head: &[u8], bytes: u64) -> Result<Option<LogTail>, OpenError> {
        let io_error = |source| OpenError::Io { path: path.into(), source };
        let from = len.saturating_sub(bytes);
        let (content, midway) = if from <= head.len() as u64 {
            (log.read(0, len).map_err(io_error)?, None)
        } else {
            // With the byte before, so that a line that begins just here is not left out.
            let tail = log.read(from - 1, len - from + 1).map_err(io_error)?;
            let Some(newline) = memchr::memchr(b'\n', &tail) else { return Ok(None) };
            ([head, &tail[newline + 1..]].concat(), Some(head.len() as u64))
        };
        let known = len.min(FINGERPRINT_BYTES);
        let fingerprint = (len, stable_hash(&[&log.read(len - known, known).map_err(io_error)?]));
        let content = Log::Memory(content);
        let Indexed::Session(index) = open::index(&content, path, &mut Vec::new())? else { return Ok(None) };
        let mut session = SessionManager::blank(index.header().clone());
        session.log = content;
        session.take_index(*index);
        if session.format == Format::One {
            // Its ids, and so what a remembered leaf means, follow from all lines before.
            return Ok(None);
        }
        let mut leaf_is_known = true;
        if let Some(midway) = midway {
            let first = session.tree.nodes.partition_point(|node| node.offset() < midway);
            session.tree.cut_links_downwards();
            let leaf = session.tree.leaf_as_told_from(first as u32);
            leaf_is_known = leaf.is_some();
            session.leaf = leaf.flatten();
        }
        Ok(Some(LogTail { session, fingerprint, midway, leaf_is_known }))
    }

    /// The entries that were read. None as long as nothing tells where in them one stands.
    pub fn session(&self) -> Option<&SessionManager> {
        self.leaf_is_known.then_some(&self.session)
    }

    /// The length of the log and the hash of its end, as [`SessionManager::log_fingerprint`] tells them.
    pub fn fingerprint(&self) -> (u64, u64) {
        self.fingerprint
    }

    /// The id that the header of the log states.
    pub fn session_id(&self) -> &str {
        self.session.get_session_id()
    }

    /// Stands at an entry, or before the first, because that is where somebody was left. If it is not among
    /// the entries that were read, nothing tells any more where one stands, unless they are all there are.
    pub fn go(&mut self, id: Option<&str>) {
        let found = match id {
            None => Some(None),
            Some(id) => self.session.tree.find(id).map(Some),
        };
        let is_place = |number: &Option<u32>| {
            number.is_none_or(|number| !self.session.tree.node(number).flags.has(Flags::NO_ID))
        };
        match found.filter(is_place) {
            Some(leaf) => (self.session.leaf, self.leaf_is_known) = (leaf, true),
            None => self.leaf_is_known &= self.midway.is_none(),
        }
    }

    /// Whether more may stand above an entry than was read: then its siblings are not known either.
    pub fn is_cut_at(&self, entry: EntryRef<'_>) -> bool {
        self.midway.is_some() && entry.parent().is_none()
    }

    /// Whether there is an entry at the end of the path of which all is known.
    fn shows_something(&self) -> bool {
        let Some(session) = self.session() else { return false };
        session.get_leaf_entry().is_none_or(|leaf| !self.is_cut_at(leaf))
    }
}

/// The lines up to the header, it included. None if it is not among the first, or further away than `most`.
fn head(log: &Log, len: u64, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut size = HEAD;
    loop {
        let start = Log::Memory(log.read(0, size.min(len))?);
        let (mut lines, mut end) = (0, None);
        scan::scan_lines(&start, size.min(len), &mut |line| {
            lines += 1;
            if let What::Session(bytes) = &line.what
                && end.is_none()
                && lines <= HEADER_WITHIN
                && Header::read(bytes).is_some()
            {
                end = Some(line.offset + line.len);
            }
        })?;
        let Log::Memory(mut bytes) = start else { return Ok(None) };
        let newline =
            end.and_then(|end| Some(end as usize + memchr::memchr(b'\n', bytes.get(end as usize..)?)?));
        if let Some(newline) = newline {
            bytes.truncate(newline + 1);
            return Ok(Some(bytes));
        }
        if size >= len.min(most) || (end.is_none() && lines > HEADER_WITHIN) {
            // What has no newline yet is all there is: nothing stands before what stands behind it.
            return Ok(end.filter(|_| size >= len).map(|_| bytes));
        }
        size *= 4;
    }
}

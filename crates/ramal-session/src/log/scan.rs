//! One pass over the lines of a log: which are entries, which are damaged, and what their heads say.
//!
//! Every line is looked at once, by its brackets and strings; payloads are not read. A line of any
//! length costs a buffer. Large logs are read by several threads, each taking the lines that begin
//! in its block; the answers come in the order of the file all the same.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Condvar, Mutex, PoisonError};

use super::Log;
use crate::entry::Kind;
use crate::entry::envelope::{self, Envelope, Head};
use crate::entry::id::IdKey;
use crate::json::balance::{self, Balance};
use crate::json::{self, members};

/// Bytes read at once: small enough to stay in a core's cache, large enough to make calls rare.
const BUFFER: usize = 256 * 1024;
/// Bytes whose lines one thread takes at a time.
const BLOCK: u64 = 1024 * 1024;
/// Below this size a second thread costs more than it saves.
const PARALLEL_FROM: u64 = 4 * BLOCK;

/// A line that is not blank.
#[derive(Debug)]
pub(crate) struct Line {
    /// Where it begins, behind a byte-order mark.
    pub(crate) offset: u64,
    /// Its bytes, without the newline and one carriage return before it.
    pub(crate) len: u64,
    /// Counted from 1 at the start of the scan, blank lines included.
    pub(crate) number: u64,
    pub(crate) what: What,
}

#[derive(Debug)]
pub(crate) enum What {
    Entry(Envelope, Option<Box<Details>>),
    /// A line of type `session`, with its bytes.
    Session(Box<[u8]>),
    /// A line of type `title`, with its bytes.
    Title(Envelope, Box<[u8]>),
    Damaged(Flaw),
}

/// What is wrong with a damaged line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flaw {
    /// It is no JSON object, or its strings and brackets do not close exactly at its end.
    NotWhole,
    /// It is an object without a string `type`.
    NoType,
    /// It is the last line and stops halfway.
    Torn,
}

/// What the index keeps of an entry besides its envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Details {
    /// What a label is put on, and what it says; nothing, if it clears.
    Label { target: Option<IdKey>, text: Option<Box<str>> },
    /// Where a `leaf` entry moved to.
    Leaf { target: LeafTarget },
    /// A name for the session; nothing, if it clears one.
    Name { name: Option<Box<str>>, by_user: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeafTarget {
    Root,
    Id(IdKey),
    Unreadable,
}

/// What stands behind the last newline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scanned {
    /// Where the last line that has a newline ends: everything before is final.
    pub(crate) settled: u64,
    /// Where the scan ended.
    pub(crate) end: u64,
    /// Lines that ended, blank ones included.
    pub(crate) lines: u64,
}

/// Reads the lines from `from`, where a line begins, to `len`, and gives those that are not blank to
/// `sink`, some at a time, in the order of the log. Line numbers are counted from `lines_before`.
pub(crate) fn scan(
    log: &Log,
    from: u64,
    len: u64,
    lines_before: u64,
    sink: &mut dyn FnMut(&mut Vec<Line>),
) -> io::Result<Scanned> {
    scan_with(log, from, len, lines_before, &mut Vec::new(), sink)
}

/// As [`scan()`], line by line.
pub(crate) fn scan_lines(log: &Log, len: u64, sink: &mut dyn FnMut(Line)) -> io::Result<Scanned> {
    scan(log, 0, len, 0, &mut |lines| lines.drain(..).for_each(&mut *sink))
}

/// As [`scan()`], with a buffer that whoever reads many logs uses again.
pub(crate) fn scan_with(
    log: &Log,
    from: u64,
    len: u64,
    lines_before: u64,
    buffer: &mut Vec<u8>,
    sink: &mut dyn FnMut(&mut Vec<Line>),
) -> io::Result<Scanned> {
    // Asking how many threads there may be costs more than reading a small log.
    let threads = match len.saturating_sub(from) {
        0..PARALLEL_FROM => 1,
        _ => std::thread::available_parallelism().map_or(1, |n| n.get().min(4)) as u64,
    };
    if threads < 2 {
        let block = Block { lines: lines_before, settled: from };
        let mut batch = Batch { lines: Vec::new(), block };
        // In steps of a block, so that few lines are held at once.
        let (mut at, mut at_line) = (from, true);
        while at < len {
            let until = (at + BLOCK).min(len);
            scan_block(log, at, until, len, at_line, buffer, &mut batch)?;
            sink(&mut batch.lines);
            batch.lines.clear();
            (at, at_line) = (until, false);
        }
        return Ok(Scanned {
            settled: batch.block.settled,
            end: len,
            lines: batch.block.lines - lines_before,
        });
    }
    scan_parallel(log, from, len, lines_before, threads, sink)
}

/// What is known after a block.
#[derive(Debug, Default)]
struct Block {
    lines: u64,
    settled: u64,
}

#[derive(Default)]
struct Batch {
    lines: Vec<Line>,
    block: Block,
}

/// How far the reading threads may run ahead of the one that takes the lines, so that a very long
/// line does not let all others pile up behind it.
struct Pace {
    taken: Mutex<u64>,
    moved: Condvar,
    ahead: u64,
    /// Emptied lists, to be filled again: fresh memory costs more than reading the lines.
    spare: Mutex<Vec<Vec<Line>>>,
}

impl Pace {
    /// Waits until block `number` may be read; false if nobody takes lines any more.
    fn wait(&self, number: u64) -> bool {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = self
            .moved
            .wait_while(taken, |taken| number > taken.saturating_add(self.ahead))
            .unwrap_or_else(PoisonError::into_inner);
        *taken != u64::MAX
    }

    fn spare(&self) -> Vec<Line> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn give_back(&self, lines: Vec<Line>) {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(lines);
    }

    fn set(&self, taken: u64) {
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner) = taken;
        self.moved.notify_all();
    }
}

fn scan_parallel(
    log: &Log,
    from: u64,
    len: u64,
    lines_before: u64,
    threads: u64,
    sink: &mut dyn FnMut(&mut Vec<Line>),
) -> io::Result<Scanned> {
    let blocks = (len - from).div_ceil(BLOCK);
    let next = AtomicU64::new(0);
    let pace = Pace {
        taken: Mutex::new(0),
        moved: Condvar::new(),
        ahead: threads * 2,
        spare: Mutex::new(Vec::new()),
    };
    let (send, receive) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let send: Sender<(u64, io::Result<Batch>)> = send.clone();
            let (next, pace) = (&next, &pace);
            scope.spawn(move || {
                let mut buffer = Vec::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= blocks || !pace.wait(number) {
                        return;
                    }
                    let start = from + number * BLOCK;
                    let mut batch = Batch { lines: pace.spare(), block: Block::default() };
                    let until = (start + BLOCK).min(len);
                    let result = scan_block(log, start, until, len, number == 0, &mut buffer, &mut batch);
                    if send.send((number, result.map(|()| batch))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        let answer = in_order(&receive, &pace, blocks, from, len, lines_before, sink);
        pace.set(u64::MAX);
        answer
    })
}

fn in_order(
    receive: &Receiver<(u64, io::Result<Batch>)>,
    pace: &Pace,
    blocks: u64,
    from: u64,
    len: u64,
    lines_before: u64,
    sink: &mut dyn FnMut(&mut Vec<Line>),
) -> io::Result<Scanned> {
    let mut scanned = Scanned { settled: from, end: len, lines: 0 };
    let mut early = BTreeMap::new();
    let mut wanted = 0;
    while wanted < blocks {
        let Some(batch) = early.remove(&wanted) else {
            let (number, batch) =
                receive.recv().map_err(|_| io::Error::other("a reading thread ended early"))?;
            early.insert(number, batch?);
            continue;
        };
        let Batch { mut lines, block } = batch;
        let before = lines_before + scanned.lines;
        lines.iter_mut().for_each(|line| line.number += before);
        sink(&mut lines);
        lines.clear();
        pace.give_back(lines);
        scanned.lines += block.lines;
        scanned.settled = scanned.settled.max(block.settled);
        wanted += 1;
        pace.set(wanted);
    }
    Ok(scanned)
}

/// Reads the lines that begin in `from..until`. `at_line` says that one begins at `from`.
fn scan_block(
    log: &Log,
    from: u64,
    until: u64,
    len: u64,
    at_line: bool,
    buffer: &mut Vec<u8>,
    batch: &mut Batch,
) -> io::Result<()> {
    let Batch { lines, block } = batch;
    // A short log needs no more than it is long.
    let size = usize::try_from(len - from + 1).unwrap_or(BUFFER).min(BUFFER);
    if buffer.len() < size {
        buffer.resize(size, 0);
    }
    let mut at = from;
    if !at_line {
        match find_newline(log, from - 1, until, buffer)? {
            Some(newline) => at = newline + 1,
            None => return Ok(()),
        }
    }
    while at < until {
        let wanted = usize::try_from(len - at).unwrap_or(BUFFER).min(buffer.len());
        let count = log.read_at(at, &mut buffer[..wanted])?;
        let filled = &buffer[..count];
        let mut begin = 0;
        while at + (begin as u64) < until
            && let Some(length) = memchr::memchr(b'\n', &filled[begin..])
        {
            let line = &filled[begin..begin + length];
            block.lines += 1;
            emit(at + begin as u64, line, true, block.lines, lines);
            begin += length + 1;
        }
        at += begin as u64;
        if begin > 0 {
            block.settled = at;
        }
        if begin > 0 && at < len && count == wanted {
            continue;
        }
        if at >= until || at >= len {
            return Ok(());
        }
        if at + (count - begin) as u64 >= len || count < wanted {
            // The last line has no newline.
            emit(at, &filled[begin..], false, block.lines + 1, lines);
            return Ok(());
        }
        at = long_line(log, at, len, buffer, lines, block)?;
    }
    Ok(())
}

/// Where the first newline at or after `from` stands, if it is before `until`.
fn find_newline(log: &Log, mut from: u64, until: u64, buffer: &mut [u8]) -> io::Result<Option<u64>> {
    // Most lines are short: a small read first.
    let mut size = 4096;
    while from < until {
        let wanted = usize::try_from(until - from).unwrap_or(size).min(size).min(buffer.len());
        let count = log.read_at(from, &mut buffer[..wanted])?;
        if let Some(at) = memchr::memchr(b'\n', &buffer[..count]) {
            return Ok(Some(from + at as u64));
        }
        if count < wanted {
            return Ok(None);
        }
        from += count as u64;
        size = BUFFER;
    }
    Ok(None)
}

/// A line longer than the buffer, whose first part is in it: read on without keeping it.
fn long_line(
    log: &Log,
    offset: u64,
    len: u64,
    buffer: &mut [u8],
    lines: &mut Vec<Line>,
    block: &mut Block,
) -> io::Result<u64> {
    let first = usize::try_from(len - offset).unwrap_or(buffer.len()).min(buffer.len());
    let first = log.read_at(offset, &mut buffer[..first])?;
    if first == 0 {
        // Cut short since the last look: there is no such line any more.
        return Ok(len);
    }
    let skip = mark(offset, &buffer[..first]);
    let head = envelope::read(&buffer[skip..first]);
    let mut balance = match &head {
        Head::Entry { read, depth, .. } if *depth > 0 => {
            let mut balance = Balance::inside(*depth);
            balance.feed(&buffer[skip + read..first]);
            balance
        }
        _ => {
            let mut balance = Balance::new();
            balance.feed(&buffer[skip..first]);
            balance
        }
    };
    let mut at = offset + first as u64;
    let mut last = buffer[first - 1];
    let mut ended = false;
    let mut blank = is_blank(&buffer[skip..first]);
    while !ended && at < len {
        let wanted = usize::try_from(len - at).unwrap_or(buffer.len()).min(buffer.len());
        let count = log.read_at(at, &mut buffer[..wanted])?;
        let part = memchr::memchr(b'\n', &buffer[..count]);
        let piece = &buffer[..part.unwrap_or(count)];
        balance.feed(piece);
        blank = blank && is_blank(piece);
        last = piece.last().copied().unwrap_or(last);
        at += piece.len() as u64;
        ended = part.is_some();
        if count < wanted {
            break;
        }
    }
    let end = at - u64::from(last == b'\r');
    let begin = offset + skip as u64;
    let whole = balance.is_whole();
    let what = match head {
        Head::Entry { envelope, .. } if whole && !envelope.kind.has_details() => What::Entry(envelope, None),
        _ if whole => classify(&log.read(begin, end - begin)?),
        _ => What::Damaged(if ended { Flaw::NotWhole } else { Flaw::Torn }),
    };
    block.lines += u64::from(ended);
    let number = block.lines + u64::from(!ended);
    if !blank {
        lines.push(Line { offset: begin, len: end - begin, number, what });
    }
    if ended {
        block.settled = at + 1;
    }
    Ok(at + u64::from(ended))
}

/// Bytes of a byte-order mark at the start of the log.
fn mark(offset: u64, line: &[u8]) -> usize {
    if offset == 0 && line.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 }
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|b| matches!(b, b' ' | b'\t' | b'\r'))
}

fn emit(offset: u64, line: &[u8], ended: bool, number: u64, lines: &mut Vec<Line>) {
    let skip = mark(offset, line);
    let line = &line[skip..];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if is_blank(line) {
        return;
    }
    let what = match classify(line) {
        What::Damaged(Flaw::NotWhole) if !ended => What::Damaged(Flaw::Torn),
        what => what,
    };
    lines.push(Line { offset: offset + skip as u64, len: line.len() as u64, number, what });
}

/// What one line is. Its brackets are followed to the end, whatever its head says.
pub(crate) fn classify(line: &[u8]) -> What {
    match envelope::read(line) {
        Head::Entry { envelope, read, depth } => {
            let whole = match depth {
                0 => is_blank(&line[read..]),
                depth => balance::is_whole(&line[read..], depth),
            };
            if whole {
                What::Entry(
                    envelope,
                    envelope.kind.has_details().then(|| Box::new(details(envelope.kind, line))),
                )
            } else {
                What::Damaged(Flaw::NotWhole)
            }
        }
        Head::Session if balance::is_whole(line, 0) => What::Session(line.into()),
        Head::Title { envelope } if balance::is_whole(line, 0) => What::Title(envelope, line.into()),
        Head::NoType if balance::is_whole(line, 0) => What::Damaged(Flaw::NoType),
        _ => What::Damaged(Flaw::NotWhole),
    }
}

fn details(kind: Kind, line: &[u8]) -> Details {
    let text = |key| {
        json::get_str(line, key)
            .map(|text| text.into_owned().into_boxed_str())
            .filter(|text| !text.is_empty())
    };
    // White space around a name is no part of it, and nothing else clears it.
    let name = |key| {
        let name = json::get_str(line, key)?;
        Some(name.trim()).filter(|name| !name.is_empty()).map(Box::from)
    };
    match kind {
        Kind::Label => Details::Label {
            target: json::get_str(line, "targetId").and_then(|id| IdKey::of(id.as_bytes())),
            text: text("label"),
        },
        Kind::Leaf => Details::Leaf {
            target: match json::get(line, "targetId") {
                Some(b"null") => LeafTarget::Root,
                Some(value) => members::as_str(value)
                    .and_then(|id| IdKey::of(id.as_bytes()))
                    .map_or(LeafTarget::Unreadable, LeafTarget::Id),
                None => LeafTarget::Unreadable,
            },
        },
        Kind::SessionInfo => Details::Name { name: name("name"), by_user: true },
        _ => Details::Name {
            name: name("title"),
            by_user: json::get_str(line, "source").as_deref() == Some("user"),
        },
    }
}

//! Lines on their way into the tree: the header found among the first, the version decided.

use std::io;

use super::DamageFound;
use crate::check::Damage;
use crate::entry::envelope::ParentRef;
use crate::entry::header::{Header, StatedVersion};
use crate::entry::{Kind, time};
use crate::json;
use crate::log::Log;
use crate::log::scan::{Flaw, Line, What};
use crate::migrate::Format;
use crate::tree::Tree;

/// The header is looked for in so many lines that are not blank (contract, section 14).
pub(crate) const HEADER_WITHIN: usize = 16;

/// After so many entries the size of the whole log is guessed.
const SAMPLE: usize = 4096;

/// So many entries ahead the table of ids is asked for.
const AHEAD: usize = 12;

/// Takes the lines of a log in, in order.
#[derive(Debug)]
pub(super) struct Intake {
    pub(super) tree: Tree,
    pub(super) header: Option<Header>,
    pub(super) header_at: Option<u64>,
    pub(super) format: Format,
    pub(super) damage: DamageFound,
    /// Nothing but white space was seen so far.
    pub(super) blank: bool,
    /// Something that looks like an entry was seen.
    pub(super) looks_like_a_session: bool,
    /// The version that a `{"kind":"header"}` line states.
    pub(super) other_format: Option<String>,
    /// The last line taken in, if it was an entry or damaged.
    pub(super) last: Last,
    /// Lines held back until the header is found. None afterwards.
    held: Option<Vec<Line>>,
    /// Lines so far that parse as JSON.
    json_lines: u64,
    /// The header was found, now or when the session was opened.
    has_header: bool,
    force_three: bool,
    /// An entry with an id stood in what was taken for version 1.
    pub(super) mistaken: bool,
    size: u64,
    error: Option<io::Error>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    Nothing,
    Entry(u64),
    Damaged(u64),
}

impl Intake {
    /// For a log of `size` bytes. `force_three` skips the guess that a log may be of version 1.
    pub(super) fn new(size: u64, force_three: bool) -> Intake {
        Intake {
            tree: Tree::new(),
            header: None,
            header_at: None,
            format: Format::Three,
            damage: DamageFound::default(),
            blank: true,
            looks_like_a_session: false,
            other_format: None,
            last: Last::Nothing,
            held: Some(Vec::new()),
            json_lines: 0,
            has_header: false,
            force_three,
            mistaken: false,
            size,
            error: None,
        }
    }

    /// Goes on with a session that is open already.
    pub(super) fn resume(
        tree: Tree,
        format: Format,
        damage: DamageFound,
        json_lines: u64,
        has_header: bool,
    ) -> Intake {
        Intake { tree, format, damage, held: None, json_lines, has_header, ..Intake::new(0, false) }
    }

    pub(super) fn json_lines(&self) -> u64 {
        self.json_lines
    }

    /// Takes in some lines. An error in reading the log is kept until [`Intake::finish`].
    pub(super) fn take_all(&mut self, log: &Log, lines: &mut Vec<Line>) {
        let id_of = |line: &Line| match &line.what {
            What::Entry(envelope, _) => envelope.id,
            _ => None,
        };
        // The table of ids is larger than the caches: its slots are asked for ahead of their use.
        let mut ahead = lines.iter().filter_map(id_of).collect::<Vec<_>>().into_iter();
        for id in ahead.by_ref().take(AHEAD) {
            self.tree.will_need(id);
        }
        for line in lines.drain(..) {
            if let Some(id) = ahead.next() {
                self.tree.will_need(id);
            }
            self.take(log, line);
        }
    }

    fn take(&mut self, log: &Log, line: Line) {
        self.blank = false;
        let Some(held) = &mut self.held else {
            self.settle(log, line);
            return;
        };
        if let What::Session(bytes) = &line.what
            && let Some(header) = Header::read(bytes)
        {
            self.header_at = Some(line.offset);
            self.header = Some(header);
            held.push(line);
            self.decide(log);
            return;
        }
        held.push(line);
        if held.len() >= HEADER_WITHIN {
            self.decide(log);
        }
    }

    /// The lines are over. Parents that came late are found.
    pub(super) fn finish(&mut self, log: &Log) -> io::Result<()> {
        if self.held.is_some() {
            self.decide(log);
        }
        self.tree.settle();
        match self.error.take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// The header is found, or will not be: what it says about the version decides how lines read.
    fn decide(&mut self, log: &Log) {
        let held = self.held.take().unwrap_or_default();
        let has_id = |line: &Line| matches!(&line.what, What::Entry(envelope, _) if envelope.id.is_some());
        self.format = match self.header.as_ref().map(|header| &header.version) {
            None | Some(StatedVersion::Three) => Format::Three,
            Some(StatedVersion::Newer(version)) => Format::Newer(version.clone()),
            Some(StatedVersion::Two) => Format::Two,
            Some(StatedVersion::Unclear) if self.force_three || held.iter().any(has_id) => Format::Three,
            Some(StatedVersion::Unclear) => Format::One,
        };
        self.tree.hooks_are_custom = self.format.is_old();
        self.tree.ordinals = (self.format == Format::One).then(Vec::new);
        let mut folded = Vec::new();
        self.has_header = self.header.is_some();
        let mut before_header = self.has_header;
        for line in held {
            match &line.what {
                // It becomes a part of the header, and counts with it.
                What::Title(_, bytes) if before_header => folded.push(bytes.clone()),
                What::Session(_) if Some(line.offset) == self.header_at => {
                    before_header = false;
                    self.json_lines += 1;
                }
                _ => self.settle(log, line),
            }
        }
        if let Some(header) = &mut self.header {
            for title in folded {
                header.fold_title(&title);
            }
        }
    }

    fn settle(&mut self, log: &Log, mut line: Line) {
        let ordinal = self.json_lines;
        let (envelope, details) = match &mut line.what {
            What::Entry(envelope, details) => (*envelope, details.take()),
            What::Title(envelope, _) => (*envelope, None),
            What::Session(_) => {
                self.json_lines += 1;
                return;
            }
            What::Damaged(flaw) => {
                let flaw = *flaw;
                self.damaged(log, &line, flaw);
                return;
            }
        };
        self.json_lines += 1;
        let known = envelope.kind != Kind::Unknown && envelope.time != time::UNREADABLE;
        self.looks_like_a_session |=
            known || (envelope.id.is_some() && envelope.parent != ParentRef::Missing);
        self.mistaken |= self.format == Format::One && envelope.id.is_some();
        self.last = Last::Entry(line.offset);
        if self.tree.len() == SAMPLE {
            // Room for as many as the first let one expect: growing a large table step by step costs time.
            let average = ((line.offset + line.len) / SAMPLE as u64).max(1);
            let expected = usize::try_from(self.size / average).unwrap_or(0);
            self.tree.reserve(expected + expected / 50);
        }
        if let Err(error) = self.tree.add(log, &line, &envelope, details.map(|details| *details), ordinal) {
            self.error.get_or_insert(error);
        }
    }

    fn damaged(&mut self, log: &Log, line: &Line, flaw: Flaw) {
        if self.format == Format::One || (flaw == Flaw::NoType && !self.has_header) {
            match log.read(line.offset, line.len) {
                Ok(bytes) => {
                    let is_header = json::get_str(&bytes, "kind").as_deref() == Some("header");
                    if is_header && self.other_format.is_none() {
                        let version = json::get(&bytes, "version").unwrap_or(b"?");
                        self.other_format = Some(String::from_utf8_lossy(version).into_owned());
                    }
                    self.json_lines += u64::from(json::is_valid(&json::clean(&bytes)));
                }
                Err(error) => {
                    self.error.get_or_insert(error);
                }
            }
        }
        self.last = Last::Damaged(line.offset);
        self.damage.add(Damage { line: line.number, offset: line.offset, len: line.len, flaw });
    }
}

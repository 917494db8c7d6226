//! A log read whole, and everything in it that is not as it should be.

use std::fmt;
use std::io;

use super::Flaw;
use super::blocks::{Block, Blocks, pieces};
use crate::entry::{EntryId, Kind};
use crate::json;
use crate::log::scan::{self, Line, What};
use crate::manager::SessionManager;
use crate::migrate::Format;
use crate::tree::node::{Flags, NONE};

/// Findings that are kept; more are only counted.
const KEPT: usize = 10_000;
/// Bytes between two calls of the progress function.
const STEP: u64 = 4 * 1024 * 1024;

/// What a check found.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Report {
    /// The version that the log is in.
    pub format: Format,
    /// Entries in the tree.
    pub entries: usize,
    /// Lines of the file.
    pub lines: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// What was found, in the order of the file, up to the first ten thousand.
    pub findings: Vec<Finding>,
    /// How many findings are damage.
    pub damage: u64,
    /// How many are worth knowing, and harmless.
    pub notes: u64,
    /// How much of the damage [`super::repair()`] mends.
    pub mendable: u64,
}

/// One thing that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The number of the line, counted from 1; none if it is about the whole file.
    pub line: Option<u64>,
    /// The entry, if it is about one.
    pub entry: Option<EntryId>,
    /// What it is.
    pub what: Trouble,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing is lost.
    Note,
    /// Something is lost, or not where it belongs.
    Damage,
}

/// What can be found in a log. Displayed, it says what is the matter with the line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trouble {
    /// The file has no header that can be read.
    NoHeader,
    /// The file is in a later version than this program writes.
    NewerVersion(String),
    /// The file is in an old version. It is rewritten with the first append.
    OldVersion,
    /// The line is no entry.
    DamagedLine {
        /// In which way.
        flaw: Flaw,
        /// The same in a few words.
        why: &'static str,
        /// Whole entries that begin on it and can be recovered.
        entries: usize,
    },
    /// The line closes as it should, but holds something that is no JSON.
    Unreadable,
    /// The entry has no id.
    NoId,
    /// The parent is not in the file.
    Orphan {
        /// The id that it names.
        parent: String,
    },
    /// The entry does not say what its parent is.
    NoParent,
    /// The entry names itself as its parent.
    OwnParent,
    /// The entry is the earliest of a cycle.
    CycleCut,
    /// Another entry has the same id.
    SharedId,
    /// The line repeats an entry word for word.
    Repeat,
    /// The entry that a label is put on is not in the file.
    LabelTarget {
        /// The id that it names.
        target: String,
    },
    /// The entry that the position was moved to is not in the file.
    LeafTarget {
        /// The id that it names.
        target: String,
    },
    /// The entry from which a compaction keeps is not in the file.
    AnchorMissing {
        /// The id that it names.
        anchor: String,
    },
    /// The entry from which a compaction keeps is not on the compaction's path.
    AnchorOffPath {
        /// The id that it names.
        anchor: String,
    },
}

impl Trouble {
    /// How bad it is.
    pub fn severity(&self) -> Severity {
        match self {
            Trouble::NewerVersion(_)
            | Trouble::OldVersion
            | Trouble::SharedId
            | Trouble::Repeat
            | Trouble::LabelTarget { .. }
            | Trouble::LeafTarget { .. }
            | Trouble::AnchorMissing { .. }
            | Trouble::AnchorOffPath { .. } => Severity::Note,
            _ => Severity::Damage,
        }
    }

    /// Whether [`super::repair()`] does something about it.
    pub fn is_mendable(&self) -> bool {
        self.severity() == Severity::Damage && *self != Trouble::Unreadable
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::NoHeader => f.write_str("there is no header that can be read"),
            Trouble::NewerVersion(version) => {
                write!(f, "version {version} of the format: it can be read, not written to")
            }
            Trouble::OldVersion => {
                f.write_str("an old version of the format: rewritten when something is appended")
            }
            Trouble::DamagedLine { why, entries, .. } => {
                f.write_str(why)?;
                match entries {
                    0 => Ok(()),
                    1 => f.write_str("; one whole entry can be recovered"),
                    n => write!(f, "; {n} whole entries can be recovered"),
                }
            }
            Trouble::Unreadable => {
                f.write_str("what is inside is no JSON; only its place in the tree is known")
            }
            Trouble::NoId => f.write_str("it has no id: it can be seen, not gone to"),
            Trouble::Orphan { parent } => write!(f, "its parent {parent} is not in the file"),
            Trouble::NoParent => f.write_str("it does not say what its parent is"),
            Trouble::OwnParent => f.write_str("it names itself as its parent"),
            Trouble::CycleCut => f.write_str("its ancestors lead back to it; the tree is cut here"),
            Trouble::SharedId => f.write_str("another entry has the same id"),
            Trouble::Repeat => f.write_str("it repeats an entry word for word, and counts as one with it"),
            Trouble::LabelTarget { target } => write!(f, "it labels {target}, which is not in the file"),
            Trouble::LeafTarget { target } => write!(f, "it moves to {target}, which is not in the file"),
            Trouble::AnchorMissing { anchor } => {
                write!(f, "it keeps from {anchor} on, which is not in the file: nothing before it is kept")
            }
            Trouble::AnchorOffPath { anchor } => {
                write!(f, "it keeps from {anchor} on, which is not on its path: nothing before it is kept")
            }
        }
    }
}

impl Report {
    fn add(&mut self, line: Option<u64>, entry: Option<EntryId>, what: Trouble) {
        match what.severity() {
            Severity::Damage => self.damage += 1,
            Severity::Note => self.notes += 1,
        }
        self.mendable += u64::from(what.is_mendable());
        if self.findings.len() < KEPT {
            self.findings.push(Finding { line, entry, what });
        }
    }

    /// True if there is nothing to be mended and nothing lost.
    pub fn is_sound(&self) -> bool {
        self.damage == 0
    }
}

impl SessionManager {
    /// Reads every line of the log and tells what is not as it should be. `progress` hears how many
    /// bytes of how many have been read.
    ///
    /// Holds one entry at a time.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn check(&self, progress: &mut dyn FnMut(u64, u64)) -> io::Result<Report> {
        let end = self.bytes_read();
        let mut check = Check {
            session: self,
            report: Report {
                format: self.format().clone(),
                entries: self.entry_count(),
                lines: 0,
                bytes: end,
                findings: Vec::new(),
                damage: 0,
                notes: 0,
                mendable: 0,
            },
            blocks: Blocks::default(),
            next: 0,
            line: Vec::new(),
            order: Vec::new(),
            error: None,
        };
        if self.get_header().is_made_up() {
            check.report.add(None, None, Trouble::NoHeader);
        }
        match self.format() {
            Format::Newer(version) => {
                check.report.add(None, None, Trouble::NewerVersion(version.clone()));
            }
            format if format.is_old() => check.report.add(None, None, Trouble::OldVersion),
            _ => {}
        }
        let mut told = 0;
        progress(0, end);
        let scanned = scan::scan_lines(&self.log, end, &mut |line| {
            if check.error.is_none()
                && let Err(error) = check.take(&line)
            {
                check.error = Some(error);
            }
            if line.offset >= told + STEP {
                told = line.offset;
                progress(told, end);
            }
        })?;
        if let Some(block) = check.blocks.finish() {
            check.block(&block)?;
        }
        progress(end, end);
        check.report.lines = scanned.lines + u64::from(scanned.settled < scanned.end);
        match check.error {
            Some(error) => Err(error),
            None => Ok(check.report),
        }
    }
}

struct Check<'a> {
    session: &'a SessionManager,
    report: Report,
    blocks: Blocks,
    /// The node whose line comes next.
    next: u32,
    /// The bytes of the line in hand.
    line: Vec<u8>,
    /// When each node is entered and left by a walk over the tree; made when first needed.
    order: Vec<(u32, u32)>,
    error: Option<io::Error>,
}

impl Check<'_> {
    fn take(&mut self, line: &Line) -> io::Result<()> {
        if let Some(block) = self.blocks.take(line) {
            self.block(&block)?;
        }
        let tree = &self.session.tree;
        let is_node = (self.next as usize) < tree.len() && tree.node(self.next).offset() == line.offset;
        if is_node {
            self.next += 1;
            return self.entry(self.next - 1, line);
        }
        if let What::Entry(envelope, _) = &line.what {
            let id = envelope.id.and_then(|id| id.text()).map(EntryId::from);
            self.report.add(Some(line.number), id, Trouble::Repeat);
        }
        Ok(())
    }

    fn entry(&mut self, number: u32, line: &Line) -> io::Result<()> {
        let node = *self.session.tree.node(number);
        self.session.log.read_into(line.offset, line.len, &mut self.line)?;
        let mut found = Vec::new();
        if !json::is_valid(&json::clean(&self.line)) {
            found.push(Trouble::Unreadable);
        }
        let text = |key| json::get_str(&self.line, key).unwrap_or_default().into_owned();
        for (flag, trouble) in [
            (Flags::NO_ID, Trouble::NoId),
            (Flags::NO_PARENT, Trouble::NoParent),
            (Flags::OWN_PARENT, Trouble::OwnParent),
            (Flags::CUT, Trouble::CycleCut),
            (Flags::SHARED_ID, Trouble::SharedId),
        ] {
            if node.flags.has(flag) {
                found.push(trouble);
            }
        }
        if node.flags.has(Flags::ORPHAN) {
            found.push(Trouble::Orphan { parent: text("parentId") });
        }
        let seen = |id: &str| self.session.tree.find_seen_from(id, number);
        match node.kind {
            Kind::Label | Kind::Leaf => {
                let target = text("targetId");
                if !target.is_empty() && seen(&target).is_none() {
                    found.push(match node.kind {
                        Kind::Label => Trouble::LabelTarget { target },
                        _ => Trouble::LeafTarget { target },
                    });
                }
            }
            Kind::Compaction => {
                let anchor = text("firstKeptEntryId");
                match seen(&anchor) {
                    _ if anchor.is_empty() => {}
                    None => found.push(Trouble::AnchorMissing { anchor }),
                    Some(kept) if !self.is_above(kept, number) => {
                        found.push(Trouble::AnchorOffPath { anchor })
                    }
                    Some(_) => {}
                }
            }
            _ => {}
        }
        if !found.is_empty() {
            let id = self.session.entry_id(number)?;
            for trouble in found {
                self.report.add(Some(line.number), Some(id.clone()), trouble);
            }
        }
        Ok(())
    }

    /// Whether `above` is on the path to `number`.
    fn is_above(&mut self, above: u32, number: u32) -> bool {
        if self.order.is_empty() {
            self.order = self.walk();
        }
        let (entered, left) = self.order[above as usize];
        (entered..left).contains(&self.order[number as usize].0)
    }

    fn walk(&self) -> Vec<(u32, u32)> {
        let tree = &self.session.tree;
        let mut order = vec![(0, 0); tree.len()];
        let mut clock = 0;
        for root in tree.children(None) {
            let mut at = root;
            'subtree: loop {
                order[at as usize].0 = clock;
                clock += 1;
                let node = tree.node(at);
                if node.first_child != NONE {
                    at = node.first_child;
                    continue;
                }
                loop {
                    order[at as usize].1 = clock;
                    if at == root {
                        break 'subtree;
                    }
                    let node = tree.node(at);
                    if node.next_sibling != NONE {
                        at = node.next_sibling;
                        break;
                    }
                    at = node.parent;
                }
            }
        }
        order
    }

    fn block(&mut self, block: &Block) -> io::Result<()> {
        let bytes = self.session.log.read(block.start, block.len())?;
        let pieces = pieces(&bytes);
        let mut pieces = pieces.iter().filter(|piece| !piece.is_header).peekable();
        for line in &block.lines {
            let from = (line.offset - block.start) as usize;
            let to = from + line.len as usize;
            let mut entries = 0;
            while pieces.next_if(|piece| piece.at.start < to).is_some() {
                entries += 1;
            }
            let why = reason(&bytes[from..to], line.flaw, entries);
            let what = Trouble::DamagedLine { flaw: line.flaw, why, entries };
            self.report.add(Some(line.number), None, what);
        }
        Ok(())
    }
}

fn reason(line: &[u8], flaw: Flaw, entries: usize) -> &'static str {
    match (flaw, entries) {
        (_, 2..) => "it holds several entries",
        (_, 1) => "it holds more, or less, than one entry",
        (Flaw::NoType, _) => "it is an object without a type",
        _ if line.iter().all(|&b| b == 0) => "it is nothing but zero bytes",
        _ if !line.trim_ascii_start().starts_with(b"{") => "it is no JSON object",
        (Flaw::Torn, _) => "it breaks off at the end of the file",
        _ => "its brackets and strings do not close at its end",
    }
}

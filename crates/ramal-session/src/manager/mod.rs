//! One open session: its log, its tree, and where in it one stands.

mod append;
mod appends;
mod entries;
mod intake;
mod materialize;
mod moves;
mod open;
mod queries;
mod refresh;
mod siblings;
mod tail;

use std::path::{Path, PathBuf};

pub(crate) use intake::HEADER_WITHIN;
pub(crate) use materialize::copy;
pub(crate) use open::new_session_id;

pub use append::NewEntry;
pub use appends::{Compaction, NameSource};
pub use moves::{BranchSummary, Moved, NavigateError};
pub use queries::{At, EntryRef, Irregular};
pub use tail::LogTail;

use crate::check::{Damage, Flaw};
use crate::context::Surveys;
use crate::entry::{Header, stable_hash};
use crate::error::ReadOnly;
use crate::log::Log;
use crate::migrate::Format;
use crate::tree::Tree;

/// A session as a tree in an append-only log (contract, sections 1 to 5).
///
/// A session in a file and one in memory differ only in where the bytes are. Entries are read from
/// the log when they are asked for; what is held per entry is a small node.
///
/// ```
/// use ramal_session::SessionManager;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut session = SessionManager::in_memory("/work");
/// let ask = session.append_message(r#"{"role":"user","content":"Why is it slow?"}"#)?;
/// session.append_message(r#"{"role":"assistant","content":[{"type":"text","text":"The cache."}]}"#)?;
///
/// session.branch(&ask)?; // go back; the answer stays in the tree
/// session.append_message(r#"{"role":"assistant","content":[{"type":"text","text":"The disk."}]}"#)?;
/// assert_eq!(session.get_children(Some(&ask)).len(), 2);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct SessionManager {
    pub(crate) log: Log,
    pub(crate) tree: Tree,
    header: Header,
    format: Format,
    leaf: Option<u32>,
    place: Place,
    /// Where new sessions go; none to put them beside this one.
    session_dir: Option<PathBuf>,
    read: ReadUpTo,
    damage: DamageFound,
    /// Where the line of the header stands; none if it is not in the log.
    header_at: Option<u64>,
    durability: Durability,
    /// False once the file system was found to have no locks.
    has_locks: bool,
    /// What was found out about paths, for the next who asks.
    pub(crate) surveys: Surveys,
}

/// Where a session's bytes belong.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// Nowhere but in memory.
    Memory,
    /// In a file that appears with the first message. `occupied` says that a file without content,
    /// of so many bytes, stands there already.
    Planned {
        path: PathBuf,
        occupied: Option<u64>,
    },
    File,
}

/// How far the log has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct ReadUpTo {
    /// Behind the last newline that was read.
    settled: u64,
    /// Behind the last byte that was read: more than `settled` if the last line had no newline.
    end: u64,
    /// Lines that ended.
    lines: u64,
    /// Lines that parse as JSON: counted in version-1 logs, whose made-up ids follow from it.
    json_lines: u64,
    /// The line without newline counts as an entry.
    tail_is_entry: bool,
    /// The line without newline counts as damaged.
    tail_is_damaged: bool,
    /// Reading failed halfway: the tree holds lines that lie behind `end`.
    broken: bool,
}

/// Damaged lines: all counted, the first of them kept.
#[derive(Debug, Clone, Default)]
struct DamageFound {
    count: u64,
    first: Vec<Damage>,
}

/// How much of the log's end goes into its fingerprint.
const FINGERPRINT_BYTES: u64 = 4096;

/// Damaged lines that are kept; more are only counted.
const DAMAGE_KEPT: usize = 1000;

impl DamageFound {
    fn add(&mut self, damage: Damage) {
        self.count += 1;
        if self.first.len() < DAMAGE_KEPT {
            self.first.push(damage);
        }
    }

    /// The last line was torn, and ends now.
    fn end_last(&mut self) {
        if self.count <= self.first.len() as u64
            && let Some(last) = self.first.last_mut()
            && last.flaw == Flaw::Torn
        {
            last.flaw = Flaw::NotWhole;
        }
    }

    fn forget_last(&mut self) {
        if self.count <= self.first.len() as u64 {
            self.first.pop();
        }
        self.count = self.count.saturating_sub(1);
    }
}

/// Whether what was appended is known to have reached the disk (contract, section 11).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// Everything is on disk, or there is no disk.
    OnDisk,
    /// Something was appended since the log was last forced to disk: a killed process loses nothing,
    /// a power cut may.
    WithTheSystem,
    /// Forcing it to disk failed: not known to be on disk.
    Unknown,
}

impl SessionManager {
    /// The header of the log.
    pub fn get_header(&self) -> &Header {
        &self.header
    }

    /// The session's id.
    pub fn get_session_id(&self) -> &str {
        self.header.id()
    }

    /// The working directory that the session belongs to; empty if the log does not say.
    pub fn get_cwd(&self) -> &str {
        self.header.cwd()
    }

    /// The file that the session is in, or will be in once it has its first message; none for a
    /// session in memory.
    pub fn get_session_file(&self) -> Option<&Path> {
        match (&self.place, &self.log) {
            (Place::Memory, _) => None,
            (Place::Planned { path, .. }, _) => Some(path),
            (Place::File, Log::File(file)) => Some(file.path()),
            (Place::File, Log::Memory(_)) => None,
        }
    }

    /// The folder in which copies of this session are made.
    pub fn get_session_dir(&self) -> Option<&Path> {
        self.session_dir.as_deref().or_else(|| self.get_session_file()?.parent())
    }

    /// True if the session belongs in a file.
    pub fn is_persisted(&self) -> bool {
        self.place != Place::Memory
    }

    /// True if the file is there already.
    pub fn is_on_disk(&self) -> bool {
        self.place == Place::File
    }

    /// The version of the format that the log is in now.
    pub fn format(&self) -> &Format {
        &self.format
    }

    /// Why the session takes no entries, if it does not.
    pub fn read_only(&self) -> Option<ReadOnly> {
        match &self.format {
            Format::Newer(version) => Some(ReadOnly::NewerVersion(version.clone())),
            _ if self.header.is_made_up() => Some(ReadOnly::NoHeader),
            _ => None,
        }
    }

    /// What is known of how durable the log is.
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// False if the file system was found to have no locks: then each entry is one write at the end of
    /// the file, and no more than that keeps several writers apart.
    pub fn has_locks(&self) -> bool {
        self.has_locks
    }

    /// The name to show for the session (contract, section 14, "Names").
    pub fn get_session_name(&self) -> Option<String> {
        self.tree.names.shown(&self.header.title)
    }

    /// How many bytes of the log have been read.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.read.end
    }

    /// What a log without its damaged tail, if it has one, holds of the bytes read.
    pub(crate) fn taken_out_from(&self) -> u64 {
        if self.read.tail_is_damaged { self.read.settled } else { self.read.end }
    }

    /// How many entries there are.
    pub fn entry_count(&self) -> usize {
        self.tree.len()
    }

    /// How many lines are damaged: no JSON object with a string `type`, or not whole.
    pub fn damaged_lines(&self) -> u64 {
        self.damage.count
    }

    /// The damaged lines, up to the first thousand.
    pub fn damage(&self) -> &[Damage] {
        &self.damage.first
    }

    /// How many bytes of the log have been read, and a hash of the last of them (up to 4 KB) that is
    /// the same in every process: what else is remembered about this log holds as long as both do
    /// (contract, section 1). None for a session that has no file.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn log_fingerprint(&self) -> std::io::Result<Option<(u64, u64)>> {
        if self.place != Place::File {
            return Ok(None);
        }
        let count = self.read.end.min(FINGERPRINT_BYTES);
        let tail = self.log.read(self.read.end - count, count)?;
        Ok(Some((self.read.end, stable_hash(&[&tail]))))
    }

    /// How many lines repeat an entry word for word; each counts as one entry with it.
    pub fn repeated_lines(&self) -> u64 {
        self.tree.repeats
    }
}

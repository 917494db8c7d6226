//! Session files of version 3 that look like an agent's work.
//!
//! A session is written entry by entry and never held: its size is limited by
//! the disk. Entries follow each other as in real logs (a prompt, answers that
//! call tools, their results, a last answer; in between labels, changes of
//! model and other bookkeeping), so that a context built from them is whole.

mod entry;
mod ids;
mod text;

use std::collections::VecDeque;
use std::io::{self, Write};

use jiff::Timestamp;

use crate::random::{Random, SKEW_MEAN};
use entry::Call;
use ids::Ids;
use text::Texts;

/// Below this average there is no room for tools and usage; entries are then
/// bare messages.
pub const FULL_ENTRY_BYTES: u32 = 600;

/// The smallest average that bare messages can hold to.
pub const SMALLEST_ENTRY_BYTES: u32 = 165;

/// How far back a fork may go, in entries.
const FORK_REACH: u32 = 200;

/// How the entries hang together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One path, with a compaction now and then.
    Linear,
    /// A long path with forks that go back by up to 200 entries.
    Branchy,
    /// Every turn but the first is a branch of its own at the first answer.
    Fan,
    /// One path without compactions: the whole of it is context.
    Deep,
}

/// What to write.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Number of entries, the header not counted.
    pub entries: u32,
    /// Average size of an entry's line.
    pub bytes_per_entry: u32,
    /// How the entries hang together.
    pub shape: Shape,
    /// Entries between two compactions; none without.
    pub compact_every: Option<u32>,
    /// What everything random is drawn from.
    pub seed: u64,
    /// The header's working directory.
    pub cwd: String,
    /// The header's time.
    pub start: Timestamp,
    /// A name, written as `session_info` after the first turn.
    pub name: Option<String>,
    /// The header's `parentSession`.
    pub parent_session: Option<String>,
}

impl Plan {
    /// A session of `entries` entries with everything else as usual.
    pub fn new(entries: u32, shape: Shape) -> Self {
        Self {
            entries,
            bytes_per_entry: 1_070,
            shape,
            compact_every: matches!(shape, Shape::Linear | Shape::Branchy).then_some(5_000),
            seed: 1,
            cwd: "/home/user/work/date-parser".to_owned(),
            start: Timestamp::constant(1_767_600_000, 0),
            name: None,
            parent_session: None,
        }
    }

    /// The header's id: a version 7 UUID made from the time and the seed.
    pub fn session_id(&self) -> String {
        let mut random = Random::new(self.seed ^ 0x7575_6964);
        let mut bytes = [0; 10];
        bytes[..8].copy_from_slice(&random.bits().to_be_bytes());
        bytes[8..].copy_from_slice(&random.bits().to_be_bytes()[..2]);
        let millis = self.start.as_millisecond().unsigned_abs();
        uuid::Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid().to_string()
    }

    /// The name such a session's file has in a session folder.
    pub fn file_name(&self) -> String {
        let time = format!("{:.3}", self.start).replace([':', '.'], "-");
        format!("{time}_{}.jsonl", self.session_id())
    }
}

/// What was written.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// Size of the file.
    pub bytes: u64,
    /// Time of the last entry.
    pub end: Timestamp,
}

/// Writes the session of `plan` to `out`, which should be buffered.
///
/// # Errors
///
/// When `out` cannot be written to, and for an average size that is too small.
pub fn write_session(plan: &Plan, out: &mut impl Write) -> io::Result<Written> {
    if plan.bytes_per_entry < SMALLEST_ENTRY_BYTES {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("an entry needs {SMALLEST_ENTRY_BYTES} bytes on average at least"),
        ));
    }
    let mut generator = Generator::new(plan);
    generator.header()?;
    let mut bytes = generator.flush_line(out)?;
    while generator.number < plan.entries {
        generator.entry()?;
        let length = generator.flush_line(out)?;
        generator.entry_bytes += length;
        bytes += length;
    }
    Ok(Written { bytes, end: timestamp(generator.clock)? })
}

/// The state of a session that is being written.
struct Generator<'a> {
    plan: &'a Plan,
    random: Random,
    ids: Ids,
    texts: &'static Texts,
    line: Vec<u8>,
    /// Entries written so far, which is also the number of the next one.
    number: u32,
    /// Bytes of these entries.
    entry_bytes: u64,
    /// Milliseconds since 1970.
    clock: i64,
    /// The entry that the next one hangs on.
    leaf: Option<u32>,
    /// Recent last answers on any branch: where forks may begin.
    turn_ends: VecDeque<u32>,
    /// Recent prompts since the last fork: where a compaction may cut.
    prompts: VecDeque<u32>,
    first_turn_end: Option<u32>,
    next_fork: u32,
    next_compaction: u32,
    named: bool,
    noted: bool,
    turn: Turn,
}

/// Where in a turn we are.
#[derive(Default)]
struct Turn {
    /// Answers still to come, the last one included; none between turns.
    answers: u64,
    /// Calls of the last answer that have no result yet.
    calls: VecDeque<Call>,
}

impl<'a> Generator<'a> {
    fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            random: Random::new(plan.seed),
            ids: Ids::new(plan.seed),
            texts: &text::TEXTS,
            line: Vec::with_capacity(64 * 1024),
            number: 0,
            entry_bytes: 0,
            clock: plan.start.as_millisecond(),
            leaf: None,
            turn_ends: VecDeque::new(),
            prompts: VecDeque::new(),
            first_turn_end: None,
            next_fork: 40,
            next_compaction: plan.compact_every.unwrap_or(u32::MAX),
            named: false,
            noted: false,
            turn: Turn::default(),
        }
    }

    fn full(&self) -> bool {
        self.plan.bytes_per_entry >= FULL_ENTRY_BYTES
    }

    /// Makes the next entry's line and moves the leaf to it.
    fn entry(&mut self) -> io::Result<()> {
        self.line.clear();
        if let Some(call) = self.turn.calls.pop_front() {
            self.tick(5, 4_000);
            self.tool_result(&call)?;
        } else if self.turn.answers > 0 {
            self.tick(900, 14_000);
            self.turn.answers -= 1;
            if self.turn.answers > 0 {
                self.calling_answer()?;
            } else {
                self.last_answer()?;
                self.end_turn();
            }
        } else {
            self.between_turns()?;
        }
        self.leaf = Some(self.number);
        self.number += 1;
        Ok(())
    }

    fn between_turns(&mut self) -> io::Result<()> {
        if self.full() {
            if self.number >= self.next_compaction {
                self.next_compaction =
                    (self.number).saturating_add(self.plan.compact_every.unwrap_or(u32::MAX));
                self.tick(4_000, 20_000);
                return self.compaction();
            }
            if !self.named && self.number > 0 {
                self.named = true;
                if let Some(name) = self.plan.name.as_deref() {
                    self.tick(5, 50);
                    return self.session_info(name);
                }
            }
            if !self.noted && self.number > 0 && self.random.chance(20) {
                self.noted = true;
                self.tick(500, 9_000);
                return self.note();
            }
        }
        self.noted = false;
        self.move_leaf();
        self.begin_turn()
    }

    /// Branches off before a turn, as the shape wants it.
    fn move_leaf(&mut self) {
        match self.plan.shape {
            Shape::Linear | Shape::Deep => {}
            Shape::Fan => {
                self.leaf = self.first_turn_end;
                self.prompts.clear();
            }
            Shape::Branchy if self.number < self.next_fork => {}
            Shape::Branchy => {
                self.next_fork = self.number + self.random.between(25, 75) as u32;
                // Short ways back are more common than long ones.
                let reach = self.random.between(1, u64::from(FORK_REACH));
                let back = self.random.between(1, reach) as u32;
                let goal = self.number.saturating_sub(1 + back);
                let at = self.turn_ends.partition_point(|end| *end <= goal);
                if let Some(end) = self.turn_ends.get(at.saturating_sub(1)) {
                    self.leaf = Some(*end);
                    self.prompts.clear();
                }
            }
        }
    }

    fn begin_turn(&mut self) -> io::Result<()> {
        self.tick(3_000, 90_000);
        self.turn.answers = if self.full() { self.random.between(1, 7) } else { 1 };
        if self.prompts.len() == 4 {
            self.prompts.pop_front();
        }
        self.prompts.push_back(self.number);
        self.prompt()
    }

    fn end_turn(&mut self) {
        self.first_turn_end.get_or_insert(self.number);
        self.turn_ends.push_back(self.number);
        let oldest = self.number.saturating_sub(FORK_REACH);
        while self.turn_ends.front().is_some_and(|end| *end < oldest) {
            self.turn_ends.pop_front();
        }
    }

    /// Lets between `low` and `high` milliseconds pass.
    fn tick(&mut self, low: u64, high: u64) {
        self.clock += self.random.between(low, high) as i64;
    }

    /// How long a text is to be that takes `percent` of an average entry:
    /// varied, and corrected by what earlier entries had too much or too little.
    fn length(&mut self, percent: u64) -> usize {
        let average = i64::from(self.plan.bytes_per_entry);
        let missing = average * i64::from(self.number) - self.entry_bytes as i64;
        let correction = (100 + 100 * missing / (16 * average)).clamp(2, 400) as u64;
        let length = average as u64 * percent * self.random.skewed() * correction;
        (length / (100 * SKEW_MEAN * 100)) as usize
    }

    fn flush_line(&mut self, out: &mut impl Write) -> io::Result<u64> {
        self.line.push(b'\n');
        out.write_all(&self.line)?;
        Ok(self.line.len() as u64)
    }
}

fn timestamp(millis: i64) -> io::Result<Timestamp> {
    Timestamp::from_millisecond(millis).map_err(io::Error::other)
}

#[cfg(test)]
mod tests;

//! The blocks of a path, read from its end upwards.

use std::collections::{HashSet, VecDeque};

use ramal_session::{EntryId, EntryRef, LogTail, ReadError, SessionManager};
use ratatui::text::Line;

use super::Options;
use super::block::{Block, Body, Forks};
use super::entries::{Shown, shown};
use super::tool::Outcome;
use crate::theme::Theme;

/// Entries that are read at a time when lines are wanted.
const SLICE: usize = 32;
/// Entries above a result among which its call is looked for.
const CALLS: usize = 256;

/// The blocks of a path, as far up as somebody has asked for them: of the active one, or of any other. A
/// session may be as long as it likes: what was not asked for is not read.
///
/// It keeps positions and no handles, so the session is given to whatever reads.
#[derive(Debug, Default)]
pub struct Transcript {
    blocks: VecDeque<Block>,
    /// The entry that is read next, upwards.
    above: Option<usize>,
    /// The entry at the end.
    leaf: Option<usize>,
    generation: u64,
    /// Of a path that is not the active one, how many entries there were when it was looked at last.
    elsewhere: Option<usize>,
    /// Entries that were read.
    read: usize,
}

/// What became of the path since it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Followed {
    /// It goes on, with so many new blocks at the end; calls may have got their results.
    On(usize),
    /// It is another one: [`Transcript::at_leaf`] begins with it.
    Elsewhere,
}

/// Results whose calls were not met yet, the last one first.
#[derive(Default)]
struct Results(Vec<Open>);

struct Open {
    call: String,
    name: String,
    outcome: Outcome,
    siblings: Option<Forks>,
    label: Option<String>,
}

impl Transcript {
    /// The path to the leaf. Nothing is read yet.
    pub fn at_leaf(session: &SessionManager) -> Transcript {
        let leaf = session.get_leaf_entry().map(EntryRef::position);
        Transcript { above: leaf, leaf, generation: session.generation(), ..Transcript::default() }
    }

    /// The path to an entry, wherever it is. Nothing is read yet; nothing there is if there is no such
    /// position.
    pub fn at(session: &SessionManager, position: usize) -> Transcript {
        let leaf = session.get_entry_at(position).map(EntryRef::position);
        if leaf == session.get_leaf_entry().map(EntryRef::position) {
            return Transcript::at_leaf(session);
        }
        Transcript {
            above: leaf,
            leaf,
            generation: session.generation(),
            elsewhere: Some(session.entry_count()),
            ..Transcript::default()
        }
    }

    /// Reads so many more entries upwards, and a few more where results have not met their calls yet.
    /// Answers how many blocks came in at the top.
    ///
    /// # Errors
    /// If the log cannot be read any more.
    pub fn read_more(&mut self, session: &SessionManager, entries: usize) -> Result<usize, ReadError> {
        self.read_up_to(session, entries, &|_| false)
    }

    /// As [`Transcript::read_more`], ending below an entry of which not all is known.
    fn read_up_to(
        &mut self,
        session: &SessionManager,
        entries: usize,
        is_cut: &dyn Fn(EntryRef<'_>) -> bool,
    ) -> Result<usize, ReadError> {
        let had = self.blocks.len();
        let mut results = Results::default();
        let mut read = 0;
        while let Some(at) = self.above.and_then(|position| session.get_entry_at(position)) {
            if read >= entries && (results.0.is_empty() || read >= entries + CALLS) {
                break;
            }
            if is_cut(at) {
                // Results whose calls stand there are no blocks, and what is not shown might pass a mark on.
                self.above = None;
                let seen = |shown: &Shown| matches!(shown, Shown::Blocks(bodies) if !bodies.is_empty());
                if !seen(&shown(&at.read()?, session.get_cwd())) {
                    self.blocks.pop_front();
                }
                return Ok(self.blocks.len().saturating_sub(had));
            }
            read += 1;
            add_above(session, at, &mut self.blocks, &mut results)?;
            self.above = at.parent().map(EntryRef::position);
        }
        self.read += read;
        results.release(&mut self.blocks);
        Ok(self.blocks.len().saturating_sub(had))
    }

    /// Reads upwards until there are so many lines, or no more entries; answers all lines of what is read.
    ///
    /// # Errors
    /// If the log cannot be read any more.
    pub fn read_lines(
        &mut self,
        session: &SessionManager,
        rows: usize,
        width: usize,
        theme: &Theme,
        options: &Options<'_>,
    ) -> Result<Vec<Line<'static>>, ReadError> {
        self.read_lines_of(session, usize::MAX, rows, width, theme, options)
    }

    /// As [`Transcript::read_lines`], from so many entries at most.
    ///
    /// # Errors
    /// If the log cannot be read any more.
    pub fn read_lines_of(
        &mut self,
        session: &SessionManager,
        entries: usize,
        rows: usize,
        width: usize,
        theme: &Theme,
        options: &Options<'_>,
    ) -> Result<Vec<Line<'static>>, ReadError> {
        loop {
            let lines = super::lines(&self.blocks, width, theme, options);
            let left = entries.saturating_sub(self.read);
            if lines.len() >= rows || self.is_whole() || left == 0 {
                return Ok(lines);
            }
            // More each time, so that a path of many silent entries is not drawn over and over.
            self.read_more(session, SLICE.max(self.blocks.len()).min(left))?;
        }
    }

    /// How many of the last blocks it takes for so many lines, drawn so; all if they have not so many.
    pub fn blocks_for(&self, rows: usize, width: usize, theme: &Theme, options: &Options<'_>) -> usize {
        let mut lines = 0;
        for (number, block) in self.blocks.iter().rev().enumerate() {
            if lines >= rows {
                return number;
            }
            // The blank line above it is not counted: rather a block too many than one too few.
            lines += block.lines(width, theme, options).len();
        }
        self.blocks.len()
    }

    /// The lines of so many of the last blocks.
    pub fn last_lines(
        &self,
        blocks: usize,
        width: usize,
        theme: &Theme,
        options: &Options<'_>,
    ) -> Vec<Line<'static>> {
        let skip = self.blocks.len().saturating_sub(blocks);
        super::lines(self.blocks.iter().skip(skip), width, theme, options)
    }

    /// The lines at the end of the path as the end of the log tells them, for a first look before the log was
    /// read: at least so many if there are, the same that [`Transcript::read_lines`] ends with. None if it tells
    /// no path.
    ///
    /// # Errors
    /// If an entry cannot be read.
    pub fn lines_of_tail(
        tail: &LogTail,
        rows: usize,
        width: usize,
        theme: &Theme,
        options: &Options<'_>,
    ) -> Result<Option<Vec<Line<'static>>>, ReadError> {
        let Some(session) = tail.session() else { return Ok(None) };
        let mut transcript = Transcript::at_leaf(session);
        loop {
            let lines = super::lines(&transcript.blocks, width, theme, options);
            if lines.len() >= rows || transcript.is_whole() {
                return Ok(Some(lines));
            }
            let entries = SLICE.max(transcript.blocks.len());
            transcript.read_up_to(session, entries, &|at| tail.is_cut_at(at))?;
        }
    }

    /// Whether the path was read up to its root.
    pub fn is_whole(&self) -> bool {
        self.above.is_none()
    }

    /// Whether it is the path to the leaf, as far as is known.
    pub fn is_active(&self) -> bool {
        self.elsewhere.is_none()
    }

    /// The position of the entry at the end; none before the first entry.
    pub fn end(&self) -> Option<usize> {
        self.leaf
    }

    /// The position of the entry that is read next, upwards; none if all were.
    pub fn next_above(&self) -> Option<usize> {
        self.above
    }

    /// How many entries of the path were read, those that show nothing included.
    pub fn entries_read(&self) -> usize {
        self.read
    }

    /// Reads what was appended below: to the leaf on the active path, elsewhere to what was appended last.
    ///
    /// # Errors
    /// If the log cannot be read any more.
    pub fn follow(&mut self, session: &SessionManager) -> Result<Followed, ReadError> {
        if session.generation() != self.generation {
            return Ok(Followed::Elsewhere);
        }
        let mut fresh = Vec::new();
        let mut at = match self.elsewhere {
            None => session.get_leaf_entry(),
            Some(seen) => self.grown(session, seen),
        };
        while let Some(entry) = at.filter(|entry| Some(entry.position()) != self.leaf) {
            // Entries stand below older ones, save in odd logs.
            if self.leaf.is_some_and(|leaf| entry.position() < leaf) {
                return Ok(Followed::Elsewhere);
            }
            fresh.push(entry);
            at = entry.parent();
        }
        if at.map(EntryRef::position) != self.leaf {
            return Ok(Followed::Elsewhere);
        }
        let mut blocks = VecDeque::new();
        let mut results = Results::default();
        for entry in &fresh {
            add_above(session, *entry, &mut blocks, &mut results)?;
        }
        for block in self.blocks.iter_mut().rev() {
            if results.0.is_empty() {
                break;
            }
            results.meet(block);
        }
        results.release(&mut blocks);
        self.leaf = fresh.first().map(|entry| entry.position()).or(self.leaf);
        self.elsewhere = self.elsewhere.map(|_| session.entry_count());
        self.read += fresh.len();
        let count = blocks.len();
        self.blocks.append(&mut blocks);
        Ok(Followed::On(count))
    }

    /// What was appended last of the conversation below the end, among the entries behind the first `seen`.
    fn grown<'s>(&self, session: &'s SessionManager, seen: usize) -> Option<EntryRef<'s>> {
        let mut below: HashSet<usize> = self.leaf.into_iter().collect();
        let mut end = self.leaf;
        for entry in (seen..session.entry_count()).filter_map(|position| session.get_entry_at(position)) {
            if entry.parent().is_some_and(|parent| below.contains(&parent.position())) {
                below.insert(entry.position());
                if entry.kind().is_conversation() {
                    end = Some(entry.position());
                }
            }
        }
        session.get_entry_at(end?)
    }

    /// Looks again which entries have labels and siblings.
    pub fn refresh_marks(&mut self, session: &SessionManager) {
        for number in 0..self.blocks.len() {
            self.refresh_marks_of(session, number);
        }
    }

    /// Looks again at the label and the siblings of the entry that a block is of.
    pub fn refresh_marks_of(&mut self, session: &SessionManager, number: usize) {
        let above = number.checked_sub(1).and_then(|above| self.blocks.get(above));
        let above = above.and_then(|above| above.entry.clone());
        let Some(block) = self.blocks.get_mut(number) else { return };
        let entry = |id: Option<&EntryId>| id.and_then(|id| session.get_entry(id));
        // Only the first block of an entry bears its marks, and a call those of its result.
        let own = entry(block.entry.as_ref()).filter(|_| above != block.entry);
        let result = entry(block.result_id());
        let both = [own, result];
        let label = both.iter().flatten().find_map(|entry| entry.label());
        block.label = label.map(str::to_owned);
        let forks = both.into_iter().flatten().find_map(|entry| siblings(entry));
        // It may stand for something above that is not shown.
        let hidden = block.passed_on.and_then(|position| session.get_entry_at(position));
        block.siblings = forks.or_else(|| siblings(hidden?));
    }

    /// Adds a block at the end, of something that stands in no entry.
    pub fn push(&mut self, block: Block) {
        self.blocks.push_back(block);
    }

    /// Says at the end that the last turn broke off, if it did. Not for a session in which one goes on.
    ///
    /// # Errors
    /// If the log cannot be read any more.
    pub fn tell_interruption(&mut self, session: &SessionManager) -> Result<(), ReadError> {
        if let Some(interruption) = ramal_agent::interruption(session)? {
            self.push(Block::notice(&interruption.message()));
        }
        Ok(())
    }

    /// The blocks that were read, from the top down.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = &Block> + ExactSizeIterator {
        self.blocks.iter()
    }

    /// A block by its number.
    pub fn get(&self, number: usize) -> Option<&Block> {
        self.blocks.get(number)
    }

    /// The number of the first block of an entry, or of the call that it is the result of.
    pub fn find(&self, entry_id: &str) -> Option<usize> {
        let is = |id: Option<&EntryId>| id.is_some_and(|id| **id == *entry_id);
        self.blocks.iter().position(|block| is(block.entry_id()) || is(block.result_id()))
    }
}

/// Puts what an entry shows above other blocks.
fn add_above(
    session: &SessionManager,
    at: EntryRef<'_>,
    blocks: &mut VecDeque<Block>,
    results: &mut Results,
) -> Result<(), ReadError> {
    let entry = at.read()?;
    let siblings = siblings(at);
    let label = at.label().map(str::to_owned);
    match shown(&entry, session.get_cwd()) {
        Shown::Result { call, name, outcome } => {
            results.0.push(Open { call, name, outcome: *outcome, siblings, label });
        }
        Shown::Blocks(bodies) => {
            let mut own: Vec<Block> = bodies
                .into_iter()
                .map(|body| Block { entry: Some(entry.id().clone()), ..body.into() })
                .collect();
            for block in own.iter_mut().rev() {
                results.meet(block);
            }
            // An answer above them without their call: it is not to be had.
            if entry.role() == ramal_session::Role::Assistant {
                results.release(blocks);
            }
            let marked = match own.first_mut() {
                Some(first) => {
                    first.label = label.or(first.label.take());
                    Some(first)
                }
                // What is not shown passes its mark on to what stands below it.
                None => blocks.front_mut().filter(|below| below.siblings.is_none()),
            };
            if let Some(block) = marked {
                if siblings.is_some() && block.entry.as_ref() != Some(entry.id()) {
                    block.passed_on = Some(at.position());
                }
                block.siblings = siblings.or(block.siblings);
            }
            for block in own.into_iter().rev() {
                blocks.push_front(block);
            }
        }
    }
    Ok(())
}

impl Results {
    /// Gives a call its result.
    fn meet(&mut self, block: &mut Block) {
        let Body::Tool(tool) = &mut block.body else { return };
        let Some(place) = self.0.iter().position(|open| open.call == tool.id) else { return };
        if tool.outcome.is_some() {
            return;
        }
        let open = self.0.remove(place);
        tool.set_outcome(open.outcome);
        block.siblings = block.siblings.or(open.siblings);
        block.label = block.label.take().or(open.label);
    }

    /// Shows those that are left by themselves.
    fn release(&mut self, blocks: &mut VecDeque<Block>) {
        for open in self.0.drain(..) {
            let block = Block::of_result(&open.call, &open.name, open.outcome);
            blocks.push_front(Block { siblings: open.siblings, label: open.label, ..block });
        }
    }
}

/// Which of its siblings an entry is.
fn siblings(at: EntryRef<'_>) -> Option<Forks> {
    if !at.has_siblings() {
        return None;
    }
    let all = at.siblings();
    let index = all.iter().position(|entry| *entry == at)? + 1;
    Some(Forks { index, count: all.len() })
}

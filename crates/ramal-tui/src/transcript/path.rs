//! The blocks of a path, read from its end upwards.

use std::collections::VecDeque;

use ramal_session::{EntryRef, LogTail, ReadError, SessionManager};
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

/// The blocks of the active path, as far up as somebody has asked for them. A session may be as long
/// as it likes: what was not asked for is not read.
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
        Transcript { blocks: VecDeque::new(), above: leaf, leaf, generation: session.generation() }
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
        loop {
            let lines = super::lines(&self.blocks, width, theme, options);
            if lines.len() >= rows || self.is_whole() {
                return Ok(lines);
            }
            // More each time, so that a path of many silent entries is not drawn over and over.
            self.read_more(session, SLICE.max(self.blocks.len()))?;
        }
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

    /// Reads what was appended below.
    ///
    /// # Errors
    /// If the log cannot be read any more.
    pub fn follow(&mut self, session: &SessionManager) -> Result<Followed, ReadError> {
        let mut fresh = Vec::new();
        let mut at = session.get_leaf_entry();
        while let Some(entry) = at.filter(|entry| Some(entry.position()) != self.leaf) {
            // Entries stand below older ones, save in odd logs.
            if self.leaf.is_some_and(|leaf| entry.position() < leaf) {
                return Ok(Followed::Elsewhere);
            }
            fresh.push(entry);
            at = entry.parent();
        }
        if session.generation() != self.generation || at.map(EntryRef::position) != self.leaf {
            return Ok(Followed::Elsewhere);
        }
        let mut blocks = VecDeque::new();
        let mut results = Results::default();
        for entry in &fresh {
            add_above(session, *entry, &mut blocks, &mut results)?;
        }
        for block in self.blocks.iter_mut().rev() {
            results.meet(block);
        }
        results.release(&mut blocks);
        self.leaf = fresh.first().map(|entry| entry.position()).or(self.leaf);
        let count = blocks.len();
        self.blocks.append(&mut blocks);
        Ok(Followed::On(count))
    }

    /// Looks again which entries have labels and siblings.
    pub fn refresh_marks(&mut self, session: &SessionManager) {
        let mut above = None;
        for block in &mut self.blocks {
            let Some(id) = block.entry.clone() else { continue };
            // Only the first block of an entry bears its marks.
            if above.as_ref() == Some(&id) {
                continue;
            }
            if let Some(entry) = session.get_entry(&id) {
                block.label = entry.label().map(str::to_owned);
                block.siblings = siblings(session, entry).or(block.siblings);
            }
            above = Some(id);
        }
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
        let is = |id: Option<&ramal_session::EntryId>| id.is_some_and(|id| **id == *entry_id);
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
    let siblings = siblings(session, at);
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

/// Which of its siblings an entry is. Records at which nothing hangs are none.
fn siblings(session: &SessionManager, at: EntryRef<'_>) -> Option<Forks> {
    let counts =
        |child: &EntryRef<'_>| *child == at || child.kind().is_conversation() || child.has_children();
    let all = match at.parent() {
        Some(parent) => {
            parent.children().filter(counts).nth(1)?;
            parent.ordered_children()
        }
        None => session.get_tree(),
    };
    let all: Vec<_> = all.into_iter().filter(counts).collect();
    let index = all.iter().position(|child| *child == at)? + 1;
    (all.len() > 1).then_some(Forks { index, count: all.len() })
}

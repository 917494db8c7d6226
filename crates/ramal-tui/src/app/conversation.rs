//! The conversation on the main screen: what was printed, what is about to be, and what still changes.

use std::collections::HashSet;

use jiff::Timestamp;
use ramal_agent::AgentEvent;
use ramal_session::{EntryId, Kind, ReadError, SessionManager};
use ratatui::text::Line;

use super::look::Look;
use crate::markdown::run::rewrap;
use crate::transcript::{Block, Followed, LiveTurn, Options, Transcript};

/// Lines since the last whole block that are kept for the case that the window changes its size.
const KEPT: usize = 500;

/// The conversation, as far as it stands on the main screen or is about to.
///
/// Everything is printed by way of one [`LiveTurn`], in the order in which it came. What an entry shows is
/// printed once, whether the turn told of it or it was found in the log afterwards.
pub(super) struct Conversation {
    transcript: Transcript,
    live: LiveTurn,
    /// Lines that are to be printed before those of `live`.
    pending: Vec<Line<'static>>,
    /// Lines that were printed since the transcript was brought up to date.
    since: Vec<Line<'static>>,
    /// What was said beside the log meanwhile.
    beside: Vec<Block>,
    /// The entries of which the turn has told.
    told: HashSet<EntryId>,
    /// The turn told of a compaction, and not by its id.
    told_compaction: bool,
}

/// What has become of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Path {
    /// It goes on as it did.
    GoesOn,
    /// It is another one.
    IsAnother,
}

impl Conversation {
    /// The conversation up to the leaf, of which nothing is printed.
    pub(super) fn at_leaf(session: &SessionManager) -> Conversation {
        Conversation {
            transcript: Transcript::at_leaf(session),
            live: LiveTurn::new(session.get_cwd()),
            pending: Vec::new(),
            since: Vec::new(),
            beside: Vec::new(),
            told: HashSet::new(),
            told_compaction: false,
        }
    }

    /// Prints the end of the path: so many rows of it, from so many entries, at most.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub(super) fn print_end(
        &mut self,
        session: &SessionManager,
        entries: usize,
        rows: usize,
        scene: &Drawn<'_>,
    ) -> Result<(), ReadError> {
        let (width, theme) = (scene.width, &scene.look.theme);
        let all = self.transcript.read_lines_of(session, entries, rows, width, theme, &scene.options)?;
        let from = all.len().saturating_sub(rows);
        self.pending.extend(all.into_iter().skip(from));
        self.live = LiveTurn::below(session.get_cwd(), self.transcript.blocks().next_back().cloned());
        Ok(())
    }

    /// Begins below what was printed of the path before: all but its last entries, of which there are so many.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub(super) fn goes_on_at(&mut self, session: &SessionManager, below: usize) -> Result<(), ReadError> {
        // With one that was printed, so that what comes next knows what it stands below.
        self.transcript.read_more(session, below + 1)?;
        let path = std::iter::successors(session.get_leaf_entry(), |entry| entry.parent());
        let fresh: HashSet<EntryId> = path.take(below).filter_map(|entry| entry.id().ok()).collect();
        let is_fresh = |block: &Block| block.entry_id().is_some_and(|id| fresh.contains(id));
        let printed = self.transcript.blocks().rfind(|block| !is_fresh(block)).cloned();
        self.live = LiveTurn::below(session.get_cwd(), printed);
        for block in self.transcript.blocks().filter(|block| is_fresh(block)) {
            self.live.push(block.clone());
        }
        Ok(())
    }

    /// Prints lines that belong to no block.
    pub(super) fn print(&mut self, lines: impl IntoIterator<Item = Line<'static>>) {
        self.pending.extend(lines);
    }

    /// Says something that stands in no entry.
    pub(super) fn say(&mut self, block: Block) {
        self.live.push(block.clone());
        self.beside.push(block);
    }

    /// Takes in what happened.
    pub(super) fn event(&mut self, event: &AgentEvent, now: Timestamp) {
        match event {
            AgentEvent::MessageEnd { entry_id, .. } if !entry_id.is_empty() => {
                self.told.insert(EntryId::from(&**entry_id));
            }
            AgentEvent::CompactionEnd { result: Some(_), .. } => self.told_compaction = true,
            AgentEvent::Notice { message } => self.beside.push(Block::notice(message)),
            _ => {}
        }
        self.live.event(event, now);
    }

    /// Takes in what was appended to the path while nothing runs, and prints what nobody has told of.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub(super) fn follow(&mut self, session: &SessionManager) -> Result<Path, ReadError> {
        let count = match self.transcript.follow(session)? {
            Followed::On(count) => count,
            Followed::Elsewhere => return Ok(Path::IsAnother),
        };
        let skip = self.transcript.blocks().len().saturating_sub(count);
        let fresh: Vec<Block> = self.transcript.blocks().skip(skip).cloned().collect();
        for block in fresh {
            let is_told = block.entry_id().is_some_and(|id| {
                let is_compaction =
                    || session.get_entry(id).is_some_and(|entry| entry.kind() == Kind::Compaction);
                self.told.contains(id) || self.told_compaction && is_compaction()
            });
            if !is_told {
                self.live.push(block);
            }
        }
        self.beside.drain(..).for_each(|block| self.transcript.push(block));
        self.told.clear();
        self.told_compaction = false;
        self.since.clear();
        Ok(Path::GoesOn)
    }

    /// The lines that are to be printed now, for good.
    pub(super) fn take_said(&mut self, scene: &Drawn<'_>) -> Vec<Line<'static>> {
        let mut said = std::mem::take(&mut self.pending);
        said.append(&mut self.live.take_final(scene.width, &scene.look.theme, &scene.options));
        self.since.extend(said.iter().cloned());
        let excess = self.since.len().saturating_sub(KEPT);
        self.since.drain(..excess);
        said
    }

    /// The lines that can still change.
    pub(super) fn open_lines(&mut self, scene: &Drawn<'_>) -> Vec<Line<'static>> {
        self.live.open_lines(scene.width, &scene.look.theme, &scene.options)
    }

    /// The last rows of what was printed, at another width. What has been printed of a turn that goes on
    /// keeps the lines that it has, broken where they do not fit.
    pub(super) fn tail(
        &mut self,
        session: &SessionManager,
        rows: usize,
        scene: &Drawn<'_>,
    ) -> Vec<Line<'static>> {
        let theme = &scene.look.theme;
        // What cannot be read any more is not shown anew; the log is told of elsewhere.
        let above = self.transcript.read_lines(session, rows, scene.width, theme, &scene.options);
        let mut lines = above.unwrap_or_default();
        for line in &self.since {
            lines.append(&mut rewrap(line, scene.width));
        }
        let excess = lines.len().saturating_sub(rows);
        lines.drain(..excess);
        lines
    }
}

/// How and how wide lines are drawn.
pub(super) struct Drawn<'a> {
    pub(super) width: usize,
    pub(super) look: &'a Look,
    pub(super) options: Options<'a>,
}

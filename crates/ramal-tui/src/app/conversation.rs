//! The conversation on the main screen: what was printed, what is about to be, and what still changes.

use std::collections::HashSet;

use jiff::Timestamp;
use ramal_agent::AgentEvent;
use ramal_session::{EntryId, Kind, Message, ReadError, Role, SessionManager};
use ratatui::text::{Line, Span};

use super::look::Look;
use super::pictures::pictures_in;
use crate::markdown::run::rewrap;
use crate::text::width::fit;
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
    /// Lines that stand above the path and belong to no block of it.
    above: Vec<Line<'static>>,
    /// Lines that were printed of what the transcript does not know yet.
    since: Vec<Line<'static>>,
    /// What was said beside the log meanwhile.
    beside: Vec<Block>,
    /// The entries of which the turn has told.
    told: HashSet<EntryId>,
    /// The turn told of a compaction, and not by its id.
    told_compaction: bool,
    /// How what is on the screen was drawn.
    drawn: Option<How>,
    /// Pictures of what was said, which are drawn once the lines above them are printed.
    pictures: Vec<Vec<u8>>,
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
            above: Vec::new(),
            since: Vec::new(),
            beside: Vec::new(),
            told: HashSet::new(),
            told_compaction: false,
            drawn: None,
            pictures: Vec::new(),
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

    /// Prints lines that belong to no block, above all of the path that will be printed.
    pub(super) fn print(&mut self, lines: impl IntoIterator<Item = Line<'static>>) {
        let from = self.pending.len();
        self.pending.extend(lines);
        self.above.extend(self.pending.iter().skip(from).cloned());
        let excess = self.above.len().saturating_sub(KEPT);
        self.above.drain(..excess);
    }

    /// Says something that stands in no entry.
    pub(super) fn say(&mut self, block: Block) {
        self.live.push(block.clone());
        self.beside.push(block);
    }

    /// What was said beside the log stands where it was said, if there is nothing of a turn that belongs before it.
    pub(super) fn settle(&mut self, scene: &Drawn<'_>) {
        if !self.told.is_empty() || self.told_compaction {
            return;
        }
        let mut lines = self.live.take_final(scene.width, &scene.look.theme, &scene.options);
        self.pending.append(&mut lines);
        if self.live.is_empty() {
            self.beside.drain(..).for_each(|block| self.transcript.push(block));
            self.since.clear();
        }
    }

    /// Takes in what happened.
    pub(super) fn event(&mut self, event: &AgentEvent, now: Timestamp) {
        match event {
            // It was found in the log before anybody told of it.
            AgentEvent::MessageEnd { message, entry_id }
                if Message::new(message).role() != Role::Assistant
                    && self.transcript.find(entry_id).is_some() =>
            {
                return;
            }
            AgentEvent::MessageEnd { message, entry_id } => {
                self.pictures.extend(pictures_in(message));
                if !entry_id.is_empty() {
                    self.told.insert(EntryId::from(&**entry_id));
                }
            }
            AgentEvent::CompactionEnd { result: Some(_), .. } => self.told_compaction = true,
            AgentEvent::Notice { message } => self.beside.push(Block::notice(message)),
            _ => {}
        }
        self.live.event(event, now);
    }

    /// Takes in an entry that somebody appended while a turn runs, unless it is known.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub(super) fn appended(&mut self, session: &SessionManager, id: &str) -> Result<(), ReadError> {
        let Some(entry) = session.get_entry(id).map(|entry| entry.read()).transpose()? else { return Ok(()) };
        if self.transcript.find(id).is_none() && self.told.insert(entry.id().clone()) {
            self.live.entry(&entry);
        }
        Ok(())
    }

    /// Takes in what was appended to the path while nothing runs, and prints what nobody has told of.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub(super) fn follow(&mut self, session: &SessionManager, scene: &Drawn<'_>) -> Result<Path, ReadError> {
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
        // What is still to be printed is a part of the transcript by now.
        self.pending.append(&mut self.live.take_final(scene.width, &scene.look.theme, &scene.options));
        self.since.clear();
        Ok(Path::GoesOn)
    }

    /// The lines that are to be printed now, for good.
    pub(super) fn take_said(&mut self, scene: &Drawn<'_>) -> Vec<Line<'static>> {
        self.drawn.get_or_insert(How::of(scene));
        let mut said = std::mem::take(&mut self.pending);
        let mut fresh = self.live.take_final(scene.width, &scene.look.theme, &scene.options);
        self.since.extend(fresh.iter().cloned());
        said.append(&mut fresh);
        let excess = self.since.len().saturating_sub(KEPT);
        self.since.drain(..excess);
        said
    }

    /// The pictures that belong below what was printed last.
    pub(super) fn take_pictures(&mut self) -> Vec<Vec<u8>> {
        match self.live.is_empty() {
            true => std::mem::take(&mut self.pictures),
            false => Vec::new(),
        }
    }

    /// The lines that can still change.
    pub(super) fn open_lines(&mut self, scene: &Drawn<'_>) -> Vec<Line<'static>> {
        self.live.open_lines(scene.width, &scene.look.theme, &scene.options)
    }

    /// The end of what was printed, drawn anew: all of the last `seen` rows that were printed, and as many above
    /// them as there is room for. What has been printed of a turn that goes on keeps the lines that it has,
    /// broken where they do not fit.
    pub(super) fn tail(
        &mut self,
        session: &SessionManager,
        seen: usize,
        room: usize,
        scene: &Drawn<'_>,
    ) -> Vec<Line<'static>> {
        let (width, theme) = (scene.width, &scene.look.theme);
        let before = self.drawn.replace(How::of(scene)).unwrap_or(How::of(scene));
        let options = scene.look.options(before.is_open, before.hides_thinking);
        let seen = seen.saturating_sub(self.since.len());
        let since: Vec<Line<'static>> = self.since.iter().flat_map(|line| anew(line, width)).collect();
        let room = room.saturating_sub(since.len());
        let (seen, fill) = loop {
            let seen_blocks = self.transcript.blocks_for(seen, before.width, theme, &options);
            let fill = self.transcript.blocks_for(room, width, theme, &scene.options);
            let is_enough = seen_blocks.max(fill) < self.transcript.blocks().len();
            // What cannot be read any more is not shown anew; the log is told of elsewhere.
            if is_enough || self.transcript.is_whole() || self.transcript.read_more(session, MORE).is_err() {
                break (seen_blocks, fill);
            }
        };
        let mut lines = match self.transcript.is_whole() && seen.max(fill) >= self.transcript.blocks().len() {
            true => self.above.iter().flat_map(|line| anew(line, width)).collect(),
            false => Vec::new(),
        };
        let above = lines.len();
        lines.append(&mut self.transcript.last_lines(seen.max(fill), width, theme, &scene.options));
        if seen < self.transcript.blocks().len() {
            // What only fills the room is cut where the room ends.
            let kept = self.transcript.last_lines(seen, width, theme, &scene.options).len().max(room);
            let excess = lines.len().saturating_sub(kept);
            lines.drain(..excess);
        } else {
            // Of what stands above the path, what was there is not repeated for ever.
            let excess = above.min(lines.len().saturating_sub(room));
            lines.drain(..excess.min(above.saturating_sub(ABOVE)));
        }
        lines.extend(since);
        lines
    }
}

/// Entries that are read at a time where more is to be drawn.
const MORE: usize = 32;

/// Lines above the path that are printed anew with it, where it is not longer than the screen.
const ABOVE: usize = 40;

/// How what was printed was drawn.
#[derive(Debug, Clone, Copy)]
struct How {
    width: usize,
    is_open: bool,
    hides_thinking: bool,
}

impl How {
    fn of(scene: &Drawn<'_>) -> How {
        let Options { open: is_open, hide_thinking: hides_thinking, .. } = scene.options;
        How { width: scene.width, is_open, hides_thinking }
    }
}

/// A line that was printed, at another width. A line across the screen stays one.
fn anew(line: &Line<'static>, columns: usize) -> Vec<Line<'static>> {
    let is_rule = line.spans.last().is_some_and(|span| span.content.ends_with("──"));
    match line.spans.as_slice() {
        [only] if is_rule => {
            let cut = fit(&only.content, columns);
            let cut = cut.strip_suffix('…').map_or_else(|| cut.to_string(), |cut| format!("{cut}─"));
            vec![Line { spans: vec![Span::styled(cut, only.style)], ..line.clone() }]
        }
        _ => rewrap(line, columns),
    }
}

/// How and how wide lines are drawn.
pub(super) struct Drawn<'a> {
    pub(super) width: usize,
    pub(super) look: &'a Look,
    pub(super) options: Options<'a>,
}

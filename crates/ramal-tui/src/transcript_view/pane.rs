//! The blocks one below the other: which of them are seen, how many rows each takes, what is above what.
//!
//! A block has a serial number that stays when others come in above it. It is laid out when somebody wants
//! to know its rows, and again only when it looks different.

use std::collections::{HashMap, HashSet, VecDeque};

use jiff::Timestamp;
use ramal_session::{EntryId, Kind, ReadError, Role as Speaker, SessionManager};
use ratatui::text::Line;

use super::Filter;
use crate::markdown::{Highlighter, NoHighlighter};
use crate::theme::{ColorDepth, Theme};
use crate::transcript::{Block, Followed, Forks, Options, Rendered, Transcript};

/// Blocks whose rows are kept.
const KEPT: usize = 1024;

/// What blocks are drawn on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Paper {
    /// Columns of a block's rows.
    pub(super) columns: usize,
    /// Rows that are seen.
    pub(super) rows: usize,
    pub(super) theme: Theme,
    pub(super) color_depth: ColorDepth,
    pub(super) hide_thinking: bool,
    pub(super) rendered: Rendered,
}

/// A row of a block: its serial number, and the row counted from 0. Later rows are greater.
pub(super) type Spot = (i64, usize);

/// Rows of a block as they were drawn.
#[derive(Debug)]
struct Laid {
    look: Looked,
    /// With the colours of code.
    is_fine: bool,
    lines: Vec<Line<'static>>,
}

/// What a block's rows depend on, the paper aside.
#[derive(Debug, PartialEq, Eq)]
struct Looked {
    open: bool,
    siblings: Option<Forks>,
    label: Option<String>,
    result: Option<EntryId>,
}

#[derive(Debug)]
pub(super) struct Pane {
    transcript: Transcript,
    /// The serial number of the topmost block.
    first: i64,
    /// For each block, how many messages of the user there are on the path down to it.
    turns: VecDeque<usize>,
    /// Entries and messages of the user on the whole path.
    pub(super) entries: usize,
    pub(super) total_turns: usize,
    laid: HashMap<i64, Laid>,
    all_open: bool,
    /// Blocks that are open if the others are not, or the other way round.
    toggled: HashSet<i64>,
    pub(super) filter: Filter,
    pub(super) paper: Paper,
    /// The row at the top of the screen; none if the last row is to stand at its bottom.
    top: Option<Spot>,
    selected: Option<i64>,
}

impl Pane {
    pub(super) fn new(session: &SessionManager, transcript: Transcript) -> Pane {
        let mut pane = Pane {
            transcript: Transcript::default(),
            first: 0,
            turns: VecDeque::new(),
            entries: 0,
            total_turns: 0,
            laid: HashMap::new(),
            all_open: false,
            toggled: HashSet::new(),
            filter: Filter::Everything,
            paper: Paper {
                columns: 80,
                rows: 24,
                theme: Theme::plain(),
                color_depth: ColorDepth::None,
                hide_thinking: false,
                rendered: Rendered::default(),
            },
            top: None,
            selected: None,
        };
        pane.show(session, transcript);
        pane
    }

    /// Shows another path, from its end.
    pub(super) fn show(&mut self, session: &SessionManager, transcript: Transcript) {
        let end = transcript.end().and_then(|end| session.get_entry_at(end));
        let path = std::iter::successors(end, |entry| entry.parent());
        (self.entries, self.total_turns) = path.fold((0, 0), |(entries, turns), entry| {
            let is_turn = entry.kind() == Kind::Message && entry.role() == Speaker::User;
            (entries + 1, turns + usize::from(is_turn))
        });
        self.transcript = transcript;
        self.first = 0;
        self.turns.clear();
        self.laid.clear();
        self.toggled.clear();
        (self.top, self.selected) = (None, None);
    }

    pub(super) fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Reads so many more entries upwards.
    pub(super) fn read(&mut self, session: &SessionManager, entries: usize) -> Result<(), ReadError> {
        let read = self.transcript.read_more(session, entries);
        // What was read before something failed is there as well.
        let added = self.transcript.blocks().len().saturating_sub(self.turns.len());
        for index in (0..added).rev() {
            let turn = match (self.turns.front(), self.transcript.get(index + 1)) {
                (Some(below), Some(block)) => below.saturating_sub(usize::from(block.is_user())),
                _ => self.total_turns,
            };
            self.turns.push_front(turn);
        }
        self.first -= added as i64;
        read.map(|_| ())
    }

    /// Reads what was appended; answers false if the path has become another one.
    pub(super) fn follow(&mut self, session: &SessionManager) -> Result<bool, ReadError> {
        let had = self.transcript.entries_read();
        if self.transcript.follow(session)? == Followed::Elsewhere {
            return Ok(false);
        }
        self.entries += self.transcript.entries_read() - had;
        for index in self.turns.len()..self.transcript.blocks().len() {
            let is_user = self.transcript.get(index).is_some_and(Block::is_user);
            self.total_turns += usize::from(is_user);
            self.turns.push_back(self.total_turns);
        }
        let laid: Vec<i64> = self.laid.keys().copied().collect();
        for serial in laid {
            self.transcript.refresh_marks_of(session, self.index(serial));
        }
        Ok(true)
    }

    /// Draws on other paper from now on.
    pub(super) fn set_paper(&mut self, session: &SessionManager, paper: Paper) {
        if self.paper == paper {
            return;
        }
        let is_same = Paper { rows: paper.rows, ..self.paper.clone() } == paper;
        self.paper = paper;
        if !is_same {
            self.laid.clear();
        }
        if let Some((serial, row)) = self.top {
            let last = self.rows(session, serial).saturating_sub(1);
            self.put_top(session, (serial, row.min(last)));
        }
        if let Some(selected) = self.selected.filter(|_| !is_same) {
            self.bring_into_view(session, selected);
        }
    }

    // Blocks.

    fn index(&self, serial: i64) -> usize {
        usize::try_from(serial - self.first).unwrap_or(usize::MAX)
    }

    pub(super) fn block(&self, serial: i64) -> Option<&Block> {
        self.transcript.get(self.index(serial))
    }

    /// The serial number of the block with a number.
    pub(super) fn serial(&self, number: usize) -> i64 {
        self.first + number as i64
    }

    /// All serial numbers, from the top down.
    pub(super) fn serials(&self) -> std::ops::Range<i64> {
        self.first..self.first + self.transcript.blocks().len() as i64
    }

    /// How many messages of the user there are on the path down to a block.
    pub(super) fn turn(&self, serial: i64) -> usize {
        self.turns.get(self.index(serial)).copied().unwrap_or_default()
    }

    /// Whether a block has rows under the filter.
    pub(super) fn is_seen(&mut self, session: &SessionManager, serial: i64) -> bool {
        self.block(serial).is_some_and(|block| self.filter.shows(block))
            && !self.lines(session, serial, None).is_empty()
    }

    /// The next block above that is seen.
    pub(super) fn above(&mut self, session: &SessionManager, serial: i64) -> Option<i64> {
        let serials = self.serials();
        (serials.start..serial.min(serials.end)).rev().find(|&serial| self.is_seen(session, serial))
    }

    /// The next block below that is seen.
    pub(super) fn below(&mut self, session: &SessionManager, serial: i64) -> Option<i64> {
        let serials = self.serials();
        (serial.saturating_add(1).max(serials.start)..serials.end)
            .find(|&serial| self.is_seen(session, serial))
    }

    pub(super) fn is_open(&self, serial: i64) -> bool {
        self.all_open != self.toggled.contains(&serial)
    }

    pub(super) fn toggle(&mut self, serial: i64) {
        if !self.toggled.remove(&serial) {
            self.toggled.insert(serial);
        }
    }

    /// Opens all blocks, or closes them if they are; those above that are not read yet as well.
    pub(super) fn toggle_all(&mut self) {
        self.all_open = !self.all_open;
        self.toggled.clear();
    }

    /// A block's own rows, with the colours of code if somebody knows them.
    pub(super) fn lines(
        &mut self,
        session: &SessionManager,
        serial: i64,
        highlighter: Option<&dyn Highlighter>,
    ) -> &[Line<'static>] {
        let (index, open) = (self.index(serial), self.is_open(serial));
        if !self.laid.contains_key(&serial) {
            self.transcript.refresh_marks_of(session, index);
        }
        let Some(block) = self.transcript.get(index) else { return &[] };
        let is_good = self.laid.get(&serial).is_some_and(|laid| {
            (laid.is_fine || highlighter.is_none())
                && laid.look.open == open
                && laid.look.siblings == block.siblings()
                && laid.look.label.as_deref() == block.label()
                && laid.look.result.as_ref() == block.result_id()
        });
        if !is_good {
            let look = Looked {
                open,
                siblings: block.siblings(),
                label: block.label().map(str::to_owned),
                result: block.result_id().cloned(),
            };
            let paper = &self.paper;
            let options = Options {
                open,
                hide_thinking: paper.hide_thinking,
                now: Timestamp::UNIX_EPOCH,
                color_depth: paper.color_depth,
                highlighter: highlighter.unwrap_or(&NoHighlighter),
                rendered: Some(&paper.rendered),
            };
            let lines = block.lines(paper.columns, &paper.theme, &options);
            self.laid.insert(serial, Laid { look, is_fine: highlighter.is_some(), lines });
        }
        self.laid.get(&serial).map(|laid| &*laid.lines).unwrap_or_default()
    }

    /// The rows of a block and the blank one below it, if there is one.
    pub(super) fn rows(&mut self, session: &SessionManager, serial: i64) -> usize {
        let rows = self.lines(session, serial, None).len();
        let Some(below) = self.below(session, serial).filter(|_| rows > 0) else { return rows };
        let stands_apart = match (self.block(serial), self.block(below)) {
            (Some(above), Some(below)) => below.stands_apart_from(above),
            _ => false,
        };
        rows + usize::from(stands_apart)
    }

    /// Forgets rows far away from what is seen.
    pub(super) fn tidy(&mut self) {
        if self.laid.len() > KEPT {
            let at = self.top.map_or(self.serials().end, |(serial, _)| serial);
            self.laid.retain(|serial, _| serial.abs_diff(at) < KEPT as u64 / 4);
        }
    }

    /// Forgets all rows: code has other colours now.
    pub(super) fn forget_rows(&mut self) {
        self.laid.clear();
    }

    /// Blocks whose rows are kept.
    #[cfg(test)]
    pub(super) fn laid_out(&self) -> usize {
        self.laid.len()
    }

    // Rows.

    /// So many rows further up, as far as there are any.
    pub(super) fn up(&mut self, session: &SessionManager, from: Spot, rows: usize) -> Spot {
        let ((mut serial, mut row), mut left) = (from, rows);
        while left > row {
            let Some(above) = self.above(session, serial) else { return (serial, 0) };
            left -= row;
            serial = above;
            row = self.rows(session, serial);
        }
        (serial, row - left)
    }

    /// So many rows further down, as far as there are any.
    pub(super) fn down(&mut self, session: &SessionManager, from: Spot, rows: usize) -> Spot {
        let ((mut serial, mut row), mut left) = (from, rows);
        loop {
            let own = self.rows(session, serial);
            if row + left < own {
                return (serial, row + left);
            }
            let Some(below) = self.below(session, serial) else { return (serial, own) };
            left -= own.saturating_sub(row);
            (serial, row) = (below, 0);
        }
    }

    /// Behind the last row.
    fn end(&mut self, session: &SessionManager) -> Spot {
        match self.above(session, i64::MAX) {
            Some(last) => (last, self.rows(session, last)),
            None => (self.serials().end, 0),
        }
    }

    /// The lowest row that can stand at the top.
    fn lowest_top(&mut self, session: &SessionManager) -> Spot {
        let (end, rows) = (self.end(session), self.paper.rows);
        self.up(session, end, rows)
    }

    /// The row at the top of the screen.
    pub(super) fn top(&mut self, session: &SessionManager) -> Spot {
        match self.top {
            Some(top) => top,
            None => self.lowest_top(session),
        }
    }

    /// Behind the last row that is seen.
    pub(super) fn bottom(&mut self, session: &SessionManager) -> Spot {
        let (top, rows) = (self.top(session), self.paper.rows);
        self.down(session, top, rows)
    }

    /// Puts a row at the top of the screen, or as near to it as the end allows.
    pub(super) fn put_top(&mut self, session: &SessionManager, top: Spot) {
        self.top = Some(top).filter(|&top| top < self.lowest_top(session));
    }

    /// Whether there are so many rows above the screen.
    pub(super) fn has_above(&mut self, session: &SessionManager, rows: usize) -> bool {
        let (mut serial, mut found) = self.top(session);
        while found < rows {
            let Some(above) = self.above(session, serial) else { return false };
            serial = above;
            found += self.rows(session, serial);
        }
        true
    }

    // The selection.

    /// The block that is selected; none if nothing is seen.
    pub(super) fn selected(&mut self, session: &SessionManager) -> Option<i64> {
        if let Some(selected) = self.selected
            && self.is_seen(session, selected)
        {
            return self.selected;
        }
        let near = self.selected.unwrap_or(i64::MAX);
        let nearest = self.above(session, near).or_else(|| self.below(session, near));
        // One that was selected may be seen again: it is not forgotten for what stands in for it.
        if self.selected.is_none() {
            self.selected = nearest;
        }
        nearest
    }

    /// Selects a block, wherever it is.
    pub(super) fn select(&mut self, serial: i64) {
        self.selected = Some(serial);
    }

    /// Scrolls so that a block is seen: all of it, or of a long one its beginning.
    pub(super) fn bring_into_view(&mut self, session: &SessionManager, serial: i64) {
        let rows = self.lines(session, serial, None).len();
        let (top, bottom, room) = (self.top(session), self.bottom(session), self.paper.rows);
        let fits = rows <= room;
        if (serial, 0) < top {
            // Coming from below, one sees the end of a long one first.
            let to = if fits { (serial, 0) } else { (serial, rows - room) };
            self.put_top(session, to);
        } else if (serial, rows) > bottom {
            let to = if fits { self.up(session, (serial, rows), room) } else { (serial, 0) };
            self.put_top(session, to);
        }
    }

    /// Changes what is seen of blocks, and leaves the selected one where it is on the screen.
    pub(super) fn change(&mut self, session: &SessionManager, change: impl FnOnce(&mut Pane)) {
        let (top, bottom) = (self.top(session), self.bottom(session));
        let before = self.selected(session);
        let mut offset = 0;
        if let Some(selected) = before.filter(|&selected| (selected, 0) >= top && (selected, 0) < bottom) {
            let mut at = Some(top.0);
            while let Some(serial) = at.filter(|&serial| serial < selected) {
                offset += self.rows(session, serial);
                at = self.below(session, serial);
            }
            offset -= top.1.min(offset);
        }
        change(self);
        self.top = None;
        if let Some(selected) = self.selected(session) {
            let top = self.up(session, (selected, 0), offset);
            self.put_top(session, top);
        }
    }

    /// Selects what is seen if what is selected has been scrolled away.
    pub(super) fn keep_selection_in_view(&mut self, session: &SessionManager) {
        let (top, bottom) = (self.top(session), self.bottom(session));
        let Some(selected) = self.selected(session) else { return };
        let rows = self.lines(session, selected, None).len();
        if (selected, rows) <= top {
            // A block of which only the blank row below it is left is not seen.
            let own = self.lines(session, top.0, None).len();
            let first = if top.1 < own { Some(top.0) } else { self.below(session, top.0) };
            self.selected = first.or(Some(selected));
        } else if (selected, 0) >= bottom {
            self.selected = if bottom.1 > 0 { Some(bottom.0) } else { self.above(session, bottom.0) };
        }
    }
}

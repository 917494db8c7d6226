//! Which row is selected, and how the selection moves.

use ramal_session::SessionManager;

use super::command::{Direction, Landmark, Outcome};
use super::{Held, Selector};

impl Selector {
    /// The selected row; none if there are no rows.
    ///
    /// What is kept is an entry and not a row: where it is hidden, its nearest visible ancestor is selected;
    /// where there is none, the row where one stands, or the last. In a search it is one that was found, if there
    /// is any: where one stands is always seen, but it is not what was looked for.
    pub fn selected_row(&self) -> Option<usize> {
        let row_of = |held: &Option<Held>| held.as_ref().and_then(|held| self.rows.nearest_to(held.position));
        let row = row_of(&self.anchor).or_else(|| row_of(&self.home));
        let row = row.or_else(|| self.rows.len().checked_sub(1))?;
        let is_makeshift = !self.has_moved
            && self.search.as_ref().is_some_and(|search| {
                self.rows.position(row).is_some_and(|position| !search.found().contains(position))
            });
        if !is_makeshift {
            return Some(row);
        }
        // All others were found: the one above, which may be its ancestor, or the one below.
        Some(row.checked_sub(1).unwrap_or(if self.rows.len() > 1 { row + 1 } else { row }))
    }

    /// The position of the selected entry.
    pub fn selected(&self) -> Option<usize> {
        self.rows.position(self.selected_row()?)
    }

    /// From now on the selected row is what is to be kept, unless it is but a makeshift while a search is
    /// still looking.
    pub(super) fn keep_selection(&mut self, session: &SessionManager) {
        if self.search.as_ref().is_none_or(|search| search.is_complete()) {
            self.anchor = self.selected().and_then(|position| Held::new(session, position));
        }
    }

    /// Selects the entry at a position, or its nearest visible ancestor.
    pub fn select_entry(&mut self, session: &SessionManager, position: usize) {
        self.anchor = Held::new(session, position);
        self.line = None;
        self.has_moved = true;
        self.is_stale = true;
        self.bring_up_to_date(session);
    }

    /// Selects a row.
    pub(super) fn go(&mut self, session: &SessionManager, row: usize) -> Outcome {
        let (before, Some(position)) = (self.selected_row(), self.rows.position(row)) else {
            return Outcome::Nothing;
        };
        self.anchor = Held::new(session, position);
        self.has_moved = true;
        let before = before.unwrap_or_default();
        if let Some(line) = self.line {
            self.line = Some((line + row).saturating_sub(before));
        }
        if before == row { Outcome::Nothing } else { Outcome::Changed }
    }

    /// Up or down by so many rows, and no further than to the ends.
    pub(super) fn page(&mut self, session: &SessionManager, direction: Direction, rows: usize) -> Outcome {
        let Some(row) = self.selected_row() else { return Outcome::Nothing };
        let last = self.rows.len().saturating_sub(1);
        let row = match direction {
            Direction::Back => row.saturating_sub(rows),
            Direction::Forward => row.saturating_add(rows).min(last),
        };
        self.go(session, row)
    }

    /// A row up or down, and round at the ends.
    pub(super) fn step(&mut self, session: &SessionManager, direction: Direction) -> Outcome {
        let (Some(row), Some(last)) = (self.selected_row(), self.rows.len().checked_sub(1)) else {
            return Outcome::Nothing;
        };
        let row = match direction {
            Direction::Back => row.checked_sub(1).unwrap_or(last),
            Direction::Forward if row == last => 0,
            Direction::Forward => row + 1,
        };
        self.go(session, row)
    }

    pub(super) fn jump(
        &mut self,
        session: &SessionManager,
        direction: Direction,
        landmark: Landmark,
    ) -> Outcome {
        let to = self.selected_row().and_then(|row| match landmark {
            Landmark::Label => self.label_from(row, direction),
            Landmark::Turn => self.turn_from(row, direction),
            Landmark::Fork => match direction {
                Direction::Back => self.rows.fork_before(row),
                Direction::Forward => self.rows.fork_after(row),
            },
        });
        to.map_or(Outcome::Nothing, |row| self.go(session, row))
    }

    fn label_from(&self, row: usize, direction: Direction) -> Option<usize> {
        let labeled = self.facts.labeled().iter().filter_map(|&position| self.rows.row_of(position as usize));
        match direction {
            Direction::Back => labeled.filter(|&other| other < row).max(),
            Direction::Forward => labeled.filter(|&other| other > row).min(),
        }
    }

    fn turn_from(&self, row: usize, direction: Direction) -> Option<usize> {
        let is_turn =
            |row: &usize| self.rows.position(*row).is_some_and(|position| self.facts.is_turn(position));
        match direction {
            Direction::Back => (0..row).rev().find(is_turn),
            Direction::Forward => (row + 1..self.rows.len()).find(is_turn),
        }
    }

    pub(super) fn fold_or_up(&mut self, session: &SessionManager) -> Outcome {
        if self.can_fold() {
            return self.toggle_fold(session);
        }
        let Some(row) = self.selected_row() else { return Outcome::Nothing };
        let start = self.rows.stretch_start(row).filter(|&start| start < row);
        let above = || self.rows.parent(row).and_then(|parent| self.rows.stretch_start(parent));
        start.or_else(above).map_or(Outcome::Nothing, |row| self.go(session, row))
    }

    pub(super) fn unfold_or_down(&mut self, session: &SessionManager) -> Outcome {
        let Some(row) = self.selected_row() else { return Outcome::Nothing };
        if self.rows.row(row).is_some_and(|row| row.is_folded()) {
            return self.toggle_fold(session);
        }
        let Some(end) = self.rows.stretch_end(row) else { return Outcome::Nothing };
        let is_fork = self.rows.row(end).is_some_and(|end| end.is_fork());
        // The first branch of a fork stands right behind it.
        self.go(session, if is_fork { end + 1 } else { end })
    }

    /// Whether the selected row begins a branch that can be folded now. While searching nothing can: what
    /// was found is to be seen.
    fn can_fold(&self) -> bool {
        let row = self.selected_row().and_then(|row| self.rows.row(row));
        self.search.is_none() && row.is_some_and(|row| row.is_foldable() && !row.is_folded())
    }

    pub(super) fn toggle_fold(&mut self, session: &SessionManager) -> Outcome {
        let Some(position) = self.selected() else { return Outcome::Nothing };
        // The selection is on this row, even if it is there only because what it was on is folded away.
        self.keep_selection(session);
        if self.can_fold() {
            self.folded.insert(position);
            self.folds.extend(Held::new(session, position));
        } else if self.search.is_none() && self.folded.remove(&position) {
            self.folds.retain(|fold| fold.position != position);
        } else {
            return Outcome::Nothing;
        }
        self.is_stale = true;
        Outcome::Changed
    }

    pub(super) fn unfold_all(&mut self) -> Outcome {
        if self.folded.is_empty() {
            return Outcome::Nothing;
        }
        self.folded.clear();
        self.folds.clear();
        self.is_stale = true;
        Outcome::Changed
    }
}

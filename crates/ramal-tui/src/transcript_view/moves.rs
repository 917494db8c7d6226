//! Moving about in what is shown.

use ramal_session::SessionManager;

use super::{Told, TranscriptView};
use crate::tree_selector::Direction;

impl TranscriptView {
    /// Selects a block: from now on that is what one goes to.
    pub(super) fn select(&mut self, serial: i64) {
        self.pane.select(serial);
        self.is_fresh = false;
    }

    /// So many rows up or down; the selection stays as long as it is seen.
    pub(super) fn scroll(&mut self, session: &SessionManager, direction: Direction, rows: usize) {
        let before = self.pane.top(session);
        let top = match direction {
            Direction::Back => {
                self.load_above(session, rows);
                self.pane.up(session, before, rows)
            }
            Direction::Forward => self.pane.down(session, before, rows),
        };
        self.pane.put_top(session, top);
        if self.pane.top(session) != before {
            self.pane.keep_selection_in_view(session);
            self.is_fresh = false;
        }
    }

    /// A page up or down, of which a row is seen again. At the end of all rows the last block is selected,
    /// at their beginning the first.
    pub(super) fn page(&mut self, session: &SessionManager, direction: Direction) {
        let before = self.pane.top(session);
        self.scroll(session, direction, self.pane.paper.rows.max(2) - 1);
        if self.pane.top(session) == before {
            let outermost = match direction {
                Direction::Back => self.pane.below(session, i64::MIN),
                Direction::Forward => self.pane.above(session, i64::MAX),
            };
            if let Some(serial) = outermost {
                self.select(serial);
            }
        }
    }

    pub(super) fn show_bottom(&mut self, session: &SessionManager) {
        if let Some(last) = self.pane.above(session, i64::MAX) {
            self.pane.put_top(session, (i64::MAX, 0));
            self.select(last);
        }
    }

    /// Selects the next block up or down. Through one that is longer than the screen it scrolls first.
    pub(super) fn step(&mut self, session: &SessionManager, direction: Direction) {
        let rows = self.pane.paper.rows;
        self.load_above(session, rows);
        let Some(selected) = self.pane.selected(session) else { return };
        let (top, bottom) = (self.pane.top(session), self.pane.bottom(session));
        let own = self.pane.lines(session, selected, None).len();
        let goes_on = match direction {
            Direction::Back => (selected, 0) < top && (selected, own) > top,
            Direction::Forward => (selected, own) > bottom && (selected, 0) < bottom,
        };
        if goes_on && own > rows {
            return self.scroll(session, direction, (rows / 2).max(1));
        }
        let next = match direction {
            Direction::Back => self.pane.above(session, selected),
            Direction::Forward => self.pane.below(session, selected),
        };
        if let Some(next) = next {
            self.select(next);
            self.pane.bring_into_view(session, next);
        } else if direction == Direction::Forward {
            self.pane.put_top(session, (i64::MAX, 0));
        }
    }

    pub(super) fn next_turn(&mut self, session: &SessionManager) {
        let at = self.pane.selected(session).unwrap_or(i64::MIN);
        let serials = self.pane.serials();
        let mut below = at.saturating_add(1).max(serials.start)..serials.end;
        match below.find(|&serial| self.pane.block(serial).is_some_and(|block| block.is_user())) {
            Some(turn) => self.stop_at(session, turn),
            None => self.notice("There is no message of yours below"),
        }
    }

    /// Selects a message of the user, which comes to stand at the top of the screen.
    pub(super) fn stop_at(&mut self, session: &SessionManager, serial: i64) {
        self.select(serial);
        self.pane.put_top(session, (serial, 0));
    }

    /// Opens what is selected, or closes it.
    pub(super) fn open(&mut self, session: &SessionManager) -> Told {
        let Some(selected) = self.pane.selected(session) else { return Told::Nothing };
        if !self.pane.block(selected).is_some_and(|block| block.is_openable()) {
            self.notice("There is no more of this than what is shown");
            return Told::Redraw;
        }
        self.pane.change(session, |pane| pane.toggle(selected));
        self.found = self.found.filter(|found| found.0 != selected);
        Told::Redraw
    }
}

//! What takes longer than a key may: it is begun at once and goes on in small steps.

use ramal_session::{EntryRef, SessionManager};

use super::TranscriptView;
use super::search::Seek;

/// Entries that are read at a time.
pub(super) const SLICE: usize = 32;
/// Slices that a key or a step may read.
const SLICES: usize = 8;

/// What is to be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    /// Everything is loaded.
    Everything,
    /// The beginning.
    Top,
    /// The message of the user above what is selected.
    PreviousTurn,
    /// The first entry of the branch that is shown, so many entries from its end.
    Beginning { first: usize, depth: usize },
    /// Something that is searched for.
    Match(Seek),
}

impl TranscriptView {
    /// Goes for something: at once if it is near.
    pub(super) fn aim(&mut self, session: &SessionManager, goal: Goal) {
        self.goal = Some(goal);
        self.pursue(session);
    }

    /// A step towards the goal.
    pub(super) fn pursue(&mut self, session: &SessionManager) {
        for _ in 0..SLICES {
            let Some(goal) = self.goal else { return };
            if self.reach(session, goal) {
                self.goal = None;
                return;
            }
            // A search takes its steps by itself and may not need to read.
            if let Some(Goal::Match(seek)) = self.goal
                && !seek.wants_more
            {
                return;
            }
            self.read(session, SLICE);
        }
    }

    /// Whether the goal is reached, or cannot be.
    fn reach(&mut self, session: &SessionManager, goal: Goal) -> bool {
        match goal {
            Goal::Everything => self.is_all_read(),
            Goal::Top if !self.is_all_read() => false,
            Goal::Top => {
                if let Some(first) = self.pane.below(session, i64::MIN) {
                    self.pane.put_top(session, (first, 0));
                    self.select(first);
                }
                true
            }
            Goal::PreviousTurn => {
                let at = self.pane.selected(session).unwrap_or(i64::MAX);
                let serials = self.pane.serials();
                let mut above = (serials.start..at.min(serials.end)).rev();
                match above.find(|&serial| self.pane.block(serial).is_some_and(|block| block.is_user())) {
                    Some(turn) => {
                        self.stop_at(session, turn);
                        true
                    }
                    None if self.is_all_read() => {
                        self.notice("There is no message of yours above");
                        true
                    }
                    None => false,
                }
            }
            Goal::Beginning { first, depth } => {
                if self.pane.transcript().entries_read() < depth && !self.is_all_read() {
                    return false;
                }
                self.select_first(session, first);
                true
            }
            Goal::Match(seek) => self.seek(session, seek),
        }
    }

    /// Selects the first block that is of the entry at a position, or of one below it.
    fn select_first(&mut self, session: &SessionManager, first: usize) {
        let end = self.pane.transcript().end().and_then(|end| session.get_entry_at(end));
        let path = std::iter::successors(end, |entry| entry.parent());
        let mut own = Vec::new();
        for entry in path {
            own.push(entry);
            if entry.position() == first {
                break;
            }
        }
        let find = |entry: &EntryRef<'_>| self.pane.transcript().find(&entry.id().ok()?);
        let Some(number) = own.iter().rev().find_map(find) else { return };
        let serial = self.pane.serial(number);
        let seen = if self.pane.is_seen(session, serial) {
            Some(serial)
        } else {
            self.pane.below(session, serial).or_else(|| self.pane.above(session, serial))
        };
        if let Some(serial) = seen {
            self.pane.select(serial);
            self.pane.put_top(session, (serial, 0));
            self.load_above(session, self.pane.paper.rows);
            // What stands above is where the branches part.
            let third = self.pane.paper.rows / 3;
            let top = self.pane.up(session, (serial, 0), third);
            self.pane.put_top(session, top);
        }
    }

    /// Reads until there are so many rows above the screen, or as many as a key may read.
    pub(super) fn load_above(&mut self, session: &SessionManager, rows: usize) {
        for _ in 0..SLICES {
            if self.is_all_read() || self.pane.has_above(session, rows) {
                return;
            }
            self.read(session, SLICE);
        }
    }

    pub(super) fn read(&mut self, session: &SessionManager, entries: usize) {
        if let Err(error) = self.pane.read(session, entries) {
            self.failed(&error);
        }
    }

    /// Whether there is nothing left that could be read.
    pub(super) fn is_all_read(&self) -> bool {
        self.is_stuck || self.pane.transcript().is_whole()
    }
}

//! Moving the cursor, and from the edge of the text on to earlier prompts.

use super::history::{Draft, Newer};
use super::layout::Layout;
use super::{Content, Editor, Outcome, places};

/// Which way along the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Up,
    Down,
}

impl Editor {
    pub(super) fn go(&mut self, place: usize) -> Outcome {
        self.goal = None;
        if place == self.cursor {
            return Outcome::Nothing;
        }
        self.cursor = place;
        Outcome::Done
    }

    pub(super) fn up(&mut self) -> Outcome {
        if self.by_rows(Way::Up, 1) {
            return Outcome::Done;
        }
        let draft = Draft { content: self.content.clone(), cursor: self.cursor };
        match self.history.older(draft) {
            Some(prompt) => self.recall(prompt, Way::Up),
            None => self.go(0),
        }
    }

    pub(super) fn down(&mut self) -> Outcome {
        if self.by_rows(Way::Down, 1) {
            return Outcome::Done;
        }
        match self.history.newer() {
            Some(Newer::Prompt(prompt)) => self.recall(prompt, Way::Down),
            Some(Newer::Draft(draft)) => {
                self.put_back(draft);
                Outcome::Done
            }
            None => self.go(self.content.len()),
        }
    }

    pub(super) fn page_up(&mut self) -> Outcome {
        if self.by_rows(Way::Up, self.page()) { Outcome::Done } else { self.go(0) }
    }

    pub(super) fn page_down(&mut self) -> Outcome {
        if self.by_rows(Way::Down, self.page()) { Outcome::Done } else { self.go(self.content.len()) }
    }

    /// A page, less a row that is seen on both.
    fn page(&self) -> usize {
        (self.rows - 1).max(1)
    }

    /// Moves over so many rows, or as many as there are. False if there are none.
    fn by_rows(&mut self, way: Way, count: usize) -> bool {
        let layout = Layout::new(&self.content, self.columns);
        let (row, column) = layout.find(self.cursor);
        let target = match way {
            Way::Up => row.saturating_sub(count),
            Way::Down => (row + count).min(layout.rows.len() - 1),
        };
        if target == row {
            return false;
        }
        let goal = self.goal.unwrap_or(column);
        self.cursor = layout.place(target, goal);
        self.goal = Some(goal);
        true
    }

    /// Shows an earlier prompt, with the cursor where the same key leads on to the next one.
    fn recall(&mut self, prompt: Content, way: Way) -> Outcome {
        self.content = prompt;
        self.cursor = match way {
            Way::Up => Layout::new(&self.content, self.columns).place(0, usize::MAX),
            Way::Down => self.content.len(),
        };
        self.shown_other();
        Outcome::Done
    }

    /// Shows what was being written before earlier prompts were looked at.
    pub(super) fn put_back(&mut self, draft: Draft) {
        self.content = draft.content;
        self.cursor = places::at_or_after(self.content.raw(), draft.cursor);
        self.shown_other();
    }

    fn shown_other(&mut self) {
        (self.goal, self.top) = (None, 0);
        self.follow();
    }
}

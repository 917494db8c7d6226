//! Changing the text.

use std::ops::Range;

use super::content::{MarkKind, clean_input};
use super::kill_ring::Side;
use super::undo::{Grouping, Undo};
use super::{Content, Editor, Last, Mark, Outcome, PASTED_CHARACTERS, PASTED_LINES, places};

impl Editor {
    /// Types text.
    pub fn insert(&mut self, text: &str) {
        self.put(&Content::from(text), Grouping::Typing);
    }

    /// Pastes text: a long one as a mark.
    pub fn paste(&mut self, text: &str) {
        let text = clean_input(text);
        let is_long =
            text.chars().nth(PASTED_CHARACTERS).is_some() || text.lines().nth(PASTED_LINES).is_some();
        if !is_long {
            return self.put(&Content::from(&*text), Grouping::Alone);
        }
        self.pastes = self.pastes.saturating_add(1);
        self.put(&Mark::paste(self.pastes, &text).into(), Grouping::Alone);
    }

    /// Puts a mark where the cursor is.
    pub fn insert_mark(&mut self, mark: Mark) {
        self.put(&mark.into(), Grouping::Alone);
    }

    /// Exchanges everything, as after another program has had it. Marks whose text is still there stay
    /// marks.
    pub fn replace_text(&mut self, text: &str) {
        let old = self.text();
        // Most programs end a file with a line break that nobody typed.
        let text = if old.ends_with('\n') { text } else { text.strip_suffix('\n').unwrap_or(text) };
        let text = text.strip_suffix('\r').unwrap_or(text);
        let new = Content::with_marks_of(text, &self.content);
        if new != self.content {
            self.replace(&new);
        }
    }

    /// Takes everything out.
    pub fn clear(&mut self) {
        self.replace(&Content::default());
    }

    /// Puts a text in if there is nothing, or nothing but white space. Otherwise false, and the text waits:
    /// [`pending_prefill`](Self::pending_prefill).
    pub fn set_text_if_empty(&mut self, text: impl Into<Content>) -> bool {
        let text = text.into();
        let written = self.history.draft().map_or(&self.content, |draft| &draft.content);
        if !written.is_blank() {
            self.offer(text);
            return false;
        }
        if let Some(draft) = self.history.leave() {
            self.put_back(draft);
        }
        self.replace(&text);
        true
    }

    /// The text that could not be put in, since there was one already. [`TakePrefill`] exchanges the two.
    ///
    /// [`TakePrefill`]: super::EditorAction::TakePrefill
    pub fn pending_prefill(&self) -> Option<&Content> {
        self.pending.as_ref()
    }

    /// Lets go of the text that waits, and gives it to whoever still wants it.
    pub fn dismiss_prefill(&mut self) -> Option<Content> {
        self.pending.take().inspect(|_| self.revision += 1)
    }

    /// Takes what is to be sent. It is the newest of the earlier prompts then, and the editor empty – or, if
    /// it was an earlier prompt as it was, back at the draft.
    pub fn take(&mut self) -> Content {
        let sent = std::mem::take(&mut self.content);
        match self.history.leave() {
            Some(draft) => self.put_back(draft),
            None => {
                (self.cursor, self.pastes) = (0, 0);
                self.undo = Undo::default();
            }
        }
        self.history.push(sent.clone());
        self.last = Last::Other;
        self.changed();
        sent
    }

    fn put(&mut self, with: &Content, grouping: Grouping) {
        self.last = Last::Other;
        if !with.is_empty() {
            self.edit(self.cursor..self.cursor, with, grouping);
        }
    }

    fn replace(&mut self, with: &Content) {
        self.last = Last::Other;
        if !(with.is_empty() && self.content.is_empty()) {
            self.edit(0..self.content.len(), with, Grouping::Alone);
        }
    }

    /// Keeps a text for later. One that waited already may have been typed, so it goes to the earlier
    /// prompts.
    fn offer(&mut self, text: Content) {
        if let Some(older) = self.pending.replace(text) {
            self.history.push_unseen(older);
        }
        self.revision += 1;
    }

    pub(super) fn delete(&mut self, range: Range<usize>, grouping: Grouping) -> Outcome {
        if range.is_empty() {
            return Outcome::Nothing;
        }
        self.edit(range, &Content::default(), grouping);
        Outcome::Done
    }

    pub(super) fn kill(&mut self, range: Range<usize>, side: Side) -> Outcome {
        if range.is_empty() {
            return Outcome::Nothing;
        }
        let killed = self.edit(range, &Content::default(), Grouping::Alone);
        self.ring.push(killed, (self.last == Last::Kill).then_some(side));
        self.last = Last::Kill;
        Outcome::Done
    }

    pub(super) fn kill_to_line_start(&mut self) -> Outcome {
        let start = match places::line_start(self.raw(), self.cursor) {
            start if start == self.cursor => start.saturating_sub(1),
            start => start,
        };
        self.kill(start..self.cursor, Side::Before)
    }

    pub(super) fn kill_to_line_end(&mut self) -> Outcome {
        let end = match places::line_end(self.raw(), self.cursor) {
            end if end == self.cursor => (end + 1).min(self.content.len()),
            end => end,
        };
        self.kill(self.cursor..end, Side::After)
    }

    pub(super) fn yank(&mut self) -> Outcome {
        let Some(killed) = self.ring.newest().cloned() else { return Outcome::Nothing };
        self.yank_over(self.cursor..self.cursor, &killed)
    }

    pub(super) fn yank_pop(&mut self) -> Outcome {
        let Last::Yank(range) = self.last.clone() else { return Outcome::Nothing };
        self.ring.rotate();
        let Some(killed) = self.ring.newest().cloned() else { return Outcome::Nothing };
        self.yank_over(range, &killed)
    }

    fn yank_over(&mut self, range: Range<usize>, killed: &Content) -> Outcome {
        let start = range.start;
        self.edit(range, killed, Grouping::Alone);
        self.last = Last::Yank(start..start + killed.len());
        Outcome::Done
    }

    pub(super) fn take_back(&mut self) -> Outcome {
        // Looking at an earlier prompt is what is taken back first.
        if let Some(draft) = self.history.leave() {
            self.put_back(draft);
            return Outcome::Done;
        }
        match self.undo.undo(&mut self.content) {
            Some(cursor) => self.gone_to(cursor),
            None => Outcome::Nothing,
        }
    }

    pub(super) fn make_again(&mut self) -> Outcome {
        if self.history.draft().is_some() {
            return Outcome::Nothing;
        }
        match self.undo.redo(&mut self.content) {
            Some(cursor) => self.gone_to(cursor),
            None => Outcome::Nothing,
        }
    }

    fn gone_to(&mut self, cursor: usize) -> Outcome {
        self.cursor = cursor;
        self.changed();
        Outcome::Done
    }

    /// Unfolds the mark behind the cursor, or else the one before it.
    pub(super) fn unfold(&mut self) -> Outcome {
        let places = [self.cursor, places::before(self.raw(), self.cursor)];
        let found = places.into_iter().find_map(|place| {
            let mark = self.content.mark_at(place)?;
            (*mark.kind() == MarkKind::Paste).then(|| (place, Content::from(mark.text())))
        });
        let Some((place, text)) = found else { return Outcome::Nothing };
        self.edit(place..places::after(self.raw(), place), &text, Grouping::Alone);
        Outcome::Done
    }

    pub(super) fn take_prefill(&mut self) -> Outcome {
        let Some(text) = self.pending.take() else { return Outcome::Nothing };
        if let Some(draft) = self.history.leave() {
            self.put_back(draft);
        }
        self.pending = (!self.content.is_blank()).then(|| self.content.clone());
        self.replace(&text);
        Outcome::Done
    }

    pub(super) fn new_line(&mut self) -> Outcome {
        self.put(&Content::from("\n"), Grouping::Typing);
        Outcome::Done
    }

    /// Sends, or behind a backslash begins a line, for terminals that have one key for both.
    pub(super) fn submit(&mut self) -> Outcome {
        if self.raw()[..self.cursor].ends_with('\\') {
            self.edit(self.cursor - 1..self.cursor, &Content::from("\n"), Grouping::Alone);
            return Outcome::Done;
        }
        Outcome::Submit
    }
}

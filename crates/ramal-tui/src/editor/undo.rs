//! What was changed, so that it can be taken back and made again.

use super::content::Content;

/// One change: something stands in the place of something else.
#[derive(Debug, Clone)]
pub(super) struct Edit {
    pub(super) at: usize,
    pub(super) removed: Content,
    pub(super) inserted: Content,
}

/// What goes together with what was done before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grouping {
    /// Letters of a word that is being typed, with the space behind it.
    Typing,
    /// Characters taken out one after the other, backwards.
    Erasing,
    /// The same, forwards.
    Deleting,
    /// Nothing goes together with it.
    Alone,
}

/// What is taken back at once, with where the cursor was and came to.
#[derive(Debug, Clone)]
struct Step {
    edits: Vec<Edit>,
    before: usize,
    after: usize,
}

/// Everything that was done, and what of it was taken back.
#[derive(Debug, Clone, Default)]
pub(super) struct Undo {
    done: Vec<Step>,
    undone: Vec<Step>,
    /// What may still be added to the last step.
    open: Option<Grouping>,
}

impl Undo {
    /// Remembers a change.
    pub(super) fn record(&mut self, edit: Edit, grouping: Grouping, before: usize, after: usize) {
        self.undone.clear();
        let goes_on = self.open == Some(grouping) && grouping != Grouping::Alone;
        self.open = Some(grouping);
        match self.done.last_mut() {
            Some(step) if goes_on && !begins_word(step, &edit) => {
                step.edits.push(edit);
                step.after = after;
            }
            _ => self.done.push(Step { edits: vec![edit], before, after }),
        }
    }

    /// The next change begins a step.
    pub(super) fn seal(&mut self) {
        self.open = None;
    }

    /// Takes the last step back and says where the cursor was.
    pub(super) fn undo(&mut self, content: &mut Content) -> Option<usize> {
        let step = self.done.pop()?;
        self.seal();
        for edit in step.edits.iter().rev() {
            content.splice(edit.at..edit.at + edit.inserted.len(), &edit.removed);
        }
        let cursor = step.before;
        self.undone.push(step);
        Some(cursor)
    }

    /// Makes the last step again and says where the cursor came to.
    pub(super) fn redo(&mut self, content: &mut Content) -> Option<usize> {
        let step = self.undone.pop()?;
        self.seal();
        for edit in &step.edits {
            content.splice(edit.at..edit.at + edit.removed.len(), &edit.inserted);
        }
        let cursor = step.after;
        self.done.push(step);
        Some(cursor)
    }
}

/// Whether something typed is another word than the one before.
fn begins_word(step: &Step, edit: &Edit) -> bool {
    let typed = step.edits.last().map_or("", |edit| edit.inserted.raw());
    typed.ends_with(char::is_whitespace) && !edit.inserted.raw().starts_with(char::is_whitespace)
}

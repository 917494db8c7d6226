//! The editor at the bottom of the screen, without a terminal: text, marks and a cursor, told what to do by
//! [`EditorAction`]s and answering with [`Outcome`]s.
//!
//! What was typed is never lost. Changes can be taken back, earlier prompts are looked at without touching
//! the draft, a text that comes from elsewhere is put in only where nothing stands, and
//! [`to_draft`](Editor::to_draft) keeps everything beyond the program's end.

mod action;
mod complete;
mod completion_list;
mod content;
mod draft;
mod draw;
mod edits;
mod fuzzy;
mod history;
mod kill_ring;
mod layout;
mod moves;
mod places;
mod undo;

use std::ops::Range;

pub use action::{EditorAction, Outcome};
pub use complete::{Completing, CompletionKind};
pub use completion_list::{CompletionItem, CompletionList, ListStep};
pub use content::{Content, Mark, MarkKind};
pub use draft::DraftError;
pub use draw::Drawing;
pub use fuzzy::{Found, find as fuzzy_find};

use history::History;
use kill_ring::{KillRing, Side};
use layout::Layout;
use undo::{Edit, Grouping, Undo};

/// More lines than this are pasted as a mark.
const PASTED_LINES: usize = 10;

/// So are more characters than this.
const PASTED_CHARACTERS: usize = 1000;

/// What the action before was, where the next one depends on it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Last {
    Kill,
    /// Where the text stands that was put in.
    Yank(Range<usize>),
    Other,
}

/// A text that is being written.
#[derive(Debug, Clone)]
pub struct Editor {
    content: Content,
    /// Always between two clusters.
    cursor: usize,
    /// The column that moving up and down keeps to.
    goal: Option<usize>,
    undo: Undo,
    ring: KillRing,
    last: Last,
    history: History,
    /// What was offered and had no room.
    pending: Option<Content>,
    placeholder: String,
    /// How wide it is drawn.
    columns: usize,
    /// How many rows are seen.
    rows: usize,
    /// The first row that is seen.
    top: usize,
    /// How many marks of pastes this prompt has had.
    pastes: usize,
    revision: u64,
}

impl Default for Editor {
    fn default() -> Editor {
        Editor::new()
    }
}

impl Editor {
    /// An empty one.
    pub fn new() -> Editor {
        Editor {
            content: Content::default(),
            cursor: 0,
            goal: None,
            undo: Undo::default(),
            ring: KillRing::default(),
            last: Last::Other,
            history: History::default(),
            pending: None,
            placeholder: String::new(),
            columns: 80,
            rows: 10,
            top: 0,
            pastes: 0,
            revision: 0,
        }
    }

    /// Says how wide it is drawn, which moving up and down depends on, and how many rows of it are seen.
    pub fn resize(&mut self, columns: usize, rows: usize) {
        (self.columns, self.rows) = (columns.max(1), rows.max(1));
        self.follow();
    }

    /// What is seen when there is nothing in it.
    pub fn set_placeholder(&mut self, placeholder: impl Into<String>) {
        self.placeholder = placeholder.into();
    }

    /// Gives it the earlier prompts, newest first.
    pub fn set_history(&mut self, prompts: impl IntoIterator<Item = String>) {
        self.history.replace(prompts.into_iter().map(|prompt| Content::from(&*prompt)));
    }

    /// The earlier prompts, newest first.
    pub fn earlier(&self) -> impl Iterator<Item = String> {
        self.history.prompts().map(Content::text)
    }

    /// Everything that is in it, with its text in the place of each mark: what would be sent.
    pub fn text(&self) -> String {
        self.content.text()
    }

    /// The line in which the cursor is, with its text in the place of each mark.
    pub fn line(&self) -> String {
        let raw = self.content.raw();
        let range = places::line_start(raw, self.cursor)..places::line_end(raw, self.cursor);
        self.content.slice(range).text()
    }

    /// What is in it, marks and all.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.content.is_empty()
    }

    /// A number that changes with what is in it, so that a draft is kept only when there is another one.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Does what a key says.
    pub fn handle(&mut self, action: EditorAction) -> Outcome {
        let outcome = self.act(action);
        if !self.goes_on(action) {
            self.last = Last::Other;
        }
        if !matches!(action, EditorAction::DeleteCharBackward | EditorAction::DeleteCharForward) {
            self.undo.seal();
        }
        self.follow();
        outcome
    }

    /// Whether what the action left behind in `last` is its own.
    fn goes_on(&self, action: EditorAction) -> bool {
        use EditorAction as A;
        match self.last {
            Last::Kill => matches!(
                action,
                A::DeleteWordBackward | A::DeleteWordForward | A::DeleteToLineStart | A::DeleteToLineEnd
            ),
            Last::Yank(_) => matches!(action, A::Yank | A::YankPop),
            Last::Other => true,
        }
    }

    fn act(&mut self, action: EditorAction) -> Outcome {
        use EditorAction as A;
        match action {
            A::CursorUp => self.up(),
            A::CursorDown => self.down(),
            A::PageUp => self.page_up(),
            A::PageDown => self.page_down(),
            A::CursorLeft => self.go(places::before(self.raw(), self.cursor)),
            A::CursorRight => self.go(places::after(self.raw(), self.cursor)),
            A::CursorWordLeft => self.go(places::word_before(self.raw(), self.cursor)),
            A::CursorWordRight => self.go(places::word_after(self.raw(), self.cursor)),
            A::CursorLineStart => self.go(places::line_start(self.raw(), self.cursor)),
            A::CursorLineEnd => self.go(places::line_end(self.raw(), self.cursor)),
            A::CursorBufferStart => self.go(0),
            A::CursorBufferEnd => self.go(self.content.len()),
            A::DeleteCharBackward => {
                self.delete(places::before(self.raw(), self.cursor)..self.cursor, Grouping::Erasing)
            }
            A::DeleteCharForward => {
                self.delete(self.cursor..places::after(self.raw(), self.cursor), Grouping::Deleting)
            }
            A::DeleteWordBackward => {
                self.kill(places::word_before(self.raw(), self.cursor)..self.cursor, Side::Before)
            }
            A::DeleteWordForward => {
                self.kill(self.cursor..places::word_after(self.raw(), self.cursor), Side::After)
            }
            A::DeleteToLineStart => self.kill_to_line_start(),
            A::DeleteToLineEnd => self.kill_to_line_end(),
            A::Yank => self.yank(),
            A::YankPop => self.yank_pop(),
            A::Undo => self.take_back(),
            A::Redo => self.make_again(),
            A::Unfold => self.unfold(),
            A::TakePrefill => self.take_prefill(),
            A::Submit => self.submit(),
            A::NewLine => self.new_line(),
            A::Tab => Outcome::Complete,
            A::Copy => Outcome::Copy,
        }
    }

    fn raw(&self) -> &str {
        self.content.raw()
    }

    /// Scrolls to the cursor.
    fn follow(&mut self) {
        let layout = Layout::new(&self.content, self.columns);
        let (row, _) = layout.find(self.cursor);
        self.top = draw::scrolled(self.top, row, layout.rows.len(), self.rows);
    }

    /// The one way in which anything is changed by hand.
    fn edit(&mut self, range: Range<usize>, with: &Content, grouping: Grouping) -> Content {
        self.adopt_recalled();
        let (at, before) = (range.start, self.cursor);
        let removed = self.content.splice(range, with);
        self.cursor = places::at_or_after(self.content.raw(), at + with.len());
        let edit = Edit { at, removed: removed.clone(), inserted: with.clone() };
        self.undo.record(edit, grouping, before, self.cursor);
        self.changed();
        removed
    }

    /// An earlier prompt that is changed becomes the draft, and the draft one of the earlier prompts. Taking
    /// it back leads to the draft.
    fn adopt_recalled(&mut self) {
        let Some(draft) = self.history.leave() else { return };
        let edit = Edit { at: 0, removed: draft.content.clone(), inserted: self.content.clone() };
        self.undo.record(edit, Grouping::Alone, draft.cursor, self.cursor);
        self.history.push(draft.content);
    }

    /// What follows from other content.
    fn changed(&mut self) {
        self.goal = None;
        self.revision += 1;
        self.follow();
    }
}

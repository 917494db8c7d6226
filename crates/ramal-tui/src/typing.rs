//! An editor that keys reach: a line or several in which something is written for a view.

use ratatui::text::{Line, Span};

use crate::editor::{Editor, EditorAction, Outcome};
use crate::keys::{ActionId, Key, Keymap, Place};
use crate::text::clean;
use crate::text::width::{fit, width};
use crate::theme::{Role, Theme};

/// Columns of a text that is put into a line.
const LONGEST_LINE: usize = 1000;

/// What is being written.
#[derive(Debug, Clone)]
pub(crate) struct Typing {
    editor: Editor,
    is_one_line: bool,
}

/// What came of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Typed {
    /// It means nothing here.
    Nothing,
    /// Something may look different.
    Changed,
    /// What is written is done.
    Done,
    /// Nothing is to be written after all.
    Left,
}

impl Typing {
    /// A line.
    pub(crate) fn one_line(text: &str) -> Typing {
        let mut editor = Editor::new();
        editor.insert(&clean::one_line(text, LONGEST_LINE));
        Typing { editor, is_one_line: true }
    }

    /// Several lines.
    pub(crate) fn several_lines(text: &str) -> Typing {
        let mut editor = Editor::new();
        editor.insert(text);
        Typing { editor, is_one_line: false }
    }

    /// What is seen where nothing is written yet.
    pub(crate) fn set_placeholder(&mut self, text: &str) {
        self.editor.set_placeholder(text);
    }

    /// What is written.
    pub(crate) fn text(&self) -> String {
        self.editor.text()
    }

    /// Whether nothing is written.
    pub(crate) fn is_empty(&self) -> bool {
        self.editor.is_empty()
    }

    /// Whether it is one line.
    pub(crate) fn is_one_line(&self) -> bool {
        self.is_one_line
    }

    /// Puts another text in the place of what is written.
    pub(crate) fn replace(&mut self, text: &str) {
        self.editor.replace_text(text);
    }

    /// Takes everything out.
    pub(crate) fn clear(&mut self) {
        self.editor.clear();
    }

    /// How wide it is drawn, and how many rows of it.
    pub(crate) fn resize(&mut self, columns: usize, rows: usize) {
        self.editor.resize(columns, rows);
    }

    /// The editor, to draw it.
    pub(crate) fn editor(&self) -> &Editor {
        &self.editor
    }

    /// A key was pressed.
    pub(crate) fn key(&mut self, keymap: &Keymap, key: Key) -> Typed {
        // A letter is a letter here, whatever it does in lists.
        if key.typed().is_none() && keymap.action(Place::List, key) == Some(ActionId::Cancel) {
            return Typed::Left;
        }
        let actions = keymap.actions(Place::Editor, key);
        let action = actions.iter().find_map(|action| EditorAction::from_id(action.name()));
        match (action, key.typed()) {
            (Some(EditorAction::NewLine), _) if self.is_one_line => Typed::Nothing,
            (Some(action), _) => match self.editor.handle(action) {
                Outcome::Submit => Typed::Done,
                Outcome::Done => Typed::Changed,
                Outcome::Nothing | Outcome::Complete | Outcome::Copy => Typed::Nothing,
            },
            (None, Some(letter)) => {
                self.editor.insert(letter.encode_utf8(&mut [0; 4]));
                Typed::Changed
            }
            (None, None) => Typed::Nothing,
        }
    }

    /// Something was pasted.
    pub(crate) fn paste(&mut self, text: &str) {
        if self.is_one_line {
            self.editor.insert(&clean::one_line(text, LONGEST_LINE));
        } else {
            self.editor.paste(text);
        }
    }

    /// The row with the cursor behind a word that says what is written, and the column of the cursor.
    pub(crate) fn line(&self, what: &str, columns: usize, theme: &Theme) -> (Line<'static>, u16) {
        let room = columns.saturating_sub(width(what)).max(1);
        let drawing = self.editor.lines(room, theme);
        let shown = drawing.lines.into_iter().nth(usize::from(drawing.cursor.y)).unwrap_or_default();
        let mut spans = vec![Span::styled(fit(what, columns).into_owned(), theme.style(Role::Accent))];
        if columns > width(what) {
            spans.extend(shown.spans);
        }
        let column = width(what) + usize::from(drawing.cursor.x);
        (Line::from(spans), column.min(columns.saturating_sub(1)) as u16)
    }
}

//! The screen while a session is opened, without a terminal: what is printed, what is typed, and a footer.

use std::path::Path;
use std::time::Duration;

use ramal_session::EntryId;
use ratatui::text::{Line, Span};

use super::tail::{Draws, Tail};
use crate::app::frame::{Written, shown_path, written};
use crate::app::start::greeting;
use crate::app::{Leaving, Look, spinner};
use crate::editor::{Editor, EditorAction, Outcome};
use crate::keys::{ActionId, Key, Place};
use crate::markdown::run::{fit_line, rewrap};
use crate::screen::{Cursor, Screen};
use crate::terminal::Input;
use crate::theme::Role;

/// What stands on the screen before the conversation is there.
pub(in crate::app) struct Seen {
    pub(in crate::app) screen: Screen,
    /// The entry at the end of what was printed of the session: none before the first. None if nothing was.
    pub(in crate::app) leaf: Option<Option<EntryId>>,
}

/// A screen on which a session is waited for.
pub(super) struct Waiting {
    look: Look,
    place: String,
    hides_thinking: bool,
    columns: u16,
    rows: u16,
    screen: Screen,
    /// What was printed, and how much of it stands on the screen.
    printed: Vec<Line<'static>>,
    shown: usize,
    leaf: Option<Option<EntryId>>,
    /// Shows what is typed. All of it is typed once more when the conversation is there.
    editor: Editor,
    /// Something was pressed of which one cannot see yet what comes of it.
    is_ahead: bool,
    is_resized: bool,
}

impl Waiting {
    pub(super) fn new(
        look: Look,
        size: (u16, u16),
        greets: bool,
        hides_thinking: bool,
        cwd: &Path,
        home: Option<&Path>,
    ) -> Waiting {
        let (columns, rows) = (size.0.max(1), size.1.max(1));
        Waiting {
            place: shown_path(cwd, home),
            printed: if greets { greeting(&look, columns).to_vec() } else { Vec::new() },
            screen: Screen::new(columns, rows),
            editor: Editor::new(),
            look,
            hides_thinking,
            columns,
            rows,
            shown: 0,
            leaf: None,
            is_ahead: false,
            is_resized: false,
        }
    }

    /// How the end of the log is drawn.
    pub(super) fn draws_tail(&self) -> Draws {
        Draws {
            columns: self.columns,
            theme: self.look.theme.clone(),
            depth: self.look.depth,
            highlighter: std::sync::Arc::clone(&self.look.highlighter),
            hides_thinking: self.hides_thinking,
        }
    }

    /// Prints the end of the log.
    pub(super) fn print_tail(&mut self, tail: Tail) {
        // The window may have another width by now.
        self.printed.extend(tail.lines.iter().flat_map(|line| rewrap(line, usize::from(self.columns))));
        self.leaf = Some(tail.leaf);
    }

    /// Something came. Answers whether the program ends.
    pub(super) fn take(&mut self, input: &Input) -> Option<Leaving> {
        match input {
            Input::Key(key) => return self.key(*key),
            Input::Paste(text) if !self.is_ahead => self.editor.paste(text),
            Input::Resize(columns, rows) => {
                (self.columns, self.rows) = ((*columns).max(1), (*rows).max(1));
                self.is_resized = true;
            }
            Input::Resumed => {
                self.screen.begin_anew();
                self.is_resized = true;
            }
            Input::Quit(signal) => return Some(Leaving::Signal(*signal)),
            Input::Closed => return Some(Leaving::Closed),
            Input::Paste(_) | Input::Background(_) | Input::FocusGained | Input::FocusLost => {}
        }
        None
    }

    fn key(&mut self, key: Key) -> Option<Leaving> {
        let place = if self.editor.is_empty() { Place::EmptyEditor } else { Place::Editor };
        let actions = self.look.keymap.actions(place, key).to_vec();
        for action in actions {
            match action {
                ActionId::Exit => return Some(Leaving::Wanted),
                ActionId::Clear if self.editor.is_empty() || self.is_ahead => return Some(Leaving::Wanted),
                ActionId::Clear => {
                    self.editor.clear();
                    return None;
                }
                ActionId::Interrupt => return None,
                _ if self.is_ahead => return None,
                _ => {}
            }
            match EditorAction::from_id(action.name()).map(|action| self.editor.handle(action)) {
                Some(Outcome::Done) => return None,
                Some(Outcome::Nothing) => {}
                Some(Outcome::Submit) => {
                    // What comes of a command is not known here.
                    self.is_ahead = self.editor.text().starts_with('/');
                    self.editor.take();
                    return None;
                }
                Some(Outcome::Complete | Outcome::Copy) | None => {
                    self.is_ahead = true;
                    return None;
                }
            }
        }
        if let Some(letter) = key.typed().filter(|_| !self.is_ahead) {
            self.editor.insert(letter.encode_utf8(&mut [0; 4]));
        }
        None
    }

    /// The bytes of the next frame, and what leaves the screen clean from then on.
    pub(super) fn frame(&mut self, since: Duration) -> (String, String) {
        let (lines, cursor) = self.below(since);
        let bytes = if std::mem::take(&mut self.is_resized) {
            self.shown = self.printed.len();
            let printed = &self.printed;
            let tail = |columns: u16, seen: usize, room: usize| {
                let from = printed.len().saturating_sub(seen.max(room));
                let last = printed.iter().skip(from);
                last.flat_map(|line| rewrap(line, usize::from(columns))).collect()
            };
            self.screen.resize(self.columns, self.rows, tail, lines, cursor)
        } else {
            let said = self.printed.get(self.shown..).unwrap_or_default();
            let bytes = self.screen.show(said, lines, cursor);
            self.shown = self.printed.len();
            bytes
        };
        (bytes, self.screen.parting())
    }

    fn below(&mut self, since: Duration) -> (Vec<Line<'static>>, Option<Cursor>) {
        let columns = usize::from(self.columns);
        let Written { lines: editor, cursor } =
            written(&mut self.editor, None, self.columns, self.rows, &self.look);
        let theme = &self.look.theme;
        let (dim, accent) = (theme.style(Role::Dim), theme.style(Role::Accent));
        let mut lines = vec![Line::default()];
        let cursor = Cursor { row: cursor.row + 1, ..cursor };
        lines.extend(editor);
        lines.push(fit_line(Line::styled(self.place.clone(), dim), columns));
        let mut spans = vec![
            Span::styled(format!("{} ", spinner::sign(since)), accent),
            Span::styled("opening the session", accent),
        ];
        if since.as_secs() > 0 {
            spans.push(Span::styled(format!(" · {}", spinner::lasting(since)), dim));
        }
        if self.is_ahead {
            spans.push(Span::styled(" · what is pressed is done then", dim));
        }
        lines.push(fit_line(Line::from(spans), columns));
        (lines, Some(cursor))
    }

    pub(super) fn into_parts(self) -> (Look, (u16, u16), Seen) {
        let Waiting { look, columns, rows, screen, leaf, .. } = self;
        (look, (columns, rows), Seen { screen, leaf })
    }
}

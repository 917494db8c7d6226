//! What extensions show: notices, lines of the footer, lines around the editor, the window's title.

use std::collections::BTreeMap;

use ratatui::text::Line;

use crate::app::{App, Effect};
use crate::text::clean;
use crate::text::width::fit;
use crate::theme::{Role, Theme};
use crate::transcript::Block;

/// Rows of a widget that are seen at most.
const WIDGET_ROWS: usize = 10;

/// Rows of the screen that all widgets of a side take at most, as a share.
const WIDGET_SHARE: usize = 4;

/// Columns of a status, and of a line of a widget, that are kept: more than screens have.
const WIDEST: usize = 1000;

/// How important a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Worth knowing.
    Info,
    /// Something may be wrong.
    Warning,
    /// Something is wrong.
    Error,
}

/// Where a widget stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Above the editor.
    Above,
    /// Below it.
    Below,
}

/// Something that an extension shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Show {
    /// This is said once, in the conversation.
    Notice {
        /// What is said.
        text: String,
        /// How important it is.
        weight: Weight,
    },
    /// This stands in the footer; nothing takes it away.
    Status {
        /// Which of the extension's.
        key: String,
        /// What it says.
        text: Option<String>,
    },
    /// These lines stand beside the editor; nothing takes them away.
    Widget {
        /// Which of the extension's.
        key: String,
        /// What stands there.
        lines: Option<Vec<String>>,
        /// Where.
        side: Side,
    },
    /// This is the title of the window.
    Title(String),
    /// This stands in the editor.
    Written(String),
}

/// Whose something is: its key first, since they are shown in the order of their keys.
type Whose = (String, String);

/// What is seen of theirs.
#[derive(Debug, Default)]
pub(in crate::app) struct Shown {
    /// As they can be shown, none of them empty.
    statuses: BTreeMap<Whose, String>,
    /// The same of the lines of each.
    widgets: BTreeMap<Whose, (Side, Vec<String>)>,
    title: Option<String>,
}

impl Shown {
    /// The title that the window is to have.
    pub(in crate::app) fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The line of the footer; none if there is nothing to be said.
    pub(in crate::app) fn status(&self, columns: usize, theme: &Theme) -> Option<Line<'static>> {
        let mut text = String::new();
        for status in self.statuses.values() {
            if !text.is_empty() {
                text += " · ";
            }
            text += status;
            // There may be a great many.
            if text.len() > WIDEST * 4 {
                break;
            }
        }
        (!text.is_empty()).then(|| Line::styled(fit(&text, columns).into_owned(), theme.style(Role::Dim)))
    }

    /// The lines of the widgets on a side of the editor, on a screen of so many rows.
    pub(in crate::app) fn widgets(
        &self,
        side: Side,
        columns: usize,
        rows: usize,
        theme: &Theme,
    ) -> Vec<Line<'static>> {
        let room = (rows / WIDGET_SHARE).max(1);
        let all = || self.widgets.values().filter(|(of, _)| *of == side).flat_map(|(_, texts)| texts);
        let draw = |text: &String| Line::styled(fit(text, columns).into_owned(), theme.style(Role::Text));
        let mut lines: Vec<Line<'static>> = all().take(room).map(draw).collect();
        let hidden = all().count() - lines.len();
        if hidden > 0 {
            lines.truncate(room - 1);
            let more = format!("… {} more rows", hidden + 1);
            lines.push(Line::styled(fit(&more, columns).into_owned(), theme.style(Role::Dim)));
        }
        lines
    }
}

impl App {
    /// An extension shows something.
    pub(in crate::app) fn show(&mut self, extension: &str, show: Show) {
        self.is_stale = true;
        let whose = |key: String| (key, extension.to_owned());
        let shown = &mut self.extensions.shown;
        match show {
            Show::Notice { text, weight } => {
                let name = clean::name(extension);
                self.say(match weight {
                    Weight::Info => Block::told(&format!("{name}: {text}")),
                    Weight::Warning => Block::notice(&format!("{name}, a warning: {text}")),
                    Weight::Error => Block::wrong(&format!("{name}, an error: {text}")),
                });
            }
            Show::Status { key, text: Some(text) } => {
                let text = clean::one_line(&text, WIDEST);
                match text.is_empty() {
                    true => shown.statuses.remove(&whose(key)),
                    false => shown.statuses.insert(whose(key), text),
                };
            }
            Show::Status { key, text: None } => {
                shown.statuses.remove(&whose(key));
            }
            Show::Widget { key, lines: Some(lines), side } => {
                let lines = lines.iter().flat_map(|text| clean::lines(text)).take(WIDGET_ROWS);
                let lines = lines.map(|line| fit(&line, WIDEST).into_owned()).collect();
                shown.widgets.insert(whose(key), (side, lines));
            }
            Show::Widget { key, lines: None, .. } => {
                shown.widgets.remove(&whose(key));
            }
            Show::Title(title) => {
                shown.title = Some(title.clone());
                self.effects.push(Effect::Title(title));
            }
            Show::Written(text) => {
                self.editor.replace_text(&text);
                self.typed();
            }
        }
    }

    /// What they have shown goes.
    pub(super) fn forget_shown(&mut self) {
        self.is_stale = true;
        let had_title = std::mem::take(&mut self.extensions.shown).title.is_some();
        if had_title {
            self.tell_title();
        }
    }
}

//! A setting: what it can be, and what is seen of it.

use ratatui::text::{Line, Span};

use crate::list_view::ListRow;
use crate::text::clean;
use crate::text::width::{fit, wrap};
use crate::theme::{Role, Theme};

/// What a setting can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingKind {
    /// `true` or `false`.
    Flag,
    /// One of these.
    Choice(Vec<String>),
    /// A number.
    Number,
    /// Any text of one line.
    Text,
}

/// A setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingRow {
    /// Its name in the file of settings.
    pub key: String,
    /// What it is: as it would be written in the file, a text without its quotes.
    pub value: String,
    /// What it is where no file says anything.
    pub default: String,
    /// What it can be.
    pub kind: SettingKind,
    /// What it is for.
    pub says: String,
    /// Where it was set: a file, an option of the command line; empty if nowhere.
    pub from: String,
}

impl SettingRow {
    /// The next value; none if it is one that is written.
    pub(super) fn next(&self) -> Option<String> {
        self.beside(1)
    }

    /// The previous value; none if it is one that is written.
    pub(super) fn previous(&self) -> Option<String> {
        self.beside(-1)
    }

    fn beside(&self, step: isize) -> Option<String> {
        match &self.kind {
            SettingKind::Flag => Some(if self.value == "true" { "false" } else { "true" }.into()),
            SettingKind::Choice(choices) => {
                let count = isize::try_from(choices.len()).ok().filter(|count| *count > 0)?;
                let at = choices.iter().position(|choice| *choice == self.value);
                let next = match at.and_then(|at| isize::try_from(at).ok()) {
                    Some(at) => (at + step).rem_euclid(count),
                    // What a file says may be none of them.
                    None if step > 0 => 0,
                    None => count - 1,
                };
                choices.get(next.unsigned_abs()).cloned()
            }
            SettingKind::Number | SettingKind::Text => None,
        }
    }

    /// The value that was written for it.
    ///
    /// # Errors
    /// If it can be none, with what is to be told.
    pub(super) fn read(&self, written: &str) -> Result<String, String> {
        match self.kind {
            SettingKind::Number => {
                let number = written.trim();
                match number.parse::<f64>() {
                    Ok(value) if value.is_finite() => Ok(number.to_owned()),
                    _ => Err(format!("{} is a number, such as {}", self.key, self.default)),
                }
            }
            _ => Ok(written.to_owned()),
        }
    }

    /// The row of it.
    pub(super) fn line(&self) -> ListRow<String> {
        let role = if self.value == self.default { Role::Text } else { Role::Accent };
        let row = ListRow::new(self.key.clone()).says(Role::Text, &self.key).says(role, shown(&self.value));
        let row = if self.value == self.default {
            row
        } else {
            row.says(Role::Dim, &format!("(default {})", shown(&self.default)))
        };
        row.right(&self.from).found_by(&self.says)
    }

    /// All that there is to say of it.
    pub(super) fn preview(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut lines = wrapped(&self.says, columns, Role::Text, theme);
        let label = |what: &str| Span::styled(fit(what, columns).into_owned(), theme.style(Role::Dim));
        let mut fact = |what: &str, text: &str| {
            let room = columns.saturating_sub(what.len());
            let text = fit(&clean::one_line(text, columns), room).into_owned();
            lines.push(Line::from(vec![label(what), Span::raw(text)]));
        };
        fact("Value    ", shown(&self.value));
        fact("Default  ", shown(&self.default));
        if !self.from.is_empty() {
            fact("Set in   ", &self.from);
        }
        match &self.kind {
            SettingKind::Choice(choices) => {
                let choices = format!("One of   {}", choices.join(", "));
                lines.extend(wrapped(&choices, columns, Role::Dim, theme));
            }
            SettingKind::Flag => fact("One of   ", "true, false"),
            SettingKind::Number => fact("May be   ", "any number"),
            SettingKind::Text => fact("May be   ", "any text"),
        }
        lines
    }
}

/// A value as it is seen.
fn shown(value: &str) -> &str {
    if value.trim().is_empty() { "–" } else { value }
}

fn wrapped(text: &str, columns: usize, role: Role, theme: &Theme) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for line in clean::lines(text) {
        lines.extend(
            wrap(&line, columns).map(|row| Line::styled(fit(row, columns).into_owned(), theme.style(role))),
        );
    }
    lines
}

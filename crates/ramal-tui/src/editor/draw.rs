//! An editor as lines.

use ratatui::layout::Position;
use ratatui::text::{Line, Span};

use super::Editor;
use super::layout::Layout;
use crate::text::{clean, width::fit};
use crate::theme::{Role, Theme};

/// What is seen of an editor.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// Its rows: at least one, and no more than it was given.
    pub lines: Vec<Line<'static>>,
    /// Where the cursor is among them.
    pub cursor: Position,
    /// How many rows there are above what is seen.
    pub above: usize,
    /// How many there are below.
    pub below: usize,
}

impl Editor {
    /// What is seen of it, no wider than `columns`.
    pub fn lines(&self, columns: usize, theme: &Theme) -> Drawing {
        let columns = columns.max(1);
        if self.content.is_empty() {
            let hint = fit(&clean::one_line(&self.placeholder, columns), columns).into_owned();
            let lines = vec![Line::from(Span::styled(hint, theme.style(Role::Dim)))];
            return Drawing { lines, cursor: Position::ORIGIN, above: 0, below: 0 };
        }
        let layout = Layout::new(&self.content, columns);
        let (row, column) = layout.find(self.cursor);
        let total = layout.rows.len();
        let top = scrolled(self.top, row, total, self.rows);
        let end = total.min(top + self.rows);
        let lines = (top..end).map(|row| line(&layout, row, theme)).collect();
        Drawing {
            lines,
            cursor: Position::new(clamp(column), clamp(row - top)),
            above: top,
            below: total - end,
        }
    }
}

/// The first row that is seen, as near to where it was as the cursor allows.
pub(super) fn scrolled(top: usize, cursor: usize, total: usize, height: usize) -> usize {
    let height = height.max(1);
    top.min(total.saturating_sub(height)).clamp((cursor + 1).saturating_sub(height), cursor)
}

fn line(layout: &Layout<'_>, row: usize, theme: &Theme) -> Line<'static> {
    let mut spans = Vec::new();
    let mut text = String::new();
    for cell in layout.cells(row) {
        if cell.is_mark {
            flush(&mut text, &mut spans, theme);
            spans.push(Span::styled(cell.shown.into_owned(), theme.style(Role::Accent)));
        } else {
            text.push_str(&cell.shown);
        }
    }
    flush(&mut text, &mut spans, theme);
    Line::from(spans)
}

fn flush(text: &mut String, spans: &mut Vec<Span<'static>>, theme: &Theme) {
    if !text.is_empty() {
        spans.push(Span::styled(std::mem::take(text), theme.style(Role::Text)));
    }
}

fn clamp(n: usize) -> u16 {
    u16::try_from(n).unwrap_or(u16::MAX)
}

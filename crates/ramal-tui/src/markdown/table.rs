//! Tables that fit the width.

use pulldown_cmark::Alignment;
use ratatui::text::{Line, Span};

use super::Look;
use super::run::{Runs, wrap};
use crate::text::width;
use crate::theme::Role;

/// What stands between two columns.
const BETWEEN: &str = " │ ";
/// The least that a column should have before the table is shown as records.
const NARROWEST: usize = 6;

/// A table that is read.
#[derive(Default)]
pub(super) struct Table {
    pub(super) alignments: Vec<Alignment>,
    /// The first one is the head.
    pub(super) rows: Vec<Vec<Runs>>,
}

impl Table {
    pub(super) fn lines(&self, columns: usize, look: &Look<'_>) -> Vec<Line<'static>> {
        let natural: Vec<usize> = (0..self.alignments.len())
            .map(|column| self.column(column).map(Runs::width).max().unwrap_or_default().max(1))
            .collect();
        match fair(&natural, columns) {
            Some(widths) => self.grid(&widths, look),
            None => self.records(columns, look),
        }
    }

    fn column(&self, column: usize) -> impl Iterator<Item = &Runs> {
        self.rows.iter().filter_map(move |row| row.get(column))
    }

    fn grid(&self, widths: &[usize], look: &Look<'_>) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        for (number, row) in self.rows.iter().enumerate() {
            lines.append(&mut self.row(row, widths, look));
            if number == 0 {
                let rule: Vec<_> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(Line::from(Span::styled(rule.join("─┼─"), look.theme.style(Role::Border))));
            }
        }
        lines
    }

    fn row(&self, row: &[Runs], widths: &[usize], look: &Look<'_>) -> Vec<Line<'static>> {
        let empty = Runs::default();
        let cells = widths.iter().enumerate();
        let cells: Vec<_> = cells.map(|(at, width)| wrap(row.get(at).unwrap_or(&empty), *width)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or_default();
        let line = |number: usize| {
            let mut spans = Vec::new();
            for (at, (cell, columns)) in cells.iter().zip(widths).enumerate() {
                if at > 0 {
                    spans.push(Span::styled(BETWEEN, look.theme.style(Role::Border)));
                }
                let text = cell.get(number).map(|line| line.spans.clone()).unwrap_or_default();
                let used = text.iter().map(|span| width::width(&span.content)).sum();
                let left = columns.saturating_sub(used);
                let before = match self.alignments.get(at) {
                    Some(Alignment::Right) => left,
                    Some(Alignment::Center) => left / 2,
                    _ => 0,
                };
                let is_last = at + 1 == widths.len();
                spans.push(Span::raw(" ".repeat(before)));
                spans.extend(text);
                spans.push(Span::raw(" ".repeat(if is_last { 0 } else { left - before })));
            }
            spans.retain(|span| !span.content.is_empty());
            Line::from(spans)
        };
        (0..height).map(line).collect()
    }

    /// Each row as lines of `head: cell`, for what is too narrow for a table.
    fn records(&self, columns: usize, look: &Look<'_>) -> Vec<Line<'static>> {
        let Some((head, body)) = self.rows.split_first() else { return Vec::new() };
        let mut lines = Vec::new();
        for (number, row) in body.iter().enumerate() {
            if number > 0 {
                lines.push(Line::default());
            }
            for (at, cell) in row.iter().enumerate() {
                let mut runs = head.get(at).cloned().unwrap_or_default();
                if !runs.is_empty() && !cell.is_empty() {
                    runs.push(": ", look.theme.style(Role::Dim));
                }
                runs.append(cell.clone());
                if !runs.is_empty() {
                    lines.append(&mut wrap(&runs, columns));
                }
            }
        }
        if body.is_empty() {
            lines.extend(head.iter().flat_map(|cell| wrap(cell, columns)));
        }
        lines
    }
}

/// Widths of columns that fit: those that need little get it, the others the same each. None if that
/// leaves too little.
fn fair(natural: &[usize], columns: usize) -> Option<Vec<usize>> {
    let between = BETWEEN.chars().count() * natural.len().saturating_sub(1);
    let mut left = columns.checked_sub(between)?;
    let mut widths = vec![0; natural.len()];
    let mut by_need: Vec<_> = (0..natural.len()).collect();
    by_need.sort_by_key(|at| natural.get(*at).copied());
    for (done, at) in by_need.iter().enumerate() {
        let need = natural.get(*at).copied().unwrap_or_default();
        let share = left / (natural.len() - done);
        let width = need.min(share);
        if width < need.min(NARROWEST) {
            return None;
        }
        left -= width;
        if let Some(place) = widths.get_mut(*at) {
            *place = width;
        }
    }
    Some(widths)
}

//! The whole screen, drawn row by row: only rows that changed are sent.

use std::fmt::Write as _;

use ratatui::layout::Position;
use ratatui::text::Line;

use super::paint::{paint, width_of};

/// A screen of which every row is ours, such as the alternate one.
#[derive(Debug, Default)]
pub struct FullScreen {
    columns: u16,
    drawn: Vec<Line<'static>>,
}

impl FullScreen {
    /// A screen of which it is not known what stands on it.
    pub fn new() -> FullScreen {
        FullScreen::default()
    }

    /// Forgets what stands on the screen: everything is drawn anew next.
    pub fn forget(&mut self) {
        *self = FullScreen::default();
    }

    /// The bytes that show `lines`, from the first row downwards, each cut at `columns`; what was below them
    /// goes. The cursor is hidden where nothing is written.
    pub fn show(&mut self, columns: u16, lines: Vec<Line<'static>>, cursor: Option<Position>) -> String {
        let mut out = String::from("\x1b[?25l");
        if self.columns != columns || self.drawn.is_empty() {
            (self.columns, self.drawn) = (columns, Vec::new());
            out.push_str("\x1b[2J");
        }
        for (row, line) in lines.iter().enumerate() {
            if self.drawn.get(row) == Some(line) {
                continue;
            }
            let _ = write!(out, "\x1b[{};1H", row + 1);
            paint(&mut out, line, columns);
            if width_of(line) < columns {
                out.push_str("\x1b[K");
            }
        }
        if lines.len() < self.drawn.len() {
            let _ = write!(out, "\x1b[{};1H\x1b[J", lines.len() + 1);
        }
        self.drawn = lines;
        if let Some(cursor) = cursor {
            let _ = write!(
                out,
                "\x1b[{};{}H\x1b[?25h",
                cursor.y + 1,
                cursor.x.min(columns.saturating_sub(1)) + 1
            );
        }
        out
    }
}

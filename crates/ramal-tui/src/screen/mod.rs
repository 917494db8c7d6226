//! The main screen: what has been said goes into the terminal's own scrollback, line by line and for good;
//! below it stand the lines that still change — a running answer, the editor, the footer.
//!
//! [`Screen`] turns what is to be seen into bytes. It knows nothing of what the lines mean, and writes
//! nothing itself. A line that was printed is never touched again: a terminal window that shrinks, grows or
//! reflows its lines gets its last screenful anew, and nothing above that is erased.

mod full;
mod paint;
mod picture;

use std::fmt::Write as _;

use ratatui::style::Style;
use ratatui::text::Line;

pub use self::full::FullScreen;
use self::paint::{paint, width_of};

/// Where the cursor is to be: a column and a row of the lines that change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// From 0.
    pub column: u16,
    /// From 0, within the lines that change.
    pub row: u16,
}

/// What is on the screen, as far as we wrote it.
#[derive(Debug)]
pub struct Screen {
    columns: u16,
    rows: u16,
    /// The lines that change, as they were drawn last.
    live: Vec<Line<'static>>,
    /// The row of `live` in which the terminal's cursor stands.
    at: u16,
    /// The rows of the screen that are ours, at least: those above belong to whoever wrote before us.
    ours: u16,
    /// The widths of the last lines printed, as many as a screen may hold, for the case that it is reflowed.
    widths: Vec<u16>,
}

impl Screen {
    /// A screen of that size, on which nothing of ours is yet. The cursor is in the first column.
    pub fn new(columns: u16, rows: u16) -> Screen {
        Screen {
            columns: columns.max(1),
            rows: rows.max(1),
            live: Vec::new(),
            at: 0,
            ours: 0,
            widths: Vec::new(),
        }
    }

    /// The columns of a line.
    pub fn columns(&self) -> u16 {
        self.columns
    }

    /// The rows of the screen.
    pub fn rows(&self) -> u16 {
        self.rows
    }

    /// Prints `said`, for good, and below it `live` in place of what was there. Of `live` the last rows are
    /// shown if it is higher than the screen. Lines are cut at the screen's width.
    pub fn show(
        &mut self,
        said: &[Line<'static>],
        live: Vec<Line<'static>>,
        cursor: Option<Cursor>,
    ) -> String {
        let live = self.fitting(live);
        let cut = live.cut;
        let mut out = String::new();
        if said.is_empty() && live.lines.len() == self.live.len() {
            self.change_rows(&mut out, &live.lines);
        } else {
            self.go_up(&mut out, self.at);
            out.push('\r');
            for line in said {
                paint(&mut out, line, self.columns);
                self.end_line(&mut out, line);
                out.push_str("\r\n");
                self.printed(line);
            }
            for (number, line) in live.lines.iter().enumerate() {
                if number > 0 {
                    out.push_str("\r\n");
                }
                paint(&mut out, line, self.columns);
                self.end_line(&mut out, line);
            }
            if live.lines.len() < self.live.len() + said.len() || live.lines.is_empty() {
                // What was below.
                out.push_str("\x1b[J");
            }
            self.at = (live.lines.len() as u16).saturating_sub(1);
        }
        let rows = self.widths.len() + live.lines.len();
        self.ours = self.ours.max(rows.min(usize::from(self.rows)) as u16);
        self.live = live.lines;
        self.put_cursor(&mut out, cursor, cut);
        out
    }

    /// The screen has another size, or what was said is to be seen in another way. `tail` is given the columns,
    /// how many of the last rows are seen that were printed, and how many rows there is room for; it gives the
    /// end of what was said, drawn anew, in which all of those rows are. `live` stands below. Nothing that was
    /// not ours is erased, and nothing that is not printed anew.
    pub fn resize(
        &mut self,
        columns: u16,
        rows: u16,
        tail: impl FnOnce(u16, usize, usize) -> Vec<Line<'static>>,
        live: Vec<Line<'static>>,
        cursor: Option<Cursor>,
    ) -> String {
        let is_lower = columns.max(1) == self.columns && rows.max(1) < self.rows;
        if is_lower {
            // What was said scrolls off as far as it has no room any more, and is not drawn anew: what a
            // terminal has not moved into its scrollback by itself would be erased.
            self.rows = rows.max(1);
            self.widths.drain(..self.widths.len().saturating_sub(usize::from(self.rows)));
            self.at = self.at.min(self.rows - 1);
            let live = self.fitting(live);
            let mut out = String::new();
            self.go_up(&mut out, self.at);
            out.push_str("\r\x1b[J");
            (self.live, self.at) = (Vec::new(), 0);
            out += &self.show(&[], live.lines, None);
            self.put_cursor(&mut out, cursor, live.cut);
            return out;
        }
        let above = self.rows_above(columns.max(1));
        let seen = self.widths.len().min(usize::from(self.rows).saturating_sub(self.live.len()));
        (self.columns, self.rows) = (columns.max(1), rows.max(1));
        let live = self.fitting(live);
        let room = usize::from(self.rows) - live.lines.len().min(usize::from(self.rows));
        let said = tail(self.columns, seen, room);
        let mut out = String::new();
        self.go_up(&mut out, above.min(self.rows - 1));
        out.push_str("\r\x1b[J");
        (self.live, self.at) = (Vec::new(), 0);
        self.widths.clear();
        let cut = live.cut;
        out += &self.show(&said, live.lines, None);
        self.put_cursor(&mut out, cursor, cut);
        out
    }

    /// What leaves the screen as it is: what was said stays, the lines that change go, and the cursor stands
    /// below, in the first column.
    pub fn parting(&self) -> String {
        let mut out = String::new();
        self.go_up(&mut out, self.at);
        out.push_str("\r\x1b[J");
        out
    }

    /// Forgets the lines that change, which do not stand there any more, and where the cursor was: it is in
    /// the first column of a row of its own.
    pub fn begin_anew(&mut self) {
        (self.live, self.at) = (Vec::new(), 0);
    }

    /// Leaves the screen as [`Screen::parting`] says.
    pub fn leave(&mut self) -> String {
        let out = self.parting();
        self.begin_anew();
        out
    }

    /// How many rows lie between our first one on the screen and the cursor, at least, whether the terminal
    /// reflows lines at another width or not.
    fn rows_above(&self, columns: u16) -> u16 {
        let reflowed = |width: u16| usize::from(width.max(1).div_ceil(columns).max(1));
        let live = self.live.iter().take(usize::from(self.at)).map(width_of);
        let said = self.widths.iter().copied();
        let as_it_was = said.len() + usize::from(self.at);
        let as_it_may_be: usize = said.chain(live).map(reflowed).sum();
        // A wider screen joins nothing: each of our lines was ended.
        let least = as_it_was.min(as_it_may_be);
        u16::try_from(least).unwrap_or(u16::MAX)
    }

    /// The rows of `live` that fit.
    fn fitting(&self, mut live: Vec<Line<'static>>) -> Fitting {
        let cut = live.len().saturating_sub(usize::from(self.rows));
        live.drain(..cut);
        Fitting { lines: live, cut: u16::try_from(cut).unwrap_or(u16::MAX) }
    }

    /// A line was printed.
    fn printed(&mut self, line: &Line<'static>) {
        self.widths.push(width_of(line).min(self.columns));
        if self.widths.len() > usize::from(self.rows) {
            self.widths.remove(0);
        }
    }

    /// Draws anew the rows that are not what they were.
    fn change_rows(&mut self, out: &mut String, lines: &[Line<'static>]) {
        for (number, line) in lines.iter().enumerate() {
            if self.live[number] == *line {
                continue;
            }
            let row = number as u16;
            self.go_to_row(out, row);
            out.push('\r');
            paint(out, line, self.columns);
            self.end_line(out, line);
        }
    }

    fn go_to_row(&mut self, out: &mut String, row: u16) {
        match row.checked_sub(self.at) {
            Some(0) => {}
            // If the window has just lost the rows below, these make room for them, and what is counted from
            // here stays right.
            Some(down) => out.extend(std::iter::repeat_n('\n', usize::from(down))),
            None => self.go_up(out, self.at - row),
        }
        self.at = row;
    }

    fn go_up(&self, out: &mut String, rows: u16) {
        if rows > 0 {
            let _ = write!(out, "\x1b[{rows}A");
        }
    }

    /// Clears what is left of a row. Behind a full row there is nothing, and some terminals would clear its
    /// last cell.
    fn end_line(&self, out: &mut String, line: &Line<'static>) {
        if width_of(line) < self.columns {
            out.push_str("\x1b[K");
        }
    }

    fn put_cursor(&mut self, out: &mut String, cursor: Option<Cursor>, cut: u16) {
        let Some(cursor) = cursor.filter(|cursor| cursor.row >= cut) else {
            out.push_str("\x1b[?25l");
            return;
        };
        let row = (cursor.row - cut).min((self.live.len() as u16).saturating_sub(1));
        self.go_to_row(out, row);
        let column = cursor.column.min(self.columns - 1) + 1;
        let _ = write!(out, "\x1b[{column}G\x1b[?25h");
    }
}

/// Lines that fit, and how many above them do not.
struct Fitting {
    lines: Vec<Line<'static>>,
    cut: u16,
}

/// A line across the screen.
pub fn rule(columns: u16, title: &str, style: Style) -> Line<'static> {
    let title = if title.is_empty() { String::new() } else { format!("── {title} ") };
    let used = crate::text::width::width(&title);
    let rest = usize::from(columns).saturating_sub(used);
    Line::styled(title + &"─".repeat(rest), style)
}

#[cfg(test)]
mod tests;

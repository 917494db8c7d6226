//! Pictures on the screen, in terminals that can show them; elsewhere a line that names them.
//!
//! Nothing is decoded here: a picture's size stands in its first bytes, and the terminal draws the file as it
//! is. [`Picture::place`] says how many rows a picture takes; as many blank rows are printed and then drawn over, so
//! that it scrolls off with the lines around it
//! ([`Screen::show_picture`](crate::screen::Screen::show_picture)).

mod header;
mod path;
mod protocol;

use std::fmt;

pub use header::{Format, Header};
pub use path::pasted_path;
pub use protocol::Protocol;

use crate::text::human;

/// The rows that a picture takes at most.
pub const MOST_ROWS: u16 = 20;

/// The bytes of a picture that is still drawn. More would hold up everything else that is written.
pub const MOST_BYTES: usize = 2 << 20;

/// The cells of a terminal, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// How wide.
    pub width: u16,
    /// How high.
    pub height: u16,
}

impl Default for Cell {
    /// What cells usually are, where the terminal does not say.
    fn default() -> Cell {
        Cell { width: 9, height: 18 }
    }
}

impl Cell {
    /// The cell of a window of so many columns and rows that is so many pixels wide and high. Terminals that
    /// do not know their pixels say zero.
    pub fn of_window(columns: u16, rows: u16, width: u16, height: u16) -> Cell {
        let (width, height) = (width / columns.max(1), height / rows.max(1));
        if width == 0 || height == 0 { Cell::default() } else { Cell { width, height } }
    }
}

/// A picture as it lies in a file or in a message.
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    header: Header,
    bytes: &'a [u8],
}

impl<'a> Picture<'a> {
    /// The picture that these bytes are; none if they are none that is known here.
    pub fn new(bytes: &'a [u8]) -> Option<Picture<'a>> {
        Header::read(bytes).map(|header| Picture { header, bytes })
    }

    /// What its first bytes say.
    pub fn header(&self) -> Header {
        self.header
    }

    /// The picture as a terminal draws it, in at most so many columns and [`MOST_ROWS`] rows of a screen that
    /// has so many; none if this terminal cannot draw it, or should not.
    pub fn place(&self, protocol: Protocol, cell: Cell, columns: u16, rows: u16) -> Option<Placed> {
        // The row below it must be on the screen, too: from there one goes up to it.
        let rows = rows.saturating_sub(1).min(MOST_ROWS);
        if !protocol.draws(self.header.format) || self.bytes.len() > MOST_BYTES || columns == 0 || rows == 0 {
            return None;
        }
        let (columns, rows) = self.cells(cell, columns, rows)?;
        Some(Placed { columns, rows, bytes: protocol.encode(self.bytes, columns, rows) })
    }

    /// The cells that it takes: as many as it has pixels for, or fewer, in its own proportions.
    fn cells(&self, cell: Cell, most_columns: u16, most_rows: u16) -> Option<(u16, u16)> {
        let (width, height) = (f64::from(self.header.width), f64::from(self.header.height));
        if width < 1.0 || height < 1.0 {
            return None;
        }
        let columns = width / f64::from(cell.width.max(1));
        let rows = height / f64::from(cell.height.max(1));
        let scale = (f64::from(most_columns) / columns).min(f64::from(most_rows) / rows).min(1.0);
        let whole = |cells: f64, most: u16| ((cells * scale - 1e-6).ceil() as u16).clamp(1, most);
        Some((whole(columns, most_columns), whole(rows, most_rows)))
    }
}

/// The line in the place of a picture that is not drawn: `[image image/png 1024×768, 230 kB]`.
impl fmt::Display for Picture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Header { format, width, height } = self.header;
        write!(f, "[image {} {width}×{height}, {}]", format.mime_type(), human::size(self.bytes.len() as u64))
    }
}

/// A picture that has its place: how large it is, and the bytes that draw it from where the cursor stands.
#[derive(Clone, PartialEq, Eq)]
pub struct Placed {
    columns: u16,
    rows: u16,
    bytes: String,
}

impl Placed {
    /// The columns that it takes.
    pub fn columns(&self) -> u16 {
        self.columns
    }

    /// The rows that it takes.
    pub fn rows(&self) -> u16 {
        self.rows
    }

    /// What draws it over blank rows, from the first column of the row below them, and leaves the cursor
    /// there.
    pub fn over(&self) -> String {
        format!("\x1b7\x1b[{}A{}\x1b8", self.rows, self.bytes)
    }
}

impl fmt::Debug for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Placed {{ {}×{} cells, {} bytes }}", self.columns, self.rows, self.bytes.len())
    }
}

#[cfg(test)]
mod tests;

//! What is on the screen.

use std::borrow::Cow;

use super::drawing;

/// A screen as somebody would see it. Rows and columns are counted from 0.
#[derive(Clone)]
pub struct Screen<'a> {
    screen: Cow<'a, vt100::Screen>,
    title: Cow<'a, str>,
}

/// Where the cursor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// From 0.
    pub row: u16,
    /// From 0; as many as there are columns if the last row is full.
    pub column: u16,
    /// Not hidden.
    pub is_visible: bool,
}

impl<'a> Screen<'a> {
    pub(crate) fn of(screen: &'a vt100::Screen, title: &'a str) -> Screen<'a> {
        Screen { screen: Cow::Borrowed(screen), title: Cow::Borrowed(title) }
    }

    pub(crate) fn into_owned(self) -> Screen<'static> {
        Screen { screen: Cow::Owned(self.screen.into_owned()), title: Cow::Owned(self.title.into_owned()) }
    }

    /// Columns and rows.
    pub fn size(&self) -> (u16, u16) {
        let (rows, columns) = self.screen.size();
        (columns.get(), rows.get())
    }

    /// Every row, without the blanks at its end.
    pub fn rows(&self) -> Vec<String> {
        let columns = self.size().0;
        self.screen.rows(0, columns).map(|row| row.trim_end().to_owned()).collect()
    }

    /// All rows, without blanks at the end of each and blank rows at the end of all.
    pub fn text(&self) -> String {
        self.rows().join("\n").trim_end_matches('\n').to_owned()
    }

    /// [`Screen::text`], and below it the same screen with a letter for each look, and what the letters mean.
    pub fn styled(&self) -> String {
        drawing::styled(self)
    }

    /// Whether a row says that.
    pub fn says(&self, text: &str) -> bool {
        self.rows().iter().any(|row| row.contains(text))
    }

    /// The first row that says that.
    pub fn row_of(&self, text: &str) -> Option<u16> {
        let at = self.rows().iter().position(|row| row.contains(text))?;
        u16::try_from(at).ok()
    }

    /// A cell, for what [`Screen::styled`] is too much for.
    pub fn cell(&self, row: u16, column: u16) -> Option<&vt100::Cell> {
        self.screen.cell(row, column)
    }

    /// Where the cursor is, and whether it is seen.
    pub fn cursor(&self) -> Cursor {
        let (row, column) = self.screen.cursor_position();
        Cursor { row, column, is_visible: !self.screen.hide_cursor() }
    }

    /// Rows that have scrolled off, oldest first. Of the alternate screen: none.
    pub fn scrollback(&self) -> Vec<String> {
        let columns = self.size().0;
        let mut screen = self.screen.clone().into_owned();
        let back = (1..=screen.scrollback_len()).rev();
        back.map(|offset| {
            screen.set_scrollback(offset);
            screen.rows(0, columns).next().unwrap_or_default().trim_end().to_owned()
        })
        .collect()
    }

    /// Everything that can be scrolled to, and the screen: what a person could still read.
    pub fn everything(&self) -> String {
        let mut rows = self.scrollback();
        rows.extend(self.rows());
        rows.join("\n").trim_end_matches('\n').to_owned()
    }

    /// Whether it is the alternate screen.
    pub fn is_alternate(&self) -> bool {
        self.screen.alternate_screen()
    }

    /// The window's title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Whether two look the same, cursor included.
    pub fn looks_like(&self, other: &Screen<'_>) -> bool {
        self.size() == other.size()
            && self.cursor() == other.cursor()
            && self.screen.contents_formatted() == other.screen.contents_formatted()
    }
}

impl std::fmt::Debug for Screen<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (columns, rows) = self.size();
        writeln!(out, "{columns}×{rows}, {:?}", self.cursor())?;
        self.rows().iter().try_for_each(|row| writeln!(out, "│{row}"))
    }
}

//! A line that is put together of parts with looks of their own, and never gets wider than it may.

use std::fmt::Write as _;

use super::style::{Palette, Role};
use super::width::{fit, width};
use ramal_tui::text::marks::occurrences;

/// A line that is being put together.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    palette: Palette,
    words: &'a [String],
    out: String,
    used: usize,
}

impl<'a> Line<'a> {
    /// An empty line. The words, in lower case, are marked where they stand in it.
    pub(crate) fn new(palette: Palette, words: &'a [String]) -> Line<'a> {
        Line { palette, words, out: String::new(), used: 0 }
    }

    /// Columns that are used up.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// The line, without spaces at its end and without a newline.
    pub(crate) fn finish(mut self) -> String {
        self.out.truncate(self.out.trim_end_matches(' ').len());
        self.out
    }

    /// Text that was cleaned and is as wide as it may be.
    fn push(&mut self, role: Role, text: &str) {
        self.used += width(text);
        // Writing to a string does not fail.
        let _ = write!(self.out, "{}", self.palette.paint(role, text));
    }

    /// As much of the text as there is room for before the column `end`.
    pub(crate) fn push_fit(&mut self, role: Role, text: &str, end: usize) {
        let room = end.saturating_sub(self.used);
        if room > 0 {
            self.push_marked(role, &fit(text, room));
        }
    }

    /// [`Line::push`], with what was searched for marked.
    fn push_marked(&mut self, role: Role, text: &str) {
        let mut done = 0;
        for place in occurrences(text, self.words) {
            self.push(role, &text[done..place.start]);
            self.push(Role::Match, &text[place.clone()]);
            done = place.end;
        }
        self.push(role, &text[done..]);
    }

    /// Spaces up to a column.
    pub(crate) fn pad_to(&mut self, column: usize) {
        let missing = column.saturating_sub(self.used);
        self.out.extend(std::iter::repeat_n(' ', missing));
        self.used += missing;
    }
}

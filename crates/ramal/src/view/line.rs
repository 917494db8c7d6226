//! A line that is put together of parts with looks of their own, and never gets wider than it may.

use std::fmt::Write as _;
use std::ops::Range;

use super::style::{Palette, Role};
use super::width::{fit, width};

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

/// Where any of the words stands in a text, whatever the case, from left to right and none in another.
fn occurrences(text: &str, words: &[String]) -> Vec<Range<usize>> {
    if words.is_empty() {
        return Vec::new();
    }
    // Lower case may take more bytes or fewer: where each one comes from is kept.
    let (mut lower, mut from) = (String::new(), Vec::new());
    for (at, c) in text.char_indices() {
        lower.extend(c.to_lowercase());
        from.resize(lower.len(), (at, at + c.len_utf8()));
    }
    let found = words.iter().flat_map(|word| lower.match_indices(&**word));
    let mut places: Vec<_> =
        found.filter_map(|(at, word)| Some(from.get(at)?.0..from.get(at + word.len() - 1)?.1)).collect();
    places.sort_by_key(|place| (place.start, usize::MAX - place.end));
    let mut end = 0;
    places.retain(|place| {
        let is_free = place.start >= end;
        end = if is_free { place.end } else { end };
        is_free
    });
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_searched_for_is_found_in_rows() {
        for (text, words, want) in [
            ("The year, the YEAR", &["year"][..], &["year", "YEAR"][..]),
            ("week 53 of weeks", &["week", "weeks"], &["week", "weeks"]),
            ("straße İzmir", &["zmir", "stra"], &["stra", "zmir"]),
            ("İİ x", &["x"], &["x"]),
            ("aaa", &["aa"], &["aa"]),
            ("nothing", &["here"], &[]),
            ("", &["x"], &[]),
        ] {
            let words: Vec<_> = words.iter().map(ToString::to_string).collect();
            let found: Vec<_> = occurrences(text, &words).into_iter().map(|place| &text[place]).collect();
            assert_eq!(found, want, "{text}");
        }
    }
}

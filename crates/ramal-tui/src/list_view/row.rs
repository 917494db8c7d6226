//! A row of a list: what it says, and the line that it becomes.

use std::ops::Range;

use ratatui::text::{Line, Span};

use super::find::Words;
use crate::text::clean;
use crate::text::width::{fit, pad, width};
use crate::theme::{Role, Theme};
use crate::tree_view::row::{Pieces, selected};

/// Columns of a text that are kept for a row. What goes beyond no screen shows and no search looks at.
const LONGEST: usize = 1000;

/// A row of a list. Its texts may come from anywhere: they are cleaned here.
#[derive(Debug, Clone, PartialEq)]
pub struct ListRow<T> {
    pub(super) value: T,
    pub(super) main: Vec<(Role, String)>,
    right: String,
    /// What stands at the right is left out where it would cut what is said.
    right_gives_way: bool,
    is_present: bool,
    pub(super) heading: Option<String>,
    /// All that a search looks at, in lower case.
    pub(super) lower: String,
}

impl<T> ListRow<T> {
    /// A row that stands for something, and says nothing yet.
    pub fn new(value: T) -> ListRow<T> {
        ListRow {
            value,
            main: Vec::new(),
            right: String::new(),
            right_gives_way: false,
            is_present: false,
            heading: None,
            lower: String::new(),
        }
    }

    /// The same, saying this too. Of a row that says several things the first is set apart in a column of
    /// its own, if the list [aligns](super::ListView::align) them.
    #[must_use]
    pub fn says(mut self, role: Role, text: &str) -> ListRow<T> {
        let text = clean::one_line(text, LONGEST);
        self.search_in(&text);
        self.main.push((role, text));
        self
    }

    /// The same, with this at the right edge where there is room.
    #[must_use]
    pub fn right(mut self, text: &str) -> ListRow<T> {
        // Spaces stay, so that what stands below each other can be given in columns.
        let text = clean::lines(text).next().unwrap_or_default().into_owned();
        self.search_in(&text);
        self.right = text;
        self
    }

    /// The same, with what stands at the right left out where what is said would be cut for it.
    #[must_use]
    pub fn right_gives_way(mut self) -> ListRow<T> {
        self.right_gives_way = true;
        self
    }

    /// The same, found by these words too, which are not seen.
    #[must_use]
    pub fn found_by(mut self, text: &str) -> ListRow<T> {
        self.search_in(&clean::one_line(text, LONGEST));
        self
    }

    /// The same, as what holds at present, or not.
    #[must_use]
    pub fn present(mut self, is_present: bool) -> ListRow<T> {
        self.is_present = is_present;
        self
    }

    /// The same, below a heading that it shares with the rows around it. The heading is searched too.
    #[must_use]
    pub fn under(mut self, heading: &str) -> ListRow<T> {
        let heading = clean::one_line(heading, LONGEST);
        self.search_in(&heading);
        self.heading = Some(heading);
        self
    }

    /// What it stands for.
    pub fn value(&self) -> &T {
        &self.value
    }

    /// Whether it is what holds at present.
    pub fn is_present(&self) -> bool {
        self.is_present
    }

    fn search_in(&mut self, text: &str) {
        if !self.lower.is_empty() {
            self.lower.push(' ');
        }
        self.lower.push_str(&text.to_lowercase());
    }

    /// Columns of what it says first, if it says more.
    pub(super) fn lead(&self) -> usize {
        match &*self.main {
            [(_, first), _, ..] => width(first),
            _ => 0,
        }
    }

    /// The line of it. `lead` columns are for what it says first; 0 for as many as that takes.
    pub(super) fn line(&self, draw: Draw<'_>) -> Line<'static> {
        let Draw { columns, lead, is_selected, marks_present, words, theme } = draw;
        let is_cut = || {
            let said: usize = self.main.iter().map(|(_, text)| width(text) + 1).sum();
            let before = 2 + if marks_present { 2 } else { 0 } + lead.saturating_sub(self.lead());
            before + said + 1 + width(&self.right) > columns
        };
        let has_no_room = width(&self.right) * 2 > columns || (self.right_gives_way && is_cut());
        let right = if has_no_room { "" } else { &*self.right };
        let room = columns.saturating_sub(width(right) + if right.is_empty() { 0 } else { 2 });
        let mut out = Pieces { spans: Vec::new(), used: 0, room };
        out.push(if is_selected { "› " } else { "  " }, theme.style(Role::Accent));
        if marks_present {
            out.push(if self.is_present { "• " } else { "  " }, theme.style(Role::Active));
        }
        let said: String = self.main.iter().map(|(_, text)| format!("{text} ")).collect();
        let marks = words.marks(&said);
        let mut start = 0;
        for (index, (role, text)) in self.main.iter().enumerate() {
            if index > 0 {
                out.push(" ", theme.style(Role::Text));
            }
            let own = within(&marks, start..start + text.len());
            let style = theme.style(*role);
            if index == 0 && lead > 0 && self.main.len() > 1 {
                let shown = fit(text, lead);
                let cut = shown.len().saturating_sub(if *shown == **text { 0 } else { '…'.len_utf8() });
                out.push_marked(&shown, &within(&own, 0..cut), style, theme);
                out.push(&pad("", lead.saturating_sub(width(&shown)) + 1), style);
            } else {
                out.push_marked(text, &own, style, theme);
            }
            start += text.len() + 1;
        }
        if !right.is_empty() || is_selected {
            out.spans.push(Span::raw(" ".repeat(columns.saturating_sub(out.used + width(right)))));
            out.spans.push(Span::styled(right.to_owned(), theme.style(Role::Dim)));
        }
        let line = Line::from(out.spans);
        if is_selected { line.patch_style(selected(theme)) } else { line }
    }
}

/// How a row is drawn.
#[derive(Clone, Copy)]
pub(super) struct Draw<'a> {
    pub(super) columns: usize,
    pub(super) lead: usize,
    pub(super) is_selected: bool,
    /// Whether there is a column for the mark of what holds at present.
    pub(super) marks_present: bool,
    pub(super) words: &'a Words,
    pub(super) theme: &'a Theme,
}

/// The parts of marks that lie in a piece, counted from its beginning.
fn within(marks: &[Range<usize>], piece: Range<usize>) -> Vec<Range<usize>> {
    let clip = |mark: &Range<usize>| {
        let (start, end) = (mark.start.max(piece.start), mark.end.min(piece.end));
        (start < end).then(|| start - piece.start..end - piece.start)
    };
    marks.iter().filter_map(clip).collect()
}

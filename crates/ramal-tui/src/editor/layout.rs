//! Where everything stands when lines are wrapped.
//!
//! The last column is kept for the cursor behind a full row. Spaces at a break hang over the edge and take
//! no room, so that a row begins with a word.

use std::borrow::Cow;
use std::ops::Range;

use super::content::{Content, HOLE, Mark};
use crate::text::clean;
use crate::text::width::{clusters, fit, is_space, may_part, width};

/// The distance between tab stops, the same as in the transcript.
const TAB: usize = 4;

/// What is seen of a cluster that is wider than the screen.
const TOO_WIDE: &str = "…";

/// One row on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    /// What stands on it, a line break at its end not included.
    pub(super) range: Range<usize>,
    /// Whether its line ends with it.
    pub(super) ends_line: bool,
}

/// One cluster on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cell<'a> {
    pub(super) range: Range<usize>,
    pub(super) column: usize,
    pub(super) width: usize,
    pub(super) shown: Cow<'a, str>,
    pub(super) is_mark: bool,
}

/// A content laid out for a width.
#[derive(Debug)]
pub(super) struct Layout<'a> {
    content: &'a Content,
    columns: usize,
    pub(super) rows: Vec<Row>,
}

impl<'a> Layout<'a> {
    pub(super) fn new(content: &'a Content, columns: usize) -> Layout<'a> {
        let mut layout = Layout { content, columns: columns.max(1), rows: Vec::new() };
        let mut marks = content.marks().iter();
        let mut start = 0;
        for line in content.raw().split('\n') {
            layout.break_line(start..start + line.len(), &mut marks);
            start += line.len() + 1;
        }
        layout
    }

    /// How many columns text may take.
    fn room(&self) -> usize {
        if self.columns > 2 { self.columns - 1 } else { self.columns }
    }

    fn break_line(&mut self, line: Range<usize>, marks: &mut std::slice::Iter<'a, Mark>) {
        let room = self.room();
        let mut start = line.start;
        let mut position = line.start;
        let mut used = 0;
        // The last place to break, and the columns used before it.
        let mut chance: Option<(usize, usize)> = None;
        let mut before: Option<(&str, usize)> = None;
        for cluster in clusters(&self.content.raw()[line.clone()]) {
            let mark = if cluster.starts_with(HOLE) { marks.next() } else { None };
            let (_, wide) = show(cluster, mark, used, room);
            if before.is_some_and(|before| may_part(before, (cluster, wide))) {
                chance = Some((position, used));
            }
            while used + wide > room && position > start {
                let (at, gone) = chance.take().unwrap_or((position, used));
                self.rows.push(Row { range: start..at, ends_line: false });
                start = at;
                used -= gone;
            }
            used += wide;
            position += cluster.len();
            before = Some((cluster, wide));
            if is_space(cluster) {
                chance = Some((position, used));
                before = None;
            }
        }
        self.rows.push(Row { range: start..line.end, ends_line: true });
    }

    /// What stands on a row, from left to right.
    pub(super) fn cells(&self, row: usize) -> impl Iterator<Item = Cell<'a>> {
        let range = self.rows[row].range.clone();
        let room = self.room();
        let first_mark = self.content.marks_before(range.start);
        let mut marks = self.content.marks()[first_mark..].iter();
        let mut start = range.start;
        let mut column = 0;
        clusters(&self.content.raw()[range]).map(move |cluster| {
            let mark = if cluster.starts_with(HOLE) { marks.next() } else { None };
            let (shown, width) = show(cluster, mark, column, room);
            let range = start..start + cluster.len();
            let cell = Cell { range, column, width, shown, is_mark: mark.is_some() };
            start += cluster.len();
            column += width;
            cell
        })
    }

    /// The row and the column of a place. One between two rows is on the second.
    pub(super) fn find(&self, place: usize) -> (usize, usize) {
        let row = self.rows.partition_point(|row| row.range.start <= place).saturating_sub(1);
        let end = self.cells(row).take_while(|cell| cell.range.end <= place).last();
        let column = end.map_or(0, |cell| cell.column + cell.width);
        (row, column.min(self.columns - 1))
    }

    /// The place on a row that is nearest to a column.
    pub(super) fn place(&self, row: usize, column: usize) -> usize {
        let mut last = self.rows[row].range.start;
        for cell in self.cells(row) {
            last = cell.range.start;
            if cell.column + cell.width > column {
                return last;
            }
        }
        // Behind the last cluster one would be on the next row, unless there the line ends.
        if self.rows[row].ends_line { self.rows[row].range.end } else { last }
    }
}

/// How a cluster is shown that begins at a column, and how wide it is then.
fn show<'a>(cluster: &'a str, mark: Option<&'a Mark>, column: usize, room: usize) -> (Cow<'a, str>, usize) {
    if let Some(mark) = mark {
        let label = fit(mark.label(), room);
        let wide = width(&label);
        return if wide == 0 { (Cow::Borrowed(TOO_WIDE), 1) } else { (label, wide) };
    }
    if is_space(cluster) {
        let wanted = if cluster == "\t" { TAB - column % TAB } else { width(cluster) };
        let wide = wanted.min(room.saturating_sub(column));
        return (Cow::Owned(" ".repeat(wide)), wide);
    }
    let shown = match cluster.as_bytes() {
        [b'!'..=b'~'] => return (Cow::Borrowed(cluster), 1),
        _ => clean::lines(cluster).next().unwrap_or_default(),
    };
    match width(&shown) {
        wide if wide > room => (Cow::Borrowed(TOO_WIDE), 1),
        wide => (shown, wide),
    }
}

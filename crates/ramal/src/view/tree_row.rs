//! One row of a drawn tree, cut to the width there is.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ramal_session::{BranchFacts, Guide};

use super::line::Line;
use super::says::Says;
use super::style::{Palette, Role};
use super::width::{fit, pad, pad_start, width};
use super::{clean, human};

/// From so many columns on there is room for ids and times.
const WIDE: usize = 80;
/// Columns of one level of indentation.
const LEVEL: usize = 3;
/// Columns of the sign that the drawing is shifted, and of the mark of the active path.
const MARKS: usize = 8;
/// Columns of an id.
const ID: usize = 8;
/// Facts about a branch are left out where the text would have less.
const LEAST_TEXT: usize = 24;

/// How rows are drawn, decided once for a tree.
#[derive(Debug, Clone)]
pub(crate) struct Drawing {
    palette: Palette,
    columns: usize,
    now: Timestamp,
    times: Times,
    /// Words that are marked where they stand in a row, in lower case.
    words: Vec<String>,
}

/// What is to be drawn in a row.
#[derive(Debug)]
pub(crate) struct TreeRow<'a> {
    /// The innermost levels; [`Drawing::levels`] says how many there is room for.
    pub(crate) guides: &'a [Guide],
    /// Levels that were left out.
    pub(crate) shifted: usize,
    /// Whether it is on the path to the leaf; none in a stretch that has left that path, where no room
    /// is kept for the mark.
    pub(crate) is_active: Option<bool>,
    pub(crate) is_leaf: bool,
    pub(crate) label: Option<&'a str>,
    pub(crate) says: &'a Says,
    /// What is odd about its place in the tree.
    pub(crate) oddity: Option<&'a str>,
    pub(crate) facts: Option<BranchFacts>,
    pub(crate) id: &'a str,
    /// Milliseconds since 1970.
    pub(crate) time: Option<i64>,
}

impl Drawing {
    /// `span` is when the oldest and the newest entry were made.
    pub(crate) fn new(
        palette: Palette,
        columns: usize,
        now: Timestamp,
        zone: TimeZone,
        span: Option<(i64, i64)>,
    ) -> Drawing {
        Drawing { palette, columns, now, times: Times::new(zone, span), words: Vec::new() }
    }

    /// With the words of a search marked. Without colours nothing is: that a row is there says enough.
    pub(crate) fn marking(mut self, search: &str) -> Drawing {
        if self.palette.is_coloured() {
            self.words = search.split_whitespace().map(str::to_lowercase).collect();
        }
        self
    }

    /// Columns at the right edge, the gap before them included.
    fn edge(&self) -> usize {
        if self.columns < WIDE { 0 } else { 2 + ID + 1 + self.times.columns() }
    }

    /// How many levels there is room for: half of the width belongs to the text.
    pub(crate) fn levels(&self) -> usize {
        (self.columns - self.edge()).saturating_sub(self.columns.div_ceil(2) + MARKS) / LEVEL
    }

    /// Columns that texts may need.
    pub(crate) fn text_columns(&self) -> usize {
        self.columns
    }

    /// The row, without a newline.
    pub(crate) fn draw(&self, row: &TreeRow<'_>) -> String {
        let mut line = Line::new(self.palette, &self.words);
        if row.shifted > 0 {
            // The drawing is shifted sideways; the number says by how many levels.
            let sign = format!("‹{}", row.shifted);
            let sign = format!("{} ", pad(&sign, width(&sign).max(LEVEL - 1)));
            line.push_fit(Role::Dim, &sign, self.columns);
        }
        let guides: String = row.guides.iter().map(|&guide| lines_of(guide)).collect();
        line.push_fit(Role::Guide, &guides, self.columns);
        let mark = match row.is_active {
            Some(true) => "• ",
            Some(false) => "  ",
            None => "",
        };
        line.push_fit(Role::Active, mark, self.columns);
        let end = self.columns - self.edge();
        let room = end.saturating_sub(line.used());
        self.middle(row, room, &mut line);
        if self.edge() > 0 {
            line.pad_to(end);
            let time = row.time.map(|time| self.times.show(time)).unwrap_or_default();
            let edge = format!(
                "  {} {}",
                pad(&clean::one_line(row.id, ID), ID),
                pad_start(&time, self.times.columns())
            );
            line.push_fit(Role::Dim, &edge, self.columns);
        }
        line.finish()
    }

    fn middle(&self, row: &TreeRow<'_>, room: usize, line: &mut Line<'_>) {
        let leaf = if row.is_leaf { " ◀ leaf" } else { "" };
        let edge = line.used() + room;
        let mut room = room.saturating_sub(width(leaf));
        let facts = row.facts.map(|facts| self.facts(&facts)).unwrap_or_default();
        let facts = if room >= width(&facts) + LEAST_TEXT { facts } else { String::new() };
        room = room.saturating_sub(width(&facts));
        let end = line.used() + room;
        if let Some(label) = row.label {
            let label = clean::name(label);
            let label = fit(&label, (room / 2).saturating_sub(3)).into_owned();
            line.push_fit(Role::Label, &format!("[{label}]"), end);
            line.push_fit(Role::Assistant, " ", end);
        }
        if let Some(oddity) = row.oddity {
            line.push_fit(Role::Error, &format!("({oddity}) "), end);
        }
        for (role, part) in row.says.parts() {
            line.push_fit(role, &part, end);
        }
        line.push_fit(Role::Active, leaf, edge);
        line.push_fit(Role::Dim, &facts, edge);
    }

    /// What lies in a branch, with a space before it.
    fn facts(&self, facts: &BranchFacts) -> String {
        let mut parts = Vec::new();
        match facts.turns {
            0 => {}
            1 => parts.push("1 turn".to_owned()),
            turns => parts.push(format!("{} turns", human::count(turns.into()))),
        }
        if let Some(last) = facts.last.and_then(|ms| Timestamp::from_millisecond(ms).ok()) {
            parts.push(human::age(self.now, last));
        }
        if facts.cost > 0.0 {
            parts.push(human::cost(facts.cost));
        }
        if facts.last_tool_failed {
            parts.push("last tool failed".to_owned());
        }
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(" · ")) }
    }
}

fn lines_of(guide: Guide) -> &'static str {
    match guide {
        Guide::Blank => "   ",
        Guide::Line => "│  ",
        Guide::Tee => "├─ ",
        Guide::Corner => "└─ ",
    }
}

/// How times are written: as short as they can be told apart within one session.
#[derive(Debug, Clone)]
pub(crate) struct Times {
    zone: TimeZone,
    /// Whether all are of one day, or of one year.
    one_day: bool,
    one_year: bool,
}

impl Times {
    pub(crate) fn new(zone: TimeZone, span: Option<(i64, i64)>) -> Times {
        let at = |ms| Timestamp::from_millisecond(ms).unwrap_or_default();
        let (oldest, newest) = span.map_or_else(Default::default, |(a, b)| (at(a), at(b)));
        let (first, last) = (zone.to_datetime(oldest).date(), zone.to_datetime(newest).date());
        Times { one_day: first == last, one_year: first.year() == last.year(), zone }
    }

    fn columns(&self) -> usize {
        match (self.one_day, self.one_year) {
            (true, _) => 5,
            (_, true) => 12,
            _ => 10,
        }
    }

    pub(crate) fn show(&self, ms: i64) -> String {
        let Ok(time) = Timestamp::from_millisecond(ms) else { return String::new() };
        let at = self.zone.to_datetime(time);
        if self.one_day {
            return format!("{:02}:{:02}", at.hour(), at.minute());
        }
        if self.one_year {
            return at.strftime("%b %-d %H:%M").to_string();
        }
        format!("{:04}-{:02}-{:02}", at.year(), at.month(), at.day())
    }

    /// From when to when, in full.
    pub(crate) fn span(&self, from: i64, to: i64) -> String {
        let date = |ms: i64| {
            let at = self.zone.to_datetime(Timestamp::from_millisecond(ms).unwrap_or_default());
            format!("{:04}-{:02}-{:02}", at.year(), at.month(), at.day())
        };
        if self.one_day { date(to) } else { format!("{} to {}", date(from), date(to)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_far_a_drawing_is_shifted_is_told_whole() {
        let now = Timestamp::UNIX_EPOCH;
        let drawing = Drawing::new(Palette::plain(), 60, now, TimeZone::UTC, None);
        let says = Says { who: "user".into(), wrong: None, text: "x".into(), role: Role::User };
        for (shifted, want) in [(0, "user: x"), (3, "‹3 user: x"), (1234, "‹1234 user: x")] {
            let row = TreeRow {
                guides: &[],
                shifted,
                is_active: None,
                is_leaf: false,
                label: None,
                says: &says,
                oddity: None,
                facts: None,
                id: "a",
                time: None,
            };
            assert_eq!(drawing.draw(&row), want);
        }
    }
}

//! A question as lines.

use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{Choice, Question};
use crate::keys::{ActionId, Keymap};
use crate::screen::{Cursor, rule};
use crate::text::width::{fit, width, wrap};
use crate::text::{clean, human};
use crate::theme::{Role, Theme};
use crate::tree_view::draw::hints_line;
use crate::tree_view::row::selected;

/// Rows that are shown of what a question is about, as long as nobody wants to see all.
const SHOWN_ROWS: usize = 8;
/// Rows that the text of an option takes at most.
const TEXT_ROWS: usize = 3;
/// Rows for what it means.
const SAYS_ROWS: usize = 2;
/// Columns before what is written and what is shown.
const INDENT: usize = 2;

/// How the rows of a question are shared out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shares {
    rule: usize,
    title: usize,
    says: usize,
    shown: usize,
    /// Options, or what is being written.
    pub(super) answers: usize,
    hints: usize,
    /// Where one scrolls through what is shown: the rows of it that are seen at a time, and all.
    pub(super) scrolls: Option<(usize, usize)>,
}

impl Shares {
    /// The shares of a question in so many columns. Its answer is always seen.
    pub(super) fn of(question: &Question, columns: usize) -> Shares {
        let rows = question.rows;
        let hints = usize::from(rows >= 4);
        let rule = usize::from(rows >= 6);
        let rest = rows - hints - rule;
        let title = rows_of(&question.title, columns, rows).min((rest / 3).max(usize::from(rest > 1)));
        let rest = rest - title;
        let all = rows_of(&question.shown, inner(columns), usize::MAX);
        let wanted = match (question.shows_all, all > SHOWN_ROWS) {
            (false, true) => SHOWN_ROWS + 1,
            _ => all,
        };
        let answers = question.answer_rows(columns);
        let answers = answers.min((rest - wanted.min(3).min(rest / 2)).max(1));
        let rest = rest.saturating_sub(answers);
        let says =
            rows_of(&question.says, columns, rows).min(if wanted == 0 { rest } else { rest.div_ceil(3) });
        let shown = wanted.min(rest - says);
        let scrolls = (question.shows_all && all > shown && shown > 0).then(|| ((shown - 1).max(1), all));
        Shares { rule, title, says, shown, answers, hints, scrolls }
    }
}

/// Columns of what is written.
pub(super) fn editor_columns(columns: usize) -> usize {
    inner(columns)
}

/// What is left beside an indent; where there is no room for one, there is none.
fn inner(columns: usize) -> usize {
    if columns > 2 * INDENT { columns - INDENT } else { columns }
}

fn indent(columns: usize) -> &'static str {
    if columns > 2 * INDENT { "  " } else { "" }
}

/// The first rows of a text, wrapped: so many at most.
fn wrapped(text: &str, columns: usize, most: usize) -> impl Iterator<Item = String> {
    let rows = clean::lines(text).flat_map(move |line| {
        wrap(&line, columns).take(most).map(|row| fit(row, columns).into_owned()).collect::<Vec<_>>()
    });
    rows.take(most)
}

/// The rows of a text, as far as so many.
fn rows_of(text: &str, columns: usize, most: usize) -> usize {
    wrapped(text, columns, most).count()
}

/// As many rows of a text as there is room for; the last one says that there are more.
fn text_lines(text: &str, columns: usize, room: usize, style: Style) -> Vec<Line<'static>> {
    let mut rows: Vec<String> = wrapped(text, columns, room + 1).collect();
    if rows.len() > room {
        rows.truncate(room);
        if let Some(last) = rows.last_mut() {
            let cut = fit(last, columns.saturating_sub(1)).into_owned();
            *last = if cut.ends_with('…') { cut } else { cut + "…" };
        }
    }
    rows.into_iter().map(|row| Line::styled(row, style)).collect()
}

impl Question {
    /// What is seen of it, no wider than `columns`, and where the cursor is if something is being written.
    /// There are at most as many lines as [`resize`](Question::resize) says.
    pub fn lines(
        &self,
        columns: u16,
        theme: &Theme,
        keymap: &Keymap,
    ) -> (Vec<Line<'static>>, Option<Cursor>) {
        let columns = usize::from(columns.max(1));
        let shares = Shares::of(self, columns);
        let mut lines = Vec::new();
        if shares.rule > 0 {
            let above = fit(&self.above, columns.saturating_sub(4)).into_owned();
            lines.push(rule(columns as u16, &above, theme.style(Role::Border)));
        }
        lines.extend(text_lines(&self.title, columns, shares.title, theme.style(Role::Heading)));
        lines.extend(text_lines(&self.says, columns, shares.says, theme.style(Role::Text)));
        lines.extend(self.shown_lines(columns, &shares, theme, keymap));
        let cursor;
        if self.typing().is_some() {
            let (written, at) = self.written_lines(columns, shares.answers, theme);
            cursor = at.map(|at| Cursor { row: at.row + lines.len() as u16, ..at });
            lines.extend(written);
        } else {
            let (options, at) = self.searched_lines(columns, shares.answers, theme);
            cursor = at.map(|at| Cursor { row: at.row + lines.len() as u16, ..at });
            lines.extend(options);
        }
        if shares.hints > 0 {
            lines.push(Line::styled(self.hints(columns, keymap), theme.style(Role::Dim)));
        }
        lines.truncate(self.rows);
        (lines, cursor)
    }

    /// Rows that answering takes, as far as there is room at all.
    fn answer_rows(&self, columns: usize) -> usize {
        match self.typing() {
            Some(typing) => {
                let drawing = typing.editor().lines(editor_columns(columns), &Theme::plain());
                drawing.lines.len() + usize::from(!self.is_bare)
            }
            None => {
                let found = self.found();
                let options = found.iter().filter_map(|index| self.options.get(*index));
                let mut rows = usize::from(self.search.is_some()) + usize::from(found.is_empty());
                // There may be a great many.
                for option in options {
                    if rows >= self.rows {
                        break;
                    }
                    rows += option_rows(option, columns).len();
                }
                rows
            }
        }
    }

    fn shown_lines(
        &self,
        columns: usize,
        shares: &Shares,
        theme: &Theme,
        keymap: &Keymap,
    ) -> Vec<Line<'static>> {
        let room = shares.shown;
        if room == 0 {
            return Vec::new();
        }
        let rows: Vec<String> = wrapped(&self.shown, inner(columns), usize::MAX).collect();
        let all = rows.len();
        let style = theme.style(Role::Code);
        let draw =
            |row: &String| Line::from(vec![Span::raw(indent(columns)), Span::styled(row.clone(), style)]);
        if all <= room {
            return rows.iter().map(draw).collect();
        }
        let says = |text: String| {
            Line::styled(
                fit(&format!("{}{text}", indent(columns)), columns).into_owned(),
                theme.style(Role::Warning),
            )
        };
        let key = keymap.hint(ActionId::ExpandTools);
        let hint = |does: &str| key.as_ref().map(|key| format!(" · {key} {does}")).unwrap_or_default();
        let Some((seen, _)) = shares.scrolls else {
            let seen = room - 1;
            let more = human::count((all - seen) as u64);
            let mut lines: Vec<Line<'static>> = rows.iter().take(seen).map(draw).collect();
            lines.push(says(format!("… {more} more rows{}", hint("shows all"))));
            return lines;
        };
        let top = self.top.min(all - seen);
        let mut lines: Vec<Line<'static>> = rows.iter().skip(top).take(seen).map(draw).collect();
        if room > seen {
            let [first, last, all] = [top + 1, top + seen, all].map(|number| human::count(number as u64));
            let pages =
                keymap.hint(ActionId::PageDown).map(|key| format!(" · {key} goes on")).unwrap_or_default();
            lines.push(says(format!("Rows {first}–{last} of {all}{pages}{}", hint("shows less"))));
        }
        lines
    }

    /// The options, below what is searched for.
    fn searched_lines(
        &self,
        columns: usize,
        room: usize,
        theme: &Theme,
    ) -> (Vec<Line<'static>>, Option<Cursor>) {
        // What is searched for gives way to what is chosen from.
        let Some(search) = self.search.as_ref().filter(|_| room > 1) else {
            return (self.option_lines(columns, room, theme), None);
        };
        let (line, column) = search.line("Search: ", columns, theme);
        let mut lines = vec![line];
        lines.extend(self.option_lines(columns, room - 1, theme));
        if self.found().is_empty() {
            lines.push(Line::styled(fit("  Nothing matches", columns).into_owned(), theme.style(Role::Dim)));
        }
        (lines, Some(Cursor { column, row: 0 }))
    }

    fn option_lines(&self, columns: usize, room: usize, theme: &Theme) -> Vec<Line<'static>> {
        let found = self.found();
        let option = |index: &usize| Some((*index, self.options.get(*index)?));
        // Each takes a row at least: those farther from the selected one are not seen.
        let at = found.iter().position(|index| *index == self.selected).unwrap_or(0);
        let near = found.iter().skip(at.saturating_sub(room)).take(2 * room + 1);
        let rows: Vec<(usize, Row)> = (near.filter_map(option))
            .flat_map(|(index, option)| option_rows(option, columns).into_iter().map(move |row| (index, row)))
            .collect();
        let window = window(&rows, self.selected, room);
        let is_other = |at: usize| rows.get(at).is_some_and(|(index, _)| *index != self.selected);
        // What is hidden is counted in the place of a row that is not the selected one's.
        let from = window.start + usize::from(window.start > 0 && is_other(window.start));
        let hides_below = window.end < rows.len() && window.end > from + 1 && is_other(window.end - 1);
        let to = window.end - usize::from(hides_below);
        let seen = &rows[from..to.max(from)];
        let mut begins = seen.iter().filter(|(_, row)| matches!(row, Row::Text { is_first: true, .. }));
        let (first, last) = match (begins.clone().next(), begins.next_back()) {
            (Some((first, _)), Some((last, _))) => (*first, *last),
            _ => (self.selected, self.selected),
        };
        let more = |count: usize, place: &str| {
            let text = fit(&format!("  … {} {place}", human::count(count as u64)), columns).into_owned();
            Line::styled(text, theme.style(Role::Dim))
        };
        let mut lines: Vec<Line<'static>> = Vec::new();
        if from > window.start {
            lines.push(more(found.iter().take_while(|index| **index < first).count(), "above"));
        }
        lines.extend(seen.iter().map(|(index, row)| self.option_line(*index, row, columns, theme)));
        if hides_below {
            lines.push(more(found.iter().filter(|index| **index > last).count(), "below"));
        }
        lines
    }

    fn option_line(&self, index: usize, row: &Row, columns: usize, theme: &Theme) -> Line<'static> {
        let is_selected = index == self.selected;
        let mut spans = Vec::new();
        let mut used = 0;
        let mut push = |text: &str, style: Style| {
            let text = fit(text, columns - used).into_owned();
            used += width(&text);
            spans.push(Span::styled(text, style));
        };
        match row {
            Row::Text { is_first, text, says } => {
                push(if is_selected && *is_first { "› " } else { "  " }, theme.style(Role::Accent));
                let key = if *is_first { self.key_of(index) } else { String::new() };
                push(&format!("{key:<2}"), theme.style(Role::Accent));
                push(text, theme.style(Role::Text));
                if !says.is_empty() {
                    push(&format!("  {says}"), theme.style(Role::Dim));
                }
            }
            Row::Says(says) => push(&format!("      {says}"), theme.style(Role::Dim)),
        }
        if is_selected {
            spans.push(Span::raw(" ".repeat(columns - used)));
            return Line::from(spans).patch_style(selected(theme));
        }
        Line::from(spans)
    }

    /// The key that chooses an option.
    fn key_of(&self, index: usize) -> String {
        match self.options.get(index).and_then(|option| option.key) {
            Some(key) => clean::name(&key.to_string()),
            None if self.search.is_none() && index < 9 => (index + 1).to_string(),
            None => String::new(),
        }
    }

    fn written_lines(
        &self,
        columns: usize,
        room: usize,
        theme: &Theme,
    ) -> (Vec<Line<'static>>, Option<Cursor>) {
        let Some(typing) = self.typing() else { return (Vec::new(), None) };
        let drawing = typing.editor().lines(editor_columns(columns), theme);
        let mut lines = Vec::new();
        if !self.is_bare && room > 1 {
            let what = self.options.get(self.selected).map(|option| format!("{}:", option.text));
            let what = fit(&what.unwrap_or_default(), columns).into_owned();
            lines.push(Line::styled(what, theme.style(Role::Accent)));
        }
        let room = room - lines.len();
        let cursor = usize::from(drawing.cursor.y);
        let top = (cursor + 1).saturating_sub(room);
        let column = drawing.cursor.x as usize + indent(columns).len();
        let at = Cursor { column: column.min(columns - 1) as u16, row: (lines.len() + cursor - top) as u16 };
        for line in drawing.lines.into_iter().skip(top).take(room) {
            let mut spans = vec![Span::raw(indent(columns))];
            spans.extend(line.spans);
            lines.push(Line::from(spans));
        }
        (lines, Some(at))
    }

    fn hints(&self, columns: usize, keymap: &Keymap) -> String {
        match self.typing() {
            Some(typing) => {
                let back = if self.is_bare { &*self.back } else { "back" };
                let mut hints = vec![(ActionId::Submit, "done"), (ActionId::Cancel, back)];
                if !typing.is_one_line() {
                    hints.insert(1, (ActionId::NewLine, "new line"));
                    if !self.above.is_empty() {
                        hints.insert(2, (ActionId::ExternalEditor, "your own editor"));
                    }
                }
                hints_line(keymap, &hints, columns)
            }
            None if self.options.is_empty() => hints_line(keymap, &[(ActionId::Cancel, &self.back)], columns),
            None => {
                hints_line(keymap, &[(ActionId::Confirm, "choose"), (ActionId::Cancel, &self.back)], columns)
            }
        }
    }
}

/// A row of an option.
#[derive(Debug)]
enum Row {
    /// Some of its text, and what it means if that has room beside it.
    Text { is_first: bool, text: String, says: String },
    /// Some of what it means.
    Says(String),
}

/// Before the text of an option: what is selected, and its key.
const BEFORE: usize = 4;

fn option_rows(option: &Choice, columns: usize) -> Vec<Row> {
    let room = columns.saturating_sub(BEFORE).max(1);
    let text = text_lines(&option.text, room, TEXT_ROWS, Style::new());
    let mut rows: Vec<Row> = text
        .into_iter()
        .enumerate()
        .map(|(at, line)| Row::Text { is_first: at == 0, text: line.to_string(), says: String::new() })
        .collect();
    if rows.is_empty() {
        rows.push(Row::Text { is_first: true, text: String::new(), says: String::new() });
    }
    let line = clean::one_line(&option.says, columns);
    match &mut *rows {
        [Row::Text { text, says, .. }] if width(text) + 2 + width(&line) <= room => *says = line,
        _ => {
            let says = text_lines(&option.says, room.saturating_sub(2).max(1), SAYS_ROWS, Style::new());
            rows.extend(says.into_iter().map(|line| Row::Says(line.to_string())));
        }
    }
    rows
}

/// The rows that are seen, with those of the selected option in their middle.
fn window(rows: &[(usize, Row)], selected: usize, room: usize) -> Range<usize> {
    let start = rows.iter().position(|(index, _)| *index == selected).unwrap_or(0);
    let own = rows.iter().filter(|(index, _)| *index == selected).count();
    let top = start.saturating_sub(room.saturating_sub(own) / 2).min(rows.len().saturating_sub(room));
    top..rows.len().min(top + room)
}

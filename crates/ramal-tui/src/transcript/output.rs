//! Text of any length, of which the beginning and the end are kept.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::markdown::run::{Runs, wrap};
use crate::text::{clean, human};
use crate::theme::{Role, Theme};

/// How many lines are kept at either end.
const LINES: usize = 400;
/// How many bytes are kept at either end.
const BYTES: usize = 64 * 1024;

/// A text of which a long middle is left out.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Output {
    head: String,
    /// What was left out, and the end.
    cut: Option<(Left, String)>,
    /// The lines that the whole text has.
    pub(super) lines: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Left {
    lines: usize,
    bytes: usize,
}

impl Output {
    pub(super) fn new(text: &str) -> Output {
        let text = text.trim_end_matches('\n');
        let lines = text.lines().count();
        let head = head_end(text);
        let tail = tail_start(text);
        if head >= tail {
            return Output { head: text.to_owned(), cut: None, lines };
        }
        let middle = &text[head..tail];
        let left = Left { lines: middle.matches('\n').count(), bytes: middle.len() };
        let ends = |text: &str| text.trim_matches('\n').to_owned();
        Output { head: ends(&text[..head]), cut: Some((left, ends(&text[tail..]))), lines }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.head.trim().is_empty() && self.cut.is_none()
    }

    /// All that is kept.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        [&*self.head].into_iter().chain(self.cut.as_ref().map(|(_, tail)| &**tail))
    }

    /// The first line that says something.
    pub(super) fn first_line(&self) -> &str {
        self.head.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
    }

    /// The text, if it is one line.
    pub(super) fn single_line(&self) -> Option<&str> {
        (self.lines <= 1 && self.cut.is_none()).then_some(&*self.head)
    }

    /// All that is kept, each line in the style that is given for it, `indent` columns in.
    pub(super) fn draw(
        &self,
        width: usize,
        indent: usize,
        theme: &Theme,
        style: impl Fn(&str) -> Style,
    ) -> Vec<Line<'static>> {
        let mut lines = block(&self.head, width, indent, &style);
        if let Some((left, tail)) = &self.cut {
            let note = match left.lines {
                0 => format!("… {} are not shown …", human::size(left.bytes as u64)),
                1 => "… a line is not shown …".to_owned(),
                lines => format!("… {} lines are not shown …", human::count(lines as u64)),
            };
            let dim = theme.style(Role::Dim);
            lines.append(&mut block(&note, width, indent, |_: &str| dim));
            lines.append(&mut block(tail, width, indent, &style));
        }
        lines
    }

    /// Its last lines, as many as fit into `rows`.
    pub(super) fn draw_end(
        &self,
        width: usize,
        indent: usize,
        rows: usize,
        style: Style,
    ) -> Vec<Line<'static>> {
        let end = self.cut.as_ref().map_or(&*self.head, |(_, tail)| tail);
        let few: Vec<&str> = end.lines().rev().take(rows).collect();
        let text: Vec<&str> = few.into_iter().rev().collect();
        let mut lines = block(&text.join("\n"), width, indent, |_: &str| style);
        lines.split_off(lines.len().saturating_sub(rows))
    }
}

/// Where the beginning that is kept ends.
fn head_end(text: &str) -> usize {
    let limit = text.floor_char_boundary(BYTES);
    let lines = text.match_indices('\n').nth(LINES - 1).map_or(text.len(), |(at, _)| at);
    let end = limit.min(lines);
    // Not in the middle of a line, unless it is a very long one.
    match text[..end].rfind('\n') {
        Some(newline) if end == limit && limit < text.len() && newline > limit / 2 => newline,
        _ => end,
    }
}

/// Where the end that is kept begins.
fn tail_start(text: &str) -> usize {
    let limit = text.ceil_char_boundary(text.len().saturating_sub(BYTES));
    let lines = text.rmatch_indices('\n').nth(LINES - 1).map_or(0, |(at, _)| at);
    let start = limit.max(lines);
    match text[start..].find('\n') {
        Some(newline) if start == limit && limit > 0 && newline < BYTES / 2 => start + newline,
        _ => start,
    }
}

/// A text in lines, some columns in if there is room.
pub(super) fn block(
    text: &str,
    width: usize,
    indent: usize,
    style: impl Fn(&str) -> Style,
) -> Vec<Line<'static>> {
    let indent = if width > 4 * indent { indent } else { 0 };
    let mut lines = Vec::new();
    for line in clean::lines(text) {
        for mut piece in wrap(&Runs::of(&line, style(&line)), width.saturating_sub(indent)) {
            if indent > 0 && !piece.spans.is_empty() {
                piece.spans.insert(0, Span::raw(" ".repeat(indent)));
            }
            lines.push(piece);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(output: &Output) -> Vec<String> {
        let lines = output.draw(80, 0, &Theme::plain(), |_| Style::new());
        lines.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_middle_of_a_long_text_is_left_out() {
        let text: Vec<_> = (1..=2000).map(|number| number.to_string()).collect();
        let output = Output::new(&(text.join("\n") + "\n"));
        let lines = drawn(&output);
        assert_eq!((output.lines, lines.len()), (2000, 2 * LINES + 1));
        assert_eq!((&*lines[0], &*lines[LINES - 1]), ("1", "400"));
        assert_eq!(lines[LINES], "… 1,200 lines are not shown …");
        assert_eq!((&*lines[LINES + 1], lines.last().unwrap().as_str()), ("1601", "2000"));
    }

    #[test]
    fn long_lines_are_cut_too() {
        let output = Output::new(&"日".repeat(100_000));
        assert_eq!(output.lines, 1);
        assert!(drawn(&output).iter().any(|line| line.contains("kB are not shown")));
        assert_eq!(drawn(&Output::new("")), [""; 0]);
        assert_eq!(drawn(&Output::new("a\n\nb\n\n")), ["a", "", "b"]);
    }
}

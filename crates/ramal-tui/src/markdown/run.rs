//! Text in several styles, broken into lines.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::text::{clean, width};

/// Text in several styles, line breaks included.
#[derive(Debug, Clone, Default)]
pub(crate) struct Runs(Vec<(String, Style)>);

impl Runs {
    /// A text in one style.
    pub(crate) fn of(text: &str, style: Style) -> Runs {
        let mut runs = Runs::default();
        runs.push(text, style);
        runs
    }

    pub(crate) fn push(&mut self, text: &str, style: Style) {
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some((last, same)) if *same == style => last.push_str(text),
            _ => self.0.push((text.to_owned(), style)),
        }
    }

    pub(crate) fn append(&mut self, more: Runs) {
        for (text, style) in more.0 {
            self.push(&text, style);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text of the pieces from the `from`th on.
    pub(crate) fn text_from(&self, from: usize) -> String {
        self.0.iter().flat_map(|(text, _)| text.chars()).skip(from).collect()
    }

    pub(crate) fn chars(&self) -> usize {
        self.0.iter().map(|(text, _)| text.chars().count()).sum()
    }

    /// The whole text, harmless, and where in it each style ends.
    fn cleaned(&self) -> (String, Vec<(usize, Style)>) {
        let mut whole = String::new();
        let mut ends = Vec::with_capacity(self.0.len());
        for (text, style) in &self.0 {
            for (number, line) in text.split('\n').enumerate() {
                if number > 0 {
                    whole.push('\n');
                }
                whole.extend(clean::lines(line));
            }
            ends.push((whole.len(), *style));
        }
        (whole, ends)
    }

    /// The columns that its longest line takes.
    pub(crate) fn width(&self) -> usize {
        self.cleaned().0.split('\n').map(width::width).max().unwrap_or_default()
    }
}

/// Breaks a text into lines of at most `columns`, of which there is at least one. A character that is
/// wider than that becomes `…`.
pub(crate) fn wrap(runs: &Runs, columns: usize) -> Vec<Line<'static>> {
    let columns = columns.max(1);
    let (text, ends) = runs.cleaned();
    let mut style_at = 0;
    let mut lines = Vec::new();
    for line in width::wrap(&text, columns) {
        let start = line.as_ptr() as usize - text.as_ptr() as usize;
        let end = start + line.len();
        let mut spans = Vec::new();
        let mut at = start;
        while at < end {
            while ends.get(style_at).is_some_and(|(end, _)| *end <= at) {
                style_at += 1;
            }
            let (until, style) = ends.get(style_at).copied().unwrap_or((end, Style::new()));
            let until = until.min(end);
            spans.push(Span::styled(text[at..until].to_owned(), style));
            at = until;
        }
        lines.push(fit_line(Line::from(spans), columns));
    }
    lines
}

/// A line that is no wider than `columns`: what does not fit is cut off.
pub(crate) fn fit_line(line: Line<'static>, columns: usize) -> Line<'static> {
    let wide = |line: &Line<'_>| line.spans.iter().map(|span| width::width(&span.content)).sum::<usize>();
    if wide(&line) <= columns && line.width() <= columns {
        return line;
    }
    let mut left = columns;
    let mut spans = Vec::new();
    for span in line.spans {
        let text = width::fit(&span.content, left).into_owned();
        let is_cut = text != span.content;
        left = left.saturating_sub(width::width(&text).max(Span::raw(&*text).width()));
        spans.push(Span::styled(text, span.style));
        if is_cut || left == 0 {
            break;
        }
    }
    Line::from(spans)
}

/// A line that was made for another width, broken where it does not fit.
pub(crate) fn rewrap(line: &Line<'static>, columns: usize) -> Vec<Line<'static>> {
    if line.width() <= columns {
        return vec![line.clone()];
    }
    let mut runs = Runs::default();
    for span in &line.spans {
        runs.push(&span.content, line.style.patch(span.style));
    }
    wrap(&runs, columns)
}

//! Code: between fences, or indented.

use ratatui::text::{Line, Span};

use super::Look;
use super::highlight::Highlighting;
use super::run::{Runs, wrap};
use crate::text::{clean, width};
use crate::theme::{Role, Token};

/// The longest line that is highlighted, in bytes.
const LONGEST_LINE: usize = 4 * 1024;
/// How much of a block is highlighted, in bytes.
const LARGEST_BLOCK: usize = 128 * 1024;
/// The columns before code, where there is room.
const INDENT: usize = 2;

/// Draws code, line by line. A line depends on those before it and on no other.
pub(crate) struct Painter {
    state: Option<Box<dyn Highlighting>>,
    bytes: usize,
}

impl Painter {
    pub(crate) fn new(language: &str, look: &Look<'_>) -> Painter {
        let state = Some(language).filter(|language| !language.is_empty());
        Painter { state: state.and_then(|language| look.highlighter.begin(language)), bytes: 0 }
    }

    pub(crate) fn again(&self) -> Painter {
        Painter { state: self.state.as_ref().map(|state| state.again()), bytes: self.bytes }
    }

    /// A line of code in the lines that it takes at a width.
    pub(crate) fn line(&mut self, code: &str, width: usize, look: &Look<'_>) -> Vec<Line<'static>> {
        let indent = if width > 4 * INDENT { INDENT } else { 0 };
        let mut lines = wrap(&self.runs(code, look), width.saturating_sub(indent));
        for line in &mut lines {
            if indent > 0 && !line.spans.is_empty() {
                line.spans.insert(0, Span::raw(" ".repeat(indent)));
            }
        }
        lines
    }

    fn runs(&mut self, code: &str, look: &Look<'_>) -> Runs {
        self.bytes += code.len() + 1;
        let plain = look.theme.token(Token::Plain, look.depth);
        if self.bytes > LARGEST_BLOCK || code.len() > LONGEST_LINE {
            return Runs::of(code, plain);
        }
        let parts = self.state.as_mut().map(|state| state.line(code)).unwrap_or_default();
        let mut runs = Runs::default();
        let mut at = 0;
        for (range, token) in parts {
            let (Some(before), Some(part)) = (code.get(at..range.start), code.get(range.clone())) else {
                continue;
            };
            runs.push(before, plain);
            runs.push(part, look.theme.token(token, look.depth));
            at = range.end;
        }
        runs.push(code.get(at..).unwrap_or_default(), plain);
        runs
    }
}

/// The line above code that says in which language it is; none if nobody has said.
pub(super) fn caption(info: &str, width: usize, look: &Look<'_>) -> Option<Line<'static>> {
    let language = clean::one_line(language(info), width);
    let text = width::fit(&format!("  {language}"), width).into_owned();
    let line = Line::from(Span::styled(text, look.theme.style(Role::Dim)));
    Some(line).filter(|_| !language.is_empty())
}

/// The language that stands behind a fence: up to the first space or comma, without what some put
/// around it.
pub(super) fn language(info: &str) -> &str {
    let word = info.trim().split([' ', ',', '{', '\t']).next().unwrap_or_default();
    word.trim_matches(['.', '}'])
}

/// A fence at the top of the document that was opened.
pub(super) struct Fence {
    mark: char,
    count: usize,
    indent: usize,
    info: String,
    painter: Painter,
    /// Nothing was drawn of it yet.
    pub(super) is_bare: bool,
}

impl Fence {
    /// The fence that a line opens, if it does.
    pub(super) fn open(line: &str, look: &Look<'_>) -> Option<Fence> {
        let (indent, mark, count, rest) = marks(line)?;
        if mark == '`' && rest.contains('`') {
            return None;
        }
        // What stands for a character in the text does so here.
        let info = unescaped(rest.trim());
        let painter = Painter::new(language(&info), look);
        Some(Fence { mark, count, indent, info, painter, is_bare: false })
    }

    pub(super) fn again(&self) -> Fence {
        let Fence { mark, count, indent, is_bare, .. } = *self;
        Fence { mark, count, indent, info: self.info.clone(), painter: self.painter.again(), is_bare }
    }

    pub(super) fn is_closed_by(&self, line: &str) -> bool {
        marks(line).is_some_and(|(_, mark, count, rest)| {
            mark == self.mark && count >= self.count && rest.trim_matches([' ', '\t']).is_empty()
        })
    }

    pub(super) fn caption(&self, width: usize, look: &Look<'_>) -> Option<Line<'static>> {
        caption(&self.info, width, look)
    }

    pub(super) fn line(&mut self, line: &str, width: usize, look: &Look<'_>) -> Vec<Line<'static>> {
        let spaces = line.bytes().take(self.indent).take_while(|byte| *byte == b' ').count();
        self.painter.line(&line[spaces..], width, look)
    }
}

/// The marks of a fence: how far in, which, how many, and what follows.
fn marks(line: &str) -> Option<(usize, char, usize, &str)> {
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = text.trim_start_matches(mark);
    let count = text.len() - rest.len();
    (indent <= 3 && count >= 3).then_some((indent, mark, count, rest))
}

fn unescaped(info: &str) -> String {
    info.replace('\\', "")
}

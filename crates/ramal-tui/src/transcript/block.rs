//! One block of a conversation.

use jiff::Timestamp;
use ramal_session::EntryId;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Options;
use super::output::{Output, block};
use super::tool::Tool;
use crate::markdown;
use crate::markdown::run::{Runs, fit_line, wrap};
use crate::text::{clean, human, width};
use crate::theme::{Role, Theme};

/// Lines of what the user said that are shown of a closed block.
const SAID: usize = 40;
/// Lines of output that are shown of a closed command of the user's.
const COMMAND_OUTPUT: usize = 10;
/// Columns that are looked at of a line.
const LINE: usize = 400;

/// Which of several siblings an entry is, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forks {
    /// Its number.
    pub index: usize,
    /// How many there are.
    pub count: usize,
}

/// What is shown of an entry, or of a part of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    pub(super) entry: Option<EntryId>,
    pub(super) siblings: Option<Forks>,
    pub(super) label: Option<String>,
    /// The entry above it whose mark it bears, because that one is not shown.
    pub(super) passed_on: Option<usize>,
    pub(super) body: Body,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Body {
    /// What the user said, and the images that came with it.
    User {
        text: String,
        images: Vec<String>,
    },
    /// What the model said.
    Answer(String),
    /// What the model thought; nothing where the provider keeps it to itself.
    Thinking(String),
    Tool(Box<Tool>),
    Command(Command),
    /// What stands for a longer text: its name, and the text.
    Card {
        title: String,
        text: String,
        role: Role,
    },
    /// What somebody else said: who, and the text.
    Said {
        who: String,
        text: String,
    },
    /// A change, in a line.
    Change(String),
    /// What the user asked to be told.
    Told(String),
    /// What the user should know.
    Warning(String),
    /// What went wrong.
    Wrong(String),
    /// The model will be asked again.
    Retry {
        until: Timestamp,
        attempt: u32,
        most: u32,
        error: String,
    },
}

/// A command that the user ran.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Command {
    pub(super) prompt: &'static str,
    pub(super) command: String,
    pub(super) output: Output,
    pub(super) wrong: Option<String>,
    /// The model was not told.
    pub(super) is_kept_back: bool,
    /// Where the whole output lies, if it is too long for the log.
    pub(super) path: Option<String>,
}

impl From<Body> for Block {
    fn from(body: Body) -> Block {
        Block { entry: None, siblings: None, label: None, passed_on: None, body }
    }
}

impl Block {
    /// A line that tells the user something.
    pub fn notice(message: &str) -> Block {
        Body::Warning(message.to_owned()).into()
    }

    /// Some lines that answer what the user asked.
    pub fn told(text: &str) -> Block {
        Body::Told(text.to_owned()).into()
    }

    /// What somebody said beside the conversation: who, and the text as models write it.
    pub fn beside(who: &str, text: &str) -> Block {
        Body::Said { who: who.to_owned(), text: text.to_owned() }.into()
    }

    /// A line that says what went wrong.
    pub fn wrong(message: &str) -> Block {
        Body::Wrong(message.to_owned()).into()
    }

    /// The entry that it is of.
    pub fn entry_id(&self) -> Option<&EntryId> {
        self.entry.as_ref()
    }

    /// The entry with the result, of a call of a tool.
    pub fn result_id(&self) -> Option<&EntryId> {
        match &self.body {
            Body::Tool(tool) => tool.outcome.as_ref()?.entry.as_ref(),
            _ => None,
        }
    }

    /// Which of its siblings the entry is, if it has any.
    pub fn siblings(&self) -> Option<Forks> {
        self.siblings
    }

    /// The label on its entry.
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// Whether it is what the user said.
    pub fn is_user(&self) -> bool {
        matches!(self.body, Body::User { .. })
    }

    /// Whether it is what the model said.
    pub fn is_answer(&self) -> bool {
        matches!(self.body, Body::Answer(_))
    }

    /// Whether it is a call of a tool, or what came of one.
    pub fn is_tool(&self) -> bool {
        matches!(self.body, Body::Tool(_))
    }

    /// Whether there is more of it than what is shown of it closed.
    pub fn is_openable(&self) -> bool {
        match &self.body {
            Body::Tool(_) => true,
            Body::Card { text, .. } | Body::Thinking(text) => !text.trim().is_empty(),
            Body::User { text, .. } => text.lines().count() > SAID,
            Body::Command(command) => command.output.lines > COMMAND_OUTPUT,
            _ => false,
        }
    }

    /// Whether a blank line stands between it and the block above it.
    pub fn stands_apart_from(&self, above: &Block) -> bool {
        let is_line = |block: &Block| matches!(block.body, Body::Change(_));
        let is_tool = |block: &Block| matches!(block.body, Body::Tool(_));
        !(is_tool(self) && is_tool(above) || is_line(self) && is_line(above))
    }

    /// Its lines, of which none is wider than `width`.
    pub fn lines(&self, width: usize, theme: &Theme, options: &Options<'_>) -> Vec<Line<'static>> {
        let width = width.max(1);
        let marks = self.marks(theme);
        let taken: usize = marks.iter().map(|mark| width::width(&mark.content)).sum();
        // A first line that can be cut makes room for them.
        let head = if taken <= width / 2 { width - taken } else { width };
        let rendered = options.rendered.filter(|_| matches!(self.body, Body::Said { .. }));
        let rendered = rendered.and_then(|rendered| rendered.lines(self.entry.as_ref(), head, theme));
        let mut lines = rendered.unwrap_or_else(|| self.body.lines(head, width, theme, options));
        let Some(first) = lines.first_mut().filter(|_| taken > 0) else { return lines };
        if first.width() + taken <= width {
            first.spans.extend(marks);
        } else {
            let mut own = marks;
            if let Some(mark) = own.first_mut() {
                mark.content = mark.content.trim_start().to_owned().into();
            }
            lines.insert(0, fit_line(Line::from(own), width));
        }
        lines
    }

    fn marks(&self, theme: &Theme) -> Vec<Span<'static>> {
        let siblings = self.siblings.map(|Forks { index, count }| {
            Span::styled(format!(" ‹{index}/{count}›"), theme.style(Role::Accent))
        });
        let label = self.label.as_ref().map(|label| {
            Span::styled(format!(" [{}]", clean::one_line(label, LINE)), theme.style(Role::Label))
        });
        siblings.into_iter().chain(label).collect()
    }
}

impl Body {
    fn lines(&self, head: usize, width: usize, theme: &Theme, options: &Options<'_>) -> Vec<Line<'static>> {
        match self {
            Body::User { text, images } => said(text, images, width, theme, options.open),
            Body::Answer(text) => markdown::lines(text, width, &options.look(theme)),
            Body::Thinking(text) => thought(text, width, theme, options),
            Body::Tool(tool) => tool.lines(head, width, theme, options),
            Body::Command(command) => command.lines(head, width, theme, options.open),
            Body::Card { title, text, role } => card(title, text, *role, head, width, theme, options),
            Body::Said { who, text } => {
                let mut lines = vec![one_line(&format!("◆ {who}"), head, theme.style(Role::Accent))];
                lines.append(&mut markdown::lines(text, width, &options.look(theme)));
                lines
            }
            Body::Change(text) => vec![one_line(text, head, theme.style(Role::Dim))],
            Body::Told(text) => block(text, width, 0, |_: &str| theme.style(Role::Text)),
            Body::Warning(text) => {
                block(&format!("! {text}"), width, 0, |_: &str| theme.style(Role::Warning))
            }
            Body::Wrong(text) => block(&format!("✗ {text}"), width, 0, |_: &str| theme.style(Role::Error)),
            Body::Retry { until, attempt, most, error } => {
                let wait = waiting(*until, options.now);
                let text = format!("{wait}attempt {attempt} of {most}: {error}");
                block(&text, width, 0, |_: &str| theme.style(Role::Warning))
            }
        }
    }
}

fn waiting(until: Timestamp, now: Timestamp) -> String {
    // Rounded up, so that it never waits for nothing.
    match until.as_millisecond().saturating_sub(now.as_millisecond()) {
        left if left > 0 => format!("waiting {} s, ", (left + 999) / 1000),
        _ => String::new(),
    }
}

fn one_line(text: &str, width: usize, style: Style) -> Line<'static> {
    let text = clean::one_line(text, width);
    fit_line(Line::from(Span::styled(width::fit(&text, width).into_owned(), style)), width)
}

/// Puts a mark before the first line, and as many spaces before the others.
fn hang(mark: &str, style: Style, lines: &mut [Line<'static>]) {
    let spaces = " ".repeat(width::width(mark));
    for (number, line) in lines.iter_mut().enumerate() {
        if number == 0 {
            line.spans.insert(0, Span::styled(mark.to_owned(), style));
        } else if !line.spans.is_empty() {
            line.spans.insert(0, Span::raw(spaces.clone()));
        }
    }
}

fn said(text: &str, images: &[String], width: usize, theme: &Theme, open: bool) -> Vec<Line<'static>> {
    let style = theme.style(Role::User);
    let dim = theme.style(Role::Dim);
    let mark = if width > 8 { "❯ " } else { "" };
    let room = width - width::width(mark);
    let text = text.trim_end();
    let most = if open { usize::MAX } else { SAID };
    let mut lines = Vec::new();
    if !text.is_empty() {
        for line in clean::lines(text).take(most) {
            lines.append(&mut wrap(&Runs::of(&line, style), room));
        }
    }
    let more = text.lines().count().saturating_sub(most);
    if more > 0 {
        let note = if more == 1 { "… a line more".to_owned() } else { format!("… {more} lines more") };
        lines.append(&mut block(&note, room, 0, |_: &str| dim));
    }
    for image in images {
        lines.append(&mut block(image, room, 0, |_: &str| dim));
    }
    if lines.is_empty() {
        lines.append(&mut block("(nothing)", room, 0, |_: &str| dim));
    }
    hang(mark, style, &mut lines);
    lines
}

/// Without colours of its own: what is thought stays in the background.
pub(super) fn dimmed(mut lines: Vec<Line<'static>>, theme: &Theme) -> Vec<Line<'static>> {
    let style = theme.style(Role::Thinking);
    for span in lines.iter_mut().flat_map(|line| &mut line.spans) {
        span.style = style.add_modifier(span.style.add_modifier);
    }
    lines
}

fn thought(text: &str, width: usize, theme: &Theme, options: &Options<'_>) -> Vec<Line<'static>> {
    if text.trim().is_empty() || (options.hide_thinking && !options.open) {
        return vec![thinking_line(width, theme)];
    }
    dimmed(markdown::lines(text, width, &options.look(theme)), theme)
}

/// What stands for a thought that is not shown.
pub(super) fn thinking_line(width: usize, theme: &Theme) -> Line<'static> {
    one_line("thinking…", width, theme.style(Role::Thinking))
}

impl Command {
    fn lines(&self, head: usize, width: usize, theme: &Theme, open: bool) -> Vec<Line<'static>> {
        let dim = theme.style(Role::Dim);
        let mut runs = Runs::of(&self.command, theme.style(Role::Text));
        if self.is_kept_back {
            runs.push("  (not told to the model)", dim);
        }
        let mark = if head > 8 { format!("{} ", self.prompt) } else { String::new() };
        let mut lines = wrap(&runs, head.saturating_sub(width::width(&mark)));
        hang(&mark, theme.style(Role::Accent), &mut lines);
        if open || self.output.lines <= COMMAND_OUTPUT {
            if !self.output.is_empty() {
                lines.append(&mut self.output.draw(width, 2, theme, |_| dim));
            }
        } else {
            let more = self.output.lines - COMMAND_OUTPUT;
            let note = format!("… {} lines above", human::count(more as u64));
            lines.append(&mut block(&note, width, 2, |_: &str| dim));
            lines.append(&mut self.output.draw_end(width, 2, COMMAND_OUTPUT, dim));
        }
        if let Some(path) = &self.path {
            lines.append(&mut block(&format!("the whole output: {path}"), width, 2, |_: &str| dim));
        }
        if let Some(wrong) = &self.wrong {
            lines.append(&mut block(&format!("✗ {wrong}"), width, 2, |_: &str| theme.style(Role::Error)));
        }
        lines
    }
}

fn card(
    title: &str,
    text: &str,
    role: Role,
    head: usize,
    width: usize,
    theme: &Theme,
    options: &Options<'_>,
) -> Vec<Line<'static>> {
    let style = theme.style(role);
    if options.open {
        let mut lines = vec![one_line(&format!("▾ {title}"), head, style)];
        let indent = if width > 8 { "  " } else { "" };
        let mut more = markdown::lines(text, width - indent.len(), &options.look(theme));
        for line in more.iter_mut().filter(|line| !line.spans.is_empty()) {
            line.spans.insert(0, Span::raw(indent));
        }
        lines.append(&mut more);
        return lines;
    }
    let first = text.lines().map(|line| line.trim()).find(|line| !line.is_empty() && !line.starts_with('#'));
    let first = clean::one_line(first.unwrap_or_default(), LINE);
    let count = match text.lines().count() {
        0 | 1 => String::new(),
        lines => format!(" · {} lines", human::count(lines as u64)),
    };
    let title = clean::one_line(&format!("▸ {title}"), LINE);
    let room = head.saturating_sub(width::width(&title) + width::width(&count) + 2);
    let mut spans = vec![Span::styled(title, style)];
    if !first.is_empty() && room > 1 {
        spans.push(Span::styled(format!(": {}", width::fit(&first, room)), theme.style(Role::Text)));
    }
    spans.push(Span::styled(count, theme.style(Role::Dim)));
    vec![fit_line(Line::from(spans), head)]
}

//! A call of a tool and what came of it.

use ramal_session::{EntryId, Message, ToolCall, json};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Options;
use super::output::{Output, block};
use crate::markdown::run::fit_line;
use crate::text::{clean, human, says, width};
use crate::theme::{Role, Theme};

/// Lines of output that are shown of a call that runs.
const RUNNING: usize = 5;
/// The columns before what an open call shows.
const INDENT: usize = 2;
/// Columns that are looked at of what a tool is called on.
const WHAT: usize = 400;

/// How far a call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// The model is writing its arguments.
    Written,
    /// It waits, or runs.
    Running,
    /// It has a result.
    Done,
    /// It has none, and will have none.
    NotRun,
}

/// A call, and its result if there is one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tool {
    pub(super) id: String,
    name: String,
    /// What it is called on, in a line.
    what: String,
    arguments: Vec<(String, Output)>,
    /// What it was to take out and put in, if its arguments say that; they are not among the others then.
    change: Option<Output>,
    pub(super) state: State,
    pub(super) outcome: Option<Outcome>,
}

/// What came of a call.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Outcome {
    pub(super) entry: Option<EntryId>,
    output: Output,
    images: Vec<String>,
    diff: Option<Output>,
    /// Lines that a change added and took out.
    changed: Option<(usize, usize)>,
    exit: Option<String>,
    is_error: bool,
}

impl Tool {
    pub(super) fn new(call: &ToolCall<'_>, cwd: &str, state: State) -> Tool {
        let mut tool = Tool::named(&call.id, &call.name, state);
        tool.set_arguments(call.arguments, cwd);
        tool
    }

    /// A call of which no more is known.
    pub(super) fn named(id: &str, name: &str, state: State) -> Tool {
        Tool {
            id: id.to_owned(),
            name: if name.trim().is_empty() { "tool".to_owned() } else { clean::one_line(name, WHAT) },
            what: String::new(),
            arguments: Vec::new(),
            change: None,
            state,
            outcome: None,
        }
    }

    pub(super) fn set_arguments(&mut self, arguments: &str, cwd: &str) {
        let command = json::get_str(arguments.as_bytes(), "command");
        self.what = match command.as_deref().map(|command| first_line(says::from_cwd(command, cwd))) {
            Some(command) if !command.is_empty() => command,
            _ => clean::one_line(&says::called_on(&self.name, arguments, cwd), WHAT),
        };
        self.arguments = members(arguments);
        self.change = change(arguments.as_bytes()).map(|text| Output::new(&text));
        if self.change.is_some() {
            self.arguments.retain(|(key, _)| !is_of_change(key));
        }
    }

    pub(super) fn set_outcome(&mut self, outcome: Outcome) {
        self.outcome = Some(outcome);
        self.state = State::Done;
    }

    pub(super) fn lines(
        &self,
        head: usize,
        width: usize,
        theme: &Theme,
        options: &Options<'_>,
    ) -> Vec<Line<'static>> {
        let mut lines = vec![self.head(head, theme)];
        if self.state == State::Running
            && let Some(outcome) = &self.outcome
        {
            lines.append(&mut outcome.output.draw_end(width, INDENT, RUNNING, theme.style(Role::Dim)));
        } else if options.open {
            lines.append(&mut self.whole(width, theme));
        }
        lines
    }

    fn head(&self, columns: usize, theme: &Theme) -> Line<'static> {
        let failed = self.outcome.as_ref().is_some_and(|outcome| outcome.is_error);
        let (mark, look) = match self.state {
            State::Written | State::Running => ("●", Role::Accent),
            State::NotRun => ("✗", Role::Warning),
            State::Done if failed => ("✗", Role::Error),
            State::Done => ("✓", Role::Success),
        };
        let end = self.end();
        let begin = width::width(&self.name) + 2;
        let after = if end.is_empty() { 0 } else { width::width(&end) + 3 };
        // What it was called on matters more than all of an error.
        let least = (columns / 3).min(width::width(&self.what) + 1);
        let room = columns.saturating_sub(begin + after).max(least);
        let mut spans = vec![
            Span::styled(format!("{mark} "), theme.style(look)),
            Span::styled(self.name.clone(), theme.style(Role::Tool)),
        ];
        if !self.what.is_empty() && room > 1 {
            let what = width::fit(&self.what, room - 1).into_owned();
            spans.push(Span::styled(format!(" {what}"), theme.style(Role::Text)));
        }
        if !end.is_empty() {
            let look = if failed { Role::Error } else { Role::Dim };
            spans.push(Span::styled(format!(" · {end}"), theme.style(look)));
        }
        fit_line(Line::from(spans), columns)
    }

    /// All that it says.
    pub(super) fn texts<'t>(&'t self, texts: &mut Vec<&'t str>) {
        texts.extend([&*self.name, &*self.what]);
        texts.extend(
            self.arguments.iter().map(|(_, value)| value).chain(&self.change).flat_map(Output::texts),
        );
        let Some(outcome) = &self.outcome else { return };
        texts.extend(outcome.diff.iter().chain([&outcome.output]).flat_map(Output::texts));
        texts.extend(outcome.images.iter().map(String::as_str));
    }

    /// What came of it, in a few words.
    fn end(&self) -> String {
        match (self.state, &self.outcome) {
            (State::NotRun, _) => "no result".to_owned(),
            (State::Done, Some(outcome)) => outcome.in_short(),
            _ => String::new(),
        }
    }

    fn whole(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let text = theme.style(Role::Text);
        let dim = theme.style(Role::Dim);
        let mut lines = Vec::new();
        let diff = self.outcome.as_ref().and_then(|outcome| outcome.diff.as_ref());
        for (key, value) in &self.arguments {
            match value.single_line() {
                Some(line) => {
                    lines.append(&mut block(&format!("{key}: {line}"), width, INDENT, |_: &str| dim))
                }
                None => {
                    lines.append(&mut block(&format!("{key}:"), width, INDENT, |_: &str| dim));
                    lines.append(&mut value.draw(width, 2 * INDENT, theme, |_| dim));
                }
            }
        }
        // What came of it, or else what was wanted.
        if let Some(diff) = diff.or(self.change.as_ref()) {
            lines.append(&mut diff.draw(width, INDENT, theme, |line| of_change(line, theme)));
        }
        let Some(outcome) = &self.outcome else { return lines };
        let look = if outcome.is_error { theme.style(Role::Error) } else { text };
        lines.append(&mut outcome.output.draw(width, INDENT, theme, |_| look));
        for image in &outcome.images {
            lines.append(&mut block(image, width, INDENT, |_: &str| dim));
        }
        lines
    }
}

impl Outcome {
    /// Reads a message with a tool's result.
    pub(super) fn of_message(message: Message<'_>, entry: Option<EntryId>) -> Outcome {
        let details = message.get("details").unwrap_or_default().as_bytes();
        let diff = json::get_str(details, "diff").filter(|diff| !diff.is_empty());
        let count = |diff: &str, sign| diff.lines().filter(|line| line.starts_with(sign)).count();
        let number = |key| json::get(details, key).map(|value| String::from_utf8_lossy(value).into_owned());
        Outcome {
            entry,
            changed: diff.as_ref().map(|diff| (count(diff, '+'), count(diff, '-'))),
            diff: diff.map(|diff| Output::new(&diff)),
            exit: number("exitCode").filter(|code| !matches!(&**code, "0" | "null")),
            is_error: message.is_error(),
            ..Outcome::of_content(message)
        }
    }

    /// Reads a result that is not in the log yet.
    pub(super) fn of_content(message: Message<'_>) -> Outcome {
        Outcome { output: Output::new(&message.text()), images: images(message), ..Outcome::default() }
    }

    pub(super) fn failed(mut self, is_error: bool) -> Outcome {
        self.is_error = is_error;
        self
    }

    fn in_short(&self) -> String {
        if self.is_error {
            return match &self.exit {
                Some(code) => format!("exit {}", clean::one_line(code, 20)),
                None if self.output.is_empty() => "failed".to_owned(),
                None => clean::one_line(self.output.first_line(), WHAT),
            };
        }
        if let Some((added, removed)) = self.changed {
            return format!("+{added} −{removed}");
        }
        match (self.images.len(), self.output.lines) {
            (1, 0) => "an image".to_owned(),
            (images, 0) if images > 1 => format!("{images} images"),
            (_, 0) => "no output".to_owned(),
            (_, 1) if self.output.first_line() == "(no output)" => "no output".to_owned(),
            (_, 1) => "1 line".to_owned(),
            (_, lines) => format!("{} lines", human::count(lines as u64)),
        }
    }
}

/// The first line of a command that says something, with a sign if there are more.
fn first_line(command: &str) -> String {
    let mut lines = command.lines().filter(|line| !line.trim().is_empty());
    let first = clean::one_line(lines.next().unwrap_or_default(), WHAT);
    if lines.next().is_some() { format!("{first} …") } else { first }
}

/// Arguments by name; those that are no object are one without a name.
fn members(arguments: &str) -> Vec<(String, Output)> {
    let bytes = arguments.as_bytes();
    let members: Vec<_> = json::Members::new(bytes)
        .map(|member| {
            let value = &bytes[member.value];
            let text = json::members::as_str(value).unwrap_or_else(|| String::from_utf8_lossy(value));
            (clean::one_line(&json::decode(&bytes[member.key]), 80), Output::new(&text))
        })
        .collect();
    if members.is_empty() && !matches!(arguments.trim(), "" | "{}") {
        return vec![("arguments".to_owned(), Output::new(arguments))];
    }
    members
}

/// Names of the text that is taken out, and of the one that is put in.
const OLD: &[&str] = &["oldText", "old_text", "old_string"];
const NEW: &[&str] = &["newText", "new_text", "new_string"];

fn is_of_change(key: &str) -> bool {
    key == "edits" || OLD.contains(&key) || NEW.contains(&key)
}

/// What a call takes out and puts in, as a difference without line numbers; none if it says neither.
fn change(arguments: &[u8]) -> Option<String> {
    let mut out = String::new();
    let own = [arguments];
    let edits = json::get(arguments, "edits").into_iter().flat_map(json::members::items);
    for edit in own.into_iter().chain(edits) {
        let text = |names: &[&str]| names.iter().find_map(|name| json::get_str(edit, name));
        for (sign, text) in [('-', text(OLD)), ('+', text(NEW))] {
            for line in text.iter().flat_map(|text| text.lines()) {
                out.extend([sign]);
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    Some(out).filter(|out| !out.is_empty())
}

/// The images of a message, named.
pub(super) fn images(message: Message<'_>) -> Vec<String> {
    let is_image = |block: &&str| json::get(block.as_bytes(), "type") == Some(b"\"image\"");
    let name = |block: &str| {
        let kind = json::get_str(block.as_bytes(), "mimeType").unwrap_or("image".into());
        let base64 = json::get(block.as_bytes(), "data").map_or(0, |data| data.len().saturating_sub(2));
        let kind = clean::one_line(&kind, 40);
        format!("[image: {kind}, {}]", human::size(base64 as u64 * 3 / 4))
    };
    message.blocks().filter(is_image).map(name).collect()
}

/// The look of a line of a difference.
fn of_change(line: &str, theme: &Theme) -> Style {
    theme.style(match line.as_bytes().first() {
        Some(b'+') => Role::Added,
        Some(b'-') => Role::Removed,
        _ => Role::Dim,
    })
}

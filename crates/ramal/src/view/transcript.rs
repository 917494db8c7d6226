//! Entries as a conversation that can be read: headings, wrapped text, calls of tools in a line.

use std::io::{self, Write};

use ramal_session::{CallOf, Entry, Kind, Message, Role as Who, ToolCall, json};

use super::clean;
use super::human::count;
use super::line::Line;
use super::says::{bookkeeping, called_on, compaction, ended_wrong, execution_failed};
use super::style::{Palette, Role};
use super::width::{fit, width, wrap};

/// Text is easier to read in lines that are not too long.
const WIDEST: usize = 100;
/// Lines of a tool's result that a transcript shows.
const RESULT_LINES: usize = 2;
/// The same of a result that says what failed.
const FAILURE_LINES: usize = 6;

/// What stands in the heading of an entry besides who it is from.
#[derive(Debug, Default)]
pub(crate) struct Heading<'a> {
    pub(crate) id: &'a str,
    pub(crate) time: &'a str,
    pub(crate) label: Option<&'a str>,
    /// Which of how many branches begins here.
    pub(crate) branch: Option<(usize, usize)>,
    pub(crate) is_leaf: bool,
    pub(crate) oddity: Option<&'a str>,
}

/// How much of an entry is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// Results of tools in a few lines.
    Short,
    /// All of it.
    Whole,
}

/// Writes entries one after the other.
pub(crate) struct Transcript<'a> {
    out: &'a mut dyn Write,
    palette: Palette,
    columns: usize,
    length: Length,
    cwd: &'a str,
    /// Calls whose result has not come yet.
    waiting: Vec<CallOf>,
    last: Last,
}

/// What was written last, which decides whether a blank line is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    Entry,
    Record,
}

impl<'a> Transcript<'a> {
    /// `cwd` is the working directory of the session, from which paths are given.
    pub(crate) fn new(
        out: &'a mut dyn Write,
        palette: Palette,
        columns: usize,
        length: Length,
        cwd: &'a str,
    ) -> Self {
        let columns = columns.clamp(20, WIDEST);
        Transcript { out, palette, columns, length, cwd, waiting: Vec::new(), last: Last::Nothing }
    }

    /// Writes an entry.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn entry(&mut self, entry: &Entry, heading: &Heading<'_>) -> io::Result<()> {
        if entry.is_unreadable() {
            self.heading(&entry.type_name(), Role::Error, heading)?;
            return self
                .text(Role::Error, "✗ This entry cannot be read; `ramal show --raw` prints its line.");
        }
        match entry.kind() {
            Kind::Message => match entry.message() {
                Some(message) => self.message(message, heading),
                None => {
                    self.heading("message", Role::Dim, heading)?;
                    self.text(Role::Dim, "(without content)")
                }
            },
            Kind::CustomMessage => {
                let name = entry.get_str("customType").unwrap_or_default();
                let name = if name.is_empty() { "custom message".into() } else { name };
                self.heading(&name, Role::Heading, heading)?;
                let role = if entry.get("display") == Some("false") { Role::Dim } else { Role::Assistant };
                self.text(role, &entry.text())
            }
            Kind::BranchSummary => {
                self.heading("summary of the branch that was left", Role::Heading, heading)?;
                self.text(Role::Summary, &entry.text())
            }
            Kind::Compaction => {
                self.rule()?;
                self.heading(&compaction(entry), Role::Heading, heading)?;
                self.text(Role::Summary, &entry.text())
            }
            Kind::ResetBoundary => {
                self.rule()?;
                self.heading("reset: the model sees nothing above", Role::Heading, heading)
            }
            kind => self.record(entry, kind, heading),
        }
    }

    /// Says which call the next result answers.
    pub(crate) fn expect(&mut self, call: CallOf) {
        self.waiting.push(call);
    }

    /// Writes what is still open: calls without a result.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        for call in std::mem::take(&mut self.waiting) {
            self.call(&call.name, &call.arguments, None, "no result")?;
        }
        Ok(())
    }

    fn message(&mut self, message: Message<'_>, heading: &Heading<'_>) -> io::Result<()> {
        match message.role() {
            Who::User => {
                self.heading("user", Role::User, heading)?;
                self.content(message)
            }
            Who::Assistant => {
                self.heading("assistant", Role::Heading, heading)?;
                self.content(message)?;
                if let Some(wrong) = ended_wrong(message) {
                    self.text(Role::Error, &format!("✗ {wrong}"))?;
                }
                if self.length == Length::Short {
                    self.waiting = message.tool_calls().map(owned).collect();
                }
                Ok(())
            }
            Who::ToolResult => self.result(message, heading),
            Who::BashExecution | Who::PythonExecution => {
                let who = if message.role() == Who::BashExecution { "bash" } else { "python" };
                self.heading(who, Role::Tool, heading)?;
                self.text(Role::Tool, &message.text())?;
                self.some_lines(&message.get_str("output").unwrap_or_default(), Role::Dim, FAILURE_LINES)?;
                match execution_failed(message) {
                    Some(wrong) => self.text(Role::Error, &format!("✗ {wrong}")),
                    None => Ok(()),
                }
            }
            Who::BranchSummary | Who::CompactionSummary => {
                self.heading("summary", Role::Heading, heading)?;
                self.text(Role::Summary, &message.text())
            }
            _ => {
                let name = message.get_str("role").unwrap_or("message".into());
                let name = message.get_str("customType").filter(|name| !name.is_empty()).unwrap_or(name);
                self.heading(&name, Role::Heading, heading)?;
                let role = if message.get("display") == Some("false") { Role::Dim } else { Role::Assistant };
                self.text(role, &message.text())?;
                let files = json::members::items(message.get("files").unwrap_or_default().as_bytes());
                for path in files.filter_map(|file| json::get_str(file, "path")) {
                    self.text(Role::Tool, &path)?;
                }
                Ok(())
            }
        }
    }

    /// The blocks of a content, each in its look.
    fn content(&mut self, message: Message<'_>) -> io::Result<()> {
        let mut any = false;
        for block in message.blocks() {
            any = true;
            let text = |key| json::get_str(block.as_bytes(), key).unwrap_or_default();
            match &*text("type") {
                "text" => self.text(Role::Assistant, &text("text"))?,
                "thinking" => self.indented("  ┆ ", Role::Dim, &text("thinking"))?,
                "image" => self.text(Role::Dim, &format!("(image, {})", text("mimeType")))?,
                "toolCall" if self.length == Length::Whole => {
                    let arguments = ToolCall::of(block).map(|call| call.arguments);
                    self.text(Role::Tool, &format!("→ {}", text("name")))?;
                    self.json(arguments.unwrap_or_default())?;
                }
                "toolCall" => {}
                other => self.text(Role::Dim, &format!("({other})"))?,
            }
        }
        if any { Ok(()) } else { self.text(Role::Assistant, &message.text()) }
    }

    /// The result of a tool: what was called, and how it begins.
    fn result(&mut self, message: Message<'_>, heading: &Heading<'_>) -> io::Result<()> {
        let id = message.get_str("toolCallId").unwrap_or_default();
        let call = self.waiting.iter().position(|call| call.id == id);
        let call = call.map(|place| self.waiting.remove(place));
        let name = message.get_str("toolName").unwrap_or_default();
        let name = match &call {
            Some(call) if name.is_empty() => &call.name,
            _ => &*name,
        };
        let failed = message.is_error();
        let text = message.text();
        if self.length == Length::Whole {
            let name = name.to_owned();
            let waiting = std::mem::take(&mut self.waiting);
            self.heading(&format!("result of {name}"), Role::Tool, heading)?;
            self.waiting = waiting;
            if let Some(call) = call {
                self.call(&call.name, &call.arguments, None, "")?;
            }
            if failed {
                self.text(Role::Error, "✗ failed")?;
            }
            return self.content(message);
        }
        let arguments = call.as_ref().map(|call| &*call.arguments).unwrap_or_default();
        self.call(name, arguments, Some(heading), if failed { "failed" } else { "" })?;
        if failed {
            self.some_lines(&text, Role::ToolFailed, FAILURE_LINES)
        } else {
            self.some_lines(&text, Role::Dim, RESULT_LINES)
        }
    }

    /// One line: the tool, what it was called on, and what went wrong.
    fn call(
        &mut self,
        name: &str,
        arguments: &str,
        heading: Option<&Heading<'_>>,
        wrong: &str,
    ) -> io::Result<()> {
        self.last = Last::Entry;
        let room = self.columns - 2;
        let leaf = if heading.is_some_and(|heading| heading.is_leaf) { "  ◀ leaf" } else { "" };
        let sign = if wrong.is_empty() { String::new() } else { format!("✗ {wrong} ") };
        let label = heading.and_then(|heading| heading.label).map(clean::name);
        let label = label.map(|label| format!("[{label}] ")).unwrap_or_default();
        let id = heading.map(|heading| format!("  {}", clean::one_line(heading.id, 36))).unwrap_or_default();
        let what = clean::one_line(&format!("{name} {}", called_on(name, arguments, self.cwd)), room);
        let role = if wrong.is_empty() { Role::Tool } else { Role::ToolFailed };
        let mut line = Line::new(self.palette, &[]);
        line.pad_to(2);
        line.push_fit(Role::Label, &label, self.columns);
        line.push_fit(Role::Error, &sign, self.columns);
        line.push_fit(role, &format!("▸ {what}"), self.columns.saturating_sub(width(&id) + width(leaf)));
        line.push_fit(Role::Dim, &id, self.columns);
        line.push_fit(Role::Active, leaf, self.columns);
        writeln!(self.out, "{}", line.finish())
    }

    /// A record that is no conversation: one dim line, or all of it.
    fn record(&mut self, entry: &Entry, kind: Kind, heading: &Heading<'_>) -> io::Result<()> {
        let name = entry.type_name().replace('_', " ");
        if self.length == Length::Whole {
            self.heading(&name, Role::Heading, heading)?;
            return self.json(entry.json());
        }
        self.end()?;
        let line = clean::one_line(&format!("· {name}: {}", bookkeeping(entry, kind)), self.columns);
        if self.last == Last::Entry {
            writeln!(self.out)?;
        }
        self.last = Last::Record;
        let leaf = if heading.is_leaf { "  ◀ leaf" } else { "" };
        let palette = self.palette;
        let line = fit(&line, self.columns - width(leaf)).into_owned();
        writeln!(self.out, "{}{}", palette.paint(Role::Dim, &line), palette.paint(Role::Active, leaf))
    }

    fn gap(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.last, Last::Entry) == Last::Nothing {
            Ok(())
        } else {
            writeln!(self.out)
        }
    }

    fn rule(&mut self) -> io::Result<()> {
        self.end()?;
        self.gap()?;
        self.last = Last::Nothing;
        writeln!(self.out, "{}", self.palette.paint(Role::Guide, &"─".repeat(self.columns)))
    }

    fn heading(&mut self, who: &str, role: Role, heading: &Heading<'_>) -> io::Result<()> {
        self.end()?;
        self.gap()?;
        let palette = self.palette;
        let who = clean::one_line(who, 60);
        let (who, columns) = (fit(&who, self.columns), self.columns);
        let mut line = palette.paint(role, &who).to_string();
        let mut used = width(&who);
        let mut add = |role, text: &str| {
            // What there is no room for goes on in another line.
            if used + 2 + width(text) > columns {
                line.push('\n');
                used = 0;
            }
            let text = fit(text, columns - 2);
            used += 2 + width(&text);
            line += "  ";
            line += &palette.paint(role, &text).to_string();
        };
        if let Some(label) = heading.label {
            add(Role::Label, &format!("[{}]", clean::name(label)));
        }
        add(Role::Dim, format!("{}  {}", heading.time, clean::one_line(heading.id, 36)).trim());
        if let Some((place, of)) = heading.branch {
            add(Role::Dim, &format!("branch {place} of {of}"));
        }
        if let Some(oddity) = heading.oddity {
            add(Role::Error, &format!("({oddity})"));
        }
        if heading.is_leaf {
            add(Role::Active, "◀ leaf");
        }
        writeln!(self.out, "{line}")
    }

    /// A text, wrapped and indented; nothing if it is empty.
    fn text(&mut self, role: Role, text: &str) -> io::Result<()> {
        self.indented("  ", role, text)
    }

    fn indented(&mut self, before: &str, role: Role, text: &str) -> io::Result<()> {
        let palette = self.palette;
        let mut blank = 0;
        let mut any = false;
        for line in clean::lines(text) {
            // Blank lines at the ends are left out.
            if line.trim().is_empty() {
                blank += 1;
                continue;
            }
            if any {
                for _ in 0..blank {
                    writeln!(self.out, "{}", palette.paint(role, before.trim_end()))?;
                }
            }
            (any, blank) = (true, 0);
            for part in wrap(&line, self.columns - width(before)) {
                writeln!(self.out, "{}{}", palette.paint(role, before), palette.paint(role, part))?;
            }
        }
        Ok(())
    }

    /// The first lines of a text, and how many more there are.
    fn some_lines(&mut self, text: &str, role: Role, most: usize) -> io::Result<()> {
        let most = if self.length == Length::Whole { usize::MAX } else { most };
        let room = self.columns - 4;
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        for line in lines.by_ref().take(most) {
            // One line each: a transcript is no place for a file.
            let head = clean::one_line(line, room);
            writeln!(self.out, "    {}", self.palette.paint(role, &fit(&head, room)))?;
        }
        match lines.count() {
            0 => Ok(()),
            1 => writeln!(self.out, "    {}", self.palette.paint(Role::Dim, "… 1 more line")),
            more => {
                let more = format!("… {} more lines", count(more as u64));
                writeln!(self.out, "    {}", self.palette.paint(Role::Dim, &more))
            }
        }
    }

    /// JSON laid out, or as it is where it is nested too deeply for that.
    fn json(&mut self, json: &str) -> io::Result<()> {
        let value: Option<serde_json::Value> = serde_json::from_str(json).ok();
        let laid_out = value.and_then(|value| serde_json::to_string_pretty(&value).ok());
        self.text(Role::Dim, laid_out.as_deref().unwrap_or(json))
    }
}

fn owned(call: ToolCall<'_>) -> CallOf {
    CallOf { id: call.id.into_owned(), name: call.name.into_owned(), arguments: call.arguments.to_owned() }
}

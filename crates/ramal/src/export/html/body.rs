//! What stands in the article of an entry below its heading.

use std::io::{self, Write};

use ramal_session::{Entry, Kind, Message, Role, ToolCall, json};

use super::escape::{escape, picture_data, picture_kind};
use super::markdown::markdown;
use crate::view::says::{bookkeeping, called_on, ended_wrong, execution_failed};

/// Lines of a command's output that are open from the beginning.
const OPEN_LINES: usize = 20;

/// Writes what an entry says. Whatever it is, nothing of it is left out but what cannot be read.
pub(super) fn write(out: &mut dyn Write, entry: &Entry, cwd: &str) -> io::Result<()> {
    let mut body = Body { out, cwd };
    if entry.is_unreadable() {
        return body.wrong("This entry cannot be read.");
    }
    match entry.kind() {
        Kind::Message => match entry.message() {
            Some(message) => body.message(message),
            None => body.wrong("A message without content."),
        },
        Kind::CustomMessage => body.content(entry.get("content").unwrap_or_default()),
        Kind::BranchSummary | Kind::Compaction => body.card("summary", &entry.text()),
        Kind::ResetBoundary => Ok(()),
        kind => body.record(&bookkeeping(entry, kind), entry.json()),
    }
}

struct Body<'o> {
    out: &'o mut dyn Write,
    cwd: &'o str,
}

impl Body<'_> {
    fn message(&mut self, message: Message<'_>) -> io::Result<()> {
        match message.role() {
            Role::Assistant => {
                self.content(message.get("content").unwrap_or_default())?;
                let Some(wrong) = ended_wrong(message) else { return Ok(()) };
                let whole = message.get_str("errorMessage").unwrap_or_default();
                self.wrong(if whole.trim().is_empty() { &wrong } else { &whole })
            }
            Role::ToolResult => self.result(message),
            Role::BashExecution | Role::PythonExecution => self.execution(message),
            Role::BranchSummary | Role::CompactionSummary => self.card("summary", &message.text()),
            _ => {
                self.content(message.get("content").unwrap_or_default())?;
                for file in json::members::items(message.get("files").unwrap_or_default().as_bytes()) {
                    let path = json::get_str(file, "path").unwrap_or_default();
                    let content = json::get_str(file, "content").unwrap_or_default();
                    self.folded("file", &path, false, &content)?;
                }
                Ok(())
            }
        }
    }

    /// A content: a string, or its blocks in order.
    fn content(&mut self, content: &str) -> io::Result<()> {
        if let Some(text) = json::members::as_str(content.as_bytes()) {
            return self.text(&text);
        }
        for block in json::members::items(content.as_bytes()) {
            let block = std::str::from_utf8(block).unwrap_or_default();
            self.block(block)?;
        }
        Ok(())
    }

    fn block(&mut self, block: &str) -> io::Result<()> {
        let text = |key| json::get_str(block.as_bytes(), key).unwrap_or_default();
        match &*text("type") {
            "text" => self.text(&text("text")),
            "thinking" | "redactedThinking" => {
                let said = text("thinking");
                if said.trim().is_empty() {
                    return self.out.write_all(b"<p class=\"dim\">(thinking that is kept from us)</p>\n");
                }
                self.out.write_all(b"<details class=\"thinking\"><summary>thinking</summary>\n")?;
                self.text(&said)?;
                self.out.write_all(b"</details>\n")
            }
            "image" => self.picture(&text("mimeType"), &text("data")),
            "toolCall" => match ToolCall::of(block) {
                Some(call) => self.call(&call),
                None => Ok(()),
            },
            other => {
                let named = if other.is_empty() { "something without a type" } else { other };
                self.folded("other", named, false, block)
            }
        }
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        if text.trim().is_empty() {
            return Ok(());
        }
        writeln!(self.out, "<div class=\"text\">{}</div>", markdown(text))
    }

    fn wrong(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "<p class=\"plain wrong-text\">✗ {}</p>", escape(text))
    }

    /// A text of several lines that opens.
    fn folded(&mut self, class: &str, title: &str, is_open: bool, text: &str) -> io::Result<()> {
        let open = if is_open { " open" } else { "" };
        writeln!(self.out, "<details class=\"{class}\"{open}><summary>{}</summary>", escape(title))?;
        self.pre(text)?;
        self.out.write_all(b"</details>\n")
    }

    fn pre(&mut self, text: &str) -> io::Result<()> {
        // The first newline behind the tag would be left out.
        writeln!(self.out, "<pre>\n{}</pre>", escape(text))
    }

    fn card(&mut self, title: &str, text: &str) -> io::Result<()> {
        writeln!(self.out, "<details class=\"card\" open><summary>{}</summary>", escape(title))?;
        self.text(text)?;
        self.out.write_all(b"</details>\n")
    }

    fn record(&mut self, says: &str, json: &str) -> io::Result<()> {
        self.folded("entry", if says.trim().is_empty() { "all of it" } else { says }, false, json)
    }

    fn call(&mut self, call: &ToolCall<'_>) -> io::Result<()> {
        let title = format!("→ {} {}", call.name, called_on(&call.name, call.arguments, self.cwd));
        writeln!(self.out, "<details class=\"call\"><summary>{}</summary>\n<dl>", escape(title.trim_end()))?;
        let bytes = call.arguments.as_bytes();
        let mut any = false;
        for member in json::Members::new(bytes) {
            any = true;
            let key = json::decode(bytes.get(member.key).unwrap_or_default());
            let value = bytes.get(member.value).unwrap_or_default();
            let value = json::members::as_str(value).unwrap_or_else(|| String::from_utf8_lossy(value));
            write!(self.out, "<dt>{}</dt><dd>", escape(&key))?;
            self.pre(&value)?;
            self.out.write_all(b"</dd>\n")?;
        }
        self.out.write_all(b"</dl>\n")?;
        if !any {
            self.pre(&json::members::as_str(bytes).unwrap_or(call.arguments.into()))?;
        }
        self.out.write_all(b"</details>\n")
    }

    /// What came of a call: it opens, and is open if the tool failed.
    fn result(&mut self, message: Message<'_>) -> io::Result<()> {
        let failed = message.is_error();
        let text = message.text();
        let lines = text.lines().count();
        let title = match (failed, lines) {
            (true, _) => "✗ failed".to_owned(),
            (false, 0) => "nothing was printed".to_owned(),
            (false, 1) => "1 line".to_owned(),
            (false, lines) => format!("{lines} lines"),
        };
        self.folded("result", &title, failed, &text)?;
        for block in message.blocks().filter(|block| !is_text(block)) {
            self.block(block)?;
        }
        let diff = message.get("details").and_then(|details| json::get_str(details.as_bytes(), "diff"));
        match diff.filter(|diff| !diff.trim().is_empty()) {
            Some(diff) => self.diff(&diff),
            None => Ok(()),
        }
    }

    /// A change of a file. The signs stand at the lines already; the colour only repeats them.
    fn diff(&mut self, diff: &str) -> io::Result<()> {
        self.out.write_all(b"<details class=\"diff\" open><summary>change</summary>\n<pre>\n")?;
        for line in diff.lines() {
            let class = match line.as_bytes().first() {
                Some(b'+') => "added",
                Some(b'-') => "removed",
                _ => "same",
            };
            writeln!(self.out, "<span class=\"{class}\">{}</span>", escape(line))?;
        }
        self.out.write_all(b"</pre></details>\n")
    }

    fn execution(&mut self, message: Message<'_>) -> io::Result<()> {
        self.pre(&format!("$ {}", message.text()))?;
        let output = message.get_str("output").unwrap_or_default();
        let lines = output.lines().count();
        if lines > 0 {
            self.folded("result", &format!("output, lines: {lines}"), lines <= OPEN_LINES, &output)?;
        }
        if message.get("excludeFromContext") == Some("true") {
            self.out.write_all(b"<p class=\"plain\">(kept from the model)</p>\n")?;
        }
        match execution_failed(message) {
            Some(wrong) => self.wrong(&wrong),
            None => Ok(()),
        }
    }

    /// A picture of a kind that can hold nothing but a picture; others are named.
    fn picture(&mut self, kind: &str, data: &str) -> io::Result<()> {
        match (picture_kind(kind), picture_data(data)) {
            (Some(kind), Some(data)) => {
                write!(self.out, "<p><img alt=\"picture, {kind}\" src=\"data:{kind};base64,")?;
                self.out.write_all(data.as_bytes())?;
                self.out.write_all(b"\"></p>\n")
            }
            _ if data.starts_with("blob:") => {
                writeln!(self.out, "<p class=\"plain\">(a picture kept elsewhere: {})</p>", escape(data))
            }
            _ => writeln!(self.out, "<p class=\"plain\">(a picture that is not shown: {})</p>", escape(kind)),
        }
    }
}

fn is_text(block: &str) -> bool {
    json::get_str(block.as_bytes(), "type").is_some_and(|kind| kind == "text")
}

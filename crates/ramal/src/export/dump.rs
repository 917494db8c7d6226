//! The active path as plain text: for the clipboard, and for who reads without a program.

use ramal_session::{Calls, Entry, Kind, Message, ReadError, Role, SessionManager, ToolCall, json};

use super::Options;
use super::harmless::{harmless, on_one_line};
use crate::view::says::{called_on, compaction, ended_wrong, execution_failed};

/// The active path as Markdown: who said what, calls of tools and what came of them. Nothing in it acts on a
/// terminal. What programs note for themselves is left out.
///
/// # Errors
/// If the log cannot be read any more.
pub(crate) fn dump(session: &SessionManager, options: &Options) -> Result<String, ReadError> {
    let mut text = Dump { text: String::new(), cwd: session.get_cwd() };
    if let Some(name) = session.get_session_name() {
        text.part(&format!("# {}", on_one_line(&options.text(&name))));
    }
    let mut calls = Calls::default();
    for handle in session.get_branch(None) {
        let original = handle.read()?;
        let name =
            calls.of_entry(session, handle, &original)?.map(|call| options.text(&call.name).into_owned());
        let entry = options.entry(handle)?;
        let Some(title) = title(&entry, name.as_deref()) else { continue };
        let label = handle.label().map(|label| format!(" [{}]", on_one_line(&options.text(label))));
        text.part(&format!("## {}{}", on_one_line(&title), label.unwrap_or_default()));
        text.entry(&entry);
    }
    Ok(text.text)
}

/// What stands above an entry; none for what programs note for themselves.
fn title(entry: &Entry, called: Option<&str>) -> Option<String> {
    let named = |name: Option<std::borrow::Cow<'_, str>>, otherwise: &str| {
        name.filter(|name| !name.trim().is_empty())
            .map_or_else(|| otherwise.to_owned(), |name| name.into_owned())
    };
    Some(match entry.kind() {
        _ if entry.is_unreadable() => format!("{} (cannot be read)", entry.type_name()),
        Kind::Message => {
            let message = entry.message();
            let get = |key| message.and_then(|message| message.get_str(key));
            match entry.role() {
                Role::User => "User".into(),
                Role::Assistant => "Assistant".into(),
                Role::ToolResult => {
                    format!("Result of {}", named(get("toolName"), called.unwrap_or("a tool")))
                }
                Role::BashExecution => "Command".into(),
                Role::PythonExecution => "Python".into(),
                Role::BranchSummary => "Branch summary".into(),
                Role::CompactionSummary => "Compaction".into(),
                Role::Custom | Role::HookMessage => named(get("customType"), "Message"),
                _ => named(get("role"), "Message"),
            }
        }
        Kind::CustomMessage => named(entry.get_str("customType"), "Message"),
        Kind::BranchSummary => "Branch summary".into(),
        Kind::Compaction => compaction(entry).replacen('c', "C", 1),
        Kind::ResetBoundary => "Reset: the model sees nothing above".into(),
        Kind::Unknown => entry.type_name().into_owned(),
        _ => return None,
    })
}

/// The text as far as it is written.
struct Dump<'s> {
    text: String,
    cwd: &'s str,
}

impl Dump<'_> {
    /// A paragraph of its own; nothing if it is empty.
    fn part(&mut self, text: &str) {
        let text = harmless(text);
        let text = text.trim_matches('\n').trim_end();
        if !text.is_empty() {
            if !self.text.is_empty() {
                self.text += "\n";
            }
            self.text += text;
            self.text += "\n";
        }
    }

    /// A text in a fence that nothing in it closes.
    fn fence(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        self.part(&format!("{fence}\n{}\n{fence}", text.trim_end()));
    }

    fn entry(&mut self, entry: &Entry) {
        match entry.message() {
            Some(message) => self.message(message),
            None => self.part(&entry.text()),
        }
        if entry.kind() == Kind::CustomMessage {
            self.pictures(entry.get("content").unwrap_or_default());
        }
    }

    fn message(&mut self, message: Message<'_>) {
        match message.role() {
            Role::Assistant => self.answer(message),
            Role::ToolResult => {
                if message.is_error() {
                    self.part("(failed)");
                }
                self.fence(&message.text());
                self.pictures(message.get("content").unwrap_or_default());
            }
            Role::BashExecution | Role::PythonExecution => {
                self.fence(&format!("$ {}", message.text()));
                self.fence(&message.get_str("output").unwrap_or_default());
                self.part(&execution_failed(message).map(|wrong| format!("({wrong})")).unwrap_or_default());
            }
            Role::FileMention => {
                let files = json::members::items(message.get("files").unwrap_or_default().as_bytes());
                let paths: Vec<_> = files.filter_map(|file| json::get_str(file, "path")).collect();
                self.part(&paths.join("\n"));
            }
            _ => {
                self.part(&message.text());
                self.pictures(message.get("content").unwrap_or_default());
            }
        }
    }

    fn answer(&mut self, message: Message<'_>) {
        if message.get("content").is_some_and(|content| content.starts_with('"')) {
            self.part(&message.text());
        }
        for block in message.blocks() {
            let text = |key| json::get_str(block.as_bytes(), key).unwrap_or_default();
            match &*text("type") {
                "text" => self.part(&text("text")),
                "thinking" => {
                    let quoted: Vec<String> =
                        text("thinking").trim().lines().map(|line| format!("> {line}")).collect();
                    self.part(&quoted.join("\n"));
                }
                "toolCall" => {
                    if let Some(call) = ToolCall::of(block) {
                        let on = called_on(&call.name, call.arguments, self.cwd);
                        self.part(on_one_line(&format!("→ {} {on}", call.name)).trim_end());
                    }
                }
                other => self.part(&format!("({other})")),
            }
        }
        self.part(&ended_wrong(message).map(|wrong| format!("✗ {wrong}")).unwrap_or_default());
    }

    /// Says that there are pictures.
    fn pictures(&mut self, content: &str) {
        let kind = |block| json::get_str(block, "type").is_some_and(|kind| kind == "image");
        for block in json::members::items(content.as_bytes()).filter(|block| kind(block)) {
            self.part(&format!("({})", json::get_str(block, "mimeType").unwrap_or("picture".into())));
        }
    }
}

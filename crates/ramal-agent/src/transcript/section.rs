//! One message as a piece of text that a model reads about, and does not go on with.

use std::borrow::Cow;

use ramal_session::json::{self, ObjectEdit, members};
use ramal_session::{Entry, Kind, Message, Role};

use super::files::{Touched, without_lists};

/// Characters of a tool's result, of the arguments of a call and of a command's output that are shown
/// (contract, section 6, "Summariser").
const SHOWN: usize = 2000;

/// A message as text.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    pub(crate) text: String,
    pub(crate) calls: Vec<Call>,
    /// The call that this is the result of, and whether it failed.
    pub(crate) result: Option<(String, bool)>,
    /// It stands for more than itself.
    pub(crate) is_summary: bool,
}

/// A call in it.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) touched: Option<Touched>,
}

/// The message that an entry contributes to a conversation, as JSON text; none if it is none.
pub(crate) fn message_of(entry: &Entry) -> Option<String> {
    let with = |role: &str, keys: &[&str]| {
        let mut edit = ObjectEdit::new().set("role", json::quote(role));
        for key in keys {
            edit = edit.set(key, entry.get(key)?);
        }
        String::from_utf8(edit.apply(b"{}")).ok()
    };
    match entry.kind() {
        Kind::Message => entry.message().map(|message| message.json().to_owned()),
        Kind::CustomMessage => {
            with("custom", &["customType", "content"]).or_else(|| with("custom", &["content"]))
        }
        Kind::BranchSummary => with("branchSummary", &["summary"]),
        Kind::Compaction => with("compactionSummary", &["summary"]),
        _ => None,
    }
}

impl Section {
    /// What a message says; none if it says nothing, or the model is not shown it.
    pub(crate) fn of(message: Message<'_>) -> Option<Section> {
        let mut section = Section { text: String::new(), calls: Vec::new(), result: None, is_summary: false };
        match message.role() {
            Role::User => section.said("User", &content(message)),
            Role::Developer | Role::System => section.said("Instructions", &content(message)),
            Role::Assistant => section.answer(message),
            Role::ToolResult => section.result(message),
            Role::BashExecution | Role::PythonExecution => section.execution(message),
            Role::FileMention => section.files(message),
            Role::Custom | Role::HookMessage => {
                let kind = message.get_str("customType").unwrap_or_default();
                let kind = kind.chars().filter(|char| !char.is_control()).take(80).collect::<String>();
                section.said(&format!("Message {kind}"), &content(message));
            }
            Role::BranchSummary => section.summary("Summary of a branch that was left", message),
            Role::CompactionSummary => section.summary("Summary of what came before", message),
            // Kept, not sent (contract, section 1).
            _ => {}
        }
        (!section.text.is_empty()).then_some(section)
    }

    /// Bytes that it takes in a transcript.
    pub(crate) fn size(&self) -> u64 {
        self.text.len() as u64 + 2
    }

    fn said(&mut self, who: &str, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            self.heading(who);
            self.text.push('\n');
            self.text += text;
        }
    }

    fn heading(&mut self, heading: &str) {
        if !self.text.is_empty() {
            self.text += "\n\n";
        }
        self.text += &format!("[{}]", heading.trim());
    }

    fn answer(&mut self, message: Message<'_>) {
        let mut texts = String::new();
        if message.get("content").is_some_and(|content| content.starts_with('"')) {
            texts = message.text();
        }
        let mut calls = message.tool_calls();
        for block in message.blocks() {
            match json::get_str(block.as_bytes(), "type").as_deref() {
                Some("text") => texts += &json::get_str(block.as_bytes(), "text").unwrap_or_default(),
                Some("toolCall") => {
                    self.said("Assistant", &std::mem::take(&mut texts));
                    let Some(call) = calls.next() else { continue };
                    self.heading(&format!("Assistant calls {}", call.name));
                    self.text.push('\n');
                    self.text += &beginning(call.arguments);
                    self.calls.push(Call {
                        touched: Touched::by(&call),
                        id: call.id.into_owned(),
                        name: call.name.into_owned(),
                    });
                }
                _ => {}
            }
        }
        self.said("Assistant", &texts);
        match message.get_str("stopReason").as_deref() {
            // An answer that broke off before it said anything is none.
            _ if self.text.is_empty() => {}
            Some("aborted") => self.heading("The user stopped this answer"),
            Some("error") => self.heading("This answer failed"),
            _ => {}
        }
    }

    fn result(&mut self, message: Message<'_>) {
        let name = message.get_str("toolName").unwrap_or_default();
        let outcome = if message.is_error() { "failed" } else { "succeeded" };
        self.heading(&format!("Result of {name}: {outcome}"));
        let text = content(message);
        if !text.trim().is_empty() {
            self.text.push('\n');
            self.text += &beginning(text.trim());
        }
        let call = message.get_str("toolCallId").unwrap_or_default();
        self.result = Some((call.into_owned(), message.is_error()));
    }

    fn execution(&mut self, message: Message<'_>) {
        if message.get("excludeFromContext") == Some("true") {
            return;
        }
        let outcome = match message.get("exitCode") {
            _ if message.get("cancelled") == Some("true") => "cancelled".to_owned(),
            Some("0" | "null") | None => "succeeded".to_owned(),
            Some(code) => format!("failed with exit code {code}"),
        };
        self.said(&format!("The user ran a command: {outcome}"), &beginning(&message.text()));
        let output = message.get_str("output").unwrap_or_default();
        if !output.trim().is_empty() {
            self.said("Its output", &beginning(output.trim()));
        }
    }

    fn files(&mut self, message: Message<'_>) {
        for file in members::items(message.get("files").unwrap_or_default().as_bytes()) {
            let path = json::get_str(file, "path").unwrap_or_default();
            let content = json::get_str(file, "content").unwrap_or_default();
            self.heading(&format!("The user mentioned the file {path}"));
            if !content.trim().is_empty() {
                self.text.push('\n');
                self.text += &beginning(&content);
            }
        }
    }

    fn summary(&mut self, heading: &str, message: Message<'_>) {
        self.said(heading, without_lists(&message.get_str("summary").unwrap_or_default()));
        self.is_summary = true;
    }
}

/// The text of a content, with a mark for each image.
fn content(message: Message<'_>) -> String {
    let mut text = message.text();
    for block in message.blocks() {
        if json::get_str(block.as_bytes(), "type").as_deref() == Some("image") {
            text += if text.is_empty() { "[an image]" } else { "\n[an image]" };
        }
    }
    text
}

/// The first 2000 characters, and how many there are beyond them.
fn beginning(text: &str) -> Cow<'_, str> {
    let Some((end, _)) = text.char_indices().nth(SHOWN) else { return Cow::Borrowed(text) };
    let (shown, rest) = (text.get(..end).unwrap_or_default(), text.get(end..).unwrap_or_default());
    Cow::Owned(format!("{shown}\n[… {} more characters]", rest.chars().count()))
}

//! An entry in a line: who says it, and how it begins.

use std::borrow::Cow;

use ramal_session::{Entry, Kind, Message, Role as Who, ToolCall, json};

use crate::view::clean;
use crate::view::style::Role;

/// An entry in a line. Both texts are clean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Brief {
    /// Who it is from or, of an entry that is no message, what kind of entry it is.
    pub(crate) who: String,
    /// How it begins; empty if it says nothing.
    pub(crate) text: String,
    /// The look that goes with it.
    pub(crate) role: Role,
}

/// What there is to say about an entry in about `columns`; the text may be wider when there is more.
pub(crate) fn brief(entry: &Entry, columns: usize) -> Brief {
    let (who, text, role) = match entry.kind() {
        _ if entry.is_unreadable() => (entry.type_name(), "cannot be read".into(), Role::Error),
        Kind::Message => match entry.message() {
            Some(message) => of_message(message),
            None => ("message".into(), String::new(), Role::Dim),
        },
        Kind::CustomMessage => (custom_type(entry), entry.text(), Role::Assistant),
        Kind::BranchSummary => ("branch summary".into(), entry.text(), Role::Summary),
        Kind::Compaction => ("compaction".into(), entry.text(), Role::Summary),
        _ => (entry.type_name(), bookkeeping(entry), Role::Dim),
    };
    Brief { who: clean::name(&who), text: clean::one_line(&text, columns), role }
}

fn custom_type(entry: &Entry) -> Cow<'_, str> {
    entry.get_str("customType").filter(|name| !name.is_empty()).unwrap_or("custom message".into())
}

fn of_message(message: Message<'_>) -> (Cow<'_, str>, String, Role) {
    let text = message.text();
    match message.role() {
        Who::User => ("user".into(), text, Role::User),
        Who::Assistant => ("assistant".into(), answer(message, text), Role::Assistant),
        Who::ToolResult => {
            let name = message.get_str("toolName").filter(|name| !name.is_empty());
            let role = if message.is_error() { Role::ToolFailed } else { Role::Tool };
            let text = if message.is_error() { format!("failed: {text}") } else { text };
            (name.unwrap_or("tool".into()), text, role)
        }
        Who::BashExecution => ("bash".into(), format!("$ {text}"), Role::Tool),
        Who::PythonExecution => ("python".into(), text, Role::Tool),
        Who::FileMention => ("files".into(), text, Role::Tool),
        Who::BranchSummary => ("branch summary".into(), text, Role::Summary),
        Who::CompactionSummary => ("compaction".into(), text, Role::Summary),
        _ => (message.get_str("role").unwrap_or("message".into()), text, Role::Assistant),
    }
}

/// An answer without a text is told by what it calls, and by how it ended.
fn answer(message: Message<'_>, mut text: String) -> String {
    if text.trim().is_empty() {
        let calls: Vec<_> = message.tool_calls().map(|call| call_in_short(&call)).collect();
        text = if calls.is_empty() { String::new() } else { format!("→ {}", calls.join(", ")) };
    }
    match message.get_str("stopReason").as_deref() {
        Some("error") => {
            format!("[error: {}] {text}", message.get_str("errorMessage").unwrap_or("no message".into()))
        }
        Some("aborted") => format!("[aborted] {text}"),
        Some("length") => format!("[cut off] {text}"),
        _ => text,
    }
}

/// The tool, and what it is called on.
fn call_in_short(call: &ToolCall<'_>) -> String {
    let argument = ["path", "command", "pattern", "file_path", "query", "url"]
        .iter()
        .find_map(|key| json::get_str(call.arguments.as_bytes(), key));
    argument.map_or_else(|| call.name.to_string(), |argument| format!("{} {argument}", call.name))
}

fn bookkeeping(entry: &Entry) -> String {
    let text = |key| entry.get_str(key).unwrap_or_default().into_owned();
    match entry.kind() {
        Kind::Label => match entry.get_str("label").filter(|label| !label.is_empty()) {
            Some(label) => format!("{label} on {}", text("targetId")),
            None => format!("none on {}", text("targetId")),
        },
        Kind::Leaf => {
            entry.get_str("targetId").map_or_else(|| "before the first entry".into(), Cow::into_owned)
        }
        Kind::ModelChange => {
            entry.get_str("model").or_else(|| entry.get_str("modelId")).unwrap_or_default().into_owned()
        }
        Kind::ThinkingLevelChange => entry.get_str("thinkingLevel").unwrap_or("off".into()).into_owned(),
        Kind::ServiceTierChange => text("serviceTier"),
        Kind::ModeChange => text("mode"),
        Kind::SessionInfo => text("name"),
        Kind::TitleChange => text("title"),
        Kind::Custom => text("customType"),
        Kind::ContextEdit => format!("of {}", text("targetId")),
        Kind::SessionInit => text("task"),
        _ => String::new(),
    }
}

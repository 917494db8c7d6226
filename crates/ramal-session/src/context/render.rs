//! What an entry contributes, as messages read from the log (contract, section 14, "Context").

use super::plan::Item;
use crate::entry::{Entry, Kind, Message, Role};
use crate::error::ReadError;
use crate::json::{self, Members, ObjectEdit, members};
use crate::manager::SessionManager;
use crate::tree::node::NONE;

/// The messages of an item: mostly one, none if the entry says nothing, several for a compaction.
pub(super) fn messages(session: &SessionManager, item: Item) -> Result<Vec<String>, ReadError> {
    let entry = session.entry(item.number)?;
    if entry.is_unreadable() {
        return Ok(Vec::new());
    }
    let message = match entry.kind() {
        Kind::Message => {
            entry.message().filter(|message| says_something(message.json())).map(|m| m.json().to_owned())
        }
        Kind::CustomMessage => custom(&entry),
        Kind::BranchSummary => summary(&entry, "branchSummary", &["summary", "fromId"])
            .filter(|_| entry.get_str("summary").is_some_and(|summary| !summary.is_empty())),
        Kind::Compaction => return Ok(compaction(&entry)),
        _ => None,
    };
    let Some(message) = message else { return Ok(Vec::new()) };
    if item.edit == NONE {
        return Ok(vec![message]);
    }
    let edit = session.entry(item.edit)?;
    Ok(vec![match edit.get("replacement").and_then(new_content) {
        Some(content) => replaced(message, content),
        None => message,
    }])
}

/// The content that the replacement of an edit brings: a string or a list.
pub(super) fn new_content(replacement: &str) -> Option<&str> {
    let content = json::get(replacement.as_bytes(), "content")?;
    let content = std::str::from_utf8(content).ok()?;
    content.starts_with(['"', '[']).then_some(content)
}

/// A message with another content. Text becomes a block where the role needs blocks; what has no
/// content stays as it is.
fn replaced(message: String, content: &str) -> String {
    let parsed = Message::new(&message);
    if parsed.get("content").is_none() {
        return message;
    }
    let content = match parsed.role() {
        Role::Assistant | Role::ToolResult if content.starts_with('"') => text_block(content),
        _ => content.to_owned(),
    };
    changed(&message, ObjectEdit::new().set("content", content))
}

/// A list with one block of text; `text` is a JSON string.
pub(super) fn text_block(text: &str) -> String {
    format!("[{{\"type\":\"text\",\"text\":{text}}}]")
}

/// A JSON object with members changed.
pub(super) fn changed(object: &str, edit: ObjectEdit) -> String {
    String::from_utf8_lossy(&edit.apply(object.as_bytes())).into_owned()
}

/// Whether a message has a role, and what its role cannot do without.
fn says_something(message: &str) -> bool {
    let bytes = message.as_bytes();
    let (mut role, mut content, mut sections) = (None, false, false);
    for member in Members::new(bytes) {
        let (key, value) = (&bytes[member.key], &bytes[member.value]);
        if members::is_key(key, "role") {
            role = members::as_str(value).map(|name| Role::of(&name));
        } else if members::is_key(key, "content") {
            content = value != b"null";
        } else if [&b"sections"[..], b"toolsAdded", b"toolsRemoved"].contains(&key) {
            sections = true;
        }
    }
    match role {
        None => false,
        // These have no content by their nature.
        Some(
            Role::BashExecution
            | Role::PythonExecution
            | Role::FileMention
            | Role::BranchSummary
            | Role::CompactionSummary,
        ) => true,
        Some(Role::System) => content || sections,
        Some(_) => content,
    }
}

/// The members of an entry called `keys`, as they stand in it, in a message of the role `role`.
fn from_members(entry: &Entry, role: &str, keys: &[&str]) -> String {
    let mut out = format!("{{\"role\":\"{role}\"");
    for key in keys {
        if let Some(value) = entry.get(key) {
            out += &format!(",\"{key}\":{value}");
        }
    }
    if let Some(time) = entry.time() {
        out += &format!(",\"timestamp\":{time}");
    }
    out + "}"
}

fn custom(entry: &Entry) -> Option<String> {
    entry.get("content").filter(|&content| content != "null")?;
    let keys = ["customType", "content", "display", "details", "attribution"];
    Some(from_members(entry, "custom", &keys))
}

/// A summary; none if the entry has no text as its summary.
fn summary(entry: &Entry, role: &str, keys: &[&str]) -> Option<String> {
    entry.get("summary").filter(|summary| summary.starts_with('"'))?;
    Some(from_members(entry, role, keys))
}

/// The system message that a compaction brings.
pub(super) fn system_message(entry: &Entry) -> Option<String> {
    let system = entry.get("systemMessage")?;
    if system.starts_with('"') {
        return Some(format!("{{\"role\":\"system\",\"content\":{system}}}"));
    }
    (system.starts_with('{') && says_something(system)).then(|| system.to_owned())
}

fn compaction(entry: &Entry) -> Vec<String> {
    let mut messages: Vec<String> = system_message(entry).into_iter().collect();
    messages.extend(summary(entry, "compactionSummary", &["summary", "tokensBefore"]));
    // Where an anchor is named it alone says what is kept, even if it leads nowhere.
    if entry.get_str("firstKeptEntryId").is_none_or(|id| id.is_empty()) {
        let tail = entry.get("retainedTail").unwrap_or_default();
        let tail = members::items(tail.as_bytes()).filter_map(|message| std::str::from_utf8(message).ok());
        messages.extend(tail.filter(|message| says_something(message)).map(str::to_owned));
    }
    messages
}

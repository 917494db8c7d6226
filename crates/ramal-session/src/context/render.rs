//! What an entry contributes, as messages read from the log (contract, section 14, "Context").

use std::ops::Range;

use super::plan::Item;
use crate::entry::{Entry, Kind, Message, Role};
use crate::error::ReadError;
use crate::json::{self, ObjectEdit, members};
use crate::manager::SessionManager;
use crate::tree::node::NONE;

/// A message and where its parts stand in it, found in one look.
#[derive(Debug, Clone)]
pub(super) struct Rendered {
    pub(super) json: String,
    pub(super) role: Role,
    content: Option<Range<usize>>,
    timestamp: Option<Range<usize>>,
    /// A system message changes sections or tools.
    pub(super) changes_setting: bool,
}

impl Rendered {
    /// Looks at a message; none if it says nothing: it has no role, or lacks what its role cannot do
    /// without.
    fn of(json: &str) -> Option<Rendered> {
        Rendered::of_message(Message::new(json))
    }

    fn of_message(message: Message<'_>) -> Option<Rendered> {
        let parts = Parts::of(message)?;
        Some(Rendered {
            json: message.json().to_owned(),
            role: parts.role,
            content: parts.content,
            timestamp: parts.timestamp,
            changes_setting: parts.changes_setting,
        })
    }

    pub(super) fn message(&self) -> Message<'_> {
        Message::new(&self.json)
    }

    /// The JSON text of its content; empty if it has none.
    pub(super) fn content(&self) -> &str {
        self.content.clone().and_then(|range| self.json.get(range)).unwrap_or_default()
    }

    /// Its timestamp as it stands in it.
    pub(super) fn timestamp(&self) -> Option<&str> {
        self.timestamp.clone().and_then(|range| self.json.get(range))
    }

    /// The message with another content in the place of its own.
    pub(super) fn with_content(&self, content: &str) -> String {
        let Some(range) = self.content.clone() else { return self.json.clone() };
        let (before, behind) = (self.json.get(..range.start), self.json.get(range.end..));
        [before.unwrap_or_default(), content, behind.unwrap_or_default()].concat()
    }
}

/// What [`Rendered`] knows of a message, without the message.
struct Parts {
    role: Role,
    content: Option<Range<usize>>,
    timestamp: Option<Range<usize>>,
    changes_setting: bool,
}

impl Parts {
    fn of(message: Message<'_>) -> Option<Parts> {
        let bytes = message.json().as_bytes();
        let (mut role, mut content, mut timestamp, mut changes_setting) = (None, None, None, false);
        // Of members that come twice the last counts, as for every reader.
        for member in &*message.members() {
            let key = &bytes[member.key.clone()];
            if members::is_key(key, "role") {
                role = members::as_str(&bytes[member.value.clone()]).map(|name| Role::of(&name));
            } else if members::is_key(key, "content") {
                content = Some(member.value.clone());
            } else if members::is_key(key, "timestamp") {
                timestamp = Some(member.value.clone());
            } else if [&b"sections"[..], b"toolsAdded", b"toolsRemoved"].contains(&key) {
                changes_setting = true;
            }
        }
        let role = role?;
        let has_content = content.clone().is_some_and(|range| &bytes[range] != b"null");
        let says_something = match role {
            // These have no content by their nature.
            Role::BashExecution
            | Role::PythonExecution
            | Role::FileMention
            | Role::BranchSummary
            | Role::CompactionSummary => true,
            Role::System => has_content || changes_setting,
            _ => has_content,
        };
        says_something.then_some(Parts { role, content, timestamp, changes_setting })
    }
}

/// The messages of an item: mostly one, none if the entry says nothing, several for a compaction.
pub(super) fn messages(session: &SessionManager, item: Item) -> Result<Vec<Rendered>, ReadError> {
    let entry = session.entry(item.number)?;
    if entry.is_unreadable() {
        return Ok(Vec::new());
    }
    let message = match entry.kind() {
        Kind::Message => entry.message().and_then(Rendered::of_message),
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
    let edited =
        edit.get("replacement").and_then(new_content).and_then(|content| replaced(&message, content));
    Ok(vec![edited.unwrap_or(message)])
}

/// The content that the replacement of an edit brings: a string or a list.
pub(super) fn new_content(replacement: &str) -> Option<&str> {
    let content = json::get(replacement.as_bytes(), "content")?;
    let content = std::str::from_utf8(content).ok()?;
    content.starts_with(['"', '[']).then_some(content)
}

/// A message with another content. Text becomes a block where the role needs blocks; what has no
/// content stays as it is.
fn replaced(message: &Rendered, content: &str) -> Option<Rendered> {
    if message.content().is_empty() {
        return None;
    }
    Rendered::of(&match message.role {
        Role::Assistant | Role::ToolResult if content.starts_with('"') => {
            message.with_content(&text_block(content))
        }
        _ => message.with_content(content),
    })
}

/// A list with one block of text; `text` is a JSON string.
pub(super) fn text_block(text: &str) -> String {
    format!("[{{\"type\":\"text\",\"text\":{text}}}]")
}

/// A JSON object with members changed.
pub(super) fn changed(object: &str, edit: ObjectEdit) -> String {
    String::from_utf8_lossy(&edit.apply(object.as_bytes())).into_owned()
}

/// The members of an entry called `keys`, as they stand in it, in a message of the role `role`. Its
/// time is that of the entry, null if that cannot be read.
fn from_members(entry: &Entry, role: &str, keys: &[&str]) -> String {
    let mut out = format!("{{\"role\":\"{role}\"");
    for key in keys {
        if let Some(value) = entry.get(key) {
            out += &format!(",\"{key}\":{value}");
        }
    }
    let time = entry.time().map_or_else(|| "null".into(), |time| time.to_string());
    out + &format!(",\"timestamp\":{time}}}")
}

fn custom(entry: &Entry) -> Option<Rendered> {
    entry.get("content").filter(|&content| content != "null")?;
    let keys = ["customType", "content", "display", "details", "attribution"];
    Rendered::of(&from_members(entry, "custom", &keys))
}

/// A summary; none if the entry has no text as its summary.
fn summary(entry: &Entry, role: &str, keys: &[&str]) -> Option<Rendered> {
    entry.get("summary").filter(|summary| summary.starts_with('"'))?;
    Rendered::of(&from_members(entry, role, keys))
}

/// The system message that a compaction brings.
pub(super) fn system_message(entry: &Entry) -> Option<Rendered> {
    let system = entry.get("systemMessage")?;
    if system.starts_with('"') {
        return Rendered::of(&format!("{{\"role\":\"system\",\"content\":{system}}}"));
    }
    Rendered::of(system)
}

fn compaction(entry: &Entry) -> Vec<Rendered> {
    let mut messages: Vec<Rendered> = system_message(entry).into_iter().collect();
    messages.extend(summary(entry, "compactionSummary", &["summary", "tokensBefore"]));
    // Where an anchor is named it alone says what is kept, even if it leads nowhere.
    if entry.get_str("firstKeptEntryId").is_none_or(|id| id.is_empty()) {
        let tail = entry.get("retainedTail").unwrap_or_default();
        let tail = members::items(tail.as_bytes()).filter_map(|message| std::str::from_utf8(message).ok());
        messages.extend(tail.filter_map(Rendered::of));
    }
    messages
}

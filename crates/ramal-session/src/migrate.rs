//! Old versions of the format, shown as version 3 (contract, section 3).
//!
//! A line is changed when it is read; the file only when something is appended. Only the members
//! that the migration is about change, every other byte stays.

use std::borrow::Cow;

use crate::entry::Kind;
use crate::entry::id::EntryId;
use crate::json::{self, ObjectEdit, quote};
use crate::tree::Tree;
use crate::tree::node::Flags;

/// The version in which a log is written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Entries without ids, in the order of the conversation.
    One,
    /// As version 3, but for the role of messages from hooks.
    Two,
    /// What this program writes.
    Three,
    /// A later version that reads like 3; nothing is written to it. Holds the version as stated.
    Newer(String),
}

impl Format {
    /// True if the log has to be rewritten before something can be appended.
    pub fn is_old(&self) -> bool {
        matches!(self, Format::One | Format::Two)
    }
}

/// The line of an entry as version 3 has it. `id` and `parent` are those in the tree; `anchor` is
/// the entry that a version-1 compaction's index means.
pub(crate) fn entry<'a>(
    line: &'a [u8],
    tree: &Tree,
    number: u32,
    id_of: &dyn Fn(u32) -> EntryId,
) -> Cow<'a, [u8]> {
    let node = tree.node(number);
    let mut edit = ObjectEdit::new();
    if node.flags.has(Flags::MIGRATED) {
        let parent = tree.parent(number).map_or_else(|| "null".into(), |parent| quote(&id_of(parent)));
        edit = edit.insert_first("id", quote(&id_of(number))).insert_first("parentId", parent);
        if node.kind == Kind::Compaction
            && let Some(index) = json::get(line, "firstKeptEntryIndex")
        {
            let anchor = anchor(tree, number, index);
            edit = edit.rename("firstKeptEntryIndex", "firstKeptEntryId", quote(&id_of(anchor)));
        }
    }
    if tree.hooks_are_custom && node.kind == Kind::Message {
        edit = role(line, edit);
    }
    if edit.is_empty() { Cow::Borrowed(line) } else { Cow::Owned(edit.apply(line)) }
}

/// The change that turns the role `hookMessage` into `custom`.
pub(crate) fn role(line: &[u8], edit: ObjectEdit) -> ObjectEdit {
    match json::get(line, "message") {
        Some(message) if json::get_str(message, "role").as_deref() == Some("hookMessage") => {
            let message = ObjectEdit::new().set("role", "\"custom\"").apply(message);
            // Bytes that are no UTF-8 stay what they are: the edit below works on bytes.
            edit.set_bytes("message", message)
        }
        _ => edit,
    }
}

/// The header as version 3 has it.
pub(crate) fn header(line: &[u8]) -> Vec<u8> {
    ObjectEdit::new().set("version", "3").apply(line)
}

/// What `firstKeptEntryIndex` means: an index into all lines that parse, the header being 0. Zero is
/// the start; one that is negative, later or out of range keeps nothing, as the entry's own id says.
fn anchor(tree: &Tree, compaction: u32, index: &[u8]) -> u32 {
    let index = std::str::from_utf8(index).ok().and_then(|text| text.parse::<f64>().ok());
    let Some(index) = index.filter(|index| index.fract() == 0.0 && *index >= 0.0) else { return compaction };
    let ordinals = tree.ordinals.as_deref().unwrap_or_default();
    let at = ordinals.partition_point(|&ordinal| f64::from(ordinal) < index);
    u32::try_from(at).unwrap_or(u32::MAX).min(compaction)
}

//! Entries and trees written piece by piece, from handles: one entry is in memory at a time, and
//! depth costs no stack.

use std::io::{self, Write};

use ramal_session::json::quote;
use ramal_session::{EntryRef, time};

use crate::view::says::{preview, says_for_preview};

/// Writes the entry as it stands, or, where the log cannot be read any more, what the tree knows of
/// it: the answer has begun and has to stay one line of JSON.
pub(super) fn entry(out: &mut dyn Write, entry: EntryRef<'_>) -> io::Result<()> {
    match entry.read() {
        Ok(read) => out.write_all(read.json().as_bytes()),
        Err(error) => out.write_all(envelope(entry, &error.to_string()).as_bytes()),
    }
}

fn envelope(entry: EntryRef<'_>, error: &str) -> String {
    let timestamp = entry.time().map_or_else(|| "null".into(), |ms| quote(&time::format(ms)));
    format!(
        "{{\"type\":{},\"id\":{},\"parentId\":{},\"timestamp\":{timestamp},\"unreadable\":true,\"error\":{}}}",
        entry.kind().name().map_or_else(|| "null".into(), quote),
        id(Some(entry)),
        id(entry.parent()),
        quote(error)
    )
}

/// The id of an entry as JSON text: null for none, or where it cannot be read.
pub(super) fn id(entry: Option<EntryRef<'_>>) -> String {
    entry.and_then(|entry| entry.id().ok()).map_or_else(|| "null".into(), |id| quote(&id))
}

/// Writes entries as an array.
pub(super) fn entries<'s>(out: &mut dyn Write, of: impl IntoIterator<Item = EntryRef<'s>>) -> io::Result<()> {
    out.write_all(b"[")?;
    for (count, one) in of.into_iter().enumerate() {
        if count > 0 {
            out.write_all(b",")?;
        }
        entry(out, one)?;
    }
    out.write_all(b"]")
}

/// What hangs on the roots, depth first, each entry with its depth: children oldest first.
struct DepthFirst<'s> {
    /// Not visited yet, the next one last.
    ahead: Vec<(EntryRef<'s>, usize)>,
}

impl<'s> DepthFirst<'s> {
    fn new(roots: &[EntryRef<'s>]) -> DepthFirst<'s> {
        DepthFirst { ahead: roots.iter().rev().map(|&root| (root, 0)).collect() }
    }
}

impl<'s> Iterator for DepthFirst<'s> {
    type Item = (EntryRef<'s>, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let (entry, depth) = self.ahead.pop()?;
        self.ahead.extend(entry.ordered_children().into_iter().rev().map(|child| (child, depth + 1)));
        Some((entry, depth))
    }
}

/// Writes the tree as nested nodes.
pub(super) fn tree(out: &mut dyn Write, roots: &[EntryRef<'_>]) -> io::Result<()> {
    out.write_all(b"[")?;
    let mut open = 0;
    for (node, depth) in DepthFirst::new(roots) {
        // A node at this depth, or deeper, was before it: a sibling stands on the left.
        let has_left = open > depth;
        while open > depth {
            out.write_all(b"]}")?;
            open -= 1;
        }
        if has_left {
            out.write_all(b",")?;
        }
        out.write_all(b"{\"entry\":")?;
        entry(out, node)?;
        if let Some(label) = node.label() {
            write!(out, ",\"label\":{}", quote(label))?;
            if let Some(timestamp) = label_timestamp(node) {
                write!(out, ",\"labelTimestamp\":{timestamp}")?;
            }
        }
        out.write_all(b",\"children\":[")?;
        open += 1;
    }
    for _ in 0..open {
        out.write_all(b"]}")?;
    }
    out.write_all(b"]")
}

/// The `timestamp` of the entry that set a label, as JSON text, as it stands.
fn label_timestamp(node: EntryRef<'_>) -> Option<String> {
    node.labelled_by()?.read().ok()?.get("timestamp").map(str::to_owned)
}

/// Writes the tree as rows, depth first. `cwd` is the session's: paths are given from there.
pub(super) fn rows(out: &mut dyn Write, cwd: &str, roots: &[EntryRef<'_>]) -> io::Result<()> {
    out.write_all(b"[")?;
    for (count, (node, _)) in DepthFirst::new(roots).enumerate() {
        if count > 0 {
            out.write_all(b",")?;
        }
        row(out, cwd, node)?;
    }
    out.write_all(b"]")
}

fn row(out: &mut dyn Write, cwd: &str, node: EntryRef<'_>) -> io::Result<()> {
    let read = node.read();
    let text = |text: Option<&str>| text.map_or_else(|| "null".into(), quote);
    let (type_name, role, preview) = match &read {
        Ok(entry) => {
            let role = entry.message().and_then(|message| message.get_str("role"));
            (Some(entry.type_name()), role, preview(&says_for_preview(entry, None, cwd)))
        }
        Err(error) => (node.kind().name().map(Into::into), None, error.to_string()),
    };
    write!(
        out,
        "{{\"id\":{},\"parentId\":{},\"type\":{},\"role\":{},\"preview\":{},\"label\":{}}}",
        id(Some(node)),
        id(node.parent()),
        text(type_name.as_deref()),
        text(role.as_deref()),
        quote(&preview),
        text(node.label())
    )
}

//! Entries and trees written piece by piece: a piece is in memory at a time, depth costs no stack, and
//! a client that does not read keeps nobody from the session.

use std::io::{self, Write};

use ramal_agent::AgentSession;
use ramal_session::json::quote;
use ramal_session::{EntryRef, SessionManager, time};

use super::answer::Refusal;

use crate::view::says::{preview, says_for_preview};

/// Bytes that come together before they are written.
const PIECE: usize = 256 * 1024;

/// Whether an answer that has begun has all that it should have.
pub(super) type Whole = Result<(), Refusal>;

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

/// The session as it was when it was asked for: what was appended later does not show.
pub(super) struct Snapshot {
    agent: AgentSession,
    session_id: String,
    count: usize,
}

impl Snapshot {
    pub(super) fn of(agent: &AgentSession) -> Snapshot {
        let (session_id, count) =
            agent.with_session(|session| (session.get_session_id().to_owned(), session.entry_count()));
        Snapshot { agent: agent.clone(), session_id, count }
    }

    /// Entries in it.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Writes piece by piece: `next` adds one to the text and answers whether there are more. The
    /// session is locked while a text of [`PIECE`] comes together, never while the client is written to.
    pub(super) fn write(
        &self,
        out: &mut dyn Write,
        mut next: impl FnMut(&SessionManager, &mut Vec<u8>) -> io::Result<bool>,
    ) -> io::Result<Whole> {
        let mut text = Vec::new();
        loop {
            text.clear();
            let is_there = self.agent.with_session(|session| {
                if session.get_session_id() != self.session_id {
                    return Ok(None);
                }
                while text.len() < PIECE {
                    if !next(session, &mut text)? {
                        return Ok(Some(false));
                    }
                }
                Ok(Some(true))
            });
            out.write_all(&text)?;
            match is_there {
                Ok(Some(true)) => {}
                Ok(Some(false)) => return Ok(Ok(())),
                Ok(None) => return Ok(Err(Refusal::new("the session was left for another meanwhile"))),
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes the entries at these places as an array.
    pub(super) fn entries(
        &self,
        out: &mut dyn Write,
        of: impl IntoIterator<Item = usize>,
    ) -> io::Result<Whole> {
        let (mut places, mut lead) = (of.into_iter(), "[");
        let whole = self.write(out, |session, text| {
            let Some(place) = places.next() else { return Ok(false) };
            if let Some(handle) = session.get_entry_at(place) {
                text.extend_from_slice(lead.as_bytes());
                lead = ",";
                entry(text, handle)?;
            }
            Ok(true)
        })?;
        out.write_all(if lead == "[" { b"[]" } else { b"]" })?;
        Ok(whole)
    }

    /// Writes the tree as nested nodes.
    pub(super) fn tree(&self, out: &mut dyn Write, roots: &[usize]) -> io::Result<Whole> {
        out.write_all(b"[")?;
        let mut visit = self.depth_first(roots);
        let mut open = 0;
        let whole = self.write(out, |session, out| {
            let Some((node, depth)) = visit.next(session) else { return Ok(false) };
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
            Ok(true)
        })?;
        for _ in 0..open {
            out.write_all(b"]}")?;
        }
        out.write_all(b"]")?;
        Ok(whole)
    }

    /// Writes the tree as rows, depth first. Paths are given from the session's directory.
    pub(super) fn rows(&self, out: &mut dyn Write, roots: &[usize]) -> io::Result<Whole> {
        let (mut visit, mut lead) = (self.depth_first(roots), "[");
        let whole = self.write(out, |session, out| {
            let Some((node, _)) = visit.next(session) else { return Ok(false) };
            out.extend_from_slice(lead.as_bytes());
            lead = ",";
            row(out, session.get_cwd(), node)?;
            Ok(true)
        })?;
        out.write_all(if lead == "[" { b"[]" } else { b"]" })?;
        Ok(whole)
    }

    fn depth_first(&self, roots: &[usize]) -> DepthFirst {
        DepthFirst { ahead: roots.iter().rev().map(|&root| (root, 0)).collect(), count: self.count }
    }
}

/// What hangs on the roots, depth first, each entry with its depth: children oldest first.
struct DepthFirst {
    /// Places of entries not visited yet, the next one last.
    ahead: Vec<(usize, usize)>,
    /// Entries at this place and behind it came too late.
    count: usize,
}

impl DepthFirst {
    fn next<'s>(&mut self, session: &'s SessionManager) -> Option<(EntryRef<'s>, usize)> {
        let (place, depth) = self.ahead.pop()?;
        let entry = session.get_entry_at(place)?;
        let children = entry.ordered_children().into_iter().rev().map(EntryRef::position);
        self.ahead.extend(children.filter(|&child| child < self.count).map(|child| (child, depth + 1)));
        Some((entry, depth))
    }
}

/// The `timestamp` of the entry that set a label, as JSON text, as it stands.
fn label_timestamp(node: EntryRef<'_>) -> Option<String> {
    node.labelled_by()?.read().ok()?.get("timestamp").map(str::to_owned)
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

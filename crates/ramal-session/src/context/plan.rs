//! Which entries of a path contribute to its context, and in what order. Numbers only.

use std::collections::HashMap;

use memchr::memmem;

use super::render;
use super::state::State;
use crate::entry::{Entry, Kind, Role};
use crate::error::ReadError;
use crate::log::window::Window;
use crate::manager::SessionManager;
use crate::tree::node::NONE;

/// An entry that contributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item {
    /// The entry.
    pub(super) number: u32,
    /// The `context_edit` that gives it another content, or `NONE`.
    pub(super) edit: u32,
}

/// What a walk over a path has found.
#[derive(Debug)]
pub(super) struct Surveyed {
    pub(super) state: State,
    pub(super) items: Vec<Item>,
}

/// What the latest edit of an entry does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edit {
    LeaveOut,
    /// The edit that holds the new content.
    Replace(u32),
    Nothing,
}

/// The compaction that speaks for what stands before it.
struct Speaker {
    /// Its place on the path.
    at: usize,
    /// Where what it keeps begins; its own place if it keeps nothing.
    from: usize,
    /// It has a system message of its own.
    has_system: bool,
}

/// Walks over a path: settings, edits, the latest boundary and compaction, then who contributes.
pub(super) fn survey(session: &SessionManager, path: &[u32]) -> Result<Surveyed, ReadError> {
    let mut state = State::new();
    let mut edits = HashMap::new();
    let mut begin = 0;
    for (at, &number) in path.iter().enumerate() {
        match session.tree.node(number).kind {
            kind if State::is_set_by(kind) => state.take(&session.entry(number)?),
            Kind::ContextEdit => {
                if let Some((target, edit)) = read_edit(session, &session.entry(number)?, number) {
                    edits.insert(target, edit);
                }
            }
            Kind::ResetBoundary => begin = at + 1,
            _ => {}
        }
    }
    default_model(session, path, &mut state)?;
    let speaker = speaker(session, path, begin)?;
    Ok(Surveyed { state, items: items(session, path, begin, speaker, &edits) })
}

/// Where no entry chose the model that answers, the last answer that names one does.
fn default_model(session: &SessionManager, path: &[u32], state: &mut State) -> Result<(), ReadError> {
    if state.has_default_model() {
        return Ok(());
    }
    let mut lines = Window::new();
    let provider = memmem::Finder::new(b"provider");
    for &number in path.iter().rev() {
        let node = session.tree.node(number);
        if node.kind == Kind::Message && node.role == Role::Assistant {
            // Nearly every answer names its model; where none does, the whole path is walked over,
            // and then it shall be quick.
            let line = lines.read(&session.log, node.offset(), node.len());
            let line = line.map_err(|source| session.read_error(number, source))?;
            if provider.find(line).is_none() && memchr::memchr(b'\\', line).is_none() {
                continue;
            }
            let entry = session.entry(number)?;
            if entry.message().is_some_and(|answer| state.take_answer(answer)) {
                break;
            }
        }
    }
    Ok(())
}

/// What an edit is about, and what it does.
fn read_edit(session: &SessionManager, entry: &Entry, number: u32) -> Option<(u32, Edit)> {
    // An unreadable one has no target any more.
    let target = session.tree.find_seen_from(&entry.get_str("targetId")?, number)?;
    let edit = match entry.get("replacement") {
        Some("null") => Edit::LeaveOut,
        Some(replacement) if render::new_content(replacement).is_some() => Edit::Replace(number),
        _ => Edit::Nothing,
    };
    Some((target, edit))
}

/// The latest compaction behind `begin` that can be read.
fn speaker(session: &SessionManager, path: &[u32], begin: usize) -> Result<Option<Speaker>, ReadError> {
    for at in (begin..path.len()).rev() {
        let number = path[at];
        if session.tree.node(number).kind != Kind::Compaction {
            continue;
        }
        let entry = session.entry(number)?;
        if entry.is_unreadable() {
            continue;
        }
        let anchor = entry.get_str("firstKeptEntryId");
        let anchor = anchor.and_then(|id| session.tree.find_seen_from(&id, number));
        let from = anchor.and_then(|anchor| path[..at].iter().position(|&other| other == anchor));
        return Ok(Some(Speaker {
            at,
            // What was cleared does not come back.
            from: from.map_or(at, |from| from.max(begin)),
            has_system: render::system_message(&entry).is_some(),
        }));
    }
    Ok(None)
}

fn items(
    session: &SessionManager,
    path: &[u32],
    begin: usize,
    speaker: Option<Speaker>,
    edits: &HashMap<u32, Edit>,
) -> Vec<Item> {
    let mut items = Vec::new();
    let mut add = |number: u32| match edits.get(&number) {
        Some(Edit::LeaveOut) => false,
        Some(Edit::Replace(edit)) => {
            items.push(Item { number, edit: *edit });
            true
        }
        Some(Edit::Nothing) | None => {
            items.push(Item { number, edit: NONE });
            true
        }
    };
    let node = |number: u32| session.tree.node(number);
    let speaks =
        |number: u32| matches!(node(number).kind, Kind::Message | Kind::CustomMessage | Kind::BranchSummary);
    let mut rest = begin;
    if let Some(speaker) = speaker {
        let own_system = add(path[speaker.at]) && speaker.has_system;
        for &number in &path[speaker.from..speaker.at] {
            if speaks(number) && !(own_system && node(number).role == Role::System) {
                add(number);
            }
        }
        rest = speaker.at + 1;
    }
    for &number in path[rest..].iter().filter(|&&number| speaks(number)) {
        add(number);
    }
    items
}

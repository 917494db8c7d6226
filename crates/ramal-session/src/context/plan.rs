//! Which entries of a path contribute to its context, and in what order. Numbers only.

use std::collections::HashMap;

use memchr::memmem;

use super::render;
use super::state::{self, State};
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
#[derive(Debug, Clone, Default)]
pub(super) struct Surveyed {
    /// What entries set.
    pub(super) state: State,
    /// The model that the last answer names, as far as that counts: no entry chose one.
    pub(super) answered_by: Option<String>,
    pub(super) items: Vec<Item>,
    edits: HashMap<u32, Edit>,
    /// An edit names an entry that is not there; should it come, it counts.
    waits: bool,
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
    let mut surveyed = Surveyed::default();
    let mut begin = 0;
    for (at, &number) in path.iter().enumerate() {
        match session.tree.node(number).kind {
            kind if State::is_set_by(kind) => surveyed.state.take(&session.entry(number)?),
            Kind::ContextEdit => match read_edit(session, &session.entry(number)?, number) {
                Some((target, edit)) => drop(surveyed.edits.insert(target, edit)),
                None => surveyed.waits = true,
            },
            Kind::ResetBoundary => begin = at + 1,
            _ => {}
        }
    }
    surveyed.ask_answers(session, path)?;
    let speaker = speaker(session, path, begin)?;
    surveyed.add_items(session, path, begin, speaker);
    Ok(surveyed)
}

impl Surveyed {
    /// Whether entries that follow leave what was found as it is, and only add to it.
    pub(super) fn can_go_on(&self, session: &SessionManager, path: &[u32]) -> bool {
        let changes = |&number: &u32| {
            matches!(
                session.tree.node(number).kind,
                Kind::Compaction | Kind::ContextEdit | Kind::ResetBoundary
            )
        };
        !self.waits && !path.iter().any(changes)
    }

    /// The survey of the path that goes on with `path`, if it can.
    pub(super) fn go_on(&self, session: &SessionManager, path: &[u32]) -> Result<Surveyed, ReadError> {
        let mut surveyed = self.clone();
        for &number in path {
            if State::is_set_by(session.tree.node(number).kind) {
                surveyed.state.take(&session.entry(number)?);
            }
        }
        surveyed.ask_answers(session, path)?;
        surveyed.add_items(session, path, 0, None);
        Ok(surveyed)
    }

    /// Where no entry chose the model that answers, the last answer that names one does.
    fn ask_answers(&mut self, session: &SessionManager, path: &[u32]) -> Result<(), ReadError> {
        if self.state.has_default_model() {
            self.answered_by = None;
        } else if let Some(model) = last_answer(session, path)? {
            self.answered_by = Some(model);
        }
        Ok(())
    }

    fn add_items(&mut self, session: &SessionManager, path: &[u32], begin: usize, speaker: Option<Speaker>) {
        let node = |number: u32| session.tree.node(number);
        let speaks = |number: u32| {
            matches!(node(number).kind, Kind::Message | Kind::CustomMessage | Kind::BranchSummary)
        };
        let mut rest = begin;
        if let Some(speaker) = speaker {
            let own_system = self.add(path[speaker.at]) && speaker.has_system;
            for &number in &path[speaker.from..speaker.at] {
                if speaks(number) && !(own_system && node(number).role == Role::System) {
                    self.add(number);
                }
            }
            rest = speaker.at + 1;
        }
        for &number in path[rest..].iter().filter(|&&number| speaks(number)) {
            self.add(number);
        }
    }

    /// Adds an entry, unless an edit leaves it out.
    fn add(&mut self, number: u32) -> bool {
        let edit = match self.edits.get(&number) {
            Some(Edit::LeaveOut) => return false,
            Some(Edit::Replace(edit)) => *edit,
            Some(Edit::Nothing) | None => NONE,
        };
        self.items.push(Item { number, edit });
        true
    }
}

/// The model that the last answer of a path names.
fn last_answer(session: &SessionManager, path: &[u32]) -> Result<Option<String>, ReadError> {
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
            if let Some(model) = entry.message().and_then(state::model_of_answer) {
                return Ok(Some(model));
            }
        }
    }
    Ok(None)
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

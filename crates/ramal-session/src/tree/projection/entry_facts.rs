//! The few facts that rows need of entries: a byte for each, and what it cost.
//!
//! What follows from the index is known at once. What stands in the payloads is read piece by piece,
//! from the leaf outwards, so that the rows around it are right before the whole log was read.

use std::borrow::Cow;
use std::ops::Range;

use super::visible::{Filter, Traits};
use crate::entry::{Kind, Role, Usage, payload};
use crate::error::ReadError;
use crate::json::{self, members};
use crate::log::window::Window;
use crate::tree::node::Node;
use crate::{EntryRef, SessionManager};

/// What is read of the payloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Whether answers have text.
    Text,
    /// Besides, what entries cost, and which tools failed.
    All,
}

/// Facts about the entries of a session: five bytes for each, beside what the session knows itself.
///
/// Payloads are read by [`EntryFacts::read`], as much at a time as one wants. An entry whose payload
/// has not been read is taken for one that filters show.
#[derive(Debug)]
pub struct EntryFacts {
    traits: Vec<Traits>,
    /// Empty unless costs are wanted.
    costs: Vec<f32>,
    detail: Detail,
    /// The entries whose payloads are known; it grows at both ends.
    known: Range<u32>,
    /// Those that had a label when last looked.
    labeled: Vec<u32>,
    above: Window,
    below: Window,
}

/// Entries that are read on one side of what is known before it is the other side's turn.
const RUN: u32 = 64;
/// What it counts, in bytes, to look whether an entry has to be read at all.
const GLANCE: u64 = 16;

impl EntryFacts {
    /// What is known without reading.
    pub fn new(session: &SessionManager, detail: Detail) -> EntryFacts {
        let start = session.leaf_number().map_or(session.entry_count() as u32, |leaf| leaf + 1);
        let mut facts = EntryFacts {
            traits: Vec::new(),
            costs: Vec::new(),
            detail,
            known: start..start,
            labeled: Vec::new(),
            above: Window::new(),
            below: Window::new(),
        };
        facts.take_in(session);
        facts
    }

    /// Takes in entries that were appended, and the labels as they are now. For a session whose
    /// [`SessionManager::generation`] is another than it was, facts have to be made anew.
    pub fn take_in(&mut self, session: &SessionManager) {
        let nodes = session.tree.nodes.get(self.traits.len()..).unwrap_or_default();
        self.traits.extend(nodes.iter().map(|node| Traits::of(node.kind, node.role)));
        if self.detail == Detail::All {
            self.costs.resize(self.traits.len(), 0.0);
        }
        for number in std::mem::take(&mut self.labeled) {
            self.change(number, |traits| traits.without(Traits::LABELED));
        }
        self.labeled = session.tree.all_labels().map(|(target, ..)| target).collect();
        for at in 0..self.labeled.len() {
            self.change(self.labeled[at], |traits| traits.and(Traits::LABELED));
        }
    }

    fn change(&mut self, number: u32, change: impl FnOnce(Traits) -> Traits) {
        if let Some(traits) = self.traits.get_mut(number as usize) {
            *traits = change(*traits);
        }
    }

    /// Reads on, outwards from where the leaf was at first, until about so many bytes were looked at.
    /// Answers whether a filter would show anything else now.
    ///
    /// # Errors
    /// If the log cannot be read any more. The entry is then passed over, and one may go on.
    pub fn read(&mut self, session: &SessionManager, bytes: u64) -> Result<bool, ReadError> {
        let mut changed = false;
        let mut left = bytes;
        while left > 0 && !self.is_complete() {
            for _ in 0..RUN {
                if self.known.end as usize == self.traits.len() || left == 0 {
                    break;
                }
                self.known.end += 1;
                let (hides, cost) = self.look_at(session, self.known.end - 1)?;
                changed |= hides;
                left = left.saturating_sub(cost);
            }
            for _ in 0..RUN {
                if self.known.start == 0 || left == 0 {
                    break;
                }
                self.known.start -= 1;
                let (hides, cost) = self.look_at(session, self.known.start)?;
                changed |= hides;
                left = left.saturating_sub(cost);
            }
        }
        Ok(changed)
    }

    /// Looks at one entry; answers whether it turned out to be one that filters hide, and the bytes that
    /// were read.
    fn look_at(&mut self, session: &SessionManager, number: u32) -> Result<(bool, u64), ReadError> {
        let node = session.tree.node(number);
        let all = self.detail == Detail::All;
        let wanted = match (node.kind, node.role) {
            (Kind::Message, Role::Assistant) => true,
            (Kind::Message, Role::ToolResult) => all,
            (Kind::BranchSummary | Kind::Compaction | Kind::Usage | Kind::ModelUsage, _) => all,
            _ => false,
        };
        if !wanted {
            return Ok((false, GLANCE));
        }
        let lines = if number < self.known.end - 1 { &mut self.above } else { &mut self.below };
        let line = lines.read(&session.log, node.offset(), node.len());
        let line = line.map_err(|source| session.read_error(number, source))?;
        let (traits, cost) = look(line, node);
        self.change(number, |before| before.and(traits));
        if let Some(place) = self.costs.get_mut(number as usize) {
            *place = cost as f32;
        }
        Ok((traits.has(Traits::SILENT), node.len().max(GLANCE)))
    }

    /// Whether all payloads are known.
    pub fn is_complete(&self) -> bool {
        self.known.start == 0 && self.known.end as usize == self.traits.len()
    }

    /// Of how many entries the payloads are known.
    pub fn known(&self) -> usize {
        self.known.len()
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.traits.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.traits.is_empty()
    }

    /// Whether a filter shows an entry, as far as is known.
    pub fn is_shown(&self, filter: Filter, entry: EntryRef<'_>) -> bool {
        filter.shows(self.traits(entry.position() as u32))
    }

    /// Entries that have a label, by position, in the order of the log.
    pub fn labeled(&self) -> &[u32] {
        &self.labeled
    }

    /// Whether an entry is a message of the user or an answer to one.
    pub fn is_turn(&self, position: usize) -> bool {
        self.traits.get(position).is_some_and(|traits| traits.has(Traits::USER.and(Traits::ANSWER)))
    }

    #[cfg(test)]
    pub(super) fn all(&self) -> (&[Traits], &[f32]) {
        (&self.traits, &self.costs)
    }

    pub(super) fn traits(&self, number: u32) -> Traits {
        self.traits.get(number as usize).copied().unwrap_or_default()
    }

    /// What an entry cost, in dollars.
    pub(super) fn cost(&self, number: u32) -> f64 {
        self.costs.get(number as usize).copied().map_or(0.0, f64::from)
    }
}

fn look(line: &[u8], node: &Node) -> (Traits, f64) {
    if node.kind != Kind::Message {
        return (Traits::NONE, json::get(line, "usage").map_or(0.0, cost));
    }
    let is_answer = node.role == Role::Assistant;
    // An answer that cannot be read is shown as such, whatever can be guessed of it.
    if is_answer && !json::text::is_valid_line(line) {
        return (Traits::NONE, 0.0);
    }
    let Some((place, members)) = members::get_object(line, "message") else { return (Traits::NONE, 0.0) };
    let message = &line[place];
    let get = |key| {
        let member =
            members.iter().rev().find(|member| members::is_key(&message[member.key.clone()], key))?;
        message.get(member.value.clone())
    };
    if !is_answer {
        return (if get("isError") == Some(b"true") { Traits::FAILED } else { Traits::NONE }, 0.0);
    }
    let ended_well = matches!(get("stopReason"), None | Some(b"\"stop\"" | b"\"toolUse\"" | b"null"));
    let silent = ended_well && !get("content").is_some_and(holds_text);
    (if silent { Traits::SILENT } else { Traits::NONE }, get("usage").map_or(0.0, cost))
}

fn holds_text(content: &[u8]) -> bool {
    let says = |text: Cow<'_, str>| !text.trim().is_empty();
    members::as_str(content).is_some_and(says)
        || members::items(content).any(|block| payload::block_text(block).is_some_and(says))
}

fn cost(usage: &[u8]) -> f64 {
    std::str::from_utf8(usage).map(|usage| Usage::read(usage).cost).unwrap_or_default()
}

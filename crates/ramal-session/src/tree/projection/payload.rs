//! The few bits that rows need of what entries hold, read once in the order of the file.

use std::borrow::Cow;

use super::View;
use crate::SessionManager;
use crate::entry::{Kind, Role, Usage, payload};
use crate::error::ReadError;
use crate::json::{self, members};
use crate::log::window::Window;
use crate::tree::node::Node;

/// What is kept of the payloads: a byte for each entry, and its cost if facts are wanted.
#[derive(Debug, Default)]
pub(super) struct Payloads {
    bits: Vec<u8>,
    costs: Vec<f32>,
}

/// An answer without text that ended as answers should.
const SILENT: u8 = 1;
/// A tool that failed.
const FAILED: u8 = 2;

impl Payloads {
    /// Reads what `view` needs; nothing if it needs nothing.
    pub(super) fn read(session: &SessionManager, view: &View) -> Result<Payloads, ReadError> {
        let mut payloads = Payloads::default();
        if !view.facts && !view.filter.looks_at_text() {
            return Ok(payloads);
        }
        let nodes = &session.tree.nodes;
        payloads.bits = vec![0; nodes.len()];
        if view.facts {
            payloads.costs = vec![0.0; nodes.len()];
        }
        let mut lines = Window::new();
        for (number, node) in nodes.iter().enumerate() {
            let wanted = match (node.kind, node.role) {
                (Kind::Message, Role::Assistant) => true,
                (Kind::Message, Role::ToolResult) => view.facts,
                (Kind::BranchSummary | Kind::Compaction | Kind::Usage | Kind::ModelUsage, _) => view.facts,
                _ => false,
            };
            if !wanted {
                continue;
            }
            let line = lines.read(&session.log, node.offset(), node.len());
            let line = line.map_err(|source| session.read_error(number as u32, source))?;
            let (bits, cost) = look(line, node);
            payloads.bits[number] = bits;
            if let Some(place) = payloads.costs.get_mut(number) {
                *place = cost as f32;
            }
        }
        Ok(payloads)
    }

    /// Whether an entry is an answer without text that ended by `stop` or `toolUse`.
    pub(super) fn is_silent(&self, number: u32) -> bool {
        self.has(number, SILENT)
    }

    /// Whether an entry is the result of a tool that failed.
    pub(super) fn failed(&self, number: u32) -> bool {
        self.has(number, FAILED)
    }

    /// What an entry cost, in dollars.
    pub(super) fn cost(&self, number: u32) -> f64 {
        self.costs.get(number as usize).copied().map_or(0.0, f64::from)
    }

    fn has(&self, number: u32, bit: u8) -> bool {
        self.bits.get(number as usize).is_some_and(|bits| bits & bit != 0)
    }
}

fn look(line: &[u8], node: &Node) -> (u8, f64) {
    if node.kind != Kind::Message {
        return (0, json::get(line, "usage").map_or(0.0, cost));
    }
    let is_answer = node.role == Role::Assistant;
    // An answer that cannot be read is shown as such, whatever can be guessed of it.
    if is_answer && !json::is_valid(&json::clean(line)) {
        return (0, 0.0);
    }
    let Some((place, members)) = members::get_object(line, "message") else { return (0, 0.0) };
    let message = &line[place];
    let get = |key| {
        let member =
            members.iter().rev().find(|member| members::is_key(&message[member.key.clone()], key))?;
        message.get(member.value.clone())
    };
    if !is_answer {
        return (if get("isError") == Some(b"true") { FAILED } else { 0 }, 0.0);
    }
    let ended_well = matches!(get("stopReason"), None | Some(b"\"stop\"" | b"\"toolUse\"" | b"null"));
    let silent = ended_well && !get("content").is_some_and(holds_text);
    (if silent { SILENT } else { 0 }, get("usage").map_or(0.0, cost))
}

fn holds_text(content: &[u8]) -> bool {
    let says = |text: Cow<'_, str>| !text.trim().is_empty();
    members::as_str(content).is_some_and(says)
        || members::items(content).any(|block| payload::block_text(block).is_some_and(says))
}

fn cost(usage: &[u8]) -> f64 {
    std::str::from_utf8(usage).map(|usage| Usage::read(usage).cost).unwrap_or_default()
}

//! What lies in a branch, at a glance: its turns, when it was last worked on, what it cost, and
//! whether it ended in a failure.

use super::payload::Payloads;
use super::{CONNECTED, Projection};
use crate::entry::Role;
use crate::entry::time::UNREADABLE;
use crate::tree::Tree;
use crate::tree::node::NONE;

/// What lies in a branch: in the entry that begins it and everything below, hidden entries included.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BranchFacts {
    /// Entries.
    pub entries: u32,
    /// Messages of the user.
    pub turns: u32,
    /// When its newest conversation entry was made, in milliseconds since 1970.
    pub last: Option<i64>,
    /// What its answers and summaries cost, in dollars, each counted once.
    pub cost: f64,
    /// Whether the last tool that was run in it failed.
    pub last_tool_failed: bool,
}

/// Facts of all branches: one record for each row that begins one.
#[derive(Debug)]
pub(super) struct Facts {
    /// In the order of the rows.
    branches: Vec<Branch>,
}

#[derive(Debug)]
struct Branch {
    row: u32,
    facts: BranchFacts,
    /// The entry of its last tool result, plus one; zero for none.
    last_tool: u32,
}

impl Facts {
    /// One pass over the entries, and one over the branches from below.
    pub(super) fn gather(tree: &Tree, projection: &Projection, payloads: &Payloads) -> Facts {
        let rows = &projection.rows;
        let mut facts = Facts { branches: Vec::new() };
        for (at, row) in (0u32..).zip(rows) {
            if row.is(CONNECTED) || row.parent == NONE {
                facts.branches.push(Branch { row: at, facts: BranchFacts::default(), last_tool: 0 });
            }
        }
        for ((number, node), &row) in (0u32..).zip(&tree.nodes).zip(&projection.row_of) {
            let Some(row) = rows.get(row as usize) else { continue };
            let Some(place) = facts.place(row.head) else { continue };
            let branch = &mut facts.branches[place];
            branch.facts.entries += 1;
            branch.facts.turns += u32::from(node.role == Role::User);
            branch.facts.cost += payloads.cost(number);
            if node.kind.is_conversation() && node.time != UNREADABLE {
                branch.facts.last = branch.facts.last.max(Some(node.time));
            }
            if node.role == Role::ToolResult {
                branch.last_tool = number + 1;
                branch.facts.last_tool_failed = payloads.failed(number);
            }
        }
        // Rows above stand before those below, so that each is complete before it is handed up.
        for at in (0..facts.branches.len()).rev() {
            let parent = rows[facts.branches[at].row as usize].parent;
            let Some(head) = rows.get(parent as usize).map(|row| row.head) else { continue };
            let Some(place) = facts.place(head) else { continue };
            let (above, below) = facts.branches.split_at_mut(at);
            let (Some(above), Some(below)) = (above.get_mut(place), below.first()) else { continue };
            above.facts.entries += below.facts.entries;
            above.facts.turns += below.facts.turns;
            above.facts.cost += below.facts.cost;
            above.facts.last = above.facts.last.max(below.facts.last);
            if below.last_tool > above.last_tool {
                above.last_tool = below.last_tool;
                above.facts.last_tool_failed = below.facts.last_tool_failed;
            }
        }
        facts
    }

    fn place(&self, row: u32) -> Option<usize> {
        self.branches.binary_search_by_key(&row, |branch| branch.row).ok()
    }

    pub(super) fn of(&self, row: usize) -> Option<BranchFacts> {
        let place = self.place(u32::try_from(row).ok()?)?;
        self.branches.get(place).map(|branch| branch.facts)
    }
}

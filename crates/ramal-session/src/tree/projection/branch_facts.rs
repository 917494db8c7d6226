//! What lies in a branch, at a glance: its turns, when it was last worked on, what it cost, and
//! whether it ended in a failure.

use super::visible::Traits;
use super::{EntryFacts, Projection};
use crate::SessionManager;
use crate::entry::time::UNREADABLE;

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

/// Facts of all branches of a projection.
#[derive(Debug)]
pub struct BranchTotals {
    /// One for each stretch.
    branches: Vec<Branch>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Branch {
    facts: BranchFacts,
    /// The entry of its last tool result, plus one; zero for none.
    last_tool: u32,
}

impl Branch {
    fn add(&mut self, below: &Branch) {
        self.facts.entries += below.facts.entries;
        self.facts.turns += below.facts.turns;
        self.facts.cost += below.facts.cost;
        self.facts.last = self.facts.last.max(below.facts.last);
        if below.last_tool > self.last_tool {
            self.last_tool = below.last_tool;
            self.facts.last_tool_failed = below.facts.last_tool_failed;
        }
    }
}

impl BranchTotals {
    /// One pass over the entries, and one over the branches from below. The three are to be of one
    /// session, and as new as each other.
    pub fn gather(session: &SessionManager, facts: &EntryFacts, projection: &Projection) -> BranchTotals {
        let stretches = projection.stretches();
        let mut totals = BranchTotals { branches: vec![Branch::default(); stretches.len()] };
        // Neighbours in the log are mostly in one stretch.
        let mut rows = 0..0;
        let mut at = 0;
        for (number, node) in (0u32..).zip(&session.tree.nodes) {
            let Some(row) = projection.nearest_to(number as usize) else { continue };
            if !rows.contains(&row) {
                let Some(stretch) = projection.stretch_of(row) else { continue };
                at = stretch;
                rows = stretches[at].first as usize
                    ..stretches.get(at + 1).map_or(projection.len(), |next| next.first as usize);
            }
            let Some(branch) = totals.branches.get_mut(at) else { continue };
            let traits = facts.traits(number);
            branch.facts.entries += 1;
            branch.facts.turns += u32::from(traits.has(Traits::USER));
            branch.facts.cost += facts.cost(number);
            if node.kind.is_conversation() && node.time != UNREADABLE {
                branch.facts.last = branch.facts.last.max(Some(node.time));
            }
            if traits.has(Traits::TOOL_RESULT) {
                branch.last_tool = number + 1;
                branch.facts.last_tool_failed = traits.has(Traits::FAILED);
            }
        }
        // What is above stands before what is below, so that each is complete before it is handed up.
        for at in (0..stretches.len()).rev() {
            let (before, from) = totals.branches.split_at_mut(at);
            if let (Some(above), Some(below)) = (before.get_mut(stretches[at].above as usize), from.first()) {
                above.add(below);
            }
        }
        totals
    }

    /// What lies in the branch that a row of that projection begins; none for other rows.
    pub fn of(&self, projection: &Projection, row: usize) -> Option<BranchFacts> {
        let at = projection.stretch_of(row)?;
        let is_first = projection.stretches().get(at)?.first as usize == row;
        self.branches.get(at).filter(|_| is_first).map(|branch| branch.facts)
    }
}

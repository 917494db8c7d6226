//! The tree as rows: what a filter, a search and folds leave of it, in the order in which it is drawn
//! (contract, section 10).
//!
//! Nothing here knows of a terminal. A row is known by four bytes and says only where it stands; what
//! its entry says is read when the row is drawn. Rows that follow each other without a fork are a
//! stretch, and what rows share is kept once for each. All walks are loops and linear in the entries.
//!
//! Whoever wants a drawing once asks [`SessionManager::project`]. Whoever keeps one before somebody's
//! eyes keeps a [`TreeOrder`] and [`EntryFacts`], brings them up to date, and makes a [`Projection`] of
//! them whenever what is shown changes.

mod branch_facts;
mod calls;
mod entry_facts;
mod order;
mod plainly;
mod row;
mod search;
mod set;
#[cfg(test)]
mod tests;
mod visible;

use std::collections::BTreeSet;

pub use branch_facts::{BranchFacts, BranchTotals};
pub use calls::{CallOf, Calls};
pub use entry_facts::{Detail, EntryFacts};
pub use order::TreeOrder;
pub use row::{Guide, Row};
pub(crate) use search::Word;
pub use search::{Search, Searcher};
pub use set::EntrySet;
pub use visible::Filter;

use self::order::Placed;
use self::row::Stretch;
use super::node::NONE;
use crate::error::ReadError;
use crate::{EntryRef, SessionManager};

/// What is to be shown of a tree.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// Which entries are shown.
    pub filter: Filter,
    /// Words that must all occur in an entry, upper and lower case being the same; empty to search
    /// for nothing.
    pub search: String,
    /// Entries below which nothing is shown, by their [`EntryRef::position`].
    pub folded: BTreeSet<usize>,
    /// Whether [`Projection::facts`] will be asked for. Then every entry that can cost something or
    /// fail is looked at.
    pub facts: bool,
}

/// What is shown of a tree whose facts are known.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shown<'a> {
    /// Which entries are shown.
    pub filter: Filter,
    /// Of these only those, if a search found some.
    pub found: Option<&'a EntrySet>,
    /// Entries below which nothing is shown, by their positions.
    pub folded: Option<&'a BTreeSet<usize>>,
    /// The entry where one stands, by its position. It is shown under every filter and search.
    pub current: Option<usize>,
}

/// The rows of a tree, in the order of the drawing: depth first, at every fork the active branch first
/// and the others oldest to newest. It holds for the session as it was when made.
#[derive(Debug, Default)]
pub struct Projection {
    /// The entry of each row.
    nodes: Vec<u32>,
    /// For each entry the row that shows it, or the nearest one above it.
    row_of: Vec<u32>,
    /// The unbranched stretches, in the order of their rows.
    stretches: Vec<Stretch>,
    /// Rows that are folded, in their order.
    folds: Vec<Fold>,
    current_row: Option<u32>,
    totals: Option<BranchTotals>,
}

/// A folded row.
#[derive(Debug, Clone, Copy)]
struct Fold {
    row: u32,
    /// Whether anything would be visible below it.
    hides: bool,
    hides_current: bool,
}

impl SessionManager {
    /// The rows that `view` leaves of the tree.
    ///
    /// The leaf is visible under every filter and search; below a fold it is not, and the folded row
    /// says so.
    ///
    /// # Errors
    /// If the log cannot be read any more. Nothing is read for the filters `all` and `user-only`
    /// without search and facts.
    pub fn project(&self, view: &View) -> Result<Projection, ReadError> {
        let current = self.get_leaf_entry().map(EntryRef::position);
        let mut facts = EntryFacts::new(self, if view.facts { Detail::All } else { Detail::Text });
        if view.facts || view.filter.looks_at_text() {
            facts.read(self, u64::MAX)?;
        }
        let search = Search::new(&view.search);
        let found = if search.is_empty() { None } else { Some(found(self, view.filter, &facts, &search)?) };
        let shown = Shown { filter: view.filter, found: found.as_ref(), folded: Some(&view.folded), current };
        let mut projection = Projection::new(&TreeOrder::new(self), &facts, &shown);
        if view.facts {
            projection.totals = Some(BranchTotals::gather(self, &facts, &projection));
        }
        Ok(projection)
    }
}

/// What of that which a filter shows is found by a search.
fn found(
    session: &SessionManager,
    filter: Filter,
    facts: &EntryFacts,
    search: &Search,
) -> Result<EntrySet, ReadError> {
    let mut searcher = Searcher::new();
    let mut found = EntrySet::new();
    for entry in session.get_entries().filter(|&entry| facts.is_shown(filter, entry)) {
        if searcher.finds(session, search, entry)? {
            found.insert(entry.position());
        }
    }
    Ok(found)
}

impl Projection {
    /// The rows that are left of a tree in an order; one pass over it. Both are to be of one
    /// session, and as new as each other.
    pub fn new(order: &TreeOrder, facts: &EntryFacts, shown: &Shown<'_>) -> Projection {
        let mut projection = Projection::default();
        projection.rebuild(order, facts, shown);
        projection
    }

    /// As [`Projection::new`], in the room that the rows before took.
    pub fn rebuild(&mut self, order: &TreeOrder, facts: &EntryFacts, shown: &Shown<'_>) {
        self.totals = None;
        let parents = self.place(order, facts, shown);
        self.connect(order, &parents);
    }

    /// Gives the visible entries their rows; answers the row above each.
    fn place(&mut self, order: &TreeOrder, facts: &EntryFacts, shown: &Shown<'_>) -> Vec<u32> {
        let current = shown.current.map_or(NONE, |position| position as u32);
        let folded = shown.folded.filter(|folded| !folded.is_empty());
        self.nodes.clear();
        self.folds.clear();
        self.current_row = None;
        self.row_of.clear();
        self.row_of.resize(order.taken(), NONE);
        let mut parents = Vec::with_capacity(order.taken());
        // The fold that a row is, plus one.
        let mut fold_of: Vec<u32> = Vec::new();
        for &Placed { node: number, parent } in order.entries() {
            let above = self.row_of.get(parent as usize).copied().unwrap_or(NONE);
            let is_current = number == current;
            let is_visible = is_current
                || (shown.filter.shows(facts.traits(number))
                    && shown.found.is_none_or(|found| found.contains(number as usize)));
            let mut row = above;
            if is_visible {
                let fold = fold_of
                    .get(above as usize)
                    .and_then(|&fold| self.folds.get_mut((fold as usize).wrapping_sub(1)));
                if let Some(fold) = fold {
                    fold.hides = true;
                    fold.hides_current |= is_current;
                } else {
                    row = self.nodes.len() as u32;
                    self.nodes.push(number);
                    parents.push(above);
                    if is_current {
                        self.current_row = Some(row);
                    }
                    if let Some(folded) = folded {
                        let is_folded = folded.contains(&(number as usize));
                        if is_folded {
                            self.folds.push(Fold { row, hides: false, hides_current: false });
                        }
                        fold_of.push(if is_folded { self.folds.len() as u32 } else { 0 });
                    }
                }
            }
            if let Some(place) = self.row_of.get_mut(number as usize) {
                *place = row;
            }
        }
        parents
    }

    /// Finds the stretches: a row goes on with the one above it if it is the only one that hangs there.
    fn connect(&mut self, order: &TreeOrder, parents: &[u32]) {
        let mut children = vec![0u8; parents.len()];
        let mut roots = 0u8;
        for &parent in parents {
            let count = children.get_mut(parent as usize).unwrap_or(&mut roots);
            *count = count.saturating_add(1);
        }
        self.stretches.clear();
        // The stretches that the one at hand is within, outermost first.
        let mut open: Vec<u32> = Vec::new();
        for ((row, &parent), &node) in (0u32..).zip(parents).zip(&self.nodes) {
            if children.get(parent as usize).is_none_or(|&count| count > 1) {
                let above = self.close_down_to(&mut open, parent, row);
                let depth = match self.stretches.get(above as usize) {
                    Some(above) => above.depth + 1,
                    None => u32::from(roots > 1),
                };
                open.push(self.stretches.len() as u32);
                self.stretches.push(Stretch { first: row, above, depth, active_to: row, is_last: true });
            }
            if order.is_active(node as usize)
                && let Some(stretch) = self.stretches.last_mut()
            {
                stretch.active_to = row + 1;
            }
        }
        self.mark_who_is_not_last();
    }

    /// Leaves stretches until that which ends in the row `parent`; answers it, or [`NONE`] for a root.
    fn close_down_to(&self, open: &mut Vec<u32>, parent: u32, row: u32) -> u32 {
        while let Some(&stretch) = open.last() {
            // All that hangs on a stretch stands behind it: where the next begins, it ends.
            let end = self.stretches.get(stretch as usize + 1).map_or(row, |next| next.first);
            if parent != NONE && end == parent + 1 {
                return stretch;
            }
            open.pop();
        }
        NONE
    }

    /// A branch is the last of its fork if none comes behind it.
    fn mark_who_is_not_last(&mut self) {
        let mut seen = vec![false; self.stretches.len() + 1];
        let roots = self.stretches.len();
        for stretch in self.stretches.iter_mut().rev() {
            let above = (stretch.above as usize).min(roots);
            stretch.is_last = !std::mem::replace(&mut seen[above], true);
        }
    }
}

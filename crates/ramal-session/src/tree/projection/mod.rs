//! The tree as rows: what a filter, a search and folds leave of it, in the order in which it is drawn
//! (contract, section 10).
//!
//! Nothing here knows of a terminal. A row is twenty bytes and says only where it stands; what its
//! entry says is read when the row is drawn. All walks are loops with a stack of their own and linear
//! in the entries, and payloads are looked at in the order of the file.

mod calls;
mod facts;
mod payload;
mod search;
#[cfg(test)]
mod tests;
mod visible;

use std::collections::BTreeSet;

pub use calls::{CallOf, Calls};
pub use facts::BranchFacts;
pub use visible::Filter;

use self::facts::Facts;
use self::payload::Payloads;
use self::search::Search;
use super::Tree;
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

/// One visible entry, and where it stands in the drawing.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    node: u32,
    /// The row of the nearest visible ancestor.
    parent: u32,
    /// The row at which the unbranched stretch begins that this one is in.
    head: u32,
    depth: u32,
    marks: u8,
}

const _: () = assert!(size_of::<Row>() <= 24);

const ACTIVE: u8 = 1;
const LEAF: u8 = 2;
const FORK: u8 = 4;
const CONNECTED: u8 = 8;
const LAST: u8 = 16;
const PARENT_OF_ANY: u8 = 32;
const FOLDED: u8 = 64;
const FOLDS_LEAF: u8 = 128;

impl Row {
    fn is(self, mark: u8) -> bool {
        self.marks & mark != 0
    }

    /// How many levels it is indented: one for each fork above it, forks being counted among what is
    /// visible. A connector of its own is the last of them.
    pub fn depth(self) -> usize {
        self.depth as usize
    }

    /// Whether it is on the path from the root to the leaf.
    pub fn is_active(self) -> bool {
        self.is(ACTIVE)
    }

    /// Whether it is the leaf.
    pub fn is_leaf(self) -> bool {
        self.is(LEAF)
    }

    /// Whether more than one visible branch goes on from here.
    pub fn is_fork(self) -> bool {
        self.is(FORK)
    }

    /// Whether it is the first of a branch at a fork, and drawn with a connector.
    pub fn starts_branch(self) -> bool {
        self.is(CONNECTED)
    }

    /// Whether it can be folded: the beginning of a branch, or a root, that something follows.
    pub fn is_foldable(self) -> bool {
        (self.is(CONNECTED) || self.parent == NONE) && self.is(PARENT_OF_ANY)
    }

    /// Whether something that would be visible below it is folded away.
    pub fn is_folded(self) -> bool {
        self.is(FOLDED) && self.is(PARENT_OF_ANY)
    }

    /// Whether the leaf is what is folded away below it, or among it.
    pub fn folds_leaf(self) -> bool {
        self.is(FOLDS_LEAF)
    }
}

/// One level of the lines left of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guide {
    /// Nothing: the branch of this level was the last of its fork.
    Blank,
    /// `│`: more branches of this level's fork follow below.
    Line,
    /// `├`: the row begins a branch, and more follow.
    Tee,
    /// `└`: the row begins the last branch of its fork.
    Corner,
}

/// The rows of a tree under a [`View`], in the order of the drawing: depth first, at every fork the
/// active branch first and the others oldest to newest. It holds for the session as it was when made.
#[derive(Debug)]
pub struct Projection {
    rows: Vec<Row>,
    /// For each entry the row that shows it, or the nearest one above it.
    row_of: Vec<u32>,
    facts: Option<Facts>,
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
        let leaf = self.get_leaf_entry().map(|entry| entry.position() as u32);
        let payloads = Payloads::read(self, view)?;
        let mut visible = visible::mark(&self.tree, view.filter, leaf, &payloads);
        let search = Search::new(&view.search);
        if !search.is_empty() {
            search.narrow(self, leaf, &mut visible)?;
        }
        let mut projection = build(&self.tree, &visible, leaf, &view.folded);
        if view.facts {
            projection.facts = Some(Facts::gather(&self.tree, &projection, &payloads));
        }
        Ok(projection)
    }
}

/// Walks over the tree once and makes a row of each node that is visible.
fn build(tree: &Tree, visible: &[bool], leaf: Option<u32>, folded: &BTreeSet<usize>) -> Projection {
    let mut active = vec![false; tree.len()];
    for node in leaf.into_iter().flat_map(|leaf| tree.upwards(leaf)) {
        active[node as usize] = true;
    }
    let mut rows: Vec<Row> = Vec::new();
    let mut row_of = vec![NONE; tree.len()];
    let mut children = Vec::new();
    // What is still to be visited, each with the row above it.
    let mut waiting: Vec<(u32, u32)> = Vec::new();
    let mut above = NONE;
    let mut parent = None;
    loop {
        children.clear();
        tree.ordered_children(parent, &mut children);
        if let Some(place) = children.iter().position(|&child| active[child as usize]) {
            children[..=place].rotate_right(1);
        }
        waiting.extend(children.iter().rev().map(|&child| (child, above)));
        let Some((node, row_above)) = waiting.pop() else { break };
        let is_leaf = leaf == Some(node);
        above = row_above;
        if visible[node as usize] {
            match rows.get_mut(row_above as usize).filter(|row| row.is(FOLDED)) {
                Some(row) => row.marks |= PARENT_OF_ANY | if is_leaf { FOLDS_LEAF } else { 0 },
                None => {
                    above = rows.len() as u32;
                    let mut marks = if active[node as usize] { ACTIVE } else { 0 };
                    marks |= if is_leaf { LEAF } else { 0 };
                    marks |= if folded.contains(&(node as usize)) { FOLDED } else { 0 };
                    rows.push(Row { node, parent: row_above, head: NONE, depth: 0, marks });
                }
            }
        }
        row_of[node as usize] = above;
        parent = Some(node);
    }
    connect(&mut rows);
    Projection { rows, row_of, facts: None }
}

/// Gives the rows their forks, connectors and depths.
fn connect(rows: &mut [Row]) {
    // From below: the first child met is the last of its siblings.
    let mut roots = 0;
    for at in (0..rows.len()).rev() {
        let up = rows[at].parent;
        let (any, mark) = match rows.get_mut(up as usize) {
            Some(parent) => {
                let any = parent.is(PARENT_OF_ANY);
                parent.marks |= if any { FORK } else { PARENT_OF_ANY };
                (any, LAST)
            }
            None => {
                roots += 1;
                (roots > 1, LAST)
            }
        };
        if !any {
            rows[at].marks |= mark;
        }
    }
    for at in 0..rows.len() {
        let up = rows[at].parent;
        let (depth, head, forked) = match rows.get(up as usize) {
            Some(parent) => (parent.depth, parent.head, parent.is(FORK)),
            None => (0, at as u32, roots > 1),
        };
        let row = &mut rows[at];
        (row.depth, row.head) = (depth, head);
        if forked {
            row.depth += 1;
            row.head = at as u32;
            row.marks |= CONNECTED;
        }
    }
}

impl Projection {
    /// The rows in the order of the drawing.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The entry of a row; none if there is no such row.
    ///
    /// `session` is the one that was projected.
    pub fn entry<'a>(&self, session: &'a SessionManager, row: usize) -> Option<EntryRef<'a>> {
        let node = self.rows.get(row)?.node;
        ((node as usize) < session.tree.len()).then(|| session.handle(node))
    }

    /// The row of the nearest visible ancestor of a row.
    pub fn parent(&self, row: usize) -> Option<usize> {
        self.rows
            .get(row)
            .map(|row| row.parent)
            .filter(|&parent| parent != NONE)
            .map(|parent| parent as usize)
    }

    /// The row of an entry, or of its nearest visible ancestor: what becomes of a selection when the
    /// view changes.
    pub fn nearest(&self, entry: EntryRef<'_>) -> Option<usize> {
        let row = *self.row_of.get(entry.position())?;
        (row != NONE).then_some(row as usize)
    }

    /// The row of the leaf; none before the first entry, and below a fold.
    pub fn leaf(&self, session: &SessionManager) -> Option<usize> {
        let row = self.nearest(session.get_leaf_entry()?)?;
        self.rows.get(row).filter(|row| row.is_leaf()).map(|_| row)
    }

    /// Whether the unbranched stretch that a row is in begins on the path to the leaf.
    pub fn is_beside_active(&self, row: usize) -> bool {
        self.rows
            .get(row)
            .and_then(|row| self.rows.get(row.head as usize))
            .is_some_and(|head| head.is_active())
    }

    /// How many entries no row shows.
    pub fn hidden(&self) -> usize {
        self.row_of.len() - self.rows.len()
    }

    /// The lines left of a row, outermost first: its innermost levels, at most `most` of them. How many
    /// were left out follows from [`Row::depth`].
    pub fn guides(&self, row: usize, most: usize) -> Vec<Guide> {
        let mut guides = Vec::new();
        let mut at = row;
        while let Some(row) = self.rows.get(at) {
            if guides.len() == most || row.depth == 0 {
                break;
            }
            let Some(head) = self.rows.get(row.head as usize) else { break };
            let own = row.is(CONNECTED) && guides.is_empty();
            guides.push(match (own, head.is(LAST)) {
                (true, false) => Guide::Tee,
                (true, true) => Guide::Corner,
                (false, false) => Guide::Line,
                (false, true) => Guide::Blank,
            });
            at = head.parent as usize;
        }
        guides.reverse();
        guides
    }

    /// What lies in the branch that a row begins, everything below it counted; none for rows that
    /// begin no branch, and if the view asked for no facts.
    pub fn facts(&self, row: usize) -> Option<BranchFacts> {
        self.facts.as_ref()?.of(row)
    }
}

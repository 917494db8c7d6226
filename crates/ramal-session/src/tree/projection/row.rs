//! One row of a projection, and what is to be drawn left of it.

use super::super::node::NONE;
use super::{BranchFacts, Fold, Projection};
use crate::{EntryRef, SessionManager};

/// An unbranched stretch: rows of which each is all that hangs on the one before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch {
    /// Its first row; it ends where the next stretch begins.
    pub(super) first: u32,
    /// The stretch on whose last row it hangs.
    pub(super) above: u32,
    pub(super) depth: u32,
    /// The row behind its part of the active path, which is at its beginning.
    pub(super) active_to: u32,
    /// Whether it is the last branch of its fork.
    pub(super) is_last: bool,
}

/// Where a visible entry stands in the drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    node: u32,
    depth: u32,
    marks: u16,
}

const ACTIVE: u16 = 1;
const LEAF: u16 = 2;
const FORK: u16 = 4;
const CONNECTED: u16 = 8;
const FOLDABLE: u16 = 16;
const FOLDED: u16 = 32;
const FOLDS_LEAF: u16 = 64;
const BESIDE_ACTIVE: u16 = 128;
const HEAD: u16 = 256;

impl Row {
    fn is(self, mark: u16) -> bool {
        self.marks & mark != 0
    }

    /// The position of its entry.
    pub fn position(self) -> usize {
        self.node as usize
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

    /// Whether the unbranched stretch that it is in begins on the path to the leaf.
    pub fn is_beside_active(self) -> bool {
        self.is(BESIDE_ACTIVE)
    }

    /// Whether it is the leaf, or what stands for it.
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

    /// Whether it is the first of an unbranched stretch: of a branch at a fork, or a root.
    pub fn starts_stretch(self) -> bool {
        self.is(HEAD)
    }

    /// Whether it can be folded: the beginning of a branch, or a root, that something follows. A row that
    /// was folded when it began a branch, and does not any more, can be unfolded all the same.
    pub fn is_foldable(self) -> bool {
        self.is(FOLDABLE)
    }

    /// Whether something that would be visible below it is folded away.
    pub fn is_folded(self) -> bool {
        self.is(FOLDED)
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

impl Projection {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The position of the entry of a row.
    pub fn position(&self, row: usize) -> Option<usize> {
        self.nodes.get(row).map(|&node| node as usize)
    }

    /// A row, counted from 0 in the order of the drawing.
    pub fn row(&self, row: usize) -> Option<Row> {
        let node = *self.nodes.get(row)?;
        let at = self.stretch_of(row)?;
        let stretch = self.stretches.get(at)?;
        let is_head = stretch.first as usize == row;
        let is_end = self.end_of(at) == row + 1;
        let is_fork = is_end && self.stretches.get(at + 1).is_some_and(|next| next.above as usize == at);
        let fold = self.fold(row);
        let is_folded = fold.is_some_and(|fold| fold.hides);
        let marks = [
            (ACTIVE, row < stretch.active_to as usize),
            (BESIDE_ACTIVE, stretch.active_to > stretch.first),
            (LEAF, self.current_row == Some(row as u32)),
            (FORK, is_fork),
            (CONNECTED, is_head && stretch.depth > 0),
            (HEAD, is_head),
            (FOLDABLE, is_head && (!is_end || is_fork || is_folded)),
            (FOLDED, is_folded),
            (FOLDS_LEAF, fold.is_some_and(|fold| fold.hides_current)),
        ];
        let marks = marks.into_iter().filter(|&(_, holds)| holds).fold(0, |marks, (mark, _)| marks | mark);
        Some(Row { node, depth: stretch.depth, marks })
    }

    /// All rows in the order of the drawing.
    pub fn rows(&self) -> impl Iterator<Item = Row> {
        (0..self.len()).filter_map(|row| self.row(row))
    }

    fn fold(&self, row: usize) -> Option<&Fold> {
        let place = self.folds.binary_search_by_key(&(row as u32), |fold| fold.row).ok()?;
        self.folds.get(place)
    }

    /// The stretch that a row is in.
    pub(super) fn stretch_of(&self, row: usize) -> Option<usize> {
        self.stretches.partition_point(|stretch| stretch.first as usize <= row).checked_sub(1)
    }

    pub(super) fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }

    fn end_of(&self, stretch: usize) -> usize {
        self.stretches.get(stretch + 1).map_or(self.len(), |next| next.first as usize)
    }

    /// The first row of the unbranched stretch that a row is in.
    pub fn stretch_start(&self, row: usize) -> Option<usize> {
        Some(self.stretches.get(self.stretch_of(row)?)?.first as usize)
    }

    /// The last row of the unbranched stretch that a row is in: a fork, or an end.
    pub fn stretch_end(&self, row: usize) -> Option<usize> {
        self.end_of(self.stretch_of(row)?).checked_sub(1)
    }

    /// The nearest fork before a row.
    pub fn fork_before(&self, row: usize) -> Option<usize> {
        let behind = self.stretches.partition_point(|stretch| stretch.first as usize <= row);
        (1..behind).rev().find_map(|next| self.fork_at(next))
    }

    /// The nearest fork behind a row.
    pub fn fork_after(&self, row: usize) -> Option<usize> {
        let from = self.stretches.partition_point(|stretch| stretch.first as usize <= row + 1);
        (from.max(1)..self.stretches.len()).find_map(|next| self.fork_at(next))
    }

    /// The fork that a stretch hangs on, if it is the first that does.
    fn fork_at(&self, stretch: usize) -> Option<usize> {
        let next = self.stretches.get(stretch)?;
        let is_first = stretch.checked_sub(1) == Some(next.above as usize);
        (is_first && next.first > 0).then(|| next.first as usize - 1)
    }

    /// The entry of a row; none if there is no such row.
    ///
    /// `session` is the one that was projected.
    pub fn entry<'a>(&self, session: &'a SessionManager, row: usize) -> Option<EntryRef<'a>> {
        session.get_entry_at(*self.nodes.get(row)? as usize)
    }

    /// The row of the nearest visible ancestor of a row.
    pub fn parent(&self, row: usize) -> Option<usize> {
        let at = self.stretch_of(row)?;
        let stretch = self.stretches.get(at)?;
        if (stretch.first as usize) < row {
            return Some(row - 1);
        }
        (stretch.above != NONE).then(|| self.end_of(stretch.above as usize) - 1)
    }

    /// The row of an entry, or of its nearest visible ancestor: what becomes of a selection when the
    /// view changes.
    pub fn nearest(&self, entry: EntryRef<'_>) -> Option<usize> {
        self.nearest_to(entry.position())
    }

    /// As [`Projection::nearest`], of the entry at a position.
    pub fn nearest_to(&self, position: usize) -> Option<usize> {
        let row = *self.row_of.get(position)?;
        (row != NONE).then_some(row as usize)
    }

    /// The row that shows the entry at a position, if one does.
    pub fn row_of(&self, position: usize) -> Option<usize> {
        self.nearest_to(position).filter(|&row| self.nodes.get(row) == Some(&(position as u32)))
    }

    /// The row of the leaf; none before the first entry, and below a fold.
    pub fn leaf(&self) -> Option<usize> {
        self.current_row.map(|row| row as usize)
    }

    /// How many entries no row shows.
    pub fn hidden(&self) -> usize {
        self.row_of.len() - self.nodes.len()
    }

    /// The lines left of a row, outermost first: its innermost levels, at most `most` of them. How many
    /// were left out follows from [`Row::depth`].
    pub fn guides(&self, row: usize, most: usize) -> Vec<Guide> {
        let mut guides = Vec::new();
        let mut at = self.stretch_of(row);
        while let Some(stretch) = at.and_then(|at| self.stretches.get(at)) {
            if guides.len() == most || stretch.depth == 0 {
                break;
            }
            let own = guides.is_empty() && stretch.first as usize == row;
            guides.push(match (own, stretch.is_last) {
                (true, false) => Guide::Tee,
                (true, true) => Guide::Corner,
                (false, false) => Guide::Line,
                (false, true) => Guide::Blank,
            });
            at = Some(stretch.above as usize);
        }
        guides.reverse();
        guides
    }

    /// What lies in the branch that a row begins, everything below it counted; none for rows that
    /// begin no branch, and if the view asked for no facts.
    pub fn facts(&self, row: usize) -> Option<BranchFacts> {
        self.totals.as_ref()?.of(self, row)
    }
}

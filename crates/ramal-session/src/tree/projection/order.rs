//! The order in which a tree is drawn: depth first, at every fork the active branch first and the
//! others oldest to newest.

use super::set::EntrySet;
use crate::SessionManager;
use crate::tree::Tree;
use crate::tree::node::NONE;

/// All entries in the order of the drawing: eight bytes for each. What a filter leaves is one pass over it.
#[derive(Debug)]
pub struct TreeOrder {
    order: Vec<Placed>,
    active: EntrySet,
    leaf: Option<u32>,
    /// How many entries were taken in; cycles being cut, all of them are in the order.
    taken: usize,
    generation: u64,
}

/// An entry in its place. Its parent stands beside it, so that a pass need not look into the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) node: u32,
    pub(super) parent: u32,
}

impl TreeOrder {
    /// The order of a session as it is now.
    pub fn new(session: &SessionManager) -> TreeOrder {
        let mut order = TreeOrder {
            order: Vec::new(),
            active: EntrySet::new(),
            leaf: None,
            taken: 0,
            generation: session.generation(),
        };
        order.walk_anew(session);
        order
    }

    /// Brings it up to date. Answers whether anything had changed.
    ///
    /// Entries that follow each other at the end of a branch are put in their place; for anything else
    /// the tree is walked again.
    pub fn refresh(&mut self, session: &SessionManager) -> bool {
        let leaf = session.leaf_number();
        let same = self.generation == session.generation();
        if same && self.taken == session.entry_count() && self.leaf == leaf {
            return false;
        }
        if !same || !self.take_in(&session.tree) || !self.follow(&session.tree, leaf) {
            self.generation = session.generation();
            self.walk_anew(session);
        }
        true
    }

    fn walk_anew(&mut self, session: &SessionManager) {
        let tree = &session.tree;
        self.leaf = session.leaf_number();
        self.active =
            self.leaf.into_iter().flat_map(|leaf| tree.upwards(leaf)).map(|node| node as usize).collect();
        self.taken = tree.len();
        self.order.clear();
        self.order.reserve(tree.len());
        let mut children = Vec::new();
        let mut waiting = Vec::new();
        let mut parent = NONE;
        loop {
            // Nearly every entry has one child, and then there is nothing to put in order.
            if let Some(at) = tree.nodes.get(parent as usize)
                && at.first_child == at.last_child
                && at.first_child != NONE
            {
                waiting.push(Placed { node: at.first_child, parent });
            } else {
                children.clear();
                tree.ordered_children((parent != NONE).then_some(parent), &mut children);
                let active = children.iter().position(|&child| self.active.contains(child as usize));
                if let Some(place) = active {
                    children[..=place].rotate_right(1);
                }
                waiting.extend(children.iter().rev().map(|&node| Placed { node, parent }));
            }
            let Some(next) = waiting.pop() else { break };
            self.order.push(next);
            parent = next.node;
        }
    }

    /// Puts entries that were appended in their places; false if one of them makes a fork.
    fn take_in(&mut self, tree: &Tree) -> bool {
        while self.taken < tree.len() {
            let number = self.taken as u32;
            let parent = tree.node(number).parent;
            if parent == NONE || tree.node(parent).first_child != tree.node(parent).last_child {
                return false;
            }
            let Some(place) = self.order.iter().rposition(|placed| placed.node == parent) else {
                return false;
            };
            self.order.insert(place + 1, Placed { node: number, parent });
            self.taken += 1;
        }
        true
    }

    /// Follows the leaf; false if it went anywhere but on, past no fork.
    fn follow(&mut self, tree: &Tree, leaf: Option<u32>) -> bool {
        if self.leaf == leaf {
            return true;
        }
        let (Some(before), Some(now)) = (self.leaf, leaf) else { return false };
        let mut new = Vec::new();
        for node in tree.upwards(now) {
            if node == before {
                self.active.extend(new);
                self.leaf = leaf;
                return true;
            }
            let parent = tree.node(node).parent;
            if parent == NONE || tree.node(parent).first_child != tree.node(parent).last_child {
                return false;
            }
            new.push(node as usize);
        }
        false
    }

    /// The entries in their order.
    pub(super) fn entries(&self) -> &[Placed] {
        &self.order
    }

    /// How many entries of the session were taken in.
    pub(super) fn taken(&self) -> usize {
        self.taken
    }

    /// Whether an entry is on the path to the leaf.
    pub fn is_active(&self, position: usize) -> bool {
        self.active.contains(position)
    }
}

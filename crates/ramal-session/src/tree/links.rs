//! What hangs on what: parents found, cycles cut, children in lists (contract, section 2, "Links").

use std::collections::HashMap;

use super::Tree;
use super::node::{Flags, NONE};
use crate::entry::envelope::ParentRef;
use crate::entry::id::IdKey;

/// References that did not lead anywhere when their entry was read.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// The parent that an orphan names, by its node.
    orphans: HashMap<u32, IdKey>,
    /// The same the other way round: who waits for an id.
    waiting: HashMap<IdKey, Vec<u32>>,
    /// Orphans whose parent has come meanwhile.
    found: Vec<u32>,
}

impl Tree {
    /// Hangs the newest node on its parent, if that stands above it.
    pub(super) fn link(&mut self, number: u32, parent: ParentRef, migrating: bool) {
        let own = self.node(number).id;
        let previous = number.wrapping_sub(1);
        let found = match parent {
            // A version-1 log is a chain in the order of the file.
            ParentRef::Null if migrating && number > 0 => Some(previous),
            ParentRef::Null => None,
            _ if self.node(number).flags.has(Flags::NO_ID) => None,
            ParentRef::Missing => {
                self.nodes[number as usize].flags.set(Flags::NO_PARENT);
                None
            }
            ParentRef::Id(key) if key == own => {
                self.nodes[number as usize].flags.set(Flags::OWN_PARENT);
                None
            }
            ParentRef::Id(key) => {
                // Nearly every entry follows the one before it.
                let found = match number.checked_sub(1).map(|n| (n, self.node(n))) {
                    Some((n, node))
                        if node.id == key && node.kind.is_conversation() && !node.flags.has(Flags::NO_ID) =>
                    {
                        Some(n)
                    }
                    _ => self.resolve(key, number),
                };
                if found.is_none() {
                    self.nodes[number as usize].flags.set(Flags::ORPHAN);
                    self.links.orphans.insert(number, key);
                    self.links.waiting.entry(key).or_default().push(number);
                }
                found
            }
        };
        self.hang(number, found.unwrap_or(NONE));
        if !self.links.waiting.is_empty()
            && !self.node(number).flags.has(Flags::NO_ID)
            && let Some(children) = self.links.waiting.remove(&own)
        {
            self.links.found.extend(children);
        }
    }

    /// Puts a node at the end of its parent's children, or of the roots.
    fn hang(&mut self, number: u32, parent: u32) {
        self.nodes[number as usize].parent = parent;
        self.nodes[number as usize].next_sibling = NONE;
        let last = if parent == NONE {
            std::mem::replace(&mut self.last_root, number)
        } else {
            std::mem::replace(&mut self.nodes[parent as usize].last_child, number)
        };
        if last != NONE {
            self.nodes[last as usize].next_sibling = number;
        } else if parent == NONE {
            self.first_root = number;
        } else {
            self.nodes[parent as usize].first_child = number;
        }
    }

    /// Hangs entries on parents that came after them, and cuts the cycles that this makes.
    ///
    /// To be called after lines were taken in. Costs nothing unless there was such an entry.
    pub(crate) fn settle(&mut self) {
        if self.links.found.is_empty() {
            return;
        }
        self.generation = super::new_generation();
        let mut found = std::mem::take(&mut self.links.found);
        found.sort_unstable();
        for &child in &found {
            let Some(key) = self.links.orphans.remove(&child) else { continue };
            if let Some(parent) = self.resolve(key, child) {
                self.nodes[child as usize].parent = parent;
                self.nodes[child as usize].flags.clear(Flags::ORPHAN);
            }
        }
        self.cut_cycles(&found);
        self.rebuild_children();
    }

    /// Every cycle goes through a link to a later entry: only walks that begin at one can meet it.
    fn cut_cycles(&mut self, starts: &[u32]) {
        // Which walk saw a node; each node is walked over once.
        let mut seen = vec![0u32; self.nodes.len()];
        for (walk, &start) in (1..).zip(starts) {
            let mut at = start;
            while at != NONE && seen[at as usize] == 0 {
                seen[at as usize] = walk;
                at = self.nodes[at as usize].parent;
            }
            if at == NONE || seen[at as usize] != walk {
                continue;
            }
            let mut earliest = at;
            let mut next = self.nodes[at as usize].parent;
            while next != at {
                earliest = earliest.min(next);
                next = self.nodes[next as usize].parent;
            }
            let node = &mut self.nodes[earliest as usize];
            node.parent = NONE;
            node.flags.set(Flags::CUT);
        }
    }

    /// Makes entries that hang on a later one roots whose parent is not there: what was read is a part of a log,
    /// and further up there may be the one that they mean.
    pub(crate) fn cut_links_downwards(&mut self) {
        let mut is_changed = false;
        for (number, node) in (0u32..).zip(&mut self.nodes) {
            if node.parent != NONE && node.parent > number {
                node.parent = NONE;
                node.flags.set(Flags::ORPHAN);
                is_changed = true;
            }
        }
        if is_changed {
            self.rebuild_children();
        }
    }

    fn rebuild_children(&mut self) {
        self.first_root = NONE;
        self.last_root = NONE;
        for node in &mut self.nodes {
            node.first_child = NONE;
            node.last_child = NONE;
        }
        for number in 0..self.nodes.len() as u32 {
            self.hang(number, self.nodes[number as usize].parent);
        }
    }

    /// The children of a node, or the roots, in the order of the file.
    pub(crate) fn children(&self, parent: Option<u32>) -> impl Iterator<Item = u32> + '_ {
        let first = match parent {
            Some(parent) => self.node(parent).first_child,
            None => self.first_root,
        };
        let mut next = first;
        std::iter::from_fn(move || {
            let at = next;
            if at == NONE {
                return None;
            }
            next = self.node(at).next_sibling;
            Some(at)
        })
    }

    /// The parent of a node.
    pub(crate) fn parent(&self, number: u32) -> Option<u32> {
        Some(self.node(number).parent).filter(|&parent| parent != NONE)
    }

    /// The path from the root to `number`, both included.
    pub(crate) fn path(&self, number: u32) -> Vec<u32> {
        let mut path: Vec<u32> = self.upwards(number).collect();
        path.reverse();
        path
    }

    /// The node and its ancestors, from below.
    pub(crate) fn upwards(&self, number: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(Some(number), |&at| self.parent(at))
    }
}

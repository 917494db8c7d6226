//! Questions about the shape of the tree that need no payload.

use std::collections::HashMap;

use super::Tree;
use super::node::Flags;
use crate::entry::time::UNREADABLE;
use crate::entry::{Kind, Role};
use crate::log::scan::LeafTarget;

impl Tree {
    /// Where the leaf is after opening: the last entry in the file that decides (contract, section 1).
    pub(crate) fn leaf_after_opening(&self) -> Option<u32> {
        let mut leaf = None;
        let mut landings = HashMap::new();
        for (number, node) in (0u32..).zip(&self.nodes) {
            if node.flags.has(Flags::NO_ID) {
                continue;
            }
            if node.kind == Kind::Leaf {
                leaf = self.landing_after(number, &mut landings).unwrap_or(leaf);
            } else if node.kind.decides_leaf() || (self.is_placed(number) && self.parent(number) == leaf) {
                leaf = Some(number);
            }
        }
        leaf
    }

    /// As [`Tree::leaf_after_opening`], where what stands before the entry `first` was not read. The outer none
    /// says that it depends on that.
    pub(crate) fn leaf_as_told_from(&self, first: u32) -> Option<Option<u32>> {
        let mut leaf = None;
        let mut landings = HashMap::new();
        for number in first..self.nodes.len() as u32 {
            let node = self.node(number);
            if node.flags.has(Flags::NO_ID) {
                continue;
            }
            if node.kind == Kind::Leaf {
                // What leads nowhere here might lead somewhere further up, and to another place than here.
                let landing = self.landing_after(number, &mut landings);
                leaf = landing.filter(|landing| landing.is_none_or(|at| at < number));
            } else if node.kind.decides_leaf()
                || (self.is_placed(number) && leaf == Some(self.parent(number)))
            {
                leaf = Some(Some(number));
            }
        }
        leaf
    }

    /// Whether an entry hangs where it says, if only before the first entry.
    fn is_placed(&self, number: u32) -> bool {
        let elsewhere = [Flags::ORPHAN, Flags::NO_PARENT, Flags::OWN_PARENT, Flags::CUT];
        let flags = self.node(number).flags;
        !elsewhere.into_iter().any(|flag| flags.has(flag))
    }

    /// Where one stands after moving to an entry: there, or where a `leaf` entry leads. The outer
    /// none says that it leads nowhere, the inner one that it leads before the first entry.
    pub(crate) fn landing(&self, number: u32) -> Option<Option<u32>> {
        self.landing_after(number, &mut HashMap::new())
    }

    /// As [`Tree::landing`]. Chains of `leaf` entries are remembered in `known`, so that each is
    /// followed once.
    fn landing_after(
        &self,
        number: u32,
        known: &mut HashMap<u32, Option<Option<u32>>>,
    ) -> Option<Option<u32>> {
        let mut chain = Vec::new();
        let mut at = number;
        let landing = loop {
            if self.node(at).kind != Kind::Leaf {
                break Some(Some(at));
            }
            if let Some(landing) = known.get(&at) {
                break *landing;
            }
            // Whoever comes here again before the end is known goes in a circle, which leads nowhere.
            known.insert(at, None);
            chain.push(at);
            match self.moves.get(&at) {
                Some(LeafTarget::Root) => break Some(None),
                Some(LeafTarget::Id(key)) => match self.resolve(*key, at) {
                    Some(next) => at = next,
                    None => break None,
                },
                Some(LeafTarget::Unreadable) | None => break None,
            }
        };
        known.extend(chain.into_iter().map(|at| (at, landing)));
        landing
    }

    /// The children of a node, or the roots, as the tree shows them: children oldest to newest, an
    /// unreadable time counting as that of the sibling before it; roots in the order of the file.
    pub(crate) fn ordered_children(&self, parent: Option<u32>, out: &mut Vec<u32>) {
        let from = out.len();
        out.extend(self.children(parent));
        let children = &mut out[from..];
        if parent.is_none() || children.len() < 2 {
            return;
        }
        let mut before = i64::MIN;
        let mut sorted = true;
        let times = children.iter().map(|&child| {
            let time = self.node(child).time;
            let time = if time == UNREADABLE { before } else { time };
            sorted &= time >= before;
            before = time;
            (time, child)
        });
        let mut timed: Vec<(i64, u32)> = times.collect();
        if sorted {
            return;
        }
        timed.sort_by_key(|&(time, _)| time);
        for (place, (_, child)) in children.iter_mut().zip(timed) {
            *place = child;
        }
    }

    /// The deepest entry that both paths share.
    pub(crate) fn common_ancestor(&self, one: u32, other: u32) -> Option<u32> {
        let depth = |number| self.upwards(number).count();
        let (mut a, mut b) = (one, other);
        let (mut depth_a, mut depth_b) = (depth(a), depth(b));
        while depth_a > depth_b {
            a = self.parent(a)?;
            depth_a -= 1;
        }
        while depth_b > depth_a {
            b = self.parent(b)?;
            depth_b -= 1;
        }
        while a != b {
            a = self.parent(a)?;
            b = self.parent(b)?;
        }
        Some(a)
    }

    /// An entry and all that hangs on it, what hangs on an entry standing behind it.
    fn downwards(&self, number: u32) -> impl Iterator<Item = u32> + '_ {
        let mut waiting = vec![number];
        std::iter::from_fn(move || {
            let at = waiting.pop()?;
            waiting.extend(self.children(Some(at)));
            Some(at)
        })
    }

    /// Whether an entry is conversation, or has some hanging on it.
    pub(crate) fn holds_conversation(&self, number: u32) -> bool {
        self.downwards(number).any(|at| self.node(at).kind.is_conversation())
    }

    /// The end of the branch that an entry begins: of the conversation in it that no other follows, what
    /// was appended last; the entry itself if there is none. Linear in the size of the branch.
    pub(crate) fn branch_end(&self, number: u32) -> u32 {
        let newest = |from: u32| {
            let below = self.downwards(from).skip(1).filter(|&at| self.node(at).kind.is_conversation());
            below.max()
        };
        let mut end = number;
        // Where entries stand above their parents, what was appended last may be followed by others.
        while let Some(next) = newest(end) {
            end = next;
        }
        end
    }

    /// How many entries are messages.
    pub(crate) fn messages(&self) -> usize {
        self.nodes.iter().filter(|node| node.kind == Kind::Message).count()
    }

    /// How many branches there are: conversation entries that no conversation follows, one if there
    /// is no conversation at all but something is there.
    pub(crate) fn branches(&self) -> usize {
        let mut followed = vec![false; self.nodes.len()];
        let mut ends = 0;
        // Parents mostly stand above their children: from below, each is marked before it is looked at.
        // Where one stands below, the mark is made by walking up from the end instead.
        for number in (0..self.nodes.len() as u32).rev() {
            let node = self.node(number);
            if !node.kind.is_conversation() {
                continue;
            }
            let mut at = node.parent;
            while at != super::NONE && !std::mem::replace(&mut followed[at as usize], true) {
                if self.node(at).kind.is_conversation() {
                    break;
                }
                at = self.node(at).parent;
            }
        }
        for (number, node) in self.nodes.iter().enumerate() {
            ends += usize::from(node.kind.is_conversation() && !followed[number]);
        }
        ends
    }

    /// User messages, in the order of the file.
    pub(crate) fn user_messages(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.nodes).filter(|(_, node)| node.role == Role::User).map(|(number, _)| number)
    }

    /// The time of the newest conversation entry, in milliseconds since 1970.
    pub(crate) fn last_activity(&self) -> Option<i64> {
        let times = self.nodes.iter().filter(|node| node.kind.is_conversation()).map(|node| node.time);
        times.filter(|&time| time != UNREADABLE).max()
    }
}

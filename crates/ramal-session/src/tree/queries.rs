//! Questions about the shape of the tree that need no payload.

use super::Tree;
use super::node::Flags;
use crate::entry::time::UNREADABLE;
use crate::entry::{Kind, Role};
use crate::log::scan::LeafTarget;

impl Tree {
    /// Where the leaf is after opening: the last entry in the file that decides (contract, section 1).
    pub(crate) fn leaf_after_opening(&self) -> Option<u32> {
        let mut leaf = None;
        for (number, node) in (0u32..).zip(&self.nodes) {
            if node.flags.has(Flags::NO_ID) {
                continue;
            }
            if node.kind == Kind::Leaf {
                leaf = self.landing(number).unwrap_or(leaf);
            } else if node.kind.decides_leaf() || (self.is_placed(number) && self.parent(number) == leaf) {
                leaf = Some(number);
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
        let mut at = number;
        // A chain of `leaf` entries cannot be longer than there are such entries.
        for _ in 0..=self.moves.len() {
            if self.node(at).kind != Kind::Leaf {
                return Some(Some(at));
            }
            match self.moves.get(&at)? {
                LeafTarget::Root => return Some(None),
                LeafTarget::Id(key) => at = self.resolve(*key, at)?,
                LeafTarget::Unreadable => return None,
            }
        }
        None
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

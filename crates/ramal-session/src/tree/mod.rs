//! The index over a log: a node for each entry, and what links them (contract, sections 1, 2 and 4).

mod labels;
mod links;
mod memory;
mod names;
pub(crate) mod node;
pub(crate) mod projection;
mod queries;

pub(crate) use names::HeaderTitle;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use self::labels::Labels;
use self::links::Links;
use self::names::Names;
use self::node::{Flags, IdTable, NONE, Node};
use crate::entry::Role;
use crate::entry::envelope::{Envelope, ParentRef};
use crate::entry::id::{IdKey, short_id, stable_hash};
use crate::log::Log;
use crate::log::scan::{Details, LeafTarget, Line};

/// What a session's log looks like as a tree. It holds no payload.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    ids: IdTable,
    shared: Shared,
    links: Links,
    labels: Labels,
    pub(crate) names: Names,
    /// Where each `leaf` entry moved to, by its node.
    moves: BTreeMap<u32, LeafTarget>,
    /// Lines that repeat an entry word for word.
    pub(crate) repeats: u64,
    /// In a version-1 log: for each node, how many lines that parse as JSON stand before it.
    pub(crate) ordinals: Option<Vec<u32>>,
    /// In a log older than version 3 the role `hookMessage` reads as `custom`.
    pub(crate) hooks_are_custom: bool,
    first_root: u32,
    last_root: u32,
    generation: u64,
}

/// A number that no tree of this process has had.
fn new_generation() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Entries that share an id: rare, so kept beside the table.
#[derive(Debug, Default)]
struct Shared {
    groups: HashMap<IdKey, Group>,
}

#[derive(Debug, Default)]
struct Group {
    conversation: Vec<u32>,
    bookkeeping: Vec<u32>,
    /// By hash of the line, to find exact repeats without comparing with all.
    lines: HashMap<u64, Vec<u32>>,
}

impl Group {
    fn add(&mut self, number: u32, node: &Node, hash: u64) {
        let list = if node.kind.is_conversation() { &mut self.conversation } else { &mut self.bookkeeping };
        list.push(number);
        self.lines.entry(hash).or_default().push(number);
    }

    /// What a reference in the entry `from` means: the nearest above, conversation first, or else
    /// the first below.
    fn seen_from(&self, from: u32) -> Option<u32> {
        let above = |list: &[u32]| list[..list.partition_point(|&n| n < from)].last().copied();
        above(&self.conversation).or_else(|| above(&self.bookkeeping)).or_else(|| {
            let first = |list: &[u32]| list.first().copied();
            [first(&self.conversation), first(&self.bookkeeping)].into_iter().flatten().min()
        })
    }

    /// What the id means when asked from outside.
    fn seen_from_outside(&self) -> Option<u32> {
        self.conversation.last().or(self.bookkeeping.last()).copied()
    }
}

impl Tree {
    pub(crate) fn new() -> Tree {
        Tree {
            nodes: Vec::new(),
            ids: IdTable::new(),
            shared: Shared::default(),
            links: Links::default(),
            labels: Labels::default(),
            names: Names::default(),
            moves: BTreeMap::new(),
            repeats: 0,
            ordinals: None,
            hooks_are_custom: false,
            first_root: NONE,
            last_root: NONE,
            generation: new_generation(),
        }
    }

    /// Which tree this is, and how often it was hung differently: see [`SessionManager::generation`].
    ///
    /// [`SessionManager::generation`]: crate::SessionManager::generation
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// Makes room for `total` entries.
    pub(crate) fn reserve(&mut self, total: usize) {
        self.ids.reserve(total.saturating_sub(self.nodes.len()));
        self.nodes.reserve(total.saturating_sub(self.nodes.len()));
        memory::will_be_used(self.nodes.as_ptr(), self.nodes.capacity());
    }

    /// An entry with this id will be added soon.
    pub(crate) fn will_need(&self, id: IdKey) {
        self.ids.prefetch(id);
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn node(&self, number: u32) -> &Node {
        &self.nodes[number as usize]
    }

    /// Takes in the entry of a line; answers its node, or none for an exact repeat.
    ///
    /// `ordinal` counts the lines before it that parse as JSON; made-up ids follow from it.
    /// References to entries that come later are resolved by [`Tree::settle`].
    pub(crate) fn add(
        &mut self,
        log: &Log,
        line: &Line,
        envelope: &Envelope,
        details: Option<Details>,
        ordinal: u64,
    ) -> io::Result<Option<u32>> {
        let number = self.nodes.len() as u32;
        let mut flags = Flags::default();
        let migrating = self.ordinals.is_some();
        let id = match envelope.id {
            Some(id) if !migrating => id,
            _ => {
                flags.set(if migrating { Flags::MIGRATED } else { Flags::NO_ID });
                self.made_up_id(log, line, ordinal)?
            }
        };
        let role = match envelope.role {
            Role::HookMessage if self.hooks_are_custom => Role::Custom,
            role => role,
        };
        let node = Node::new(line.offset, line.len, id, envelope.kind, role, envelope.time, flags);
        self.nodes.push(node);
        match self.ids.insert(id, number, &self.nodes) {
            Some(first) if !flags.has(Flags::NO_ID) && self.is_repeat(log, first, number)? => {
                self.nodes.pop();
                self.repeats += 1;
                return Ok(None);
            }
            _ => {}
        }
        if let Some(ordinals) = &mut self.ordinals {
            ordinals.push(u32::try_from(ordinal).unwrap_or(u32::MAX));
        }
        self.link(number, if migrating { ParentRef::Null } else { envelope.parent }, migrating);
        // Labels above that wait for this entry come before its own: it may label itself.
        self.resolve_labels_waiting_for(number);
        match details {
            Some(Details::Label { target, text }) => self.set_label(number, target, text),
            Some(Details::Leaf { target }) => {
                self.moves.insert(number, target);
            }
            Some(Details::Name { name, by_user }) => self.names.add(name, by_user, envelope.time),
            None => {}
        }
        Ok(Some(number))
    }

    /// An id that follows from the content and the place of an entry, and is no other entry's.
    fn made_up_id(&self, log: &Log, line: &Line, ordinal: u64) -> io::Result<IdKey> {
        // Enough of the line to tell it from others; reading all of it would read the log twice.
        let head = log.read(line.offset, line.len.min(1024))?;
        let tail = log.read(line.offset + line.len - line.len.min(128), line.len.min(128))?;
        let mut salt = 0u64;
        loop {
            let parts =
                [&ordinal.to_le_bytes(), &line.len.to_le_bytes(), &*head, &*tail, &salt.to_le_bytes()];
            let text = short_id(stable_hash(&parts) as u32);
            match IdKey::of(text.as_bytes()) {
                Some(key) if self.ids.get(key, &self.nodes).is_none() => return Ok(key),
                _ => salt += 1,
            }
        }
    }

    /// Whether the newest node repeats an entry that stands above it word for word; if not, it joins
    /// those that share its id.
    fn is_repeat(&mut self, log: &Log, first: u32, number: u32) -> io::Result<bool> {
        let node = self.nodes[number as usize];
        let line = log.read(node.offset(), node.len())?;
        let hash = stable_hash(&[&line]);
        let group = match self.shared.groups.entry(node.id) {
            std::collections::hash_map::Entry::Occupied(group) => group.into_mut(),
            std::collections::hash_map::Entry::Vacant(place) => {
                let group = place.insert(Group::default());
                let other = self.nodes[first as usize];
                if !other.flags.has(Flags::NO_ID) {
                    let other_line = log.read(other.offset(), other.len())?;
                    group.add(first, &other, stable_hash(&[&other_line]));
                }
                group
            }
        };
        for &other in group.lines.get(&hash).into_iter().flatten() {
            let other = self.nodes[other as usize];
            if other.len() == node.len() && log.read(other.offset(), other.len())? == line {
                return Ok(true);
            }
        }
        group.add(number, &node, hash);
        self.nodes[first as usize].flags.set(Flags::SHARED_ID);
        self.nodes[number as usize].flags.set(Flags::SHARED_ID);
        Ok(false)
    }

    /// The entry that `key` means in the entry `from`.
    fn resolve(&self, key: IdKey, from: u32) -> Option<u32> {
        let first = self.ids.get(key, &self.nodes)?;
        let node = self.node(first);
        if node.flags.has(Flags::SHARED_ID) || self.shared.groups.contains_key(&key) {
            return self.shared.groups.get(&key)?.seen_from(from);
        }
        (!node.flags.has(Flags::NO_ID)).then_some(first)
    }

    /// The entry that an id means when asked from outside; entries without an id of their own too.
    pub(crate) fn find(&self, id: &str) -> Option<u32> {
        let key = IdKey::of(id.as_bytes())?;
        let first = self.ids.get(key, &self.nodes)?;
        match self.shared.groups.get(&key) {
            Some(group) => group.seen_from_outside(),
            None => Some(first),
        }
    }

    /// The entry that an id in `from` means, whatever branch that is on.
    pub(crate) fn find_seen_from(&self, id: &str, from: u32) -> Option<u32> {
        self.resolve(IdKey::of(id.as_bytes())?, from)
    }

    /// Whether an id is taken.
    pub(crate) fn has_id(&self, id: &str) -> bool {
        IdKey::of(id.as_bytes()).is_some_and(|key| self.ids.get(key, &self.nodes).is_some())
    }

    /// How many ids more than one entry has.
    pub(crate) fn shared_ids(&self) -> usize {
        self.shared
            .groups
            .values()
            .filter(|group| group.conversation.len() + group.bookkeeping.len() > 1)
            .count()
    }
}

//! Questions about the tree (contract, section 4).
//!
//! Answers are handles: a number and the session they belong to. What an entry says is read from the
//! log when a handle is asked to [`EntryRef::read`] it.

use std::fmt;

use super::SessionManager;
use crate::entry::{Entry, EntryId, Kind, Role, time};
use crate::error::ReadError;
use crate::tree::node::{Flags, Node};

/// An entry of an open session, not read yet.
#[derive(Clone, Copy)]
pub struct EntryRef<'a> {
    pub(super) session: &'a SessionManager,
    pub(super) number: u32,
}

impl<'a> EntryRef<'a> {
    fn node(self) -> &'a Node {
        self.session.tree.node(self.number)
    }

    /// Reads the whole entry from the log.
    ///
    /// # Errors
    /// If the log cannot be read any more.
    pub fn read(self) -> Result<Entry, ReadError> {
        self.session.entry(self.number)
    }

    /// Its id. Costs nothing for ids of up to eight characters; longer ones are read from the log.
    ///
    /// # Errors
    /// If the log cannot be read any more.
    pub fn id(self) -> Result<EntryId, ReadError> {
        self.session.entry_id(self.number).map_err(|source| self.session.read_error(self.number, source))
    }

    /// Its place among all entries in the order of the log, counted from 0.
    pub fn position(self) -> usize {
        self.number as usize
    }

    /// What kind of entry it is.
    pub fn kind(self) -> Kind {
        self.node().kind
    }

    /// Who its message is from; [`Role::None`] where it has none.
    pub fn role(self) -> Role {
        self.node().role
    }

    /// When it was made, in milliseconds since 1970, if its timestamp can be read.
    pub fn time(self) -> Option<i64> {
        Some(self.node().time).filter(|&time| time != time::UNREADABLE)
    }

    /// Bytes of its line.
    pub fn size(self) -> u64 {
        self.node().len()
    }

    /// Where its line begins in the log, in bytes.
    pub fn offset(self) -> u64 {
        self.node().offset()
    }

    /// What it hangs on, in the tree: none for a root.
    pub fn parent(self) -> Option<EntryRef<'a>> {
        self.session.tree.parent(self.number).map(|number| self.session.handle(number))
    }

    /// What hangs on it, in the order of the log.
    pub fn children(self) -> impl Iterator<Item = EntryRef<'a>> {
        self.session.tree.children(Some(self.number)).map(move |number| self.session.handle(number))
    }

    /// What hangs on it, as the tree shows it: oldest first.
    pub fn ordered_children(self) -> Vec<EntryRef<'a>> {
        let mut numbers = Vec::new();
        self.session.tree.ordered_children(Some(self.number), &mut numbers);
        numbers.into_iter().map(|number| self.session.handle(number)).collect()
    }

    /// Whether anything hangs on it.
    pub fn has_children(self) -> bool {
        self.session.tree.children(Some(self.number)).next().is_some()
    }

    /// The label in force on it.
    pub fn label(self) -> Option<&'a str> {
        self.session.tree.label(self.number)
    }

    /// The `label` entry that set its label.
    pub fn labelled_by(self) -> Option<EntryRef<'a>> {
        self.session.tree.label_entry(self.number).map(|number| self.session.handle(number))
    }

    /// Why it is a root although it might not be meant to be one; none if all is well.
    pub fn irregular(self) -> Option<Irregular> {
        let flags = self.node().flags;
        [
            (Flags::NO_ID, Irregular::NoId),
            (Flags::ORPHAN, Irregular::Orphan),
            (Flags::NO_PARENT, Irregular::NoParent),
            (Flags::OWN_PARENT, Irregular::OwnParent),
            (Flags::CUT, Irregular::CycleCut),
        ]
        .into_iter()
        .find_map(|(flag, why)| flags.has(flag).then_some(why))
    }

    /// Whether another entry has the same id.
    pub fn shares_id(self) -> bool {
        self.node().flags.has(Flags::SHARED_ID)
    }
}

impl PartialEq for EntryRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number && std::ptr::eq(self.session, other.session)
    }
}

impl Eq for EntryRef<'_> {}

impl fmt::Debug for EntryRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EntryRef({} {:?})", self.number, self.kind())
    }
}

/// Why an entry is a root without having been made one on purpose (contract, section 2, "Links").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Irregular {
    /// It has no id of its own: it can be seen, not gone to or labelled.
    NoId,
    /// Its parent is not in the log.
    Orphan,
    /// It does not say what its parent is.
    NoParent,
    /// It names itself as its parent.
    OwnParent,
    /// It is the earliest entry of a cycle, which is cut there.
    CycleCut,
}

/// A position in the tree that a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At<'a> {
    /// Where the leaf is.
    Leaf,
    /// Before the first entry.
    BeforeFirst,
    /// At an entry.
    Entry(&'a str),
}

impl SessionManager {
    /// The node at a position; none before the first entry.
    pub(crate) fn number_at(&self, at: At<'_>) -> Result<Option<u32>, crate::error::NoSuchEntry> {
        match at {
            At::Leaf => Ok(self.leaf),
            At::BeforeFirst => Ok(None),
            At::Entry(id) => {
                self.tree.find(id).map(Some).ok_or_else(|| crate::error::NoSuchEntry { id: id.into() })
            }
        }
    }

    /// Changes when entries that were there got other positions or other parents. As long as it is the
    /// same, entries were appended and nothing else.
    pub fn generation(&self) -> u64 {
        self.tree.generation()
    }

    pub(crate) fn handle(&self, number: u32) -> EntryRef<'_> {
        EntryRef { session: self, number }
    }

    /// The entry with an id. If several have it: the last conversation entry, else the last.
    pub fn get_entry(&self, id: &str) -> Option<EntryRef<'_>> {
        self.tree.find(id).map(|number| self.handle(number))
    }

    /// The entry with a [`EntryRef::position`]; none if there are not so many. Positions stay as they
    /// are when entries are appended, so that they can be kept where handles cannot.
    pub fn get_entry_at(&self, position: usize) -> Option<EntryRef<'_>> {
        (position < self.tree.len()).then(|| self.handle(position as u32))
    }

    /// All entries, in the order of the log.
    pub fn get_entries(&self) -> impl DoubleEndedIterator<Item = EntryRef<'_>> + ExactSizeIterator {
        (0..self.tree.len()).map(|number| self.handle(number as u32))
    }

    /// The id of the leaf: where the next entry will hang. None before the first entry.
    ///
    /// # Errors
    /// If the leaf's id is a long one and the log cannot be read any more.
    pub fn get_leaf_id(&self) -> Result<Option<EntryId>, ReadError> {
        self.get_leaf_entry().map(EntryRef::id).transpose()
    }

    /// The leaf.
    pub fn get_leaf_entry(&self) -> Option<EntryRef<'_>> {
        self.leaf.map(|number| self.handle(number))
    }

    /// The path from the root to `from`, or to the leaf if none is given. Empty for an unknown id and
    /// before the first entry. Linear in its length.
    pub fn get_branch(&self, from: Option<&str>) -> Vec<EntryRef<'_>> {
        let end = match from {
            Some(id) => self.tree.find(id),
            None => self.leaf,
        };
        let path = end.map(|number| self.tree.path(number)).unwrap_or_default();
        path.into_iter().map(|number| self.handle(number)).collect()
    }

    /// The roots of the tree, in the order of the log. [`EntryRef::ordered_children`] leads on.
    pub fn get_tree(&self) -> Vec<EntryRef<'_>> {
        self.tree.children(None).map(|number| self.handle(number)).collect()
    }

    /// What hangs on an entry, in the order of the log; the roots for none. Empty for an unknown id.
    pub fn get_children(&self, parent: Option<&str>) -> Vec<EntryRef<'_>> {
        let parent = match parent.map(|id| self.tree.find(id)) {
            Some(None) => return Vec::new(),
            Some(Some(number)) => Some(number),
            None => None,
        };
        self.tree.children(parent).map(|number| self.handle(number)).collect()
    }

    /// The label in force on an entry, whatever branch the `label` entry hangs on.
    pub fn get_label(&self, id: &str) -> Option<&str> {
        self.tree.label(self.tree.find(id)?)
    }

    /// All labelled entries, in the order of the log.
    pub fn get_labels(&self) -> impl Iterator<Item = EntryRef<'_>> {
        self.tree.all_labels().map(|(target, ..)| self.handle(target))
    }

    /// Every user message that has a text, on all branches, in the order of the log, with its text.
    ///
    /// # Errors
    /// If the log cannot be read any more.
    pub fn get_user_messages_for_branching(&self) -> Result<Vec<(EntryId, String)>, ReadError> {
        let mut messages = Vec::new();
        for number in self.tree.user_messages().filter(|&n| !self.tree.node(n).flags.has(Flags::NO_ID)) {
            let entry = self.entry(number)?;
            let text = entry.text();
            if !text.trim().is_empty() {
                messages.push((entry.id().clone(), text));
            }
        }
        Ok(messages)
    }

    /// The deepest entry that the paths of two entries share; none if they share nothing, or one of
    /// the ids is unknown.
    pub fn common_ancestor(&self, one: &str, other: &str) -> Option<EntryRef<'_>> {
        let ancestor = self.tree.common_ancestor(self.tree.find(one)?, self.tree.find(other)?)?;
        Some(self.handle(ancestor))
    }

    /// How many entries are messages, on all branches.
    pub fn message_count(&self) -> usize {
        self.tree.messages()
    }

    /// How many branches there are: conversation entries that no conversation follows.
    pub fn branch_count(&self) -> usize {
        self.tree.branches()
    }

    /// The time of the newest conversation entry, in milliseconds since 1970.
    pub fn last_activity(&self) -> Option<i64> {
        self.tree.last_activity()
    }

    /// How many ids more than one entry has.
    pub fn shared_id_count(&self) -> usize {
        self.tree.shared_ids()
    }
}

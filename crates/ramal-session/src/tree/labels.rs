//! Labels in force: the last in the file for each entry, on whatever branch it hangs (contract, section 4).

use std::collections::{BTreeMap, HashMap};

use super::Tree;
use super::node::Flags;
use crate::entry::id::IdKey;

#[derive(Debug, Default)]
pub(super) struct Labels {
    /// By the entry that is labelled.
    by_target: BTreeMap<u32, Label>,
    /// Labels on entries that have not been read yet.
    waiting: HashMap<IdKey, Label>,
}

/// A label, as the last entry that set or cleared it left it.
#[derive(Debug, Clone)]
struct Label {
    /// The entry that set or cleared it.
    entry: u32,
    /// The entry since which there has been a label, whatever it said.
    since: u32,
    text: Option<Box<str>>,
}

impl Label {
    fn in_force_since(&self) -> Option<u32> {
        self.text.is_some().then_some(self.since)
    }
}

/// Puts a label in place of the one that was in force, if there was one.
fn follow(labels: &mut BTreeMap<u32, Label>, target: u32, label: Label) {
    let since = labels.get(&target).and_then(Label::in_force_since).unwrap_or(label.since);
    labels.insert(target, Label { since, ..label });
}

impl Tree {
    pub(super) fn set_label(&mut self, entry: u32, target: Option<IdKey>, text: Option<Box<str>>) {
        let Some(key) = target else { return };
        let label = Label { entry, since: entry, text };
        match self.resolve(key, entry) {
            Some(target) => follow(&mut self.labels.by_target, target, label),
            None => {
                let since = self.labels.waiting.get(&key).and_then(Label::in_force_since);
                self.labels.waiting.insert(key, Label { since: since.unwrap_or(entry), ..label });
            }
        }
    }

    /// A label may stand before its target.
    pub(super) fn resolve_labels_waiting_for(&mut self, target: u32) {
        if self.labels.waiting.is_empty() || self.node(target).flags.has(Flags::NO_ID) {
            return;
        }
        let id = self.node(target).id;
        if let Some(label) = self.labels.waiting.remove(&id) {
            follow(&mut self.labels.by_target, target, label);
        }
    }

    /// The label of an entry, if it has one now.
    pub(crate) fn label(&self, target: u32) -> Option<&str> {
        self.labels.by_target.get(&target)?.text.as_deref()
    }

    /// The `label` entry that set it.
    pub(crate) fn label_entry(&self, target: u32) -> Option<u32> {
        self.labels.by_target.get(&target).filter(|label| label.text.is_some()).map(|label| label.entry)
    }

    /// The `label` entry since which an entry has had a label without a break.
    pub(crate) fn labelled_since(&self, target: u32) -> Option<u32> {
        self.labels.by_target.get(&target).and_then(Label::in_force_since)
    }

    /// All labels in force: target, text and the entry that set it, in the order of the targets in the file.
    pub(crate) fn all_labels(&self) -> impl Iterator<Item = (u32, &str, u32)> {
        self.labels
            .by_target
            .iter()
            .filter_map(|(&target, label)| Some((target, label.text.as_deref()?, label.entry)))
    }
}

//! Any sequence of operations, against a tree so simple that it is obviously right.

#![allow(clippy::unwrap_used, reason = "a test may fail this way")]

mod common;

use std::path::PathBuf;

use common::light_scratch;
use proptest::prelude::*;
use proptest::sample::Index;
use ramal_session::{EntryRef, NewEntry, SessionManager};

#[derive(Debug, Clone)]
enum Op {
    Message,
    Custom,
    Settings,
    Label(Index, Option<u8>),
    Branch(Index),
    ResetLeaf,
    Leaf(Option<Index>),
    Summary(Option<Index>),
    Copy(Index),
    Clone,
    Fork(Index),
    Reopen,
    /// Another program appends to the file, and we look or do not look before we go on.
    Other {
        parent: Option<Index>,
        look: bool,
    },
    /// Another program writes the file anew, with a line more, and we append to that.
    Rewrite(Option<Index>),
}

fn op() -> impl Strategy<Value = Op> {
    let at = any::<Index>;
    let maybe = || proptest::option::weighted(0.8, any::<Index>());
    prop_oneof![
        8 => Just(Op::Message),
        2 => Just(Op::Custom),
        2 => Just(Op::Settings),
        4 => (at(), proptest::option::weighted(0.7, 0..3_u8)).prop_map(|(at, label)| Op::Label(at, label)),
        4 => at().prop_map(Op::Branch),
        1 => Just(Op::ResetLeaf),
        1 => maybe().prop_map(Op::Leaf),
        2 => maybe().prop_map(Op::Summary),
        1 => at().prop_map(Op::Copy),
        1 => Just(Op::Clone),
        1 => at().prop_map(Op::Fork),
        2 => Just(Op::Reopen),
        2 => (maybe(), any::<bool>()).prop_map(|(parent, look)| Op::Other { parent, look }),
        1 => maybe().prop_map(Op::Rewrite),
    ]
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Sort {
    Message,
    Custom,
    Settings,
    Label,
    Leaf,
    Summary,
}

/// An entry of the model. Entries are named by their places.
#[derive(Debug, Clone)]
struct Entry {
    parent: Option<usize>,
    sort: Sort,
    /// What a label or a `leaf` entry is about.
    target: Option<usize>,
    label: Option<String>,
    /// A `leaf` entry whose target was left out of the copy that it is in.
    is_lost: bool,
}

/// The tree as a list; every question is answered by looking through all of it.
#[derive(Debug, Clone, Default)]
struct Model {
    entries: Vec<Entry>,
    leaf: Option<usize>,
}

impl Model {
    fn append(&mut self, sort: Sort, target: Option<usize>, label: Option<String>) {
        self.entries.push(Entry { parent: self.leaf, sort, target, label, is_lost: false });
        self.leaf = Some(self.entries.len() - 1);
    }

    fn path(&self, mut to: Option<usize>) -> Vec<usize> {
        let mut path = Vec::new();
        while let Some(at) = to {
            path.insert(0, at);
            to = self.entries[at].parent;
        }
        path
    }

    /// The label in force, and since which entry there has been one.
    fn label(&self, target: usize) -> Option<(usize, String)> {
        let mut label = None;
        for (at, entry) in self.entries.iter().enumerate() {
            if entry.sort == Sort::Label && entry.target == Some(target) {
                let since = label.as_ref().map_or(at, |(since, _)| *since);
                label = entry.label.clone().map(|text| (since, text));
            }
        }
        label
    }

    /// Where one stands at an entry: a `leaf` entry leads elsewhere.
    fn landing(&self, at: usize) -> Option<usize> {
        match self.entries[at].sort {
            Sort::Leaf => self.entries[at].target.and_then(|target| self.landing(target)),
            _ => Some(at),
        }
    }

    /// Whether one cannot go to an entry: it leads to what is not there.
    fn leads_nowhere(&self, at: usize) -> bool {
        let entry = &self.entries[at];
        entry.is_lost
            || (entry.sort == Sort::Leaf && entry.target.is_some_and(|target| self.leads_nowhere(target)))
    }

    fn leaf_after_opening(&self) -> Option<usize> {
        let mut leaf = None;
        for (at, entry) in self.entries.iter().enumerate() {
            match entry.sort {
                Sort::Leaf if self.leads_nowhere(at) => {}
                Sort::Leaf => leaf = self.landing(at),
                Sort::Custom if entry.parent != leaf => {}
                _ => leaf = Some(at),
            }
        }
        leaf
    }

    fn copied(&self, to: usize) -> Model {
        let kept: Vec<usize> =
            self.path(Some(to)).into_iter().filter(|&at| self.entries[at].sort != Sort::Label).collect();
        let place = |old: usize| kept.iter().position(|&at| at == old);
        let mut copy = Model::default();
        for &at in &kept {
            let Entry { sort, target, is_lost, .. } = self.entries[at];
            let placed = target.and_then(place);
            copy.append(sort, placed, None);
            let is_lost = is_lost || (sort == Sort::Leaf && target.is_some() && placed.is_none());
            copy.entries.last_mut().unwrap().is_lost = is_lost;
        }
        let mut labels: Vec<(usize, String, usize)> = Vec::new();
        for &at in &kept {
            labels.extend(self.label(at).map(|(since, text)| (since, text, at)));
        }
        labels.sort();
        // What another program hung on a `leaf` entry was not said where that leads, but a copy that ends
        // with the entry stands there, as it does after opening.
        if let Some(last) = kept.len().checked_sub(1).filter(|&last| copy.entries[last].sort == Sort::Leaf)
            && labels.is_empty()
        {
            copy.leaf = copy.landing(last);
        }
        for (_, text, at) in labels {
            copy.append(Sort::Label, place(at), Some(text));
        }
        copy
    }
}

struct Pair {
    session: SessionManager,
    model: Model,
    path: Option<PathBuf>,
    others: usize,
}

impl Pair {
    fn id(&self, at: usize) -> String {
        self.session.get_entries().nth(at).unwrap().id().unwrap().to_string()
    }

    fn pick(&self, at: &Index) -> Option<usize> {
        (!self.model.entries.is_empty()).then(|| at.index(self.model.entries.len()))
    }

    fn pick_maybe(&self, at: &Option<Index>) -> Option<usize> {
        at.as_ref().and_then(|at| self.pick(at))
    }

    fn say(&mut self) {
        self.session.append_message(r#"{"role":"user","content":"x"}"#).unwrap();
        self.model.append(Sort::Message, None, None);
    }

    /// A line of another program, and its entry in the model, where our own leaf stays as it is.
    fn others_line(&mut self, parent: Option<usize>) -> String {
        self.others += 1;
        let json = parent.map_or("null".into(), |at| format!("\"{}\"", self.id(at)));
        self.model.entries.push(Entry {
            parent,
            sort: Sort::Message,
            target: None,
            label: None,
            is_lost: false,
        });
        format!(
            "{{\"type\":\"message\",\"id\":\"other{}\",\"parentId\":{json},\"timestamp\":\"2999-01-01T00:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"y\"}}}}\n",
            self.others
        )
    }

    fn perform(&mut self, op: &Op) {
        let on_disk = self.session.is_on_disk();
        match op {
            Op::Message => self.say(),
            Op::Custom => {
                self.session.append_custom_entry("c", Some("1")).unwrap();
                self.model.append(Sort::Custom, None, None);
            }
            Op::Settings => {
                self.session.append_thinking_level_change(Some("high")).unwrap();
                self.model.append(Sort::Settings, None, None);
            }
            Op::Label(at, label) => {
                let Some(at) = self.pick(at) else { return };
                let label = label.map(|label| format!("label {label}"));
                self.session.append_label_change(&self.id(at), label.as_deref()).unwrap();
                self.model.append(Sort::Label, Some(at), label);
            }
            Op::Branch(at) => {
                let Some(at) = self.pick(at) else { return };
                if self.model.leads_nowhere(at) {
                    assert!(self.session.branch(&self.id(at)).is_err());
                    return;
                }
                self.session.branch(&self.id(at)).unwrap();
                self.model.leaf = self.model.landing(at);
            }
            Op::ResetLeaf => {
                self.session.reset_leaf();
                self.model.leaf = None;
            }
            Op::Leaf(at) => {
                let at = self.pick_maybe(at).filter(|&at| !self.model.leads_nowhere(at));
                let target = at.map_or("null".into(), |at| format!("\"{}\"", self.id(at)));
                self.session.append(&NewEntry::new("leaf").json("targetId", &target)).unwrap();
                self.model.append(Sort::Leaf, at, None);
                self.model.leaf = at.and_then(|at| self.model.landing(at));
            }
            Op::Summary(at) => {
                let at = self.pick_maybe(at).filter(|&at| !self.model.leads_nowhere(at));
                let from = at.map(|at| self.id(at));
                self.session.branch_with_summary(from.as_deref(), "s", None, None).unwrap();
                self.model.leaf = at.and_then(|at| self.model.landing(at));
                self.model.append(Sort::Summary, None, None);
            }
            Op::Copy(at) => {
                let Some(at) = self.pick(at) else { return };
                let copied = self.session.create_branched_session(&self.id(at));
                match self.model.landing(at) {
                    None => assert!(copied.is_err()),
                    Some(at) => {
                        self.path = copied.unwrap();
                        self.model = self.model.copied(at);
                    }
                }
            }
            Op::Clone => match self.model.leaf {
                None => assert!(self.session.clone_session().is_err()),
                Some(leaf) => {
                    self.path = self.session.clone_session().unwrap();
                    self.model = self.model.copied(leaf);
                }
            },
            Op::Fork(at) => {
                let Some(at) = self.pick(at) else { return };
                let forked = self.session.fork_before(&self.id(at));
                if self.model.entries[at].sort != Sort::Message {
                    assert!(forked.is_err());
                    return;
                }
                self.model = match self.model.entries[at].parent {
                    Some(parent) => self.model.copied(parent),
                    None => Model::default(),
                };
                self.path = self.session.get_session_file().map(PathBuf::from);
            }
            Op::Reopen if on_disk => {
                let path = self.path.clone().unwrap();
                self.session = SessionManager::open(&path, None).unwrap();
                self.model.leaf = self.model.leaf_after_opening();
            }
            Op::Other { parent, look } if on_disk => {
                let parent = self.pick_maybe(parent);
                let line = self.others_line(parent);
                common::append(self.path.as_ref().unwrap(), line.as_bytes());
                if *look {
                    self.session.refresh().unwrap();
                } else {
                    self.say();
                }
            }
            Op::Rewrite(parent) if on_disk => {
                let parent = self.pick_maybe(parent);
                let line = self.others_line(parent);
                let path = self.path.clone().unwrap();
                let bytes = [std::fs::read(&path).unwrap(), line.into_bytes()].concat();
                let beside = path.with_extension("new");
                common::write(&beside, &bytes);
                std::fs::rename(&beside, &path).unwrap();
                self.say();
            }
            Op::Reopen | Op::Other { .. } | Op::Rewrite(_) => {}
        }
    }

    /// Every question to the session has the model's answer.
    fn agree(&self) -> Result<(), TestCaseError> {
        let (session, model) = (&self.session, &self.model);
        let places = |entries: Vec<EntryRef<'_>>| entries.iter().map(|e| e.position()).collect::<Vec<_>>();
        prop_assert_eq!(session.entry_count(), model.entries.len());
        prop_assert_eq!(session.get_leaf_entry().map(EntryRef::position), model.leaf);
        prop_assert_eq!(places(session.get_branch(None)), model.path(model.leaf));
        let children = |parent| -> Vec<usize> {
            (0..model.entries.len()).filter(|&at| model.entries[at].parent == parent).collect()
        };
        prop_assert_eq!(places(session.get_tree()), children(None));
        for (at, entry) in session.get_entries().enumerate() {
            let id = entry.id().unwrap();
            prop_assert_eq!(entry.parent().map(EntryRef::position), model.entries[at].parent);
            prop_assert_eq!(places(session.get_children(Some(&id))), children(Some(at)));
            // Lines of others are of a later time than all of ours.
            let mut by_time = children(Some(at));
            by_time.sort_by_key(|&child| session.get_entries().nth(child).unwrap().time());
            prop_assert_eq!(places(entry.ordered_children()), by_time);
            let label = model.label(at).map(|(_, label)| label);
            prop_assert_eq!(session.get_label(&id), label.as_deref());
            prop_assert_eq!(session.get_entry(&id).map(EntryRef::position), Some(at));
            prop_assert_eq!(places(session.get_branch(Some(&id))), model.path(Some(at)));
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(common::cases(800))]

    #[test]
    fn a_session_is_what_a_list_of_entries_says(
        ops in proptest::collection::vec(op(), 1..40),
        in_memory in any::<bool>(),
    ) {
        let (_folder, root) = light_scratch();
        let path = (!in_memory).then(|| root.join("session.jsonl"));
        let session = match &path {
            Some(path) => SessionManager::open_in(path, None, &root).unwrap(),
            None => SessionManager::in_memory(&root),
        };
        let mut pair = Pair { session, model: Model::default(), path, others: 0 };
        for op in &ops {
            pair.perform(op);
            pair.agree()?;
        }
        prop_assert_eq!(pair.session.damaged_lines(), 0);
        if pair.session.is_on_disk() {
            pair.perform(&Op::Reopen);
            pair.agree()?;
            prop_assert_eq!(pair.session.damaged_lines(), 0);
        }
    }
}

//! Which of the branches of a fork an entry begins, and where the ones beside it are.

use std::collections::{HashMap, HashSet};

use ramal_session::{EntryRef, SessionManager};

/// Where the branch that an entry begins stands among those of its fork, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Branch {
    /// Counted from 1.
    pub(super) place: usize,
    pub(super) of: usize,
    /// The entries that begin the branches beside it, by position.
    pub(super) before: Option<usize>,
    pub(super) after: Option<usize>,
}

/// The forks of a session, each looked at once.
#[derive(Debug, Default)]
pub(super) struct Forks {
    branches: HashMap<usize, Branch>,
    /// Parents that were looked at; none stands for the roots.
    known: HashSet<Option<usize>>,
}

impl Forks {
    /// The branch that an entry begins; none if nothing beside it is one.
    pub(super) fn branch(&mut self, session: &SessionManager, entry: EntryRef<'_>) -> Option<Branch> {
        let parent = entry.parent();
        if let Some(parent) = parent
            && parent.children().nth(1).is_none()
        {
            return None;
        }
        if self.known.insert(parent.map(EntryRef::position)) {
            let siblings = parent.map_or_else(|| session.get_tree(), EntryRef::ordered_children);
            self.take(&siblings);
        }
        self.branches.get(&entry.position()).copied()
    }

    fn take(&mut self, siblings: &[EntryRef<'_>]) {
        // A label or a record at the side makes no branch.
        let counts = |entry: &&EntryRef<'_>| entry.kind().is_conversation() || entry.has_children();
        let begins: Vec<usize> = siblings.iter().filter(counts).map(|entry| entry.position()).collect();
        if begins.len() < 2 {
            return;
        }
        for (at, &position) in begins.iter().enumerate() {
            let beside = |at: Option<usize>| at.and_then(|at| begins.get(at)).copied();
            let branch = Branch {
                place: at + 1,
                of: begins.len(),
                before: beside(at.checked_sub(1)),
                after: beside(at.checked_add(1)),
            };
            self.branches.insert(position, branch);
        }
    }
}

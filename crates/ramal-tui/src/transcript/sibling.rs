//! From a branch to the one beside it.

use ramal_session::{EntryId, EntryRef, SessionManager};

use crate::tree_selector::Direction;

/// A branch beside another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sibling<'s> {
    /// The entry that it begins with.
    pub first: EntryRef<'s>,
    /// The entry at its end: of the conversation in it that no other follows, what was appended last.
    pub end: EntryRef<'s>,
}

/// The branch before or behind the one that an entry is on: at the nearest place at or above the entry where
/// there are several, or, at the first and the last of those, at the next such place further up. So one comes to
/// every branch, and back. None where there is no such place.
///
/// Linear in the path above the entry and in the size of the branch.
pub fn sibling_branch(
    session: &SessionManager,
    position: usize,
    direction: Direction,
) -> Option<Sibling<'_>> {
    let mut at = session.get_entry_at(position);
    while let Some(fork) = at?.nearest_fork() {
        let all = fork.siblings();
        let index = all.iter().position(|entry| *entry == fork)?;
        let beside = match direction {
            Direction::Back => index.checked_sub(1),
            Direction::Forward => Some(index + 1),
        };
        if let Some(first) = beside.and_then(|index| all.get(index)) {
            return Some(Sibling { first: *first, end: first.branch_end() });
        }
        at = fork.parent();
    }
    None
}

/// Where the leaf goes when one goes from an entry to the branch beside it: to that branch's end, as
/// [`sibling_branch`] finds it. One is to stand there, also if it is a message of the user's. None, too,
/// if the id of the end cannot be read.
pub fn sibling(session: &SessionManager, position: usize, direction: Direction) -> Option<EntryId> {
    sibling_branch(session, position, direction)?.end.id().ok()
}

//! The path that a navigation leaves (contract, section 6.2). Nothing is read but `leaf` entries.

use ramal_session::{EntryId, EntryRef, Kind, ReadError, Role, SessionManager};

/// What is left behind by going from one entry to another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AbandonedPath {
    /// The deepest entry that both paths share; none if they share nothing.
    pub common_ancestor: Option<EntryId>,
    /// The entries from there to the old leaf, the ancestor not included, oldest first, as
    /// [`EntryRef::position`] has them ([`SessionManager::get_entry_at`] leads back).
    pub entries: Vec<usize>,
    /// Whether any of them is conversation that a model was shown last: without it there is nothing to
    /// summarise. What a `reset_boundary` on the path hides does not count.
    pub has_conversation: bool,
}

impl AbandonedPath {
    /// The entries as JSON texts, as a hook gets them.
    ///
    /// # Errors
    /// If the log cannot be read any more.
    pub fn entries_json(&self, session: &SessionManager) -> Result<Vec<String>, ReadError> {
        let entries = self.entries.iter().filter_map(|&position| session.get_entry_at(position));
        entries.map(|entry| Ok(entry.read()?.json().to_owned())).collect()
    }
}

/// The entries from `old_leaf` up to, not including, the deepest common ancestor of it and `target`
/// (contract, section 6.2). Compactions do not end the walk; with no old leaf nothing is abandoned; an
/// unknown target shares nothing. A `leaf` entry as the target stands for where it leads. Linear in the
/// two paths.
///
/// # Errors
/// If the log cannot be read any more.
pub fn abandoned_path(
    session: &SessionManager,
    old_leaf: Option<&str>,
    target: &str,
) -> Result<AbandonedPath, ReadError> {
    let Some(old) = old_leaf else { return Ok(AbandonedPath::default()) };
    let Some(old) = entry(session, old)? else { return Ok(AbandonedPath::default()) };
    let ancestor = match landing(session, target)? {
        Some(target) => common_ancestor(old, target),
        None => None,
    };
    let mut path = AbandonedPath {
        common_ancestor: ancestor.map(EntryRef::id).transpose()?,
        ..AbandonedPath::default()
    };
    let mut is_hidden = false;
    let mut at = Some(old);
    while let Some(entry) = at.filter(|&entry| Some(entry) != ancestor) {
        path.entries.push(entry.position());
        is_hidden |= entry.kind() == Kind::ResetBoundary;
        path.has_conversation |= !is_hidden && is_said(entry);
        at = entry.parent();
    }
    path.entries.reverse();
    Ok(path)
}

/// Conversation, as against records and settings.
fn is_said(entry: EntryRef<'_>) -> bool {
    let is_setting = matches!(entry.role(), Role::None | Role::Unknown | Role::System);
    entry.kind().is_conversation() && !(entry.kind() == Kind::Message && is_setting)
}

/// The entry that is meant by an id: the leaf, if it has that id, since several entries may share one.
fn entry<'a>(session: &'a SessionManager, id: &str) -> Result<Option<EntryRef<'a>>, ReadError> {
    if let Some(leaf) = session.get_leaf_entry()
        && leaf.id()?.as_str() == id
    {
        return Ok(Some(leaf));
    }
    Ok(session.get_entry(id))
}

/// Where going to an entry leads: none is before the first entry, or nowhere.
pub(crate) fn landing<'a>(
    session: &'a SessionManager,
    target: &str,
) -> Result<Option<EntryRef<'a>>, ReadError> {
    let mut at = session.get_entry(target);
    let mut seen = std::collections::HashSet::new();
    while let Some(entry) = at.filter(|entry| entry.kind() == Kind::Leaf) {
        if !seen.insert(entry.position()) {
            return Ok(None);
        }
        at = entry.read()?.get_str("targetId").and_then(|id| session.get_entry(&id));
    }
    Ok(at)
}

fn common_ancestor<'a>(one: EntryRef<'a>, other: EntryRef<'a>) -> Option<EntryRef<'a>> {
    let up = |from| std::iter::successors(Some(from), |entry: &EntryRef<'a>| entry.parent());
    let (deep, flat) = (up(one).count(), up(other).count());
    let (deeper, other, difference) =
        if deep >= flat { (one, other, deep - flat) } else { (other, one, flat - deep) };
    let level = up(deeper).skip(difference);
    level.zip(up(other)).find(|(one, other)| one == other).map(|(one, _)| one)
}

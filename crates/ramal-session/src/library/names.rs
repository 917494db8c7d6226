//! Ids and names of sessions: which may stand in a path, how short they can be shown, and which
//! session came of which.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::SessionInfo;
use crate::error::OpenError;

/// Characters that an id may have at most.
const LONGEST_ID: usize = 128;
/// Characters of an id that are shown at least.
const SHORTEST: usize = 8;

/// The name of a session's file: `<timestamp>_<id>.jsonl`. `now` is in milliseconds since 1970.
///
/// # Errors
/// If the id may not be part of a path.
pub fn file_name(id: &str, now: i64) -> Result<String, OpenError> {
    check_id(id)?;
    Ok(format!("{}_{id}.jsonl", crate::entry::time::format(now).replace([':', '.'], "-")))
}

/// Whether an id may be part of a path: letters, digits, `-`, `_` and `.`, no more than 128, none of
/// the names that a system gives a meaning of its own (contract, section 2).
///
/// # Errors
/// If it may not.
pub fn check_id(id: &str) -> Result<(), OpenError> {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    let good = !id.is_empty()
        && id.len() <= LONGEST_ID
        && id.bytes().all(is_plain)
        && !id.starts_with('.')
        && !id.ends_with('.')
        && !id.contains("..")
        && !is_device(id);
    if good { Ok(()) } else { Err(OpenError::BadSessionId { id: id.into() }) }
}

fn is_device(id: &str) -> bool {
    let stem = id.split('.').next().unwrap_or_default().to_ascii_uppercase();
    let numbered = |name| {
        stem.strip_prefix(name).is_some_and(|rest| rest.len() == 1 && rest.as_bytes()[0].is_ascii_digit())
    };
    ["CON", "PRN", "AUX", "NUL"].contains(&&*stem) || numbered("COM") || numbered("LPT")
}

/// For each session the beginning of its id that tells it from all others in the list, at least eight
/// characters. Sessions with the same id get the whole of it.
pub fn short_ids(sessions: &[SessionInfo]) -> Vec<String> {
    shortened(&sessions.iter().map(|session| &*session.id).collect::<Vec<_>>())
}

pub(super) fn shortened(ids: &[&str]) -> Vec<String> {
    let mut sorted: Vec<&str> = ids.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let shared = |a: &str, b: &str| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let mut lengths = HashMap::new();
    for (at, id) in sorted.iter().enumerate() {
        let before = at.checked_sub(1).map_or(0, |before| shared(sorted[before], id));
        let after = sorted.get(at + 1).map_or(0, |after| shared(after, id));
        lengths.insert(*id, (before.max(after) + 1).max(SHORTEST));
    }
    let shorten = |id: &&str| {
        let mut length = lengths.get(id).copied().unwrap_or(usize::MAX);
        // A dash at the end looks like a slip.
        length += id.chars().skip(length.saturating_sub(1)).take_while(|&c| c == '-').count();
        id.chars().take(length).collect()
    };
    ids.iter().map(shorten).collect()
}

/// Which sessions of a list came of which others: positions in that list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lineage {
    /// The session that each was copied from, if that is in the list.
    pub parents: Vec<Option<usize>>,
    /// The sessions that were copied from each, in the order of the list.
    pub children: Vec<Vec<usize>>,
    /// Those that were copied from none in the list. Every session can be reached from one of them.
    pub roots: Vec<usize>,
}

impl Lineage {
    /// Finds what `parentSession` names: a path, or an id. Linear in the number of sessions.
    ///
    /// A path that leads nowhere, since folders were moved, still counts by the id in its name.
    pub fn of(sessions: &[SessionInfo]) -> Lineage {
        Lineage::with(sessions, &|path| std::fs::canonicalize(path).ok())
    }

    /// The same by nothing but what the headers say, without a look at the disk: links among the folders are
    /// not followed.
    pub fn as_written(sessions: &[SessionInfo]) -> Lineage {
        Lineage::with(sessions, &|_| None)
    }

    fn with(sessions: &[SessionInfo], real: &dyn Fn(&Path) -> Option<PathBuf>) -> Lineage {
        let mut by_id = HashMap::new();
        let mut by_path = HashMap::new();
        for (number, session) in sessions.iter().enumerate() {
            by_id.entry(&*session.id).or_insert(number);
            by_path.entry(session.path.as_path()).or_insert(number);
        }
        let find = |session: &SessionInfo| {
            let named = session.parent_session.as_deref()?;
            let path = session.path.parent().unwrap_or(Path::new("")).join(named);
            let by_path = |path: &Path| by_path.get(path).copied();
            let looks_like_path = named.contains(['/', '\\']) || named.ends_with(".jsonl");
            by_id
                .get(named)
                .copied()
                .or_else(|| by_path(&path))
                .or_else(|| by_path(&real(&path).filter(|_| looks_like_path)?))
                .or_else(|| by_id.get(id_in_name(named)?).copied())
        };
        let mut parents: Vec<Option<usize>> = sessions.iter().map(find).collect();
        cut_circles(&mut parents);
        let mut children = vec![Vec::new(); sessions.len()];
        let mut roots = Vec::new();
        for (number, parent) in parents.iter().enumerate() {
            match parent {
                Some(parent) => children[*parent].push(number),
                None => roots.push(number),
            }
        }
        Lineage { parents, children, roots }
    }
}

/// Headers can say anything, also that two sessions came of each other.
fn cut_circles(parents: &mut [Option<usize>]) {
    let mut walked = vec![0usize; parents.len()];
    for start in 0..parents.len() {
        let walk = start + 1;
        let mut at = start;
        while walked[at] == 0 {
            walked[at] = walk;
            match parents[at] {
                Some(parent) if walked[parent] == walk => parents[at] = None,
                Some(parent) => at = parent,
                None => break,
            }
        }
    }
}

/// The id in the name of a session's file.
pub(crate) fn id_in_name(path: &str) -> Option<&str> {
    let name = path.rsplit(['/', '\\']).next()?.strip_suffix(".jsonl")?;
    name.split_once('_').map(|(_, id)| id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_may_stand_in_a_path() {
        for good in
            ["0195a0b1-0000-7000-8000-000000000012", "a", "A_b.c-1", "conscious", "com10", &"x".repeat(128)]
        {
            assert!(check_id(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            ".",
            "..",
            ".hidden",
            "a..b",
            "a.",
            "../x",
            "/etc/passwd",
            "a/b",
            "a\\b",
            "a\0b",
            "a b",
            "é",
            "%2e%2e",
            "CON",
            "con.txt",
            "LPT1",
            "nul",
            "a:b",
            "a\nb",
            &"x".repeat(129),
        ] {
            assert!(matches!(check_id(bad), Err(OpenError::BadSessionId { id }) if id == bad), "{bad:?}");
            assert!(file_name(bad, 0).is_err());
        }
        assert_eq!(file_name("a1", 1).unwrap(), "1970-01-01T00-00-00-001Z_a1.jsonl");
    }

    #[test]
    fn ids_are_as_long_as_they_must_be() {
        for (ids, want) in [
            (vec!["0123456789", "9876543210"], vec!["01234567", "98765432"]),
            (vec!["0123456789", "0123456788"], vec!["0123456789", "0123456788"]),
            (
                vec!["01234567-0000-7a", "01234567-0000-7b", "01234567-1"],
                vec!["01234567-0000-7a", "01234567-0000-7b", "01234567-1"],
            ),
            (vec!["01234568-1", "01234567-1"], vec!["01234568", "01234567"]),
            (vec!["same-long-id", "same-long-id"], vec!["same-lon", "same-lon"]),
            (vec!["0123456789ab", "0123456789"], vec!["0123456789a", "0123456789"]),
            (vec!["ééééééééé1", "ééééééééé2", ""], vec!["ééééééééé1", "ééééééééé2", ""]),
        ] {
            assert_eq!(shortened(&ids), want, "{ids:?}");
        }
    }

    #[test]
    fn circles_end() {
        for (mut parents, want) in [
            (vec![Some(0)], vec![None]),
            (vec![Some(1), Some(0), Some(1)], vec![Some(1), None, Some(1)]),
            (vec![Some(1), Some(2), None], vec![Some(1), Some(2), None]),
            (vec![Some(2), Some(0), Some(1), Some(0)], vec![Some(2), None, Some(1), Some(0)]),
        ] {
            cut_circles(&mut parents);
            assert_eq!(parents, want);
        }
    }
}

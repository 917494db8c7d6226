//! Which session and which entry somebody means (SESSION and ENTRY of the command line).

use std::path::{Path, PathBuf};

use ramal_session::{EntryId, EntryRef, SessionManager};

use crate::cli::Globals;
use crate::failure::Failure;

/// `--session SESSION`, for commands whose arguments are entries.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SessionOption {
    /// The session: a path, the beginning of an id, or a name; else the most recent one here
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

impl SessionOption {
    /// What was typed.
    pub(crate) fn name(&self) -> Option<&str> {
        self.session.as_deref()
    }
}

/// Opens a session for a command, with the leaf where this user left it.
///
/// # Errors
/// If there is none such, several are meant, or it cannot be opened.
pub(crate) fn session(name: Option<&str>, globals: &Globals) -> anyhow::Result<SessionManager> {
    let path = session_path(name, globals)?;
    Ok(SessionManager::open(&path, globals.session_dir.as_deref())?)
}

/// Remembers where the leaf is now, so that the next command finds it there. Answers whether that
/// worked; if not, a warning was given (contract, section 1).
pub(crate) fn remember(_session: &SessionManager, _globals: &Globals) -> bool {
    false
}

/// The file of a session.
///
/// # Errors
/// If there is none such, or several are meant.
pub(crate) fn session_path(name: Option<&str>, _globals: &Globals) -> anyhow::Result<PathBuf> {
    let Some(name) = name else {
        return Err(Failure::new("there is no session of this directory yet").into());
    };
    if Path::new(name).is_file() {
        return Ok(name.into());
    }
    Err(Failure::new(format!("no session {name}"))
        .hint("`ramal ls --all` lists the sessions there are")
        .into())
}

/// How many near misses an error names.
const NEAR_MISSES: usize = 5;

/// The id of the entry that is meant by an id or an unambiguous beginning of one, a label, `leaf`,
/// `root`, or any of these with `~n` for its nth ancestor; `~` is `~1`, and `~n` alone begins at the
/// leaf.
///
/// A whole id goes before `leaf` and `root`, these before a label, and a label before the beginning of
/// an id. `root` is where the branch of the leaf begins.
///
/// # Errors
/// If no entry is meant, or several are.
pub(crate) fn entry(session: &SessionManager, text: &str) -> anyhow::Result<EntryId> {
    Ok(entry_ref(session, text)?.id()?)
}

/// As [`entry`], with the handle of the entry.
///
/// # Errors
/// As for [`entry`].
pub(crate) fn entry_ref<'a>(session: &'a SessionManager, text: &str) -> anyhow::Result<EntryRef<'a>> {
    // A label may hold a `~` itself.
    let (mut name, mut steps) = (text, 0u64);
    loop {
        if let Some(found) = named(session, name)? {
            return ancestor(found, steps, text);
        }
        let Some((rest, count)) = split_steps(name) else { break };
        (name, steps) = (rest, steps.saturating_add(count));
    }
    Err(no_such_entry(session, name)?)
}

/// Takes the last `~n` off.
fn split_steps(name: &str) -> Option<(&str, u64)> {
    let (rest, digits) = name.rsplit_once('~')?;
    match digits {
        "" => Some((rest, 1)),
        digits if digits.bytes().all(|b| b.is_ascii_digit()) => {
            Some((rest, digits.parse().unwrap_or(u64::MAX)))
        }
        _ => None,
    }
}

fn named<'a>(session: &'a SessionManager, name: &str) -> anyhow::Result<Option<EntryRef<'a>>> {
    if let Some(found) = session.get_entry(name) {
        return Ok(Some(found));
    }
    match name {
        "leaf" | "" => return at_leaf(session).map(Some),
        "root" => return root(session).map(Some),
        _ => {}
    }
    let labelled: Vec<_> = session.get_labels().filter(|entry| entry.label() == Some(name)).collect();
    let found = if labelled.is_empty() { beginning_with(session, name)? } else { labelled };
    match &*found {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        [first, second, ..] => Err(Failure::new(format!("{name} may be any of {} entries", found.len()))
            .hint(format!("among them {} and {}; write more of the id", first.id()?, second.id()?))
            .into()),
    }
}

fn at_leaf(session: &SessionManager) -> anyhow::Result<EntryRef<'_>> {
    session.get_leaf_entry().ok_or_else(|| {
        Failure::new("the leaf is before the first entry")
            .hint("`ramal tree` shows the entries there are")
            .into()
    })
}

/// The first entry of the leaf's branch; the first root there is if the leaf is before all of them.
fn root(session: &SessionManager) -> anyhow::Result<EntryRef<'_>> {
    let Some(mut entry) = session.get_leaf_entry() else {
        let first = session.get_tree().into_iter().next();
        return first.ok_or_else(|| Failure::new("the session has no entries").into());
    };
    while let Some(parent) = entry.parent() {
        entry = parent;
    }
    Ok(entry)
}

/// Entries whose id begins like this, each id once.
fn beginning_with<'a>(session: &'a SessionManager, beginning: &str) -> anyhow::Result<Vec<EntryRef<'a>>> {
    let mut ids = Vec::new();
    let mut found = Vec::new();
    for entry in session.get_entries() {
        let id = entry.id()?;
        if id.starts_with(beginning) && !ids.contains(&id) {
            // Of several entries with one id, the one that the id means.
            found.extend(session.get_entry(&id));
            ids.push(id);
        }
        if ids.len() > NEAR_MISSES {
            break;
        }
    }
    Ok(found)
}

fn ancestor<'a>(mut entry: EntryRef<'a>, steps: u64, text: &str) -> anyhow::Result<EntryRef<'a>> {
    for step in 0..steps {
        entry = entry.parent().ok_or_else(|| {
            Failure::new(format!("{text} is above the root: there are {step} entries above, not {steps}"))
        })?;
    }
    Ok(entry)
}

fn no_such_entry(session: &SessionManager, name: &str) -> anyhow::Result<anyhow::Error> {
    let file = session.get_session_file().map(|path| path.display().to_string()).unwrap_or_default();
    let failure = Failure::new(format!("no entry {name} in {file}"));
    Ok(failure.hint("`ramal tree --filter all` shows every entry with its id").into())
}

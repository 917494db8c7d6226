//! Which session and which entry somebody means (SESSION and ENTRY of the command line).

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ramal_session::library::{self, FindError, Places};
use ramal_session::{Calls, EntryId, EntryRef, Irregular, OpenError, SessionManager};

use crate::cli::Globals;
use crate::commands::in_a_line;
use crate::failure::Failure;
use crate::remembered;

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

/// `[SESSION]`, for commands that need nothing else. `--session` is what the others take: it means the
/// same here.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SessionArgument {
    /// The session: a path, the beginning of an id, or a name; else the most recent one here
    #[arg(value_name = "SESSION")]
    session: Option<String>,
    /// As SESSION
    #[arg(long = "session", value_name = "SESSION", hide = true, conflicts_with = "session")]
    option: Option<String>,
}

impl SessionArgument {
    /// What was typed.
    pub(crate) fn name(&self) -> Option<&str> {
        self.session.as_deref().or(self.option.as_deref())
    }
}

/// Opens a session for a command, with the leaf where this user left it.
///
/// # Errors
/// If there is none such, several are meant, or it cannot be opened.
pub(crate) fn session(name: Option<&str>, globals: &Globals) -> anyhow::Result<SessionManager> {
    let path = session_path(name, globals)?;
    let mut session = SessionManager::open(&path, globals.session_dir.as_deref())?;
    remembered::recall(&mut session);
    Ok(session)
}

/// The directory that the command works in. One that was deleted is what the shell still calls it: its
/// sessions are there.
///
/// # Errors
/// If it cannot be told.
pub(crate) fn cwd() -> anyhow::Result<PathBuf> {
    let named = || std::env::var_os("PWD").map(PathBuf::from).filter(|path| path.is_absolute());
    std::env::current_dir().or_else(|error| named().ok_or(error)).map_err(|error| {
        Failure::new(format!("the working directory cannot be told: {error}"))
            .hint("go to a directory that is there")
            .into()
    })
}

/// The file of a session. It is there.
///
/// # Errors
/// If there is none such, or several are meant.
pub(crate) fn session_path(name: Option<&str>, globals: &Globals) -> anyhow::Result<PathBuf> {
    let cwd = cwd()?;
    let places = globals.places();
    let Some(name) = name else {
        let listing = library::list(&places, &cwd);
        return library::most_recent(&listing.sessions, None).ok_or_else(|| no_recent(&listing, &cwd).into());
    };
    if name.is_empty() {
        return Err(Failure::usage("an empty text names no session").into());
    }
    match library::find(&places, &cwd, name) {
        Ok(path) => {
            // A new session would be made where nothing is: nobody asked for one here.
            let found = std::fs::metadata(&path);
            let found = found.map_err(|source| OpenError::Io { path: path.clone(), source })?;
            if found.is_dir() { Err(a_folder(&path).into()) } else { Ok(path) }
        }
        Err(FindError::Ambiguous { candidates, .. }) => Err(ambiguous_session(name, &candidates).into()),
        Err(_) if Path::new(name).is_dir() => Err(a_folder(Path::new(name)).into()),
        Err(_) => Err(no_such_session(name, &places).into()),
    }
}

fn a_folder(path: &Path) -> Failure {
    Failure::new(format!("{} is a folder, not a session", path.display()))
        .hint("name a file in it, or list its sessions with `ramal ls --all --session-dir` and the folder")
}

fn no_recent(listing: &library::Listing, cwd: &Path) -> Failure {
    let failure = match listing.sessions.first() {
        Some(session) => Failure::new(format!("no session of {} takes entries", cwd.display()))
            .hint(format!("name one to look at it: {}", session.path.display())),
        None => Failure::new(format!("no session of {}", cwd.display())),
    };
    failure.hint("`ramal ls --all` lists those of other directories; name one by its path, id or name")
}

fn ambiguous_session(name: &str, candidates: &[library::Candidate]) -> Failure {
    let mut failure = Failure::new(format!("'{name}' may be any of {} sessions", candidates.len()));
    for candidate in candidates.iter().take(NEAR_MISSES) {
        let name = candidate.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
        failure = failure.hint(format!("{}{name}: {}", candidate.id, candidate.path.display()));
    }
    if candidates.len() > NEAR_MISSES {
        failure = failure.hint(format!("and {} more", candidates.len() - NEAR_MISSES));
    }
    failure
}

fn no_such_session(name: &str, places: &Places) -> Failure {
    let failure = Failure::new(format!("no session whose id begins with '{name}', and none of that name"));
    let sessions = library::list_all(places).sessions;
    let names = sessions.iter().filter_map(|session| session.name.as_deref());
    let ids = sessions.iter().map(|session| &*session.id);
    match near_misses(name, names.chain(ids)) {
        Some(hint) => failure.hint(hint),
        None => failure.hint("`ramal ls --all` lists the sessions there are"),
    }
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

/// As [`entry`], for an entry that one can go to, label or branch off at.
///
/// # Errors
/// As for [`entry`], and if the entry can only be seen.
pub(crate) fn place<'a>(session: &'a SessionManager, text: &str) -> anyhow::Result<EntryRef<'a>> {
    let found = entry_ref(session, text)?;
    if found.irregular() == Some(Irregular::NoId) {
        let file = session.get_session_file().map(|path| path.display().to_string()).unwrap_or_default();
        let failure = Failure::new(format!("entry {} has no id in {file}: it can only be seen", found.id()?));
        return Err(failure.hint("`ramal check --repair` gives it one").into());
    }
    Ok(found)
}

/// As [`entry`], with the handle of the entry.
///
/// # Errors
/// As for [`entry`].
pub(crate) fn entry_ref<'a>(session: &'a SessionManager, text: &str) -> anyhow::Result<EntryRef<'a>> {
    if text.is_empty() {
        return Err(Failure::usage("an empty text names no entry").into());
    }
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
        several => Err(ambiguous_entry(session, name, several)?),
    }
}

/// What was meant is told by what the entries say.
fn ambiguous_entry(
    session: &SessionManager,
    name: &str,
    found: &[EntryRef<'_>],
) -> anyhow::Result<anyhow::Error> {
    let count = match found.len() {
        count if count > NEAR_MISSES => format!("more than {NEAR_MISSES}"),
        count => count.to_string(),
    };
    let mut failure = Failure::new(format!("'{name}' may be any of {count} entries; write more of the id"));
    let mut calls = Calls::default();
    for &handle in found.iter().take(NEAR_MISSES) {
        failure = failure.hint(format!("{}  {}", handle.id()?, in_a_line(session, handle, &mut calls)?));
    }
    Ok(failure.into())
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
            Failure::new(format!("'{text}' is above the root: there are {step} entries above, not {steps}"))
        })?;
    }
    Ok(entry)
}

fn no_such_entry(session: &SessionManager, name: &str) -> anyhow::Result<anyhow::Error> {
    let file = session.get_session_file().map(|path| format!(" in {}", path.display())).unwrap_or_default();
    let failure = Failure::new(format!("no entry '{name}'{file}"));
    let labels: Vec<_> = session.get_labels().filter_map(|entry| entry.label()).collect();
    let mut ids = Vec::new();
    for entry in session.get_entries() {
        let id = entry.id()?;
        if is_near(name, &id) {
            ids.push(id);
        }
        if ids.len() > NEAR_MISSES {
            break;
        }
    }
    let known = labels.into_iter().chain(ids.iter().map(EntryId::as_str));
    Ok(match near_misses(name, known) {
        Some(hint) => failure.hint(hint).into(),
        None => failure.hint("`ramal tree --filter all` shows every entry with its id").into(),
    })
}

/// A question that names what is written like `typed`.
fn near_misses<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut near: Vec<&str> = known.filter(|known| is_near(typed, known)).take(NEAR_MISSES).collect();
    let mut seen = HashSet::new();
    near.retain(|name| seen.insert(*name));
    (!near.is_empty()).then(|| format!("did you mean {}?", near.join(", or ")))
}

/// Longer names than this are not mistyped but something else.
const LONGEST_TYPED: usize = 64;

/// Whether something known is written nearly as what was typed: apart from capitals, as a part of it,
/// or with one slip in four letters.
fn is_near(typed: &str, known: &str) -> bool {
    let fold =
        |text: &str| -> Vec<char> { text.chars().flat_map(char::to_lowercase).take(LONGEST_TYPED).collect() };
    let (typed, known) = (fold(typed), fold(known));
    if typed.len() < 3 {
        return typed == known;
    }
    if known.windows(typed.len()).any(|window| window == typed) {
        return true;
    }
    // Of an id, only the beginning is typed.
    let head = &known[..known.len().min(typed.len())];
    distance(&typed, head).min(distance(&typed, &known)) <= typed.len() / 4
}

/// How many letters have to be changed, added or left out.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let changed = corner + usize::from(a != b);
            corner = row[j + 1];
            row[j + 1] = changed.min(corner + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> (SessionManager, Vec<EntryId>) {
        let mut session = SessionManager::in_memory("/w");
        let ids =
            (0..5).map(|_| session.append_message(r#"{"role":"user","content":"x"}"#).unwrap()).collect();
        (session, ids)
    }

    #[test]
    fn entries_by_every_name() {
        let (mut session, ids) = session();
        session.append_label_change(&ids[2], Some("cure~2")).unwrap();
        session.branch(&ids[4]).unwrap();
        for (text, want) in [
            (&*ids[3], Some(3)),
            (&ids[3][..7], Some(3)),
            ("leaf", Some(4)),
            ("root", Some(0)),
            ("leaf~", Some(3)),
            ("~3", Some(1)),
            ("leaf~1~2", Some(1)),
            ("cure~2", Some(2)),
            ("cure~2~1", Some(1)),
            ("leaf~4", Some(0)),
            ("leaf~5", None),
            ("root~1", None),
            ("leaf~99999999999999999999999", None),
            ("cure", None),
            ("leaf~x", None),
            ("", None),
        ] {
            let found = entry(&session, text).ok();
            // An empty text means nothing at all, not the leaf.
            assert_eq!(found.as_ref(), want.map(|n: usize| &ids[n]), "{text}");
        }
        session.reset_leaf();
        assert!(entry(&session, "leaf").is_err());
        assert_eq!(entry(&session, "root").unwrap(), ids[0]);
    }

    #[test]
    fn the_same_label_twice_is_no_name() {
        let (mut session, ids) = session();
        for id in &ids[..2] {
            session.append_label_change(id, Some("here")).unwrap();
        }
        assert!(entry(&session, "here").unwrap_err().to_string().contains("any of 2 entries"));
        for _ in 0..16 * 8 {
            session.append_message(r#"{"role":"user","content":"x"}"#).unwrap();
        }
        // Of so many ids, some digit begins more than five.
        let digits = (0..16).map(|digit| format!("{digit:x}"));
        let errors: Vec<_> =
            digits.filter_map(|digit| Some(entry(&session, &digit).err()?.to_string())).collect();
        assert!(errors.iter().any(|error| error.contains("more than 5 entries")), "{errors:?}");
    }

    #[test]
    fn near_misses_are_near() {
        for (typed, known, want) in [
            ("works", "works, but ugly", true),
            ("day nmubers", "day numbers", true),
            ("b97d8762", "b97d8761", true),
            ("0199d0", "0199c0de-1111", true),
            ("abc", "xyz", false),
            ("a", "abc", false),
            ("Leaf", "leaf", true),
        ] {
            assert_eq!(is_near(typed, known), want, "{typed} {known}");
        }
        assert_eq!(distance(&['a', 'b'], &[]), 2);
    }
}

//! Real session files, where there are any: `RAMAL_CORPUS`, or `shared/corpus` beside the workspace.
//!
//! The folder's `README.md` has a table of its files; what the library finds has to agree with it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use common::pairs::unpaired;
use common::{context, on_threads, questions, scratch};
use ramal_session::{At, EntryRef, Irregular, Kind, Role, SessionManager};

/// The folder; none if there is none here.
fn corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let folder = std::env::var_os("RAMAL_CORPUS").map_or(beside, PathBuf::from);
    let there = folder.join("README.md").is_file();
    if !there {
        eprintln!("skipped: no corpus in {}", folder.display());
    }
    there.then_some(folder)
}

/// A row of the table.
#[derive(Debug)]
struct Row {
    file: String,
    /// Lines that are not blank: header and damaged ones, too.
    lines: usize,
    types: BTreeMap<String, usize>,
    roles: BTreeMap<String, usize>,
    branch_points: Option<usize>,
    damaged: usize,
}

fn rows(table: &str) -> Vec<Row> {
    let rows = table.lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let &[file, _, lines, types, branch_points, notable, ..] = &cells[..] else { return None };
        let (types, roles) = types.split_once("(roles:").unwrap_or((types, ""));
        let damaged = notable.split(';').find(|part| part.contains("unparsable line"));
        Some(Row {
            file: file.into(),
            lines: lines.parse().ok()?,
            types: counts(types),
            roles: counts(roles),
            branch_points: branch_points.parse().ok(),
            damaged: damaged.map_or(0, |part| part.trim().split(' ').next().unwrap().parse().unwrap()),
        })
    });
    rows.collect()
}

/// `message 4, session 1` as numbers.
fn counts(list: &str) -> BTreeMap<String, usize> {
    let parts = list.trim().trim_end_matches(')').split(',');
    parts
        .filter_map(|part| {
            let (name, count) = part.trim().rsplit_once(' ')?;
            Some((name.to_owned(), count.parse().ok()?))
        })
        .collect()
}

/// A copy of the file in a folder of its own, for whoever may write.
fn copied(corpus: &Path, file: &str) -> (tempfile::TempDir, PathBuf) {
    let (folder, root) = scratch();
    let path = root.join(Path::new(file).file_name().unwrap());
    std::fs::copy(corpus.join(file), &path).unwrap();
    (folder, path)
}

fn fail_all(names: &[Row], failures: &[(usize, String)]) {
    for (at, failure) in failures {
        eprintln!("{}: {failure}", names[*at].file);
    }
    assert!(failures.is_empty(), "{} of {} files", failures.len(), names.len());
}

fn of_programs(corpus: &Path, ours: bool) -> Vec<Row> {
    let table = std::fs::read_to_string(corpus.join("README.md")).unwrap();
    let mut rows = rows(&table);
    rows.retain(|row| (row.file.starts_with("pi/") || row.file.starts_with("oh-my-pi/")) == ours);
    assert!(rows.len() > 20, "the table has rows");
    rows
}

#[test]
fn sessions_are_what_the_table_says() {
    let Some(corpus) = corpus() else { return };
    let rows = of_programs(&corpus, true);
    fail_all(
        &rows,
        &on_threads(&rows, |row| {
            let session = SessionManager::open(&corpus.join(&row.file), None).map_err(|e| e.to_string())?;
            agrees(row, &session)?;
            reads(&session)
        }),
    );
}

fn agrees(row: &Row, session: &SessionManager) -> Result<(), String> {
    let mut found = BTreeMap::from([("session".to_owned(), 1)]);
    let mut roles = BTreeMap::new();
    for entry in session.get_entries() {
        let read = entry.read().map_err(|e| e.to_string())?;
        *found.entry(read.type_name().into_owned()).or_insert(0) += 1;
        if let Some(role) = read.message().and_then(|message| message.get_str("role").map(String::from)) {
            *roles.entry(role).or_insert(0) += 1;
        }
    }
    // The table takes the header for the parent of what names it.
    let header = session.get_session_id();
    let below_header = session.get_tree().into_iter().filter(|root| {
        root.irregular() == Some(Irregular::Orphan)
            && root.read().is_ok_and(|entry| entry.parent_id().as_deref() == Some(header))
    });
    let branch_points = session.get_entries().filter(|entry| entry.children().count() > 1).count()
        + usize::from(below_header.count() > 1);
    let damaged = session.damaged_lines() as usize;
    let lines = session.entry_count() + 1 + damaged + session.repeated_lines() as usize;
    let got = (lines, &found, &roles, Some(branch_points), damaged);
    let want = (row.lines, &row.types, &row.roles, row.branch_points, row.damaged);
    if got == want { Ok(()) } else { Err(format!("found {got:?}, the table says {want:?}")) }
}

/// Every entry is once in the tree, and the context of every tip can be had.
fn reads(session: &SessionManager) -> Result<(), String> {
    let walked = questions::walk(session);
    if walked.len() != session.entry_count() {
        return Err(format!("{} of {} entries in the tree", walked.len(), session.entry_count()));
    }
    for (_, tip) in walked.iter().filter(|(_, entry)| !entry.has_children()) {
        let id = questions::id(*tip);
        context::context(session, At::Entry(&id)).ok_or_else(|| format!("no context at {id}"))?;
        let input = context::model_messages(session, At::Entry(&id)).unwrap();
        if let Some(wrong) = unpaired(&input) {
            return Err(format!("model input at {id}: {wrong}"));
        }
        let answers = session.get_branch(Some(&id)).iter().filter(|entry| entry.role() == Role::User).count();
        if answers > 0 && input.is_empty() {
            return Err(format!("the model gets nothing at {id}"));
        }
    }
    Ok(())
}

#[test]
fn copies_keep_every_byte() {
    let Some(corpus) = corpus() else { return };
    let rows = of_programs(&corpus, true);
    fail_all(
        &rows,
        &on_threads(&rows, |row| {
            let (_folder, path) = copied(&corpus, &row.file);
            let before = std::fs::read(&path).unwrap();
            let session = SessionManager::open(&path, None).unwrap();
            let tips = session
                .get_entries()
                .filter(|entry| !entry.has_children() && entry.irregular() != Some(Irregular::NoId));
            let tips: Vec<String> = tips.take(20).map(questions::id).collect();
            for tip in tips {
                let mut copy = SessionManager::open(&path, None).unwrap();
                copy.create_branched_session(&tip).map_err(|e| e.to_string())?;
                same_entries(&session, &copy, &format!("copy at {tip}"))?;
                let kept = session.get_branch(Some(&tip)).len();
                let copied = copy.get_entries().filter(|entry| in_old(&session, *entry)).count();
                let labels = session.get_branch(Some(&tip));
                let labels = labels.iter().filter(|entry| entry.kind() == Kind::Label).count();
                if copied != kept - labels {
                    return Err(format!("copy at {tip} has {copied} of {kept} entries"));
                }
            }
            let other = path.parent().unwrap().join("elsewhere");
            let whole = SessionManager::fork_from(&path, Path::new("/elsewhere"), Some(&other));
            let whole = whole.map_err(|e| e.to_string())?;
            if questions::tree(&whole) != questions::tree(&session) {
                return Err("the copy of the whole file has another tree".into());
            }
            same_entries(&session, &whole, "copy of the whole file")?;
            if std::fs::read(&path).unwrap() != before {
                return Err("the source was changed".into());
            }
            Ok(())
        }),
    );
}

fn in_old(old: &SessionManager, entry: EntryRef<'_>) -> bool {
    old.get_entry(&questions::id(entry)).is_some()
}

/// Entries of the copy that are the old session's say the same, byte for byte; but for the parent
/// where that was left out or missing, and but for those that had no id.
fn same_entries(old: &SessionManager, copy: &SessionManager, what: &str) -> Result<(), String> {
    for entry in copy.get_entries() {
        let id = questions::id(entry);
        let Some(source) = old.get_entry(&id).filter(|old| old.irregular() != Some(Irregular::NoId)) else {
            continue;
        };
        let (was, is) = (source.read().unwrap(), entry.read().unwrap());
        if was.json() == is.json() {
            continue;
        }
        if was.parent_id() == is.parent_id() {
            return Err(format!("{what}: {id} was\n{:.300}\nand is\n{:.300}", was.json(), is.json()));
        }
        let without_parent = |json: &str, parent: Option<&str>| match parent {
            Some(parent) => json.replacen(&format!("\"parentId\":\"{parent}\""), "\"parentId\":null", 1),
            None => json.to_owned(),
        };
        let was = without_parent(was.json(), was.parent_id().as_deref());
        let is = without_parent(is.json(), is.parent_id().as_deref());
        if was != is {
            return Err(format!("{what}: {id} was\n{was:.300}\nand is\n{is:.300}"));
        }
    }
    Ok(())
}

#[test]
fn logs_of_other_agents_come_to_no_harm() {
    let Some(corpus) = corpus() else { return };
    let rows = of_programs(&corpus, false);
    fail_all(
        &rows,
        &on_threads(&rows, |row| {
            let (_folder, path) = copied(&corpus, &row.file);
            let before = std::fs::read(&path).unwrap();
            if let Ok(mut session) = SessionManager::open(&path, None) {
                if questions::walk(&session).len() != session.entry_count() {
                    return Err("not every entry is in the tree".into());
                }
                for entry in session.get_entries() {
                    entry.read().map_err(|e| e.to_string())?;
                }
                // Without a header nothing is ever appended.
                let appended = session.append_message(r#"{"role":"user","content":"hello"}"#);
                if appended.is_ok() {
                    return Err("an entry was appended to the log of another program".into());
                }
            }
            let folder = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
            if std::fs::read(&path).unwrap() != before || folder != 1 {
                return Err("the file was changed, or something was put beside it".into());
            }
            Ok(())
        }),
    );
}

//! The file under an open session is deleted, cut short, replaced, or reached through a link.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use ramal_session::{AppendError, OpenError, SessionManager};

use crate::common::{
    backups, folder, holds_whole, message, names, old_session, plain_entry, put, small_session,
};
use crate::worker::{Worker, text};

fn open(path: &Path) -> SessionManager {
    SessionManager::open(path, None).unwrap()
}

fn append(session: &mut SessionManager, text: &str) -> Result<String, AppendError> {
    session.append_message(&message(text, 0)).map(|id| id.to_string())
}

/// Puts a file in place of another as most programs do that replace files.
fn replace(path: &Path, content: &str) {
    let beside = path.with_extension("new");
    put(&beside, content);
    std::fs::rename(beside, path).unwrap();
}

/// The append fails, the tree and the leaf are as they were, and what stands at the path stays.
#[track_caller]
fn refuses(session: &mut SessionManager, path: &Path) -> AppendError {
    let count = session.entry_count();
    let leaf = session.get_leaf_id().unwrap();
    let before = std::fs::read(path).unwrap();
    let error = append(session, "in vain").unwrap_err();
    assert_eq!(session.entry_count(), count);
    assert_eq!(session.get_leaf_id().unwrap(), leaf);
    assert_eq!(std::fs::read(path).unwrap(), before);
    error
}

#[test]
fn deleted() {
    let (folder, path) = folder();
    put(&path, small_session());
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let mut session = open(&path);
    let first = append(&mut session, "first").unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(session.get_branch(None)[0].read().unwrap().text(), "root", "it can be read all the same");
    let second = append(&mut session, "second").unwrap();
    let third = append(&mut session, "third").unwrap();
    holds_whole(&path, &["a4".into(), first, second, third]);
    assert_eq!(names(folder.path()), ["session.jsonl"]);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn deleted_with_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("sessions");
    let path = below.join("session.jsonl");
    let mut session = open(&path);
    let first = append(&mut session, "first").unwrap();
    std::fs::remove_dir_all(&below).unwrap();
    let second = append(&mut session, "second").unwrap();
    holds_whole(&path, &[first, second]);
    assert_eq!(std::fs::metadata(&below).unwrap().permissions().mode() & 0o777, 0o700);
}

/// Two have it open when it goes: one writes it anew, the other goes on in what the first wrote.
#[test]
fn deleted_under_two() {
    for _ in 0..20 {
        let (_folder, path) = folder();
        put(&path, small_session());
        let (mut one, mut other) = (Worker::with(&path), Worker::with(&path));
        let mut ids = vec![one.append("one", 0).unwrap(), other.append("other", 0).unwrap()];
        std::fs::remove_file(&path).unwrap();
        one.send(&["append", "one again", "0"]);
        other.send(&["append", "other again", "0"]);
        let said = [one.hear().unwrap(), other.hear().unwrap()];
        ids.extend(crate::worker::acknowledged(&said));
        assert_eq!(ids.len(), 4, "{said:?}");
        holds_whole(&path, &ids);
    }
}

#[test]
fn deleted_in_an_old_version() {
    let (folder, path) = folder();
    put(&path, old_session(3));
    let mut session = open(&path);
    std::fs::remove_file(&path).unwrap();
    assert!(append(&mut session, "in vain").is_err());
    assert!(names(folder.path()).is_empty());
    assert_eq!(session.get_branch(None).len(), 3);
    // It can still go elsewhere.
    let copy = session.clone_session().unwrap().unwrap();
    assert_eq!(open(&copy).entry_count(), 3);
}

#[test]
fn cut_short() {
    let (_folder, path) = folder();
    put(&path, small_session());
    let mut session = open(&path);
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(300).unwrap();
    let error = refuses(&mut session, &path);
    assert!(matches!(error, AppendError::CutShort { has: 300, .. }), "{error:?}");
    assert!(session.refresh().is_err());
    file.set_len(0).unwrap();
    let error = refuses(&mut session, &path);
    assert!(matches!(error, AppendError::CutShort { has: 0, .. }), "{error:?}");
}

/// The same session, rewritten by another program: one goes on there.
#[test]
fn replaced_by_a_copy_of_itself() {
    let (_folder, path) = folder();
    put(&path, small_session());
    let mut session = open(&path);
    let first = append(&mut session, "first").unwrap();
    let mut content = std::fs::read_to_string(&path).unwrap();
    content += &plain_entry("f0", "\"a0\"", "theirs");
    replace(&path, &content);
    let second = append(&mut session, "second").unwrap();
    assert!(session.get_entry("f0").is_some());
    assert_eq!(session.get_entry(&second).unwrap().parent().unwrap().id().unwrap(), *first);
    holds_whole(&path, &[first, "f0".into(), second]);
}

#[test]
fn replaced_by_something_else() {
    let (_folder, path) = folder();
    let without_the_leaf = small_session().lines().take(2).fold(String::new(), |all, line| all + line + "\n");
    let another = small_session().replace("000000000001", "000000000002");
    for (content, with) in [
        (&*another, "another session"),
        (&*without_the_leaf, "a file without the entry that one stands at"),
        ("", "an empty file"),
        (" \n", "an empty file"),
        ("Dear diary,\n", "a file that is no session"),
    ] {
        put(&path, small_session());
        let mut session = open(&path);
        append(&mut session, "first").unwrap();
        replace(&path, content);
        let error = refuses(&mut session, &path);
        let AppendError::Replaced { with: found, .. } = &error else { panic!("{error:?}") };
        assert_eq!(*found, with);
        // It is a lasting state, and a copy can still be made of what was read.
        refuses(&mut session, &path);
        let copy = session.clone_session().unwrap().unwrap();
        assert_eq!(open(&copy).entry_count(), 3);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
        std::fs::remove_file(copy).unwrap();
    }
}

/// Rewritten in its place, as some programs do: what is longer than before is not what was added.
#[test]
fn rewritten_in_its_place() {
    let (_folder, path) = folder();
    put(&path, small_session());
    let mut session = open(&path);
    let first = append(&mut session, "first").unwrap();
    // The same entries with wider lines.
    let content = std::fs::read_to_string(&path).unwrap();
    put(&path, content.replace("\"message\":{", "\"wide\":\"xxxxxxxxxxxx\",\"message\":{"));
    let second = append(&mut session, "second").unwrap();
    assert_eq!(session.get_entry(&second).unwrap().parent().unwrap().id().unwrap(), *first);
    assert_eq!((session.entry_count(), session.damaged_lines()), (7, 0));
    holds_whole(&path, &[first, second]);

    // Another session, and the same without the entry one stands at.
    let longer = "y".repeat(5000);
    for content in [
        small_session().replace("000000000001", "000000000002"),
        small_session().lines().take(1).collect::<String>() + "\n",
        "Dear diary,\n".into(),
    ] {
        put(&path, small_session());
        let mut session = open(&path);
        append(&mut session, "first").unwrap();
        put(&path, content + &plain_entry("b0", "null", &longer));
        let error = refuses(&mut session, &path);
        assert!(matches!(error, AppendError::Replaced { .. }), "{error:?}");
        refuses(&mut session, &path);
    }
}

/// Moved away and back: the same file is at the path again.
#[test]
fn moved_away_and_back() {
    let (folder, path) = folder();
    put(&path, small_session());
    let mut session = open(&path);
    let elsewhere = folder.path().join("elsewhere");
    std::fs::rename(&path, &elsewhere).unwrap();
    put(&path, "Dear diary,\n");
    refuses(&mut session, &path);
    std::fs::rename(&elsewhere, &path).unwrap();
    let ids = [append(&mut session, "one").unwrap(), append(&mut session, "two").unwrap()];
    holds_whole(&path, &ids);
}

#[test]
fn a_folder_or_a_pipe_at_the_path() {
    let (folder, path) = folder();
    put(&path, small_session());
    let mut session = open(&path);
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert!(append(&mut session, "in vain").is_err());
    std::fs::remove_dir(&path).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert!(append(&mut session, "in vain").is_err());
    assert!(matches!(SessionManager::open(&path, None), Err(OpenError::Io { .. })));
    std::fs::remove_file(&path).unwrap();
    append(&mut session, "goes again").unwrap();
    assert_eq!(names(folder.path()), ["session.jsonl"]);
}

/// Appending follows a link, and a migration replaces what it points to.
#[test]
fn through_a_link() {
    for old in [false, true] {
        let (folder, path) = folder();
        let there = folder.path().join("there");
        std::fs::create_dir(&there).unwrap();
        let target = there.join("real.jsonl");
        let content = if old { old_session(3) } else { small_session() };
        put(&target, &content);
        symlink("there/real.jsonl", &path).unwrap();
        let mut session = open(&path);
        let ids = [append(&mut session, "one").unwrap(), append(&mut session, "two").unwrap()];
        assert!(path.is_symlink());
        holds_whole(&target, &ids);
        assert_eq!(names(folder.path()), ["session.jsonl", "there"]);
        let backups = backups(&there);
        assert_eq!(backups.len(), usize::from(old));
        for backup in backups {
            assert_eq!(std::fs::read_to_string(backup).unwrap(), content);
        }
        // The target goes while it is open: it is written anew where the link points.
        std::fs::remove_file(&target).unwrap();
        let third = append(&mut session, "three").unwrap();
        assert!(path.is_symlink());
        holds_whole(&target, &[&ids[..], &[third]].concat());
    }
}

/// A link to nothing is where a new session is wanted.
#[test]
fn through_a_link_to_nothing() {
    let (folder, path) = folder();
    symlink("real.jsonl", &path).unwrap();
    let mut session = open(&path);
    let id = append(&mut session, "one").unwrap();
    assert!(path.is_symlink());
    holds_whole(&folder.path().join("real.jsonl"), &[id]);
    assert_eq!(names(folder.path()), ["real.jsonl", "session.jsonl"]);
}

/// A line of more than a reading buffer, in a file that is cut short and filled again all the time:
/// whatever is read, the program goes on.
#[test]
fn cut_short_while_it_is_read() {
    let (_folder, path) = folder();
    let large = small_session() + &plain_entry("big", "null", &"x".repeat(700_000));
    put(&path, &large);
    let mut worker = Worker::serving();
    for round in 0..200u64 {
        worker.send(&["open", text(&path)]);
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        for step in 0..20 {
            file.set_len((round * 7919 + step * 104_729) % large.len() as u64).unwrap();
        }
        worker.hear().expect("the worker goes on");
        if round % 10 == 0 {
            put(&path, &large);
        }
    }
}

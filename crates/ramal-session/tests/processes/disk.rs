//! A disk that is full, a file that may not grow, a file system that cannot be written to.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use ramal_session::{AppendError, Durability, SessionManager};

use crate::common::{Lines, backups, folder, holds_whole, message, names, old_session, put, small_session};
use crate::worker::{Worker, say, text};

/// A worker in a mount namespace of its own mounts a small disk and fills it.
#[test]
fn a_full_disk() {
    let folder = tempfile::tempdir().unwrap();
    // SAFETY: asks only.
    let root = unsafe { libc::geteuid() } == 0;
    let program: &[&str] = if root { &["unshare", "-m"] } else { &["unshare", "-Urm"] };
    let may = Command::new(program[0]).args(&program[1..]).arg("true").output();
    if !may.is_ok_and(|output| output.status.success()) {
        println!("skipped: `{}` is not allowed here", program.join(" "));
        return;
    }
    let task = ["small disk", text(folder.path())];
    let said = Worker::spawn(&mut Worker::command_below(program, &task)).finish_well();
    match said.iter().find(|line| line.starts_with("skipped")) {
        Some(reason) => println!("{reason}"),
        None => assert_eq!(said.last().map(|line| &**line), Some("done")),
    }
}

/// The work of that worker.
pub(crate) fn on_a_small_disk(folder: &Path) {
    let mount = |options: &str| {
        Command::new("mount").args(["-t", "tmpfs", "-o", options, "none"]).arg(folder).output()
    };
    match mount("size=1m") {
        Ok(output) if output.status.success() => {}
        other => {
            say(&format!("skipped: no small disk can be mounted here: {other:?}"));
            return;
        }
    }
    appending(folder);
    first_write(folder);
    first_write_into_an_empty_file(folder);
    migrating(folder);
    gone_while_full(folder);
    let path = folder.join("read-only.jsonl");
    put(&path, small_session());
    let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(folder).output().unwrap();
    assert!(remounted.status.success(), "{remounted:?}");
    nothing_can_be_written(&path);
    say("done");
}

/// Fills the disk to the last page, less `pages`; what is answered takes the room.
fn fill(folder: &Path, pages: usize) -> PathBuf {
    let path = folder.join("filler");
    let mut file = std::fs::File::create(&path).unwrap();
    while file.write_all(&[0; 4096]).is_ok() {}
    let length = file.metadata().unwrap().len() / 4096 * 4096;
    file.set_len(length - 4096 * pages as u64).unwrap();
    path
}

#[track_caller]
fn is_io(error: &AppendError) {
    assert!(matches!(error, AppendError::Io { .. }), "{error:?}");
}

fn appending(folder: &Path) {
    let path = folder.join("appending.jsonl");
    put(&path, small_session());
    let mut session = SessionManager::open(&path, None).unwrap();
    let mut ids = vec![session.append_message(&message("before", 0)).unwrap().to_string()];
    for pages in [0, 2] {
        let filler = fill(folder, pages);
        // Larger than what is left: the beginning may be written, as far as there is room.
        for _ in 0..3 {
            let (count, leaf) = (session.entry_count(), session.get_leaf_id().unwrap());
            is_io(&session.append_message(&message("too large", 60_000)).unwrap_err());
            assert_eq!((session.entry_count(), session.get_leaf_id().unwrap()), (count, leaf));
        }
        SessionManager::open(&path, None).unwrap();
        std::fs::remove_file(filler).unwrap();
        ids.push(session.append_message(&message("after", 0)).unwrap().to_string());
        Lines::of(&path).has_once(&ids);
    }
    let torn = session.damaged_lines();
    assert!(torn > 0, "a short write was among them");
    let again = SessionManager::open(&path, None).unwrap();
    assert_eq!((again.entry_count(), again.damaged_lines()), (5 + ids.len(), torn));
    assert_eq!(again.get_branch(None).len(), 2 + ids.len(), "no parent is missing");
}

fn first_write(folder: &Path) {
    let below = folder.join("below");
    let mut session = SessionManager::create(Path::new("/work"), Some(&below)).unwrap();
    session.append_thinking_level_change(Some("high")).unwrap();
    for pages in [0, 3] {
        let filler = fill(folder, pages);
        is_io(&session.append_message(&message("in vain", 60_000)).unwrap_err());
        assert_eq!(session.entry_count(), 1);
        assert!(!below.exists() || names(&below).is_empty(), "no half file is left");
        std::fs::remove_file(filler).unwrap();
    }
    let id = session.append_message(&message("goes", 60_000)).unwrap().to_string();
    holds_whole(session.get_session_file().unwrap(), &[id]);
    assert_eq!(session.durability(), Durability::OnDisk);
    std::fs::remove_dir_all(below).unwrap();
}

fn first_write_into_an_empty_file(folder: &Path) {
    let path = folder.join("empty.jsonl");
    put(&path, "");
    let mut session = SessionManager::open(&path, None).unwrap();
    for pages in [0, 1, 3] {
        let filler = fill(folder, pages);
        is_io(&session.append_message(&message("in vain", 60_000)).unwrap_err());
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
        std::fs::remove_file(filler).unwrap();
    }
    let id = session.append_message(&message("goes", 60_000)).unwrap().to_string();
    holds_whole(&path, &[id]);
    std::fs::remove_file(path).unwrap();
}

fn migrating(folder: &Path) {
    let path = folder.join("old.jsonl");
    let old = old_session(500);
    put(&path, &old);
    let mut session = SessionManager::open(&path, None).unwrap();
    for pages in [0, 4] {
        let filler = fill(folder, pages);
        let before = names(folder);
        let error = session.append_message(&message("in vain", 0)).unwrap_err();
        assert!(matches!(error, AppendError::Migration { .. }), "{error:?}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), old);
        assert_eq!(names(folder), before, "neither a draft nor a backup is left");
        assert_eq!(session.entry_count(), 500);
        std::fs::remove_file(filler).unwrap();
    }
    let id = session.append_message(&message("goes", 0)).unwrap().to_string();
    holds_whole(&path, &[id]);
    assert_eq!(std::fs::read_to_string(&backups(folder)[0]).unwrap(), old);
}

/// The file is deleted, and there is no room to write it anew.
fn gone_while_full(folder: &Path) {
    let path = folder.join("gone.jsonl");
    put(&path, small_session());
    let mut session = SessionManager::open(&path, None).unwrap();
    std::fs::remove_file(&path).unwrap();
    let filler = fill(folder, 0);
    is_io(&session.append_message(&message("in vain", 60_000)).unwrap_err());
    assert!(!path.exists());
    assert_eq!(session.get_branch(None)[0].read().unwrap().text(), "root");
    std::fs::remove_file(filler).unwrap();
    let id = session.append_message(&message("goes", 0)).unwrap().to_string();
    holds_whole(&path, &["a4".into(), id]);
}

fn nothing_can_be_written(path: &Path) {
    let content = std::fs::read_to_string(path).unwrap();
    let mut session = SessionManager::open(path, None).unwrap();
    assert_eq!(session.get_branch(None).len(), 2);
    is_io(&session.append_message(&message("in vain", 0)).unwrap_err());
    assert_eq!(session.entry_count(), 5);
    assert_eq!(std::fs::read_to_string(path).unwrap(), content);
    let mut new = SessionManager::open(&path.with_file_name("new.jsonl"), None).unwrap();
    is_io(&new.append_message(&message("in vain", 0)).unwrap_err());
}

/// A quota, as the limit on the size of files: an error, not the end of the process.
#[test]
fn a_file_that_may_not_grow() {
    let (_folder, path) = folder();
    put(&path, small_session());
    let mut worker = Worker::with(&path);
    worker.ask(&["largest file", "20000"]);
    let first = worker.append("fits", 5000).unwrap();
    for _ in 0..2 {
        let error = worker.append("does not fit", 50_000).unwrap_err();
        assert!(error.starts_with("error Io"), "{error}");
        assert_eq!(worker.ask(&["count"]), "6");
    }
    assert!(std::fs::metadata(&path).unwrap().len() <= 20_000);
    worker.ask(&["largest file", "200000"]);
    let second = worker.append("fits again", 5000).unwrap();
    Lines::of(&path).has_once(&[first, second]);
    let session = SessionManager::open(&path, None).unwrap();
    assert_eq!((session.entry_count(), session.get_branch(None).len()), (7, 4));
}

/// The same for a migration: the old file stays as it was.
#[test]
fn a_migrated_file_that_would_be_too_large() {
    let (folder, path) = folder();
    let old = old_session(50);
    put(&path, &old);
    let mut worker = Worker::with(&path);
    worker.ask(&["largest file", &old.len().to_string()]);
    let error = worker.append("in vain", 0).unwrap_err();
    assert!(error.starts_with("error Migration"), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), old);
    assert_eq!(names(folder.path()), ["session.jsonl"]);
    worker.ask(&["largest file", "200000"]);
    let id = worker.append("goes", 0).unwrap();
    holds_whole(&path, &[id]);
}

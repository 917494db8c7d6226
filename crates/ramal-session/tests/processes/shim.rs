//! Calls to the system that fail or do half their work, made to do so by a preloaded library.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::Command;

use ramal_session::SessionManager;
use tempfile::TempDir;

use crate::common::{Lines, holds_whole, names, old_session, put, small_session};
use crate::worker::{Worker, text};

/// A worker whose calls fail when told, and its session.
struct Faulty {
    folder: TempDir,
    path: PathBuf,
    worker: Worker,
}

impl Faulty {
    /// With a session file of that content, or none. Nothing where there is no C compiler.
    fn new(content: Option<&str>) -> Option<Faulty> {
        let folder = tempfile::tempdir().unwrap();
        let (source, library) = (folder.path().join("shim.c"), folder.path().join("shim.so"));
        put(&source, include_str!("shim.c"));
        let compiled =
            Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).output();
        match compiled {
            Ok(output) if output.status.success() => {}
            other => {
                println!("skipped: no shared library can be compiled here: {other:?}");
                return None;
            }
        }
        let below = folder.path().join("sessions");
        std::fs::create_dir(&below).unwrap();
        let path = below.join("session.jsonl");
        if let Some(content) = content {
            put(&path, content);
        }
        let mut command = Worker::command(&["serve"]);
        command
            .env("LD_PRELOAD", &library)
            .env("RAMAL_SHIM", folder.path().join("control"))
            .env("RAMAL_SHIM_ON", "/sessions/");
        let mut worker = Worker::spawn(&mut command);
        assert_eq!(worker.ask(&["open", text(&path)]), "ok");
        Some(Faulty { folder, path, worker })
    }

    /// What the next calls do.
    fn tell(&self, what: &str) {
        put(&self.folder.path().join("control"), what);
    }

    fn below(&self) -> &Path {
        self.path.parent().unwrap()
    }
}

/// All but the newline is on its way: that is a success, and the next append puts the newline there.
#[test]
fn a_write_that_lacks_the_newline() {
    let Some(mut faulty) = Faulty::new(Some(&small_session())) else { return };
    faulty.tell("write leave 1 1");
    let first = faulty.worker.append("first", 0).unwrap();
    assert!(std::fs::read(&faulty.path).unwrap().ends_with(b"}"));
    assert_eq!(SessionManager::open(&faulty.path, None).unwrap().entry_count(), 6);
    // The newline in front and the line behind it, and again no newline at the end.
    faulty.tell("write leave 1 1");
    let second = faulty.worker.append("second", 0).unwrap();
    let third = faulty.worker.append("third", 0).unwrap();
    holds_whole(&faulty.path, &[first, second, third]);
    assert_eq!(faulty.worker.ask(&["count"]), "8");
}

/// Anything less is an error; the entry is not in the tree, and the next stands on its own line.
#[test]
fn a_write_that_is_cut_off() {
    let Some(mut faulty) = Faulty::new(Some(&small_session())) else { return };
    let mut ids = Vec::new();
    for (round, what) in
        ["leave 2", "first 1", "first 30", "leave 40", "first 0", "errno 28", "errno 5"].iter().enumerate()
    {
        faulty.tell(&format!("write {what} 1"));
        let error = faulty.worker.append("in vain", 0).unwrap_err();
        assert!(error.starts_with("error Io"), "{what}: {error}");
        assert_eq!(faulty.worker.ask(&["count"]), (5 + round).to_string());
        SessionManager::open(&faulty.path, None).unwrap();
        ids.push(faulty.worker.append("goes", 0).unwrap());
        Lines::of(&faulty.path).has_once(&ids);
    }
    let session = SessionManager::open(&faulty.path, None).unwrap();
    assert_eq!(session.get_branch(None).len(), 2 + ids.len());
    assert_eq!(session.damaged_lines(), 4);
}

/// After a failed append with the newline in front: whatever of it was written, nothing is glued.
#[test]
fn a_cut_off_write_after_an_open_tail() {
    for what in ["first 1", "first 2", "leave 2", "first 0"] {
        let content = small_session();
        let Some(mut faulty) = Faulty::new(Some(content.trim_end())) else { return };
        faulty.tell(&format!("write {what} 1"));
        let error = faulty.worker.append("in vain", 0).unwrap_err();
        assert!(error.starts_with("error Io"), "{what}: {error}");
        let id = faulty.worker.append("goes", 0).unwrap();
        let lines = Lines::of(&faulty.path);
        lines.has_once(&["a4".into(), id]);
        assert!(lines.damaged.len() <= 1);
        assert_eq!(faulty.worker.ask(&["count"]), "6");
    }
}

/// A signal in between is no failure.
#[test]
fn a_write_that_is_interrupted() {
    let Some(mut faulty) = Faulty::new(Some(&small_session())) else { return };
    faulty.tell("write errno 4 3");
    let id = faulty.worker.append("goes", 0).unwrap();
    holds_whole(&faulty.path, &[id]);
    assert_eq!(faulty.worker.ask(&["count"]), "6");
}

#[test]
fn forcing_to_disk_fails() {
    let Some(mut faulty) = Faulty::new(Some(&small_session())) else { return };
    assert_eq!(faulty.worker.ask(&["durability"]), "OnDisk");
    let first = faulty.worker.append("first", 0).unwrap();
    assert_eq!(faulty.worker.ask(&["durability"]), "WithTheSystem");
    faulty.tell("sync errno 5 2");
    for _ in 0..2 {
        assert!(faulty.worker.ask(&["sync"]).starts_with("error Io"));
        assert_eq!(faulty.worker.ask(&["durability"]), "Unknown");
    }
    let second = faulty.worker.append("second", 0).unwrap();
    assert_eq!(faulty.worker.ask(&["durability"]), "Unknown", "an append does not make it known");
    assert_eq!(faulty.worker.ask(&["sync"]), "ok");
    assert_eq!(faulty.worker.ask(&["durability"]), "OnDisk");
    holds_whole(&faulty.path, &[first, second]);
}

/// Another program replaces the file while it is not known whether ours is on disk: it still is not.
#[test]
fn what_is_not_known_stays_unknown_in_a_replaced_file() {
    let Some(mut faulty) = Faulty::new(Some(&small_session())) else { return };
    faulty.worker.append("first", 0).unwrap();
    faulty.tell("sync errno 5 1");
    assert!(faulty.worker.ask(&["sync"]).starts_with("error Io"));
    let beside = faulty.below().join("copy");
    std::fs::copy(&faulty.path, &beside).unwrap();
    std::fs::rename(&beside, &faulty.path).unwrap();
    faulty.worker.append("second", 0).unwrap();
    assert_eq!(faulty.worker.ask(&["durability"]), "Unknown");
    assert_eq!(faulty.worker.ask(&["sync"]), "ok");
    assert_eq!(faulty.worker.ask(&["durability"]), "OnDisk");
}

/// A first write that cannot be finished leaves nothing, and can be tried again.
#[test]
fn a_first_write_that_fails() {
    for what in ["write errno 28 1", "write first 0 1", "sync errno 5 1"] {
        let Some(mut faulty) = Faulty::new(None) else { return };
        faulty.tell(what);
        let error = faulty.worker.append("in vain", 0).unwrap_err();
        assert!(error.starts_with("error Io"), "{what}: {error}");
        assert!(names(faulty.below()).is_empty());
        assert_eq!(faulty.worker.ask(&["count"]), "0");
        let id = faulty.worker.append("goes", 0).unwrap();
        holds_whole(&faulty.path, &[id]);
    }
}

/// An empty file that was there: half a header is taken back.
#[test]
fn a_first_write_into_an_empty_file_that_fails() {
    for what in ["write errno 28 1", "write first 40 1", "write leave 1 1"] {
        let Some(mut faulty) = Faulty::new(Some("")) else { return };
        faulty.tell(what);
        let error = faulty.worker.append("in vain", 0).unwrap_err();
        assert!(error.starts_with("error Io"), "{what}: {error}");
        assert_eq!(std::fs::metadata(&faulty.path).unwrap().len(), 0);
        let id = faulty.worker.append("goes", 0).unwrap();
        holds_whole(&faulty.path, &[id]);
    }
}

/// A migration that cannot be finished leaves the old file, and nothing beside it.
#[test]
fn a_migration_that_fails() {
    for what in ["write errno 28 1", "write first 0 1", "sync errno 5 1"] {
        let old = old_session(5);
        let Some(mut faulty) = Faulty::new(Some(&old)) else { return };
        faulty.tell(what);
        let error = faulty.worker.append("in vain", 0).unwrap_err();
        assert!(error.starts_with("error Migration"), "{what}: {error}");
        assert_eq!(std::fs::read_to_string(&faulty.path).unwrap(), old);
        assert_eq!(names(faulty.below()), ["session.jsonl"]);
        let id = faulty.worker.append("goes", 0).unwrap();
        holds_whole(&faulty.path, &[id]);
        assert_eq!(names(faulty.below()).len(), 2);
    }
}

/// The new file goes out in small pieces, as the system may always have it.
#[test]
fn a_migration_in_pieces() {
    let old = old_session(200);
    let Some(mut faulty) = Faulty::new(Some(&old)) else { return };
    faulty.tell("write first 90 100000");
    // A piece is not enough for the new entry, which has to be one write; it is for all before it.
    let error = faulty.worker.append("in vain", 0).unwrap_err();
    assert!(error.starts_with("error Io"), "{error}");
    faulty.tell("");
    let id = faulty.worker.append("goes", 0).unwrap();
    let lines = Lines::of(&faulty.path);
    lines.has_once(&[id]);
    assert_eq!((lines.by_id.len(), lines.damaged.len()), (202, 1));
    let session = SessionManager::open(&faulty.path, None).unwrap();
    assert_eq!((session.entry_count(), session.get_branch(None).len()), (201, 201));
}

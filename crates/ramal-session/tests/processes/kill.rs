//! Kills at random moments. What was acknowledged is in the operating system's hands and stays.
//!
//! `RAMAL_KILLS` says how many; the default is what a normal run has time for.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::path::Path;
use std::time::Duration;

use ramal_session::SessionManager;
use tempfile::TempDir;

use crate::common::{Lines, message, old_session, put};
use crate::worker::{Worker, acknowledged, text};

fn kills() -> usize {
    std::env::var("RAMAL_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(2000)
}

/// A number below `end` that is another one each time.
fn random(end: u64) -> u64 {
    RandomState::new().hash_one(0) % end
}

/// A folder in memory where there is one: a kill takes nothing from the system, so that no disk need
/// be waited for, and more kills fit into the time.
fn quick_folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Lets a process append for a random while and kills it; answers what it had acknowledged.
fn append_and_kill(path: &Path, size: &str) -> Vec<String> {
    let mut worker = Worker::start(&["append", text(path), "k", "0", size, ""]);
    assert_eq!(worker.hear().as_deref(), Some("open"));
    std::thread::sleep(Duration::from_micros(random(1500)));
    worker.kill();
    acknowledged(&worker.finish().0)
}

/// Nothing acknowledged is missing, the file opens, and the next entry stands on its own line.
#[track_caller]
fn still_good(path: &Path, acknowledged: &mut Vec<String>) {
    let mut session = match SessionManager::open(path, None) {
        Ok(session) => session,
        Err(error) => panic!("{error}: {:?}", std::fs::read_to_string(path)),
    };
    let id = session.append_message(&message("next", 0)).unwrap().to_string();
    acknowledged.push(id);
    let lines = Lines::of(path);
    lines.has_once(acknowledged);
    assert_eq!(session.damaged_lines(), lines.damaged.len() as u64);
    for line in &lines.damaged {
        assert!(line.starts_with('{') && !line.contains("}{"), "only cut off at their end: {line}");
    }
}

/// A process that appends is killed again and again on one file, which grows a torn line now and then.
#[test]
fn while_appending() {
    let mut left = kills() / 2;
    while left > 0 {
        let folder = quick_folder();
        let path = folder.path().join("session.jsonl");
        put(&path, crate::common::small_session());
        let mut all = Vec::new();
        for round in 0..left.min(10) {
            all.extend(append_and_kill(&path, if round % 5 == 0 { "100000" } else { "100" }));
            still_good(&path, &mut all);
        }
        left -= left.min(10);
    }
}

/// The first write of all: the file is there with everything, or it is not there.
#[test]
fn at_the_first_write() {
    for round in 0..kills() / 4 {
        let folder = quick_folder();
        let path = folder.path().join("below/session.jsonl");
        let size = if round % 2 == 0 { "100" } else { "300000" };
        let mut all = append_and_kill(&path, size);
        assert!(path.exists() || all.is_empty());
        if path.exists() {
            let lines = Lines::of(&path);
            assert_eq!(lines.by_id.values().flatten().filter(|line| line["type"] == "session").count(), 1);
        }
        still_good(&path, &mut all);
    }
}

/// The first write of an old file: it is the old one still, or the new one whole.
#[test]
fn at_the_migration() {
    for _ in 0..kills() / 4 {
        let folder = quick_folder();
        let path = folder.path().join("session.jsonl");
        let old = old_session(40);
        put(&path, &old);
        let mut all = append_and_kill(&path, "100");
        let before = SessionManager::open(&path, None).unwrap();
        assert!(before.entry_count() >= 40);
        if before.format().is_old() {
            assert!(all.is_empty());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), old);
        }
        drop(before);
        still_good(&path, &mut all);
        let backups = crate::common::backups(folder.path());
        assert!(!backups.is_empty());
        for backup in backups {
            assert_eq!(std::fs::read_to_string(backup).unwrap(), old);
        }
    }
}

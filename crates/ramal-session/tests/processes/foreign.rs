//! One of ours beside a program that knows of no lock (contract, section 11, "Writers that do not lock").

use std::io::Write;
use std::time::{Duration, Instant};

use ramal_session::SessionManager;

use crate::common::{Lines, folder, holds_whole, message, plain_entry, put, small_session};
use crate::worker::{Worker, acknowledged, text};

/// Whole lines in one write each: whoever is between whom, nothing of either is lost.
#[test]
fn whole_lines_without_a_lock() {
    let (_folder, path) = folder();
    put(&path, small_session());
    let ours = Worker::start(&["append", text(&path), "ours", "300", "100", "a1"]);
    let large = Worker::start(&["append", text(&path), "large", "20", "300000", "a2"]);
    let theirs = [("f", "400"), ("g", "400")]
        .map(|(tag, count)| Worker::start(&["foreign", text(&path), tag, count, "0"]));
    let mut ids = acknowledged(&ours.finish_well());
    ids.extend(acknowledged(&large.finish_well()));
    for worker in theirs {
        ids.extend(acknowledged(&worker.finish_well()));
    }
    assert_eq!(ids.len(), 300 + 20 + 800);
    holds_whole(&path, &ids);
    assert_eq!(SessionManager::open(&path, None).unwrap().entry_count(), 5 + ids.len());
}

/// Lines in two writes each. What was acknowledged of ours is whole; a line of theirs can only be
/// lost where somebody wrote into the middle of it, which nobody can prevent who does not lock.
#[test]
fn lines_in_two_halves_without_a_lock() {
    let (_folder, path) = folder();
    put(&path, small_session());
    let ours = Worker::start(&["append", text(&path), "ours", "60", "100", "a1"]);
    let theirs = Worker::start(&["foreign", text(&path), "f", "40", "3"]);
    let ours = acknowledged(&ours.finish_well());
    let theirs = acknowledged(&theirs.finish_well());
    assert_eq!((ours.len(), theirs.len()), (60, 40));
    let lines = Lines::of(&path);
    lines.has_once(&ours);
    let lost = theirs.iter().filter(|id| !lines.by_id.contains_key(*id));
    assert!(lost.count() <= lines.damaged.len());
    let session = SessionManager::open(&path, None).unwrap();
    assert_eq!(session.damaged_lines(), lines.damaged.len() as u64);
    let mut branch: Vec<_> =
        session.get_branch(ours.last().map(|id| &**id)).iter().map(|e| e.id().unwrap().to_string()).collect();
    assert_eq!(branch.split_off(2), ours);
}

/// Half a line is read again once it is whole, and ours goes behind it.
#[test]
fn a_half_line_is_waited_for() {
    // On a busy machine the pause may last longer than one waits; then it is tried again.
    for _ in 0..20 {
        let (_folder, path) = folder();
        put(&path, small_session());
        let mut session = SessionManager::open(&path, None).unwrap();
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        let line = plain_entry("f0", "\"a0\"", "foreign");
        let (one, other) = line.split_at(70);
        file.write_all(one.as_bytes()).unwrap();
        assert!(session.refresh().unwrap());
        assert_eq!(session.damaged_lines(), 1, "a tail that is no entry yet");
        let begin = Instant::now();
        let appending = std::thread::spawn(move || {
            let id = session.append_message(&message("ours", 0)).unwrap();
            (session, id.to_string())
        });
        std::thread::sleep(Duration::from_millis(20));
        file.write_all(other.as_bytes()).unwrap();
        let in_time = begin.elapsed() < Duration::from_millis(150);
        let (session, id) = appending.join().unwrap();
        if in_time {
            assert_eq!(session.damaged_lines(), 0, "the tail was read again");
            assert!(session.get_entry("f0").is_some());
            holds_whole(&path, &["f0".into(), id]);
            return;
        }
    }
    panic!("the machine is too busy for this test");
}

/// Half a line that stays half is closed, so that ours stands on its own line; no byte of it is lost.
#[test]
fn a_half_line_that_stays_is_closed() {
    let (_folder, path) = folder();
    put(&path, small_session() + "{\"type\":\"message\",\"id\":\"f0\",\"par");
    let mut session = SessionManager::open(&path, None).unwrap();
    let ours = session.append_message(&message("ours", 0)).unwrap().to_string();
    let lines = Lines::of(&path);
    assert_eq!(lines.damaged, ["{\"type\":\"message\",\"id\":\"f0\",\"par"]);
    lines.has_once(&[ours]);
    assert_eq!((session.damaged_lines(), session.entry_count()), (1, 6));
}

/// A tail that counts as an entry, at which one stands, turns out to be the beginning of something
/// that is none: the leaf falls back to what was above it.
#[test]
fn a_tail_that_was_no_entry_after_all() {
    let (_folder, path) = folder();
    let tail = plain_entry("f0", "\"a2\"", "tail");
    put(&path, small_session() + tail.trim_end());
    let mut session = SessionManager::open(&path, None).unwrap();
    assert_eq!(session.get_leaf_id().unwrap().unwrap(), "f0");
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"xyz\n").unwrap();
    let ours = session.append_message(&message("ours", 0)).unwrap();
    assert_eq!(session.get_entry(&ours).unwrap().parent().unwrap().id().unwrap(), "a2");
    assert!(session.get_entry("f0").is_none());
    assert_eq!((session.damaged_lines(), session.entry_count()), (1, 6));
}

/// Others write a line to the old file after it was read: it goes into the migrated one.
#[test]
fn lines_that_come_before_the_migration() {
    let (_folder, path) = folder();
    let old = crate::common::old_session(3);
    put(&path, old.trim_end());
    let mut session = SessionManager::open(&path, None).unwrap();
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    let late = crate::common::old_session(1).lines().last().unwrap().replace("old 0", "late");
    file.write_all(format!("\n{late}\nno json\n").as_bytes()).unwrap();
    let ours = session.append_message(&message("ours", 0)).unwrap().to_string();
    let lines = Lines::of(&path);
    lines.has_once(&[ours]);
    assert_eq!(lines.damaged, ["no json"]);
    let session = SessionManager::open(&path, None).unwrap();
    let texts: Vec<_> = session.get_entries().map(|entry| entry.read().unwrap().text()).collect();
    assert_eq!(texts, ["old 0", "old 1", "old 2", "late", "ours"]);
}

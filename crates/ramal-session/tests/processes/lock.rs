//! Somebody holds the lock and does not let go.

use std::fs::{File, TryLockError};
use std::time::Duration;

use ramal_session::{AppendError, SessionManager};

use crate::common::{folder, holds_whole, message, put, small_session};
use crate::worker::{Worker, acknowledged, text};

/// One of ours is stopped in the middle of appending. The others give up with an error and lose
/// nothing; once it goes on, so do they.
#[test]
fn the_holder_is_stopped() {
    let (_folder, path) = folder();
    put(&path, small_session());
    let mut session = SessionManager::open(&path, None).unwrap();
    let first = session.append_message(&message("before", 0)).unwrap().to_string();
    // Large entries, so that most of the time the lock is held.
    let mut holder = Worker::start(&["append", text(&path), "holder", "0", "200000", "a1"]);
    assert_eq!(holder.hear().as_deref(), Some("open"));
    let file = File::open(&path).unwrap();
    loop {
        holder.signal(libc::SIGSTOP);
        holder.wait_until_stopped();
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => break,
            Ok(()) => file.unlock().unwrap(),
            Err(error) => panic!("{error}"),
        }
        holder.signal(libc::SIGCONT);
        // What it says has to be read, or it waits for that with the lock free.
        holder.hear().unwrap();
    }

    let length = std::fs::metadata(&path).unwrap().len();
    let (count, leaf) = (session.entry_count(), session.get_leaf_id().unwrap());
    let error = session.append_message(&message("in vain", 0)).unwrap_err();
    assert!(matches!(error, AppendError::Locked { .. }), "{error:?}");
    assert_eq!((session.entry_count(), session.get_leaf_id().unwrap()), (count, leaf));
    assert_eq!(std::fs::metadata(&path).unwrap().len(), length);
    SessionManager::open(&path, None).unwrap();

    holder.signal(libc::SIGCONT);
    // Its answers have to be taken, or it stops of itself once the pipe is full; with or without the lock.
    let reading = std::thread::spawn(move || {
        for _ in 0..20 {
            holder.hear().unwrap();
        }
        holder.kill();
        holder.finish().0
    });
    let second = session.append_message(&message("after", 0)).unwrap().to_string();
    let theirs = acknowledged(&reading.join().unwrap());
    // The holder was killed, perhaps in the middle of a line.
    let third = session.append_message(&message("last", 0)).unwrap().to_string();
    crate::common::Lines::of(&path).has_once(&[vec![first, second, third], theirs].concat());
}

/// The lock ends with whoever held it.
#[test]
fn the_holder_is_killed() {
    let (_folder, path) = folder();
    put(&path, small_session());
    let mut session = SessionManager::open(&path, None).unwrap();
    let mut holder = Worker::start(&["hold", text(&path)]);
    assert_eq!(holder.hear().as_deref(), Some("held"));
    let killing = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        holder.kill();
    });
    let id = session.append_message(&message("ours", 0)).unwrap().to_string();
    killing.join().unwrap();
    holds_whole(&path, &[id]);
}

/// Whoever only reads needs no lock.
#[test]
fn reading_waits_for_nobody() {
    let (_folder, path) = folder();
    put(&path, small_session());
    let file = File::open(&path).unwrap();
    file.lock().unwrap();
    let mut session = SessionManager::open(&path, None).unwrap();
    session.refresh().unwrap();
    assert_eq!(session.get_branch(None).len(), 2);
}

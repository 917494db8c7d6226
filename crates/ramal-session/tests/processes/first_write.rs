//! Two sessions that are planned at one path: neither may write over the other.

use ramal_session::{AppendError, SessionManager};

use crate::common::{Lines, folder, holds_whole, message, names, put};
use crate::worker::{Worker, acknowledged, text};

/// Both wait for their first message; the second to come finds the place taken, and can go elsewhere
/// with all it has.
#[test]
fn two_at_one_missing_path() {
    let (folder, path) = folder();
    let mut one = SessionManager::open(&path, None).unwrap();
    let mut other = SessionManager::open(&path, None).unwrap();
    other.append_thinking_level_change(Some("high")).unwrap();
    assert!(!path.exists(), "there is no file before the first message");
    let first = one.append_message(&message("first", 0)).unwrap().to_string();
    for _ in 0..2 {
        let error = other.append_message(&message("second", 0)).unwrap_err();
        assert!(matches!(error, AppendError::Appeared { .. }), "{error:?}");
        assert_eq!(other.entry_count(), 1);
    }
    assert!(matches!(other.write_now(), Err(AppendError::Appeared { .. })));
    holds_whole(&path, &[first]);
    assert_eq!(names(folder.path()), ["session.jsonl"]);

    let elsewhere = other.clone_session().unwrap().unwrap();
    let second = other.append_message(&message("second", 0)).unwrap().to_string();
    holds_whole(&elsewhere, &[second]);
    assert_eq!(SessionManager::open(&elsewhere, None).unwrap().entry_count(), 2);
}

/// At the same moment, in two processes: exactly one wins.
#[test]
fn two_processes_race_for_one_path() {
    let (mut one, mut other) = (Worker::serving(), Worker::serving());
    for round in 0..60 {
        let (folder, path) = folder();
        // Missing, empty, blank, and nothing but a byte-order mark.
        let content = [None, Some(""), Some(" \n"), Some("\u{feff}")][round % 4];
        if let Some(content) = content {
            put(&path, content);
        }
        for worker in [&mut one, &mut other] {
            assert_eq!(worker.ask(&["open", text(&path)]), "ok");
        }
        one.send(&["append", "one", "1000"]);
        other.send(&["append", "other", "1000"]);
        let said = [one.hear().unwrap(), other.hear().unwrap()];
        let ids = acknowledged(&said);
        assert_eq!(ids.len(), 1, "{said:?}");
        assert!(said.iter().any(|said| said.starts_with("error Appeared")), "{said:?}");
        let session = SessionManager::open(&path, None).unwrap();
        assert_eq!((session.entry_count(), session.damaged_lines()), (1, 0));
        assert!(session.get_entry(&ids[0]).is_some());
        assert!(std::fs::read_to_string(&path).unwrap().starts_with(content.unwrap_or_default()));
        assert_eq!(names(folder.path()), ["session.jsonl"]);
    }
}

/// The empty file at the path was filled by somebody else meanwhile.
#[test]
fn an_empty_file_that_is_none_any_more() {
    let (_folder, path) = folder();
    put(&path, "");
    let mut session = SessionManager::open(&path, None).unwrap();
    put(&path, "Dear diary,\n");
    let error = session.append_message(&message("first", 0)).unwrap_err();
    assert!(matches!(error, AppendError::Appeared { .. }), "{error:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "Dear diary,\n");
    // And one that is gone: the session was to stand there all the same.
    std::fs::remove_file(&path).unwrap();
    put(&path, "");
    session.append_message(&message("first", 0)).unwrap();
    assert_eq!(Lines::of(&path).by_id.len(), 2);
}

/// An empty file that was deleted meanwhile is a missing one.
#[test]
fn an_empty_file_that_is_gone() {
    let (_folder, path) = folder();
    put(&path, "");
    let mut session = SessionManager::open(&path, None).unwrap();
    std::fs::remove_file(&path).unwrap();
    let id = session.append_message(&message("first", 0)).unwrap().to_string();
    holds_whole(&path, &[id]);
}

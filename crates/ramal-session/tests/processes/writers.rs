//! Several of ours on one file at once (contract, section 11, "Several writers").

use ramal_session::{Format, SessionManager};

use crate::common::{backups, folder, holds_whole, message, names, old_session, put, small_session};
use crate::worker::{Worker, acknowledged, text};

/// Four append from different leaves, one of them large entries, while two look on; the file is of
/// version 1 at first, so that each of the four tries to migrate it.
#[test]
fn four_writers_on_an_old_file_while_others_look() {
    let (folder, path) = folder();
    put(&path, old_session(6));
    let until = folder.path().join("stop");
    let leaves: Vec<String> = {
        let session = SessionManager::open(&path, None).unwrap();
        session.get_entries().map(|entry| entry.id().unwrap().to_string()).collect()
    };
    let lookers = [(); 2].map(|()| Worker::start(&["look", text(&path), text(&until)]));
    let plans =
        [("a", "150", "40", 1), ("b", "100", "5000", 2), ("c", "40", "300000", 3), ("d", "150", "40", 5)];
    let writers = plans.map(|(tag, count, size, leaf)| {
        Worker::start(&["append", text(&path), tag, count, size, &leaves[leaf]])
    });
    let written: Vec<Vec<String>> =
        writers.into_iter().map(|writer| acknowledged(&writer.finish_well())).collect();
    put(&until, "");
    for looker in lookers {
        looker.finish_well();
    }

    holds_whole(&path, &written.concat());
    let session = SessionManager::open(&path, None).unwrap();
    assert_eq!(*session.format(), Format::Three);
    assert_eq!(session.entry_count(), 6 + 150 + 100 + 40 + 150);
    for (ids, (tag, count, size, leaf)) in written.iter().zip(plans) {
        assert_eq!(ids.len().to_string(), count);
        let branch = session.get_branch(ids.last().map(|id| &**id));
        let branch: Vec<_> = branch.into_iter().map(|entry| entry.id().unwrap().to_string()).collect();
        assert_eq!(branch, [&leaves[..=leaf], ids].concat(), "the branch of {tag}");
        let last = session.get_entry(&ids[0]).unwrap().read().unwrap();
        assert!(last.text().starts_with(&format!("{tag}-0")) && last.text().len().to_string() == size);
    }
    let backups = backups(folder.path());
    assert_eq!(backups.len(), 1);
    assert_eq!(std::fs::read_to_string(&backups[0]).unwrap(), old_session(6));
    assert_eq!(names(folder.path()).len(), 3, "{:?}", names(folder.path()));
}

/// Both have it open in the old version; both append at the same moment. The file is migrated once.
#[test]
fn two_that_migrate_at_once() {
    let (mut one, mut other) = (Worker::serving(), Worker::serving());
    for round in 0..40 {
        let (folder, path) = folder();
        let old = old_session(1 + round % 7);
        put(&path, &old);
        for worker in [&mut one, &mut other] {
            assert_eq!(worker.ask(&["open", text(&path)]), "ok");
        }
        let before = one.ask(&["ids"]);
        assert_eq!(before, other.ask(&["ids"]), "the same made-up ids everywhere");
        one.send(&["append", "one", "0"]);
        other.send(&["append", "other", "0"]);
        let said = [one.hear().unwrap(), other.hear().unwrap()];
        let ids = acknowledged(&said);
        assert_eq!(ids.len(), 2, "{said:?}");

        holds_whole(&path, &ids);
        let session = SessionManager::open(&path, None).unwrap();
        let after: Vec<_> = session.get_entries().map(|entry| entry.id().unwrap().to_string()).collect();
        assert_eq!(after[..after.len() - 2].join(" "), before);
        let leaf = after.len() - 3;
        for id in &ids {
            let parent = session.get_entry(id).unwrap().parent().unwrap();
            assert_eq!(parent.id().unwrap(), *after[leaf], "both hang on the old leaf");
        }
        let backups = backups(folder.path());
        assert_eq!(backups.len(), 1);
        assert_eq!(std::fs::read_to_string(&backups[0]).unwrap(), old);
        assert_eq!(names(folder.path()).len(), 2);
    }
}

/// What the other wrote is seen by refreshing, and does not move one's own leaf.
#[test]
fn what_others_append_is_taken_in() {
    let (_folder, path) = folder();
    put(&path, small_session());
    let mut session = SessionManager::open(&path, None).unwrap();
    let mut worker = Worker::with(&path);
    let theirs = worker.append("theirs", 10).unwrap();
    assert!(session.get_entry(&theirs).is_none());
    assert!(session.refresh().unwrap());
    assert!(!session.refresh().unwrap());
    assert!(session.get_entry(&theirs).is_some());
    assert_eq!(session.get_leaf_id().unwrap().unwrap(), "a4");
    let ours = session.append_message(&message("ours", 0)).unwrap();
    assert_eq!(session.get_entry(&ours).unwrap().parent().unwrap().id().unwrap(), "a4");
    assert_eq!(worker.ask(&["count"]), "6", "the other reads when it appends");
    worker.append("theirs again", 10).unwrap();
    assert_eq!(worker.ask(&["count"]), "8");
}

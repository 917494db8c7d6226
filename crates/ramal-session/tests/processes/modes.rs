//! Who may read what: files 0600, folders 0700, whatever the mask; and what happens where nobody may
//! write.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;

use crate::common::{backups, folder, names, old_session, put, small_session};
use crate::worker::{Worker, text};

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A worker for whom the mask holds nothing back.
fn open_handed() -> Worker {
    let mut worker = Worker::serving();
    assert_eq!(worker.ask(&["umask", "000"]), "ok");
    worker
}

#[test]
fn new_files_are_private() {
    let folder = tempfile::tempdir().unwrap();
    let (outer, inner) = (folder.path().join("one"), folder.path().join("one/two"));
    let mut worker = open_handed();
    worker.ask(&["create", text(&inner)]);
    worker.append("first", 0).unwrap();
    let file = worker.ask(&["file"]);
    assert_eq!([mode(&outer), mode(&inner), mode(Path::new(&file))], [0o700, 0o700, 0o600]);
    let copy = worker.ask(&["clone"]);
    assert_ne!(copy, file);
    assert_eq!(mode(Path::new(&copy)), 0o600);
}

#[test]
fn a_mode_that_the_user_had_set_stays() {
    for wanted in [0o644, 0o600, 0o660] {
        let (folder, path) = folder();
        put(&path, old_session(3));
        set_mode(&path, wanted);
        let mut worker = open_handed();
        worker.ask(&["open", text(&path)]);
        worker.append("migrates", 0).unwrap();
        assert_eq!(mode(&path), wanted);
        assert_eq!(backups(folder.path()).len(), 1);
        // Written anew, because it is gone.
        std::fs::remove_file(&path).unwrap();
        worker.append("writes it anew", 0).unwrap();
        assert_eq!(mode(&path), wanted);
    }
}

/// A temporary file is never seen with more than the final mode, even while it is written.
#[test]
fn temporary_files_are_private() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let mut worker = open_handed();
    worker.ask(&["open", text(&path)]);
    // A file may not grow beyond this, so the draft stays unfinished; it must not stay behind.
    worker.ask(&["largest file", "100000"]);
    let error = worker.append("too large", 300_000).unwrap_err();
    assert!(error.starts_with("error Io"), "{error}");
    assert!(names(folder.path()).is_empty());
    worker.append("small enough", 100).unwrap();
    assert_eq!(mode(&path), 0o600);
}

/// A worker for whom modes count: not the superuser. None where that cannot be had.
fn unprivileged() -> Option<Worker> {
    // SAFETY: asks only.
    let root = unsafe { libc::geteuid() } == 0;
    let mut command = Worker::command(&["serve"]);
    if root {
        command.uid(65534).gid(65534);
    }
    // It must be allowed to run this binary at all.
    let exe = std::env::current_exe().unwrap();
    if root
        && exe.ancestors().any(|above| std::fs::metadata(above).unwrap().permissions().mode() & 0o001 == 0)
    {
        println!("skipped: {} cannot be run by another user", exe.display());
        return None;
    }
    Some(Worker::spawn(&mut command))
}

#[test]
fn a_file_that_is_read_only() {
    let Some(mut worker) = unprivileged() else { return };
    let (folder, path) = folder();
    set_mode(folder.path(), 0o755);
    for content in [small_session(), old_session(3)] {
        put(&path, &content);
        set_mode(&path, 0o444);
        set_mode(folder.path(), 0o555);
        assert_eq!(worker.ask(&["open", text(&path)]), "ok");
        let count = worker.ask(&["count"]);
        let error = worker.append("in vain", 0).unwrap_err();
        assert!(error.starts_with("error Io") || error.starts_with("error Migration"), "{error}");
        assert_eq!(worker.ask(&["count"]), count);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
        assert_eq!(names(folder.path()), ["session.jsonl"]);
        set_mode(folder.path(), 0o755);
        std::fs::remove_file(&path).unwrap();
    }
}

/// Nothing can be made in the folder, but the file can be written: version 3 goes on, a migration
/// fails; and once the folder can be written to, the next append is stored (contract, section 3).
#[test]
fn a_folder_that_is_read_only() {
    let Some(mut worker) = unprivileged() else { return };
    let (folder, path) = folder();
    put(&path, small_session());
    set_mode(&path, 0o666);
    set_mode(folder.path(), 0o555);
    assert_eq!(worker.ask(&["open", text(&path)]), "ok");
    worker.append("goes on", 0).unwrap();
    set_mode(folder.path(), 0o755);

    put(&path, old_session(3));
    set_mode(folder.path(), 0o555);
    assert_eq!(worker.ask(&["open", text(&path)]), "ok");
    let error = worker.append("in vain", 0).unwrap_err();
    assert!(error.starts_with("error Migration"), "{error}");
    assert_eq!(worker.ask(&["count"]), "3");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), old_session(3));
    assert_eq!(names(folder.path()), ["session.jsonl"]);
    set_mode(folder.path(), 0o777);
    worker.append("now it can be", 0).unwrap();
    assert_eq!(worker.ask(&["count"]), "4");
    assert_eq!(backups(folder.path()).len(), 1);

    // A new session in a folder that cannot be written to: an error each time, then all at once.
    let new = folder.path().join("new.jsonl");
    set_mode(folder.path(), 0o555);
    assert_eq!(worker.ask(&["open", text(&new)]), "ok");
    for _ in 0..3 {
        let error = worker.append("in vain", 0).unwrap_err();
        assert!(error.starts_with("error Io"), "{error}");
        assert_eq!(worker.ask(&["count"]), "0");
    }
    set_mode(folder.path(), 0o777);
    let id = worker.append("now it can be", 0).unwrap();
    drop(worker);
    crate::common::Lines::of(&new).has_once(&[id]);
}

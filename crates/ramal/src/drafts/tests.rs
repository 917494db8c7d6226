//! Drafts in a folder of their own.

use tempfile::TempDir;

use super::*;

fn session(id: &str) -> Whose {
    Whose::Session(id.to_owned())
}

fn open(folder: &TempDir, whose: &Whose) -> (Drafts, Editor) {
    let mut editor = Editor::new();
    let drafts = Drafts::open(Some(folder.path().to_owned()), whose.clone(), &mut editor);
    (drafts, editor)
}

/// The drafts that lie in the folder.
fn kept(folder: &TempDir) -> Vec<PathBuf> {
    let all = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.extension().is_some_and(|end| end == "json")).collect()
}

#[test]
fn what_was_written_is_there_again() {
    let folder = tempfile::tempdir().unwrap();
    let whose = session("a");
    let now = Instant::now();
    let (mut drafts, mut editor) = open(&folder, &whose);
    assert_eq!(drafts.follow(&editor, now), None);
    editor.insert("half a thou");
    assert_eq!(drafts.follow(&editor, now), None);
    drop(drafts);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(&kept(&folder)[0]).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let (mut drafts, mut again) = open(&folder, &whose);
    assert_eq!(again.text(), "half a thou");
    assert_eq!(drafts.problem(), None);
    // Another session, and a directory, have drafts of their own.
    for other in [session("b"), Whose::Directory("a".into())] {
        assert!(open(&folder, &other).1.is_empty());
    }
    again.take();
    assert_eq!(drafts.follow(&again, now), None);
    drop(drafts);
    assert_eq!(kept(&folder), [""; 0].map(PathBuf::from));
    assert!(open(&folder, &whose).1.is_empty());
}

#[test]
fn it_is_written_at_most_every_half_second_and_forgotten_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (mut drafts, mut editor) = open(&folder, &session("a"));
    let now = Instant::now();
    let text = |drafts: &Drafts| {
        drafts.writer.as_ref().unwrap().wait();
        let kept = read(&drafts.slot.as_ref().unwrap().draft)?;
        Some(Editor::from_draft(kept.draft?.get()).unwrap().text())
    };
    editor.insert("a");
    assert_eq!(drafts.follow(&editor, now), None);
    assert_eq!(text(&drafts).as_deref(), Some("a"));
    editor.insert("b");
    assert_eq!(drafts.follow(&editor, now + Duration::from_millis(100)), Some(Duration::from_millis(400)));
    assert_eq!(text(&drafts).as_deref(), Some("a"));
    assert_eq!(drafts.follow(&editor, now + PERIOD), None);
    assert_eq!(text(&drafts).as_deref(), Some("ab"));
    assert_eq!(drafts.follow(&editor, now + PERIOD * 9), None, "nothing is new");
    editor.insert("c");
    drafts.follow(&editor, now + PERIOD);
    editor.clear();
    assert_eq!(drafts.follow(&editor, now + PERIOD), None);
    assert_eq!(text(&drafts), None);
}

#[test]
fn two_programs_keep_one_draft_each() {
    let folder = tempfile::tempdir().unwrap();
    let (whose, now) = (Whose::Directory("/work".into()), Instant::now());
    let (mut first, mut one) = open(&folder, &whose);
    one.insert("first");
    first.follow(&one, now);
    first.writer.as_ref().unwrap().wait();
    let (mut second, mut other) = open(&folder, &whose);
    assert!(other.is_empty(), "it belongs to somebody who is there");
    other.insert("second");
    second.follow(&other, now);
    drop((first, second));
    // Both have ended: both drafts are still there, the newest first.
    let texts: Vec<(Drafts, String)> = (0..3)
        .map(|_| {
            let (drafts, editor) = open(&folder, &whose);
            (drafts, editor.text())
        })
        .collect();
    let mut texts: Vec<&str> = texts.iter().map(|(_, text)| &**text).collect();
    texts.sort_unstable();
    assert_eq!(texts, ["", "first", "second"]);
}

#[test]
fn a_text_is_put_aside_and_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let (whose, now) = (session("a"), Instant::now());
    let (mut drafts, mut editor) = open(&folder, &whose);
    assert_eq!(drafts.stash(&mut editor), Stashed::Nothing);
    editor.insert("later");
    assert_eq!(drafts.stash(&mut editor), Stashed::PutAside);
    assert!(editor.is_empty() && drafts.has_stash());
    assert_eq!(drafts.follow(&editor, now), None);
    drop(drafts);
    let (mut drafts, mut editor) = open(&folder, &whose);
    assert!(editor.is_empty() && drafts.has_stash());
    editor.insert("now");
    assert_eq!(drafts.stash(&mut editor), Stashed::Exchanged);
    assert_eq!(editor.text(), "later");
    editor.take();
    assert_eq!(drafts.stash(&mut editor), Stashed::BroughtBack);
    assert_eq!((editor.text(), drafts.has_stash()), ("now".into(), false));
    editor.take();
    drafts.follow(&editor, now);
    drop(drafts);
    assert_eq!(kept(&folder).len(), 0);
}

#[test]
fn every_session_has_its_own_draft_in_the_same_editor() {
    let folder = tempfile::tempdir().unwrap();
    let now = Instant::now();
    let (mut drafts, mut editor) = open(&folder, &session("a"));
    editor.insert("of a");
    drafts.follow(&editor, now);
    editor.insert(", too late for the half second");
    drafts.switch(session("b"), &mut editor);
    assert!(editor.is_empty());
    editor.insert("of b");
    drafts.switch(session("a"), &mut editor);
    assert_eq!(editor.text(), "of a, too late for the half second");
    drafts.switch(session("b"), &mut editor);
    assert_eq!(editor.text(), "of b");
    drop(drafts);
    assert_eq!(kept(&folder).len(), 2);
}

#[test]
fn a_session_that_begins_takes_the_draft_of_its_directory_along() {
    let folder = tempfile::tempdir().unwrap();
    let (directory, now) = (Whose::Directory("/work".into()), Instant::now());
    let (mut drafts, mut editor) = open(&folder, &directory);
    editor.insert("next question");
    drafts.follow(&editor, now);
    drafts.becomes(session("new"));
    drafts.follow(&editor, now + PERIOD);
    drop(drafts);
    assert!(open(&folder, &directory).1.is_empty());
    assert_eq!(open(&folder, &session("new")).1.text(), "next question");
}

#[test]
fn what_stands_in_the_editor_is_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let whose = session("a");
    let (mut drafts, mut editor) = open(&folder, &whose);
    editor.insert("old");
    drafts.follow(&editor, Instant::now());
    drop(drafts);
    let mut editor = Editor::new();
    editor.insert("from the command line");
    let mut drafts = Drafts::open(Some(folder.path().to_owned()), whose, &mut editor);
    assert_eq!(editor.text(), "from the command line");
    assert_eq!(drafts.stash(&mut editor), Stashed::Exchanged);
    assert_eq!(editor.text(), "old");
}

#[test]
fn damaged_and_foreign_files_are_no_drafts() {
    let folder = tempfile::tempdir().unwrap();
    let whose = session("a");
    let place = folder.path().join(format!("{}-0.json", whose.file_name()));
    for text in [
        "",
        "{",
        "[]",
        r#"{"of":"b","draft":{"text":"not mine"}}"#,
        r#"{"of":"a","draft":7}"#,
        r#"{"of":"a"}"#,
    ] {
        state::replace(folder.path(), &place, text.as_bytes()).unwrap();
        let (mut drafts, mut editor) = open(&folder, &whose);
        assert!(editor.is_empty(), "{text}");
        editor.insert("x");
        drafts.follow(&editor, Instant::now());
        drop(drafts);
        assert_eq!(open(&folder, &whose).1.text(), "x");
    }
}

#[test]
fn too_long_a_draft_is_told_and_the_older_one_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (whose, now) = (session("a"), Instant::now());
    let (mut drafts, mut editor) = open(&folder, &whose);
    editor.insert("short");
    drafts.follow(&editor, now);
    editor.insert(&"x".repeat(LONGEST));
    drafts.follow(&editor, now + PERIOD);
    assert!(drafts.problem().is_some_and(|problem| problem.contains("too long")));
    assert_eq!(drafts.problem(), None);
    drop(drafts);
    assert_eq!(open(&folder, &whose).1.text(), "short");
}

#[test]
fn without_a_place_the_editor_works_as_ever() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    File::create(&file).unwrap();
    for (place, is_told) in [(None, false), (Some(file.join("below")), true)] {
        let mut editor = Editor::new();
        let mut drafts = Drafts::open(place, session("a"), &mut editor);
        editor.insert("text");
        assert_eq!(drafts.follow(&editor, Instant::now()), None);
        assert_eq!(drafts.stash(&mut editor), Stashed::PutAside);
        assert_eq!(drafts.stash(&mut editor), Stashed::BroughtBack);
        assert_eq!(drafts.problem().is_some(), is_told);
    }
}

#[test]
fn stale_drafts_go_unless_somebody_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    for id in ["gone", "there", "fresh"] {
        let (mut drafts, mut editor) = open(&folder, &session(id));
        editor.insert(id);
        drafts.follow(&editor, Instant::now());
        drafts.writer.as_ref().unwrap().wait();
        all.push(drafts);
    }
    let place = |drafts: &Drafts| drafts.slot.as_ref().unwrap().draft.clone();
    let [gone, there, fresh] = [&all[0], &all[1], &all[2]].map(place);
    let long_ago = SystemTime::now() - STALE - Duration::from_secs(60);
    let stray = folder.path().join(".x.tmp");
    File::create(&stray).unwrap();
    for path in [&gone, &gone.with_extension("lock"), &there, &there.with_extension("lock"), &stray] {
        File::options().append(true).open(path).unwrap().set_modified(long_ago).unwrap();
    }
    drop(all.remove(0));
    drop(all.remove(1));
    sweep(folder.path(), SystemTime::now());
    assert!(!gone.exists() && !gone.with_extension("lock").exists() && !stray.exists());
    assert!(there.exists() && fresh.exists() && there.with_extension("lock").exists());
    sweep(&folder.path().join("none"), SystemTime::now());
}

//! Lists and searches over folders made for the occasion.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::error::OpenError;

struct Store {
    dir: TempDir,
    places: Places,
}

fn store() -> Store {
    let dir = tempfile::tempdir().unwrap();
    let places = Places {
        ramal: Some(dir.path().join("ramal")),
        pi: Some(dir.path().join("pi")),
        oh_my_pi: Some(dir.path().join("omp")),
    };
    Store { dir, places }
}

impl Store {
    #[expect(clippy::disallowed_methods, reason = "fixtures")]
    fn put(&self, path: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn session(&self, path: &str, id: &str, cwd: &str, second: u32) -> PathBuf {
        self.put(path, &(header(id, cwd) + &user("aa000001", "null", second, &format!("\"say {id}\""))))
    }
}

fn header(id: &str, cwd: &str) -> String {
    format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"{cwd}\"}}\n"
    )
}

fn user(id: &str, parent: &str, second: u32, content: &str) -> String {
    format!(
        "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2026-01-01T00:01:{second:02}.000Z\",\"message\":{{\"role\":\"user\",\"content\":{content}}}}}\n"
    )
}

fn ids(listing: &Listing) -> Vec<&str> {
    listing.sessions.iter().map(|session| &*session.id).collect()
}

#[test]
fn sessions_of_a_directory_from_three_programs() {
    let store = store();
    store.session("ramal/--w--/1_r1.jsonl", "r1", "/w", 10);
    store.session("pi/--w--/1_p1.jsonl", "p1", "/w", 30);
    store.session("omp/--w--/1_o1.jsonl", "o1", "/w/", 20);
    store.session("omp/flat.jsonl", "o2", "/w", 5);
    store.session("omp/--w--/1_o1/sub_agent.jsonl", "o3", "/w", 59);
    store.session("ramal/--w-x--/1_r2.jsonl", "r2", "/w/x", 40);
    store.session("ramal/--w-x--/1_r3.jsonl", "r3", "/w-x", 50);
    let listing = list(&store.places, Path::new("/w"));
    assert_eq!(ids(&listing), ["p1", "o1", "r1", "o2"]);
    let origins: Vec<_> = listing.sessions.iter().map(|session| session.origin).collect();
    assert_eq!(origins, [Origin::Pi, Origin::OhMyPi, Origin::Ramal, Origin::OhMyPi]);
    assert_eq!(ids(&list(&store.places, Path::new("/w/x"))), ["r2"]);
    assert_eq!(ids(&list(&store.places, Path::new("/w-x"))), ["r3"]);
    assert_eq!(ids(&list_all(&store.places)), ["r3", "r2", "p1", "o1", "r1", "o2"]);
    assert!(list_all(&store.places).problems.is_empty());
    assert!(list_all(&Places::default()).sessions.is_empty());
}

#[test]
fn a_row_says_what_the_session_says() {
    let store = store();
    let text = header("b129", "/work/gone")
        + &user("aa000001", "null", 1, "\"<system-note>injected</system-note>\"")
        + &user(
            "aa000002",
            "\"aa000001\"",
            2,
            r#"[{"type":"text","text":"please fix\n\tthe login"},{"type":"image","data":""},{"type":"text","text":" page"}]"#,
        )
        + &user("aa000003", "\"aa000001\"", 3, "\"other\"")
        + "{broken\n"
        + "{\"type\":\"session_info\",\"id\":\"aa000004\",\"parentId\":\"aa000002\",\"timestamp\":\"2026-01-09T00:00:00.000Z\",\"name\":\" A  name \"}\n";
    let path = store.put("ramal/--x--/a.jsonl", &text);
    let row = SessionInfo::read(&path).unwrap();
    assert_eq!((&*row.id, &*row.cwd, row.size), ("b129", "/work/gone", text.len() as u64));
    assert_eq!(row.name.as_deref(), Some("A name"));
    assert_eq!(row.first_message.as_deref(), Some("please fix the login page"));
    assert_eq!((row.messages, row.entries, row.branches, row.damaged_lines), (3, 4, 2, 1));
    assert_eq!(row.modified, crate::time::parse("2026-01-01T00:01:03.000Z").unwrap());
    assert_eq!(row.created, crate::time::parse("2026-01-01T00:00:00.000Z"));
}

#[test]
fn the_first_thing_said() {
    let store = store();
    for (number, (contents, want)) in [
        (vec![r#""""#], None),
        (vec![r#""<b>only</b>""#], Some("<b>only</b>")),
        (vec![r#""<!-- note -->""#, r#""<3 this""#], Some("<3 this")),
        (vec![r#""hidden","synthetic":true"#, r#""shown""#], Some("shown")),
        (vec![r#""hidden","display":false"#], None),
        (vec![r#""日本語\n題名""#], Some("日本語 題名")),
    ]
    .into_iter()
    .enumerate()
    {
        let lines =
            contents.iter().enumerate().map(|(n, content)| user(&format!("aa{n}"), "null", 1, content));
        let path = store.put(&format!("{number}.jsonl"), &(header("x", "/w") + &lines.collect::<String>()));
        assert_eq!(SessionInfo::read(&path).unwrap().first_message.as_deref(), want, "{contents:?}");
    }
    let long = user("aa1", "null", 1, &format!("\"{}\"", "é ".repeat(5000)));
    let path = store.put("long.jsonl", &(header("x", "/w") + &long));
    assert_eq!(SessionInfo::read(&path).unwrap().first_message.unwrap().chars().count(), 1999);
}

#[test]
fn what_cannot_be_listed_is_said() {
    let store = store();
    store.session("f/good.jsonl", "good", "/w", 1);
    store.put("f/empty.jsonl", "");
    store.put("f/text.jsonl", "hello\n");
    store.put("f/newest.jsonl", "{\"kind\":\"header\",\"version\":4}\n");
    for other in ["f/a.jsonl.2026.bak", "f/.ramal-x.tmp", "f/._good.jsonl", "f/a.json", "f/notes"] {
        store.put(other, "x");
    }
    std::fs::create_dir(store.dir.path().join("f/folder.jsonl")).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", store.dir.path().join("f/dangling.jsonl")).unwrap();
        std::os::unix::fs::symlink(".", store.dir.path().join("f/circle")).unwrap();
        std::os::unix::fs::symlink("good.jsonl", store.dir.path().join("f/again.jsonl")).unwrap();
    }
    let listing = list_folder(&store.dir.path().join("f"));
    assert_eq!(ids(&listing), ["good"]);
    let problems: Vec<_> =
        listing.problems.iter().map(|p| p.path.file_name().unwrap().to_str().unwrap()).collect();
    let dangling: &[&str] = if cfg!(unix) { &["dangling.jsonl"] } else { &[] };
    assert_eq!(problems, [dangling, &["empty.jsonl", "newest.jsonl", "text.jsonl"]].concat());
    assert!(matches!(&listing.problems[problems.len() - 1].error, OpenError::NotASession { .. }));
    assert_eq!(list_folder(&store.dir.path().join("missing")).problems.len(), 1);
}

#[test]
#[cfg(unix)]
fn circles_of_folders_end() {
    let store = store();
    store.session("ramal/--w--/a.jsonl", "a", "/w", 1);
    for (to, at) in [(".", "ramal/self"), ("--w--", "ramal/--other--"), ("..", "ramal/--w--/up")] {
        std::os::unix::fs::symlink(to, store.dir.path().join(at)).unwrap();
    }
    assert_eq!(ids(&list_all(&store.places)), ["a"]);
}

#[test]
fn progress_is_told() {
    let store = store();
    for n in 0..5 {
        store.session(&format!("ramal/--w--/{n}.jsonl"), &format!("id{n}"), "/w", n);
    }
    let mut heard = Vec::new();
    list_with(&store.places, Scope::All, &mut |done, of| heard.push((done, of)));
    assert_eq!(heard, [(0, 5), (1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]);
}

#[test]
fn the_most_recent_is_the_one_worked_in_last() {
    let store = store();
    let old = store.session("f/old.jsonl", "old", "/w", 1);
    let new = store.session("f/new.jsonl", "new", "/w", 2);
    let other = store.session("f/other.jsonl", "other", "/elsewhere", 3);
    store.put("f/newer.jsonl", &(header("n", "/w").replace(":3", ":5") + &user("aa1", "null", 9, "\"x\"")));
    store.put("f/headless.jsonl", &user("aa1", "null", 10, "\"x\""));
    // The order does not follow the times of the files.
    filetime(&old);
    let listing = list_folder(&store.dir.path().join("f"));
    assert_eq!(listing.sessions.len(), 5);
    assert_eq!(most_recent(&listing.sessions, Some(Path::new("/w"))), Some(new));
    assert_eq!(most_recent(&listing.sessions, None), Some(other));
    assert_eq!(most_recent(&[], None), None);
}

fn filetime(path: &Path) {
    let file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    file.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(3600)).unwrap();
}

#[test]
fn found_by_what_somebody_typed() {
    let store = store();
    let a = store.session("ramal/--w--/1_0195aa01-aaaa.jsonl", "0195aa01-aaaa", "/w", 1);
    let b = store.session("ramal/--w--/1_0195aa01-abbb.jsonl", "0195aa01-abbb", "/w", 2);
    let c = store.session("pi/--v--/1_0195bb.jsonl", "0195bb", "/v", 3);
    let named = "{\"type\":\"session_info\",\"id\":\"aa000009\",\"parentId\":null,\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"name\":\"Fix Login\"}\n";
    let d = store.put("pi/--v--/2.jsonl", &(header("0195bb77", "/v") + named));
    let at = |what: &str| find(&store.places, Path::new("/w"), what);
    assert_eq!(at("0195aa01-aa"), Ok(a));
    assert_eq!(at("0195aa01-abbb"), Ok(b));
    assert_eq!(at("0195bb"), Ok(c.clone()), "a whole id goes first");
    assert_eq!(at("0195bb7"), Ok(d.clone()));
    for name in ["Fix Login", "fix login", " FIX LOGIN "] {
        assert_eq!(at(name), Ok(d.clone()));
    }
    for path in ["./x", "x.jsonl", "../up", "/abs/olute"] {
        assert_eq!(at(path), Ok(PathBuf::from(path)));
    }
    assert_eq!(at("zzz"), Err(FindError::NotFound { what: "zzz".into() }));
    assert_eq!(at(""), Err(FindError::NotFound { what: String::new() }));
    let Err(FindError::Ambiguous { candidates, .. }) = at("0195") else { panic!() };
    let mut shown: Vec<_> = candidates.iter().map(|candidate| &*candidate.id).collect();
    shown.sort_unstable();
    // Those of this directory go before those of others.
    assert_eq!(shown, ["0195aa01-aa", "0195aa01-ab"]);
    for candidate in &candidates {
        assert_eq!(at(&candidate.id), Ok(candidate.path.clone()));
    }
    store.put("pi/--v--/3.jsonl", &(header("0200", "/v") + &named.replace("Login", "login")));
    assert_eq!(at("Fix Login"), Ok(d));
    assert!(matches!(at("FIX LOGIN"), Err(FindError::Ambiguous { candidates, .. }) if candidates.len() == 2));
}

#[test]
fn a_header_behind_much_else_is_found() {
    let store = store();
    let path = store.put(
        "ramal/--w--/late.jsonl",
        &format!(
            "\u{feff}{{\"note\":\"{}\"}}\n\n{}{}",
            "x".repeat(20_000),
            header("late-id", "/w"),
            user("aa1", "null", 1, "\"q\"")
        ),
    );
    assert_eq!(find(&store.places, Path::new("/w"), "late"), Ok(path));
}

#[test]
fn copies_hang_on_what_they_were_copied_from() {
    let store = store();
    let with_parent =
        |parent: &str, id: &str| header(id, "/w").replace('}', &format!(",\"parentSession\":\"{parent}\"}}"));
    let a = store.session("f/1_a.jsonl", "a", "/w", 1);
    let a = a.to_string_lossy().replace('\\', "\\\\");
    for (name, parent) in [
        ("b", &*a),
        ("c", "b"),
        ("d", "1_c.jsonl"),
        ("e", "/moved/away/1_c.jsonl"),
        ("f", "unknown"),
        ("g", "h"),
        ("h", "g"),
    ] {
        store.put(&format!("f/1_{name}.jsonl"), &with_parent(parent, name));
    }
    let mut sessions = list_folder(&store.dir.path().join("f")).sessions;
    sessions.sort_by(|a, b| a.id.cmp(&b.id));
    let lineage = Lineage::of(&sessions);
    assert_eq!(lineage.parents, [None, Some(0), Some(1), Some(2), Some(2), None, Some(7), None]);
    assert_eq!(lineage.children[2], [3, 4]);
    assert_eq!(lineage.roots, [0, 5, 7]);
    assert_eq!(Lineage::as_written(&sessions), lineage, "no link is in the way here");
}

fn assistant(id: &str, parent: &str, reason: &str, content: &str) -> String {
    user(id, parent, 2, content)
        .replace("\"role\":\"user\"", &format!("\"role\":\"assistant\",\"stopReason\":\"{reason}\""))
}

fn result(id: &str, parent: &str) -> String {
    user(id, parent, 3, "\"42\"").replace("\"role\":\"user\"", "\"role\":\"toolResult\",\"toolCallId\":\"c\"")
}

#[test]
fn how_a_session_ended() {
    let store = store();
    let ask = user("aa000001", "null", 1, "\"the question\"");
    let says = r#"[{"type":"text","text":"the\n answer"}]"#;
    let call = r#"[{"type":"toolCall","id":"c","name":"read","arguments":{}}]"#;
    let answer = |reason, content| ask.clone() + &assistant("aa000002", "\"aa000001\"", reason, content);
    let called = answer("toolUse", call);
    let note = "{\"type\":\"custom\",\"id\":\"aa000009\",\"parentId\":\"aa000002\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"customType\":\"x\"}\n";
    let other = user("aa000008", "null", 1, "\"first\"")
        + &ask
        + &assistant("aa000002", "\"aa000008\"", "stop", says);
    for (text, state, last) in [
        (String::new(), SessionState::Empty, None),
        (ask.clone(), SessionState::Interrupted, Some("the question")),
        (answer("stop", says), SessionState::Complete, Some("the answer")),
        (answer("stop", says) + note, SessionState::Complete, Some("the answer")),
        (answer("aborted", "[]"), SessionState::Aborted, Some("the question")),
        (answer("error", says), SessionState::Error, Some("the answer")),
        (called.clone(), SessionState::Interrupted, Some("the question")),
        (
            called.clone() + &result("aa000003", "\"aa000002\""),
            SessionState::Interrupted,
            Some("the question"),
        ),
        (
            called
                + &result("aa000003", "\"aa000002\"")
                + &assistant("aa000004", "\"aa000003\"", "stop", says),
            SessionState::Complete,
            Some("the answer"),
        ),
        // Where one would go on counts, not what stands elsewhere.
        (other, SessionState::Complete, Some("the answer")),
    ] {
        let path = store.put("f/state.jsonl", &(header("x", "/w") + &text));
        let info = SessionInfo::read(&path).unwrap();
        assert_eq!((info.state, info.last_message.as_ref().map(|last| &*last.text)), (state, last), "{text}");
    }
}

#[test]
fn sessions_are_heard_of_one_by_one() {
    use std::ops::ControlFlow;
    let store = store();
    for n in 0..5 {
        store.session(&format!("ramal/--w--/{n}.jsonl"), &format!("id{n}"), "/w", n);
    }
    store.put("ramal/--w--/bad.jsonl", "hello\n");
    let (mut heard, mut last) = (Vec::new(), (9, 9));
    list_each(&store.places, Scope::All, &mut |what| {
        match what {
            Heard::Progress { done, of } => last = (done, of),
            Heard::Session(session) => heard.push(session.id),
            Heard::Problem(problem) => heard.push(problem.path.file_name().unwrap().to_str().unwrap().into()),
        }
        ControlFlow::Continue(())
    });
    heard.sort_unstable();
    assert_eq!((heard.join(" "), last), ("bad.jsonl id0 id1 id2 id3 id4".into(), (6, 6)));
    let mut count = 0;
    list_each(&store.places, Scope::All, &mut |_| {
        count += 1;
        if count == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(count, 2);
}

fn searched(files: &[PathBuf], query: &str) -> Vec<Option<TextMatch>> {
    let mut found = vec![None; files.len()];
    let query = Query::read(query).unwrap();
    search(files, &query, &|| false, &mut |number, result| found[number] = result.unwrap());
    found
}

#[test]
fn everything_that_was_said_is_searched() {
    let store = store();
    let text = header("x", "/keyword-of-the-header")
        + &user("aa000001", "null", 1, r#""Why is the\n Cache slow? caf\u00e9""#)
        + &assistant(
            "aa000002",
            "\"aa000001\"",
            "stop",
            r#"[{"type":"text","text":"Left on another branch: ßtraße"}]"#,
        )
        + &result("aa000003", "\"aa000002\"")
        + &assistant(
            "aa000004",
            "\"aa000001\"",
            "toolUse",
            r#"[{"type":"text","text":"It reads twice"},{"type":"toolCall","id":"c","name":"read","arguments":{"path":"secretpath"}}]"#,
        );
    let files = [store.put("f/a.jsonl", &text), store.session("f/b.jsonl", "b", "/w", 1)];
    for (query, entry) in [
        ("cache", Some("aa000001")),
        ("CACHE \"the cache\"", Some("aa000001")),
        ("café", Some("aa000001")),
        ("branch", Some("aa000002")),
        ("SSTRASSE", None),
        ("ßtraße", Some("aa000002")),
        ("\"reads twice\"", Some("aa000004")),
        ("\"twice reads\"", None),
        ("re:slow\\?", Some("aa000001")),
        ("re:reads\\s+t", Some("aa000004")),
        // Neither keys nor names of the format, nor tools: what was said.
        ("content", None),
        ("keyword", None),
        ("secretpath", None),
        ("42", None),
    ] {
        let found = searched(&files, query);
        assert_eq!(found[0].as_ref().map(|found| &*found.entry), entry, "{query}");
        assert_eq!(found[1], None, "{query}");
    }
    let found = searched(&files, "cache twice nowhere").remove(0).unwrap();
    assert_eq!(
        (found.terms, &*found.entry),
        (vec![true, true, false], "aa000004"),
        "the newest with as many"
    );
    let found = searched(&files, "slow").remove(0).unwrap();
    assert_eq!((&*found.excerpt, found.role), ("Why is the Cache slow? café", crate::Role::User));
    let missing = store.dir.path().join("f/none.jsonl");
    search(&[missing], &Query::read("x").unwrap(), &|| false, &mut |_, found| assert!(found.is_err()));
}

#[test]
fn a_search_that_is_not_wanted_any_more_is_not_heard() {
    let store = store();
    let files = [store.session("f/a.jsonl", "a", "/w", 1), store.session("f/b.jsonl", "b", "/w", 1)];
    let query = Query::read("say").unwrap();
    search(&files, &query, &|| true, &mut |_, _| panic!("heard"));
}

#[test]
fn names_are_given_to_sessions_that_are_not_open() {
    let store = store();
    let path = store.session("f/a.jsonl", "a", "/w", 1);
    rename(&path, " new name ").unwrap();
    assert_eq!(SessionInfo::read(&path).unwrap().name.as_deref(), Some("new name"));
    rename(&path, "").unwrap();
    assert_eq!(SessionInfo::read(&path).unwrap().name, None);
    let gone = store.dir.path().join("f/gone.jsonl");
    assert!(matches!(rename(&gone, "x"), Err(RenameError::Gone { .. })) && !gone.exists());
    let empty = store.put("f/empty.jsonl", "");
    assert!(matches!(rename(&empty, "x"), Err(RenameError::Gone { .. })));
    assert_eq!(std::fs::metadata(&empty).unwrap().len(), 0);
    let headless = store.put("f/headless.jsonl", &user("aa1", "null", 1, "\"q\""));
    assert!(matches!(rename(&headless, "x"), Err(RenameError::Append(crate::AppendError::ReadOnly { .. }))));
}

#[test]
fn the_trash_keeps_everything() {
    let store = store();
    let put = || {
        store.put("ramal/--w--/1_a.outputs/long.txt", "long");
        store.session("ramal/--w--/1_a.jsonl", "a", "/w", 1)
    };
    let root = store.dir.path().join("ramal");
    for folder in ["trash/1_a", "trash/1_a-2"] {
        let path = put();
        let bytes = std::fs::read(&path).unwrap();
        let trashed = trash(&store.places, &path, None, &[]).unwrap();
        assert_eq!(trashed, Trashed { folder: Some(root.join(folder)), left: None });
        assert!(!path.exists() && !path.with_extension("outputs").exists());
        assert_eq!(std::fs::read(root.join(folder).join("1_a.jsonl")).unwrap(), bytes);
        assert!(root.join(folder).join("1_a.outputs/long.txt").exists());
    }
    assert!(list_all(&store.places).sessions.is_empty(), "what is in the trash is not listed");
    let path = put();
    let refused = trash(&store.places, &path, Some(&path), &[]);
    assert!(matches!(refused, Err(TrashError::IsOpen { .. })) && path.exists());
    for other in [path.with_extension("outputs"), path.with_extension("txt"), root.join("none.jsonl")] {
        assert!(matches!(trash(&store.places, &other, None, &[]), Err(TrashError::NotASession { .. })));
    }
    // Elsewhere than in a known place it stays near where it was.
    let path = store.session("f/x.jsonl", "x", "/w", 1);
    let trashed = trash(&store.places, &path, None, &[]).unwrap();
    assert_eq!(trashed.folder, Some(store.dir.path().join("f/trash/x")));
}

#[test]
#[cfg(unix)]
fn programs_of_the_desktop_go_first() {
    use std::os::unix::fs::PermissionsExt;
    let store = store();
    let bin = store.dir.path().join("bin with spaces");
    std::fs::create_dir(&bin).unwrap();
    let script = |name: &str, body: &str| {
        let path = store.put(&format!("bin with spaces/{name}"), &format!("#!/bin/sh\n{body}\n"));
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        TrashProgram { command: path, arguments: vec!["put".into()] }
    };
    let missing = TrashProgram { command: bin.join("missing"), arguments: Vec::new() };
    let fails = script("fails", "exit 1");
    let lies = script("lies", "exit 0");
    let moves = script("moves", "[ \"$1\" = put ] && mv \"$2\" \"$(dirname \"$0\")\"");
    store.put("ramal/--w--/a b.outputs/long.txt", "long");
    let path = store.session("ramal/--w--/a b.jsonl", "a", "/w", 1);
    let trashed = trash(&store.places, &path, None, &[missing, fails, lies, moves]).unwrap();
    assert_eq!(trashed, Trashed { folder: None, left: None });
    assert!(bin.join("a b.jsonl").exists() && bin.join("a b.outputs/long.txt").exists() && !path.exists());
    assert!(!store.dir.path().join("ramal/trash").exists());
}

proptest! {
    #[test]
    fn every_id_shown_is_the_only_one(ids in prop::collection::hash_set("[ab-]{1,12}", 1..20)) {
        let ids: Vec<String> = ids.into_iter().collect();
        let shown = names::shortened(&ids.iter().map(|id| &**id).collect::<Vec<_>>());
        for (id, short) in ids.iter().zip(&shown) {
            prop_assert!(id.starts_with(short.as_str()));
            // A whole id goes before the beginning of another.
            let meant: Vec<_> = ids.iter().filter(|other| *other == short).collect();
            let meant = if meant.is_empty() { ids.iter().filter(|other| other.starts_with(short.as_str())).collect() } else { meant };
            prop_assert_eq!(meant, vec![id]);
        }
    }
}

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

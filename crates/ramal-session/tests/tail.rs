//! The end of a log, read by itself, says what the whole log says.

#![allow(clippy::unwrap_used, reason = "a test may fail this way")]

mod common;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use common::{files, light_scratch, write};
use proptest::prelude::*;
use ramal_session::{EntryRef, LogTail, SessionManager, json};

/// How many entries at the end of the path the tail knows, if it knows where one stands and all is as in the
/// whole log.
fn compare(path: &Path, bytes: u64) -> Result<Option<usize>, String> {
    let Some(tail) = LogTail::open(path, bytes).map_err(|error| error.to_string())? else { return Ok(None) };
    let whole = SessionManager::open(path, None).map_err(|error| error.to_string())?;
    let same = |what, one: &dyn std::fmt::Debug, other: &dyn std::fmt::Debug| {
        let (one, other) = (format!("{one:?}"), format!("{other:?}"));
        if one == other { Ok(()) } else { Err(format!("{what} with {bytes} bytes: {one}, not {other}")) }
    };
    same("fingerprint", &Some(tail.fingerprint()), &whole.log_fingerprint().unwrap())?;
    same("id", &tail.session_id(), &whole.get_session_id())?;
    let Some(session) = tail.session() else { return Ok(None) };
    same("directory", &session.get_cwd(), &whole.get_cwd())?;
    same("version", &session.format(), &whole.format())?;
    let (known, all) = (upwards(session, &|at| tail.is_cut_at(at)), upwards(&whole, &|_| false));
    same("path", &known, &&all[..known.len().min(all.len())])?;
    same("leaf", &session.get_leaf_entry().is_none(), &whole.get_leaf_entry().is_none())?;
    if bytes >= tail.fingerprint().0 {
        same("whole path", &known, &all)?;
    }
    Ok(Some(known.len()))
}

/// The path from the leaf upwards, each entry with its siblings.
fn upwards(session: &SessionManager, is_cut: &dyn Fn(EntryRef<'_>) -> bool) -> Vec<(String, Vec<String>)> {
    let says = |entry: EntryRef<'_>| entry.read().unwrap().json().to_owned();
    let path = std::iter::successors(session.get_leaf_entry(), |entry| entry.parent());
    let shown = path.take_while(|&at| !is_cut(at));
    shown
        .map(|at| {
            let mut siblings = at.parent().map_or_else(|| session.get_tree(), EntryRef::ordered_children);
            // One that stands above its parent may be further up than what was read.
            siblings
                .retain(|sibling| at.parent().is_none_or(|parent| sibling.position() > parent.position()));
            (says(at), siblings.into_iter().map(says).collect())
        })
        .collect()
}

/// Whether ids in the log mean one entry each, so that its end can know what they mean.
fn ids_are_plain(path: &Path) -> bool {
    SessionManager::open(path, None)
        .is_ok_and(|session| session.repeated_lines() == 0 && !session.get_entries().any(EntryRef::shares_id))
}

/// The logs of the vectors, and those of the reports.
fn logs(folder: &Path) -> Vec<PathBuf> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut logs = files(&tests.join("field_reports"), "jsonl");
    for (number, vector) in files(&tests.join("vectors"), "json").into_iter().enumerate() {
        let vector = json::clean(&std::fs::read(vector).unwrap()).into_owned();
        let vector: serde_json::Value = serde_json::from_str(&vector).unwrap();
        let bytes = match (vector["file"].as_str(), vector["file_gz_b64"].as_str()) {
            (Some(text), _) => text.as_bytes().to_vec(),
            (None, Some(packed)) => {
                let packed = base64::engine::general_purpose::STANDARD.decode(packed).unwrap();
                let mut bytes = Vec::new();
                flate2::read::GzDecoder::new(&*packed).read_to_end(&mut bytes).unwrap();
                bytes
            }
            (None, None) => continue,
        };
        let path = folder.join(format!("{number}.jsonl"));
        write(&path, &bytes);
        logs.push(path);
    }
    logs
}

#[test]
fn the_end_of_many_logs_is_the_end_of_their_path() {
    let (_folder, folder) = light_scratch();
    let mut told = 0;
    for log in logs(&folder).iter().filter(|log| ids_are_plain(log)) {
        for bytes in [1, 150, 700, 3000, 20_000, u64::MAX] {
            match compare(log, bytes) {
                Ok(known) => told += usize::from(known.is_some_and(|known| known > 0)),
                Err(problem) => panic!("{}: {problem}", log.display()),
            }
        }
    }
    assert!(told > 500, "{told}");
}

fn header() -> String {
    r#"{"type":"session","version":3,"id":"s","cwd":"/work"}"#.to_owned() + "\n"
}

fn entry(id: &str, parent: Option<&str>, body: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
    format!(
        "{{\"type\":{body},\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2026-01-01T00:00:00.000Z\"}}\n"
    )
}

const SAYS: &str = r#""message","message":{"role":"user","content":"hello"}"#;

fn tail_of(log: &str, bytes: u64) -> Option<LogTail> {
    let (_folder, folder) = light_scratch();
    let path = folder.join("log.jsonl");
    write(&path, log.as_bytes());
    LogTail::open(&path, bytes).unwrap()
}

fn path_of(tail: &LogTail) -> Option<Vec<String>> {
    let branch = tail.session()?.get_branch(None);
    Some(branch.into_iter().map(|entry| entry.id().unwrap().to_string()).collect())
}

/// A header and a chain of so many entries, `e0` and so on.
fn chain(count: usize) -> String {
    let id = |n| format!("e{n}");
    (0..count).fold(header(), |log, n| log + &entry(&id(n), n.checked_sub(1).map(id).as_deref(), SAYS))
}

#[test]
fn only_the_end_is_read() {
    let tail = tail_of(&chain(1000), 1000).unwrap();
    let path = path_of(&tail).unwrap();
    assert_eq!(path.last().unwrap(), "e999");
    assert!((3..12).contains(&path.len()), "{path:?}");
    let session = tail.session().unwrap();
    let first = session.get_entry(&path[0]).unwrap();
    assert!(tail.is_cut_at(first) && !tail.is_cut_at(session.get_entry("e999").unwrap()));
    assert_eq!(session.get_cwd(), "/work");
}

#[test]
fn what_does_not_tell_the_leaf_is_not_taken_for_it() {
    // The last record carries the leaf along only if it hangs on it.
    let notes = |parent: &str, count| {
        (0..count).fold(String::new(), |log, n| log + &entry(&format!("n{n}"), Some(parent), r#""custom""#))
    };
    let log = chain(1000) + &notes("e5", 1000);
    assert!(tail_of(&log, 1000).unwrap().session().is_none());
    // It reads on until something does.
    let path = path_of(&tail_of(&(chain(1000) + &notes("e5", 100)), 1000).unwrap()).unwrap();
    assert_eq!(path.last().unwrap(), "e999");
    let path = path_of(&tail_of(&(chain(1000) + &notes("e999", 1)), 1000).unwrap()).unwrap();
    assert_eq!(path.last().unwrap(), "n0");
}

#[test]
fn a_leaf_entry_tells_if_its_target_is_there() {
    let moves = |target: &str| entry("l", Some("e999"), &format!(r#""leaf","targetId":{target}"#));
    let at = |target: &str| tail_of(&(chain(1000) + &moves(target)), 1000).and_then(|tail| path_of(&tail));
    assert_eq!(at("\"e998\"").unwrap().last().unwrap(), "e998");
    assert_eq!(at("null"), Some(Vec::new()));
    assert_eq!(at("\"e2\""), None);
    assert_eq!(at("3"), None);
}

#[test]
fn a_parent_further_down_may_be_another_further_up() {
    let log = chain(1000) + &entry("x", Some("y"), SAYS) + &entry("y", Some("x"), SAYS);
    assert_eq!(path_of(&tail_of(&log, 1000).unwrap()).unwrap(), ["x", "y"]);
}

#[test]
fn where_somebody_was_left_is_found_or_not() {
    let mut tail = tail_of(&chain(1000), 1000).unwrap();
    tail.go(Some("e997"));
    assert_eq!(path_of(&tail).unwrap().last().unwrap(), "e997");
    tail.go(Some("e3"));
    assert!(tail.session().is_none());
    tail.go(None);
    assert_eq!(path_of(&tail).unwrap().len(), 0);
    // All is there: then it is nowhere, and the log's own rule stays.
    let mut tail = tail_of(&chain(3), 1 << 20).unwrap();
    tail.go(Some("e7"));
    assert_eq!(path_of(&tail).unwrap().len(), 3);
}

#[test]
fn long_lines_are_read_whole_up_to_a_limit() {
    let long = |bytes: usize| {
        let text = "x".repeat(bytes);
        chain(1000)
            + &entry(
                "l",
                Some("e999"),
                &format!(r#""message","message":{{"role":"user","content":"{text}"}}"#),
            )
    };
    let path = path_of(&tail_of(&long(10_000), 1000).unwrap()).unwrap();
    assert!(path.ends_with(&["e999".into(), "l".into()]), "{path:?}");
    assert!(
        tail_of(&long(100_000), 1000).is_none_or(|tail| path_of(&tail).is_none_or(|path| path.len() < 2))
    );
}

#[test]
fn what_is_no_session_of_its_own_has_no_tail() {
    let (_folder, folder) = light_scratch();
    assert!(LogTail::open(&folder.join("none.jsonl"), 1000).unwrap().is_none());
    assert!(LogTail::open(&folder, 1000).is_err());
    for log in ["", "\n\n", "hello\n", &chain(20)[header().len()..]] {
        assert!(tail_of(log, 1000).is_none(), "{log}");
    }
    // Version 1, where ids follow from all lines before.
    let one = "{\"type\":\"session\",\"id\":\"s\"}\n".to_owned()
        + &"{\"type\":\"message\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}\n".repeat(100);
    assert!(tail_of(&one, 1000).is_none());
    // A header behind a long line, and one that is not ended yet.
    let title = format!("{{\"type\":\"title\",\"title\":\"{}\"}}\n", "x".repeat(200_000));
    assert!(tail_of(&(title + &chain(1000)), 10_000).unwrap().session().is_some());
    assert_eq!(path_of(&tail_of(header().trim_end(), 1000).unwrap()).unwrap().len(), 0);
}

/// Logs as programs and accidents leave them: for each line its parent among those above, or a later one, or
/// none, and what it is.
fn any_log() -> impl Strategy<Value = String> {
    let kind = prop::sample::select(vec![
        SAYS,
        SAYS,
        SAYS,
        r#""custom""#,
        r#""label","targetId":"e1","label":"l""#,
        r#""leaf","targetId":"@""#,
        r#""leaf","targetId":null"#,
        r#""usage""#,
        r#""model_change""#,
        "damaged",
        "without id",
        "torn",
        r#""hologram""#,
    ]);
    let line = (0usize..100, 0usize..60, kind);
    (prop::collection::vec(line, 1..60), any::<bool>(), 2..4).prop_map(|(lines, ends, version)| {
        let mut log = header().replace("\"version\":3", &format!("\"version\":{version}"));
        for (n, (how, other, kind)) in lines.into_iter().enumerate() {
            let parent = match how {
                0..70 => n.checked_sub(1).map(|above| format!("e{above}")),
                70..90 => n.checked_sub(1 + other % 8).map(|above| format!("e{above}")),
                90..95 => Some(format!("e{other}")),
                _ => None,
            };
            let line = entry(&format!("e{n}"), parent.as_deref(), &kind.replace('@', &format!("e{other}")));
            log += &match kind {
                "damaged" => line.replace("\"type\":", ""),
                "without id" => entry("", parent.as_deref(), SAYS).replace("\"id\":\"\",", ""),
                "torn" => line[..line.len() / 2].to_owned() + "\r\n\n",
                _ => line,
            };
        }
        if !ends {
            log.truncate(log.trim_end().len());
        }
        log
    })
}

proptest! {
    #![proptest_config(common::cases(300))]

    /// Whatever the log and however much of it is read, the end says what the whole says.
    #[test]
    fn the_end_of_any_log_is_the_end_of_its_path(log in any_log(), bytes in 1u64..6000) {
        let (_folder, folder) = light_scratch();
        let path = folder.join("log.jsonl");
        write(&path, log.as_bytes());
        if let Err(problem) = compare(&path, bytes) {
            prop_assert!(false, "{}\n{}", problem, log);
        }
    }
}

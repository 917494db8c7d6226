//! Damage found and mended, on small logs.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::{NewEntry, SessionManager};

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;

struct Log {
    _dir: TempDir,
    path: PathBuf,
}

fn log(text: impl AsRef<[u8]>) -> Log {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("2026_from-name.jsonl");
    put(&path, text.as_ref());
    Log { _dir: dir, path }
}

#[expect(clippy::disallowed_methods, reason = "fixtures")]
fn put(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}

/// A message; `parent` as JSON, or nothing to leave it out.
fn say(id: &str, parent: &str, text: &str) -> String {
    let parent = if parent.is_empty() { String::new() } else { format!("\"parentId\":{parent},") };
    let id = if id.is_empty() { String::new() } else { format!("\"id\":\"{id}\",") };
    format!(
        "{{\"type\":\"message\",{id}{parent}\"timestamp\":\"2026-01-01T00:00:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}"
    )
}

fn open(path: &Path) -> SessionManager {
    SessionManager::open(path, None).unwrap()
}

fn report(path: &Path) -> Report {
    open(path).check(&mut |_, _| {}).unwrap()
}

/// Line numbers and what is the matter there.
fn findings(path: &Path) -> Vec<String> {
    let line = |finding: &Finding| finding.line.map_or("file".into(), |line| line.to_string());
    report(path).findings.iter().map(|finding| format!("{}: {}", line(finding), finding.what)).collect()
}

/// The tree: each entry's text with that of its parent.
fn tree(path: &Path) -> Vec<String> {
    let session = open(path);
    let text = |entry: crate::EntryRef<'_>| entry.read().unwrap().text();
    let line = |entry: crate::EntryRef<'_>| match entry.parent() {
        Some(parent) => format!("{}<{}", text(parent), text(entry)),
        None => text(entry),
    };
    session.get_entries().map(line).collect()
}

/// Mends `lines`; the tree is `want` afterwards, work goes on, and the old bytes are kept.
#[track_caller]
fn mended(lines: &[&str], want: &[&str]) -> (Repaired, String) {
    let text = lines.join("\n");
    let log = log(&text);
    let repaired = repair(&log.path, Path::new("/here")).unwrap();
    let backup = repaired.backup.clone().expect("something to mend");
    assert_eq!(std::fs::read(&backup).unwrap(), text.as_bytes());
    assert!(backup.extension().is_some_and(|extension| extension == "bak"));
    assert_eq!(tree(&log.path), want, "{text}");
    let after = report(&log.path);
    assert!(after.mendable == 0 && after.is_sound(), "{:?}", after.findings);
    let bytes = std::fs::read_to_string(&log.path).unwrap();
    assert_eq!(repair(&log.path, Path::new("/here")).unwrap(), Repaired::default());
    assert_eq!(std::fs::read_to_string(&log.path).unwrap(), bytes);
    let mut session = open(&log.path);
    let count = session.entry_count();
    session.append(&NewEntry::new("custom").text("customType", "x")).unwrap();
    assert_eq!(open(&log.path).entry_count(), count + 1);
    (repaired, bytes)
}

#[test]
fn a_sound_log_is_left_alone() {
    for text in [
        format!("{HEADER}\n{}\n{}\n", say("a", "null", "1"), say("b", "\"a\"", "2")),
        format!("\u{feff}{HEADER}\r\n\r\n{}", say("a", "null", "1")),
        format!("{HEADER}\n{0}\n{0}\n", say("a", "null", "1")),
        "{\"type\":\"session\",\"id\":\"s\"}\n{\"type\":\"message\",\"timestamp\":1}\n".into(),
        String::new(),
        " \n".into(),
    ] {
        let log = log(&text);
        assert_eq!(repair(&log.path, Path::new("/")).unwrap(), Repaired::default(), "{text}");
        assert_eq!(std::fs::read_to_string(&log.path).unwrap(), text);
        assert_eq!(std::fs::read_dir(log.path.parent().unwrap()).unwrap().count(), 1);
    }
}

#[test]
fn everything_is_found_with_its_line() {
    let lines = [
        HEADER,
        &say("a", "null", "1"),
        "\0\0\0",
        "",
        &say("b", "\"gone\"", "2"),
        &say("c", "", "3"),
        &say("", "\"a\"", "4"),
        &say("d", "\"d\"", "5"),
        &say("e", "\"f\"", "6"),
        &say("f", "\"e\"", "7"),
        &say("a", "null", "1"),
        &say("a", "null", "other"),
        &say("g", "\"a\"", "8").replace("\"8\"", "oops"),
        r#"{"type":"label","id":"h","parentId":"a","timestamp":1,"targetId":"gone","label":"x"}"#,
        r#"{"type":"compaction","id":"i","parentId":"b","timestamp":1,"summary":"","firstKeptEntryId":"c"}"#,
        r#"{"type":"compaction","id":"j","parentId":"b","timestamp":1,"summary":"","firstKeptEntryId":"gone"}"#,
        r#"{"type":"compaction","id":"k","parentId":"b","timestamp":1,"summary":"","firstKeptEntryId":"b"}"#,
        r#"{"type":"leaf","id":"l","parentId":"b","timestamp":1,"targetId":"gone"}"#,
        &format!("{}{}", say("m", "\"a\"", "9"), say("n", "\"m\"", "10")),
        "[1]",
        r#"{"note":1}"#,
        &say("o", "\"n\"", "11")[..40],
    ];
    let log = log(lines.join("\n"));
    assert_eq!(
        findings(&log.path),
        [
            "2: another entry has the same id",
            "3: it is nothing but zero bytes",
            "5: its parent gone is not in the file",
            "6: it does not say what its parent is",
            "7: it has no id: it can be seen, not gone to",
            "8: it names itself as its parent",
            "9: its ancestors lead back to it; the tree is cut here",
            "11: it repeats an entry word for word, and counts as one with it",
            "12: another entry has the same id",
            "13: what is inside is no JSON; only its place in the tree is known",
            "14: it labels gone, which is not in the file",
            "15: it keeps from c on, which is not on its path: nothing before it is kept",
            "16: it keeps from gone on, which is not in the file: nothing before it is kept",
            "18: it moves to gone, which is not in the file",
            "19: it holds several entries; 2 whole entries can be recovered",
            "20: it is no JSON object",
            "21: it is an object without a type",
            "22: it breaks off at the end of the file",
        ]
    );
    let report = report(&log.path);
    assert_eq!((report.damage, report.notes, report.mendable), (11, 7, 10));
    assert_eq!((report.lines, report.entries, report.bytes), (22, 14, lines.join("\n").len() as u64));
}

#[test]
fn damaged_lines_give_back_what_is_whole_in_them() {
    let (a, b, c) = (say("a", "null", "1"), say("b", "\"a\"", "2"), say("c", "\"b\"", "3"));
    for line in [format!("{b}{c}"), format!("xx{b},{c}]"), format!("{}{b}{c}{{", &a[..50])] {
        let (repaired, bytes) = mended(&[HEADER, &a, &line, ""], &["1", "1<2", "2<3"]);
        assert_eq!(repaired.mended, [Mended::Lines { lines: 3..=3, recovered: 2 }]);
        assert_eq!(bytes, format!("{HEADER}\n{a}\n{b}\n{c}\n"));
    }
    // What is there already does not come twice, and what cannot be saved goes.
    let twice = format!("{b}{b}{a}");
    let (repaired, bytes) = mended(&[HEADER, &a, "\0\0", &twice, &c, &c[..30]], &["1", "1<2", "2<3"]);
    assert_eq!(bytes, format!("{HEADER}\n{a}\n{b}\n{c}\n"));
    assert_eq!(
        repaired.mended,
        [Mended::Lines { lines: 3..=4, recovered: 1 }, Mended::Lines { lines: 6..=6, recovered: 0 }]
    );
    let pretty = b.replace(',', ",\n  ");
    mended(&[HEADER, &a, &pretty, &c], &["1", "1<2", "2<3"]);
    // Other lines keep their bytes, odd ones too.
    let odd = format!(" {a}\r\n\n{{\"type\":\"session\"}}");
    let (_, bytes) = mended(&[HEADER, &odd, "rubbish", &b], &["1", "1<2"]);
    assert_eq!(bytes, format!("{HEADER}\n{odd}\n{b}"));
}

#[test]
fn broken_links_lead_to_the_entry_before() {
    let (a, b) = (say("a", "null", "1"), say("b", "\"a\"", "2"));
    let (repaired, bytes) = mended(
        &[HEADER, &a, &b, &say("c", "\"deadbeef\"", "3"), &say("d", "\"c\"", "4"), &say("e", "", "5"), ""],
        &["1", "1<2", "2<3", "3<4", "4<5"],
    );
    let to = |id: &str, parent: &str| Mended::Parent { id: id.into(), parent: Some(parent.into()) };
    assert_eq!(repaired.mended, [to("c", "b"), to("e", "d")]);
    assert!(bytes.starts_with(&format!("{HEADER}\n{a}\n{b}\n{}\n", say("c", "\"b\"", "3"))));
    // Circles, and entries before the first.
    mended(&[HEADER, &say("a", "", "1"), &say("b", "\"b\"", "2")], &["1", "1<2"]);
    mended(&[HEADER, &a, &say("b", "\"c\"", "2"), &say("c", "\"b\"", "3")], &["1", "1<2", "2<3"]);
    mended(&[HEADER, &say("b", "\"c\"", "2"), &say("c", "\"gone\"", "3")], &["3<2", "3"]);
    mended(
        &[HEADER, &say("b", "\"c\"", "2"), &say("x", "\"gone\"", "x"), &say("c", "\"gone\"", "3")],
        &["3<2", "2<x", "3"],
    );
    // Entries that share an id, and repeats of an entry that is mended.
    mended(&[HEADER, &a, &say("a", "\"gone\"", "2")], &["1", "2"]);
    let orphan = say("b", "\"gone\"", "2");
    let lines = [HEADER, &orphan, &a, &orphan, &say("c", "", "3"), &orphan, &a, ""];
    let (repaired, bytes) = mended(&lines, &["2", "1", "1<3"]);
    assert_eq!(repaired.mended[..2], [Mended::Repeat { line: 4 }, Mended::Repeat { line: 6 }]);
    assert_eq!(bytes.lines().count(), 5);
    let moved = r#"{"type":"leaf","id":"l","parentId":"a","timestamp":1,"targetId":"a"}"#;
    mended(&[HEADER, &a, moved, &say("b", "\"gone\"", "2")], &["1", "1<", "1<2"]);
}

#[test]
fn entries_get_ids() {
    let a = say("a", "null", "1");
    let (repaired, _) = mended(
        &[HEADER, &a, &say("", "", "2"), &say("", "\"a\"", "3"), &say("", "null", "4"), &say("", "", "5")],
        &["1", "1<2", "1<3", "4", "4<5"],
    );
    let ids = repaired.mended.iter().filter(|mended| matches!(mended, Mended::Id { .. })).count();
    assert_eq!((ids, repaired.count), (4, 6));
    mended(&[HEADER, &a.replace("\"a\"", "7")], &["1"]);
}

#[test]
fn a_header_is_found_or_made() {
    let (a, b) = (say("a", "null", "1"), say("b", "\"a\"", "2"));
    let (repaired, bytes) = mended(&[&a, &b, ""], &["1", "1<2"]);
    assert_eq!(repaired.mended, [Mended::Header { id: "from-name".into(), made: true }]);
    assert_eq!(
        bytes,
        format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"from-name\",\"timestamp\":\"2026-01-01T00:00:01.000Z\",\"cwd\":\"/here\"}}\n{a}\n{b}\n"
        )
    );
    let (repaired, bytes) = mended(&[&a, &format!("x{HEADER}{b}")], &["1", "1<2"]);
    assert_eq!(repaired.mended[0], Mended::Header { id: "s1".into(), made: false });
    assert_eq!(bytes, format!("{HEADER}\n{a}\n{b}\n"));
    let many: Vec<String> = (0..20).map(|n| say(&format!("m{n}"), "null", "m")).collect();
    let mut lines: Vec<&str> = many.iter().map(|line| &**line).collect();
    lines.push(HEADER);
    assert!(mended(&lines, &["m"; 20]).1.starts_with(HEADER));
    let (_, bytes) = mended(&[&format!("\u{feff}{a}")], &["1"]);
    assert!(bytes.starts_with("\u{feff}{\"type\":\"session\""));
}

#[test]
fn old_versions_are_brought_up_with_the_rest() {
    let old = r#"{"type":"session","id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
    let (repaired, bytes) = mended(&[old, &say("", "", "1"), "[]", &say("", "", "2")], &["1", "1<2"]);
    assert_eq!(repaired.mended[0], Mended::Migrated);
    assert!(bytes.contains("\"version\":3") && !bytes.contains("[]"));
    let newer = log(format!("{}\nrubbish\n", HEADER.replace(":3", ":4.5")));
    assert!(
        matches!(repair(&newer.path, Path::new("/")), Err(RepairError::NewerVersion { version, .. }) if version == "4.5")
    );
    let none = log("hello\n");
    assert!(matches!(repair(&none.path, Path::new("/")), Err(RepairError::Open(_))));
    assert!(matches!(repair(&none.path.with_extension("x"), Path::new("/")), Err(RepairError::Open(_))));
}

#[test]
fn what_is_unreadable_stays_and_is_still_said() {
    let broken = say("b", "\"a\"", "2").replace("\"2\"", "oops");
    let text = format!("{HEADER}\n{}\n{broken}\nrubbish\n", say("a", "null", "1"));
    let log = log(&text);
    assert_eq!(repair(&log.path, Path::new("/")).unwrap().count, 1);
    assert_eq!(std::fs::read_to_string(&log.path).unwrap(), text.replace("rubbish\n", ""));
    let report = report(&log.path);
    assert_eq!((report.damage, report.mendable), (1, 0));
}

#[test]
#[cfg(unix)]
fn mode_and_link_stay() {
    use std::os::unix::fs::PermissionsExt;
    let log = log(format!("{HEADER}\nrubbish\n"));
    let link = log.path.with_file_name("link.jsonl");
    std::os::unix::fs::symlink(&log.path, &link).unwrap();
    for mode in [0o640, 0o400] {
        put_line(&log.path);
        std::fs::set_permissions(&log.path, std::fs::Permissions::from_mode(mode)).unwrap();
        assert!(repair(&link, Path::new("/")).unwrap().backup.is_some());
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(log.path.metadata().unwrap().permissions().mode() & 0o777, mode);
    }
}

#[cfg(unix)]
fn put_line(path: &Path) {
    use std::io::Write;
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(b"rubbish\n").unwrap();
}

#[test]
fn a_locked_log_is_left_alone() {
    let text = format!("{HEADER}\nrubbish\n");
    let log = log(&text);
    let other = std::fs::File::open(&log.path).unwrap();
    other.lock().unwrap();
    assert!(matches!(repair(&log.path, Path::new("/")), Err(RepairError::Locked { .. })));
    assert_eq!(std::fs::read_to_string(&log.path).unwrap(), text);
}

#[test]
fn a_long_path_is_checked_and_mended_in_linear_time() {
    let mut text = format!("{HEADER}\n");
    for n in 0..20_000 {
        text += &say(&format!("i{n}"), "\"gone\"", "x");
        text += "\n";
        if n % 2 == 0 {
            text += &format!(
                "{{\"type\":\"compaction\",\"id\":\"c{n}\",\"parentId\":\"i{n}\",\"timestamp\":1,\"summary\":\"\",\"firstKeptEntryId\":\"i0\"}}\n{{\"type\":\"leaf\",\"id\":\"l{n}\",\"timestamp\":1,\"targetId\":\"i{n}\"}}\n"
            );
        }
    }
    let log = log(text);
    repair(&log.path, Path::new("/")).unwrap();
    let session = open(&log.path);
    assert_eq!(session.get_branch(Some("i19999")).len(), 30_000);
    let report = session.check(&mut |_, _| {}).unwrap();
    assert_eq!((report.damage, report.notes), (0, 0));
}

#[derive(Debug, Clone)]
enum Change {
    Cut(prop::sample::Index, usize),
    Put(prop::sample::Index, Vec<u8>),
    Join(prop::sample::Index),
    Double(prop::sample::Index),
    Swap(prop::sample::Index),
    Truncate(prop::sample::Index),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        (at(), 1usize..60).prop_map(|(at, count)| Change::Cut(at, count)),
        (
            at(),
            prop::collection::vec(
                prop_oneof![Just(b'\n'), Just(0u8), Just(b'{'), Just(b'"'), Just(b'}'), any::<u8>()],
                1..6
            )
        )
            .prop_map(|(at, bytes)| Change::Put(at, bytes)),
        at().prop_map(Change::Join),
        at().prop_map(Change::Double),
        at().prop_map(Change::Swap),
        at().prop_map(Change::Truncate),
    ]
}

impl Change {
    fn apply(&self, text: &mut Vec<u8>) {
        let mut lines: Vec<Vec<u8>> = text.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
        match self {
            Change::Cut(at, count) if !text.is_empty() => {
                let from = at.index(text.len());
                text.drain(from..(from + count).min(text.len()));
                return;
            }
            Change::Put(at, bytes) => {
                let at = at.index(text.len() + 1);
                text.splice(at..at, bytes.iter().copied());
                return;
            }
            Change::Truncate(at) => {
                text.truncate(at.index(text.len() + 1));
                return;
            }
            _ if lines.is_empty() => return,
            Change::Join(at) => {
                let at = at.index(lines.len());
                lines[at].pop();
            }
            Change::Double(at) => {
                let line = lines[at.index(lines.len())].clone();
                lines.insert(at.index(lines.len()), line);
            }
            Change::Swap(at) => {
                let at = at.index(lines.len());
                lines.swap(0, at);
            }
            Change::Cut(..) => return,
        }
        *text = lines.concat();
    }
}

/// The text of every entry, with its id if the file has that.
fn contents(session: &SessionManager) -> Vec<(String, String)> {
    let content = |entry: crate::EntryRef<'_>| {
        let has_id = entry.irregular() != Some(crate::Irregular::NoId);
        let id = if has_id { entry.id().unwrap().to_string() } else { String::new() };
        (entry.read().unwrap().text(), id)
    };
    session.get_entries().map(content).collect()
}

/// What is inside stays broken; that it has a place again is true of the file, not only said.
#[test]
fn unreadable_entries_are_hung_up_too() {
    for parent in ["\"gone\"", "\"b\""] {
        let line = say("b", parent, "1").replace("\"}}", "\"}{}}");
        let text = [HEADER, &say("a", "null", "0"), &line, ""].join("\n");
        let log = log(&text);
        let repaired = repair(&log.path, Path::new("/here")).unwrap();
        assert_eq!(repaired.count, 1, "{line}");
        assert_eq!(report(&log.path).mendable, 0, "{line}: {:?}", report(&log.path).findings);
        let mended = line.replace(&format!("\"parentId\":{parent}"), "\"parentId\":\"a\"");
        assert!(std::fs::read_to_string(&log.path).unwrap().contains(&mended), "{mended}");
        assert_eq!(open(&log.path).entry_count(), 2);
        assert_eq!(repair(&log.path, Path::new("/here")).unwrap(), Repaired::default());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn nothing_readable_is_lost(
        parents in prop::collection::vec(any::<prop::sample::Index>(), 1..12),
        changes in prop::collection::vec(change(), 1..6),
        version in prop::sample::select(vec![3, 2, 1]),
    ) {
        let mut text = HEADER.replace(":3", &format!(":{version}")) + "\n";
        for (n, parent) in parents.iter().enumerate() {
            let parent = match n { 0 => "null".into(), n => format!("\"e{}\"", parent.index(n)) };
            let line = if version == 1 { say("", "", &format!("text {n}")) } else { say(&format!("e{n}"), &parent, &format!("text {n}")) };
            text += &(line + "\n");
        }
        let mut bytes = text.into_bytes();
        for change in &changes {
            change.apply(&mut bytes);
        }
        let log = log(&bytes);
        let Ok(session) = SessionManager::open(&log.path, None) else { return Ok(()) };
        let before = contents(&session);
        let was_on_disk = session.is_on_disk();
        let found = session.check(&mut |_, _| {}).unwrap();
        drop(session);
        let repaired = match repair(&log.path, Path::new("/here")) {
            Err(RepairError::NewerVersion { .. }) => return Ok(()),
            result => result.unwrap(),
        };
        prop_assert_eq!(repaired.backup.is_some(), was_on_disk && found.mendable > 0);
        let mut session = SessionManager::open(&log.path, None).unwrap();
        let mut after = contents(&session);
        for (text, id) in before {
            let exact = after.iter().position(|(t, i)| *t == text && (id.is_empty() || *i == id));
            // A mended link can make an unreadable entry readable.
            let healed = || after.iter().position(|(_, i)| text.is_empty() && *i == id);
            let same = exact.or_else(healed);
            prop_assert!(same.is_some(), "{} {} is gone: {:?}", text, id, String::from_utf8_lossy(&bytes));
            after.swap_remove(same.unwrap());
        }
        let report = session.check(&mut |_, _| {}).unwrap();
        prop_assert_eq!(report.mendable, 0, "{:?}", report.findings);
        prop_assert_eq!(repair(&log.path, Path::new("/here")).unwrap(), Repaired::default());
        session.append_message(r#"{"role":"user","content":"on"}"#).unwrap();
    }

    #[test]
    fn no_bytes_are_too_odd(bytes in prop::collection::vec(any::<u8>(), 0..200), tail in "[{}\\[\\]\",:a\\\\\n]{0,80}") {
        let log = log([HEADER.as_bytes(), b"\n", &bytes, tail.as_bytes()].concat());
        repair(&log.path, Path::new("/here")).unwrap();
        prop_assert_eq!(report(&log.path).mendable, 0);
    }
}

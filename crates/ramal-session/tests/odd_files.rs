//! Files that are hard to read: odd bytes, huge lines, long chains, wide fans.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::io::Write;
use std::path::Path;

use common::{context, questions, scratch};
use ramal_session::{At, Irregular, SessionManager};

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
const MESSAGE: &str = r#"{"role":"user","content":"appended"}"#;

fn entry(id: &str, parent: Option<&str>, content: &str) -> String {
    let parent = parent.map_or("null".into(), |parent| format!("\"{parent}\""));
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:01.000Z","message":{{"role":"user","content":{content}}}}}"#
    )
}

/// Opens a file with these bytes, and appends to it: what was there stays, and one entry more is there
/// when it is opened again.
fn with_file(bytes: &[u8], check: impl FnOnce(&SessionManager)) {
    let (_folder, root) = scratch();
    let path = root.join("session.jsonl");
    common::write_old(&path, bytes);
    let mut session = SessionManager::open(&path, None).unwrap();
    check(&session);
    let (count, damaged) = (session.entry_count(), session.damaged_lines());
    let id = session.append_message(MESSAGE).unwrap();
    let after = std::fs::read(&path).unwrap();
    assert!(after.starts_with(bytes) && after.ends_with(b"}\n"));
    let again = SessionManager::open(&path, None).unwrap();
    assert_eq!((again.entry_count(), again.damaged_lines()), (count + 1, damaged));
    assert_eq!(questions::leaf(&again).as_deref(), Some(&*id));
    assert_eq!(questions::tree(&again), questions::tree(&session));
}

fn joined(lines: &[&[u8]]) -> Vec<u8> {
    let mut bytes = lines.join(&b'\n');
    bytes.push(b'\n');
    bytes
}

#[test]
fn lone_surrogates_are_text() {
    let a = entry("a", None, r#""x\ud83dy \udc00""#);
    let b = entry("b", Some("a"), r#"[{"type":"text","text":"\ud83d\ude00\ud83d"}]"#);
    with_file(&joined(&[HEADER.as_bytes(), a.as_bytes(), b.as_bytes()]), |session| {
        assert_eq!((session.entry_count(), session.damaged_lines()), (2, 0));
        assert_eq!(session.get_entry("a").unwrap().read().unwrap().text(), "x\u{fffd}y \u{fffd}");
        assert_eq!(session.get_entry("b").unwrap().read().unwrap().text(), "\u{1f600}\u{fffd}");
        assert_eq!(context::model_messages(session, At::Leaf).unwrap().len(), 2);
    });
}

#[test]
fn zero_bytes_cost_their_own_line() {
    let (a, b) = (entry("a", None, r#""1""#), entry("b", Some("a"), r#""2""#));
    let zeros = vec![0; 5000];
    let before = [&zeros[..], b.as_bytes()].concat();
    with_file(&joined(&[HEADER.as_bytes(), a.as_bytes(), &zeros, b.as_bytes(), &before]), |session| {
        assert_eq!((session.entry_count(), session.damaged_lines()), (2, 2));
    });
    with_file(&[joined(&[HEADER.as_bytes(), a.as_bytes()]), zeros.clone()].concat(), |session| {
        assert_eq!((session.entry_count(), session.damaged_lines()), (1, 1));
    });
}

#[test]
fn a_byte_order_mark_and_crlf_are_no_damage() {
    let (a, b) = (entry("a", None, r#""1""#), entry("b", Some("a"), r#""2""#));
    let text = format!("\u{feff}{HEADER}\r\n{a}\r\n\r\n \t\r\n{b}\r\n");
    with_file(text.as_bytes(), |session| {
        assert_eq!((session.entry_count(), session.damaged_lines()), (2, 0));
        assert_eq!(session.get_raw("b").unwrap().unwrap(), b.as_bytes());
    });
}

#[test]
fn two_objects_on_a_line_are_one_damaged_line() {
    let (a, b, c) = (entry("a", None, r#""1""#), entry("b", Some("a"), r#""2""#), entry("c", None, r#""3""#));
    let glued = format!("{a}{b}");
    with_file(&joined(&[HEADER.as_bytes(), glued.as_bytes(), c.as_bytes()]), |session| {
        assert_eq!((session.entry_count(), session.damaged_lines()), (1, 1));
    });
}

#[test]
fn a_torn_last_line_stays_and_the_next_entry_stands_alone() {
    let (a, b) = (entry("a", None, r#""1""#), entry("b", Some("a"), r#""2 é""#));
    let whole = joined(&[HEADER.as_bytes(), a.as_bytes(), b.as_bytes()]);
    let start = whole.len() - b.len() - 1;
    for cut in (start + 1..whole.len() - 2).step_by(23) {
        with_file(&whole[..cut], |session| {
            assert_eq!((session.entry_count(), session.damaged_lines()), (1, 1), "cut at {cut}");
        });
    }
    with_file(&whole[..whole.len() - 1], |session| {
        assert_eq!((session.entry_count(), session.damaged_lines()), (2, 0));
    });
}

#[test]
fn invalid_utf8_inside_a_string_reads_as_replacement() {
    let mut a = entry("a", None, r#""xBADy""#).into_bytes();
    let at = a.windows(3).position(|window| window == b"BAD").unwrap();
    a.splice(at..at + 3, *b"\xff\xc3\x28");
    with_file(&joined(&[HEADER.as_bytes(), &a]), |session| {
        assert_eq!((session.entry_count(), session.damaged_lines()), (1, 0));
        assert_eq!(session.get_entry("a").unwrap().read().unwrap().text(), "x\u{fffd}\u{fffd}(y");
        assert_eq!(session.get_raw("a").unwrap().unwrap(), a);
    });
}

#[test]
fn what_does_not_end_a_line_does_not() {
    let text = "\u{2028}\u{2029}\u{85}";
    let a = entry("a", None, &format!("\"x{text}y\""));
    with_file(&joined(&[HEADER.as_bytes(), a.as_bytes()]), |session| {
        assert_eq!((session.entry_count(), session.damaged_lines()), (1, 0));
        assert!(session.get_entry("a").unwrap().read().unwrap().text().contains(text));
    });
}

#[test]
fn a_line_of_64_megabytes_is_one_entry() {
    let (_folder, root) = scratch();
    let path = root.join("session.jsonl");
    let size = 64 << 20;
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    writeln!(file, "{HEADER}").unwrap();
    writeln!(file, "{}", entry("a", None, r#""1""#)).unwrap();
    let big = entry("big", Some("a"), r#""SPLIT""#);
    let (head, tail) = big.split_once("SPLIT").unwrap();
    file.write_all(head.as_bytes()).unwrap();
    let piece = [b'x'; 1 << 16];
    for _ in 0..size / piece.len() {
        file.write_all(&piece).unwrap();
    }
    writeln!(file, "{tail}").unwrap();
    writeln!(file, "{}", entry("b", Some("big"), r#""2""#)).unwrap();
    file.into_inner().unwrap().sync_all().unwrap();

    let mut session = SessionManager::open(&path, None).unwrap();
    assert_eq!((session.entry_count(), session.damaged_lines()), (3, 0));
    assert_eq!(questions::ids(session.get_branch(None)), ["a", "big", "b"]);
    assert_eq!(session.get_entry("big").unwrap().size() as usize, size + big.len() - 5);
    assert_eq!(session.get_entry("big").unwrap().read().unwrap().text().len(), size);
    session.append_message(MESSAGE).unwrap();
    assert_eq!(SessionManager::open(&path, None).unwrap().entry_count(), 4);
}

/// A stack that no recursion over a million entries would bear.
fn on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(256 << 10).spawn(run).unwrap().join().unwrap();
}

fn write_entries(path: &Path, count: usize, parent: impl Fn(usize) -> Option<usize>) {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    writeln!(file, "{HEADER}").unwrap();
    for number in 0..count {
        let parent = parent(number).map_or("null".into(), |parent| format!("\"{parent:08x}\""));
        // Settings are cheap for a context, so that its plan is what is measured.
        writeln!(
            file,
            r#"{{"type":"thinking_level_change","id":"{number:08x}","parentId":{parent},"timestamp":"2026-01-01T00:00:01.000Z","thinkingLevel":"high"}}"#
        )
        .unwrap();
    }
    file.into_inner().unwrap();
}

#[test]
fn a_chain_of_a_million_entries() {
    const COUNT: usize = 1_000_000;
    on_a_small_stack(|| {
        let (_folder, root) = scratch();
        let path = root.join("session.jsonl");
        write_entries(&path, COUNT, |number| number.checked_sub(1));
        let session = SessionManager::open(&path, None).unwrap();
        assert_eq!(session.entry_count(), COUNT);
        let path_to_leaf = session.get_branch(None);
        assert_eq!(path_to_leaf.len(), COUNT);
        assert!(path_to_leaf.iter().enumerate().all(|(at, entry)| entry.position() == at));
        let rows = questions::walk(&session);
        assert_eq!(rows.last().map(|(depth, _)| *depth), Some(COUNT - 1));
        let tip = format!("{:08x}", COUNT - 1);
        let ancestor = session.common_ancestor(&tip, "00000010").unwrap();
        assert_eq!(ancestor.position(), 16);
        let context = session.build_session_context(At::Entry("00004000")).unwrap();
        assert_eq!((&*context.thinking_level, context.messages().count()), ("high", 0));
    });
}

#[test]
fn a_cycle_of_many_entries_is_cut_once() {
    const COUNT: usize = 100_000;
    on_a_small_stack(|| {
        let (_folder, root) = scratch();
        let path = root.join("session.jsonl");
        // Each hangs on the next, the last on the first.
        write_entries(&path, COUNT, |number| Some((number + 1) % COUNT));
        let session = SessionManager::open(&path, None).unwrap();
        let roots = session.get_tree();
        assert_eq!(questions::ids(roots.iter().copied()), ["00000000"]);
        assert_eq!(roots[0].irregular(), Some(Irregular::CycleCut));
        assert_eq!(questions::walk(&session).len(), COUNT);
        assert_eq!(session.get_branch(Some("00000001")).len(), COUNT);
    });
}

#[test]
fn a_fan_of_many_children() {
    const COUNT: usize = 200_000;
    on_a_small_stack(|| {
        let (_folder, root) = scratch();
        let path = root.join("session.jsonl");
        write_entries(&path, COUNT, |number| (number > 0).then_some(0));
        let session = SessionManager::open(&path, None).unwrap();
        assert_eq!(session.get_children(Some("00000000")).len(), COUNT - 1);
        let children = session.get_tree()[0].ordered_children();
        assert!(children.windows(2).all(|pair| pair[0].position() < pair[1].position()));
        assert_eq!(questions::walk(&session).len(), COUNT);
    });
}

#[test]
fn nesting_of_any_depth_costs_no_stack() {
    on_a_small_stack(|| {
        for depth in [100, 1000, 100_000] {
            let nested = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
            let (a, b) = (entry("a", None, &nested), entry("b", Some("a"), r#""2""#));
            let (_folder, root) = scratch();
            let path = root.join("session.jsonl");
            common::write(&path, &joined(&[HEADER.as_bytes(), a.as_bytes(), b.as_bytes()]));
            let mut session = SessionManager::open(&path, None).unwrap();
            assert_eq!((session.entry_count(), session.damaged_lines()), (2, 0), "{depth}");
            for entry in session.get_entries() {
                entry.read().unwrap();
            }
            let context = session.build_session_context(At::Leaf).unwrap();
            assert!(context.messages().count() >= 1 && context.model_messages().count() >= 1);
            session.create_branched_session("b").unwrap();
            assert_eq!(session.get_raw("a").unwrap().unwrap(), a.as_bytes());
        }
    });
}

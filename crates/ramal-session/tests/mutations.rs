//! Damage of every kind: nothing panics, nothing hangs, and no line that the damage did not touch is lost.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use common::light_scratch;
use common::snapshot::Snapshot;
use proptest::prelude::*;
use proptest::sample::Index;
use ramal_session::{At, SessionManager};

/// Lines as programs write them, one of nearly every kind.
const LINES: [&str; 14] = [
    r#"{"type":"session","version":3,"id":"0b5a","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#,
    r#"{"type":"model_change","id":"00000001","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","model":"p/m","provider":"p","modelId":"m"}"#,
    r#"{"type":"message","id":"00000002","parentId":"00000001","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"user","content":"Grüße \ud83d {[\\\""}}"#,
    r#"{"type":"message","id":"00000003","parentId":"00000002","timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"x"}}],"usage":{"input":1,"output":2}}}"#,
    r#"{"message":{"role":"toolResult","toolCallId":"c1","content":[{"type":"text","text":"b"}]},"type":"message","timestamp":"2026-01-01T00:00:04.000Z","id":"00000004","parentId":"00000003"}"#,
    r#"{"type":"label","id":"00000005","parentId":"00000004","timestamp":"2026-01-01T00:00:05.000Z","targetId":"00000002","label":"start"}"#,
    r#"{"type":"branch_summary","id":"00000006","parentId":"00000002","timestamp":"2026-01-01T00:00:06.000Z","fromId":"00000002","summary":"s"}"#,
    r#"{"type":"compaction","id":"00000007","parentId":"00000006","timestamp":"2026-01-01T00:00:07.000Z","summary":"s","firstKeptEntryId":"00000002","tokensBefore":9}"#,
    r#"{"type":"custom_message","id":"00000008","parentId":"00000007","timestamp":"2026-01-01T00:00:08.000Z","customType":"t","content":"c","display":true}"#,
    r#"{"type":"context_edit","id":"00000009","parentId":"00000008","timestamp":"2026-01-01T00:00:09.000Z","targetId":"00000008","replacement":null}"#,
    r#"{"type":"leaf","id":"0000000a","parentId":"00000009","timestamp":"2026-01-01T00:00:10.000Z","targetId":"00000004"}"#,
    r#"{"type":"session_info","id":"0000000b","parentId":"00000004","timestamp":"2026-01-01T00:00:11.000Z","name":"n"}"#,
    r#"{"type":"of another program","id":"an id that is longer than most","parentId":"0000000b","timestamp":"2026-01-01T00:00:12.000Z","x":[1,{"y":1e999}]}"#,
    r#"{"type":"reset_boundary","id":"0000000d","parentId":"an id that is longer than most","timestamp":"2026-01-01T00:00:13.000Z"}"#,
];

#[derive(Debug, Clone)]
enum Mutation {
    Flip(Index, u8),
    Put(Index, u8),
    Newline(Index),
    Remove(Index, usize),
    Truncate(Index),
    Double(Index, Index),
    Swap(Index, Index),
    /// The first half of one line and the second of another in place of the first.
    Splice(Index, Index, Index),
    Rubbish(Index, Vec<u8>),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let at = any::<Index>;
    prop_oneof![
        4 => (at(), 0..8_u8).prop_map(|(at, bit)| Mutation::Flip(at, bit)),
        3 => (at(), prop::sample::select(&b"\0\"\\{}[],:\r \xff\xc3n1"[..])).prop_map(|(at, byte)| Mutation::Put(at, byte)),
        3 => at().prop_map(Mutation::Newline),
        2 => (at(), 1..40_usize).prop_map(|(at, count)| Mutation::Remove(at, count)),
        1 => at().prop_map(Mutation::Truncate),
        2 => (at(), at()).prop_map(|(line, to)| Mutation::Double(line, to)),
        2 => (at(), at()).prop_map(|(one, other)| Mutation::Swap(one, other)),
        2 => (at(), at(), at()).prop_map(|(one, other, cut)| Mutation::Splice(one, other, cut)),
        1 => (at(), proptest::collection::vec(any::<u8>(), 0..60)).prop_map(|(at, bytes)| Mutation::Rubbish(at, bytes)),
    ]
}

impl Mutation {
    fn apply(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let len = bytes.len();
        match self {
            Mutation::Flip(at, bit) => bytes[at.index(len)] ^= 1 << bit,
            Mutation::Put(at, byte) => bytes[at.index(len)] = *byte,
            Mutation::Newline(at) => bytes.insert(at.index(len), b'\n'),
            Mutation::Remove(at, count) => {
                let at = at.index(len);
                bytes.drain(at..len.min(at + count));
            }
            Mutation::Truncate(at) => bytes.truncate(at.index(len)),
            Mutation::Rubbish(at, rubbish) => {
                let at = at.index(len);
                bytes.splice(at..at, rubbish.iter().copied());
            }
            _ => self.apply_to_lines(bytes),
        }
    }

    fn apply_to_lines(&self, bytes: &mut Vec<u8>) {
        let mut lines: Vec<Vec<u8>> = bytes.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
        let count = lines.len();
        match self {
            Mutation::Double(line, to) => lines.insert(to.index(count), lines[line.index(count)].clone()),
            Mutation::Swap(one, other) => lines.swap(one.index(count), other.index(count)),
            Mutation::Splice(one, other, cut) => {
                let (one, other) = (one.index(count), other.index(count));
                let tail = lines[other].clone();
                let at = cut.index(lines[one].len() + 1);
                lines[one].truncate(at);
                lines[one].extend_from_slice(&tail[tail.len().min(at)..]);
            }
            _ => {}
        }
        *bytes = lines.join(&b'\n');
    }
}

/// The lines of a file that stand there as they were written, each once, with their places.
fn untouched(bytes: &[u8]) -> Vec<(u64, &'static str)> {
    let known: HashMap<&[u8], &str> = LINES[1..].iter().map(|line| (line.as_bytes(), *line)).collect();
    let (mut seen, mut found, mut offset) = (HashSet::new(), Vec::new(), 0);
    for line in bytes.split(|&b| b == b'\n') {
        let body = line.strip_suffix(b"\r").unwrap_or(line);
        if let Some(line) = known.get(body)
            && seen.insert(*line)
        {
            found.push((offset, *line));
        }
        offset += line.len() as u64 + 1;
    }
    found
}

/// Opens a file with these bytes, asks everything there is to ask, and appends.
fn survives(bytes: &[u8]) -> Result<(), TestCaseError> {
    let (_folder, root) = light_scratch();
    let path = root.join("session.jsonl");
    common::write_old(&path, bytes);
    let good = untouched(bytes);
    let mut session = match SessionManager::open(&path, None) {
        Ok(session) => session,
        Err(error) => {
            prop_assert!(good.is_empty(), "refused, though good lines are in it: {error}");
            prop_assert_eq!(std::fs::read(&path).unwrap(), bytes);
            return Ok(());
        }
    };
    nothing_is_lost(&session, &good)?;
    let blank = |line: &[u8]| line.iter().all(|b| b" \t\r".contains(b));
    let lines = bytes.split(|&b| b == b'\n').filter(|line| !blank(line)).count();
    let told = session.entry_count() as u64 + session.damaged_lines() + session.repeated_lines();
    prop_assert!(told <= lines as u64, "{} lines, but {} of them told", lines, told);
    questions(&session)?;
    let before = Snapshot::of(&session);
    prop_assert_eq!(std::fs::read(&path).unwrap(), bytes, "reading changed the file");
    appends(&mut session, &path, bytes)?;
    nothing_is_lost(&session, &[])?;
    if session.read_only().is_none() && std::fs::read(&path).unwrap().starts_with(bytes) {
        let after = SessionManager::open(&path, None).unwrap();
        let known = Snapshot::of(&after);
        prop_assert_eq!(known.rows.len(), before.rows.len() + 1);
        prop_assert_eq!(known.difference(&Snapshot::of(&session)), None);
        nothing_is_lost(&after, &good)?;
    }
    Ok(())
}

fn nothing_is_lost(session: &SessionManager, good: &[(u64, &'static str)]) -> Result<(), TestCaseError> {
    let places: HashSet<(u64, u64)> =
        session.get_entries().map(|entry| (entry.offset(), entry.size())).collect();
    for (offset, line) in good {
        prop_assert!(places.contains(&(*offset, line.len() as u64)), "lost at {}: {}", offset, line);
    }
    Snapshot::of(session).check_tree().map_err(TestCaseError::fail)
}

fn questions(session: &SessionManager) -> Result<(), TestCaseError> {
    for entry in session.get_entries() {
        let read = entry.read().unwrap();
        prop_assert!(
            serde_json::from_str::<&serde_json::value::RawValue>(read.json()).is_ok(),
            "{}",
            read.json()
        );
        let id = read.id().to_string();
        prop_assert!(!session.get_branch(Some(&id)).is_empty());
        let context = session.build_session_context(At::Entry(&id)).unwrap();
        for message in context.messages() {
            let json = message.unwrap().json;
            prop_assert!(serde_json::from_str::<&serde_json::value::RawValue>(&json).is_ok(), "{json}");
        }
        let input: Vec<_> =
            context.model_messages().map(|message| common::questions::value(&message.unwrap())).collect();
        prop_assert_eq!(common::pairs::unpaired(&input), None);
    }
    session.get_session_stats().unwrap();
    session.get_user_messages_for_branching().unwrap();
    Ok(())
}

/// What stood there stays, or, in an old version, is kept beside it.
fn appends(session: &mut SessionManager, path: &Path, bytes: &[u8]) -> Result<(), TestCaseError> {
    let appended = session.append_message(r#"{"role":"user","content":"appended"}"#);
    let now = std::fs::read(path).unwrap();
    match appended {
        Err(_) => prop_assert_eq!(now, bytes, "refused, but changed"),
        Ok(_) if now.starts_with(bytes) => {}
        Ok(_) => {
            let folder = std::fs::read_dir(path.parent().unwrap()).unwrap();
            let kept =
                folder.map(|file| std::fs::read(file.unwrap().path()).unwrap()).any(|kept| kept == bytes);
            prop_assert!(kept, "the file was written anew, and its old bytes are nowhere");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(common::cases(600))]

    #[test]
    fn good_lines_survive_damage_around_them(
        mutations in proptest::collection::vec(mutation(), 1..6),
        final_newline in any::<bool>(),
        crlf in any::<bool>(),
    ) {
        let end = if crlf { "\r\n" } else { "\n" };
        let mut bytes = LINES.join(end).into_bytes();
        if final_newline {
            bytes.extend_from_slice(end.as_bytes());
        }
        for mutation in &mutations {
            mutation.apply(&mut bytes);
        }
        survives(&bytes)?;
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..3000)) {
        survives(&bytes)?;
    }

    #[test]
    fn bytes_of_json_are_read_or_refused(
        pieces in proptest::collection::vec(
            prop::sample::select(vec![
                "{", "}", "[", "]", "\"", "\\", ",", ":", "\n", " ", "null", "1e5", "\"type\":", "\"message\"",
                "\"session\"", "\"id\":", "\"a\"", "\"parentId\":", "\"timestamp\":", "\"label\"", "\"targetId\":\"a\"",
                "\"version\":", "2", "3", "\"leaf\"", "\\u00", "\u{feff}", "\r", "{\"type\":\"message\",\"id\":\"a\"",
                "{\"type\":\"session\",\"id\":\"s\"}\n", "\"role\":\"user\"", "\"firstKeptEntryIndex\":1",
            ]),
            0..60,
        ),
        header in any::<bool>(),
    ) {
        let start = if header { "{\"type\":\"session\",\"id\":\"s\"}\n" } else { "" };
        survives((start.to_owned() + &pieces.concat() + "\n").as_bytes())?;
    }
}

//! Corners where two rules of the contract meet.
#![allow(clippy::unwrap_used, reason = "a test may fail this way")]

mod common;

use std::path::Path;

use common::{questions, scratch};
use ramal_session::{AppendError, At, Compaction, Format, Kind, NewEntry, SessionManager};

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
const MESSAGE: &str = r#"{"role":"user","content":"appended"}"#;

/// An entry with its own fields, as JSON text behind a comma.
fn entry(kind: &str, id: &str, parent: Option<&str>, fields: &str) -> String {
    let parent = parent.map_or("null".into(), |parent| format!("\"{parent}\""));
    format!(
        r#"{{"type":"{kind}","id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:01.000Z"{fields}}}"#
    )
}

fn user(id: &str, parent: Option<&str>) -> String {
    entry("message", id, parent, &format!(r#","message":{{"role":"user","content":"{id}"}}"#))
}

fn log(lines: &[&str]) -> String {
    lines.join("\n") + "\n"
}

/// Writes a log and opens it.
fn open(root: &Path, text: impl AsRef<[u8]>) -> SessionManager {
    let path = root.join("session.jsonl");
    common::write_old(&path, text.as_ref());
    SessionManager::open(&path, None).unwrap()
}

fn again(session: &SessionManager) -> SessionManager {
    SessionManager::open(session.get_session_file().unwrap(), None).unwrap()
}

#[test]
fn a_long_chain_of_leaf_entries_is_followed_once() {
    let (_folder, root) = scratch();
    let mut text = log(&[HEADER, &user("a", None)]);
    let mut target = String::from("a");
    for number in 0..60_000 {
        let id = format!("l{number}");
        text += &entry("leaf", &id, None, &format!(r#","targetId":"{target}""#));
        text.push('\n');
        target = id;
    }
    let session = open(&root, &text);
    assert_eq!(questions::leaf(&session).as_deref(), Some("a"));
    // The same, and it leads nowhere.
    let session = open(&root, text.replace("\"a\"", "\"b\"").replacen("\"b\"", "\"a\"", 1));
    assert_eq!(questions::leaf(&session).as_deref(), Some("a"));
    // And in a circle.
    let session = open(&root, text.replacen("\"targetId\":\"a\"", "\"targetId\":\"l59999\"", 1));
    assert_eq!(questions::leaf(&session).as_deref(), Some("a"));
}

#[test]
fn moving_by_an_entry_that_leads_nowhere_is_refused() {
    let (_folder, root) = scratch();
    let lost = entry("leaf", "l", Some("a"), r#","targetId":"gone""#);
    let mut session = open(&root, log(&[HEADER, &user("a", None), &lost]));
    assert!(session.branch("l").is_err());
    let moved = session.append(&NewEntry::new("leaf").text("targetId", "l"));
    assert!(matches!(moved, Err(AppendError::NoSuchEntry(_))), "{moved:?}");
    assert_eq!(questions::leaf(&session).as_deref(), Some("a"));
}

#[test]
fn what_would_damage_the_log_is_refused_before_it_is_written() {
    let (_folder, root) = scratch();
    let text = log(&[HEADER, &user("a", None)]);
    for mut session in [open(&root, &text), SessionManager::in_memory("/w")] {
        let count = session.entry_count();
        for bad in [
            NewEntry::new("custom").json("data", "}{"),
            NewEntry::new("custom").json("data", "1,\"x\":2"),
            NewEntry::new("custom").json("data", ""),
            NewEntry::new("custom").text("id", "mine"),
            NewEntry::new("custom").json("parentId", "null"),
            NewEntry::new("custom").text("timestamp", "2026-01-01T00:00:01.000Z"),
            NewEntry::new("custom").text("type", "message"),
            NewEntry::new("session").text("id", "mine"),
            NewEntry::new("title").text("title", "x"),
        ] {
            let refused = session.append(&bad);
            assert!(matches!(refused, Err(AppendError::BadEntry { .. })), "{bad:?}: {refused:?}");
        }
        assert!(session.append_custom_entry("x", Some("{")).is_err());
        assert!(session.append_custom_message_entry("x", "oops", true, None).is_err());
        assert!(session.branch_with_summary(None, "x", Some("oops"), None).is_err());
        assert_eq!((session.entry_count(), session.damaged_lines()), (count, 0));
        let id = session.append_message(MESSAGE).unwrap();
        assert_eq!(session.get_entry(&id).unwrap().position(), count);
    }
    let bytes = std::fs::read_to_string(root.join("session.jsonl")).unwrap();
    assert_eq!(bytes.lines().count(), 3);
    assert!(bytes.starts_with(&text));
}

#[test]
fn made_up_ids_are_the_same_read_at_once_or_in_pieces() {
    let (_folder, root) = scratch();
    let nameless = r#"{"type":"custom","customType":"x","timestamp":"2026-01-01T00:00:01.000Z"}"#;
    let no_type = r#"{"id":"no type"}"#;
    let mut session = open(&root, log(&[HEADER, &user("a", None)]));
    let path = session.get_session_file().unwrap().to_owned();
    common::append(
        &path,
        log(&[no_type, nameless, "damaged", nameless, r#"{"type":"session"}"#, nameless]).as_bytes(),
    );
    session.refresh().unwrap();
    assert_eq!(questions::ids(session.get_entries()), questions::ids(again(&session).get_entries()));

    let mut session = SessionManager::create(Path::new("/w"), Some(&root)).unwrap();
    session.append_message(MESSAGE).unwrap();
    let path = session.get_session_file().unwrap().to_owned();
    common::append(&path, log(&[nameless, no_type, nameless]).as_bytes());
    session.refresh().unwrap();
    assert_eq!(questions::ids(session.get_entries()), questions::ids(again(&session).get_entries()));
}

#[test]
fn the_index_of_an_old_compaction_counts_from_the_header() {
    let old = r#"{"type":"session","id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w"}"#;
    let title = r#"{"type":"title","v":1,"title":"Named","source":"user","updatedAt":"2026-01-01T00:00:00.000Z","pad":"  "}"#;
    let message = |text: &str| {
        format!(
            r#"{{"type":"message","timestamp":"2025-01-01T00:00:01.000Z","message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    let compaction = r#"{"type":"compaction","timestamp":"2025-01-01T00:00:02.000Z","summary":"sum","firstKeptEntryIndex":2,"tokensBefore":1}"#;
    let (one, two) = (message("one"), message("two"));
    for before in [vec![], vec![title]] {
        let lines = [before, vec![old, &one, &two, compaction]].concat();
        let (_folder, root) = scratch();
        let mut session = open(&root, format!("\u{feff}{}\r\n", lines.join("\r\n")));
        let kept = |session: &SessionManager| {
            let context = session.build_session_context(At::Leaf).unwrap();
            let texts: Vec<String> =
                context.messages().map(|m| m.unwrap().entry.read().unwrap().text()).collect();
            texts
        };
        assert_eq!(kept(&session), ["sum", "two"]);
        let ids = questions::ids(session.get_entries());
        session.append_message(MESSAGE).unwrap();
        assert_eq!(*session.format(), Format::Three);
        assert_eq!(questions::ids(session.get_entries())[..3], ids);
        let again = again(&session);
        assert_eq!(kept(&again), ["sum", "two", "appended"]);
        assert_eq!(again.get_session_name().is_some(), lines.len() == 5);
    }
}

#[test]
fn a_failed_summary_leaves_one_where_one_stood_though_the_log_was_read_anew() {
    let (_folder, root) = scratch();
    let lines: Vec<String> = (0..9).map(|n| user(&format!("m{n}"), None)).collect();
    let mut text = log(&[HEADER]);
    lines.iter().for_each(|line| text += &log(&[line]));
    let mut session = open(&root, &text);
    let path = session.get_session_file().unwrap().to_owned();
    // Another file continues the session, but takes no entries: it is in a later version.
    let shorter = log(&[&HEADER.replace("\"version\":3", "\"version\":4"), &lines[0], &lines[8]]);
    common::write_old(&root.join("other"), shorter.as_bytes());
    std::fs::rename(root.join("other"), &path).unwrap();
    for summary in [true, false] {
        let failed = match summary {
            true => session.branch_with_summary(Some("m0"), "x", None, None).is_err(),
            false => session.navigate("m0", Some("label")).is_err(),
        };
        assert!(failed);
        assert_eq!(questions::leaf(&session).as_deref(), Some("m8"));
    }
}

#[test]
fn before_a_message_that_hangs_on_a_leaf_entry_is_where_that_leads() {
    let (_folder, root) = scratch();
    let leaf = entry("leaf", "l", Some("b"), r#","targetId":"a""#);
    let lines = [HEADER, &user("a", None), &user("b", Some("a")), &leaf, &user("c", Some("l"))];
    let mut session = open(&root, log(&lines));
    session.branch("b").unwrap();
    session.navigate("c", None).unwrap();
    assert_eq!(questions::leaf(&session).as_deref(), Some("a"));
}

#[test]
fn a_copy_opened_again_stands_where_it_stood() {
    let (_folder, root) = scratch();
    let leaf = entry("leaf", "l", Some("b"), r#","targetId":"a""#);
    let text = log(&[HEADER, &user("a", None), &user("b", Some("a")), &leaf]);
    for end in ["l", "b"] {
        let mut session = open(&root, &text);
        session.create_branched_session(end).unwrap();
        assert_eq!(questions::leaf(&session), questions::leaf(&again(&session)), "{end}");
    }
}

#[test]
fn an_empty_file_that_appears_is_no_other_session() {
    let (_folder, root) = scratch();
    let mut session = SessionManager::create(Path::new("/w"), Some(&root)).unwrap();
    let path = session.get_session_file().unwrap().to_owned();
    common::write_old(&path, b"");
    session.append_message(MESSAGE).unwrap();
    assert_eq!(again(&session).entry_count(), 1);
}

#[test]
fn nothing_kept_is_written_as_the_own_id() {
    let mut session = SessionManager::in_memory("/w");
    session.append_message(MESSAGE).unwrap();
    let id = session.append_compaction(&Compaction { summary: "s", ..Compaction::default() }).unwrap();
    let entry = session.get_entry(&id).unwrap().read().unwrap();
    assert_eq!(entry.get_str("firstKeptEntryId").as_deref(), Some(&*id));
}

#[test]
fn times_in_every_form_of_the_contract() {
    for text in [
        "2026-01-01T00:00:01Z",
        "2026-01-01T00:00:01.5Z",
        "2026-01-01T00:00:01.123456789012345Z",
        "2026-01-01T00:00:01.123456789012345",
        "2026-01-01T01:00:01.123456789012345+01:00",
        "2026-01-01T00:00Z",
        "2026-01-01T00:00",
        "2026-01-01 00:00:01",
        "2026-01-01T01:00:01+0100",
        "2026-01-01T01:00:01+01",
        "20260101T000001Z",
        "2026-01-01",
        "2026-01-01T00:00:01,5Z",
    ] {
        let time = ramal_session::time::parse(text);
        let begin = 1_767_225_600_000;
        assert!(time.is_some_and(|time| (begin..begin + 2000).contains(&time)), "{text}: {time:?}");
    }
    for text in ["1767225600000", "1767225600", "", "  ", "T", "2026", "2026-01-01T", "2026-13-01", "now"] {
        assert_eq!(ramal_session::time::parse(text), None, "{text}");
    }
}

#[test]
fn a_line_as_long_as_the_buffer_reads_as_any_other() {
    let (_folder, root) = scratch();
    for size in (256 * 1024 - 3..=256 * 1024 + 3).chain(1024 * 1024 - 3..=1024 * 1024 + 3) {
        for end in ["\n", "\r\n", "", "\r"] {
            for mark in ["", "\u{feff}"] {
                let line = user("a", None);
                let pad = "x".repeat(size - line.len());
                let line = line.replace("content\":\"", &format!("content\":\"{pad}"));
                let next = if end.contains('\n') { log(&[&user("b", Some("a"))]) } else { String::new() };
                let session = open(&root, format!("{mark}{HEADER}\n{line}{end}{next}"));
                assert_eq!(session.damaged_lines(), 0, "{size} {end:?}");
                assert_eq!(session.get_raw("a").unwrap().unwrap().len(), size, "{size} {end:?}");
                assert_eq!(session.entry_count(), 1 + usize::from(!next.is_empty()));
            }
        }
    }
}

#[test]
fn a_line_that_ends_later_reads_as_if_it_had_ended_at_once() {
    let (_folder, root) = scratch();
    for big in [1, 300 * 1024] {
        let line = user("a", None).replace("content\":\"", &format!("content\":\"{}", "x".repeat(big)));
        for (first, later) in [
            ("", "\n"),
            ("", "\r\n"),
            ("\r", "\n"),
            (" ", "\n"),
            ("", " \n"),
            ("\r", "\r\n"),
            ("", "x\n"),
            ("", "{}\n"),
            (" ", "\r"),
        ] {
            let mut session = open(&root, format!("{HEADER}\n{line}{first}"));
            let path = session.get_session_file().unwrap().to_owned();
            let later = format!(
                "{later}{}\n",
                if later.ends_with('\n') { user("b", Some("a")) } else { String::new() }
            );
            common::append(&path, later.as_bytes());
            session.refresh().unwrap();
            let fresh = again(&session);
            let told = |s: &SessionManager| {
                (questions::ids(s.get_entries()), s.damaged_lines(), s.get_raw("a").unwrap())
            };
            assert_eq!(told(&session), told(&fresh), "{big} {first:?} {later:?}");
            session.append_message(MESSAGE).unwrap();
            let fresh = again(&session);
            assert_eq!(told(&session), told(&fresh), "{big} {first:?} {later:?}");
        }
    }
}

#[test]
fn the_header_may_stand_in_the_sixteenth_line_and_no_further() {
    let (_folder, root) = scratch();
    let title = r#"{"type":"title","title":"T"}"#;
    for (before, found) in [(15, true), (16, false)] {
        for foreign in ["damaged", title, "{}", r#"{"type":"session"}"#] {
            let mut lines = vec![foreign; before];
            let entry = user("a", None);
            lines.extend(["", HEADER, &entry]);
            let session = open(&root, log(&lines).replace('\n', "\n \n"));
            assert_eq!(session.get_header().is_made_up(), !found, "{before} {foreign}");
            assert!(session.get_entry("a").is_some());
        }
    }
}

/// A number that follows from those before it.
fn next(seed: &mut u64) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) as usize
}

/// A log of entries whose ids and references come from a small pool.
fn tangled(seed: &mut u64, ids: usize, count: usize) -> String {
    let mut text = log(&[HEADER]);
    for number in 0..count {
        let id = format!("i{}", next(seed) % ids);
        let parent = match next(seed) % 8 {
            0 => None,
            _ => Some(format!("i{}", next(seed) % ids)),
        };
        let target = format!("i{}", next(seed) % ids);
        let (kind, fields) = match next(seed) % 12 {
            0 => ("label", format!(r#","targetId":"{target}","label":"L{number}""#)),
            1 => ("label", format!(r#","targetId":"{target}""#)),
            2 => ("leaf", format!(r#","targetId":"{target}""#)),
            3 => (
                "compaction",
                format!(r#","summary":"S{number}","firstKeptEntryId":"{target}","tokensBefore":1"#),
            ),
            4 => {
                ("context_edit", format!(r#","targetId":"{target}","replacement":{{"content":"E{number}"}}"#))
            }
            5 => ("custom", r#","customType":"x""#.to_owned()),
            6 => ("reset_boundary", String::new()),
            _ => ("message", format!(r#","message":{{"role":"user","content":"M{number}"}}"#)),
        };
        text += &log(&[&entry(kind, &id, parent.as_deref(), &fields)]);
    }
    text
}

fn context(session: &SessionManager) -> Vec<String> {
    let context = session.build_session_context(At::Leaf).unwrap();
    context.messages().map(|message| message.unwrap().json).collect()
}

/// What is labelled on the path, less labels themselves, and how.
fn labels(session: &SessionManager) -> Vec<(Kind, String, String)> {
    let branch = session.get_branch(None).into_iter().filter(|entry| entry.kind() != Kind::Label);
    let labelled = branch
        .filter_map(|entry| Some((entry.kind(), entry.read().unwrap().text(), entry.label()?.to_owned())));
    let mut labels: Vec<_> = labelled.collect();
    labels.sort_by_key(|(_, text, label)| (text.clone(), label.clone()));
    labels
}

#[test]
fn a_copy_means_what_its_source_means() {
    let (_folder, root) = common::light_scratch();
    let mut seed = 7;
    for round in 0..1000 {
        let ids = [30, 12, 6][round % 3];
        let text = tangled(&mut seed, ids, 16);
        let mut session = open(&root, &text);
        let target = format!("i{}", next(&mut seed) % ids);
        if session.branch(&target).is_err() || session.get_leaf_entry().is_none() {
            continue;
        }
        let leaf = questions::leaf(&session).unwrap();
        let (before, labelled) = (context(&session), labels(&session));
        session.clone_session().unwrap();
        assert_eq!(context(&session), before, "{round}: to {leaf} in\n{text}");
        assert_eq!(labels(&session), labelled, "{round}: to {leaf} in\n{text}");
        let again = again(&session);
        assert_eq!(questions::tree(&again), questions::tree(&session));
        // Behind a moved position a record of a program does not decide where one stands.
        if session.get_branch(None).iter().all(|entry| entry.kind() != Kind::Leaf) {
            assert_eq!(questions::leaf(&again), questions::leaf(&session), "{round}: to {leaf} in\n{text}");
        }
        assert!(
            again.get_entries().all(|entry| entry.irregular().is_none()),
            "{round}: to {leaf} in\n{text}"
        );
        std::fs::remove_file(session.get_session_file().unwrap()).unwrap();
    }
}

#[test]
fn in_memory_as_in_a_file() {
    let (_folder, root) = common::light_scratch();
    let mut seed = 11;
    for _ in 0..100 {
        let mut file = SessionManager::create(Path::new("/w"), Some(&root)).unwrap();
        let mut memory = SessionManager::in_memory("/w");
        let mut ids: Vec<(String, String)> = Vec::new();
        for number in 0..20 {
            let at = (!ids.is_empty()).then(|| ids[next(&mut seed) % ids.len()].clone());
            let choice = next(&mut seed) % 7;
            let apply = |session: &mut SessionManager, at: Option<&str>| match (choice, at) {
                (0, Some(at)) => session.append_label_change(at, Some(&format!("L{number}"))),
                (1, Some(at)) => session.branch_with_summary(Some(at), "sum", None, None),
                (2, Some(at)) => session.append(&NewEntry::new("leaf").text("targetId", at)),
                (3, Some(at)) => session.append_context_edit(at, Some("\"edited\"")),
                (4, Some(at)) => session.append_compaction(&Compaction {
                    summary: "c",
                    first_kept_entry_id: at,
                    ..Compaction::default()
                }),
                (5, Some(at)) => {
                    session.branch(at).unwrap();
                    session.append_custom_entry("x", Some("[1.0,1e400,12345678901234567890]"))
                }
                _ => session.append_message(&format!(
                    r#"{{"role":"user","content":"m{number} \ud83d {} \u2028"}}"#,
                    '\u{2028}'
                )),
            };
            let one = apply(&mut file, at.as_ref().map(|at| &*at.0)).unwrap();
            let two = apply(&mut memory, at.as_ref().map(|at| &*at.1)).unwrap();
            ids.push((one.to_string(), two.to_string()));
        }
        let shape = |session: &SessionManager| {
            let row = |(depth, entry): (usize, ramal_session::EntryRef<'_>)| {
                (depth, entry.position(), entry.label().map(str::to_owned))
            };
            let rows: Vec<_> = questions::walk(session).into_iter().map(row).collect();
            let leaf = session.get_leaf_entry().map(|leaf| leaf.position());
            let said: Vec<_> =
                context(session).iter().map(|json| ramal_session::Message::new(json).text()).collect();
            (rows, leaf, said)
        };
        assert_eq!(shape(&file), shape(&memory));
        if !file.is_on_disk() {
            continue;
        }
        // A record of a program that hangs elsewhere does not decide where one stands.
        let (old, new) = (shape(&file), shape(&again(&file)));
        assert_eq!((new.0, new.1), (old.0, new.1));
    }
}

#[test]
fn results_find_their_calls_and_everything_sent_is_a_pair() {
    let (_folder, root) = scratch();
    let answer = |id: &str, parent: &str, calls: &[&str], more: &str| {
        let calls: Vec<String> = calls
            .iter()
            .map(|call| format!(r#"{{"type":"toolCall","id":"{call}","name":"t","arguments":{{}}}}"#))
            .collect();
        let message = format!(r#","message":{{"role":"assistant","content":[{}]{more}}}"#, calls.join(","));
        entry("message", id, Some(parent), &message)
    };
    let result = |id: &str, parent: &str, call: &str| {
        let message = format!(r#","message":{{"role":"toolResult","toolCallId":"{call}","content":"{id}"}}"#);
        entry("message", id, Some(parent), &message)
    };
    let lines = [
        HEADER,
        &user("a", None),
        &result("r0", "a", "c1"),
        &answer("b", "r0", &["c1", "c2", "c1"], ""),
        &result("r2", "b", "c2"),
        &user("u", Some("r2")),
        &answer("e", "u", &[], ""),
        &result("r1", "e", "c1"),
        &result("r3", "r1", "c1"),
        &answer("d", "r3", &["c1"], r#","stopReason":"aborted""#),
        &entry("label", "l", Some("d"), r#","targetId":"d","label":"x""#),
    ];
    let session = open(&root, log(&lines));
    let sent = |at: At<'_>| {
        let context = session.build_session_context(at).unwrap();
        let told = |json: String| {
            let message = ramal_session::Message::new(&json);
            let call = message.get_str("toolCallId").map(|call| call.into_owned());
            call.map_or_else(|| message.text(), |call| format!("{call} {}", message.is_error()))
        };
        context.model_messages().map(|message| told(message.unwrap())).collect::<Vec<_>>()
    };
    let all = ["a", "", "c1 false", "c2 false", "u", "", "c1 true"];
    assert_eq!(sent(At::Leaf), all);
    assert_eq!(sent(At::Entry("d")), all);
    assert_eq!(sent(At::Entry("b")), ["a", "", "c1 true", "c2 true"]);
    assert_eq!(sent(At::Entry("u")), ["a", "", "c1 true", "c2 false", "u"]);
    assert_eq!(sent(At::BeforeFirst), [""; 0]);
}

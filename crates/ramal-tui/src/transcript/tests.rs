//! Drawings of conversations, and of such as go on.

mod live;
mod paths;

use jiff::Timestamp;
use ramal_session::json::quote;
use ramal_session::{LogTail, NewEntry, SessionManager};

use super::*;
use crate::text::width;
use crate::theme::Role;

const NOW: &str = "2026-03-04T12:00:00Z";

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

fn user(text: &str) -> String {
    format!(r#"{{"role":"user","content":{}}}"#, quote(text))
}

fn answer(content: &str, stop: &str) -> String {
    format!(r#"{{"role":"assistant","content":[{content}],"stopReason":"{stop}"}}"#)
}

fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, quote(text))
}

fn thinking(text: &str) -> String {
    format!(r#"{{"type":"thinking","thinking":{}}}"#, quote(text))
}

fn call(id: &str, name: &str, arguments: &str) -> String {
    format!(r#"{{"type":"toolCall","id":"{id}","name":"{name}","arguments":{arguments}}}"#)
}

fn result(id: &str, name: &str, text: &str, more: &str) -> String {
    format!(
        r#"{{"role":"toolResult","toolCallId":"{id}","toolName":"{name}","content":[{{"type":"text","text":{}}}]{more}}}"#,
        quote(text)
    )
}

const DIFF: &str = r#","details":{"diff":" 1 fn zone() {\n-2     drop()\n+2     keep()\n+3     // \u001b[31m\n 4 }"},"isError":false"#;

/// A session with everything in it that can be shown.
fn everything() -> SessionManager {
    let mut session = SessionManager::in_memory("/work");
    session.append_model_change("openai", "gpt-4o", None).unwrap();
    session.append_thinking_level_change(Some("high")).unwrap();
    let first = session.append_message(r#"{"role":"user","content":[{"type":"text","text":"The date parser drops the time zone.\nFind out why, see the picture."},{"type":"image","data":"AAAAAAAA","mimeType":"image/png"}]}"#).unwrap();
    let parts = [
        thinking("The user wants **the parser**."),
        text("I'll look at `date.rs` first:\n\n1. the offset\n2. the *zone*"),
        call("c1", "read", r#"{"path":"/work/src/date.rs","offset":10,"limit":20}"#),
        call("c2", "bash", r#"{"command":"cargo test -p dates -- zone\necho done"}"#),
        call("c3", "edit", r#"{"path":"src/date.rs","oldText":"drop()","newText":"keep()"}"#),
        call("c4", "grep", r#"{"pattern":"fn zone","path":"src"}"#),
        call("c5", "find", r#"{"pattern":"*.rs"}"#),
    ];
    session.append_message(&answer(&parts.join(","), "toolUse")).unwrap();
    session.append_message(&result("c1", "read", "one\ntwo\nthree", "")).unwrap();
    session
        .append_message(&result(
            "c2",
            "bash",
            "error[E0308]: mismatched types\n\n[The command ended with exit code 101.]",
            r#","details":{"exitCode":101},"isError":true"#,
        ))
        .unwrap();
    session.append_message(&result("c3", "edit", "Replaced 1 text in src/date.rs.", DIFF)).unwrap();
    session
        .append_message(&result(
            "c4",
            "grep",
            "src is no folder of the project that could be searched through",
            r#","isError":true"#,
        ))
        .unwrap();
    session
        .append_message(r#"{"role":"bashExecution","command":"git status","output":"clean\n","exitCode":0}"#)
        .unwrap();
    session.append_message(r#"{"role":"bashExecution","command":"make secret","output":"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12","exitCode":2,"excludeFromContext":true,"fullOutputPath":"/tmp/out.txt"}"#).unwrap();
    session
        .append(
            &NewEntry::new("compaction")
                .text("summary", "## Goal\nFix the zone.\n\n- done: parser")
                .json("tokensBefore", "34567")
                .text("firstKeptEntryId", &first),
        )
        .unwrap();
    session
        .append(
            &NewEntry::new("branch_summary")
                .text("summary", "Tried to rewrite it.\nGave up.")
                .text("fromId", &first),
        )
        .unwrap();
    session.append_custom_message_entry("reviewer", &quote("Looks **good**."), true, None).unwrap();
    session.append_custom_message_entry("quiet", &quote("unseen"), false, None).unwrap();
    session.append_message(&result("lost", "read", "no call", "")).unwrap();
    session.append_message(r#"{"role":"assistant","content":[],"stopReason":"error","errorMessage":"overloaded:\nthe server has too much to do"}"#).unwrap();
    session.append_message(&answer(&text("Half an ans"), "aborted")).unwrap();
    session
}

fn drawn(lines: &[Line<'_>]) -> String {
    let text = |line: &Line<'_>| line.spans.iter().map(|span| &*span.content).collect::<String>();
    lines.iter().map(|line| text(line) + "\n").collect()
}

fn whole(session: &SessionManager) -> Transcript {
    let mut transcript = Transcript::at_leaf(session);
    transcript.read_more(session, usize::MAX).unwrap();
    transcript
}

#[track_caller]
fn same(got: &str, want: &str) {
    let want = want.strip_prefix('\n').unwrap_or(want);
    assert_eq!(got, want, "\n--- got\n{got}\n--- want\n{want}");
}

#[track_caller]
fn check_at(columns: usize, open: bool, want: &str) {
    let session = everything();
    let options = Options { open, ..Options::at(now()) };
    let lines = lines(whole(&session).blocks(), columns, &Theme::dark(), &options);
    for line in &lines {
        assert!(line.width() <= columns, "{line:?}");
    }
    same(&drawn(&lines), want);
}

#[test]
fn everything_at_40() {
    check_at(40, false, include_str!("drawings/closed-40.txt"));
    check_at(40, true, include_str!("drawings/open-40.txt"));
}

#[test]
fn everything_at_80() {
    check_at(80, false, include_str!("drawings/closed-80.txt"));
    check_at(80, true, include_str!("drawings/open-80.txt"));
}

#[test]
fn everything_at_120() {
    check_at(120, false, include_str!("drawings/closed-120.txt"));
    check_at(120, true, include_str!("drawings/open-120.txt"));
}

#[test]
fn any_size_will_do() {
    let session = everything();
    let transcript = whole(&session);
    for columns in 0..60 {
        for open in [false, true] {
            let options = Options { open, ..Options::at(now()) };
            for line in lines(transcript.blocks(), columns, &Theme::plain(), &options) {
                let wide: usize = line.spans.iter().map(|span| width::width(&span.content)).sum();
                assert!(wide <= columns.max(1), "{columns}: {line:?}");
                assert!(!line.spans.iter().any(|span| span.content.chars().any(char::is_control)));
            }
        }
    }
}

/// A session in which somebody went back: three answers to the same question, the second one labelled.
fn forked() -> SessionManager {
    let mut session = SessionManager::in_memory("/work");
    let question = session.append_message(&user("Why?")).unwrap();
    session.append_message(&answer(&text("First."), "stop")).unwrap();
    session.branch(&question).unwrap();
    let second = session.append_message(&answer(&text("Second."), "stop")).unwrap();
    session.append_message(&user("go on")).unwrap();
    session.append_message(&answer(&call("c", "read", r#"{"path":"a.rs"}"#), "toolUse")).unwrap();
    session.append_message(&result("c", "read", "x", "")).unwrap();
    let leaf = session.get_leaf_id().unwrap().unwrap();
    session.branch(&question).unwrap();
    session.append_message(&answer(&text("Third."), "stop")).unwrap();
    session.branch(&leaf).unwrap();
    session.append_label_change(&second, Some("good one")).unwrap();
    session
}

#[test]
fn forks_and_labels_stand_beside_their_entries() {
    let session = forked();
    let options = Options::at(now());
    let draw = |columns| drawn(&lines(whole(&session).blocks(), columns, &Theme::dark(), &options));
    same(
        &draw(40),
        "
❯ Why?

Second. ‹2/3› [good one]

❯ go on

✓ read a.rs · 1 line
",
    );
    same(
        &draw(20),
        "
❯ Why?

‹2/3› [good one]
Second.

❯ go on

✓ read a.rs · 1 line
",
    );
    let blocks = whole(&session);
    let marked = blocks.blocks().find(|block| block.label().is_some()).unwrap();
    assert_eq!(marked.siblings(), Some(Forks { index: 2, count: 3 }));
    assert_eq!(blocks.find(marked.entry_id().unwrap()), Some(1));
}

#[test]
fn what_is_not_shown_passes_its_fork_on() {
    let mut session = SessionManager::in_memory("/work");
    let question = session.append_message(&user("Why?")).unwrap();
    session.append_message(&answer(&text("First."), "stop")).unwrap();
    session.branch(&question).unwrap();
    session.append_custom_entry("bookkeeping", None).unwrap();
    session.append_message(&answer(&text("Second."), "stop")).unwrap();
    let options = Options::at(now());
    let lines = lines(whole(&session).blocks(), 40, &Theme::dark(), &options);
    assert!(drawn(&lines).contains("Second. ‹2/2›"), "{}", drawn(&lines));
}

#[test]
fn a_result_leads_to_its_call() {
    let session = forked();
    let result = session.get_entries().find(|entry| entry.role() == ramal_session::Role::ToolResult).unwrap();
    let transcript = whole(&session);
    let number = transcript.find(&result.id().unwrap()).unwrap();
    assert!(transcript.get(number).unwrap().is_openable());
    assert_eq!(transcript.find("nowhere"), None);
}

#[test]
fn only_the_end_of_a_long_path_is_read() {
    let mut session = SessionManager::in_memory("/work");
    for number in 0..3000 {
        session.append_message(&user(&format!("question {number}"))).unwrap();
    }
    let mut transcript = Transcript::at_leaf(&session);
    let options = Options::at(now());
    let lines = transcript.read_lines(&session, 20, 40, &Theme::dark(), &options).unwrap();
    assert!(lines.len() >= 20);
    assert_eq!(drawn(&lines[lines.len() - 1..]), "❯ question 2999\n");
    assert!(transcript.blocks().len() < 100 && !transcript.is_whole());
    let more = transcript.read_more(&session, 50).unwrap();
    assert_eq!(more, 50);
    transcript.read_more(&session, usize::MAX).unwrap();
    assert_eq!((transcript.blocks().len(), transcript.is_whole()), (3000, true));
}

#[test]
fn the_end_of_a_log_shows_the_end_of_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let (theme, options) = (Theme::dark(), Options::at(now()));
    let mut cut = 0;
    for session in [everything(), forked()] {
        let entries = session.get_entries().map(|entry| entry.read().unwrap().json().to_owned() + "\n");
        let log = session.get_header().json().to_owned() + "\n" + &entries.collect::<String>();
        fs_write(&path, &log);
        let whole = whole(&SessionManager::open(&path, None).unwrap());
        let all = drawn(&lines(whole.blocks(), 80, &theme, &options));
        for bytes in (1..log.len() as u64 + 40).step_by(37) {
            let tail = LogTail::open(&path, bytes).unwrap().unwrap();
            for rows in [3, 1000] {
                let lines = Transcript::lines_of_tail(&tail, rows, 80, &theme, &options).unwrap();
                let Some(lines) = lines else { continue };
                let end = drawn(&lines);
                assert!(all.ends_with(&end), "{bytes}\n{end}\n--- all\n{all}");
                assert!(lines.len() >= rows || bytes < log.len() as u64 || end == all, "{bytes}");
                cut += usize::from(!end.is_empty() && end != all);
            }
        }
    }
    assert!(cut > 50, "{cut}");
}

#[test]
fn slices_do_not_part_calls_and_results() {
    let session = everything();
    let all = whole(&session);
    for slice in 1..8 {
        let mut transcript = Transcript::at_leaf(&session);
        while !transcript.is_whole() {
            transcript.read_more(&session, slice).unwrap();
        }
        assert_eq!(transcript.blocks().len(), all.blocks().len(), "{slice}");
        assert!(transcript.blocks().eq(all.blocks()), "{slice}");
    }
}

#[test]
fn what_is_appended_is_followed() {
    let mut session = SessionManager::in_memory("/work");
    let question = session.append_message(&user("Why?")).unwrap();
    let mut transcript = whole(&session);
    assert_eq!(transcript.follow(&session).unwrap(), Followed::On(0));
    session.append_message(&answer(&call("c", "read", r#"{"path":"a.rs"}"#), "toolUse")).unwrap();
    assert_eq!(transcript.follow(&session).unwrap(), Followed::On(1));
    // The result belongs to a block that is there.
    session.append_message(&result("c", "read", "x", "")).unwrap();
    assert_eq!(transcript.follow(&session).unwrap(), Followed::On(0));
    session.append_message(&answer(&text("Because."), "stop")).unwrap();
    assert_eq!(transcript.follow(&session).unwrap(), Followed::On(1));
    assert!(transcript.blocks().eq(whole(&session).blocks()));
    session.append_label_change(&question, Some("start")).unwrap();
    assert_eq!(transcript.follow(&session).unwrap(), Followed::On(0));
    transcript.refresh_marks(&session);
    assert!(transcript.blocks().eq(whole(&session).blocks()));
    session.branch(&question).unwrap();
    assert_eq!(transcript.follow(&session).unwrap(), Followed::Elsewhere);
    session.append_message(&answer(&text("Or not."), "stop")).unwrap();
    assert_eq!(transcript.follow(&session).unwrap(), Followed::Elsewhere);
}

#[test]
fn interrupted_turns_are_told() {
    let mut session = SessionManager::in_memory("/work");
    session.append_message(&user("Why?")).unwrap();
    session.append_message(&answer(&call("c", "read", r#"{"path":"a.rs"}"#), "toolUse")).unwrap();
    let mut transcript = whole(&session);
    transcript.tell_interruption(&session).unwrap();
    let lines = lines(transcript.blocks(), 200, &Theme::dark(), &Options::at(now()));
    let shown = drawn(&lines);
    assert!(shown.contains("✗ read a.rs · no result\n\n! A call of a tool has no result"), "{shown}");
}

#[test]
fn what_an_edit_wanted_is_shown_where_nothing_came_of_it() {
    let mut session = SessionManager::in_memory("/work");
    let calls = [
        call("c1", "edit", r#"{"path":"a.rs","oldText":"one\ntwo","newText":"three"}"#),
        call(
            "c2",
            "edit",
            r#"{"path":"b.rs","edits":[{"oldText":"x","newText":"y"},{"old_string":"","new_string":"z"}]}"#,
        ),
    ];
    session.append_message(&answer(&calls.join(","), "toolUse")).unwrap();
    let options = Options { open: true, ..Options::at(now()) };
    let theme = Theme::dark();
    let lines = lines(whole(&session).blocks(), 40, &theme, &options);
    same(
        &drawn(&lines),
        "
✗ edit a.rs · no result
  path: a.rs
  -one
  -two
  +three
✗ edit b.rs · no result
  path: b.rs
  -x
  +y
  +z
",
    );
    let look = |number: usize| lines[number].spans.last().unwrap().style;
    assert_eq!((look(2), look(4)), (theme.style(Role::Removed), theme.style(Role::Added)));
}

#[test]
fn thoughts_can_be_hidden() {
    let mut session = SessionManager::in_memory("/work");
    session.append_message(&answer(&[thinking("secret"), text("said")].join(","), "stop")).unwrap();
    let options = Options { hide_thinking: true, ..Options::at(now()) };
    same(&drawn(&lines(whole(&session).blocks(), 40, &Theme::dark(), &options)), "\nthinking…\n\nsaid\n");
}

#[test]
fn what_cannot_be_read_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let log = concat!(
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-03-04T09:00:00.000Z","cwd":"/work"}"#,
        "\n",
        r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-03-04T09:00:00.000Z","message":{"role":"user","content":oops}}"#,
        "\n",
        r#"{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-03-04T09:00:00.000Z","message":3}"#,
        "\n",
    );
    fs_write(&path, log);
    let session = SessionManager::open(&path, None).unwrap();
    let options = Options::at(now());
    same(
        &drawn(&lines(whole(&session).blocks(), 60, &Theme::dark(), &options)),
        "
✗ an entry that cannot be read: user a1

✗ a message without content: a2
",
    );
}

fn fs_write(path: &std::path::Path, text: &str) {
    use std::io::Write as _;
    std::fs::File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
}

#[test]
fn what_the_user_typed_is_shown_as_it_was_typed() {
    let mut session = SessionManager::in_memory("/work");
    let long: Vec<_> = (1..=50).map(|number| format!("line {number}")).collect();
    session.append_message(&user(&format!("# no *heading*\n\t\u{1b}[31m{}", long.join("\n")))).unwrap();
    let transcript = whole(&session);
    let block = transcript.get(0).unwrap();
    let closed = drawn(&block.lines(40, &Theme::dark(), &Options::at(now())));
    assert!(closed.starts_with("❯ # no *heading*\n      ␛[31mline 1\n  line 2\n"), "{closed}");
    assert!(closed.ends_with("  line 39\n  … 11 lines more\n"), "{closed}");
    assert!(block.is_openable());
    let open = drawn(&block.lines(40, &Theme::dark(), &Options { open: true, ..Options::at(now()) }));
    assert!(open.ends_with("  line 50\n"), "{open}");
}

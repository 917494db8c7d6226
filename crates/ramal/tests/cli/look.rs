//! Looking at a session: `tree`, `log`, `show`, `context`.

use std::io::Read as _;
use std::process::Stdio;

use serde_json::Value;

use crate::world::{World, sample, session, user};

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

#[test]
fn a_tree_as_json_has_a_line_for_each_row() {
    let world = World::new();
    let file = sample("date-parser.jsonl");
    let shown = world.run(["tree", &file, "--filter", "all", "--json"]).done();
    let lines = lines(&shown.out);
    assert_eq!(lines[0]["entryCount"], 69);
    assert_eq!(lines[0]["leafId"], "c578a324");
    assert_eq!(lines.len(), 70);
    let leaf: Vec<_> = lines[1..].iter().filter(|line| line["isLeaf"] == true).collect();
    assert_eq!((leaf.len(), &leaf[0]["id"]), (1, &lines[0]["leafId"]));
    // Each hangs on one that came before.
    for (at, line) in lines.iter().enumerate().skip(1) {
        let parent = &line["visibleParentId"];
        assert!(parent.is_null() || lines[1..at].iter().any(|above| above["id"] == *parent), "{line}");
    }
    let ugly = lines.iter().find(|line| line["label"] == "works, but ugly").unwrap();
    assert_eq!((ugly["id"].as_str(), ugly["isActive"].as_bool()), (Some("db0a699e"), Some(false)));
}

#[test]
fn a_search_that_finds_nothing_ends_with_1() {
    let world = World::new();
    let run = world.run(["tree", &sample("date-parser.jsonl"), "--search", "no such thing anywhere"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(run.out.contains("◀ leaf") && run.out.contains("Nothing else was found"), "{}", run.out);
    world.run(["tree", &sample("date-parser.jsonl"), "--search", "table 400 YEARS"]).done();
    world.run(["tree", &sample("date-parser.jsonl"), "--filter", "nonsense"]).failed(2, &["labeled-only"]);
}

#[test]
fn a_tree_from_another_leaf_moves_nothing() {
    let world = World::new();
    let file = sample("date-parser.jsonl");
    let before = std::fs::read(&file).unwrap();
    let other = world.run(["tree", &file, "--leaf", "works, but ugly"]).done();
    let marked = other.out.lines().find(|line| line.contains("◀ leaf")).unwrap();
    assert!(marked.contains("[works, but ugly]"), "{marked}");
    assert_eq!(std::fs::read(&file).unwrap(), before);
    let again = world.run(["tree", &file]).done();
    assert!(again.out.lines().any(|line| line.contains("◀ leaf") && line.contains("2026W535")));
}

#[test]
fn a_line_is_shown_to_the_byte() {
    let world = World::new();
    let file = sample("date-parser.jsonl");
    let log = std::fs::read_to_string(&file).unwrap();
    let line = log.lines().find(|line| line.contains("\"id\":\"b97d8761\"")).unwrap();
    assert_eq!(world.run(["show", "two cures", "--session", &file, "--raw"]).done().out, line);
    let shown = world.json(&["show", "b97d", "--session", &file]);
    assert_eq!(shown["entry"], serde_json::from_str::<Value>(line).unwrap());
    assert_eq!(shown["childIds"].as_array().unwrap().len(), 2);
    let (offset, length) =
        (shown["offset"].as_u64().unwrap() as usize, shown["length"].as_u64().unwrap() as usize);
    assert_eq!(&log[offset..offset + length], line);
    world.run(["show", "b97d", "--session", &file, "--raw", "--json"]).failed(2, &["--raw"]);
    world.run(["show", "nowhere", "--session", &file]).failed(1, &["nowhere"]);
}

#[test]
fn a_transcript_tells_the_path() {
    let world = World::new();
    let file = sample("date-parser.jsonl");
    let log = world.run(["log", &file]).done().out;
    for words in [
        "branch 2 of 2",
        "✗ aborted",
        "✗ no result ▸ bash",
        "✗ failed ▸ read src/parse/iso.rs",
        "compaction of 28k tokens",
        "[day numbers]",
        "◀ leaf",
    ] {
        assert_eq!(log.matches(words).count(), 1, "{words}\n{log}");
    }
    assert!(!log.contains("small table instead"), "of another branch:\n{log}");
    let other = world.run(["log", &file, "--from", "7ffa8bee"]).done().out;
    assert!(other.contains("small table instead") && other.contains("✗ error: 529"), "{other}");
    let entries = lines(&world.run(["log", &file, "--json"]).done().out);
    assert_eq!(entries[0]["entry"]["parentId"], Value::Null);
    assert_eq!(entries.last().unwrap()["entry"]["id"], "c578a324");
}

#[test]
fn a_context_counts_its_tokens() {
    let world = World::new();
    let file = sample("date-parser.jsonl");
    let context = world.json(&["context", &file]);
    let messages = context["messages"].as_array().unwrap();
    let sum: u64 = messages.iter().map(|message| message["tokens"].as_u64().unwrap()).sum();
    assert_eq!(context["totalTokens"], sum);
    assert_eq!(context["thinkingLevel"], "high");
    let stored = world.json(&["context", &file, "--entries", "--leaf", "two cures"]);
    assert_eq!(stored["messages"][0]["entryId"], "7dbcb437");
    assert_eq!(stored["leafId"], "b97d8761");
}

#[test]
fn nothing_in_a_session_acts_on_the_terminal() {
    let world = World::new();
    let evil = "\u{1b}]0;owned\u{7} \u{9b}2J \u{202e}txet \r\nsecond\u{0}";
    let entries = [
        user(evil),
        serde_json::json!({ "type": evil, "note": evil }),
        serde_json::json!({ "message": { "role": evil, "content": evil } }),
        serde_json::json!({ "type": "custom_message", "customType": evil, "content": evil, "display": true }),
        serde_json::json!({ "message": { "role": "assistant", "stopReason": evil, "errorMessage": evil,
            "content": [{ "type": "toolCall", "id": "c", "name": evil, "arguments": { "command": evil } }] } }),
        serde_json::json!({ "message": { "role": "toolResult", "toolCallId": "c", "toolName": evil,
            "isError": true, "content": [{ "type": "text", "text": evil }] } }),
        serde_json::json!({ "type": "label", "targetId": "e001", "label": evil }),
        serde_json::json!({ "type": "session_info", "name": evil }),
        serde_json::json!({ "message": { "role": "bashExecution", "command": evil, "output": evil, "exitCode": 3 } }),
    ];
    let file = world.write("work/evil.jsonl", session("evil", &world.path("work"), &entries));
    let file = file.to_string_lossy();
    for args in [
        &["tree", &*file, "--filter", "all"][..],
        &["tree", &file, "--filter", "all", "--json"],
        &["log", &file],
        &["log", &file, "--json"],
        &["show", "e004", "--session", &file],
        &["show", "e005", "--session", &file],
        &["show", "e007", "--session", &file],
        &["context", &file],
        &["context", &file, "--json"],
    ] {
        let out = world.run(args).done().out;
        assert!(
            !out.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'),
            "{args:?}\n{}",
            out.escape_debug()
        );
    }
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let world = World::new();
    let entries: Vec<_> = (0..3000).map(|n| user(&format!("message {n}"))).collect();
    let file = world.write("work/long.jsonl", session("long", &world.path("work"), &entries));
    let mut child = world
        .command()
        .args(["tree", &file.to_string_lossy()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut some = [0; 16];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn what_is_searched_for_is_marked() {
    let world = World::with_sample();
    let run = world.run(["tree", "--color", "always", "--search", "STANDS fixed"]).done();
    assert!(run.out.contains("\u{1b}[1;4mstands\u{1b}[0m"), "{}", run.out);
    let plain = world.run(["tree", "--search", "STANDS fixed"]).done();
    assert!(!plain.out.contains('\u{1b}'), "{}", plain.out);
}

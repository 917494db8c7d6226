//! `ramal rpc` as its clients meet it: the real program, its pipes, its files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

const HEADER: &str = r#"{"type":"session","version":3,"id":"0198c0de-0000-7000-8000-000000000001","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/work"}"#;

/// A scratch folder in which the program finds its home, and a session file.
struct Scratch {
    folder: tempfile::TempDir,
}

impl Scratch {
    fn new() -> Scratch {
        Scratch { folder: tempfile::tempdir().unwrap() }
    }

    /// A session with a question, two answers to it, and a second question below the second answer.
    fn with_a_fork() -> Scratch {
        let scratch = Scratch::new();
        scratch.write_session(&[
            message("aa000001", None, json!({"role": "user", "content": "Why is it slow?"})),
            message(
                "aa000002",
                Some("aa000001"),
                json!({"role": "assistant", "content": [{"type": "text", "text": "The cache."}],
                    "usage": {"input": 10, "output": 2, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0.5}}}),
            ),
            message(
                "aa000003",
                Some("aa000001"),
                json!({"role": "assistant", "content": [{"type": "text", "text": "The disk."},
                    {"type": "toolCall", "id": "c1", "name": "read", "arguments": {}}],
                    "usage": {"input": 11, "output": 3, "cacheRead": 1, "cacheWrite": 1, "cost": {"total": 0.25}}}),
            ),
            message("aa000004", Some("aa000003"), json!({"role": "user", "content": "Which one?"})),
        ]);
        scratch
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("session.jsonl")
    }

    #[allow(clippy::disallowed_methods, reason = "the file is made up here")]
    fn write_session(&self, entries: &[Value]) {
        let lines: Vec<String> = entries.iter().map(Value::to_string).collect();
        fs::write(self.file(), format!("{HEADER}\n{}\n", lines.join("\n"))).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ramal"));
        command.arg("rpc").args(args).current_dir(self.folder.path());
        command.env("HOME", self.folder.path());
        for (name, value) in [("XDG_STATE_HOME", "state"), ("XDG_DATA_HOME", "data")] {
            command.env(name, self.folder.path().join(value));
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn start(&self, args: &[&str]) -> Program {
        let mut child = self.command(args).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Program { child, input, output }
    }

    fn open(&self) -> Program {
        self.start(&["--session", self.file().to_str().unwrap()])
    }
}

fn message(id: &str, parent: Option<&str>, message: Value) -> Value {
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2025-01-01T00:00:01.000Z", "message": message})
}

/// A running program.
struct Program {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Program {
    fn send(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
    }

    fn receive(&mut self) -> Value {
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).unwrap();
            let told: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            // What happens is told between the answers.
            if told["type"] == "response" {
                return told;
            }
        }
    }

    fn ask(&mut self, request: Value) -> Value {
        self.send(&request.to_string());
        let answer = self.receive();
        assert_eq!(
            (&answer["type"], &answer["command"]),
            (&json!("response"), &request["type"]),
            "answer to {request}"
        );
        answer
    }

    /// The data of an answer to a request that succeeds.
    #[track_caller]
    fn ok(&mut self, request: Value) -> Value {
        let answer = self.ask(request);
        assert_eq!(answer["success"], true, "{answer}");
        answer["data"].clone()
    }

    /// The error of an answer to a request that is refused.
    #[track_caller]
    fn refused(&mut self, request: Value) -> String {
        let answer = self.ask(request);
        assert_eq!(answer["success"], false, "{answer}");
        answer["error"].as_str().unwrap().to_owned()
    }

    fn leaf(&mut self) -> Value {
        self.ok(json!({"type": "get_state"}))["leafId"].clone()
    }

    /// Ends the input; the program has to end well and say nothing more. Answers what it warned of.
    #[track_caller]
    fn close(mut self) -> String {
        drop(self.input.take());
        let (mut rest, mut errors) = (String::new(), String::new());
        self.output.read_to_string(&mut rest).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        assert!(self.child.wait().unwrap().success(), "{errors}");
        assert_eq!(rest, "");
        errors
    }
}

fn ids(entries: &Value) -> Vec<&str> {
    entries.as_array().unwrap().iter().map(|entry| entry["id"].as_str().unwrap()).collect()
}

#[test]
fn reading_commands() {
    let scratch = Scratch::with_a_fork();
    let before = fs::read(scratch.file()).unwrap();
    let mut program = scratch.open();

    let state = program.ok(json!({"type": "get_state"}));
    assert_eq!(state["sessionFile"].as_str().unwrap(), scratch.file().to_str().unwrap());
    assert_eq!(state["sessionId"], "0198c0de-0000-7000-8000-000000000001");
    assert_eq!((&state["leafId"], &state["entryCount"]), (&json!("aa000004"), &json!(4)));
    assert_eq!((&state["isStreaming"], &state["damagedLines"]), (&json!(false), &json!(0)));
    assert_eq!(state["thinkingLevel"], "off");

    let all = program.ok(json!({"type": "get_entries"}));
    assert_eq!(ids(&all["entries"]), ["aa000001", "aa000002", "aa000003", "aa000004"]);
    assert_eq!(all["leafId"], "aa000004");
    let some = program.ok(json!({"type": "get_entries", "since": "aa000001", "limit": 2}));
    assert_eq!(ids(&some["entries"]), ["aa000002", "aa000003"]);

    let entry = program.ok(json!({"type": "get_entry", "entryId": "aa000001"}));
    assert_eq!(entry["entry"]["message"]["content"], "Why is it slow?");
    assert_eq!(program.ok(json!({"type": "get_entry", "entryId": "no"})), json!({"entry": null}));

    let tree = program.ok(json!({"type": "get_tree"}));
    let root = &tree["tree"][0];
    assert_eq!(root["entry"]["id"], "aa000001");
    assert_eq!(root["children"][0]["children"], json!([]));
    assert_eq!(root["children"][1]["children"][0]["entry"]["id"], "aa000004");
    assert!(root.get("label").is_none());
    let rows = program.ok(json!({"type": "get_tree", "flat": true}));
    assert_eq!(
        rows["rows"][2],
        json!({"id": "aa000003", "parentId": "aa000001", "type": "message", "role": "assistant", "preview": "The disk.", "label": null})
    );

    let branch = program.ok(json!({"type": "get_branch"}));
    assert_eq!(ids(&branch["entries"]), ["aa000001", "aa000003", "aa000004"]);
    let other = program.ok(json!({"type": "get_branch", "fromId": "aa000002"}));
    assert_eq!(ids(&other["entries"]), ["aa000001", "aa000002"]);
    assert_eq!(program.ok(json!({"type": "get_branch", "fromId": "no"})), json!({"entries": []}));
    assert_eq!(program.ok(json!({"type": "get_branch", "fromId": null})), json!({"entries": []}));
    let children = program.ok(json!({"type": "get_children", "parentId": "aa000001"}));
    assert_eq!(ids(&children["entries"]), ["aa000002", "aa000003"]);
    assert_eq!(ids(&program.ok(json!({"type": "get_children", "parentId": null}))["entries"]), ["aa000001"]);
    assert_eq!(program.ok(json!({"type": "get_label", "entryId": "aa000001"})), json!({"label": null}));

    let stats = program.ok(json!({"type": "get_session_stats"}));
    assert_eq!((&stats["userMessages"], &stats["assistantMessages"]), (&json!(2), &json!(2)));
    assert_eq!((&stats["toolCalls"], &stats["totalMessages"]), (&json!(1), &json!(4)));
    assert_eq!(
        stats["tokens"],
        json!({"input": 21, "output": 5, "cacheRead": 1, "cacheWrite": 1, "total": 28})
    );
    assert_eq!(stats["cost"], 0.75);

    let context = program.ok(json!({"type": "get_context"}));
    assert_eq!(context["messages"].as_array().unwrap().len(), 3);
    assert_eq!((&context["thinkingLevel"], &context["mode"]), (&json!("off"), &json!("none")));
    let there = program.ok(json!({"type": "get_context", "leafId": "aa000002"}));
    assert_eq!(there["messages"][1]["content"][0]["text"], "The cache.");
    let nowhere = program.ok(json!({"type": "get_context", "leafId": null}));
    assert_eq!(nowhere["messages"], json!([]));
    let sent = program.ok(json!({"type": "get_model_messages"}));
    let roles: Vec<_> = sent["messages"].as_array().unwrap().iter().map(|one| one["role"].clone()).collect();
    assert_eq!(roles, ["user", "assistant", "toolResult", "user"]);
    assert_eq!(program.ok(json!({"type": "get_messages"}))["messages"], context["messages"]);

    for name in ["get_fork_messages", "get_branch_messages"] {
        assert_eq!(
            program.ok(json!({"type": name}))["messages"],
            json!([{"entryId": "aa000001", "text": "Why is it slow?"}, {"entryId": "aa000004", "text": "Which one?"}])
        );
    }
    assert_eq!(program.ok(json!({"type": "get_last_assistant_text"})), json!({"text": "The disk."}));
    assert_eq!(program.ok(json!({"type": "abort"})), Value::Null);

    assert_eq!(program.close(), "");
    assert_eq!(fs::read(scratch.file()).unwrap(), before, "reading writes nothing");
    assert!(!scratch.folder.path().join("state").exists());
}

#[test]
fn moving_and_appending() {
    let scratch = Scratch::with_a_fork();
    let mut program = scratch.open();

    assert_eq!(program.ok(json!({"type": "set_leaf", "entryId": "aa000002"})), json!({"leafId": "aa000002"}));
    let entry = json!({"type": "custom", "customType": "x", "data": {"big": 1}});
    let custom = program.ok(json!({"type": "append", "entry": entry}))["entryId"].clone();
    assert_eq!(program.leaf(), custom);
    let label = program.ok(json!({"type": "set_label", "entryId": "aa000001", "label": " start "}));
    assert_eq!(program.ok(json!({"type": "get_label", "entryId": "aa000001"})), json!({"label": "start"}));
    let tree = program.ok(json!({"type": "get_tree"}));
    assert_eq!(tree["tree"][0]["label"], "start");
    let by = program.ok(json!({"type": "get_entry", "entryId": label["entryId"]}));
    assert_eq!(tree["tree"][0]["labelTimestamp"], by["entry"]["timestamp"]);
    program.ok(json!({"type": "set_label", "entryId": "aa000001"}));
    assert_eq!(program.ok(json!({"type": "get_label", "entryId": "aa000001"})), json!({"label": null}));

    program.ok(json!({"type": "set_session_name", "name": "slow disk"}));
    assert_eq!(program.ok(json!({"type": "get_state"}))["sessionName"], "slow disk");

    let summary = program
        .ok(json!({"type": "branch_with_summary", "entryId": "aa000003", "summary": "tried the cache", "details": {"n": 1}, "fromExtension": true}));
    let summary = program.ok(json!({"type": "get_entry", "entryId": summary["entryId"]}));
    assert_eq!(summary["entry"]["fromId"], "aa000003");
    assert_eq!(summary["entry"]["details"], json!({"n": 1}));
    assert_eq!(summary["entry"]["fromExtension"], true);

    // To a user message: to its parent, with its text.
    let moved = program.ok(json!({"type": "navigate_tree", "targetId": "aa000004"}));
    assert_eq!(moved, json!({"cancelled": false, "editorText": "Which one?"}));
    assert_eq!(program.leaf(), "aa000003");
    // To where one is: nothing happens, summary or not.
    let stayed = program.ok(json!({"type": "navigate_tree", "targetId": "aa000003", "summarize": true}));
    assert_eq!(stayed, json!({"cancelled": false}));
    let error = program.refused(json!({"type": "navigate_tree", "targetId": "no", "summarize": true}));
    assert!(error.contains("model"), "{error}");
    assert!(program.refused(json!({"type": "navigate_tree", "targetId": "no"})).contains("no"));
    let labelled = program.ok(json!({"type": "navigate_tree", "targetId": "aa000002", "label": "here"}));
    assert_eq!(labelled, json!({"cancelled": false}));
    assert_eq!(program.ok(json!({"type": "get_label", "entryId": "aa000002"})), json!({"label": "here"}));

    assert_eq!(program.ok(json!({"type": "set_leaf", "entryId": null})), json!({"leafId": null}));
    assert_eq!(program.leaf(), Value::Null);
    program.close();
}

#[test]
fn numbers_and_surrogates_reach_the_log() {
    let scratch = Scratch::with_a_fork();
    let mut program = scratch.open();
    program.send(
        r#"{"id":1,"type":"append","entry":{"type":"custom","customType":"n","data":{"a":12345678901234567890123,"b":1.0,"b":1e400,"s":"\ud83d!"}}}"#,
    );
    let answer = program.receive();
    assert_eq!(answer["success"], true, "{answer}");
    program.close();
    let text = fs::read_to_string(scratch.file()).unwrap();
    let line = text.lines().last().unwrap();
    assert!(
        line.ends_with(r#""data":{"a":12345678901234567890123,"b":1.0,"b":1e400,"s":"\ufffd!"}}"#),
        "{line}"
    );
}

#[test]
fn other_sessions() {
    let scratch = Scratch::with_a_fork();
    let mut program = scratch.open();
    let first = program.ok(json!({"type": "get_state"}));
    let file_of = |state: &Value| PathBuf::from(state["sessionFile"].as_str().unwrap());

    let copy = program.ok(json!({"type": "create_branched_session", "leafId": "aa000002"}));
    let state = program.ok(json!({"type": "get_state"}));
    assert_eq!(copy["sessionFile"], state["sessionFile"]);
    assert_eq!(file_of(&state).parent(), scratch.file().parent());
    assert_eq!((&state["leafId"], &state["entryCount"]), (&json!("aa000002"), &json!(2)));

    assert_eq!(program.ok(json!({"type": "clone"})), json!({"cancelled": false}));
    let clone = program.ok(json!({"type": "get_state"}));
    assert_ne!(clone["sessionFile"], state["sessionFile"]);
    assert_eq!(clone["leafId"], "aa000002");

    let back = json!({"type": "switch_session", "sessionPath": first["sessionFile"]});
    assert_eq!(program.ok(back.clone()), json!({"cancelled": false}));
    assert_eq!(program.leaf(), "aa000004");
    for (name, id, entries) in [("fork", "aa000004", 2), ("branch", "aa000001", 0)] {
        program.ok(back.clone());
        let forked = program.ok(json!({"type": name, "entryId": id}));
        assert_eq!(forked["cancelled"], false);
        assert!(forked["text"].as_str().unwrap().ends_with('?'));
        assert_eq!(program.ok(json!({"type": "get_state"}))["entryCount"], entries);
    }

    let fresh = program.ok(json!({"type": "new_session", "parentSession": "origin"}));
    assert_eq!(fresh, json!({"cancelled": false}));
    let fresh = program.ok(json!({"type": "get_state"}));
    assert_eq!((&fresh["entryCount"], &fresh["leafId"]), (&json!(0), &Value::Null));
    assert!(!file_of(&fresh).exists(), "a new session has no file before its first message");
    let message = json!({"type": "message", "message": {"role": "user", "content": "hello"}});
    program.ok(json!({"type": "append", "entry": message}));
    let header = fs::read_to_string(file_of(&fresh)).unwrap();
    assert!(header.lines().next().unwrap().contains(r#""parentSession":"origin""#), "{header}");
    assert!(header.lines().next().unwrap().contains(r#""cwd":"/work""#), "{header}");

    let error = program
        .refused(json!({"type": "switch_session", "sessionPath": scratch.folder.path().to_str().unwrap()}));
    assert!(error.contains(scratch.folder.path().to_str().unwrap()), "{error}");
    program.close();
}

#[test]
fn places_of_new_sessions() {
    let scratch = Scratch::new();
    let mut memory = scratch.start(&["--no-session"]);
    let message = json!({"type": "message", "message": {"role": "user", "content": "hello"}});
    memory.ok(json!({"type": "append", "entry": message}));
    assert_eq!(memory.ok(json!({"type": "get_state"}))["sessionFile"], Value::Null);
    assert_eq!(memory.ok(json!({"type": "clone"})), json!({"cancelled": false}));
    let copy = json!({"type": "create_branched_session", "leafId": memory.leaf()});
    assert_eq!(memory.ok(copy), json!({"sessionFile": null}));
    memory.ok(json!({"type": "new_session"}));
    memory.close();
    assert_eq!(fs::read_dir(scratch.folder.path()).unwrap().count(), 0, "nothing was written");

    let dir = scratch.folder.path().join("mine");
    let mut program = scratch.start(&["--session-dir", dir.to_str().unwrap()]);
    program.ok(json!({"type": "append", "entry": message}));
    let state = program.ok(json!({"type": "get_state"}));
    assert_eq!(Path::new(state["sessionFile"].as_str().unwrap()).parent(), Some(&*dir));
    program.close();
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
}

#[test]
fn bad_requests_are_named_and_survived() {
    let scratch = Scratch::with_a_fork();
    let mut program = scratch.open();
    for (line, command, named) in [
        ("{oops", "parse", "JSON"),
        ("[1]", "parse", "object"),
        (r#"{"id":{"a":[1]}}"#, "parse", "type"),
        (r#"{"type":"no_such"}"#, "no_such", "no_such"),
        (r#"{"type":"prompt","message":"hi"}"#, "prompt", "model"),
        (r#"{"type":"get_entry"}"#, "get_entry", "entryId"),
        (r#"{"type":"get_entry","entryId":5}"#, "get_entry", "entryId"),
        (r#"{"type":"set_leaf"}"#, "set_leaf", "entryId"),
        (r#"{"type":"set_leaf","entryId":"nope"}"#, "set_leaf", "nope"),
        (r#"{"type":"append"}"#, "append", "entry"),
        (r#"{"type":"append","entry":[]}"#, "append", "entry"),
        (r#"{"type":"append","entry":{"type":"custom","id":"mine"}}"#, "append", "id"),
        (r#"{"type":"append","entry":{"type":"session"}}"#, "append", "session"),
        (r#"{"type":"get_entries","limit":-1}"#, "get_entries", "limit"),
        (r#"{"type":"get_entries","since":"nope"}"#, "get_entries", "nope"),
        (r#"{"type":"get_children"}"#, "get_children", "parentId"),
        (r#"{"type":"get_context","leafId":"nope"}"#, "get_context", "nope"),
        (r#"{"type":"get_model_messages","leafId":7}"#, "get_model_messages", "leafId"),
        (r#"{"type":"get_tree","flat":1}"#, "get_tree", "flat"),
        (r#"{"type":"branch_with_summary","entryId":null}"#, "branch_with_summary", "summary"),
        (r#"{"type":"create_branched_session","leafId":null}"#, "create_branched_session", "leafId"),
        (r#"{"type":"fork","entryId":"aa000002"}"#, "fork", "aa000002"),
        (r#"{"type":"navigate_tree","targetId":"aa000002","label":3}"#, "navigate_tree", "label"),
        (r#"{"type":"set_session_name"}"#, "set_session_name", "name"),
    ] {
        program.send(line);
        let answer = program.receive();
        assert_eq!((&answer["success"], &answer["command"]), (&json!(false), &json!(command)), "{line}");
        assert!(answer["error"].as_str().unwrap().contains(named), "{line}: {answer}");
    }
    // Whatever the id is, it comes back as it was; a carriage return and blank lines are no matter.
    for id in ["7", r#""q1""#, "null", r#"{"a":[1,2.50,"x"]}"#, "12345678901234567890123"] {
        program.send(&format!("\n \r\n{{\"id\":{id},\"type\":\"abort\"}}\r"));
        let mut line = String::new();
        program.output.read_line(&mut line).unwrap();
        assert_eq!(
            line,
            format!("{{\"id\":{id},\"type\":\"response\",\"command\":\"abort\",\"success\":true}}\n")
        );
    }
    // Nested as deeply as it likes.
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    program.send(&format!(r#"{{"id":1,"type":"abort","x":{deep}}}"#));
    assert_eq!(program.receive()["success"], true);
    assert_eq!(program.leaf(), "aa000004");
    program.close();
}

#[test]
fn large_answers_to_a_slow_reader() {
    let scratch = Scratch::new();
    let count = 20_000;
    let id = |number: usize| format!("{number:08x}");
    let text = "x".repeat(100);
    let chain = (1..=count).map(|number| {
        let parent = (number > 1).then(|| id(number - 1));
        message(&id(number), parent.as_deref(), json!({"role": "user", "content": text}))
    });
    scratch.write_session(&chain.collect::<Vec<_>>());
    let mut program = scratch.open();
    // All requests are sent before anything is read: the program has to take them in while it waits
    // for its answers to be read.
    for request in ["get_tree", "get_entries", "get_branch", "get_state"] {
        program.send(&format!(r#"{{"type":"{request}"}}"#));
    }
    let mut line = Vec::new();
    program.output.read_until(b'\n', &mut line).unwrap();
    let nested = String::from_utf8(line).unwrap();
    assert!(ramal_session::json::is_valid(&nested));
    assert_eq!(nested.matches(r#""children":["#).count(), count);
    assert!(nested.ends_with(&("]}".repeat(count) + r#"],"leafId":"00004e20"},"success":true}"# + "\n")));
    for _ in 0..2 {
        let answer = program.receive();
        assert_eq!(answer["data"]["entries"].as_array().unwrap().len(), count);
    }
    assert_eq!(program.receive()["data"]["entryCount"], count);
    program.close();
}

#[test]
fn large_requests() {
    let scratch = Scratch::with_a_fork();
    let mut program = scratch.open();
    let content = "y".repeat(20_000_000);
    let entry = json!({"type": "message", "message": {"role": "user", "content": content}});
    let id = program.ok(json!({"type": "append", "entry": entry}))["entryId"].clone();
    let read = program.ok(json!({"type": "get_entry", "entryId": id}));
    assert_eq!(read["entry"]["message"]["content"].as_str().unwrap().len(), content.len());
    program.close();
}

#[test]
fn what_was_accepted_is_finished_when_the_input_ends() {
    let scratch = Scratch::with_a_fork();
    let mut program = scratch.open();
    for number in 0..50 {
        let entry = json!({"type": "custom", "customType": "n", "data": number});
        program.send(&json!({"id": number, "type": "append", "entry": entry}).to_string());
    }
    // The last request has no line feed.
    program.input.as_mut().unwrap().write_all(br#"{"id":"last","type":"get_state"}"#).unwrap();
    drop(program.input.take());
    for number in 0..50 {
        assert_eq!(program.receive()["id"], number);
    }
    let last = program.receive();
    assert_eq!((&last["id"], &last["data"]["entryCount"]), (&json!("last"), &json!(54)));
    assert!(program.child.wait().unwrap().success());
}

#[test]
fn a_client_that_is_gone_is_no_error() {
    let scratch = Scratch::with_a_fork();
    let Program { mut child, input, output } = scratch.open();
    drop(output);
    let mut input = input.unwrap();
    // It may end before all of these are written.
    for _ in 0..10 {
        input.write_all(b"{\"type\":\"get_entries\"}\n").ok();
    }
    let status = child.wait().unwrap();
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!((status.code(), errors.as_str()), (Some(0), ""));
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the file is made up here")]
fn files_that_cannot_be_opened() {
    let scratch = Scratch::new();
    fs::write(scratch.file(), "dear diary\n").unwrap();
    let output = scratch.command(&["--session", scratch.file().to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stdout, b"");
    assert!(String::from_utf8(output.stderr).unwrap().contains(scratch.file().to_str().unwrap()));
    assert_eq!(fs::read(scratch.file()).unwrap(), b"dear diary\n");
}

#[test]
fn the_leaf_is_remembered_beside_the_log() {
    let scratch = Scratch::with_a_fork();
    let mut program = scratch.open();
    program.ok(json!({"type": "set_leaf", "entryId": "aa000002"}));
    program.close();
    let mut program = scratch.open();
    assert_eq!(program.leaf(), "aa000002");
    // A record that decides nothing hangs on the leaf: still there after opening.
    let entry = json!({"type": "custom", "customType": "x"});
    let custom = program.ok(json!({"type": "append", "entry": entry}))["entryId"].clone();
    program.close();
    let mut program = scratch.open();
    assert_eq!(program.leaf(), custom);
    program.ok(json!({"type": "set_leaf", "entryId": null}));
    program.close();
    let mut program = scratch.open();
    assert_eq!(program.leaf(), Value::Null);
    program.close();

    // Another program's entry changes the log: its own rule decides again.
    let other = message("bb000001", Some("aa000001"), json!({"role": "user", "content": "elsewhere"}));
    let mut file = fs::OpenOptions::new().append(true).open(scratch.file()).unwrap();
    writeln!(file, "{other}").unwrap();
    let mut program = scratch.open();
    assert_eq!(program.leaf(), "bb000001");
    program.close();
}

#[cfg(unix)]
#[test]
fn the_memory_of_leaves_is_private_and_may_fail() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::with_a_fork();
    let mut program = scratch.open();
    program.ok(json!({"type": "set_leaf", "entryId": "aa000002"}));
    program.close();
    let state = scratch.folder.path().join("state");
    let folder = state.join("ramal").join("leaves");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1);
    assert_eq!(mode(&files[0]), 0o600);

    // In place of the folder stands a file: a warning, once, and the commands go on.
    fs::remove_dir_all(&state).unwrap();
    fs::File::create(&state).unwrap();
    let mut program = scratch.open();
    assert_eq!(program.leaf(), "aa000004");
    for _ in 0..3 {
        program.ok(json!({"type": "set_leaf", "entryId": "aa000002"}));
    }
    let errors = program.close();
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.contains("warning"), "{errors}");
}

#[cfg(unix)]
#[test]
fn an_answer_that_meets_a_read_error_is_still_one_line() {
    let scratch = Scratch::with_a_fork();
    let mut program = scratch.open();
    assert_eq!(program.leaf(), "aa000004");
    // Another program cuts the file short while it is open.
    let file = fs::OpenOptions::new().write(true).open(scratch.file()).unwrap();
    file.set_len(HEADER.len() as u64 + 1).unwrap();
    let all = program.ok(json!({"type": "get_entries"}));
    assert_eq!(ids(&all["entries"]), ["aa000001", "aa000002", "aa000003", "aa000004"]);
    for entry in all["entries"].as_array().unwrap() {
        assert_eq!((&entry["unreadable"], &entry["type"]), (&json!(true), &json!("message")));
        assert!(entry["error"].as_str().unwrap().contains("cut short"));
    }
    assert_eq!(all["entries"][1]["parentId"], "aa000001");
    assert_eq!(program.ok(json!({"type": "get_tree"}))["tree"][0]["children"].as_array().unwrap().len(), 2);
    // A context with a hole in it is none.
    assert!(program.refused(json!({"type": "get_messages"})).contains("cut short"));
    let message = json!({"type": "message", "message": {"role": "user", "content": "hello"}});
    assert!(program.refused(json!({"type": "append", "entry": message})).contains("cut short"));
    program.close();
}

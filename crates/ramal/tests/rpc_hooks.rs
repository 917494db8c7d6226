//! A client of `ramal rpc` that takes part as a hook: the real program, recorded answers, its pipes.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "shared with other tests")]
mod support;

use serde_json::{Value, json};
use support::*;

const MODEL: [&str; 2] = ["--model", "replay/answers.jsonl"];

fn hooks(program: &mut Program, events: &[&str]) {
    let told = program.ok(json!({"type": "set_hooks", "events": events}));
    assert_eq!(told, json!({ "events": events }));
}

/// Waits for a question about this event.
#[track_caller]
fn asked(program: &mut Program, event: &str) -> Value {
    let question = program.event("hook_request");
    assert_eq!(question["event"], event, "{question}");
    assert!(string(&question["id"]).starts_with("hook-"), "{question}");
    question
}

fn respond(program: &mut Program, question: &Value, result: Value) {
    program.send(&[json!({"type": "hook_response", "id": question["id"], "result": result})]);
}

/// Two turns, and the ids of their user messages.
fn two_turns(program: &mut Program) -> [Value; 2] {
    program.say("First");
    program.say("Second");
    let messages = program.ok(json!({"type": "get_fork_messages"}));
    [messages["messages"][0]["entryId"].clone(), messages["messages"][1]["entryId"].clone()]
}

fn leaf(program: &mut Program) -> Value {
    program.ok(json!({"type": "get_state"}))["leafId"].clone()
}

fn asks(lines: &[Value]) -> usize {
    lines.iter().filter(|line| line["type"] == "hook_request").count()
}

#[test]
fn the_set_of_events() {
    let scratch = Scratch::new(&[says("One."), says("Two.")]);
    let mut program = scratch.start();
    let why = program.refused(json!({"type": "set_hooks", "events": ["context", "session_begin"]}));
    assert!(why.contains("`session_begin`") && why.contains("session.compacting"), "{why}");
    for (events, named) in [(json!(null), "array"), (json!("context"), "array"), (json!([7]), "strings")] {
        let why = program.refused(json!({"type": "set_hooks", "events": events}));
        assert!(why.contains("`events`") && why.contains(named), "{why}");
    }
    assert!(program.refused(json!({"type": "set_hooks"})).contains("`events`"));
    // What was refused changed nothing, and who never said anything is never asked.
    program.say("First");
    assert_eq!(asks(&program.passed), 0);

    let told = program.ok(json!({"type": "set_hooks", "events": ["tool_call", "context", "context"]}));
    assert_eq!(told["events"], json!(["tool_call", "context"]));
    hooks(&mut program, &["session_tree"]);
    hooks(&mut program, &[]);
    program.say("Second");
    assert_eq!(asks(&program.passed), 0);
    // Whoever does not say which question it is about is told so.
    for id in [json!(7), json!(null)] {
        let why = program.refused(json!({"type": "hook_response", "id": id, "result": {}}));
        assert!(why.contains("`id`"), "{why}");
    }
    program.close();
}

#[test]
fn a_navigation_is_cancelled_and_summarised() {
    let scratch = Scratch::new(&[says("One."), says("Two.")]);
    let mut program = scratch.start();
    let [first, second] = two_turns(&mut program);
    let before = leaf(&mut program);
    hooks(&mut program, &["session_before_tree", "session_tree"]);
    let go = json!({"id": "go", "type": "navigate_tree", "targetId": second, "summarize": true,
        "customInstructions": "Mind the gap.", "label": "tried"});
    program.send(std::slice::from_ref(&go));
    let question = asked(&mut program, "session_before_tree");
    assert_eq!(question["timeout"], 30_000);
    let told = &question["preparation"];
    assert_eq!((&told["targetId"], &told["oldLeafId"]), (&second, &before));
    assert_eq!((&told["customInstructions"], &told["label"]), (&json!("Mind the gap."), &json!("tried")));
    assert_eq!(told["userWantsSummary"], true);
    let said: Vec<String> = told["entriesToSummarize"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| text_of(&entry["message"]))
        .collect();
    assert_eq!(said, ["Two."], "what lies between the target and the leaf");

    // While it is asked, the client reads and appends; who would move the leaf is refused.
    let note = json!({"type": "custom", "customType": "note", "data": 1});
    program.ok(json!({"type": "append", "entry": note}));
    program.ok(json!({"type": "set_label", "entryId": first, "label": "here"}));
    assert_eq!(program.ok(json!({"type": "get_label", "entryId": first}))["label"], "here");
    for request in [
        json!({"type": "navigate_tree", "targetId": first}),
        json!({"type": "branch", "entryId": first}),
        json!({"type": "clone"}),
        json!({"type": "new_session"}),
        json!({"type": "set_leaf", "entryId": null}),
        json!({"type": "prompt", "message": "x"}),
    ] {
        let why = program.refused(request);
        assert!(why.contains("busy"), "{why}");
    }
    let leaf_before = leaf(&mut program);
    respond(&mut program, &question, json!({"cancel": true}));
    assert_eq!(program.answer("go")["data"], json!({"cancelled": true}));
    assert_eq!(leaf(&mut program), leaf_before);

    // The same with a summary of the client's own; no model is asked, there is no answer left.
    program.send(&[go]);
    let question = asked(&mut program, "session_before_tree");
    let summary = json!({"summary": "What came of it.", "details": {"mine": [1, 2]}});
    respond(&mut program, &question, json!({"summary": summary, "label": "other"}));
    let moved = asked(&mut program, "session_tree");
    let entry = &moved["summaryEntry"];
    assert_eq!(
        (&entry["summary"], &entry["details"]),
        (&json!("What came of it."), &json!({"mine": [1, 2]}))
    );
    assert_eq!((&moved["fromExtension"], &moved["oldLeafId"]), (&json!(true), &leaf_before));
    // The navigation waits for what the client does with that.
    assert!(program.passed.iter().all(|line| line["id"] != "go" || line["data"]["cancelled"] == true));
    let note =
        json!({"type": "custom_message", "customType": "note", "content": "Behind it.", "display": true});
    program.ok(json!({"type": "append", "entry": note}));
    respond(&mut program, &moved, json!(null));
    let done = program.answer("go");
    assert_eq!(done["data"]["summaryEntry"]["id"], entry["id"]);
    let label = program.ok(json!({"type": "get_label", "entryId": entry["id"]}));
    assert_eq!(label["label"], "other");
    let messages = program.ok(json!({"type": "get_messages"}))["messages"].to_string();
    assert!(messages.contains("Behind it."), "{messages}");
    program.close();
}

#[test]
fn what_goes_to_the_model_and_comes_from_tools() {
    let run = |name: &str| calls("bash", json!({"command": format!("echo secret > {name}; cat {name}")}));
    let scratch = Scratch::new(&[
        json!({"when": "another question", "events": [{"text": "Another answer."}]}),
        run("one"),
        run("two"),
        says("Done."),
        says("The usual answer."),
    ]);
    let mut program = Program::start(scratch.command().args(MODEL).arg("--yes"));
    hooks(&mut program, &["tool_call", "tool_result"]);
    program.send(&[json!({"type": "prompt", "message": "Run."})]);
    let call = asked(&mut program, "tool_call");
    assert_eq!((&call["toolName"], &call["toolCallId"]), (&json!("bash"), &json!("t1")));
    assert!(string(&call["input"]["command"]).contains("one"), "{call}");
    assert!(!scratch.path("one").exists(), "it waits");
    respond(&mut program, &call, json!({"block": true, "reason": "Not one."}));
    let result = asked(&mut program, "tool_result");
    assert_eq!(result["isError"], true);
    assert!(result["content"].to_string().contains("Not one."), "{result}");
    respond(&mut program, &result, json!({}));
    let call = asked(&mut program, "tool_call");
    respond(&mut program, &call, json!(null));
    let result = asked(&mut program, "tool_result");
    assert_eq!((&result["isError"], &result["input"]), (&json!(false), &call["input"]));
    assert!(text_of(&result).contains("secret"), "{result}");
    let hidden = json!([{"type": "text", "text": "hidden"}]);
    respond(&mut program, &result, json!({"content": hidden, "details": {"by": "client"}}));
    program.event("agent_end");
    assert!(!scratch.path("one").exists() && scratch.path("two").exists());
    let results: Vec<String> =
        scratch.said().into_iter().filter(|(role, _)| role == "toolResult").map(|(_, text)| text).collect();
    assert!(results[0].contains("Not one.") && results[1] == "hidden", "{results:?}");

    // A whole conversation in place of ours, however long it is.
    hooks(&mut program, &["context"]);
    program.send(&[json!({"type": "prompt", "message": "Well?"})]);
    let question = asked(&mut program, "context");
    let mut messages = question["messages"].as_array().unwrap().clone();
    assert_eq!(text_of(messages.last().unwrap()), "Well?");
    let text = format!("another question {}", "word ".repeat(100_000));
    *messages.last_mut().unwrap() = json!({"role": "user", "content": [{"type": "text", "text": text}]});
    respond(&mut program, &question, json!({ "messages": messages }));
    program.event("agent_end");
    assert_eq!(scratch.said().last().unwrap().1, "Another answer.");
    assert_eq!(scratch.said().iter().filter(|(_, text)| text.contains("another question")).count(), 0);
    program.close();
}

#[test]
fn what_fails_is_told_and_the_work_goes_on() {
    let scratch = Scratch::new(&[says("One."), says("Two."), says("Three.")]);
    let mut program = scratch.start();
    let [first, second] = two_turns(&mut program);
    hooks(&mut program, &["session_before_tree", "context"]);
    for (number, (answer, named)) in [
        (json!({"error": "out of order"}), "out of order"),
        (json!({"error": 7}), "`error`"),
        (json!({"result": "cancel"}), "object"),
        (json!({"result": {"cancel": true, "summary": {"summary": 1}}}), "`summary.summary`"),
    ]
    .into_iter()
    .enumerate()
    {
        let target = if number % 2 == 0 { &first } else { &second };
        program.send(&[json!({"id": number, "type": "navigate_tree", "targetId": target})]);
        let question = asked(&mut program, "session_before_tree");
        let mut response = json!({"type": "hook_response", "id": question["id"]});
        response.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
        program.send(&[response]);
        let told = program.event("extension_error");
        assert_eq!(
            (&told["extensionPath"], &told["event"]),
            (&json!("client"), &json!("session_before_tree"))
        );
        assert!(string(&told["error"]).contains(named), "{told}");
        assert_eq!(program.answer(number)["data"]["cancelled"], false);
    }
    program.send(&[json!({"type": "prompt", "message": "Go on"})]);
    let question = asked(&mut program, "context");
    respond(&mut program, &question, json!({"messages": ["x"]}));
    assert!(string(&program.event("extension_error")["error"]).contains("`messages`"));
    program.event("agent_end");
    assert_eq!(scratch.said().last().unwrap().1, "Three.");
    program.close();
}

#[test]
fn who_is_asked_is_told_of_an_abort() {
    let run = calls("bash", json!({"command": "echo out"}));
    let scratch = Scratch::new(&[says("One."), says("Two."), run.clone(), run, says("Three.")]);
    let mut program = Program::start(scratch.command().args(MODEL).arg("--yes"));
    let [first, second] = two_turns(&mut program);
    let before = leaf(&mut program);
    hooks(&mut program, &["session_before_tree", "tool_call", "tool_result", "session_tree"]);
    let ended = |program: &mut Program, question: &Value, reason: &str| {
        let told = program.event("hook_request_ended");
        assert_eq!((&told["id"], &told["reason"]), (&question["id"], &json!(reason)));
    };
    program.send(&[json!({"id": "go", "type": "navigate_tree", "targetId": first})]);
    let question = asked(&mut program, "session_before_tree");
    program.send(&[json!({"type": "abort"})]);
    ended(&mut program, &question, "aborted");
    assert_eq!(program.answer("go")["data"], json!({"cancelled": true, "aborted": true}));
    // What comes late is nobody's.
    respond(&mut program, &question, json!({"cancel": false}));
    assert_eq!(leaf(&mut program), before);

    // During a turn: before a call, and behind it, where the result is kept.
    program.send(&[json!({"type": "prompt", "message": "Run."})]);
    let question = asked(&mut program, "tool_call");
    program.send(&[json!({"type": "abort"})]);
    ended(&mut program, &question, "aborted");
    let question = asked(&mut program, "tool_result");
    ended(&mut program, &question, "aborted");
    program.event("agent_end");
    program.send(&[json!({"type": "prompt", "message": "Run again."})]);
    let question = asked(&mut program, "tool_call");
    respond(&mut program, &question, json!({}));
    let question = asked(&mut program, "tool_result");
    // A navigation ends the turn, as it always does.
    program.send(&[json!({"id": "away", "type": "navigate_tree", "targetId": second})]);
    ended(&mut program, &question, "aborted");
    let question = asked(&mut program, "session_before_tree");
    assert_eq!(scratch.said().last().unwrap().1, "out");
    respond(&mut program, &question, json!({}));
    // It has moved: an abort ends the waiting only.
    let question = asked(&mut program, "session_tree");
    program.send(&[json!({"type": "abort"})]);
    ended(&mut program, &question, "aborted");
    assert_eq!(program.answer("away")["data"]["cancelled"], false);
    assert!(program.passed.iter().all(|line| line["type"] != "extension_error"), "an abort is no failure");
    program.close();
}

#[test]
fn who_does_not_answer_is_not_waited_for() {
    let scratch = Scratch::new(&[says("One."), says("Two.")]);
    let mut command = scratch.command();
    let mut program = Program::start(command.args(MODEL).env("RAMAL_HOOK_TIMEOUT_MS", "50"));
    hooks(&mut program, &["context"]);
    program.send(&[json!({"type": "prompt", "message": "First"})]);
    let question = asked(&mut program, "context");
    assert_eq!(question["timeout"], 50);
    let told = program.event("hook_request_ended");
    assert_eq!((&told["id"], &told["reason"]), (&question["id"], &json!("timeout")));
    let told = program.event("extension_error");
    assert_eq!(
        (&told["event"], &told["error"]),
        (&json!("context"), &json!("it did not answer within 0.05 s"))
    );
    program.event("agent_end");
    program.close();

    // Nobody is there any more: what is open goes on, and nobody is asked again.
    let mut program = scratch.start();
    hooks(&mut program, &["context", "tool_call"]);
    program.send(&[json!({"type": "prompt", "message": "Second"})]);
    asked(&mut program, "context");
    let follow = json!({"type": "prompt", "message": "Third", "streamingBehavior": "followUp"});
    program.ok(follow);
    program.input.take();
    program.event("extension_error");
    let end = program.event("agent_end");
    assert_eq!(end["messages"].as_array().unwrap().len(), 4);
    assert_eq!(asks(&program.passed), 0, "{:#?}", program.passed);
    program.close();
    assert_eq!(scratch.said().last().unwrap().1, "Two.");
}

#[test]
fn going_to_another_session() {
    let scratch = Scratch::new(&[says("One."), says("Two."), says("Three.")]);
    let mut program = scratch.start();
    let [_, second] = two_turns(&mut program);
    let file = program.ok(json!({"type": "get_state"}))["sessionFile"].clone();
    hooks(
        &mut program,
        &["session_before_branch", "session_branch", "session_before_switch", "session_switch"],
    );
    let branch = json!({"id": "b", "type": "branch", "entryId": second});
    program.send(std::slice::from_ref(&branch));
    let question = asked(&mut program, "session_before_branch");
    assert_eq!(question["entryId"], second);
    respond(&mut program, &question, json!({"cancel": true}));
    assert_eq!(program.answer("b")["data"], json!({"text": "Second", "cancelled": true}));
    assert_eq!(program.ok(json!({"type": "get_state"}))["sessionFile"], file);

    program.send(&[branch]);
    let question = asked(&mut program, "session_before_branch");
    respond(&mut program, &question, json!({"skipConversationRestore": true}));
    let told = asked(&mut program, "session_branch");
    assert_eq!(told["previousSessionFile"], file);
    respond(&mut program, &told, json!({}));
    assert_eq!(program.answer("b")["data"]["cancelled"], false);
    let branched = program.ok(json!({"type": "get_state"}))["sessionFile"].clone();
    assert_ne!(branched, file);

    program.send(&[json!({"id": "n", "type": "new_session"})]);
    let question = asked(&mut program, "session_before_switch");
    assert_eq!((&question["reason"], question.get("targetSessionFile")), (&json!("new"), None));
    respond(&mut program, &question, json!({"cancel": true}));
    assert_eq!(program.answer("n")["data"], json!({"cancelled": true}));
    program.send(&[json!({"id": "s", "type": "switch_session", "sessionPath": file})]);
    let question = asked(&mut program, "session_before_switch");
    assert_eq!((&question["reason"], &question["targetSessionFile"]), (&json!("resume"), &file));
    respond(&mut program, &question, json!({}));
    let told = asked(&mut program, "session_switch");
    assert_eq!((&told["reason"], &told["previousSessionFile"]), (&json!("resume"), &branched));
    respond(&mut program, &told, json!({}));
    assert_eq!(program.answer("s")["data"], json!({"cancelled": false}));
    program.close();
}

#[test]
fn a_compaction_of_the_clients_own() {
    const EVENTS: [&str; 3] = ["session_before_compact", "session.compacting", "session_compact"];
    let long = "word ".repeat(20_000);
    let scratch = Scratch::new(&[
        says(&long),
        says(&long),
        says(&long),
        json!({"when": "Sing of it.", "events": [{"text": "## A song"}]}),
        says("## The rest"),
    ]);
    let mut program = scratch.start();
    let [first, second] = two_turns(&mut program);
    hooks(&mut program, &EVENTS);
    let compact = json!({"id": "c", "type": "compact", "customInstructions": "Be brief."});
    program.send(std::slice::from_ref(&compact));
    let question = asked(&mut program, "session_before_compact");
    let told = &question["preparation"];
    assert_eq!(question["customInstructions"], "Be brief.");
    assert_eq!(question["branchEntries"][1]["id"], first, "{}", question["branchEntries"][0]);
    assert_eq!(text_of(&told["messagesToSummarize"][0]), "First");
    assert!(told["tokensBefore"].as_u64().unwrap() > 20_000);
    assert_eq!(told["settings"]["reserveTokens"], 16_384);
    assert_eq!(told["fileOps"], json!({"read": [], "written": [], "edited": []}));
    respond(&mut program, &question, json!({"cancel": true}));
    assert_eq!(program.answer("c")["success"], false);

    // The client makes one.
    program.send(std::slice::from_ref(&compact));
    let question = asked(&mut program, "session_before_compact");
    let mine = json!({"summary": "Mine.", "firstKeptEntryId": second, "tokensBefore": 7, "details": [1]});
    respond(&mut program, &question, json!({ "compaction": mine }));
    let told = asked(&mut program, "session_compact");
    assert_eq!(
        (&told["fromExtension"], &told["compactionEntry"]["summary"]),
        (&json!(true), &json!("Mine."))
    );
    respond(&mut program, &told, json!({}));
    assert_eq!(program.answer("c")["data"]["summary"], "Mine.");
    let messages = program.ok(json!({"type": "get_messages"}));
    assert_eq!(messages["messages"][0]["summary"], "Mine.");

    // It has a say in the prompt of the next one.
    hooks(&mut program, &[]);
    program.say("Third");
    hooks(&mut program, &EVENTS);
    program.send(&[compact]);
    let question = asked(&mut program, "session_before_compact");
    respond(&mut program, &question, json!({}));
    let question = asked(&mut program, "session.compacting");
    let state = program.ok(json!({"type": "get_state"}));
    assert_eq!(question["sessionId"], state["sessionId"]);
    assert_eq!(text_of(&question["messages"][0]), "Second");
    respond(&mut program, &question, json!({"prompt": "Sing of it.", "preserveData": {"kept": 1}}));
    let told = asked(&mut program, "session_compact");
    assert_eq!(told["fromExtension"], false);
    let entry = &told["compactionEntry"];
    assert!(string(&entry["summary"]).contains("A song"), "{}", entry["summary"]);
    assert_eq!(entry["preserveData"], json!({"kept": 1}));
    respond(&mut program, &told, json!({}));
    assert_eq!(program.answer("c")["success"], true);
    program.close();
}

//! `ramal rpc` with a model: the real program, recorded answers, its pipes, its log.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "shared with other tests")]
mod support;

use std::fs;
use std::io::Write as _;
use std::time::Duration;

use serde_json::{Value, json};
use support::*;

#[test]
fn a_prompt_and_what_comes_of_it() {
    let scratch = Scratch::new(&[says("Four."), says("Six.")]);
    let mut program = scratch.start();
    program.send(&[json!({"id": 1, "type": "prompt", "message": "2 + 2?"})]);
    program.event("agent_end");
    let names: Vec<String> = program.passed.drain(..).map(|line| string(&line["type"])).collect();
    let mut names: Vec<&str> = names.iter().map(|name| &**name).collect();
    names.dedup();
    assert_eq!(names[0], "response", "that it was accepted is told first");
    assert_eq!(names[1..5], ["agent_start", "message_start", "message_end", "turn_start"]);
    assert_eq!(names[5..], ["message_start", "message_update", "message_end", "turn_end"]);
    let state = program.ok(json!({"type": "get_state"}));
    assert_eq!(
        (&state["model"]["provider"], &state["model"]["id"]),
        (&json!("replay"), &json!("answers.jsonl"))
    );
    assert_eq!((&state["isStreaming"], &state["pendingMessageCount"]), (&json!(false), &json!(0)));
    assert_eq!(program.ok(json!({"type": "get_last_assistant_text"}))["text"], "Four.");
    let stats = program.ok(json!({"type": "get_session_stats"}));
    assert_eq!(stats["contextUsage"]["contextWindow"], 200_000);
    // What was accepted is finished when the input ends.
    program.send(&[json!({"type": "prompt", "message": "3 + 3?"})]);
    program.close();
    let said = scratch.said();
    let wanted = [("user", "2 + 2?"), ("assistant", "Four."), ("user", "3 + 3?"), ("assistant", "Six.")];
    assert_eq!(pairs(&said), wanted);
}

#[test]
fn permission_is_asked_for() {
    let touch = |name: &str| calls("bash", json!({"command": format!("touch {name}")}));
    let scratch = Scratch::new(&[
        touch("one"),
        says("Yes."),
        touch("two"),
        says("No."),
        touch("three"),
        says("Never."),
    ]);
    let mut program = scratch.start();
    let asked = |program: &mut Program, confirmed: bool| {
        program.ok(json!({"type": "prompt", "message": "Touch."}));
        let question = program.event("extension_ui_request");
        assert_eq!(question["method"], "confirm");
        assert!(string(&question["message"]).contains("touch"), "{question}");
        // An answer to another question is none.
        program.send(&[
            json!({"type": "extension_ui_response", "id": "other", "confirmed": true}),
            json!({"type": "extension_ui_response", "id": question["id"], "confirmed": confirmed}),
        ]);
        program.event("tool_execution_end")["isError"].clone()
    };
    assert_eq!(asked(&mut program, true), false);
    program.event("agent_end");
    assert_eq!(asked(&mut program, false), true);
    program.event("agent_end");
    assert!(scratch.path("one").exists() && !scratch.path("two").exists());
    program.close();

    // No answer in time means no; and so does that nobody is there to answer.
    let scratch = Scratch::new(&[touch("one"), says("Late."), touch("two"), says("Gone.")]);
    let mut command = scratch.command();
    command.args(["--model", "replay/answers.jsonl"]).env("RAMAL_CONFIRM_TIMEOUT_MS", "20");
    let mut program = Program::start(&mut command);
    program.say("Touch.");
    program.close();
    let mut program = scratch.start();
    program.send(&[json!({"type": "prompt", "message": "Touch."})]);
    program.event("extension_ui_request");
    program.close();
    assert!(!scratch.path("one").exists() && !scratch.path("two").exists());
    assert_eq!(scratch.said().last().unwrap().0, "assistant");

    // With --yes nobody is asked.
    let scratch = Scratch::new(&[touch("one"), says("Done.")]);
    let mut program = Program::start(scratch.command().args(["--model", "replay/answers.jsonl", "--yes"]));
    program.say("Touch.");
    assert!(scratch.path("one").exists());
}

#[test]
fn a_navigation_and_its_abort_in_one_write() {
    let scratch = Scratch::new(&[says("One."), says("Two."), dawdles("Summary"), says("## Summary")]);
    let mut program = scratch.start();
    program.say("First");
    program.say("Second");
    let messages = program.ok(json!({"type": "get_fork_messages"}));
    let target = &messages["messages"][1]["entryId"];
    let before = program.ok(json!({"type": "get_state"}))["leafId"].clone();
    let entries = program.ok(json!({"type": "get_state"}))["entryCount"].clone();
    program.send(&[
        json!({"id": "go", "type": "navigate_tree", "targetId": target, "summarize": true}),
        json!({"id": "stop", "type": "abort"}),
        json!({"id": "state", "type": "get_state"}),
    ]);
    let mut answers: Vec<Value> = ["stop", "state"].iter().map(|id| program.answer(*id)).collect();
    let done = program.passed.iter().position(|line| line["id"] == "go");
    answers.push(done.map(|at| program.passed.remove(at)).unwrap_or_else(|| program.answer("go")));
    assert!(answers.iter().all(|answer| answer["success"] == true), "{answers:#?}");
    assert_eq!(answers[2]["data"], json!({"cancelled": true, "aborted": true}));
    let state = program.ok(json!({"type": "get_state"}));
    assert_eq!((&state["leafId"], &state["entryCount"]), (&before, &entries), "nothing is changed");

    // Now to the end.
    let done =
        program.ok(json!({"type": "navigate_tree", "targetId": target, "summarize": true, "label": "tried"}));
    assert_eq!((&done["cancelled"], &done["editorText"]), (&json!(false), &json!("Second")));
    assert_eq!(done["summaryEntry"]["type"], "branch_summary");
    assert!(string(&done["summaryEntry"]["summary"]).contains("Summary"), "{done}");
    let label = program.ok(json!({"type": "get_label", "entryId": done["summaryEntry"]["id"]}));
    assert_eq!(label["label"], "tried");
    program.close();
}

#[test]
fn one_navigation_at_a_time() {
    let scratch = Scratch::new(&[says("One."), says("Two."), dawdles("Summary")]);
    let mut program = scratch.start();
    program.say("First");
    program.say("Second");
    let messages = program.ok(json!({"type": "get_fork_messages"}));
    let target = &messages["messages"][0]["entryId"];
    program.send(&[
        json!({"id": 1, "type": "navigate_tree", "targetId": target, "summarize": true}),
        json!({"id": 2, "type": "navigate_tree", "targetId": target}),
        json!({"id": 3, "type": "set_leaf", "entryId": null}),
        json!({"id": 4, "type": "get_entries"}),
    ]);
    for id in [2, 3] {
        let refused = program.answer(id);
        assert!(string(&refused["error"]).contains("busy"), "{refused}");
    }
    // Reads are not held up.
    assert_eq!(program.answer(4)["success"], true);
    program.send(&[json!({"type": "abort"})]);
    assert_eq!(program.answer(1)["data"]["aborted"], true);
}

#[test]
fn what_may_and_may_not_be_done_during_a_turn() {
    let scratch = Scratch::new(&[says("One."), dawdles("Two"), dawdles("Three"), dawdles("Three")]);
    let mut program = scratch.start();
    program.say("First");
    let first = program.ok(json!({"type": "get_state"}))["leafId"].clone();
    program.begin("Second");
    assert_eq!(program.ok(json!({"type": "get_state"}))["isStreaming"], true);
    for request in [
        json!({"type": "set_leaf", "entryId": first}),
        json!({"type": "branch_with_summary", "entryId": null, "summary": "s"}),
        json!({"type": "create_branched_session", "leafId": first}),
        json!({"type": "prompt", "message": "Third"}),
    ] {
        let why = program.refused(request);
        assert!(why.contains("busy"), "{why}");
    }
    program.ok(json!({"type": "set_label", "entryId": first, "label": "here"}));
    let note = json!({"type": "custom", "customType": "note", "data": 1});
    program.ok(json!({"type": "append", "entry": note}));
    // What is said by others meanwhile stands beside the turn, not in it.
    let other = json!({"type": "message", "message": {"role": "user", "content": "Aside"}});
    program.ok(json!({"type": "append", "entry": other}));
    // A command's output waits until the turn has ended.
    program.ok(json!({"type": "bash", "command": "echo out"}));
    assert!(scratch.said().iter().all(|(role, _)| role != "bashExecution"));
    // An abort reaches a navigation that waits for the turn to end, whether it has asked the model or not.
    let target = json!({"type": "navigate_tree", "id": "go", "targetId": first, "summarize": true});
    program.send(&[target, json!({"type": "abort"})]);
    assert_eq!(program.answer("go")["data"], json!({"cancelled": true, "aborted": true}));
    program.begin("Once more");
    // A navigation ends the turn; what it had is stored.
    let moved = program.ok(json!({"type": "navigate_tree", "targetId": first}));
    assert_eq!(moved["cancelled"], false);
    assert_eq!(program.ok(json!({"type": "get_state"}))["leafId"], first);
    let said = scratch.said();
    let wanted = [
        ("user", "First"),
        ("assistant", "One."),
        ("user", "Second"),
        ("user", "Aside"),
        ("assistant", "Two"),
        ("bashExecution", ""),
        ("user", "Once more"),
        ("assistant", "Three"),
    ];
    assert_eq!(pairs(&said), wanted);
    let path = program.ok(json!({"type": "get_branch", "fromId": null}));
    assert_eq!(path["entries"], json!([]));
    program.close();
}

#[test]
fn what_waits_to_be_said() {
    let run = calls("bash", json!({"command": "sleep 0.5"}));
    let scratch =
        Scratch::new(&[run, says("Steered."), says("Followed."), dawdles("Slow"), says("Instead.")]);
    let mut program = Program::start(scratch.command().args(["--model", "replay/answers.jsonl", "--yes"]));
    program.ok(json!({"type": "prompt", "message": "Go"}));
    program.event("tool_execution_start");
    program.ok(json!({"type": "follow_up", "message": "Later"}));
    program.ok(json!({"type": "steer", "message": "Sooner"}));
    program.ok(json!({"type": "prompt", "message": "Not at all", "streamingBehavior": "followUp"}));
    assert_eq!(program.ok(json!({"type": "get_state"}))["pendingMessageCount"], 3);
    let taken = program.ok(json!({"type": "clear_queue"}));
    assert_eq!(taken, json!({"steering": ["Sooner"], "followUp": ["Later", "Not at all"]}));
    program.ok(json!({"type": "follow_up", "message": "Later"}));
    program.ok(json!({"type": "steer", "message": "Sooner"}));
    program.event("agent_end");
    program.begin("Again");
    program.ok(json!({"type": "abort_and_prompt", "message": "Better"}));
    program.wait(|line| line["type"] == "agent_end" && text_of(&line["messages"][0]) == "Better");
    program.close();
    let said: Vec<String> =
        scratch.said().into_iter().map(|(_, text)| text).filter(|text| !text.is_empty()).collect();
    let at = said.iter().position(|text| text == "Sooner").unwrap();
    assert_eq!(
        said[at..],
        ["Sooner", "Steered.", "Later", "Followed.", "Again", "Slow", "Better", "Instead."]
    );
}

#[test]
fn a_compaction() {
    let long = "word ".repeat(20_000);
    let scratch = Scratch::new(&[says(&long), says(&long), says("## Goal\nAll of it"), says("Of this turn")]);
    let mut program = scratch.start();
    program.say("First");
    program.say("Second");
    let done = program.ok(json!({"type": "compact", "customInstructions": "Be brief."}));
    assert!(string(&done["summary"]).contains("All of it"), "{done}");
    assert!(
        done["firstKeptEntryId"].is_string() && done["tokensBefore"].as_u64().unwrap() > 20_000,
        "{done}"
    );
    assert!(program.passed.iter().any(|line| line["type"] == "compaction_end" && line["aborted"] == false));
    let messages = program.ok(json!({"type": "get_messages"}));
    assert_eq!(messages["messages"][0]["role"], "compactionSummary");
    program.close();
}

#[test]
fn commands_of_the_user() {
    let scratch = Scratch::new(&[says("One.")]);
    let mut program = scratch.start();
    program.say("First");
    let done = program.ok(json!({"type": "bash", "command": "echo out; exit 3"}));
    assert_eq!(done, json!({"output": "out", "exitCode": 3, "cancelled": false, "truncated": false}));
    program.send(&[
        json!({"id": 1, "type": "bash", "command": "sleep 600"}),
        json!({"id": 2, "type": "bash", "command": "true"}),
        json!({"id": 3, "type": "abort_bash"}),
    ]);
    let mut answers = Vec::new();
    for _ in 0..3 {
        answers.push(program.event("response"));
    }
    let of = |id: u64| answers.iter().find(|answer| answer["id"] == id).unwrap();
    assert_eq!((&of(1)["data"]["cancelled"], &of(3)["success"]), (&json!(true), &json!(true)));
    assert_eq!(of(2)["success"], false, "one at a time");
    let last = program.ok(json!({"type": "get_messages"}));
    let commands: Vec<&Value> =
        last["messages"].as_array().unwrap().iter().filter(|m| m["role"] == "bashExecution").collect();
    assert_eq!(commands.len(), 2);
    program.close();
}

#[test]
fn choices() {
    let scratch = Scratch::new(&[says("One.")]);
    let mut program = scratch.start();
    let model = program.ok(json!({"type": "set_model", "provider": "replay", "modelId": "other.jsonl"}));
    assert_eq!((&model["provider"], &model["id"]), (&json!("replay"), &json!("other.jsonl")));
    assert!(
        program.refused(json!({"type": "set_model", "provider": "none", "modelId": "x"})).contains("none/x")
    );
    program.ok(json!({"type": "set_thinking_level", "level": "high"}));
    assert_eq!(program.ok(json!({"type": "cycle_thinking_level"}))["level"], "xhigh");
    program.ok(json!({"type": "set_steering_mode", "mode": "all"}));
    program.ok(json!({"type": "set_follow_up_mode", "mode": "one-at-a-time"}));
    program.ok(json!({"type": "set_auto_compaction", "enabled": false}));
    program.ok(json!({"type": "set_auto_retry", "enabled": false}));
    let state = program.ok(json!({"type": "get_state"}));
    assert_eq!((&state["model"]["id"], &state["thinkingLevel"]), (&json!("other.jsonl"), &json!("xhigh")));
    assert_eq!((&state["steeringMode"], &state["followUpMode"]), (&json!("all"), &json!("one-at-a-time")));
    assert_eq!(state["autoCompactionEnabled"], false);
    assert_eq!(program.ok(json!({"type": "get_commands"})), json!({"commands": []}));
    for (request, named) in [
        (json!({"type": "prompt"}), "message"),
        (json!({"type": "prompt", "message": "x", "images": [{}]}), "images"),
        (json!({"type": "prompt", "message": "x", "streamingBehavior": "no"}), "streamingBehavior"),
        (json!({"type": "set_steering_mode", "mode": "some"}), "mode"),
        (json!({"type": "set_auto_retry"}), "enabled"),
        (json!({"type": "bash"}), "command"),
    ] {
        assert!(program.refused(request).contains(named), "{named}");
    }
    program.close();
}

#[test]
fn without_a_model_the_tree_is_served() {
    let scratch = Scratch::new(&[]);
    let mut program = Program::start(&mut scratch.command());
    let entry = json!({"type": "message", "message": {"role": "user", "content": "Hello"}});
    let id = program.ok(json!({"type": "append", "entry": entry}))["entryId"].clone();
    program.ok(json!({"type": "append", "entry": entry}));
    for request in [
        json!({"type": "prompt", "message": "x"}),
        json!({"type": "navigate_tree", "targetId": id, "summarize": true}),
    ] {
        assert!(program.refused(request).contains("no model"));
    }
    assert_eq!(program.ok(json!({"type": "navigate_tree", "targetId": id}))["editorText"], "Hello");
    program.close();
}

#[test]
#[allow(clippy::disallowed_methods, reason = "settings of a folder made up here")]
fn addresses_are_told_without_what_is_secret_in_them() {
    let scratch = Scratch::new(&[]);
    fs::create_dir_all(scratch.path("CONFIG/ramal")).unwrap();
    let provider = "[providers.mine]\napi = \"openai-completions\"\napi_key = \"none\"\n\
        base_url = \"http://me:sk-secret@localhost:1/v1?key=sk-secret\"\n\
        models = [{ id = \"m\", context_window = 9, max_output = 3 }]\n";
    fs::write(scratch.path("CONFIG/ramal/models.toml"), provider).unwrap();
    let mut program = Program::start(scratch.command().args(["--model", "mine/m"]));
    let listed = program.ok(json!({"type": "get_available_models"}));
    let mine = listed["models"].as_array().unwrap().iter().find(|model| model["provider"] == "mine").unwrap();
    assert_eq!(mine["baseUrl"], "http://…@localhost:1/v1?key=…");
    let set = program.ok(json!({"type": "set_model", "provider": "mine", "modelId": "m"}));
    assert_eq!(set["baseUrl"], mine["baseUrl"]);
    let state = program.ok(json!({"type": "get_state"}));
    assert!(!format!("{listed} {set} {state}").contains("sk-secret"), "{state}");
    program.close();
}

#[test]
fn killed_at_work() {
    // In the middle of an answer.
    let scratch = Scratch::new(&[
        json!({"when": "Go on", "events": [{"text": "Going on."}]}),
        says("One."),
        dawdles("Two"),
    ]);
    let mut program = scratch.start();
    program.say("First");
    program.begin("Second");
    program.kill();
    let said = scratch.said();
    assert_eq!(pairs(&said), [("user", "First"), ("assistant", "One."), ("user", "Second")]);
    let mut program = scratch.start();
    assert_eq!(program.ok(json!({"type": "get_state"}))["interrupted"], true);
    program.say("Go on");
    assert_eq!(program.ok(json!({"type": "get_state"})).get("interrupted"), None);
    program.close();
    assert_eq!(scratch.said().last().unwrap().1, "Going on.");

    // While a tool runs.
    let scratch = Scratch::new(&[
        json!({"when": "Go on", "events": [{"text": "Going on."}]}),
        calls("bash", json!({"command": "sleep 2"})),
    ]);
    let mut program = Program::start(scratch.command().args(["--model", "replay/answers.jsonl", "--yes"]));
    program.ok(json!({"type": "prompt", "message": "Sleep"}));
    program.event("tool_execution_start");
    program.kill();
    assert_eq!(scratch.said().len(), 2);
    let mut program = scratch.start();
    // The call that has no result gets one in what goes to the model.
    let messages = program.ok(json!({"type": "get_model_messages"}));
    assert_eq!(messages["messages"][2]["role"], "toolResult", "{messages}");
    program.say("Go on");
    program.close();
    assert_eq!(scratch.said().last().unwrap().1, "Going on.");
}

#[test]
fn messages_in_pages() {
    let scratch = Scratch::new(&[says("One."), says("Two.")]);
    let mut program = scratch.start();
    program.say("First");
    program.say("Second");
    let all = program.ok(json!({"type": "get_messages"}))["messages"].clone();
    assert_eq!(all.as_array().unwrap().len(), 4);
    let (mut pages, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = program.ok(json!({"type": "get_messages_page", "cursor": cursor, "limit": 3}));
        pages.extend(page["messages"].as_array().unwrap().clone());
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
        assert_eq!(pages.len(), 3);
    }
    assert_eq!(Value::Array(pages), all);
    assert!(program.refused(json!({"type": "get_messages_page", "cursor": "x"})).contains("cursor"));
    assert!(program.refused(json!({"type": "get_messages_page", "limit": 257})).contains("limit"));
    program.close();
}

#[test]
fn ended_by_a_signal() {
    // What was streamed is kept.
    let scratch = Scratch::new(&[dawdles("It began.")]);
    let mut program = scratch.start();
    program.begin("Go");
    program.signalled(libc::SIGTERM);
    assert_eq!(pairs(&scratch.said()), [("user", "Go"), ("assistant", "It began.")]);

    // What was run is ended, whoever ran it, and the model will be told.
    let command = "echo $$ > pid; exec sleep 600";
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        let scratch = Scratch::new(&[calls("bash", json!({"command": command}))]);
        let mut program =
            Program::start(scratch.command().args(["--model", "replay/answers.jsonl", "--yes"]));
        program.ok(json!({"type": "prompt", "message": "Sleep"}));
        let pid = scratch.pid();
        program.signalled(signal);
        assert!(is_gone(pid), "{pid} is still there after {signal}");
        assert_eq!(scratch.said().last().unwrap().0, "toolResult");
    }
    let scratch = Scratch::new(&[]);
    let mut program = scratch.start();
    program.send(&[json!({"type": "bash", "command": command})]);
    let pid = scratch.pid();
    program.signalled(libc::SIGTERM);
    assert!(is_gone(pid), "{pid} is still there");
}

/// Whether there is no such process, or only what is left of one.
fn is_gone(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    if cfg!(target_os = "linux") {
        stat.rsplit(')').next().is_none_or(|rest| rest.trim().is_empty() || rest.trim().starts_with('Z'))
    } else {
        // SAFETY: signal 0 only asks.
        unsafe { libc::kill(pid, 0) != 0 }
    }
}

#[test]
fn a_client_that_does_not_read_holds_up_no_turn() {
    let long = "word ".repeat(200_000);
    let scratch = Scratch::new(&[says(&long), says(&long)]);
    let mut child = scratch.command().args(["--model", "replay/answers.jsonl"]).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for number in 0..2 {
        let request =
            json!({"type": "prompt", "message": "Go", "streamingBehavior": "followUp", "id": number});
        input.write_all(format!("{request}\n").as_bytes()).unwrap();
    }
    let whole = || {
        let text = fs::read_to_string(scratch.path("session.jsonl")).unwrap_or_default();
        text.lines().filter(|line| line.contains("\"assistant\"")).count() == 2
    };
    let begun = std::time::Instant::now();
    while !whole() {
        assert!(begun.elapsed() < TOO_LONG, "the turn does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    // What ends something is read all the same, and the program ends when the client goes.
    input.write_all(b"{\"type\":\"abort\"}\n").unwrap();
    drop(input);
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

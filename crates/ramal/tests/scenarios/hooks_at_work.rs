//! A client that takes part in turns, in compaction, and where a session is left for another.

use ramal_testing::log::string;
use ramal_testing::says::{calls, says};
use serde_json::{Value, json};

use crate::hooks::{hook, question, respond};
use crate::world::{API, World, text};

#[test]
fn what_the_model_sees() {
    let world = World::new(vec![text("One."), text("Two.")]);
    let mut program = world.start();
    hook(&mut program, &["context"]);
    program.send(&[json!({"type": "prompt", "message": "First"})]);
    let asked = question(&mut program, "context");
    assert_eq!(asked["messages"].as_array().unwrap().len(), 1);
    // An append while it is asked is no deadlock, and in the context from the next request on.
    let note = json!({"type": "custom_message", "customType": "note", "content": "NOTED", "display": true});
    program.ok(json!({"type": "append", "entry": note}));
    let mut messages = asked["messages"].clone();
    messages[0]["content"] = json!([{"type": "text", "text": "Other words"}]);
    respond(&mut program, &asked, json!({"messages": messages}));
    program.event("agent_end");
    program.send(&[json!({"type": "prompt", "message": "Second"})]);
    let asked = question(&mut program, "context");
    respond(&mut program, &asked, json!({}));
    program.event("agent_end");
    world.finish(program);
    assert_eq!(world.asked()[0].said, ["user: Other words"]);
    let said = world.last_said();
    assert_eq!(said, ["user: First", "user: NOTED", "assistant: One.", "user: Second"]);
    let told = world.told();
    assert_eq!(told, ["user: First", "custom_message", "assistant: One.", "user: Second", "assistant: Two."]);
    assert_eq!(world.path_to(&world.id_of("assistant: Two.")), told);
}

#[test]
fn calls_and_their_results() {
    let works = calls("t1", "ls", json!({})).and_calls("t2", "read", json!({"path": "a.txt"}));
    let world = World::new(vec![works.reply(API), text("Done.")]);
    world.scratch.write("a.txt", "alpha");
    let mut program = world.start();
    hook(&mut program, &["tool_call", "tool_result"]);
    program.send(&[json!({"type": "prompt", "message": "Go"})]);
    let asked = question(&mut program, "tool_call");
    assert_eq!(
        (&asked["toolCallId"], &asked["toolName"], &asked["input"]),
        (&json!("t1"), &json!("ls"), &json!({}))
    );
    respond(&mut program, &asked, json!({"block": true, "reason": "not here"}));
    let asked = question(&mut program, "tool_result");
    assert_eq!((&asked["toolCallId"], &asked["isError"]), (&json!("t1"), &json!(true)));
    respond(&mut program, &asked, Value::Null);
    let asked = question(&mut program, "tool_call");
    assert_eq!(asked["input"], json!({"path": "a.txt"}));
    respond(&mut program, &asked, json!({}));
    let asked = question(&mut program, "tool_result");
    assert_eq!(asked["content"][0]["text"], "alpha");
    respond(&mut program, &asked, json!({"content": [{"type": "text", "text": "omega"}]}));
    program.event("agent_end");
    world.finish(program);
    let said = world.last_said();
    assert!(said[3].starts_with("result: ") && said[3].contains("not here"), "{said:#?}");
    assert_eq!(said[4], "result: omega");
    assert_eq!(world.told()[3], "result: omega");
}

/// Everything but the last message is summed up.
const KEEP: &str = "[compaction]\nkeepRecentTokens = 1\n";

#[test]
fn a_compaction_supplied() {
    let world = World::of(API, 200_000, KEEP, vec![text("One."), text("Two."), text("Three.")]);
    let mut program = world.start();
    program.say("First");
    program.say("Second");
    hook(&mut program, &["session_before_compact", "session.compacting", "session_compact"]);
    program.send(&[json!({"id": "go", "type": "compact", "customInstructions": "Mind it."})]);
    let asked = question(&mut program, "session_before_compact");
    assert_eq!(asked["customInstructions"], "Mind it.");
    assert_eq!(asked["branchEntries"].as_array().unwrap().len(), 4);
    let preparation = &asked["preparation"];
    assert_eq!(preparation["messagesToSummarize"].as_array().unwrap().len(), 2);
    assert_eq!(preparation["firstKeptEntryId"], world.id_of("assistant: Two."));
    let kept = world.id_of("user: Second");
    let note = json!({"type": "custom_message", "customType": "note", "content": "NOTED", "display": true});
    program.ok(json!({"type": "append", "entry": note}));
    let supplied =
        json!({"summary": "THEIRS", "firstKeptEntryId": kept, "tokensBefore": 7, "details": {"x": 1}});
    respond(&mut program, &asked, json!({"compaction": supplied}));
    // Nobody is asked what to mind where it is supplied.
    let after = question(&mut program, "session_compact");
    assert_eq!(after["fromExtension"], true);
    for key in ["summary", "firstKeptEntryId", "tokensBefore", "details"] {
        assert_eq!(after["compactionEntry"][key], supplied[key]);
    }
    respond(&mut program, &after, Value::Null);
    assert_eq!(program.answer("go")["data"]["summary"], "THEIRS");
    program.say("Third");
    world.finish(program);
    let said = world.last_said();
    let all = said.concat();
    let places = ["THEIRS", "Second", "Two.", "NOTED", "Third"].map(|words| all.find(words));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{said:#?}");
    assert!(!all.contains("First"), "{said:#?}");
    let entries = world.entries();
    let compaction = entries.iter().find(|entry| entry["type"] == "compaction").unwrap();
    assert_eq!((compaction, &compaction["fromExtension"]), (&after["compactionEntry"], &json!(true)));
}

#[test]
fn a_compaction_with_another_prompt() {
    let world = World::of(API, 200_000, KEEP, vec![text("One."), text("Two."), text("NOTES"), text("TURN")]);
    let mut program = world.start();
    program.say("First");
    program.say("Second");
    hook(&mut program, &["session.compacting"]);
    program.send(&[json!({"id": "go", "type": "compact"})]);
    let asked = question(&mut program, "session.compacting");
    assert_eq!(asked["sessionId"], program.state()["sessionId"]);
    assert_eq!(asked["messages"].as_array().unwrap().len(), 3);
    let result =
        json!({"prompt": "THEIR PROMPT", "context": ["MIND THIS"], "preserveData": {"kept": [1, 2.0]}});
    respond(&mut program, &asked, result);
    assert_eq!(program.answer("go")["success"], true);
    world.finish(program);
    let asked = world.asked();
    let (history, turn) = (&asked[2].said[0], &asked[3].said[0]);
    assert!(history.contains("THEIR PROMPT") && history.contains("MIND THIS"), "{history}");
    assert!(!history.contains("has become too long") && turn.contains("MIND THIS"), "{history}");
    assert_eq!(world.entries()[4]["preserveData"], json!({"kept": [1, 2.0]}));
}

#[test]
fn a_compaction_refused() {
    let world = World::of(API, 200_000, KEEP, vec![text("One."), text("Two.")]);
    let mut program = world.start();
    program.say("First");
    program.say("Second");
    let bytes = world.bytes();
    hook(&mut program, &["session_before_compact"]);
    program.send(&[json!({"id": "go", "type": "compact"})]);
    let asked = question(&mut program, "session_before_compact");
    respond(&mut program, &asked, json!({"cancel": true}));
    let answer = program.answer("go");
    assert_eq!(answer["success"], false, "{answer}");
    let end = program.find(|line| line["type"] == "compaction_end");
    assert_eq!((&end["aborted"], &end["result"]), (&json!(true), &Value::Null));
    world.finish(program);
    assert_eq!(world.bytes(), bytes);
}

#[test]
fn a_branch() {
    let world = World::new(vec![text("One."), text("Two."), text("Three.")]);
    let mut program = world.start();
    program.say("First");
    program.say("Second");
    let (old, bytes) = (program.state(), world.bytes());
    let entry = world.id_of("user: Second");
    hook(&mut program, &["session_before_branch", "session_branch"]);
    program.send(&[json!({"id": "no", "type": "branch", "entryId": entry})]);
    let asked = question(&mut program, "session_before_branch");
    assert_eq!(asked["entryId"], entry);
    respond(&mut program, &asked, json!({"cancel": true}));
    assert_eq!(program.answer("no")["data"], json!({"text": "Second", "cancelled": true}));
    assert_eq!(program.state(), old);

    // The new session is made; what the model sees stays.
    program.send(&[json!({"id": "yes", "type": "branch", "entryId": entry})]);
    let asked = question(&mut program, "session_before_branch");
    respond(&mut program, &asked, json!({"skipConversationRestore": true}));
    let after = question(&mut program, "session_branch");
    assert_eq!(after["previousSessionFile"], old["sessionFile"]);
    respond(&mut program, &after, Value::Null);
    assert_eq!(program.answer("yes")["data"], json!({"text": "Second", "cancelled": false}));
    program.say("Third");
    let file = string(&program.state()["sessionFile"]);
    world.finish(program);
    let said = world.last_said();
    assert_eq!(said, ["user: First", "assistant: One.", "user: Second", "assistant: Two.", "user: Third"]);
    assert_eq!(world.bytes(), bytes);
    let entries = ramal_testing::log::entries(file.as_ref());
    let told: Vec<String> = entries.iter().map(ramal_testing::log::told).collect();
    assert_eq!(told, ["user: First", "assistant: One.", "user: Third", "assistant: Three."]);
}

#[test]
fn a_turn_that_is_aborted_while_a_question_is_open() {
    let world = World::new(vec![says("I look.").and_calls("t1", "ls", json!({})).reply(API), text("Fine.")]);
    let mut program = world.start();
    hook(&mut program, &["tool_call"]);
    program.ok(json!({"type": "prompt", "message": "First"}));
    let asked = question(&mut program, "tool_call");
    // A turn is not moved away from by whoever it waits for, without ending it.
    let why = program.refused(json!({"type": "set_leaf", "entryId": null}));
    assert!(why.contains("busy"), "{why}");
    program.ok(json!({"type": "abort"}));
    let ended = program.find(|line| line["type"] == "hook_request_ended");
    assert_eq!((&ended["id"], &ended["reason"]), (&asked["id"], &json!("aborted")));
    program.find(|line| line["type"] == "agent_end");
    respond(&mut program, &asked, json!({"block": true, "reason": "LATE"}));
    program.say("Second");
    world.finish(program);
    let said = world.last_said();
    assert!(said[2].starts_with("call: ls") && said[3].starts_with("result: "), "{said:#?}");
    assert!(!said.concat().contains("LATE") && said.last().unwrap().ends_with("Second"), "{said:#?}");
}

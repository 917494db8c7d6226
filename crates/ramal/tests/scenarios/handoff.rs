//! The work handed off to a new session.

use std::path::Path;

use ramal_testing::log::{self, told};
use ramal_testing::program::Program;
use ramal_testing::says::{calls, says};
use serde_json::{Value, json};

use crate::world::{API, APIS, World, failure, replies, text};

/// Words of the built-in prompt.
const PROMPT: &str = "an agent that has seen nothing of it";

fn header(path: &Path) -> Value {
    serde_json::from_str(std::fs::read_to_string(path).unwrap().lines().next().unwrap()).unwrap()
}

#[test]
fn the_new_session_begins_with_the_brief() {
    for api in APIS {
        let reads = calls("t1", "read", json!({"path": "notes.md"}));
        let brief = says("## Goal\nWeek 53 is kept.").counted(700, 20);
        let script = [reads, says("It says week 53."), brief, says("On it.")];
        let world = World::of(api, 200_000, "", replies(api, &script));
        world.scratch.write("notes.md", "Week 53.\n");
        let mut program = world.start();
        program.say("Read the notes");
        let (bytes, old) = (world.bytes(), program.state());
        program.passed.clear();
        let done = program.ok(json!({"type": "handoff", "customInstructions": "Mind the leap years."}));
        let names: Vec<&Value> = program.passed.iter().map(|line| &line["type"]).collect();
        assert_eq!(names, ["session_replaced"], "no turn begins");
        let state = program.state();
        assert_ne!(state["sessionFile"], old["sessionFile"]);
        assert_eq!((&state["leafId"], &done["previousSessionFile"]), (&done["entryId"], &old["sessionFile"]));
        let file = state["sessionFile"].as_str().unwrap().to_owned();
        let before = log::entries(Path::new(&file));
        let entry = before.last().unwrap();
        assert_eq!((&entry["type"], &entry["customType"]), (&json!("custom_message"), &json!("handoff")));
        program.say("Go on");
        let stats = program.ok(json!({"type": "get_session_stats"}));
        assert!(stats["tokens"]["input"].as_f64().unwrap() >= 700.0, "{stats}");
        world.finish(program);

        let asked = world.asked();
        let brief = &asked[2].said[0];
        assert!(brief.contains(PROMPT) && brief.contains("Mind the leap years."), "{brief}");
        assert!(brief.contains("Read the notes") && brief.contains("It says week 53."), "{brief}");
        assert_eq!(asked[2].tools, 0);
        let said = asked[3].said.concat();
        assert!(said.contains("Week 53 is kept.") && said.contains("<read-files>\nnotes.md"), "{said}");
        assert!(said.ends_with("Go on") && !said.contains("Read the notes"), "{said}");
        assert_eq!(world.bytes(), bytes, "the old session is as it was");
        assert_eq!(header(Path::new(&file))["parentSession"], old["sessionFile"]);
        let entries: Vec<String> = log::entries(Path::new(&file)).iter().map(told).collect();
        assert_eq!(entries[entries.len() - 2..], ["user: Go on", "assistant: On it."]);
    }
}

#[test]
fn a_killed_program_has_lost_no_brief() {
    let world = World::new(vec![text("One."), text("The brief."), text("Two.")]);
    let mut program = world.start();
    program.say("First");
    program.ok(json!({"type": "handoff"}));
    let state = program.state();
    program.kill();
    let file = state["sessionFile"].as_str().unwrap();
    let mut program = Program::start(world.scratch.command().args(["--session", file]));
    let again = program.state();
    assert_eq!((&again["sessionId"], &again["leafId"]), (&state["sessionId"], &state["leafId"]));
    program.say("Second");
    world.finish(program);
    let said = world.last_said().concat();
    assert!(said.contains("The brief.") && said.ends_with("Second"), "{said}");
}

#[test]
fn an_abort_moves_nothing() {
    let world = World::new(vec![text("One."), says("Half a br").stalled(API), text("Two.")]);
    let mut program = world.start();
    program.say("First");
    let (bytes, state) = (world.bytes(), program.state());
    program.send(&[json!({"id": 1, "type": "handoff"})]);
    world.server.wait_for_request(2);
    program.ok(json!({"type": "abort"}));
    let answer = program.answer(1);
    assert_eq!((&answer["success"], &answer["data"]), (&json!(true), &Value::Null), "{answer}");
    world.server.wait_for_hang_up(1);
    assert_eq!((program.state(), world.bytes()), (state, bytes));
    program.say("Second");
    world.finish(program);
    assert_eq!(world.last_said(), ["user: First", "assistant: One.", "user: Second"]);
}

#[test]
fn what_fails_moves_nothing() {
    let refused = failure(401, "authentication_error", "invalid x-api-key");
    let world = World::new(vec![text("One."), refused]);
    let mut program = world.start();
    let why = program.refused(json!({"type": "handoff"}));
    assert!(why.contains("nothing to hand off"), "{why}");
    let why = program.refused(json!({"type": "handoff", "customInstructions": 3}));
    assert!(why.contains("customInstructions"), "{why}");
    program.say("First");
    let (bytes, state) = (world.bytes(), program.state());
    let why = program.refused(json!({"type": "handoff"}));
    assert!(why.contains("invalid x-api-key"), "{why}");
    assert_eq!((program.state(), world.bytes()), (state, bytes));
    world.finish(program);
}

#[test]
fn what_the_turn_had_is_in_the_brief() {
    let world = World::new(vec![says("Half").stalled(API), text("The brief.")]);
    let mut program = world.start();
    program.begin("First");
    program.ok(json!({"type": "handoff"}));
    world.finish(program);
    assert_eq!(world.told(), ["user: First", "assistant: Half"]);
    let asked = world.last_said().concat();
    assert!(asked.contains("Half"), "{asked}");
}

#[test]
fn a_client_may_have_something_against_it() {
    let world = World::new(vec![text("One.")]);
    let mut program = world.start();
    program.say("First");
    let state = program.state();
    program.ok(json!({"type": "set_hooks", "events": ["session_before_switch"]}));
    program.send(&[json!({"id": 1, "type": "handoff"})]);
    let asked = program.event("hook_request");
    assert_eq!(asked["reason"], "new");
    program.send(&[json!({"type": "hook_response", "id": asked["id"], "result": {"cancel": true}})]);
    assert_eq!(program.answer(1)["data"], Value::Null);
    assert_eq!(program.state(), state);
    world.finish(program);
}

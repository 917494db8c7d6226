//! Killed (SIGKILL) in each phase of the work, and opened again.

use std::fs;

use ramal_testing::program::Program;
use ramal_testing::says::{calls, says};
use ramal_testing::server::Reply;
use serde_json::{Value, json};

use crate::world::{API, World, text};

/// Whether a session that was opened again says that its turn was interrupted.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Interrupted {
    Yes,
    No,
}

/// Kills the program, looks at what is left, opens it, and goes on: the log holds `told`, and the model
/// sees `said`.
#[track_caller]
pub(crate) fn kill(world: &World, program: Program, interrupted: Interrupted, told: &[&str], said: &[&str]) {
    program.kill();
    assert_eq!(world.told(), told);
    let bytes = world.bytes();
    world.server.script(vec![text("Going on.")]);
    let mut program = world.start();
    let state = program.state();
    assert_eq!(state["interrupted"] == true, interrupted == Interrupted::Yes, "{state}");
    assert_eq!(state["damagedLines"], 0);
    assert_eq!(world.bytes(), bytes, "opening writes nothing");
    program.say("Go on");
    let state = program.state();
    assert_eq!(state.get("interrupted"), None, "{state}");
    world.finish(program);
    assert!(world.bytes().starts_with(&bytes), "nothing is rewritten");
    assert_eq!(world.last_said(), [said, &["user: Go on"]].concat());
    let path = world.path_to(&state["leafId"]);
    assert_eq!(path[path.len() - 2..], ["user: Go on", "assistant: Going on."]);
}

const TURN: [&str; 2] = ["user: First", "assistant: One."];
const TURNS: [&str; 4] = ["user: First", "assistant: One.", "user: Second", "assistant: Two."];

/// A session after one turn; what comes is answered with `reply`.
fn after_one(reply: Reply) -> (World, Program) {
    let world = World::new(vec![text("One."), reply]);
    let mut program = world.start();
    program.say("First");
    (world, program)
}

#[test]
fn between_two_prompts() {
    let world = World::new(vec![text("One."), text("Two.")]);
    let mut program = world.start();
    program.say("First");
    program.say("Second");
    kill(&world, program, Interrupted::No, &TURNS, &TURNS);
}

#[test]
fn before_the_first_byte_of_an_answer() {
    let (world, mut program) = after_one(Reply::silence());
    program.ok(json!({"type": "prompt", "message": "Second"}));
    world.server.wait_for_request(2);
    kill(&world, program, Interrupted::Yes, &TURNS[..3], &TURNS[..3]);
}

#[test]
fn in_the_middle_of_an_answer() {
    let (world, mut program) = after_one(says("Two").stalled(API));
    program.begin("Second");
    kill(&world, program, Interrupted::Yes, &TURNS[..3], &TURNS[..3]);
}

/// What stands for the result of a call that has none.
const NOT_RUN: &str = "result: This call did not run to its end: no result of it was recorded. Nothing is known of its effects.";

#[test]
fn while_a_tool_runs() {
    // It ends with the folder, or with what lies there.
    let command = "while [ -e going ]; do sleep 0.05; done";
    let works =
        calls("t1", "read", json!({"path": "a.txt"})).and_calls("t2", "bash", json!({"command": command}));
    let world = World::new(vec![text("One."), works.reply(API)]);
    world.scratch.write("a.txt", "alpha");
    world.scratch.write("going", "");
    let mut program = world.start_trusting();
    program.say("First");
    program.ok(json!({"type": "prompt", "message": "Second"}));
    program.wait(|line| line["type"] == "tool_execution_start" && line["toolName"] == "bash");
    let told = [&TURN[..], &["user: Second", "assistant: <read><bash>", "result: alpha"]].concat();
    let call = format!("call: bash {}", json!({"command": command}));
    let read = r#"call: read {"path":"a.txt"}"#;
    let said = [&TURN[..], &["user: Second", read, &call, "result: alpha", NOT_RUN]].concat();
    kill(&world, program, Interrupted::Yes, &told, &said);
    fs::remove_file(world.scratch.path("going")).unwrap();
}

#[test]
fn while_a_question_waits() {
    let (world, mut program) = after_one(calls("t1", "bash", json!({"command": "touch c.txt"})).reply(API));
    program.ok(json!({"type": "prompt", "message": "Second"}));
    program.event("extension_ui_request");
    let told = [&TURN[..], &["user: Second", "assistant: <bash>"]].concat();
    let said = [&TURN[..], &["user: Second", r#"call: bash {"command":"touch c.txt"}"#, NOT_RUN]].concat();
    kill(&world, program, Interrupted::Yes, &told, &said);
    assert!(!world.scratch.path("c.txt").exists());
}

#[test]
fn while_the_summary_of_a_branch_streams() {
    let world = World::new(vec![text("One."), text("Two."), says("## Goal").stalled(API)]);
    let mut program = world.start();
    program.say("First");
    program.say("Second");
    let target = world.id_of("assistant: One.");
    program.send(&[json!({"type": "navigate_tree", "targetId": target, "summarize": true})]);
    world.server.wait_for_request(3);
    kill(&world, program, Interrupted::No, &TURNS, &TURNS);
}

#[test]
fn while_the_summary_of_a_compaction_streams() {
    let keep = "[compaction]\nkeepRecentTokens = 1\n";
    let script = vec![text("One."), text("Two."), says("## Goal").stalled(API)];
    let world = World::of(API, 200_000, keep, script);
    let mut program = world.start();
    program.say("First");
    program.say("Second");
    program.send(&[json!({"type": "compact"})]);
    program.event("compaction_start");
    world.server.wait_for_request(3);
    kill(&world, program, Interrupted::No, &TURNS, &TURNS);
}

#[test]
fn while_it_waits_to_ask_again() {
    let limited =
        crate::world::failure(429, "rate_limit_error", "too many requests").header("retry-after", "50");
    let (world, mut program) = after_one(limited);
    program.ok(json!({"type": "prompt", "message": "Second"}));
    assert!(program.event("auto_retry_start")["delayMs"].as_u64() >= Some(50_000));
    kill(&world, program, Interrupted::Yes, &TURNS[..3], &TURNS[..3]);
}

#[test]
fn after_it_went_somewhere_else() {
    let (world, mut program) = after_one(text("Two."));
    program.say("Second");
    // Where one is is remembered beside the log; moving is not written into it.
    let target = world.id_of("assistant: One.");
    assert_eq!(program.ok(json!({"type": "navigate_tree", "targetId": target})), json!({"cancelled": false}));
    kill(&world, program, Interrupted::No, &TURNS, &TURN);
    let last: Value = world.id_of("assistant: Going on.");
    assert_eq!(
        world.path_to(&last),
        ["user: First", "assistant: One.", "user: Go on", "assistant: Going on."]
    );
}

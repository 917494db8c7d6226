//! A branch becomes a session of its own.

use std::path::Path;

use ramal_testing::log::{self, told};
use ramal_testing::program::Program;
use ramal_testing::says::says;
use serde_json::{Value, json};

use crate::world::{API, World, assert_fork, text};

fn script() -> World {
    World::new(vec![text("One."), text("Two."), text("Other.")])
}

/// The header of a log.
fn header(path: &Path) -> Value {
    serde_json::from_str(std::fs::read_to_string(path).unwrap().lines().next().unwrap()).unwrap()
}

/// The id of the user message with that text.
#[track_caller]
fn message(program: &mut Program, text: &str) -> Value {
    let all = program.ok(json!({"type": "get_fork_messages"}))["messages"].clone();
    let found = all.as_array().unwrap().iter().find(|message| message["text"] == text);
    found.unwrap_or_else(|| panic!("{text} is not in {all}"))["entryId"].clone()
}

#[test]
fn from_the_first_message() {
    let world = script();
    let mut program = world.start();
    program.say("OLD first");
    program.say("Second");
    let (before, old) = (world.bytes(), program.state());
    let entry = message(&mut program, "OLD first");
    let branched = program.ok(json!({"type": "branch", "entryId": entry}));
    assert_eq!(branched, json!({"text": "OLD first", "cancelled": false}));
    let replaced = program.passed.iter().rfind(|line| line["type"] == "session_replaced").unwrap().clone();
    let state = program.state();
    assert_eq!((&state["leafId"], &state["entryCount"]), (&Value::Null, &json!(0)));
    assert_ne!(state["sessionId"], old["sessionId"]);
    assert_eq!(replaced["previousSessionFile"], old["sessionFile"]);
    assert_eq!(
        (&replaced["sessionFile"], &replaced["sessionId"]),
        (&state["sessionFile"], &state["sessionId"])
    );
    program.say("NEW first");
    let file = program.state()["sessionFile"].as_str().unwrap().to_owned();
    world.finish(program);

    assert_eq!(world.last_said(), ["user: NEW first"]);
    assert_fork(&world.bodies()[0], &world.bodies()[2], ("OLD first", "NEW first"));
    assert_eq!(world.bytes(), before, "the old session is as it was");
    assert_eq!(header(Path::new(&file))["parentSession"], old["sessionFile"]);
    let entries = log::entries(Path::new(&file));
    let entries: Vec<String> = entries.iter().map(told).collect();
    assert_eq!(entries, ["user: NEW first", "assistant: Other."]);
}

#[test]
fn from_a_later_message() {
    let world = script();
    let mut program = world.start();
    program.say("First");
    let first = program.state()["leafId"].clone();
    program.ok(json!({"type": "set_label", "entryId": first, "label": "here"}));
    program.say("OLD second");
    let (before, old) = (world.bytes(), program.state());
    let entry = message(&mut program, "OLD second");
    let branched = program.ok(json!({"type": "fork", "entryId": entry}));
    assert_eq!(branched, json!({"text": "OLD second", "cancelled": false}));
    let label = program.ok(json!({"type": "get_label", "entryId": first}));
    assert_eq!(label["label"], "here", "labels come along");
    program.say("NEW second");
    let (file, leaf) = (program.state()["sessionFile"].clone(), program.state()["leafId"].clone());
    // Only from a user's message.
    let why = program.refused(json!({"type": "branch", "entryId": first}));
    assert!(why.contains("user"), "{why}");
    world.finish(program);

    assert_eq!(world.last_said(), ["user: First", "assistant: One.", "user: NEW second"]);
    assert_fork(&world.bodies()[1], &world.bodies()[2], ("OLD second", "NEW second"));
    assert_eq!(world.bytes(), before, "the old session is as it was");
    assert_ne!(file, old["sessionFile"]);
    let file = Path::new(file.as_str().unwrap());
    assert_eq!(header(file)["parentSession"], old["sessionFile"]);
    let entries = log::entries(file);
    let path: Vec<String> = log::path_to(&entries, &leaf).into_iter().map(told).collect();
    assert_eq!(path, ["user: First", "assistant: One.", "label", "user: NEW second", "assistant: Other."]);
    assert_eq!(entries.len(), path.len());
    // What was copied is what was there.
    assert_eq!(entries[..2], world.entries()[..2]);
}

#[test]
fn in_memory() {
    let world = script();
    let mut program = Program::start(world.scratch.command().arg("--no-session"));
    program.say("First");
    program.say("OLD second");
    assert_eq!(program.state()["sessionFile"], Value::Null);
    let entry = message(&mut program, "OLD second");
    let branched = program.ok(json!({"type": "branch", "entryId": entry}));
    assert_eq!(branched["text"], "OLD second");
    let replaced = program.passed.iter().rfind(|line| line["type"] == "session_replaced").unwrap();
    assert_eq!(replaced.get("previousSessionFile"), None);
    program.say("NEW second");
    let entries = program.ok(json!({"type": "get_entries"}))["entries"].clone();
    let entries: Vec<String> = entries.as_array().unwrap().iter().map(told).collect();
    assert_eq!(entries, ["user: First", "assistant: One.", "user: NEW second", "assistant: Other."]);
    // And from the first: nothing is left.
    let entry = message(&mut program, "First");
    program.ok(json!({"type": "branch", "entryId": entry}));
    assert_eq!(program.ok(json!({"type": "get_entries"})), json!({"entries": [], "leafId": null}));
    world.finish(program);
    assert_fork(&world.bodies()[1], &world.bodies()[2], ("OLD second", "NEW second"));
    assert!(!world.file().exists() && !world.scratch.path("DATA/ramal/sessions").exists());
}

#[test]
fn during_a_turn() {
    let world = World::new(vec![text("One."), says("Two").stalled(API), text("Other.")]);
    let mut program = world.start();
    program.say("First");
    program.begin("Second");
    let entry = message(&mut program, "First");
    let branched = program.ok(json!({"type": "branch", "entryId": entry}));
    assert_eq!(branched, json!({"text": "First", "cancelled": false}));
    world.server.wait_for_hang_up(1);
    // What the turn had is in the old session.
    assert_eq!(world.told(), ["user: First", "assistant: One.", "user: Second", "assistant: Two"]);
    let bytes = world.bytes();
    program.say("Anew");
    let file = program.state()["sessionFile"].as_str().unwrap().to_owned();
    world.finish(program);
    assert_eq!(world.last_said(), ["user: Anew"]);
    assert_eq!(world.bytes(), bytes);
    let entries: Vec<String> = log::entries(Path::new(&file)).iter().map(told).collect();
    assert_eq!(entries, ["user: Anew", "assistant: Other."]);
}

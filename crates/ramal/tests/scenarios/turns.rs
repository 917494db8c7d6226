//! A turn with tools, over each interface.

use std::fs;

use ramal_model::Api;
use ramal_testing::log::{self, string};
use ramal_testing::says::{calls, says};
use serde_json::{Value, json};

use crate::world::{APIS, World, replies, shared};

/// Reads, wants to write, wants to run a command: all in one answer.
fn turn_with_tools(api: Api) {
    let looks = says("I look.")
        .and_calls("t1", "read", json!({"path": "a.txt"}))
        .and_calls("t2", "write", json!({"path": "b.txt", "content": "beta\n"}))
        .and_calls("t3", "bash", json!({"command": "touch c.txt"}))
        .and_calls("t4", "read", json!({"path": "b.txt"}));
    let world = World::of(api, 200_000, "", replies(api, &[looks, says("All done."), says("Yes.")]));
    world.scratch.write("a.txt", "alpha\n");
    let mut program = world.start();
    program.ok(json!({"type": "prompt", "message": "Copy it."}));
    for (tool, confirmed) in [("write", true), ("bash", false)] {
        let question = program.event("extension_ui_request");
        assert_eq!(
            (&question["method"], &question["title"]),
            (&json!("confirm"), &json!(format!("Allow {tool}?")))
        );
        program
            .send(&[json!({"type": "extension_ui_response", "id": question["id"], "confirmed": confirmed})]);
    }
    let end = program.event("agent_end");
    assert_eq!(end["messages"].as_array().unwrap().len(), 7);
    let ran = |name: &str| -> Vec<(String, Value)> {
        let lines = program.passed.iter().filter(|line| line["type"] == name);
        lines.map(|line| (string(&line["toolName"]), line["isError"].clone())).collect()
    };
    let (yes, no) = (json!(true), json!(false));
    let wanted = [("read", &no), ("write", &no), ("bash", &yes), ("read", &no)];
    assert_eq!(ran("tool_execution_end"), wanted.map(|(name, failed)| (name.to_owned(), failed.clone())));
    assert_eq!(ran("tool_execution_start").len(), 4);
    program.say("Sure?");
    world.finish(program);

    // What the provider was told.
    let asked = world.asked();
    assert_eq!(asked[0].said, ["user: Copy it."]);
    assert!(asked.iter().all(|other| other.tools == 7 && other.system == asked[0].system), "{api:?}");
    let said = &asked[1].said;
    assert_eq!(said[..2], ["user: Copy it.", "assistant: I look."]);
    assert_eq!(said[2], r#"call: read {"path":"a.txt"}"#);
    assert_eq!(said[3], r#"call: write {"content":"beta\n","path":"b.txt"}"#);
    assert_eq!(said[4], r#"call: bash {"command":"touch c.txt"}"#);
    assert_eq!(said[5], r#"call: read {"path":"b.txt"}"#);
    let results = &said[6..];
    assert!(results[0].starts_with("result: ") && results[0].contains("alpha"), "{results:#?}");
    assert!(results[1].starts_with("result: ") && results[1].contains("b.txt"), "{results:#?}");
    assert!(results[2].starts_with("result: ") && results[2].contains("not allowed"), "{results:#?}");
    assert!(results[3].starts_with("result: ") && results[3].contains("beta"), "{results:#?}");
    assert_eq!(results.len(), 4);
    assert_eq!(asked[2].said[..10], said[..]);
    assert_eq!(asked[2].said[10..], ["assistant: All done.", "user: Sure?"]);
    // What was sent once is sent again, byte for byte.
    let bodies = world.bodies();
    assert!(shared(&bodies[0], &bodies[1]).contains("Copy it."), "{api:?}");
    assert!(shared(&bodies[1], &bodies[2]).contains("not allowed"), "{api:?}");

    // What is in the log and in the folder.
    let told = world.told();
    assert_eq!(told[..2], ["user: Copy it.", "assistant: I look.<read><write><bash><read>"]);
    assert!(told[2..6].iter().all(|told| told.starts_with("result: ")), "{told:#?}");
    assert_eq!(told[6..], ["assistant: All done.", "user: Sure?", "assistant: Yes."]);
    let last = world.entries().last().unwrap()["id"].clone();
    assert_eq!(world.path_to(&last), told, "each stands behind the one before it");
    let results: Vec<Value> = world.entries()[2..6].iter().map(|entry| entry["message"].clone()).collect();
    assert_eq!(results.iter().filter(|result| result["isError"] == true).count(), 1);
    assert_eq!(fs::read_to_string(world.scratch.path("b.txt")).unwrap(), "beta\n");
    assert!(!world.scratch.path("c.txt").exists());
}

#[test]
fn over_anthropic_messages() {
    turn_with_tools(APIS[0]);
}

#[test]
fn over_openai_completions() {
    turn_with_tools(APIS[1]);
}

#[test]
fn over_openai_responses() {
    turn_with_tools(APIS[2]);
}

#[test]
fn over_google() {
    turn_with_tools(APIS[3]);
}

/// An answer that is aborted in the middle of a call, and a place between calls and their results.
fn places_in_the_middle(api: Api) {
    let works = calls("t1", "ls", json!({})).and_calls("t2", "read", json!({"path": "a.txt"}));
    let half = says("Half").and_calls("t3", "ls", json!({}));
    let script = [works, says("Done."), says("After."), says("There.")];
    let mut script = replies(api, &script);
    script.insert(2, half.stalled(api));
    let world = World::of(api, 200_000, "", script);
    world.scratch.write("a.txt", "alpha");
    let mut program = world.start();
    program.say("First");
    program.begin("Second");
    program.ok(json!({"type": "abort"}));
    world.server.wait_for_hang_up(1);
    program.find(|line| line["type"] == "agent_end");
    program.say("Third");
    let target = world.id_of("assistant: <ls><read>");
    let moved = program.ok(json!({"type": "navigate_tree", "targetId": target}));
    assert_eq!((&moved["cancelled"], moved.get("editorText")), (&json!(false), None));
    program.say("Fourth");
    let leaf = program.state()["leafId"].clone();
    world.finish(program);

    let asked = world.asked();
    let first = &asked[1].said;
    assert_eq!(first.len(), 5, "{first:#?}");
    let said = &asked[3].said;
    assert!(
        said.starts_with(first) && said[5] == "assistant: Done." && said[6] == "user: Second",
        "{said:#?}"
    );
    assert_eq!(said.last().unwrap(), "user: Third");
    let said = &asked[4].said;
    assert_eq!(said[..3], first[..3]);
    assert!(said[3..5].iter().all(|said| said.starts_with("result: This call did not run")), "{said:#?}");
    assert_eq!(said[5..], ["user: Fourth"]);
    let entries = world.entries();
    let half = entries.iter().find(|entry| log::told(entry).starts_with("assistant: Half")).unwrap();
    assert_eq!(half["message"]["stopReason"], "aborted");
    assert_eq!(
        world.path_to(&leaf),
        ["user: First", "assistant: <ls><read>", "user: Fourth", "assistant: There."]
    );
}

#[test]
fn from_the_middle_the_work_goes_on() {
    APIS.into_iter().for_each(places_in_the_middle);
}

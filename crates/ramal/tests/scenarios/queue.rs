//! What is said while a turn runs.

use ramal_testing::says::says;
use ramal_testing::server::{Gate, Step};
use serde_json::{Value, json};

use crate::world::{API, World, text};

#[test]
fn steering_comes_before_what_follows() {
    let gate = Gate::closed();
    let works = says("I look.")
        .and_calls("t1", "ls", json!({}))
        .and_calls("t2", "ls", json!({}))
        .paused(API, Step::Until(gate.clone()));
    let world = World::new(vec![works, text("Steered."), text("Followed."), text("Ended.")]);
    let mut program = world.start();
    program.begin("Go");
    program.ok(json!({"type": "follow_up", "message": "Later"}));
    program.ok(json!({"type": "steer", "message": "Sooner"}));
    program.ok(json!({"type": "prompt", "message": "Last", "streamingBehavior": "followUp"}));
    let why = program.refused(json!({"type": "prompt", "message": "Now"}));
    assert!(why.contains("busy"), "{why}");
    let state = program.state();
    assert_eq!((&state["pendingMessageCount"], &state["isStreaming"]), (&json!(3), &json!(true)));
    gate.open();
    let end = program.event("agent_end");
    assert_eq!(end["messages"].as_array().unwrap().len(), 10);
    let waiting = program.passed.iter().filter(|line| line["type"] == "queue_update");
    let waiting: Vec<[Value; 2]> =
        waiting.map(|line| [line["steering"].clone(), line["followUp"].clone()]).collect();
    assert_eq!(waiting[2], [json!(["Sooner"]), json!(["Later", "Last"])]);
    assert_eq!(
        waiting[3..],
        [[json!([]), json!(["Later", "Last"])], [json!([]), json!(["Last"])], [json!([]), json!([])],]
    );
    assert_eq!(program.state()["pendingMessageCount"], 0);
    world.finish(program);

    let asked = world.asked();
    let said = &asked[1].said;
    assert_eq!(said[..4], ["user: Go", "assistant: I look.", "call: ls {}", "call: ls {}"]);
    let not_run = "result: The call was not run: the user had something to say first.";
    assert_eq!(said[4..], [not_run, not_run, "user: Sooner"]);
    let all =
        ["assistant: Steered.", "user: Later", "assistant: Followed.", "user: Last", "assistant: Ended."];
    assert!(asked[2].said.starts_with(said) && asked[3].said.starts_with(said));
    assert_eq!(asked[2].said[said.len()..], all[..2]);
    assert_eq!(asked[3].said[said.len()..], all[..4]);

    let told = world.told();
    assert_eq!(told[..4], ["user: Go", "assistant: I look.<ls><ls>", not_run, not_run]);
    assert_eq!(told[4], "user: Sooner");
    assert_eq!(told[5..], all);
    assert_eq!(world.path_to(&world.id_of("assistant: Ended.")), told);
}

#[test]
fn what_waits_is_sent_after_a_navigation() {
    let gate = Gate::closed();
    let notes = says("Notes.").paused(API, Step::Until(gate.clone()));
    let world = World::new(vec![text("One."), text("Two."), notes, text("Said.")]);
    let mut program = world.start();
    program.say("First");
    program.say("Second");
    let target = world.id_of("user: Second");
    program.send(&[json!({"id": "go", "type": "navigate_tree", "targetId": target, "summarize": true})]);
    world.server.wait_for_request(3);
    program.ok(json!({"type": "follow_up", "message": "Meanwhile"}));
    assert!(program.refused(json!({"type": "prompt", "message": "x"})).contains("busy"));
    gate.open();
    assert_eq!(program.answer("go")["data"]["cancelled"], false);
    program.find(|line| line["type"] == "agent_end");
    world.finish(program);
    let said = world.last_said();
    assert_eq!(said[..2], ["user: First", "assistant: One."]);
    assert!(said[2].contains("Notes.") && said.last().unwrap().ends_with("Meanwhile"), "{said:#?}");
    let path = world.path_to(&world.id_of("assistant: Said."));
    let wanted =
        ["user: First", "assistant: One.", "branch_summary: Notes.", "user: Meanwhile", "assistant: Said."];
    assert_eq!(path, wanted);
}

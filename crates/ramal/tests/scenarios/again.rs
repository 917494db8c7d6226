//! A turn repeated by hand: what is asked, where the answer hangs, what the client is told.

use ramal_testing::log::string;
use ramal_testing::program::Program;
use ramal_testing::says::{calls, says};
use serde_json::{Value, json};

use crate::world::{API, APIS, World, failure, replies, text};

/// Repeats the last turn, and answers what was told from the answer to its end.
#[track_caller]
fn retry(program: &mut Program) -> Vec<Value> {
    program.passed.clear();
    program.ok(json!({"type": "retry"}));
    assert!(program.passed.iter().all(|line| line["type"] == "response"), "{:#?}", program.passed);
    let end = program.event("agent_end");
    let mut told = std::mem::take(&mut program.passed);
    told.push(end);
    told
}

#[test]
fn a_refused_turn_is_asked_again() {
    let refused = failure(401, "authentication_error", "invalid x-api-key");
    let world = World::new(vec![text("One."), refused, text("Two."), text("Three.")]);
    let mut program = world.start();
    let why = program.refused(json!({"type": "retry"}));
    assert!(why.contains("nothing to repeat"), "{why}");
    program.say("First");
    program.say("Second");
    let failed = program.state()["leafId"].clone();
    let told = retry(&mut program);
    assert_eq!(told[0]["type"], "session_tree", "{told:#?}");
    assert_eq!(told[0]["oldLeafId"], failed);
    assert_eq!(told[1]["type"], "agent_start");
    let leaf = program.state()["leafId"].clone();
    let why = program.refused(json!({"type": "retry"}));
    assert!(why.contains("nothing to repeat"), "{why}");
    program.say("Third");
    world.finish(program);

    let bodies = world.bodies();
    assert_eq!(bodies[1], bodies[2], "the same is asked");
    assert_eq!(
        world.told(),
        [
            "user: First",
            "assistant: One.",
            "user: Second",
            "assistant: ",
            "assistant: Two.",
            "user: Third",
            "assistant: Three."
        ]
    );
    assert_eq!(world.path_to(&leaf), ["user: First", "assistant: One.", "user: Second", "assistant: Two."]);
    let entries = world.entries();
    assert_eq!((&entries[3]["parentId"], &entries[4]["parentId"]), (&entries[2]["id"], &entries[2]["id"]));
    assert_eq!(entries[3]["id"], failed);
}

#[test]
fn an_aborted_turn_is_repeated_from_where_its_tools_had_come() {
    for api in APIS {
        let mut script = replies(api, &[calls("t1", "ls", json!({})), says("There it is.")]);
        script.insert(1, says("Half").stalled(api));
        let world = World::of(api, 200_000, "", script);
        let mut program = world.start();
        program.begin("Look");
        program.ok(json!({"type": "abort"}));
        program.find(|line| line["type"] == "agent_end");
        retry(&mut program);
        let leaf = program.state()["leafId"].clone();
        world.finish(program);
        let asked = world.asked();
        assert_eq!(asked[1].said, asked[2].said, "{}", api.name());
        let path = world.path_to(&leaf);
        assert_eq!((path.len(), &*path[3]), (4, "assistant: There it is."), "{path:#?}");
        assert_eq!(world.told().len(), 5, "the half answer is there");
    }
}

#[test]
fn what_was_said_since_is_seen_and_the_half_answer_is_not() {
    for api in APIS {
        let broken = says("Half").and_calls("t1", "ls", json!({})).broken_off(api);
        let world = World::of(api, 200_000, "", vec![broken, says("Fine.").reply(api)]);
        let mut program = world.start();
        program.ok(json!({"type": "set_auto_retry", "enabled": false}));
        program.say("Look");
        program.ok(json!({"type": "bash", "command": "echo since"}));
        retry(&mut program);
        let leaf = program.state()["leafId"].clone();
        world.finish(program);
        let said = world.last_said().concat();
        assert!(said.contains("Look") && said.contains("since") && !said.contains("Half"), "{said}");
        let path = world.path_to(&leaf);
        assert!(path[1].starts_with("assistant: Half"), "{path:#?}");
        assert_eq!(path.last().unwrap(), "assistant: Fine.");
    }
}

#[test]
fn a_turn_that_was_killed_goes_on() {
    for api in APIS {
        // It ends with the folder.
        let sleeps = calls("t1", "bash", json!({"command": "while [ -e going ]; do sleep 0.05; done"}));
        let world = World::of(api, 200_000, "", replies(api, &[sleeps, says("Here again.")]));
        world.scratch.write("going", "");
        let mut program = world.start_trusting();
        program.ok(json!({"type": "prompt", "message": "Sleep"}));
        program.event("tool_execution_start");
        program.kill();
        let mut program = world.start();
        assert_eq!(program.state()["interrupted"], true);
        retry(&mut program);
        let leaf = program.state()["leafId"].clone();
        assert_eq!(program.state().get("interrupted"), None);
        world.finish(program);
        let said = world.last_said();
        assert!(said.last().unwrap().contains("othing is known of its effects"), "{said:#?}");
        assert_eq!(world.path_to(&leaf).last().unwrap(), "assistant: Here again.");
        assert_eq!(world.told().len(), 3, "the command was not run again");
    }
}

#[test]
fn not_while_something_runs() {
    let world = World::new(vec![says("Half").stalled(API)]);
    let mut program = world.start();
    program.begin("Go");
    let why = program.refused(json!({"type": "retry"}));
    assert!(why.contains("busy"), "{why}");
    program.ok(json!({"type": "abort"}));
    program.find(|line| line["type"] == "agent_end");
    world.finish(program);
    assert_eq!(world.told(), ["user: Go", "assistant: Half"]);
    assert_eq!(string(&world.entries()[1]["message"]["stopReason"]), "aborted");
}

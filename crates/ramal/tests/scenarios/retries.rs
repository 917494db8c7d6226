//! Asking again: what passes, how long it is waited, what becomes of what came.

use ramal_testing::log::string;
use ramal_testing::program::Program;
use ramal_testing::says::says;
use ramal_testing::server::Reply;
use serde_json::{Value, json};

use crate::world::{API, APIS, World, failure, text};

/// The events of retries, each without what changes.
fn retries(program: &Program) -> Vec<Value> {
    let is_one = |line: &&Value| string(&line["type"]).starts_with("auto_retry");
    program.passed.iter().filter(is_one).cloned().collect()
}

fn limited() -> Reply {
    failure(429, "rate_limit_error", "too many requests")
}

fn overloaded(status: u16) -> Reply {
    failure(status, "overloaded_error", "busy")
}

#[test]
fn what_passes_is_asked_again() {
    let world = World::new(vec![
        limited().header("retry-after-ms", "30"),
        overloaded(529),
        overloaded(503),
        text("Now."),
        text("Fine."),
    ]);
    let mut program = world.start();
    program.say("First");
    let told = retries(&program);
    assert_eq!(told.len(), 4, "{told:#?}");
    for (number, told) in told[..3].iter().enumerate() {
        assert_eq!(told["type"], "auto_retry_start");
        assert_eq!((&told["attempt"], &told["maxAttempts"]), (&json!(number + 1), &json!(3)));
    }
    assert!(told[0]["delayMs"].as_u64().unwrap() >= 30, "{}", told[0]);
    assert!(string(&told[0]["errorMessage"]).contains("too many requests"), "{}", told[0]);
    assert_eq!(told[3], json!({"type": "auto_retry_end", "success": true, "attempt": 3}));
    program.say("Second");
    assert_eq!(retries(&program).len(), 4, "a new turn begins anew");
    world.finish(program);
    let bodies = world.bodies();
    assert!(bodies[1..4].iter().all(|body| *body == bodies[0]), "the same is asked for");
    assert_eq!(world.last_said(), ["user: First", "assistant: Now.", "user: Second"]);
    assert_eq!(world.told(), ["user: First", "assistant: Now.", "user: Second", "assistant: Fine."]);
}

#[test]
fn not_for_ever() {
    let world = World::new(vec![overloaded(503), overloaded(529), overloaded(503), overloaded(503)]);
    let mut program = world.start();
    program.say("First");
    let told = retries(&program);
    assert_eq!(told.len(), 4, "{told:#?}");
    let end = &told[3];
    assert_eq!((&end["type"], &end["success"]), (&json!("auto_retry_end"), &json!(false)));
    assert!(string(&end["finalError"]).contains("busy"), "{end}");
    // The next prompt does not see what failed.
    world.server.script(vec![text("Fine.")]);
    program.say("Second");
    world.finish(program);
    let said = world.last_said();
    assert!(said[0].contains("First") && said.last().unwrap().ends_with("Second"), "{said:#?}");
    assert!(!said.concat().contains("busy"), "{said:#?}");
    let entries = world.entries();
    assert_eq!(entries[1]["message"]["stopReason"], "error");
    assert!(string(&entries[1]["message"]["errorMessage"]).contains("busy"), "{}", entries[1]);
    assert_eq!(world.told(), ["user: First", "assistant: ", "user: Second", "assistant: Fine."]);
}

#[test]
fn what_does_not_pass_is_not_asked_again() {
    let world = World::new(vec![failure(401, "authentication_error", "invalid x-api-key")]);
    let mut program = world.start();
    program.say("First");
    assert_eq!(retries(&program), Vec::<Value>::new());
    world.finish(program);
    assert_eq!(world.entries()[1]["message"]["stopReason"], "error");
}

#[test]
fn what_came_before_a_connection_broke_is_kept() {
    let half = says("Half.").and_calls("t1", "ls", json!({}));
    let world = World::new(vec![half.broken_off(API), text("Whole."), text("Fine.")]);
    let mut program = world.start();
    program.say("First");
    assert_eq!(retries(&program).len(), 2);
    assert!(!program.passed.iter().any(|line| line["type"] == "tool_execution_start"));
    program.say("Second");
    let leaf = program.state()["leafId"].clone();
    world.finish(program);

    let asked = world.asked();
    assert_eq!(asked[1].said, ["user: First"], "what broke off is not sent back");
    assert_eq!(asked[2].said, ["user: First", "assistant: Whole.", "user: Second"]);
    let (entries, told) = (world.entries(), world.told());
    assert!(told[1].starts_with("assistant: Half."), "{told:#?}");
    assert_eq!(told[2], "assistant: Whole.");
    assert_eq!(entries[1]["message"]["stopReason"], "error");
    for attempt in &entries[1..3] {
        assert_eq!(attempt["parentId"], entries[0]["id"], "siblings");
    }
    let path = world.path_to(&leaf);
    assert_eq!(path, ["user: First", "assistant: Whole.", "user: Second", "assistant: Fine."]);
}

#[test]
fn what_breaks_off_each_time_can_be_gone_on_from() {
    for api in APIS {
        let half = says("Half.").and_calls("t1", "ls", json!({}));
        let mut script = vec![half.broken_off(api); 4];
        script.push(says("Fine.").reply(api));
        let world = World::of(api, 200_000, "", script);
        let mut program = world.start();
        program.say("First");
        let end = retries(&program).pop().unwrap();
        assert_eq!((&end["success"], &end["attempt"]), (&json!(false), &json!(3)), "{api:?}");
        let tip = program.state()["leafId"].clone();
        program.say("Second");
        world.finish(program);
        let entries = world.entries();
        let attempts = &entries[1..5];
        assert!(attempts.iter().all(|attempt| attempt["parentId"] == entries[0]["id"]), "{api:?}");
        assert_eq!((&attempts[3]["id"], &entries[5]["parentId"]), (&tip, &tip), "the last one counts");
        let said = world.last_said();
        assert!(said[0] == "user: First" && said.last().unwrap().ends_with("Second"), "{api:?}: {said:#?}");
        assert!(world.asked()[..4].iter().all(|asked| asked.said == ["user: First"]), "{api:?}");
    }
}

#[test]
fn nobody_has_to_wait() {
    for (command, stop) in [("abort_retry", "error"), ("abort", "error")] {
        let world = World::new(vec![limited().header("retry-after", "50"), text("Fine.")]);
        let mut program = world.start();
        program.ok(json!({"type": "prompt", "message": "First"}));
        let start = program.event("auto_retry_start");
        assert!(start["delayMs"].as_u64().unwrap() >= 50_000, "{start}");
        program.ok(json!({"type": command}));
        let end = program.find(|line| line["type"] == "auto_retry_end");
        assert_eq!(end["success"], false, "{command}: {end}");
        program.find(|line| line["type"] == "agent_end");
        program.say("Second");
        world.finish(program);
        let entries = world.entries();
        assert_eq!(entries[1]["message"]["stopReason"], stop, "{command}: {}", entries[1]);
        assert_eq!(world.told().last().unwrap(), "assistant: Fine.");
    }
}

#[test]
fn a_provider_that_wants_too_much_patience_is_not_asked_again() {
    let world = World::new(vec![limited().header("retry-after", "3600")]);
    let mut program = world.start();
    program.say("First");
    assert_eq!(retries(&program), Vec::<Value>::new());
    world.finish(program);
}

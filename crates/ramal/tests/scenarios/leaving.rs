//! Navigations that come to nothing, and what may not be done meanwhile: nothing is moved, nothing written.

use ramal_testing::log::string;
use ramal_testing::program::Program;
use ramal_testing::says::{calls, nothing, says};
use ramal_testing::server::Reply;
use serde_json::{Value, json};

use crate::world::{API, World, failure, text};

/// Two turns, and a request to leave the second with a summary, which is answered with `reply`.
struct Leaving {
    world: World,
    program: Program,
    target: Value,
    leaf: Value,
    bytes: Vec<u8>,
}

impl Leaving {
    fn new(replies: Vec<Reply>) -> Leaving {
        let world = World::new(vec![text("One."), text("Two.")]);
        let mut program = world.start();
        program.say("First");
        program.say("Second");
        world.server.script(replies);
        let (target, leaf) = (world.id_of("user: Second"), program.state()["leafId"].clone());
        let bytes = world.bytes();
        Leaving { world, program, target, leaf, bytes }
    }

    fn request(&self, id: &str) -> Value {
        json!({"id": id, "type": "navigate_tree", "targetId": self.target, "summarize": true})
    }

    /// Nothing has changed, and the work goes on from where it was.
    #[track_caller]
    fn ends_unchanged(mut self) {
        let state = self.program.state();
        assert_eq!((&state["leafId"], &state["entryCount"]), (&self.leaf, &json!(4)));
        assert_eq!(self.world.bytes(), self.bytes, "the log is as it was, byte for byte");
        self.world.server.script(vec![text("Three.")]);
        self.program.say("Third");
        let leaf = self.program.state()["leafId"].clone();
        let told = self.program.passed.iter().any(|line| line["type"] == "session_tree");
        assert!(!told, "a move is told that was none");
        self.world.finish(self.program);
        let said = ["user: First", "assistant: One.", "user: Second", "assistant: Two.", "user: Third"];
        assert_eq!(self.world.last_said(), said);
        assert_eq!(self.world.path_to(&leaf)[..5], said);
        assert_eq!(self.world.entries().len(), 6);
    }
}

#[test]
fn aborted_while_the_summary_streams() {
    let mut leaving = Leaving::new(vec![says("## Goal").stalled(API)]);
    let request = leaving.request("go");
    leaving.program.send(&[request]);
    leaving.world.server.wait_for_request(3);
    leaving.program.ok(json!({"type": "abort"}));
    let answer = leaving.program.answer("go");
    assert_eq!(answer["data"], json!({"cancelled": true, "aborted": true}), "{answer}");
    leaving.world.server.wait_for_hang_up(1);
    leaving.ends_unchanged();
}

#[test]
fn aborted_in_the_same_write() {
    // Whether the model is asked before the abort comes is left open.
    let mut leaving = Leaving::new(vec![says("## Goal").stalled(API)]);
    let request = leaving.request("go");
    let abort = json!({"id": "stop", "type": "abort"});
    leaving.program.send(&[request, abort, json!({"id": "state", "type": "get_state"})]);
    assert_eq!(leaving.program.answer("stop")["success"], true);
    assert_eq!(leaving.program.answer("go")["data"], json!({"cancelled": true, "aborted": true}));
    assert_eq!(leaving.program.answer("state")["data"]["leafId"], leaving.leaf);
    assert_eq!(leaving.program.state()["leafId"], leaving.leaf);
    assert_eq!(leaving.world.bytes(), leaving.bytes);
    leaving.program.close();
    leaving.world.asked();
    assert_eq!(leaving.world.bytes(), leaving.bytes);
}

#[test]
fn failing() {
    let refused = says("I must not.").ends_by("refusal").reply(API);
    let leaking = failure(500, "api_error", "the roof is leaking");
    // What may pass is asked for again, three times.
    for (replies, why) in [
        (vec![leaking; 4], "the roof is leaking"),
        (vec![refused], "refus"),
        (vec![failure(400, "invalid_request_error", "odd question")], "odd question"),
        (vec![says("## Goal").broken_off(API); 4], ""),
        (vec![nothing().reply(API)], "empty"),
    ] {
        let retries = replies.len() - 1;
        let mut leaving = Leaving::new(replies);
        let request = leaving.request("go");
        leaving.program.send(&[request]);
        let answer = leaving.program.answer("go");
        assert_eq!(answer["success"], false, "{answer}");
        assert!(string(&answer["error"]).contains(why), "{why} is not told: {answer}");
        let told = leaving.program.passed.iter().filter(|line| line["type"] == "auto_retry_start");
        assert_eq!(told.count(), retries, "{answer}");
        leaving.ends_unchanged();
    }
}

#[test]
fn failing_at_first() {
    let busy = failure(529, "overloaded_error", "busy");
    let mut leaving = Leaving::new(vec![busy, says("## Go").broken_off(API), text("NOTES"), text("Three.")]);
    let request = leaving.request("go");
    leaving.program.send(&[request]);
    let done = leaving.program.answer("go")["data"].clone();
    assert_eq!(done["summaryEntry"]["summary"], "NOTES", "what broke off is no part of it");
    let end = leaving.program.find(|line| line["type"] == "auto_retry_end");
    assert_eq!((&end["success"], &end["attempt"]), (&json!(true), &json!(2)));
    leaving.program.say("Third");
    leaving.world.finish(leaving.program);
    let bodies = leaving.world.bodies();
    assert!(bodies[3..5].iter().all(|body| *body == bodies[2]), "the same is asked for");
    assert!(leaving.world.bytes().starts_with(&leaving.bytes));
    assert_eq!(leaving.world.told()[4..], ["branch_summary: NOTES", "user: Third", "assistant: Three."]);
}

#[test]
fn nobody_has_to_wait_for_a_summary() {
    for command in ["abort", "abort_retry"] {
        let limited = failure(429, "rate_limit_error", "too many requests").header("retry-after", "50");
        let mut leaving = Leaving::new(vec![limited]);
        let request = leaving.request("go");
        leaving.program.send(&[request]);
        leaving.program.event("auto_retry_start");
        leaving.program.ok(json!({"type": command}));
        let answer = leaving.program.answer("go");
        if command == "abort" {
            assert_eq!(answer["data"], json!({"cancelled": true, "aborted": true}), "{answer}");
        } else {
            assert!(string(&answer["error"]).contains("too many requests"), "{answer}");
        }
        leaving.ends_unchanged();
    }
}

#[test]
fn a_summary_without_a_model() {
    let world = World::new(vec![text("Nobody asks.")]);
    world.scratch.write("CONFIG/ramal/models.toml", "");
    world.scratch.write("CONFIG/ramal/settings.toml", "");
    let mut program = world.start();
    for words in ["First", "Second"] {
        let message = json!({"role": "user", "content": words});
        program.ok(json!({"type": "append", "entry": {"type": "message", "message": message}}));
    }
    let (bytes, leaf) = (world.bytes(), program.state()["leafId"].clone());
    let target = world.id_of("user: First");
    let why = program.refused(json!({"type": "navigate_tree", "targetId": target, "summarize": true}));
    assert!(why.contains("no model"), "{why}");
    assert_eq!(program.state()["leafId"], leaf);
    // Without a summary no model is needed.
    let moved = program.ok(json!({"type": "navigate_tree", "targetId": target}));
    assert_eq!(moved, json!({"cancelled": false, "editorText": "First"}));
    let rest = program.close();
    let moves: Vec<&Value> = rest.iter().filter(|line| line["type"] == "session_tree").collect();
    assert!(matches!(moves[..], [only] if only["oldLeafId"] == leaf), "{rest:#?}");
    assert_eq!(world.bytes(), bytes);
    assert_eq!(world.asked(), [], "nobody was asked");
}

#[test]
fn one_at_a_time() {
    let mut leaving = Leaving::new(vec![says("## Goal").stalled(API)]);
    let second = json!({"id": "second", "type": "navigate_tree", "targetId": leaving.target});
    let branch = json!({"id": "branch", "type": "branch", "entryId": leaving.target});
    let set = json!({"id": "set", "type": "set_leaf", "entryId": null});
    let read = json!({"id": "read", "type": "get_entries"});
    leaving.program.send(&[leaving.request("go"), second, branch, set, read]);
    for id in ["second", "branch", "set"] {
        let answer = leaving.program.answer(id);
        assert_eq!(answer["success"], false, "{answer}");
        assert!(string(&answer["error"]).contains("busy"), "{answer}");
    }
    assert_eq!(leaving.program.answer("read")["success"], true, "reads are not held up");
    leaving.world.server.wait_for_request(3);
    leaving.program.ok(json!({"type": "abort"}));
    assert_eq!(leaving.program.answer("go")["data"]["aborted"], true);
    leaving.ends_unchanged();
}

#[test]
fn the_leaf_is_not_set_during_a_turn() {
    let world = World::new(vec![text("One."), says("Two").stalled(API), text("Three.")]);
    let mut program = world.start();
    program.say("First");
    let first = program.state()["leafId"].clone();
    program.begin("Second");
    for request in [
        json!({"type": "set_leaf", "entryId": first}),
        json!({"type": "branch_with_summary", "entryId": first, "summary": "s"}),
        json!({"type": "create_branched_session", "leafId": first}),
    ] {
        let why = program.refused(request);
        assert!(why.contains("busy"), "{why}");
    }
    // A navigation ends the turn, and what it had is stored.
    let moved = program.ok(json!({"type": "navigate_tree", "targetId": first}));
    assert_eq!(moved["cancelled"], false);
    world.server.wait_for_hang_up(1);
    assert_eq!(program.state()["leafId"], first);
    assert_eq!(world.told().last().unwrap(), "assistant: Two");
    assert_eq!(world.entries().last().unwrap()["message"]["stopReason"], "aborted");
    program.say("Third");
    world.finish(program);
    assert_eq!(world.last_said(), ["user: First", "assistant: One.", "user: Third"]);
    let told = world.told();
    assert_eq!(told[2..], ["user: Second", "assistant: Two", "user: Third", "assistant: Three."]);
}

#[test]
fn a_tool_that_runs_is_ended() {
    let command = "while [ -e going ]; do sleep 0.05; done";
    let works = calls("t1", "bash", json!({"command": command})).and_calls("t2", "ls", json!({}));
    let world = World::new(vec![text("One."), works.reply(API), says("Notes.").reply(API), text("Three.")]);
    world.scratch.write("going", "");
    let mut program = world.start_trusting();
    program.say("First");
    let first = program.state()["leafId"].clone();
    program.ok(json!({"type": "prompt", "message": "Second"}));
    program.event("tool_execution_start");
    let moved = program.ok(json!({"type": "navigate_tree", "targetId": first, "summarize": true}));
    let told = world.told();
    assert_eq!(told[2..4], ["user: Second", "assistant: <bash><ls>"]);
    assert!(told[4..6].iter().all(|told| told.starts_with("result: ")), "what it had is stored: {told:#?}");
    assert_eq!(told[6..], ["branch_summary: Notes."]);
    assert_eq!(moved["summaryEntry"]["abandonedLeafId"], world.entries()[5]["id"]);
    assert_eq!(moved["summaryEntry"]["parentId"], first);
    let ran = program.passed.iter().filter(|line| line["type"] == "tool_execution_start").count();
    assert_eq!(ran, 0, "no other tool is begun");
    program.say("Third");
    world.finish(program);
    let said = &world.asked()[2].said[0];
    assert!(said.contains("Second") && said.contains("[Assistant calls bash]"), "{said}");
    assert_eq!(world.last_said()[..2], ["user: First", "assistant: One."]);
}

#[test]
fn a_question_is_given_up_with_the_turn() {
    let works = calls("t1", "bash", json!({"command": "touch c.txt"})).reply(API);
    let world = World::new(vec![works, text("Two."), text("Three.")]);
    let mut program = world.start();
    program.ok(json!({"type": "prompt", "message": "First"}));
    let question = program.event("extension_ui_request");
    program.ok(json!({"type": "abort"}));
    program.find(|line| line["type"] == "agent_end");
    // Too late.
    program.send(&[json!({"type": "extension_ui_response", "id": question["id"], "confirmed": true})]);
    program.say("Second");
    // Nor does what is said meanwhile wait for an answer for ever.
    program.say("Third");
    world.finish(program);
    assert!(!world.scratch.path("c.txt").exists());
    let said = &world.asked()[1].said;
    assert!(said[2].starts_with("result: The call was not run") && said[3] == "user: Second", "{said:#?}");
}

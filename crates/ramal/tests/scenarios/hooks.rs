//! A client that takes part in navigations: it is asked before they go on, and may refuse, supply, append.

use ramal_testing::log::{string, told};
use ramal_testing::program::Program;
use ramal_testing::says::says;
use ramal_testing::server::Reply;
use serde_json::{Value, json};

use crate::killed::{Interrupted, kill};
use crate::world::{API, World, text};

/// Wants to be asked about these events.
#[track_caller]
pub(crate) fn hook(program: &mut Program, events: &[&str]) {
    let set = program.ok(json!({"type": "set_hooks", "events": events}));
    assert_eq!(set, json!({"events": events}));
}

/// The next question about that event.
#[track_caller]
pub(crate) fn question(program: &mut Program, event: &str) -> Value {
    let question = program.event("hook_request");
    assert_eq!(
        (&question["event"], question["timeout"].as_u64()),
        (&json!(event), Some(30_000)),
        "{question}"
    );
    question
}

/// Answers a question.
pub(crate) fn respond(program: &mut Program, question: &Value, result: Value) {
    program.send(&[json!({"type": "hook_response", "id": question["id"], "result": result})]);
}

const TURNS: [&str; 4] = ["user: First", "assistant: One.", "user: Second", "assistant: Two."];

/// Two turns, of which the second is left; what comes then is answered with `replies`.
struct Leaving {
    world: World,
    program: Program,
    target: Value,
    leaf: Value,
    bytes: Vec<u8>,
}

impl Leaving {
    fn hooked(events: &[&str], replies: Vec<Reply>) -> Leaving {
        let world = World::new(vec![text("One."), text("Two.")]);
        let mut program = world.start();
        program.say("First");
        program.say("Second");
        world.server.script(replies);
        hook(&mut program, events);
        let (target, leaf) = (world.id_of("assistant: One."), program.state()["leafId"].clone());
        let bytes = world.bytes();
        Leaving { world, program, target, leaf, bytes }
    }

    /// Begins to leave, and answers the question before it.
    #[track_caller]
    fn leave(&mut self, options: Value) -> Value {
        let mut request =
            json!({"id": "go", "type": "navigate_tree", "targetId": self.target, "summarize": true});
        for (key, value) in options.as_object().unwrap() {
            request[key] = value.clone();
        }
        self.program.send(&[request]);
        question(&mut self.program, "session_before_tree")
    }

    /// What came of it.
    #[track_caller]
    fn done(&mut self) -> Value {
        let answer = self.program.answer("go");
        assert_eq!(answer["success"], true, "{answer}");
        answer["data"].clone()
    }

    #[track_caller]
    fn is_unchanged(&mut self) {
        assert_eq!(self.program.state()["leafId"], self.leaf);
        assert_eq!(self.world.bytes(), self.bytes);
    }
}

#[test]
fn refused() {
    let mut leaving = Leaving::hooked(&["session_before_tree", "session_tree"], vec![text("Three.")]);
    let asked = leaving.leave(json!({"customInstructions": "Mind it.", "label": "mark"}));
    let left = &leaving.world.entries()[2..];
    let preparation = json!({
        "targetId": leaving.target, "oldLeafId": leaving.leaf, "commonAncestorId": leaving.target,
        "entriesToSummarize": left, "userWantsSummary": true, "customInstructions": "Mind it.",
        "replaceInstructions": false, "label": "mark"});
    assert_eq!(asked["preparation"], preparation);
    respond(&mut leaving.program, &asked, json!({"cancel": true}));
    assert_eq!(leaving.done(), json!({"cancelled": true}));
    leaving.is_unchanged();
    hook(&mut leaving.program, &[]);
    leaving.program.say("Third");
    // Nobody is asked any more.
    let moved = leaving.program.ok(json!({"type": "navigate_tree", "targetId": leaving.target}));
    assert_eq!(moved, json!({"cancelled": false}));
    let rest = leaving.world.finish(leaving.program);
    assert!(!rest.iter().any(|line| line["type"] == "hook_request"), "{rest:#?}");
    assert_eq!(leaving.world.last_said()[..4], TURNS);
}

#[test]
fn supplied() {
    let mut leaving = Leaving::hooked(&["session_before_tree", "session_tree"], vec![text("Three.")]);
    let asked = leaving.leave(json!({"label": "mine"}));
    let supplied = json!({"summary": "THEIRS", "details": {"x": 1.50}});
    respond(&mut leaving.program, &asked, json!({"summary": supplied, "label": "theirs"}));
    let after = question(&mut leaving.program, "session_tree");
    let entry = &after["summaryEntry"];
    assert_eq!((&after["oldLeafId"], &after["fromExtension"]), (&leaving.leaf, &json!(true)));
    assert_eq!((&entry["summary"], &entry["details"]), (&json!("THEIRS"), &json!({"x": 1.5})));
    assert_eq!((&entry["parentId"], &entry["fromExtension"]), (&leaving.target, &json!(true)));
    respond(&mut leaving.program, &after, Value::Null);
    let done = leaving.done();
    assert_eq!((&done["cancelled"], &done["summaryEntry"]), (&json!(false), entry));
    let label = leaving.program.ok(json!({"type": "get_label", "entryId": entry["id"]}));
    assert_eq!(
        (&label["label"], &after["newLeafId"]),
        (&json!("theirs"), &leaving.program.state()["leafId"])
    );
    leaving.program.say("Third");
    leaving.world.finish(leaving.program);

    let said = leaving.world.last_said();
    assert_eq!(leaving.world.asked().len(), 3, "no model is asked for the summary");
    assert_eq!(said[..2], TURNS[..2]);
    assert!(said[2].contains("THEIRS") && said.last().unwrap().ends_with("Third"), "{said:#?}");
    assert!(leaving.world.bytes().starts_with(&leaving.bytes));
    let entries = leaving.world.entries();
    assert_eq!(&entries[4], entry);
    assert_eq!(entry["abandonedLeafId"], leaving.leaf);
}

#[test]
fn supplied_but_not_wanted() {
    let mut leaving = Leaving::hooked(&["session_before_tree", "session_tree"], Vec::new());
    let asked = leaving.leave(json!({"summarize": false}));
    assert_eq!(asked["preparation"]["userWantsSummary"], false);
    respond(&mut leaving.program, &asked, json!({"summary": {"summary": "THEIRS"}}));
    let after = question(&mut leaving.program, "session_tree");
    assert_eq!((&after["newLeafId"], after.get("summaryEntry")), (&leaving.target, None));
    assert_eq!(after.get("fromExtension"), None);
    respond(&mut leaving.program, &after, json!({}));
    assert_eq!(leaving.done(), json!({"cancelled": false}));
    leaving.world.finish(leaving.program);
    assert_eq!(leaving.world.bytes(), leaving.bytes);
}

#[test]
fn with_other_instructions() {
    let mut leaving = Leaving::hooked(&["session_before_tree"], vec![text("NOTES")]);
    let asked = leaving.leave(json!({"customInstructions": "Mine."}));
    let result = json!({"customInstructions": "Theirs.", "replaceInstructions": true});
    respond(&mut leaving.program, &asked, result);
    assert_eq!(leaving.done()["summaryEntry"]["fromExtension"], false);
    leaving.world.finish(leaving.program);
    let said = &leaving.world.last_said()[0];
    assert!(said.ends_with("</conversation>\n\nTheirs.") && !said.contains("Mine."), "{said}");
}

#[test]
fn what_may_be_done_while_a_question_is_open() {
    let mut leaving =
        Leaving::hooked(&["session_before_tree", "session_tree"], vec![text("NOTES"), text("Three.")]);
    let note = |words: &str| {
        let entry =
            json!({"type": "custom_message", "customType": "note", "content": words, "display": true});
        json!({"type": "append", "entry": entry})
    };
    let asked = leaving.leave(json!({}));
    let program = &mut leaving.program;
    // Moving is refused, reading and appending is not.
    for request in [
        json!({"type": "navigate_tree", "targetId": leaving.target}),
        json!({"type": "navigate_tree", "targetId": leaving.world.id_of("user: Second"), "summarize": true}),
        json!({"type": "branch", "entryId": leaving.world.id_of("user: Second")}),
        json!({"type": "set_leaf", "entryId": null}),
        json!({"type": "new_session"}),
        json!({"type": "compact"}),
        json!({"type": "prompt", "message": "x"}),
    ] {
        let name = string(&request["type"]);
        let why = program.refused(request);
        assert!(why.contains("busy"), "{name}: {why}");
    }
    assert_eq!(program.ok(json!({"type": "get_branch"}))["entries"].as_array().unwrap().len(), 4);
    let before = program.ok(note("BEFORE"))["entryId"].clone();
    program.ok(json!({"type": "set_label", "entryId": before, "label": "noted"}));
    respond(program, &asked, json!({}));
    let after = question(program, "session_tree");
    let behind = program.ok(note("BEHIND"))["entryId"].clone();
    respond(program, &after, json!({}));
    assert_eq!(leaving.done()["cancelled"], false);
    leaving.program.say("Third");
    let leaf = leaving.program.state()["leafId"].clone();
    leaving.world.finish(leaving.program);

    // What was appended before belongs to the branch that is left; what was appended behind is in the
    // context.
    let said = leaving.world.last_said();
    assert_eq!(said[..2], TURNS[..2]);
    let more = said[2..].concat();
    assert!(more.contains("NOTES") && more.contains("BEHIND") && more.ends_with("Third"), "{said:#?}");
    assert!(!more.contains("BEFORE"), "{said:#?}");
    let entries = leaving.world.entries();
    let path: Vec<String> = ramal_testing::log::path_to(&entries, &leaf).into_iter().map(told).collect();
    let wanted = ["branch_summary: NOTES", "custom_message", "user: Third", "assistant: Three."];
    assert_eq!(path[2..], wanted);
    let of = |id: &Value| entries.iter().find(|entry| entry["id"] == *id).unwrap()["parentId"].clone();
    assert_eq!(of(&before), leaving.leaf);
    assert_eq!(entries.iter().find(|entry| entry["id"] == of(&behind)).unwrap()["type"], "branch_summary");
}

#[test]
fn failing_or_misshapen_it_does_not_count() {
    for (response, named) in [
        (json!({"error": "my handler broke"}), "my handler broke"),
        (json!({"result": {"cancel": "yes"}}), "cancel"),
        (json!({"result": {"cancel": false, "summary": {"details": 1}}}), "summary"),
        (json!({"result": {"summary": "THEIRS", "label": "theirs"}}), "summary"),
        (json!({"result": 7}), "result"),
    ] {
        let mut leaving = Leaving::hooked(&["session_before_tree"], vec![text("NOTES")]);
        let asked = leaving.leave(json!({}));
        let mut response = response;
        (response["type"], response["id"]) = (json!("hook_response"), asked["id"].clone());
        leaving.program.send(&[response.clone()]);
        let failed = leaving.program.event("extension_error");
        assert_eq!(failed["event"], "session_before_tree");
        assert!(string(&failed["error"]).contains(named), "{response}: {failed}");
        let done = leaving.done();
        assert_eq!(done["summaryEntry"]["summary"], "NOTES", "{response}: {done}");
        let label = leaving.program.ok(json!({"type": "get_label", "entryId": done["summaryEntry"]["id"]}));
        assert_eq!(label["label"], Value::Null, "{response}");
        leaving.world.finish(leaving.program);
    }
}

#[test]
fn aborted_while_it_is_asked() {
    let mut leaving = Leaving::hooked(&["session_before_tree"], vec![text("Three.")]);
    let asked = leaving.leave(json!({}));
    leaving.program.send(&[json!({"id": "stop", "type": "abort"})]);
    assert_eq!(leaving.program.answer("stop")["success"], true);
    let ended = leaving.program.find(|line| line["type"] == "hook_request_ended");
    assert_eq!((&ended["id"], &ended["reason"]), (&asked["id"], &json!("aborted")));
    assert_eq!(leaving.done(), json!({"cancelled": true, "aborted": true}));
    // It comes too late, and is not heard.
    respond(&mut leaving.program, &asked, json!({"summary": {"summary": "LATE"}}));
    leaving.is_unchanged();
    leaving.program.say("Third");
    leaving.world.finish(leaving.program);
    assert_eq!(leaving.world.last_said()[..4], TURNS);
}

#[test]
fn nobody_waits_for_ever() {
    let world = World::new(vec![text("One."), text("Two."), text("NOTES")]);
    let mut program = Program::start(world.command().env("RAMAL_HOOK_TIMEOUT_MS", "30"));
    program.say("First");
    program.say("Second");
    hook(&mut program, &["session_before_tree"]);
    let target = world.id_of("assistant: One.");
    program.send(&[json!({"id": "go", "type": "navigate_tree", "targetId": target, "summarize": true})]);
    let asked = program.event("hook_request");
    assert_eq!((&asked["event"], &asked["timeout"]), (&json!("session_before_tree"), &json!(30)));
    let ended = program.event("hook_request_ended");
    assert_eq!((&ended["id"], &ended["reason"]), (&asked["id"], &json!("timeout")));
    respond(&mut program, &asked, json!({"cancel": true}));
    assert_eq!(program.answer("go")["data"]["summaryEntry"]["summary"], "NOTES");
    world.finish(program);
    assert_eq!(world.told()[4..], ["branch_summary: NOTES"]);
}

#[test]
fn nobody_answers_any_more() {
    let mut leaving = Leaving::hooked(&["session_before_tree"], vec![text("NOTES")]);
    leaving.leave(json!({}));
    // What was accepted is finished without the client.
    let rest = leaving.program.close();
    let answer = rest.iter().find(|line| line["id"] == "go").unwrap();
    assert_eq!(answer["data"]["summaryEntry"]["summary"], "NOTES", "{answer}");
    assert_eq!(leaving.world.told()[4..], ["branch_summary: NOTES"]);
}

#[test]
fn events_that_there_are() {
    let world = World::new(vec![text("One.")]);
    let mut program = world.start();
    hook(&mut program, &["session_tree"]);
    let why = program.refused(json!({"type": "set_hooks", "events": ["session_tree", "session_after_tree"]}));
    assert!(why.contains("session_after_tree") && why.contains("session_before_tree"), "{why}");
    assert!(program.refused(json!({"type": "set_hooks"})).contains("events"));
    program.say("First");
    world.finish(program);
}

#[test]
fn killed_while_it_is_asked() {
    let mut leaving = Leaving::hooked(&["session_before_tree"], Vec::new());
    leaving.leave(json!({}));
    kill(&leaving.world, leaving.program, Interrupted::No, &TURNS, &TURNS);

    // Before a request of a turn.
    let world = World::new(vec![text("One.")]);
    let mut program = world.start();
    program.say("First");
    hook(&mut program, &["context"]);
    program.ok(json!({"type": "prompt", "message": "Second"}));
    question(&mut program, "context");
    kill(&world, program, Interrupted::Yes, &TURNS[..3], &TURNS[..3]);

    // And before a compaction.
    let world = World::of(API, 200_000, "[compaction]\nkeepRecentTokens = 1\n", vec![text("One.")]);
    let mut program = world.start();
    world.server.script(vec![says("Two.").reply(API)]);
    program.say("First");
    program.say("Second");
    hook(&mut program, &["session_before_compact"]);
    program.send(&[json!({"type": "compact"})]);
    question(&mut program, "session_before_compact");
    kill(&world, program, Interrupted::No, &TURNS, &TURNS);
}

//! Making the conversation shorter: by hand, by itself, again, and what becomes of the tree.

use ramal_testing::log::string;
use ramal_testing::program::Program;
use ramal_testing::says::says;
use ramal_testing::server::Reply;
use serde_json::{Value, json};

use crate::world::{API, World, failure, text};

/// Some 60 tokens are kept as they are.
const KEEP: &str = "[compaction]\nkeepRecentTokens = 60\nreserveTokens = 4000\n";

/// Words of the built-in prompts: for what came before, and for the beginning of a turn.
const HISTORY: &str = "has become too long";
const BEGINNING: &str = "beginning of a piece of work";

/// A text of some 120 tokens: more than is kept.
fn long(name: &str) -> String {
    format!("{name} {}", "x".repeat(480))
}

/// A text of some 40 tokens: two of them are kept.
fn medium(name: &str) -> String {
    format!("{name} {}", "y".repeat(160))
}

fn world(replies: Vec<Reply>) -> World {
    World::of(API, 20_000, KEEP, replies)
}

/// The answers to [`two_turns`].
fn answers() -> Vec<Reply> {
    vec![text(&long("answer 1")), text(&medium("answer 2"))]
}

/// Two turns, of which the second is kept when it is compacted.
fn two_turns(program: &mut Program) {
    program.say(&long("question 1"));
    program.say(&medium("question 2"));
}

/// The compactions that were told of: reason, aborted, will retry.
fn compactions(program: &mut Program) -> Vec<(String, bool, bool)> {
    let is_end = |line: &&Value| line["type"] == "compaction_end";
    let starts = program.passed.iter().filter(|line| line["type"] == "compaction_start").count();
    let ends: Vec<_> = program.passed.iter().filter(is_end).collect();
    assert_eq!(starts, ends.len());
    ends.iter()
        .map(|end| (string(&end["reason"]), end["aborted"] == true, end["willRetry"] == true))
        .collect()
}

fn of_kind<'a>(entries: &'a [Value], kind: &str) -> Vec<&'a Value> {
    entries.iter().filter(|entry| entry["type"] == kind).collect()
}

#[test]
fn by_hand() {
    let world = world(answers());
    let mut program = world.start();
    two_turns(&mut program);
    let before = world.bytes();
    world.server.script(vec![text("## Goal\nSO FAR"), text("Three.")]);
    let done = program.ok(json!({"type": "compact", "customInstructions": "Mind the colours."}));
    assert_eq!(done["summary"], "## Goal\nSO FAR");
    assert_eq!(done["firstKeptEntryId"], world.id_of(&format!("user: {}", medium("question 2"))));
    assert_eq!(done["details"], json!({"readFiles": [], "modifiedFiles": []}));
    assert!(done["tokensBefore"].as_u64().unwrap() > 300, "{done}");
    assert_eq!(compactions(&mut program), [("manual".to_owned(), false, false)]);
    program.say("Third");
    let leaf = program.state()["leafId"].clone();
    world.finish(program);

    let asked = world.asked();
    assert_eq!((asked[2].said.len(), asked[2].tools), (1, 0));
    let said = &asked[2].said[0];
    for words in ["question 1", "answer 1", HISTORY, "Mind the colours."] {
        assert!(said.contains(words), "{words} is missing: {said}");
    }
    assert!(!said.contains("question 2") && !said.contains("answer 2"), "what is kept is not summed up");
    let said = &asked[3].said;
    assert!(said[0].starts_with("user: ") && said[0].contains("SO FAR"), "{said:#?}");
    assert_eq!(said.last().unwrap(), "user: Third");
    assert!(said.concat().contains("question 2") && said.concat().contains("answer 2"), "{said:#?}");
    assert!(!said.concat().contains("question 1") && !said.concat().contains("answer 1"), "{said:#?}");

    assert!(world.bytes().starts_with(&before), "nothing is rewritten");
    let entries = world.entries();
    let [compaction] = of_kind(&entries, "compaction")[..] else { panic!("{entries:#?}") };
    assert_eq!(compaction["parentId"], world.id_of(&format!("assistant: {}", medium("answer 2"))));
    for key in ["summary", "firstKeptEntryId", "tokensBefore", "details"] {
        assert_eq!(compaction[key], done[key]);
    }
    assert_eq!(compaction["fromExtension"], false);
    let path = world.path_to(&leaf);
    assert_eq!(path[4..], ["compaction: ## Goal\nSO FAR", "user: Third", "assistant: Three."]);
}

#[test]
fn by_the_threshold() {
    let mut script = answers();
    script[1] = says(medium("answer 2")).counted(17_000, 10).reply(API);
    script.extend([text("SO FAR"), text("Three."), text("Four.")]);
    let world = world(script);
    let mut program = world.start();
    two_turns(&mut program);
    assert_eq!(compactions(&mut program), [("threshold".to_owned(), false, false)]);
    program.say("Third");
    // What was counted before it does not count any more.
    program.say("Fourth");
    assert_eq!(compactions(&mut program).len(), 1);
    world.finish(program);
    let asked = world.asked();
    assert!(asked[2].said[0].contains(HISTORY) && asked[2].said[0].contains("question 1"));
    let said = &asked[3].said;
    assert!(said[0].contains("SO FAR") && said.last().unwrap() == "user: Third", "{said:#?}");
    assert!(!said.concat().contains("question 1"), "{said:#?}");
    assert_eq!(
        world.told()[4..],
        ["compaction: SO FAR", "user: Third", "assistant: Three.", "user: Fourth", "assistant: Four."]
    );
}

#[test]
fn by_the_threshold_between_calls_and_their_next_request() {
    let mut script = answers();
    let works = says("I look.").and_calls("t1", "ls", json!({})).counted(17_000, 10);
    script.extend([works.reply(API), text("SO FAR"), text("Done.")]);
    let world = world(script);
    let mut program = world.start();
    two_turns(&mut program);
    program.say("Third");
    assert_eq!(compactions(&mut program), [("threshold".to_owned(), false, false)]);
    let leaf = program.state()["leafId"].clone();
    world.finish(program);
    let said = world.last_said();
    assert!(said[0].contains("SO FAR"), "{said:#?}");
    let at = said.iter().position(|said| said == "call: ls {}").unwrap();
    assert!(said[at + 1].starts_with("result: ") && at + 2 == said.len(), "{said:#?}");
    let path = world.path_to(&leaf);
    assert_eq!(path[4..6], ["user: Third", "assistant: I look.<ls>"]);
    assert_eq!(path[7..], ["compaction: SO FAR", "assistant: Done."]);
}

#[test]
fn aborted_within_a_turn() {
    for by_overflow in [false, true] {
        let mut script = answers();
        let works = says("I look.").and_calls("t1", "ls", json!({})).counted(17_000, 10);
        script.push(if by_overflow { too_long() } else { works.reply(API) });
        script.push(says("SO").stalled(API));
        let world = world(script);
        let mut program = world.start();
        two_turns(&mut program);
        program.ok(json!({"type": "prompt", "message": "Third"}));
        program.event("compaction_start");
        world.server.wait_for_request(4);
        program.ok(json!({"type": "abort"}));
        world.server.wait_for_hang_up(1);
        let end = program.find(|line| line["type"] == "compaction_end");
        assert_eq!((&end["aborted"], &end["willRetry"]), (&json!(true), &json!(false)));
        program.find(|line| line["type"] == "agent_end");
        assert!(world.told().iter().all(|told| !told.starts_with("compaction")), "{:#?}", world.told());
        world.server.script(vec![text("Four.")]);
        program.say("Fourth");
        world.finish(program);
        let said = world.last_said();
        assert!(said[0].contains("question 1") && said.last().unwrap().ends_with("Fourth"), "{said:#?}");
    }
}

fn too_long() -> Reply {
    failure(400, "invalid_request_error", "prompt is too long: 21000 tokens > 20000 maximum")
}

#[test]
fn by_an_overflow_with_one_retry() {
    let mut script = answers();
    script.extend([too_long(), text("SO FAR"), text("Fits.")]);
    let world = world(script);
    let mut program = world.start();
    two_turns(&mut program);
    program.say("Third");
    assert_eq!(compactions(&mut program), [("overflow".to_owned(), false, true)]);
    world.finish(program);
    let asked = world.asked();
    assert!(asked[2].said.concat().contains("question 1"));
    assert!(asked[3].said[0].contains(HISTORY) && asked[3].said[0].contains("question 1"));
    let said = &asked[4].said;
    assert!(said[0].contains("SO FAR") && said.last().unwrap().ends_with("Third"), "{said:#?}");
    assert!(!said.concat().contains("question 1"), "{said:#?}");
    assert_eq!(world.told()[4..], ["user: Third", "compaction: SO FAR", "assistant: Fits."]);
}

#[test]
fn an_overflow_again_is_an_error() {
    let mut script = answers();
    script.extend([too_long(), text("SO FAR"), too_long()]);
    let world = world(script);
    let mut program = world.start();
    two_turns(&mut program);
    program.say("Third");
    assert_eq!(compactions(&mut program), [("overflow".to_owned(), false, true)]);
    world.server.script(vec![text("Fits now.")]);
    program.say("Fourth");
    world.finish(program);
    let told = world.told();
    assert_eq!(
        told[4..],
        ["user: Third", "compaction: SO FAR", "assistant: ", "user: Fourth", "assistant: Fits now."]
    );
    assert_eq!(world.entries()[6]["message"]["stopReason"], "error");
}

#[test]
fn within_a_turn() {
    let reads = says("I look.").and_calls("t1", "read", json!({"path": "a.txt"})).reply(API);
    let script = vec![
        text(&long("answer 1")),
        reads,
        text(&long("discovery")),
        text("BEFORE"),
        text("THE TURN"),
        text("Three."),
    ];
    let world = world(script);
    world.scratch.write("a.txt", "alpha\n");
    let mut program = world.start();
    program.say(&long("question 1"));
    program.say("Look at a.txt");
    let done = program.ok(json!({"type": "compact"}));
    program.say("Third");
    world.finish(program);

    let asked = world.asked();
    let (history, turn) = (&asked[3].said[0], &asked[4].said[0]);
    assert!(
        history.contains(HISTORY) && history.contains("question 1") && history.contains("answer 1"),
        "{history}"
    );
    assert!(!history.contains("Look at a.txt"), "{history}");
    assert!(turn.contains(BEGINNING) && turn.contains("Look at a.txt") && turn.contains("alpha"), "{turn}");
    assert!(!turn.contains("question 1") && !turn.contains("discovery"), "{turn}");
    let summary = string(&done["summary"]);
    let places = ["BEFORE", "THE TURN", "a.txt"].map(|words| summary.find(words).unwrap());
    assert!(places.is_sorted(), "{summary}");
    assert_eq!(done["details"]["readFiles"], json!(["a.txt"]));
    let kept = format!("assistant: {}", long("discovery"));
    assert_eq!(done["firstKeptEntryId"], world.id_of(&kept));
    let said = &asked[5].said;
    assert!(said[0].contains("BEFORE") && said[0].contains("THE TURN"), "{said:#?}");
    assert_eq!(said[1..], [kept, "user: Third".to_owned()]);
}

#[test]
fn twice_and_back_to_before() {
    let mut script = answers();
    script.extend([
        text("NOTES ONE"),
        text(&long("answer 3")),
        text(&medium("answer 4")),
        text("NOTES TWO"),
        text("Five."),
        text("Again."),
    ]);
    let world = world(script);
    let mut program = world.start();
    two_turns(&mut program);
    program.ok(json!({"type": "compact"}));
    program.say(&long("question 3"));
    program.say(&medium("question 4"));
    let second = program.ok(json!({"type": "compact"}));
    program.say("Fifth");
    let far = program.state()["leafId"].clone();
    // To before both of them.
    let question = medium("question 2");
    let target = world.id_of(&format!("user: {question}"));
    let moved = program.ok(json!({"type": "navigate_tree", "targetId": target}));
    assert_eq!(moved["editorText"], *question);
    program.say("Another second");
    let near = program.state()["leafId"].clone();
    world.finish(program);

    let asked = world.asked();
    // What the first one kept and what came after it is summed up with its notes: nothing is lost.
    let said = &asked[5].said[0];
    for words in ["NOTES ONE", "previous-summary", "question 2", "answer 2", "question 3", "answer 3"] {
        assert!(said.contains(words), "{words} is missing: {said}");
    }
    assert!(!said.contains("question 1") && !said.contains("question 4"), "{said}");
    let said = &asked[6].said;
    assert!(said[0].contains("NOTES TWO") && !said.concat().contains("NOTES ONE"), "{said:#?}");
    assert!(said.concat().contains("question 4") && !said.concat().contains("question 3"), "{said:#?}");
    let said = &asked[7].said;
    let wanted = [format!("user: {}", long("question 1")), format!("assistant: {}", long("answer 1"))];
    assert_eq!(said[..2], wanted);
    assert_eq!(said[2..], ["user: Another second"]);

    let entries = world.entries();
    let compactions = of_kind(&entries, "compaction");
    assert_eq!(compactions.len(), 2);
    assert_eq!(compactions[1]["firstKeptEntryId"], second["firstKeptEntryId"]);
    assert_eq!(world.path_to(&far).len(), 12);
    assert_eq!(world.path_to(&near)[2..], ["user: Another second", "assistant: Again."]);
    assert_eq!(entries.len(), 14);
}

#[test]
fn aborted_or_failing_it_changes_nothing() {
    let leaking = failure(500, "api_error", "the roof is leaking");
    // What may pass is asked for again, three times.
    for (replies, aborted) in [(vec![says("## Goal").stalled(API)], true), (vec![leaking; 4], false)] {
        let world = world(answers());
        let mut program = world.start();
        two_turns(&mut program);
        let before = world.bytes();
        world.server.script(replies);
        program.send(&[json!({"id": "go", "type": "compact"})]);
        world.server.wait_for_request(3);
        if aborted {
            program.ok(json!({"type": "abort"}));
            world.server.wait_for_hang_up(1);
        }
        let answer = program.answer("go");
        let why = if aborted { "aborted" } else { "the roof is leaking" };
        assert_eq!(answer["success"], false);
        assert!(string(&answer["error"]).contains(why), "{answer}");
        let end = program.find(|line| line["type"] == "compaction_end");
        assert_eq!((&end["aborted"], &end["result"]), (&json!(aborted), &Value::Null));
        world.server.script(vec![text("Three.")]);
        assert_eq!(world.bytes(), before);
        program.say("Third");
        world.finish(program);
        assert_eq!(world.last_said().len(), 5, "the conversation is as it was");
    }
}

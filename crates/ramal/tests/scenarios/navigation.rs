//! Going back: to say something another way, and to bring home what was learned.

use ramal_model::Api;
use ramal_testing::log::string;
use ramal_testing::says::{calls, says};
use serde_json::{Value, json};

use crate::world::{API, APIS, World, assert_fork, replies, text};

#[test]
fn said_another_way() {
    let world = World::new(vec![text("One."), text("Two."), text("Too."), text("Anew.")]);
    let mut program = world.start();
    program.say("First");
    program.say("OLD second");
    let left = program.state()["leafId"].clone();
    let target = world.id_of("user: OLD second");
    let before = world.bytes();
    let moved = program.ok(json!({"type": "navigate_tree", "targetId": target}));
    assert_eq!(moved, json!({"cancelled": false, "editorText": "OLD second"}));
    assert_eq!(program.state()["leafId"], world.id_of("assistant: One."));
    assert_eq!(world.bytes(), before, "a move is not written");
    program.say("NEW second");
    let first = program.state()["leafId"].clone();

    // To before the first message of all.
    let moved = program.ok(json!({"type": "navigate_tree", "targetId": world.id_of("user: First")}));
    assert_eq!((&moved["editorText"], &program.state()["leafId"]), (&json!("First"), &Value::Null));
    program.say("Begin anew");
    let tree = program.ok(json!({"type": "get_tree"}));
    let roots = tree["tree"].as_array().unwrap();
    assert_eq!(roots.len(), 2);
    let fork = &roots[0]["children"][0]["children"];
    assert_eq!(fork.as_array().unwrap().len(), 2, "both ways are there: {tree}");
    let last = program.state()["leafId"].clone();
    world.finish(program);

    let asked = world.asked();
    assert_eq!(asked[2].said, ["user: First", "assistant: One.", "user: NEW second"]);
    assert_eq!(asked[3].said, ["user: Begin anew"]);
    let bodies = world.bodies();
    assert_fork(&bodies[1], &bodies[2], ("OLD second", "NEW second"));
    assert_fork(&bodies[0], &bodies[3], ("First", "Begin anew"));

    assert!(world.bytes().starts_with(&before));
    assert_eq!(
        world.path_to(&left),
        ["user: First", "assistant: One.", "user: OLD second", "assistant: Two."]
    );
    assert_eq!(
        world.path_to(&first),
        ["user: First", "assistant: One.", "user: NEW second", "assistant: Too."]
    );
    assert_eq!(world.path_to(&last), ["user: Begin anew", "assistant: Anew."]);
    assert_eq!(world.entries().len(), 8);
}

/// Two turns, the second with tools; the place behind the first is gone back to.
fn with_summary(api: Api) {
    let works = calls("t1", "read", json!({"path": "a.txt"})).and_calls(
        "t2",
        "write",
        json!({"path": "b.txt", "content": "beta"}),
    );
    let notes = says("## Goal\nNOTES").counted(50, 7);
    let script = [says("Trunk answer."), works, says("Branch answer."), notes, says("On it.")];
    let world = World::of(api, 200_000, "", replies(api, &script));
    world.scratch.write("a.txt", "alpha\n");
    let mut program = world.start_trusting();
    program.say("Trunk question");
    let target = program.state()["leafId"].clone();
    program.say("Branch question");
    let left = program.state()["leafId"].clone();
    let before = world.bytes();
    let request = json!({"type": "navigate_tree", "targetId": target, "summarize": true, "label": "tried"});
    let moved = program.ok(request);
    assert_eq!((&moved["cancelled"], moved.get("editorText")), (&json!(false), None));
    let entry = &moved["summaryEntry"];
    let label = program.ok(json!({"type": "get_label", "entryId": entry["id"]}));
    assert_eq!(label["label"], "tried");
    let told = program.passed.iter().rfind(|line| line["type"] == "session_tree").unwrap().clone();
    assert_eq!((&told["oldLeafId"], &told["newLeafId"]), (&left, &program.state()["leafId"]));
    program.say("Next question");
    let last = program.state()["leafId"].clone();
    world.finish(program);

    // Exactly what was left is summed up, without tools.
    let asked = world.asked();
    assert_eq!((asked[3].said.len(), asked[3].tools), (1, 0));
    let said = &asked[3].said[0];
    for words in ["Branch question", "Branch answer.", "a.txt", "b.txt", "alpha", "<conversation>"] {
        assert!(said.contains(words), "{words} is missing: {said}");
    }
    let conversation = said.split("</conversation>").next().unwrap();
    let headings: Vec<&str> = conversation.lines().filter(|line| line.starts_with('[')).collect();
    let results = ["[Result of read: succeeded]", "[Result of write: succeeded]"];
    assert_eq!(headings[..3], ["[User]", "[Assistant calls read]", "[Assistant calls write]"]);
    assert_eq!((&headings[3..5], &headings[5..]), (&results[..], &["[Assistant]"][..]));
    assert!(!said.contains("Trunk"), "what both share is not summed up: {said}");
    assert_ne!(asked[3].system, asked[0].system);

    // The entry.
    assert!(world.bytes().starts_with(&before));
    let entries = world.entries();
    assert_eq!(entries.iter().find(|found| found["id"] == entry["id"]), Some(entry));
    assert_eq!((&entry["type"], &entry["parentId"]), (&json!("branch_summary"), &target));
    assert_eq!((&entry["fromId"], &entry["abandonedLeafId"]), (&target, &left));
    assert_eq!(entry["fromExtension"], false);
    assert_eq!(entry["details"], json!({"readFiles": ["a.txt"], "modifiedFiles": ["b.txt"]}));
    assert_eq!(
        (&entry["usage"]["input"], &entry["usage"]["output"]),
        (&json!(50), &json!(7)),
        "what it cost"
    );
    let summary = string(&entry["summary"]);
    assert!(summary.starts_with("## Goal\nNOTES") && summary.contains("b.txt"), "{summary}");
    let path = world.path_to(&last);
    let wanted =
        ["user: Trunk question", "assistant: Trunk answer.", &format!("branch_summary: {summary}"), "label"];
    assert_eq!(path[..4], wanted);
    assert_eq!(path[4..], ["user: Next question", "assistant: On it."]);

    // What the model sees from now on.
    let said = &asked[4].said;
    assert_eq!(said[..2], ["user: Trunk question", "assistant: Trunk answer."]);
    assert!(said[2].starts_with("user: ") && said[2].contains(&summary), "{said:#?}");
    assert!(
        said.last().unwrap().ends_with("Next question") && !said.concat().contains("Branch"),
        "{said:#?}"
    );
}

#[test]
fn with_summary_over_anthropic_messages() {
    with_summary(APIS[0]);
}

#[test]
fn with_summary_over_openai_completions() {
    with_summary(APIS[1]);
}

#[test]
fn with_summary_over_openai_responses() {
    with_summary(APIS[2]);
}

#[test]
fn with_summary_over_google() {
    with_summary(APIS[3]);
}

/// What is asked for when the second of two turns is left with these options.
fn asked_for(options: Value) -> (World, String) {
    let script = [says("One."), says("Two."), says("Notes.")];
    let world = World::new(replies(API, &script));
    let mut program = world.start();
    program.say("First");
    program.say("Second");
    let mut request =
        json!({"type": "navigate_tree", "targetId": world.id_of("user: Second"), "summarize": true});
    for (key, value) in options.as_object().unwrap() {
        request[key] = value.clone();
    }
    let moved = program.ok(request);
    assert_eq!(
        (&moved["editorText"], &moved["summaryEntry"]["summary"]),
        (&json!("Second"), &json!("Notes."))
    );
    world.finish(program);
    assert_eq!(world.told().last().unwrap(), "branch_summary: Notes.");
    let said = world.last_said();
    assert_eq!(said.len(), 1);
    (world, said[0].clone())
}

/// Words of the built-in prompt, and of the form that it asks for.
const BUILT_IN: [&str; 2] = ["a branch that the user has left", "## Next steps"];

#[test]
fn instructions_are_added() {
    for options in [json!({}), json!({"customInstructions": " "}), json!({"replaceInstructions": true})] {
        let (_, said) = asked_for(options);
        assert!(BUILT_IN.iter().all(|words| said.contains(words)), "{said}");
        assert!(!said.contains("asks you to mind"), "{said}");
    }
    let (_, said) = asked_for(json!({"customInstructions": "Mind the colours."}));
    assert!(BUILT_IN.iter().all(|words| said.contains(words)), "{said}");
    assert!(said.contains("Mind the colours.") && said.contains("Two."), "{said}");
}

#[test]
fn instructions_stand_in_its_place() {
    let (_, said) =
        asked_for(json!({"customInstructions": "Only the colours.", "replaceInstructions": true}));
    assert!(!BUILT_IN.iter().any(|words| said.contains(words)), "{said}");
    assert!(said.ends_with("Only the colours.") && said.contains("Two."), "{said}");
}

#[test]
fn nothing_said_is_nothing_summed_up() {
    let world = World::new(vec![text("One.")]);
    let mut program = world.start();
    program.say("First");
    let target = world.id_of("assistant: One.");
    let name = json!({"type": "custom", "customType": "note", "data": 1});
    program.ok(json!({"type": "append", "entry": name}));
    let before = world.bytes();
    let moved = program.ok(json!({"type": "navigate_tree", "targetId": target, "summarize": true}));
    assert_eq!(moved, json!({"cancelled": false}));
    // Nor is a move to where one is.
    let moved = program.ok(json!({"type": "navigate_tree", "targetId": target, "summarize": true}));
    assert_eq!(moved, json!({"cancelled": false}));
    world.finish(program);
    assert_eq!(world.bytes(), before);
}

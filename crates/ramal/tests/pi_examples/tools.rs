//! Examples that bring tools, or stand before those of others.

use serde_json::{Value, json};

use crate::scene::{Scene, Talk, calls, says};

/// Lets the model call a tool, and answers what came of it.
#[track_caller]
fn called(scene: &Scene, name: &str, arguments: Value) -> (Talk, String) {
    let mut talk = scene.answered(&[calls(name, arguments), says("So it is.")]);
    talk.say("use it");
    let result = talk.result();
    (talk, result)
}

#[track_caller]
fn results_in(scene: &Scene, name: &str, arguments: Value, expected: &str) {
    let (talk, result) = called(scene, name, arguments);
    assert!(result.contains(expected), "{result}");
    talk.close();
}

pub(crate) fn hello(scene: &Scene) {
    let (mut talk, result) = called(scene, "hello", json!({"name": "Ada"}));
    assert_eq!(result, "Hello, Ada!");
    assert_eq!(talk.results()[0]["details"], json!({"greeted": "Ada"}));
    talk.close();
}

pub(crate) fn with_deps(scene: &Scene) {
    results_in(scene, "parse_duration", json!({"duration": "2 days"}), "2 days = 172800000 milliseconds");
}

pub(crate) fn dynamic_tools(scene: &Scene) {
    let mut talk = scene.answered(&[
        calls("echo_session", json!({"message": "one"})),
        says("Good."),
        calls("shout", json!({"message": "two"})),
        says("Good."),
    ]);
    talk.notified("Registered dynamic tool: echo_session");
    talk.say("echo");
    assert_eq!(talk.result(), "[session] one");
    talk.command("/add-echo-tool shout");
    talk.notified("Registered dynamic tool: shout");
    talk.command("/add-echo-tool shout");
    talk.notified("Tool already registered: shout");
    talk.say("shout");
    assert_eq!(talk.result(), "[shout] two");
    talk.close();
}

pub(crate) fn structured_output(scene: &Scene) {
    // There is no second answer: the tool has to end the turn.
    let given = json!({"headline": "Fine", "summary": "All of it.", "actionItems": ["rest"]});
    let mut talk = scene.answered(&[calls("structured_output", given.clone())]);
    talk.say("in a form, please");
    let result = &talk.results()[0];
    assert_eq!((&result["details"], &result["isError"]), (&given, &json!(false)));
    assert!(
        scene.told().last().unwrap().starts_with("result: Saved structured output: Fine"),
        "{:?}",
        scene.told()
    );
    talk.close();
}

pub(crate) fn todo(scene: &Scene) {
    let add = |text: &str| calls("todo", json!({"action": "add", "text": text}));
    scene.answers(&[add("milk"), says("Added."), add("bread"), says("Added.")]);
    let mut talk = scene.start(&[]);
    talk.say("milk");
    assert_eq!(talk.result(), "Added todo #1: milk");
    talk.say("bread");
    assert_eq!(talk.result(), "Added todo #2: bread");
    talk.command("/todos");
    talk.notified("requires interactive mode");
    talk.close();
    // What there is to do is read from the path, when the session is opened and after a jump.
    scene.answers(&[add("jam"), says("Added."), add("cheese"), says("Added.")]);
    let mut talk = scene.start(&[]);
    talk.say("jam");
    assert_eq!(talk.result(), "Added todo #3: jam");
    let entries = scene.entries();
    let second =
        entries.iter().find(|entry| ramal_testing::log::text_of(&entry["message"]) == "bread").unwrap();
    talk.ok(json!({"type": "navigate_tree", "targetId": second["id"]}));
    talk.say("cheese");
    assert_eq!(talk.result(), "Added todo #2: cheese");
    talk.close();
}

pub(crate) fn permission_gate(scene: &Scene) {
    scene.write("build/made", "");
    let remove = || calls("bash", json!({"command": "rm -rf build"}));
    let mut talk = scene.answered(&[remove(), says("Then not."), remove(), says("Gone.")]);
    for (option, is_there) in [("No", true), ("Yes", false)] {
        talk.begin("remove it");
        talk.choose("Dangerous command", option);
        talk.done();
        assert_eq!(talk.results().last().unwrap()["isError"], is_there);
        assert_eq!(scene.path("build").exists(), is_there);
    }
    assert!(talk.results()[0].to_string().contains("Blocked by user"));
    talk.close();
}

pub(crate) fn protected_paths(scene: &Scene) {
    let (mut talk, result) = called(scene, "write", json!({"path": ".env", "content": "KEY=1"}));
    assert!(result.contains("Path \".env\" is protected"), "{result}");
    talk.notified("Blocked write to protected path: .env");
    assert!(!scene.path(".env").exists());
    talk.close();
    let (talk, _) = called(scene, "write", json!({"path": "env", "content": "KEY=1"}));
    assert_eq!(scene.read("env"), "KEY=1");
    talk.close();
}

pub(crate) fn question(scene: &Scene) {
    let asked = json!({"question": "Which?", "options": [{"label": "one"}]});
    results_in(scene, "question", asked, "UI not available");
}

pub(crate) fn questionnaire(scene: &Scene) {
    let asked =
        json!({"questions": [{"id": "a", "prompt": "Which?", "options": [{"value": "1", "label": "one"}]}]});
    results_in(scene, "questionnaire", asked, "UI not available");
}

/// One that prints a line for each number.
const MANY_LINES: &str =
    "#!/bin/sh\nwhile [ \"${n:=0}\" -lt 3000 ]; do n=$((n + 1)); echo \"file:$n: found\"; done\n";

pub(crate) fn truncated_tool(scene: &Scene) {
    scene.program("rg", MANY_LINES);
    let (mut talk, result) = called(scene, "rg", json!({"pattern": "found"}));
    assert!(result.contains("showing 2000 of 3001 lines"), "{}", &result[result.len().saturating_sub(300)..]);
    let details = talk.results()[0]["details"].clone();
    let whole = std::fs::read_to_string(details["fullOutputPath"].as_str().unwrap()).unwrap();
    assert_eq!((details["matchCount"].as_u64(), whole.lines().count()), (Some(3000), 3000));
    talk.close();
    scene.program("rg", "#!/bin/sh\nexit 1\n");
    results_in(scene, "rg", json!({"pattern": "found"}), "No matches found");
}

pub(crate) fn tool_override(scene: &Scene) {
    scene.write("notes.txt", "one\ntwo\nthree\n");
    scene.write("secrets.json", "{}");
    let mut talk = scene.answered(&[
        calls("read", json!({"path": "secrets.json"})),
        calls("read", json!({"path": "notes.txt", "offset": 2, "limit": 1})),
        says("Read."),
    ]);
    talk.say("read it");
    assert!(talk.results()[0].to_string().contains("matches a blocked pattern"), "{}", talk.results()[0]);
    assert_eq!(talk.result(), "two");
    talk.command("/read-log");
    let log = talk.notified("Recent file access");
    assert!(log.contains("BLOCKED") && log.contains("ALLOWED"), "{log}");
    talk.close();
}

pub(crate) fn bash_spawn_hook(scene: &Scene) {
    scene.write(".profile", "export FROM_PROFILE=here\n");
    results_in(scene, "bash", json!({"command": "echo $PI_SPAWN_HOOK $FROM_PROFILE"}), "1 here");
}

/// The tools that are built in do what they do, although an extension stands in their place.
pub(crate) fn built_in(scene: &Scene) {
    scene.write("notes.txt", "one\n");
    let mut talk = scene.answered(&[
        calls("read", json!({"path": "notes.txt"})),
        calls("edit", json!({"path": "notes.txt", "edits": [{"oldText": "one", "newText": "two"}]})),
        calls("write", json!({"path": "more.txt", "content": "three\n"})),
        calls("bash", json!({"command": "cat notes.txt more.txt"})),
        says("Done."),
    ]);
    talk.say("work");
    assert!(talk.results()[0].to_string().contains("one"), "{:#?}", talk.results());
    assert!(talk.result().contains("two\nthree"), "{:#?}", talk.results());
    talk.close();
}

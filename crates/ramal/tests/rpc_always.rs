//! Answers to `ramal rpc` that hold for later questions: the real program, recorded answers, its pipes.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "shared with other tests")]
mod support;

use std::fs;

use serde_json::{Value, json};
use support::*;

/// A turn with one call for each of the names, and one answer.
fn touches(names: &[&str]) -> Vec<Value> {
    let touch = |name: &&str| calls("bash", json!({"command": format!("touch {name}")}));
    names.iter().map(touch).chain([says("Done.")]).collect()
}

/// Says something and answers the one question that comes of it. Answers the question.
#[track_caller]
fn answered(program: &mut Program, answer: Value) -> Value {
    program.ok(json!({"type": "prompt", "message": "Touch."}));
    let question = program.event("extension_ui_request");
    let mut response = json!({"type": "extension_ui_response", "id": question["id"]});
    response.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
    program.send(&[response]);
    question
}

fn notices(lines: &[Value]) -> Vec<String> {
    lines.iter().filter(|line| line["type"] == "notice").map(|line| string(&line["message"])).collect()
}

fn is_asked(lines: &[Value]) -> bool {
    lines.iter().any(|line| line["type"] == "extension_ui_request")
}

#[test]
fn for_this_session() {
    let scratch = Scratch::new(&[touches(&["one", "two"]), touches(&["three"])].concat());
    let mut program = scratch.start();
    let question = answered(&mut program, json!({"confirmed": true, "remember": "session"}));
    assert_eq!(question["remember"], json!(["session", "project"]));
    program.event("agent_end");
    assert!(scratch.path("one").exists() && scratch.path("two").exists());
    program.say("Once more.");
    assert!(scratch.path("three").exists());
    assert!(!is_asked(&program.passed) && notices(&program.passed).is_empty());
    program.close();

    // The next process asks again.
    let mut program = scratch.start();
    answered(&mut program, json!({"confirmed": false}));
    program.close();
    assert!(!scratch.path("CONFIG/ramal/permissions.toml").exists());
}

#[test]
fn for_this_project() {
    let scratch = Scratch::new(&touches(&["one", "two"]));
    let mut program = scratch.start();
    answered(&mut program, json!({"confirmed": true, "remember": "project"}));
    program.event("agent_end");
    assert!(scratch.path("two").exists());
    assert!(!is_asked(&program.passed));
    program.close();
    let [one, two] = ["one", "two"].map(|name| scratch.path(name));
    fs::remove_file(&one).unwrap();
    fs::remove_file(&two).unwrap();

    let mut program = scratch.start();
    program.say("Touch.");
    assert!(one.exists() && two.exists());
    assert!(!is_asked(&program.passed));
    program.close();

    // Not elsewhere: there it is asked for.
    let elsewhere = scratch.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::copy(scratch.path("answers.jsonl"), elsewhere.join("answers.jsonl")).unwrap();
    let mut command = scratch.command();
    let mut program =
        Program::start(command.args(["--model", "replay/answers.jsonl"]).current_dir(&elsewhere));
    answered(&mut program, json!({"confirmed": false}));
    program.close();
    assert!(!elsewhere.join("one").exists());
}

#[test]
fn what_cannot_be_remembered_counts_once() {
    let scratch = Scratch::new(&[touches(&["one", "two"]), touches(&["three"])].concat());
    let mut program = scratch.start();
    let question = answered(&mut program, json!({"confirmed": true, "remember": "forever"}));
    let notice = program.event("notice");
    let told = string(&notice["message"]);
    assert!(told.contains(&string(&question["id"])) && told.contains("\"forever\""), "{told}");
    // Once: the next call is asked for. A no is never remembered.
    let question = program.event("extension_ui_request");
    assert!(scratch.path("one").exists() && !scratch.path("two").exists());
    let no = json!({"type": "extension_ui_response", "id": question["id"], "confirmed": false, "remember": "session"});
    program.send(&[no]);
    assert!(string(&program.event("notice")["message"]).contains("only a yes"));
    program.event("agent_end");
    assert!(!scratch.path("two").exists());
    // Null is nothing, and nothing is said about it.
    answered(&mut program, json!({"confirmed": true, "remember": null}));
    program.event("agent_end");
    assert!(scratch.path("three").exists());
    assert!(notices(&program.passed).is_empty());
    program.close();
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the file is broken on purpose")]
fn where_the_project_cannot_be_remembered() {
    // A call that writes into the user's own settings is asked for each time.
    let scratch = Scratch::new(&[
        calls("write", json!({"path": "CONFIG/ramal/note", "content": "x"})),
        calls("write", json!({"path": "mine", "content": "x"})),
        calls("write", json!({"path": "yours", "content": "x"})),
        says("Done."),
    ]);
    fs::create_dir_all(scratch.path("CONFIG/ramal")).unwrap();
    let mut program = scratch.start();
    let question = answered(&mut program, json!({"confirmed": true, "remember": "session"}));
    assert_eq!(question.get("remember"), None, "{question}");
    let told = string(&program.event("notice")["message"]);
    assert!(told.contains("cannot be remembered"), "{told}");

    // Where the rules cannot be added, the session has them.
    let question = program.event("extension_ui_request");
    assert!(scratch.path("CONFIG/ramal/note").exists());
    fs::write(scratch.path("CONFIG/ramal/permissions.toml"), "[[allow").unwrap();
    let yes = json!({"type": "extension_ui_response", "id": question["id"], "confirmed": true, "remember": "project"});
    program.send(&[yes]);
    let told = string(&program.event("notice")["message"]);
    assert!(told.contains("this session only") && told.contains("permissions.toml"), "{told}");
    program.event("agent_end");
    assert!(!is_asked(&program.passed), "the second call is covered");
    assert!(scratch.path("mine").exists() && scratch.path("yours").exists());
    program.close();
}

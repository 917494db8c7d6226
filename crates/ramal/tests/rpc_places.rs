//! `ramal rpc` going from one session to another: what follows, and what belongs to the place where a
//! session is at home.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "shared with other tests")]
mod support;

use std::fs;

use serde_json::json;
use support::{Program, Scratch, calls, says};

/// A session of a directory, in a file.
#[allow(clippy::disallowed_methods, reason = "the session is made up here")]
fn session_of(scratch: &Scratch, name: &str, cwd: &str) -> String {
    let path = scratch.path(name);
    let header = json!({"type": "session", "version": 3, "id": name, "timestamp": "2026-01-01T00:00:00.000Z", "cwd": cwd});
    let message = json!({"type": "message", "id": "m1", "parentId": null, "timestamp": "2026-01-01T00:00:00.000Z",
        "message": {"role": "user", "content": "Hello"}});
    fs::write(&path, format!("{header}\n{message}\n")).unwrap();
    path.to_string_lossy().into_owned()
}

#[test]
fn a_new_session_has_the_model_and_the_level_of_the_last() {
    for keeps_nothing in [false, true] {
        let scratch = Scratch::new(&[says("One."), says("Two.")]);
        let mut command =
            scratch.command_for(if keeps_nothing { "--no-session" } else { "--session=session.jsonl" });
        let mut program =
            Program::start(command.args(["--model", "replay/answers.jsonl", "--thinking", "high"]));
        program.say("Go");
        let before = program.ok(json!({"type": "get_state"}));
        assert_eq!(program.ok(json!({"type": "new_session"}))["cancelled"], false);
        let after = program.ok(json!({"type": "get_state"}));
        assert_ne!(before["sessionId"], after["sessionId"]);
        assert_eq!((&before["model"], &before["thinkingLevel"]), (&after["model"], &after["thinkingLevel"]));
        assert_eq!(after["thinkingLevel"], "high");
        program.say("Go on");
        assert_eq!(program.ok(json!({"type": "get_last_assistant_text"}))["text"], "Two.");
        program.close();
    }
}

/// What the model's tools see, and the user's commands.
#[track_caller]
fn lists(program: &mut Program, file: &str) {
    program.ok(json!({"type": "prompt", "message": "List"}));
    let result = program.event("tool_execution_end");
    assert!(result.to_string().contains(file), "{file} is not in {result}");
    program.event("agent_end");
    let output = program.ok(json!({"type": "bash", "command": "ls"}))["output"].to_string();
    assert!(output.contains(file), "{file} is not in {output}");
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the files are made up here")]
fn a_session_of_another_project_works_there() {
    let list = || calls("ls", json!({"path": "."}));
    let scratch = Scratch::new(&[list(), says("Done."), list(), says("Done.")]);
    let (other, here) = (scratch.path("other"), scratch.path("here"));
    for (folder, file) in [(&other, "theirs.txt"), (&here, "ours.txt")] {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join(file), "x").unwrap();
    }
    let session = session_of(&scratch, "here.jsonl", here.to_str().unwrap());
    let theirs = session_of(&scratch, "theirs.jsonl", other.to_str().unwrap());
    let mut command = scratch.command_for(&format!("--session={session}"));
    let mut program = Program::start(command.args(["--model", "replay/answers.jsonl"]));
    lists(&mut program, "ours.txt");
    program.ok(json!({"type": "switch_session", "sessionPath": theirs}));
    program.ok(json!({"type": "set_model", "provider": "replay", "modelId": "answers.jsonl"}));
    lists(&mut program, "theirs.txt");
    program.close();
}

#[test]
fn where_the_directory_is_gone_the_tree_is_served_and_nothing_is_done() {
    let scratch = Scratch::new(&[says("Never said.")]);
    let gone = scratch.path("gone");
    let session = session_of(&scratch, "session.jsonl", gone.to_str().unwrap());
    let mut command = scratch.command_for(&format!("--session={session}"));
    let mut program = Program::start(command.args(["--model", "replay/answers.jsonl"]));
    assert_eq!(program.ok(json!({"type": "get_branch"}))["entries"][0]["id"], "m1");
    let before = fs::read(&session).unwrap();
    for request in [json!({"type": "prompt", "message": "Go"}), json!({"type": "bash", "command": "touch x"})]
    {
        let why = program.refused(request);
        assert!(why.contains(gone.to_str().unwrap()), "{why}");
    }
    assert_eq!(fs::read(&session).unwrap(), before);
    // Moving about needs no directory.
    program.ok(json!({"type": "navigate_tree", "targetId": "m1"}));
    program.close();
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the file is made up here")]
fn a_copy_reads_the_long_outputs_that_it_speaks_of() {
    let scratch = Scratch::new(&[]);
    let outputs = scratch.path("session.outputs");
    fs::create_dir(&outputs).unwrap();
    let long = outputs.join("long.txt");
    fs::write(&long, "the whole of it").unwrap();
    // The session is at home elsewhere, so that the file is not simply in its directory.
    let home = scratch.path("home");
    fs::create_dir(&home).unwrap();
    let session = session_of(&scratch, "session.jsonl", home.to_str().unwrap());
    scratch.record(&[calls("read", json!({"path": long})), says("Read.")]);
    let mut command = scratch.command_for(&format!("--session={session}"));
    let mut program = Program::start(command.args(["--model", "replay/answers.jsonl"]));
    // A copy of a copy.
    program.ok(json!({"type": "clone"}));
    program.ok(json!({"type": "clone"}));
    program.ok(json!({"type": "prompt", "message": "Read it"}));
    let result = program.event("tool_execution_end");
    assert!(result.to_string().contains("the whole of it"), "{result}");
    program.event("agent_end");
    program.close();
}

#[test]
fn a_session_is_found_by_its_id_and_by_being_the_last() {
    let scratch = Scratch::new(&[says("One.")]);
    let arguments = ["--model", "replay/answers.jsonl"];
    let mut program =
        Program::start(scratch.bare().args(["--mode", "rpc", "--name", "Mine"]).args(arguments));
    program.say("Go");
    let state = program.ok(json!({"type": "get_state"}));
    assert_eq!(state["sessionName"], "Mine");
    program.close();
    let id = state["sessionId"].as_str().unwrap();
    for which in [&["--session", &id[..13]][..], &["-r", id], &["-c"], &["--session", "Mine"]] {
        let mut program = Program::start(scratch.bare().arg("rpc").args(which));
        assert_eq!(program.ok(json!({"type": "get_state"}))["sessionId"], id, "{which:?}");
        program.close();
    }
    // A copy of it is another session, and says the same.
    let mut program = Program::start(scratch.bare().args(["rpc", "--fork", id]));
    let copy = program.ok(json!({"type": "get_state"}));
    assert_ne!(copy["sessionId"], id);
    assert_eq!(copy["messageCount"], state["messageCount"]);
    program.close();

    // What is not there is said, and nothing is made or changed.
    let before = files(&scratch);
    for wrong in [
        &["--session", "nosuch"][..],
        &["--fork", id, "--model", "nope/x"],
        &["-c", "--name", "N", "--model", "nope/x"],
    ] {
        let ended = scratch.bare().arg("rpc").args(wrong).output().unwrap();
        assert_eq!(ended.status.code(), Some(1), "{wrong:?}");
        assert_eq!(files(&scratch), before, "{wrong:?}");
    }
}

/// Everything below the folder, with its size.
fn files(scratch: &Scratch) -> Vec<(std::path::PathBuf, u64)> {
    let mut found = Vec::new();
    let mut folders = vec![scratch.path("")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => found.push((entry.path(), entry.metadata().unwrap().len())),
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_page_is_written_where_the_client_is() {
    for keeps_nothing in [false, true] {
        let scratch = Scratch::new(&[says("A <b>bold</b> answer.")]);
        let mut command =
            scratch.command_for(if keeps_nothing { "--no-session" } else { "--session=session.jsonl" });
        let mut program = Program::start(command.args(["--model", "replay/answers.jsonl"]));
        program.say("Go");
        let path = program.ok(json!({"type": "export_html", "outputPath": "page.html"}))["path"].clone();
        let page = fs::read_to_string(path.as_str().unwrap()).unwrap();
        assert_eq!(path, scratch.path("page.html").to_str().unwrap());
        assert!(page.contains("A &lt;b&gt;bold&lt;/b&gt; answer.") && page.ends_with("</html>\n"));
        let again = json!({"type": "export_html", "outputPath": "page.html"});
        assert!(program.refused(again).contains("page.html is there already"));
        let other = json!({"type": "export_html", "outputPath": "page.jsonl"});
        assert!(program.refused(other).contains("outputPath"));
        let free = program.ok(json!({"type": "export_html"}))["path"].clone();
        assert_ne!(free, path);
        assert!(fs::read_to_string(free.as_str().unwrap()).unwrap().contains("A &lt;b&gt;bold"));
        program.close();
    }
}

//! `go`, `label` and `labels`.

use std::fs;

use super::world::{World, assistant, entries, session, user};

#[test]
fn going_moves_the_leaf_for_the_next_command_and_writes_nothing() {
    let world = World::with_sample();
    let file = world.json(&["ls"])["sessionFile"].as_str().unwrap().to_owned();
    let before = fs::read(&file).unwrap();
    let run = world.run(["go", "day numbers"]).done();
    assert_eq!(run.out, "");
    assert!(run.err.starts_with("The leaf is now at d58e4b7a, assistant: All 29"), "{}", run.err);
    let gone = world.json(&["go", "leaf~1"]);
    assert_eq!(gone["oldLeafId"], "d58e4b7a");
    assert_eq!((&gone["leafId"], &gone["isRemembered"]), (&"574edc30".into(), &true.into()));
    assert_eq!(fs::read(&file).unwrap(), before);
    assert!(world.run(["go", "leaf"]).done().err.contains("already"));
}

#[test]
fn going_to_a_user_message_prints_it_for_the_editor() {
    let world = World::new();
    let text = session(
        "s1",
        &world.path("work"),
        &[user("first\n\tline two"), assistant("a"), user("second"), assistant("b")],
    );
    let path = world.write("work/s.jsonl", text);
    let path = path.to_str().unwrap();
    let run = world.run(["go", "e002", "--session", path]).done();
    assert_eq!(run.out, "second\n");
    assert!(run.err.contains("at e001"), "{}", run.err);
    let run = world.run(["go", "root", "--session", path]).done();
    assert_eq!(run.out, "first\n\tline two\n");
    assert!(run.err.contains("before the first entry"), "{}", run.err);
    let gone = world.json(&["go", "e002", "--session", path]);
    assert_eq!((&gone["oldLeafId"], &gone["editorText"]), (&serde_json::Value::Null, &"second".into()));
}

#[test]
fn where_the_leaf_cannot_be_remembered_is_a_warning() {
    let world = World::with_sample();
    world.write("home/.local/state", "a file in the way");
    let run = world.run(["go", "day numbers"]).done();
    assert!(run.err.contains("warning:"), "{}", run.err);
    assert_eq!(world.json(&["go", "day numbers"])["isRemembered"], false);
}

#[test]
fn labels_are_set_shown_and_removed() {
    let world = World::with_sample();
    let file = world.json(&["ls"])["sessionFile"].as_str().unwrap().to_owned();
    let count = entries(&file).len();
    world.run(["label", "leaf"]).failed(1, &["c578a324 has no label", "hint:"]);
    let set = world.json(&["label", "leaf", " the end "]);
    assert_eq!((&set["targetId"], &set["label"]), (&"c578a324".into(), &"the end".into()));
    let last = entries(&file).pop().unwrap();
    assert_eq!((&last["id"], &last["label"]), (&set["entryId"], &"the end".into()));
    assert_eq!(world.run(["label", "the end"]).done().out, "the end\n");

    let run = world.run(["labels"]).done();
    let rows: Vec<_> = run.out.lines().collect();
    assert_eq!(rows.len(), 4);
    assert!(rows[0].starts_with("* two cures") && rows[1].starts_with("  works, but ugly"), "{rows:?}");
    let rows = world.run(["labels", "--json"]).done().out;
    let row: serde_json::Value = serde_json::from_str(rows.lines().nth(1).unwrap()).unwrap();
    assert_eq!((&row["id"], &row["isActive"]), (&"db0a699e".into(), &false.into()));

    assert!(world.json(&["label", "the end", "--clear"]).get("label").is_none());
    world.run(["label", "the end"]).failed(1, &["no entry 'the end'"]);
    world.run(["label", "two cures", ""]).done();
    assert_eq!(world.run(["labels"]).done().out.lines().count(), 2);
    assert_eq!(entries(&file).len(), count + 3);
}

#[test]
fn near_misses_are_named() {
    let world = World::with_sample();
    world.run(["go", "day nmubers"]).failed(1, &["'day nmubers'", "did you mean day numbers?"]);
    world.run(["go", "d58e4b7b"]).failed(1, &["did you mean d58e4b7a?"]);
    world.run(["go", "7"]).failed(1, &["'7' may be any of", "write more of the id"]);
    world.run(["go", "leaf~5000"]).failed(1, &["above the root"]);
}

#[test]
fn what_takes_no_entries_says_what_to_do() {
    let world = World::new();
    let text = session("s1", &world.path("work"), &[user("x")]).replace("\"version\":3", "\"version\":9");
    let path = world.write("work/s.jsonl", text);
    let path = path.to_str().unwrap();
    world.run(["label", "root", "x", "--session", path]).failed(1, &["version 9", "ramal fork"]);
    world.new_session(["fork", path]);
}

#[test]
fn an_entry_without_id_can_only_be_seen() {
    let world = World::new();
    let text = session("s1", &world.path("work"), &[user("x"), assistant("y")]);
    let path = world.write("work/s.jsonl", text.replace("\"id\":\"e001\",", ""));
    let path = path.to_str().unwrap();
    let rows = world.run(["tree", path, "--filter", "all", "--json"]).done().out;
    let row: serde_json::Value = serde_json::from_str(rows.lines().last().unwrap()).unwrap();
    let id = row["id"].as_str().unwrap().to_owned();
    for command in ["go", "branch", "label"] {
        world.run([command, &id, "--session", path]).failed(1, &["can only be seen", "check --repair"]);
    }
}

#[test]
#[cfg(unix)]
fn a_quota_is_an_error_and_not_a_death() {
    let world = World::with_sample();
    let file = world.json(&["ls"])["sessionFile"].as_str().unwrap().to_owned();
    let before = fs::read(&file).unwrap();
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -f 1; exec \"$0\" label leaf x", env!("CARGO_BIN_EXE_ramal")]);
    command.env("HOME", world.path("home")).current_dir(world.path("work"));
    let run = super::world::Run::of(command.output().unwrap());
    run.failed(1, &["cannot write", &file]);
    assert_eq!(fs::read(&file).unwrap(), before);
}

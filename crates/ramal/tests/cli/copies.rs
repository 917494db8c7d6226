//! `branch`, `clone` and `fork`.

use std::fs;

use super::world::{World, assistant, entries, sample, session, user};

#[test]
fn a_branch_up_to_an_entry() {
    let world = World::with_sample();
    let copy = world.new_session(["branch", "works, but ugly"]);
    let copied = entries(&copy);
    let label = &copied[copied.len() - 1];
    assert_eq!((&label["type"], &label["label"]), (&"label".into(), &"works, but ugly".into()));
    assert!(copied.iter().any(|entry| entry["id"] == "db0a699e"));
    assert!(!copied.iter().any(|entry| entry["id"] == "c578a324"));
}

#[test]
fn a_branch_from_before_a_user_message() {
    let world = World::new();
    let text = session("s1", &world.path("work"), &[user("one"), assistant("a"), user("two\nlines")]);
    let path = world.write("work/s.jsonl", &text);
    let path = path.to_str().unwrap();
    let run = world.run(["branch", "e002", "--session", path]).done();
    assert!(run.err.ends_with("two\nlines\n"), "{}", run.err);
    assert_eq!(entries(run.out.trim_end()).len(), 2);
    // Before the first one there is nothing; the file is there all the same.
    let made = world.json(&["branch", "root", "--session", path]);
    assert_eq!((&made["entryCount"], &made["editorText"]), (&0.into(), &"one".into()));
    assert_eq!((&made["leafId"], &made["parentSession"]), (&serde_json::Value::Null, &path.into()));
    let header = fs::read_to_string(made["sessionFile"].as_str().unwrap()).unwrap();
    assert!(header.starts_with(r#"{"type":"session","version":3"#) && header.ends_with("}\n"), "{header}");
    assert_eq!(fs::read_to_string(path).unwrap(), text);
}

#[test]
fn a_clone_goes_to_the_remembered_leaf() {
    let world = World::with_sample();
    let whole = world.new_session(["clone"]);
    assert!(entries(&whole).iter().any(|entry| entry["id"] == "c578a324"));
    let id = world.json(&["fork", &sample("date-parser.jsonl")])["sessionId"].as_str().unwrap().to_owned();
    world.run(["go", "day numbers", "--session", &id]).done();
    let part = entries(world.new_session(["clone", "--session", &id]));
    assert!(part.iter().any(|entry| entry["id"] == "d58e4b7a"));
    assert!(!part.iter().any(|entry| entry["id"] == "c578a324"));
    world.run(["go", "root~0", "--session", &id]).done();
}

#[test]
fn a_fork_brings_everything_here() {
    let world = World::new();
    let source = sample("old-version-1.jsonl");
    let before = fs::read(&source).unwrap();
    let made = world.json(&["fork", &source]);
    assert_eq!(made["cwd"], world.path("work").to_str().unwrap());
    let copy = entries(made["sessionFile"].as_str().unwrap());
    assert_eq!(made["entryCount"], copy.len());
    assert!(copy.iter().all(|entry| entry["id"].is_string()));
    assert_eq!(fs::read(&source).unwrap(), before);
    let there = world.path("elsewhere");
    let path = world.new_session(["fork", &source, "--session-dir", there.to_str().unwrap()]);
    assert!(path.starts_with(there.to_str().unwrap()));
}

#[test]
fn nothing_to_copy_is_an_error() {
    let world = World::new();
    let path = world.write("work/s.jsonl", session("s1", &world.path("work"), &[user("x"), assistant("y")]));
    let path = path.to_str().unwrap();
    world.run(["go", "root", "--session", path]).done();
    world.run(["clone", "--session", path]).failed(1, &["nothing to copy"]);
}

//! `diff`.

use super::world::{World, assistant, session, user};

#[test]
fn beside_each_other_where_there_is_room() {
    let world = World::with_sample();
    let at = |columns: &str| {
        let mut command = world.command();
        command.env("COLUMNS", columns).args(["diff", "works, but ugly"]);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let (wide, narrow) = (at("100"), at("99"));
    let line = |text: &str| wide.lines().find(|line| line.contains(text)).unwrap().to_owned();
    assert!(line("db0a699e [works, but ugly]").contains("│ c578a324 (leaf)"));
    assert!(!narrow.contains('│') && narrow.lines().any(|line| line == "c578a324 (leaf)"), "{narrow}");
    for (columns, text) in [(100, &wide), (99, &narrow)] {
        assert!(text.lines().all(|line| line.chars().count() <= columns), "{text}");
        assert!(text.contains("Common ancestor, after 8 entries"));
    }
    assert!(narrow.contains("changed: src/parse/week.rs, tests/week.rs\nread: src/date.rs"), "{narrow}");
}

#[test]
fn as_json() {
    let world = World::with_sample();
    let diff = world.json(&["diff", "works, but ugly", "leaf"]);
    assert_eq!(diff["commonAncestorId"], "b97d8761");
    let left = &diff["left"];
    assert_eq!((&left["id"], &left["entryCount"]), (&"db0a699e".into(), &17.into()));
    assert_eq!(left["entries"].as_array().unwrap().len(), 17);
    assert_eq!(left["modifiedFiles"], serde_json::json!(["src/parse/week.rs", "tests/week.rs"]));
    assert_eq!(left["readFiles"], serde_json::json!(["src/date.rs"]));
    assert_eq!(diff["right"]["id"], "c578a324");
}

#[test]
fn one_above_the_other_and_none_in_common() {
    let world = World::new();
    let mut second = user("another root");
    second["parentId"] = serde_json::Value::Null;
    let text = session("s1", &world.path("work"), &[user("one"), assistant("a"), second]);
    let path = world.write("work/s.jsonl", text);
    let path = path.to_str().unwrap();
    let run = world.run(["diff", "e000", "e001", "--session", path]).done();
    assert!(run.out.contains("nothing that the other has not"), "{}", run.out);
    let run = world.run(["diff", "e001", "e002", "--session", path]).done();
    assert!(run.out.contains("no common ancestor"), "{}", run.out);
    assert_eq!(
        world.json(&["diff", "e001", "e002", "--session", path])["commonAncestorId"],
        serde_json::Value::Null
    );
}

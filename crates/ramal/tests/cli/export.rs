//! `export`, `--export` and `import`.

use std::fs;

use super::world::{Run, World, assistant, entries, sample, session, user};

#[test]
fn a_page_of_the_most_recent_session_lies_here() {
    let world = World::with_sample();
    let one = world.run(["export"]).done().out;
    let page = fs::read_to_string(world.path("work").join(one.trim_end())).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"), "{one}");
    assert!(page.contains("<title>week 53</title>"));
    // A second one does not replace it.
    let other = world.run(["export"]).done().out;
    assert_ne!(one, other);
    let named = world.json(&["export", "mine.html"]);
    assert_eq!((&named["path"], &named["format"]), (&"mine.html".into(), &"html".into()));
    world.run(["export", "mine.html"]).failed(1, &["mine.html is there already", "--force"]);
    world.run(["export", "mine.html", "--force"]).done();
}

#[test]
fn the_option_of_pi() {
    let world = World::new();
    let source = sample("date-parser.jsonl");
    world.run(["--export", &source, "out.html"]).done();
    assert!(world.path("work/out.html").is_file());
    world.run(["--export", &source, "out.jsonl"]).done();
    assert!(!entries(world.path("work/out.jsonl")).is_empty());
    let alone = world.run(["--export", &source]).done().out;
    assert_eq!(alone, "ramal-date-parser.html\n");
    world.run(["--export", &source, "x.html", "tree"]).failed(2, &["error:"]);
    world.run(["--export", &source, "-p", "x"]).failed(2, &["--export"]);
    world.run(["--export", "nothing-of-the-kind"]).failed(1, &["nothing-of-the-kind"]);
}

#[test]
fn the_path_to_the_remembered_leaf_goes_out_and_comes_in() {
    let world = World::with_sample();
    world.run(["go", "day numbers"]).done();
    world.run(["export", "path.jsonl"]).done();
    let out = entries(world.path("work/path.jsonl"));
    assert!(out.iter().any(|entry| entry["id"] == "d58e4b7a"));
    assert!(!out.iter().any(|entry| entry["id"] == "c578a324"));
    let made = world.json(&["import", "path.jsonl"]);
    assert_eq!(made["entryCount"], out.len());
    assert_eq!(made["cwd"], world.path("work").to_str().unwrap());
    assert_eq!(made["parentSession"], world.path("work/path.jsonl").to_str().unwrap());
    assert_eq!(entries(made["sessionFile"].as_str().unwrap()), out);
    let id = made["sessionId"].as_str().unwrap();
    let text = world.run(["export", id, "path.md"]).done();
    assert!(
        fs::read_to_string(world.path("work").join(text.out.trim_end())).unwrap().starts_with("# week 53\n")
    );
}

#[test]
fn an_import_brings_all_branches() {
    let world = World::new();
    let made = world.new_session(["import", &sample("date-parser.jsonl")]);
    assert_eq!(entries(&made), entries(sample("date-parser.jsonl")));
    world.run(["export", "page.html"]).done();
    world.run(["import", "page.html"]).failed(1, &["page.html is a web page", "hint:"]);
}

#[test]
fn secrets_are_blanked_when_asked_for() {
    let world = World::new();
    let texts = [user("sk-0123456789abcdefghij and hush-hush"), assistant("in the environment: zebra4711")];
    let path = world.write("work/s.jsonl", session("s1", &world.path("work"), &texts));
    let path = path.to_str().unwrap();
    for name in ["a.html", "a.jsonl", "a.txt"] {
        let mut command = world.command();
        command.env("MY_TOKEN", "zebra4711").args([
            "export",
            path,
            name,
            "--redact",
            "--secret",
            "hush-hush",
        ]);
        Run::of(command.output().unwrap()).done();
        let text = fs::read_to_string(world.path("work").join(name)).unwrap();
        assert!(
            text.contains("[redacted] and [redacted]") && text.contains("environment: [redacted]"),
            "{text}"
        );
    }
    world.run(["export", path, "b.html", "--secret", "x"]).failed(2, &["--redact"]);
}

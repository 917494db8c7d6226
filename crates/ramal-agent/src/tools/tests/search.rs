//! Looking for files and in files.

use serde_json::json;

use super::*;

fn project() -> Place {
    let place = Place::new();
    place.put("src/main.rs", "fn main() {\n    hello();\n}\n");
    place.put("src/deep/hello.rs", "// Hello\npub fn hello() {}\r\n");
    place.put("README.md", "say hello (now)\n");
    place.put(".hidden", "hello hidden\n");
    place.put(".gitignore", "target/\n*.log\n");
    place.put("target/out.rs", "hello\n");
    place.put("a.log", "hello\n");
    place.put(".git/config", "hello\n");
    place.put("data.bin", b"hello\0hello\n");
    place
}

#[tokio::test]
async fn lines_are_found_in_what_git_knows() {
    let place = project();
    for (arguments, want) in [
        (
            json!({"pattern": "hello"}),
            vec![
                ".hidden:1: hello hidden",
                "README.md:1: say hello (now)",
                "src/deep/hello.rs:2: pub fn hello() {}",
                "src/main.rs:2:     hello();",
            ],
        ),
        (
            json!({"pattern": "HELLO$", "ignoreCase": true, "path": "src"}),
            vec!["src/deep/hello.rs:1: // Hello"],
        ),
        (json!({"pattern": "{}$", "literal": false, "glob": "*.rs"}), vec![]),
        (json!({"pattern": r"\{\}$"}), vec!["src/deep/hello.rs:2: pub fn hello() {}"]),
        (json!({"pattern": "(now)", "literal": true}), vec!["README.md:1: say hello (now)"]),
        (json!({"pattern": "hello", "glob": "src/*.rs"}), vec!["src/main.rs:2:     hello();"]),
        (json!({"pattern": "hello", "glob": "!*.rs", "path": "src"}), vec!["[No line matches.]"]),
        (json!({"pattern": "hello", "path": "a.log"}), vec!["a.log:1: hello"]),
        (
            json!({"pattern": "hello", "path": "src/main.rs", "context": 1}),
            vec!["src/main.rs-1- fn main() {", "src/main.rs:2:     hello();", "src/main.rs-3- }"],
        ),
    ] {
        let result = place.run("grep", arguments.clone()).await;
        if want.is_empty() {
            assert!(failed(&result).contains("With `literal`"), "{result:?}");
        } else {
            assert_eq!(fine(&result).lines().collect::<Vec<_>>(), want, "{arguments}");
        }
    }
    assert!(failed(&place.run("grep", json!({"pattern": "x", "path": "none"})).await).contains("none"));
    assert!(failed(&place.run("grep", json!({"pattern": "x", "glob": "[a"})).await).contains("[a"));
}

#[tokio::test]
async fn much_that_is_found_is_cut_and_kept() {
    let place = Place::new();
    place.put("many", "needle\n".repeat(300));
    let result = place.run("grep", json!({"pattern": "needle"})).await;
    assert!(fine(&result).contains("[There are more than 100 matches."), "{result:?}");
    assert_eq!(text(&result).matches("needle").count(), 100);
    let exact = place.run("grep", json!({"pattern": "needle", "limit": 300})).await;
    assert!(!fine(&exact).contains('['));

    place.put("long", format!("needle {}\n", "é".repeat(10_000)).repeat(400));
    let result = place.run("grep", json!({"pattern": "needle", "path": "long", "limit": 9999})).await;
    let body = fine(&result).split_once("\n\n[").unwrap().0;
    assert!(body.len() <= MAX_BYTES && body.lines().all(|line| line.ends_with('…')));
    let kept = details(&result)["fullOutputPath"].as_str().unwrap().to_owned();
    assert!(text(&result).contains(&kept));
    let kept = std::fs::read_to_string(kept).unwrap();
    assert!(kept.starts_with(body) && kept.lines().count() == 400);
}

#[tokio::test]
async fn files_are_found_by_name_and_by_path() {
    let place = project();
    for (arguments, want) in [
        (json!({"pattern": "*.rs"}), "src/deep/hello.rs\nsrc/main.rs"),
        (json!({"pattern": "src/*.rs"}), "src/main.rs"),
        (json!({"pattern": "**/*.{rs,md}"}), "README.md\nsrc/deep/hello.rs\nsrc/main.rs"),
        (json!({"pattern": "deep"}), "src/deep/"),
        (json!({"pattern": "*.rs", "path": "src/deep"}), "src/deep/hello.rs"),
        (json!({"pattern": "deep/*", "path": "src"}), "src/deep/hello.rs"),
        (json!({"pattern": ".h*"}), ".hidden"),
        (json!({"pattern": "*.log"}), "[No file of such a name was found.]"),
    ] {
        assert_eq!(fine(&place.run("find", arguments.clone()).await), want, "{arguments}");
    }
    let one = place.run("find", json!({"pattern": "*", "limit": 1})).await;
    assert!(fine(&one).starts_with(".gitignore\n\n[There are more than 1."), "{one:?}");
    failed(&place.run("find", json!({"pattern": "x", "path": "README.md"})).await);
}

#[tokio::test]
async fn folders_are_listed() {
    let place = project();
    #[cfg(unix)]
    std::os::unix::fs::symlink("/", place.cwd.join("Root")).unwrap();
    let result = place.run("ls", json!({})).await;
    let want = ".git/ .gitignore .hidden a.log data.bin README.md Root@ src/ target/";
    assert_eq!(fine(&result).lines().collect::<Vec<_>>().join(" "), want);
    let two = place.run("ls", json!({"path": "./", "limit": 2})).await;
    assert!(fine(&two).starts_with(".git/\n.gitignore\n\n[2 of 9 names"), "{two:?}");
    std::fs::create_dir(place.cwd.join("empty")).unwrap();
    assert_eq!(fine(&place.run("ls", json!({"path": "empty"})).await), "[The folder is empty.]");
    assert!(failed(&place.run("ls", json!({"path": "a.log"})).await).contains("is a file"));
    failed(&place.run("ls", json!({"path": "none"})).await);
}

#[cfg(unix)]
#[tokio::test]
async fn searching_follows_no_link_out_of_the_folder() {
    let place = project();
    let outside = place.cwd.parent().unwrap().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::copy(place.cwd.join("README.md"), outside.join("secret.md")).unwrap();
    std::os::unix::fs::symlink(&outside, place.cwd.join("link")).unwrap();
    std::os::unix::fs::symlink(outside.join("secret.md"), place.cwd.join("file.md")).unwrap();
    let found = place.run("grep", json!({"pattern": "now"})).await;
    assert_eq!(fine(&found), "README.md:1: say hello (now)");
    assert!(!fine(&place.run("find", json!({"pattern": "**/secret.md"})).await).contains("link"));
}

#[tokio::test]
async fn an_abort_ends_a_search() {
    let place = project();
    place.abort.cancel();
    for tool in ["grep", "find", "ls"] {
        assert!(failed(&place.run(tool, json!({"pattern": "x"})).await).contains("Aborted"), "{tool}");
    }
}

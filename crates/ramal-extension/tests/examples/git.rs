//! Examples about a repository.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use ramal_agent::NavigateOptions;
use ramal_extension::NoUi;
use serde_json::{Value, json};

use crate::files::with;
use crate::support::*;

fn git(folder: &Path, args: &[&str]) -> String {
    let me = ["-c", "user.name=tester", "-c", "user.email=tester@localhost"];
    let done = Command::new("git").args(me).args(args).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// A repository with one commit where the session is.
fn repository(world: &World) {
    let folder = world.folder.path();
    git(folder, &["init", "--quiet"]);
    std::fs::write(folder.join(".gitignore"), "sessions/\n").unwrap();
    std::fs::write(folder.join("kept.txt"), "one\n").unwrap();
    git(folder, &["add", "."]);
    git(folder, &["commit", "--quiet", "-m", "first"]);
}

fn put(world: &World, name: &str, text: &str) {
    std::fs::write(world.folder.path().join(name), text).unwrap();
}

async fn go(world: &World, target: &str) -> bool {
    let moved = within(world.session.navigate_tree(target, NavigateOptions::default())).await.unwrap();
    moved.cancelled
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dirty_work_tree_is_not_left() {
    let mut world = with(&["clean-tree.ts"], [text("one"), text("two")]).await;
    let first = world.say("first").await;
    let second = world.say("second").await;
    put(&world, "kept.txt", "not under git yet\n");
    assert!(!go(&world, &second).await, "without a repository nothing is lost");
    repository(&world);
    let leaf = world.leaf();
    put(&world, "new.txt", "x\n");
    let answer = |answer: &str| world.user.answers.lock().unwrap().push_back(answer.into());

    answer("no");
    assert!(go(&world, &first).await);
    assert_eq!(world.leaf(), leaf);
    assert_eq!(
        world.shown(),
        [
            "confirm 1 uncommitted change ?? new.txt\n\nGo to another place all the same?",
            "notify clean-tree warning Stayed: 1 uncommitted change in the work tree",
        ]
    );
    answer("no");
    let before = world.session.with_session(|manager| manager.get_session_id().to_owned());
    assert!(within(world.session.new_session(None)).await.unwrap());
    answer("no");
    assert!(within(world.session.branch(&first)).await.unwrap().cancelled);
    assert_eq!(world.session.with_session(|manager| manager.get_session_id().to_owned()), before);
    answer("yes");
    assert!(!go(&world, &first).await);

    // Nobody is there to be asked.
    world.extensions.set_ui(Arc::new(NoUi));
    assert!(go(&world, &second).await);
    assert!(within(world.session.new_session(None)).await.unwrap());
    git(world.folder.path(), &["add", "."]);
    git(world.folder.path(), &["commit", "--quiet", "-m", "second"]);
    assert!(!within(world.session.new_session(None)).await.unwrap(), "a clean tree may be left");
    assert_eq!(world.failures(), []);
}

fn write(path: &str, content: &str) -> Say {
    Say::Call("write", json!({ "path": path, "content": content }).to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn files_come_back_with_the_place() {
    let answers = [
        write("kept.txt", "two\n"),
        write("made.txt", "by the model\n"),
        text("changed"),
        write("kept.txt", "three\n"),
        text("changed again"),
    ];
    let mut world = with(&["git-checkpoint.ts"], answers).await;
    repository(&world);
    let folder = world.folder.path().to_owned();
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    // What the user has in the index stays there.
    put(&world, "staged.txt", "staged\n");
    git(&folder, &["add", "staged.txt"]);
    let (index, head) =
        (git(&folder, &["diff", "--cached"]), git(&folder, &["log", "--all", "--oneline", "HEAD"]));

    let first = world.say("first").await;
    let second = world.say("second").await;
    assert_eq!(read("kept.txt").as_deref(), Some("three\n"));
    let kept = world.kept("git-checkpoint");
    assert!(kept.len() >= 3, "before, after each of two calls: {kept:?}");
    for one in &kept {
        let commit = one["commit"].as_str().unwrap();
        assert_eq!(git(&folder, &["rev-parse", &format!("{commit}^{{tree}}")]).trim(), one["tree"]);
    }

    let answer = |answer: &str| world.user.answers.lock().unwrap().push_back(answer.into());
    answer("no");
    assert!(!go(&world, &second).await);
    assert_eq!(read("kept.txt").as_deref(), Some("three\n"), "not without a yes");
    answer("yes");
    assert!(!go(&world, &first).await);
    assert_eq!((read("kept.txt"), read("made.txt")), (Some("one\n".into()), None));
    assert_eq!(read("staged.txt").as_deref(), Some("staged\n"));
    // And forth: the leaf that was left is the last of what was kept on its way.
    let last = world.entries().into_iter().rfind(|entry| entry["message"]["role"] == "assistant").unwrap();
    answer("yes");
    assert!(!go(&world, last["id"].as_str().unwrap()).await);
    let shown = world.shown();
    assert!(shown[0].starts_with("confirm Bring back the files of this place? M\tkept.txt"), "{shown:?}");
    assert_eq!(read("made.txt").as_deref(), Some("by the model\n"));
    assert_eq!(git(&folder, &["diff", "--cached"]), index);
    assert_eq!(git(&folder, &["branch", "--list"]).lines().count(), 1);
    assert!(git(&folder, &["log", "--oneline", "HEAD"]).lines().count() == 1 && !head.is_empty());
    assert_eq!(world.failures(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn checkpoints_need_no_repository_and_no_user() {
    let mut world = with(&["git-checkpoint.ts"], [text("one")]).await;
    let first = world.say("first").await;
    assert_eq!(world.kept("git-checkpoint"), Vec::<Value>::new());
    repository(&world);
    world.say("second").await;
    world.extensions.set_ui(Arc::new(NoUi));
    put(&world, "kept.txt", "mine\n");
    assert!(!go(&world, &first).await);
    assert_eq!(std::fs::read_to_string(world.folder.path().join("kept.txt")).unwrap(), "mine\n");
    assert_eq!(world.failures(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tool_counts_and_says_how_far_it_is() {
    let call = || Say::Call("count_lines", "{}".into());
    let mut world = with(&["tool.ts"], [call(), text("no git"), call(), text("counted")]).await;
    let result = |world: &World| {
        let mut entries = world.entries().into_iter().rev();
        entries.find(|entry| entry["message"]["role"] == "toolResult").unwrap()["message"].clone()
    };
    world.say("how large?").await;
    assert_eq!(result(&world)["isError"], true, "there is no repository");
    repository(&world);
    put(&world, "two.txt", "a\nb\n");
    git(world.folder.path(), &["add", "."]);
    let mut events = world.session.subscribe();
    world.say("and now?").await;
    let result = result(&world);
    assert_eq!(result["content"][0]["text"], "txt\t3\ngitignore\t1");
    assert_eq!(result["details"], json!({ "files": 3, "counts": { "txt": 3, "gitignore": 1 } }));
    let mut told = String::new();
    while let Ok(event) = events.try_recv() {
        if event.name() == "tool_execution_update" {
            told += &event.to_json();
        }
    }
    assert!(told.contains("0 of 3 files"), "{told}");
    let request = world.model.requests.lock().unwrap()[0].clone();
    let spec = request.tools.iter().find(|tool| tool.name == "count_lines").unwrap();
    let schema: Value = serde_json::from_str(&spec.parameters).unwrap();
    assert_eq!(schema["properties"]["path"]["type"], "string");
    assert_eq!(world.failures(), []);
}

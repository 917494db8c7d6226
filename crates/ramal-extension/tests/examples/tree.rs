//! Examples about places in the tree.

use ramal_agent::NavigateOptions;
use serde_json::{Value, json};

use crate::files::with;
use crate::support::*;

async fn go(world: &World, target: &str, summarize: bool) {
    let wants = NavigateOptions { summarize, ..NavigateOptions::default() };
    let moved = within(world.session.navigate_tree(target, wants)).await.unwrap();
    assert!(!moved.cancelled);
}

/// The last status under a key.
fn status(shown: &[String], key: &str) -> Option<String> {
    let begin = format!("status {key} ");
    shown.iter().rev().find_map(|line| line.strip_prefix(&begin)).map(str::to_owned)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_is_summed_up_without_a_model() {
    let answers = [text("one"), Say::Call("ls", "{}".into()), text("two files")];
    let mut world = with(&["branch-summary.ts"], answers).await;
    let first = world.say("first").await;
    world.say("what is here?").await;
    let asked = world.model.requests.lock().unwrap().len();
    go(&world, &first, true).await;
    let entries = world.entries();
    let summary = entries.iter().find(|entry| entry["type"] == "branch_summary").unwrap();
    assert_eq!(
        summary["summary"],
        "Tried on another branch:\n- what is here?\nTools used: ls 1×.\nIt ended with: two files"
    );
    assert_eq!(summary["details"], json!({ "asked": 1, "tools": { "ls": 1 } }));
    assert_eq!(summary["fromExtension"], true);
    assert_eq!(world.model.requests.lock().unwrap().len(), asked, "no model was asked");
    world.say("again").await;
    let last = world.model.requests.lock().unwrap().last().unwrap().messages.join("\n");
    assert!(last.contains("what is here?"), "the model sees it: {last}");
    // Nobody wants one.
    go(&world, &first, false).await;
    assert_eq!(world.entries().iter().filter(|entry| entry["type"] == "branch_summary").count(), 1);
    assert_eq!(world.failures(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_labelled_and_found_again() {
    let mut world = with(&["bookmark.ts", "last-label.ts"], [text("one"), text("two")]).await;
    world.command("bookmark", "x").await.unwrap();
    world.command("last-label", "").await.unwrap();
    assert_eq!(
        world.shown(),
        [
            "notify bookmark warning There is no answer yet that could be labelled",
            "notify last-label warning Nothing is labelled in this session",
        ]
    );
    world.say("first").await;
    let answer = world.leaf().unwrap();
    world.command("bookmark", " works ").await.unwrap();
    let label = |world: &World, id: &str| {
        world.session.with_session(|manager| manager.get_label(id).map(str::to_owned))
    };
    assert_eq!(label(&world, &answer).as_deref(), Some("works"));
    let second = world.say("second").await;
    world.command("bookmark", "").await.unwrap();
    // A label that was taken away does not count.
    let end = world.entries().into_iter().rfind(|entry| entry["message"]["role"] == "assistant").unwrap();
    let end = end["id"].as_str().unwrap();
    assert_eq!(label(&world, end).unwrap().len(), "2026-01-01 00:00".len());
    world.session.set_label(end, None).unwrap();
    world.command("last-label", "").await.unwrap();
    assert_eq!(world.leaf().as_deref(), Some(&*answer));
    assert_eq!(world.shown().last().unwrap(), "notify last-label info At works");
    let found = within(world.extensions.complete("bookmark", "wo")).await.unwrap();
    assert_eq!(found, [("works".to_owned(), "works".to_owned())]);
    assert_ne!(second, answer);
    assert_eq!(world.failures(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_count_belongs_to_the_branch_and_to_the_session() {
    let mut world = with(&["counter.ts"], [text("one"), text("two")]).await;
    world.say("first").await;
    world.command("count", "").await.unwrap();
    let one = world.leaf().unwrap();
    world.say("second").await;
    world.command("count", "").await.unwrap();
    world.command("count", "").await.unwrap();
    assert_eq!(world.kept("counter"), [1, 2, 3].map(|count| json!({ "count": count })));
    go(&world, &one, false).await;
    assert_eq!(status(&world.shown(), "counter").as_deref(), Some("Some(\"count 1\")"));
    world.command("count", "").await.unwrap();
    assert_eq!(world.kept("counter").last().unwrap(), &json!({ "count": 2 }));
    // What was said last decides where a session opens.
    world.say("third").await;

    let file = world.session.with_session(|manager| manager.get_session_file().unwrap().to_owned());
    within(world.session.new_session(None)).await.unwrap();
    assert_eq!(status(&world.shown(), "counter").as_deref(), Some("None"));
    world.command("count", "").await.unwrap();
    assert_eq!(world.kept("counter"), [json!({ "count": 1 })]);
    within(world.session.switch_session(&file)).await.unwrap();
    assert_eq!(status(&world.shown(), "counter").as_deref(), Some("Some(\"count 2\")"));
    assert_eq!(world.failures(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_status_says_how_many_entries_there_are() {
    let mut world = with(&["status-line.ts"], [text("one"), text("two")]).await;
    assert_eq!(world.shown(), ["status entries Some(\"0 entries\")"]);
    world.say("first").await;
    let here = world.leaf().unwrap();
    world.say("second").await;
    world.until(|| world.user.shown.lock().unwrap().iter().any(|line| line.contains("4 entries"))).await;
    go(&world, &here, false).await;
    assert_eq!(status(&world.shown(), "entries").as_deref(), Some("Some(\"2 of 4 entries\")"));
    assert_eq!(world.failures(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_a_folders_extension_belongs_to_the_branch() {
    let call = |arguments: Value| Say::Call("todo", arguments.to_string());
    let answers = [
        call(json!({ "action": "add", "text": "read" })),
        call(json!({ "action": "add", "text": "write" })),
        text("planned"),
        call(json!({ "action": "done", "id": 1 })),
        call(json!({ "action": "done", "id": 7 })),
        text("read it"),
    ];
    let mut world = with(&["todo/index.ts"], answers).await;
    world.say("plan").await;
    let planned = world.leaf().unwrap();
    world.say("do").await;
    world.command("todos", "").await.unwrap();
    assert_eq!(world.shown(), ["widget todos Some([\"✓ 1 read\", \"· 2 write\"])"]);
    let errors = world.entries().into_iter().filter(|entry| entry["message"]["isError"] == true);
    let errors: Vec<Value> = errors.map(|entry| entry["message"]["content"][0]["text"].clone()).collect();
    assert!(errors.len() == 1 && errors[0].as_str().unwrap().contains("there is no todo 7"), "{errors:?}");
    go(&world, &planned, false).await;
    world.command("todos", "").await.unwrap();
    assert_eq!(world.shown(), ["widget todos Some([\"· 1 read\", \"· 2 write\"])"]);
    assert_eq!(world.failures(), []);
}

//! Examples about what is said, and what is done because of it.

use std::sync::Arc;

use ramal_agent::Prompt;
use ramal_extension::{Input, NoUi};
use serde_json::{Value, json};

use crate::files::with;
use crate::support::*;

fn results(world: &World) -> Vec<Value> {
    let entries = world.entries().into_iter();
    entries
        .map(|mut entry| entry["message"].take())
        .filter(|message| message["role"] == "toolResult")
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_compaction_keeps_the_users_words() {
    let write = json!({ "path": "made.txt", "content": "x" }).to_string();
    let answers = [Say::Call("write", write), text("one"), text("two"), text("three"), text("by the model")];
    let mut world = with(&["compaction.ts"], answers).await;
    world.say("write a file\nplease").await;
    world.say("and then").await;
    let asked = world.model.requests.lock().unwrap().len();
    let compacted = within(world.session.compact(None)).await.unwrap().unwrap();
    assert_eq!(world.model.requests.lock().unwrap().len(), asked, "no model was asked");
    assert_eq!(
        compacted.summary,
        "The user asked for, in this order:\n- write a file\n- and then\nChanged so far: made.txt"
    );
    assert_eq!(compacted.details.as_deref(), Some(r#"{"modifiedFiles":["made.txt"]}"#));
    assert!(world.shown()[0].ends_with("tokens without a model"));
    // What it said before is carried on.
    world.say("once more").await;
    let compacted = within(world.session.compact(None)).await.unwrap().unwrap();
    assert!(compacted.summary.contains("- write a file\n- and then\n- once more"), "{}", compacted.summary);
    world.say("last").await;
    let compacted = within(world.session.compact(Some("only names"))).await.unwrap().unwrap();
    assert!(!compacted.summary.contains("in this order"), "{}", compacted.summary);
    assert_eq!(world.failures(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_undone_is_asked_for() {
    let bash = |command: &str| Say::Call("bash", json!({ "command": command }).to_string());
    let removal = "rm -rf folder";
    let answers = [bash("echo harmless"), bash(removal), bash(removal), bash(removal), bash(removal)];
    let mut world = with(&["permission-gate.ts"], answers.into_iter().chain([text("done")])).await;
    let folder = world.folder.path().join("folder");
    std::fs::create_dir(&folder).unwrap();
    let choices = ["Do not run it", "-", "Run it", "Run it, and do not ask again"];
    world.user.answers.lock().unwrap().extend(choices.map(String::from));
    world.say("clean up").await;
    let said: Vec<bool> = results(&world).iter().map(|result| result["isError"] == true).collect();
    assert_eq!(said, [false, true, true, false, false]);
    assert!(results(&world)[1].to_string().contains("The user did not allow this command."));
    assert!(!folder.exists());
    let shown = world.shown();
    assert_eq!(shown.len(), 4, "{shown:?}");
    assert!(shown[0].starts_with("select This deletes files:\nrm -rf folder"), "{shown:?}");
    assert_eq!(world.failures(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_user_it_is_not_run() {
    let bash = Say::Call("bash", json!({ "command": "git reset --hard; touch made" }).to_string());
    let world = with(&["permission-gate.ts"], [bash, text("done")]).await;
    world.extensions.set_ui(Arc::new(NoUi));
    world.say("clean up").await;
    let result = results(&world).remove(0);
    assert!(result.to_string().contains("throws away what git has, and there is nobody"), "{result}");
    assert!(!world.folder.path().join("made").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_named_after_its_first_prompt() {
    let name = |world: &World| world.session.with_session(|manager| manager.get_session_name());
    let mut world = with(&["session-name.ts"], [text("one"), text("two")]).await;
    world.say("\n***\nMend the  parser of dates, which takes the thirteenth month for a day").await;
    let named = "Mend the parser of dates, which takes the…";
    world.until(|| name(&world).as_deref() == Some(named)).await;
    world.session.set_session_name("mine").unwrap();
    world.say("go on").await;
    // The second turn has been heard when the session is gone over to another.
    within(world.session.new_session(None)).await.unwrap();
    world.say("short").await;
    world.until(|| name(&world).as_deref() == Some("short")).await;
    assert_eq!(world.failures(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_session_begins_with_a_brief_of_the_old() {
    let write = json!({ "path": "made.txt", "content": "x" }).to_string();
    let answers = [Say::Call("write", write), text("the file is there"), text("testing")];
    let mut world = with(&["handoff.ts"], answers).await;
    world.command("handoff", "tests").await.unwrap();
    assert_eq!(world.shown(), ["notify handoff warning There is nothing yet to hand off"]);
    world.say("make a file").await;
    world.command("handoff", " ").await.unwrap();
    let old = world.session.with_session(|manager| manager.get_session_file().unwrap().to_owned());
    world.user.answers.lock().unwrap().push_back("-".into());
    world.command("handoff", "tests").await.unwrap();
    let now = world.session.with_session(|manager| manager.get_session_file().unwrap().to_owned());
    assert_eq!(old, now, "the user closed the editor");

    world.user.answers.lock().unwrap().push_back("Write the tests. made.txt is there.".into());
    world.shown();
    world.command("handoff", "write the tests").await.unwrap();
    within(world.session.wait_for_idle()).await;
    let shown = world.shown();
    let brief = "Goal: write the tests\n\nAsked for so far:\n- make a file\n\nChanged files: made.txt\n\nWhere it stands:\nthe file is there";
    assert_eq!(shown[0], format!("editor The brief {:?}", Some(brief)));
    let header = world.session.with_session(|manager| manager.get_header().json().to_owned());
    let parent: Value = serde_json::from_str(&header).unwrap();
    assert_eq!(parent["parentSession"], old.to_str().unwrap());
    assert_eq!(
        world.session.with_session(|manager| manager.get_session_name()).as_deref(),
        Some("write the tests")
    );
    let last = world.model.requests.lock().unwrap().last().unwrap().messages.clone();
    assert!(last.len() == 1 && last[0].contains("Write the tests. made.txt is there."), "{last:?}");
    assert_eq!(world.kept("handoff"), [json!({ "from": old.to_str().unwrap() })]);
    assert_eq!(world.failures(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_typed_is_changed_or_answered() {
    let mut world = with(&["input-transform.ts"], []).await;
    let abort = Default::default();
    let input = async |text: &str, source: &str| {
        within(world.extensions.input(Prompt::text(text), source, None, &abort)).await
    };
    let said = |text: &str| Input::Say(Prompt::text(text));
    assert_eq!(input("hello", "interactive").await, said("hello"));
    let short = "what is a tree\n\nAnswer in one or two sentences.";
    assert_eq!(input("? what is a tree", "interactive").await, said(short));
    assert_eq!(input("?what", "extension").await, said("?what"));
    assert_eq!(input(" time? ", "rpc").await, Input::Handled);
    assert_eq!(world.shown().len(), 1);
    assert_eq!(world.failures(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_extensions_talk_over_the_bus() {
    let write = |path: &str| Say::Call("write", json!({ "path": path, "content": "x" }).to_string());
    let answers = [write("b.txt"), Say::Call("read", json!({ "path": "none" }).to_string()), write("a.txt")];
    let mut world = with(&["bus/announce.ts", "bus/collect.ts"], answers).await;
    world.say("make two files").await;
    let list = json!({ "announcer": "announce", "files": [{ "path": "b.txt", "tool": "write" }, { "path": "a.txt", "tool": "write" }] });
    // What is said over the bus arrives when it arrives.
    within(async {
        while world.kept("changed-files").last() != Some(&list) {
            world.command("changed", "").await.unwrap();
        }
    })
    .await;
    assert_eq!(world.shown().last().unwrap(), "widget changed Some([\"write b.txt\", \"write a.txt\"])");
    assert_eq!(world.failures(), []);

    let alone = with(&["bus/collect.ts"], []).await;
    alone.command("changed", "").await.unwrap();
    assert!(alone.shown()[0].contains("announce.ts is not loaded"));
}

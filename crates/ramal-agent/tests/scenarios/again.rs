//! Repeating a turn that failed, was ended, or broke off.

use ramal_agent::{AgentError, AgentEvent, Prompt};
use ramal_model::ThinkingLevel;
use ramal_session::{Kind, SessionManager};

use crate::support::*;

async fn retry(world: &World) -> String {
    let from = world.session.retry().unwrap().to_string();
    within(world.session.wait_for_idle()).await;
    from
}

#[tokio::test]
async fn the_new_answer_is_a_sibling_of_the_failed_one() {
    let mut world = World::new([text("one"), fail(refused()), text("two")]);
    world.say("first").await;
    let asked = world.say("second").await;
    let failed = world.leaf().unwrap();
    world.told();
    assert_eq!(retry(&world).await, asked);
    assert_eq!(world.path(), ["user: first", "assistant: one", "user: second", "assistant: two"]);
    assert_eq!(world.entry(&failed)["parentId"], *asked, "nothing is lost");
    assert_eq!(world.entry(&world.leaf().unwrap())["parentId"], *asked);
    let requests = world.model.requests();
    assert_eq!(requests[1].messages, requests[2].messages, "the same is asked");
    let told = world.all_told();
    let AgentEvent::SessionTree { new_leaf_id, old_leaf_id, summary_entry: None, .. } = &*told[0] else {
        panic!("{told:?}")
    };
    assert_eq!((new_leaf_id.as_ref(), old_leaf_id.as_ref()), (Some(&asked), Some(&failed)));
    assert_eq!(told[1].name(), "agent_start");
    assert_eq!(told.last().unwrap().name(), "agent_end");
    world.takes_a_prompt().await;
}

#[tokio::test]
async fn again_and_again() {
    let world = World::new([fail(refused()), fail(refused()), text("well")]);
    let asked = world.say("go").await;
    retry(&world).await;
    retry(&world).await;
    assert_eq!(world.path(), ["user: go", "assistant: well"]);
    let children = world.session.with_session(|manager| manager.get_children(Some(&asked)).len());
    assert_eq!(children, 3);
}

#[tokio::test]
async fn what_tools_did_is_not_done_again() {
    let world = World::new([]);
    world.put("a", "content");
    world.model.script([vec![call("c1", "read", r#"{"path":"a"}"#)], fail(refused()), text("read it")]);
    world.say("read a").await;
    assert_eq!(world.path().len(), 4);
    retry(&world).await;
    let path = world.path();
    assert_eq!((path.len(), &*path[3]), (4, "assistant: read it"));
    assert_eq!(world.model.count(), 3);
    assert_eq!(world.model.last().len(), 3, "the call and its result are there");
    assert_eq!(world.count_of(Kind::Message), 5);
}

#[tokio::test]
async fn a_model_that_was_chosen_since_answers() {
    let world = World::new([fail(refused()), text("well")]);
    world.say("go").await;
    world.session.set_model("demo/beta").unwrap();
    world.session.set_thinking_level(ThinkingLevel::High).unwrap();
    retry(&world).await;
    assert_eq!(world.model.models(), ["alpha", "beta"]);
    assert_eq!(world.model.requests()[1].thinking, ThinkingLevel::High);
    assert_eq!(
        world.path(),
        ["user: go", "model_change", "thinking_level_change", "assistant: well"],
        "the failed answer is on another branch"
    );
    assert_eq!(world.model.last(), ["user: go"]);
}

#[tokio::test]
async fn a_turn_that_the_user_ended_is_repeated() {
    let mut world = World::new([stall("half"), text("all of it")]);
    world.session.prompt(Prompt::text("go")).unwrap();
    world.wait_for("message_update").await;
    assert!(matches!(world.session.retry(), Err(AgentError::Busy { .. })));
    world.session.abort();
    within(world.session.wait_for_idle()).await;
    assert_eq!(world.path(), ["user: go", "assistant: half"]);
    retry(&world).await;
    assert_eq!(world.path(), ["user: go", "assistant: all of it"]);
    assert_eq!(world.model.last(), ["user: go"]);
}

#[tokio::test]
async fn what_was_said_behind_the_failed_answer_is_seen() {
    let half = || vec![Step::Text("half".into()), Step::Fail(refused())];
    let world = World::new([half(), text("well")]);
    world.say("go").await;
    let id = world.session.with_session(|manager| manager.get_session_id().to_owned());
    let command = r#"{"role":"bashExecution","command":"make","output":"built","exitCode":0}"#;
    world.session.append_aside(&id, command.into()).unwrap();
    retry(&world).await;
    let path = world.path();
    assert_eq!(path.len(), 5, "{path:?}");
    assert_eq!((&*path[1], &*path[3], &*path[4]), ("assistant: half", "context_edit", "assistant: well"));
    let sent = world.model.last();
    assert_eq!((sent.len(), &*sent[0]), (2, "user: go"), "{sent:?}");
    assert!(sent[1].contains("built"), "{sent:?}");
}

#[tokio::test]
async fn a_turn_that_broke_off_with_the_program_goes_on() {
    let user = r#"{"role":"user","content":"go"}"#;
    let calls = r#"{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"bash","arguments":{"command":"make"}}],"stopReason":"toolUse"}"#;
    for (messages, sent) in [(&[user][..], 1), (&[user, calls], 3)] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("session.jsonl");
        let mut before = SessionManager::open(&file, None).unwrap();
        for message in messages {
            before.append_message(message).unwrap();
        }
        drop(before);
        let manager = SessionManager::open_in(&file, None, folder.path()).unwrap();
        let mut world = World::of(folder, manager, [text("here I am")], |_| {});
        let leaf = world.leaf().unwrap();
        assert_eq!(retry(&world).await, leaf);
        assert_eq!(world.path().last().unwrap(), "assistant: here I am");
        assert_eq!(world.model.last().len(), sent);
        if sent == 3 {
            assert!(
                world.model.last()[2].contains("othing is known of its effects"),
                "{:?}",
                world.model.last()
            );
        }
        assert!(!world.told().contains(&"session_tree"), "the leaf did not move");
        assert_eq!(world.count(), messages.len() + 1);
    }
}

#[tokio::test]
async fn nothing_is_repeated_that_came_to_its_end() {
    let world = World::new([text("well")]);
    assert!(matches!(world.session.retry(), Err(AgentError::NothingToRetry)));
    world.say("go").await;
    let (path, count) = (world.path(), world.count());
    assert!(matches!(world.session.retry(), Err(AgentError::NothingToRetry)));
    assert_eq!((world.path(), world.count(), world.model.count()), (path, count, 1));
    world.takes_a_prompt().await;
}

#[tokio::test]
async fn nothing_moves_where_no_model_can_be_asked() {
    let world = World::new([fail(refused())]);
    world.say("go").await;
    world.session.with_session(|manager| manager.append_model_change("gone", "model", None)).unwrap();
    let leaf = world.leaf();
    assert!(matches!(world.session.retry(), Err(AgentError::UnusableModel { .. })));
    assert_eq!(world.leaf(), leaf);
    world.session.must_be_idle().unwrap();
}

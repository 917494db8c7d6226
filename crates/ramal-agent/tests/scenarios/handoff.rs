//! Handing the work off to a new session.

use ramal_agent::hooks::BeforeReplace;
use ramal_agent::{AgentError, AgentEvent, Prompt};
use ramal_session::{Message, SessionManager};

use crate::support::*;

fn header(world: &World) -> serde_json::Value {
    world.session.with_session(|manager| serde_json::from_str(manager.get_header().json()).unwrap())
}

#[tokio::test]
async fn a_new_session_begins_with_the_brief() {
    let mut world = World::new([]);
    world.put("a", "content");
    world.model.script([
        vec![call("c1", "read", r#"{"path":"a"}"#)],
        text("read it"),
        vec![Step::Text("## Goal\nshorter".into()), Step::Usage(900)],
    ]);
    world.session.set_model("demo/beta").unwrap();
    world.say("read a").await;
    let (old, bytes) = (world.file(), std::fs::read(world.file()).unwrap());
    world.told();
    let done = within(world.session.handoff(Some("mind the gap"))).await.unwrap().unwrap();

    let asked = Message::new(&world.model.requests()[2].messages[0]).text();
    assert!(asked.contains("read it") && asked.contains("Result of read: succeeded"), "{asked}");
    assert!(asked.contains("mind the gap") && asked.contains("new session"), "{asked}");
    assert_eq!(done.brief, "## Goal\nshorter\n\n<read-files>\na\n</read-files>");
    assert_eq!(done.previous_session_file.as_deref(), Some(&*old.to_string_lossy()));
    assert_eq!(std::fs::read(&old).unwrap(), bytes, "the old session is as it was");
    assert_eq!(header(&world)["parentSession"], *old.to_string_lossy());

    let entry = world.entry(&done.entry_id);
    assert_eq!((&entry["type"], &entry["customType"]), (&"custom_message".into(), &"handoff".into()));
    assert_eq!((&entry["display"], &entry["details"]["readFiles"][0]), (&true.into(), &"a".into()));
    assert_eq!(world.path(), ["model_change", "usage", "custom_message"]);
    assert_eq!(world.leaf().as_deref(), Some(&*done.entry_id));
    let stats = world.session.get_session_stats().unwrap();
    assert!(stats.usage.input >= 900.0, "the brief was paid for");
    let told = world.all_told();
    assert!(matches!(
        &*told[0],
        AgentEvent::SessionReplaced { previous_session_file: Some(previous), .. } if *previous == *old.to_string_lossy()
    ));
    assert!(!told.iter().any(|event| event.name() == "agent_start"), "no turn begins");

    // It is on disk before anybody says anything.
    let again = SessionManager::open(&world.file(), None).unwrap();
    assert_eq!((again.entry_count(), again.get_leaf_id().unwrap()), (3, Some(done.entry_id)));
    world.say("go on").await;
    let sent = world.model.last();
    assert!(sent[0].starts_with("user: ") && sent[0].contains("## Goal\nshorter"), "{sent:?}");
    assert_eq!(sent[1..], ["user: go on"]);
    assert_eq!(world.model.models().last().unwrap(), "beta");
}

#[tokio::test]
async fn a_brief_goes_on_in_the_next_one() {
    let world = World::new([text("one"), text("brief one"), text("two"), text("brief two")]);
    world.say("first").await;
    within(world.session.handoff(None)).await.unwrap().unwrap();
    world.say("second").await;
    within(world.session.handoff(None)).await.unwrap().unwrap();
    let asked = Message::new(&world.model.requests()[3].messages[0]).text();
    assert!(asked.contains("brief one") && asked.contains("second"), "{asked}");
    assert!(world.context()[0].contains("brief two") && !world.context()[0].contains("brief one"));
}

#[tokio::test]
async fn an_abort_moves_nothing() {
    let mut world = World::new([text("one"), stall("half a brief")]);
    world.say("first").await;
    let (file, bytes, leaf) = (world.file(), std::fs::read(world.file()).unwrap(), world.leaf());
    world.told();
    let session = world.session.clone();
    let handing = tokio::spawn(async move { session.handoff(None).await });
    within(async {
        while world.model.count() < 2 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    world.session.abort();
    assert_eq!(within(handing).await.unwrap().unwrap(), None);
    assert_eq!((world.file(), world.leaf()), (file.clone(), leaf));
    assert_eq!(std::fs::read(file).unwrap(), bytes);
    assert!(world.told().is_empty());
    world.takes_a_prompt().await;
}

#[tokio::test]
async fn a_hook_is_asked_before_the_model() {
    let hook = TestHook {
        before_switch: on(|_| async { Ok(BeforeReplace { cancel: true, ..BeforeReplace::default() }) }),
        ..TestHook::default()
    };
    let world = World::hooked([text("one")], [hook]);
    world.say("first").await;
    let file = world.file();
    assert_eq!(within(world.session.handoff(None)).await.unwrap(), None);
    assert_eq!((world.file(), world.model.count()), (file, 1));
    world.takes_a_prompt().await;
}

#[tokio::test]
async fn what_cannot_be_handed_off_stays() {
    let world = World::new([]);
    assert!(matches!(within(world.session.handoff(None)).await, Err(AgentError::NothingToHandOff)));
    world.model.script([text("one"), fail(refused()), text(" ")]);
    world.say("first").await;
    let (file, leaf) = (world.file(), world.leaf());
    assert!(matches!(within(world.session.handoff(None)).await, Err(AgentError::Model(_))));
    assert!(matches!(within(world.session.handoff(None)).await, Err(AgentError::EmptySummary)));
    assert_eq!((world.file(), world.leaf()), (file, leaf));
    world.takes_a_prompt().await;
}

#[tokio::test]
async fn a_turn_is_ended_first_and_is_in_the_brief() {
    let mut world = World::new([stall("half an answer"), text("brief")]);
    world.session.prompt(Prompt::text("go")).unwrap();
    world.wait_for("message_update").await;
    let old = world.file();
    within(world.session.handoff(None)).await.unwrap().unwrap();
    let asked = Message::new(&world.model.requests()[1].messages[0]).text();
    assert!(asked.contains("half an answer"), "{asked}");
    let left = SessionManager::open(&old, None).unwrap();
    assert_eq!(left.message_count(), 2, "what the turn had is stored");
}

#[tokio::test]
async fn what_is_said_meanwhile_is_said_in_the_new_session() {
    let later = Later::default();
    let session = later.clone();
    let hook = TestHook {
        before_switch: on(move |_| {
            let session = session.get();
            async move {
                session.steer(Prompt::text("go on")).unwrap();
                session.follow_up(Prompt::text("and then")).unwrap();
                Ok(BeforeReplace::default())
            }
        }),
        ..TestHook::default()
    };
    let mut world = World::hooked([stall("half"), text("brief"), text("on it"), text("all done")], [hook]);
    later.set(&world);
    world.session.prompt(Prompt::text("first")).unwrap();
    world.wait_for("message_update").await;
    world.session.follow_up(Prompt::text("of the old one")).unwrap();
    within(world.session.handoff(None)).await.unwrap().unwrap();
    within(world.session.wait_for_idle()).await;
    let path = world.path();
    assert_eq!(
        path[path.len() - 4..],
        ["user: go on", "assistant: on it", "user: and then", "assistant: all done"]
    );
    assert_eq!(world.session.pending_messages(), 0);
    assert!(!path.concat().contains("of the old one"));
}

#[tokio::test]
async fn in_memory() {
    let world = World::in_memory([text("one"), text("brief")]);
    world.say("first").await;
    let done = within(world.session.handoff(None)).await.unwrap().unwrap();
    assert_eq!(done.previous_session_file, None);
    assert!(header(&world).get("parentSession").is_none());
    assert!(world.context()[0].contains("brief"));
}

#[tokio::test]
async fn a_compacted_conversation_is_handed_off_with_its_summary() {
    let world = World::new([text("one"), text("two"), text("SUM"), text("three"), text("brief")]);
    world.say("first").await;
    world.say(&format!("second {}", "x".repeat(500))).await;
    within(world.session.compact(None)).await.unwrap().unwrap();
    world.say("third").await;
    within(world.session.handoff(None)).await.unwrap().unwrap();
    let asked = Message::new(&world.model.requests()[4].messages[0]).text();
    assert!(asked.contains("<previous-summary>\nSUM") && asked.contains("third"), "{asked}");
    assert!(asked.contains("second") && !asked.contains("User\nfirst"), "{asked}");
}

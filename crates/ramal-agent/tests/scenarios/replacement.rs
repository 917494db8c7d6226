//! Going over to another session: branches, copies, new ones, others.

use ramal_agent::hooks::BeforeReplace;
use ramal_agent::{AgentError, AgentEvent, NavigateOptions, Prompt};
use ramal_session::SessionManager;

use crate::support::*;

async fn two_turns(world: &World) {
    world.model.script([text("answer one"), text("answer two")]);
    world.say("question one").await;
    world.say("question two").await;
}

fn header(world: &World) -> serde_json::Value {
    world.session.with_session(|manager| serde_json::from_str(manager.get_header().json()).unwrap())
}

#[tokio::test]
async fn a_branch_from_a_later_message() {
    let seen = Seen::default();
    let told = seen.clone();
    let hook = TestHook {
        branch: on(move |previous| {
            told.push(previous);
            async { Ok(()) }
        }),
        ..TestHook::default()
    };
    let mut world = World::hooked([], [hook]);
    two_turns(&world).await;
    let (old, bytes) = (world.file(), std::fs::read(world.file()).unwrap());
    let id = world.session.with_session(|manager| manager.get_session_id().to_owned());
    world.told();
    let branched = within(world.session.branch(&world.id_of("question two"))).await.unwrap();
    assert_eq!((&*branched.selected_text, branched.cancelled), ("question two", false));
    assert_eq!(world.path(), ["user: question one", "assistant: answer one"]);
    assert_ne!(world.file(), old);
    assert_eq!(header(&world)["parentSession"], *old.to_string_lossy());
    assert_eq!(seen.all(), [Some(old.to_string_lossy().into_owned())]);
    let told = world.all_told();
    assert_eq!(told.len(), 1);
    let AgentEvent::SessionReplaced { session_id, session_file, previous_session_file } = &*told[0] else {
        panic!("{told:?}")
    };
    assert_ne!(*session_id, id);
    assert_eq!(session_file.as_deref(), Some(&*world.file().to_string_lossy()));
    assert_eq!(previous_session_file.as_deref(), Some(&*old.to_string_lossy()));
    world.takes_a_prompt().await;
    assert_eq!(world.model.last().len(), 3);
    assert_eq!(std::fs::read(&old).unwrap(), bytes, "the old session is as it was");
}

#[tokio::test]
async fn a_branch_from_the_first_message_is_a_new_session() {
    let world = World::new([]);
    two_turns(&world).await;
    let old = world.file();
    let branched = within(world.session.branch(&world.id_of("question one"))).await.unwrap();
    assert_eq!(branched.selected_text, "question one");
    assert_eq!((world.count(), world.leaf()), (0, None));
    assert_ne!(world.file(), old);
    assert_eq!(header(&world)["parentSession"], *old.to_string_lossy());
    world.takes_a_prompt().await;
    assert_eq!(world.model.last(), ["user: still there?"]);
}

#[tokio::test]
async fn a_branch_in_memory_has_no_origin() {
    for (from, count) in [("question one", 0), ("question two", 2)] {
        let mut world = World::in_memory([]);
        two_turns(&world).await;
        world.told();
        within(world.session.branch(&world.id_of(from))).await.unwrap();
        assert_eq!(world.count(), count);
        assert!(header(&world).get("parentSession").is_none());
        let told = world.all_told();
        assert!(matches!(
            &*told[0],
            AgentEvent::SessionReplaced { session_file: None, previous_session_file: None, .. }
        ));
        world.takes_a_prompt().await;
    }
}

#[tokio::test]
async fn a_hook_cancels_a_branch() {
    let hook = TestHook {
        before_branch: on(|_| async { Ok(BeforeReplace { cancel: true, ..BeforeReplace::default() }) }),
        before_switch: on(|_| async { Ok(BeforeReplace { cancel: true, ..BeforeReplace::default() }) }),
        branch: on(|_| async { panic!("nothing was branched") }),
        ..TestHook::default()
    };
    let mut world = World::hooked([], [hook]);
    two_turns(&world).await;
    let (old, leaf) = (world.file(), world.leaf());
    world.told();
    let branched = within(world.session.branch(&world.id_of("question two"))).await.unwrap();
    assert_eq!((&*branched.selected_text, branched.cancelled), ("question two", true));
    assert!(within(world.session.clone_session()).await.unwrap());
    assert!(within(world.session.new_session(None)).await.unwrap());
    assert!(within(world.session.switch_session(&old)).await.unwrap());
    assert!(world.told().is_empty());
    assert_eq!((world.file(), world.leaf()), (old, leaf));
    world.takes_a_prompt().await;
}

#[tokio::test]
async fn a_hook_keeps_what_the_model_sees() {
    for from in ["question one", "question two"] {
        let hook = TestHook {
            before_branch: on(|_| async {
                Ok(BeforeReplace { skip_conversation_restore: true, ..BeforeReplace::default() })
            }),
            ..TestHook::default()
        };
        let world = World::hooked([], [hook, TestHook::default()]);
        two_turns(&world).await;
        let (old, seen) = (world.file(), world.context());
        within(world.session.branch(&world.id_of(from))).await.unwrap();
        assert_ne!(world.file(), old);
        world.say("go on").await;
        world.say("and on").await;
        let sent = world.model.requests().pop().unwrap().messages;
        assert_eq!(sent[..4], seen);
        assert_eq!(
            sent[4..].iter().map(|said| drawn(said)).collect::<Vec<_>>(),
            ["user: go on", "assistant: done", "user: and on"]
        );
        // Only until one moves: then the tree counts.
        let id = world.id_of("and on");
        within(world.session.navigate_tree(&id, NavigateOptions::default())).await.unwrap();
        world.say("at last").await;
        assert_eq!(
            world.model.requests().pop().unwrap().messages.len(),
            if from == "question one" { 3 } else { 5 }
        );
    }
}

#[tokio::test]
async fn only_a_user_message_can_be_branched_from() {
    let hook =
        TestHook { before_branch: on(|_| async { panic!("an error is not told") }), ..TestHook::default() };
    let mut world = World::hooked([], [hook]);
    two_turns(&world).await;
    let old = world.file();
    world.told();
    let answer = world.id_of("answer one");
    assert!(matches!(within(world.session.branch(&answer)).await, Err(AgentError::NotAUserMessage { .. })));
    assert!(matches!(within(world.session.branch("none")).await, Err(AgentError::NoSuchEntry(_))));
    assert!(world.told().is_empty());
    assert_eq!(world.file(), old);
    world.takes_a_prompt().await;
}

#[tokio::test]
async fn a_clone_has_the_whole_path() {
    let world = World::new([]);
    assert!(matches!(within(world.session.clone_session()).await, Err(AgentError::Copy(_))));
    two_turns(&world).await;
    let (old, path) = (world.file(), world.path());
    assert!(!within(world.session.clone_session()).await.unwrap());
    assert_eq!(world.path(), path);
    assert_ne!(world.file(), old);
    assert_eq!(header(&world)["parentSession"], *old.to_string_lossy());
    world.takes_a_prompt().await;
}

#[tokio::test]
async fn nothing_to_clone_is_not_told() {
    let hook =
        TestHook { before_branch: on(|_| async { panic!("an error is not told") }), ..TestHook::default() };
    let mut world = World::hooked([], [hook]);
    assert!(within(world.session.clone_session()).await.is_err());
    assert!(world.told().is_empty());
    world.takes_a_prompt().await;
}

#[tokio::test]
async fn a_new_session_and_back() {
    let world = World::new([]);
    two_turns(&world).await;
    let (old, path) = (world.file(), world.path());
    assert!(!within(world.session.new_session(Some("somewhere"))).await.unwrap());
    assert_eq!((world.count(), world.leaf()), (0, None));
    assert_eq!(header(&world)["parentSession"], "somewhere");
    world.takes_a_prompt().await;
    let new = world.file();
    assert!(!within(world.session.switch_session(&old)).await.unwrap());
    assert_eq!((world.file(), world.path()), (old, path));
    world.takes_a_prompt().await;
    assert_eq!(SessionManager::open(&new, None).unwrap().entry_count(), 2);
}

#[tokio::test]
async fn a_session_that_is_not_there_cannot_be_gone_to() {
    let mut world = World::new([]);
    two_turns(&world).await;
    let old = world.file();
    let rubbish = world.folder.path().join("rubbish.jsonl");
    #[allow(clippy::disallowed_methods, reason = "a file of the test's own")]
    std::fs::write(&rubbish, "no session\n").unwrap();
    world.told();
    let missing = world.folder.path().join("missing.jsonl");
    for path in [&missing, &rubbish] {
        let error = within(world.session.switch_session(path)).await.unwrap_err();
        assert!(error.to_string().contains(&*path.to_string_lossy()), "{error}");
    }
    assert!(!missing.exists());
    assert!(world.told().is_empty());
    assert_eq!(world.file(), old);
    world.takes_a_prompt().await;
}

#[tokio::test]
async fn leaving_ends_a_turn_and_what_waits_does_not_follow() {
    for way in ["branch", "clone", "new", "switch"] {
        let mut world = World::new([text("answer one"), stall("half")]);
        let first = world.say("question one").await;
        let old = world.file();
        world.session.prompt(Prompt::text("question two")).unwrap();
        world.told();
        world.wait_for("message_update").await;
        world.session.follow_up(Prompt::text("never said")).unwrap();
        world.session.steer(Prompt::text("nor this")).unwrap();
        world.told();
        match way {
            "branch" => drop(within(world.session.branch(&first)).await.unwrap()),
            "clone" => assert!(!within(world.session.clone_session()).await.unwrap()),
            "new" => assert!(!within(world.session.new_session(None)).await.unwrap()),
            _ => assert!(!within(world.session.switch_session(&old)).await.unwrap()),
        }
        within(world.session.wait_for_idle()).await;
        let told = world.told();
        let end = told.iter().position(|name| *name == "agent_end").unwrap();
        assert!(
            told[end..].contains(&"queue_update") && told[end..].contains(&"session_replaced"),
            "{told:?}"
        );
        // What the turn had is in the old session.
        let mut left = SessionManager::open(&old, None).unwrap();
        left.refresh().unwrap();
        assert_eq!(left.get_leaf_entry().unwrap().read().unwrap().text(), "half", "{way}");
        let count = world.model.count();
        world.takes_a_prompt().await;
        assert_eq!(world.model.count(), count + 1, "{way}");
        assert!(
            !world.model.last().iter().any(|said| said.contains("never") || said.contains("nor")),
            "{way}"
        );
        if way == "switch" {
            assert_eq!(world.path()[3], "assistant: half");
        }
    }
}

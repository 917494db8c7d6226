//! Commands that come while something else runs: one operation at a time, and nothing mixed.

use ramal_agent::hooks::BeforeTree;
use ramal_agent::{AgentError, NavigateOptions, Operation, Prompt};
use ramal_session::Kind;

use crate::navigation::{go, two_turns, with_summary};
use crate::support::*;

#[tokio::test]
async fn a_navigation_ends_a_turn_and_keeps_what_it_had() {
    let mut world = World::new([]);
    let target = two_turns(&world).await;
    world.model.script([stall("half an answer"), text("learned")]);
    world.session.prompt(Prompt::text("question three")).unwrap();
    world.told();
    world.wait_for("message_update").await;
    let moved = go(&world, &target, with_summary()).await.unwrap();
    let half = world.id_of("half an answer");
    assert_eq!(world.entry(&half)["message"]["stopReason"], "aborted");
    let entry: serde_json::Value = serde_json::from_str(&moved.summary_entry.unwrap()).unwrap();
    assert_eq!(entry["abandonedLeafId"], *half);
    assert!(world.model.last()[0].contains("half an answer"));
    let told = world.told();
    assert_eq!(told[told.len() - 2..], ["agent_end", "session_tree"]);
    world.takes_a_prompt().await;
}

#[tokio::test]
async fn what_cannot_be_done_does_not_end_a_turn() {
    let mut world = World::new([stall("on it")]);
    world.session.prompt(Prompt::text("go")).unwrap();
    world.wait_for("message_update").await;
    assert!(go(&world, "00000000", NavigateOptions::default()).await.is_err());
    assert!(within(world.session.branch("00000000")).await.is_err());
    assert!(within(world.session.switch_session(&world.folder.path().join("none"))).await.is_err());
    assert_eq!(world.session.running(), Some(Operation::Turn));
    world.session.abort();
    within(world.session.wait_for_idle()).await;
}

#[tokio::test]
async fn of_two_navigations_the_second_is_refused() {
    // While one runs, and while one waits for a turn to end.
    for during_a_turn in [false, true] {
        let mut world = World::new([]);
        let target = two_turns(&world).await;
        if during_a_turn {
            world.model.script([stall("half")]);
            world.session.prompt(Prompt::text("go")).unwrap();
            world.told();
            world.wait_for("message_update").await;
        }
        world.model.script([vec![Step::Wait(20), Step::Text("learned".into())]]);
        let (one, other) = within(async {
            tokio::join!(
                world.session.navigate_tree(&target, with_summary()),
                world.session.navigate_tree(&target, with_summary())
            )
        })
        .await;
        assert!(one.unwrap().summary_entry.is_some());
        assert!(matches!(other, Err(AgentError::Busy { .. })));
        assert_eq!(world.count_of(Kind::BranchSummary), 1);
        world.takes_a_prompt().await;
    }
}

#[tokio::test]
async fn an_abort_sent_right_behind_a_navigation_ends_it() {
    for summarize in [true, false] {
        let mut world = World::new([]);
        let target = two_turns(&world).await;
        world.model.script([stall("half"), text("never asked for")]);
        world.session.prompt(Prompt::text("go")).unwrap();
        world.told();
        world.wait_for("message_update").await;
        let options = NavigateOptions { summarize, ..NavigateOptions::default() };
        let navigating = world.session.navigate_tree(&target, options);
        let (navigated, ()) =
            within(async { tokio::join!(navigating, async { world.session.abort() }) }).await;
        let navigated = navigated.unwrap();
        assert!(navigated.cancelled && navigated.aborted);
        assert_eq!(world.model.count(), 3);
        assert_eq!(world.leaf(), Some(world.id_of("half")));
        world.takes_a_prompt().await;
    }
}

#[tokio::test]
async fn moves_of_others_are_refused_during_a_turn() {
    let mut world = World::new([stall("half")]);
    world.session.prompt(Prompt::text("go")).unwrap();
    world.wait_for("message_update").await;
    assert!(matches!(world.session.must_be_idle(), Err(AgentError::Busy { with: "a turn" })));
    // Reading and appending do not wait.
    assert_eq!(world.path(), ["user: go"]);
    let id = world.id_of("go");
    world.session.set_label(&id, Some("read")).unwrap();
    world.session.abort();
    within(world.session.wait_for_idle()).await;
    assert_eq!(world.path(), ["user: go", "label", "assistant: half"]);
}

#[tokio::test]
async fn what_is_said_during_a_navigation_is_sent_after_it() {
    for cancelled in [false, true] {
        let later = Later::default();
        let at = later.clone();
        let hook = TestHook {
            before_tree: on(move |_| {
                at.get().follow_up(Prompt::text("said meanwhile")).unwrap();
                async move { Ok(BeforeTree { cancel: cancelled, ..BeforeTree::default() }) }
            }),
            ..TestHook::default()
        };
        let world = World::hooked([], [hook]);
        later.set(&world);
        let target = two_turns(&world).await;
        let navigated = go(&world, &target, NavigateOptions::default()).await.unwrap();
        assert_eq!(navigated.cancelled, cancelled);
        within(world.session.wait_for_idle()).await;
        let path = world.path();
        let at = if cancelled { 4 } else { 2 };
        assert_eq!(path[at..], ["user: said meanwhile", "assistant: done"], "{path:?}");
    }
}

#[tokio::test]
async fn what_waited_for_the_turn_that_is_ended_is_sent_after_the_navigation() {
    let mut world = World::new([]);
    let target = two_turns(&world).await;
    world.model.script([stall("half")]);
    world.session.prompt(Prompt::text("question three")).unwrap();
    world.told();
    world.wait_for("message_update").await;
    world.session.follow_up(Prompt::text("then this")).unwrap();
    go(&world, &target, NavigateOptions::default()).await.unwrap();
    within(world.session.wait_for_idle()).await;
    assert_eq!(world.path()[2..], ["user: then this", "assistant: done"]);
    assert_eq!(world.session.clear_queue(), (Vec::new(), Vec::new()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_comes_at_once_nothing_is_mixed() {
    let world = World::new([]);
    let target = two_turns(&world).await;
    let mut tasks = Vec::new();
    for number in 0..40usize {
        let (session, target) = (world.session.clone(), target.clone());
        tasks.push(tokio::spawn(async move {
            match number % 5 {
                0 => session.steer(Prompt::text(format!("steer {number}"))).unwrap(),
                1 => drop(session.prompt(Prompt::text(format!("prompt {number}")))),
                2 => drop(session.navigate_tree(&target, with_summary()).await),
                3 => session.abort(),
                _ => drop(session.compact(None).await),
            }
        }));
    }
    for task in tasks {
        within(task).await.unwrap();
    }
    within(world.session.wait_for_idle()).await;
    world.session.clear_queue();
    world.takes_a_prompt().await;
    let opened = ramal_session::SessionManager::open(&world.file(), None).unwrap();
    assert_eq!((opened.damaged_lines(), opened.entry_count()), (0, world.count()));
    // Every answer hangs where it was asked for.
    for entry in opened.get_entries().filter(|entry| entry.role() == ramal_session::Role::Assistant) {
        let parent = entry.parent().unwrap();
        assert_ne!(parent.role(), ramal_session::Role::Assistant);
    }
}

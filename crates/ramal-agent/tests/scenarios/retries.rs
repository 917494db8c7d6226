//! Requests that fail: asked again, given up, aborted in between.

use std::time::Duration;

use ramal_agent::{AgentEvent, NavigateOptions, Prompt};
use ramal_model::{ModelError, RetryPolicy};

use crate::support::*;

/// The events of retries: begun, or ended well or not.
fn retries(world: &mut World) -> Vec<(&'static str, u32)> {
    let told = world.all_told();
    let retries = told.iter().filter_map(|event| match &**event {
        AgentEvent::AutoRetryStart { attempt, max_attempts: 2, error_message, .. } => {
            assert!(!error_message.is_empty());
            Some(("start", *attempt))
        }
        AgentEvent::AutoRetryEnd { success: true, attempt, final_error: None } => Some(("well", *attempt)),
        AgentEvent::AutoRetryEnd { success: false, attempt, final_error: Some(_) } => {
            Some(("failed", *attempt))
        }
        AgentEvent::AutoRetryStart { .. } | AgentEvent::AutoRetryEnd { .. } => panic!("{event:?}"),
        _ => None,
    });
    retries.collect()
}

#[tokio::test]
async fn what_a_failed_attempt_said_is_kept_beside_the_retry() {
    let mut world =
        World::new([vec![Step::Text("half of".into()), Step::Fail(lost())], text("all of it"), text("more")]);
    let asked = world.say("go").await;
    assert_eq!(world.path(), ["user: go", "assistant: all of it"]);
    let half = world.entry(&world.id_of("half of"));
    assert_eq!(half["parentId"], *asked);
    assert_eq!(half["message"]["stopReason"], "error");
    assert!(half["message"]["errorMessage"].as_str().unwrap().contains("gone"));
    // The retry asks the same.
    let requests = world.model.requests();
    assert_eq!(requests[0].messages, requests[1].messages);
    assert_eq!(retries(&mut world), [("start", 1), ("well", 1)]);
    world.say("on").await;
    assert_eq!(world.model.last(), ["user: go", "assistant: all of it", "user: on"]);
}

#[tokio::test]
async fn an_attempt_that_said_nothing_leaves_nothing() {
    let mut world = World::new([fail(lost()), fail(lost()), text("well")]);
    world.say("go").await;
    assert_eq!(world.count(), 2);
    assert_eq!(retries(&mut world), [("start", 1), ("start", 2), ("well", 2)]);
}

#[tokio::test]
async fn after_the_last_attempt_the_error_is_in_the_log() {
    for last in [fail(lost()), vec![Step::Text("half".into()), Step::Fail(lost())]] {
        let mut world = World::new([fail(lost()), fail(lost()), last]);
        world.say("go").await;
        assert_eq!(world.path().len(), 2);
        let leaf = world.entry(&world.leaf().unwrap());
        assert_eq!(leaf["message"]["stopReason"], "error");
        assert_eq!(world.model.count(), 3);
        assert_eq!(retries(&mut world), [("start", 1), ("start", 2), ("failed", 2)]);
        world.takes_a_prompt().await;
    }
}

#[tokio::test]
async fn what_does_not_pass_is_not_asked_again() {
    let mut world = World::new([fail(refused())]);
    world.say("go").await;
    assert_eq!(world.model.count(), 1);
    assert_eq!(world.entry(&world.leaf().unwrap())["message"]["stopReason"], "error");
    assert!(retries(&mut world).is_empty());
    world.takes_a_prompt().await;
}

#[tokio::test]
async fn an_abort_during_the_wait_ends_the_turn_behind_what_came() {
    for (answer, said) in [(fail(lost()), ""), (vec![Step::Text("half".into()), Step::Fail(lost())], "half")]
    {
        let mut world = World::with([answer], |config| {
            config.retry = RetryPolicy {
                max_retries: 2,
                base_delay: Duration::from_secs(3600),
                max_delay: Duration::from_secs(3600),
            };
        });
        world.session.prompt(Prompt::text("go")).unwrap();
        world.wait_for("auto_retry_start").await;
        world.session.abort();
        within(world.session.wait_for_idle()).await;
        assert_eq!(world.model.count(), 1);
        assert_eq!(world.path(), ["user: go".to_owned(), format!("assistant: {said}")]);
        assert_eq!(retries(&mut world), [("failed", 1)]);
        world.takes_a_prompt().await;
    }
}

#[tokio::test]
async fn an_abort_during_a_later_wait_is_told_once() {
    let wait = Some(Duration::from_secs(3000));
    let limited = ModelError::RateLimited { provider: "demo".into(), message: "slow".into(), wait };
    let mut world = World::with([fail(lost()), fail(limited)], |config| {
        config.retry.max_delay = Duration::from_secs(3600);
    });
    world.session.prompt(Prompt::text("go")).unwrap();
    world.wait_for("auto_retry_start").await;
    world.wait_for("auto_retry_start").await;
    world.session.abort();
    within(world.session.wait_for_idle()).await;
    assert_eq!(retries(&mut world), [("failed", 2)]);
    world.takes_a_prompt().await;
}

#[tokio::test]
async fn the_wait_alone_can_be_ended() {
    let mut world = World::with([fail(lost())], |config| {
        config.retry.base_delay = Duration::from_secs(3600);
        config.retry.max_delay = Duration::from_secs(3600);
    });
    world.session.prompt(Prompt::text("go")).unwrap();
    world.wait_for("auto_retry_start").await;
    world.session.abort_retry();
    within(world.session.wait_for_idle()).await;
    assert_eq!(retries(&mut world), [("failed", 1)]);
    assert_eq!(world.path(), ["user: go", "assistant: "]);
    // An end that came before the wait ends nothing.
    world.session.set_auto_retry(false);
    world.model.script([fail(lost())]);
    world.say("again").await;
    assert_eq!(world.model.count(), 2);
    world.session.set_auto_retry(true);
    world.takes_a_prompt().await;
}

#[tokio::test]
async fn an_abort_during_a_retry_is_no_success() {
    let mut world = World::new([fail(lost()), stall("half")]);
    world.session.prompt(Prompt::text("go")).unwrap();
    world.wait_for("auto_retry_start").await;
    world.wait_for("message_update").await;
    world.session.abort();
    within(world.session.wait_for_idle()).await;
    assert_eq!(retries(&mut world), [("failed", 1)]);
    assert_eq!(world.path(), ["user: go", "assistant: half"]);
}

#[tokio::test]
async fn what_a_hook_appends_during_an_attempt_is_there_for_the_next() {
    for (answer, count) in [(fail(lost()), 4), (vec![Step::Text("half".into()), Step::Fail(lost())], 5)] {
        let later = Later::default();
        let at = later.clone();
        let hook = TestHook {
            context: on(move |_| {
                at.get().with_session(|manager| {
                    manager.append_custom_message_entry("note", r#""noted""#, true, None).unwrap();
                });
                async { Ok(None) }
            }),
            ..TestHook::default()
        };
        let world = World::hooked([answer, text("well")], [hook]);
        later.set(&world);
        world.say("go").await;
        assert_eq!(world.model.last(), ["user: go", "user: noted"]);
        assert_eq!(world.path(), ["user: go", "custom_message", "custom_message", "assistant: well"]);
        assert_eq!(world.count(), count);
    }
}

#[tokio::test]
async fn a_summary_is_asked_for_again() {
    let mut world = World::new([text("one"), text("two")]);
    let first = world.say("a question").await;
    world.say("another").await;
    world.told();
    world.model.script([fail(lost()), text("What was learned.")]);
    let target = world.session.with_session(|manager| manager.get_children(Some(&first))[0].id().unwrap());
    let options = NavigateOptions { summarize: true, ..NavigateOptions::default() };
    let moved = within(world.session.navigate_tree(&target, options)).await.unwrap();
    assert!(moved.summary_entry.unwrap().contains("What was learned."));
    assert_eq!(retries(&mut world), [("start", 1), ("well", 1)]);

    // An end to the waiting is an error, and nothing has moved.
    let mut world = World::with([text("one"), text("two")], |config| {
        config.retry.base_delay = Duration::from_secs(3600);
        config.retry.max_delay = Duration::from_secs(3600);
    });
    let first = world.say("a question").await;
    world.say("another").await;
    let leaf = world.leaf();
    world.model.script([fail(lost())]);
    let navigating = tokio::spawn({
        let (session, first) = (world.session.clone(), first.clone());
        let options = NavigateOptions { summarize: true, ..NavigateOptions::default() };
        async move { session.navigate_tree(&first, options).await }
    });
    world.wait_for("auto_retry_start").await;
    world.session.abort_retry();
    assert!(within(navigating).await.unwrap().is_err());
    assert_eq!(world.leaf(), leaf);
}

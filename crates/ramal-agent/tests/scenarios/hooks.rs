//! Hooks: what they may do, and what happens when they do not do it well.

use std::time::Duration;

use ramal_agent::hooks::{BeforeTree, ToolCallAnswer};
use ramal_agent::{AgentError, AgentEvent, NavigateOptions};

use crate::support::*;

fn list_then_done() -> [Vec<Step>; 2] {
    [vec![call("c1", "ls", "{}")], text("done")]
}

/// The failures of hooks that were told: the event and the error.
fn failures(world: &mut World) -> Vec<(&'static str, String)> {
    let told = world.all_told();
    let failures = told.iter().filter_map(|event| match &**event {
        AgentEvent::HookError { hook, event, error } => {
            assert_eq!(hook, "test");
            Some((*event, error.clone()))
        }
        _ => None,
    });
    failures.collect()
}

#[tokio::test]
async fn a_hook_blocks_a_call() {
    let seen = Seen::default();
    let asked = seen.clone();
    let hook = TestHook {
        tool_call: on(move |call| {
            asked.push(call);
            async { Ok(ToolCallAnswer { block: Some("not today".into()), ..ToolCallAnswer::default() }) }
        }),
        ..TestHook::default()
    };
    let world =
        World::hooked([vec![call("c1", "write", r#"{"path":"a","content":"x"}"#)], text("done")], [hook]);
    world.say("go").await;
    assert_eq!(seen.all(), [("write".to_owned(), r#"{"path":"a","content":"x"}"#.to_owned())]);
    assert!(world.path()[2].contains("not today"));
    assert!(!world.folder.path().join("a").exists());
    assert_eq!(world.path()[3], "assistant: done");
}

#[tokio::test]
async fn a_hook_changes_a_call_for_the_next_hook_and_the_tool() {
    let change = |from: &'static str, to: &'static str| TestHook {
        tool_call: on(move |(_, arguments): (String, String)| async move {
            Ok(ToolCallAnswer { arguments: Some(arguments.replace(from, to)), ..ToolCallAnswer::default() })
        }),
        ..TestHook::default()
    };
    let calls = || [vec![call("c1", "bash", r#"{"command":"echo one"}"#)], text("done")];
    let world = World::hooked(calls(), [change("one", "two"), change("two", "three")]);
    world.say("go").await;
    assert!(world.path()[2].starts_with("toolResult: three"), "{:?}", world.path());
    let world = World::hooked(calls(), [change("{", "")]);
    world.say("go").await;
    assert!(
        !world.path()[2].starts_with("toolResult: one"),
        "what is no JSON is not run: {:?}",
        world.path()
    );
    assert_eq!(world.path()[3], "assistant: done");
}

#[tokio::test]
async fn the_model_answers_what_a_hook_appended() {
    let world = World::new([text("first"), text("second")]);
    world.say("go").await;
    world.session.with_session(|manager| {
        manager.append_custom_message_entry("note", "\"look\"", true, None).unwrap();
    });
    world.session.go_on().unwrap();
    assert!(matches!(world.session.go_on(), Err(AgentError::Busy { .. })));
    within(world.session.wait_for_idle()).await;
    assert_eq!(world.model.last().last().unwrap(), "user: look");
    assert_eq!(world.path().last().unwrap(), "assistant: second");
}

/// A hook that keeps its own time, and hears before a navigation.
struct Patient;

impl ramal_agent::hooks::Hook for Patient {
    fn name(&self) -> &str {
        "patient"
    }

    fn keeps_time(&self) -> bool {
        true
    }

    fn session_before_tree<'a>(
        &'a self,
        _: &'a ramal_agent::hooks::TreePreparation,
        _: tokio_util::sync::CancellationToken,
    ) -> ramal_agent::hooks::Answering<'a, BeforeTree> {
        Box::pin(async {
            tokio::time::sleep(Duration::from_millis(150)).await;
            Ok(BeforeTree { cancel: true, ..BeforeTree::default() })
        })
    }
}

#[tokio::test]
async fn a_hook_that_keeps_its_own_time_is_waited_for() {
    let world = World::with([], |config| {
        config.hooks = vec![std::sync::Arc::new(Patient)];
        config.hook_limit = Duration::from_millis(20);
    });
    let first = world.say("go").await;
    let moved = within(world.session.navigate_tree(&first, NavigateOptions::default())).await.unwrap();
    assert!(moved.cancelled);
}

#[tokio::test]
async fn what_a_hook_starts_on_another_task_is_refused_like_its_own() {
    use ramal_agent::Within;
    let (later, seen) = (Later::default(), Seen::default());
    let (session, told) = (later.clone(), seen.clone());
    let hook = TestHook {
        tool_result: on(move |_| {
            let (session, told) = (session.get(), told.clone());
            async move {
                let within = Within::current();
                let root = session.with_session(|manager| manager.get_branch(None)[0].id().unwrap());
                let moved =
                    tokio::spawn(within.scope(async move {
                        session.navigate_tree(&root, NavigateOptions::default()).await
                    }));
                told.push(moved.await.unwrap().unwrap_err().to_string());
                Ok(None)
            }
        }),
        ..TestHook::default()
    };
    let world = World::hooked(list_then_done(), [hook]);
    later.set(&world);
    world.say("go").await;
    assert_eq!(seen.all(), ["the session is busy with a turn"]);
    assert_eq!(world.path().last().unwrap(), "assistant: done");
}

#[tokio::test]
async fn a_hook_changes_a_result_for_the_next_hook_and_the_log() {
    let change = |from: &'static str, to: &'static str| TestHook {
        tool_result: on(move |result: String| async move { Ok(Some(result.replace(from, to))) }),
        ..TestHook::default()
    };
    let mut world = World::hooked(
        [vec![call("c1", "bash", r#"{"command":"echo secret"}"#)], text("done")],
        [change("secret", "hidden"), change("hidden", "gone")],
    );
    world.say("go").await;
    assert!(world.path()[2].starts_with("toolResult: gone"), "{:?}", world.path());
    assert!(!std::fs::read_to_string(world.file()).unwrap().contains("\"text\":\"secret"));
    assert!(failures(&mut world).is_empty());
}

#[tokio::test]
async fn what_is_no_result_of_the_call_is_not_taken() {
    for answer in
        ["rubbish", "{}", r#"{"role":"toolResult","toolCallId":"other"}"#, r#"{"role":"toolResult""#]
    {
        let hook = TestHook {
            tool_result: on(move |_| async move { Ok(Some(answer.to_owned())) }),
            ..TestHook::default()
        };
        let mut world = World::hooked(list_then_done(), [hook]);
        world.say("go").await;
        assert_eq!(world.path().len(), 4);
        assert_eq!(failures(&mut world)[0].0, "tool_result", "{answer}");
    }
}

#[tokio::test]
async fn a_hook_that_fails_is_told_and_nothing_stops() {
    let hook = || TestHook {
        before_tree: on(|_| async { Err("oh no".into()) }),
        tree: on(|_| async { panic!("a fault") }),
        context: on(|_| async { Err("oh no".into()) }),
        tool_call: on(|_| async { Err("oh no".into()) }),
        tool_result: on(|_| async { panic!("a fault") }),
        ..TestHook::default()
    };
    let mut world = World::hooked(list_then_done(), [hook(), hook()]);
    let first = world.say("go").await;
    assert_eq!(world.path().len(), 4);
    within(world.session.navigate_tree(&first, NavigateOptions::default())).await.unwrap();
    assert_eq!(world.leaf(), None);
    let told: Vec<_> = failures(&mut world).into_iter().map(|(event, _)| event).collect();
    let events = ["context", "tool_call", "tool_result", "context", "session_before_tree", "session_tree"];
    assert_eq!(told, events.map(|event| [event; 2]).concat());
}

#[tokio::test]
async fn a_hook_that_never_comes_back_is_given_up() {
    let hook = TestHook {
        before_tree: on(|_| std::future::pending()),
        tool_call: on(|_| std::future::pending()),
        tool_result: on(|_| std::future::pending()),
        context: on(|_| std::future::pending()),
        ..TestHook::default()
    };
    let mut world = World::with(list_then_done(), |config| {
        config.hooks = vec![std::sync::Arc::new(hook)];
        config.hook_limit = Duration::from_millis(100);
    });
    let first = world.say("go").await;
    assert_eq!(world.path().len(), 4);
    within(world.session.navigate_tree(&first, NavigateOptions::default())).await.unwrap();
    assert_eq!(world.leaf(), None);
    let told = failures(&mut world);
    assert_eq!(told.len(), 5);
    assert!(told.iter().all(|(_, error)| error.contains("did not answer within 0.1 s")), "{told:?}");
}

#[tokio::test]
async fn an_abort_does_not_wait_for_a_hook() {
    let hook = TestHook { tool_call: on(|_| std::future::pending()), ..TestHook::default() };
    let mut world = World::with(list_then_done(), |config| {
        config.hooks = vec![std::sync::Arc::new(hook)];
        config.hook_limit = Duration::from_secs(3600);
    });
    world.session.prompt(ramal_agent::Prompt::text("go")).unwrap();
    world.wait_for("tool_execution_start").await;
    world.session.abort();
    within(world.session.wait_for_idle()).await;
    assert!(world.path()[2].contains("the user ended the turn"), "{:?}", world.path());
    assert!(failures(&mut world).is_empty());
}

#[tokio::test]
async fn a_hook_reads_and_appends_without_deadlock() {
    let later = Later::default();
    let at = later.clone();
    let (before, after) = (later.clone(), later.clone());
    let hook = TestHook {
        context: on(move |messages: Vec<String>| {
            let session = at.get();
            async move {
                let count = session.with_session(|manager| manager.entry_count());
                assert!(count > 0 && session.context_tokens().is_ok() && session.model_choice().is_ok());
                let mut messages = messages;
                messages.push(r#"{"role":"user","content":"from the hook"}"#.into());
                Ok(Some(messages))
            }
        }),
        before_tree: on(move |_| {
            let session = before.get();
            async move {
                session.with_session(|manager| manager.append_custom_entry("seen", None)).unwrap();
                Ok(BeforeTree::default())
            }
        }),
        tree: on(move |_| {
            let session = after.get();
            async move {
                let note = r#""you are back""#;
                session
                    .with_session(|manager| manager.append_custom_message_entry("note", note, true, None))
                    .unwrap();
                Ok(())
            }
        }),
        ..TestHook::default()
    };
    let mut world = World::hooked([text("one"), text("two"), text("learned")], [hook]);
    later.set(&world);
    world.say("first").await;
    assert_eq!(world.model.last(), ["user: first", "user: from the hook"]);
    world.say("second").await;
    assert!(failures(&mut world).is_empty());
    let (target, old) = (world.id_of("one"), world.leaf().unwrap());
    let options = NavigateOptions { summarize: true, ..NavigateOptions::default() };
    let moved = within(world.session.navigate_tree(&target, options)).await.unwrap();
    let entry: serde_json::Value = serde_json::from_str(&moved.summary_entry.unwrap()).unwrap();
    assert_eq!(entry["parentId"], *target);
    // What the hook appended is where one was, and one came from there.
    let from = world.entry(entry["abandonedLeafId"].as_str().unwrap());
    assert_eq!(from["customType"], "seen");
    assert_eq!(from["parentId"], *old);
    // What it appended afterwards is in the context.
    world.say("third").await;
    let sent = world.model.last();
    assert!(sent.contains(&"user: you are back".to_owned()), "{sent:?}");
}

#[tokio::test]
async fn commands_that_move_are_refused_at_once_while_a_hook_runs() {
    let seen: Seen<&str> = Seen::default();
    let later = Later::default();
    let tried = |event: &'static str| {
        let (later, seen) = (later.clone(), seen.clone());
        move || {
            let (session, seen) = (later.get(), seen.clone());
            async move {
                let first = session.with_session(|manager| {
                    let first = manager.get_entries().next();
                    first.unwrap().id().unwrap()
                });
                let navigated = session.navigate_tree(&first, NavigateOptions::default()).await;
                assert!(matches!(navigated, Err(AgentError::Busy { .. })), "{event}");
                assert!(matches!(session.branch(&first).await, Err(AgentError::Busy { .. })));
                assert!(matches!(session.new_session(None).await, Err(AgentError::Busy { .. })));
                assert!(matches!(session.clone_session().await, Err(AgentError::Busy { .. })));
                assert!(matches!(session.compact(None).await, Err(AgentError::Busy { .. })));
                assert!(session.must_be_idle().is_err());
                seen.push(event);
            }
        }
    };
    let (tree, moved, result, calling) =
        (tried("before_tree"), tried("tree"), tried("tool_result"), tried("tool_call"));
    let hook = TestHook {
        before_tree: on(move |_| {
            let trying = tree();
            async move {
                trying.await;
                Ok(BeforeTree::default())
            }
        }),
        tree: on(move |_| {
            let trying = moved();
            async move {
                trying.await;
                Ok(())
            }
        }),
        tool_call: on(move |_| {
            let trying = calling();
            async move {
                trying.await;
                Ok(ToolCallAnswer::default())
            }
        }),
        tool_result: on(move |_| {
            let trying = result();
            async move {
                trying.await;
                Ok(None)
            }
        }),
        ..TestHook::default()
    };
    let mut world = World::hooked(list_then_done(), [hook]);
    later.set(&world);
    let first = world.say("go").await;
    // The turn went on.
    assert_eq!(world.path()[3], "assistant: done");
    within(world.session.navigate_tree(&first, NavigateOptions::default())).await.unwrap();
    assert_eq!(failures(&mut world), []);
    assert_eq!(seen.all(), ["tool_call", "tool_result", "before_tree", "tree"]);
    assert_eq!(world.leaf(), None);
}

#[tokio::test]
async fn messages_that_are_none_are_not_sent() {
    let hook =
        TestHook { context: on(|_| async { Ok(Some(vec!["rubbish".to_owned()])) }), ..TestHook::default() };
    let mut world = World::hooked([text("done")], [hook]);
    world.say("go").await;
    assert_eq!(world.model.last(), ["user: go"]);
    assert_eq!(failures(&mut world)[0].0, "context");
}

//! Turns: answers, tools, aborts, crashes.

use ramal_agent::hooks::ToolCallAnswer;
use ramal_agent::tools::{Access, Call, Tool, ToolResult};
use ramal_agent::{AgentError, AgentEvent, AgentSession, Prompt};
use ramal_model::{ThinkingLevel, ToolSpec};
use ramal_session::SessionManager;

use crate::support::*;

#[tokio::test]
async fn a_turn_with_tools() {
    let mut world = World::new([
        vec![Step::Text("I write.".into()), call("c1", "write", r#"{"path":"a.txt","content":"hello\n"}"#)],
        vec![call("c2", "read", r#"{"path":"a.txt"}"#)],
        text("It says hello."),
    ]);
    world.say("write and read").await;
    assert_eq!(std::fs::read_to_string(world.folder.path().join("a.txt")).unwrap(), "hello\n");
    let path = world.path();
    assert_eq!(path.len(), 6, "{path:?}");
    assert_eq!(path[1], "assistant: I write.<write>");
    assert!(path[4].starts_with("toolResult: hello"), "{path:?}");
    assert_eq!(path[5], "assistant: It says hello.");
    assert_eq!(world.model.count(), 3);
    // What was sent last is what the log says, without the last answer.
    assert_eq!(world.model.requests()[2].messages, world.context()[..5]);
    assert_eq!(
        world.told(),
        [
            "agent_start",
            "message_start",
            "message_end",
            "turn_start",
            "message_start",
            "message_end",
            "tool_execution_start",
            "tool_execution_end",
            "message_start",
            "message_end",
            "turn_end",
            "turn_start",
            "message_start",
            "message_end",
            "tool_execution_start",
            "tool_execution_end",
            "message_start",
            "message_end",
            "turn_end",
            "turn_start",
            "message_start",
            "message_end",
            "turn_end",
            "agent_end",
        ]
    );
}

#[tokio::test]
async fn a_call_whose_arguments_are_no_object_is_told_what_is_wrong_and_nobody_is_asked() {
    let seen = Seen::default();
    let asked = seen.clone();
    let hook = TestHook {
        tool_call: on(move |call| {
            asked.push(call);
            async { Ok(ToolCallAnswer::default()) }
        }),
        ..TestHook::default()
    };
    let mut world = World::hooked(
        [
            vec![
                call("c1", "write", r#"{"path":"a.txt","content":"hello"}"#),
                call("c2", "ls", r#""{\"path\": \"f""#),
            ],
            text("I see."),
        ],
        [hook],
    );
    world.say("write and list").await;
    assert!(world.folder.path().join("a.txt").exists());
    assert_eq!(seen.all().len(), 1);
    let path = world.path();
    assert!(path[3].starts_with("toolResult: The arguments were no JSON object: EOF"), "{path:?}");
    assert!(path[3].ends_with(r#"{"path": "f"#), "{path:?}");
    assert_eq!(path[4], "assistant: I see.");
    let told = world.all_told();
    let json = |event: &AgentEvent| serde_json::from_str::<serde_json::Value>(&event.to_json()).unwrap();
    let begun: Vec<_> = told
        .iter()
        .filter(|event| matches!(&***event, AgentEvent::ToolExecutionStart { .. }))
        .map(|event| json(event)["args"].clone())
        .collect();
    assert_eq!(begun[1], r#"{"path": "f"#);
    let failed = told.iter().rfind(|event| matches!(&***event, AgentEvent::ToolExecutionEnd { .. }));
    assert_eq!(json(failed.unwrap())["isError"], true);
}

#[tokio::test]
async fn events_carry_what_the_wire_names() {
    let mut world =
        World::new([vec![Step::Text("x".into()), call("c1", "ls", r#"{"path":"."}"#)], text("done")]);
    let id = world.say("list").await;
    let told = world.all_told();
    for event in &told {
        let json: serde_json::Value = serde_json::from_str(&event.to_json()).unwrap();
        assert_eq!(json["type"], event.name());
        match &**event {
            AgentEvent::MessageUpdate { .. } => {
                assert_eq!(json["message"]["role"], "assistant");
                let name = json["assistantMessageEvent"]["type"].as_str().unwrap();
                assert!(name.starts_with("text_") || name.starts_with("toolcall_"), "{name}");
            }
            AgentEvent::MessageStop { .. } => {
                assert_eq!(json["assistantMessageEvent"]["type"], "done");
                assert_eq!(json["assistantMessageEvent"]["message"], json["message"]);
            }
            AgentEvent::MessageEnd { .. } => {
                let entry = world.entry(json["entryId"].as_str().unwrap());
                assert_eq!(entry["message"], json["message"]);
            }
            AgentEvent::ToolExecutionStart { .. } => {
                assert_eq!(json["toolCallId"], "c1");
                assert_eq!(json["toolName"], "ls");
                assert_eq!(json["args"]["path"], ".");
            }
            AgentEvent::ToolExecutionEnd { .. } => {
                assert_eq!(json["isError"], false);
                assert!(json["result"]["content"].is_array());
            }
            AgentEvent::AgentEnd { messages, .. } => assert_eq!(messages.len(), 4),
            _ => {}
        }
    }
    assert!(
        told.iter()
            .any(|event| matches!(&**event, AgentEvent::MessageEnd { entry_id, .. } if *entry_id == id))
    );
    // Each message begins once, however it came.
    let begins = |event: &&std::sync::Arc<AgentEvent>| event.name() == "message_start";
    assert_eq!(told.iter().filter(begins).count(), 4);
}

#[tokio::test]
async fn two_calls_at_once_and_one_that_there_is_not() {
    let world = World::new([
        vec![
            call("c1", "write", r#"{"path":"a","content":"1"}"#),
            call("c2", "fly", "{}"),
            call("c3", "read", r#"{"path":"a"}"#),
        ],
        text("done"),
    ]);
    world.say("go").await;
    let path = world.path();
    assert_eq!(path[1], "assistant: <write><fly><read>");
    assert!(path[3].contains("no tool called fly"), "{path:?}");
    assert!(path[4].starts_with("toolResult: 1"), "{path:?}");
    assert_eq!(path[5], "assistant: done");
}

#[tokio::test]
async fn a_call_that_is_not_allowed_is_not_run() {
    let world = World::new([vec![call("c1", "bash", r#"{"command":"rm -r ."}"#)], text("sorry")]);
    world.say("go").await;
    assert!(world.path()[2].contains("not allowed"));
    assert!(world.file().exists());
    assert_eq!(world.path()[3], "assistant: sorry");
}

#[tokio::test]
async fn no_model_is_told_before_anything_is_stored() {
    let world = World::with([], |config| config.default_model = None);
    assert!(matches!(world.session.prompt(Prompt::text("hi")), Err(AgentError::NoModel)));
    assert_eq!(world.count(), 0);
    world.session.must_be_idle().unwrap();
    assert!(matches!(world.session.set_model("demo"), Err(AgentError::UnusableModel { .. })));
    world.session.set_model("demo/beta").unwrap();
    world.takes_a_prompt().await;
    assert_eq!(world.model.models(), ["beta"]);
}

#[tokio::test]
async fn a_second_prompt_is_refused_while_one_is_worked_on() {
    let mut world = World::new([stall("wait")]);
    world.session.prompt(Prompt::text("one")).unwrap();
    world.wait_for("message_update").await;
    assert!(matches!(world.session.prompt(Prompt::text("two")), Err(AgentError::Busy { .. })));
    assert!(world.session.must_be_idle().is_err());
    world.session.abort();
    within(world.session.wait_for_idle()).await;
    world.takes_a_prompt().await;
}

#[tokio::test]
async fn an_abort_keeps_what_came_and_the_next_prompt_follows_it() {
    let mut world = World::new([stall("half of"), text("yes")]);
    world.session.prompt(Prompt::text("one")).unwrap();
    world.wait_for("message_update").await;
    world.session.abort();
    within(world.session.wait_for_idle()).await;
    let aborted = world.id_of("half of");
    assert_eq!(world.entry(&aborted)["message"]["stopReason"], "aborted");
    world.say("two").await;
    assert_eq!(world.path(), ["user: one", "assistant: half of", "user: two", "assistant: yes"]);
    assert_eq!(world.model.last(), ["user: one", "assistant: half of", "user: two"]);
}

#[tokio::test]
async fn an_abort_during_a_tool_stores_its_result_and_those_of_the_others() {
    let mut world = World::new([
        vec![
            call("c1", "bash", r#"{"command":"echo begun; sleep 60"}"#),
            call("c2", "write", r#"{"path":"late","content":"x"}"#),
        ],
        text("never asked"),
    ]);
    world.session.prompt(Prompt::text("go")).unwrap();
    world.wait_for("tool_execution_update").await;
    world.session.abort();
    within(world.session.wait_for_idle()).await;
    let path = world.path();
    assert_eq!(path.len(), 4, "{path:?}");
    assert!(path[2].contains("begun"), "{path:?}");
    assert!(path[3].contains("the user ended the turn"), "{path:?}");
    assert!(!world.folder.path().join("late").exists());
    assert_eq!(world.model.count(), 1);
    world.takes_a_prompt().await;
}

#[tokio::test]
async fn a_tool_that_breaks_off_does_not_take_the_turn_with_it() {
    struct Faulty;
    impl Tool for Faulty {
        fn spec(&self) -> ToolSpec {
            ToolSpec { name: "faulty".into(), description: String::new(), parameters: "{}".into() }
        }
        fn access(&self, _: &str, _: &std::path::Path) -> Vec<Access> {
            Vec::new()
        }
        fn run<'a>(&'a self, _: Call<'a>) -> std::pin::Pin<Box<dyn Future<Output = ToolResult> + Send + 'a>> {
            Box::pin(async { panic!("a fault") })
        }
    }
    let mut world = World::with([vec![call("c1", "faulty", "{}")], text("well")], |config| {
        config.tools = vec![std::sync::Arc::new(Faulty)];
    });
    world.say("go").await;
    assert!(world.path()[2].contains("fault of its own"));
    assert_eq!(world.path()[3], "assistant: well");
    assert_eq!(world.told().last(), Some(&"agent_end"));
}

#[test]
fn after_a_crash_in_the_middle_the_log_is_whole() {
    let (file, folder) = {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let (file, folder) = runtime.block_on(async {
            let mut world = World::new([vec![
                call("c1", "write", r#"{"path":"a","content":"1"}"#),
                call("c2", "bash", r#"{"command":"echo begun; sleep 60"}"#),
            ]]);
            world.session.prompt(Prompt::text("go")).unwrap();
            world.wait_for("tool_execution_update").await;
            (world.file(), world.folder)
        });
        runtime.shutdown_background();
        (file, folder)
    };
    let manager = SessionManager::open(&file, None).unwrap();
    assert_eq!(manager.damaged_lines(), 0);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let world = World::of(folder, manager, [text("I go on")], |_| {});
        assert_eq!(world.path().len(), 3, "{:?}", world.path());
        world.say("go on").await;
        let sent = world.model.last();
        // Both calls have a result: the one that was stored, and one that says that it did not run.
        assert_eq!(sent.len(), 5, "{sent:?}");
        assert!(sent[3].starts_with("toolResult: "), "{sent:?}");
        assert_eq!(sent[4], "user: go on");
        assert_eq!(world.path()[4], "assistant: I go on");
    });
}

#[tokio::test]
async fn a_turn_appends_to_its_own_tip_whatever_else_happens() {
    let later = Later::default();
    let at = later.clone();
    // Somebody moves the leaf away while a tool is about to run.
    let mover = TestHook {
        tool_call: on(move |_| {
            at.get().with_session(|manager| manager.reset_leaf());
            async { Ok(ToolCallAnswer::default()) }
        }),
        ..TestHook::default()
    };
    let world = World::hooked([vec![call("c1", "ls", "{}")], text("done")], [mover]);
    later.set(&world);
    world.say("go").await;
    let path = world.path();
    assert_eq!(path.len(), 4, "{path:?}");
    assert_eq!((&*path[0], &*path[3]), ("user: go", "assistant: done"));
}

#[tokio::test]
async fn what_is_appended_during_a_turn_stays_on_its_path() {
    let later = Later::default();
    let at = later.clone();
    let noting = TestHook {
        tool_call: on(move |_| {
            at.get().with_session(|manager| {
                manager.append_custom_message_entry("note", r#""mind the gap""#, true, None).unwrap();
                manager.append_custom_entry("state", None).unwrap();
            });
            async { Ok(ToolCallAnswer::default()) }
        }),
        ..TestHook::default()
    };
    let world = World::hooked([vec![call("c1", "ls", "{}")], text("done")], [noting]);
    later.set(&world);
    let first = world.say("go").await;
    world.session.set_label(&first, Some("start")).unwrap();
    let path = world.path();
    assert_eq!(path.len(), 7, "{path:?}");
    assert_eq!(path[2..4], ["custom_message", "custom"]);
    assert!(path[4].starts_with("toolResult: "));
    let sent = world.model.last();
    assert!(sent.iter().any(|message| message.contains("mind the gap")), "{sent:?}");
    assert_eq!(sent.len(), 4, "{sent:?}");
}

#[tokio::test]
async fn a_hundred_thousand_events_reach_a_subscriber() {
    struct Chatty;
    impl Tool for Chatty {
        fn spec(&self) -> ToolSpec {
            ToolSpec { name: "chatty".into(), description: String::new(), parameters: "{}".into() }
        }
        fn access(&self, _: &str, _: &std::path::Path) -> Vec<Access> {
            Vec::new()
        }
        fn run<'a>(
            &'a self,
            call: Call<'a>,
        ) -> std::pin::Pin<Box<dyn Future<Output = ToolResult> + Send + 'a>> {
            Box::pin(async move {
                for number in 0..100_000 {
                    (call.update)(number.to_string());
                }
                ToolResult::text("enough")
            })
        }
    }
    let mut world = World::with([vec![call("c1", "chatty", "{}")], text("done")], |config| {
        config.tools = vec![std::sync::Arc::new(Chatty)];
    });
    // Somebody who went away is no hindrance.
    drop(world.session.subscribe());
    world.say("go").await;
    let told = world.all_told();
    let updates = told.iter().filter_map(|event| match &**event {
        AgentEvent::ToolExecutionUpdate { partial_result, .. } => Some(partial_result),
        _ => None,
    });
    for (number, partial) in updates.enumerate() {
        assert!(partial.contains(&format!("\"{number}\"")), "{partial}");
    }
    assert!(told.len() > 100_000);
    assert_eq!(told.last().unwrap().name(), "agent_end");
}

#[tokio::test]
async fn one_prompt_after_the_other_tells_its_events_in_order() {
    let mut world = World::new([]);
    for _ in 0..20 {
        world.say("again").await;
    }
    let told = world.told();
    let ends: Vec<_> = told.into_iter().filter(|name| name.starts_with("agent_")).collect();
    assert_eq!(ends, ["agent_start", "agent_end"].repeat(20));
}

#[tokio::test]
async fn an_answer_to_the_end_of_a_turn_is_accepted() {
    let mut world = World::new([]);
    world.session.prompt(Prompt::text("one")).unwrap();
    for _ in 0..10 {
        world.wait_for("agent_end").await;
        world.session.prompt(Prompt::text("next")).unwrap();
    }
    within(world.session.wait_for_idle()).await;
    assert_eq!(world.count(), 22);
}

#[tokio::test]
async fn a_recording_is_played() {
    let world = World::with([], |config| {
        #[allow(clippy::disallowed_methods, reason = "a file of the test's own")]
        std::fs::write(
            config.cwd.join("recording"),
            concat!(
                r#"{"replay":1}"#,
                "\n",
                r#"{"events":[{"text":"I look."},{"toolCall":{"id":"c1","name":"ls","arguments":{}}}],"stop":"toolUse"}"#,
                "\n",
                r#"{"events":[{"text":"That is "},{"text":"all."}]}"#,
                "\n"
            ),
        )
        .unwrap();
        let replay = ramal_model::Replay::new().with_speed(f64::INFINITY);
        config.model = std::sync::Arc::new(replay.relative_to(&config.cwd));
        config.default_model = Some("demo/recording".into());
    });
    world.say("go").await;
    let path = world.path();
    assert_eq!(path[1], "assistant: I look.<ls>");
    assert!(path[2].contains("recording"), "{path:?}");
    assert_eq!(path[3], "assistant: That is all.");
    // It has no further answer: an error, and the session goes on.
    world.say("more").await;
    assert_eq!(world.entry(&world.leaf().unwrap())["message"]["stopReason"], "error");
    world.session.must_be_idle().unwrap();
}

#[tokio::test]
async fn model_and_thinking_are_those_of_the_path() {
    let world = World::new([]);
    world.say("one").await;
    let first = world.leaf().unwrap();
    world.session.set_model("demo/beta").unwrap();
    world.session.set_thinking_level(ThinkingLevel::High).unwrap();
    world.say("two").await;
    let second = world.leaf().unwrap();
    let choice = |session: &AgentSession| {
        let choice = session.model_choice().unwrap();
        (choice.model.unwrap(), choice.thinking)
    };
    assert_eq!(choice(&world.session), ("demo/beta".into(), ThinkingLevel::High));
    for (leaf, model, thinking) in
        [(&first, "alpha", ThinkingLevel::Off), (&second, "beta", ThinkingLevel::High)]
    {
        within(world.session.navigate_tree(leaf, ramal_agent::NavigateOptions::default())).await.unwrap();
        assert_eq!(choice(&world.session), (format!("demo/{model}"), thinking));
        // Exactly as after opening.
        let mut manager = SessionManager::open(&world.file(), None).unwrap();
        manager.branch(leaf).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let opened = World::of(folder, manager, [], |_| {});
        assert_eq!(choice(&opened.session), (format!("demo/{model}"), thinking));
        world.say("more").await;
        assert_eq!(world.model.models().last().unwrap(), model);
        assert_eq!(world.model.requests().last().unwrap().thinking, thinking);
    }
}

//! What those who take part can change of a session: its system prompt, its requests, its tools; and what they
//! hear of its choices.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use ramal_agent::hooks::{BeforeAgentStart, CustomMessage, Hook, ModelSource};
use ramal_agent::tools::{Access, Call, Tool, ToolResult};
use ramal_agent::{AgentConfig, AgentEvent, NavigateOptions, Prompt};
use ramal_model::{Api, Endpoint, Replay, ThinkingLevel, ToolSpec};
use ramal_session::Kind;

use crate::support::*;

fn note(text: &str) -> CustomMessage {
    CustomMessage { custom_type: "note".into(), content: format!("{text:?}"), display: true, details: None }
}

#[tokio::test]
async fn what_is_said_before_the_model_is_asked() {
    let seen = Seen::default();
    let hook = |add: &'static str| {
        let asked = seen.clone();
        TestHook {
            before_start: on(move |start: ramal_agent::hooks::AgentStart| {
                asked.push((start.prompt.clone(), start.system_prompt.clone()));
                async move {
                    Ok(BeforeAgentStart {
                        messages: vec![note(add)],
                        system_prompt: (start.prompt == "go").then(|| start.system_prompt + add),
                    })
                }
            }),
            ..TestHook::default()
        }
    };
    let calls = [vec![call("c1", "ls", "{}")], text("done"), text("done")];
    let mut world = World::hooked(calls, [hook(" One."), hook(" Two.")]);
    world.say("go").await;
    let told = world.told();
    assert_eq!(
        told[..5],
        ["agent_start", "message_start", "message_end", "entry_appended", "entry_appended"]
    );
    world.say("again").await;
    assert_eq!(
        seen.all(),
        [
            ("go".to_owned(), "You are a test.".to_owned()),
            ("go".to_owned(), "You are a test. One.".to_owned()),
            ("again".to_owned(), "You are a test.".to_owned()),
            ("again".to_owned(), "You are a test.".to_owned()),
        ]
    );
    let requests = world.model.requests();
    let systems: Vec<&str> = requests.iter().map(|request| &*request.system).collect();
    assert_eq!(systems, ["You are a test. One. Two.", "You are a test. One. Two.", "You are a test."]);
    assert_eq!(requests[0].messages.len(), 3, "the model sees the messages");
    assert_eq!(world.session.system_prompt(), "You are a test.");
    let path = world.path();
    assert_eq!(path[..3], ["user: go", "custom_message", "custom_message"]);
    assert_eq!(world.count_of(Kind::CustomMessage), 4);
}

#[tokio::test]
async fn what_waits_before_the_model_is_asked_ends_with_an_abort() {
    let hook = TestHook {
        before_start: on(|_| async { std::future::pending::<Result<BeforeAgentStart, String>>().await }),
        ..TestHook::default()
    };
    let world = World::hooked([text("done"), text("done")], [hook]);
    world.session.prompt(Prompt::text("go")).unwrap();
    assert!(world.session.running().is_some());
    world.session.abort();
    within(world.session.wait_for_idle()).await;
    assert_eq!(world.path()[0], "user: go");
}

#[tokio::test]
async fn a_hook_sees_the_request_and_sends_another() {
    let seen = Seen::default();
    let (asked, answered) = (seen.clone(), seen.clone());
    let hook = TestHook {
        request: on(move |body: String| {
            asked.push(body.clone());
            async move { Ok(Some(body.replace("You are a test.", "You are a poet."))) }
        }),
        response: on(move |status| {
            answered.push(format!("{status}"));
            async { Ok(()) }
        }),
        ..TestHook::default()
    };
    let wrong = TestHook { request: on(|_| async { Ok(Some("7".to_owned())) }), ..TestHook::default() };
    let recording = tempfile::tempdir().unwrap();
    #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
    std::fs::write(
        recording.path().join("r"),
        "{\"replay\":1}\n{\"whenSystem\":\"poet\",\"events\":[{\"text\":\"roses\"}]}\n{\"events\":[{\"text\":\"plain\"}]}\n",
    )
    .unwrap();
    let replay = Replay::new().with_speed(f64::INFINITY).relative_to(recording.path());
    let mut world = World::with([], |config| {
        config.model = Arc::new(replay);
        config.hooks = vec![Arc::new(hook), Arc::new(wrong)];
        config.find_model = Arc::new(|name| {
            find_model(name).map(|endpoint| Endpoint { api: Api::Replay, model: "r".into(), ..endpoint })
        });
    });
    world.say("go").await;
    assert_eq!(world.path(), ["user: go", "assistant: roses"]);
    let seen = seen.all();
    assert!(seen[0].contains("You are a test.") && seen[0].contains("\"name\":\"bash\""), "{seen:?}");
    assert_eq!(seen[1], "200");
    let failed = world
        .all_told()
        .into_iter()
        .any(|event| matches!(&*event, AgentEvent::HookError { event: "before_provider_request", .. }));
    assert!(failed, "what is no object is not sent, and told");
}

#[tokio::test]
async fn another_model_and_another_level_are_told() {
    let seen = Seen::default();
    let (models, levels) = (seen.clone(), seen.clone());
    let hook = TestHook {
        model: on(move |change: ramal_agent::hooks::ModelChange| {
            let previous = change.previous.unwrap_or_default();
            models.push(format!("{previous} {} {}", change.model, change.source.name()));
            async { Ok(()) }
        }),
        thinking: on(move |(level, previous): (ThinkingLevel, ThinkingLevel)| {
            levels.push(format!("{} {}", previous.name(), level.name()));
            async { Ok(()) }
        }),
        ..TestHook::default()
    };
    let world = World::hooked([text("one")], [hook]);
    let first = world.say("first").await;
    world.session.set_model("demo/beta").unwrap();
    world.session.set_model("demo/beta").unwrap();
    world.session.set_model_as("demo/small", ModelSource::Cycle).unwrap();
    world.session.set_thinking_level(ThinkingLevel::High).unwrap();
    within(world.session.navigate_tree(&first, NavigateOptions::default())).await.unwrap();
    world.session.set_default_model(Some("demo/gamma".into()));
    let told = || async {
        while seen.all().len() < 6 {
            tokio::task::yield_now().await;
        }
    };
    within(told()).await;
    assert_eq!(
        seen.all(),
        [
            "demo/alpha demo/beta set",
            "demo/beta demo/small cycle",
            "off high",
            "demo/small demo/alpha restore",
            "high off",
            "demo/alpha demo/gamma set",
        ]
    );
}

/// A tool that says something.
struct Says(&'static str, &'static str);

impl Tool for Says {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.0.into(),
            description: self.1.into(),
            parameters: r#"{"type":"object","properties":{}}"#.into(),
        }
    }

    fn access(&self, _: &str, _: &Path) -> Vec<Access> {
        vec![Access::Unknown]
    }

    fn run<'a>(&'a self, call: Call<'a>) -> Pin<Box<dyn Future<Output = ToolResult> + Send + 'a>> {
        Box::pin(async move { ToolResult::text(format!("{} for {}", self.1, call.id)) })
    }
}

#[tokio::test]
async fn tools_that_are_offered() {
    let calls = [
        vec![call("c1", "bash", r#"{"command":"echo x"}"#), call("c2", "mine", "{}")],
        vec![call("c3", "ls", "{}")],
        text("done"),
    ];
    let world = World::new(calls);
    world.session.set_active_tools(Some(vec!["ls".into(), "none".into(), "read".into()]));
    assert_eq!(world.session.active_tools(), ["read", "ls"]);
    world.session.add_tool(Arc::new(Says("mine", "own")));
    world.session.add_tool(Arc::new(Says("ls", "another")));
    assert_eq!(world.session.active_tools(), ["read", "ls", "mine"]);
    assert_eq!(world.session.tools().len(), 8);
    world.say("go").await;
    let offered = world.model.requests()[0].tools.clone();
    assert_eq!(offered.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["read", "ls", "mine"]);
    let path = world.path();
    assert!(path[2].contains("There is no tool called bash."), "{path:?}");
    assert_eq!((&*path[3], &*path[5]), ("toolResult: own for c2", "toolResult: another for c3"));
    world.session.set_active_tools(None);
    assert_eq!(world.session.active_tools().len(), 8);
}

#[tokio::test]
async fn who_takes_part_can_be_another_from_one_prompt_to_the_next() {
    let seen = Seen::default();
    let hook = |name: &'static str| {
        let seen = seen.clone();
        Arc::new(TestHook {
            context: on(move |_| {
                seen.push(name);
                async { Ok(None) }
            }),
            ..TestHook::default()
        }) as Arc<dyn Hook>
    };
    let world = World::with([text("one"), text("two")], |config| config.hooks = vec![hook("old")]);
    world.say("go").await;
    world.session.configure(|config| AgentConfig { hooks: vec![hook("new")], ..config.clone() });
    world.say("go").await;
    assert_eq!(seen.all(), ["old", "new"]);
}

#[tokio::test]
async fn what_is_appended_beside_a_turn_is_told() {
    let mut world = World::new([]);
    let id = world.session.append_custom_message(&note("look")).unwrap();
    let event = world.wait_for("entry_appended").await;
    let AgentEvent::EntryAppended { entry_id, entry } = &*event else { panic!() };
    assert_eq!((&**entry_id, world.leaf().as_deref()), (&*id, Some(&*id)));
    let told: serde_json::Value = serde_json::from_str(&event.to_json()).unwrap();
    assert_eq!((&told["type"], &told["entry"]), (&"entry_appended".into(), &world.entry(&id)));
    assert!(entry.contains("look"));
    let wrong = CustomMessage { content: "{".into(), ..note("look") };
    assert!(world.session.append_custom_message(&wrong).is_err());
    world.session.set_session_name("Roses").unwrap();
    let event = world.wait_for("session_info_changed").await;
    assert_eq!(*event, AgentEvent::SessionInfoChanged { name: "Roses".into() });
}

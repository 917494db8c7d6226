//! What happens around a turn: the prompt, the request, models, the end.

use ramal_agent::hooks::ModelSource;
use ramal_agent::{AgentEvent, NavigateOptions, Prompt};
use ramal_model::ThinkingLevel;
use serde_json::{Value, json};

use crate::support::*;

#[tokio::test(flavor = "multi_thread")]
async fn handlers_have_a_say_before_the_model_is_asked() {
    let one = r#"
        export default (pi) => {
            pi.on("before_agent_start", async (event, ctx) => {
                pi.appendEntry("asked", [event.prompt, event.images.length, event.systemPrompt, event.messageType, ctx.getSystemPrompt()]);
                return { message: { customType: "note", content: "first", display: true }, systemPrompt: event.systemPrompt + " One." };
            });
            pi.on("before_agent_start", async (event) => {
                pi.appendEntry("second", event.systemPrompt);
                return { message: { customType: "note", content: [{ type: "text", text: "second" }], display: false, details: { z: 1, a: 2 } } };
            });
        };
    "#;
    let two = r#"
        export default (pi) => {
            pi.on("before_agent_start", (event, ctx) => {
                pi.appendEntry("second", event.systemPrompt);
                const { systemPromptOptions: options } = event;
                if (options.selectedTools.includes("bash") && options.cwd === ctx.cwd) options.sections.rules = "Be kind.";
                options.promptGuidelines.push("Be short.");
            });
        };
    "#;
    let mut world = world(&[one, two], [text("done")]).await;
    assert_eq!(world.problems, []);
    world.say("go").await;
    assert_eq!(world.failures(), []);
    let system = "You are a test.";
    assert_eq!(world.kept("asked"), [json!(["go", 0, system, "user", system])]);
    assert_eq!(world.kept("second"), [json!("You are a test. One."), json!("You are a test. One.")]);
    let request = world.model.requests.lock().unwrap()[0].clone();
    assert_eq!(request.system, "You are a test. One.\n\n- Be short.\n\n<rules>\nBe kind.\n</rules>");
    let told = request.messages.concat();
    assert!(told.contains("first") && told.contains("second"), "{told}");
    let entries = world.entries();
    let notes: Vec<&Value> = entries.iter().filter(|entry| entry["type"] == "custom_message").collect();
    assert_eq!((&notes[0]["content"], &notes[0]["display"]), (&json!("first"), &json!(true)));
    assert_eq!((&notes[1]["display"], &notes[1]["details"]["z"]), (&json!(false), &json!(1)));
    assert_eq!(world.session.system_prompt(), system, "it counts for this prompt");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_seen_and_changed() {
    let one = r#"
        export default (pi) => {
            pi.on("before_provider_request", (event) => ({ ...event.payload, temperature: 0 }));
            pi.on("before_provider_request", (event) => void pi.appendEntry("payload", event.payload));
            pi.on("after_provider_response", (event) => void pi.appendEntry("response", [event.status, event.headers["retry-after"]]));
        };
    "#;
    let two = "export default (pi) => {\n  pi.on('before_provider_request', (event) => ({ ...event.payload, seed: event.payload.temperature }));\n};\n";
    let mut world = world(&[one, two], [text("done")]).await;
    world.say("go").await;
    assert_eq!(world.failures(), []);
    assert_eq!(world.kept("payload"), [json!({ "system": "You are a test.", "temperature": 0 })]);
    assert_eq!(world.kept("response"), [json!([429, "1"])]);
    let entries = world.entries();
    let answer = entries.iter().find(|entry| entry["message"]["role"] == "assistant").unwrap();
    let sent: Value =
        serde_json::from_str(answer["message"]["content"][0]["thinking"].as_str().unwrap()).unwrap();
    assert_eq!(sent, json!({ "system": "You are a test.", "temperature": 0, "seed": 0 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn other_models_and_levels_are_told() {
    let source = r#"
        export default (pi) => {
            const keep = (event) => pi.appendEntry("told", event);
            pi.on("model_select", ({ model, previousModel, source }) => keep([previousModel.id, model.id, model.contextWindow, source]));
            pi.on("thinking_level_select", ({ level, previousLevel }) => keep([previousLevel, level]));
            pi.registerCommand("beta", { handler: async () => { await pi.setModel("demo/beta"); pi.setThinkingLevel("high"); } });
        };
    "#;
    let mut world = world(&[source], [text("one")]).await;
    let first = world.say("first").await;
    world.command("beta", "").await.unwrap();
    world.until(|| world.kept("told").len() == 2).await;
    let beta = world.leaf();
    world.session.set_model_as("demo/gamma", ModelSource::Cycle).unwrap();
    world.until(|| world.kept("told").len() == 3).await;
    let told = world.kept("told");
    let wanted = [
        json!(["alpha", "beta", 200_000, "set"]),
        json!(["off", "high"]),
        json!(["beta", "gamma", 200_000, "cycle"]),
    ];
    assert_eq!(told, wanted);
    assert!(beta.is_some());
    within(world.session.navigate_tree(&first, NavigateOptions::default())).await.unwrap();
    world.until(|| world.kept("told").len() == 5).await;
    assert_eq!(
        world.kept("told")[3..],
        [json!(["gamma", "alpha", 200_000, "restore"]), json!(["high", "off"])]
    );
    world.session.set_thinking_level(ThinkingLevel::Low).unwrap();
    world.until(|| world.kept("told").len() == 6).await;
    assert_eq!(world.failures(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_and_what_has_changed_are_told() {
    let source = r#"
        export default (pi) => {
            const heard = [];
            for (const name of ["agent_end", "agent_settled", "session_info_changed", "session_compact_failed", "entry_appended"]) {
                pi.on(name, (event) => {
                    if (event.entry?.customType === "heard") return;
                    heard.push([event.type, event.aborted ?? event.name ?? event.entry?.label ?? null]);
                });
            }
            pi.on("session_before_compact", () => ({ cancel: true }));
            pi.registerCommand("heard", { handler: async () => void pi.appendEntry("heard", heard) });
            pi.registerCommand("mark", { handler: async (_, ctx) => void pi.setLabel(ctx.sessionManager.getLeafId(), "here") });
        };
    "#;
    let mut world = world(&[source], [Say::Call("bash", r#"{"command":"sleep 60"}"#.into())]).await;
    let heard = async |count: usize| {
        within(async {
            loop {
                world.command("heard", "").await.unwrap();
                let last = world.kept("heard").pop().unwrap();
                if last.as_array().unwrap().len() >= count {
                    return last;
                }
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        })
        .await
    };
    let mut events = world.session.subscribe();
    world.session.prompt(Prompt::text("go")).unwrap();
    within(async { while events.recv().await.unwrap().name() != "tool_execution_start" {} }).await;
    world.session.abort();
    within(world.session.wait_for_idle()).await;
    heard(2).await;
    world.say("again").await;
    heard(4).await;
    world.session.set_session_name("Roses").unwrap();
    heard(5).await;
    assert_eq!(within(world.session.compact(None)).await.unwrap(), None);
    heard(6).await;
    world.command("mark", "").await.unwrap();
    let all = heard(7).await;
    assert_eq!(
        all,
        json!([
            ["agent_end", null],
            ["agent_settled", true],
            ["agent_end", null],
            ["agent_settled", false],
            ["session_info_changed", "Roses"],
            ["session_compact_failed", true],
            ["entry_appended", "here"],
        ])
    );
    assert_eq!(world.failures(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_appended_is_told_to_whoever_shows_it() {
    let source = r#"
        export default (pi) => {
            pi.registerCommand("append", { handler: async (_, ctx) => {
                pi.sendMessage({ customType: "note", content: "look", display: true });
                pi.appendEntry("record", { a: 1 });
                pi.setLabel(ctx.sessionManager.getLeafId(), "here");
                pi.setSessionName("Roses");
            } });
        };
    "#;
    let world = world(&[source], []).await;
    let mut events = world.session.subscribe();
    world.command("append", "").await.unwrap();
    let told: Vec<(&str, String)> = std::iter::from_fn(|| events.try_recv().ok())
        .map(|event| match &*event {
            AgentEvent::EntryAppended { entry, entry_id } => {
                let entry: Value = serde_json::from_str(entry).unwrap();
                assert_eq!(entry["id"], **entry_id);
                ("entry", entry["type"].as_str().unwrap().to_owned())
            }
            AgentEvent::SessionInfoChanged { name } => ("name", name.clone()),
            other => (other.name(), String::new()),
        })
        .collect();
    let wanted = [("entry", "custom_message"), ("entry", "custom"), ("entry", "label"), ("name", "Roses")];
    assert_eq!(told, wanted.map(|(name, kind)| (name, kind.to_owned())));
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_are_collected() {
    let one = r#"
        export default (pi) => {
            pi.on("resources_discover", (event) => ({ skillPaths: [`skills-${event.reason}`], promptPaths: ["/abs/prompts"], themePaths: ["themes/dark.json", 7] }));
        };
    "#;
    let two = "export default (pi) => {\n  pi.on('resources_discover', (event) => ({ promptPaths: [event.cwd + '/more'] }));\n};\n";
    let world = world(&[one, two], []).await;
    let found = within(world.extensions.resources("reload")).await;
    let folder = world.folder.path();
    assert_eq!(found.skills, [folder.join("skills-reload")]);
    assert_eq!(found.prompts, ["/abs/prompts".into(), folder.join("more")]);
    assert_eq!(found.themes, [folder.join("themes/dark.json")]);
}

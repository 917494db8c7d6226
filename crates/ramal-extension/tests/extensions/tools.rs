//! Tools that extensions bring.

use std::time::Duration;

use ramal_agent::{AgentEvent, Prompt};
use serde_json::{Value, json};

use crate::support::*;

const TOOL: &str = r#"
    import { Type } from "@sinclair/typebox";
    import { StringEnum } from "@mariozechner/pi-ai";

    export default (pi) => {
        pi.registerTool({
            name: "count",
            label: "Count",
            description: "Counts letters",
            parameters: Type.Object({
                text: Type.String({ description: "what to count" }),
                how: Type.Optional(StringEnum(["all", "some"])),
            }),
            async execute(id, { text, how }, signal, onUpdate, ctx) {
                if (how === "some") throw new Error("some is not possible");
                onUpdate({ content: [{ type: "text", text: "counting" }] });
                if (text === "wait") await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
                return { content: [{ type: "text", text: `${text.length} in ${ctx.cwd}` }], details: { z: 1, a: 2 } };
            },
        });
    };
"#;

fn result(world: &World) -> Value {
    let mut entries = world.entries().into_iter().rev();
    entries.find(|entry| entry["message"]["role"] == "toolResult").unwrap()["message"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_is_offered_run_and_shown() {
    let world = world(&[TOOL], [Say::Call("count", r#"{"text":"abc"}"#.into())]).await;
    assert_eq!(world.problems, []);
    let mut events = world.session.subscribe();
    world.say("go").await;
    let offered = world.model.requests.lock().unwrap()[0].tools.clone();
    let spec = offered.iter().find(|tool| tool.name == "count").unwrap();
    let schema: Value = serde_json::from_str(&spec.parameters).unwrap();
    assert_eq!(
        schema,
        json!({
            "type": "object",
            "properties": {
                "text": { "type": "string", "description": "what to count" },
                "how": { "type": "string", "enum": ["all", "some"] },
            },
            "required": ["text"],
        })
    );
    let result = result(&world);
    assert_eq!(result["content"][0]["text"], format!("3 in {}", world.folder.path().display()));
    assert_eq!((&result["details"], &result["isError"]), (&json!({ "z": 1, "a": 2 }), &json!(false)));
    let log = std::fs::read_to_string(
        world.session.with_session(|manager| manager.get_session_file().unwrap().to_owned()),
    );
    assert!(log.unwrap().contains(r#""details":{"z":1,"a":2}"#), "the order of members is the extension's");
    let told = std::iter::from_fn(|| events.try_recv().ok());
    let updates = told.filter(|event| matches!(&**event, AgentEvent::ToolExecutionUpdate { partial_result, .. } if partial_result.contains("counting")));
    assert_eq!(updates.count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_throws_tells_the_model() {
    let world = world(&[TOOL], [Say::Call("count", r#"{"text":"abc","how":"some"}"#.into())]).await;
    world.say("go").await;
    let result = result(&world);
    assert_eq!(result["isError"], true);
    assert!(
        result["content"][0]["text"].as_str().unwrap().starts_with("Error: some is not possible"),
        "{result}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abort_reaches_the_tool() {
    let world = world(&[TOOL], [Say::Call("count", r#"{"text":"wait"}"#.into())]).await;
    let mut events = world.session.subscribe();
    world.session.prompt(Prompt::text("go")).unwrap();
    within(async { while events.recv().await.unwrap().name() != "tool_execution_update" {} }).await;
    world.session.abort();
    within(world.session.wait_for_idle()).await;
    assert_eq!(result(&world)["isError"], true);
    tokio::time::sleep(Duration::from_millis(1)).await;
    world.goes_on().await;
}

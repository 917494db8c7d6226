//! Tools that extensions bring.

use std::sync::Arc;
use std::time::Duration;

use ramal_agent::tools::Access;
use ramal_agent::{AgentEvent, Prompt};
use ramal_extension::Always;
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
                onUpdate({ content: [{ type: "text", text: `counting for ${id}` }] });
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
    let updates = told.filter(|event| matches!(&**event, AgentEvent::ToolExecutionUpdate { partial_result, .. } if partial_result.contains("counting for call-1")));
    assert_eq!(updates.count(), 1);
    let asked = world.permit.0.lock().unwrap().clone();
    assert_eq!(asked, [("count".to_owned(), vec![Access::Unknown])], "nothing is known of what it does");
}

const CHOICE: &str = r#"
    export default (pi) => {
        const say = (name, text) => ({ name, description: text, execute: async () => ({ content: [{ type: "text", text }] }), renderCall: () => null, renderResult: () => null });
        pi.registerCommand("choose", { handler: async (args) => {
            pi.setActiveTools(args.split(" "));
            pi.appendEntry("active", pi.getActiveTools());
        } });
        pi.registerCommand("late", { handler: async () => {
            pi.registerTool({ ...say("late", "late"), promptGuidelines: ["Use it."] });
            pi.registerTool(say("ls", "another"));
            const tools = pi.getAllTools();
            const about = (name) => { const tool = tools.find((one) => one.name === name); return [tool.description, tool.sourceInfo.source, tool.promptGuidelines ?? null]; };
            pi.appendEntry("late", [about("late"), about("ls"), about("read")[1], pi.getActiveTools()]);
        } });
    };
"#;

fn offered(world: &World, request: usize) -> Vec<String> {
    let tools = world.model.requests.lock().unwrap()[request].tools.clone();
    tools.into_iter().map(|tool| tool.name).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_extension_chooses_the_tools_and_brings_more() {
    let answers = [text("one"), Say::Call("ls", "{}".into()), Say::Call("late", "{}".into()), text("done")];
    let mut world = world(&[CHOICE], answers).await;
    world.command("choose", "read ls none").await.unwrap();
    assert_eq!(world.kept("active"), [json!(["read", "ls"])]);
    world.say("go").await;
    assert_eq!(offered(&world, 0), ["read", "ls"]);
    world.command("late", "").await.unwrap();
    assert_eq!(
        world.kept("late"),
        [json!([
            ["late", "extension", ["Use it."]],
            ["another", "extension", null],
            "builtin",
            ["read", "ls", "late"]
        ])]
    );
    world.say("go").await;
    assert_eq!(offered(&world, 1), ["read", "ls", "late"]);
    let results = world.entries().into_iter().filter(|entry| entry["message"]["role"] == "toolResult");
    let texts: Vec<Value> = results.map(|entry| entry["message"]["content"][0]["text"].clone()).collect();
    assert_eq!(texts, ["another", "late"]);
    assert_eq!(world.failures(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_built_in_tools_are_there_for_extensions() {
    let source = r#"
        import { createBashTool, createLocalBashOperations, createReadTool, createWriteToolDefinition, createCodingTools, withFileMutationQueue } from "@earendil-works/pi-coding-agent";
        export default (pi) => {
            const bash = createBashTool(process.cwd(), {
                spawnHook: ({ command, cwd, env }) => ({ command: `${command} # hooked`, cwd, env: { ...env, FROM_HOOK: "it's set" } }),
            });
            pi.registerTool({ ...bash, execute: (id, input, signal, onUpdate) => bash.execute(id, input, signal, onUpdate) });
            pi.registerCommand("run", { handler: async (_, ctx) => {
                const order = [];
                await Promise.all([
                    withFileMutationQueue("f", async () => { await null; order.push(1); }),
                    withFileMutationQueue("f", async () => order.push(2)),
                ]);
                const write = await createWriteToolDefinition(ctx.cwd).execute("1", { path: "a.txt", content: "one\ntwo\n" });
                const read = await createReadTool(ctx.cwd).execute("2", { path: "a.txt", offset: 2 });
                const none = await createReadTool(ctx.cwd).execute("3", { path: "none.txt" });
                const remote = createBashTool("/far", { operations: { exec: async (command, cwd, { onData }) => { onData(new TextEncoder().encode(`${cwd}$ ${command}`)); return { exitCode: 3 }; } } });
                const ran = await remote.execute("4", { command: "ls" });
                let said = "";
                const local = await createLocalBashOperations().exec("echo local; exit 4", ctx.cwd, { onData: (data) => { said += new TextDecoder().decode(data); } });
                const refused = await createReadTool(ctx.cwd, { operations: {} }).execute("5", { path: "a.txt" }).catch((error) => error.message);
                pi.appendEntry("ran", { order, write: write.isError, read: read.content[0].text, none: none.isError, ran: [ran.content[0].text, ran.isError], local: [said, local.exitCode], refused });
                pi.appendEntry("made", createCodingTools(ctx.cwd).map((tool) => [tool.name, typeof tool.description, tool.parameters.type]));
            } });
        };
    "#;
    let command = r#"{"command":"echo \"$FROM_HOOK\" && pwd; while [ ! -e go ]; do sleep 0.02; done"}"#;
    let world = world(&[source], [Say::Call("bash", command.into()), text("done")]).await;
    assert_eq!(world.problems, []);
    let mut events = world.session.subscribe();
    world.session.prompt(Prompt::text("go")).unwrap();
    // It goes on when it has been heard to run.
    within(async { while events.recv().await.unwrap().name() != "tool_execution_update" {} }).await;
    std::fs::write(world.folder.path().join("go"), "").unwrap();
    within(world.session.wait_for_idle()).await;
    let folder = std::fs::canonicalize(world.folder.path()).unwrap();
    let said = result(&world)["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(said.contains("it's set") && said.contains(folder.to_str().unwrap()), "{said}");
    world.command("run", "").await.unwrap();
    let ran = world.kept("ran").pop().unwrap();
    assert_eq!((&ran["order"], &ran["write"], &ran["none"]), (&json!([1, 2]), &json!(false), &json!(true)));
    let read = ran["read"].as_str().unwrap();
    assert!(read.contains("two") && !read.contains("one"), "{read}");
    assert_eq!(ran["ran"], json!(["/far$ ls\n\nThe command ended with code 3.", true]));
    assert_eq!(ran["local"], json!(["local\n", 4]));
    assert!(ran["refused"].as_str().unwrap().contains("takes no operations"), "{ran}");
    let made = world.kept("made").pop().unwrap();
    assert_eq!(made.as_array().unwrap().len(), 4);
    assert_eq!(made[1], json!(["bash", "string", "object"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_built_in_tool_does_for_an_extension_has_to_be_allowed() {
    let source = r#"
        import { createBashTool, createReadTool } from "@mariozechner/pi-coding-agent";
        export default (pi) => {
            pi.registerCommand("run", { handler: async (_, ctx) => {
                const said = async (work) => { try { return (await work).isError; } catch (error) { return error.message; } };
                pi.appendEntry("said", [
                    await said(createBashTool(ctx.cwd).execute("1", { command: "ls" })),
                    await said(createReadTool(ctx.cwd).execute("2", { path: "/etc/hostname" })),
                    await said(createReadTool(ctx.cwd).execute("3", { path: "ext0.ts" })),
                ]);
            } });
        };
    "#;
    let world = World::new(&[source], [], |options| options.permits = Arc::new(Always::Refuse)).await;
    world.command("run", "").await.unwrap();
    let said = world.kept("said").pop().unwrap();
    assert!(said[0].as_str().unwrap().contains("not allowed to run bash -c ls"), "{said}");
    assert!(said[1].as_str().unwrap().contains("not allowed to read /etc/hostname"), "{said}");
    assert_eq!(said[2], json!(false));
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

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_ends_the_turn_where_all_of_an_answer_say_so() {
    let source = r#"
        export default (pi) => pi.registerTool({ name: "last", description: "Ends it",
            execute: async (_, { terminate }) => ({ content: [{ type: "text", text: "That is all." }], terminate }) });
    "#;
    let last = |ends: bool| Say::Call("last", json!({ "terminate": ends }).to_string());
    let world = world(&[source], [last(false), last(true), text("More.")]).await;
    world.say("go").await;
    assert_eq!(world.model.requests.lock().unwrap().len(), 2, "the second call has ended it");
    assert_eq!(world.entries().pop().unwrap()["message"]["role"], "toolResult");
    world.goes_on().await;
}

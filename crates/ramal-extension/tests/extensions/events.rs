//! Events: what is told, what is answered, in which order.

use ramal_agent::NavigateOptions;
use serde_json::{Value, json};

use crate::support::*;

/// The names that `everything.ts` heard, and the payload's members of the first of each.
async fn heard(world: &World) -> Vec<(String, Vec<String>)> {
    world.command("heard", "").await.unwrap();
    let last = world.kept("heard").pop().unwrap();
    let all = last.as_array().unwrap().iter();
    all.map(|one| {
        let keys = one["keys"].as_array().unwrap().iter().map(|key| key.as_str().unwrap().to_owned());
        (one["name"].as_str().unwrap().to_owned(), keys.collect())
    })
    .collect()
}

fn keys_of(heard: &[(String, Vec<String>)], name: &str) -> Vec<String> {
    let found = heard.iter().find(|(one, _)| one == name);
    found.unwrap_or_else(|| panic!("{name} was not heard: {heard:?}")).1.clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_told_with_all_that_belongs_to_it() {
    let mut world = world(&["everything.ts"], [Say::Call("ls", "{}".into()), text("done")]).await;
    assert_eq!(world.problems, []);
    world.say("go").await;
    // What was told is heard before the next command is: the last of it is the end.
    let mut all = Vec::new();
    within(async {
        while !all.iter().any(|(name, _)| name == "agent_end") {
            all.extend(heard(&world).await);
        }
    })
    .await;
    let names: Vec<&str> = all.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names[0], "session_start");
    for name in
        ["turn_start", "turn_end", "message_start", "message_end", "context", "tool_call", "tool_result"]
    {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let at = |name: &str| names.iter().position(|one| *one == name).unwrap();
    assert!(at("tool_execution_start") < at("tool_call") && at("tool_call") < at("tool_result"));
    let of = |name: &str| keys_of(&all, name);
    assert_eq!(of("session_start"), ["reason", "signal", "type"]);
    assert_eq!(of("turn_start"), ["signal", "timestamp", "turnIndex", "type"]);
    assert_eq!(of("turn_end"), ["message", "signal", "timestamp", "toolResults", "turnIndex", "type"]);
    assert_eq!(of("agent_end"), ["messages", "signal", "type"]);
    assert_eq!(of("tool_call"), ["input", "signal", "toolCallId", "toolName", "type"]);
    assert_eq!(
        of("tool_result"),
        ["content", "input", "isError", "signal", "toolCallId", "toolName", "type"]
    );
    assert_eq!(of("tool_execution_start"), ["args", "signal", "toolCallId", "toolName", "type"]);
    assert_eq!(world.failures(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn moves_and_copies_are_told_under_both_families_names() {
    let mut world = world(&["everything.ts"], [text("one"), text("two")]).await;
    let first = world.say("first").await;
    let second = world.say("second").await;
    heard(&world).await;
    within(world.session.navigate_tree(&first, NavigateOptions::default())).await.unwrap();
    within(world.session.branch(&second)).await.unwrap();
    within(world.session.new_session(None)).await.unwrap();
    let all = heard(&world).await;
    let names: Vec<&str> =
        all.iter().map(|(name, _)| &**name).filter(|name| name.starts_with("session")).collect();
    assert_eq!(
        names,
        [
            "session_before_tree",
            "session_tree",
            "session_before_fork",
            "session_shutdown",
            "session_branch",
            "session_start",
            "session_before_switch",
            "session_shutdown",
            "session_switch",
            "session_start",
        ]
    );
    assert_eq!(keys_of(&all, "session_before_tree"), ["preparation", "signal", "type"]);
    assert_eq!(keys_of(&all, "session_before_fork"), ["entryId", "position", "reason", "signal", "type"]);
    assert_eq!(keys_of(&all, "session_start"), ["previousSessionFile", "reason", "signal", "type"]);
    assert_eq!(world.failures(), []);
}

/// An extension that answers an event with what is given.
fn answering(event: &str, answer: &str) -> String {
    format!("export default (pi) => {{\n  pi.on('{event}', async (event, ctx) => ({answer}));\n}};\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_summary_wins_and_the_first_cancel_ends() {
    let one = answering("session_before_tree", "{ summary: { summary: 'first', details: { b: 1, a: 2 } } }");
    let two = answering("session_before_tree", "{ summary: { summary: 'second' }, label: 'marked' }");
    let world = world(&[&one, &two], [text("one")]).await;
    let first = world.say("first").await;
    let wants = NavigateOptions { summarize: true, ..NavigateOptions::default() };
    within(world.session.navigate_tree(&first, wants)).await.unwrap();
    let entries = world.entries();
    let summary = entries.iter().find(|entry| entry["type"] == "branch_summary").unwrap();
    assert_eq!((&summary["summary"], &summary["fromExtension"]), (&json!("second"), &json!(true)));
    assert!(entries.iter().any(|entry| entry["type"] == "label" && entry["label"] == "marked"));

    let cancel = answering("session_before_tree", "{ cancel: true }");
    let late =
        "export default (pi) => {\n  pi.on('session_before_tree', () => pi.appendEntry('late'));\n};\n";
    let world = self::world(&[&cancel, late], [text("one")]).await;
    let first = world.say("first").await;
    let leaf = world.leaf();
    let moved = within(world.session.navigate_tree(&first, NavigateOptions::default())).await.unwrap();
    assert!(moved.cancelled && !moved.aborted);
    assert_eq!((world.leaf(), world.kept("late")), (leaf, Vec::<Value>::new()));
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_are_blocked_and_changed_and_results_too() {
    let source = r#"
        export default (pi) => {
            pi.on("tool_call", (event) => {
                if (event.input.path === "secret") return { block: true, reason: "that is secret" };
                event.input.path = "other";
            });
            pi.on("tool_result", (event) => ({ content: [{ type: "text", text: `${event.isError}: changed` }], details: { kept: 1 } }));
            pi.on("context", (event) => ({ messages: [...event.messages, { role: "user", content: "and this", timestamp: 1 }] }));
        };
    "#;
    let call = |path: &str| Say::Call("write", format!(r#"{{"path":"{path}","content":"x"}}"#));
    let mut world = world(&[source], [call("secret"), call("plain"), text("done")]).await;
    world.say("go").await;
    assert!(!world.folder.path().join("secret").exists() && !world.folder.path().join("plain").exists());
    assert!(world.folder.path().join("other").exists());
    let entries = world.entries();
    let results: Vec<&Value> = entries
        .iter()
        .map(|entry| &entry["message"])
        .filter(|message| message["role"] == "toolResult")
        .collect();
    assert_eq!(results[0]["content"][0]["text"], "true: changed");
    assert_eq!(results[1]["content"][0]["text"], "false: changed");
    assert_eq!(results[1]["details"], json!({ "kept": 1 }));
    let last = world.model.requests.lock().unwrap().last().unwrap().messages.last().unwrap().clone();
    assert!(last.contains("and this"), "{last}");
    assert_eq!(world.failures(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_compaction_of_an_extensions_own() {
    let source = r#"
        export default (pi) => {
            pi.on("session_before_compact", ({ preparation, branchEntries, customInstructions }) => ({
                compaction: {
                    summary: `${customInstructions}: ${preparation.messagesToSummarize.length} of ${branchEntries.length}`,
                    firstKeptEntryId: preparation.firstKeptEntryId,
                    tokensBefore: preparation.tokensBefore,
                    details: { mine: true },
                },
            }));
            pi.on("session_compact", (event) => pi.appendEntry("compacted", event.fromExtension));
        };
    "#;
    let world = world(&[source], [text("one"), text("two")]).await;
    world.say("first").await;
    world.say("second").await;
    let compacted = within(world.session.compact(Some("short"))).await.unwrap().unwrap();
    assert!(compacted.summary.starts_with("short: "), "{}", compacted.summary);
    assert_eq!(compacted.details.as_deref(), Some(r#"{"mine":true}"#));
    assert_eq!(world.kept("compacted"), [json!(true)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_user_typed_is_changed_or_taken() {
    use ramal_agent::Prompt;
    use ramal_extension::Input;
    let one = "export default (pi) => {\n  pi.on('input', (e) => e.text.startsWith('/x') ? { action: 'handled' } : { action: 'transform', text: e.text + '!' + e.source + (e.streamingBehavior ?? '') });\n  pi.on('user_bash', (e) => e.command === 'ls' ? { result: { output: e.cwd, exitCode: 0 } } : undefined);\n};\n";
    let two = "export default (pi) => {\n  pi.on('input', (e) => ({ action: 'transform', text: e.text.toUpperCase() }));\n};\n";
    let world = world(&[one, two], []).await;
    let abort = Default::default();
    let input =
        async |text: &str| within(world.extensions.input(Prompt::text(text), "rpc", None, &abort)).await;
    assert_eq!(input("hello").await, Input::Say(Prompt::text("HELLO!RPC")));
    assert_eq!(input("/x").await, Input::Handled);
    let steering = world.extensions.input(Prompt::text("hello"), "rpc", Some("steer"), &abort);
    assert_eq!(within(steering).await, Input::Say(Prompt::text("HELLO!RPCSTEER")));
    let bash = async |command: &str| within(world.extensions.user_bash(command, false, &abort)).await;
    assert!(bash("ls").await.unwrap().contains("exitCode"));
    assert_eq!(bash("pwd").await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_done_at_the_beginning_of_a_turn_comes_before_what_it_does() {
    let source = r#"
        export default (pi) => pi.on("turn_start", async (event) => {
            await new Promise((resolve) => setTimeout(resolve, 100));
            pi.appendEntry("begun", event.turnIndex);
        });
    "#;
    let world = world(&[source], [Say::Call("ls", "{}".into()), text("done")]).await;
    world.say("go").await;
    let kinds: Vec<String> = world
        .entries()
        .iter()
        .filter(|entry| entry["type"] == "message" || entry["type"] == "custom")
        .map(|entry| entry["message"]["role"].as_str().unwrap_or("begun").to_owned())
        .collect();
    assert_eq!(kinds, ["user", "begun", "assistant", "toolResult", "begun", "assistant"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bus_carries_copies() {
    let one = r#"
        export default (pi) => {
            pi.events.on("pong", (data) => pi.appendEntry("pong", data));
            pi.registerCommand("ping", { handler: async () => {
                const data = { list: [1, , 3], at: new Date(0), map: new Map([["k", new Set([1n])]]), bytes: new Uint8Array([1, 2]), nan: NaN };
                data.self = data;
                pi.events.emit("ping", data);
            } });
            pi.registerCommand("wrong", { handler: async () => pi.events.emit("ping", { work() {} }) });
        };
    "#;
    let two = r#"
        export default (pi) => {
            pi.events.on("ping", (data) => pi.events.emit("pong", {
                hole: !(1 in data.list), time: data.at.getTime(), big: String([...data.map.get("k")][0]),
                bytes: [...data.bytes], nan: Number.isNaN(data.nan), cycle: data.self === data,
            }));
        };
    "#;
    let world = world(&[one, two], []).await;
    world.command("ping", "").await.unwrap();
    world.until(|| !world.kept("pong").is_empty()).await;
    assert_eq!(
        world.kept("pong"),
        [json!({ "hole": true, "time": 0, "big": "1", "bytes": [1, 2], "nan": true, "cycle": true })]
    );
    let error = world.command("wrong", "").await.unwrap_err().to_string();
    assert!(error.contains("could not be cloned"), "{error}");
}

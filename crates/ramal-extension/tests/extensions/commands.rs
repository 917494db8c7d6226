//! Commands, keys, flags, what extensions say and show.

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::*;

#[tokio::test(flavor = "multi_thread")]
async fn commands_keys_and_flags_are_listed_and_run() {
    let source = r#"
        export default (pi) => {
            pi.registerCommand("greet", {
                description: "Says hello",
                handler: async (args, ctx) => ctx.ui.notify(`hello ${args}`, "warning"),
                getArgumentCompletions: (prefix) => ["anna", "bert"].filter((name) => name.startsWith(prefix)),
            });
            pi.registerShortcut("ctrl+g", { description: "Greets", handler: (ctx) => ctx.ui.setStatus("greet", "hi") });
            pi.registerFlag("loud", { type: "boolean", default: false, description: "Shouts" });
            pi.registerFlag("who", { type: "string", default: "anna" });
            pi.registerCommand("flags", { handler: async () => pi.appendEntry("flags", [pi.getFlag("loud"), pi.getFlag("who"), pi.getFlag("none") ?? null]) });
        };
    "#;
    let world = World::new(&[source], [], |options| {
        options.flags.insert("loud".into(), "true".into());
    })
    .await;
    let names: Vec<String> = world.extensions.commands().into_iter().map(|command| command.name).collect();
    assert_eq!(names, ["flags", "greet"]);
    assert_eq!(world.extensions.commands()[1].description.as_deref(), Some("Says hello"));
    world.command("greet", "you").await.unwrap();
    assert_eq!(world.extensions.shortcuts()[0].key, "ctrl+g");
    within(world.extensions.run_shortcut("ctrl+g", CancellationToken::new())).await.unwrap();
    assert_eq!(world.shown(), ["notify ext0 warning hello you", "status greet Some(\"hi\")"]);
    let found = within(world.extensions.complete("greet", "b")).await.unwrap();
    assert_eq!(found, [("bert".to_owned(), "bert".to_owned())]);
    let flags: Vec<(String, bool)> =
        world.extensions.flags().into_iter().map(|flag| (flag.name, flag.is_switch)).collect();
    assert_eq!(flags, [("loud".to_owned(), true), ("who".to_owned(), false)]);
    world.command("flags", "").await.unwrap();
    assert_eq!(world.kept("flags"), [json!([true, "anna", null])]);
    let error = world.command("none", "").await.unwrap_err();
    assert_eq!(error.to_string(), "no extension has command none");
}

#[tokio::test(flavor = "multi_thread")]
async fn dialogs_are_answered() {
    let source = r#"
        export default (pi) => {
            pi.registerCommand("ask", { handler: async (_, { ui, hasUI }) => {
                pi.appendEntry("asked", [
                    hasUI,
                    await ui.select("which", ["a", "b"]),
                    await ui.confirm("sure", "really?"),
                    await ui.input("name", "yours"),
                    (await ui.editor("text", "begin")) ?? null,
                ]);
                ui.setWidget("w", ["one", "two"]);
                ui.setTitle("t");
                ui.setEditorText("draft");
                pi.appendEntry("editor", ui.getEditorText());
                try { await ui.custom(() => {}); } catch (error) { pi.appendEntry("custom", error.message); }
            } });
        };
    "#;
    let world = world(&[source], []).await;
    world.user.answers.lock().unwrap().extend(["b", "yes", "me", "-"].map(String::from));
    world.command("ask", "").await.unwrap();
    assert_eq!(world.kept("asked"), [json!([true, "b", true, "me", null])]);
    assert_eq!(world.kept("editor"), [json!("draft")]);
    assert!(world.kept("custom")[0].as_str().unwrap().contains("ctx.ui.custom is not there"));
    assert_eq!(
        world.shown(),
        [
            "select which [\"a\", \"b\"]",
            "confirm sure really?",
            "input name Some(\"yours\")",
            "editor text Some(\"begin\")",
            "widget w Some([\"one\", \"two\"])",
            "title t",
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn escape_ends_a_command_that_waits_for_the_user() {
    let source = r#"
        export default (pi) => {
            pi.registerCommand("ask", { handler: async (_, ctx) => {
                ctx.signal.addEventListener("abort", () => pi.appendEntry("aborted", ctx.signal.reason.name));
                await ctx.ui.confirm("sure", "", { signal: ctx.signal });
            } });
        };
    "#;
    let world = world(&[source], []).await;
    let abort = CancellationToken::new();
    let running = world.extensions.run_command("ask", "", abort.clone());
    tokio::pin!(running);
    let shown = async {
        while world.user.shown.lock().unwrap().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
    };
    tokio::select! {
        _ = &mut running => panic!("it waits for an answer"),
        () = shown => abort.cancel(),
    }
    within(running).await.unwrap_err();
    assert_eq!(world.kept("aborted"), [json!("AbortError")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_extensions_say() {
    let source = r#"
        export default (pi) => {
            pi.registerMessageRenderer("note", (message, { expanded }) => [`${message.content} ${expanded}`]);
            pi.registerCommand("say", { handler: async (_, ctx) => {
                pi.sendMessage({ customType: "note", content: "quiet", display: true, details: { k: 1 } });
                pi.sendUserMessage("hello");
                await ctx.waitForIdle();
                pi.sendMessage({ customType: "note", content: [{ type: "text", text: "loud" }] }, { triggerTurn: true });
                await ctx.waitForIdle();
                pi.setSessionName("mine");
                pi.setLabel(ctx.sessionManager.getLeafId(), "end");
                pi.setLabel("The Speaker");
                pi.appendEntry("state", [pi.getSessionName(), pi.getThinkingLevel(), await pi.setModel({ provider: "demo", id: "beta" }), await pi.setModel({ provider: "none", id: "x" }), ctx.model.id]);
                ctx.ui.notify("x");
            } });
        };
    "#;
    let world = world(&[source], [text("hi"), text("there")]).await;
    world.command("say", "").await.unwrap();
    let entries = world.entries();
    let said: Vec<&str> = entries
        .iter()
        .filter_map(|entry| match entry["type"].as_str().unwrap() {
            "message" => entry["message"]["role"].as_str(),
            other => Some(other),
        })
        .collect();
    assert_eq!(
        said,
        [
            "custom_message",
            "user",
            "assistant",
            "custom_message",
            "assistant",
            "session_info",
            "label",
            "model_change",
            "custom"
        ]
    );
    assert_eq!(entries[0]["details"], json!({ "k": 1 }));
    assert_eq!(world.kept("state"), [json!(["mine", "off", true, false, "beta"])]);
    assert_eq!(world.shown(), ["notify The Speaker info x"]);
    let last = world.model.requests.lock().unwrap()[1].messages.last().unwrap().clone();
    assert!(last.contains("loud"), "{last}");
    let shown = within(world.extensions.render("note", &entries[0].to_string(), true)).await;
    assert_eq!(shown, Some(vec!["quiet true".to_owned()]));
    assert_eq!(within(world.extensions.render("other", "{}", true)).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_are_run_with_permission() {
    let source = r#"
        export default (pi) => {
            pi.registerCommand("run", { handler: async (_, ctx) => {
                const done = await pi.exec("sh", ["-c", "echo out; echo err >&2; exit 3"]);
                const slow = await pi.exec("sleep", ["100"], { timeout: 50 });
                pi.appendEntry("ran", [done, slow.killed, (await pi.exec("no-such-program", [])).code]);
            } });
        };
    "#;
    let world = world(&[source], []).await;
    world.command("run", "").await.unwrap();
    assert_eq!(
        world.kept("ran"),
        [json!([{ "stdout": "out\n", "stderr": "err\n", "code": 3, "killed": false }, true, 127])]
    );
    let refused = World::new(&[source], [], |options| {
        options.permits = std::sync::Arc::new(ramal_extension::Always::Refuse);
    })
    .await;
    let error = refused.command("run", "").await.unwrap_err().to_string();
    assert!(error.contains("not allowed to run sh -c"), "{error}");
    assert_eq!(refused.kept("ran"), Vec::<Value>::new());
}

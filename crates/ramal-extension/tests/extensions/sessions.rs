//! What extensions read of a session, and how commands move in it.

use serde_json::json;

use crate::support::*;

#[tokio::test(flavor = "multi_thread")]
async fn the_session_is_read() {
    let source = r#"
        export default (pi) => {
            pi.registerCommand("look", { handler: async (_, ctx) => {
                const { sessionManager: s } = ctx;
                const leaf = s.getLeafEntry();
                const tree = s.getTree();
                const depth = (node) => 1 + Math.max(0, ...node.children.map(depth));
                const usage = ctx.getContextUsage();
                pi.appendEntry("seen", {
                    leaf: leaf.message.content[0].text,
                    same: s.getEntry(leaf.id).id === s.getLeafId(),
                    branch: s.getBranch().length, entries: s.getEntries().length,
                    roots: tree.length, depth: depth(tree[0]), label: tree[0].label,
                    children: s.getChildren(tree[0].entry.id).length, none: s.getEntry("none") ?? null,
                    header: s.getHeader().type, cwd: s.getCwd() === ctx.cwd, file: s.getSessionFile().endsWith(".jsonl"),
                    persisted: s.isPersisted(), messages: s.buildSessionContext().messages.map((message) => message.role),
                    idle: ctx.isIdle(), pending: ctx.hasPendingMessages(), system: ctx.getSystemPrompt(),
                    model: `${ctx.model.provider}/${ctx.model.id}`, window: usage.contextWindow,
                    registry: ctx.modelRegistry.find("demo", "beta").id, commands: pi.getCommands().map((command) => command.name),
                });
                try { s.appendSessionInfo("x"); } catch (error) { pi.appendEntry("refused", error.message); }
            } });
        };
    "#;
    let world = world(&[source], [text("answer")]).await;
    let first = world.say("hello").await;
    world.session.set_label(&first, Some("start")).unwrap();
    let answer = world.entries()[1]["id"].as_str().unwrap().to_owned();
    world.session.with_session(|manager| manager.branch(&answer).unwrap());
    world.command("look", "").await.unwrap();
    assert_eq!(
        world.kept("seen"),
        [json!({
            "leaf": "answer", "same": true, "branch": 2, "entries": 3, "roots": 1, "depth": 3, "label": "start",
            "children": 1, "none": null, "header": "session", "cwd": true, "file": true, "persisted": true,
            "messages": ["user", "assistant"], "idle": true, "pending": false, "system": "You are a test.",
            "model": "demo/alpha", "window": 200_000, "registry": "beta", "commands": ["look"],
        })]
    );
    assert!(world.kept("refused")[0].as_str().unwrap().contains("it only reads"));
}

const MOVER: &str = r#"
    export default (pi) => {
        let kept;
        const say = (name, data) => pi.appendEntry(name, data);
        pi.on("session_start", (_, ctx) => { kept ??= ctx; });
        pi.registerCommand("go", { handler: async (id, ctx) => {
            const { cancelled, editorText } = await ctx.navigateTree(id, { label: "here" });
            say("went", { cancelled, editorText });
        } });
        pi.registerCommand("branch", { handler: async (id, ctx) => say("branched", (await ctx.branch(id)).cancelled) });
        pi.registerCommand("fresh", { handler: async (_, ctx) => {
            const before = ctx.sessionManager.getSessionFile();
            const { cancelled } = await ctx.newSession({ setup: async (s) => void s.appendCustomEntry("set up", 1) });
            await ctx.switchSession(before);
            say("back", [cancelled, ctx.sessionManager.getSessionFile() === before]);
        } });
        pi.registerCommand("stale", { handler: async (_, ctx) => {
            const old = { ...ctx };
            await ctx.newSession();
            const told = [];
            for (const ask of [() => kept.sessionManager.getLeafId(), () => kept.isIdle(), () => kept.compact()]) {
                try { ask(); told.push("nothing"); } catch (error) { told.push(error.message); }
            }
            kept.ui.notify("still");
            say("stale", told);
        } });
        pi.registerCommand("compact", { handler: async (_, ctx) => {
            try { say("compacted", (await ctx.compact({ customInstructions: "short" })).summary); }
            catch (error) { say("compacted", error.message); }
        } });
    };
"#;

#[tokio::test(flavor = "multi_thread")]
async fn commands_move_and_go_to_other_sessions() {
    let mut world = world(&[MOVER], [text("one"), text("two"), text("the summary")]).await;
    world.say("first").await;
    let second = world.say("second").await;
    world.command("compact", "").await.unwrap();
    assert_eq!(world.kept("compacted").len(), 1);
    world.command("go", &second).await.unwrap();
    assert_eq!(world.kept("went"), [json!({ "cancelled": false, "editorText": "second" })]);
    assert_eq!(*world.user.editor.lock().unwrap(), "second");
    assert!(
        world.entries().iter().any(|entry| entry["type"] == "label" && entry["targetId"] == second.as_str())
    );
    let file = world.session.with_session(|manager| manager.get_session_file().map(ToOwned::to_owned));
    world.command("fresh", "").await.unwrap();
    assert_eq!(world.kept("back"), [json!([false, true])]);
    world.command("branch", &second).await.unwrap();
    assert_eq!(world.kept("branched"), [json!(false)]);
    assert_ne!(world.session.with_session(|manager| manager.get_session_file().map(ToOwned::to_owned)), file);
    assert_eq!(world.failures(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_context_of_a_session_that_was_left_says_so() {
    let world = world(&[MOVER], [text("one")]).await;
    world.say("first").await;
    let id = world.session.with_session(|manager| manager.get_session_id().to_owned());
    world.command("stale", "").await.unwrap();
    let told = world.kept("stale").pop().unwrap();
    for said in told.as_array().unwrap() {
        let said = said.as_str().unwrap();
        assert!(said.contains(&id) && said.contains("which was left"), "{said}");
    }
    assert_eq!(world.shown(), ["notify ext0 info still"]);
    world.goes_on().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_navigates_while_others_hear_of_it() {
    let hearing = r#"
        export default (pi) => {
            pi.on("session_before_tree", async (event, ctx) => {
                pi.appendEntry("asked", ctx.sessionManager.getBranch().length);
                pi.setLabel(event.preparation.targetId, "seen");
                if (!(await ctx.ui.confirm("leave?", ""))) return { cancel: true };
            });
        };
    "#;
    let mut world = world(&[MOVER, hearing], [text("one")]).await;
    let first = world.say("first").await;
    world.user.answers.lock().unwrap().push_back("yes".into());
    world.command("go", &first).await.unwrap();
    assert_eq!(world.kept("asked"), [json!(2)]);
    assert_eq!(world.kept("went")[0]["cancelled"], false);
    assert_eq!(world.failures(), []);
}

//! What is there to be used: also what does nothing here, or says why not.

use ramal_extension::Mode;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::*;

#[tokio::test(flavor = "multi_thread")]
async fn what_a_context_knows_of_the_program() {
    let source = r#"
        export default (pi) => {
            pi.registerCommand("look", { handler: async (_, ctx) => {
                pi.appendEntry("seen", [ctx.mode, ctx.thinkingLevel, ctx.scopedModels, ctx.isProjectTrusted(), ctx.getSystemPromptOptions().selectedTools.length]);
            } });
        };
    "#;
    let world = World::new(&[source], [], |options| options.mode = Mode::Rpc).await;
    world.command("look", "").await.unwrap();
    assert_eq!(world.kept("seen"), [json!(["rpc", "off", [], true, 7])]);
    let names = [Mode::Tui, Mode::Rpc, Mode::Print, Mode::Json].map(Mode::name);
    assert_eq!(names, ["tui", "rpc", "print", "json"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn records_are_shown_as_their_extension_says() {
    let source = r#"
        import { Box, Text } from "@earendil-works/pi-tui";
        export default (pi) => {
            pi.registerEntryRenderer("card", (entry, { expanded, keyHint }, theme) => {
                const box = new Box(1, 1, (text) => theme.bg("customMessageBg", text));
                box.addChild(new Text(theme.fg("accent", entry.data.message)));
                if (expanded) box.addChild(new Text(keyHint("key", "more")));
                return box;
            });
            pi.registerCommand("card", { handler: async () => void pi.appendEntry("card", { message: "hello" }) });
        };
    "#;
    let world = world(&[source], []).await;
    world.command("card", "").await.unwrap();
    let entry = world.entries().pop().unwrap().to_string();
    let shown = async |expanded| within(world.extensions.render_entry("card", &entry, expanded)).await;
    assert_eq!(shown(false).await.unwrap(), ["hello"]);
    assert_eq!(shown(true).await.unwrap(), ["hello", "more"]);
    assert_eq!(within(world.extensions.render("card", &entry, false)).await, None, "it renders no messages");
    assert_eq!(within(world.extensions.render_entry("other", &entry, false)).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_says_so() {
    let source = r#"
        export default (pi) => {
            pi.registerMarkdownTransformer((text) => text);
            pi.registerToolRenderer((name, next) => next());
            pi.registerVirtualModel({ provider: "p", id: "virtual" });
            pi.registerMcpServer("docs", { command: "x" });
            pi.unregisterMcpServer("docs");
            pi.registerCommand("draw", { handler: async (_, { ui, modelRegistry }) => {
                for (const name of ["setWorkingVisible", "addAutocompleteProvider", "setFooter", "setHeader", "setEditorComponent", "setWorkingIndicator", "setHiddenThinkingLabel"]) ui[name](() => {});
                ui.setWorkingVisible(false);
                const said = async (work) => { try { return await work(); } catch (error) { return error.message; } };
                pi.appendEntry("said", [
                    await ui.custom(() => ({})).catch((error) => error.message),
                    await said(() => modelRegistry.classify({}, {})),
                    pi.getMcpServers(),
                    modelRegistry.findOfType("classifier", "a", "b") ?? null,
                ]);
            } });
        };
    "#;
    let world = world(&[source], []).await;
    assert_eq!(world.problems, []);
    world.command("draw", "").await.unwrap();
    let said = world.kept("said").pop().unwrap();
    assert!(said[0].as_str().unwrap().starts_with("ctx.ui.custom is not there: ramal shows texts"), "{said}");
    assert!(said[1].as_str().unwrap().contains("classify is not there"), "{said}");
    assert_eq!((&said[2], &said[3]), (&json!([]), &json!(null)));
    let log = world.log.lock().unwrap().clone();
    for (what, why) in [
        ("registerMarkdownTransformer", "nothing that they draw"),
        ("registerToolRenderer", "nothing that they draw"),
        ("registerVirtualModel virtual", "catalog"),
        ("registerMcpServer docs", "no MCP servers"),
        ("ctx.ui.setWorkingVisible", "nothing that they draw"),
        ("ctx.ui.addAutocompleteProvider", "nothing that they draw"),
    ] {
        let lines = log.iter().filter(|line| line.text.starts_with(&format!("{what} does nothing here")));
        let lines: Vec<&str> = lines.map(|line| &*line.text).collect();
        assert!(matches!(&lines[..], [line] if line.contains(why)), "{what}: {log:?}");
    }
}

/// What extensions import of the three libraries: all of it is there, whether it does something or says why not.
const IMPORTED: &str = r#"
    import {
        BorderedLoader, CONFIG_DIR_NAME, CustomEditor, DEFAULT_MAX_BYTES, DEFAULT_MAX_LINES, DynamicBorder, SessionManager, VERSION,
        convertToLlm, createAgentSession, createBashTool, createBashToolDefinition, createEditTool, createEditToolDefinition,
        createFindTool, createFindToolDefinition, createGrepTool, createGrepToolDefinition, createLocalBashOperations, createLsTool,
        createLsToolDefinition, createReadTool, createReadToolDefinition, createWriteTool, createWriteToolDefinition, defineTool,
        formatReadLineRange, formatSize, getAgentDir, getLanguageFromPath, getMarkdownTheme, getSettingsListTheme, highlightCode,
        isBashToolResult, isToolCallEventType, parseFrontmatter, serializeConversation, truncateHead, truncateLine, withFileMutationQueue,
    } from "@earendil-works/pi-coding-agent";
    import {
        Box, CURSOR_MARKER, Container, Editor, Input, Key, Markdown, SelectList, SettingsList, Spacer, Text, fuzzyFilter, isKeyRelease,
        matchesKey, parseKey, renderFakeCursor, truncateToWidth, visibleWidth, wrapTextWithAnsi,
    } from "@earendil-works/pi-tui";
    import {
        StringEnum, ToolCallArgumentsStream, Type, calculateCost, collapseSystemMessages, createAssistantMessageEventStream,
        getCurrentSystemMessage, getCurrentSystemPrompt, getCurrentTools, uuidv7,
    } from "@earendil-works/pi-ai";
    import {
        anthropicMessagesApi, createProvider, openAICompletionsApi, openAIResponsesApi, registerApiProvider, streamSimple,
    } from "@earendil-works/pi-ai/compat";
    export default (pi) => {
        pi.registerCommand("try", { handler: async () => {
            const said = (work) => { try { work(); return null; } catch (error) { return error.message; } };
            pi.appendEntry("refused", [
                () => new DynamicBorder(), () => new Editor(), () => new SelectList(), () => new ToolCallArgumentsStream(),
                () => SessionManager.create("."), () => new SessionManager(), () => createAgentSession(), () => createProvider({}), () => registerApiProvider({}),
                () => createAssistantMessageEventStream(), () => anthropicMessagesApi(),
            ].map(said));
            pi.appendEntry("works", [
                getLanguageFromPath("a/b.rs"), formatReadLineRange({ offset: 3, limit: 2 }), highlightCode("a\nb"), getMarkdownTheme().heading("x"),
                getCurrentSystemPrompt({ systemPrompt: "s" }), getCurrentTools({}), collapseSystemMessages([{ role: "system" }, { role: "user" }]),
                parseKey("a"), isKeyRelease("a"), new BorderedLoader(null, null, "w").render(), renderFakeCursor("a") + CURSOR_MARKER,
            ]);
        } });
    };
"#;

#[tokio::test(flavor = "multi_thread")]
async fn what_extensions_import_is_there() {
    let world = world(&[IMPORTED], []).await;
    assert_eq!(world.problems, []);
    world.command("try", "").await.unwrap();
    let refused = world.kept("refused").pop().unwrap();
    for why in refused.as_array().unwrap() {
        assert!(why.as_str().is_some_and(|why| why.contains("is not there: ")), "{refused}");
    }
    assert_eq!(
        world.kept("works"),
        [json!(["rust", ":3-4", ["a", "b"], "x", "s", [], [{ "role": "user" }], "a", false, ["w"], "a"])]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_of_the_user_run_where_an_extension_says() {
    let source = r#"
        export default (pi) => {
            pi.on("user_bash", (event) => {
                if (event.command === "local") return;
                return { operations: { exec: async (command, cwd, { onData }) => {
                    onData("there: ");
                    onData(new TextEncoder().encode(command));
                    if (command === "fail") throw new Error("no way");
                    return { exitCode: 2 };
                } } };
            });
        };
    "#;
    let mut world = world(&[source], []).await;
    let run = async |command: &str| {
        let ran = within(world.extensions.user_bash(command, false, &CancellationToken::new())).await;
        ran.map(|ran| serde_json::from_str::<serde_json::Value>(&ran).unwrap())
    };
    assert_eq!(run("local").await, None);
    let ran = run("ls").await.unwrap();
    assert_eq!((&ran["output"], &ran["exitCode"]), (&json!("there: ls"), &json!(2)));
    assert_eq!((&ran["cancelled"], &ran["truncated"]), (&json!(false), &json!(false)));
    assert_eq!(run("fail").await.unwrap()["output"], "there: fail\nno way");
    assert_eq!(world.failures(), []);
}

const WAITS: &str = r#"
    import { BorderedLoader } from "@earendil-works/pi-coding-agent";
    export default (pi) => {
        pi.registerCommand("wait", { handler: async (args, ctx) => {
            const said = await ctx.ui.custom((tui, theme, _, done) => {
                const loader = new BorderedLoader(tui, theme, "Thinking...");
                loader.onAbort = () => done(null);
                if (args === "not long") ctx.modelRegistry.complete(ctx.model, { messages: [{ role: "user", content: "hm" }] }, { signal: loader.signal })
                    .then((answer) => done(answer.content[0].text), () => {});
                return loader;
            });
            pi.appendEntry("said", said);
        } });
    };
"#;

#[tokio::test(flavor = "multi_thread")]
async fn what_only_waits_is_shown_as_a_status_and_can_be_ended() {
    let world = world(&[WAITS], [text("A thought.")]).await;
    world.command("wait", "not long").await.unwrap();
    assert_eq!(world.kept("said"), [json!("A thought.")]);
    assert_eq!(world.shown(), ["status working Some(\"Thinking...\")", "status working None"]);
    let abort = CancellationToken::new();
    let waiting = within(world.extensions.run_command("wait", "long", abort.clone()));
    let ending = async {
        world.until(|| !world.user.shown.lock().unwrap().is_empty()).await;
        abort.cancel();
    };
    let _ = tokio::join!(waiting, ending);
    world.until(|| world.kept("said").len() == 2).await;
    assert_eq!(world.kept("said")[1], json!(null));
    assert_eq!(world.shown().last().unwrap(), "status working None");
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_say_where_they_come_from_and_can_be_said() {
    let source = r#"
        export default (pi) => {
            pi.registerCommand("note", { description: "Notes", handler: async (args) => void pi.appendEntry("noted", args) });
            pi.registerCommand("say", { handler: async (args) => {
                pi.appendEntry("from", pi.getCommands().map(({ name, sourceInfo }) => [name, sourceInfo.source, sourceInfo.path.endsWith("ext0.ts")]));
                pi.sendUserMessage(`/note ${args}`, { expandPromptTemplates: true });
                pi.sendUserMessage("/none at all", { expandPromptTemplates: true });
            } });
        };
    "#;
    let mut world = world(&[source], [text("What?")]).await;
    world.command("say", "it").await.unwrap();
    assert_eq!(world.kept("from"), [json!([["note", "extension", true], ["say", "extension", true]])]);
    world.until(|| world.kept("noted") == [json!("it")]).await;
    within(world.session.wait_for_idle()).await;
    let said = world.model.requests.lock().unwrap()[0].messages.concat();
    assert!(said.contains("/none at all") && !said.contains("/note"), "{said}");
    assert_eq!(world.failures(), []);
}

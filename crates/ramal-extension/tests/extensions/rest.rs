//! Events and methods that stand in no other scenario.

use std::time::Duration;

use ramal_agent::Prompt;
use ramal_model::RetryPolicy;
use serde_json::json;

use crate::support::*;

/// Keeps the payloads of these events, as entries of their names.
fn hears(events: &[&str]) -> String {
    let one = |event: &&str| {
        format!(
            "pi.on('{event}', (event) => {{ const {{ signal, timestamp, ...told }} = event; pi.appendEntry('{event}', told); }});\n"
        )
    };
    format!("export default (pi) => {{\n{}}};\n", events.iter().map(one).collect::<String>())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_made_again() {
    let source = hears(&["auto_retry_start", "auto_retry_end"]);
    let world = world(&[&source], [Say::Busy, text("at last")]).await;
    world.session.configure(|config| {
        let retry = RetryPolicy {
            max_retries: 1,
            base_delay: Duration::from_millis(1),
            max_delay: Duration::from_millis(1),
        };
        ramal_agent::AgentConfig { retry, ..config.clone() }
    });
    world.say("hello").await;
    world.until(|| !world.kept("auto_retry_end").is_empty()).await;
    let begun = world.kept("auto_retry_start").remove(0);
    assert_eq!((&begun["attempt"], &begun["maxAttempts"]), (&json!(1), &json!(1)));
    assert!(begun["errorMessage"].as_str().unwrap().contains("too much to do"), "{begun}");
    assert_eq!(world.kept("auto_retry_end")[0]["success"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_compaction_under_both_names() {
    let source =
        hears(&["compaction_start", "compaction_end", "auto_compaction_start", "auto_compaction_end"]);
    let world = world(&[&source], [text("one"), text("two"), text("It was short.")]).await;
    world.say("first").await;
    world.say("second").await;
    within(world.session.compact(None)).await.unwrap().unwrap();
    world.until(|| !world.kept("auto_compaction_end").is_empty()).await;
    for (event, names) in [
        ("compaction_start", "manual"),
        ("auto_compaction_start", "manual"),
        ("compaction_end", "manual"),
        ("auto_compaction_end", "manual"),
    ] {
        let told = world.kept(event).remove(0);
        assert_eq!((&told["type"], &told["reason"]), (&json!(event), &json!(names)));
    }
    assert!(world.kept("compaction_end")[0]["result"]["summary"].as_str().unwrap().contains("It was short."));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_to_be_said() {
    let source = hears(&["queue_update"]);
    let world = world(&[&source], [Say::Never]).await;
    world.session.prompt(Prompt::text("hello")).unwrap();
    world.until(|| !world.model.requests.lock().unwrap().is_empty()).await;
    world.session.follow_up(Prompt::text("later")).unwrap();
    world.until(|| !world.kept("queue_update").is_empty()).await;
    assert_eq!(world.kept("queue_update")[0]["followUp"], json!(["later"]));
    world.session.abort();
    within(world.session.wait_for_idle()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_of_an_extension() {
    let source = "export default (pi) => {\n  for (const level of ['debug', 'info', 'warn', 'error']) pi.logger[level](level, { at: 1 });\n  pi.logger.debug('d'); pi.logger.warn('w');\n};";
    let world = world(&[source], []).await;
    let log = world.log.lock().unwrap();
    let lines: Vec<(&str, &str)> = log.iter().map(|line| (&*line.level, &*line.text)).collect();
    assert_eq!(
        lines,
        [
            ("debug", "debug { at: 1 }"),
            ("info", "info { at: 1 }"),
            ("warn", "warn { at: 1 }"),
            ("error", "error { at: 1 }"),
            ("debug", "d"),
            ("warn", "w"),
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_editor_and_what_is_shown_while_it_works() {
    let source = r#"
        export default (pi) => pi.registerCommand("show", { handler: async (_, { ui }) => {
            ui.setEditorText("one ");
            ui.pasteToEditor("two");
            ui.setWorkingMessage("Thinking hard");
            ui.setWorkingMessage();
        } });
    "#;
    let world = world(&[source], []).await;
    world.command("show", "").await.unwrap();
    assert_eq!(*world.user.editor.lock().unwrap(), "one two");
    assert_eq!(world.shown(), ["status working Some(\"Thinking hard\")", "status working None"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_there_is_to_know_of_models_and_places() {
    let source = r#"
        export default (pi) => pi.registerCommand("look", { handler: async (_, ctx) => {
            const models = ctx.modelRegistry;
            pi.appendEntry("seen", [
                models.getAll().length, models.getAvailable().length, models.getError() ?? null,
                models.hasConfiguredAuth({ provider: "demo", id: "alpha" }), models.hasConfiguredAuth({ provider: "no", id: "x" }),
                models.getProviderDisplayName("demo"), typeof models.streamSimple,
            ]);
            pi.appendEntry("folder", ctx.sessionManager.getSessionDir());
        } });
    "#;
    let world = world(&[source], []).await;
    world.command("look", "").await.unwrap();
    assert_eq!(world.kept("seen"), [json!([0, 0, null, true, false, "demo", "function"])]);
    let folder = world.kept("folder").remove(0);
    assert_eq!(folder.as_str().unwrap(), world.folder.path().join("sessions").to_str().unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_session_with_all_that_can_be_put_into_it() {
    let source = r#"
        export default (pi) => pi.registerCommand("begin", { handler: async (_, ctx) => {
            await ctx.newSession({ setup: async (manager) => {
                const said = manager.appendMessage({ role: "user", content: "hello", timestamp: 1 });
                manager.appendCustomMessageEntry("note", "seen by the model", true, { n: 1 });
                manager.appendCustomEntry("mark", { m: 2 });
                manager.appendSessionInfo("Set up");
                manager.appendLabelChange(said, "start");
            } });
        } });
    "#;
    let world = world(&[source], []).await;
    world.command("begin", "").await.unwrap();
    let entries = world.entries();
    let kinds: Vec<&str> = entries.iter().map(|entry| entry["type"].as_str().unwrap()).collect();
    for kind in ["message", "custom_message", "custom", "label"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    let note = entries.iter().find(|entry| entry["type"] == "custom_message").unwrap();
    assert_eq!((&note["content"], &note["details"]), (&json!("seen by the model"), &json!({"n": 1})));
    let (name, label) = world.session.with_session(|manager| {
        let label = manager.get_label(
            entries[kinds.iter().position(|kind| *kind == "message").unwrap()]["id"].as_str().unwrap(),
        );
        (manager.get_session_name().map(|name| name.to_string()), label.map(|label| label.to_string()))
    });
    assert_eq!((name.as_deref(), label.as_deref()), (Some("Set up"), Some("start")));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_grows_and_a_branch_that_becomes_a_session() {
    let source = hears(&["message_update", "session_before_branch"]);
    let world = world(&[&source], [text("hello")]).await;
    let said = world.say("first").await;
    world.until(|| !world.kept("message_update").is_empty()).await;
    let kinds: Vec<String> = world
        .kept("message_update")
        .iter()
        .map(|told| told["assistantMessageEvent"]["type"].as_str().unwrap().to_owned())
        .collect();
    assert!(kinds.iter().any(|kind| kind == "text_delta"), "{kinds:?}");
    let before = world.session.with_session(|manager| manager.get_session_file().unwrap().to_owned());
    within(world.session.branch(&said)).await.unwrap();
    let left = std::fs::read_to_string(before).unwrap();
    let told = left.lines().find(|line| line.contains("session_before_branch")).unwrap();
    let told: serde_json::Value = serde_json::from_str(told).unwrap();
    assert_eq!((&told["data"]["entryId"], &told["data"]["position"]), (&json!(said), &json!("before")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_becomes_a_session_before_an_entry_and_with_it() {
    let source = r#"
        export default (pi) => {
            pi.on("session_before_fork", (event) => pi.appendEntry("before", [event.entryId, event.position]));
            pi.registerCommand("copy", { handler: async (args, ctx) => {
                const [entry, position] = args.split(" ");
                const { cancelled } = await ctx.fork(entry, { position, withSession: async (ctx) => {
                    pi.appendEntry("there", ctx.sessionManager.getBranch().filter((entry) => entry.type === "message").length);
                } });
                pi.appendEntry("cancelled", cancelled);
            } });
        };
    "#;
    let world = world(&[source], [text("one"), text("two")]).await;
    let first = world.say("first").await;
    let answer = world
        .session
        .with_session(|manager| manager.get_leaf_entry().map(|leaf| leaf.id().unwrap().to_string()).unwrap());
    world.say("second").await;
    let whole = world.session.with_session(|manager| manager.get_session_file().unwrap().to_owned());
    world.command("copy", &format!("{answer} at")).await.unwrap();
    assert_eq!((world.kept("there"), world.kept("cancelled")), (vec![json!(2)], vec![json!(false)]));
    within(world.session.switch_session(&whole)).await.unwrap();
    assert_eq!(world.kept("before"), [json!([answer, "at"])]);
    world.command("copy", &format!("{first} before")).await.unwrap();
    assert_eq!(world.kept("there"), [json!(0)]);
    let error = world.command("copy", "none at").await.unwrap_err().to_string();
    assert!(error.contains("none"), "{error}");
}

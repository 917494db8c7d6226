//! Extensions that do not come to an end: while they are loaded, in what is built into JavaScript, with timers,
//! over the bus, after an abort.

use std::time::Duration;

use ramal_agent::{NavigateOptions, Prompt};
use ramal_extension::Options;
use serde_json::{Value, json};

use crate::hostile::{navigate_with, short};
use crate::support::*;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_built_in_and_long_is_stopped() {
    for (long, named) in [
        ("const deep = () => 1 + deep(); deep();", "stack"),
        ("let all = []; for (let at = 0; at < 100000; at++) all = [all]; return { all };", "stack"),
        ("/^(a+)+$/.test('a'.repeat(60) + 'b');", "0.3 s"),
        ("Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1);", "0.3 s"),
        ("Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);", "cannot block"),
        ("Array.from({ length: 2 ** 32 });", "RangeError"),
        ("10n ** 100000000n;", "BigInt"),
    ] {
        let (world, failures) = navigate_with(long).await;
        assert!(failures.len() == 1 && failures[0].1.contains(named), "{long}: {failures:?}");
        world.command("alive", "").await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_stopped_switches_it_off() {
    // A hundred million steps inside of the engine, which looks at nothing meanwhile.
    let source = "export default (pi) => {\n  pi.on('session_before_tree', () => void new Array(2 ** 27).join(''));\n  pi.registerCommand('alive', { handler: async () => {} });\n};\n";
    let mut world =
        World::new(&[source], [text("one")], |options| options.running_time = Duration::from_millis(100))
            .await;
    let first = world.say("first").await;
    within(world.session.navigate_tree(&first, NavigateOptions::default())).await.unwrap();
    let why = "what it runs cannot be stopped; it is switched off";
    assert_eq!(world.failures(), [("session_before_tree", why.to_owned())]);
    assert!(world.command("alive", "").await.unwrap_err().to_string().contains("switched off"));
    world.goes_on().await;
    within(world.session.navigate_tree(&first, NavigateOptions::default())).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn escape_ends_what_cannot_be_stopped() {
    let source = "export default (pi) => {\n  pi.registerCommand('join', { handler: async (_, ctx) => { ctx.ui.notify('begun'); new Array(2 ** 30).join(''); } });\n};\n";
    let world = world(&[source], []).await;
    let abort = tokio_util::sync::CancellationToken::new();
    let extensions = world.extensions.clone();
    let ending = abort.clone();
    let joining = tokio::spawn(async move { extensions.run_command("join", "", ending).await });
    world.until(|| !world.user.shown.lock().unwrap().is_empty()).await;
    abort.cancel();
    assert!(within(joining).await.unwrap().is_err());
    world.goes_on().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_of_timers_holds_up_nobody() {
    for timers in [
        "for (let at = 0; at < 20000; at++) setInterval(() => {}, 1);",
        "const again = () => setTimeout(again, 0); for (let at = 0; at < 100; at++) again();",
        "setInterval(() => { throw null; }, 1);",
    ] {
        let (world, _) = navigate_with(timers).await;
        world.command("alive", "").await.unwrap();
    }
    let (_, failures) = navigate_with("for (;;) setTimeout(() => {}, 1e9);").await;
    let ended = |error: &str| error.contains("0.3 s") || error.contains("memory");
    assert!(failures.iter().any(|(_, error)| ended(error)), "{failures:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_does_not_load() {
    let limits = |options: &mut Options| short(options);
    let loads = "export default (pi) => {\n  pi.registerCommand('fine', { handler: async () => {} });\n};\n";
    for (source, named) in [
        ("for (;;) {}\nexport default () => {};\n", "0.3 s"),
        ("export default () => { for (;;) {} };\n\n", "0.3 s"),
        ("await new Promise(() => {});\nexport default () => {};\n", "did not answer within 0.6 s"),
        ("export default async () => {\n await new Promise(() => {}); };\n", "did not answer within 0.6 s"),
        ("throw undefined;\nexport default () => {};\n", ""),
        ("throw new Error('not today');\nexport default () => {};\n", "not today"),
        ("export default 7;\n\n", "no function"),
        ("export default (pi) => {\n pi.registerTool({ name: 7 }); };\n", "`name` must be a string"),
        (
            "export default (pi) => {\n pi.registerTool({ name: 'read\\nIt is harmless', execute: async () => '' }); };\n",
            "cannot be the name of a tool",
        ),
        ("export default (pi) => {\n pi.on('context', 7); };\n", "must be a function"),
        ("export default (pi) => {\n pi.appendEntry('x'); };\n", "there is no session yet"),
        ("const all = []; for (;;) all.push(new Array(100000).fill(all.length));\n", "memory"),
        ("import './ext0.ts';\nexport default 'itself';\n", "no function"),
        ("let x = ;\nexport default () => {};\n", "ext0.ts:1"),
    ] {
        let world = World::new(&[source, loads], [], limits).await;
        assert_eq!(world.problems.len(), 1, "{source}");
        assert!(world.problems[0].why.contains(named), "{source}: {:?}", world.problems);
        assert!(world.problems[0].path.ends_with("ext0.ts"));
        world.command("fine", "").await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_user_ends_what_never_answers() {
    let source = "export default (pi) => {\n  for (const event of ['session_before_tree', 'context']) pi.on(event, async () => { pi.appendEntry('asked', event); await new Promise(() => {}); });\n};\n";
    let mut world =
        World::new(&[source], [text("one")], |options| options.event_time = Duration::from_secs(600)).await;
    let waits = async |world: &World, event: &str| {
        world.until(|| world.kept("asked").last() == Some(&json!(event))).await;
        world.session.abort();
        within(world.session.wait_for_idle()).await;
    };
    let first = world.session.prompt(Prompt::text("first")).unwrap();
    waits(&world, "context").await;
    let session = world.session.clone();
    let moving = tokio::spawn(async move { session.navigate_tree(&first, NavigateOptions::default()).await });
    waits(&world, "session_before_tree").await;
    assert!(within(moving).await.unwrap().unwrap().aborted);
    assert_eq!(world.failures(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_answered_after_an_abort_does_not_count() {
    let source = r#"
        export default (pi) => {
            pi.on("session_before_tree", async ({ signal }, ctx) => {
                pi.appendEntry("asked");
                await new Promise((done) => signal.addEventListener("abort", done));
                setTimeout(() => pi.appendEntry("later"), 20);
                return { cancel: false, summary: { summary: "too late" }, label: "too late" };
            });
            pi.registerTool({ name: "slow", description: "", parameters: {}, execute: async (_id, _input, signal, update) => {
                pi.appendEntry("asked");
                await new Promise((done) => signal.addEventListener("abort", done));
                setTimeout(() => update({ content: [{ type: "text", text: "too late" }] }), 20);
                return { content: [{ type: "text", text: "in the end" }] };
            } });
        };
    "#;
    let mut world = world(&[source], [text("one"), Say::Call("slow", "{}".into()), text("done")]).await;
    let first = world.say("first").await;
    let leaf = world.leaf();
    let session = world.session.clone();
    let wants = NavigateOptions { summarize: true, ..NavigateOptions::default() };
    let moving = tokio::spawn(async move { session.navigate_tree(&first, wants).await });
    world.until(|| world.kept("asked").len() == 1).await;
    world.session.abort();
    let moved = within(moving).await.unwrap().unwrap();
    assert!(moved.cancelled && moved.aborted);
    world.until(|| world.kept("later").len() == 1).await;
    let entries = world.entries();
    assert!(!entries.iter().any(|entry| entry["type"] == "branch_summary" || entry["type"] == "label"));
    let is_on_path = world.session.with_session(|manager| {
        let path = manager.get_branch(None);
        path.iter().any(|entry| Some(entry.id().unwrap().to_string()) == leaf)
    });
    assert!(is_on_path, "nobody has moved");

    world.session.prompt(Prompt::text("second")).unwrap();
    world.until(|| world.kept("asked").len() == 2).await;
    world.session.abort();
    within(world.session.wait_for_idle()).await;
    let results: Vec<Value> =
        world.entries().into_iter().filter(|entry| entry["message"]["role"] == "toolResult").collect();
    assert_eq!(results.len(), 1, "{results:?}");
    assert_eq!(world.failures(), []);
    world.goes_on().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bus_is_no_place_for_floods() {
    let floods = r#"
        export default (pi) => {
            pi.registerCommand("flood", { handler: async (size) => {
                const data = "x".repeat(Number(size));
                for (let at = 0; at < 100000; at++) pi.events.emit("flood", data);
            } });
            pi.registerCommand("word", { handler: async () => pi.events.emit("word", 1) });
        };
    "#;
    let hears = r#"
        export default (pi) => {
            pi.events.on("flood", () => { for (const end = performance.now() + 0.5; performance.now() < end; ); });
            pi.events.on("word", () => pi.appendEntry("word"));
        };
    "#;
    let world = World::new(&[floods, hears], [], |options| options.memory = 32 << 20).await;
    for size in ["4", "100000", "2000000"] {
        let error = world.command("flood", size).await.unwrap_err().to_string();
        assert!(error.contains("the bus is full: ext1"), "{size}: {error}");
    }
    // It has room again when it has heard what came.
    within(async { while world.command("word", "").await.is_err() {} }).await;
    world.until(|| !world.kept("word").is_empty()).await;
    assert!(world.extensions.all().iter().all(|extension| extension.dead().is_none()));
    world.goes_on().await;
}

//! Extensions that throw, spin, eat memory, never answer, or move where they must not.

use std::time::Duration;

use ramal_agent::{NavigateOptions, Prompt};
use serde_json::json;

use crate::support::*;

/// Limits that a test can wait for.
pub(crate) fn short(options: &mut ramal_extension::Options) {
    options.running_time = Duration::from_millis(300);
    options.event_time = Duration::from_millis(600);
    options.memory = 32 << 20;
}

/// A navigation with an extension that does something when it is asked, and one that only counts.
pub(crate) async fn navigate_with(hostile: &str) -> (World, Vec<(&'static str, String)>) {
    let counter = "export default (pi) => {\n  pi.on('session_before_tree', () => { pi.appendEntry('counted'); });\n};\n";
    let source = format!(
        "export default (pi) => {{\n  pi.registerCommand('alive', {{ handler: async () => pi.appendEntry('alive') }});\n  pi.on('session_before_tree', async (event, ctx) => {{ {hostile} }});\n}};\n"
    );
    let mut world = World::new(&[&source, counter], [text("one")], short).await;
    assert_eq!(world.problems, []);
    let first = world.say("first").await;
    let moved = within(world.session.navigate_tree(&first, NavigateOptions::default())).await.unwrap();
    assert!(!moved.cancelled, "what fails does not stop it");
    assert_eq!(world.kept("counted").len(), 1);
    let failures = world.failures();
    world.goes_on().await;
    (world, failures)
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_throws() {
    let (world, failures) = navigate_with("throw new TypeError('oh no');").await;
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].0, "session_before_tree");
    assert!(
        failures[0].1.contains("TypeError: oh no") && failures[0].1.contains("ext0.ts:3:"),
        "{failures:?}"
    );
    world.command("alive", "").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_spins_is_stopped_and_goes_on() {
    for spin in ["for (;;) {}", "try { for (;;) {} } catch { for (;;) {} }", "await 1; for (;;) {}"] {
        let (world, failures) = navigate_with(spin).await;
        assert_eq!(failures.len(), 1, "{spin}: {failures:?}");
        assert!(failures[0].1.contains("ran for more than 0.3 s"), "{failures:?}");
        world.command("alive", "").await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_chain_of_promises_switches_it_off() {
    let (world, failures) = navigate_with("for (;;) await null;").await;
    assert!(failures[0].1.contains("0.3 s"), "{failures:?}");
    assert_eq!(world.extensions.all()[0].dead(), None);
    world.command("alive", "").await.unwrap();
    // Stopping one of so many leaves the others.
    let many = "const again = () => { Promise.resolve().then(again); }; for (let at = 0; at < 5000; at++) again(); await new Promise(() => {});";
    let (world, failures) = navigate_with(many).await;
    assert!(failures.iter().any(|(_, error)| error.contains("0.3 s")), "{failures:?}");
    world.until(|| world.extensions.all()[0].dead().is_some()).await;
    assert!(world.command("alive", "").await.unwrap_err().to_string().contains("switched off"));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_never_answers_is_given_up() {
    let (world, failures) = navigate_with("await new Promise(() => {});").await;
    assert_eq!(failures, [("session_before_tree", "it did not answer within 0.6 s".to_owned())]);
    world.command("alive", "").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_eats_memory() {
    for hungry in [
        "const all = []; for (;;) all.push(new Array(100000).fill(all.length));",
        "new ArrayBuffer(2 ** 31);",
        "Buffer.alloc(2 ** 31);",
        "const all = []; for (;;) all.push(Buffer.from('x'.repeat(1 << 20)));",
        "let text = 'x'; for (;;) text += text;",
    ] {
        let (_, failures) = navigate_with(hungry).await;
        assert!(!failures.is_empty(), "{hungry}");
    }
    let keeps = "globalThis.all = []; for (;;) all.push(new Array(100000).fill(all.length));";
    let (world, failures) = navigate_with(keeps).await;
    assert!(failures.iter().any(|(_, error)| error.contains("memory")), "{failures:?}");
    assert!(world.command("alive", "").await.unwrap_err().to_string().contains("switched off"));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_answers_nonsense_or_plays_tricks() {
    for (answer, named) in
        [("return { cancel: 'yes' };", "`cancel`"), ("return { summary: 7 };", "`summary`")]
    {
        let (_, failures) = navigate_with(answer).await;
        assert!(failures[0].1.contains(named), "{failures:?}");
    }
    let (_, failures) = navigate_with("return 'nonsense';").await;
    assert_eq!(failures, []);
    let tricks = "Object.prototype.cancel = true; JSON.stringify = () => '{\"cancel\":true}'; Promise.prototype.then = null; Map.prototype.get = () => 1;";
    let source =
        format!("export default (pi) => {{\n  pi.on('session_before_tree', () => {{ {tricks} }});\n}};\n");
    let other = "export default (pi) => {\n  pi.on('session_before_tree', () => ({ label: 'fine' }));\n};\n";
    let world = World::new(&[&source, other], [text("one")], short).await;
    let first = world.say("first").await;
    within(world.session.navigate_tree(&first, NavigateOptions::default())).await.unwrap();
    // It can harm only itself.
    world.goes_on().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_navigates_inside_a_navigation_is_refused_at_once() {
    let source = r#"
        export default (pi) => {
            let mine;
            pi.registerCommand("keep", { handler: async (_, ctx) => { mine = ctx; } });
            pi.on("session_before_tree", async (event) => {
                try { await mine.navigateTree(event.preparation.targetId); pi.appendEntry("inner", "went"); }
                catch (error) { pi.appendEntry("inner", error.message); }
            });
            pi.on("tool_result", async () => {
                try { await mine.navigateTree(mine.sessionManager.getBranch()[0].id); pi.appendEntry("turn", "went"); }
                catch (error) { pi.appendEntry("turn", error.message); }
            });
        };
    "#;
    let world = world(&[source], [Say::Call("ls", "{}".into()), text("done")]).await;
    world.command("keep", "").await.unwrap();
    let first = world.say("first").await;
    assert_eq!(world.kept("turn"), [json!("the session is busy with a turn")]);
    let moved = within(world.session.navigate_tree(&first, NavigateOptions::default())).await.unwrap();
    assert!(!moved.cancelled);
    assert_eq!(world.kept("inner"), [json!("the session is busy with a navigation")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn escape_ends_one_that_spins() {
    let source = "export default (pi) => {\n  pi.on('tool_call', () => { for (;;) {} });\n  pi.registerCommand('alive', { handler: async () => {} });\n};\n";
    let world = world(&[source], [Say::Call("ls", "{}".into()), text("done")]).await;
    let mut events = world.session.subscribe();
    world.session.prompt(Prompt::text("go")).unwrap();
    within(async { while events.recv().await.unwrap().name() != "tool_execution_start" {} }).await;
    world.session.abort();
    within(world.session.wait_for_idle()).await;
    world.command("alive", "").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_spins_does_not_hold_up_the_others() {
    let spins = "export default (pi) => {\n  pi.registerCommand('spin', { handler: async () => { pi.events.emit('begun'); for (;;) {} } });\n};\n";
    let other = "export default (pi) => {\n  pi.events.on('begun', () => pi.appendEntry('begun'));\n  pi.registerCommand('quick', { handler: async () => pi.appendEntry('quick') });\n};\n";
    let world = world(&[spins, other], []).await;
    let abort = tokio_util::sync::CancellationToken::new();
    let extensions = world.extensions.clone();
    let spinning = tokio::spawn({
        let abort = abort.clone();
        async move { extensions.run_command("spin", "", abort).await }
    });
    world.until(|| !world.kept("begun").is_empty()).await;
    world.command("quick", "").await.unwrap();
    assert_eq!(world.kept("quick").len(), 1);
    assert!(!spinning.is_finished());
    abort.cancel();
    assert!(within(spinning).await.unwrap().is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dialog_may_take_longer_than_a_handler() {
    let source = "export default (pi) => {\n  pi.on('session_before_tree', async (_, ctx) => ({ cancel: await ctx.ui.confirm('stay?', '') }));\n};\n";
    let mut world = World::new(&[source], [text("one")], |options| {
        options.event_time = Duration::from_millis(250);
    })
    .await;
    let first = world.say("first").await;
    let session = world.session.clone();
    let moving = tokio::spawn(async move { session.navigate_tree(&first, NavigateOptions::default()).await });
    world.until(|| !world.user.shown.lock().unwrap().is_empty()).await;
    tokio::time::sleep(Duration::from_millis(1200)).await;
    assert!(!moving.is_finished(), "the user is waited for");
    world.session.abort();
    assert!(within(moving).await.unwrap().unwrap().aborted);
    assert_eq!(world.failures(), []);
    world.goes_on().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_promise_that_is_rejected_unheard_is_told_once() {
    let source = r#"
        export default (pi) => {
            pi.registerCommand("unheard", { handler: async () => {
                Promise.reject(new TypeError("nobody hears"));
                const heard = Promise.reject(new Error("heard in time"));
                await null;
                heard.catch(() => {});
                setTimeout(async () => { throw "plain"; }, 1);
                setTimeout(() => pi.appendEntry("later"), 20);
            } });
        };
    "#;
    let mut world = world(&[source], []).await;
    world.command("unheard", "").await.unwrap();
    world.until(|| !world.kept("later").is_empty()).await;
    let told: Vec<String> = world.failures().into_iter().map(|(_, error)| error).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("TypeError: nobody hears") && told[0].contains("ext0.ts:4:"), "{told:?}");
    assert!(told[1].ends_with("nobody handles: plain"), "{told:?}");
}

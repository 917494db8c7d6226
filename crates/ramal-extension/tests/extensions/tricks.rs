//! Extensions that change what JavaScript itself does, or answer what is hard to read: they can break
//! themselves, and nobody else.

use std::time::Duration;

use futures_util::future::join_all;
use ramal_agent::NavigateOptions;
use serde_json::json;

use crate::hostile::{navigate_with, short};
use crate::support::*;

/// A navigation is asked about twice, before and after the trick, with another extension beside it, whose
/// answer counts.
async fn played(trick: &str) {
    let source = format!(
        "export default (pi) => {{\n  let at = 0;\n  pi.on('session_before_tree', async (event, ctx) => {{ if (at++ === 0) {{ {trick} }} return {{ label: 'mine' }}; }});\n  pi.on('context', (event) => ({{ messages: event.messages }}));\n  pi.on('turn_end', () => {{}});\n  pi.registerCommand('mine', {{ handler: async (args, ctx) => ctx.ui.notify('mine') }});\n}};\n"
    );
    let other = "export default (pi) => {\n  pi.on('session_before_tree', () => ({ label: 'fine' }));\n  pi.registerCommand('other', { handler: async () => pi.appendEntry('other', [1, { a: 2 }]) });\n};\n";
    let world = World::new(&[&source, other], [text("one"), text("two"), text("three")], |options| {
        short(options);
        // Many are played at the same time.
        options.event_time = Duration::from_secs(2);
    })
    .await;
    assert_eq!(world.problems, []);
    let first = world.say("first").await;
    world.say("second").await;
    for target in [&first, &world.leaf().unwrap()] {
        let moved = within(world.session.navigate_tree(target, NavigateOptions::default())).await.unwrap();
        assert!(!moved.cancelled, "{trick}");
        let label = world.session.with_session(|manager| manager.get_label(target).map(str::to_owned));
        assert_eq!(label.as_deref(), Some("fine"), "{trick}");
        if target != &first {
            continue;
        }
        world.say("again").await;
    }
    // It may be broken by now, but it says so; nobody has to end it.
    let _ = world.command("mine", "").await;
    world.command("other", "").await.unwrap();
    assert_eq!(world.kept("other"), [json!([1, { "a": 2 }])], "{trick}");
    world.goes_on().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_every_object_is_changed() {
    let tricks = [
        "Object.prototype.cancel = true; Object.prototype.toJSON = () => 'x'; Object.prototype.then = (done) => done({ cancel: true });",
        "for (const key of ['cancel', 'summary', 'label', 'type', 'signal', 'content', 'role']) Object.defineProperty(Object.prototype, key, { set() { throw new Error(key); }, get() { throw new Error(key); } });",
        "for (const key of [0, 1, 2, 'length2', 'handler']) Object.defineProperty(Object.prototype, key, { set() {}, get() { return 'tricked'; } });",
        "Object.freeze(Object.prototype); Object.freeze(Array.prototype); Object.freeze(event); Object.freeze(ctx);",
        "Object.setPrototypeOf(Object.prototype.__proto__ ?? Array.prototype, new Proxy({}, { get() { throw new Error('no'); }, has() { return true; } }));",
        "Object.prototype.__defineGetter__('then', () => { throw new Error('no'); });",
    ];
    join_all(tricks.map(played)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_everything_is_built_of_is_replaced() {
    let tricks = [
        "JSON.stringify = () => '{\"cancel\":true'; JSON.parse = () => 7;",
        "JSON.stringify = () => ({}); Error.prototype.toString = () => { throw 1; };",
        "Promise.prototype.then = null;",
        "Promise.prototype.then = function () { for (;;) {} };",
        "Promise.prototype.then = () => 1; Promise.prototype.catch = () => 1;",
        "globalThis.Promise = undefined; globalThis.JSON = undefined; globalThis.Object = undefined; globalThis.Map = undefined; globalThis.AbortController = undefined;",
        "Map.prototype.get = () => 1; Map.prototype.set = () => 1; Map.prototype.delete = () => { throw 1; };",
        "Map.prototype.get = () => [() => { for (;;) {} }]; Map.prototype.has = () => true;",
        "Array.prototype.map = () => { throw 1; }; Array.prototype.filter = () => [[]]; Array.prototype.push = () => { throw 1; };",
        "Array.prototype[Symbol.iterator] = function* () { for (;;) yield [1, 2]; };",
        "Array.prototype[Symbol.iterator] = undefined; Set.prototype.add = undefined; Object.keys = () => { throw 1; }; Object.assign = () => 1; Object.fromEntries = () => 1;",
        "Function.prototype.call = () => { throw 1; }; Function.prototype.apply = () => { throw 1; }; Symbol.prototype[Symbol.toPrimitive] = null;",
        "AbortController.prototype.abort = () => { for (;;) {} }; AbortSignal.prototype.addEventListener = () => { throw 1; };",
        "globalThis.setTimeout = () => { throw 1; }; globalThis.console = null; String.prototype.split = () => { throw 1; };",
    ];
    join_all(tricks.map(played)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_are_hard_to_read() {
    for (answer, named) in [
        ("new Proxy({}, { ownKeys() { throw new Error('no keys'); } })", Some("no keys")),
        ("new Proxy({}, { get() { for (;;) {} } })", Some("0.3 s")),
        ("({ get cancel() { throw new Error('no cancel'); } })", Some("no cancel")),
        ("({ get summary() { return { get summary() { throw null; } }; } })", Some("")),
        ("({ label: { toJSON() { throw new TypeError('no json'); } } })", Some("no json")),
        ("({ label: { toJSON() { return 7; } } })", Some("`label`")),
        ("(() => { const all = {}; all.label = all; return all; })()", Some("circular")),
        ("({ label: 10n })", Some("")),
        ("({ summary: { summary: Symbol('x') } })", Some("`summary.summary`")),
        ("JSON.parse('{\"__proto__\": {\"cancel\": true}}')", None),
        ("Object.create({ cancel: true })", None),
        ("({ __proto__: { cancel: true }, constructor: 1 })", None),
        ("({ then(done) { done(null); } })", None),
        ("({ then() {} })", Some("did not answer within 0.6 s")),
        ("[]", None),
        ("() => ({ cancel: true })", None),
        ("({ label: 'x'.repeat(1 << 18), extra: 'y'.repeat(1 << 19) })", None),
        ("({ extra: new Array(20000).fill({}) })", None),
    ] {
        let (_, failures) = navigate_with(&format!("return {answer};")).await;
        match named {
            None => assert_eq!(failures, [], "{answer}"),
            Some(named) => {
                assert!(!failures.is_empty() && failures[0].1.contains(named), "{answer}: {failures:?}");
                assert_eq!(failures[0].0, "session_before_tree", "{answer}");
            }
        }
    }
    // More than there is room for.
    let (_, failures) =
        navigate_with("return { label: 'x'.repeat(12 << 20), more: 'y'.repeat(12 << 20) };").await;
    assert!(failures.iter().any(|(_, error)| error.contains("memory")), "{failures:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_thrown_is_told() {
    for thrown in [
        "throw null;",
        "throw undefined;",
        "throw 'text';",
        "throw Symbol('s');",
        "throw 10n;",
        "throw new Proxy({}, { get() { throw 1; }, getPrototypeOf() { throw 2; } });",
        "throw new Proxy(new Error('e'), { get() { throw 1; } });",
        "throw { toString() { throw 1; }, toJSON() { throw 2; } };",
        "throw Object.assign(new Error('m'), { stack: { toString() { throw 1; } } });",
        "const error = new Error('m'); Object.defineProperty(error, 'message', { get() { for (;;) {} } }); throw error;",
        "await Promise.reject(null);",
    ] {
        let (world, failures) = navigate_with(thrown).await;
        assert_eq!(failures.len(), 1, "{thrown}: {failures:?}");
        assert!(
            failures[0].0 == "session_before_tree" && !failures[0].1.is_empty(),
            "{thrown}: {failures:?}"
        );
        world.command("alive", "").await.unwrap();
    }
}

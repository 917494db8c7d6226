//! Extensions around `ramal rpc`: the real program, TypeScript in a folder, recorded answers, its pipes.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "shared with other tests")]
mod support;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use support::*;

#[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A folder with an extension of the user's, and recorded answers.
fn with(extension: &str, answers: &[Value]) -> Scratch {
    let scratch = Scratch::new(answers);
    put(&scratch.path("CONFIG/ramal/extensions/mine.ts"), extension);
    scratch
}

/// A command with this body.
fn command(body: &str) -> String {
    format!(
        "export default (pi) => pi.registerCommand('go', {{ description: 'Goes', handler: async (args, ctx) => {{ {body} }} }});"
    )
}

/// Waits for a dialog of that method.
#[track_caller]
fn asked(program: &mut Program, method: &str) -> Value {
    let request = program.find(|line| line["type"] == "extension_ui_request");
    assert_eq!(request["method"], method, "{request}");
    request
}

fn respond(program: &mut Program, request: &Value, mut response: Value) {
    response["type"] = json!("extension_ui_response");
    response["id"] = request["id"].clone();
    program.send(&[response]);
}

#[track_caller]
fn go(program: &mut Program, args: &str) {
    program.ok(json!({"type": "prompt", "message": format!("/go {args}")}));
}

/// Looks again and again, for what comes about beside the answers.
#[track_caller]
fn until(program: &mut Program, is: impl Fn(&mut Program) -> bool) {
    let begun = std::time::Instant::now();
    while !is(program) {
        assert!(begun.elapsed() < TOO_LONG, "it does not come about: {:#?}", program.passed);
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn every_dialog_is_asked_of_the_client() {
    let body = "
        const said = [
            await ctx.ui.select('Which?', ['one', 'two']),
            await ctx.ui.select('Which?', ['one', 'two']),
            await ctx.ui.confirm('Sure?', 'It is far.'),
            await ctx.ui.confirm('Sure?', 'It is far.'),
            await ctx.ui.input('Name?', 'a name'),
            await ctx.ui.editor('Text?', 'so far'),
            await ctx.ui.input('Late?', '', { timeout: 20 }),
            ctx.hasUI,
        ];
        ctx.ui.notify('Done with ' + args, 'warning');
        ctx.ui.setStatus('s', 'here'); ctx.ui.setStatus('s', undefined);
        ctx.ui.setWidget('w', ['a', 'b'], { placement: 'belowEditor' });
        ctx.ui.setTitle('T'); ctx.ui.setEditorText('typed');
        pi.appendEntry('said', said.map((one) => one ?? null));";
    let scratch = with(&command(body), &[]);
    let mut program = scratch.start();
    let commands = program.ok(json!({"type": "get_commands"}));
    assert_eq!(commands["commands"][0]["name"], "go");
    assert_eq!(commands["commands"][0]["source"], "extension");
    assert!(string(&commands["commands"][0]["path"]).ends_with("mine.ts"));
    go(&mut program, "it");
    let which = asked(&mut program, "select");
    assert_eq!((&which["title"], &which["options"]), (&json!("Which?"), &json!(["one", "two"])));
    assert_eq!(which["extension"], "mine");
    respond(&mut program, &which, json!({"value": "two"}));
    let which = asked(&mut program, "select");
    respond(&mut program, &which, json!({"value": "three"}));
    let sure = asked(&mut program, "confirm");
    assert_eq!(sure["message"], "It is far.");
    respond(&mut program, &sure, json!({"confirmed": true}));
    let sure = asked(&mut program, "confirm");
    respond(&mut program, &sure, json!({"cancelled": true}));
    let name = asked(&mut program, "input");
    assert_eq!(name["placeholder"], "a name");
    respond(&mut program, &name, json!({"value": "Kim"}));
    let text = asked(&mut program, "editor");
    assert_eq!(text["prefill"], "so far");
    let long = "long ".repeat(30_000);
    respond(&mut program, &text, json!({ "value": long }));
    let late = asked(&mut program, "input");
    assert_eq!(late["timeout"], 20);
    let ended = program.find(|line| line["type"] == "extension_ui_request_ended");
    assert_eq!(ended["id"], late["id"]);
    let mut told = |method: &str, key: &str, value: Value| {
        let request = asked(&mut program, method);
        assert_eq!(request[key], value, "{request}");
    };
    told("notify", "notifyType", json!("warning"));
    told("setStatus", "statusText", json!("here"));
    told("setStatus", "statusText", Value::Null);
    told("setWidget", "widgetLines", json!(["a", "b"]));
    told("setTitle", "title", json!("T"));
    told("set_editor_text", "text", json!("typed"));
    let find = |program: &mut Program| {
        let entries = program.ok(json!({"type": "get_entries"}));
        entries["entries"].as_array().unwrap().iter().find(|entry| entry["customType"] == "said").cloned()
    };
    until(&mut program, |program| find(program).is_some());
    let said = find(&mut program).unwrap();
    assert_eq!(said["data"], json!(["two", null, true, false, "Kim", long, null, true]));
    program.close();
}

#[test]
fn a_dialog_is_ended_by_an_abort_and_by_the_end_of_the_input() {
    let scratch = with(&command("await ctx.ui.input('Name?'); pi.appendEntry('after');"), &[]);
    let mut program = scratch.start();
    go(&mut program, "");
    let name = asked(&mut program, "input");
    program.ok(json!({"type": "abort"}));
    let ended = program.find(|line| line["type"] == "extension_ui_request_ended");
    assert_eq!(ended["id"], name["id"]);
    go(&mut program, "");
    asked(&mut program, "input");
    program.close();
}

#[test]
fn what_is_said_goes_through_the_extensions_in_order() {
    let extension = "export default (pi) => pi.on('input', async (event, ctx) => {
        if (event.text === 'secret') return { action: 'handled' };
        if (event.source !== 'rpc') throw new Error(event.source);
        await new Promise((wake) => setTimeout(wake, event.text === 'one' ? 50 : 0));
        return { action: 'transform', text: event.text + '!' };
    });";
    let scratch = with(extension, &[says("A."), says("B.")]);
    let mut program = scratch.start();
    program.send(&[
        json!({"id": 1, "type": "prompt", "message": "secret"}),
        json!({"id": 2, "type": "prompt", "message": "one"}),
        json!({"id": 3, "type": "follow_up", "message": "two"}),
    ]);
    for id in 1..=3 {
        assert_eq!(program.answer(id)["success"], true);
    }
    program.find(|line| line["type"] == "agent_end");
    program.close();
    let said = scratch.said();
    assert_eq!(pairs(&said), [("user", "one!"), ("assistant", "A."), ("user", "two!"), ("assistant", "B.")]);
}

#[test]
fn a_command_in_place_of_the_shell() {
    let extension = "export default (pi) => pi.on('user_bash', (event) =>
        event.command === 'ls' ? { result: { output: 'nothing here', exitCode: 3, cancelled: false, truncated: false } } : undefined);";
    let scratch = with(extension, &[]);
    let mut program = scratch.start();
    let ran = program.ok(json!({"type": "bash", "command": "ls"}));
    assert_eq!((&ran["output"], &ran["exitCode"]), (&json!("nothing here"), &json!(3)));
    let ran = program.ok(json!({"type": "bash", "command": "printf real"}));
    assert_eq!(ran["output"], "real");
    program.close();
}

#[test]
fn what_is_allowed_once_is_remembered_until_the_extension_changes() {
    let run = command("pi.appendEntry('ran', await pi.exec('printf', ['%s', 'hi']));");
    let scratch = with(&run, &[]);
    let answers = [
        ("Refuse until ramal ends", false),
        ("Allow until ramal ends", true),
        ("Allow, and remember it until the extension changes", true),
    ];
    for (answer, is_allowed) in answers {
        let mut program = scratch.start();
        go(&mut program, "");
        let asked = asked(&mut program, "select");
        let title = string(&asked["title"]);
        assert!(title.contains("mine.ts") && title.contains("printf %s hi"), "{title}");
        respond(&mut program, &asked, json!({ "value": answer }));
        if is_allowed {
            until(&mut program, has_run);
        } else {
            let error = program.find(|line| line["type"] == "extension_error");
            assert!(string(&error["error"]).contains("not allowed to run printf"), "{error}");
            assert!(string(&error["extensionPath"]).ends_with("mine.ts"), "{error}");
        }
        // Not asked again.
        go(&mut program, "");
        program.close().iter().for_each(|line| assert_ne!(line["method"], "select"));
        let _ = fs::remove_file(scratch.path("session.jsonl"));
    }
    let mut program = scratch.start();
    go(&mut program, "");
    until(&mut program, has_run);
    program.close();
    put(&scratch.path("CONFIG/ramal/extensions/mine.ts"), &format!("{run}\n// more"));
    let mut program = scratch.start();
    go(&mut program, "");
    asked(&mut program, "select");
    program.close();
    // For one run it needs no answer.
    let mut program = Program::start(scratch.command().args(["--model", "replay/answers.jsonl", "--yes"]));
    go(&mut program, "");
    until(&mut program, has_run);
    program.close();
}

fn has_run(program: &mut Program) -> bool {
    let entries = program.ok(json!({"type": "get_entries"}));
    entries["entries"].as_array().unwrap().iter().any(|entry| entry["data"]["stdout"] == "hi")
}

#[test]
fn a_project_is_asked_about_before_anything_of_it_runs() {
    let scratch = Scratch::new(&[]);
    put(&scratch.path(".ramal/extensions/theirs/index.ts"), &command("ctx.ui.notify('ran')"));
    for (answer, is_asked_again) in [("Not now", true), ("Never run them here", false)] {
        let mut program = scratch.start();
        let trust = asked(&mut program, "select");
        let title = string(&trust["title"]);
        assert!(title.contains("theirs/index.ts"), "{title}");
        respond(&mut program, &trust, json!({ "value": answer }));
        assert_eq!(program.ok(json!({"type": "get_commands"}))["commands"], json!([]));
        program.close();
        let mut program = scratch.start();
        if is_asked_again {
            asked(&mut program, "select");
        }
        program.state();
        program.close().iter().for_each(|line| assert_ne!(line["method"], "select"));
    }
    fs::remove_file(scratch.path("CONFIG/ramal/extensions.toml")).unwrap();
    let mut program = scratch.start();
    let trust = asked(&mut program, "select");
    respond(&mut program, &trust, json!({"value": "Run them, now and later"}));
    until(&mut program, |program| program.ok(json!({"type": "get_commands"}))["commands"] != json!([]));
    go(&mut program, "");
    assert_eq!(asked(&mut program, "notify")["message"], "ran");
    program.close();
    let mut program = scratch.start();
    assert_eq!(program.ok(json!({"type": "get_commands"}))["commands"][0]["name"], "go");
    program.close();
}

#[test]
fn loaded_anew_with_what_changed() {
    let scratch = with(&command("await ctx.reload()"), &[says("A.")]);
    let mut program = scratch.start();
    // It has loaded what is there when it answers.
    program.state();
    let changed = "export default (pi) => { pi.on('session_start', (event) => pi.appendEntry('start', event.reason));
        pi.registerCommand('other', { handler: () => {} });
        pi.registerTool({ name: 'mine', description: 'd', parameters: { type: 'object' }, execute: () => 'x' }); };";
    put(&scratch.path("CONFIG/ramal/extensions/mine.ts"), changed);
    go(&mut program, "");
    until(&mut program, |program| {
        program.ok(json!({"type": "get_commands"}))["commands"][0]["name"] == "other"
    });
    let has_started = |program: &mut Program| {
        let entries = program.ok(json!({"type": "get_entries"}));
        entries["entries"].as_array().unwrap().iter().any(|entry| entry["data"] == "reload")
    };
    until(&mut program, has_started);
    program.close();
}

#[test]
fn what_cannot_be_loaded_is_told_and_the_rest_works() {
    let scratch = with("import net from 'node:net';\nexport default () => net.connect(1);", &[says("A.")]);
    put(&scratch.path("CONFIG/ramal/extensions/other.ts"), &command("ctx.ui.notify('ran')"));
    let mut program = scratch.start();
    let error = program.find(|line| line["type"] == "extension_error");
    assert!(string(&error["extensionPath"]).ends_with("mine.ts"), "{error}");
    assert_eq!(error["event"], "load");
    let why = string(&error["error"]);
    assert!(why.contains("mine.ts:1") && why.contains("node:net"), "{why}");
    go(&mut program, "");
    asked(&mut program, "notify");
    program.say("Hello");
    program.close();
}

#[test]
fn shutdown_ends_the_program() {
    let scratch = with(&command("ctx.shutdown()"), &[]);
    let mut program = scratch.start();
    go(&mut program, "");
    assert!(program.child.wait().unwrap().success());
}

//! `extensions`, and extensions around `ramal -p`.

use serde_json::{Value, json};

use super::world::{Run, World, entries};

const THEIRS: &str = "export default (pi) => {
    pi.registerCommand('go', { handler: async (args, ctx) => {
        pi.appendEntry('went', [args, ctx.hasUI, await ctx.ui.confirm('?', '?') , (await ctx.ui.select('?', ['a'])) ?? null]);
        if (args) pi.sendUserMessage(args);
    } });
    pi.on('input', (event) => event.text === 'nothing' ? { action: 'handled' } : undefined);
    pi.registerTool({ name: 'shout', description: 'Shouts', parameters: { type: 'object', properties: {} },
        execute: async () => ({ content: [{ type: 'text', text: 'HELLO' }] }) });
    pi.registerFlag('loud', { type: 'boolean' });
    pi.on('session_start', () => { if (pi.getFlag('loud')) throw new Error('loud it is'); });
};";

fn rows(world: &World, args: &[&str]) -> (Vec<Value>, Run) {
    let run = world.run(["extensions", "--json"].iter().chain(args));
    let rows = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (rows, run)
}

#[test]
fn a_project_is_trusted_by_the_user_alone() {
    let world = World::new();
    world.write("work/.ramal/extensions/theirs.ts", THEIRS);
    world.write("home/.config/ramal/extensions/own.js", "export default () => {};");
    let (list, run) = rows(&world, &[]);
    assert_eq!(run.status, 0);
    let told = |row: &Value| (row["source"].clone(), row["runs"].clone());
    assert_eq!(told(&list[0]), (json!("user"), json!(true)));
    assert_eq!(told(&list[1]), (json!("project"), json!(false)));
    assert!(list[1]["whyNot"].as_str().unwrap().contains("--trust"));
    let shown = world.run(["extensions"]).done().out;
    assert!(shown.contains("own.js\n") && shown.contains("theirs.ts  does not run: "), "{shown}");
    let (list, _) = rows(&world, &["--load"]);
    assert_eq!(list[1].get("commands"), None, "what is not trusted is not loaded");
    world.run(["extensions", "--trust"]).done();
    let (list, _) = rows(&world, &["--load"]);
    assert_eq!((&list[1]["commands"], &list[1]["tools"]), (&json!(["go"]), &json!(["shout"])));
    world.run(["extensions", "--distrust"]).done();
    assert_eq!(rows(&world, &[]).0[1]["runs"], false);
    assert_eq!(rows(&world, &["--no-extensions"]).0, Vec::<Value>::new());
}

#[test]
fn what_cannot_be_loaded_is_named_with_its_place() {
    let world = World::new();
    let broken = world.write("work/broken.ts", "\nexport default (pi) => { pi.on( };\n");
    let run = world.run(["extensions", "--load", "-e", "broken.ts"]);
    assert_eq!(run.status, 1);
    let place = format!("{}:2", broken.display());
    assert!(run.out.contains("not loaded") && run.out.contains(&place), "{}", run.out);
    let run = world.run(["extensions", "-e", "none.ts"]);
    assert_eq!(run.status, 1);
    assert!(run.err.contains("none.ts") && run.err.contains("not there"), "{}", run.err);
    world.write("work/\u{1b}[2Jx.ts", "export default () => { throw new Error('\\x1b[31mred'); };");
    let run = world.run(["extensions", "--load", "-e", "."]);
    assert!(!run.out.contains('\u{1b}') && !run.err.contains('\u{1b}'), "{run:?}");
}

/// `-p` in a world with `THEIRS` and recorded answers.
fn say(world: &World, args: &[&str]) -> Run {
    world.write("work/theirs.ts", THEIRS);
    let answers = [
        json!({"when": "ask", "events": [{"text": "Answered."}]}),
        json!({"when": "hello", "events": [{"text": "Hello."}]}),
        json!({"events": [{"toolCall": {"id": "c1", "name": "shout", "arguments": {}}}]}),
        json!({"events": [{"text": "Answered."}]}),
    ];
    world.write("work/answers.jsonl", answers.map(|answer| format!("{answer}\n")).concat());
    let options = ["-e", "theirs.ts", "--model", "replay/answers.jsonl", "--session", "s.jsonl"];
    world.run(args.iter().chain(&options))
}

#[test]
fn said_to_an_extension_and_to_a_model() {
    let world = World::new();
    let run = say(&world, &["-p", "nothing"]).done();
    assert_eq!(run.out, "");
    assert!(!world.path("work/s.jsonl").exists());
    let run = say(&world, &["-p", "/go ask"]).done();
    assert_eq!(run.out.trim(), "Answered.");
    let went = entries(world.path("work/s.jsonl"));
    let went = went.iter().find(|entry| entry["customType"] == "went").unwrap();
    // Nobody is there: the documented defaults.
    assert_eq!(went["data"], json!(["ask", false, false, null]));
    let run = say(&world, &["-p", "use it", "--yes"]).done();
    assert_eq!(run.out.trim(), "Answered.");
    let entries = entries(world.path("work/s.jsonl"));
    let result = entries.iter().find(|entry| entry["message"]["role"] == "toolResult").unwrap();
    assert_eq!(result["message"]["content"][0]["text"], "HELLO");
    for flag in [&["--flag", "loud"][..], &["--loud"], &["--loud=true"]] {
        let run = say(&world, &[&["-p", "nothing"], flag].concat()).done();
        assert!(run.err.contains("theirs") && run.err.contains("loud it is"), "{}", run.err);
    }
    say(&world, &["-p", "nothing", "--quiet"]).failed(2, &["takes --quiet"]);
    say(&world, &["-p", "nothing", "--modle", "x"]).failed(2, &["--modle", "--model"]);
    world.run(["tree", "--loud"]).failed(2, &["unexpected argument '--loud'"]);
}

#[test]
fn tools_of_extensions_are_allowed_by_name() {
    let world = World::new();
    let told = |settings: &str| {
        world.write("home/.config/ramal/settings.toml", settings);
        let run = say(&world, &["-p", "use it"]).done();
        let entries = entries(world.path("work/s.jsonl"));
        let result = entries.iter().rfind(|entry| entry["message"]["role"] == "toolResult").unwrap();
        (result["message"]["content"][0]["text"].as_str().unwrap().to_owned(), run.err)
    };
    let (result, err) = told("permissions.shuot = \"deny\"\n");
    assert!(err.contains("`permissions.shuot` names no tool"), "{err}");
    assert!(!result.contains("HELLO"), "{result}");
    let (result, err) = told("permissions.shout = \"allow\"\n");
    assert!(result.contains("HELLO") && !err.contains("names no tool"), "{result} {err}");
}

#[test]
fn an_untrusted_project_is_said_and_not_run() {
    let world = World::new();
    world.write("work/.ramal/extensions/x.ts", "export default () => { throw new Error('ran'); };");
    let run = say(&world, &["-p", "hello"]).done();
    assert!(run.err.contains("do not run (x.ts)") && !run.err.contains("Error: ran"), "{}", run.err);
    let run = say(&world, &["-p", "hello", "--yes"]).done();
    assert!(run.err.contains("x.ts") && run.err.contains("ran"), "{}", run.err);
}

#[test]
fn what_an_extension_begins_that_is_no_turn_is_waited_for() {
    let world = World::new();
    let compacts = "export default (pi) => {
        pi.registerCommand('shorter', { handler: (args, ctx) => { ctx.compact(); } });
        pi.on('input', (event, ctx) => {
            if (event.text !== 'shorter') return;
            ctx.compact();
            return { action: 'handled' };
        });
        pi.on('session_before_compact', async ({ preparation: { firstKeptEntryId, tokensBefore } }) => {
            await new Promise((resolve) => setTimeout(resolve, 100));
            return { compaction: { summary: 'In short.', firstKeptEntryId, tokensBefore } };
        });
    };";
    world.write("home/.config/ramal/extensions/compacts.ts", compacts);
    world.write("home/.config/ramal/settings.toml", "compaction.keepRecentTokens = 5\n");
    for (said, times) in [("/shorter", 1), ("shorter", 2)] {
        for _ in 0..2 {
            say(&world, &["-p", &"hello and so on ".repeat(100)]).done();
        }
        assert_eq!(say(&world, &["-p", said]).done().out, "");
        let entries = entries(world.path("work/s.jsonl"));
        let summaries: Vec<&Value> = entries.iter().filter(|entry| entry["type"] == "compaction").collect();
        assert_eq!(summaries.len(), times, "{entries:#?}");
        assert!(summaries.iter().all(|summary| summary["summary"] == "In short."), "{summaries:#?}");
    }
}

#[test]
fn what_was_told_is_heard_before_the_end() {
    let world = World::new();
    let hears = "export default (pi) => {
        for (const event of ['turn_end', 'agent_end', 'session_shutdown']) {
            pi.on(event, async () => {
                await new Promise((resolve) => setTimeout(resolve, 50));
                pi.appendEntry('heard', event);
            });
        }
    };";
    world.write("home/.config/ramal/extensions/hears.ts", hears);
    say(&world, &["-p", "hello"]).done();
    let entries = entries(world.path("work/s.jsonl"));
    let heard: Vec<&Value> =
        entries.iter().filter(|entry| entry["customType"] == "heard").map(|entry| &entry["data"]).collect();
    assert_eq!(heard, ["turn_end", "agent_end", "session_shutdown"]);
}

#[test]
fn what_an_extension_says_when_a_turn_has_ended_is_answered_too() {
    let world = World::new();
    world.write(
        "work/more.ts",
        "let asked = false;
        export default (pi) => pi.on('agent_end', () => { if (!asked) { asked = true; pi.sendUserMessage('ask'); } });",
    );
    let run = say(&world, &["-p", "hello", "-e", "more.ts"]).done();
    assert_eq!(run.out.trim(), "Answered.");
    let entries = entries(world.path("work/s.jsonl"));
    let answers = entries.iter().filter(|entry| entry["message"]["role"] == "assistant").count();
    assert_eq!(answers, 2);
}

#[test]
fn what_is_wrong_with_settings_is_told_once_with_extensions_too() {
    let world = World::new();
    world.write("home/.config/ramal/settings.toml", "autoTitle = 7\n");
    world.write("home/.config/ramal/extensions/own.ts", THEIRS);
    let run = world.run(["rpc", "--no-session"]).done();
    assert_eq!(run.err.matches("`autoTitle`").count(), 1, "{}", run.err);
}

#[test]
fn where_the_command_line_names_the_tools_extensions_bring_no_more() {
    let world = World::new();
    for options in [&["--no-tools"][..], &["--tools", "read,ls"]] {
        say(&world, &[&["-p", "use it", "--yes"], options].concat()).done();
        let entries = entries(world.path("work/s.jsonl"));
        let result = entries.iter().rfind(|entry| entry["message"]["role"] == "toolResult").unwrap();
        let text = result["message"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("no tool") && !text.contains("HELLO"), "{text}");
    }
}

//! Examples about sessions, labels, moves, and what is said.

use ramal_testing::log::{string, text_of};
use serde_json::{Value, json};

use crate::scene::{Scene, Talk, calls, says, slowly};

/// The entry with this text.
#[track_caller]
fn entry(scene: &Scene, text: &str) -> Value {
    let entries = scene.entries();
    let found = entries.iter().find(|entry| text_of(&entry["message"]) == text);
    found.unwrap_or_else(|| panic!("nothing says {text}: {entries:#?}")).clone()
}

/// The newest entry of this kind that an extension has made, once there is one.
#[track_caller]
fn custom(scene: &Scene, kind: &str) -> Value {
    let find = || scene.entries().into_iter().rev().find(|entry| entry["customType"] == kind);
    scene.until(&format!("there is an entry {kind}"), || find().is_some());
    find().unwrap()
}

pub(crate) fn bookmark(scene: &Scene) {
    let mut talk = scene.answered(&[says("Done.")]);
    talk.say("hello");
    let answer = entry(scene, "Done.")["id"].clone();
    talk.command("/bookmark here");
    talk.notified("Bookmarked as: here");
    let labels = |scene: &Scene| -> Vec<Value> {
        let entries = scene.entries().into_iter().filter(|entry| entry["type"] == "label");
        entries.map(|entry| json!([entry["targetId"], entry.get("label")])).collect()
    };
    assert_eq!(labels(scene), [json!([answer, "here"])]);
    talk.command("/unbookmark");
    talk.notified("Removed bookmark: here");
    assert_eq!(labels(scene)[1], json!([answer, null]));
    talk.close();
}

pub(crate) fn session_name(scene: &Scene) {
    let mut talk = scene.answered(&[]);
    talk.command("/session-name");
    talk.notified("No session name set");
    talk.command("/session-name A great plan");
    talk.notified("Session named: A great plan");
    assert_eq!(talk.0.state()["sessionName"], "A great plan");
    talk.command("/session-name");
    talk.notified("Session: A great plan");
    talk.close();
}

pub(crate) fn send_user_message(scene: &Scene) {
    let mut talk = scene.answered(&[says("One."), slowly(" two."), says("Three."), says("Four.")]);
    talk.command("/ask first");
    talk.done();
    talk.begin("second");
    talk.0.wait(|line| line["assistantMessageEvent"]["type"] == "text_delta");
    talk.command("/followup third");
    talk.notified("Follow-up queued");
    talk.done();
    talk.command("/askwith fourth");
    talk.done();
    let told = scene.told();
    let expected = [
        "user: first",
        "assistant: One.",
        "user: second",
        "assistant: So two.",
        "user: third",
        "assistant: Three.",
    ];
    assert_eq!(told[told.len() - 8..][..6], expected, "{told:#?}");
    assert!(told[told.len() - 2].contains("User request: fourth"), "{told:#?}");
    talk.close();
}

pub(crate) fn confirm_destructive(scene: &Scene) {
    let mut talk = scene.answered(&[says("Done.")]);
    talk.say("hello");
    for yes in [false, true] {
        talk.ask("new", json!({"type": "new_session"}));
        talk.confirm("Clear session?", yes);
        assert_eq!(talk.answer("new")["cancelled"], !yes);
        if !yes {
            talk.notified("Clear cancelled");
        }
    }
    talk.ask("back", json!({"type": "switch_session", "sessionPath": scene.path("session.jsonl")}));
    // The session that is left has nothing in it.
    assert_eq!(talk.answer("back")["cancelled"], false);
    let said = entry(scene, "hello")["id"].clone();
    for (option, is_cancelled) in [("No", true), ("Yes", false)] {
        talk.ask("fork", json!({"type": "fork", "entryId": said}));
        talk.choose("Fork from entry", option);
        assert_eq!(talk.answer("fork")["cancelled"], is_cancelled);
    }
    talk.close();
}

fn needs_a_terminal(talk: &mut Talk, command: &str) {
    talk.command(command);
    talk.notified(" mode");
}

/// Says which tools are offered, and which of them are an extension's.
const TELLS_TOOLS: &str = "export default (pi) => {
    pi.registerCommand('offered', { handler: async (_, ctx) => ctx.ui.notify('offered: ' + pi.getActiveTools().join(' ')) });
    pi.registerCommand('keep', { handler: async (args, ctx) => {
        pi.appendEntry('tools-config', { enabledTools: args.split(' ') });
        ctx.ui.notify('kept');
    } });
};";

pub(crate) fn tools(scene: &Scene) {
    scene.beside("tells.ts", TELLS_TOOLS);
    let mut talk = scene.answered(&[says("Done."), says("Again.")]);
    needs_a_terminal(&mut talk, "/tools");
    talk.say("hello");
    let before = entry(scene, "Done.")["id"].clone();
    talk.command("/keep read grep");
    talk.notified("kept");
    talk.close();
    let mut talk = scene.start(&[]);
    talk.command("/offered");
    assert_eq!(talk.notified("offered: "), "offered: read grep");
    // What was kept stands behind the place that is gone to.
    talk.ok(json!({"type": "navigate_tree", "targetId": before}));
    talk.close();
}

pub(crate) fn preset(scene: &Scene) {
    scene.beside("tells.ts", TELLS_TOOLS);
    let presets = json!({
        "look": {"tools": ["read", "ls", "none"], "instructions": "LOOK AND TOUCH NOTHING", "thinkingLevel": "off"},
        "other": {"provider": "replay", "model": "other.jsonl"},
    });
    scene.write(".ramal/presets.json", &presets.to_string());
    scene.write("other.jsonl", &says("I am another.").to_string());
    scene.answers(&[
        json!({"whenSystem": "LOOK AND TOUCH NOTHING", "events": [{"text": "I look."}]}),
        json!({"events": [{"text": "I touch."}]}),
    ]);
    let mut talk = scene.start(&[]);
    talk.command("/preset look");
    talk.notified("Unknown tools: none");
    talk.notified("Preset \"look\" activated");
    talk.status("preset", "preset:look");
    talk.command("/offered");
    assert_eq!(talk.notified("offered: "), "offered: read ls");
    talk.say("hello");
    assert!(scene.told().contains(&"assistant: I look.".to_owned()), "{:#?}", scene.told());
    assert_eq!(custom(scene, "preset-state")["data"]["name"], "look");
    talk.command("/preset other");
    talk.notified("Preset \"other\" activated");
    talk.say("hello again");
    assert!(scene.told().contains(&"assistant: I am another.".to_owned()), "{:#?}", scene.told());
    talk.close();
    let mut talk = scene.start(&["--flag", "preset=look"]);
    talk.notified("Preset \"look\" activated");
    talk.close();
}

/// Says when it is loaded anew.
const TELLS_STARTS: &str = "export default (pi) => pi.on('session_start', (event, ctx) => ctx.ui.notify('started by ' + event.reason));";

pub(crate) fn reload_runtime(scene: &Scene) {
    scene.beside("tells.ts", TELLS_STARTS);
    let mut talk = scene.answered(&[calls("reload_runtime", json!({}))]);
    talk.notified("started by startup");
    talk.command("/reload-runtime");
    talk.notified("started by reload");
    // The tool ends the turn: there is no second answer that could be asked for.
    talk.say("load everything anew");
    assert!(talk.result().contains("Reload requested"), "{}", talk.result());
    talk.notified("started by reload");
    talk.close();
}

pub(crate) fn shutdown_command(scene: &Scene) {
    let mut talk = scene.answered(&[calls("finish_and_exit", json!({})), says("Goodbye.")]);
    talk.say("end it");
    assert!(talk.0.child.wait().unwrap().success());
    let told = scene.told();
    assert_eq!(told.last().unwrap(), "assistant: Goodbye.");
    let mut talk = scene.start(&[]);
    talk.command("/quit");
    assert!(talk.0.child.wait().unwrap().success());
}

pub(crate) fn plan_mode(scene: &Scene) {
    scene.beside("tells.ts", TELLS_TOOLS);
    scene.write("kept.txt", "still here\n");
    scene.answers(&[
        calls("bash", json!({"command": "rm kept.txt"})),
        says("Plan:\n1. Look at every file there is\n2. Write down what was found\n"),
        says("Found it. [DONE:1]\nWrote it. [DONE:2]"),
        says("Nothing left."),
    ]);
    let mut talk = scene.start(&[]);
    talk.command("/plan");
    talk.notified("Plan mode enabled");
    talk.status("plan-mode", "plan");
    talk.command("/offered");
    let offered = talk.notified("offered: ");
    assert!(offered.contains("read") && !offered.contains("write") && !offered.contains("edit"), "{offered}");
    talk.begin("plan it");
    talk.choose("Plan mode - what next?", "Execute");
    // A widget with what is to be done, until all of it is.
    talk.widget("plan-todos", "every file");
    scene.until("the plan is complete", || {
        scene.entries().iter().any(|entry| entry["customType"] == "plan-mode-execute")
            && scene.told().iter().any(|told| told.contains("[DONE:1]"))
            && custom(scene, "plan-mode")["data"]["executing"] == false
    });
    assert!(talk.results()[0]["isError"] == true && talk.result().contains("Plan mode: command blocked"));
    assert_eq!(scene.read("kept.txt"), "still here\n");
    assert!(scene.entries().iter().any(|entry| entry["customType"] == "plan-mode-context"));
    talk.command("/offered");
    assert!(talk.notified("offered: ").contains("write"));
    talk.close();
}

pub(crate) fn commands(scene: &Scene) {
    let mut talk = scene.answered(&[]);
    talk.command("/commands");
    talk.choose("Available Commands", "/commands");
    talk.confirm("View source path?", true);
    assert!(talk.notified("commands.ts").ends_with("commands.ts"));
    talk.command("/commands skill");
    talk.notified("No skill commands found");
    talk.close();
}

pub(crate) fn event_bus(scene: &Scene) {
    scene.beside(
        "hears.ts",
        "export default (pi) => {
        let last; pi.on('session_start', (_, ctx) => { last = ctx; });
        pi.events.on('my:notification', (data) => last?.ui.notify('heard beside it: ' + data.message));
    };",
    );
    let mut talk = scene.answered(&[]);
    talk.notified("Event from event-bus-example: Session started");
    talk.command("/emit good morning");
    talk.notified("Event from /emit command: good morning");
    talk.notified("heard beside it: good morning");
    talk.close();
}

pub(crate) fn input_transform(scene: &Scene) {
    let mut talk = scene.answered(&[says("Briefly.")]);
    talk.command("ping");
    talk.notified("pong");
    talk.command("?quick  ");
    talk.notified("Usage: ?quick");
    talk.say("?quick what is a tree");
    entry(scene, "Respond briefly in 1-2 sentences: what is a tree");
    assert!(!scene.told().iter().any(|told| told.contains("ping")));
    talk.close();
}

pub(crate) fn inline_bash(scene: &Scene) {
    let mut talk = scene.answered(&[says("Done.")]);
    talk.say("It is !{echo $((6 * 7))} and !{printf no >&2; exit 3}.");
    entry(scene, "It is 42 and no.");
    let shown = talk.notified("Expanded 2 inline command(s)");
    assert!(shown.contains("exit code 3"), "{shown}");
    talk.close();
}

pub(crate) fn file_trigger(scene: &Scene) {
    const FILE: &str = "/tmp/agent-trigger.txt";
    #[expect(clippy::disallowed_methods, reason = "the file that the example watches, wherever it runs")]
    let put = |text: &str| std::fs::write(FILE, text).unwrap();
    put("");
    let mut talk = scene.answered(&[says("I come.")]);
    talk.notified("Watching");
    put("come here\n");
    talk.done();
    assert_eq!(string(&custom(scene, "file-trigger")["content"]), "External trigger: come here");
    assert!(scene.told().contains(&"assistant: I come.".to_owned()), "{:?}", scene.told());
    scene.until("the file is emptied", || std::fs::read_to_string(FILE).unwrap().is_empty());
    talk.close();
    let _ = std::fs::remove_file(FILE);
}

pub(crate) fn entry_renderer(scene: &Scene) {
    let mut talk = scene.answered(&[says("I see nothing.")]);
    talk.command("/status-card All is well");
    talk.say("go on");
    assert_eq!(custom(scene, "status-card")["data"]["message"], "All is well");
    let seen = talk.ok(json!({"type": "get_model_messages"}));
    assert!(seen.to_string().contains("go on") && !seen.to_string().contains("All is well"), "{seen}");
    talk.close();
}

//! Examples that show something, or ask.

use serde_json::json;

use crate::scene::{Scene, says, slowly};

pub(crate) fn timed_confirm(scene: &Scene) {
    let mut talk = scene.answered(&[]);
    for (yes, says) in [(true, "Confirmed by user!"), (false, "Cancelled or timed out")] {
        talk.command("/timed");
        talk.confirm("Confirm?", yes);
        talk.notified(says);
    }
    talk.command("/timed-select");
    talk.choose("Pick an option", "Option B");
    talk.notified("Selected: Option B");
    talk.command("/timed-signal");
    talk.asked("confirm", "5 seconds");
    talk.0.find(|line| line["type"] == "extension_ui_request_ended");
    talk.notified("Dialog timed out (auto-cancelled)");
    talk.close();
}

pub(crate) fn rpc_demo(scene: &Scene) {
    let mut talk =
        scene.answered(&[crate::scene::calls("bash", json!({"command": "sudo true"})), says("As you like.")]);
    talk.title("pi RPC Demo");
    talk.widget("rpc-demo", "Loaded and ready.");
    talk.status("rpc-demo", "Turns: 0");
    talk.command("/rpc-input");
    talk.write("input", "Enter a value", "seven");
    talk.notified("You entered: seven");
    talk.command("/rpc-editor");
    talk.write("editor", "Edit some text", "one\ntwo");
    talk.notified("Editor submitted (2 lines)");
    talk.command("/rpc-prefill");
    talk.editor_text("set by the rpc-demo extension");
    talk.begin("become root");
    talk.choose("Dangerous command: sudo true", "Block");
    talk.notified("Command blocked by user");
    talk.done();
    talk.status("rpc-demo", "Turn 2 done");
    talk.ask("new", json!({"type": "new_session"}));
    talk.confirm("Clear session?", false);
    assert_eq!(talk.answer("new")["cancelled"], true);
    talk.close();
}

pub(crate) fn status_line(scene: &Scene) {
    let mut talk = scene.answered(&[says("One."), says("Two.")]);
    talk.status("status-demo", "Ready");
    talk.say("hello");
    talk.status("status-demo", "Turn 1...");
    talk.status("status-demo", "Turn 1 complete");
    talk.say("hello");
    talk.status("status-demo", "Turn 2 complete");
    talk.close();
}

pub(crate) fn model_status(scene: &Scene) {
    scene.write("other.jsonl", &says("I am another.").to_string());
    let mut talk = scene.answered(&[says("One.")]);
    talk.ok(json!({"type": "set_model", "provider": "replay", "modelId": "other.jsonl"}));
    talk.notified("Model: replay/other.jsonl");
    talk.status("model", "other.jsonl");
    let line = "[model_select] replay/answers.jsonl → replay/other.jsonl (set)";
    scene.until("it is logged", || scene.log().iter().any(|logged| logged.contains(line)));
    talk.close();
}

pub(crate) fn notify(scene: &Scene) {
    let mut talk = scene.answered(&[says("One.")]);
    talk.say("hello");
    scene.until("it is notified", || scene.log().iter().any(|line| line.contains("Ready for input")));
    talk.close();
}

pub(crate) fn system_prompt_header(scene: &Scene) {
    let mut talk = scene.answered(&[says("One.")]);
    talk.say("hello");
    talk.status("system-prompt", "chars");
    talk.close();
}

pub(crate) fn widget_placement(scene: &Scene) {
    let mut talk = scene.answered(&[]);
    for (key, placement) in [("widget-above", "aboveEditor"), ("widget-below", "belowEditor")] {
        assert_eq!(talk.widget(key, "editor widget")["widgetPlacement"], placement);
    }
    talk.close();
}

pub(crate) fn titlebar_spinner(scene: &Scene) {
    let mut talk = scene.answered(&[slowly(" it is.")]);
    talk.say("hello");
    // One of the pictures while it works, and none at the end.
    talk.title("⠋ π");
    talk.title("\"π");
    talk.close();
}

pub(crate) fn claude_rules(scene: &Scene) {
    scene.write(".claude/rules/style/words.md", "Short words.\n");
    scene.answers(&[
        json!({"whenSystem": "- .claude/rules/style/words.md", "events": [{"text": "There are rules."}]}),
        json!({"events": [{"text": "There are none."}]}),
    ]);
    let mut talk = scene.start(&[]);
    talk.notified("Found 1 rule(s) in .claude/rules/");
    talk.say("hello");
    assert_eq!(scene.told().last().unwrap(), "assistant: There are rules.");
    talk.close();
}

pub(crate) fn pirate(scene: &Scene) {
    scene.answers(&[
        json!({"whenSystem": "PIRATE MODE", "events": [{"text": "Arrr."}]}),
        json!({"events": [{"text": "Hello."}]}),
        json!({"events": [{"text": "Hello again."}]}),
    ]);
    let mut talk = scene.start(&[]);
    talk.say("hello");
    talk.command("/pirate");
    talk.notified("Pirate mode enabled");
    talk.say("hello");
    talk.command("/pirate");
    talk.notified("Pirate mode disabled");
    talk.say("hello");
    let told = scene.told();
    let answers: Vec<&String> = told.iter().filter(|told| told.starts_with("assistant")).collect();
    assert_eq!(answers, ["assistant: Hello.", "assistant: Arrr.", "assistant: Hello again."]);
    talk.close();
}

pub(crate) fn prompt_customizer(scene: &Scene) {
    scene.answers(&[
        json!({"whenSystem": "Use `edit` for precise text replacements", "events": [{"text": "I know how."}]}),
        json!({"events": [{"text": "I guess."}]}),
    ]);
    let mut talk = scene.start(&[]);
    talk.say("hello");
    assert_eq!(scene.told().last().unwrap(), "assistant: I know how.");
    talk.close();
    let mut talk = scene.start(&["--no-tools"]);
    talk.say("hello");
    assert_eq!(scene.told().last().unwrap(), "assistant: I guess.");
    talk.close();
}

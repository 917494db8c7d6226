//! Examples that are for a person at a terminal.

use ramal_testing::terminal::{Options, Terminal};
use serde_json::json;

use crate::scene::{Scene, says};

fn say(terminal: &Terminal, text: &str) {
    terminal.text(text);
    terminal.key("enter");
}

#[track_caller]
fn leave(mut terminal: Terminal) {
    terminal.key("ctrl+d");
    assert!(terminal.end().success());
}

/// ramal has a command of that name itself, which goes before: another extension says the example's.
const SAYS_IT: &str = "export default (pi) => pi.registerCommand('theirs', { handler: async (args) =>
    pi.sendUserMessage(('/handoff ' + args).trim(), { expandPromptTemplates: true }) });";

pub(crate) fn handoff(scene: &Scene) {
    scene.beside("says.ts", SAYS_IT);
    scene.answers(&[
        json!({"whenSystem": "context transfer assistant", "events": [{"after": 500, "text": "## Task\nPlant the tree."}]}),
        says("They are green."),
        says("Planted."),
    ]);
    let terminal = scene.terminal(Options::new(100, 40));
    say(&terminal, "/theirs plant one");
    terminal.wait_for_text("No conversation to hand off");
    say(&terminal, "tell me about trees");
    terminal.wait_for_text("They are green.");
    say(&terminal, "/theirs");
    terminal.wait_for_text("Usage: /handoff");
    say(&terminal, "/theirs plant one");
    terminal.wait_for_text("Generating handoff prompt...");
    terminal.wait_for(|screen| screen.says("Edit handoff prompt") && screen.says("Plant the tree."));
    terminal.text(" Today.");
    terminal.key("enter");
    terminal.wait_for(|screen| screen.says("Handoff ready") && screen.says("Plant the tree. Today."));
    // What was written for the new session is said there.
    terminal.key("enter");
    scene.until("the new session is there", || {
        let texts = scene.sessions();
        let new = texts.iter().find(|text| text.contains("Plant the tree. Today."));
        new.is_some_and(|text| text.lines().next().is_some_and(|header| header.contains("parentSession")))
    });
    terminal.wait_for_text("Planted.");
    leave(terminal);
}

pub(crate) fn qna(scene: &Scene) {
    scene.answers(&[
        json!({"whenSystem": "question extractor", "events": [{"after": 500, "text": "Q: How tall is it?\nA: "}]}),
        json!({"events": [{"text": "Which one? How tall is it?"}]}),
    ]);
    let terminal = scene.terminal(Options::new(100, 40));
    say(&terminal, "/qna");
    terminal.wait_for_text("No assistant messages found");
    say(&terminal, "tell me about trees");
    terminal.wait_for_text("Which one?");
    say(&terminal, "/qna");
    terminal.wait_for_text("Extracting questions using answers.jsonl...");
    terminal.wait_for(|screen| screen.says("Questions loaded") && screen.says("Q: How tall is it?"));
    // Once more, and ended.
    terminal.key("ctrl+c");
    say(&terminal, "/qna");
    terminal.wait_for(|screen| screen.says("Extracting questions using answers.jsonl..."));
    terminal.key("esc");
    terminal.wait_for(|screen| !screen.says("Extracting questions using answers.jsonl..."));
    leave(terminal);
}

pub(crate) fn message_renderer(scene: &Scene) {
    scene.answers(&[says("I see.")]);
    let terminal = scene.terminal(Options::new(100, 40));
    say(&terminal, "/status warn Careful now");
    terminal.wait_for_text("[WARN] Careful now");
    say(&terminal, "go on");
    terminal.wait_for_text("I see.");
    leave(terminal);
    let text = scene.sessions().concat();
    assert!(text.contains(r#""customType":"status-update""#) && text.contains(r#""level":"warn""#), "{text}");
}

/// A theme that an extension brings can be chosen by the name of its file.
pub(crate) fn dynamic_resources(scene: &Scene) {
    scene.answers(&[says("In colours.")]);
    scene.settings("theme = \"dynamic\"\n");
    let terminal = scene.terminal(Options::new(100, 40));
    scene.until("it was asked for its paths", || scene.log().len() >= 2);
    say(&terminal, "hello");
    terminal.wait_for_text("In colours.");
    leave(terminal);
    let log = scene.log().join("\n");
    for name in ["SKILL.md", "dynamic.md"] {
        assert!(log.contains(&format!("{name} is not used")), "{log}");
    }
}

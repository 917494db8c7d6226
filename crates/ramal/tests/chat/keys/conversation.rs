//! Beside the editor: what concerns the conversation.

use ramal_testing::terminal::Terminal;
use ramal_tui::keys::ActionId;
use serde_json::json;

use super::super::support::{calls, dawdles, says};
use super::super::world::{LAST_ANSWER, sessions_below};
use super::{Row, World, add_models, ask, copied, entries, give, leave, leave_written, put, say, terminal};

pub(super) const ROWS: &[Row] = &[
    Row { action: ActionId::Interrupt, scenario: interrupt },
    Row { action: ActionId::Clear, scenario: clear },
    Row { action: ActionId::Tree, scenario: tree },
    Row { action: ActionId::Fork, scenario: fork },
    Row { action: ActionId::Resume, scenario: resume },
    Row { action: ActionId::NewSession, scenario: new_session },
    Row { action: ActionId::PreviousSibling, scenario: previous_sibling },
    Row { action: ActionId::NextSibling, scenario: next_sibling },
    Row { action: ActionId::OpenTranscript, scenario: open_transcript },
    Row { action: ActionId::ExpandTools, scenario: expand_tools },
    Row { action: ActionId::SelectModel, scenario: select_model },
    Row { action: ActionId::NextModel, scenario: next_model },
    Row { action: ActionId::PreviousModel, scenario: previous_model },
    Row { action: ActionId::CycleThinking, scenario: cycle_thinking },
    Row { action: ActionId::ToggleThinking, scenario: toggle_thinking },
    Row { action: ActionId::FollowUp, scenario: follow_up },
    Row { action: ActionId::Dequeue, scenario: dequeue },
    Row { action: ActionId::ExternalEditor, scenario: external_editor },
    Row { action: ActionId::SearchHistory, scenario: search_history },
    Row { action: ActionId::TakeOffered, scenario: take_offered },
    Row { action: ActionId::StashDraft, scenario: stash_draft },
    Row { action: ActionId::CopyPrompt, scenario: copy_prompt },
    Row { action: ActionId::CopyLine, scenario: copy_line },
];

fn interrupt(key: &str) {
    let world = World::new(&[dawdles("It begins.")]);
    let mut terminal = world.start(terminal(80, 24, key));
    say(&terminal, "Tell me.");
    terminal.wait_for_text("It begins.");
    terminal.key(key);
    terminal.wait_for(|screen| !screen.says("Working"));
    leave(&mut terminal);
    let last = world.entries().pop().unwrap();
    assert_eq!(last["message"]["stopReason"], "aborted", "{last}");
}

fn clear(key: &str) {
    let world = World::new(&[]);
    let mut terminal = world.start(terminal(80, 24, key));
    terminal.text("not worth saying");
    terminal.wait_for_text("not worth saying");
    terminal.key(key);
    terminal.wait_for(|screen| !screen.says("not worth saying"));
    leave(&mut terminal);
}

fn tree(key: &str) {
    let world = World::with_sample(&[]);
    let mut terminal = world.start(terminal(100, 40, key));
    terminal.key(key);
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("◀ leaf"));
    terminal.key("esc");
    terminal.wait_for(|screen| !screen.is_alternate());
    leave(&mut terminal);
}

fn fork(key: &str) {
    let world = World::with_sample(&[]);
    give(&world, ActionId::Fork, key);
    let mut terminal = world.start(terminal(100, 40, key));
    terminal.key(key);
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("Last thing."));
    terminal.text("last thing");
    terminal.wait_for(|screen| screen.says("Search: last thing") && screen.says("on the active path"));
    terminal.key("enter");
    // What was said is to be said again, in a session that came from this one.
    terminal.wait_for(|screen| !screen.is_alternate() && screen.says("Last thing. The standard also"));
    leave_written(&mut terminal);
}

fn resume(key: &str) {
    let world = World::with_sample(&[]);
    give(&world, ActionId::Resume, key);
    let mut terminal = world.start(terminal(100, 40, key));
    terminal.key(key);
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("Sessions"));
    terminal.key("esc");
    terminal.wait_for(|screen| !screen.is_alternate());
    leave(&mut terminal);
}

fn new_session(key: &str) {
    let world = World::new(&[says("The first answer."), says("The second answer.")]);
    give(&world, ActionId::NewSession, key);
    let mut terminal = world.start(terminal(100, 40, key));
    ask(&terminal, "A first question.", "The first answer.");
    terminal.key(key);
    terminal.wait_for_text("another session");
    ask(&terminal, "A second question.", "The second answer.");
    leave(&mut terminal);
    assert_eq!(sessions_below(&world.scratch.path("")).len(), 2);
}

/// What the footer says of the branches beside the one where the sample is opened.
const LAST_BRANCH: &str = "‹2/2›";
const BRANCH_BEFORE: &str = "‹1/2›";

fn previous_sibling(key: &str) {
    let world = World::with_sample(&[]);
    let mut terminal = world.start(terminal(100, 40, key));
    terminal.wait_for_text(LAST_BRANCH);
    terminal.key(key);
    terminal.wait_for_text(BRANCH_BEFORE);
    leave(&mut terminal);
}

fn next_sibling(key: &str) {
    let world = World::with_sample(&[]);
    let mut terminal = world.start(terminal(100, 40, key));
    terminal.wait_for_text(LAST_BRANCH);
    terminal.key("alt+,");
    terminal.wait_for_text(BRANCH_BEFORE);
    terminal.key(key);
    terminal.wait_for(|screen| screen.says(LAST_BRANCH) && screen.says(LAST_ANSWER));
    leave(&mut terminal);
}

fn open_transcript(key: &str) {
    let world = World::with_sample(&[]);
    let mut terminal = world.start(terminal(100, 40, key));
    terminal.key(key);
    terminal.wait_for(|screen| screen.is_alternate() && screen.says(LAST_ANSWER));
    // Only here there is a filter of this kind.
    terminal.key("f");
    terminal.wait_for_text("without tools");
    terminal.key("q");
    terminal.wait_for(|screen| !screen.is_alternate());
    leave(&mut terminal);
}

fn expand_tools(key: &str) {
    let world = World::new(&[calls("bash", json!({"command": "seq -f line-%g 100"})), says("So many.")]);
    put(&world, "CONFIG/ramal/settings.toml", "permissions.bash = \"allow\"\n");
    let mut terminal = world.start(terminal(100, 60, key));
    ask(&terminal, "Count.", "So many.");
    assert!(!terminal.screen().says("line-60"));
    terminal.key(key);
    terminal.wait_for_text("line-60");
    terminal.key(key);
    terminal.wait_for(|screen| !screen.says("line-60"));
    leave(&mut terminal);
}

fn select_model(key: &str) {
    let world = World::new(&[]);
    add_models(&world);
    let mut terminal = world.start(terminal(100, 40, key));
    terminal.key(key);
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("Models") && screen.says("mine/third"));
    terminal.key("esc");
    terminal.wait_for(|screen| !screen.is_alternate());
    leave(&mut terminal);
}

fn next_model(key: &str) {
    goes_to_model(key, "mine/third");
}

fn previous_model(key: &str) {
    goes_to_model(key, "mine/first");
}

/// From the second of three.
fn goes_to_model(key: &str, expected: &str) {
    let world = World::new(&[]);
    add_models(&world);
    let mut terminal = world.start(terminal(100, 40, key));
    say(&terminal, "/model mine/second");
    terminal.wait_for(|screen| is_in_footer(screen, "mine/second"));
    terminal.key(key);
    terminal.wait_for(|screen| is_in_footer(screen, expected));
    leave(&mut terminal);
}

fn is_in_footer(screen: &ramal_testing::terminal::Screen<'_>, text: &str) -> bool {
    screen.text().lines().next_back().is_some_and(|last| last.contains(text))
}

fn cycle_thinking(key: &str) {
    let world = World::with_sample(&[]);
    let mut terminal = world.start(terminal(100, 40, key));
    // The sample was left at `high`.
    terminal.wait_for(|screen| is_in_footer(screen, "thinking: high"));
    terminal.key(key);
    terminal.wait_for(|screen| is_in_footer(screen, "thinking: xhigh"));
    terminal.key(key);
    terminal.wait_for(|screen| !is_in_footer(screen, "thinking"));
    leave(&mut terminal);
    let levels = entries(&world, "thinking_level_change");
    assert_eq!(levels.last().unwrap()["thinkingLevel"], "off");
}

fn toggle_thinking(key: &str) {
    let world = World::new(&[json!({"events": [{"thinking": "Let me see."}, {"text": "I see."}]})]);
    let mut terminal = world.start(terminal(100, 40, key));
    ask(&terminal, "Do you see?", "I see.");
    terminal.wait_for_text("Let me see.");
    terminal.key(key);
    terminal.wait_for(|screen| !screen.says("Let me see.") && screen.says("I see."));
    terminal.key(key);
    terminal.wait_for_text("Let me see.");
    leave(&mut terminal);
}

fn follow_up(key: &str) {
    let world = World::new(&[dawdles("It begins.")]);
    let mut terminal = world.start(terminal(80, 24, key));
    say(&terminal, "Tell me.");
    terminal.wait_for_text("It begins.");
    terminal.text("And that?");
    terminal.key(key);
    terminal.wait_for_text("then: And that?");
    leave_turn(&mut terminal);
}

fn dequeue(key: &str) {
    let world = World::new(&[dawdles("It begins.")]);
    let mut terminal = world.start(terminal(80, 24, key));
    say(&terminal, "Tell me.");
    terminal.wait_for_text("It begins.");
    terminal.text("And that?");
    terminal.key("alt+enter");
    terminal.wait_for_text("then: And that?");
    terminal.key(key);
    terminal.wait_for(|screen| !screen.says("then:") && screen.says("And that?"));
    terminal.key("ctrl+c");
    leave_turn(&mut terminal);
}

/// Leaves in the middle of a turn.
fn leave_turn(terminal: &mut Terminal) {
    terminal.key("esc");
    terminal.wait_for(|screen| !screen.says("Working"));
    leave(terminal);
}

fn external_editor(key: &str) {
    let world = World::new(&[]);
    put(&world, "edit.sh", "text=$(cat \"$1\"); printf '%s, and more' \"$text\" > \"$1\"");
    let options = terminal(80, 24, key).variable("VISUAL", "sh edit.sh");
    let mut terminal = world.start(options);
    terminal.text("Some text");
    terminal.key(key);
    terminal.wait_for_text("Some text, and more");
    leave_written(&mut terminal);
}

fn search_history(key: &str) {
    let world = World::new(&[says("Granted.")]);
    let mut terminal = world.start(terminal(80, 24, key));
    ask(&terminal, "An old wish.", "Granted.");
    terminal.key(key);
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("What was sent before"));
    terminal.text("wish");
    terminal.wait_for_text("Search: wish");
    terminal.key("enter");
    // Once as it was said, once in the editor.
    terminal.wait_for(|screen| !screen.is_alternate() && screen.text().matches("An old wish.").count() == 2);
    leave_written(&mut terminal);
}

fn take_offered(key: &str) {
    let world = World::new(&[says("Granted.")]);
    let mut terminal = world.start(terminal(80, 24, key));
    ask(&terminal, "An old wish.", "Granted.");
    terminal.text("A new one");
    terminal.key("ctrl+r");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("An old wish."));
    terminal.key("enter");
    // What is written stays until it is exchanged.
    terminal.wait_for(|screen| !screen.is_alternate() && screen.says("Your draft stays"));
    assert!(terminal.screen().says("A new one"));
    terminal.key(key);
    terminal
        .wait_for(|screen| !screen.says("A new one") && screen.text().matches("An old wish.").count() == 2);
    leave_written(&mut terminal);
}

fn stash_draft(key: &str) {
    let world = World::new(&[]);
    let mut terminal = world.start(terminal(80, 24, key));
    terminal.text("for later");
    terminal.key(key);
    terminal.wait_for(|screen| screen.says("Put aside") && !screen.says("for later"));
    terminal.key(key);
    terminal.wait_for(|screen| screen.says("Brought back") && screen.says("for later"));
    leave_written(&mut terminal);
}

fn copy_prompt(key: &str) {
    copies(key, "one line\nand another");
}

fn copy_line(key: &str) {
    copies(key, "and another");
}

/// With two lines in the editor.
fn copies(key: &str, expected: &str) {
    let world = World::new(&[]);
    let mut terminal = world.start(terminal(80, 24, key));
    // There is nothing to copy yet, and what is in the clipboard stays there.
    terminal.key(key);
    terminal.wait_for_text("Nothing is written");
    assert_eq!(copied(&terminal), None);
    terminal.paste("one line\nand another");
    terminal.wait_for_text("and another");
    terminal.key(key);
    terminal.wait_for_text("Copied");
    assert_eq!(copied(&terminal).as_deref(), Some(expected));
    leave_written(&mut terminal);
}

//! What is said and answered.

use ramal_testing::terminal::{Options, Screen};

use super::support::{calls, dawdles, says};
use super::world::{LAST_ANSWER, World, leave};
use serde_json::json;

#[test]
fn a_question_is_answered_and_stored() {
    for options in [Options::new(80, 24), Options::new(80, 24).kitty(), Options::new(40, 10).silent()] {
        let world = World::new(&[says("The **answer** is 42.")]);
        let mut terminal = world.start(options);
        terminal.text("What is it?");
        terminal.key("enter");
        terminal.wait_for_text("The answer is 42.");
        terminal.wait_for(|screen| !screen.says("Working"));
        leave(&mut terminal);
        let log = world.log();
        assert!(log.contains("What is it?") && log.contains("The **answer** is 42."), "{log}");
        // It stays in the terminal's own scrollback.
        assert!(terminal.main_screen().everything().contains("The answer is 42."));
    }
}

#[test]
fn escape_ends_an_answer_and_what_came_is_kept() {
    let world = World::new(&[dawdles("It begins.")]);
    let mut terminal = world.start(Options::new(80, 24));
    terminal.text("Tell me.");
    terminal.key("enter");
    terminal.wait_for_text("It begins.");
    terminal.wait_for_text("Working");
    terminal.key("esc");
    terminal.wait_for(|screen| !screen.says("Working"));
    leave(&mut terminal);
    let last = world.entries().pop().unwrap();
    assert_eq!(last["message"]["stopReason"], "aborted", "{last}");
}

#[test]
fn a_permission_is_asked_for_on_the_screen() {
    for (key, is_there) in [("y", true), ("n", false), ("esc", false)] {
        let command = json!({"command": "touch made-by-the-model"});
        let world = World::new(&[calls("bash", command), says("So be it.")]);
        let mut terminal = world.start(Options::new(80, 24));
        terminal.text("Make a file.");
        terminal.key("enter");
        terminal.wait_for_text("touch made-by-the-model");
        terminal.key(key);
        terminal.wait_for_text("So be it.");
        leave(&mut terminal);
        assert_eq!(world.scratch.path("made-by-the-model").exists(), is_there, "{key}");
    }
}

#[test]
fn a_command_of_ones_own_is_run_and_kept() {
    let world = World::new(&[]);
    let mut terminal = world.start(Options::new(80, 24));
    terminal.text("!echo from the shell");
    terminal.key("enter");
    terminal.wait_for(|screen| screen.says("from the shell") && !screen.says("ends it"));
    terminal.text("!!echo for nobody");
    terminal.key("enter");
    terminal.wait_for_text("not told to the model");
    leave(&mut terminal);
    let log = world.log();
    assert!(log.contains("\"bashExecution\"") && log.contains("excludeFromContext"), "{log}");
}

#[test]
fn what_is_said_meanwhile_is_said_next() {
    let world = World::new(&[dawdles("It begins."), says("Then this.")]);
    let mut terminal = world.start(Options::new(80, 24));
    terminal.text("Tell me.");
    terminal.key("enter");
    terminal.wait_for_text("It begins.");
    terminal.text("And that?");
    terminal.key("alt+enter");
    terminal.wait_for_text("then: And that?");
    // It can be taken back.
    terminal.key("alt+up");
    terminal.wait_for(|screen| !screen.says("then:") && screen.says("And that?"));
    terminal.key("esc");
    terminal.wait_for(|screen| !screen.says("Working"));
    terminal.key("enter");
    terminal.wait_for_text("Then this.");
    leave(&mut terminal);
}

#[test]
fn a_resize_shows_nothing_twice() {
    let narrow = |screen: &Screen<'_>| screen.rows().iter().any(|row| *row == "─".repeat(90));
    let world = World::new(&[says("The answer is 42.")]);
    let mut terminal = world.start(Options::new(100, 40));
    terminal.text("What is it?");
    terminal.key("enter");
    terminal.wait_for(|screen| screen.says("The answer is 42.") && !screen.says("Working"));
    terminal.text("!echo $((6 * 7)) from the shell");
    terminal.key("enter");
    terminal.wait_for(|screen| screen.says("42 from the shell") && !screen.says("ends it"));
    terminal.resize(90, 40);
    terminal.wait_for(narrow);
    let text = terminal.screen().text();
    for said in ["The answer is 42.", "42 from the shell"] {
        assert_eq!(text.matches(said).count(), 1, "{text}");
    }
    leave(&mut terminal);

    let world = World::with_sample(&[]);
    let mut terminal = world.start(Options::new(100, 40));
    terminal.resize(90, 40);
    terminal.wait_for(narrow);
    let text = terminal.screen().text();
    assert_eq!(text.matches(LAST_ANSWER).count(), 1, "{text}");
    leave(&mut terminal);
}

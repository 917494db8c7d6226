//! Going about in a session.

use ramal_testing::terminal::Options;

use super::super::doing::{empty_and_leave, eventually, made, say, settings, wait_until_idle};
use super::super::support::says;
use super::super::world::{LAST_ANSWER, World, leave};
use serde_json::json;

/// How the last message of the sample session begins.
const LAST_SAID: &str = "Last thing. The standard";

pub(super) fn tree_opens_the_tree(name: &str) {
    let world = World::with_sample(&[]);
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, name);
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("◀ leaf"));
    terminal.key("esc");
    wait_until_idle(&terminal);
    leave(&mut terminal);
}

pub(super) fn branch_goes_back_to_a_message(name: &str) {
    // In the tree, unless the settings say that it is to be a session of its own.
    let world = World::with_sample(&[]);
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, name);
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("◀ leaf"));
    terminal.key("esc");
    wait_until_idle(&terminal);
    leave(&mut terminal);
    assert!(made(&world).is_empty());

    settings(&world.scratch, "doubleEscapeAction = \"branch\"\n");
    let before = world.log();
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, name);
    terminal.wait_for(|screen| screen.is_alternate() && screen.says(LAST_SAID));
    assert!(!terminal.screen().says("Everything up to here"));
    terminal.key("enter");
    // What was said is there to be said again, in a session that ends before it.
    eventually("the session", || made(&world).pop());
    terminal.wait_for(|screen| {
        let below = screen.rows().len() - 8;
        let is_in_editor = screen.rows().iter().skip(below).any(|row| row.starts_with(LAST_SAID));
        !screen.is_alternate() && is_in_editor && !screen.says("ends it")
    });
    empty_and_leave(&mut terminal);
    let files = made(&world);
    assert_eq!(files.len(), 1, "{files:?}");
    let made = std::fs::read_to_string(&files[0]).unwrap();
    assert!(made.contains("30 tests pass") && !made.contains(LAST_SAID), "{made}");
    assert!(made.lines().next().unwrap().contains("parentSession"));
    assert_eq!(world.log(), before);
}

pub(super) fn fork_begins_a_session_anew(name: &str) {
    let world = World::with_sample(&[]);
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, name);
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("Everything up to here"));
    // Before the last message, as long as one chooses nothing else.
    terminal.key("enter");
    eventually("the session", || made(&world).pop());
    terminal.wait_for(|screen| {
        let below = screen.rows().len() - 8;
        let is_in_editor = screen.rows().iter().skip(below).any(|row| row.starts_with(LAST_SAID));
        !screen.is_alternate() && is_in_editor && !screen.says("ends it")
    });
    empty_and_leave(&mut terminal);
    let first = made(&world);
    assert_eq!(first.len(), 1, "{first:?}");
    assert!(!std::fs::read_to_string(&first[0]).unwrap().contains(LAST_SAID));

    // With everything.
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, name);
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("Everything up to here"));
    terminal.keys(&["down", "enter"]);
    let made = eventually("the copy", || made(&world).into_iter().find(|file| !first.contains(file)));
    wait_until_idle(&terminal);
    leave(&mut terminal);
    assert!(std::fs::read_to_string(made).unwrap().contains(LAST_ANSWER));
}

pub(super) fn clone_goes_on_in_a_copy(name: &str) {
    let world = World::with_sample(&[says("In the copy.")]);
    let before = world.log();
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, name);
    eventually("the copy", || made(&world).pop());
    wait_until_idle(&terminal);
    say(&terminal, "And now?");
    terminal.wait_for_text("In the copy.");
    wait_until_idle(&terminal);
    leave(&mut terminal);
    let files = made(&world);
    let made = std::fs::read_to_string(&files[0]).unwrap();
    assert!(made.contains(LAST_ANSWER) && made.contains("In the copy."), "{made}");
    // Of other branches there is nothing in it.
    assert!(!made.contains("Could we look the years up"));
    assert!(!world.log().contains("In the copy.") && world.log().starts_with(&before));
}

pub(super) fn transcript_shows_all(name: &str) {
    let world = World::with_sample(&[]);
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, name);
    terminal.wait_for(|screen| screen.is_alternate() && screen.says(LAST_ANSWER));
    // Its beginning is there, too, which the screen of the conversation has not.
    terminal.key("g");
    terminal.wait_for_text("`almanac parse 2026-W53-5` prints");
    terminal.key("q");
    wait_until_idle(&terminal);
    leave(&mut terminal);
}

pub(super) fn clear_begins_the_context_anew(name: &str) {
    let world = World::with_sample(&[says("I know of nothing.")]);
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, name);
    eventually("the boundary", || world.log().contains("\"reset_boundary\"").then_some(()));
    say(&terminal, "What was that?");
    terminal.wait_for_text("I know of nothing.");
    wait_until_idle(&terminal);
    // It is all in the tree.
    say(&terminal, "/tree");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says(LAST_ANSWER));
    terminal.key("esc");
    wait_until_idle(&terminal);
    // A second time there is something again, a third time there is not.
    say(&terminal, name);
    eventually("the second boundary", || {
        (world.log().matches("\"reset_boundary\"").count() == 2).then_some(())
    });
    wait_until_idle(&terminal);
    say(&terminal, name);
    terminal.wait_for_text("The context is empty already");
    leave(&mut terminal);
}

pub(super) fn retry_asks_again(name: &str) {
    let fails =
        json!({"events": [{"text": "It"}], "error": {"kind": "badRequest", "message": "No such thing"}});
    let world = World::new(&[fails, says("It works now.")]);
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, "Try it.");
    terminal.wait_for_text("No such thing");
    wait_until_idle(&terminal);
    say(&terminal, name);
    terminal.wait_for_text("It works now.");
    wait_until_idle(&terminal);
    // The message was not said twice.
    let said = world.entries().iter().filter(|entry| entry["message"]["role"] == "user").count();
    assert_eq!(said, 1);
    say(&terminal, name);
    terminal.wait_for_text("nothing to");
    leave(&mut terminal);
}

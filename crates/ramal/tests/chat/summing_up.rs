//! Going elsewhere with a summary of what is left, and what becomes of what is written meanwhile.

use ramal_testing::terminal::{Options, Terminal};
use serde_json::{Value, json};

use super::doing::{empty_and_leave, eventually, say, settings, wait_until_idle, with_our_model};
use super::support::says;
use super::world::{World, leave};

/// An entry on another branch, and words that only it says.
const ELSEWHERE: (&str, &str) = ("db0a699e", "not proud");

/// Opens the tree, searches, and sees that the entry is selected that shows this.
#[track_caller]
fn select(terminal: &Terminal, words: &str, shows: &str) {
    terminal.key("alt+t");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("◀ leaf"));
    terminal.text(words);
    terminal.wait_for(|screen| screen.rows().iter().any(|row| row.starts_with('›') && row.contains(shows)));
}

/// The summary that the log has now and had not before.
#[track_caller]
fn summary(world: &World) -> Value {
    let is = |entry: &Value| entry["type"] == "branch_summary" && entry["parentId"] == ELSEWHERE.0;
    eventually("the summary", || world.entries().into_iter().find(is))
}

#[test]
fn comes_home_as_a_card() {
    let world = World::with_sample(&[says("## Goal\nShort weeks, too."), says("I know of it.")]);
    with_our_model(&world);
    let mut terminal = world.start(Options::new(100, 40));
    let left = world.entries().pop().unwrap()["id"].clone();
    select(&terminal, ELSEWHERE.1, ELSEWHERE.1);
    terminal.key("enter");
    terminal.wait_for_text("Sum up the branch that you leave?");
    // Escape is no answer: one is where one chose.
    terminal.key("esc");
    terminal.wait_for(|screen| screen.is_alternate() && !screen.says("Sum up the branch"));
    terminal.key("enter");
    terminal.wait_for_text("Sum up the branch that you leave?");
    terminal.key("2");
    terminal.wait_for(|screen| !screen.is_alternate() && screen.says("Short weeks, too."));
    wait_until_idle(&terminal);
    let stored = summary(&world);
    assert!(stored["summary"].as_str().unwrap().contains("Short weeks, too."), "{stored}");
    assert_eq!((&stored["fromId"], &stored["abandonedLeafId"]), (&ELSEWHERE.0.into(), &left), "{stored}");
    // The model is told of it, and the conversation goes on below it.
    say(&terminal, "Go on.");
    terminal.wait_for_text("I know of it.");
    wait_until_idle(&terminal);
    leave(&mut terminal);
    let said = world.entries().into_iter().rfind(|entry| entry["message"]["role"] == "user").unwrap();
    let mut above = said["parentId"].clone();
    while above != stored["id"] {
        let entry = world.entries().into_iter().find(|entry| entry["id"] == above).unwrap();
        assert_ne!(entry["type"], "message", "{entry}");
        above = entry["parentId"].clone();
    }
}

#[test]
fn attends_to_what_one_says() {
    let asked = json!({"when": "mind the hyphens", "events": [{"text": "## Goal\nHyphens were minded."}]});
    let world = World::with_sample(&[asked, says("Nobody spoke of them.")]);
    let mut terminal = world.start(Options::new(100, 40));
    select(&terminal, ELSEWHERE.1, ELSEWHERE.1);
    terminal.key("enter");
    terminal.wait_for_text("Sum up the branch that you leave?");
    terminal.key("3");
    terminal.wait_for_text("What is the summary to pay attention to?");
    terminal.text("mind the hyphens");
    terminal.wait_for_text("mind the hyphens");
    terminal.key("enter");
    terminal.wait_for(|screen| !screen.is_alternate() && screen.says("Hyphens were minded."));
    wait_until_idle(&terminal);
    leave(&mut terminal);
    assert!(summary(&world)["summary"].as_str().unwrap().contains("Hyphens were minded."));
}

#[test]
fn is_not_asked_for_where_nobody_wants_it() {
    for setting in ["[branchSummary]\nskipPrompt = true\n", "[branchSummary]\nenabled = false\n"] {
        let world = World::with_sample(&[says("## Goal\nUnasked.")]);
        with_our_model(&world);
        settings(&world.scratch, setting);
        let before = world.entries().len();
        let mut terminal = world.start(Options::new(100, 40));
        select(&terminal, ELSEWHERE.1, ELSEWHERE.1);
        terminal.key("enter");
        terminal.wait_for(|screen| !screen.is_alternate() && screen.says("now at works, but ugly"));
        wait_until_idle(&terminal);
        assert_eq!(world.entries().len(), before);
        // Unless one says so by the key.
        select(&terminal, "assistant pass 2027-W53-1", "30 tests pass");
        terminal.key("alt+enter");
        terminal.wait_for(|screen| !screen.is_alternate() && screen.says("Unasked."));
        wait_until_idle(&terminal);
        leave(&mut terminal);
    }
}

#[test]
fn that_fails_says_so_and_nothing_moves() {
    let fails = json!({"error": {"kind": "badRequest", "message": "No such thing"}});
    let world = World::with_sample(&[fails]);
    let mut terminal = world.start(Options::new(100, 40));
    let before = world.log();
    select(&terminal, ELSEWHERE.1, ELSEWHERE.1);
    terminal.key("enter");
    terminal.wait_for_text("Sum up the branch that you leave?");
    terminal.key("2");
    terminal.wait_for_text("No such thing");
    terminal.wait_for(|screen| !screen.says("ends it"));
    if terminal.screen().is_alternate() {
        terminal.keys(&["esc", "esc"]);
    }
    wait_until_idle(&terminal);
    leave(&mut terminal);
    assert_eq!(world.log(), before);
}

#[test]
fn leaves_what_is_written_as_it_is() {
    let world = World::with_sample(&[says("## Goal\nShort weeks, too.")]);
    let mut terminal = world.start(Options::new(100, 40));
    terminal.text("my own draft");
    terminal.wait_for_text("my own draft");
    // A message of one's own is to be said again; the draft stays all the same.
    select(&terminal, "Never mind the table", "Never mind the table");
    terminal.key("enter");
    terminal.wait_for_text("Sum up the branch that you leave?");
    terminal.key("2");
    terminal.wait_for(|screen| !screen.is_alternate() && screen.says("Your draft stays"));
    wait_until_idle(&terminal);
    assert!(terminal.screen().says("my own draft") && !terminal.screen().says("Never mind the table"));
    // It is offered, and taken by a key.
    terminal.key("alt+i");
    terminal.wait_for(|screen| screen.says("Never mind the table. Use a signed"));
    terminal.wait_for(|screen| !screen.says("my own draft"));
    terminal.key("alt+i");
    terminal.wait_for(|screen| screen.says("my own draft"));
    empty_and_leave(&mut terminal);
}

#[test]
fn into_an_empty_editor_comes_what_is_to_be_said_again() {
    let world = World::with_sample(&[]);
    let mut terminal = world.start(Options::new(100, 40));
    select(&terminal, "Never mind the table", "Never mind the table");
    terminal.key("enter");
    terminal.wait_for_text("Sum up the branch that you leave?");
    terminal.key("1");
    terminal.wait_for(|screen| !screen.is_alternate() && screen.says("Never mind the table. Use a signed"));
    wait_until_idle(&terminal);
    empty_and_leave(&mut terminal);
}

#[test]
fn what_is_said_meanwhile_is_said_after_it() {
    let slow = json!({"events": [{"text": "## Goal\n"}, {"after": 3000, "text": "Short weeks, too."}]});
    let world = World::with_sample(&[slow, says("After the summary.")]);
    with_our_model(&world);
    let mut terminal = world.start(Options::new(100, 40));
    select(&terminal, ELSEWHERE.1, ELSEWHERE.1);
    terminal.key("enter");
    terminal.wait_for_text("Sum up the branch that you leave?");
    terminal.key("2");
    terminal.wait_for(|screen| {
        !screen.is_alternate() && (screen.says("Summing up the branch") || screen.says("Short weeks, too."))
    });
    say(&terminal, "And this?");
    terminal.wait_for_text("After the summary.");
    wait_until_idle(&terminal);
    leave(&mut terminal);
    let (stored, entries) = (summary(&world), world.entries());
    let at = |text: &str| entries.iter().position(|entry| entry.to_string().contains(text)).unwrap();
    let summed_up = entries.iter().position(|entry| entry["id"] == stored["id"]).unwrap();
    assert!(summed_up < at("And this?") && at("And this?") < at("After the summary."));
}

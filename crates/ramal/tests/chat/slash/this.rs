//! What a session is and has.

use ramal_testing::terminal::Options;

use super::super::doing::{eventually, say, wait_until_idle};
use super::super::support::{dawdles, says};
use super::super::world::{World, leave};
use serde_json::json;

pub(super) fn name_names_it(name: &str) {
    let world = World::with_sample(&[]);
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, name);
    terminal.wait_for_text("This session is called week 53");
    say(&terminal, &format!("{name} the short week"));
    terminal.wait_for_text("· the short week");
    leave(&mut terminal);
    assert!(world.log().contains("\"name\":\"the short week\""), "{}", world.log());
}

pub(super) fn rename_lets_the_model_find_a_name(name: &str) {
    let world = World::with_sample(&[says("Weeks of two years"), dawdles("And")]);
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, &format!("{name} by hand"));
    terminal.wait_for_text("· by hand");
    say(&terminal, name);
    terminal.wait_for_text("· Weeks of two years");
    wait_until_idle(&terminal);
    say(&terminal, name);
    terminal.wait_for_text("Looking for a name");
    terminal.key("esc");
    terminal.wait_for_text("Aborted: the name is what it was");
    wait_until_idle(&terminal);
    assert!(terminal.screen().says("· Weeks of two years"));
    leave(&mut terminal);
}

pub(super) fn label_labels_where_one_is(name: &str) {
    let world = World::with_sample(&[]);
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, &format!("{name} short form"));
    terminal.wait_for_text("[short form]");
    say(&terminal, "/tree");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("[short form]"));
    terminal.key("esc");
    wait_until_idle(&terminal);
    say(&terminal, name);
    terminal.wait_for(|screen| !screen.says("[short form]"));
    leave(&mut terminal);
    let labels: Vec<_> =
        world.entries().into_iter().filter(|entry| entry["type"] == "label").rev().take(2).collect();
    assert_eq!(labels[1]["label"], "short form");
    assert!(labels[0]["label"].is_null());
    assert!(labels.iter().all(|label| label["targetId"] == "c578a324"), "{labels:?}");
}

pub(super) fn session_says_what_it_is(name: &str) {
    let world = World::with_sample(&[]);
    let mut terminal = world.start(Options::new(120, 60));
    for (what, count) in [("", 1), (" info", 2)] {
        say(&terminal, &format!("{name}{what}"));
        terminal.wait_for(|screen| {
            let told = |text: &str| screen.text().matches(text).count() == count;
            told("Session    01a13992") && told("/session.jsonl") && told("Cost       $0.32")
        });
    }
    say(&terminal, &format!("{name} nonsense"));
    terminal.wait_for_text("/session info says");
    say(&terminal, &format!("{name} delete"));
    terminal.wait_for_text("Delete this session?");
    terminal.key("y");
    terminal.wait_for_text("Deleted: it is in");
    wait_until_idle(&terminal);
    leave(&mut terminal);
    assert!(!world.scratch.path("session.jsonl").exists());
}

pub(super) fn context_says_what_fills_it(name: &str) {
    let world = World::with_sample(&[]);
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, name);
    terminal
        .wait_for(|screen| screen.says("System prompt") && screen.says("Answers") && screen.says("In all"));
    leave(&mut terminal);
}

pub(super) fn compact_makes_it_shorter(name: &str) {
    let world =
        World::new(&[says(&"long ".repeat(60_000)), says("Short."), says("## Goal\nThe gist of it.")]);
    let mut terminal = world.start(Options::new(100, 40));
    // What is too short stays as it is.
    say(&terminal, name);
    terminal.wait_for_text("othing");
    say(&terminal, "Be long.");
    terminal.wait_for_text("long long");
    wait_until_idle(&terminal);
    say(&terminal, "Be short.");
    terminal.wait_for_text("Short.");
    wait_until_idle(&terminal);
    say(&terminal, &format!("{name} keep the gist"));
    eventually("the compaction", || world.log().contains("The gist of it.").then_some(()));
    terminal.wait_for_text("tokens");
    wait_until_idle(&terminal);
    leave(&mut terminal);
    let last = world.entries().pop().unwrap();
    assert_eq!(last["type"], "compaction", "{last}");
}

pub(super) fn model_chooses_the_model(name: &str) {
    let world = World::new(&[says("One."), says("Never.")]);
    let other = json!({"events": [{"text": "From the other one."}]});
    super::super::doing::write(&world.scratch.path("other.jsonl"), &other.to_string());
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, &format!("{name} replay/other.jsonl"));
    terminal.wait_for(|screen| screen.says("replay/other.jsonl"));
    say(&terminal, "Who are you?");
    terminal.wait_for_text("From the other one.");
    wait_until_idle(&terminal);
    say(&terminal, &format!("{name} nobody/knows-it"));
    terminal.wait_for_text("knows-it");
    say(&terminal, name);
    terminal.wait_for(|screen| screen.is_alternate());
    terminal.key("esc");
    wait_until_idle(&terminal);
    leave(&mut terminal);
    let chosen: Vec<_> =
        world.entries().into_iter().filter(|entry| entry["type"] == "model_change").collect();
    assert_eq!(chosen.last().unwrap()["modelId"], "other.jsonl");
}

pub(super) fn thinking_chooses_the_level(name: &str) {
    let world = World::new(&[says("Yes.")]);
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, name);
    terminal.wait_for_text("Thinking is off; there are off, minimal");
    say(&terminal, &format!("{name} high"));
    terminal.wait_for_text("thinking: high");
    say(&terminal, &format!("{name} deeply"));
    terminal.wait_for_text("There is no level deeply");
    say(&terminal, "Are you there?");
    terminal.wait_for_text("Yes.");
    wait_until_idle(&terminal);
    leave(&mut terminal);
    let levels: Vec<_> =
        world.entries().into_iter().filter(|entry| entry["type"] == "thinking_level_change").collect();
    assert_eq!(levels.last().unwrap()["thinkingLevel"], "high");
}

pub(super) fn btw_keeps_nothing(name: &str) {
    let world = World::with_sample(&[says("A week has seven days.")]);
    let mut terminal = world.start(Options::new(100, 40));
    let before = world.log();
    say(&terminal, &format!("{name} how long is a week?"));
    terminal.wait_for_text("A week has seven days.");
    wait_until_idle(&terminal);
    assert!(terminal.screen().says("btw: how long is a week?"));
    leave(&mut terminal);
    assert_eq!(world.log(), before);
}

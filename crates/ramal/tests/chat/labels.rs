//! Labels, put on and taken off where entries are looked at.

use ramal_testing::terminal::{Options, Terminal};

use super::doing::{eventually, say, wait_until_idle};
use super::support::says;
use super::world::{World, leave};

/// The sample session with one more answer, which is the leaf.
fn answered() -> (World, Terminal) {
    let world = World::with_sample(&[says("It is done.")]);
    let terminal = world.start(Options::new(100, 40));
    say(&terminal, "Go on.");
    terminal.wait_for_text("It is done.");
    wait_until_idle(&terminal);
    (world, terminal)
}

#[test]
fn in_the_tree() {
    let (world, mut terminal) = answered();
    let before = world.entries();
    let answer = &before.last().unwrap()["id"];
    terminal.key("alt+t");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("◀ leaf"));
    terminal.key("shift+l");
    terminal.wait_for_text("Label");
    terminal.text("short form");
    terminal.key("enter");
    terminal.wait_for(|screen| screen.says("[short form]"));
    // What was current still is: going there does nothing.
    terminal.key("enter");
    terminal.wait_for(|screen| !screen.is_alternate() && screen.says("You are there already"));
    terminal.wait_for_text("[short form]");
    // It is changed, and Escape leaves it as it is. The leaf is the label by now.
    terminal.key("alt+t");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("◀ leaf"));
    terminal.key("up");
    terminal.key("shift+l");
    terminal.text(", tested");
    terminal.wait_for_text("short form, tested");
    terminal.key("esc");
    terminal.wait_for(|screen| screen.is_alternate() && !screen.says(", tested"));
    terminal.key("shift+l");
    terminal.text(", shown");
    terminal.key("enter");
    terminal.wait_for_text("[short form, shown]");
    // An empty one takes it off.
    terminal.key("shift+l");
    terminal.keys(&["ctrl+u", "enter"]);
    terminal.wait_for(|screen| screen.is_alternate() && !screen.says("[short form"));
    terminal.keys(&["down", "enter"]);
    terminal.wait_for(|screen| !screen.is_alternate() && screen.says("You are there already"));
    leave(&mut terminal);
    let entries = world.entries();
    let said: Vec<_> = entries.iter().skip(before.len()).filter(|entry| entry["type"] == "label").collect();
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(said.iter().all(|label| label["targetId"] == *answer), "{said:?}");
    assert_eq!((&said[0]["label"], &said[1]["label"]), (&"short form".into(), &"short form, shown".into()));
    assert!(said[2]["label"].is_null());
    assert_eq!(entries.len(), before.len() + 3, "the labels, and nothing else");
}

#[test]
fn in_the_transcript() {
    let (world, mut terminal) = answered();
    let answer = world.entries().pop().unwrap()["id"].clone();
    terminal.key("alt+o");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("It is done."));
    terminal.key("shift+l");
    terminal.wait_for_text("Label");
    terminal.text("short form");
    terminal.key("enter");
    terminal.wait_for_text("[short form]");
    eventually("the label", || world.log().contains("\"short form\"").then_some(()));
    terminal.key("q");
    terminal.wait_for(|screen| !screen.is_alternate() && screen.says("[short form]"));
    wait_until_idle(&terminal);
    // The tree has it as well, and what was current still is.
    terminal.key("alt+t");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("[short form]"));
    terminal.key("enter");
    terminal.wait_for(|screen| !screen.is_alternate() && screen.says("You are there already"));
    leave(&mut terminal);
    let label = world.entries().into_iter().rfind(|entry| entry["type"] == "label").unwrap();
    assert_eq!(label["targetId"], answer);
}

//! What is written is never lost.

use std::fs;

use ramal_testing::terminal::{Options, Signal, Terminal};

use super::doing::{empty_and_leave, eventually, say, wait_until_idle, write};
use super::support::says;
use super::world::{LAST_ANSWER, World, leave, sessions_below};

/// All that is kept of what was written.
fn kept(world: &World) -> String {
    let Ok(folder) = fs::read_dir(world.scratch.path("STATE/ramal/drafts")) else { return String::new() };
    let files = folder.map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
    files.filter_map(|path| fs::read_to_string(path).ok()).collect()
}

/// Ends the program as nothing can be prepared for.
#[track_caller]
fn kill(mut terminal: Terminal) {
    terminal.signal(Signal::KILL);
    assert_eq!(terminal.end_by_signal(), Some(9));
}

#[test]
fn a_crash_leaves_the_draft_of_a_directory() {
    let world = World::new(&[]);
    let terminal = world.start(Options::new(80, 24));
    terminal.text("half a thought");
    eventually("the draft", || kept(&world).contains("half a thought").then_some(()));
    kill(terminal);
    let mut terminal = world.start(Options::new(80, 24));
    terminal.wait_for_text("half a thought");
    // It can be gone on with.
    terminal.text(", and a whole one");
    terminal.wait_for_text("half a thought, and a whole one");
    empty_and_leave(&mut terminal);
    assert!(!kept(&world).contains("half a thought"));
}

#[test]
fn a_draft_belongs_to_its_session() {
    let world = World::with_sample(&[]);
    let terminal = world.start(Options::new(100, 40));
    terminal.text("half a thought");
    eventually("the draft", || kept(&world).contains("half a thought").then_some(()));
    kill(terminal);
    // Another session in the same directory has nothing of it.
    let mut command = world.scratch.bare();
    command.args(["--model", "replay/answers.jsonl"]);
    let mut other = Terminal::start(command, Options::new(100, 40));
    other.wait_for_text("replay/answers.jsonl");
    other.text("zzz");
    other.wait_for_text("zzz");
    assert!(!other.screen().says("half a thought"));
    empty_and_leave(&mut other);
    let mut terminal = world.start(Options::new(100, 40));
    terminal.wait_for_text("half a thought");
    empty_and_leave(&mut terminal);
}

#[test]
fn a_draft_waits_in_the_session_that_is_left() {
    let world = World::new(&[says("Apples are red."), says("Pears are green.")]);
    fs::create_dir_all(world.scratch.path("CONFIG/ramal")).unwrap();
    write(&world.scratch.path("CONFIG/ramal/keybindings.json"), r#"{"app.session.resume": "alt+r"}"#);
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, "Tell me of apples.");
    terminal.wait_for_text("Apples are red.");
    wait_until_idle(&terminal);
    say(&terminal, "/new");
    terminal.wait_for(|screen| screen.says("── another session") && !screen.says("ends it"));
    say(&terminal, "Tell me of pears.");
    terminal.wait_for_text("Pears are green.");
    wait_until_idle(&terminal);
    let go_to = |which: &str| {
        terminal.key("alt+r");
        terminal.wait_for(|screen| screen.is_alternate() && screen.says(&format!("Tell me of {which}")));
        terminal.text(which);
        let other = if which == "apples" { "Tell me of pears" } else { "Tell me of apples" };
        terminal.wait_for(|screen| !screen.says(other));
        terminal.key("enter");
        wait_until_idle(&terminal);
    };
    terminal.text("and of their seeds");
    terminal.wait_for_text("and of their seeds");
    go_to("apples");
    terminal.wait_for(|screen| !screen.says("and of their seeds"));
    terminal.text("and of their worms");
    terminal.wait_for_text("and of their worms");
    go_to("pears");
    terminal.wait_for(|screen| screen.says("and of their seeds") && !screen.says("and of their worms"));
    terminal.key("ctrl+c");
    go_to("apples");
    terminal.wait_for_text("and of their worms");
    empty_and_leave(&mut terminal);
    assert_eq!(sessions_below(&world.scratch.path("")).len(), 2);
}

#[test]
fn what_was_sent_is_no_draft() {
    let world = World::with_sample(&[says("I will.")]);
    let terminal = world.start(Options::new(100, 40));
    terminal.text("Remember the leap days.");
    eventually("the draft", || kept(&world).contains("leap days").then_some(()));
    terminal.key("enter");
    terminal.wait_for_text("I will.");
    wait_until_idle(&terminal);
    eventually("the draft to go", || (!kept(&world).contains("leap days")).then_some(()));
    kill(terminal);
    let mut terminal = Terminal::start(world.command(&[]), Options::new(100, 40));
    terminal.wait_for_text("I will.");
    // It is in the conversation, and among what was sent.
    assert_eq!(terminal.screen().text().matches("leap days").count(), 1);
    terminal.key("up");
    terminal.wait_for(|screen| screen.text().matches("leap days").count() == 2);
    empty_and_leave(&mut terminal);
}

#[test]
fn what_is_put_aside_comes_back() {
    let world = World::with_sample(&[says("It is noon.")]);
    let mut terminal = world.start(Options::new(100, 40));
    terminal.text("a long thought");
    terminal.wait_for_text("a long thought");
    terminal.key("alt+s");
    terminal.wait_for(|screen| screen.says("Put aside") && !screen.says("a long thought"));
    say(&terminal, "What time is it?");
    terminal.wait_for_text("It is noon.");
    wait_until_idle(&terminal);
    eventually("what was put aside", || kept(&world).contains("a long thought").then_some(()));
    // Not even a crash takes it.
    kill(terminal);
    terminal = Terminal::start(world.command(&[]), Options::new(100, 40));
    terminal.wait_for_text("It is noon.");
    assert!(!terminal.screen().says("a long thought"));
    terminal.key("alt+s");
    terminal.wait_for(|screen| screen.says("Brought back") && screen.says("a long thought"));
    terminal.key("ctrl+c");
    terminal.key("alt+s");
    terminal.wait_for_text("There is nothing to put aside");
    assert!(terminal.main_screen().everything().contains(LAST_ANSWER));
    leave(&mut terminal);
}

//! Sessions with which something is not as it should be, and sessions that others write to as well.

use ramal_testing::terminal::{Options, Terminal};

use super::doing::{say, wait_until_idle, write};
use super::support::{dawdles, says};
use super::world::{LAST_ANSWER, World, leave};

/// The sample session with its file changed.
fn changed(world: &World, change: impl FnOnce(String) -> String) {
    write(&world.scratch.path("session.jsonl"), &change(world.log()));
}

#[test]
fn a_directory_that_is_gone() {
    let world = World::with_sample(&[says("Never asked for.")]);
    let here = world.scratch.path("").to_string_lossy().trim_end_matches('/').to_owned();
    changed(&world, |log| log.replacen(&format!("\"cwd\":\"{here}\""), "\"cwd\":\"/nowhere/at/all\"", 1));
    let mut terminal = world.start(Options::new(100, 40));
    terminal.wait_for_text("Where is this session to go on?");
    terminal.text("l");
    terminal.wait_for(|screen| !screen.says("Where is this session to go on?"));
    // One can look at it and go about in it.
    terminal.key("alt+t");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("◀ leaf"));
    terminal.key("esc");
    wait_until_idle(&terminal);
    // What cannot be done says why, and what was written is not lost.
    say(&terminal, "Go on.");
    terminal
        .wait_for(|screen| screen.says("/nowhere/at/all") && screen.text().matches("Go on.").count() == 1);
    terminal.key("ctrl+c");
    let before = world.log();
    say(&terminal, "!ls");
    terminal.wait_for(|screen| screen.text().matches('✗').count() >= 3);
    assert_eq!(world.log(), before);
    terminal.key("ctrl+c");
    // It can be taken elsewhere.
    say(&terminal, &format!("/move {here}"));
    terminal.wait_for_text("This session works in");
    wait_until_idle(&terminal);
    say(&terminal, "!echo made it");
    terminal.wait_for_text("made it");
    wait_until_idle(&terminal);
    leave(&mut terminal);
}

#[test]
fn a_model_that_is_not_known_here() {
    let world = World::with_sample(&[says("I can.")]);
    let mut command = world.scratch.bare();
    command.args(["--session", "session.jsonl"]);
    let mut terminal = Terminal::start(command, Options::new(100, 40));
    terminal.wait_for(|screen| screen.says(LAST_ANSWER) && screen.says("anthropic/claude-opus"));
    say(&terminal, "Can you?");
    terminal
        .wait_for(|screen| screen.says("cannot be used") && screen.text().matches("Can you?").count() == 1);
    terminal.key("ctrl+c");
    say(&terminal, "/model replay/answers.jsonl");
    terminal.wait_for_text("model: replay/answers.jsonl");
    say(&terminal, "Can you?");
    terminal.wait_for_text("I can.");
    wait_until_idle(&terminal);
    leave(&mut terminal);
}

#[test]
fn what_another_program_appends_appears() {
    let world = World::with_sample(&[says("Said by another program.")]);
    let mut terminal = world.start(Options::new(100, 40));
    let mut other = world.scratch.bare();
    other.args(["-p", "Who is it?", "--session", "session.jsonl", "--model", "replay/answers.jsonl"]);
    assert!(other.output().unwrap().status.success());
    terminal.wait_for(|screen| screen.says("Who is it?") && screen.says("Said by another program."));
    // One goes on below it.
    world.scratch.record(&[says("Below it.")]);
    say(&terminal, "And who are you?");
    terminal.wait_for_text("Below it.");
    wait_until_idle(&terminal);
    leave(&mut terminal);
    let entries = world.entries();
    let at = |text: &str| entries.iter().position(|entry| entry.to_string().contains(text)).unwrap();
    let (theirs, ours) = (at("Said by another program."), at("And who are you?"));
    assert_eq!(entries[ours]["parentId"], entries[theirs]["id"]);
}

#[test]
fn two_programs_in_one_session() {
    let world = World::with_sample(&[says("To the first.")]);
    let mut first = world.start(Options::new(100, 40));
    let mut second = world.start(Options::new(100, 40));
    say(&first, "I am the first.");
    first.wait_for_text("To the first.");
    second.wait_for(|screen| screen.says("I am the first.") && screen.says("To the first."));
    world.scratch.record(&[says("To the second.")]);
    say(&second, "I am the second.");
    second.wait_for_text("To the second.");
    first.wait_for(|screen| screen.says("I am the second.") && screen.says("To the second."));
    // Each has a draft of its own.
    first.text("a draft here");
    first.wait_for_text("a draft here");
    second.text("a draft there");
    second.wait_for(|screen| screen.says("a draft there") && !screen.says("a draft here"));
    first.key("ctrl+c");
    second.key("ctrl+c");
    leave(&mut first);
    leave(&mut second);
    let log = world.log();
    assert!(log.ends_with('\n') && world.entries().len() >= 4);
    for text in ["To the first.", "To the second."] {
        assert_eq!(log.matches(text).count(), 1, "{text}");
    }
}

#[test]
fn both_at_once() {
    let world = World::with_sample(&[dawdles("It begins.")]);
    let mut first = world.start(Options::new(100, 40));
    let mut second = world.start(Options::new(100, 40));
    say(&first, "To the first.");
    first.wait_for_text("It begins.");
    say(&second, "To the second.");
    second.wait_for_text("It begins.");
    first.key("esc");
    wait_until_idle(&first);
    second.key("esc");
    wait_until_idle(&second);
    leave(&mut first);
    leave(&mut second);
    // Nobody's words are lost, and every line is whole.
    let said: Vec<_> =
        world.entries().into_iter().filter(|entry| entry["message"]["stopReason"] == "aborted").collect();
    assert!(said.iter().filter(|entry| entry.to_string().contains("It begins.")).count() == 2, "{said:?}");
}

#[test]
fn damaged_lines_are_told_of_once() {
    let world = World::with_sample(&[says("All the same.")]);
    changed(&world, |log| {
        let mut lines: Vec<&str> = log.lines().collect();
        lines.insert(12, "{\"type\":\"message\",\"id\":\"bro");
        lines.insert(20, "not even that");
        lines.join("\n") + "\n"
    });
    let mut terminal = world.start(Options::new(100, 40));
    terminal.wait_for_text("damaged lines: `ramal check`");
    say(&terminal, "Go on.");
    terminal.wait_for_text("All the same.");
    wait_until_idle(&terminal);
    assert_eq!(terminal.main_screen().everything().matches("damaged").count(), 1);
    leave(&mut terminal);
    let log = world.log();
    assert!(
        log.contains("\"id\":\"bro\n") && log.contains("not even that\n") && log.contains("All the same.")
    );
}

#[test]
fn a_later_version_is_only_looked_at() {
    let world = World::with_sample(&[says("Never asked for.")]);
    changed(&world, |log| log.replacen("\"version\":3", "\"version\":9", 1));
    let before = world.log();
    // Without a choice of a model, which would have to be written down.
    let mut command = world.scratch.bare();
    command.args(["--session", "session.jsonl"]);
    let mut terminal = Terminal::start(command, Options::new(100, 40));
    terminal.wait_for_text(LAST_ANSWER);
    terminal.key("alt+t");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("◀ leaf"));
    // A label says why there can be none.
    terminal.key("shift+l");
    terminal.text("mine");
    terminal.key("enter");
    terminal.wait_for_text("version 9");
    terminal.key("esc");
    wait_until_idle(&terminal);
    say(&terminal, "/name mine");
    terminal.wait_for_text("version 9");
    leave(&mut terminal);
    assert_eq!(world.log(), before);
}

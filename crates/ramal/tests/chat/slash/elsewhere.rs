//! Going over to other sessions.

use std::fs;

use ramal_testing::terminal::Options;

use super::super::doing::{eventually, made, say, wait_until_idle};
use super::super::support::{dawdles, says};
use super::super::world::{LAST_ANSWER, World, leave};

/// Says something in a new session, which gets a file.
#[track_caller]
fn talk(terminal: &ramal_testing::terminal::Terminal, text: &str, answer: &str) {
    say(terminal, text);
    terminal.wait_for_text(answer);
    wait_until_idle(terminal);
}

pub(super) fn resume_opens_another_session(name: &str) {
    let world = World::new(&[says("Apples are red."), says("Pears are green.")]);
    let mut terminal = world.start(Options::new(100, 40));
    talk(&terminal, "Tell me of apples.", "Apples are red.");
    let first = made(&world).pop().unwrap();
    say(&terminal, "/new");
    terminal.wait_for(|screen| screen.says("── another session") && !screen.says("ends it"));
    talk(&terminal, "Tell me of pears.", "Pears are green.");
    // By choosing it.
    say(&terminal, name);
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("apples") && screen.says("pears"));
    terminal.text("apples");
    terminal.wait_for(|screen| screen.says("apples") && !screen.says("Tell me of pears"));
    terminal.key("enter");
    terminal.wait_for(|screen| {
        let at = |text| screen.rows().iter().rposition(|row| row.contains(text));
        !screen.is_alternate() && at("Apples are red.") > at("Pears are green.")
    });
    wait_until_idle(&terminal);
    // By naming it.
    say(&terminal, &format!("{name} no-such-session"));
    terminal.wait_for_text("no session");
    say(&terminal, "/name of apples");
    terminal.wait_for_text("· of apples");
    let id = first.file_stem().unwrap().to_string_lossy().rsplit_once('_').unwrap().1.to_owned();
    for named in [&*id, "of apples"] {
        say(&terminal, "/new");
        terminal.wait_for(|screen| !screen.says("· of apples") && !screen.says("ends it"));
        say(&terminal, &format!("{name} {named}"));
        terminal.wait_for_text("· of apples");
        wait_until_idle(&terminal);
    }
    // What other programs have is not there yet, and says so.
    say(&terminal, &format!("{name} @claude"));
    terminal.wait_for_text("Sessions of claude cannot be taken over yet");
    say(&terminal, &format!("{name} @codex"));
    terminal.wait_for_text("Sessions of codex cannot be taken over yet");
    leave(&mut terminal);
}

pub(super) fn new_begins_a_session(name: &str) {
    let world = World::with_sample(&[says("Good morning.")]);
    let before = world.log();
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, name);
    terminal.wait_for(|screen| screen.says("── another session") && !screen.says("ends it"));
    talk(&terminal, "Hello.", "Good morning.");
    leave(&mut terminal);
    let files = made(&world);
    assert_eq!(files.len(), 1, "{files:?}");
    let made = fs::read_to_string(&files[0]).unwrap();
    assert!(made.contains("Good morning.") && !made.contains(LAST_ANSWER), "{made}");
    assert!(world.log().starts_with(&before) && !world.log().contains("Good morning."));
}

pub(super) fn drop_puts_it_into_the_trash(name: &str) {
    let world = World::new(&[says("Noted."), says("Another beginning.")]);
    let mut terminal = world.start(Options::new(100, 40));
    talk(&terminal, "Note this.", "Noted.");
    let file = made(&world).pop().unwrap();
    say(&terminal, name);
    terminal.wait_for_text("Delete this session?");
    // Unless one says so, it stays.
    terminal.key("esc");
    terminal.wait_for(|screen| !screen.says("Delete this session?"));
    assert!(file.is_file());
    say(&terminal, name);
    terminal.wait_for_text("Delete this session?");
    terminal.key("y");
    terminal.wait_for_text("Deleted: it is in");
    wait_until_idle(&terminal);
    assert!(!file.exists());
    talk(&terminal, "Once more.", "Another beginning.");
    leave(&mut terminal);
    // It can be brought back from there.
    let name = file.file_name().unwrap();
    assert!(is_below(&world.scratch.path(""), name), "{name:?} is nowhere");
}

fn is_below(folder: &std::path::Path, name: &std::ffi::OsStr) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        path.file_name() == Some(name) || path.is_dir() && is_below(&path, name)
    })
}

pub(super) fn move_goes_to_another_directory(name: &str) {
    let world = World::new(&[says("Noted.")]);
    let there = world.scratch.path("there");
    fs::create_dir(&there).unwrap();
    let mut terminal = world.start(Options::new(120, 40));
    talk(&terminal, "Note this.", "Noted.");
    say(&terminal, &format!("{name} nowhere"));
    terminal.wait_for_text("nowhere");
    wait_until_idle(&terminal);
    say(&terminal, &format!("{name} there"));
    terminal.wait_for_text("This session works in");
    wait_until_idle(&terminal);
    terminal.text("!pwd > where");
    terminal.key("enter");
    let place = eventually("the command", || {
        let said = fs::read_to_string(there.join("where")).ok()?;
        said.ends_with('\n').then_some(said)
    });
    assert_eq!(fs::canonicalize(place.trim()).unwrap(), fs::canonicalize(&there).unwrap());
    wait_until_idle(&terminal);
    leave(&mut terminal);
    let files = made(&world);
    assert_eq!(files.len(), 2, "{files:?}");
    assert!(files.iter().all(|file| fs::read_to_string(file).unwrap().contains("Noted.")));
}

pub(super) fn handoff_begins_with_a_brief(name: &str) {
    let brief = "## Goal\nThe parser is to be done.";
    let world = World::with_sample(&[says(brief), says("I go on.")]);
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, &format!("{name} mind the parser"));
    terminal.wait_for_text("The parser is to be done.");
    terminal.wait_for_text("/resume goes back to it");
    wait_until_idle(&terminal);
    talk(&terminal, "Go on.", "I go on.");
    leave(&mut terminal);
    let files = made(&world);
    assert_eq!(files.len(), 1, "{files:?}");
    let log = fs::read_to_string(&files[0]).unwrap();
    assert!(log.contains("The parser is to be done.") && !log.contains(LAST_ANSWER), "{log}");
    assert!(log.lines().next().unwrap().contains("session.jsonl"));

    // Escape ends it, and one is where one was.
    let world = World::with_sample(&[dawdles("## Goal")]);
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, name);
    terminal.wait_for_text("ends it");
    terminal.key("esc");
    terminal.wait_for_text("Aborted: one is where one was");
    wait_until_idle(&terminal);
    leave(&mut terminal);
    assert!(made(&world).is_empty());
}

pub(super) fn import_opens_a_copy(name: &str) {
    let other = World::with_sample(&[]);
    let world = World::new(&[says("Gone on with.")]);
    fs::copy(other.scratch.path("session.jsonl"), world.scratch.path("theirs.jsonl")).unwrap();
    let theirs = other.log();
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, &format!("{name} theirs.jsonl"));
    terminal.wait_for_text(LAST_ANSWER);
    wait_until_idle(&terminal);
    // It names its own model, which nobody has here.
    say(&terminal, "/model replay/answers.jsonl");
    terminal.wait_for_text("model: replay/answers.jsonl");
    talk(&terminal, "Go on.", "Gone on with.");
    assert_eq!(fs::read_to_string(world.scratch.path("theirs.jsonl")).unwrap(), theirs);
    // What is none is said to be none.
    super::super::doing::write(&world.scratch.path("page.html"), "<html></html>");
    say(&terminal, &format!("{name} page.html"));
    terminal.wait_for_text("a web page");
    leave(&mut terminal);
    let made = world.log();
    // All of its branches have come along.
    assert!(made.contains("Could we look the years up") && made.contains("Gone on with."), "{made}");
}

//! What leaves the program.

use std::fs;

use ramal_testing::terminal::Options;

use super::super::doing::{copied, say, wait_until_idle};
use super::super::support::says;
use super::super::world::{LAST_ANSWER, World, leave};

pub(super) fn copy_copies(name: &str) {
    let world = World::new(&[says("First:\n\n```sh\nls -l\n```\n\nThat is it."), says("Nothing more.")]);
    let mut terminal = world.start(Options::new(100, 40));
    // There is nothing yet.
    say(&terminal, name);
    terminal.wait_for_text("There is nothing of that kind to copy");
    say(&terminal, "Show me.");
    terminal.wait_for_text("That is it.");
    wait_until_idle(&terminal);
    say(&terminal, "!echo made by hand");
    terminal.wait_for(|screen| screen.says("made by hand") && !screen.says("ends it"));
    let copies = |what: &str| {
        // The word from before goes with the next key.
        terminal.key("left");
        terminal.wait_for(|screen| !screen.says("Copied"));
        say(&terminal, &format!("{name}{what}"));
        terminal.wait_for_text("Copied");
        copied(&terminal).unwrap()
    };
    assert_eq!(copies(""), "First:\n\n```sh\nls -l\n```\n\nThat is it.");
    assert_eq!(copies(" last"), "First:\n\n```sh\nls -l\n```\n\nThat is it.");
    assert_eq!(copies(" code"), "ls -l");
    assert_eq!(copies(" cmd"), "echo made by hand");
    let all = copies(" all");
    assert!(all.contains("Show me.") && all.contains("That is it.") && all.contains("made by hand"), "{all}");
    say(&terminal, &format!("{name} nonsense"));
    terminal.wait_for_text("/copy copies");
    leave(&mut terminal);
}

pub(super) fn dump_copies_the_path(name: &str) {
    let world = World::with_sample(&[]);
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, name);
    terminal.wait_for_text("Copied");
    let text = copied(&terminal).unwrap();
    assert!(text.contains("`almanac parse 2026-W53-5` prints") && text.contains(LAST_ANSWER), "{text}");
    assert!(!text.contains("Could we look the years up"));
    leave(&mut terminal);
}

pub(super) fn export_writes_files(name: &str) {
    let world = World::with_sample(&[]);
    let mut terminal = world.start(Options::new(200, 40));
    say(&terminal, name);
    terminal.wait_for(|screen| screen.says("Written to") && screen.says("ramal-session.html"));
    let page = fs::read_to_string(world.scratch.path("ramal-session.html")).unwrap();
    assert!(page.starts_with("<!") && page.contains(LAST_ANSWER));
    // A page that is there is not written over.
    say(&terminal, name);
    terminal.wait_for_text("ramal-session-2.html");
    say(&terminal, &format!("{name} mine.html"));
    terminal.wait_for_text("/mine.html");
    assert!(world.scratch.path("mine.html").is_file());
    say(&terminal, &format!("{name} mine.html"));
    terminal.wait_for_text("is there already");
    say(&terminal, &format!("{name} path.jsonl"));
    terminal.wait_for_text("/path.jsonl");
    let path = fs::read_to_string(world.scratch.path("path.jsonl")).unwrap();
    assert!(path.contains(LAST_ANSWER) && !path.contains("Could we look the years up"));
    leave(&mut terminal);
}

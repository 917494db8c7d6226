//! The program itself.

use ramal_testing::terminal::Options;

use super::super::doing::{say, settings, wait_until_idle, write};
use super::super::world::{World, leave};

pub(super) fn help_says_what_there_is(name: &str) {
    let world = World::new(&[]);
    let mut terminal = world.start(Options::new(120, 50));
    say(&terminal, name);
    terminal.wait_for(|screen| {
        screen.says("/resume, /sessions [SESSION]")
            && screen.says("Open another session")
            && screen.says("F1 or /hot")
    });
    leave(&mut terminal);
}

pub(super) fn hotkeys_shows_keys(name: &str) {
    let world = World::new(&[]);
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, name);
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("app.session.tree"));
    terminal.key("esc");
    wait_until_idle(&terminal);
    leave(&mut terminal);
}

pub(super) fn settings_are_shown(name: &str) {
    let world = World::new(&[]);
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, name);
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("Settings"));
    terminal.key("esc");
    wait_until_idle(&terminal);
    leave(&mut terminal);
}

pub(super) fn reload_reads_again(name: &str) {
    let world = World::with_sample(&[]);
    let mut terminal = world.start(Options::new(100, 40));
    settings(&world.scratch, "treeFilterMode = \"user-only\"\n");
    write(&world.scratch.path("CONFIG/ramal/keybindings.json"), r#"{"app.session.tree": "alt+g"}"#);
    say(&terminal, name);
    terminal.wait_for_text("were read again");
    terminal.key("alt+g");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("user-only"));
    terminal.key("esc");
    wait_until_idle(&terminal);
    // What is wrong is said.
    write(&world.scratch.path("CONFIG/ramal/keybindings.json"), r#"{"app.session.tree": "meta+g"}"#);
    say(&terminal, name);
    terminal.wait_for_text("\"meta\" is none of ctrl");
    leave(&mut terminal);
}

pub(super) fn changelog_says_which_version(name: &str) {
    let world = World::new(&[]);
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, name);
    terminal.wait_for_text(concat!("This is ramal ", env!("CARGO_PKG_VERSION")));
    leave(&mut terminal);
}

pub(super) fn quit_leaves(name: &str) {
    let world = World::new(&[]);
    let mut terminal = world.start(Options::new(100, 40));
    say(&terminal, name);
    assert!(terminal.end().success());
    terminal.assert_clean();
}

/// Words of other programs: in one line, what there is instead.
#[test]
fn words_from_elsewhere_are_known() {
    let world = World::new(&[]);
    let mut terminal = world.start(Options::new(120, 40));
    for (words, says) in [
        (&["share"][..], "/export writes a page"),
        (&["background", "bg"], "Ctrl+Z stops both"),
        (&["collab", "join", "leave"], "There are no shared rooms"),
    ] {
        for word in words {
            say(&terminal, &format!("/{word}"));
            terminal.wait_for_text(says);
            // The word from before goes with the next key.
            terminal.key("left");
            terminal.wait_for(|screen| !screen.says(says));
        }
    }
    // One that nobody knows stays where it was written.
    say(&terminal, "/frobnicate");
    terminal.wait_for(|screen| screen.says("There is no command /frobnicate") && screen.says("/frobnicate"));
    terminal.key("ctrl+c");
    leave(&mut terminal);
}

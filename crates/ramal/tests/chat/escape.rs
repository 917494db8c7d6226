//! Escape, pressed twice.

use std::time::Duration;

use ramal_testing::terminal::{Options, Terminal};

use super::doing::{empty_and_leave, say, settings, wait_until_idle};
use super::support::dawdles;
use super::world::{World, leave};

/// Two presses that come at once, in a terminal that knows kitty's protocol.
fn press_twice(terminal: &Terminal) {
    terminal.raw(b"\x1b[27u\x1b[27u");
}

/// That nothing covers the conversation after all keys so far.
#[track_caller]
fn nothing_covers(terminal: &mut Terminal) {
    terminal.text("zzz");
    terminal.wait_for_text("zzz");
    assert!(!terminal.screen().is_alternate());
    empty_and_leave(terminal);
}

#[test]
fn opens_what_the_settings_say() {
    for (setting, shows) in [
        ("", "◀ leaf"),
        ("doubleEscapeAction = \"tree\"", "◀ leaf"),
        ("doubleEscapeAction = \"branch\"", "Begin a session before a message"),
        ("doubleEscapeAction = \"fork\"", "Begin a session before a message"),
        ("doubleEscapeAction = \"rewind\"", "Begin a session before a message"),
    ] {
        let world = World::with_sample(&[]);
        settings(&world.scratch, setting);
        let mut terminal = world.start(Options::new(100, 40).kitty());
        press_twice(&terminal);
        terminal.wait_for(|screen| screen.is_alternate() && screen.says(shows));
        terminal.key("esc");
        wait_until_idle(&terminal);
        leave(&mut terminal);
    }
}

#[test]
fn opens_nothing_if_that_is_wanted() {
    let world = World::with_sample(&[]);
    settings(&world.scratch, "doubleEscapeAction = \"none\"");
    let mut terminal = world.start(Options::new(100, 40).kitty());
    press_twice(&terminal);
    nothing_covers(&mut terminal);
}

#[test]
fn ends_a_turn_instead() {
    let world = World::with_sample(&[dawdles("It begins.")]);
    let mut terminal = world.start(Options::new(100, 40).kitty());
    say(&terminal, "Tell me.");
    terminal.wait_for_text("It begins.");
    press_twice(&terminal);
    wait_until_idle(&terminal);
    nothing_covers(&mut terminal);
    assert_eq!(world.entries().pop().unwrap()["message"]["stopReason"], "aborted");
}

#[test]
fn opens_nothing_over_what_is_written() {
    let world = World::with_sample(&[]);
    let mut terminal = world.start(Options::new(100, 40).kitty());
    terminal.text("half a thought");
    press_twice(&terminal);
    terminal.text(", and more");
    terminal.wait_for_text("half a thought, and more");
    nothing_covers(&mut terminal);
}

#[test]
fn is_two_presses_if_they_are_slow_or_something_is_between_them() {
    let world = World::with_sample(&[]);
    let mut terminal = world.start(Options::new(100, 40).kitty());
    // The word that is said goes with the next key: then the first press was taken in.
    say(&terminal, "/share");
    terminal.wait_for_text("/export writes a page");
    terminal.key("esc");
    terminal.wait_for(|screen| !screen.says("/export writes a page"));
    std::thread::sleep(Duration::from_millis(600));
    terminal.key("esc");
    terminal.text("x");
    terminal.wait_for_text("x");
    assert!(!terminal.screen().is_alternate());
    terminal.raw(b"\x1b[127u\x1b[27uy\x1b[127u\x1b[27u");
    nothing_covers(&mut terminal);
}

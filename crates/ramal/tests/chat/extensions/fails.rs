//! Extensions that fail: it is told which and where, and the session goes on.

use ramal_testing::terminal::{Options, Terminal};

use super::super::doing::{say, settings, wait_until_idle};
use super::super::support::says;
use super::super::world::{World, leave};
use super::extension;

fn said_in_spite_of(world: &World, told: &[&str]) -> Terminal {
    let terminal = world.start(Options::new(160, 24));
    say(&terminal, "Are you there?");
    terminal.wait_for(|screen| screen.says("I am.") && told.iter().all(|told| screen.says(told)));
    wait_until_idle(&terminal);
    terminal
}

#[test]
fn a_handler_throws() {
    let world = World::new(&[says("I am.")]);
    extension(&world, "throws", "pi.on('turn_end', () => { throw new Error('oh no'); });");
    let mut terminal = said_in_spite_of(&world, &["throws failed at turn_end: ", "oh no"]);
    leave(&mut terminal);
}

#[test]
fn a_handler_never_ends() {
    let world = World::new(&[says("I am.")]);
    settings(&world.scratch, "extensionRunningMs = 300");
    extension(&world, "loops", "pi.on('turn_end', () => { for (;;); });");
    let mut terminal = said_in_spite_of(&world, &["loops failed at turn_end: "]);
    leave(&mut terminal);
}

#[test]
fn what_is_typed_is_said_although_nobody_hears_it() {
    let world = World::new(&[says("I am.")]);
    extension(&world, "throws", "pi.on('input', () => { throw new Error('deaf'); });");
    let mut terminal = said_in_spite_of(&world, &["throws failed at input: ", "deaf"]);
    leave(&mut terminal);
}

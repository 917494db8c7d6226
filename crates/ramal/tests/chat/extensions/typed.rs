//! What is typed goes through extensions.

use ramal_testing::terminal::Options;
use serde_json::Value;

use super::super::doing::{empty_and_leave, eventually, say, wait_until_idle};
use super::super::support::{says, text_of};
use super::super::world::{World, leave};
use super::extension;

/// What the user said, as it was stored.
fn said(world: &World) -> Vec<String> {
    let is_users = |entry: &Value| entry["message"]["role"] == "user";
    world.entries().iter().filter(|entry| is_users(entry)).map(|entry| text_of(&entry["message"])).collect()
}

#[test]
fn it_may_become_something_else() {
    let world = World::new(&[says("Hello to you.")]);
    extension(
        &world,
        "polite",
        "pi.on('input', async (event: any) => ({ action: 'transform', text: event.text + ', please' }));",
    );
    let mut terminal = world.start(Options::new(80, 24));
    say(&terminal, "Say hello");
    terminal.wait_for(|screen| screen.says("❯ Say hello, please") && screen.says("Hello to you."));
    wait_until_idle(&terminal);
    leave(&mut terminal);
    assert_eq!(said(&world), ["Say hello, please"]);
}

#[test]
fn it_may_be_taken_care_of() {
    let world = World::new(&[says("Heard.")]);
    extension(
        &world,
        "handles",
        "pi.on('input', async (event: any, ctx: any) => {
            if (!event.text.startsWith('?')) return;
            ctx.ui.notify('no word of it: ' + event.text);
            return { action: 'handled' };
        });",
    );
    let mut terminal = world.start(Options::new(80, 24));
    say(&terminal, "?quick");
    terminal.wait_for_text("no word of it: ?quick");
    say(&terminal, "Now you.");
    terminal.wait_for_text("Heard.");
    wait_until_idle(&terminal);
    leave(&mut terminal);
    assert_eq!(said(&world), ["Now you."]);
}

#[test]
fn what_was_typed_first_is_said_first() {
    let world = World::new(&[says("To the first."), says("To the second.")]);
    extension(
        &world,
        "slow",
        "pi.on('input', async (event: any) => {
            if (event.text === 'first') await new Promise((resolve) => setTimeout(resolve, 1500));
        });",
    );
    let mut terminal = world.start(Options::new(80, 24));
    say(&terminal, "first");
    say(&terminal, "second");
    // They are seen to be on their way.
    terminal.wait_for(|screen| screen.says("soon: first") && screen.says("soon: second"));
    terminal.wait_for_text("To the second.");
    wait_until_idle(&terminal);
    leave(&mut terminal);
    assert_eq!(said(&world), ["first", "second"]);
}

#[test]
fn escape_brings_it_back() {
    let world = World::new(&[]);
    extension(&world, "hangs", "pi.on('input', () => new Promise(() => {}));");
    let mut terminal = world.start(Options::new(80, 24));
    say(&terminal, "a long thought");
    terminal.wait_for(|screen| screen.says("soon: a long thought") && screen.says("Extensions · "));
    terminal.key("esc");
    terminal.wait_for(|screen| screen.says("a long thought") && !screen.says("soon:"));
    terminal.text(", longer");
    terminal.wait_for_text("a long thought, longer");
    empty_and_leave(&mut terminal);
}

#[test]
fn what_is_on_its_way_at_the_end_is_a_draft() {
    let world = World::new(&[]);
    extension(&world, "hangs", "pi.on('input', () => new Promise(() => {}));");
    let mut terminal = world.start(Options::new(80, 24));
    say(&terminal, "a long thought");
    terminal.wait_for_text("soon: a long thought");
    terminal.key("ctrl+d");
    assert!(terminal.end().success());
    terminal.assert_clean();
    let mut terminal = world.start_with(&["--no-extensions"], Options::new(80, 24));
    terminal.wait_for_text("a long thought");
    empty_and_leave(&mut terminal);
}

#[test]
fn a_command_for_the_shell_may_be_done_elsewhere() {
    let world = World::new(&[]);
    extension(
        &world,
        "elsewhere",
        "pi.on('user_bash', async (event: any) => ({
            result: { output: 'there: ' + event.command, exitCode: 0, cancelled: false, truncated: false },
        }));",
    );
    let mut terminal = world.start(Options::new(80, 24));
    say(&terminal, "!touch here");
    terminal.wait_for_text("there: touch here");
    let stored = eventually("the command", || {
        world.entries().into_iter().find(|entry| entry["message"]["role"] == "bashExecution")
    });
    assert_eq!(stored["message"]["output"], "there: touch here");
    assert!(!world.scratch.path("here").exists());
    leave(&mut terminal);
}

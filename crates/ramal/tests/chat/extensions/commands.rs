//! Commands and keys of extensions.

use ramal_testing::terminal::Options;

use super::super::doing::{empty_and_leave, say, wait_until_idle};
use super::super::support::says;
use super::super::world::{World, leave};
use super::extension;

const DEPLOY: &str = "pi.registerCommand('deploy', {
    description: 'Bring it out',
    getArgumentCompletions: (typed: string) => ['staging', 'production'].filter((one) => one.startsWith(typed))
        .map((value) => ({ value, label: 'to ' + value })),
    handler: async (args: string, ctx: any) => ctx.ui.notify('deployed to ' + args),
});";

#[test]
fn a_command_is_offered_with_what_may_stand_behind_it() {
    let world = World::new(&[]);
    extension(&world, "deploys", DEPLOY);
    let mut terminal = world.start(Options::new(100, 40));
    terminal.text("/depl");
    terminal.wait_for(|screen| screen.says("> deploy") && screen.says("from deploys"));
    terminal.key("tab");
    terminal.wait_for(|screen| screen.says("to staging") && screen.says("to production"));
    terminal.text("p");
    terminal.wait_for(|screen| screen.says("> to production") && !screen.says("to staging"));
    terminal.key("tab");
    terminal.wait_for_text("/deploy production");
    terminal.key("enter");
    terminal.wait_for_text("deploys: deployed to production");
    // What is not offered can be said all the same.
    terminal.text("/deploy ");
    terminal.wait_for_text("to staging");
    terminal.text("somewhere else");
    terminal.key("enter");
    terminal.wait_for_text("deploys: deployed to somewhere else");
    say(&terminal, "/help");
    terminal.wait_for(|screen| screen.says("/deploy") && screen.says("Bring it out · from deploys"));
    terminal.wait_for_text("What extensions log stands in");
    leave(&mut terminal);
}

#[test]
fn the_programs_own_go_before_them_and_the_first_before_the_second() {
    let world = World::new(&[]);
    let command = |name: &str, says: &str| {
        format!(
            "pi.registerCommand('{name}', {{ handler: async (_: string, ctx: any) => ctx.ui.notify('{says}') }});"
        )
    };
    let key = |key: &str| format!("pi.registerShortcut('{key}', {{ handler: async () => {{}} }});");
    let first = [command("new", "mine"), command("twice", "of the first"), key("alt+t"), key("f9"), key("x")];
    extension(&world, "a-first", &first.concat());
    extension(&world, "b-second", &[command("twice", "of the second"), key("f9")].concat());
    let mut terminal = world.start(Options::new(110, 30));
    terminal.wait_for(|screen| {
        screen.says("/new of the extension a-first is not used: ramal has a command of that name")
            && screen.says("/twice of the extension b-second is not used: a-first has it already")
            && screen
                .says("The key alt+t of the extension a-first is not used: it is app.session.tree already")
            && screen
                .says("The key f9 of the extension b-second is not used: another extension has it already")
            && screen.says("The key x of the extension a-first is not used: it writes a letter")
    });
    say(&terminal, "/twice");
    terminal.wait_for_text("of the first");
    terminal.text("x");
    terminal.wait_for_text("x");
    assert!(!terminal.screen().everything().contains("of the second\n"));
    empty_and_leave(&mut terminal);
}

#[test]
fn escape_ends_one_that_hangs() {
    let world = World::new(&[says("I go on.")]);
    extension(
        &world,
        "hangs",
        "pi.registerCommand('hang', { handler: async () => { await new Promise(() => {}); } });",
    );
    let mut terminal = world.start(Options::new(80, 24));
    say(&terminal, "/hang for ever");
    terminal.wait_for(|screen| screen.says("/hang for ever · ") && screen.says("Esc ends it"));
    // Meanwhile one talks.
    say(&terminal, "And you?");
    terminal.wait_for_text("I go on.");
    terminal.key("esc");
    terminal.wait_for_text("/hang for ever was ended");
    wait_until_idle(&terminal);
    leave(&mut terminal);
}

#[test]
fn one_that_fails_says_where_and_where_to_look() {
    let world = World::new(&[]);
    extension(
        &world,
        "fails",
        "pi.registerCommand('boom', { handler: async () => { throw new Error('oh no'); } });",
    );
    let mut terminal = world.start(Options::new(200, 24));
    say(&terminal, "/boom");
    terminal.wait_for(|screen| {
        screen.says("command boom of ")
            && screen.says("fails.ts failed: Error: oh no")
            && screen.says("fails.ts:2:")
            && screen.says("(the extensions' log:")
    });
    leave(&mut terminal);
}

#[test]
fn a_word_that_is_no_command_stays_where_it_is() {
    let world = World::new(&[]);
    extension(&world, "deploys", DEPLOY);
    let mut terminal = world.start(Options::new(80, 24));
    say(&terminal, "/nothing of this");
    terminal
        .wait_for(|screen| screen.says("There is no command /nothing") && screen.says("/nothing of this"));
    empty_and_leave(&mut terminal);
}

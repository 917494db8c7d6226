//! Extensions are loaded beside the first frame, and loaded anew.

use ramal_testing::terminal::Options;

use super::super::doing::{say, wait_until_idle, write};
use super::super::support::says;
use super::super::world::{World, leave};
use super::extension;

fn hello(says: &str) -> String {
    format!(
        "pi.registerCommand('hello', {{ handler: async (_: string, ctx: any) => ctx.ui.notify('{says}') }});"
    )
}

#[test]
fn what_changed_on_the_disk_counts_after_a_reload() {
    let world = World::new(&[]);
    let before = "pi.on('session_start', (_: any, ctx: any) => ctx.ui.setStatus('s', 'of before'));
        pi.registerCommand('old', { handler: async () => {} });";
    extension(&world, "changes", &[&hello("the first"), before].concat());
    let mut terminal = world.start(Options::new(80, 24));
    terminal.wait_for_text("of before");
    say(&terminal, "/hello");
    terminal.wait_for_text("the first");
    extension(&world, "changes", &hello("the second"));
    say(&terminal, "/reload");
    terminal.wait_for(|screen| screen.says("were loaded again") && !screen.says("of before"));
    say(&terminal, "/hello");
    terminal.wait_for_text("the second");
    say(&terminal, "/old");
    terminal.wait_for_text("There is no command /old");
    terminal.key("ctrl+c");
    leave(&mut terminal);
}

#[test]
fn an_extension_can_have_them_loaded_anew() {
    let world = World::new(&[]);
    let body = |says: &str| {
        let reload = "pi.registerCommand('again', { handler: async (_: string, ctx: any) => ctx.reload() });";
        [&hello(says), reload].concat()
    };
    extension(&world, "changes", &body("the first"));
    let mut terminal = world.start(Options::new(80, 24));
    say(&terminal, "/hello");
    terminal.wait_for_text("the first");
    extension(
        &world,
        "changes",
        &[
            body("the second"),
            "pi.on('session_start', (e: any, ctx: any) => ctx.ui.notify('begun by ' + e.reason));".into(),
        ]
        .concat(),
    );
    say(&terminal, "/again");
    terminal.wait_for_text("begun by reload");
    say(&terminal, "/hello");
    terminal.wait_for_text("the second");
    leave(&mut terminal);
}

#[test]
fn one_that_cannot_be_loaded_is_told_of() {
    let world = World::new(&[says("Still here.")]);
    extension(&world, "good", &hello("from the good one"));
    let file = world.scratch.path("CONFIG/ramal/extensions/bad.ts");
    write(&file, "export default function (pi) { this is no program");
    let mut terminal = world.start(Options::new(160, 24));
    terminal.wait_for(|screen| screen.says("bad.ts failed at load: "));
    say(&terminal, "/hello");
    terminal.wait_for_text("from the good one");
    say(&terminal, "And you?");
    terminal.wait_for_text("Still here.");
    wait_until_idle(&terminal);
    leave(&mut terminal);
}

#[test]
fn what_is_typed_while_they_load_waits_for_them() {
    let world = World::new(&[says("Good.")]);
    extension(
        &world,
        "late",
        "pi.on('session_start', () => new Promise((resolve) => setTimeout(resolve, 2000)));
        pi.on('input', (event: any) => ({ action: 'transform', text: event.text + ', heard' }));",
    );
    let mut terminal = world.start(Options::new(80, 24));
    say(&terminal, "early");
    terminal.wait_for_text("soon: early");
    terminal.wait_for(|screen| screen.says("❯ early, heard") && screen.says("Good."));
    wait_until_idle(&terminal);
    leave(&mut terminal);
}

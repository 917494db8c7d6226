//! Whether a project's extensions run, and what extensions may do: asked once.

use ramal_testing::terminal::{Options, Terminal};

use super::super::doing::{empty_and_leave, say};
use super::super::world::{World, leave};
use super::{extension, put};

const FILE: &str = ".ramal/extensions/ours.ts";
const HELLO: &str = "pi.on('session_start', (_: any, ctx: any) => ctx.ui.setStatus('ready', 'ours are ready'));
    pi.registerCommand('hello', { handler: async (_: string, ctx: any) => ctx.ui.notify('hello from ours') });";

fn project() -> World {
    let world = World::new(&[]);
    put(&world, FILE, HELLO);
    world
}

fn asked(world: &World, columns: u16) -> Terminal {
    let terminal = world.start(Options::new(columns, 24));
    terminal.wait_for(|screen| {
        screen.says("brings extensions, which run as you") && screen.says("ours.ts") && screen.says("3 Never")
    });
    terminal
}

/// That they do not run, and nobody is asked.
fn they_do_not_run(terminal: &mut Terminal) {
    say(terminal, "/hello");
    terminal.wait_for_text("There is no command /hello");
    assert!(!terminal.screen().says("brings extensions"));
    empty_and_leave(terminal);
}

#[test]
fn a_project_that_is_trusted_is_trusted_later_on() {
    for columns in [80, 200] {
        let world = project();
        let mut terminal = asked(&world, columns);
        terminal.key("2");
        terminal.wait_for(|screen| !screen.says("brings extensions") && screen.says("ours are ready"));
        say(&terminal, "/hello");
        terminal.wait_for_text("ours: hello from ours");
        leave(&mut terminal);
        let mut terminal = world.start(Options::new(columns, 24));
        say(&terminal, "/hello");
        terminal.wait_for_text("ours: hello from ours");
        assert!(!terminal.screen().everything().contains("brings extensions"));
        leave(&mut terminal);
    }
}

#[test]
fn one_that_never_is_is_not_asked_for_again() {
    let world = project();
    let mut terminal = asked(&world, 80);
    terminal.key("3");
    terminal.wait_for(|screen| !screen.says("brings extensions"));
    they_do_not_run(&mut terminal);
    let mut terminal = world.start(Options::new(80, 24));
    they_do_not_run(&mut terminal);
}

#[test]
fn one_that_is_not_now_is_asked_for_next_time() {
    let world = project();
    for key in ["1", "esc"] {
        let mut terminal = asked(&world, 80);
        terminal.key(key);
        terminal.wait_for(|screen| !screen.says("brings extensions"));
        they_do_not_run(&mut terminal);
    }
}

#[test]
fn what_an_extension_may_do_is_remembered_until_it_changes() {
    let world = World::new(&[]);
    let body = "pi.registerCommand('run', { handler: async (_: string, ctx: any) => {
        try { ctx.ui.notify('it said ' + (await pi.exec('echo', ['this'])).stdout.trim()); }
        catch (error: any) { ctx.ui.notify('refused: ' + error.message); }
    } });";
    extension(&world, "runs", body);
    let mut terminal = world.start(Options::new(80, 24));
    say(&terminal, "/run");
    terminal.wait_for(|screen| screen.says("wants to run") && screen.says("3 Allow, and"));
    terminal.key("3");
    terminal.wait_for_text("it said this");
    leave(&mut terminal);
    let mut terminal = world.start(Options::new(80, 24));
    say(&terminal, "/run");
    terminal.wait_for_text("it said this");
    leave(&mut terminal);
    // Another program by the same name has to ask again.
    extension(&world, "runs", &format!("{body}\n// changed"));
    let mut terminal = world.start(Options::new(80, 24));
    say(&terminal, "/run");
    terminal.wait_for_text("wants to run");
    // Nobody allows anything by pressing Enter alone.
    terminal.key("enter");
    terminal.wait_for_text("refused: ");
    leave(&mut terminal);
}

//! What extensions ask: each kind of question, in every place where one may come up.

use std::time::Duration;

use ramal_testing::terminal::{Options, Terminal};

use super::super::doing::{say, wait_until_idle};
use super::super::support::{dawdles, says};
use super::super::world::{World, leave};
use super::{extension, tells};

fn world(what: &str) -> World {
    let world = World::new(&[]);
    extension(&world, "asker", &tells("ask", what));
    world
}

fn ask(world: &World, columns: u16, rows: u16) -> Terminal {
    let terminal = world.start(Options::new(columns, rows));
    say(&terminal, "/ask");
    terminal
}

#[test]
fn one_of_several_is_chosen() {
    let world = world("ctx.ui.select('Which colour?', ['red', 'green', 'blue'])");
    let mut terminal = ask(&world, 80, 24);
    terminal.wait_for(|screen| {
        screen.says("── asker ") && screen.says("Which colour?") && screen.says("2 green")
    });
    terminal.key("2");
    terminal.wait_for_text("asker: got \"green\"");
    // And once more, by going there.
    say(&terminal, "/ask");
    terminal.wait_for_text("Enter choose");
    terminal.keys(&["down", "down", "enter"]);
    terminal.wait_for_text("asker: got \"blue\"");
    leave(&mut terminal);
}

#[test]
fn escape_chooses_nothing() {
    for (what, got) in [
        ("ctx.ui.select('Which?', ['red'])", "got null"),
        ("ctx.ui.confirm('Sure?', 'Is it?')", "got false"),
        ("ctx.ui.input('Who?')", "got null"),
        ("ctx.ui.editor('What?', 'draft')", "got null"),
    ] {
        let world = world(what);
        let mut terminal = ask(&world, 80, 24);
        terminal.wait_for_text("── asker ");
        terminal.key("esc");
        terminal.wait_for_text(got);
        leave(&mut terminal);
    }
}

#[test]
fn yes_is_a_letter() {
    let world = world("ctx.ui.confirm('Delete it?', 'It cannot be brought back.')");
    let mut terminal = ask(&world, 80, 24);
    terminal.wait_for(|screen| screen.says("Delete it?") && screen.says("It cannot be brought back."));
    terminal.key("y");
    terminal.wait_for_text("got true");
    leave(&mut terminal);
}

#[test]
fn a_line_is_written_over_a_placeholder() {
    let world = world("ctx.ui.input('Your name?', 'somebody')");
    let mut terminal = ask(&world, 80, 24);
    terminal.wait_for_text("somebody");
    say(&terminal, "Ada");
    terminal.wait_for_text("got \"Ada\"");
    leave(&mut terminal);
}

#[test]
fn a_text_has_several_lines_and_may_go_to_ones_own_editor() {
    let world = world("ctx.ui.editor('Write it.', 'one\\ntwo')");
    let options = Options::new(80, 24).variable("EDITOR", "sed -i s/one/three/");
    let mut terminal = world.start(options);
    terminal.text("my draft");
    terminal.key("alt+s");
    say(&terminal, "/ask");
    terminal.wait_for(|screen| screen.says("one") && screen.says("two") && screen.says("your own editor"));
    terminal.key("ctrl+g");
    terminal.wait_for_text("three");
    terminal.text("!");
    terminal.key("enter");
    terminal.wait_for_text("got \"three\\ntwo!\"");
    leave(&mut terminal);
}

#[test]
fn many_options_are_searched() {
    let world = world("ctx.ui.select('Which?', Array.from({ length: 40 }, (_, i) => 'number ' + i))");
    let mut terminal = ask(&world, 80, 24);
    terminal.wait_for(|screen| screen.says("── asker ") && screen.says("Search:") && screen.says("below"));
    terminal.text("27");
    terminal.wait_for(|screen| screen.says("number 27") && !screen.says("number 26"));
    terminal.text("x");
    terminal.wait_for_text("Nothing matches");
    terminal.key("enter");
    terminal.key("backspace");
    terminal.wait_for_text("number 27");
    terminal.key("enter");
    terminal.wait_for_text("got \"number 27\"");
    leave(&mut terminal);
}

#[test]
fn there_is_room_in_a_small_window() {
    let world =
        world("ctx.ui.select('A title that is longer than the window is wide', ['red', 'green', 'blue'])");
    let mut terminal = world.start(Options::new(40, 10));
    say(&terminal, "/ask");
    terminal.wait_for(|screen| {
        screen.says("── asker ")
            && screen.says("A title that is")
            && screen.says("1 red")
            && screen.says("Enter choose")
    });
    terminal.key("3");
    terminal.wait_for_text("got \"blue\"");
    leave(&mut terminal);
}

#[test]
fn nobody_waits_for_ever() {
    let world = world("ctx.ui.confirm('Quick?', 'Now.', { timeout: 2500 })");
    let mut terminal = ask(&world, 80, 24);
    terminal.wait_for(|screen| screen.says("── asker · ") && screen.says("s left"));
    terminal.wait_for(|screen| screen.says("got false") && !screen.says("Quick?"));
    leave(&mut terminal);
}

#[test]
fn a_question_that_is_given_up_goes() {
    let world = world(
        "(async () => {
            const controller = new AbortController();
            setTimeout(() => controller.abort(), 1500);
            return ctx.ui.select('Still wanted?', ['yes'], { signal: controller.signal });
        })()",
    );
    let mut terminal = ask(&world, 80, 24);
    terminal.wait_for_text("Still wanted?");
    terminal.wait_for(|screen| screen.says("got null") && !screen.says("Still wanted?"));
    leave(&mut terminal);
}

#[test]
fn several_wait_for_their_turn() {
    let world = World::new(&[]);
    for name in ["first", "second"] {
        let body = format!(
            "pi.on('session_start', async (_: any, ctx: any) => {{
                ctx.ui.notify('chose ' + await ctx.ui.select('Ask of {name}', ['{name} one']));
            }});"
        );
        extension(&world, name, &body);
    }
    let mut terminal = world.start(Options::new(80, 24));
    terminal.wait_for_text("Ask of first");
    // What is typed while they load waits for them; a question is no place for it.
    assert!(!terminal.screen().says("Ask of second"));
    terminal.key("1");
    terminal.wait_for_text("Ask of second");
    terminal.key("1");
    terminal
        .wait_for(|screen| screen.says("first: chose first one") && screen.says("second: chose second one"));
    leave(&mut terminal);
}

#[test]
fn a_question_may_come_while_the_model_answers() {
    let world = World::new(&[dawdles("It begins.")]);
    extension(&world, "asker", &tells("ask", "ctx.ui.select('Meanwhile?', ['red', 'green'])"));
    let mut terminal = world.start(Options::new(80, 24));
    say(&terminal, "Tell me.");
    terminal.wait_for_text("It begins.");
    say(&terminal, "/ask");
    terminal.wait_for_text("Meanwhile?");
    terminal.key("2");
    terminal.wait_for(|screen| screen.says("Working") && !screen.says("Meanwhile?"));
    terminal.key("esc");
    wait_until_idle(&terminal);
    assert!(terminal.screen().everything().contains("got \"green\""));
    leave(&mut terminal);
}

#[test]
fn a_question_comes_before_the_tree() {
    let world = World::with_sample(&[]);
    let later = "(async () => {
        while (ctx.ui.getEditorText() !== 'now') await new Promise((resolve) => setTimeout(resolve, 50));
        await new Promise((resolve) => setTimeout(resolve, 1500));
        return ctx.ui.select('In front?', ['red', 'green']);
    })()";
    extension(&world, "asker", &tells("ask", later));
    let mut terminal = world.start(Options::new(80, 24));
    say(&terminal, "/ask");
    terminal.text("now");
    terminal.key("alt+t");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("◀ leaf"));
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("In front?"));
    // What was pressed for the tree is no answer.
    std::thread::sleep(Duration::from_millis(800));
    terminal.key("2");
    terminal.wait_for(|screen| screen.is_alternate() && !screen.says("In front?"));
    terminal.key("esc");
    terminal.wait_for(|screen| !screen.is_alternate() && screen.says("got \"green\""));
    terminal.key("ctrl+c");
    leave(&mut terminal);
}

#[test]
fn one_can_leave_while_something_is_asked() {
    let world = World::new(&[says("Yes.")]);
    extension(
        &world,
        "asker",
        "pi.on('session_shutdown', async (_: any, ctx: any) => { await ctx.ui.confirm('Really leave?', ''); });
        pi.registerCommand('ask', { handler: async (_: string, ctx: any) => { await ctx.ui.input('Who?'); } });",
    );
    let mut terminal = world.start(Options::new(80, 24));
    say(&terminal, "/ask");
    terminal.wait_for_text("Who?");
    terminal.signal(ramal_testing::terminal::Signal::TERM);
    assert_eq!(terminal.end().code(), Some(128 + 15));
    terminal.assert_clean();
}

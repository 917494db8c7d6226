//! What extensions show: notices, the footer, lines around the editor, the title, a text in the editor, their
//! own messages.

use ramal_testing::terminal::Options;

use super::super::doing::{empty_and_leave, say};
use super::super::support::says;
use super::super::world::{World, leave};
use super::{extension, write};

#[test]
fn notices_say_who_and_how_bad() {
    let world = World::new(&[]);
    extension(
        &world,
        "teller",
        "pi.registerCommand('tell', { handler: async (_: string, ctx: any) => {
            ctx.ui.notify('all is well');
            ctx.ui.notify('look at \\u001b[31mthis', 'warning');
            ctx.ui.notify('it broke', 'error');
        } });",
    );
    let mut terminal = world.start(Options::new(80, 24));
    say(&terminal, "/tell");
    terminal.wait_for(|screen| {
        screen.says("teller: all is well")
            && screen.says("! teller, a warning: look at ␛[31mthis")
            && screen.says("✗ teller, an error: it broke")
    });
    leave(&mut terminal);
}

#[test]
fn the_footer_and_the_lines_around_the_editor_are_theirs_as_long_as_they_want() {
    let world = World::new(&[]);
    extension(
        &world,
        "shower",
        "pi.registerCommand('show', { handler: async (_: string, ctx: any) => {
            ctx.ui.setStatus('b', 'second status');
            ctx.ui.setStatus('a', 'first status');
            ctx.ui.setWidget('w', Array.from({ length: 30 }, (_, i) => 'row ' + i));
            ctx.ui.setWidget('v', ['stands below'], { placement: 'belowEditor' });
        } });
        pi.registerCommand('hide', { handler: async (_: string, ctx: any) => {
            ctx.ui.setStatus('b', undefined);
            ctx.ui.setWidget('w', undefined);
        } });",
    );
    let mut terminal = world.start(Options::new(80, 50));
    say(&terminal, "/show");
    terminal.wait_for_text("first status · second status");
    let screen = terminal.screen();
    let row = |text: &str| screen.row_of(text);
    let editor = row("stands below").unwrap() - 2;
    assert!(row("row 0").unwrap() < editor && row("row 9").unwrap() < editor, "{}", screen.text());
    assert_eq!(row("row 10"), None, "{}", screen.text());
    say(&terminal, "/hide");
    terminal.wait_for(|screen| !screen.says("row 0") && !screen.says("second status"));
    let screen = terminal.screen();
    assert!(screen.says("first status") && screen.says("stands below"), "{}", screen.text());
    // In a small window one still sees what one writes.
    say(&terminal, "/show");
    terminal.wait_for_text("row 0");
    terminal.resize(40, 10);
    terminal.text("what I write");
    terminal.wait_for(|screen| screen.says("what I write") && screen.says("more rows"));
    empty_and_leave(&mut terminal);
}

#[test]
fn the_window_has_their_title_until_the_program_ends() {
    let world = World::new(&[]);
    extension(
        &world,
        "titler",
        "pi.registerCommand('title', { handler: async (_: string, ctx: any) => ctx.ui.setTitle('of my own') });",
    );
    let mut terminal = world.start(Options::new(80, 24));
    say(&terminal, "/title");
    terminal.wait_for(|screen| screen.title() == "of my own");
    // Loaded anew nothing of theirs is left.
    say(&terminal, "/reload");
    terminal.wait_for(|screen| screen.title().ends_with("ramal"));
    leave(&mut terminal);
}

#[test]
fn they_read_and_write_the_editor() {
    let world = World::new(&[]);
    extension(
        &world,
        "writer",
        "pi.on('session_start', (_: any, ctx: any) => ctx.ui.notify('ready'));
        pi.registerShortcut('f9', { description: 'Shout', handler: async (ctx: any) => {
            ctx.ui.setEditorText(ctx.ui.getEditorText().toUpperCase() + '!');
            ctx.ui.setEditorText(ctx.ui.getEditorText() + '!');
        } });",
    );
    let mut terminal = world.start(Options::new(80, 24));
    terminal.wait_for_text("writer: ready");
    say(&terminal, "/hotkeys");
    terminal.wait_for(|screen| screen.is_alternate());
    terminal.text("shout");
    terminal.wait_for(|screen| screen.says("F9") && screen.says("Shout") && screen.says("writer"));
    terminal.key("esc");
    terminal.wait_for_text("Type to search");
    terminal.key("esc");
    terminal.wait_for(|screen| !screen.is_alternate());
    terminal.text("listen to me");
    terminal.wait_for_text("listen to me");
    terminal.key("f9");
    terminal.wait_for_text("LISTEN TO ME!!");
    empty_and_leave(&mut terminal);
}

#[test]
fn messages_of_theirs_are_drawn_as_they_want() {
    let world = World::new(&[says("I see.")]);
    extension(
        &world,
        "poster",
        "pi.registerMessageRenderer('note', (message: any, options: any) => ({
            render: () => ['<<' + message.content + ', ' + message.details.count + (options.expanded ? ', open' : '') + '>>'],
        }));
        pi.registerCommand('post', { handler: async (args: string) => {
            pi.sendMessage({ customType: args || 'note', content: 'as it is', display: true, details: { count: 3 } });
        } });",
    );
    let mut terminal = world.start(Options::new(80, 24));
    say(&terminal, "/post");
    terminal.wait_for_text("<<as it is, 3>>");
    // One that nobody draws is drawn as usual.
    say(&terminal, "/post other");
    terminal.wait_for_text("◆ other");
    // It is there once, and stays so when all is drawn anew.
    terminal.key("f5");
    say(&terminal, "Do you see?");
    terminal.wait_for_text("I see.");
    let everything = terminal.screen().everything();
    assert_eq!(everything.matches("<<as it is, 3>>").count(), 1, "{everything}");
    assert!(!everything.contains("◆ note"), "{everything}");
    terminal.key("ctrl+o");
    terminal.wait_for_text("<<as it is, 3, open>>");
    terminal.key("alt+o");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("<<as it is, 3, open>>"));
    terminal.key("esc");
    terminal.wait_for(|screen| !screen.is_alternate());
    leave(&mut terminal);
    // What was said before is drawn so as well, as soon as they are loaded.
    let mut terminal = world.start_with(&["--continue"], Options::new(80, 24));
    terminal.wait_for_text("<<as it is, 3>>");
    leave(&mut terminal);
}

#[test]
fn a_theme_that_an_extension_brings() {
    let world = World::new(&[]);
    let theme = "name = \"Quay\"\nbase = \"dark\"\n[roles]\nborder = \"#ff8800\"\n";
    write(&world.scratch.path("quay.toml"), theme);
    let path = world.scratch.path("quay.toml");
    extension(
        &world,
        "painter",
        &format!("pi.on('resources_discover', () => ({{ themePaths: [{path:?}] }}));"),
    );
    write(&world.scratch.path("CONFIG/ramal/settings.toml"), "theme = \"quay\"\n");
    let options = Options::new(80, 24).variable("COLORTERM", "truecolor");
    let mut terminal = world.start(options);
    terminal.wait_for(|screen| screen.styled().contains("#ff8800"));
    assert!(!terminal.screen().says("no theme is called"), "{}", terminal.screen().text());
    leave(&mut terminal);
}

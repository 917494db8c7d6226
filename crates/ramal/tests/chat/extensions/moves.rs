//! What extensions do to the session is seen.

use ramal_testing::terminal::Options;

use super::super::doing::{empty_and_leave, eventually, made, say, wait_until_idle};
use super::super::support::{dawdles, says};
use super::super::world::{LAST_ANSWER, World, leave};
use super::{extension, tells};

#[test]
fn a_command_goes_elsewhere_in_the_tree() {
    let world = World::with_sample(&[]);
    extension(
        &world,
        "goes",
        &tells(
            "back",
            "(() => {
                const first = ctx.sessionManager.getEntries().find((entry: any) => entry.message?.role === 'user');
                return ctx.navigateTree(first.id).then((answer: any) => answer.cancelled);
            })()",
        ),
    );
    let mut terminal = world.start(Options::new(80, 40));
    say(&terminal, "/back");
    terminal.wait_for(|screen| screen.says("── now at ") && screen.says("got false"));
    // What was said there is to be said again.
    let first = world.entries().into_iter().find(|entry| entry["message"]["role"] == "user").unwrap();
    let text = super::super::support::text_of(&first["message"]);
    let begin: String = text.chars().take(30).collect();
    let row = terminal.screen().row_of("── now at ").unwrap();
    terminal.wait_for(|screen| screen.rows().iter().skip(usize::from(row)).any(|line| line.contains(&begin)));
    empty_and_leave(&mut terminal);
}

#[test]
fn a_command_begins_a_new_session() {
    let world = World::with_sample(&[says("Here.")]);
    extension(&world, "news", &tells("fresh", "ctx.newSession().then((answer: any) => answer.cancelled)"));
    let mut terminal = world.start(Options::new(80, 40));
    say(&terminal, "/tree");
    terminal.wait_for(|screen| screen.is_alternate());
    terminal.key("esc");
    terminal.wait_for(|screen| !screen.is_alternate());
    say(&terminal, "/fresh");
    terminal.text("goes along");
    terminal.wait_for(|screen| {
        screen.says("── another session") && screen.says("got false") && screen.says("goes along")
    });
    terminal.key("enter");
    terminal.wait_for_text("Here.");
    wait_until_idle(&terminal);
    leave(&mut terminal);
    let others = made(&world);
    assert_eq!(others.len(), 1, "{others:?}");
    assert!(std::fs::read_to_string(&others[0]).unwrap().contains("goes along"));
    assert!(!world.log().contains("goes along"));
}

#[test]
fn what_waited_to_be_said_is_not_lost_with_the_session() {
    let world = World::new(&[dawdles("It begins.")]);
    extension(&world, "news", &tells("fresh", "ctx.newSession().then((answer: any) => answer.cancelled)"));
    let mut terminal = world.start(Options::new(80, 30));
    say(&terminal, "Tell me.");
    terminal.wait_for_text("It begins.");
    say(&terminal, "And then this.");
    terminal.wait_for_text("soon: And then this.");
    say(&terminal, "/fresh");
    terminal.wait_for_text("── another session");
    let row = terminal.screen().row_of("── another session").unwrap();
    terminal.wait_for(|screen| {
        screen.says("got false")
            && !screen.says("soon:")
            && screen.rows().iter().skip(usize::from(row)).any(|line| line.contains("And then this."))
    });
    empty_and_leave(&mut terminal);
}

#[test]
fn another_session_closes_the_tree_of_the_one_before() {
    let world = World::with_sample(&[]);
    let later = "(async () => {
        while (ctx.ui.getEditorText() !== 'now') await new Promise((resolve) => setTimeout(resolve, 50));
        await new Promise((resolve) => setTimeout(resolve, 1000));
        return (await ctx.newSession()).cancelled;
    })()";
    extension(&world, "news", &tells("fresh", later));
    let mut terminal = world.start(Options::new(80, 30));
    say(&terminal, "/fresh");
    terminal.text("now");
    terminal.key("alt+t");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("◀ leaf"));
    terminal.wait_for(|screen| !screen.is_alternate() && screen.says("── another session"));
    empty_and_leave(&mut terminal);
}

#[test]
fn what_a_command_appends_and_says_is_seen() {
    let world = World::with_sample(&[says("Forty-two."), says("Forty-three.")]);
    extension(
        &world,
        "does",
        "pi.registerCommand('mark', { handler: async (_: string, ctx: any) => {
            pi.setLabel(ctx.sessionManager.getLeafId(), 'by hand');
            pi.appendEntry('mark', { of: 'mine' });
        } });
        pi.registerCommand('ask', { handler: async (_: string, ctx: any) => {
            pi.sendUserMessage('How many?');
            await ctx.waitForIdle();
            pi.sendMessage({ customType: 'after', content: 'a word behind it', display: true });
        } });
        pi.registerCommand('soon', { handler: async () => {
            setTimeout(() => pi.sendMessage({ customType: 'later', content: 'a late word', display: true }), 700);
        } });",
    );
    super::super::doing::with_our_model(&world);
    let mut terminal = world.start(Options::new(100, 40));
    terminal.wait_for_text(LAST_ANSWER);
    say(&terminal, "/mark");
    terminal.wait_for_text("[by hand]");
    say(&terminal, "/ask");
    terminal.wait_for(|screen| {
        screen.says("❯ How many?") && screen.says("Forty-two.") && screen.says("a word behind it")
    });
    // What comes by itself later on is seen, too.
    say(&terminal, "/soon");
    terminal.wait_for_text("a late word");
    wait_until_idle(&terminal);
    leave(&mut terminal);
}

#[test]
fn a_command_ends_the_program() {
    let world = World::new(&[says("Well.")]);
    extension(
        &world,
        "ends",
        "pi.on('session_shutdown', async () => pi.appendEntry('farewell', { is: 'said' }));
        pi.registerCommand('bye', { handler: async (_: string, ctx: any) => ctx.shutdown() });",
    );
    let mut terminal = world.start(Options::new(80, 24));
    say(&terminal, "Well?");
    terminal.wait_for_text("Well.");
    wait_until_idle(&terminal);
    say(&terminal, "/bye");
    assert!(terminal.end().success());
    terminal.assert_clean();
    let said = eventually("the farewell", || {
        world.entries().into_iter().find(|entry| entry["customType"] == "farewell")
    });
    assert_eq!(said["data"]["is"], "said");
}

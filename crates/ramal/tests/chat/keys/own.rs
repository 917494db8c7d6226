//! The user's own keys.

use ramal_testing::terminal::{Options, Terminal};

use super::super::world::LAST_ANSWER;
use super::{World, leave, put, say};

/// What the tree is opened with, as the help on keys says.
fn told_of_tree(terminal: &Terminal) -> String {
    terminal.key("f1");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("app.session.tree"));
    let rows = terminal.screen().rows();
    terminal.key("f1");
    terminal.wait_for(|screen| !screen.is_alternate());
    rows.into_iter().find(|row| row.contains("app.session.tree")).unwrap()
}

#[track_caller]
fn opens_the_tree(terminal: &Terminal, key: &str) {
    terminal.key(key);
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("◀ leaf"));
    terminal.key("esc");
    terminal.wait_for(|screen| !screen.is_alternate() && screen.says(LAST_ANSWER));
}

/// That the key is not for the tree any more: what is typed behind it goes into the editor.
#[track_caller]
fn does_not_open_the_tree(terminal: &Terminal, key: &str) {
    terminal.key(key);
    terminal.text("still here");
    terminal.wait_for(|screen| !screen.is_alternate() && screen.says("still here"));
    terminal.key("ctrl+c");
    terminal.wait_for(|screen| !screen.says("still here"));
}

#[test]
fn a_file_gives_other_keys_and_can_be_read_again() {
    let world = World::with_sample(&[]);
    // As pi's users have it, with the names of before.
    put(&world, ".pi/agent/keybindings.json", r#"{"tree": "alt+x", "jumpForward": "ctrl+]"}"#);
    let mut terminal = world.start(Options::new(120, 40));
    opens_the_tree(&terminal, "alt+x");
    does_not_open_the_tree(&terminal, "alt+t");
    let told = told_of_tree(&terminal);
    assert!(told.contains("Alt+X") && !told.contains("Alt+T"), "{told}");

    // One's own file goes before pi's, once it is read.
    put(&world, "CONFIG/ramal/keybindings.json", r#"{"app.session.tree": ["f6", "f10"]}"#);
    say(&terminal, "/reload");
    terminal.wait_for_text("were read again");
    opens_the_tree(&terminal, "f6");
    opens_the_tree(&terminal, "f10");
    does_not_open_the_tree(&terminal, "alt+x");
    let told = told_of_tree(&terminal);
    assert!(told.contains("F6, F10") && !told.contains("Alt+X"), "{told}");

    // What cannot be used is named, and the rest of the file holds.
    let wrong = "{\n\"app.session.tree\": [\"f8\", \"hyper+t\"],\n\"app.session.treee\": \"f9\"\n}";
    put(&world, "CONFIG/ramal/keybindings.json", wrong);
    say(&terminal, "/reload");
    terminal.wait_for_text("keybindings.json, line 2: app.session.tree: \"hyper\"");
    opens_the_tree(&terminal, "f8");
    say(&terminal, "/hotkeys");
    terminal.wait_for(|screen| {
        screen.says("line 2: app.session.tree: \"hyper\"") && screen.says("line 3: no action is called")
    });
    terminal.key("esc");
    terminal.wait_for(|screen| !screen.is_alternate());
    leave(&mut terminal);
}

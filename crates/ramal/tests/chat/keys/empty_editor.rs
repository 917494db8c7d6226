//! In the editor, while there is nothing in it.

use ramal_tui::keys::ActionId;

use super::{Row, World, terminal};

pub(super) const ROWS: &[Row] = &[Row { action: ActionId::Exit, scenario: exit }];

fn exit(key: &str) {
    let world = World::new(&[]);
    let mut terminal = world.start(terminal(80, 24, key));
    // Not while something is written.
    terminal.text("w");
    terminal.key(key);
    terminal.key("backspace");
    terminal.text("still here");
    terminal.wait_for_text("still here");
    terminal.key("ctrl+c");
    terminal.key(key);
    assert!(terminal.end().success());
    terminal.assert_clean();
}

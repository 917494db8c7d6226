//! Going elsewhere in the tree.

use ramal_testing::terminal::Options;

use super::world::{LAST_ANSWER, World, leave};

#[test]
fn the_tree_is_one_key_away() {
    let world = World::with_sample(&[]);
    let before = world.log();
    let mut terminal = world.start(Options::new(100, 40));
    terminal.key("alt+t");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("◀ leaf"));
    // Where one is: nothing happens.
    terminal.key("enter");
    terminal.wait_for(|screen| !screen.is_alternate() && screen.says("You are there already"));
    assert!(terminal.screen().says(LAST_ANSWER));
    leave(&mut terminal);
    // The choice of the model is all that was appended.
    assert_eq!(world.log().lines().count(), before.lines().count() + 1);
}

//! What the README shows: opened, looked around in the tree, a label set, back with a summary, and to the branch
//! beside. `UPDATE_RECORDING=1` writes it anew, as a cast of asciinema and as a picture that moves.

use std::fs;
use std::time::Duration;

use ramal_testing::terminal::{Frames, Options, moving_picture};

use super::support::says;
use super::world::{World, leave};

/// How long each moment is seen.
const LASTS: Duration = Duration::from_millis(2600);

const SUMMARY: &str = "Counted days from the Monday of week 1: 30 tests pass, three lines and no cast.\n\n\
    Worth keeping: the short form `2026W535` is read, and mixed forms are refused.";

#[allow(clippy::disallowed_methods, reason = "files of the documentation")]
#[test]
fn what_the_readme_shows() {
    let world = World::with_sample(&[says(SUMMARY)]);
    let mut terminal = world.start(Options::new(100, 30));
    terminal.wait_for_text("‹");
    terminal.mark("open");
    terminal.key("alt+t");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("◀ leaf"));
    terminal.mark("tree");
    terminal.text("ugly");
    terminal.wait_for(|screen| screen.says("Search: ugly") && screen.says("works, but ugly"));
    terminal.mark("search");
    terminal.key("enter");
    terminal.wait_for_text("Sum up the branch that you leave?");
    terminal.key("esc");
    terminal.wait_for(|screen| !screen.says("Sum up the branch"));
    terminal.key("esc");
    terminal.wait_for_text("Type to search");
    terminal.mark("preview");
    terminal.key("shift+l");
    terminal.wait_for_text("Label:");
    terminal.text(" (look again)");
    terminal.key("enter");
    terminal.wait_for_text("[works, but ugly (look again)]");
    terminal.mark("label");
    terminal.key("enter");
    terminal.wait_for_text("Sum up the branch that you leave?");
    terminal.mark("question");
    terminal.text("2");
    terminal.wait_for(|screen| !screen.is_alternate() && screen.says("Counted days from the Monday"));
    terminal.wait_for(|screen| !screen.says("ends it"));
    terminal.mark("summary");
    terminal.key("alt+,");
    terminal.wait_for(|screen| !screen.says("Summing up") && screen.says("now at"));
    terminal.mark("sibling");
    leave(&mut terminal);
    let recording = terminal.recording();
    let frames = Frames::of(&recording);
    for mark in ["open", "tree", "search", "preview", "label", "question", "summary", "sibling"] {
        assert!(frames.marked(mark).is_some(), "{mark} was not seen");
    }
    if std::env::var_os("UPDATE_RECORDING").is_some() {
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/");
        fs::write(format!("{docs}recording.cast"), recording.to_cast()).unwrap();
        fs::write(format!("{docs}recording.svg"), moving_picture(&frames.at_marks(LASTS))).unwrap();
    }
}

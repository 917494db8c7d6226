//! What is seen before the session is there: it is kept from being ready by a file that nobody has written yet.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;

use ramal_testing::terminal::{Options, Terminal};

use super::support::says;
use super::world::{LAST_ANSWER, World, leave};

const OPENING: &str = "opening the session";

/// The file that is waited for.
struct Latch(PathBuf);

impl Latch {
    fn new(world: &World) -> Latch {
        let folder = world.scratch.path("CONFIG/ramal");
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("models.toml");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        Latch(path)
    }

    /// Lets the session be opened.
    fn open(self) {
        // Opened as soon as somebody reads; from then on there is no such file.
        let file = File::options().write(true).open(&self.0).unwrap();
        fs::remove_file(&self.0).unwrap();
        drop(file);
    }
}

fn start(world: &World, options: Options) -> Terminal {
    let terminal = Terminal::start(world.command(&[]), options);
    terminal.wait_for_text(OPENING);
    terminal
}

#[test]
fn the_end_of_the_log_is_seen_before_the_session_is_there() {
    let world = World::with_sample(&[says("It is.")]);
    let latch = Latch::new(&world);
    let mut terminal = start(&world, Options::new(100, 30));
    terminal.wait_for_text(LAST_ANSWER);
    terminal.text("Is it so?");
    terminal.wait_for_text("Is it so?");
    terminal.key("enter");
    terminal.wait_for(|screen| !screen.says("Is it so?"));
    terminal.text("and the next");
    terminal.wait_for_text("and the next");
    latch.open();
    terminal.wait_for(|screen| screen.says("It is.") && screen.says("and the next"));
    terminal.wait_for(|screen| !screen.says(OPENING) && !screen.says("Working"));
    // Nothing was printed twice.
    let everything = terminal.screen().everything();
    for text in [LAST_ANSWER, "Is it so?", "It is."] {
        assert_eq!(everything.matches(text).count(), 1, "{text}: {everything}");
    }
    assert!(!everything.contains(OPENING), "{everything}");
    terminal.key("ctrl+c");
    terminal.wait_for(|screen| !screen.says("and the next"));
    leave(&mut terminal);
    assert!(world.log().contains("Is it so?"));
}

#[test]
fn what_is_pressed_before_is_done_then() {
    let world = World::with_sample(&[]);
    let latch = Latch::new(&world);
    let mut terminal = start(&world, Options::new(100, 30).kitty());
    terminal.key("alt+t");
    terminal.wait_for_text("what is pressed is done then");
    latch.open();
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("◀ leaf"));
    terminal.key("esc");
    terminal.wait_for(|screen| !screen.is_alternate());
    leave(&mut terminal);
}

#[test]
fn a_window_that_changes_meanwhile_keeps_what_is_seen() {
    let world = World::with_sample(&[]);
    let latch = Latch::new(&world);
    let mut terminal = start(&world, Options::new(100, 30));
    terminal.wait_for_text(LAST_ANSWER);
    terminal.resize(60, 20);
    terminal.wait_for(|screen| screen.size() == (60, 20) && screen.says(LAST_ANSWER) && screen.says(OPENING));
    latch.open();
    terminal.wait_for(|screen| !screen.says(OPENING) && screen.says(LAST_ANSWER));
    terminal.resize(100, 30);
    terminal.wait_for(|screen| screen.says(LAST_ANSWER));
    leave(&mut terminal);
}

#[test]
fn nobody_has_to_wait() {
    for key in ["ctrl+d", "ctrl+c"] {
        let world = World::with_sample(&[]);
        let latch = Latch::new(&world);
        let before = world.log();
        let mut terminal = start(&world, Options::new(80, 24));
        terminal.key(key);
        assert!(terminal.end().success());
        terminal.assert_clean();
        assert_eq!(world.log(), before);
        fs::remove_file(latch.0).unwrap();
    }
}

#[test]
fn a_session_that_cannot_be_opened_leaves_the_terminal_clean() {
    let world = World::new(&[]);
    let mut command = world.command(&[]);
    command.args(["--resume", "no-such-session"]);
    let mut terminal = Terminal::start(command, Options::new(80, 24));
    assert!(!terminal.end().success());
    terminal.assert_clean();
    assert!(terminal.screen().says("no session whose id begins with 'no-such-session'"));
}

//! The tree on the whole screen: the real program in a real pseudo-terminal.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "shared with other tests")]
mod support;

use std::fs;
use std::process::Command;

use ramal_testing::screens;
use ramal_testing::terminal::{Options, Signal, Terminal};
use support::Scratch;

/// Where the sample session stands when it is opened.
const LEAF: &str = "is read as 2027-01-01";

struct World {
    scratch: Scratch,
}

impl World {
    #[allow(clippy::disallowed_methods, reason = "the session is a copy")]
    fn new() -> World {
        let scratch = Scratch::new(&[]);
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/date-parser.jsonl");
        fs::copy(sample, scratch.path("session.jsonl")).unwrap();
        World { scratch }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.scratch.bare();
        command.args(arguments).args(["--session", "session.jsonl"]).env("TZ", "UTC");
        command
    }

    /// `ramal go`, with the tree on the screen.
    fn go(&self, options: Options) -> Terminal {
        let terminal = Terminal::start(self.command(&["go"]), options);
        terminal.wait_for(|screen| screen.is_alternate() && screen.says("◀ leaf"));
        terminal
    }

    fn log(&self) -> String {
        fs::read_to_string(self.scratch.path("session.jsonl")).unwrap()
    }

    /// What a command prints.
    fn says(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

/// The row that is selected.
fn selected(terminal: &Terminal) -> String {
    terminal.screen().rows().into_iter().find(|row| row.starts_with('›')).unwrap_or_default()
}

#[test]
fn an_entry_is_chosen_and_the_leaf_goes_there() {
    for options in [Options::new(100, 40), Options::new(100, 40).kitty(), Options::new(100, 40).silent()] {
        let world = World::new();
        let before = world.log();
        let mut terminal = world.go(options);
        assert!(selected(&terminal).contains(LEAF), "{}", terminal.screen().text());
        terminal.key("ctrl+down");
        terminal.text("changelog");
        terminal.wait_for_text("Search: changelog");
        terminal
            .wait_for(|screen| screen.says("Lovely. A line for the changelog?") && !screen.says("[grep:"));
        // What is found is selected.
        terminal.wait_for(|screen| {
            screen.rows().iter().any(|row| row.starts_with('›') && row.contains("Lovely"))
        });
        terminal.key("enter");
        assert!(terminal.end().success());
        terminal.assert_clean();
        // Before the message, which is there to be said again; nothing was written.
        let said = terminal.main_screen().text();
        assert!(
            said.contains("Lovely. A line for the changelog?") && said.contains("The leaf is now"),
            "{said}"
        );
        assert_eq!(world.log(), before);
        let shown = world.says(&["show", "leaf~1"]);
        assert!(shown.contains("29 tests pass"), "{shown}");
    }
}

#[test]
fn where_one_is_and_nothing_at_all() {
    let world = World::new();
    let mut terminal = world.go(Options::new(80, 24));
    terminal.key("enter");
    assert!(terminal.end().success());
    assert!(terminal.main_screen().says("The leaf is there already"));
    terminal.assert_clean();

    // Escape clears the search first.
    let mut terminal = world.go(Options::new(80, 24));
    terminal.text("zzz");
    terminal.wait_for_text("Nothing has been found");
    terminal.key("esc");
    terminal.wait_for_text("Type to search");
    terminal.key("esc");
    assert!(terminal.end().success());
    assert!(terminal.main_screen().says("Nothing was chosen"));
    terminal.assert_clean();
}

#[test]
fn a_label_is_edited_in_place() {
    let world = World::new();
    let mut terminal = world.go(Options::new(100, 30));
    terminal.key("shift+l");
    terminal.wait_for_text("Label:");
    terminal.text("done, I think");
    terminal.wait_for(|screen| screen.says("Label: done, I think") && screen.cursor().is_visible);
    terminal.key("enter");
    terminal.wait_for_text("[done, I think]");
    // The row where one stood is still the one where nothing happens.
    terminal.key("enter");
    assert!(terminal.end().success());
    assert!(terminal.main_screen().says("there already"), "{}", terminal.main_screen().text());
    assert!(world.says(&["labels"]).contains("done, I think"));
    // Escape leaves a label as it was. Where one is now is the entry of the label, below what it is on.
    let mut terminal = world.go(Options::new(100, 30));
    terminal.key("up");
    terminal.wait_for(|screen| screen.rows().iter().any(|row| row.starts_with('›') && row.contains(LEAF)));
    terminal.key("shift+l");
    terminal.wait_for_text("Label: done, I think");
    terminal.text(" not");
    terminal.wait_for_text("think not");
    terminal.key("esc");
    terminal.wait_for_text("Type to search");
    terminal.key("esc");
    assert!(terminal.end().success());
    assert!(!world.says(&["labels"]).contains("think not"));
}

#[test]
fn filters_folds_and_the_preview() {
    let world = World::new();
    let mut terminal = world.go(Options::new(120, 40));
    // Beside the rows: the whole of what is selected.
    terminal.wait_for_text("the standard allows hyphens");
    terminal.key("ctrl+u");
    terminal.wait_for(|screen| screen.says("user-only") && !screen.says("[edit:"));
    terminal.key("ctrl+u");
    terminal.wait_for(|screen| !screen.says("user-only") && screen.says("[edit:"));
    terminal.key("alt+l");
    terminal.wait_for_text("labeled-only");
    terminal.key("alt+d");
    terminal.wait_for(|screen| !screen.says("labeled-only"));
    terminal.key("ctrl+left");
    terminal.key("ctrl+left");
    terminal.wait_for_text("⊞");
    terminal.key("alt+v");
    terminal.wait_for(|screen| !screen.says("│ assistant ·"));
    terminal.key("ctrl+c");
    assert!(terminal.end().success());
    terminal.assert_clean();
}

#[test]
fn what_another_program_appends_appears() {
    let world = World::new();
    let mut terminal = world.go(Options::new(100, 40));
    world.says(&["label", LABELLED, "from elsewhere"]);
    terminal.wait_for_text("[from elsewhere]");
    assert!(selected(&terminal).contains(LEAF));
    terminal.key("esc");
    assert!(terminal.end().success());
}

/// An entry that is on the first screen.
const LABELLED: &str = "c578a324";

#[test]
fn the_window_changes_and_the_terminal_is_left_clean() {
    let world = World::new();
    let mut terminal = world.go(Options::new(100, 40));
    for (columns, rows) in [(40, 10), (300, 100), (41, 12), (80, 24), (20, 5), (200, 60)] {
        terminal.resize(columns, rows);
        terminal.wait_for(|screen| {
            screen.size() == (columns, rows) && screen.rows().iter().any(|row| row.starts_with('›'))
        });
    }
    terminal.signal(Signal::TERM);
    let status = terminal.end();
    assert!(!status.success());
    terminal.assert_clean();
}

#[test]
fn a_small_screen() {
    let world = World::new();
    let terminal = world.go(Options::new(58, 16));
    terminal.wait_for(|screen| screen.says("30/48"));
    screens::check("go-58x16", &terminal.screen().text());
}

#[test]
fn without_a_terminal_an_entry_has_to_be_named() {
    let world = World::new();
    let output = world.command(&["go"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("no terminal") && said.contains("ramal go ENTRY"), "{said}");
}

#[test]
fn whoever_wants_no_colours_gets_none_whatever_the_terminal_says_later() {
    let world = World::new();
    let options = Options::new(100, 40).silent().variable("COLORFGBG", "0;15");
    let mut terminal = Terminal::start(world.command(&["go", "--color", "never"]), options);
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("◀ leaf"));
    // What the background is comes when nobody waits for it any more.
    terminal.raw(b"\x1b]11;rgb:0000/0000/0000\x1b\\");
    terminal.key("up");
    terminal.wait_for(|screen| screen.rows().iter().any(|row| row.starts_with('›') && !row.contains(LEAF)));
    let screen = terminal.screen();
    let cells = (0..40).flat_map(|row| (0..100).map(move |column| (row, column)));
    let colors: Vec<String> = cells
        .filter_map(|(row, column)| screen.cell(row, column))
        .map(|cell| format!("{:?}/{:?}", cell.fgcolor(), cell.bgcolor()))
        .filter(|color| color != "Default/Default")
        .collect();
    assert!(colors.is_empty(), "{colors:?}");
    terminal.key("esc");
    assert!(terminal.end().success());
}

#[allow(clippy::disallowed_methods, reason = "files of the test's own folder")]
#[test]
fn a_theme_of_ones_own_is_on_the_screen_and_what_is_wrong_with_it_is_told() {
    let world = World::new();
    let config = world.scratch.path("CONFIG").join("ramal");
    let own = config.join("themes/harbour.toml");
    fs::create_dir_all(config.join("themes")).unwrap();
    fs::write(config.join("settings.toml"), "theme = \"harbour\"\n").unwrap();
    fs::write(&own, "[roles]\nactive = 201\naccent = \"nothing\"\n").unwrap();
    let mut terminal = world.go(Options::new(100, 40));
    terminal.wait_for_text("harbour.toml, line 3: no colour");
    let written = terminal.recording().output();
    assert!(String::from_utf8_lossy(&written).contains("38;5;201"));
    terminal.key("esc");
    assert!(terminal.end().success());
    fs::remove_file(&own).unwrap();
    let mut terminal = world.go(Options::new(100, 40));
    terminal.wait_for_text("no theme is called \"harbour\"");
    terminal.key("esc");
    assert!(terminal.end().success());
}

//! Among the settings.

use std::fs;

use ramal_testing::terminal::{Screen, Terminal};
use ramal_tui::keys::ActionId;

use super::{Row, World, leave, put, say, terminal};

pub(super) const ROWS: &[Row] = &[
    Row { action: ActionId::NextValue, scenario: |key| changes(key, "off", "minimal") },
    Row { action: ActionId::PreviousValue, scenario: |key| changes(key, "low", "minimal") },
    Row { action: ActionId::DefaultValue, scenario: |key| changes(key, "high", "off") },
];

const FILE: &str = "CONFIG/ramal/settings.toml";

/// The setting that is changed.
const SETTING: &str = "thinkingLevel";

/// Goes to a setting that has a value, and presses the key.
#[track_caller]
fn changes(key: &str, from: &str, to: &str) {
    let world = World::new(&[]);
    put(&world, FILE, &format!("# How much it thinks.\n{SETTING} = \"{from}\"\ntheme = \"dark\"\n"));
    let mut terminal = world.start(terminal(120, 40, key));
    say(&terminal, "/settings");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says(SETTING));
    go_to_setting(&terminal);
    terminal.wait_for(|screen| value(screen).as_deref() == Some(from));
    terminal.key(key);
    terminal.wait_for(|screen| value(screen).as_deref() == Some(to));
    terminal.key("esc");
    terminal.wait_for(|screen| !screen.is_alternate());
    leave(&mut terminal);
    // It stands in the file, in its place, and the rest of it is as it was.
    let text = fs::read_to_string(world.scratch.path(FILE)).unwrap();
    assert_eq!(text, format!("# How much it thinks.\n{SETTING} = \"{to}\"\ntheme = \"dark\"\n"));
}

/// What is changed several times and left at once is what was wanted last.
#[test]
fn nothing_is_lost_by_leaving_at_once() {
    let world = World::new(&[]);
    put(&world, FILE, &format!("{SETTING} = \"off\"\n"));
    let mut terminal = world.start(terminal(120, 40, "right"));
    say(&terminal, "/settings");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says(SETTING));
    go_to_setting(&terminal);
    terminal.keys(&["right", "right", "right", "right", "left", "ctrl+c", "ctrl+d"]);
    assert!(terminal.end().success());
    terminal.assert_clean();
    let text = fs::read_to_string(world.scratch.path(FILE)).unwrap();
    assert_eq!(text, format!("{SETTING} = \"medium\"\n"));
}

fn go_to_setting(terminal: &Terminal) {
    let at = terminal.screen().row_of(SETTING).unwrap();
    let first = terminal.screen().row_of("› ").unwrap();
    for _ in first..at {
        terminal.key("down");
    }
}

/// The value of the setting, while it is selected.
fn value(screen: &Screen<'_>) -> Option<String> {
    let rows = screen.rows();
    let row = rows.iter().find_map(|row| row.strip_prefix("› ")?.trim_start().strip_prefix(SETTING))?;
    row.split_whitespace().next().map(str::to_owned)
}

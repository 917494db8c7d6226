//! Every key of the table does what the table says: a scenario for each action, run once with each key that it
//! has by default.
//!
//! A scenario sees an effect that only this action has: on the screen, in the log, or among the files.

mod conversation;
mod editor;
mod empty_editor;
mod everywhere;
mod list;
mod sessions;
mod settings;
mod transcript;
mod tree;

use std::panic::catch_unwind;

use ramal_testing::terminal::Options;
use ramal_tui::keys::{ActionId, Keymap, Place};

/// An action, and what is seen of it when a key is pressed that it has.
struct Row {
    action: ActionId,
    /// Presses the key, and fails if the action was not done.
    scenario: fn(key: &str),
}

/// The scenarios, place by place.
const TABLES: &[(Place, &[Row])] = &[
    (Place::Conversation, conversation::ROWS),
    (Place::EmptyEditor, empty_editor::ROWS),
    (Place::Editor, editor::ROWS),
    (Place::Tree, tree::ROWS),
    (Place::Sessions, sessions::ROWS),
    (Place::Settings, settings::ROWS),
    (Place::Transcript, transcript::ROWS),
    (Place::List, list::ROWS),
    (Place::Everywhere, everywhere::ROWS),
];

/// Places whose scenarios are still to come.
const AWAITED: &[Place] = &[Place::Tree, Place::Sessions, Place::Transcript];

/// A terminal that can tell the key: one with kitty's protocol where the old one sends the same for another.
fn terminal(columns: u16, rows: u16, key: &str) -> Options {
    let options = Options::new(columns, rows);
    let (modifiers, name) = key.rsplit_once('+').unwrap_or(("", key));
    let is_same_in_the_old = match name {
        "enter" | "backspace" => modifiers.contains("ctrl") || modifiers.contains("shift"),
        _ => modifiers.contains("ctrl+shift"),
    };
    if is_same_in_the_old { options.kitty() } else { options }
}

/// Runs the scenarios of a place, and tells all that fail.
fn run(place: Place) {
    let keymap = Keymap::default();
    let rows = TABLES.iter().filter(|(of, _)| *of == place).flat_map(|(_, rows)| *rows);
    let mut failed = Vec::new();
    for Row { action, scenario } in rows {
        for key in keymap.keys_of(*action) {
            let key = key.file_name();
            if catch_unwind(|| scenario(&key)).is_err() {
                failed.push(format!("{} with {key}", action.name()));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn beside_the_editor() {
    run(Place::Conversation);
}

#[test]
fn in_the_empty_editor() {
    run(Place::EmptyEditor);
}

#[test]
fn in_the_editor() {
    run(Place::Editor);
}

#[test]
fn in_the_tree() {
    run(Place::Tree);
}

#[test]
fn among_the_sessions() {
    run(Place::Sessions);
}

#[test]
fn among_the_settings() {
    run(Place::Settings);
}

#[test]
fn in_the_transcript() {
    run(Place::Transcript);
}

#[test]
fn in_lists() {
    run(Place::List);
}

#[test]
fn everywhere() {
    run(Place::Everywhere);
}

#[test]
fn every_action_has_a_scenario() {
    let mut missing: Vec<_> = ActionId::all().filter(|action| !AWAITED.contains(&action.place())).collect();
    for (place, rows) in TABLES.iter().filter(|(place, _)| !AWAITED.contains(place)) {
        for row in *rows {
            assert_eq!(row.action.place(), *place, "{:?}", row.action);
            let at = missing.iter().position(|action| *action == row.action);
            missing.remove(at.unwrap_or_else(|| panic!("{:?} stands there twice", row.action)));
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

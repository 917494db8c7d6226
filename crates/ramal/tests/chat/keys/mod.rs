//! Every key of the table does what the table says: a scenario for each action, run once with each key that it
//! has by default.
//!
//! A scenario sees an effect that only this action has: on the screen, in the log, or among the files.

mod conversation;
mod editor;
mod empty_editor;
mod everywhere;
mod list;
mod own;
mod sessions;
mod settings;
mod transcript;
mod tree;

use std::fs;
use std::panic::catch_unwind;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ramal_testing::terminal::{Options, Terminal};
use ramal_tui::keys::{ActionId, Keymap, Place};
use serde_json::{Value, json};

use super::world::{World, leave};

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

/// The key of actions that have none by default: the user's file gives it to them.
const OWN_KEY: &str = "f7";

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

/// Writes a file below the world's folder, which is the user's home.
#[allow(clippy::disallowed_methods, reason = "a file that the test makes up")]
fn put(world: &World, name: &str, text: &str) {
    let path = world.scratch.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Gives a key to an action, in the user's own file.
fn give(world: &World, action: ActionId, key: &str) {
    put(world, "CONFIG/ramal/keybindings.json", &json!({ action.name(): key }).to_string());
}

/// Three models that can be used besides the recorded one, as far as is known: nobody asks them.
fn add_models(world: &World) {
    let mut file = String::from(
        "[providers.mine]\napi = \"openai-completions\"\nbase_url = \"http://127.0.0.1:9/v1\"\napi_key = \"none\"\n",
    );
    for id in ["first", "second", "third"] {
        file +=
            &format!("[[providers.mine.models]]\nid = \"{id}\"\ncontext_window = 10000\nmax_output = 1000\n");
    }
    put(world, "CONFIG/ramal/models.toml", &file);
}

/// Types a text and sends it.
fn say(terminal: &Terminal, text: &str) {
    terminal.text(text);
    terminal.wait_for_text(text);
    terminal.key("enter");
}

/// Says something, and waits until the answer is there and the turn over.
fn ask(terminal: &Terminal, text: &str, answer: &str) {
    say(terminal, text);
    terminal.wait_for(|screen| screen.says(answer) && !screen.says("Working"));
}

/// What went to the clipboard last.
fn copied(terminal: &Terminal) -> Option<String> {
    let output = String::from_utf8_lossy(&terminal.recording().output()).into_owned();
    let (_, last) = output.rsplit_once("\u{1b}]52;c;")?;
    let bytes = BASE64_STANDARD.decode(last.split('\u{1b}').next()?).ok()?;
    String::from_utf8(bytes).ok()
}

/// The entries of the log that have that type.
fn entries(world: &World, kind: &str) -> Vec<Value> {
    world.entries().into_iter().filter(|entry| entry["type"] == kind).collect()
}

/// Leaves although something is written.
fn leave_written(terminal: &mut Terminal) {
    terminal.key("ctrl+c");
    leave(terminal);
}

/// Runs the scenarios of a place, and tells all that fail.
fn run(place: Place) {
    let keymap = Keymap::default();
    let rows = TABLES.iter().filter(|(of, _)| *of == place).flat_map(|(_, rows)| *rows);
    let mut failed = Vec::new();
    for Row { action, scenario } in rows {
        let mut keys: Vec<String> = keymap.keys_of(*action).iter().map(|key| key.file_name()).collect();
        if keys.is_empty() {
            keys.push(OWN_KEY.to_owned());
        }
        for key in keys {
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
    let mut missing: Vec<_> = ActionId::all().collect();
    for (place, rows) in TABLES {
        for row in *rows {
            assert_eq!(row.action.place(), *place, "{:?}", row.action);
            let at = missing.iter().position(|action| *action == row.action);
            missing.remove(at.unwrap_or_else(|| panic!("{:?} stands there twice", row.action)));
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

//! In the editor.

use ramal_tui::keys::ActionId;

use super::super::support::says;
use super::{Row, World, copied, give, leave, leave_written, put, terminal};

pub(super) const ROWS: &[Row] = &[
    Row { action: ActionId::Submit, scenario: submit },
    Row { action: ActionId::NewLine, scenario: new_line },
    Row { action: ActionId::Complete, scenario: complete },
    Row { action: ActionId::CopySelection, scenario: copy },
    Row { action: ActionId::CursorUp, scenario: cursor_up },
    Row { action: ActionId::CursorDown, scenario: cursor_down },
    Row { action: ActionId::CursorLeft, scenario: |key| writes(key, "one two", &["KEY"], "one tw|o") },
    Row {
        action: ActionId::CursorRight,
        scenario: |key| writes(key, "one two", &["home", "KEY"], "o|ne two"),
    },
    Row { action: ActionId::CursorWordLeft, scenario: |key| writes(key, "one two", &["KEY"], "one |two") },
    Row {
        action: ActionId::CursorWordRight,
        scenario: |key| writes(key, "one two", &["home", "KEY"], "one| two"),
    },
    Row { action: ActionId::CursorLineStart, scenario: |key| writes(key, "one two", &["KEY"], "|one two") },
    Row {
        action: ActionId::CursorLineEnd,
        scenario: |key| writes(key, "one two", &["home", "right", "KEY"], "one two|"),
    },
    Row {
        action: ActionId::DeleteCharBackward,
        scenario: |key| writes(key, "one two", &["left", "KEY"], "one t|o"),
    },
    Row {
        action: ActionId::DeleteCharForward,
        scenario: |key| writes(key, "one two", &["home", "right", "KEY"], "o|e two"),
    },
    Row {
        action: ActionId::DeleteWordBackward,
        scenario: |key| writes(key, "one two three", &["left", "left", "KEY"], "one two |ee"),
    },
    Row {
        action: ActionId::DeleteWordForward,
        scenario: |key| writes(key, "one two three", &["home", "right", "KEY"], "o| two three"),
    },
    Row {
        action: ActionId::DeleteToLineStart,
        scenario: |key| writes(key, "one two", &["left", "KEY"], "|o"),
    },
    Row {
        action: ActionId::DeleteToLineEnd,
        scenario: |key| writes(key, "one two", &["home", "right", "KEY"], "o|"),
    },
    Row {
        action: ActionId::Yank,
        scenario: |key| writes(key, "one two", &["ctrl+w", "KEY", "KEY"], "one twotwo|"),
    },
    Row {
        action: ActionId::YankPop,
        // What was deleted at two different times is brought back one after the other.
        scenario: |key| {
            writes(key, "one two", &["ctrl+w", "left", "right", "ctrl+u", "ctrl+y", "KEY"], "two|");
        },
    },
    Row { action: ActionId::Undo, scenario: |key| writes(key, "one two", &["ctrl+w", "KEY"], "one two|") },
];

/// Types a text, presses keys, and types a sign to see where one is. `KEY` stands for the key.
#[track_caller]
fn writes(key: &str, text: &str, keys: &[&str], expected: &str) {
    let world = World::new(&[]);
    let mut terminal = world.start(terminal(80, 24, key));
    terminal.text(text);
    for pressed in keys {
        terminal.key(if *pressed == "KEY" { key } else { pressed });
    }
    terminal.text("|");
    terminal.wait_for(|screen| screen.rows().iter().any(|row| row.trim() == expected));
    leave_written(&mut terminal);
}

fn submit(key: &str) {
    let world = World::new(&[says("Heard.")]);
    let mut terminal = world.start(terminal(80, 24, key));
    terminal.text("Do you hear me?");
    terminal.key(key);
    terminal.wait_for(|screen| screen.says("Heard.") && !screen.says("Working"));
    leave(&mut terminal);
    assert!(world.log().contains("Do you hear me?"));
}

fn new_line(key: &str) {
    let world = World::new(&[says("Heard.")]);
    let mut terminal = world.start(terminal(80, 24, key));
    terminal.text("one");
    terminal.key(key);
    terminal.text("two");
    terminal.wait_for(|screen| screen.row_of("two").is_some_and(|row| screen.row_of("one") == Some(row - 1)));
    terminal.key("enter");
    terminal.wait_for(|screen| screen.says("Heard.") && !screen.says("Working"));
    leave(&mut terminal);
    assert!(world.log().contains(r#""one\ntwo""#), "{}", world.log());
}

fn complete(key: &str) {
    let world = World::new(&[]);
    put(&world, "notes/chapter-seven.txt", "");
    let mut terminal = world.start(terminal(80, 24, key));
    terminal.text("Read @chap");
    terminal.wait_for_text("chapter-seven.txt");
    terminal.key("esc");
    terminal.wait_for(|screen| !screen.says("chapter-seven.txt"));
    // Closed, it is opened again; open, what is selected is taken.
    terminal.key(key);
    terminal.wait_for_text("chapter-seven.txt");
    terminal.key(key);
    terminal.wait_for_text("Read @notes/chapter-seven.txt");
    leave_written(&mut terminal);
}

fn copy(key: &str) {
    let world = World::new(&[]);
    give(&world, ActionId::CopySelection, key);
    let mut terminal = world.start(terminal(80, 24, key));
    terminal.text("to be kept");
    terminal.key(key);
    terminal.wait_for_text("Copied");
    assert_eq!(copied(&terminal).as_deref(), Some("to be kept"));
    leave_written(&mut terminal);
}

fn cursor_up(key: &str) {
    let world = World::new(&[says("Granted.")]);
    let mut terminal = world.start(terminal(80, 24, key));
    super::ask(&terminal, "An old wish.", "Granted.");
    terminal.paste("one\ntwo");
    terminal.key(key);
    terminal.text("|");
    terminal.wait_for(|screen| screen.rows().iter().any(|row| row.trim() == "one|"));
    // From the first line to what was sent before.
    terminal.key(key);
    terminal.wait_for(|screen| !screen.says("one|") && screen.text().matches("An old wish.").count() == 2);
    leave_written(&mut terminal);
}

fn cursor_down(key: &str) {
    let world = World::new(&[says("Granted.")]);
    let mut terminal = world.start(terminal(80, 24, key));
    super::ask(&terminal, "An old wish.", "Granted.");
    terminal.paste("one\ntwo");
    terminal.keys(&["up", "up"]);
    terminal.wait_for(|screen| screen.text().matches("An old wish.").count() == 2);
    // From what was sent before back to what is being written, and down in it.
    terminal.key(key);
    terminal.wait_for(|screen| screen.says("two") && screen.text().matches("An old wish.").count() == 1);
    terminal.key(key);
    terminal.text("|");
    terminal.wait_for(|screen| screen.rows().iter().any(|row| row.trim() == "two|"));
    leave_written(&mut terminal);
}

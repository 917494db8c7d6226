//! Keys as terminals report them, and files that name them.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use proptest::prelude::*;

use super::actions::{ACTIONS, OLD_NAMES};
use super::{ActionId, Conflict, DoublePress, Key, KeyNameError, Keymap, Place, ProblemKind};

const NONE: KeyModifiers = KeyModifiers::NONE;
const CTRL: KeyModifiers = KeyModifiers::CONTROL;
const SHIFT: KeyModifiers = KeyModifiers::SHIFT;
const ALT: KeyModifiers = KeyModifiers::ALT;

fn key(name: &str) -> Key {
    name.parse().unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn reports_of_all_protocols_come_down_to_one_key() {
    use KeyCode::{BackTab, Backspace, Char, Enter, Tab};
    let table = [
        ("Shift+L, old", Char('L'), SHIFT, "shift+l"),
        ("Shift+L, kitty", Char('l'), SHIFT, "shift+l"),
        ("Shift+L, kitty with alternates", Char('L'), NONE, "shift+l"),
        ("Ctrl+Shift+O, kitty", Char('o'), CTRL | SHIFT, "ctrl+shift+o"),
        ("Ctrl+Shift+O, kitty with alternates", Char('O'), CTRL, "ctrl+shift+o"),
        ("Alt+F, both", Char('f'), ALT, "alt+f"),
        ("Alt+Shift+F, old", Char('F'), ALT | SHIFT, "alt+shift+f"),
        ("Shift+Enter", Enter, SHIFT, "shift+enter"),
        ("Shift+Tab, old", BackTab, SHIFT, "shift+tab"),
        ("Shift+Tab, kitty", Tab, SHIFT, "shift+tab"),
        ("Ctrl+Minus, old", Char('7'), CTRL, "ctrl+-"),
        ("Ctrl+Minus, kitty", Char('-'), CTRL, "ctrl+-"),
        ("Ctrl+Underscore", Char('_'), CTRL, "ctrl+-"),
        ("Ctrl+], old", Char('5'), CTRL, "ctrl+]"),
        ("Ctrl+Backspace, kitty", Backspace, CTRL, "ctrl+backspace"),
        ("Ctrl+Space", Char(' '), CTRL, "ctrl+space"),
        ("a question mark", Char('?'), NONE, "?"),
        ("with the lock keys on", Char('x'), NONE, "x"),
    ];
    for (what, code, modifiers, name) in table {
        assert_eq!(Key::of(KeyEvent::new(code, modifiers)), Some(key(name)), "{what}");
    }
}

#[test]
fn what_is_no_key_press_is_no_key() {
    let mut event = KeyEvent::new(KeyCode::Char('a'), NONE);
    event.kind = KeyEventKind::Repeat;
    assert_eq!(Key::of(event), Some(key("a")));
    event.kind = KeyEventKind::Release;
    assert_eq!(Key::of(event), None);
    let desktop = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::SUPER);
    assert_eq!(Key::of(desktop), None, "this would be typed as a letter");
}

#[test]
fn names_are_read_in_any_order_and_by_all_their_names() {
    assert_eq!(key("shift+ctrl+o"), key("Ctrl+Shift+O"));
    assert_eq!(key("esc"), key("escape"));
    assert_eq!(key("return"), key("enter"));
    assert_eq!(key(" pageUp "), key("PAGEUP"));
    assert_eq!(key("ctrl++"), Key::new(KeyCode::Char('+'), CTRL));
    assert_eq!(key("+"), Key::new(KeyCode::Char('+'), NONE));
    assert_eq!(key("f12"), Key::new(KeyCode::F(12), NONE));
    assert_eq!(key("f"), Key::new(KeyCode::Char('f'), NONE));
    for (name, error) in [
        ("", KeyNameError::NoKey),
        ("ctrl+", KeyNameError::NoKey),
        ("f13", KeyNameError::UnknownKey("f13".into())),
        ("ctrl+frog", KeyNameError::UnknownKey("frog".into())),
        ("hyper+a", KeyNameError::UnknownModifier("hyper".into())),
        ("+a", KeyNameError::UnknownModifier(String::new())),
    ] {
        assert_eq!(name.parse::<Key>(), Err(error), "{name:?}");
    }
}

#[test]
fn people_read_short_clear_names() {
    for (name, shown) in [
        ("ctrl+o", "Ctrl+O"),
        ("shift+l", "Shift+L"),
        ("shift+ctrl+alt+pageUp", "Ctrl+Alt+Shift+PgUp"),
        ("escape", "Esc"),
        ("alt+left", "Alt+Left"),
        ("f5", "F5"),
        ("space", "Space"),
        ("ctrl+plus", "Ctrl++"),
        ("alt+,", "Alt+,"),
    ] {
        assert_eq!(key(name).to_string(), shown);
        assert_eq!(key(shown), key(name));
    }
    assert_eq!(format!("{:>8}|", key("ctrl+o")), "  Ctrl+O|");
}

proptest! {
    #[test]
    fn a_typed_character_stays_what_it_is(c in any::<char>()) {
        prop_assume!(!c.is_control());
        let pressed = Key::of(KeyEvent::new(KeyCode::Char(c), NONE)).expect("a press");
        prop_assert_eq!(pressed.typed(), Some(c));
    }

    #[test]
    fn names_that_are_written_are_read(c in any::<char>(), bits in 0u8..8) {
        prop_assume!(!c.is_control() && !c.is_whitespace());
        let pressed = Key::new(KeyCode::Char(c), KeyModifiers::from_bits_truncate(bits));
        // Signs that have upper and lower case without being each other's cannot be told apart by name.
        prop_assume!(c.to_lowercase().eq([c]) || pressed.modifiers.contains(SHIFT));
        prop_assume!(c.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase).eq(c.to_lowercase()));
        prop_assert_eq!(pressed.file_name().parse(), Ok(pressed));
        prop_assert_eq!(pressed.to_string().parse(), Ok(pressed));
    }

    #[test]
    fn any_file_is_read_without_harm(text in ".{0,200}") {
        let _ = Keymap::read(&text);
    }

    #[test]
    fn any_name_is_read_without_harm(name in "[a-zA-Z+ ]{0,20}") {
        let _ = name.parse::<Key>();
    }
}

#[test]
fn the_table_is_whole() {
    let mut names = HashSet::new();
    for (index, action) in ACTIONS.iter().enumerate() {
        assert_eq!(action.id as usize, index, "rows stand in the order of the variants");
        assert!(names.insert(action.name), "{} is there twice", action.name);
        assert!(!action.says.is_empty() && !action.says.ends_with('.'), "{}", action.name);
        assert!(action.says.chars().count() <= 50, "{} says too much", action.name);
        for name in action.keys {
            name.parse::<Key>().unwrap_or_else(|error| panic!("{}: {name}: {error}", action.name));
        }
    }
}

#[test]
fn default_keys_collide_where_that_is_meant_and_nowhere_else() {
    let keymap = Keymap::default();
    let mut shared: Vec<String> = Vec::new();
    for place in Place::ALL {
        for key in ACTIONS.iter().flat_map(|action| keymap.keys_of(action.id)) {
            if let [first, second, ..] = keymap.actions(place, *key) {
                let line = format!("{place:?} {key}: {first:?}, {second:?}");
                if !shared.contains(&line) {
                    shared.push(line);
                }
            }
        }
    }
    shared.sort();
    let expected = ["EmptyEditor Ctrl+D: Exit, DeleteCharForward"];
    assert_eq!(shared, expected);
    assert_eq!(keymap.conflicts(), []);
}

/// The keys that both programs' users know, each in its place.
#[test]
fn known_keys_do_what_they_are_known_for() {
    use Place::{Conversation, Editor, EmptyEditor, List, Sessions, Transcript, Tree};
    let keymap = Keymap::default();
    let table: &[(Place, &[&str], &str)] = &[
        (EmptyEditor, &["escape"], "app.interrupt"),
        (EmptyEditor, &["ctrl+c"], "app.clear"),
        (EmptyEditor, &["ctrl+d"], "app.exit"),
        (Editor, &["ctrl+d", "delete"], "tui.editor.deleteCharForward"),
        (Editor, &["ctrl+z"], "app.suspend"),
        (Editor, &["ctrl+g"], "app.editor.external"),
        (Sessions, &["ctrl+p"], "app.session.togglePath"),
        (Sessions, &["ctrl+s"], "app.session.toggleSort"),
        (Sessions, &["ctrl+n"], "app.session.toggleNamedFilter"),
        (Sessions, &["ctrl+r"], "app.session.rename"),
        (Sessions, &["ctrl+d", "delete"], "app.session.delete"),
        (Sessions, &["ctrl+backspace"], "app.session.deleteNoninvasive"),
        (Sessions, &["tab"], "app.session.toggleScope"),
        (Tree, &["ctrl+left", "alt+left"], "app.tree.foldOrUp"),
        (Tree, &["ctrl+right", "alt+right"], "app.tree.unfoldOrDown"),
        (Tree, &["shift+l"], "app.tree.editLabel"),
        (Tree, &["shift+t"], "app.tree.toggleLabelTimestamp"),
        (Tree, &["ctrl+d", "alt+d"], "app.tree.filter.default"),
        (Tree, &["ctrl+t"], "app.tree.filter.noTools"),
        (Tree, &["ctrl+u"], "app.tree.filter.userOnly"),
        (Tree, &["ctrl+l"], "app.tree.filter.labeledOnly"),
        (Tree, &["ctrl+a"], "app.tree.filter.all"),
        (Tree, &["alt+t"], "app.tree.filter.setNoTools"),
        (Tree, &["alt+u"], "app.tree.filter.setUserOnly"),
        (Tree, &["alt+l"], "app.tree.filter.setLabeledOnly"),
        (Tree, &["alt+a"], "app.tree.filter.setAll"),
        (Tree, &["ctrl+o"], "app.tree.filter.cycleForward"),
        (Tree, &["shift+ctrl+o"], "app.tree.filter.cycleBackward"),
        (Tree, &["left", "ctrl+b"], "app.tree.pageUp"),
        (Tree, &["right", "ctrl+f"], "app.tree.pageDown"),
        (Tree, &["alt+up"], "app.tree.previousTurn"),
        (Tree, &["alt+down"], "app.tree.nextTurn"),
        (Tree, &["shift+enter"], "app.tree.chooseSummarising"),
        (Tree, &["backspace"], "app.tree.erase"),
        (Tree, &["up"], "tui.select.up"),
        (Tree, &["home"], "tui.select.first"),
        (Tree, &["end"], "tui.select.last"),
        (Tree, &["enter"], "tui.select.confirm"),
        (Tree, &["escape", "ctrl+c"], "tui.select.cancel"),
        (Conversation, &["ctrl+l"], "app.model.select"),
        (Conversation, &["ctrl+p"], "app.model.cycleForward"),
        (Conversation, &["shift+ctrl+p"], "app.model.cycleBackward"),
        (Conversation, &["shift+tab"], "app.thinking.cycle"),
        (Conversation, &["ctrl+t"], "app.thinking.toggle"),
        (Conversation, &["ctrl+o"], "app.tools.expand"),
        (Editor, &["alt+enter", "ctrl+enter"], "app.message.followUp"),
        (Editor, &["alt+up"], "app.message.dequeue"),
        (Editor, &["ctrl+r"], "app.history.search"),
        (List, &["pageUp"], "tui.select.pageUp"),
        (List, &["pageDown"], "tui.select.pageDown"),
        (Editor, &["enter"], "tui.input.submit"),
        (Editor, &["shift+enter"], "tui.input.newLine"),
        (Editor, &["tab"], "tui.input.tab"),
        (Editor, &["left", "ctrl+b"], "tui.editor.cursorLeft"),
        (Editor, &["right", "ctrl+f"], "tui.editor.cursorRight"),
        (Editor, &["alt+left", "ctrl+left", "alt+b"], "tui.editor.cursorWordLeft"),
        (Editor, &["alt+right", "ctrl+right", "alt+f"], "tui.editor.cursorWordRight"),
        (Editor, &["home", "ctrl+a"], "tui.editor.cursorLineStart"),
        (Editor, &["end", "ctrl+e"], "tui.editor.cursorLineEnd"),
        (Editor, &["backspace"], "tui.editor.deleteCharBackward"),
        (Editor, &["ctrl+w", "alt+backspace"], "tui.editor.deleteWordBackward"),
        (Editor, &["alt+d", "alt+delete"], "tui.editor.deleteWordForward"),
        (Editor, &["ctrl+u"], "tui.editor.deleteToLineStart"),
        (Editor, &["ctrl+k"], "tui.editor.deleteToLineEnd"),
        (Editor, &["ctrl+y"], "tui.editor.yank"),
        (Editor, &["alt+y"], "tui.editor.yankPop"),
        (Editor, &["ctrl+-"], "tui.editor.undo"),
        (Transcript, &["left"], "app.transcript.previousSibling"),
        (Transcript, &["f"], "app.transcript.filter"),
        (Transcript, &["a"], "app.transcript.loadAll"),
    ];
    for (place, keys, name) in table {
        for pressed in *keys {
            let action = keymap.action(*place, key(pressed)).map(ActionId::name);
            assert_eq!(action, Some(*name), "{place:?} {pressed}");
        }
    }
}

#[test]
fn nothing_that_is_typed_into_a_search_is_taken_from_it() {
    let keymap = Keymap::default();
    for place in [Place::Editor, Place::EmptyEditor, Place::Sessions, Place::List, Place::Tree] {
        for c in (' '..='~').filter(|c| !(place == Place::Tree && "LT".contains(*c))) {
            let typed = Key::new(KeyCode::Char(c), NONE);
            assert_eq!(keymap.action(place, typed), None, "{place:?} {c:?}");
        }
    }
}

#[test]
fn a_file_takes_the_place_of_the_default_keys() {
    let keymap = Keymap::read(
        r#"{
            "app.session.tree": ["ctrl+x", "f2"],
            "app.tools.expand": "ctrl+e",
            "app.session.resume": "f3",
            "app.thinking.toggle": []
        }"#,
    );
    assert_eq!(keymap.problems(), []);
    assert_eq!(keymap.action(Place::Editor, key("f2")), Some(ActionId::Tree));
    assert_eq!(keymap.action(Place::Editor, key("alt+t")), None);
    assert_eq!(keymap.keys_of(ActionId::ToggleThinking), []);
    assert_eq!(keymap.hint(ActionId::Resume).as_deref(), Some("F3"));
    assert_eq!(keymap.action(Place::Conversation, key("ctrl+l")), Some(ActionId::SelectModel));
}

#[test]
fn old_names_are_read_and_new_ones_win() {
    let keymap = Keymap::read(r#"{"expandTools": "ctrl+x", "tree": "f2", "app.session.tree": "f4"}"#);
    assert_eq!(keymap.problems(), []);
    assert_eq!(keymap.keys_of(ActionId::ExpandTools), [key("ctrl+x")]);
    assert_eq!(keymap.keys_of(ActionId::Tree), [key("f4")]);
    for (old, name) in OLD_NAMES {
        let problems = Keymap::read(&format!(r#"{{"{old}": "f2"}}"#)).problems().to_vec();
        let is_ours = ActionId::named(name).is_some();
        match problems.first().map(|problem| &problem.kind) {
            None => assert!(is_ours, "{name}"),
            Some(ProblemKind::NotHere(_)) => assert!(!is_ours, "{name}"),
            Some(other) => panic!("{old}: {other:?}"),
        }
    }
}

#[test]
fn what_cannot_be_used_is_told_with_its_line_and_the_default_stays() {
    let keymap = Keymap::read(
        "{\n\"app.tree.fold\": \"f2\",\n\"app.clear\": \"ctrl+frog\",\n\"app.exit\": 7,\n\"app.plan.toggle\": \"f3\",\n\
         \"tui.select.up\": [\"k\", \"hyper+x\"]\n}",
    );
    let told: Vec<String> = keymap.problems().iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "line 2: no action is called \"app.tree.fold\"; F1 shows those there are",
            "line 3: app.clear: no key is called \"frog\"",
            "line 4: app.exit: neither a key nor a list of keys",
            "line 5: \"app.plan.toggle\" is not something that ramal does",
            "line 6: tui.select.up: \"hyper\" is none of ctrl, shift and alt",
        ]
    );
    assert_eq!(keymap.keys_of(ActionId::Clear), [key("ctrl+c")]);
    assert_eq!(keymap.keys_of(ActionId::Exit), [key("ctrl+d")]);
    assert_eq!(keymap.keys_of(ActionId::Up), [key("k")]);

    let broken = Keymap::read("{\n  \"app.clear\": \"f2\"\n  \"app.exit\": \"f3\"\n}");
    assert!(matches!(broken.problems()[0].kind, ProblemKind::NotJson(_)));
    assert_eq!(broken.problems()[0].line, 3);
    assert_eq!(broken.keys_of(ActionId::Clear), [key("ctrl+c")]);
    assert_eq!(Keymap::read("[]").problems()[0].kind, ProblemKind::NotAnObject);
}

#[test]
fn a_key_that_the_user_gave_away_does_what_the_user_said() {
    let keymap = Keymap::read(r#"{"tui.editor.cursorUp": ["up", "ctrl+p"]}"#);
    assert_eq!(keymap.action(Place::Editor, key("ctrl+p")), Some(ActionId::CursorUp));
    let lost =
        |place| Conflict { place, key: key("ctrl+p"), wins: ActionId::CursorUp, loses: ActionId::NextModel };
    assert_eq!(keymap.conflicts(), [lost(Place::EmptyEditor), lost(Place::Editor)]);
}

#[test]
fn writing_a_default_down_changes_nothing() {
    let keymap = Keymap::read(r#"{"tui.editor.deleteCharForward": ["ctrl+d", "delete"]}"#);
    assert_eq!(keymap.action(Place::EmptyEditor, key("ctrl+d")), Some(ActionId::Exit));
    assert_eq!(keymap.conflicts(), []);
}

#[test]
fn help_has_every_action_once() {
    let keymap = Keymap::read(r#"{"app.session.fork": "f9"}"#);
    let rows: Vec<_> = keymap.hotkeys().collect();
    assert_eq!(rows.len(), ActionId::all().count());
    let fork = rows.iter().find(|row| row.action == ActionId::Fork).expect("a row");
    assert_eq!((fork.place, fork.keys.as_slice()), (Place::Conversation, [key("f9")].as_slice()));
    let places: Vec<Place> = rows.iter().map(|row| row.place).collect();
    let mut once = places.clone();
    once.dedup();
    assert_eq!(once, Place::ALL, "the rows of a place stand together");
}

#[test]
fn two_presses_within_half_a_second_are_a_double_one() {
    let start = Instant::now();
    let at = |ms| start + Duration::from_millis(ms);
    let mut double = DoublePress::default();
    assert!(!double.press(at(0)));
    assert!(double.press(at(500)));
    assert!(!double.press(at(600)), "a third one begins anew");
    assert!(!double.press(at(1101)), "too late");
    double.forget();
    assert!(!double.press(at(1200)), "another key came between");
    assert!(double.press(at(1300)));
}

/// The table of all actions as docs/keys.md has it.
fn table() -> String {
    let keymap = Keymap::default();
    let mut out = String::new();
    for place in Place::ALL {
        out += &format!("### {}\n\n| action | keys | |\n|---|---|---|\n", place.title());
        for row in keymap.hotkeys().filter(|row| row.place == place) {
            let keys: Vec<String> = row.keys.iter().map(|key| format!("`{}`", key.file_name())).collect();
            out += &format!("| `{}` | {} | {} |\n", row.action.name(), keys.join(", "), row.description);
        }
        out += "\n";
    }
    out
}

#[cfg(not(windows))]
#[test]
fn the_document_has_the_whole_table() {
    let document = include_str!("../../../../docs/keys.md");
    let there = document.split_once("\n## All actions\n\n").expect("a chapter of all actions").1;
    let table = table();
    assert_eq!(
        there.trim_end(),
        table.trim_end(),
        "docs/keys.md has another table than the program:\n{table}"
    );
}

#[test]
fn the_examples_of_the_document_are_read() {
    let document = include_str!("../../../../docs/keys.md");
    let mut seen = 0;
    for example in document.split("```json\n").skip(1) {
        let example = example.split("```").next().expect("an end");
        let keymap = Keymap::read(example);
        assert_eq!(keymap.problems(), []);
        assert_eq!(keymap.action(Place::EmptyEditor, key("ctrl+t")), Some(ActionId::Tree));
        assert!(keymap.keys_of(ActionId::StashDraft).is_empty());
        seen += 1;
    }
    assert_eq!(seen, 1);
}

//! Which keys are shown, and that it is all of them.

use super::*;
use crate::keys::{ActionId, Place};
use crate::testing::{key, letters, sizes, text, view};

#[test]
fn every_action_has_a_row_below_its_place() {
    let keymap = Keymap::default();
    let mut keys = HotkeysView::new(&keymap);
    let rows = u16::try_from(ActionId::all().count() + Place::ALL.len() + 3).unwrap();
    keys.key(&keymap, key("alt+v"));
    let seen = text(&view(120, rows, |scene| keys.draw(scene)).lines);
    let mut at = 0;
    for hotkey in keymap.hotkeys() {
        let heading = seen[..].find(&format!("\n{}\n", hotkey.place.title())).unwrap();
        let line = seen.lines().find(|line| line.ends_with(&format!(" {}", hotkey.action.name()))).unwrap();
        assert!(line.contains(hotkey.description), "{line}");
        for own in &hotkey.keys {
            assert!(line.contains(&own.to_string()) || line.contains('…'), "{line}");
        }
        let found = seen.find(line).unwrap();
        assert!(found > heading && found > at, "in the order of the table");
        at = found;
    }
}

#[test]
fn what_is_wrong_comes_first() {
    let keymap = Keymap::read(r#"{"app.session.tree": ["alt+o"], "app.fly": ["f9"], "app.session.new": []}"#);
    let mut keys = HotkeysView::new(&keymap);
    let seen = text(&view(108, 12, |scene| keys.draw(scene)).lines);
    let mut lines = seen.lines().skip(2);
    assert_eq!(lines.next(), Some("To be looked at in your file of keys"));
    assert!(lines.next().unwrap().contains("no action is called \"app.fly\""));
    let conflict =
        "  Alt+O is app.session.tree, and so never app.transcript.open (Empty editor, Conversation, Editor)";
    assert_eq!(lines.next(), Some(conflict));
    assert_eq!(lines.next(), Some("Conversation"), "each is told once");
    letters("new session").for_each(|letter| assert_eq!(keys.key(&keymap, letter), Told::Redraw));
    let seen = text(&view(108, 12, |scene| keys.draw(scene)).lines);
    assert!(seen.contains("› no key") && seen.contains("Begin a new session"), "{seen}");
}

#[test]
fn it_can_be_searched_and_left() {
    let keymap = Keymap::default();
    let mut keys = HotkeysView::new(&keymap);
    letters("alt+t tree").for_each(|letter| assert_eq!(keys.key(&keymap, letter), Told::Redraw));
    let seen = text(&view(60, 20, |scene| keys.draw(scene)).lines);
    assert!(seen.contains("Conversation\n› Alt+T"), "{seen}");
    let full = "Open the tree: Alt+T\nIn your file of keys: \"app.session.tree\": [\"alt+t\"]\n";
    assert!(seen.contains(full), "{seen}");
    for (name, want) in [
        ("enter", Told::Nothing),
        ("escape", Told::Redraw),
        ("ctrl+z", Told::Suspend),
        ("f1", Told::Close),
        ("escape", Told::Close),
    ] {
        assert_eq!(keys.key(&keymap, key(name)), want, "{name}");
    }
    for (columns, rows) in sizes() {
        view(columns, rows, |scene| keys.draw(scene));
    }
}

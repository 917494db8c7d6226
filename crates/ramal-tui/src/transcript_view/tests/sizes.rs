//! Drawings, and every size.

use super::*;
use crate::text::width::width;

#[test]
fn drawn_at_60_by_20() {
    same(&Shown::new(session(), 60, 20).screen(), include_str!("../drawings/60x20.txt"));
}

#[test]
fn drawn_at_100_by_40() {
    let mut shown = Shown::new(session(), 100, 40);
    shown.press("ctrl+o");
    same(&shown.screen(), include_str!("../drawings/100x40.txt"));
}

#[test]
fn drawn_at_200_by_60() {
    let mut shown = Shown::new(session(), 200, 60);
    shown.press("/");
    shown.type_in("parser");
    same(&shown.screen(), include_str!("../drawings/200x60.txt"));
}

fn odd() -> SessionManager {
    let mut session = session();
    for says in ["日本語のテスト 👩‍👩‍👧 \u{1b}[31mred", "שלום \u{202e}x", "a\tb\nc", "", "x\n\n\ny"]
    {
        user(&mut session, says);
        super::says(&mut session, says);
    }
    let long: Vec<String> = (0..300).map(|number| format!("line {number}")).collect();
    says(&mut session, &long.join("\n"));
    let last = session.get_leaf_id().unwrap().unwrap();
    session.append_label_change(&last, Some("a label \u{1b}[0m that is rather long")).unwrap();
    session
}

#[track_caller]
fn check_size(shown: &mut Shown) {
    let (columns, rows) = (shown.columns, shown.rows);
    let seen = shown.see();
    assert_eq!(seen.lines.len(), usize::from(rows), "{columns}×{rows}");
    for line in &seen.lines {
        let text: String = line.spans.iter().map(|span| &*span.content).collect();
        assert!(width(&text) <= usize::from(columns), "{columns}×{rows}: {text:?}");
        assert!(!text.contains(char::is_control), "{text:?}");
    }
    if let Some(cursor) = seen.cursor {
        assert!(cursor.x < columns && cursor.y < rows, "{columns}×{rows}: {cursor}");
    }
}

#[test]
fn every_size_is_drawn() {
    let keys = ["g", "j", "down", "ctrl+o", "space", "/", "x", "enter", "b", "shift+l", "y", "escape", "up"];
    let mut shown = Shown::new(odd(), 80, 24);
    for columns in (1..=12).chain([20, 39, 60, 100, 200, 300]) {
        for rows in [1, 2, 3, 4, 5, 6, 7, 8, 12, 24, 100] {
            (shown.columns, shown.rows) = (columns, rows);
            check_size(&mut shown);
            for key in keys {
                shown.view.key(&shown.session, &shown.keymap, key.parse().unwrap());
                check_size(&mut shown);
            }
        }
    }
}

#[test]
fn nothing_is_no_trouble() {
    let mut shown = Shown::new(SessionManager::in_memory("/w"), 40, 10);
    assert!(shown.screen().contains("Nothing has been said here yet"), "{}", shown.screen());
    for action in ActionId::all() {
        for key in shown.keymap.keys_of(action).to_vec() {
            shown.view.key(&shown.session, &shown.keymap, key);
            check_size(&mut shown);
        }
    }
}

#[test]
fn a_narrower_screen_keeps_what_is_selected_in_view() {
    let mut shown = Shown::new(odd(), 100, 30);
    shown.press("g");
    for _ in 0..4 {
        shown.press("]");
    }
    let selected = shown.selected();
    for columns in [30, 12, 60, 100] {
        shown.columns = columns;
        assert!(!shown.selected().is_empty(), "{columns}: {}", shown.screen());
    }
    assert_eq!(shown.selected(), selected);
}

//! The view of the tree at every size: as many lines as the screen has rows, none wider than it.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ramal_session::{Filter, SessionManager};
use ramal_tui::keys::{Key, Keymap};
use ramal_tui::scene::{Scene, View};
use ramal_tui::text::width::width;
use ramal_tui::theme::Theme;
use ramal_tui::tree_selector::Selector;
use ramal_tui::tree_view::{Told, TreeView};

fn session() -> SessionManager {
    let mut session = SessionManager::in_memory("/w");
    let mut ids = Vec::new();
    for text in ["Why is it slow?", "日本語のテスト 👩‍👩‍👧 \u{1b}[31mred", "שלום \u{202e}x", "a\tb\nc", ""]
    {
        for role in ["user", "assistant"] {
            let text = serde_json::to_string(text).unwrap();
            let json = format!(r#"{{"role":"{role}","content":[{{"type":"text","text":{text}}}]}}"#);
            ids.push(session.append_message(&json).unwrap());
        }
    }
    for fork in [7, 5, 3, 1] {
        session.branch(&ids[fork]).unwrap();
        session.append_message(r#"{"role":"user","content":"another way"}"#).unwrap();
        session.append_label_change(&ids[fork], Some("a label \u{1b}[0m that is rather long")).unwrap();
    }
    session
}

fn draw(view: &mut TreeView, session: &SessionManager, columns: u16, rows: u16) -> View {
    let (theme, keymap, zone) = (Theme::dark(), Keymap::default(), TimeZone::UTC);
    let now = Timestamp::from_second(1_800_000_000).unwrap();
    view.draw(session, &Scene { columns, rows, theme: &theme, keymap: &keymap, now, zone: &zone })
}

#[test]
fn every_size_is_drawn() {
    let session = session();
    for searches in [false, true] {
        let mut view = TreeView::new(Selector::new(&session, Filter::All));
        while !view.work(&session, 1 << 20).done {}
        if searches {
            press(&mut view, &session, "way");
        }
        for columns in (1..=140).chain([200, 300]) {
            for rows in [1, 2, 3, 4, 5, 6, 7, 8, 12, 17, 18, 24, 50, 100] {
                let seen = draw(&mut view, &session, columns, rows);
                assert_eq!(seen.lines.len(), usize::from(rows), "{columns}×{rows}");
                for line in &seen.lines {
                    let text: String = line.spans.iter().map(|span| &*span.content).collect();
                    assert!(width(&text) <= usize::from(columns), "{columns}×{rows}: {text:?}");
                    assert!(!text.contains(char::is_control), "{text:?}");
                }
                if let Some(cursor) = seen.cursor {
                    assert!(cursor.x < columns && cursor.y < rows);
                }
            }
        }
    }
}

fn press(view: &mut TreeView, session: &SessionManager, text: &str) {
    for letter in text.chars() {
        let key: Key = letter.to_string().parse().unwrap();
        assert_eq!(view.key(session, &Keymap::default(), key), Told::Redraw);
    }
}

#[test]
fn while_one_searches_letters_are_letters() {
    let session = session();
    let mut view = TreeView::new(Selector::new(&session, Filter::Default));
    let keymap = Keymap::default();
    press(&mut view, &session, "x");
    let shifted: Key = "shift+l".parse().unwrap();
    assert_eq!(view.key(&session, &keymap, shifted), Told::Redraw);
    let shown = draw(&mut view, &session, 80, 24);
    let text: Vec<String> = shown.lines.iter().map(ToString::to_string).collect();
    assert!(text[1].contains("Search: xL"), "{text:?}");
    // Without a search the same key edits the label.
    let escape: Key = "escape".parse().unwrap();
    assert_eq!(view.key(&session, &keymap, escape), Told::Redraw);
    view.key(&session, &keymap, shifted);
    let shown = draw(&mut view, &session, 80, 24);
    assert!(shown.lines[1].to_string().starts_with("Label: ") && shown.cursor.is_some());
    assert_eq!(view.key(&session, &keymap, escape), Told::Redraw);
    assert_eq!(view.key(&session, &keymap, escape), Told::Close);
}

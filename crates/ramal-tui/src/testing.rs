//! What the tests of views share: a screen to draw on, keys to press.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::text::Line;

use crate::keys::{Key, Keymap};
use crate::scene::{Scene, View};
use crate::text::width::width;
use crate::theme::Theme;

/// The time on every screen.
pub(crate) fn now() -> Timestamp {
    "2026-03-04T12:00:00Z".parse().unwrap()
}

/// A key by its name.
pub(crate) fn key(name: &str) -> Key {
    name.parse().unwrap()
}

/// The keys that write a text.
pub(crate) fn letters(text: &str) -> impl Iterator<Item = Key> {
    text.chars().map(|c| match c {
        ' ' => key("space"),
        c if c.is_uppercase() => key(&format!("shift+{}", c.to_lowercase())),
        c => key(&c.to_string()),
    })
}

/// Draws on a screen of that size, and looks whether it is full and not more than that.
pub(crate) fn view(columns: u16, rows: u16, draw: impl FnOnce(&Scene<'_>) -> View) -> View {
    let (theme, keymap) = (Theme::plain(), Keymap::default());
    let zone = TimeZone::UTC;
    let view = draw(&Scene { columns, rows, theme: &theme, keymap: &keymap, now: now(), zone: &zone });
    assert_eq!(view.lines.len(), usize::from(rows), "{columns}×{rows}");
    fits(&view.lines, columns);
    if let Some(cursor) = view.cursor {
        assert!(cursor.x < columns && cursor.y < rows, "{columns}×{rows}: {cursor}");
    }
    view
}

/// Looks whether lines are no wider than a screen, and act on no terminal.
pub(crate) fn fits(lines: &[Line<'_>], columns: u16) {
    for line in lines {
        let text = line.to_string();
        assert!(width(&text) <= usize::from(columns), "{columns}: {text:?}");
        assert!(!text.contains(char::is_control), "{text:?}");
    }
}

/// Lines as text, without the blanks at their ends, nor the empty lines at the end.
pub(crate) fn text(lines: &[Line<'_>]) -> String {
    let rows: Vec<String> = lines.iter().map(|line| line.to_string().trim_end().to_owned()).collect();
    rows.join("\n").trim_end().to_owned()
}

/// Sizes from a single cell up to where all parts have room.
pub(crate) fn sizes() -> impl Iterator<Item = (u16, u16)> {
    let columns = [1, 2, 3, 4, 5, 6, 8, 10, 12];
    let small = columns.into_iter().flat_map(|columns| (1..=6).map(move |rows| (columns, rows)));
    small.chain([(40, 10), (60, 20), (100, 40), (110, 17), (200, 60), (300, 100)])
}

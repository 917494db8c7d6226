//! Keys as people name them, whatever the terminal sends for them.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// A key with its modifiers, the same for every terminal protocol: a letter is in lower case, and an upper
/// case one is the letter with Shift.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// The key itself.
    pub code: KeyCode,
    /// Ctrl, Shift, Alt; never others.
    pub modifiers: KeyModifiers,
}

impl Key {
    /// The key of an event; none when it is let go.
    pub fn of(event: KeyEvent) -> Option<Key> {
        if event.kind == KeyEventKind::Release {
            return None;
        }
        let mut modifiers =
            event.modifiers & (KeyModifiers::CONTROL | KeyModifiers::SHIFT | KeyModifiers::ALT);
        let code = match event.code {
            KeyCode::BackTab => {
                modifiers |= KeyModifiers::SHIFT;
                KeyCode::Tab
            }
            KeyCode::Char(c) if c.is_uppercase() => {
                modifiers |= KeyModifiers::SHIFT;
                c.to_lowercase().next().map_or(KeyCode::Char(c), KeyCode::Char)
            }
            code => code,
        };
        Some(Key { code, modifiers })
    }
}

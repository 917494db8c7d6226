//! Keys as people name them, what they do, and where.
//!
//! [`Key`] is a key, whatever the terminal sends for it. [`ActionId`] is the one table of what keys can do,
//! [`Keymap`] the keys that do it here: the defaults, and what the user's own file says. [`DoublePress`] tells
//! when a key was pressed twice.

mod actions;
mod double;
mod file;
mod keymap;
mod name;

pub use actions::{ActionId, Place};
pub use double::DoublePress;
pub use file::{Problem, ProblemKind};
pub use keymap::{Conflict, Hotkey, Keymap};
pub use name::KeyNameError;

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

/// Modifiers that no action here has. With one of them even a letter is not meant as text.
const FOREIGN: KeyModifiers = KeyModifiers::SUPER.union(KeyModifiers::HYPER).union(KeyModifiers::META);

impl Key {
    /// The key of an event; none when it is let go, and none with a modifier that is the desktop's.
    pub fn of(event: KeyEvent) -> Option<Key> {
        if event.kind == KeyEventKind::Release || event.modifiers.intersects(FOREIGN) {
            return None;
        }
        Some(Key::new(event.code, event.modifiers))
    }

    /// A key with modifiers, in the form that all terminals' reports come down to.
    pub fn new(code: KeyCode, modifiers: KeyModifiers) -> Key {
        let mut modifiers = modifiers & (KeyModifiers::CONTROL | KeyModifiers::SHIFT | KeyModifiers::ALT);
        let code = match code {
            KeyCode::BackTab => {
                modifiers |= KeyModifiers::SHIFT;
                KeyCode::Tab
            }
            KeyCode::Char(c) if modifiers.contains(KeyModifiers::CONTROL) => control_char(c, &mut modifiers),
            KeyCode::Char(c) => match lower(c) {
                Some(lower) => {
                    modifiers |= KeyModifiers::SHIFT;
                    KeyCode::Char(lower)
                }
                None => KeyCode::Char(c),
            },
            code => code,
        };
        Key { code, modifiers }
    }

    /// The character that this key writes into a text, if it writes one.
    pub fn typed(self) -> Option<char> {
        let KeyCode::Char(c) = self.code else { return None };
        if self.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) || c.is_control() {
            return None;
        }
        Some(if self.modifiers.contains(KeyModifiers::SHIFT) {
            single(c.to_uppercase()).unwrap_or(c)
        } else {
            c
        })
    }
}

/// What Ctrl makes of a character. The old protocol has one byte each for a few symbols, and crossterm reads
/// them as digits; whoever sends the symbol itself means the same key.
fn control_char(c: char, modifiers: &mut KeyModifiers) -> KeyCode {
    KeyCode::Char(match c {
        '4' => '\\',
        '5' => ']',
        '6' => '^',
        '7' | '_' => '-',
        c => match lower(c) {
            Some(lower) => {
                *modifiers |= KeyModifiers::SHIFT;
                lower
            }
            None => c,
        },
    })
}

/// A character in lower case, if it is in upper case and Shift would make the same of it again.
fn lower(c: char) -> Option<char> {
    let lower = single(c.to_lowercase()).filter(|&lower| lower != c)?;
    (single(lower.to_uppercase()) == Some(c)).then_some(lower)
}

fn single(mut characters: impl Iterator<Item = char>) -> Option<char> {
    let first = characters.next()?;
    characters.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests;

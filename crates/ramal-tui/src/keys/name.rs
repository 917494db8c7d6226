//! Names of keys, for files and for people.

use std::fmt;
use std::str::FromStr;

use crossterm::event::{KeyCode, KeyModifiers};

use super::Key;

/// Why the name of a key cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyNameError {
    /// There is nothing, or nothing behind the last `+`.
    NoKey,
    /// No key is called so.
    UnknownKey(String),
    /// No modifier is called so.
    UnknownModifier(String),
}

impl fmt::Display for KeyNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyNameError::NoKey => write!(f, "no key is named"),
            KeyNameError::UnknownKey(name) => write!(f, "no key is called {name:?}"),
            KeyNameError::UnknownModifier(name) => {
                write!(f, "{name:?} is none of ctrl, shift and alt")
            }
        }
    }
}

impl std::error::Error for KeyNameError {}

/// Keys by their names: what files say, what people read, what it is. The first name of a key is the one that
/// is written.
const NAMES: &[(&str, &str, KeyCode)] = &[
    ("escape", "Esc", KeyCode::Esc),
    ("esc", "Esc", KeyCode::Esc),
    ("enter", "Enter", KeyCode::Enter),
    ("return", "Enter", KeyCode::Enter),
    ("tab", "Tab", KeyCode::Tab),
    ("space", "Space", KeyCode::Char(' ')),
    ("backspace", "Backspace", KeyCode::Backspace),
    ("delete", "Del", KeyCode::Delete),
    ("del", "Del", KeyCode::Delete),
    ("insert", "Ins", KeyCode::Insert),
    ("ins", "Ins", KeyCode::Insert),
    ("clear", "Clear", KeyCode::KeypadBegin),
    ("home", "Home", KeyCode::Home),
    ("end", "End", KeyCode::End),
    ("pageup", "PgUp", KeyCode::PageUp),
    ("pagedown", "PgDn", KeyCode::PageDown),
    ("pgup", "PgUp", KeyCode::PageUp),
    ("pgdn", "PgDn", KeyCode::PageDown),
    ("up", "Up", KeyCode::Up),
    ("down", "Down", KeyCode::Down),
    ("left", "Left", KeyCode::Left),
    ("right", "Right", KeyCode::Right),
    ("plus", "+", KeyCode::Char('+')),
];

impl FromStr for Key {
    type Err = KeyNameError;

    fn from_str(text: &str) -> Result<Key, KeyNameError> {
        let text = text.trim();
        // The last `+` is the key itself in `ctrl++` and `+`.
        let (before, name) = match text.strip_suffix('+') {
            Some(rest) if rest.is_empty() || rest.ends_with('+') => (rest, "+"),
            Some(_) => return Err(KeyNameError::NoKey),
            None => {
                text.rsplit_once('+').map_or(("", text), |(_, name)| (&text[..text.len() - name.len()], name))
            }
        };
        let code = code(name.trim())?;
        let mut modifiers = KeyModifiers::NONE;
        for word in before.strip_suffix('+').unwrap_or(before).split('+').filter(|_| !before.is_empty()) {
            modifiers |= modifier(word.trim())?;
        }
        Ok(Key::new(code, modifiers))
    }
}

fn modifier(word: &str) -> Result<KeyModifiers, KeyNameError> {
    match word.to_lowercase().as_str() {
        "ctrl" | "control" => Ok(KeyModifiers::CONTROL),
        "shift" => Ok(KeyModifiers::SHIFT),
        "alt" | "option" => Ok(KeyModifiers::ALT),
        _ => Err(KeyNameError::UnknownModifier(word.to_owned())),
    }
}

fn code(name: &str) -> Result<KeyCode, KeyNameError> {
    let small = name.to_lowercase();
    if let Some((_, _, code)) = NAMES.iter().find(|(known, _, _)| *known == small) {
        return Ok(*code);
    }
    if let Some(number) = small.strip_prefix('f').and_then(|number| number.parse::<u8>().ok())
        && (1..=12).contains(&number)
    {
        return Ok(KeyCode::F(number));
    }
    let mut characters = small.chars();
    match (characters.next(), characters.next()) {
        (None, _) => Err(KeyNameError::NoKey),
        (Some(c), None) if !c.is_control() => Ok(KeyCode::Char(c)),
        _ => Err(KeyNameError::UnknownKey(name.to_owned())),
    }
}

/// As people read it: `Ctrl+Shift+O`, `Alt+Left`, `Esc`.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.write(
            ["Ctrl+", "Alt+", "Shift+"],
            |(_, shown, _)| shown,
            |c| super::single(c.to_uppercase()).unwrap_or(c),
        );
        f.pad(&shown)
    }
}

impl Key {
    /// The name as it stands in files: `ctrl+shift+o`, `alt+left`, `escape`. Empty for a key that has none.
    pub fn file_name(self) -> String {
        self.write(["ctrl+", "alt+", "shift+"], |(name, _, _)| name, |c| c)
    }

    fn write(
        self,
        modifiers: [&str; 3],
        named: impl Fn(&'static (&'static str, &'static str, KeyCode)) -> &'static str,
        letter: impl Fn(char) -> char,
    ) -> String {
        let key = match self.code {
            KeyCode::Char('+') => "+".to_owned(),
            KeyCode::F(number) => format!("{}{number}", letter('f')),
            code => match (NAMES.iter().find(|(_, _, known)| *known == code), code) {
                (Some(row), _) => named(row).to_owned(),
                (None, KeyCode::Char(c)) => letter(c).to_string(),
                (None, _) => return String::new(),
            },
        };
        let flags = [KeyModifiers::CONTROL, KeyModifiers::ALT, KeyModifiers::SHIFT];
        let held = flags.iter().zip(modifiers).filter(|(flag, _)| self.modifiers.contains(**flag));
        held.map(|(_, word)| word).collect::<String>() + &key
    }
}

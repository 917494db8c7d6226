//! Keys that a slow line has torn apart.
//!
//! A key with a name comes as Escape and some letters. If the line delivers the Escape alone, it is taken for
//! the key of that name, which aborts things, and the letters are typed. Nobody presses Escape and a bracket
//! within a fiftieth of a second, so what comes that fast is put together again.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyModifiers};

use super::Input;
use crate::keys::Key;

/// How long after an Escape the rest of a key may come.
pub(super) const WAIT: Duration = Duration::from_millis(20);

/// The most letters of such a key.
const LONGEST: usize = 16;

const ESCAPE: Key = Key { code: KeyCode::Esc, modifiers: KeyModifiers::NONE };

/// Puts keys together.
#[derive(Debug, Default)]
pub(super) struct Torn {
    /// An Escape, and what came right after it.
    held: Vec<Key>,
}

/// What letters after an Escape are.
#[derive(Debug, PartialEq, Eq)]
enum Reading {
    /// The beginning of a key.
    Beginning,
    /// A key; none if it is one that nothing here is done with.
    Whole(Option<Key>),
    /// Letters.
    Letters,
}

impl Torn {
    /// Whether something is held that is given up after [`WAIT`].
    pub(super) fn is_waiting(&self) -> bool {
        !self.held.is_empty()
    }

    /// Takes an input in; what comes out is meant.
    pub(super) fn pass(&mut self, input: Input) -> Vec<Input> {
        let Input::Key(key) = input else {
            let mut inputs = self.give_up();
            inputs.push(input);
            return inputs;
        };
        if key == ESCAPE {
            let inputs = self.give_up();
            self.held.push(key);
            return inputs;
        }
        if self.held.is_empty() {
            return vec![Input::Key(key)];
        }
        self.held.push(key);
        let letters: Option<String> = self.held[1..].iter().map(|key| key.typed()).collect();
        match letters.map_or(Reading::Letters, |letters| read(&letters)) {
            Reading::Beginning if self.held.len() <= LONGEST => Vec::new(),
            Reading::Whole(key) => {
                self.held.clear();
                key.map(Input::Key).into_iter().collect()
            }
            Reading::Beginning | Reading::Letters => self.give_up(),
        }
    }

    /// What was held back for a key that does not come.
    pub(super) fn give_up(&mut self) -> Vec<Input> {
        self.held.drain(..).map(Input::Key).collect()
    }
}

fn read(letters: &str) -> Reading {
    let Some(rest) = letters.strip_prefix(['[', 'O']) else { return Reading::Letters };
    let Some(last) = rest.chars().next_back() else { return Reading::Beginning };
    let is_number = |c: char| c.is_ascii_digit() || c == ';';
    if letters.starts_with('[') && rest.chars().all(is_number) {
        return Reading::Beginning;
    }
    let numbers = &rest[..rest.len() - last.len_utf8()];
    if !numbers.chars().all(is_number) || !('@'..='~').contains(&last) {
        return Reading::Letters;
    }
    let mut numbers = numbers.split(';').map(|number| number.parse::<u32>().ok());
    let first = numbers.next().flatten();
    let modifiers = modifiers(numbers.next().flatten().unwrap_or(1));
    Reading::Whole(code(first, last).map(|code| Key::new(code, modifiers)))
}

/// The modifiers of a number as terminals send it: one more than the sum of 1, 2 and 4.
fn modifiers(number: u32) -> KeyModifiers {
    let bits = number.saturating_sub(1);
    let flags = [(1, KeyModifiers::SHIFT), (2, KeyModifiers::ALT), (4, KeyModifiers::CONTROL)];
    flags.into_iter().filter(|(bit, _)| bits & bit != 0).map(|(_, flag)| flag).collect()
}

fn code(number: Option<u32>, last: char) -> Option<KeyCode> {
    Some(match (last, number) {
        ('A', _) => KeyCode::Up,
        ('B', _) => KeyCode::Down,
        ('C', _) => KeyCode::Right,
        ('D', _) => KeyCode::Left,
        ('H', _) | ('~', Some(1 | 7)) => KeyCode::Home,
        ('F', _) | ('~', Some(4 | 8)) => KeyCode::End,
        ('Z', _) => KeyCode::BackTab,
        ('P', _) => KeyCode::F(1),
        ('Q', _) => KeyCode::F(2),
        ('R', _) => KeyCode::F(3),
        ('S', _) => KeyCode::F(4),
        ('~', Some(2)) => KeyCode::Insert,
        ('~', Some(3)) => KeyCode::Delete,
        ('~', Some(5)) => KeyCode::PageUp,
        ('~', Some(6)) => KeyCode::PageDown,
        ('~', Some(number @ 11..=15)) => function(number - 10)?,
        ('~', Some(number @ 17..=21)) => function(number - 11)?,
        ('~', Some(number @ 23..=24)) => function(number - 12)?,
        ('u', Some(9)) => KeyCode::Tab,
        ('u', Some(13)) => KeyCode::Enter,
        ('u', Some(27)) => KeyCode::Esc,
        ('u', Some(127)) => KeyCode::Backspace,
        ('u', Some(number)) => KeyCode::Char(char::from_u32(number).filter(|c| !c.is_control())?),
        _ => return None,
    })
}

fn function(number: u32) -> Option<KeyCode> {
    u8::try_from(number).ok().map(KeyCode::F)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        name.parse().expect("a name")
    }

    /// What comes of an Escape and letters that follow at once, by the names of keys.
    fn after_escape(letters: &str) -> Vec<String> {
        let mut torn = Torn::default();
        let keys = letters.chars().map(|c| Key::new(KeyCode::Char(c), KeyModifiers::NONE));
        let mut inputs: Vec<Input> =
            [ESCAPE].into_iter().chain(keys).flat_map(|key| torn.pass(Input::Key(key))).collect();
        inputs.extend(torn.give_up());
        let name = |input| match input {
            Input::Key(key) => key.file_name(),
            other => panic!("{other:?}"),
        };
        inputs.into_iter().map(name).collect()
    }

    #[test]
    fn torn_keys_are_put_together() {
        for (letters, name) in [
            ("[A", "up"),
            ("OB", "down"),
            ("[1;5D", "ctrl+left"),
            ("[1;3C", "alt+right"),
            ("[H", "home"),
            ("[4~", "end"),
            ("[3;5~", "ctrl+delete"),
            ("[5~", "pageup"),
            ("[15~", "f5"),
            ("[17~", "f6"),
            ("[24~", "f12"),
            ("OP", "f1"),
            ("[Z", "shift+tab"),
            ("[111;6u", "ctrl+shift+o"),
            ("[13;2u", "shift+enter"),
            ("[27u", "escape"),
        ] {
            assert_eq!(after_escape(letters), [name], "{letters}");
        }
        assert_eq!(after_escape("[Ax"), ["up", "x"]);
        assert_eq!(after_escape("[200~"), [""; 0], "no key, and no letters either");
    }

    #[test]
    fn what_is_no_key_stays_what_it_was() {
        assert_eq!(after_escape(""), ["escape"]);
        assert_eq!(after_escape("a"), ["escape", "a"]);
        assert_eq!(after_escape("["), ["escape", "["]);
        assert_eq!(after_escape("[1é"), ["escape", "[", "1", "é"]);
        assert_eq!(after_escape(&format!("[{}", "1".repeat(20))).len(), 22);
    }

    #[test]
    fn an_escape_waits_for_nothing_but_letters() {
        let mut torn = Torn::default();
        assert_eq!(torn.pass(Input::Key(ESCAPE)), []);
        assert!(torn.is_waiting());
        assert_eq!(torn.pass(Input::Key(ESCAPE)), [Input::Key(ESCAPE)], "one of two is let go");
        assert_eq!(torn.give_up(), [Input::Key(ESCAPE)]);
        assert!(!torn.is_waiting());

        torn.pass(Input::Key(ESCAPE));
        let resized = Input::Resize(80, 24);
        assert_eq!(torn.pass(resized.clone()), [Input::Key(ESCAPE), resized]);
        torn.pass(Input::Key(ESCAPE));
        let enter = Input::Key(key("enter"));
        assert_eq!(torn.pass(enter.clone()), [Input::Key(ESCAPE), enter]);
    }
}

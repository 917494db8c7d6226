//! What a terminal can do, asked of it with a short time limit.
//!
//! Somebody may type meanwhile, and what was typed stands between the answers: it is kept.

use std::io;
use std::time::Instant;

use crossterm::event::{KeyCode, KeyModifiers};

use super::sequences::{ASK_ANYTHING, ASK_BACKGROUND, ASK_KEYBOARD};
use super::{Device, Options};
use crate::keys::Key;
use crate::theme::{Background, Rgb};

/// What a terminal has said of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Answers {
    /// It knows kitty's keyboard protocol.
    pub keyboard: bool,
    /// The colour of its background.
    pub background: Option<Rgb>,
    /// It has answered all that it will answer. One that has not may still do so.
    pub is_complete: bool,
}

impl Answers {
    /// The answers in what came from a terminal, and the rest.
    pub fn parse(bytes: &[u8]) -> (Answers, Vec<u8>) {
        let mut answers = Answers::default();
        let mut rest = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            match answers.take(&bytes[at..]) {
                Some(length) => at += length,
                None => {
                    rest.push(bytes[at]);
                    at += 1;
                }
            }
        }
        (answers, rest)
    }

    /// Takes the answer that the bytes begin with, and says how long it is.
    fn take(&mut self, bytes: &[u8]) -> Option<usize> {
        if bytes.starts_with(b"\x1b]11;") {
            let length = osc_length(bytes)?;
            self.background = Background::parse_answer(&bytes[..length]);
            return Some(length);
        }
        let parameters = bytes.strip_prefix(b"\x1b[?")?;
        let end = parameters.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b';'))?;
        match parameters[end] {
            b'u' => self.keyboard = true,
            b'c' => self.is_complete = true,
            _ => return None,
        }
        Some(3 + end + 1)
    }
}

/// The length of an operating system command up to its end, which is BEL or `ESC \`.
fn osc_length(bytes: &[u8]) -> Option<usize> {
    let end = bytes.iter().skip(1).position(|&byte| byte == 0x07 || byte == 0x1b)? + 1;
    match bytes[end] {
        0x07 => Some(end + 1),
        _ => (bytes.get(end + 1) == Some(&b'\\')).then_some(end + 2),
    }
}

/// Asks, and waits for the answers. Also says which keys were pressed meanwhile.
pub(super) fn ask(device: &mut dyn Device, options: &Options) -> io::Result<(Answers, Vec<Key>)> {
    let background = if options.asks_background { ASK_BACKGROUND } else { "" };
    device.write([ASK_KEYBOARD, background, ASK_ANYTHING].concat().as_bytes())?;
    let deadline = Instant::now() + options.probe;
    let mut bytes = Vec::new();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let is_over = !device.read(left, &mut bytes)?;
        let (answers, rest) = Answers::parse(&bytes);
        if answers.is_complete || is_over || left.is_zero() {
            return Ok((answers, typed(&rest)));
        }
    }
}

/// The keys that were pressed, as far as they can be told from their bytes alone.
pub(super) fn typed(bytes: &[u8]) -> Vec<Key> {
    let text = String::from_utf8_lossy(bytes);
    let mut characters = text.chars().peekable();
    let mut keys = Vec::new();
    while let Some(c) = characters.next() {
        let (code, modifiers) = match c {
            '\r' => (KeyCode::Enter, KeyModifiers::NONE),
            '\t' => (KeyCode::Tab, KeyModifiers::NONE),
            '\x7f' => (KeyCode::Backspace, KeyModifiers::NONE),
            '\x1b' if characters.next_if_eq(&'[').is_some() => {
                // A key with a name: not worth guessing, and its letters are no text.
                while characters.next().is_some_and(|c| !('@'..='~').contains(&c)) {}
                continue;
            }
            '\x1b' => (KeyCode::Esc, KeyModifiers::NONE),
            '\x01'..='\x1a' => (KeyCode::Char(char::from(c as u8 - 1 + b'a')), KeyModifiers::CONTROL),
            c if c.is_control() || c == char::REPLACEMENT_CHARACTER => continue,
            c => (KeyCode::Char(c), KeyModifiers::NONE),
        };
        keys.push(Key::new(code, modifiers));
    }
    keys
}

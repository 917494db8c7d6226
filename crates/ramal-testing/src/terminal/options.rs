//! What kind of terminal it is.

use std::num::NonZeroU16;

/// What kind of terminal a program finds itself in.
#[derive(Debug, Clone)]
pub struct Options {
    pub(crate) size: Size,
    pub(crate) kitty: bool,
    pub(crate) is_light: bool,
    pub(crate) answers: bool,
    pub(crate) reflows: bool,
    pub(crate) scrollback: usize,
    pub(crate) environment: Vec<(String, String)>,
}

/// Columns and rows, at least one of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: NonZeroU16,
    pub(crate) rows: NonZeroU16,
}

impl Size {
    pub(crate) fn new(columns: u16, rows: u16) -> Size {
        Size {
            columns: NonZeroU16::new(columns).unwrap_or(NonZeroU16::MIN),
            rows: NonZeroU16::new(rows).unwrap_or(NonZeroU16::MIN),
        }
    }
}

impl Options {
    /// A dark terminal of that size, of 256 colours, which answers what it is asked and knows nothing of kitty's
    /// keys.
    pub fn new(columns: u16, rows: u16) -> Options {
        Options {
            size: Size::new(columns, rows),
            kitty: false,
            is_light: false,
            answers: true,
            reflows: false,
            scrollback: 10_000,
            environment: vec![("TERM".into(), "xterm-256color".into()), ("LANG".into(), "C.UTF-8".into())],
        }
    }

    /// It knows kitty's keyboard protocol. Keys are sent that way once the program asks for it.
    pub fn kitty(mut self) -> Options {
        self.kitty = true;
        self
    }

    /// Its background is light.
    pub fn light(mut self) -> Options {
        self.is_light = true;
        self
    }

    /// It answers nothing that it is asked.
    pub fn silent(mut self) -> Options {
        self.answers = false;
        self
    }

    /// It wraps rows anew when its width changes, as kitty, VTE and tmux do; without this it cuts them, as xterm
    /// does.
    pub fn reflowing(mut self) -> Options {
        self.reflows = true;
        self
    }

    /// How many rows it keeps that have scrolled off; 10,000 unless told otherwise.
    pub fn scrollback(mut self, rows: usize) -> Options {
        self.scrollback = rows;
        self
    }

    /// A variable for the program, `TERM` and `COLORTERM` included.
    pub fn variable(mut self, name: &str, value: &str) -> Options {
        self.environment.push((name.into(), value.into()));
        self
    }
}

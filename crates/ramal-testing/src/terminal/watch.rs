//! Listens to what the program says to its terminal: what it asks, and which modes it leaves on.

use std::collections::BTreeSet;

/// Something at which reading has to stop: what comes after may change the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    /// `CSI ? u`
    KeyboardFlags,
    /// `CSI c`
    WhatAreYou,
    /// `CSI 6 n`
    WhereIsTheCursor,
    /// `CSI 5 n`
    AreYouWell,
    /// `CSI ? mode $ p`
    IsModeOn(u16),
    /// `OSC 10 ; ?`
    Foreground,
    /// `OSC 11 ; ?`
    Background,
    /// A synchronized update is over.
    Presented,
}

const SYNCHRONIZED: u16 = 2026;
const ALTERNATE: [u16; 3] = [47, 1047, 1049];

/// What was said so far.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Private modes that were switched on and not off again; 25, the cursor, in reverse.
    pub(crate) modes: BTreeSet<u16>,
    pub(crate) is_cursor_hidden: bool,
    /// `CSI top ; bottom r` other than the whole screen.
    pub(crate) has_margins: bool,
    pub(crate) title: String,
    /// Kitty's flags of the main screen, and of the alternate one: each has a stack, its last is in force.
    keyboard: [Vec<u16>; 2],
    said: Option<Said>,
}

impl Watch {
    pub(crate) fn take(&mut self) -> Option<Said> {
        self.said.take()
    }

    pub(crate) fn is_synchronizing(&self) -> bool {
        self.modes.contains(&SYNCHRONIZED)
    }

    pub(crate) fn is_alternate(&self) -> bool {
        ALTERNATE.iter().any(|mode| self.modes.contains(mode))
    }

    /// Kitty's flags in force; 0 is the legacy form.
    pub(crate) fn keyboard_flags(&self) -> u16 {
        self.keyboard[usize::from(self.is_alternate())].last().copied().unwrap_or(0)
    }

    pub(crate) fn keyboard_is_as_it_was(&self) -> bool {
        self.keyboard.iter().all(|stack| stack.last().is_none_or(|flags| *flags == 0))
    }

    fn switch(&mut self, mode: u16, on: bool) {
        match mode {
            25 => self.is_cursor_hidden = !on,
            mode if on => _ = self.modes.insert(mode),
            mode => {
                if self.modes.remove(&mode) && mode == SYNCHRONIZED {
                    self.said = Some(Said::Presented);
                }
            }
        }
    }

    fn keyboard(&mut self, action: u8, first: Option<u16>, second: Option<u16>) {
        let stack = &mut self.keyboard[usize::from(self.is_alternate())];
        let now = stack.last().copied().unwrap_or(0);
        match action {
            b'>' => stack.push(first.unwrap_or(0)),
            b'<' => stack.truncate(stack.len().saturating_sub(usize::from(first.unwrap_or(1).max(1)))),
            _ => {
                let flags = first.unwrap_or(0);
                let flags = match second {
                    Some(2) => now | flags,
                    Some(3) => now & !flags,
                    _ => flags,
                };
                stack.pop();
                stack.push(flags);
            }
        }
    }

    /// As after `ESC c`: all is as it was in the beginning.
    fn reset(&mut self) {
        *self = Watch { title: std::mem::take(&mut self.title), ..Watch::default() };
    }
}

impl vte::Perform for Watch {
    fn csi_dispatch(&mut self, params: &vte::Params, between: &[u8], _: bool, last: char) {
        let numbers: Vec<u16> = params.iter().filter_map(|it| it.first().copied()).collect();
        let first = numbers.first().copied();
        match (between, last) {
            (b"?", 'h' | 'l') => numbers.iter().for_each(|mode| self.switch(*mode, last == 'h')),
            (b"?", 'u') => self.said = Some(Said::KeyboardFlags),
            (b">" | b"<" | b"=", 'u') => {
                self.keyboard(between[0], first, numbers.get(1).copied());
            }
            (b"?$", 'p') => self.said = first.map(Said::IsModeOn),
            (b"", 'c') => self.said = Some(Said::WhatAreYou),
            (b"", 'n') if first == Some(6) => self.said = Some(Said::WhereIsTheCursor),
            (b"", 'n') if first == Some(5) => self.said = Some(Said::AreYouWell),
            (b"", 'r') => self.has_margins = numbers.iter().any(|number| *number != 0),
            (b"!", 'p') => self.reset(),
            _ => {}
        }
    }

    fn osc_dispatch(&mut self, params: &[&[u8]], _: bool) {
        match params {
            [b"0" | b"2", title @ ..] => {
                self.title = String::from_utf8_lossy(&title.join(&b';')).into_owned();
            }
            [b"10", b"?"] => self.said = Some(Said::Foreground),
            [b"11", b"?"] => self.said = Some(Said::Background),
            _ => {}
        }
    }

    fn esc_dispatch(&mut self, between: &[u8], _: bool, byte: u8) {
        if between.is_empty() && byte == b'c' {
            self.reset();
        }
    }

    fn terminated(&self) -> bool {
        self.said.is_some()
    }
}

/// Cuts off the end of what was written if it is the beginning of a sequence or of a character.
pub(crate) fn cut_unfinished(written: &mut Vec<u8>) -> Vec<u8> {
    if let Some(at) = written.iter().rposition(|byte| *byte == 0x1b) {
        let mut probe = Probe(false);
        vte::Parser::new().advance(&mut probe, &written[at..]);
        if !probe.0 {
            return written.split_off(at);
        }
    }
    let begins = written.len().saturating_sub(3);
    let cut = (begins..written.len()).find(|at| {
        std::str::from_utf8(&written[*at..])
            .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    });
    cut.map(|at| written.split_off(at)).unwrap_or_default()
}

/// Whether anything came to an end.
struct Probe(bool);

impl vte::Perform for Probe {
    fn print(&mut self, _: char) {
        self.0 = true;
    }
    fn unhook(&mut self) {
        self.0 = true;
    }
    fn osc_dispatch(&mut self, _: &[&[u8]], _: bool) {
        self.0 = true;
    }
    fn csi_dispatch(&mut self, _: &vte::Params, _: &[u8], _: bool, _: char) {
        self.0 = true;
    }
    fn esc_dispatch(&mut self, _: &[u8], _: bool, _: u8) {
        self.0 = true;
    }
}

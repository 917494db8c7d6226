//! The terminal without the pseudo-terminal: bytes in, a screen and answers out.

use super::options::{Options, Size};
use super::reflow;
use super::screen::Screen;
use super::watch::{Said, Watch, cut_unfinished};

pub(crate) struct Emulator {
    parser: vt100::Parser,
    listener: vte::Parser,
    pub(crate) watch: Watch,
    kitty: bool,
    is_light: bool,
    answers: bool,
    reflows: bool,
    /// The beginning of a sequence. It waits for its end here, so that the parser can always be used for
    /// something of our own in between.
    unfinished: Vec<u8>,
}

impl Emulator {
    pub(crate) fn new(options: &Options) -> Emulator {
        Emulator {
            parser: vt100::Parser::new(options.size.rows, options.size.columns, options.scrollback),
            listener: vte::Parser::new(),
            watch: Watch::default(),
            kitty: options.kitty,
            is_light: options.is_light,
            answers: options.answers,
            reflows: options.reflows,
            unfinished: Vec::new(),
        }
    }

    /// What the program wrote. Answers what the terminal says to it; `presented` is called with each screen
    /// that a synchronized update made.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut presented: impl FnMut(&Screen<'_>)) -> Vec<u8> {
        let mut answers = Vec::new();
        let mut whole = std::mem::take(&mut self.unfinished);
        whole.extend_from_slice(bytes);
        self.unfinished = cut_unfinished(&mut whole);
        let mut bytes = whole.as_slice();
        while !bytes.is_empty() {
            let length = self.listener.advance_until_terminated(&mut self.watch, bytes);
            self.parser.process(&bytes[..length]);
            bytes = &bytes[length..];
            match self.watch.take() {
                Some(Said::Presented) => presented(&self.screen()),
                Some(said) if self.answers => answers.extend(self.answer(said).unwrap_or_default().bytes()),
                _ => {}
            }
        }
        answers
    }

    fn answer(&self, said: Said) -> Option<String> {
        Some(match said {
            Said::KeyboardFlags if !self.kitty => return None,
            Said::KeyboardFlags => format!("\x1b[?{}u", self.watch.keyboard_flags()),
            Said::WhatAreYou => "\x1b[?62;22c".into(),
            Said::AreYouWell => "\x1b[0n".into(),
            Said::WhereIsTheCursor => {
                let (row, column) = self.parser.screen().cursor_position();
                let last = self.parser.screen().size().1.get() - 1;
                format!("\x1b[{};{}R", row + 1, column.min(last) + 1)
            }
            Said::IsModeOn(mode) => {
                let state = match mode {
                    25 if self.watch.is_cursor_hidden => 2,
                    25 => 1,
                    mode if self.watch.modes.contains(&mode) => 1,
                    1 | 47 | 1000 | 1002 | 1003 | 1004 | 1006 | 1049 | 2004 | 2026 => 2,
                    _ => 0,
                };
                format!("\x1b[?{mode};{state}$y")
            }
            Said::Foreground if self.is_light => "\x1b]10;rgb:2020/2020/2020\x1b\\".into(),
            Said::Foreground => "\x1b]10;rgb:d8d8/d8d8/d8d8\x1b\\".into(),
            Said::Background if self.is_light => "\x1b]11;rgb:fafa/fafa/fafa\x1b\\".into(),
            Said::Background => "\x1b]11;rgb:1818/1818/1818\x1b\\".into(),
            Said::Presented => return None,
        })
    }

    pub(crate) fn resize(&mut self, size: Size) {
        if self.reflows && self.parser.screen().size().1 != size.columns {
            self.parser = reflow::wrapped_anew(&mut self.parser, size);
        } else {
            self.parser.set_size(size.rows, size.columns);
        }
        self.watch.has_margins = false;
    }

    pub(crate) fn screen(&self) -> Screen<'_> {
        Screen::of(self.parser.screen(), &self.watch.title)
    }

    /// The screen that is shown when the program leaves the alternate one.
    pub(crate) fn main_screen(&mut self) -> Screen<'static> {
        let is_alternate = self.parser.screen().alternate_screen();
        // Mode 47 changes which screen is shown and nothing else.
        self.parser.process(if is_alternate { b"\x1b[?47l" } else { b"" });
        let screen = self.screen().into_owned();
        self.parser.process(if is_alternate { b"\x1b[?47h" } else { b"" });
        screen
    }

    /// Kitty's flags by which keys are to be sent; 0 is the legacy form.
    pub(crate) fn keyboard_flags(&self) -> u16 {
        if self.kitty { self.watch.keyboard_flags() } else { 0 }
    }

    pub(crate) fn has_application_cursor(&self) -> bool {
        self.parser.screen().application_cursor()
    }

    pub(crate) fn has_bracketed_paste(&self) -> bool {
        self.parser.screen().bracketed_paste()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(options: Options, asked: &str) -> String {
        let mut emulator = Emulator::new(&options);
        String::from_utf8(emulator.feed(asked.as_bytes(), |_| {})).unwrap()
    }

    #[test]
    fn an_answer_is_about_the_moment_of_the_question() {
        let asked = "ab\x1b[6n\r\nlonger\x1b[6n";
        assert_eq!(answers(Options::new(20, 5), asked), "\x1b[1;3R\x1b[2;7R");
        assert_eq!(answers(Options::new(4, 2), "abcd\x1b[6n"), "\x1b[1;4R");
    }

    #[test]
    fn kitty_is_asked_for_in_vain_where_it_is_not() {
        let asked = "\x1b[>5u\x1b[?u\x1b[c";
        assert_eq!(answers(Options::new(20, 5), asked), "\x1b[?62;22c");
        assert_eq!(answers(Options::new(20, 5).kitty(), asked), "\x1b[?5u\x1b[?62;22c");
        assert_eq!(answers(Options::new(20, 5).kitty().silent(), asked), "");
    }

    #[test]
    fn each_screen_has_its_own_keyboard_flags() {
        let asked =
            "\x1b[>1u\x1b[?1049h\x1b[?u\x1b[>3u\x1b[=4;2u\x1b[?u\x1b[<u\x1b[?1049l\x1b[?u\x1b[<u\x1b[?u";
        assert_eq!(answers(Options::new(20, 5).kitty(), asked), "\x1b[?0u\x1b[?7u\x1b[?1u\x1b[?0u");
    }

    #[test]
    fn a_synchronized_update_is_presented_when_it_is_over() {
        let mut emulator = Emulator::new(&Options::new(20, 3));
        let mut seen = Vec::new();
        let written = "\x1b[?2026hone\x1b[?2026l\x1b[?2026h\x1b[2Jtwo\x1b[?2026l\x1b[?2026h\x1b[2J";
        emulator.feed(written.as_bytes(), |screen| seen.push(screen.text()));
        assert_eq!(seen, ["one", "   two"]);
        assert!(emulator.watch.is_synchronizing());
    }

    #[test]
    fn the_main_screen_is_there_behind_the_other() {
        let mut emulator = Emulator::new(&Options::new(20, 3));
        emulator.feed(b"main\x1b[?1049h\x1b[Hother", |_| {});
        assert_eq!(emulator.main_screen().text(), "main");
        assert_eq!(emulator.screen().text(), "other");
        assert!(emulator.screen().is_alternate());
    }

    #[test]
    fn bytes_that_are_cut_anywhere_say_the_same() {
        let written = "\x1b[31mrot\x1b[0m é漢\x1b]2;a;b\x1b\\\x1b[6n\x1b[?2026$p";
        let whole = answers(Options::new(20, 5), written);
        let mut emulator = Emulator::new(&Options::new(20, 5));
        let mut said = Vec::new();
        for byte in written.bytes() {
            said.extend(emulator.feed(&[byte], |_| {}));
        }
        assert_eq!(String::from_utf8(said).unwrap(), whole);
        assert_eq!(emulator.screen().text(), "rot é漢");
        assert_eq!(emulator.screen().title(), "a;b");
    }
}

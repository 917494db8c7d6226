//! A recording, looked at as the screens that somebody saw.

use std::time::Duration;

use super::emulator::Emulator;
use super::options::{Options, Size};
use super::recording::{Happened, Recording};
use super::screen::Screen;

/// A screen, and how long it is shown.
#[derive(Debug, Clone)]
pub struct Frame {
    /// What is shown.
    pub screen: Screen<'static>,
    /// For how long.
    pub lasts: Duration,
}

/// The screens of a recording, each with the time at which it appeared.
#[derive(Debug, Clone)]
pub struct Frames {
    screens: Vec<(Duration, Screen<'static>)>,
    marks: Vec<(String, usize)>,
}

impl Frames {
    /// Every screen that was to be seen: after each synchronized update, and after each piece that was written
    /// outside of one. Where a program uses none, a piece is what arrived at once, which may be half of what it
    /// wrote. Screens that look like the one before are left out.
    pub fn of(recording: &Recording) -> Frames {
        Frames::seen_in(Options::new(1, 1), recording)
    }

    /// As [`Frames::of`], for a terminal of another kind, one that reflows.
    pub fn seen_in(options: Options, recording: &Recording) -> Frames {
        let size = Size::new(recording.size.0, recording.size.1);
        // Rows are wrapped anew from the scrollback as well.
        let scrollback = if options.reflows { options.scrollback } else { 0 };
        let mut emulator = Emulator::new(&Options { size, answers: false, scrollback, ..options });
        let mut frames = Frames { screens: Vec::new(), marks: Vec::new() };
        frames.see(Duration::ZERO, &emulator.screen());
        for event in &recording.events {
            match &event.happened {
                Happened::Output(bytes) => {
                    emulator.feed(bytes, |screen| frames.see(event.at, screen));
                }
                Happened::Resize(columns, rows) => emulator.resize(Size::new(*columns, *rows)),
                Happened::Mark(name) => frames.marks.push((name.clone(), frames.screens.len() - 1)),
                Happened::Input(_) => {}
            }
            if !emulator.watch.is_synchronizing() {
                frames.see(event.at, &emulator.screen());
            }
        }
        frames
    }

    fn see(&mut self, at: Duration, screen: &Screen<'_>) {
        if !self.screens.last().is_some_and(|(_, last)| last.looks_like(screen)) {
            self.screens.push((at, screen.clone().into_owned()));
        }
    }

    /// All of them.
    pub fn screens(&self) -> &[(Duration, Screen<'static>)] {
        &self.screens
    }

    /// What was to be seen when the moment got that name.
    pub fn marked(&self, name: &str) -> Option<&Screen<'static>> {
        let (_, at) = self.marks.iter().find(|(mark, _)| mark == name)?;
        self.screens.get(*at).map(|(_, screen)| screen)
    }

    /// The screens of all named moments, each shown for that long: the same whenever the screens are.
    pub fn at_marks(&self, lasts: Duration) -> Vec<Frame> {
        let screens = self.marks.iter().map(|(_, at)| self.screens[*at].1.clone());
        screens.map(|screen| Frame { screen, lasts }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(events: &[(u64, Happened)]) -> Recording {
        let mut recording = Recording::new((20, 3));
        for (at, happened) in events {
            recording.push(Duration::from_millis(*at), happened.clone());
        }
        recording
    }

    fn output(text: &str) -> Happened {
        Happened::Output(text.into())
    }

    #[test]
    fn nobody_sees_a_screen_that_is_being_made() {
        let frames = Frames::of(&recording(&[
            (1, output("one")),
            (2, output("\x1b[?2026h\x1b[2J")),
            (3, output("\x1b[Htwo\x1b[?2026l\x1b[?2026h\x1b[2J\x1b[Hthree\x1b[?2026l")),
            (4, output("")),
        ]));
        let seen: Vec<_> =
            frames.screens().iter().map(|(at, screen)| (at.as_millis(), screen.text())).collect();
        let expected = [(0, ""), (1, "one"), (3, "two"), (3, "three")];
        assert_eq!(seen, expected.map(|(at, text)| (at, text.to_owned())));
    }

    #[test]
    fn moments_have_names() {
        let frames = Frames::of(&recording(&[
            (1, output("one")),
            (2, Happened::Mark("first".into())),
            (3, output("\r\ntwo")),
            (4, Happened::Resize(2, 2)),
            (5, Happened::Mark("second".into())),
        ]));
        assert_eq!(frames.marked("first").unwrap().text(), "one");
        assert_eq!(frames.marked("second").unwrap().text(), "on\ntw");
        assert!(frames.marked("third").is_none());
        assert_eq!(frames.at_marks(Duration::from_secs(1)).len(), 2);
    }
}

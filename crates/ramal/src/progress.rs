//! How far long work is, on a terminal.

use std::io::{self, IsTerminal as _, Write};
use std::time::{Duration, Instant};

/// Nothing is shown for as long as people do not begin to wonder.
const PATIENCE: Duration = Duration::from_millis(500);
/// Between two times that something is shown.
const PACE: Duration = Duration::from_millis(100);

/// A line on standard error that says how far work is, if that is a terminal.
#[derive(Debug)]
pub(crate) struct Progress {
    /// When to show something next; none if it is no terminal.
    next: Option<Instant>,
    shown: bool,
}

impl Progress {
    /// Work begins.
    pub(crate) fn new() -> Progress {
        Progress { next: io::stderr().is_terminal().then(|| Instant::now() + PATIENCE), shown: false }
    }

    /// Shows the text, which is clean, if it is time to show something.
    pub(crate) fn show(&mut self, text: impl FnOnce() -> String) {
        let now = Instant::now();
        if self.next.is_some_and(|next| next <= now) {
            self.next = Some(now + PACE);
            self.shown = true;
            let _ = write!(io::stderr(), "\r\x1b[K{}", text());
        }
    }

    /// Takes the line away again.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

//! The real terminal: set up, written to a frame at a time, and left as it was found.
//!
//! [`Terminal::start`] turns on what is needed. What was turned on is known in one place, [`Modes`], and
//! undone exactly once on every way out: dropped, after an error, in a panic, by a signal, before the
//! process stops. Whatever is written after that is dropped, so that no late frame lands in the user's shell.
//!
//! Frames are put together by a [`TerminalWriter`] and go out with one write each. [`Input`] is what comes
//! back: keys, pasted text, and what the system does to the terminal.

mod device;
mod input;
mod modes;
mod panic;
mod probe;
pub mod sequences;
mod shared;
#[cfg(unix)]
mod signals;
mod torn;
mod writer;

pub use device::{Device, Stdout};
pub use input::{Input, InputThread};
pub use modes::Modes;
pub use probe::Answers;
pub use sequences::{CopyTooLong, CursorShape};
pub use writer::TerminalWriter;

use std::fmt;
use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::time::Duration;

use self::input::Listener;
use self::shared::Shared;
use crate::keys::Key;

/// How a terminal is set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// How long the terminal may take to say what it can do. One that takes longer is taken for a simple one.
    pub probe: Duration,
    /// Whether it is asked for its background.
    pub asks_background: bool,
    /// Whether it is to tell when its window gets and loses the focus.
    pub tells_focus: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { probe: Duration::from_millis(200), asks_background: true, tells_focus: false }
    }
}

/// Why there is no terminal.
#[derive(Debug)]
pub enum StartError {
    /// What is written does not go to a terminal, or what is read does not come from one.
    NotATerminal,
    /// The terminal cannot be set up.
    Io(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::NotATerminal => write!(f, "input and output are not both a terminal"),
            StartError::Io(error) => write!(f, "the terminal cannot be set up: {error}"),
        }
    }
}

impl std::error::Error for StartError {}

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> StartError {
        StartError::Io(error)
    }
}

/// The terminal while it is ours. When this is dropped it is the user's again.
#[derive(Debug)]
pub struct Terminal {
    shared: Arc<Shared>,
    answers: Answers,
    early: Vec<Key>,
}

impl Terminal {
    /// Sets up the terminal that the program runs in, and sees to it that it is left clean.
    ///
    /// # Errors
    /// If there is no terminal, or it cannot be set up; then it is as it was.
    pub fn start(options: &Options) -> Result<Terminal, StartError> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Err(StartError::NotATerminal);
        }
        let terminal = Terminal::with_device(Box::new(Stdout), options)?;
        panic::guard(&terminal.shared);
        Ok(terminal)
    }

    /// Sets up a device as the terminal. Neither panics nor signals are seen to.
    ///
    /// # Errors
    /// If it cannot be set up; then it is as it was.
    pub fn with_device(device: Box<dyn Device>, options: &Options) -> Result<Terminal, StartError> {
        let shared = Arc::new(Shared::new(device));
        // From here on, dropping it undoes what has been done.
        let mut terminal = Terminal { shared, answers: Answers::default(), early: Vec::new() };
        terminal.shared.raw()?;
        let (answers, early) = terminal.shared.probe(options)?;
        let modes = Modes { keyboard: answers.keyboard, focus: options.tells_focus, ..Modes::default() };
        terminal.shared.enter(modes)?;
        terminal.answers = answers;
        terminal.early = early;
        Ok(terminal)
    }

    /// What the terminal said of itself.
    pub fn answers(&self) -> Answers {
        self.answers
    }

    /// Begins to read what comes from the terminal, and to hear signals. Everything goes to `send`, which
    /// says whether anybody still listens. What was typed while the terminal was set up comes first.
    ///
    /// # Errors
    /// If the system has no thread or no signals for us.
    pub fn listen(
        &mut self,
        send: impl Fn(Input) -> bool + Send + Sync + 'static,
    ) -> io::Result<InputThread> {
        let send: Listener = Arc::new(send);
        for key in self.early.drain(..) {
            send(Input::Key(key));
        }
        #[cfg(unix)]
        signals::listen(Arc::clone(&self.shared), Arc::clone(&send))?;
        InputThread::start(self.answers, send)
    }

    /// Something to put a frame together with. What several writers write is not mixed within a frame.
    pub fn writer(&self) -> TerminalWriter {
        TerminalWriter::new(Arc::clone(&self.shared))
    }

    /// Stops the process and those that run with it, as the shell's Ctrl+Z does. Once it goes on,
    /// [`Input::Resumed`] comes: then everything is to be drawn anew. Only where [`Terminal::listen`] was
    /// called.
    ///
    /// # Errors
    /// If the system does not stop us.
    pub fn suspend(&self) -> io::Result<()> {
        #[cfg(unix)]
        rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?;
        Ok(())
    }

    /// Lends the terminal to another program for as long as `run` takes. Everything is to be drawn anew
    /// then. `input` reads nothing meanwhile.
    ///
    /// # Errors
    /// If the terminal cannot be taken back.
    pub fn lend<T>(&self, input: Option<&InputThread>, run: impl FnOnce() -> T) -> io::Result<T> {
        let paused = input.map(InputThread::pause);
        let was_on = self.shared.step_aside();
        let result = run();
        if was_on {
            self.shared.come_back()?;
        }
        drop(paused);
        Ok(result)
    }

    /// Leaves the terminal as it was found, once. Dropping does the same and tells nothing of errors.
    ///
    /// # Errors
    /// If the terminal does not take what restores it.
    pub fn leave(self) -> io::Result<()> {
        self.shared.leave()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // There is nobody to tell, and nothing else to try.
        let _ = self.shared.leave();
    }
}

#[cfg(test)]
mod tests;

//! Signals: those that end the program, and those that stop it for a while.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::input::{Input, Listener};
use super::shared::Shared;

/// How long a signal waits for the terminal.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long after going on the signal to do so may still be heard.
const ECHO: Duration = Duration::from_millis(200);

/// Hears signals on a thread of its own, for as long as the process lives: a terminal may be left by another
/// thread, and the signal that comes then must still end the program.
pub(super) fn listen(shared: Arc<Shared>, send: Listener) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGHUP, SIGINT, SIGTSTP, SIGCONT])?;
    let mut ears = Ears { shared, send, is_ending: false, taken_back: None };
    thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            ears.hear(signal);
        }
    })?;
    Ok(())
}

struct Ears {
    shared: Arc<Shared>,
    send: Listener,
    is_ending: bool,
    /// When the terminal was taken back last.
    taken_back: Option<Instant>,
}

impl Ears {
    fn hear(&mut self, signal: i32) {
        match signal {
            SIGTSTP => self.stop(),
            SIGCONT => self.go_on(),
            // Ctrl+C in a program that has the terminal for a while is that program's.
            SIGINT if self.shared.is_away() => {}
            signal => self.end(signal),
        }
    }

    /// The first time, the terminal is left and the program may put its things in order; the second time, or
    /// where nobody listens, it ends as if nobody had heard the signal.
    fn end(&mut self, signal: i32) {
        self.shared.leave_within(PATIENCE);
        let is_first = !std::mem::replace(&mut self.is_ending, true);
        if is_first && (self.send)(Input::Quit(signal)) {
            return;
        }
        // If even that fails there is nothing left to try.
        let _ = emulate_default_handler(signal);
    }

    fn stop(&mut self) {
        let was_on = self.shared.step_aside();
        stop_process();
        if was_on {
            self.take_back();
        }
    }

    /// We may have been stopped without being asked, and whoever had the terminal meanwhile may have changed
    /// it. If we were asked, this comes right after the terminal was taken back, and there is nothing to do.
    fn go_on(&mut self) {
        let is_done = self.taken_back.is_some_and(|at| at.elapsed() < ECHO);
        if !is_done && self.shared.step_aside() {
            self.take_back();
        }
    }

    fn take_back(&mut self) {
        // If the terminal is gone, reading from it will tell.
        let _ = self.shared.come_back();
        self.taken_back = Some(Instant::now());
        (self.send)(Input::Resumed);
    }
}

/// Stops the process as the shell's Ctrl+Z does, and comes back when it goes on. Where no shell could bring
/// it back the system does not stop it, which a `SIGSTOP` would not respect.
fn stop_process() {
    // SAFETY: the disposition is exchanged for the default one and put back; both structures are whole, and
    // no handler is run with them.
    unsafe {
        let mut default: libc::sigaction = std::mem::zeroed();
        let mut before: libc::sigaction = std::mem::zeroed();
        default.sa_sigaction = libc::SIG_DFL;
        if libc::sigaction(SIGTSTP, &raw const default, &raw mut before) != 0 {
            return;
        }
        // For this thread alone, so that it is stopped before it does anything more.
        libc::raise(SIGTSTP);
        libc::sigaction(SIGTSTP, &raw const before, std::ptr::null_mut());
    }
}

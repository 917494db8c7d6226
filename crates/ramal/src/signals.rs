//! Signals: those that would end the program where an error is better, and those that end a turn.

use std::io;

/// Lets a write beyond a quota fail instead of killing the process, so that it is reported like any
/// other failing write (contract, section 11). The signal for a closed pipe is ignored by Rust's own
/// start-up already.
pub(crate) fn prepare() {
    #[cfg(unix)]
    {
        // SAFETY: ignoring a signal installs no handler, and no other thread runs yet.
        unsafe {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        }
    }
}

/// The signals by which somebody ends the program: Ctrl+C, a wish to terminate, and a terminal that is
/// closed.
#[derive(Debug)]
pub(crate) struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hang_up: tokio::signal::unix::Signal,
}

impl Signals {
    /// Hears signals from now on, on a runtime.
    ///
    /// # Errors
    /// If the system does not let us.
    #[cfg(unix)]
    pub(crate) fn new() -> io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// The number of the next signal.
    #[cfg(unix)]
    pub(crate) async fn next(&mut self) -> i32 {
        tokio::select! {
            _ = self.interrupt.recv() => libc::SIGINT,
            _ = self.terminate.recv() => libc::SIGTERM,
            _ = self.hang_up.recv() => libc::SIGHUP,
        }
    }

    /// Hears Ctrl+C from now on, on a runtime.
    ///
    /// # Errors
    /// Never here.
    #[cfg(not(unix))]
    pub(crate) fn new() -> io::Result<Signals> {
        Ok(Signals {})
    }

    /// The number that Ctrl+C has elsewhere.
    #[cfg(not(unix))]
    pub(crate) async fn next(&mut self) -> i32 {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        2
    }
}

//! Signals that would end the program where an error is better.

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

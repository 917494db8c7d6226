//! The `ramal` program.

mod cli;
mod commands;
mod remembered;
mod rpc;
#[allow(dead_code, reason = "the commands that draw with it are still to come")]
mod view;

use std::process::ExitCode;

fn main() -> ExitCode {
    ignore_file_size_signal();
    cli::run()
}

/// A quota on file sizes is an error of the write that meets it, not the death of the program
/// (contract, section 11).
fn ignore_file_size_signal() {
    #[cfg(unix)]
    // SAFETY: no other thread runs yet, and ignoring a signal installs no handler that could run
    // at a bad moment.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

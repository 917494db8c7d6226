//! `ramal man`: the manual page.

use std::io::Write;

use crate::cli;
use crate::failure::Status;

/// Print the manual page of a command, or of the whole program
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  ramal man > ~/.local/share/man/man1/ramal.1
  ramal man branch | man -l -")]
pub(crate) struct Args {
    /// The command; the whole program if none is given
    command: Option<String>,
}

pub(crate) fn run(_args: &Args, out: &mut dyn Write) -> anyhow::Result<Status> {
    clap_mangen::Man::new(cli::command()).render(&mut &mut *out)?;
    Ok(Status::Done)
}

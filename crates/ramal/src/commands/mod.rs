//! The commands, one file each: what it takes, and what it does.

use std::io::Write;

use crate::cli;
use crate::failure::Status;

pub(crate) mod go;
pub(crate) mod man;

/// Without a command: what there is.
pub(crate) fn help(out: &mut dyn Write) -> anyhow::Result<Status> {
    writeln!(out, "{}", cli::command().render_help())?;
    Ok(Status::Done)
}

//! `ramal go`: moves the leaf and remembers where it is.

use std::io::Write;

use crate::cli::Globals;
use crate::failure::{self, Status};
use crate::resolve;

/// Move the leaf to an entry, and remember it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where to go
    entry: String,
    #[command(flatten)]
    session: resolve::SessionOption,
}

pub(crate) fn run(args: &Args, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<Status> {
    let mut session = resolve::session(args.session.name(), globals)?;
    let id = resolve::entry(&session, &args.entry)?;
    let moved = session.navigate(&id, None)?;
    if let Some(text) = moved.editor_text {
        writeln!(out, "{text}")?;
    }
    failure::note("moved");
    Ok(Status::Done)
}

//! `ramal import`: a session's file taken in as a session of this directory.

use std::io::Write;
use std::path::PathBuf;

use ramal_session::SessionManager;

use super::Json;
use super::branch::made;
use crate::cli::Globals;
use crate::export;
use crate::failure::Status;
use crate::resolve;

/// Take in a session's file as a new session of this directory
///
/// All its branches, labels and names come along, under a new session id and with a link to the file. The path
/// of the new session is printed. The file is not touched.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramal import ~/Downloads/session.jsonl")]
pub(crate) struct Args {
    /// A file in the format of the log, as `ramal export OUT.jsonl` writes it
    file: PathBuf,
    #[command(flatten)]
    json: Json,
}

pub(crate) fn run(args: &Args, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<Status> {
    let path = export::import(&args.file, &resolve::cwd()?, globals.session_dir.as_deref())?;
    let session = SessionManager::open(&path, globals.session_dir.as_deref())?;
    made(session, None, true, &args.json, out)
}

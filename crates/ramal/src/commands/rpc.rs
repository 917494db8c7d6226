//! `ramal rpc`: the session for other programs, as JSON lines on standard input and output.

use std::path::PathBuf;

use anyhow::Context as _;
use ramal_session::SessionManager;

use crate::cli::Globals;
use crate::failure::Status;
use crate::remembered;
use crate::rpc;
use crate::work::WorkOptions;

/// Serve a session to another program, as JSON lines on standard input and output
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  echo '{\"id\": 1, \"type\": \"get_state\"}' | ramal rpc --session session.jsonl")]
pub(crate) struct Args {
    /// The session file to open; a missing or empty one becomes a new session
    #[arg(long, value_name = "FILE")]
    session: Option<PathBuf>,
    /// Keep the session in memory only
    #[arg(long, conflicts_with = "session")]
    no_session: bool,
    #[command(flatten)]
    work: WorkOptions,
}

/// Runs the command until its input ends.
pub(crate) fn run(args: &Args, globals: &Globals) -> anyhow::Result<Status> {
    let cwd = std::env::current_dir().context("the working directory cannot be told")?;
    let session_dir = globals.session_dir.as_deref();
    let mut session = match &args.session {
        _ if args.no_session => SessionManager::in_memory(&cwd),
        Some(file) => SessionManager::open_in(file, session_dir, &cwd)?,
        None => SessionManager::create(&cwd, session_dir)?,
    };
    remembered::recall(&mut session);
    let options = rpc::Options { session_dir: globals.session_dir.clone(), cwd, work: &args.work };
    rpc::start(session, options)
}

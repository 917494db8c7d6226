//! `ramal rpc`: the session for other programs, as JSON lines on standard input and output.

use anyhow::Context as _;

use super::which::Which;
use crate::cli::Globals;
use crate::failure::Status;
use crate::rpc;
use crate::work::WorkOptions;

/// Serve a session to another program, as JSON lines on standard input and output
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  echo '{\"id\": 1, \"type\": \"get_state\"}' | ramal rpc --session session.jsonl")]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    work: WorkOptions,
}

/// Runs the command until its input ends.
pub(crate) fn run(args: &Args, globals: &Globals) -> anyhow::Result<Status> {
    serve(&args.which, &args.work, globals)
}

/// Serves a session until the input ends.
///
/// # Errors
/// If there is no such session, or what the options name cannot be had.
pub(crate) fn serve(which: &Which, work: &WorkOptions, globals: &Globals) -> anyhow::Result<Status> {
    let cwd = std::env::current_dir().context("the working directory cannot be told")?;
    let opened = which.open(globals)?;
    let options = rpc::Options { session_dir: globals.session_dir.clone(), cwd, name: which.name(), work };
    rpc::start(opened, options)
}

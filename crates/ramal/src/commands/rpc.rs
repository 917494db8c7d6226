//! `ramal rpc`: the session for other programs, as JSON lines on standard input and output.

use std::path::PathBuf;

use anyhow::Context as _;
use ramal_agent::tools;
use ramal_model::ThinkingLevel;
use ramal_session::SessionManager;

use crate::cli::Globals;
use crate::failure::{Failure, Status};
use crate::remembered;
use crate::rpc;

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
    /// The model where the session names none, as provider/id; see `ramal models`
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// How much to think where the session does not say: off, minimal, low, medium, high or xhigh
    #[arg(long, value_name = "LEVEL")]
    thinking: Option<ThinkingLevel>,
    /// The tools the model may call, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    tools: Option<Vec<String>>,
    /// Run the model's tools without asking
    #[arg(long, short)]
    yes: bool,
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
    let tools = match &args.tools {
        Some(names) => tools::named(names).map_err(|error| Failure::usage(error.to_string()))?,
        None => tools::all(),
    };
    let options = rpc::Options {
        session_dir: globals.session_dir.clone(),
        cwd,
        model: args.model.clone(),
        thinking: args.thinking.unwrap_or_default(),
        tools,
        yes: args.yes,
    };
    rpc::start(session, options)?;
    Ok(Status::Done)
}

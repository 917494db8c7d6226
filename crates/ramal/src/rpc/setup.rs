//! A session put to work for a client.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use ramal_agent::hooks::JsonHook;
use ramal_extension::Mode;
use ramal_session::NameSource;

use super::asks::Asks;
use super::dialogs::Dialogs;
use super::hooks::ClientHooks;
use super::outgoing::Outgoing;
use super::{Ends, Server};
use crate::commands::which::Opened;
use crate::extensions::Crew;
use crate::failure::Status;
use crate::models::Models;
use crate::work::{HOOK_LIMIT, WorkOptions};
use crate::workshop::{Company, Workshop};

/// No answer to a question for so long means no (contract, section 12).
const ANSWER_LIMIT: Duration = Duration::from_secs(60);

/// Another time in milliseconds in place of [`ANSWER_LIMIT`]; for tests.
const ANSWER_LIMIT_VARIABLE: &str = "RAMAL_CONFIRM_TIMEOUT_MS";

/// Another time in milliseconds in place of [`HOOK_LIMIT`]; for tests.
const HOOK_LIMIT_VARIABLE: &str = "RAMAL_HOOK_TIMEOUT_MS";

/// The client's own limit comes first: it is told which of its questions that was.
const GRACE: Duration = Duration::from_secs(2);

/// What the command line says.
pub(crate) struct Options<'a> {
    /// Where copies and new sessions are made.
    pub(crate) session_dir: Option<PathBuf>,
    pub(crate) cwd: PathBuf,
    /// The name that the session is given.
    pub(crate) name: Option<&'a str>,
    pub(crate) work: &'a WorkOptions,
}

/// Serves a session until the input ends, or a signal comes.
///
/// # Errors
/// If a model or a tool that the options name cannot be had, answers cannot be written for another reason
/// than a closed pipe, the log not forced to disk, or no thread started.
pub(crate) fn start(opened: Opened, options: Options<'_>) -> anyhow::Result<Status> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("no threads can be started")?;
    let ends = Arc::new(Ends::default());
    let gone = Arc::clone(&ends);
    let (out, writer) = Outgoing::start(move || gone.end_all())?;
    let asks = Arc::new(Asks::new(out.clone(), limit(ANSWER_LIMIT_VARIABLE, ANSWER_LIMIT)));
    let hook_limit = limit(HOOK_LIMIT_VARIABLE, HOOK_LIMIT);
    let hooks = Arc::new(ClientHooks::new(out.clone(), hook_limit));
    let models = Arc::new(Models::default());
    let crew = Crew::new(options.work, Mode::Rpc, Arc::clone(&models));
    let dialogs = Arc::new(Dialogs::new(out.clone()));
    let company = Company {
        asks: Arc::clone(&asks) as _,
        hooks: vec![Arc::new(JsonHook(Arc::clone(&hooks)))],
        hook_limit: hook_limit + GRACE,
        crew: Arc::clone(&crew),
    };
    // Nothing is written before it is known that nothing that was asked for is missing.
    let workshop = Workshop::new(options.work, options.cwd.clone(), Arc::clone(&models), company)?;
    let workshop = Arc::new(workshop);
    let mut session = opened.begin()?;
    if let Some(name) = options.name {
        session.set_session_name(name, NameSource::User)?;
    }
    let agent = workshop.put_to_work(session)?;
    *ends.agent.lock().unwrap_or_else(PoisonError::into_inner) = Some(agent.clone());
    let Options { session_dir, cwd, .. } = options;
    Server {
        agent,
        out,
        asks,
        hooks,
        dialogs,
        crew,
        workshop,
        models,
        ends,
        runtime,
        says: Arc::default(),
        tasks: Vec::new(),
        session_dir,
        cwd,
    }
    .serve(writer)
}

/// A limit as a variable of the environment has it, or the usual one.
fn limit(variable: &str, usual: Duration) -> Duration {
    let given = std::env::var(variable).ok().and_then(|text| text.parse().ok());
    given.map_or(usual, Duration::from_millis)
}

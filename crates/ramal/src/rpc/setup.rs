//! A session put to work for a client.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use ramal_agent::permission::Mode;
use ramal_agent::{AgentConfig, AgentSession};
use ramal_session::SessionManager;

use super::asks::{AskClient, Asks};
use super::models::Models;
use super::outgoing::Outgoing;
use super::{Ends, Server};
use crate::settings;
use crate::work::{self, WorkOptions};

/// No answer to a question for so long means no (contract, section 12).
const ANSWER_LIMIT: Duration = Duration::from_secs(60);

/// Another time in milliseconds in place of [`ANSWER_LIMIT`]; for tests.
const ANSWER_LIMIT_VARIABLE: &str = "RAMAL_CONFIRM_TIMEOUT_MS";

/// How long a hook may take before the work goes on without it.
const HOOK_LIMIT: Duration = Duration::from_secs(30);

/// What the command line says.
pub(crate) struct Options<'a> {
    /// Where copies and new sessions are made.
    pub(crate) session_dir: Option<PathBuf>,
    pub(crate) cwd: PathBuf,
    pub(crate) work: &'a WorkOptions,
}

/// Serves a session until the input ends.
///
/// # Errors
/// If answers cannot be written for another reason than a closed pipe, the log not forced to disk, or
/// no thread started.
pub(crate) fn start(session: SessionManager, options: Options<'_>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("no threads can be started")?;
    let ends = Arc::new(Ends::default());
    let gone = Arc::clone(&ends);
    let (out, writer) = Outgoing::start(move || gone.end_all())?;
    let limit = std::env::var(ANSWER_LIMIT_VARIABLE).ok().and_then(|text| text.parse().ok());
    let limit = limit.map_or(ANSWER_LIMIT, Duration::from_millis);
    let asks = Arc::new(Asks::new(out.clone(), limit));
    let models = Arc::new(Models::default());
    let agent = put_to_work(session, &options, &asks, &models)?;
    *ends.agent.lock().unwrap_or_else(PoisonError::into_inner) = Some(agent.clone());
    let Options { session_dir, cwd, .. } = options;
    Server { agent, out, asks, models, ends, runtime, tasks: Vec::new(), session_dir, cwd }.serve(writer)
}

/// A model is not needed: without one the tree is served all the same.
fn put_to_work(
    session: SessionManager,
    options: &Options<'_>,
    asks: &Arc<Asks>,
    models: &Arc<Models>,
) -> anyhow::Result<AgentSession> {
    // Tools work where the session is at home, as far as that is there.
    let home = PathBuf::from(session.get_cwd());
    let cwd = if home.is_dir() { home } else { options.cwd.clone() };
    let (settings, problems) = settings::load(&cwd);
    settings::warn(&problems);
    let mode = if options.work.yes { Mode::Yes } else { Mode::Ask };
    let permissions = work::permissions(&session, &cwd, &settings, mode);
    let finding = Arc::clone(models);
    let find_model = move |name: &str| finding.find(name);
    let config = AgentConfig {
        model: Arc::clone(models) as _,
        find_model: Arc::new(find_model.clone()),
        default_model: work::default_model(&settings)?.or_else(|| models.first_usable()),
        default_thinking: settings.thinking_level,
        system: work::system(&cwd, options.work)?,
        tools: work::chosen_tools(options.work, &settings)?,
        permit: Arc::new(AskClient { permissions, asks: Arc::clone(asks) }),
        hooks: Vec::new(),
        hook_limit: HOOK_LIMIT,
        retry: settings.retry,
        cwd,
        summary_reserve: settings.summary_reserve,
        compaction: settings.compaction,
    };
    let agent = AgentSession::new(session, config);
    agent.set_steering_mode(settings.steering_mode);
    agent.set_follow_up_mode(settings.follow_up_mode);
    work::choose(&agent, options.work, &find_model)?;
    Ok(agent)
}

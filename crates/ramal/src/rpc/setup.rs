//! A session put to work for a client.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use ramal_agent::compact::CompactionSettings;
use ramal_agent::permission::{Mode, Permissions, Store};
use ramal_agent::tools::Tool;
use ramal_agent::{AgentConfig, AgentSession, context_files, system_prompt};
use ramal_model::{RetryPolicy, ThinkingLevel};
use ramal_session::SessionManager;

use super::asks::{AskClient, Asks};
use super::models::Models;
use super::outgoing::Outgoing;
use super::{Ends, Server};
use crate::{catalog, failure};

/// No answer to a question for so long means no (contract, section 12).
const ANSWER_LIMIT: Duration = Duration::from_secs(60);

/// Another time in milliseconds in place of [`ANSWER_LIMIT`]; for tests.
const ANSWER_LIMIT_VARIABLE: &str = "RAMAL_CONFIRM_TIMEOUT_MS";

/// How long a hook may take.
const HOOK_LIMIT: Duration = Duration::from_secs(30);

/// What the command line says.
pub(crate) struct Options {
    /// Where copies and new sessions are made.
    pub(crate) session_dir: Option<PathBuf>,
    pub(crate) cwd: PathBuf,
    /// The model where the path names none.
    pub(crate) model: Option<String>,
    /// How much to think where the path does not say.
    pub(crate) thinking: ThinkingLevel,
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    /// Tools are run without asking.
    pub(crate) yes: bool,
}

/// Serves a session until the input ends.
///
/// # Errors
/// If answers cannot be written for another reason than a closed pipe, the log not forced to disk, or
/// no thread started.
pub(crate) fn start(session: SessionManager, options: Options) -> anyhow::Result<()> {
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
    let agent = AgentSession::new(session, config(&options, &asks, &models));
    *ends.agent.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(agent.clone());
    let Options { session_dir, cwd, .. } = options;
    Server { agent, out, asks, models, ends, runtime, tasks: Vec::new(), session_dir, cwd }.serve(writer)
}

fn config(options: &Options, asks: &Arc<Asks>, models: &Arc<Models>) -> AgentConfig {
    let finding = Arc::clone(models);
    AgentConfig {
        model: Arc::clone(models) as _,
        find_model: Arc::new(move |name: &str| finding.find(name)),
        default_model: options.model.clone(),
        default_thinking: options.thinking,
        system: system(&options.cwd),
        tools: options.tools.clone(),
        permit: Arc::new(AskClient { permissions: permissions(options), asks: Arc::clone(asks) }),
        hooks: Vec::new(),
        hook_limit: HOOK_LIMIT,
        retry: RetryPolicy::default(),
        cwd: options.cwd.clone(),
        summary_reserve: CompactionSettings::default().reserve_tokens,
        compaction: CompactionSettings::default(),
    }
}

fn system(cwd: &Path) -> String {
    let found = context_files(cwd, catalog::settings_folder().as_deref());
    for (path, error) in &found.problems {
        failure::warn(&format!("{} cannot be read, and the model does not know it: {error}", path.display()));
    }
    system_prompt(cwd, &found.files, None, None)
}

fn permissions(options: &Options) -> Permissions {
    let mode = if options.yes { Mode::Yes } else { Mode::Ask };
    let (permissions, problem) = Permissions::new(&options.cwd, mode, Store::from_environment());
    if let Some(problem) = problem {
        failure::warn(&problem.to_string());
    }
    permissions
}

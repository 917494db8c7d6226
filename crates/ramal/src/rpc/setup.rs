//! A session put to work for a client.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use ramal_agent::hooks::JsonHook;
use ramal_agent::permission::Mode;
use ramal_agent::tools::Tool;
use ramal_agent::{AgentConfig, AgentSession};
use ramal_session::{NameSource, SessionManager};

use super::asks::Asks;
use super::hooks::ClientHooks;
use super::outgoing::Outgoing;
use super::{Ends, Server};
use crate::commands::which::Opened;
use crate::failure::Status;
use crate::models::Models;
use crate::permit::{self, Asking};
use crate::settings::{self, Settings};
use crate::work::{self, PromptTexts, WorkOptions};

/// No answer to a question for so long means no (contract, section 12).
const ANSWER_LIMIT: Duration = Duration::from_secs(60);

/// Another time in milliseconds in place of [`ANSWER_LIMIT`]; for tests.
const ANSWER_LIMIT_VARIABLE: &str = "RAMAL_CONFIRM_TIMEOUT_MS";

/// How long the client may take as a hook before the work goes on without it.
const HOOK_LIMIT: Duration = Duration::from_secs(30);

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
    // Nothing is written before it is known that nothing that was asked for is missing.
    let workshop = Workshop {
        tools: work::tools_of_options(options.work)?,
        options: options.work.clone(),
        texts: PromptTexts::of(options.work)?,
        cwd: options.cwd.clone(),
        asks: Arc::clone(&asks),
        hooks: Arc::clone(&hooks),
        hook_limit,
        models: Arc::clone(&models),
        permit: Mutex::default(),
    };
    work::must_be_usable(workshop.options.model.as_deref(), |name| models.find(name))?;
    let mut session = opened.begin()?;
    if let Some(name) = options.name {
        session.set_session_name(name, NameSource::User)?;
    }
    let agent = put_to_work(session, workshop)?;
    *ends.agent.lock().unwrap_or_else(PoisonError::into_inner) = Some(agent.clone());
    let Options { session_dir, cwd, .. } = options;
    Server { agent, out, asks, hooks, models, ends, runtime, tasks: Vec::new(), session_dir, cwd }
        .serve(writer)
}

/// A limit as a variable of the environment has it, or the usual one.
fn limit(variable: &str, usual: Duration) -> Duration {
    let given = std::env::var(variable).ok().and_then(|text| text.parse().ok());
    given.map_or(usual, Duration::from_millis)
}

/// Makes sessions ready for work: the one that is served first, and those that the client goes over to.
struct Workshop {
    options: WorkOptions,
    texts: PromptTexts,
    /// The tools that the options want; else those of the settings.
    tools: Option<Vec<Arc<dyn Tool>>>,
    /// The client's own directory.
    cwd: PathBuf,
    asks: Arc<Asks>,
    hooks: Arc<ClientHooks>,
    hook_limit: Duration,
    models: Arc<Models>,
    /// What was allowed in the directory of the session that is served.
    permit: Mutex<Option<Arc<Asking>>>,
}

impl Workshop {
    /// What a session needs. A model is not needed: without one the tree is served all the same, and so
    /// it is where the directory is gone.
    fn config(&self, session: &SessionManager, settings: Settings) -> AgentConfig {
        self.models.hide_keys(&settings);
        let cwd = self.home(session);
        let mode = if self.options.yes { Mode::Yes } else { Mode::Ask };
        let permissions = permit::permissions(session, &cwd, &settings, mode);
        let permit = Arc::new(Asking::new(permissions, Arc::clone(&self.asks) as _));
        *self.permit.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&permit));
        let finding = Arc::clone(&self.models);
        let default_model = work::default_model(&settings, |name| self.models.look_up(name));
        AgentConfig {
            model: Arc::clone(&self.models) as _,
            find_model: Arc::new(move |name: &str| finding.find(name)),
            default_model: default_model.or_else(|| self.models.first_usable()),
            default_thinking: settings.thinking_level,
            system: self.texts.system(&cwd),
            tools: self.tools.clone().unwrap_or_else(|| work::tools_of_settings(&settings)),
            permit,
            hooks: vec![Arc::new(JsonHook(Arc::clone(&self.hooks)))],
            hook_limit: self.hook_limit + GRACE,
            retry: settings.retry,
            cwd,
            summary_reserve: settings.summary_reserve,
            compaction: settings.compaction,
        }
    }

    /// What a session needs that the client goes over to. In the same directory all stays as it is.
    fn next(&self, session: &SessionManager, before: &AgentConfig) -> AgentConfig {
        let cwd = self.home(session);
        if cwd == before.cwd {
            if let Some(permit) = &*self.permit.lock().unwrap_or_else(PoisonError::into_inner) {
                permit::outputs(session).iter().for_each(|folder| permit.allow_reading(folder));
            }
            return before.clone();
        }
        self.config(session, settings_in(&cwd))
    }

    /// Where tools work: where the session is at home, or where the client is if the log does not say.
    fn home(&self, session: &SessionManager) -> PathBuf {
        match session.get_cwd() {
            "" => self.cwd.clone(),
            cwd => PathBuf::from(cwd),
        }
    }
}

fn settings_in(cwd: &Path) -> Settings {
    let (settings, problems) = settings::load(cwd);
    settings::warn(&problems);
    settings
}

fn put_to_work(session: SessionManager, workshop: Workshop) -> anyhow::Result<AgentSession> {
    let settings = settings_in(&workshop.home(&session));
    let (steering, follow_up) = (settings.steering_mode, settings.follow_up_mode);
    let auto_title = settings.auto_title && !workshop.options.no_title;
    let config = workshop.config(&session, settings);
    let find_model = Arc::clone(&config.find_model);
    let agent = AgentSession::new(session, config);
    agent.set_auto_title(auto_title);
    agent.set_steering_mode(steering);
    agent.set_follow_up_mode(follow_up);
    work::choose(&agent, &workshop.options, &*find_model)?;
    agent.reconfigure_with(move |session, before| workshop.next(session, before));
    Ok(agent)
}

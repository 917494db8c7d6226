//! Makes sessions ready for work in a program that goes on: the one it begins with, and those that it goes
//! over to. Who takes part beside the model is given.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ramal_agent::hooks::Hook;
use ramal_agent::permission::Mode;
use ramal_agent::tools::Tool;
use ramal_agent::{AgentConfig, AgentSession};
use ramal_session::SessionManager;

use crate::extensions::Crew;
use crate::models::Models;
use crate::permit::{self, Asking, AsksUser};
use crate::settings::{self, Settings};
use crate::work::{self, PromptTexts, WorkOptions};

/// Who takes part beside the model.
pub(crate) struct Company {
    /// Is asked whether a tool may be run.
    pub(crate) asks: Arc<dyn AsksUser>,
    /// Those who are told and may answer, in order.
    pub(crate) hooks: Vec<Arc<dyn Hook>>,
    /// How long one of them may take before the work goes on without it.
    pub(crate) hook_limit: Duration,
    /// Extensions, which come after those as hooks and bring tools.
    pub(crate) crew: Arc<Crew>,
}

/// What sessions are made ready with.
pub(crate) struct Workshop {
    options: WorkOptions,
    texts: PromptTexts,
    /// The tools that the options want; else those of the settings.
    tools: Option<Vec<Arc<dyn Tool>>>,
    /// The user's own directory.
    cwd: PathBuf,
    models: Arc<Models>,
    company: Company,
    /// What was allowed in the directory of the session at work.
    permit: Mutex<Option<Arc<Asking>>>,
    /// Its tools, without those that extensions bring.
    own_tools: Mutex<Vec<Arc<dyn Tool>>>,
}

impl Workshop {
    /// What the options name is found to be there, before anything is written. `cwd` is where the user is: a
    /// session works there if its log does not say where.
    ///
    /// # Errors
    /// If they name a tool that there is not, a model that cannot be used, or a file that cannot be read.
    pub(crate) fn new(
        options: &WorkOptions,
        cwd: PathBuf,
        models: Arc<Models>,
        company: Company,
    ) -> anyhow::Result<Workshop> {
        let tools = work::tools_of_options(options)?;
        let texts = PromptTexts::of(options)?;
        work::must_be_usable(options.model.as_deref(), |name| models.find(name))?;
        let (options, permit, own_tools) = (options.clone(), Mutex::default(), Mutex::default());
        Ok(Workshop { options, texts, tools, cwd, models, company, permit, own_tools })
    }

    /// Puts a session to work, as the options and the settings of its directory say. What is wrong with the
    /// settings is told. The session may go over to others later on: they are made ready by the same workshop.
    ///
    /// A model is not needed: without one the tree is there all the same, and so it is where the directory is
    /// gone.
    ///
    /// # Errors
    /// If what the options choose for the session cannot be appended.
    pub(crate) fn put_to_work(self: &Arc<Self>, session: SessionManager) -> anyhow::Result<AgentSession> {
        let settings = settings_in(&self.home(&session));
        let config = self.config(&session, &settings);
        let find_model = Arc::clone(&config.find_model);
        let agent = AgentSession::new(session, config);
        agent.set_auto_title(settings.auto_title && !self.options.no_title);
        agent.set_steering_mode(settings.steering_mode);
        agent.set_follow_up_mode(settings.follow_up_mode);
        work::choose(&agent, &self.options, &*find_model)?;
        let workshop = Arc::clone(self);
        agent.reconfigure_with(move |session, before| workshop.next(session, before));
        Ok(agent)
    }

    /// The extensions.
    pub(crate) fn crew(&self) -> &Arc<Crew> {
        &self.company.crew
    }

    /// Makes a session ready anew: the settings and the files of its directory may say something else by now.
    pub(crate) fn renew(&self, agent: &AgentSession) {
        let config = agent.with_session(|session| self.config(session, &settings_in(&self.home(session))));
        agent.configure(|_| config);
    }

    /// Puts the extensions that there are now in the place of those of before. All else stays as it is.
    pub(crate) fn take_in_extensions(&self, agent: &AgentSession) {
        let own = self.own_tools.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (tools, hooks) = (self.company.crew.tools(own), self.hooks());
        agent.configure(|config| AgentConfig { tools, hooks, ..config.clone() });
    }

    fn hooks(&self) -> Vec<Arc<dyn Hook>> {
        self.company.hooks.iter().cloned().chain(self.company.crew.hooks()).collect()
    }

    /// What a session needs.
    fn config(&self, session: &SessionManager, settings: &Settings) -> AgentConfig {
        self.models.hide_keys(settings);
        let cwd = self.home(session);
        let mode = if self.options.yes { Mode::Yes } else { Mode::Ask };
        let permissions = permit::permissions(session, &cwd, settings, mode);
        let permit = Arc::new(Asking::new(permissions, Arc::clone(&self.company.asks)));
        *self.permit.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&permit));
        let own_tools = self.tools.clone().unwrap_or_else(|| work::tools_of_settings(settings));
        self.own_tools.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&own_tools);
        let finding = Arc::clone(&self.models);
        let default_model = work::default_model(settings, |name| self.models.look_up(name));
        AgentConfig {
            model: Arc::clone(&self.models) as _,
            find_model: Arc::new(move |name: &str| finding.find(name)),
            default_model: default_model.or_else(|| self.models.first_usable()),
            default_thinking: settings.thinking_level,
            system: self.texts.system(&cwd),
            tools: self.company.crew.tools(own_tools),
            permit,
            hooks: self.hooks(),
            hook_limit: self.company.hook_limit,
            retry: settings.retry,
            cwd,
            summary_reserve: settings.summary_reserve,
            compaction: settings.compaction,
        }
    }

    /// What a session needs that is gone over to. In the same directory all stays as it is.
    fn next(&self, session: &SessionManager, before: &AgentConfig) -> AgentConfig {
        let cwd = self.home(session);
        if cwd != before.cwd {
            return self.config(session, &settings_in(&cwd));
        }
        if let Some(permit) = &*self.permit.lock().unwrap_or_else(PoisonError::into_inner) {
            permit::outputs(session).iter().for_each(|folder| permit.allow_reading(folder));
        }
        before.clone()
    }

    /// Where tools work: where the session is at home, or where the user is if the log does not say.
    fn home(&self, session: &SessionManager) -> PathBuf {
        match session.get_cwd() {
            "" => self.cwd.clone(),
            cwd => PathBuf::from(cwd),
        }
    }
}

/// The settings for work in `cwd`. What is wrong with them is told.
fn settings_in(cwd: &Path) -> Settings {
    let (settings, problems) = settings::load(cwd);
    settings::warn(&problems);
    settings
}

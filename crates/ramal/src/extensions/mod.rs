//! The extensions of the program: found, trusted, loaded, put around the session at work, and loaded anew.
//!
//! What they are is known to `ramal-extension`; here is what of it needs a user, a disk and settings.

mod find;
mod front;
mod loading;
mod log;
mod permits;
mod store;

use std::collections::HashMap;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use ramal_agent::hooks::Hook;
use ramal_agent::tools::Tool;
use ramal_agent::{AgentSession, Prompt};
use ramal_extension::{Always, Extensions, Input, Mode, OtherCommand, Permits, Program, RunError};
use ramal_model::Endpoint;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) use self::find::{Found, Origin, find};
use self::front::Door;
pub(crate) use self::front::{Front, Nobody};
use self::log::Log;
pub(crate) use self::log::place as log_place;
use self::permits::AsksOnce;
pub(crate) use self::store::Store;
use crate::models::Models;
use crate::work::WorkOptions;
use crate::workshop::Workshop;

/// What the command line says of extensions.
#[derive(Debug, Clone, Default)]
struct Wanted {
    /// Files and folders that it names.
    named: Vec<PathBuf>,
    /// None but those.
    only_named: bool,
    /// Everything is allowed, for once.
    yes: bool,
    /// What it says of their flags.
    flags: HashMap<String, String>,
    /// Only the tools that the command line names are wanted.
    names_tools: bool,
    /// How the program is used.
    mode: Mode,
}

/// Whether they are there yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// They are not to be waited for: nobody loads them.
    Absent,
    Loading,
    There,
}

/// All extensions, replaced as a whole when they are loaded anew.
pub(crate) struct Crew {
    wanted: Wanted,
    models: Arc<Models>,
    store: Store,
    door: Arc<Door>,
    log: Arc<Log>,
    permits: Arc<dyn Permits>,
    now: Mutex<Option<Extensions>>,
    /// Files and folders of themes that they bring.
    themes: Mutex<Vec<PathBuf>>,
    stage: watch::Sender<Stage>,
    /// The session that they are around, and who makes it ready anew.
    work: OnceLock<(AgentSession, Weak<Workshop>)>,
    /// One at a time loads them.
    loading: tokio::sync::Mutex<()>,
    /// Commands and keys of theirs that run.
    running: watch::Sender<usize>,
    /// The question whether a project is trusted, until what was answered is stored.
    trust: Mutex<Option<JoinHandle<()>>>,
}

impl Crew {
    /// Nothing is loaded yet.
    pub(crate) fn new(options: &WorkOptions, mode: Mode, models: Arc<Models>) -> Arc<Crew> {
        let wanted = Wanted {
            named: options.extension.clone(),
            only_named: options.no_extensions,
            yes: options.yes,
            flags: options.extension_flags.iter().cloned().collect(),
            names_tools: options.no_tools || options.tools.is_some(),
            mode,
        };
        let (store, door) = (Store::from_environment(), Arc::new(Door::default()));
        let permits: Arc<dyn Permits> = match wanted.yes {
            true => Arc::new(Always::Allow),
            false => Arc::new(AsksOnce::new(store.clone(), Arc::clone(&door))),
        };
        Arc::new(Crew {
            wanted,
            models,
            store,
            door,
            log: Arc::default(),
            permits,
            now: Mutex::default(),
            themes: Mutex::default(),
            stage: watch::Sender::new(Stage::Absent),
            work: OnceLock::new(),
            loading: tokio::sync::Mutex::default(),
            running: watch::Sender::new(0),
            trust: Mutex::default(),
        })
    }

    /// Says who has the user.
    pub(crate) fn set_front(&self, front: Arc<dyn Front>) {
        self.door.set(front);
        if let (Some(now), Some(ui)) = (self.now(), self.door.ui()) {
            now.set_ui(ui);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Extensions>> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those that are there now; none before they are loaded.
    pub(crate) fn now(&self) -> Option<Extensions> {
        self.lock().clone()
    }

    /// Whether anything has to be asked of them: some are there, or may be as soon as they are loaded.
    pub(crate) fn may_answer(&self) -> bool {
        self.is_loading() || self.lock().as_ref().is_some_and(|now| !now.all().is_empty())
    }

    /// Those that are there, once they are loaded if somebody loads them.
    async fn ready(&self) -> Option<Extensions> {
        let mut stage = self.stage.subscribe();
        // The sender lives as long as this does.
        let _ = stage.wait_for(|stage| *stage != Stage::Loading).await;
        self.now()
    }

    /// The hooks of a session.
    pub(crate) fn hooks(&self) -> Vec<Arc<dyn Hook>> {
        self.now().map(|now| now.hooks()).unwrap_or_default()
    }

    /// The tools of a session: these, and theirs.
    pub(crate) fn tools(&self, tools: Vec<Arc<dyn Tool>>) -> Vec<Arc<dyn Tool>> {
        match self.now() {
            Some(now) => now.tools(tools),
            None => tools,
        }
    }

    /// From now on what asks them waits until they are loaded. To be called before anybody can ask.
    pub(crate) fn will_begin(&self) {
        self.stage.send_replace(Stage::Loading);
    }

    /// Files and folders of themes that they bring.
    pub(crate) fn themes(&self) -> Vec<PathBuf> {
        self.lock_themes().clone()
    }

    fn lock_themes(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.themes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether they are about to be there.
    pub(crate) fn is_loading(&self) -> bool {
        *self.stage.borrow() == Stage::Loading
    }

    /// Waits until they have heard all that was told of the session so far.
    pub(crate) async fn have_heard(&self) {
        if let Some(now) = self.now() {
            now.have_heard().await;
        }
    }

    /// Ends them. Must be called, or they and the session hold each other.
    pub(crate) async fn end(&self) {
        self.trust_is_stored().await;
        let before = self.lock().take();
        if let Some(before) = before {
            before.end("quit").await;
        }
    }

    /// What they make of what the user typed. `source` is `interactive` or `rpc`; `streaming` is `steer` or
    /// `followUp` for what is said while the model works.
    pub(crate) async fn input(
        &self,
        prompt: Prompt,
        source: &str,
        streaming: Option<&str>,
        abort: &CancellationToken,
    ) -> Input {
        match self.ready().await {
            Some(now) => now.input(prompt, source, streaming, abort).await,
            None => Input::Say(prompt),
        }
    }

    /// What one of them did in place of a command of the user's: JSON, as in the log.
    pub(crate) async fn user_bash(
        &self,
        command: &str,
        exclude_from_context: bool,
        abort: &CancellationToken,
    ) -> Option<String> {
        self.ready().await?.user_bash(command, exclude_from_context, abort).await
    }

    /// The command of theirs that a text means: its name, and what stands behind it.
    pub(crate) async fn command<'a>(&self, text: &'a str) -> Option<(&'a str, &'a str)> {
        let rest = text.strip_prefix('/')?;
        let (name, args) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let now = self.ready().await?;
        now.commands().iter().any(|command| command.name == name).then(|| (name, args.trim()))
    }

    /// Runs a command of theirs.
    ///
    /// # Errors
    /// If there is none of that name, it failed, or was aborted.
    pub(crate) async fn run_command(
        &self,
        name: &str,
        args: &str,
        abort: CancellationToken,
    ) -> Result<(), RunError> {
        let Some(now) = self.ready().await else {
            return Err(RunError::None { what: format!("the command {name}") });
        };
        let _running = Running::begin(&self.running);
        now.run_command(name, args, abort).await
    }

    /// Runs a command of theirs; what goes wrong is told to whoever listens to the session.
    pub(crate) async fn run_command_telling(
        &self,
        agent: &AgentSession,
        name: &str,
        args: &str,
        abort: CancellationToken,
    ) {
        match self.run_command(name, args, abort).await {
            Err(RunError::Failed { what, extension, why }) => {
                agent.tell_hook_error(&extension.display().to_string(), "command", &format!("{what}: {why}"));
            }
            // It was ended by whoever wanted it, or went with its extension.
            Ok(()) | Err(RunError::None { .. } | RunError::Aborted { .. }) => {}
        }
    }

    /// Runs what a key of theirs stands for.
    ///
    /// # Errors
    /// As for [`Crew::run_command`].
    pub(crate) async fn run_shortcut(&self, key: &str, abort: CancellationToken) -> Result<(), RunError> {
        let Some(now) = self.ready().await else {
            return Err(RunError::None { what: format!("the key {key}") });
        };
        let _running = Running::begin(&self.running);
        now.run_shortcut(key, abort).await
    }
}

/// Something of theirs that runs, until this is dropped.
struct Running<'a>(&'a watch::Sender<usize>);

impl<'a> Running<'a> {
    fn begin(count: &'a watch::Sender<usize>) -> Running<'a> {
        count.send_modify(|count| *count += 1);
        Running(count)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

/// This program, as extensions know it.
struct Around(Weak<Crew>);

impl Program for Around {
    fn shut_down(&self) {
        if let Some(front) = self.0.upgrade().and_then(|crew| crew.door.front()) {
            front.shut_down();
        }
    }

    /// Begins it: the extension that asks for it is itself loaded anew.
    fn reload(&self) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>> {
        Box::pin(async {
            let crew = self.0.upgrade().filter(|crew| crew.work.get().is_some());
            let crew = crew.ok_or("`ramal -p` does not load extensions anew")?;
            tokio::spawn(async move { crew.reload().await });
            Ok(())
        })
    }

    fn models(&self) -> Vec<Endpoint> {
        let Some(crew) = self.0.upgrade() else { return Vec::new() };
        let names = crew.models.usable(|listed| listed.name());
        names.iter().filter_map(|name| crew.models.find(name).ok()).collect()
    }

    fn commands(&self) -> Vec<OtherCommand> {
        self.0.upgrade().and_then(|crew| crew.door.front()).map(|front| front.commands()).unwrap_or_default()
    }
}

//! The extensions of the program: found, trusted, loaded, put around the session at work, and loaded anew.
//!
//! What they are is known to `ramal-extension`; here is what of it needs a user, a disk and settings.

mod find;
mod front;
mod log;
mod permits;
mod store;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use ramal_agent::hooks::Hook;
use ramal_agent::tools::Tool;
use ramal_agent::{AgentSession, Prompt};
use ramal_extension::ui::Question;
use ramal_extension::{
    Always, Extensions, Input, LoadProblem, LogLine, Mode, NoUi, Options, OtherCommand, Permits, Program,
    Resources, RunError,
};
use ramal_model::Endpoint;
use ramal_tui::text::clean;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub(crate) use self::find::{Found, Origin, find};
use self::front::Door;
pub(crate) use self::front::{Front, Nobody};
use self::log::Log;
pub(crate) use self::log::place as log_place;
use self::permits::AsksOnce;
pub(crate) use self::store::Store;
use crate::failure::{self, Failure};
use crate::models::Models;
use crate::settings::{self, Settings};
use crate::work::WorkOptions;
use crate::workshop::Workshop;

/// How long a command that loads all anew may go on before its extension ends.
const LAST_WORDS: Duration = Duration::from_secs(2);

const TRUST: &str = "Run them, now and later";
const NEVER: &str = "Never run them here";
const LATER: &str = "Not now";

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
}

impl Crew {
    /// Nothing is loaded yet.
    pub(crate) fn new(options: &WorkOptions, mode: Mode, models: Arc<Models>) -> Arc<Crew> {
        let wanted = Wanted {
            named: options.extension.clone(),
            only_named: options.no_extensions,
            yes: options.yes,
            flags: options.extension_flags.iter().cloned().collect(),
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

    /// Those for work in a directory, and which of them may not run since nobody trusts the project.
    fn chosen(&self, cwd: &Path, settings: &Settings) -> (Vec<PathBuf>, Vec<PathBuf>, Vec<LoadProblem>) {
        let (found, problems) = find(cwd, &self.wanted.named, settings);
        let is_trusted = self.wanted.yes
            || match self.store.trusts(cwd) {
                Ok(trusted) => trusted == Some(true),
                Err(why) => {
                    failure::warn(&why);
                    false
                }
            };
        let wanted =
            found.into_iter().filter(|found| !self.wanted.only_named || found.origin == Origin::Named);
        let (run, wait): (Vec<Found>, Vec<Found>) =
            wanted.partition(|found| found.origin != Origin::Project || is_trusted);
        let paths = |found: Vec<Found>| found.into_iter().map(|found| found.path).collect();
        (paths(run), paths(wait), problems)
    }

    /// Loads those for work in a directory. Answers what could not be loaded, and what may not run yet.
    async fn load(self: &Arc<Self>, cwd: &Path) -> (Vec<LoadProblem>, Vec<PathBuf>) {
        let (settings, _) = settings::load(cwd);
        let (run, wait, mut problems) = self.chosen(cwd, &settings);
        if run.is_empty() {
            warn_of_permissions(&settings, &[]);
            *self.lock() = None;
            return (problems, wait);
        }
        let log = Arc::clone(&self.log);
        let options = Options {
            running_time: settings.extensions.running_time,
            event_time: settings.extensions.event_time,
            memory: settings.extensions.memory,
            log: Arc::new(move |line| log.write(line)),
            permits: Arc::clone(&self.permits),
            program: Arc::new(Around(Arc::downgrade(self))),
            flags: self.wanted.flags.clone(),
            mode: self.wanted.mode,
            ui: self.door.ui().unwrap_or_else(|| Arc::new(NoUi)),
            ..Options::new(cwd)
        };
        let (extensions, failed) = Extensions::load(&run, options).await;
        problems.extend(failed);
        let tools: Vec<String> = extensions.all().iter().flat_map(|one| one.brings().tools).collect();
        warn_of_permissions(&settings, &tools);
        *self.lock() = Some(extensions);
        (problems, wait)
    }

    /// The flags of the command line that no extension takes.
    fn flags_of_none(&self) -> Vec<String> {
        let taken = self.now().map(|now| now.flags()).unwrap_or_default();
        let names = self.wanted.flags.keys();
        let mut names: Vec<String> =
            names.filter(|name| !taken.iter().any(|flag| flag.name == **name)).cloned().collect();
        names.sort();
        names
    }

    /// Loads them for a program that says one thing and ends. What is wrong with them is told.
    ///
    /// # Errors
    /// If the command line has a flag that none of them takes.
    pub(crate) async fn load_once(self: &Arc<Self>, cwd: &Path) -> Result<(), Failure> {
        let (problems, wait) = self.load(cwd).await;
        problems.iter().for_each(|problem| failure::warn(&problem.to_string()));
        if !wait.is_empty() {
            failure::note(&format!(
                "The project's extensions do not run ({}): `ramal extensions --trust` trusts it, --yes runs them for once",
                names(&wait)
            ));
        }
        match &*self.flags_of_none() {
            [] => Ok(()),
            names => Err(Failure::usage(no_such_flag(names)).hint(
                "`ramal --help` lists the options, and `ramal extensions --load` the flags of extensions",
            )),
        }
    }

    /// From now on what asks them waits until they are loaded. To be called before anybody can ask.
    pub(crate) fn will_begin(&self) {
        self.stage.send_replace(Stage::Loading);
    }

    /// Loads them and puts them around a session. The user is asked about a project's meanwhile.
    pub(crate) async fn begin(self: &Arc<Self>, agent: &AgentSession, workshop: &Arc<Workshop>) {
        let _ = self.work.set((agent.clone(), Arc::downgrade(workshop)));
        let wait = self.load_around("startup").await;
        if !wait.is_empty() {
            tokio::spawn(Arc::clone(self).ask_for_trust(agent.cwd(), wait));
        }
    }

    /// Loads them, and tells those that there were before that they end.
    async fn load_around(self: &Arc<Self>, reason: &str) -> Vec<PathBuf> {
        let Some((agent, workshop)) = self.work.get() else { return Vec::new() };
        let _one = self.loading.lock().await;
        // Nothing is to be replaced under what runs.
        agent.wait_for_idle().await;
        self.stage.send_replace(Stage::Loading);
        if let Some(before) = self.now() {
            before.end(reason).await;
        }
        if let Some(front) = self.door.front() {
            front.are_gone();
        }
        let (problems, wait) = self.load(&agent.cwd()).await;
        if let Some(workshop) = workshop.upgrade() {
            workshop.renew(agent);
        }
        for problem in &problems {
            agent.tell_hook_error(&problem.path.display().to_string(), "load", &problem.why);
        }
        let flags = self.flags_of_none();
        if !flags.is_empty() && reason == "startup" {
            failure::warn(&no_such_flag(&flags));
        }
        if let Some(front) = self.door.front() {
            front.are_there();
        }
        let before = std::mem::take(&mut *self.lock_themes());
        if let Some(now) = self.now() {
            now.begin(agent, reason).await;
            self.discover(&now, reason).await;
        }
        self.stage.send_replace(Stage::There);
        // Nobody was told of a theme that was not there as long as it might still come.
        if (reason == "startup" || before != self.themes())
            && let Some(front) = self.door.front()
        {
            front.have_themes();
        }
        wait
    }

    /// Asks what they bring besides themselves.
    async fn discover(&self, now: &Extensions, reason: &str) {
        let Resources { skills, prompts, themes } = now.resources(reason).await;
        *self.lock_themes() = themes;
        for path in skills.iter().chain(&prompts) {
            self.log.write(&LogLine {
                extension: "ramal".into(),
                level: "warn".into(),
                text: format!(
                    "{} is not used: ramal has neither skills nor prompt templates",
                    path.display()
                ),
            });
        }
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

    /// Loads them anew: what changed on the disk counts from now on.
    pub(crate) async fn reload(self: &Arc<Self>) {
        let mut running = self.running.subscribe();
        // The command that wants this may come to its end.
        let _ = tokio::time::timeout(LAST_WORDS, running.wait_for(|count| *count == 0)).await;
        self.load_around("reload").await;
    }

    async fn ask_for_trust(self: Arc<Self>, cwd: PathBuf, wait: Vec<PathBuf>) {
        if self.store.trusts(&cwd) == Ok(Some(false)) {
            return;
        }
        let Some(ui) = self.door.ui().filter(|ui| ui.has_ui()) else { return };
        let question = Question {
            extension: "ramal".into(),
            title: format!(
                "The project {} brings extensions, which run as you: {}",
                clean::one_line(&cwd.to_string_lossy(), 300),
                names(&wait)
            ),
            timeout: None,
            signal: CancellationToken::new(),
        };
        let answer = ui.select(question, [LATER, TRUST, NEVER].map(str::to_owned).to_vec()).await;
        let trusted = match answer.as_deref() {
            Some(TRUST) => true,
            Some(NEVER) => false,
            _ => return,
        };
        if let Err(why) = self.store.trust(&cwd, trusted) {
            failure::warn(&why);
        }
        if trusted {
            self.reload().await;
        }
    }

    /// Puts those of a program that says one thing around its session.
    pub(crate) async fn begin_once(&self, agent: &AgentSession) {
        if let Some(now) = self.now() {
            now.begin(agent, "startup").await;
            self.discover(&now, "startup").await;
        }
    }

    /// Waits until they have heard all that was told of the session so far.
    pub(crate) async fn have_heard(&self) {
        if let Some(now) = self.now() {
            now.have_heard().await;
        }
    }

    /// Ends them. Must be called, or they and the session hold each other.
    pub(crate) async fn end(&self) {
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

fn no_such_flag(names: &[String]) -> String {
    format!("neither ramal nor an extension takes --{}", names.join(", --"))
}

/// A permission that is misspelled protects nothing. Only now it is known which tools there are.
fn warn_of_permissions(settings: &Settings, tools: &[String]) {
    for name in settings.permissions_of_none(tools) {
        failure::warn(&format!(
            "the setting `permissions.{name}` names no tool: neither ramal nor an extension that was loaded has it"
        ));
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

fn names(paths: &[PathBuf]) -> String {
    let name = |path: &PathBuf| {
        let parts: Vec<_> = path.components().rev().take(2).collect();
        let is_index = path.file_stem().is_some_and(|stem| stem == "index");
        let parts = parts.into_iter().take(if is_index { 2 } else { 1 }).rev();
        // They come from somebody else, too.
        clean::one_line(&parts.collect::<PathBuf>().to_string_lossy(), 80)
    };
    paths.iter().map(name).collect::<Vec<_>>().join(", ")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_no_part_of_a_question() {
        let paths = ["/p/a.ts", "/p/todo/index.ts", "/p/x\n\u{1b}[2JTrusted: yes.ts"].map(PathBuf::from);
        let names = names(&paths);
        assert!(names.starts_with("a.ts, todo/index.ts, x"), "{names}");
        assert!(!names.contains(char::is_control), "{names}");
    }
}

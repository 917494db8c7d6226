//! Loading extensions: which of them may run, what is wrong with them, the question whether a project is trusted,
//! and all of it anew.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use ramal_agent::AgentSession;
use ramal_extension::ui::Question;
use ramal_extension::{Extensions, LoadProblem, LogLine, NoUi, Options, Resources};
use ramal_tui::text::clean;
use tokio_util::sync::CancellationToken;

use super::find::{Found, Origin, find};
use super::{Around, Crew, Stage};
use crate::failure::{self, Failure};
use crate::settings::{self, Settings};
use crate::workshop::Workshop;

/// How long a command that loads all anew may go on before its extension ends.
const LAST_WORDS: Duration = Duration::from_secs(2);

const TRUST: &str = "Run them, now and later";
const NEVER: &str = "Never run them here";
const LATER: &str = "Not now";

impl Crew {
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
    async fn load(self: &Arc<Self>, cwd: &Path, settings: &Settings) -> (Vec<LoadProblem>, Vec<PathBuf>) {
        let (run, wait, mut problems) = self.chosen(cwd, settings);
        if run.is_empty() {
            warn_of_permissions(settings, &[]);
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
            adds_tools: !self.wanted.names_tools,
            mode: self.wanted.mode,
            ui: self.door.ui().unwrap_or_else(|| Arc::new(NoUi)),
            ..Options::new(cwd)
        };
        let (extensions, failed) = Extensions::load(&run, options).await;
        problems.extend(failed);
        let tools: Vec<String> = extensions.all().iter().flat_map(|one| one.brings().tools).collect();
        warn_of_permissions(settings, &tools);
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
    pub(crate) async fn load_once(self: &Arc<Self>, cwd: &Path, settings: &Settings) -> Result<(), Failure> {
        let (problems, wait) = self.load(cwd, settings).await;
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

    /// Loads them and puts them around a session. The user is asked about a project's meanwhile.
    pub(crate) async fn begin(self: &Arc<Self>, agent: &AgentSession, workshop: &Arc<Workshop>) {
        let _ = self.work.set((agent.clone(), Arc::downgrade(workshop)));
        let wait = self.load_around("startup").await;
        if !wait.is_empty() {
            let asking = tokio::spawn(Arc::clone(self).ask_for_trust(agent.cwd(), wait));
            *self.trust.lock().unwrap_or_else(PoisonError::into_inner) = Some(asking);
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
        let cwd = agent.cwd();
        // What is wrong with them was told when the session was made ready.
        let (settings, _) = settings::load(&cwd);
        let (problems, wait) = self.load(&cwd, &settings).await;
        if let Some(workshop) = workshop.upgrade() {
            workshop.take_in_extensions(agent);
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

    /// Loads them anew: what changed on the disk counts from now on.
    pub(crate) async fn reload(self: &Arc<Self>) {
        let mut running = self.running.subscribe();
        // The command that wants this may come to its end.
        let _ = tokio::time::timeout(LAST_WORDS, running.wait_for(|count| *count == 0)).await;
        self.load_around("reload").await;
    }

    /// Waits a moment until what was answered of a project is stored.
    pub(super) async fn trust_is_stored(&self) {
        let asking = self.trust.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut asking) = asking
            && tokio::time::timeout(LAST_WORDS, &mut asking).await.is_err()
        {
            // Nobody has answered.
            asking.abort();
        }
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

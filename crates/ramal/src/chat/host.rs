//! What the conversation asks of this program.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ramal_agent::{AgentSession, Prompt};
use ramal_session::SessionManager;
use ramal_session::library::{self, Heard, Places, Scope, TrashProgram, Trashed};
use ramal_tui::app::{DoubleEscape, Drafts, Host, Owner, Wishes};
use ramal_tui::editor::{Content, Editor};
use ramal_tui::keys::Keymap;
use ramal_tui::model_view::ModelRow;
use ramal_tui::session_view::SessionScope;
use ramal_tui::settings_view::SettingRow;
use ramal_tui::theme::{Background, ColorDepth, Theme};

use super::drafts::Keeper;
use super::outside;
use crate::cli::Globals;
use crate::history::History;
use crate::models::Models;
use crate::settings::{self, DoubleEscape as Escape};
use crate::workshop::Workshop;
use crate::{choose, export, failure, history, mentioned, remembered, resolve, themes};

/// This program.
pub(super) struct ProgramHost {
    models: Arc<Models>,
    workshop: Arc<Workshop>,
    globals: Globals,
    places: Places,
    depth: ColorDepth,
    /// What was sent in the directory where something was sent last.
    history: Mutex<Option<(PathBuf, History)>>,
}

impl ProgramHost {
    pub(super) fn new(
        models: Arc<Models>,
        workshop: Arc<Workshop>,
        globals: &Globals,
        depth: ColorDepth,
    ) -> ProgramHost {
        let places = globals.places();
        ProgramHost { models, workshop, globals: globals.clone(), places, depth, history: Mutex::default() }
    }

    /// Does something with what was sent in a directory.
    fn with_history<T>(&self, cwd: &Path, work: impl FnOnce(&mut History) -> T) -> T {
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        let of_cwd = history.take().filter(|(of, _)| of == cwd);
        let open = || (cwd.to_owned(), History::open(History::usual_folder(), cwd));
        work(&mut history.insert(of_cwd.unwrap_or_else(open)).1)
    }
}

impl Host for ProgramHost {
    fn wishes(&self, cwd: &Path) -> Wishes {
        // What is wrong with them was told when the session was made ready.
        let (settings, _) = settings::load(cwd);
        let screen = &settings.screen;
        Wishes {
            double_escape: match screen.double_escape {
                Escape::Tree => DoubleEscape::Tree,
                Escape::Branch => DoubleEscape::Branch,
                Escape::None => DoubleEscape::None,
            },
            asks_for_summary: screen.summary_enabled && !screen.summary_skip_prompt,
            hides_thinking: screen.hide_thinking,
            is_quiet: screen.quiet_startup,
            replay_limit: usize::try_from(screen.replay_limit).unwrap_or(usize::MAX),
            tree_filter: settings.tree_filter,
            theme: screen.theme.clone(),
        }
    }

    fn theme(&self, name: &str, background: Background) -> (Theme, Vec<String>) {
        let crew = self.workshop.crew();
        let (theme, problems) = themes::load(name, background, self.depth, &crew.themes());
        // An extension may bring it yet: then it is looked for again.
        (theme, if crew.is_loading() { Vec::new() } else { problems })
    }

    fn keymap(&self) -> (Keymap, Option<String>) {
        choose::keymap()
    }

    fn renew(&self, agent: &AgentSession) {
        self.workshop.renew(agent);
    }

    fn remember(&self, session: &SessionManager) {
        remembered::remember(session);
    }

    fn window(&self, model: &str) -> Option<u64> {
        self.models.window(model)
    }

    fn git_branch(&self, cwd: &Path) -> Option<String> {
        outside::git_branch(cwd)
    }

    fn any_model(&self) -> Option<String> {
        self.models.first_usable()
    }

    fn models(&self, present: Option<&str>) -> Vec<ModelRow> {
        self.models.usable(|listed| {
            let (name, model) = (listed.name(), listed.model);
            ModelRow {
                is_present: Some(&*name) == present,
                name,
                context_window: model.context_window,
                input_price: model.cost.input,
                output_price: model.cost.output,
                thinks: model.thinks,
                sees: model.sees,
            }
        })
    }

    fn settings(&self, cwd: &Path) -> Vec<SettingRow> {
        settings::rows(cwd)
    }

    fn set(&self, cwd: &Path, key: &str, value: &str) -> Result<String, String> {
        settings::set(cwd, key, value).map_err(|error| error.to_string())
    }

    fn prompt(&self, content: &Content, cwd: &Path) -> (Prompt, Vec<String>) {
        mentioned::prompt(content, cwd)
    }

    fn drafts(&self, owner: Owner, editor: &mut Editor) -> Option<Box<dyn Drafts>> {
        Some(Box::new(Keeper::open(owner, editor)))
    }

    fn earlier(&self, cwd: &Path, said: Vec<String>) -> Vec<String> {
        history::with_session(said, self.with_history(cwd, |history| history.read()))
    }

    fn sent(&self, cwd: &Path, text: &str) -> Option<String> {
        self.with_history(cwd, |history| {
            history.push(text);
            history.problem()
        })
    }

    fn session_dir(&self) -> Option<PathBuf> {
        self.globals.session_dir.clone()
    }

    fn list_sessions(&self, cwd: &Path, scope: SessionScope, hear: &mut dyn FnMut(Heard) -> ControlFlow<()>) {
        let scope = match scope {
            SessionScope::Directory => Scope::Cwd(cwd),
            SessionScope::All => Scope::All,
        };
        library::list_each(&self.places, scope, hear);
    }

    fn find_session(&self, _: &Path, name: &str) -> Result<PathBuf, String> {
        resolve::session_path(Some(name), &self.globals).map_err(|error| format!("{error:#}"))
    }

    fn rename_session(&self, file: &Path, name: &str) -> Result<(), String> {
        library::rename(file, name).map_err(|error| whole(&error))
    }

    fn trash_session(&self, file: &Path, open: Option<&Path>) -> Result<String, String> {
        match library::trash(&self.places, file, open, &TrashProgram::usual()) {
            Ok(Trashed { folder, left }) => {
                let place =
                    folder.map_or_else(|| "the trash".to_owned(), |folder| folder.display().to_string());
                let left =
                    left.map(|left| format!("; its long outputs could not be moved: {}", left.display()));
                Ok(format!("Deleted: it is in {place}{}", left.unwrap_or_default()))
            }
            Err(error) => Err(whole(&error)),
        }
    }

    fn export(
        &self,
        agent: &AgentSession,
        file: Option<&Path>,
        to: Option<&Path>,
    ) -> Result<PathBuf, String> {
        let cwd = agent.cwd();
        let options = export::Options::default();
        let write = |session: &SessionManager| {
            let to = to.map_or_else(|| export::free_name(session, &cwd), Path::to_owned);
            export::export(session, &to, &options).map(|()| to)
        };
        // By a handle of its own, standing where this one stands: it may take long, and nobody waits for it.
        let leaf = agent.with_session(|session| session.get_leaf_id());
        let written = match file {
            Some(file) => SessionManager::open_in(file, None, &cwd).map_err(anyhow::Error::new).and_then(
                |mut session| {
                    match leaf? {
                        Some(leaf) => session.branch(&leaf)?,
                        None => session.reset_leaf(),
                    }
                    write(&session)
                },
            ),
            None => agent.with_session(|session| write(session)),
        };
        written.map_err(|error| format!("{error:#}"))
    }

    fn import(&self, file: &Path, cwd: &Path) -> Result<PathBuf, String> {
        let imported = export::import(file, cwd, self.globals.session_dir.as_deref());
        imported.map_err(|error| format!("{error:#}"))
    }

    fn dump(&self, session: &SessionManager) -> Result<String, String> {
        export::dump(session, &export::Options::default()).map_err(|error| whole(&error))
    }

    fn edit(&self, text: &str) -> io::Result<Option<String>> {
        outside::edit(text)
    }

    fn complain(&self, message: &str) {
        failure::warn(message);
    }
}

/// What an error says, with its causes.
fn whole(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    for cause in causes.map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

//! Settings: what the user and the project want, from `settings.toml`, or from pi's `settings.json`
//! where there is none (docs/settings.md).
//!
//! The project's file comes after the user's and goes before it, except in what a stranger's project
//! must not decide: it can forbid, never allow, and it says nothing about where sessions are kept.

mod change;
mod edit;
mod extensions;
mod not_done;
mod read;
mod replace;
mod rows;
mod screen;
mod table;
#[cfg(test)]
mod tests;
mod values;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ramal_agent::QueueMode;
use ramal_agent::compact::CompactionSettings;
use ramal_agent::permission::Level;
use ramal_model::catalog::Problem;
use ramal_model::{RetryPolicy, ThinkingLevel};
use ramal_session::Filter;

pub(crate) use self::extensions::Extensions;
pub(crate) use self::read::text as read_file;
use self::read::{Setting, Value};
pub(crate) use self::screen::DoubleEscape;
use self::screen::Screen;
use self::values::{count, count_if_set, flag, folder, milliseconds, one_of, queue_mode, text};
use crate::catalog;

pub(crate) use self::{change::set, rows::rows};

/// What the user and the project want.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    /// The models that files name for sessions that name none; the last that there is counts.
    pub(crate) models: Vec<NamedModel>,
    /// How much to think where a session does not say.
    pub(crate) thinking_level: ThinkingLevel,
    /// The tools a model has; all of them if nothing is said.
    pub(crate) tools: Option<Vec<String>>,
    /// What holds for a tool as a whole.
    pub(crate) permissions: BTreeMap<String, Level>,
    /// When and how a conversation is made shorter.
    pub(crate) compaction: CompactionSettings,
    /// The other key that can switch it off; the two are one once all files are read.
    strategy_is_off: bool,
    /// Tokens that are kept free when a branch is summarised.
    pub(crate) summary_reserve: u64,
    /// How often to ask a model again.
    pub(crate) retry: RetryPolicy,
    /// Whether it is asked again at all; the policy is made so once all files are read.
    retries: bool,
    /// Whether new sessions get a title from the model.
    pub(crate) auto_title: bool,
    /// What `ramal tree` shows unless it is told.
    pub(crate) tree_filter: Filter,
    /// Where sessions are kept, in place of the usual folders.
    pub(crate) session_dir: Option<PathBuf>,
    /// How many waiting messages are said at once.
    pub(crate) steering_mode: QueueMode,
    /// The same for those that wait for the end.
    pub(crate) follow_up_mode: QueueMode,
    /// Variables with keys that commands may see all the same.
    pub(crate) kept_variables: Vec<String>,
    /// Which extensions there are, and what they may use up.
    pub(crate) extensions: Extensions,
    /// What only a full-screen program asks for.
    pub(crate) screen: Screen,
}

/// A model that a file names, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedModel {
    /// `provider/id`.
    pub(crate) name: String,
    /// The file.
    pub(crate) path: PathBuf,
    /// Where in it, from 1.
    pub(crate) line: usize,
}

impl NamedModel {
    /// What is wrong with it, at its place.
    pub(crate) fn problem(&self, message: String) -> Problem {
        Problem { path: self.path.clone(), line: Some(self.line), message: format!("`model`: {message}") }
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            models: Vec::new(),
            thinking_level: ThinkingLevel::Off,
            tools: None,
            permissions: BTreeMap::new(),
            compaction: CompactionSettings::default(),
            strategy_is_off: false,
            summary_reserve: 16384,
            retry: RetryPolicy::default(),
            retries: true,
            auto_title: true,
            tree_filter: Filter::Default,
            session_dir: None,
            steering_mode: QueueMode::OneAtATime,
            follow_up_mode: QueueMode::OneAtATime,
            kept_variables: Vec::new(),
            extensions: Extensions::default(),
            screen: Screen::default(),
        }
    }
}

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    User,
    Project,
    PiUser,
    PiProject,
}

impl Origin {
    fn is_project(self) -> bool {
        matches!(self, Origin::Project | Origin::PiProject)
    }

    fn is_pi(self) -> bool {
        matches!(self, Origin::PiUser | Origin::PiProject)
    }
}

/// The files that are read: of each pair, ours and pi's, the second where the first is not there.
struct Files {
    user: (Option<PathBuf>, Option<PathBuf>),
    project: (Option<PathBuf>, Option<PathBuf>),
}

impl Files {
    /// Those for work in `cwd`.
    fn of(cwd: &Path) -> Files {
        let user = catalog::settings_folder().map(|folder| folder.join("settings.toml"));
        let pi = catalog::pi_folder().map(|folder| folder.join("settings.json"));
        let project = (Some(cwd.join(".ramal/settings.toml")), Some(cwd.join(".pi/settings.json")));
        Files { user: (user, pi), project }
    }

    /// What they say.
    fn read(&self) -> Said {
        let mut said = Said::default();
        let user = (&self.user, (Origin::User, Origin::PiUser));
        let project = (&self.project, (Origin::Project, Origin::PiProject));
        for ((own, pi), (own_origin, pi_origin)) in [user, project] {
            let taken = own.as_ref().is_some_and(|path| said.take_file(path, own_origin));
            if !taken && let Some(path) = pi {
                said.take_file(path, pi_origin);
            }
        }
        said
    }
}

/// What files say, setting by setting.
#[derive(Default)]
struct Said {
    settings: Settings,
    problems: Vec<Problem>,
    /// Which file counts for a setting.
    places: BTreeMap<String, Place>,
}

/// Where a setting stands.
struct Place {
    path: PathBuf,
    /// From 1.
    line: usize,
    origin: Origin,
}

/// What became of a setting that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    /// It counts.
    Yes,
    /// Something else goes before it, or it changes nothing.
    PassedOver,
    /// There is no such setting.
    Unknown,
}

/// The settings for work in `cwd`, and what in the files could not be used.
pub(crate) fn load(cwd: &Path) -> (Settings, Vec<Problem>) {
    Files::of(cwd).read().in_force()
}

/// Where the user's settings want sessions to be kept. What is wrong with them is told by the commands
/// that use the rest.
pub(crate) fn session_dir() -> Option<PathBuf> {
    let user = catalog::settings_folder().map(|folder| folder.join("settings.toml"));
    Files { user: (user, None), project: (None, None) }.read().settings.session_dir
}

/// Says what in the files of settings could not be used.
pub(crate) fn warn(problems: &[Problem]) {
    for problem in problems {
        crate::failure::warn(&problem.to_string());
    }
}

impl Said {
    /// The settings as they are together, and what could not be used.
    fn in_force(self) -> (Settings, Vec<Problem>) {
        let mut settings = self.settings;
        if !settings.retries {
            settings.retry.max_retries = 0;
        }
        settings.compaction.enabled &= !std::mem::take(&mut settings.strategy_is_off);
        (settings, self.problems)
    }

    /// Takes in a file. Answers whether it is there.
    fn take_file(&mut self, path: &Path, origin: Origin) -> bool {
        let mut problems = Vec::new();
        let is_there = self.take_text(path, origin, &mut problems);
        if problems.len() > MOST_PROBLEMS {
            let message = format!("and {} more such lines", problems.len() - MOST_PROBLEMS);
            problems.truncate(MOST_PROBLEMS);
            problems.push(Problem { path: path.into(), line: None, message });
        }
        self.problems.append(&mut problems);
        is_there
    }

    fn take_text(&mut self, path: &Path, origin: Origin, problems: &mut Vec<Problem>) -> bool {
        let text = match read::text(path) {
            Ok(Some(text)) => text,
            Ok(None) => return false,
            Err(error) => {
                let message = format!("cannot be read: {error}");
                problems.push(Problem { path: path.into(), line: None, message });
                return true;
            }
        };
        let mut settings = match origin.is_pi() {
            true => pi_model(read::json(&text, path, problems)),
            false => read::toml(&text, path, problems),
        };
        not_done::collapse(&mut settings);
        for setting in settings {
            let message = match self.settings.take(&setting, path, origin) {
                Ok(Taken::Yes) => {
                    let place = Place { path: path.into(), line: setting.line, origin };
                    self.places.insert(table::name(&setting.key).to_owned(), place);
                    continue;
                }
                Ok(Taken::PassedOver) => continue,
                // pi has settings of its own that mean nothing here.
                Ok(Taken::Unknown) if origin.is_pi() => continue,
                Ok(Taken::Unknown) => format!("{}; it is passed over", unknown(&setting.key)),
                Err(message) => format!("`{}` {message}", setting.key),
            };
            problems.push(Problem { path: path.into(), line: Some(setting.line), message });
        }
        true
    }
}

fn unknown(key: &str) -> String {
    format!("there is no setting `{key}`")
}

impl Settings {
    /// The tools that permissions name, and that are not among `tools`, nor ramal's own.
    pub(crate) fn permissions_of_none(&self, tools: &[String]) -> Vec<&str> {
        let own = table::tools();
        let is_there = |name: &String| own.contains(name) || tools.contains(name);
        self.permissions.keys().filter(|name| !is_there(name)).map(String::as_str).collect()
    }

    /// Takes in a setting. An error says what is wrong with it, and then it is as if it were not there.
    fn take(&mut self, setting: &Setting, path: &Path, origin: Origin) -> Result<Taken, String> {
        let value = &setting.value;
        if let Some(tool) = setting.key.strip_prefix(table::PERMISSIONS) {
            return self.take_permission(tool, value, origin);
        }
        let Some(known) = table::find(&setting.key) else { return take_other(&setting.key, value, origin) };
        match known.key {
            "model" => {
                let name = text(value, "\"provider/id\", as `ramal models` lists it")?;
                self.models.push(NamedModel { name, path: path.into(), line: setting.line });
            }
            "thinkingLevel" => {
                let names = ThinkingLevel::ALL.map(ThinkingLevel::name);
                let level = one_of(value, &names)?.parse();
                self.thinking_level = level.map_err(|_| "is no level".to_owned())?;
            }
            "tools" => self.take_tools(value, origin)?,
            "autoTitle" => self.auto_title = flag(value)?,
            "treeFilterMode" => {
                let filter = one_of(value, &Filter::ALL.map(Filter::name))?.parse();
                self.tree_filter = filter.map_err(|_| "is no filter".to_owned())?;
            }
            "sessionDir" if origin == Origin::User => {
                self.session_dir = Some(folder(value)?);
            }
            // pi's folder holds pi's sessions; ours are kept apart.
            "sessionDir" if origin.is_pi() => return Ok(Taken::PassedOver),
            "sessionDir" => return Err("cannot be set by a project; it is passed over".into()),
            "steeringMode" => self.steering_mode = queue_mode(value)?,
            "followUpMode" => self.follow_up_mode = queue_mode(value)?,
            "branchSummary.reserveTokens" => self.summary_reserve = count(value)?,
            "compaction.enabled" => self.compaction.enabled = flag(value)?,
            "compaction.reserveTokens" => self.compaction.reserve_tokens = count(value)?,
            "compaction.keepRecentTokens" => self.compaction.keep_recent_tokens = count(value)?,
            "compaction.strategy" => {
                let strategy = one_of(value, &["context-full", "off", "handoff"])?;
                self.strategy_is_off = strategy == "off";
                if strategy == "handoff" {
                    return Err("\"handoff\" is not done by ramal; \"context-full\" is in force".into());
                }
            }
            "compaction.thresholdPercent" => {
                let percent = count_if_set(value, MOST_PERCENT)?;
                self.compaction.threshold_percent = percent.and_then(|percent| u8::try_from(percent).ok());
            }
            "compaction.thresholdTokens" => {
                self.compaction.threshold_tokens = count_if_set(value, u64::MAX)?;
            }
            "retry.enabled" => self.retries = flag(value)?,
            "retry.maxRetries" => {
                self.retry.max_retries = u32::try_from(count(value)?).unwrap_or(u32::MAX).min(MOST_RETRIES);
            }
            "retry.baseDelayMs" => self.retry.base_delay = milliseconds(value)?,
            "retry.maxDelayMs" => self.retry.max_delay = milliseconds(value)?,
            // What is a key to a stranger's project is not for it to say.
            "bash.keepEnv" if origin.is_project() => {
                return Err("cannot be set by a project; it is passed over".into());
            }
            "bash.keepEnv" => match value {
                Value::Texts(names) => self.kept_variables = names.clone(),
                _ => return Err("must be a list of names such as [\"OPENAI_API_KEY\"]; none is kept".into()),
            },
            key if key.starts_with("extension") => return self.extensions.take(key, value, path, origin),
            key => {
                // A row of the table that nobody reads is found by the tests.
                return Ok(if self.screen.take(key, value)? { Taken::Yes } else { Taken::Unknown });
            }
        }
        Ok(Taken::Yes)
    }

    /// A project can forbid, and want to be asked; it cannot allow. A tool may be one of an extension, which is
    /// not known here.
    fn take_permission(&mut self, tool: &str, value: &Value, origin: Origin) -> Result<Taken, String> {
        let level = match one_of(value, table::LEVELS)? {
            "allow" if origin.is_project() => {
                return Err("cannot be allowed by a project; it is passed over".into());
            }
            "allow" => Level::Allow,
            "ask" => Level::Ask,
            _ => Level::Deny,
        };
        if origin.is_project() && self.permissions.get(tool) == Some(&Level::Deny) {
            return Ok(Taken::PassedOver);
        }
        self.permissions.insert(tool.to_owned(), level);
        Ok(Taken::Yes)
    }

    /// A project takes tools away; it cannot bring back those that the user does not want.
    fn take_tools(&mut self, value: &Value, origin: Origin) -> Result<(), String> {
        let Value::Texts(names) = value else {
            return Err("must be a list of names such as [\"read\", \"grep\"]; all tools are there".into());
        };
        if let Err(error) = ramal_agent::tools::named(names) {
            return Err(format!("cannot be used: {error}"));
        }
        let mut names = names.clone();
        if origin.is_project()
            && let Some(wanted) = &self.tools
        {
            names.retain(|name| wanted.contains(name));
        }
        self.tools = Some(names);
        Ok(())
    }
}

/// Takes in a setting for what is not done.
fn take_other(key: &str, value: &Value, origin: Origin) -> Result<Taken, String> {
    match not_done::take(key, value) {
        None => Ok(Taken::Unknown),
        // In pi's file they are meant for pi.
        Some(Err(_)) if origin.is_pi() => Ok(Taken::PassedOver),
        Some(told) => told.map(|()| Taken::PassedOver),
    }
}

/// Percent of a window that can be waited for; a full one is no room for an answer.
const MOST_PERCENT: u64 = 99;

/// Problems of one file that are told.
const MOST_PROBLEMS: usize = 20;

/// More would be no patience but a loop.
const MOST_RETRIES: u32 = 100;

/// pi names a model in two settings.
fn pi_model(mut settings: Vec<Setting>) -> Vec<Setting> {
    let of = |key: &str| {
        settings.iter().find_map(|setting| match &setting.value {
            Value::Text(text) if setting.key == key => Some((text.clone(), setting.line)),
            _ => None,
        })
    };
    if let (Some((provider, _)), Some((model, line))) = (of("defaultProvider"), of("defaultModel")) {
        let value = Value::Text(format!("{provider}/{model}"));
        settings.push(Setting { key: "model".into(), value, line });
    }
    settings
}

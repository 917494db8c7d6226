//! Settings: what the user and the project want, from `settings.toml`, or from pi's `settings.json`
//! where there is none (docs/settings.md).
//!
//! The project's file comes after the user's and goes before it, except in what a stranger's project
//! must not decide: it can forbid, never allow, and it says nothing about where sessions are kept.

mod read;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ramal_agent::QueueMode;
use ramal_agent::compact::CompactionSettings;
use ramal_agent::permission::Level;
use ramal_model::catalog::Problem;
use ramal_model::{RetryPolicy, ThinkingLevel};
use ramal_session::Filter;

use self::read::{Setting, Value};
use crate::catalog;

/// What the user and the project want.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    /// The model where a session names none, `provider/id`.
    pub(crate) model: Option<String>,
    /// How much to think where a session does not say.
    pub(crate) thinking_level: ThinkingLevel,
    /// The tools a model has; all of them if nothing is said.
    pub(crate) tools: Option<Vec<String>>,
    /// What holds for a tool as a whole.
    pub(crate) permissions: BTreeMap<String, Level>,
    /// When and how a conversation is made shorter.
    pub(crate) compaction: CompactionSettings,
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
    /// The others, which only a full-screen program asks for: checked, and kept by their keys.
    pub(crate) display: BTreeMap<&'static str, String>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            model: None,
            thinking_level: ThinkingLevel::Off,
            tools: None,
            permissions: BTreeMap::new(),
            compaction: CompactionSettings::default(),
            summary_reserve: 16384,
            retry: RetryPolicy::default(),
            retries: true,
            auto_title: true,
            tree_filter: Filter::Default,
            session_dir: None,
            steering_mode: QueueMode::OneAtATime,
            follow_up_mode: QueueMode::OneAtATime,
            display: BTreeMap::new(),
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

/// The settings for work in `cwd`, and what in the files could not be used.
pub(crate) fn load(cwd: &Path) -> (Settings, Vec<Problem>) {
    let user = catalog::settings_folder().map(|folder| folder.join("settings.toml"));
    let pi = catalog::pi_folder().map(|folder| folder.join("settings.json"));
    let project = (Some(cwd.join(".ramal/settings.toml")), Some(cwd.join(".pi/settings.json")));
    load_from((user, pi), project)
}

/// Where the user's settings want sessions to be kept. What is wrong with them is told by the commands
/// that use the rest.
pub(crate) fn session_dir() -> Option<PathBuf> {
    let user = catalog::settings_folder().map(|folder| folder.join("settings.toml"));
    load_from((user, None), (None, None)).0.session_dir
}

/// Of each pair, ours and pi's, the second is read where the first is not there.
fn load_from(
    user: (Option<PathBuf>, Option<PathBuf>),
    project: (Option<PathBuf>, Option<PathBuf>),
) -> (Settings, Vec<Problem>) {
    let (mut settings, mut problems) = (Settings::default(), Vec::new());
    let pairs = [(user, (Origin::User, Origin::PiUser)), (project, (Origin::Project, Origin::PiProject))];
    for ((own, pi), (own_origin, pi_origin)) in pairs {
        let taken = own.is_some_and(|path| settings.take_file(&path, own_origin, &mut problems));
        if !taken && let Some(path) = pi {
            settings.take_file(&path, pi_origin, &mut problems);
        }
    }
    if !settings.retries {
        settings.retry.max_retries = 0;
    }
    (settings, problems)
}

/// Says what in the files of settings could not be used.
pub(crate) fn warn(problems: &[Problem]) {
    for problem in problems {
        crate::failure::warn(&problem.to_string());
    }
}

impl Settings {
    /// Takes in a file. Answers whether it is there.
    fn take_file(&mut self, path: &Path, origin: Origin, all: &mut Vec<Problem>) -> bool {
        let mut problems = Vec::new();
        let is_there = self.take_text(path, origin, &mut problems);
        if problems.len() > MOST_PROBLEMS {
            let message = format!("and {} more such lines", problems.len() - MOST_PROBLEMS);
            problems.truncate(MOST_PROBLEMS);
            problems.push(Problem { path: path.into(), line: None, message });
        }
        all.append(&mut problems);
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
        let settings = match origin.is_pi() {
            true => pi_model(read::json(&text, path, problems)),
            false => read::toml(&text, path, problems),
        };
        for setting in settings {
            match self.take(&setting, origin) {
                Ok(true) => {}
                // pi has settings of its own that mean nothing here.
                Ok(false) if origin.is_pi() => {}
                taken => {
                    let message = match taken {
                        Err(message) => format!("`{}` {message}", setting.key),
                        Ok(_) => format!("there is no setting `{}`; it is passed over", setting.key),
                    };
                    problems.push(Problem { path: path.into(), line: Some(setting.line), message });
                }
            }
        }
        true
    }

    /// Takes in a setting. Answers whether it is one; an error says what is wrong with it, and then it
    /// is as if it were not there.
    fn take(&mut self, setting: &Setting, origin: Origin) -> Result<bool, String> {
        let value = &setting.value;
        if let Some(tool) = setting.key.strip_prefix("permissions.") {
            return self.take_permission(tool, value, origin).map(|()| true);
        }
        match &*setting.key {
            "model" => self.model = Some(text(value, "\"provider/id\", as `ramal models` lists it")?),
            "thinkingLevel" | "defaultThinkingLevel" => {
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
            "sessionDir" if origin.is_pi() => {}
            "sessionDir" => return Err("cannot be set by a project; it is passed over".into()),
            "steeringMode" => self.steering_mode = queue_mode(value)?,
            "followUpMode" => self.follow_up_mode = queue_mode(value)?,
            "branchSummary.reserveTokens" => self.summary_reserve = count(value)?,
            "compaction.enabled" => self.compaction.enabled = flag(value)?,
            "compaction.reserveTokens" => self.compaction.reserve_tokens = count(value)?,
            "compaction.keepRecentTokens" => self.compaction.keep_recent_tokens = count(value)?,
            "compaction.strategy" => {
                if one_of(value, &["context-full", "off"])? == "off" {
                    self.compaction.enabled = false;
                }
            }
            "retry.enabled" => self.retries = flag(value)?,
            "retry.maxRetries" => {
                self.retry.max_retries = u32::try_from(count(value)?).unwrap_or(u32::MAX).min(MOST_RETRIES);
            }
            "retry.baseDelayMs" => self.retry.base_delay = milliseconds(value)?,
            "retry.maxDelayMs" => self.retry.max_delay = milliseconds(value)?,
            key => return self.take_display(key, value),
        }
        Ok(true)
    }

    /// A project can forbid, and want to be asked; it cannot allow.
    fn take_permission(&mut self, tool: &str, value: &Value, origin: Origin) -> Result<(), String> {
        let level = match one_of(value, &["allow", "ask", "deny"])? {
            "allow" if origin.is_project() => {
                return Err("cannot be allowed by a project; it is passed over".into());
            }
            "allow" => Level::Allow,
            "ask" => Level::Ask,
            _ => Level::Deny,
        };
        let known = ramal_agent::tools::all().iter().any(|known| known.spec().name == tool);
        if !known {
            return Err("names no tool; it is passed over".into());
        }
        let forbidden = self.permissions.get(tool) == Some(&Level::Deny);
        if !(origin.is_project() && forbidden) {
            self.permissions.insert(tool.to_owned(), level);
        }
        Ok(())
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

    /// Settings of a full-screen program.
    fn take_display(&mut self, key: &str, value: &Value) -> Result<bool, String> {
        let Some((known, kind)) = DISPLAY.iter().find(|(known, _)| *known == key) else {
            return Ok(false);
        };
        let said = match kind {
            Kind::Flag => flag(value)?.to_string(),
            Kind::Text => text(value, "a text")?,
            Kind::OneOf(values) => one_of(value, values)?.to_owned(),
        };
        self.display.insert(known, said);
        Ok(true)
    }
}

enum Kind {
    Flag,
    Text,
    OneOf(&'static [&'static str]),
}

const DISPLAY: [(&str, Kind); 7] = [
    ("theme", Kind::Text),
    ("doubleEscapeAction", Kind::OneOf(&["tree", "branch", "fork", "rewind", "none"])),
    ("branchSummary.enabled", Kind::Flag),
    ("branchSummary.skipPrompt", Kind::Flag),
    ("hideThinkingBlock", Kind::Flag),
    ("quietStartup", Kind::Flag),
    ("startup.quiet", Kind::Flag),
];

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

fn flag(value: &Value) -> Result<bool, String> {
    match value {
        Value::Bool(value) => Ok(*value),
        _ => Err("must be true or false; the default is in force".into()),
    }
}

fn text(value: &Value, what: &str) -> Result<String, String> {
    match value {
        Value::Text(text) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
        _ => Err(format!("must be {what}; the default is in force")),
    }
}

fn one_of<'a>(value: &Value, values: &[&'a str]) -> Result<&'a str, String> {
    let found = match value {
        Value::Text(text) => values.iter().find(|known| *known == text),
        _ => None,
    };
    let known = || values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(", ");
    found.copied().ok_or_else(|| format!("must be one of {}; the default is in force", known()))
}

fn count(value: &Value) -> Result<u64, String> {
    match value {
        Value::Integer(number) => u64::try_from(*number).ok(),
        _ => None,
    }
    .ok_or_else(|| "must be a number, 0 or more; the default is in force".into())
}

fn milliseconds(value: &Value) -> Result<Duration, String> {
    count(value).map(Duration::from_millis)
}

fn queue_mode(value: &Value) -> Result<QueueMode, String> {
    Ok(match one_of(value, &["one-at-a-time", "all"])? {
        "all" => QueueMode::All,
        _ => QueueMode::OneAtATime,
    })
}

/// A folder that means the same everywhere.
fn folder(value: &Value) -> Result<PathBuf, String> {
    let path = PathBuf::from(text(value, "a folder")?);
    let path = match (path.strip_prefix("~"), std::env::home_dir()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path,
    };
    match path.is_absolute() {
        true => Ok(path),
        false => Err("must be an absolute path, or begin with ~/; the default is in force".into()),
    }
}

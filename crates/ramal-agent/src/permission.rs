//! Who may do what: a pure policy over what a call of a tool touches, and the answers that are
//! remembered. The asking is done by the session.
//!
//! Reading below the working directory is allowed; everything else is asked for. What was answered
//! "always" becomes a [`Rule`], for this session or for this project. The project's rules stand in a
//! file of the user's, never in the project: nothing that a project brings may grant it anything.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::tools::{Access, paths};

mod command;
mod store;

pub use store::{Store, StoreError, append_lines};

/// The tools that only read.
const READING: [&str; 4] = ["read", "grep", "find", "ls"];
/// The tools that write files.
const WRITING: [&str; 2] = ["write", "edit"];
/// Folders in a project whose files are run or believed later on: a rule for the project does not
/// reach into them.
const GUARDED: [&str; 2] = [".git", ".ramal"];

/// Whether a call may be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It may.
    Allow,
    /// The user is to be asked.
    Ask(Question),
    /// It may not; this is why, for the model.
    Deny(String),
}

/// What the user is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What the call would do, in words.
    pub reason: String,
    /// What an "always" would remember. Empty: there is no such answer here.
    pub rules: Vec<Rule>,
}

/// What happens when something would have to be asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// It is asked for.
    #[default]
    Ask,
    /// It is refused, since nobody is there to answer (`-p`).
    Refuse,
    /// It is allowed (`--yes`).
    Yes,
}

/// What the settings say of a tool as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Always allowed.
    Allow,
    /// Each call is asked for, unless a rule allows it; also one that only reads.
    Ask,
    /// Never allowed, whatever else is said.
    Deny,
}

/// Something that is always allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The tool.
    pub tool: String,
    /// What it may do.
    pub scope: Scope,
}

/// What a tool may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// Touch this file, or what lies below this folder. Absolute, with its links followed.
    Path(PathBuf),
    /// Run commands that begin with these words and are one plain command: no pipes, no
    /// substitutions, nothing put behind it.
    Words(Vec<String>),
    /// Run exactly this command.
    Command(String),
    /// Do what nobody but the tool knows.
    Unknown,
}

/// The policy of a session.
#[derive(Debug)]
pub struct Permissions {
    cwd: PathBuf,
    mode: Mode,
    levels: BTreeMap<String, Level>,
    readable: Vec<PathBuf>,
    rules: Vec<Rule>,
    store: Option<Store>,
    /// Where nothing is ever allowed by a rule: the user's own settings.
    settings: Option<PathBuf>,
}

impl Permissions {
    /// A policy for work in `cwd`. The rules of the project are read from `store`, if there is one.
    ///
    /// # Errors
    /// If the store cannot be read. The policy is there all the same, without its rules: then more
    /// is asked for, not less.
    pub fn new(cwd: &Path, mode: Mode, store: Option<Store>) -> (Permissions, Option<StoreError>) {
        let cwd = paths::real(&paths::resolve(".", cwd));
        let (rules, problem) = match store.as_ref().map(|store| store.load(&cwd)) {
            Some(Ok(rules)) => (rules, None),
            Some(Err(error)) => (Vec::new(), Some(error)),
            None => (Vec::new(), None),
        };
        let settings = store.as_ref().and_then(|store| store.path().parent()).map(paths::real);
        let (levels, readable) = (BTreeMap::new(), Vec::new());
        (Permissions { cwd, mode, levels, readable, rules, store, settings }, problem)
    }

    /// Says what holds for a tool as a whole.
    pub fn set_level(&mut self, tool: &str, level: Level) {
        self.levels.insert(tool.to_owned(), level);
    }

    /// Allows reading below another folder, such as the one in which long outputs are kept.
    pub fn allow_reading(&mut self, folder: &Path) {
        self.readable.push(paths::real(folder));
    }

    /// What happens when something would have to be asked for.
    pub fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
    }

    /// Allows this for the rest of the session.
    pub fn always_in_session(&mut self, rules: &[Rule]) {
        for rule in rules {
            if !self.rules.contains(rule) {
                self.rules.push(rule.clone());
            }
        }
    }

    /// Whether something can be remembered beyond the session.
    pub fn has_store(&self) -> bool {
        self.store.is_some()
    }

    /// Allows this for the rest of the session, and in later ones in the same directory.
    ///
    /// # Errors
    /// If it could not be remembered; for this session it holds nevertheless.
    pub fn always_in_project(&mut self, rules: &[Rule]) -> Result<(), StoreError> {
        self.always_in_session(rules);
        match &self.store {
            Some(store) => store.add(&self.cwd, rules),
            None => Err(StoreError::NoPlace),
        }
    }

    /// Whether a call of `tool` that touches this may be run.
    pub fn decide(&self, tool: &str, accesses: &[Access]) -> Decision {
        let level = self.levels.get(tool).copied();
        if level == Some(Level::Deny) {
            return Decision::Deny(format!("The tool {tool} is not allowed by the user's settings."));
        }
        if level == Some(Level::Allow) || self.mode == Mode::Yes {
            return Decision::Allow;
        }
        let strict = level == Some(Level::Ask);
        let open = |access: &&Access| !self.is_allowed(tool, access, strict);
        let open: Vec<&Access> = accesses.iter().filter(open).collect();
        if open.is_empty() && !(strict && accesses.is_empty()) {
            return Decision::Allow;
        }
        let reasons: Vec<String> = open.iter().map(|access| self.reason(tool, access)).collect();
        let reason = if reasons.is_empty() { format!("use {tool}") } else { reasons.join(", and ") };
        if self.mode == Mode::Refuse {
            return Decision::Deny(format!(
                "Not allowed: to {reason} needs the user's consent, and nobody is there to be asked. \
                 (With --yes everything is allowed.)"
            ));
        }
        let mut rules: Vec<Rule> = Vec::new();
        for access in open {
            let more = self.remembered_for(tool, access);
            if more.is_empty() {
                // An "always" that would not cover the whole call would only be asked for again.
                rules.clear();
                break;
            }
            rules.extend(more);
        }
        Decision::Ask(Question { reason, rules })
    }

    fn is_allowed(&self, tool: &str, access: &Access, strict: bool) -> bool {
        if let Access::Read(path) = access
            && !strict
            && (path.starts_with(&self.cwd) || self.readable.iter().any(|folder| path.starts_with(folder)))
        {
            return true;
        }
        self.rules.iter().filter(|rule| rule.tool == tool).any(|rule| match (&rule.scope, access) {
            (Scope::Path(prefix), Access::Read(path)) => path.starts_with(prefix),
            (Scope::Path(prefix), Access::Write(path)) => {
                path.strip_prefix(prefix).is_ok_and(|rest| !is_guarded(rest)) && !self.is_setting(path)
            }
            (Scope::Words(words), Access::Run(command)) => command::begins_with(command, words),
            (Scope::Command(allowed), Access::Run(command)) => allowed == command,
            (Scope::Unknown, Access::Unknown) => true,
            _ => false,
        })
    }

    fn is_setting(&self, path: &Path) -> bool {
        self.settings.as_ref().is_some_and(|settings| path.starts_with(settings))
    }

    fn reason(&self, tool: &str, access: &Access) -> String {
        let place = |path: &Path| match path.strip_prefix(&self.cwd) {
            Ok(rest) if rest.as_os_str().is_empty() => self.cwd.display().to_string(),
            Ok(rest) => rest.display().to_string(),
            Err(_) => format!("{}, outside of the working directory", path.display()),
        };
        match access {
            Access::Read(path) => format!("read {}", place(path)),
            Access::Write(path) => format!("write {}", place(path)),
            Access::Run(command) => format!("run `{command}`"),
            Access::Unknown => format!("use {tool}"),
        }
    }

    /// What an "always" means for a call: the tools of its kind, in the project as a whole if it stays
    /// inside, in the folder it reads, for the file it writes.
    fn remembered_for(&self, tool: &str, access: &Access) -> Vec<Rule> {
        let of = |kind: &[&str], path: PathBuf| {
            let tools = if kind.contains(&tool) { kind.to_vec() } else { vec![tool] };
            let rule = |tool: &str| Rule { tool: tool.to_owned(), scope: Scope::Path(path.clone()) };
            tools.into_iter().map(rule).collect()
        };
        match access {
            Access::Read(path) if path.starts_with(&self.cwd) => of(&READING, self.cwd.clone()),
            Access::Read(path) if path.is_dir() => of(&READING, path.clone()),
            Access::Read(path) => {
                // Never more than the file where its folder is the root of everything.
                let folder = path.parent().filter(|folder| folder.parent().is_some());
                of(&READING, folder.unwrap_or(path).to_owned())
            }
            Access::Write(path) if self.is_setting(path) => Vec::new(),
            Access::Write(path) => {
                let inside = path.strip_prefix(&self.cwd).is_ok_and(|rest| !is_guarded(rest));
                of(&WRITING, if inside { self.cwd.clone() } else { path.clone() })
            }
            Access::Run(command) => {
                let scope = match command::words_to_remember(command) {
                    Some(words) => Scope::Words(words),
                    None => Scope::Command(command.clone()),
                };
                vec![Rule { tool: tool.to_owned(), scope }]
            }
            Access::Unknown => vec![Rule { tool: tool.to_owned(), scope: Scope::Unknown }],
        }
    }
}

/// Whether a path below a folder leads into what is guarded. Where upper and lower case are the same
/// to the file system, they are here.
fn is_guarded(path: &Path) -> bool {
    path.components().any(|part| {
        let part = part.as_os_str().to_string_lossy();
        GUARDED.iter().any(|guarded| part.eq_ignore_ascii_case(guarded))
    })
}

#[cfg(test)]
mod tests;

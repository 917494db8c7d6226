//! What the user allowed extensions: projects whose extensions may run, and what one of them may do. It stands in
//! one file of the user's, to which lines are added at the end: what a person wrote there stays.

use std::path::{Path, PathBuf};

use ramal_agent::permission::append_lines;
use ramal_extension::{Identity, Wish};
use serde::Deserialize;

use crate::catalog;
use crate::settings::read_file;

/// The file, in the folder of settings.
const NAME: &str = "extensions.toml";

/// What an extension can be allowed, as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Right {
    /// Run programs.
    Run,
    /// Read files outside of the session's directory.
    Read,
    /// Write them.
    Write,
    /// Speak over the network.
    Network,
}

impl Right {
    /// What a wish needs.
    pub(crate) fn of(wish: &Wish) -> Right {
        match wish {
            Wish::Run(_) => Right::Run,
            Wish::Read(_) => Right::Read,
            Wish::Write(_) => Right::Write,
            Wish::Network(_) => Right::Network,
        }
    }

    /// The name in the file.
    fn name(self) -> &'static str {
        match self {
            Right::Run => "run",
            Right::Read => "read",
            Right::Write => "write",
            Right::Network => "network",
        }
    }

    /// What is allowed with it, behind "to".
    pub(crate) fn says(self) -> &'static str {
        match self {
            Right::Run => "run programs",
            Right::Read => "read files outside of the project",
            Right::Write => "write files outside of the project",
            Right::Network => "speak to other machines",
        }
    }
}

#[derive(Default, Deserialize)]
struct Contents {
    #[serde(default)]
    trust: Vec<Trusted>,
    #[serde(default)]
    allow: Vec<Allowed>,
}

#[derive(Deserialize)]
struct Trusted {
    project: PathBuf,
    /// The last line about a project counts.
    #[serde(default = "yes")]
    trusted: bool,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
struct Allowed {
    extension: PathBuf,
    hash: String,
    to: Right,
}

/// The file.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    path: Option<PathBuf>,
}

impl Store {
    /// The user's; without one where the environment names no place for it.
    pub(crate) fn from_environment() -> Store {
        Store { path: catalog::settings_folder().map(|folder| folder.join(NAME)) }
    }

    /// The one in a file.
    #[cfg(test)]
    pub(super) fn in_file(path: PathBuf) -> Store {
        Store { path: Some(path) }
    }

    /// What stands in it.
    ///
    /// # Errors
    /// If it cannot be read, or is no such file: then nothing in it counts, and nothing is added to it.
    fn read(&self) -> Result<Contents, String> {
        let Some(path) = &self.path else { return Ok(Contents::default()) };
        let text = read_file(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
        toml::from_str(&text.unwrap_or_default()).map_err(|error| {
            let why = error.message().replace('\n', " ");
            format!("{} is not what it should be: {why}; mend it or remove it", path.display())
        })
    }

    /// Whether the extensions of a project may run; none if nobody has said.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn trusts(&self, project: &Path) -> Result<Option<bool>, String> {
        let project = real(project);
        let contents = self.read()?;
        Ok(contents.trust.iter().rev().find(|line| line.project == project).map(|line| line.trusted))
    }

    /// Remembers whether they may.
    ///
    /// # Errors
    /// If that cannot be written.
    pub(crate) fn trust(&self, project: &Path, trusted: bool) -> Result<(), String> {
        let project = toml::Value::from(text(&real(project))?);
        self.add(&format!("[[trust]]\nproject = {project}\ntrusted = {trusted}\n"))
    }

    /// Whether an extension, as it is, was allowed something.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn allows(&self, extension: &Identity, right: Right) -> Result<bool, String> {
        let is_it = |line: &Allowed| {
            line.extension == extension.path && line.hash == extension.hash && line.to == right
        };
        Ok(self.read()?.allow.iter().any(is_it))
    }

    /// Remembers that it was.
    ///
    /// # Errors
    /// If that cannot be written.
    pub(crate) fn allow(&self, extension: &Identity, right: Right) -> Result<(), String> {
        let (path, hash) = (toml::Value::from(text(&extension.path)?), toml::Value::from(&*extension.hash));
        self.add(&format!("[[allow]]\nextension = {path}\nhash = {hash}\nto = \"{}\"\n", right.name()))
    }

    fn add(&self, lines: &str) -> Result<(), String> {
        // What a person broke is not made longer.
        self.read()?;
        let path =
            self.path.as_ref().ok_or("there is no folder for settings, so that nothing is remembered")?;
        append_lines(path, &format!("\n{lines}"))
            .map_err(|error| format!("{} cannot be written: {error}", path.display()))
    }
}

/// A project by its one name.
fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn text(path: &Path) -> Result<&str, String> {
    path.to_str()
        .ok_or_else(|| format!("{} is not UTF-8, so that nothing can be remembered about it", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_allowed_holds_for_just_that() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store { path: Some(folder.path().join("deep/extensions.toml")) };
        let extension = |hash: &str| Identity { path: "/x/a.ts".into(), name: "a".into(), hash: hash.into() };
        assert_eq!(store.trusts(folder.path()), Ok(None));
        assert_eq!(store.allows(&extension("1"), Right::Run), Ok(false));
        store.trust(folder.path(), true).unwrap();
        store.allow(&extension("1"), Right::Run).unwrap();
        assert_eq!(store.trusts(folder.path()), Ok(Some(true)));
        assert_eq!(store.allows(&extension("1"), Right::Run), Ok(true));
        assert_eq!(store.allows(&extension("1"), Right::Write), Ok(false));
        assert_eq!(store.allows(&extension("2"), Right::Run), Ok(false));
        store.trust(folder.path(), false).unwrap();
        assert_eq!(store.trusts(folder.path()), Ok(Some(false)));
    }

    #[test]
    fn a_file_that_is_broken_allows_nothing_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("extensions.toml");
        #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
        std::fs::write(&path, "[[trust]]\nproject = \"/p\"\nmine").unwrap();
        let store = Store { path: Some(path.clone()) };
        assert!(store.trusts(Path::new("/p")).unwrap_err().contains("mend it"));
        assert!(store.trust(Path::new("/p"), true).is_err());
        assert!(std::fs::read_to_string(path).unwrap().ends_with("mine"));
    }
}

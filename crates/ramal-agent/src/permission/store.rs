//! The rules of all projects in one file of the user's.
//!
//! The file is TOML, a table for each rule, so that a rule is remembered by adding lines at its end
//! and what a person wrote there stays.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Rule, Scope};

/// Bytes of a file of rules that are read.
const LONGEST: u64 = 4 << 20;

/// Where the rules of all projects stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    path: PathBuf,
}

/// Rules could not be read or remembered.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no file for them.
    #[error("there is no folder for settings, so that nothing is remembered for the project")]
    NoPlace,
    /// The file could not be read or written.
    #[error("the permissions in {path} could not be read or written")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not what it should be. Nothing is added to it.
    #[error("{path}, line {line}: {message}; mend it or remove it")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, the first being 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A path that is not UTF-8 cannot be written down.
    #[error("{path} is not UTF-8, so that nothing can be remembered about it")]
    NotText {
        /// The path.
        path: PathBuf,
    },
}

#[derive(Deserialize)]
struct Contents {
    #[serde(default)]
    allow: Vec<Line>,
}

/// A rule as it stands in the file. Exactly one of those behind the tool is there.
#[derive(Deserialize)]
struct Line {
    project: PathBuf,
    tool: String,
    path: Option<PathBuf>,
    words: Option<Vec<String>>,
    command: Option<String>,
    /// True where the tool alone knows what it does.
    unknown: Option<bool>,
}

impl Line {
    fn rule(self) -> Option<Rule> {
        let scope = match (self.path, self.words, self.command, self.unknown) {
            // A relative path would mean something else in each directory.
            (Some(path), None, None, None) if path.is_absolute() => Scope::Path(path),
            (None, Some(words), None, None) if !words.is_empty() => Scope::Words(words),
            (None, None, Some(command), None) => Scope::Command(command),
            (None, None, None, Some(true)) => Scope::Unknown,
            _ => return None,
        };
        Some(Rule { tool: self.tool, scope })
    }
}

impl Store {
    /// The file at `path`, which need not be there yet.
    pub fn at(path: impl Into<PathBuf>) -> Store {
        Store { path: path.into() }
    }

    /// The file in the user's folder for settings (contract, section 13); none where the environment
    /// names no such folder.
    pub fn from_environment() -> Option<Store> {
        let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let config = config.or_else(|| Some(std::env::home_dir()?.join(".config")));
        config
            .filter(|path| path.is_absolute())
            .map(|config| Store::at(config.join("ramal/permissions.toml")))
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The rules of a project. Those that do not make sense are passed over.
    pub(super) fn load(&self, project: &Path) -> Result<Vec<Rule>, StoreError> {
        let mut text = String::new();
        match File::open(&self.path).and_then(|file| file.take(LONGEST).read_to_string(&mut text)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read.map_err(|source| self.io(source))?,
        };
        let contents = self.parse(&text)?;
        let of_project = contents.allow.into_iter().filter(|line| line.project == project);
        Ok(of_project.filter_map(Line::rule).collect())
    }

    fn parse(&self, text: &str) -> Result<Contents, StoreError> {
        toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = text.bytes().take(at).filter(|&byte| byte == b'\n').count() + 1;
            StoreError::Malformed { path: self.path.clone(), line, message: error.message().to_owned() }
        })
    }

    /// Adds rules of a project at the end of the file.
    pub(super) fn add(&self, project: &Path, rules: &[Rule]) -> Result<(), StoreError> {
        let known = self.load(project)?;
        let mut lines = String::new();
        for rule in rules.iter().filter(|rule| !known.contains(rule)) {
            let (key, value) = match &rule.scope {
                Scope::Path(path) => ("path", toml::Value::from(text(path)?)),
                Scope::Words(words) => ("words", toml::Value::from(words.clone())),
                Scope::Command(command) => ("command", toml::Value::from(command.as_str())),
                Scope::Unknown => ("unknown", toml::Value::from(true)),
            };
            let (project, tool) = (toml::Value::from(text(project)?), toml::Value::from(rule.tool.as_str()));
            lines += &format!("\n[[allow]]\nproject = {project}\ntool = {tool}\n{key} = {value}\n");
        }
        if lines.is_empty() {
            Ok(())
        } else {
            append_lines(&self.path, &lines).map_err(|source| self.io(source))
        }
    }

    fn io(&self, source: io::Error) -> StoreError {
        StoreError::Io { path: self.path.clone(), source }
    }
}

/// Adds lines at the end of a file of the user's that only they can read, and forces it to disk. The file and its
/// folder are made if they are not there; what stands there stays as it is, also where its last line has no end.
///
/// # Errors
/// If it cannot be written.
pub fn append_lines(path: &Path, lines: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
    }
    let mut options = File::options();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    let mut last = [b'\n'];
    if file.seek(SeekFrom::End(-1)).is_ok() {
        file.read_exact(&mut last)?;
    }
    // A person's last line may have no end.
    let start = if last == *b"\n" { "" } else { "\n" };
    file.write_all(format!("{start}{lines}").as_bytes())?;
    file.sync_all()
}

fn text(path: &Path) -> Result<&str, StoreError> {
    path.to_str().ok_or_else(|| StoreError::NotText { path: path.to_owned() })
}

//! Where keys come from: as they stand, from variables of the environment, from a command.

use std::collections::HashMap;
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError, mpsc};
use std::time::{Duration, Instant};

use crate::request::Secret;

/// How long a command for a key may take: long enough to unlock something by hand.
const COMMAND_TIME: Duration = Duration::from_secs(30);

/// Bytes that a key may have.
const LONGEST: u64 = 64 * 1024;

/// Where a file says that a key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// Here.
    Literal(Secret),
    /// In the first of these variables that is set.
    Variables(Vec<String>),
    /// What this command prints. The command is as secret as the key: it may be `echo` and the key.
    Command(Secret),
}

/// Where a provider's key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// None is needed.
    NotNeeded,
    /// Here.
    Here(Secret),
    /// None of these variables is set.
    Missing(Vec<String>),
    /// What this command prints. The command is as secret as the key: it may be `echo` and the key.
    Command(Secret),
}

impl Told {
    /// Looks it up; variables that are empty count as not set. Commands are not run.
    pub(super) fn look_up(self, variables: &dyn Fn(&str) -> Option<String>) -> KeySource {
        match self {
            Told::Literal(key) => KeySource::Here(key),
            Told::Command(command) => KeySource::Command(command),
            Told::Variables(names) => {
                let set = |name: &String| variables(name).filter(|value| !value.trim().is_empty());
                match names.iter().find_map(set) {
                    Some(key) => KeySource::Here(Secret::new(key.trim())),
                    None => KeySource::Missing(names),
                }
            }
        }
    }
}

impl KeySource {
    /// Why there is no `what`, and what to do; none if there is one, or none is needed.
    pub(super) fn missing(&self, what: &str) -> Option<String> {
        match self {
            KeySource::Missing(names) => Some(format!("no {what}: set {}", names.join(" or "))),
            _ => None,
        }
    }

    /// The key, or whatever `what` is, if one is needed. A command is run the first time it is asked,
    /// which may take up to half a minute; what it printed is kept as long as the program runs.
    ///
    /// # Errors
    /// Why there is none. Nothing of what a command printed.
    pub(super) fn value(&self, what: &str) -> Result<Option<Secret>, String> {
        match self {
            KeySource::NotNeeded => Ok(None),
            KeySource::Here(key) => Ok(Some(key.clone())),
            KeySource::Missing(_) => Err(self.missing(what).unwrap_or_default()),
            KeySource::Command(command) => {
                let key = cached(command.reveal());
                key.map(Some).map_err(|why| format!("the command for its {what} {why}"))
            }
        }
    }
}

fn cached(command: &str) -> Result<Secret, String> {
    static KEYS: OnceLock<Mutex<HashMap<String, Secret>>> = OnceLock::new();
    let keys = KEYS.get_or_init(Mutex::default);
    // Held while the command runs: two that ask at once are asked for one password.
    let mut keys = keys.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(key) = keys.get(command) {
        return Ok(key.clone());
    }
    let key = key_of_command(command, COMMAND_TIME)?;
    keys.insert(command.to_owned(), key.clone());
    Ok(key)
}

/// Runs a command with `sh` and takes what it prints, without the white space around it, as a key.
///
/// # Errors
/// What it did instead, in words that hold nothing of what it printed.
pub fn key_of_command(command: &str, limit: Duration) -> Result<Secret, String> {
    let mut child = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("cannot be run: {error}"))?;
    let (tell, told) = mpsc::channel();
    if let Some(out) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            let read = out.take(LONGEST).read_to_end(&mut text);
            // Nobody listens if it took too long.
            let _ = tell.send(read.map(|_| text));
        });
    }
    let began = Instant::now();
    let read = told.recv_timeout(limit);
    // A command may have closed its output and still go on.
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) if read.is_ok() => break status,
            Err(error) => return Err(format!("was lost: {error}")),
            Ok(_) if began.elapsed() < limit => std::thread::sleep(Duration::from_millis(5)),
            Ok(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("did not end within {} s", limit.as_secs_f64()));
            }
        }
    };
    let read = read.map_err(|_| "told nothing".to_owned())?;
    if !status.success() {
        return Err(format!("failed: {status}"));
    }
    let text = read.map_err(|error| format!("cannot be read: {error}"))?;
    match String::from_utf8(text).ok().as_deref().map(str::trim) {
        None => Err("printed something that is not text".into()),
        Some("") => Err("printed nothing".into()),
        Some(key) => Ok(Secret::new(key)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_command_gives_a_key_or_says_why_not() {
        let run = |command: &str| key_of_command(command, Duration::from_secs(20));
        assert_eq!(run("printf ' k\\n'").unwrap().reveal(), "k");
        for (command, want) in
            [("echo secret; exit 3", "failed"), ("true", "nothing"), ("printf '\\377'", "not text")]
        {
            let error = run(command).unwrap_err();
            assert!(error.contains(want) && !error.contains("secret"), "{error}");
        }
        for command in ["exec sleep 60", "echo k; exec >&-; exec sleep 60"] {
            let error = key_of_command(command, Duration::from_millis(50)).unwrap_err();
            assert!(error.contains("did not end"), "{error}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_command_is_run_once() {
        let folder = tempfile::tempdir().unwrap();
        let command = format!("cd '{}' && echo x >> runs && wc -l < runs", folder.path().display());
        let source = KeySource::Command(Secret::new(command));
        let first = source.value("key").unwrap().unwrap();
        assert_eq!((first.reveal(), source.value("key").unwrap()), ("1", Some(first.clone())));
    }
}

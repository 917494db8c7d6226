//! A home and a directory to work in, made for one test, and the program run in them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A home and a working directory.
pub(crate) struct World {
    root: TempDir,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl World {
    pub(crate) fn new() -> World {
        let world = World { root: tempfile::tempdir().unwrap() };
        for folder in ["home", "work", "other"] {
            fs::create_dir(world.path(folder)).unwrap();
        }
        world
    }

    /// A world with the sample session forked into its working directory.
    pub(crate) fn with_sample() -> World {
        let world = World::new();
        world.run(["fork", &sample("date-parser.jsonl")]).done();
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.root.path()).unwrap().join(name)
    }

    /// Writes a file, with the folders above it.
    #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// The program in this world, with nothing of the world outside.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ramal"));
        command
            .env_clear()
            .env("HOME", self.path("home"))
            .env("TZ", "UTC")
            .current_dir(self.path("work"))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Run {
        Run::of(self.command().args(args).output().unwrap())
    }

    /// Runs a command that prints the path of a new session.
    pub(crate) fn new_session<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> String {
        let run = self.run(args).done();
        let path = run.out.trim_end();
        assert!(Path::new(path).is_file(), "{path}");
        path.to_owned()
    }

    /// Runs a command with `--json` that prints one object.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let run = self.run(args.iter().chain(&["--json"])).done();
        serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.out))
    }
}

impl Run {
    pub(crate) fn of(output: Output) -> Run {
        Run {
            status: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub(crate) fn done(self) -> Run {
        assert_eq!(self.status, 0, "{self:?}");
        self
    }

    /// It ended with `status`, printed nothing, and said each of `words` on standard error.
    #[track_caller]
    pub(crate) fn failed(self, status: i32, words: &[&str]) -> Run {
        assert_eq!((self.status, &*self.out), (status, ""), "{self:?}");
        for word in words {
            assert!(self.err.contains(word), "{word:?} in {}", self.err);
        }
        self
    }
}

/// A sample session of the repository.
pub(crate) fn sample(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    fs::canonicalize(path).unwrap().to_string_lossy().into_owned()
}

/// A session of version 3 with the given entries, one JSON object without envelope for each: entry
/// `n` has the id `e00n` and hangs on the one before it unless it says otherwise.
pub(crate) fn session(id: &str, cwd: &Path, entries: &[Value]) -> String {
    let header = serde_json::json!({
        "type": "session", "version": 3, "id": id, "timestamp": "2026-01-01T00:00:00.000Z", "cwd": cwd,
    });
    let mut text = format!("{header}\n");
    for (n, entry) in entries.iter().enumerate() {
        let mut line = serde_json::json!({
            "type": "message", "id": format!("e{n:03}"),
            "parentId": n.checked_sub(1).map(|n| format!("e{n:03}")),
            "timestamp": format!("2026-01-01T00:{:02}:{:02}.000Z", n / 60, n % 60),
        });
        line.as_object_mut().unwrap().extend(entry.as_object().unwrap().clone());
        text += &format!("{line}\n");
    }
    text
}

pub(crate) fn user(text: &str) -> Value {
    serde_json::json!({ "message": { "role": "user", "content": text } })
}

pub(crate) fn assistant(text: &str) -> Value {
    serde_json::json!({ "message": { "role": "assistant", "content": [{ "type": "text", "text": text }] } })
}

/// Entries of a file, without its header.
pub(crate) fn entries(path: impl AsRef<Path>) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

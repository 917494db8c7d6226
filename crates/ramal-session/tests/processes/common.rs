//! Session files to begin with, and what must hold of every file in the end.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ramal_session::SessionManager;
use serde_json::Value;
use tempfile::TempDir;

/// A folder for one test, and a path in it at which nothing stands yet.
pub(crate) fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    (folder, path)
}

/// Puts a file there as a program would that knows nothing of the library.
#[allow(clippy::disallowed_methods, reason = "the files of tests are nobody's")]
pub(crate) fn put(path: &Path, content: impl AsRef<[u8]>) {
    std::fs::write(path, content).unwrap();
}

/// A user's message with a text that begins with `text` and has at least `size` bytes.
pub(crate) fn message(text: &str, size: usize) -> String {
    let padding = ".".repeat(size.saturating_sub(text.len()));
    format!("{{\"role\":\"user\",\"content\":\"{text}{padding}\"}}")
}

/// The line of a message, newline included. `parent` is JSON.
pub(crate) fn plain_entry(id: &str, parent: &str, text: &str) -> String {
    format!(
        "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2026-01-02T03:04:05.678Z\",\"message\":{}}}\n",
        message(text, 0)
    )
}

const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"00000000-0000-7000-8000-000000000001\",\"timestamp\":\"2026-01-02T03:04:05.678Z\",\"cwd\":\"/work\"}\n";

/// A session of version 3 with a root `a0` and its children `a1` … `a4`.
pub(crate) fn small_session() -> String {
    let mut text = HEADER.to_owned() + &plain_entry("a0", "null", "root");
    for number in 1..5 {
        text += &plain_entry(&format!("a{number}"), "\"a0\"", &format!("child {number}"));
    }
    text
}

/// A session of version 1 with so many messages.
pub(crate) fn old_session(messages: usize) -> String {
    let mut text = HEADER.replace("\"version\":3,", "");
    for number in 0..messages {
        text += &format!(
            "{{\"type\":\"message\",\"timestamp\":\"2026-01-02T03:04:05.678Z\",\"message\":{}}}\n",
            message(&format!("old {number}"), 0)
        );
    }
    text
}

/// What stands in a folder: its names, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The backups in a folder.
pub(crate) fn backups(folder: &Path) -> Vec<PathBuf> {
    names(folder).iter().filter(|name| name.ends_with(".bak")).map(|name| folder.join(name)).collect()
}

/// Every line that parses, by its id; how many there are with each, and the lines that do not.
pub(crate) struct Lines {
    pub(crate) by_id: HashMap<String, Vec<Value>>,
    pub(crate) damaged: Vec<String>,
}

impl Lines {
    /// Reads the file with nothing of the library.
    pub(crate) fn of(path: &Path) -> Lines {
        let bytes = std::fs::read(path).unwrap();
        let mut lines = Lines { by_id: HashMap::new(), damaged: Vec::new() };
        for line in bytes.split(|&b| b == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice::<Value>(line) {
                Ok(value) => {
                    let id = value["id"].as_str().unwrap_or_default().to_owned();
                    lines.by_id.entry(id).or_default().push(value);
                }
                Err(_) => lines.damaged.push(String::from_utf8_lossy(line).into_owned()),
            }
        }
        lines
    }

    #[track_caller]
    pub(crate) fn has_once(&self, ids: &[String]) {
        for id in ids {
            assert_eq!(self.by_id.get(id).map(Vec::len), Some(1), "entry {id}");
        }
    }
}

/// The file holds each of these entries exactly once, whole, and nothing in it is damaged.
#[track_caller]
pub(crate) fn holds_whole(path: &Path, ids: &[String]) {
    let lines = Lines::of(path);
    assert!(lines.damaged.is_empty(), "damaged: {:?}", lines.damaged);
    lines.has_once(ids);
    let session = SessionManager::open(path, None).unwrap();
    assert_eq!(session.damaged_lines(), 0);
    for id in ids {
        assert!(session.get_entry(id).is_some(), "entry {id} is not in the tree");
    }
}

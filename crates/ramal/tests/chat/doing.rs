//! What scenarios do again and again.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use base64::Engine as _;
use ramal_testing::program::TOO_LONG;
use ramal_testing::terminal::Terminal;

use super::support::Scratch;
use super::world::{World, leave, sessions_below};

/// Writes something and sends it.
pub(crate) fn say(terminal: &Terminal, text: &str) {
    terminal.text(text);
    terminal.key("enter");
}

/// Waits until the screen of the conversation is there and nothing runs.
#[track_caller]
pub(crate) fn wait_until_idle(terminal: &Terminal) {
    terminal.wait_for(|screen| !screen.is_alternate() && !screen.says("ends it"));
}

/// Waits until something is so that no screen tells.
#[track_caller]
pub(crate) fn eventually<T>(what: &str, is: impl Fn() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(value) = is() {
            return value;
        }
        assert!(begun.elapsed() < TOO_LONG, "it never came: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Writes the user's settings.
pub(crate) fn settings(scratch: &Scratch, text: &str) {
    let folder = scratch.path("CONFIG/ramal");
    std::fs::create_dir_all(&folder).unwrap();
    write(&folder.join("settings.toml"), text);
}

/// Lets the sample session know no model but ours, on all its branches.
pub(crate) fn with_our_model(world: &World) {
    let ours = |line: &str| {
        let mut entry: serde_json::Value = serde_json::from_str(line).unwrap();
        if entry["type"] == "model_change" {
            entry["model"] = "replay/answers.jsonl".into();
            entry["provider"] = "replay".into();
            entry["modelId"] = "answers.jsonl".into();
        }
        if entry["message"]["role"] == "assistant" {
            entry["message"]["provider"] = "replay".into();
            entry["message"]["model"] = "answers.jsonl".into();
        }
        entry.to_string() + "\n"
    };
    write(&world.scratch.path("session.jsonl"), &world.log().lines().map(ours).collect::<String>());
}

/// Writes a file of the test's.
#[allow(clippy::disallowed_methods, reason = "a file that the test makes up")]
pub(crate) fn write(path: &std::path::Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

/// What the program has put into the clipboard last.
pub(crate) fn copied(terminal: &Terminal) -> Option<String> {
    let written = terminal.recording().output();
    let written = String::from_utf8_lossy(&written);
    let (_, last) = written.rsplit_once("\x1b]52;")?;
    let (_, coded) = last.split_once(';')?;
    let end = coded.find(['\x07', '\x1b'])?;
    let bytes = base64::engine::general_purpose::STANDARD.decode(&coded[..end]).unwrap();
    Some(String::from_utf8(bytes).unwrap())
}

/// The sessions that the program has made: beside the one it was started with, or in the usual folder.
pub(crate) fn made(world: &World) -> Vec<PathBuf> {
    let beside = std::fs::read_dir(world.scratch.path("")).unwrap().map(|entry| entry.unwrap().path());
    let is_session = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default();
        path.extension().is_some_and(|end| end == "jsonl")
            && name != "session.jsonl"
            && std::fs::read_to_string(path).unwrap().starts_with("{\"type\":\"session\"")
    };
    let mut files: Vec<_> =
        beside.filter(is_session).chain(sessions_below(&world.scratch.path(""))).collect();
    files.sort();
    files
}

/// Leaves with Ctrl+D from an editor that is not empty.
pub(crate) fn empty_and_leave(terminal: &mut Terminal) {
    terminal.key("ctrl+c");
    leave(terminal);
}

//! `ramal rpc` for tests: the real program in a folder of its own, its pipes, its log.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

pub(crate) use ramal_testing::log::{string, text_of};
use ramal_testing::program;
pub(crate) use ramal_testing::program::{Program, TOO_LONG};
use serde_json::{Value, json};

/// An answer that comes at once.
pub(crate) fn says(text: &str) -> Value {
    json!({"events": [{"text": text}]})
}

/// One that has begun and takes its time.
pub(crate) fn dawdles(text: &str) -> Value {
    json!({"events": [{"text": text}, {"after": 600_000, "text": " And so on."}]})
}

pub(crate) fn calls(name: &str, arguments: Value) -> Value {
    json!({"events": [{"toolCall": {"id": "t1", "name": name, "arguments": arguments}}]})
}

/// A folder with recorded answers in it.
pub(crate) struct Scratch(program::Scratch);

impl Scratch {
    pub(crate) fn new(answers: &[Value]) -> Scratch {
        let scratch = Scratch(program::Scratch::new(env!("CARGO_BIN_EXE_ramal")));
        scratch.record(answers);
        scratch
    }

    /// Puts other answers in place of those that were recorded.
    pub(crate) fn record(&self, answers: &[Value]) {
        let lines: Vec<String> = answers.iter().map(Value::to_string).collect();
        self.0.write("answers.jsonl", lines.join("\n"));
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    pub(crate) fn command(&self) -> Command {
        self.command_for("--session=session.jsonl")
    }

    /// The program with an option that says which session.
    pub(crate) fn command_for(&self, which: &str) -> Command {
        let mut command = self.0.command();
        command.arg(which);
        command
    }

    /// The program without arguments.
    pub(crate) fn bare(&self) -> Command {
        self.0.bare()
    }

    pub(crate) fn start(&self) -> Program {
        Program::start(self.command().args(["--model", "replay/answers.jsonl"]))
    }

    /// The process that a command has said it is.
    #[track_caller]
    pub(crate) fn pid(&self) -> i32 {
        let begun = std::time::Instant::now();
        loop {
            if let Ok(pid) = fs::read_to_string(self.path("pid")).unwrap_or_default().trim().parse() {
                return pid;
            }
            assert!(begun.elapsed() < TOO_LONG, "the command does not begin");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The messages of the log, each as its role and its text.
    pub(crate) fn said(&self) -> Vec<(String, String)> {
        let text = fs::read_to_string(self.path("session.jsonl")).unwrap();
        assert!(text.ends_with('\n'), "the last line is whole");
        let entries = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let messages = entries.filter(|entry| entry["type"] == "message");
        messages.map(|entry| (string(&entry["message"]["role"]), text_of(&entry["message"]))).collect()
    }
}

pub(crate) fn pairs(said: &[(String, String)]) -> Vec<(&str, &str)> {
    said.iter().map(|(role, text)| (&**role, &**text)).collect()
}

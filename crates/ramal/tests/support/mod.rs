//! `ramal rpc` for tests: the real program in a folder of its own, its pipes, its log.
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// Nothing takes so long unless it hangs.
pub(crate) const TOO_LONG: Duration = Duration::from_secs(60);

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

pub(crate) struct Scratch {
    pub(crate) folder: tempfile::TempDir,
}

impl Scratch {
    pub(crate) fn new(answers: &[Value]) -> Scratch {
        let scratch = Scratch { folder: tempfile::tempdir().unwrap() };
        scratch.record(answers);
        scratch
    }

    /// Puts other answers in place of those that were recorded.
    #[allow(clippy::disallowed_methods, reason = "the recording is made up here")]
    pub(crate) fn record(&self, answers: &[Value]) {
        let lines: Vec<String> = answers.iter().map(Value::to_string).collect();
        fs::write(self.path("answers.jsonl"), lines.join("\n")).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn command(&self) -> Command {
        self.command_for("--session=session.jsonl")
    }

    /// The program with an option that says which session.
    pub(crate) fn command_for(&self, which: &str) -> Command {
        let mut command = self.bare();
        command.args(["rpc", which]);
        command
    }

    /// The program without arguments.
    pub(crate) fn bare(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ramal"));
        command.current_dir(self.folder.path());
        command
            .env("HOME", self.folder.path())
            .env_remove("RAMAL_CONFIRM_TIMEOUT_MS")
            .env_remove("RAMAL_HOOK_TIMEOUT_MS");
        for name in ["STATE", "DATA", "CONFIG", "CACHE"] {
            command.env(format!("XDG_{name}_HOME"), self.path(name));
        }
        for key in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"] {
            command.env_remove(key);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command
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

pub(crate) fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

pub(crate) fn text_of(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        content => content.as_array().into_iter().flatten().map(|block| string(&block["text"])).collect(),
    }
}

pub(crate) struct Program {
    pub(crate) child: Child,
    pub(crate) input: Option<ChildStdin>,
    lines: Receiver<Value>,
    /// Lines that were passed over.
    pub(crate) passed: Vec<Value>,
}

impl Program {
    pub(crate) fn start(command: &mut Command) -> Program {
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let output = child.stdout.take().map(BufReader::new);
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.into_iter().flat_map(BufRead::lines) {
                let Ok(line) = line else { break };
                let whole = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                if sender.send(whole).is_err() {
                    break;
                }
            }
        });
        Program { child, input, lines, passed: Vec::new() }
    }

    /// All in one write.
    pub(crate) fn send(&mut self, requests: &[Value]) {
        let text: String = requests.iter().map(|request| format!("{request}\n")).collect();
        self.input.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// The next line of that kind; what comes before is passed over.
    #[track_caller]
    pub(crate) fn wait(&mut self, is: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.lines.recv_timeout(TOO_LONG).unwrap_or_else(|error| {
                panic!("{error}, after {:#?}", self.passed);
            });
            if is(&line) {
                return line;
            }
            self.passed.push(line);
        }
    }

    #[track_caller]
    pub(crate) fn event(&mut self, name: &str) -> Value {
        self.wait(|line| line["type"] == name)
    }

    #[track_caller]
    pub(crate) fn answer(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        self.wait(|line| line["type"] == "response" && line["id"] == id)
    }

    /// Asks, and answers the data.
    #[track_caller]
    pub(crate) fn ok(&mut self, request: Value) -> Value {
        let command = string(&request["type"]);
        self.send(&[request]);
        let answer = self.wait(|line| line["type"] == "response" && line["command"] == *command);
        assert_eq!(answer["success"], true, "{answer}");
        answer["data"].clone()
    }

    #[track_caller]
    pub(crate) fn refused(&mut self, request: Value) -> String {
        let command = string(&request["type"]);
        self.send(&[request]);
        let answer = self.wait(|line| line["type"] == "response" && line["command"] == *command);
        assert_eq!(answer["success"], false, "{answer}");
        string(&answer["error"])
    }

    /// Says something and waits until all is done.
    #[track_caller]
    pub(crate) fn say(&mut self, message: &str) {
        self.ok(json!({"type": "prompt", "message": message}));
        self.event("agent_end");
    }

    /// Says something and waits until an answer is coming.
    #[track_caller]
    pub(crate) fn begin(&mut self, message: &str) {
        self.ok(json!({"type": "prompt", "message": message}));
        self.wait(|line| line["assistantMessageEvent"]["type"] == "text_delta");
    }

    /// Ends the input and waits for the end.
    pub(crate) fn close(mut self) {
        drop(self.input.take());
        assert!(self.child.wait().unwrap().success());
    }

    /// Ends it by a signal, and waits for the end.
    #[track_caller]
    pub(crate) fn signalled(mut self, signal: i32) {
        // SAFETY: the child has not been waited for, so its number is still its own.
        unsafe { libc::kill(self.child.id() as i32, signal) };
        assert_eq!(self.child.wait().unwrap().code(), Some(128 + signal));
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn pairs(said: &[(String, String)]) -> Vec<(&str, &str)> {
    said.iter().map(|(role, text)| (&**role, &**text)).collect()
}

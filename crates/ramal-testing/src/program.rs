//! A real `ramal rpc` in a folder of its own.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::log::string;

/// Nothing takes so long unless it hangs.
pub const TOO_LONG: Duration = Duration::from_secs(60);

/// A folder in which a program finds nothing but what a test put there.
pub struct Scratch {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Scratch {
    /// An empty one, for the program at that path.
    pub fn new(program: impl Into<PathBuf>) -> Scratch {
        Scratch { folder: tempfile::tempdir().unwrap(), program: program.into() }
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, and the folders above it.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        #[expect(clippy::disallowed_methods, reason = "a file that the test makes up")]
        fs::write(path, text).unwrap();
    }

    /// `ramal rpc`, with its pipes, at home here.
    pub fn command(&self) -> Command {
        let mut command = self.bare();
        command.arg("rpc");
        command
    }

    /// The program without arguments. It knows nothing of the environment, where somebody's keys may be, but
    /// where programs are.
    pub fn bare(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(self.folder.path());
        command.env_clear().env("HOME", self.folder.path());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        for name in ["STATE", "DATA", "CONFIG", "CACHE"] {
            command.env(format!("XDG_{name}_HOME"), self.path(name));
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command
    }
}

/// A program that runs, its pipes, and what it wrote.
pub struct Program {
    /// The process.
    pub child: Child,
    /// None once it has been ended.
    pub input: Option<ChildStdin>,
    lines: Receiver<Value>,
    /// Lines that were passed over.
    pub passed: Vec<Value>,
    /// How long a line is waited for.
    pub patience: Duration,
}

impl Program {
    /// Starts it. What it writes is read from now on.
    pub fn start(command: &mut Command) -> Program {
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
        Program { child, input, lines, passed: Vec::new(), patience: TOO_LONG }
    }

    /// All in one write.
    pub fn send(&mut self, requests: &[Value]) {
        let text: String = requests.iter().map(|request| format!("{request}\n")).collect();
        self.input.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// The next line of that kind; what comes before is passed over.
    #[track_caller]
    pub fn wait(&mut self, is: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.lines.recv_timeout(self.patience).unwrap_or_else(|error| {
                panic!("{error}, after {:#?}", self.passed);
            });
            if is(&line) {
                return line;
            }
            self.passed.push(line);
        }
    }

    /// As [`Program::wait`], and what was passed over counts.
    #[track_caller]
    pub fn find(&mut self, is: impl Fn(&Value) -> bool) -> Value {
        match self.passed.iter().position(&is) {
            Some(at) => self.passed.remove(at),
            None => self.wait(is),
        }
    }

    /// The next event of that name.
    #[track_caller]
    pub fn event(&mut self, name: &str) -> Value {
        self.wait(|line| line["type"] == name)
    }

    /// The answer to the request with that id, whatever was answered before it.
    #[track_caller]
    pub fn answer(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        self.find(|line| line["type"] == "response" && line["id"] == id)
    }

    #[track_caller]
    fn ask(&mut self, request: Value) -> Value {
        let command = string(&request["type"]);
        self.send(&[request]);
        self.wait(|line| line["type"] == "response" && line["command"] == *command)
    }

    /// Asks, and answers the data.
    #[track_caller]
    pub fn ok(&mut self, request: Value) -> Value {
        let answer = self.ask(request);
        assert_eq!(answer["success"], true, "{answer}");
        answer["data"].clone()
    }

    /// Asks, and answers why it was refused.
    #[track_caller]
    pub fn refused(&mut self, request: Value) -> String {
        let answer = self.ask(request);
        assert_eq!(answer["success"], false, "{answer}");
        string(&answer["error"])
    }

    /// `get_state`.
    #[track_caller]
    pub fn state(&mut self) -> Value {
        self.ok(json!({"type": "get_state"}))
    }

    /// Says something and waits until all is done.
    #[track_caller]
    pub fn say(&mut self, message: &str) {
        self.ok(json!({"type": "prompt", "message": message}));
        self.event("agent_end");
    }

    /// Says something and waits until an answer is coming.
    #[track_caller]
    pub fn begin(&mut self, message: &str) {
        self.ok(json!({"type": "prompt", "message": message}));
        self.wait(|line| line["assistantMessageEvent"]["type"] == "text_delta");
    }

    /// Ends the input, and waits for the end. Answers all that was written until then and not waited for.
    #[track_caller]
    pub fn close(mut self) -> Vec<Value> {
        drop(self.input.take());
        assert!(self.child.wait().unwrap().success());
        let rest = std::iter::from_fn(|| self.lines.recv_timeout(TOO_LONG).ok());
        std::mem::take(&mut self.passed).into_iter().chain(rest).collect()
    }

    /// Ends it by a signal that it can be prepared for, and waits for the end.
    #[cfg(unix)]
    #[track_caller]
    pub fn signalled(mut self, signal: i32) {
        // SAFETY: the child has not been waited for, so its number is still its own.
        unsafe { libc::kill(self.child.id() as i32, signal) };
        assert_eq!(self.child.wait().unwrap().code(), Some(128 + signal));
    }

    /// Ends it as nothing can be prepared for (SIGKILL).
    pub fn kill(mut self) {
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

//! A project with a session and a model whose answers are recorded.

use std::fs;
use std::process::Command;

use ramal_testing::terminal::{Options, Terminal};
use serde_json::Value;

use super::support::Scratch;

/// What the footer says once the program is there.
const FOOTER: &str = "replay/answers.jsonl";

/// What the last answer of the sample session says.
pub(crate) const LAST_ANSWER: &str = "is read as 2027-01-01";

pub(crate) struct World {
    pub(crate) scratch: Scratch,
    has_session: bool,
}

impl World {
    /// A project without a session, and what the model answers, request by request.
    pub(crate) fn new(answers: &[Value]) -> World {
        World { scratch: Scratch::new(answers), has_session: false }
    }

    /// The same with the sample session, whose tree has forks, labels and summaries.
    #[allow(clippy::disallowed_methods, reason = "the session is a copy")]
    pub(crate) fn with_sample(answers: &[Value]) -> World {
        let world = World { has_session: true, ..World::new(answers) };
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/date-parser.jsonl");
        // A session is at home in a directory, and this is one that is there.
        let text = fs::read_to_string(sample).unwrap();
        let (header, rest) = text.split_once('\n').unwrap();
        let mut header: Value = serde_json::from_str(header).unwrap();
        header["cwd"] = Value::from(world.scratch.path("").to_string_lossy().trim_end_matches('/'));
        fs::write(world.scratch.path("session.jsonl"), format!("{header}\n{rest}")).unwrap();
        world
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.scratch.bare();
        command.args(arguments).args(["--model", FOOTER]).env("TZ", "UTC");
        if self.has_session {
            command.args(["--session", "session.jsonl"]);
        }
        command
    }

    /// The program, with the conversation on the screen.
    pub(crate) fn start(&self, options: Options) -> Terminal {
        self.start_with(&[], options)
    }

    pub(crate) fn start_with(&self, arguments: &[&str], options: Options) -> Terminal {
        let terminal = Terminal::start(self.command(arguments), options);
        terminal.wait_for_text(FOOTER);
        if self.has_session {
            terminal.wait_for_text(LAST_ANSWER);
        }
        terminal
    }

    /// What was appended to the sample session, or all of the only session that was made.
    pub(crate) fn log(&self) -> String {
        match self.has_session {
            true => fs::read_to_string(self.scratch.path("session.jsonl")).unwrap(),
            false => {
                let files = sessions_below(&self.scratch.path(""));
                assert_eq!(files.len(), 1, "{files:?}");
                fs::read_to_string(&files[0]).unwrap()
            }
        }
    }

    /// The entries of the log, header left out.
    pub(crate) fn entries(&self) -> Vec<Value> {
        self.log().lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Session files below a folder.
pub(crate) fn sessions_below(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "jsonl")
                && path.to_string_lossy().contains("sessions")
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Leaves with Ctrl+D, and sees that the terminal is clean.
pub(crate) fn leave(terminal: &mut Terminal) {
    terminal.key("ctrl+d");
    assert!(terminal.end().success());
    terminal.assert_clean();
}

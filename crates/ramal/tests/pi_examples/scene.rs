//! An example at work: the real program around it, whose dialogs are answered.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use ramal_testing::log::{string, text_of, told};
use ramal_testing::program::{Program, Scratch};
use ramal_testing::terminal::{Options, Terminal};
use serde_json::{Value, json};

use crate::report::Loaded;

/// Nothing here takes so long.
const PATIENCE: Duration = Duration::from_secs(20);

/// An answer that comes at once.
pub(crate) fn says(text: &str) -> Value {
    json!({"events": [{"text": text}]})
}

/// One that takes a while.
pub(crate) fn slowly(text: &str) -> Value {
    json!({"events": [{"text": "So"}, {"after": 700, "text": text}]})
}

/// A call of a tool.
pub(crate) fn calls(name: &str, arguments: Value) -> Value {
    json!({"events": [{"toolCall": {"id": "t1", "name": name, "arguments": arguments}}]})
}

/// Loads an example by itself.
pub(crate) fn load(file: &Path) -> Loaded {
    let scratch = Scratch::new(env!("CARGO_BIN_EXE_ramal"));
    let mut command = scratch.bare();
    command.args(["extensions", "--load", "--json", "--no-extensions", "-e"]).arg(file);
    let done = command.output().unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    let Some(row) = text.lines().next() else {
        return Loaded::No(String::from_utf8_lossy(&done.stderr).trim().to_owned());
    };
    let row: Value = serde_json::from_str(row).unwrap();
    match row["whyNot"].as_str() {
        Some(why) => Loaded::No(why.to_owned()),
        None => Loaded::Yes(row["log"].as_array().into_iter().flatten().map(string).collect()),
    }
}

/// A folder with an example that is tried out there.
pub(crate) struct Scene {
    scratch: Scratch,
    file: PathBuf,
    beside: RefCell<Vec<&'static str>>,
}

impl Scene {
    pub(crate) fn new(file: &Path) -> Scene {
        let scratch = Scratch::new(env!("CARGO_BIN_EXE_ramal"));
        let scene = Scene { scratch, file: file.to_owned(), beside: RefCell::default() };
        scene.settings("");
        scene
    }

    /// More settings than those that all need.
    pub(crate) fn settings(&self, more: &str) {
        let all = format!("autoTitle = false\n{more}[compaction]\nkeepRecentTokens = 1\n");
        self.write("CONFIG/ramal/settings.toml", &all);
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        self.scratch.write(name, text);
    }

    pub(crate) fn read(&self, name: &str) -> String {
        let path = self.path(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The answers of the model.
    pub(crate) fn answers(&self, answers: &[Value]) {
        self.scratch
            .write("answers.jsonl", answers.iter().map(|answer| format!("{answer}\n")).collect::<String>());
    }

    /// A program that the example looks for.
    pub(crate) fn program(&self, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let name = format!("bin/{name}");
        self.write(&name, script);
        fs::set_permissions(self.path(&name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// An extension of ours beside the example, to see what it does.
    pub(crate) fn beside(&self, name: &'static str, source: &str) {
        self.write(name, source);
        self.beside.borrow_mut().push(name);
    }

    /// With answers to what is said.
    pub(crate) fn answered(&self, answers: &[Value]) -> Talk {
        self.answers(answers);
        self.start(&[])
    }

    pub(crate) fn start(&self, more: &[&str]) -> Talk {
        self.start_as("replay/answers.jsonl", more)
    }

    /// With another model.
    pub(crate) fn start_as(&self, model: &str, more: &[&str]) -> Talk {
        let mut command = self.scratch.command();
        command.args(["--session=session.jsonl", "--yes", "--no-extensions", "--model", model, "-e"]);
        command.arg(&self.file);
        for name in self.beside.borrow().iter() {
            command.args(["-e", name]);
        }
        command.args(more);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.path("bin").display()));
        for (name, value) in ME {
            command.env(name, value);
        }
        let mut program = Program::start(&mut command);
        program.patience = PATIENCE;
        Talk(program)
    }

    /// The program at a terminal.
    #[track_caller]
    pub(crate) fn terminal(&self, options: Options) -> Terminal {
        let mut command = self.scratch.bare();
        command.args(["--yes", "--no-extensions", "--model", "replay/answers.jsonl", "-e"]).arg(&self.file);
        for name in self.beside.borrow().iter() {
            command.args(["-e", name]);
        }
        let terminal = Terminal::start(command, options);
        terminal.wait_for_text("replay/answers.jsonl");
        terminal
    }

    /// What the logs hold that were written, one text for each.
    pub(crate) fn sessions(&self) -> Vec<String> {
        let mut folders = vec![self.path("DATA")];
        let mut texts = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|end| end == "jsonl") {
                    texts.push(fs::read_to_string(path).unwrap());
                }
            }
        }
        texts
    }

    /// git, with an author.
    #[track_caller]
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(self.path(".")).envs(ME);
        let done = command.output().unwrap();
        assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    /// A repository with one commit, in which only `kept.txt` counts.
    pub(crate) fn repository(&self) {
        self.write(".gitignore", "/*\n!/kept.txt\n");
        self.write("kept.txt", "one\n");
        self.git(&["init", "--quiet", "--initial-branch=main"]);
        self.git(&["add", "--force", ".gitignore", "kept.txt"]);
        self.git(&["commit", "--quiet", "-m", "first"]);
    }

    /// What the log of the session says, each entry in a few words.
    pub(crate) fn told(&self) -> Vec<String> {
        self.entries().iter().map(told).collect()
    }

    pub(crate) fn entries(&self) -> Vec<Value> {
        ramal_testing::log::entries(&self.path("session.jsonl"))
    }

    /// What extensions logged.
    pub(crate) fn log(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("STATE/ramal/extensions/log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Waits for something that nobody tells of.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, is: impl Fn() -> bool) {
        let begun = Instant::now();
        while !is() {
            assert!(
                begun.elapsed() < PATIENCE,
                "it does not come about that {what}; logged: {:#?}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Nobody's settings of git count.
const ME: [(&str, &str); 6] = [
    ("GIT_AUTHOR_NAME", "tester"),
    ("GIT_AUTHOR_EMAIL", "tester@localhost"),
    ("GIT_COMMITTER_NAME", "tester"),
    ("GIT_COMMITTER_EMAIL", "tester@localhost"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
];

/// The program, talked to.
pub(crate) struct Talk(pub(crate) Program);

impl Talk {
    /// Runs a command of the example.
    #[track_caller]
    pub(crate) fn command(&mut self, text: &str) {
        self.0.ok(json!({"type": "prompt", "message": text}));
    }

    /// Says something and waits until all is done.
    #[track_caller]
    pub(crate) fn say(&mut self, text: &str) {
        self.begin(text);
        self.done();
    }

    /// Says something.
    #[track_caller]
    pub(crate) fn begin(&mut self, text: &str) {
        self.0.ok(json!({"type": "prompt", "message": text}));
    }

    /// Waits for the end of what was begun.
    #[track_caller]
    pub(crate) fn done(&mut self) {
        self.0.find(|line| line["type"] == "agent_end");
    }

    #[track_caller]
    pub(crate) fn ok(&mut self, request: Value) -> Value {
        self.0.ok(request)
    }

    /// Sends what is answered when its dialogs were.
    pub(crate) fn ask(&mut self, id: &str, mut request: Value) {
        request["id"] = json!(id);
        self.0.send(&[request]);
    }

    #[track_caller]
    pub(crate) fn answer(&mut self, id: &str) -> Value {
        let answer = self.0.answer(id);
        assert_eq!(answer["success"], true, "{answer}");
        answer["data"].clone()
    }

    /// The next thing that is asked or shown in this way, and that says this.
    #[track_caller]
    fn shown(&mut self, method: &str, says: &str) -> Value {
        let is = |line: &Value| {
            line["type"] == "extension_ui_request"
                && line["method"] == method
                && line.to_string().contains(says)
        };
        self.0.find(is)
    }

    #[track_caller]
    pub(crate) fn notified(&mut self, text: &str) -> String {
        // As it stands in a line of JSON.
        let text = json!(text).to_string();
        string(&self.shown("notify", text.trim_matches('"'))["message"])
    }

    #[track_caller]
    pub(crate) fn status(&mut self, key: &str, text: &str) {
        let key = json!(key);
        self.0.find(|line| {
            line["method"] == "setStatus"
                && line["statusKey"] == key
                && string(&line["statusText"]).contains(text)
        });
    }

    #[track_caller]
    pub(crate) fn widget(&mut self, key: &str, text: &str) -> Value {
        let key = json!(key);
        self.0.find(|line| {
            line["method"] == "setWidget"
                && line["widgetKey"] == key
                && line["widgetLines"].to_string().contains(text)
        })
    }

    #[track_caller]
    pub(crate) fn title(&mut self, text: &str) {
        self.shown("setTitle", text);
    }

    #[track_caller]
    pub(crate) fn editor_text(&mut self, text: &str) {
        self.shown("set_editor_text", text);
    }

    fn respond(&mut self, request: &Value, mut response: Value) {
        response["type"] = json!("extension_ui_response");
        response["id"] = request["id"].clone();
        self.0.send(&[response]);
    }

    /// Waits for a question with several answers, and chooses one.
    #[track_caller]
    pub(crate) fn choose(&mut self, question: &str, option: &str) {
        let request = self.shown("select", question);
        let options = request["options"].as_array().unwrap();
        let chosen = options.iter().find(|given| string(given).starts_with(option));
        let chosen = chosen.unwrap_or_else(|| panic!("{option} is not among {options:?}")).clone();
        self.respond(&request, json!({ "value": chosen }));
    }

    #[track_caller]
    pub(crate) fn confirm(&mut self, question: &str, yes: bool) {
        let request = self.shown("confirm", question);
        self.respond(&request, json!({ "confirmed": yes }));
    }

    /// Waits until a question is there, and lets it be.
    #[track_caller]
    pub(crate) fn asked(&mut self, method: &str, question: &str) {
        self.shown(method, question);
    }

    /// Waits for a line or a text to be written.
    #[track_caller]
    pub(crate) fn write(&mut self, method: &str, question: &str, text: &str) {
        let request = self.shown(method, question);
        self.respond(&request, json!({ "value": text }));
    }

    /// The results of tools so far, newest last.
    #[track_caller]
    pub(crate) fn results(&mut self) -> Vec<Value> {
        let data = self.0.ok(json!({"type": "get_messages"}));
        let messages = data["messages"].as_array().unwrap().iter();
        messages.filter(|message| message["role"] == "toolResult").cloned().collect()
    }

    /// What the newest result of a tool says.
    #[track_caller]
    pub(crate) fn result(&mut self) -> String {
        self.results().last().map(text_of).unwrap_or_default()
    }

    /// Ends it.
    #[track_caller]
    pub(crate) fn close(self) {
        self.0.close();
    }
}

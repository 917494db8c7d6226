//! A folder with a `models.toml` that leads to a server on loopback, and a session in it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use ramal_model::Api;
use ramal_testing::asked::Asked;
use ramal_testing::log;
use ramal_testing::program::{Program, Scratch};
use ramal_testing::rules;
use ramal_testing::says::{Says, says};
use ramal_testing::server::{Reply, Server};
use serde_json::{Value, json};

/// The interface of a scenario that is the same for all of them.
pub(crate) const API: Api = Api::AnthropicMessages;

/// All interfaces.
pub(crate) const APIS: [Api; 4] =
    [API, Api::OpenAiCompletions, Api::OpenAiResponses, Api::GoogleGenerativeAi];

/// Nobody waits long for another attempt, and nobody names the session.
const SETTINGS: &str =
    "model = \"here/gemini-3-flash-preview\"\nautoTitle = false\n[retry]\nbaseDelayMs = 1\nmaxRetries = 3\n";

/// The answer of a provider with whom something is wrong.
pub(crate) fn failure(status: u16, kind: &str, message: &str) -> Reply {
    let error = json!({"type": "error", "error": {"type": kind, "message": message}});
    Reply::json(status, &error.to_string())
}

/// A text as an answer.
pub(crate) fn text(text: &str) -> Reply {
    says(text).reply(API)
}

/// The replies of an interface.
pub(crate) fn replies(api: Api, all: &[Says]) -> Vec<Reply> {
    all.iter().map(|says| says.reply(api)).collect()
}

/// A folder, a server, a session.
pub(crate) struct World {
    pub(crate) scratch: Scratch,
    pub(crate) server: Server,
}

impl World {
    /// With these answers to what will be asked, one after the other.
    pub(crate) fn new(replies: Vec<Reply>) -> World {
        World::of(API, 200_000, "", replies)
    }

    /// With an interface, a context window, and more settings.
    pub(crate) fn of(api: Api, window: u64, settings: &str, replies: Vec<Reply>) -> World {
        let (scratch, server) = (Scratch::new(env!("CARGO_BIN_EXE_ramal")), Server::beside(replies));
        // A name for which Google's rules are the strictest; nobody else minds.
        let models = format!(
            "[providers.here]\napi = \"{}\"\nbase_url = \"{}/v1\"\napi_key = \"none\"\n\
             [[providers.here.models]]\nid = \"gemini-3-flash-preview\"\ncontext_window = {window}\nmax_output = 4096\n",
            api.name(),
            server.url()
        );
        scratch.write("CONFIG/ramal/models.toml", models);
        scratch.write("CONFIG/ramal/settings.toml", format!("{SETTINGS}{settings}"));
        World { scratch, server }
    }

    /// The command that opens the session.
    pub(crate) fn command(&self) -> Command {
        let mut command = self.scratch.command();
        command.args(["--session", "session.jsonl"]);
        command
    }

    pub(crate) fn start(&self) -> Program {
        Program::start(&mut self.command())
    }

    /// Starts it so that nobody is asked before a tool is run.
    pub(crate) fn start_trusting(&self) -> Program {
        Program::start(self.command().arg("--yes"))
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.scratch.path("session.jsonl")
    }

    /// The bytes of the log.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        fs::read(self.file()).unwrap()
    }

    /// The entries of the log, which is whole.
    #[track_caller]
    pub(crate) fn entries(&self) -> Vec<Value> {
        log::entries(&self.file())
    }

    /// All entries, each in a few words, in the order of the file.
    #[track_caller]
    pub(crate) fn told(&self) -> Vec<String> {
        self.entries().iter().map(log::told).collect()
    }

    /// The path to an entry, each in a few words.
    #[track_caller]
    pub(crate) fn path_to(&self, id: &Value) -> Vec<String> {
        log::path_to(&self.entries(), id).into_iter().map(log::told).collect()
    }

    /// The id of the last entry that is told with these words.
    #[track_caller]
    pub(crate) fn id_of(&self, told: &str) -> Value {
        let entries = self.entries();
        let found = entries.iter().rev().find(|entry| log::told(entry) == told);
        found.unwrap_or_else(|| panic!("{told} is not in {:#?}", self.told()))["id"].clone()
    }

    /// The requests so far, each acceptable to the provider.
    #[track_caller]
    pub(crate) fn asked(&self) -> Vec<Asked> {
        let requests = self.server.requests();
        requests.iter().for_each(rules::check);
        requests.iter().map(Asked::of).collect()
    }

    /// What the last request says.
    #[track_caller]
    pub(crate) fn last_said(&self) -> Vec<String> {
        self.asked().pop().unwrap().said
    }

    /// The bodies of the requests, without the marks that tell Anthropic what to keep.
    pub(crate) fn bodies(&self) -> Vec<String> {
        let requests = self.server.requests();
        let text = |body: Vec<u8>| String::from_utf8(body).unwrap();
        let without = |body: String| body.replace(r#","cache_control":{"type":"ephemeral"}"#, "");
        requests.into_iter().map(|request| without(text(request.body))).collect()
    }

    /// Ends the program, which had nothing more to say than it was asked for, and answers what it wrote
    /// that nobody waited for. All that was scripted was asked for, and no more.
    #[track_caller]
    pub(crate) fn finish(&self, program: Program) -> Vec<Value> {
        let rest = program.close();
        assert_eq!(self.asked().len(), self.server.scripted(), "requests, and answers to them");
        rest
    }
}

/// The bytes with which both begin.
pub(crate) fn shared<'a>(one: &'a str, other: &str) -> &'a str {
    let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    one.get(..same).unwrap_or_default()
}

/// `one` and `other` are the same up to where they say these words.
#[track_caller]
pub(crate) fn assert_fork(one: &str, other: &str, words: (&str, &str)) {
    let same = shared(one, other).len();
    let fits = one[same..].starts_with(words.0) && other[same..].starts_with(words.1);
    assert!(fits, "they differ at\n{:.200}\n{:.200}", &one[same..], &other[same..]);
}

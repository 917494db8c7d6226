//! What is asked of a model, and where.

use std::fmt;
use std::str::FromStr;

/// The interfaces that providers speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Api {
    /// Anthropic's Messages.
    AnthropicMessages,
    /// OpenAI's Chat Completions, and whatever is compatible with it.
    OpenAiCompletions,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// Google's Gemini.
    GoogleGenerativeAi,
    /// Recorded answers, played from a file.
    Replay,
}

const APIS: [(&str, Api); 5] = [
    ("anthropic-messages", Api::AnthropicMessages),
    ("openai-completions", Api::OpenAiCompletions),
    ("openai-responses", Api::OpenAiResponses),
    ("google-generative-ai", Api::GoogleGenerativeAi),
    ("replay", Api::Replay),
];

impl Api {
    /// The name in `models.toml` and in the `api` of an assistant message.
    pub fn name(self) -> &'static str {
        APIS.iter().find(|(_, api)| *api == self).map_or("", |(name, _)| name)
    }

    /// The names that a file may give, in words.
    pub(crate) fn spoken() -> String {
        let names: Vec<&str> = APIS.iter().map(|(name, _)| *name).filter(|name| *name != "replay").collect();
        format!("one of {}", names.join(", "))
    }
}

impl FromStr for Api {
    type Err = String;

    fn from_str(text: &str) -> Result<Api, String> {
        let found = APIS.iter().find(|(name, _)| *name == text).map(|(_, api)| *api);
        found.ok_or_else(|| format!("{text:?} is no interface that ramal speaks"))
    }
}

/// A key. It is never printed, not even by mistake.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps `text` from being printed.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// The key itself, for the header that it goes into.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A model and where it is reached.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The interface.
    pub api: Api,
    /// The provider's name, as in `provider/id`.
    pub provider: String,
    /// The model's id, as the provider calls it.
    pub model: String,
    /// Where the interface begins, without a slash at the end.
    pub base_url: String,
    /// The key, if one is needed.
    pub key: Option<Secret>,
    /// More headers, as the user wants them.
    pub headers: Vec<(String, Secret)>,
    /// Tokens that fit into a request and its answer together.
    pub context_window: u64,
    /// Tokens that an answer may have at most.
    pub max_output: u64,
    /// Whether it can think before it answers.
    pub thinks: bool,
    /// Whether it takes images.
    pub sees: bool,
    /// What it costs.
    pub cost: Cost,
}

/// Prices in dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[expect(missing_docs, reason = "the four kinds of tokens that providers count")]
pub struct Cost {
    pub input: f64,
    pub output: f64,
    pub cache_read: f64,
    pub cache_write: f64,
}

/// How much a model is asked to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[expect(missing_docs, reason = "levels, from none to most")]
pub enum ThinkingLevel {
    #[default]
    Off,
    Minimal,
    Low,
    Medium,
    High,
    XHigh,
}

const LEVELS: [(&str, ThinkingLevel); 6] = [
    ("off", ThinkingLevel::Off),
    ("minimal", ThinkingLevel::Minimal),
    ("low", ThinkingLevel::Low),
    ("medium", ThinkingLevel::Medium),
    ("high", ThinkingLevel::High),
    ("xhigh", ThinkingLevel::XHigh),
];

impl ThinkingLevel {
    /// All levels, from none to most.
    pub const ALL: [ThinkingLevel; 6] = [
        ThinkingLevel::Off,
        ThinkingLevel::Minimal,
        ThinkingLevel::Low,
        ThinkingLevel::Medium,
        ThinkingLevel::High,
        ThinkingLevel::XHigh,
    ];

    /// The name in the log.
    pub fn name(self) -> &'static str {
        LEVELS.iter().find(|(_, level)| *level == self).map_or("off", |(name, _)| name)
    }
}

impl FromStr for ThinkingLevel {
    type Err = String;

    fn from_str(text: &str) -> Result<ThinkingLevel, String> {
        let found = LEVELS.iter().find(|(name, _)| *name == text).map(|(_, level)| *level);
        found
            .ok_or_else(|| format!("{text:?} is no thinking level: off, minimal, low, medium, high or xhigh"))
    }
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// Its arguments as a JSON schema, in JSON text.
    pub parameters: String,
}

/// One request to a model.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The system prompt. The same for a whole session, so that providers can cache it.
    pub system: String,
    /// The conversation, as `SessionContext::model_messages` answers it: JSON texts.
    pub messages: Vec<String>,
    /// The tools that may be called, in an order that stays the same.
    pub tools: Vec<ToolSpec>,
    /// How much to think.
    pub thinking: ThinkingLevel,
    /// Fewer tokens for the answer than the model could give.
    pub max_output: Option<u64>,
    /// Something that stays the same for a session, for providers that route by it.
    pub session_id: Option<String>,
}

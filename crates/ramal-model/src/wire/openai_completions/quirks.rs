//! What servers that speak Chat Completions do differently. One table, by host and by the name that
//! the user gave the provider.

use crate::request::{Endpoint, ThinkingLevel};
use crate::wire::openai::effort::effort;
use crate::wire::openai::ids::IdRule;

/// How a server is told how much to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thinking {
    /// Not at all: it refuses every parameter for it, or decides by itself.
    Untold,
    /// `reasoning_effort` in the words of OpenAI's models.
    Effort,
    /// `reasoning_effort` with low, medium and high.
    ThreeEfforts,
    /// `reasoning: {effort}`, OpenRouter's own.
    Reasoning,
    /// `thinking: {type}` on or off, as DeepSeek, Moonshot and Z.ai have it.
    OnOff,
}

/// What a server does differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quirks {
    /// The parameter with the limit of the answer.
    pub(super) limit: &'static str,
    /// The limit is sent even if the request does not ask for one: local servers generate until
    /// their memory ends otherwise.
    pub(super) always_limit: bool,
    /// It takes `stream_options.include_usage`. Others send the usage unasked.
    pub(super) usage_option: bool,
    /// `store: false` is understood.
    pub(super) store: bool,
    /// `prompt_cache_key` is understood.
    pub(super) cache_key: bool,
    /// The system prompt of thinking models goes out as `developer`.
    pub(super) developer: bool,
    /// Instructions may stand anywhere between the messages. Elsewhere they become the user's.
    pub(super) system_anywhere: bool,
    /// User and assistant have to take turns: many chat templates refuse everything else.
    pub(super) alternates: bool,
    /// An answer has to stand between results and the next message of the user: the template counts
    /// neither calls nor results when it looks whether roles take turns.
    pub(super) answers_results: bool,
    /// How it is told how much to think.
    pub(super) thinking: Thinking,
    /// Thoughts of its own go back, in the member in which they came. Some servers refuse the very
    /// member that they send.
    pub(super) thoughts_back: bool,
    /// While it thinks, every answer with calls must bring a `reasoning_content`, an empty one if
    /// another model made it.
    pub(super) thoughts_required: bool,
    /// Results name their tool.
    pub(super) result_name: bool,
    /// What it accepts as the id of a call.
    pub(super) ids: IdRule,
    /// The key goes into `api-key`.
    pub(super) api_key_header: bool,
}

/// A server that nothing is known about: only what every server takes.
const UNKNOWN: Quirks = Quirks {
    limit: "max_tokens",
    always_limit: false,
    usage_option: true,
    store: false,
    cache_key: false,
    developer: false,
    system_anywhere: false,
    alternates: true,
    answers_results: false,
    thinking: Thinking::ThreeEfforts,
    thoughts_back: true,
    thoughts_required: false,
    result_name: false,
    ids: IdRule::AtMost(40),
    api_key_header: false,
};

/// A model on this machine or in this network: Ollama, llama.cpp, LM Studio, vLLM.
const LOCAL: Quirks = Quirks { always_limit: true, ..UNKNOWN };

/// A service that takes messages in any order.
const SERVICE: Quirks = Quirks { alternates: false, system_anywhere: true, ..UNKNOWN };

const OPENAI: Quirks = Quirks {
    limit: "max_completion_tokens",
    store: true,
    cache_key: true,
    developer: true,
    thinking: Thinking::Effort,
    thoughts_back: false,
    ..SERVICE
};

const DEEPSEEK: Quirks = Quirks { thinking: Thinking::OnOff, thoughts_required: true, ..SERVICE };

/// Groq and Cerebras refuse parameters and members of messages that they do not know.
const PICKY: Quirks = Quirks { limit: "max_completion_tokens", thoughts_back: false, ..SERVICE };

/// Part of a host, names of the provider, and what is different there. The first that fits counts;
/// a host counts before every name.
const TABLE: [(&str, &[&str], Quirks); 16] = [
    ("api.openai.com", &["openai"], OPENAI),
    // Not every version of Azure's interface knows `store` and the cache key.
    (
        ".openai.azure.com",
        &["azure"],
        Quirks { store: false, cache_key: false, api_key_header: true, ..OPENAI },
    ),
    ("openrouter.ai", &["openrouter"], Quirks { thinking: Thinking::Reasoning, ..SERVICE }),
    ("api.groq.com", &["groq"], PICKY),
    ("api.cerebras.ai", &["cerebras"], PICKY),
    ("api.deepseek.com", &["deepseek"], DEEPSEEK),
    ("api.moonshot.", &["moonshot", "moonshotai", "kimi"], DEEPSEEK),
    ("api.z.ai", &["zai", "z.ai"], Quirks { thoughts_required: false, ..DEEPSEEK }),
    // Mistral refuses unknown parameters, and sends the usage unasked.
    (
        "api.mistral.ai",
        &["mistral"],
        Quirks {
            usage_option: false,
            thinking: Thinking::Untold,
            thoughts_back: false,
            result_name: true,
            ids: IdRule::Exactly(9),
            ..UNKNOWN
        },
    ),
    // Grok 4 and later refuse `reasoning_effort`.
    ("api.x.ai", &["xai", "x.ai", "grok"], Quirks { thinking: Thinking::Untold, ..SERVICE }),
    ("generativelanguage.googleapis.com", &[], SERVICE),
    ("", &["ollama"], LOCAL),
    ("", &["llama.cpp", "llamacpp", "llama-cpp"], LOCAL),
    ("", &["lmstudio", "lm-studio"], LOCAL),
    ("", &["vllm"], LOCAL),
    ("", &["local"], LOCAL),
];

/// Models whose chat templates, run by a local server, refuse longer ids and a user behind results.
const MISTRALS: [&str; 6] = ["mistral", "mixtral", "ministral", "devstral", "codestral", "magistral"];

impl Quirks {
    /// What is different at `endpoint`.
    pub(super) fn of(endpoint: &Endpoint) -> Quirks {
        let url = endpoint.base_url.to_lowercase();
        let host = host(&url);
        let name = endpoint.provider.to_lowercase();
        let by_host = TABLE.iter().find(|(part, ..)| !part.is_empty() && fits(host, part));
        let is_local = is_local(host);
        let by_name = TABLE
            .iter()
            .find(|(part, names, _)| names.contains(&name.as_str()) && (!is_local || part.is_empty()));
        let quirks = match by_host.or(by_name) {
            Some((.., quirks)) => *quirks,
            None if is_local => LOCAL,
            None => UNKNOWN,
        };
        let model = endpoint.model.to_lowercase();
        if quirks.always_limit && MISTRALS.iter().any(|name| model.contains(name)) {
            return Quirks { ids: IdRule::Exactly(9), answers_results: true, ..quirks };
        }
        quirks
    }
}

/// Whether a host is the one of the table, or one of several that the table means.
fn fits(host: &str, part: &str) -> bool {
    match (part.starts_with('.'), part.ends_with('.')) {
        (true, _) => host.ends_with(part),
        (_, true) => host.starts_with(part),
        _ => host.strip_suffix(part).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')),
    }
}

/// The host in a URL in small letters.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    if let Some(inner) = rest.strip_prefix('[') {
        return inner.split(']').next().unwrap_or_default();
    }
    rest.split(':').next().unwrap_or_default()
}

/// Whether a host is this machine, or one in this network.
fn is_local(host: &str) -> bool {
    if let Ok(address) = host.parse::<std::net::Ipv4Addr>() {
        return address.is_loopback() || address.is_private() || address.is_unspecified();
    }
    if let Ok(address) = host.parse::<std::net::Ipv6Addr>() {
        return address.is_loopback() || address.is_unique_local();
    }
    host == "localhost"
        || !host.contains('.')
        || [".local", ".lan", ".localhost"].iter().any(|end| host.ends_with(end))
}

/// The members of a request that say how much to think, each with a comma before it.
pub(super) fn thinking(quirks: &Quirks, endpoint: &Endpoint, level: ThinkingLevel) -> String {
    if !endpoint.thinks {
        return String::new();
    }
    let three = match level {
        ThinkingLevel::Off => "",
        ThinkingLevel::Minimal | ThinkingLevel::Low => "low",
        ThinkingLevel::Medium => "medium",
        ThinkingLevel::High | ThinkingLevel::XHigh => "high",
    };
    match (quirks.thinking, level) {
        (Thinking::OnOff, ThinkingLevel::Off) => r#","thinking":{"type":"disabled"}"#.into(),
        (Thinking::OnOff, _) => r#","thinking":{"type":"enabled"}"#.into(),
        (Thinking::Effort, level) => effort(&endpoint.model, level)
            .map(|effort| format!(r#","reasoning_effort":"{effort}""#))
            .unwrap_or_default(),
        // What a model does that is not told differs; no value for "off" is taken by all.
        (Thinking::Untold, _) | (_, ThinkingLevel::Off) => String::new(),
        (Thinking::ThreeEfforts, _) => format!(r#","reasoning_effort":"{three}""#),
        (Thinking::Reasoning, level) => format!(r#","reasoning":{{"effort":"{}"}}"#, level.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Api;
    use crate::wire::openai::testing;

    fn quirks(provider: &str, base_url: &str) -> Quirks {
        Quirks::of(&Endpoint {
            provider: provider.into(),
            ..testing::endpoint(Api::OpenAiCompletions, base_url)
        })
    }

    #[test]
    fn hosts_and_names_are_known() {
        assert_eq!(quirks("mine", "https://API.openai.com/v1"), OPENAI);
        assert_eq!(quirks("openai", "https://proxy.example.com/v1"), OPENAI);
        assert_eq!(quirks("openai", "http://127.0.0.1:8080/v1"), LOCAL);
        assert_eq!(quirks("x", "http://[::1]:8080/v1"), LOCAL);
        assert_eq!(quirks("x", "http://gpu-box:8000/v1"), LOCAL);
        assert_eq!(quirks("ollama", "https://ollama.example.com/v1"), LOCAL);
        assert_eq!(quirks("x", "https://user:pw@api.moonshot.cn/v1"), DEEPSEEK);
        assert_eq!(quirks("x", "https://me.openai.azure.com/openai/v1").limit, "max_completion_tokens");
        assert_eq!(quirks("x", "https://evil-api.openai.com.example.com/v1"), UNKNOWN);
        assert_eq!(quirks("x", "https://notopenrouter.ai/api/v1"), UNKNOWN);
        assert_eq!(quirks("mistral", "https://api.mistral.ai/v1").ids, IdRule::Exactly(9));
        assert_eq!(quirks("x", ""), LOCAL);
        let local = Endpoint {
            model: "mistralai/Devstral-Small".into(),
            ..testing::endpoint(Api::OpenAiCompletions, "http://localhost:8080/v1")
        };
        assert!(Quirks::of(&local).answers_results);
        assert_eq!(Quirks::of(&local).ids, IdRule::Exactly(9));
    }
}

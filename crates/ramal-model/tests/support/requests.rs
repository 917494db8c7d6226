//! Requests to make, and checks that are the same for all of them.

use ramal_model::wire::Wire;
use ramal_model::{Api, Endpoint, Request, ThinkingLevel, ToolSpec};
use ramal_testing::endpoint::endpoint;
use serde_json::Value;

use super::sessions::{conversations, session_files};

/// Tools as a session has them.
pub fn tools() -> Vec<ToolSpec> {
    let tool = |name: &str, parameters: &str| ToolSpec {
        name: name.into(),
        description: format!("The tool {name}."),
        parameters: parameters.into(),
    };
    vec![
        tool("read", r#"{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}"#),
        tool("bash", r#"{"properties":{"command":{"type":"string"}},"required":["command"]}"#),
    ]
}

/// A request with these messages.
pub fn request(messages: Vec<String>, thinking: ThinkingLevel) -> Request {
    Request {
        system: "You help with code.".into(),
        messages,
        tools: tools(),
        thinking,
        max_output: None,
        session_id: Some("0199-session".into()),
    }
}

/// A message of the user.
pub fn user(text: &str) -> String {
    format!(r#"{{"role":"user","content":[{{"type":"text","text":{}}}],"timestamp":1}}"#, Value::from(text))
}

/// Endpoints of one interface: one that made none of the messages, and those that made some of the
/// messages in the corpus.
pub fn endpoints(api: Api) -> Vec<Endpoint> {
    let at = |provider: &str, model: &str| {
        let endpoint = endpoint(api, "http://127.0.0.1:9");
        Endpoint { provider: provider.into(), model: model.into(), ..endpoint }
    };
    let mut all = vec![at("test", "model-1")];
    let own: &[(&str, &str)] = match api {
        Api::AnthropicMessages => &[
            ("anthropic", "claude-opus-4-5"),
            ("anthropic", "claude-sonnet-4-5"),
            ("anthropic", "claude-opus-4-8"),
        ],
        Api::OpenAiCompletions => &[("opencode-go", "deepseek-v4-flash")],
        Api::OpenAiResponses => &[("openai", "gpt-5.5"), ("openai", "gpt-5.1-codex")],
        _ => &[],
    };
    all.extend(own.iter().map(|(provider, model)| at(provider, model)));
    let blind = Endpoint { sees: false, thinks: false, ..at("test", "model-2") };
    all.push(blind);
    all
}

/// Every leaf of every session, to every endpoint: what would be sent is acceptable. And the bytes up
/// to a fork are the same on both of its sides, what `without_marks` takes out aside.
pub fn check_sessions(
    wire: &dyn Wire,
    api: Api,
    validate: fn(&[u8]) -> Vec<String>,
    without_marks: fn(&str) -> String,
) {
    let mut seen = 0;
    let endpoints = endpoints(api);
    for file in session_files() {
        for (place, messages) in conversations(&file) {
            for (number, endpoint) in endpoints.iter().enumerate() {
                // Without thinking once, and with it for everybody.
                for level in [ThinkingLevel::High, ThinkingLevel::Off].into_iter().take(2 - number.min(1)) {
                    let sent = wire.request(endpoint, &request(messages.clone(), level));
                    let broken = validate(&sent.body);
                    assert!(broken.is_empty(), "{place}, to {}: {broken:#?}", endpoint.model);
                    seen += 1;
                }
                if number < 2 {
                    check_fork(wire, endpoint, &messages, &place, without_marks);
                }
            }
        }
    }
    assert!(seen > 0);
}

/// The request is the same up to where two continuations of `messages` differ, and up to where it
/// ends if a part of the messages is left away and something else follows.
pub fn check_fork(
    wire: &dyn Wire,
    endpoint: &Endpoint,
    messages: &[String],
    place: &str,
    without_marks: fn(&str) -> String,
) {
    let body = |messages: Vec<String>| {
        let sent = wire.request(endpoint, &request(messages, ThinkingLevel::High));
        without_marks(&String::from_utf8(sent.body).unwrap())
    };
    // A fork is a message of the user that is said in another way.
    let is_user = |message: &String| message.starts_with(r#"{"role":"user""#);
    let forks: Vec<usize> = (0..messages.len()).filter(|&at| is_user(&messages[at])).collect();
    for &at in [forks.last(), forks.get(forks.len() / 2)].into_iter().flatten() {
        let mut before = messages[..at].to_vec();
        before.push(user("FIRST-WAY"));
        let mut behind = messages[..at].to_vec();
        behind.push(user("OTHER-WAY"));
        behind.extend_from_slice(&messages[at + 1..]);
        let (before, behind) = (body(before), body(behind));
        let same = before.bytes().zip(behind.bytes()).take_while(|(one, other)| one == other).count();
        let rest = &before.as_bytes()[same..];
        assert!(rest.starts_with(b"FIRST-WAY"), "{place}: the bytes before message {at} differ: {}", {
            let from = same.saturating_sub(80);
            let end = (same + 80).min(before.len());
            String::from_utf8_lossy(&before.as_bytes()[from..end]).into_owned()
        });
    }
}

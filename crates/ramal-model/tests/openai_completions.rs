//! Chat Completions over a real server on loopback.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::time::Duration;

use ramal_model::wire;
use ramal_model::{
    Api, Block, Client, Endpoint, Event, LanguageModel, ModelError, Passing, Request, StopReason,
    ThinkingLevel, ToolSpec, Usage,
};
use ramal_testing::endpoint::{KEY, endpoint};
use ramal_testing::rules::openai::{Server as Rules, validate_completions};
use ramal_testing::server::{Reply, Server, Step};
use serde_json::{Value, json};
use support::sessions::{conversations, session_files};
use support::{check_events, drain, short_timeouts};
use tokio_util::sync::CancellationToken;

const API: Api = Api::OpenAiCompletions;

fn tools() -> Vec<ToolSpec> {
    ["read", "bash"]
        .map(|name| ToolSpec {
            name: name.into(),
            description: "Does something.".into(),
            parameters: r#"{"type":"object","properties":{"path":{"type":"string"}}}"#.into(),
        })
        .into()
}

fn request(messages: &[Value]) -> Request {
    Request {
        system: "Be short.".into(),
        messages: messages.iter().map(Value::to_string).collect(),
        tools: tools(),
        thinking: ThinkingLevel::Medium,
        session_id: Some("0190a1b2-session".into()),
        ..Request::default()
    }
}

fn hello() -> Request {
    request(&[json!({"role": "user", "content": "hello"})])
}

/// Chunks as they stand in a stream.
fn stream(chunks: &[Value]) -> String {
    let mut text: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    text += "data: [DONE]\n\n";
    text
}

fn delta(delta: Value) -> Value {
    json!({"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn finish(reason: &str) -> Value {
    json!({"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn rich() -> String {
    stream(&[
        delta(json!({"role": "assistant", "content": ""})),
        delta(json!({"reasoning_content": "Let me "})),
        delta(json!({"reasoning_content": "look…"})),
        delta(json!({"content": "I read 🦀 "})),
        delta(json!({"content": "both."})),
        delta(
            json!({"tool_calls": [{"index": 0, "id": "call_a", "type": "function", "function": {"name": "read", "arguments": ""}}]}),
        ),
        delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"path\":"}}]})),
        delta(
            json!({"tool_calls": [{"index": 1, "id": "call_b", "type": "function", "function": {"name": "bash", "arguments": ""}}]}),
        ),
        delta(
            json!({"tool_calls": [{"index": 0, "function": {"arguments": "\"a.rs\"}"}}, {"index": 1, "function": {"arguments": "{\"path\":\"b\"}"}}]}),
        ),
        finish("tool_calls"),
        json!({"id": "c1", "choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120, "prompt_tokens_details": {"cached_tokens": 64}}}),
    ])
}

#[tokio::test]
async fn text_thinking_calls_and_usage_in_odd_pieces() {
    for size in [1, 3, 7, 4096] {
        let server = Server::start(vec![Reply::sse(format!(": hi\n\n{}", rich())).cut(size)]).await;
        let endpoint = endpoint(API, &format!("{}/v1", server.url()));
        let (events, answer, result) =
            drain(Client::new().stream(&endpoint, &hello(), CancellationToken::new())).await;
        result.unwrap();
        check_events(&events, &answer);
        assert_eq!(events.first(), Some(&Event::Start));
        assert_eq!(answer.stop, StopReason::ToolUse);
        assert_eq!(answer.usage, Usage { input: 36, output: 20, cache_read: 64, cache_write: 0 });
        let [thinking, text, first, second] = answer.blocks.as_slice() else { panic!("{answer:?}") };
        assert!(
            matches!(thinking, Block::Thinking { thinking, signature: Some(member), .. } if thinking == "Let me look…" && member == "reasoning_content")
        );
        assert!(matches!(text, Block::Text { text, .. } if text == "I read 🦀 both."));
        assert!(
            matches!(first, Block::ToolCall { id, name, arguments, .. } if id == "call_a" && name == "read" && arguments == r#"{"path":"a.rs"}"#)
        );
        assert!(
            matches!(second, Block::ToolCall { id, name, arguments, .. } if id == "call_b" && name == "bash" && arguments == r#"{"path":"b"}"#)
        );
        let asked = &server.requests()[0];
        assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/v1/chat/completions"));
        assert_eq!(asked.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
        assert_eq!(validate_completions(&asked.body, Rules::Template), Vec::<String>::new());
    }
}

async fn failure(reply: Reply) -> (ModelError, ramal_model::Answer) {
    let server = Server::start(vec![reply]).await;
    let endpoint = endpoint(API, server.url());
    let client = Client::with_timeouts(short_timeouts());
    let (_, answer, result) = drain(client.stream(&endpoint, &hello(), CancellationToken::new())).await;
    let error = result.unwrap_err();
    assert!(!format!("{error} {error:?} {answer:?}").contains(KEY));
    (error, answer)
}

#[tokio::test]
async fn failures_are_told_apart() {
    let body =
        format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}.","code":"invalid_api_key"}}}}"#);
    let (error, _) = failure(Reply::json(401, &body)).await;
    assert!(matches!(error, ModelError::KeyRefused { .. }), "{error}");
    let limit =
        r#"{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}"#;
    let (error, _) = failure(Reply::json(429, limit).header("retry-after", "3")).await;
    assert!(matches!(error, ModelError::RateLimited { .. }), "{error}");
    assert_eq!(error.passing(), Passing::Yes(Some(Duration::from_secs(3))));
    let quota = r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#;
    assert_eq!(failure(Reply::json(429, quota)).await.0.passing(), Passing::No);
    let (error, _) = failure(Reply::json(500, r#"{"error":{"message":"oops","type":"server_error"}}"#)).await;
    assert!(matches!(error, ModelError::Server { status: 500, .. }), "{error}");
    let (error, _) = failure(Reply::json(529, "")).await;
    assert!(matches!(error, ModelError::Overloaded { .. }), "{error}");
    let long = r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_ctx":256}}"#;
    let (error, _) = failure(Reply::json(400, long)).await;
    assert!(matches!(error, ModelError::ContextTooLong { .. }), "{error}");
}

#[tokio::test]
async fn streams_that_go_wrong_keep_what_came() {
    let begun = format!("data: {}\n\n", delta(json!({"content": "so far"})));
    let said = |answer: &ramal_model::Answer| matches!(answer.blocks.as_slice(), [Block::Text { text, .. }] if text == "so far");
    for step in [Step::BreakOff, Step::Stall] {
        let (error, answer) = failure(Reply::sse(begun.clone()).then(step)).await;
        assert!(matches!(error, ModelError::ConnectionLost { .. }), "{error}");
        assert!(said(&answer) && answer.stop == StopReason::Error, "{answer:?}");
    }
    // Whole for HTTP, but not for us.
    let (error, answer) = failure(Reply::sse(begun.clone())).await;
    assert!(matches!(error, ModelError::ConnectionLost { .. }) && said(&answer), "{error}");
    for rubbish in ["data: {\"choices\": oops\n\n", "data: 17\n\n"] {
        let (error, answer) = failure(Reply::sse(begun.clone()).text(rubbish)).await;
        assert!(matches!(error, ModelError::NotUnderstood { .. }) && said(&answer), "{error}");
    }
    let (error, _) = failure(Reply::sse("<html>hello</html>")).await;
    assert!(matches!(error, ModelError::NotUnderstood { .. }), "{error}");
    let inside =
        format!("{begun}data: {}\n\n", json!({"error": {"code": 502, "message": "upstream failed"}}));
    let (error, answer) = failure(Reply::sse(inside)).await;
    assert!(matches!(error, ModelError::Server { status: 502, .. }) && said(&answer), "{error}");
    let filtered = stream(&[delta(json!({"content": "so far"})), finish("content_filter")]);
    let (error, answer) = failure(Reply::sse(filtered)).await;
    assert!(matches!(error, ModelError::Refused { .. }) && said(&answer), "{error}");
    let nameless = stream(&[
        delta(json!({"tool_calls": [{"index": 0, "id": "x", "function": {"arguments": "{}"}}]})),
        finish("tool_calls"),
    ]);
    let (error, _) = failure(Reply::sse(nameless)).await;
    assert!(matches!(error, ModelError::NotUnderstood { .. }), "{error}");
}

#[tokio::test]
async fn an_abort_in_the_middle_hangs_up() {
    let begun = format!("data: {}\n\n", delta(json!({"content": "so far"})));
    let server = Server::start(vec![Reply::sse(begun).then(Step::Stall)]).await;
    let abort = CancellationToken::new();
    let mut stream = Client::new().stream(&endpoint(API, server.url()), &hello(), abort.clone());
    while !matches!(stream.next().await, Some(Event::TextDelta { .. })) {}
    abort.cancel();
    assert_eq!(stream.next().await, None);
    let outcome = stream.outcome().await;
    assert_eq!((outcome.answer.stop, outcome.result), (StopReason::Aborted, Ok(())));
    assert!(server.hang_up().await.is_some());
}

/// Endpoints of which each has other rules.
fn servers() -> Vec<(Endpoint, Rules)> {
    [
        ("https://api.openai.com/v1", Rules::OpenAi),
        ("https://api.mistral.ai/v1", Rules::Mistral),
        ("http://127.0.0.1:11434/v1", Rules::Template),
        ("https://api.deepseek.com", Rules::DeepSeek),
        ("https://api.groq.com/openai/v1", Rules::Groq),
    ]
    .into_iter()
    .flat_map(|(url, rules)| {
        [true, false].map(|sees| (Endpoint { sees, thinks: sees, ..endpoint(API, url) }, rules))
    })
    .chain([(
        Endpoint { model: "devstral-small".into(), ..endpoint(API, "http://127.0.0.1:8080/v1") },
        Rules::MistralTemplate,
    )])
    .collect()
}

fn body(endpoint: &Endpoint, request: &Request) -> Vec<u8> {
    wire::of(API).unwrap().request(endpoint, request).body
}

#[test]
fn every_conversation_is_acceptable_to_everybody() {
    let mut turn = 0;
    for file in session_files() {
        let places = conversations(&file);
        for (number, (place, messages)) in places.iter().enumerate().filter(|(_, (_, all))| !all.is_empty()) {
            let request = Request { messages: messages.clone(), ..hello() };
            // All rules at the end of the file, at other places one after the other.
            let all = servers();
            let is_last = number + 1 == places.len();
            let some = all.iter().cycle().skip(turn).take(if is_last { all.len() } else { 1 });
            turn = (turn + 1) % all.len();
            for (endpoint, rules) in some {
                let wrong = validate_completions(&body(endpoint, &request), *rules);
                assert!(wrong.is_empty(), "{place}, {rules:?}: {wrong:#?}");
            }
        }
    }
}

#[test]
fn the_rules_are_rules() {
    let good = body(&servers()[0].0, &request(&hard()));
    let change = |pointer: &str, value: Value| {
        let mut body: Value = serde_json::from_slice(&good).unwrap();
        *body.pointer_mut(pointer).expect(pointer) = value;
        validate_completions(body.to_string().as_bytes(), Rules::OpenAi)
    };
    assert!(change("/messages/0/content", json!("other")).is_empty());
    for (pointer, value) in [
        ("/messages/0/content", json!("")),
        ("/messages/1/content", Value::Null),
        ("/messages/1/role", json!("tool")),
        ("/messages/2/content/1/image_url/url", json!("data:image/png;base64,")),
        ("/messages/5/tool_calls/0/id", json!("call_1|fc_2")),
        ("/messages/5/tool_calls/1/id", json!("call_1")),
        ("/messages/5/tool_calls/1/function/name", json!("a.b")),
        ("/messages/5/tool_calls/1/function/arguments", json!("oops")),
        ("/messages/6/tool_call_id", json!("other")),
        ("/messages/7/role", json!("user")),
        ("/tools/0/function/parameters", json!({})),
        ("/stream", json!(false)),
        ("/messages", json!([])),
    ] {
        assert!(!change(pointer, value.clone()).is_empty(), "{pointer} = {value}");
    }
    for rules in [Rules::Mistral, Rules::Template, Rules::MistralTemplate, Rules::DeepSeek, Rules::Groq] {
        assert!(!validate_completions(&good, rules).is_empty(), "{rules:?}");
    }
}

/// A conversation with everything in it that is hard.
fn hard() -> Vec<Value> {
    let own = |content: Value, stop: &str| json!({"role": "assistant", "api": API.name(), "provider": "test", "model": "model-1", "stopReason": stop, "content": content});
    vec![
        json!({"role": "assistant", "content": [{"type": "text", "text": "I begin."}]}),
        json!({"role": "user", "content": [{"type": "text", "text": "what is \"this\"?"}, {"type": "image", "data": "aGk=", "mimeType": "image/png"}]}),
        json!({"role": "user", "content": "and this?"}),
        json!({"role": "developer", "content": "careful"}),
        json!({"role": "system", "sections": [{"name": "env", "content": "e"}]}),
        own(
            json!([
                {"type": "thinking", "thinking": "hm", "thinkingSignature": "reasoning_content"},
                {"type": "text", "text": "looking"},
                {"type": "toolCall", "id": "call_1|fc_2", "name": "read", "arguments": {"path": "a", "list": [1.50, "x\n"]}},
                {"type": "toolCall", "id": "call 3", "name": "functions.bash", "arguments": {}},
            ]),
            "toolUse",
        ),
        json!({"role": "toolResult", "toolCallId": "call_1|fc_2", "toolName": "read", "isError": false, "content": [{"type": "image", "data": "aGk=", "mimeType": "image/jpeg"}]}),
        json!({"role": "toolResult", "toolCallId": "call 3", "toolName": "functions.bash", "isError": true, "content": []}),
        json!({"role": "user", "content": "go on"}),
        json!({"role": "assistant", "api": "anthropic-messages", "provider": "anthropic", "model": "c", "content": [
            {"type": "thinking", "thinking": "foreign", "thinkingSignature": "SIGNATURE"},
            {"type": "toolCall", "id": "call_1|fc_2", "name": "read", "arguments": {"path": "b"}, "thoughtSignature": "{\"a\":1}"},
        ]}),
        json!({"role": "toolResult", "toolCallId": "call_1|fc_2", "toolName": "read", "content": [{"type": "text", "text": "half \u{1F980}"}]}),
        own(
            json!([{"type": "thinking", "thinking": "never", "thinkingSignature": "reasoning_content"}, {"type": "text", "text": "abor"}]),
            "aborted",
        ),
        own(json!([{"type": "text", "text": "again"}]), "stop"),
        json!({"role": "user", "content": "end"}),
    ]
}

#[test]
fn hard_conversations_are_acceptable_and_lose_nothing_that_may_be_sent() {
    for (endpoint, rules) in servers() {
        let body = body(&endpoint, &request(&hard()));
        let wrong = validate_completions(&body, rules);
        assert!(wrong.is_empty(), "{rules:?}: {wrong:#?}\n{}", String::from_utf8_lossy(&body));
        let text = String::from_utf8(body).unwrap();
        for needle in [
            "I begin.",
            r#"what is \"this\"?"#,
            "and this?",
            "careful",
            "looking",
            "go on",
            "abor",
            "again",
            "1.5",
        ] {
            assert!(text.contains(needle), "{rules:?}: {needle} is missing in {text}");
        }
        for foreign in ["SIGNATURE", "foreign", "never", "extra_content"] {
            assert!(!text.contains(foreign), "{rules:?}: {foreign} is in {text}");
        }
        assert_eq!(text.contains("base64,aGk="), endpoint.sees);
        // Where the very member is refused, it is not sent.
        let takes_thoughts = matches!(rules, Rules::DeepSeek | Rules::Template);
        assert_eq!(text.contains(r#""reasoning_content":"hm""#), takes_thoughts, "{rules:?}: {text}");
    }
}

#[test]
fn the_request_up_to_a_fork_stays_as_it_was() {
    let messages = hard();
    for (endpoint, rules) in servers() {
        // Between a call and the last of its results is no place to be.
        for end in (1..messages.len()).filter(|&end| messages[end]["role"] != "toolResult") {
            let more = Request { thinking: ThinkingLevel::High, max_output: Some(77), ..request(&messages) };
            let whole = body(&endpoint, &more);
            let fork = body(&endpoint, &request(&messages[..end]));
            // Neighbours may be joined where roles have to alternate: only what ends the last message
            // may differ.
            let common = whole.iter().zip(&fork).take_while(|(a, b)| a == b).count();
            let last = fork.windows(8).rposition(|window| window == br#"{"role":"#).unwrap();
            let may_join = matches!(rules, Rules::Mistral | Rules::Template | Rules::MistralTemplate);
            // Behind the messages stands what may differ.
            let end = fork.iter().rposition(|&byte| byte == b']').unwrap();
            let wanted = if may_join { last } else { end };
            assert!(common >= wanted, "{rules:?} at {end}: {common} of {}", fork.len());
        }
        let mut other = messages.clone();
        other.push(json!({"role": "assistant", "content": [{"type": "text", "text": "another"}]}));
        assert_eq!(body(&endpoint, &request(&messages)), body(&endpoint, &request(&messages)));
        assert_ne!(body(&endpoint, &request(&messages)), body(&endpoint, &request(&other)));
    }
}

#[tokio::test]
async fn what_a_model_said_goes_back_to_it() {
    let server = Server::start(vec![Reply::sse(rich())]).await;
    let here = endpoint(API, server.url());
    let (_, answer, result) = drain(Client::new().stream(&here, &hello(), CancellationToken::new())).await;
    result.unwrap();
    let there = Endpoint { base_url: "https://api.deepseek.com".into(), ..here };
    let mut messages = hello().messages;
    messages.push(answer.to_message(&there, 0));
    for id in ["call_a", "call_b"] {
        messages.push(json!({"role": "toolResult", "toolCallId": id, "toolName": "read", "content": [{"type": "text", "text": "ok"}]}).to_string());
    }
    let body = body(&there, &Request { messages, ..hello() });
    assert_eq!(validate_completions(&body, Rules::DeepSeek), Vec::<String>::new());
    let sent: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(
        sent["messages"][2],
        json!({
            "role": "assistant", "content": "I read 🦀 both.", "reasoning_content": "Let me look…",
            "tool_calls": [
                {"id": "call_a", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a.rs\"}"}},
                {"id": "call_b", "type": "function", "function": {"name": "bash", "arguments": "{\"path\":\"b\"}"}},
            ]
        })
    );
}

//! Responses over a real server on loopback.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::time::Duration;

use ramal_model::wire;
use ramal_model::{
    Answer, Api, Block, Client, Endpoint, Event, LanguageModel, ModelError, Passing, Request, StopReason,
    ThinkingLevel, ToolSpec, Usage,
};
use ramal_testing::endpoint::{KEY, endpoint};
use ramal_testing::rules::openai::{Made, validate_responses};
use ramal_testing::server::{Reply, Server, Step};
use serde_json::{Value, json};
use support::sessions::{conversations, session_files};
use support::{check_events, drain, short_timeouts};
use tokio_util::sync::CancellationToken;

const API: Api = Api::OpenAiResponses;

fn request(messages: &[Value]) -> Request {
    Request {
        system: "Be short.".into(),
        messages: messages.iter().map(Value::to_string).collect(),
        tools: vec![ToolSpec {
            name: "read".into(),
            description: "Reads.".into(),
            parameters: r#"{"type":"object","properties":{"path":{"type":"string"}}}"#.into(),
        }],
        thinking: ThinkingLevel::Medium,
        session_id: Some("0190a1b2-session".into()),
        max_output: Some(9),
    }
}

fn hello() -> Request {
    request(&[json!({"role": "user", "content": "hello"})])
}

fn stream(events: &[Value]) -> String {
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .collect()
}

fn body(endpoint: &Endpoint, request: &Request) -> Vec<u8> {
    wire::of(API).unwrap().request(endpoint, request).body
}

fn reasoning(number: usize) -> Value {
    // Members in an order, and with a number, that must stay.
    json!({"type": "reasoning", "id": format!("rs_{number}"), "encrypted_content": format!("gAAAA{number}=="),
        "summary": [{"type": "summary_text", "text": format!("thought {number}")}], "status": null})
}

/// Reasoning, text, reasoning, call, call, reasoning, call: interleaved as models do.
fn interleaved() -> Vec<Value> {
    let mut events = vec![
        json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}}),
        json!({"type": "response.in_progress", "response": {"id": "resp_1"}}),
    ];
    let mut index = 0;
    let mut think = |events: &mut Vec<Value>, number: usize, at: usize| {
        events.push(json!({"type": "response.output_item.added", "output_index": at, "item": {"type": "reasoning", "id": format!("rs_{number}"), "summary": []}}));
        events.push(json!({"type": "response.reasoning_summary_part.added", "output_index": at, "summary_index": 0, "item_id": format!("rs_{number}")}));
        for piece in ["thou", &format!("ght {number}")] {
            events.push(json!({"type": "response.reasoning_summary_text.delta", "output_index": at, "item_id": format!("rs_{number}"), "delta": piece}));
        }
        events.push(
            json!({"type": "response.output_item.done", "output_index": at, "item": reasoning(number)}),
        );
        index = at + 1;
    };
    think(&mut events, 1, 0);
    events.extend([
        json!({"type": "response.output_item.added", "output_index": 1, "item": {"type": "message", "id": "msg_1", "role": "assistant", "content": []}}),
        json!({"type": "response.content_part.added", "output_index": 1, "item_id": "msg_1", "part": {"type": "output_text", "text": ""}}),
        json!({"type": "response.output_text.delta", "output_index": 1, "item_id": "msg_1", "delta": "I look "}),
        json!({"type": "response.output_text.delta", "output_index": 1, "item_id": "msg_1", "delta": "at it 🦀."}),
        json!({"type": "response.something.new", "output_index": 1}),
        json!({"type": "response.output_item.done", "output_index": 1, "item": {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "commentary", "content": [{"type": "output_text", "text": "I look at it 🦀.", "annotations": []}]}}),
    ]);
    think(&mut events, 2, 2);
    for (at, name) in [(3, "a"), (4, "b")] {
        let item = |arguments: &str| json!({"type": "function_call", "id": format!("fc_{name}"), "call_id": format!("call_{name}"), "name": "read", "arguments": arguments, "status": "completed"});
        let whole = format!("{{\"path\":\"{name}\"}}");
        events.push(json!({"type": "response.output_item.added", "output_index": at, "item": item("")}));
        events.push(json!({"type": "response.function_call_arguments.delta", "output_index": at, "item_id": format!("fc_{name}"), "delta": &whole[..4]}));
        events.push(json!({"type": "response.function_call_arguments.delta", "output_index": at, "item_id": format!("fc_{name}"), "delta": &whole[4..]}));
        events.push(json!({"type": "response.function_call_arguments.done", "output_index": at, "item_id": format!("fc_{name}"), "arguments": whole}));
        events.push(json!({"type": "response.output_item.done", "output_index": at, "item": item(&whole)}));
    }
    think(&mut events, 3, 5);
    // One that comes as a whole.
    events.push(json!({"type": "response.output_item.done", "output_index": 6, "item": {"type": "function_call", "id": "fc_c", "call_id": "call_c", "name": "read", "arguments": "{}"}}));
    events.push(json!({"type": "response.completed", "response": {"id": "resp_1", "status": "completed", "usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60}, "output_tokens": 30, "output_tokens_details": {"reasoning_tokens": 10}, "total_tokens": 130}}}));
    events
}

async fn answered(reply: Reply) -> (Vec<Event>, Answer, Result<(), ModelError>, Server) {
    let server = Server::start(vec![reply]).await;
    let client = Client::with_timeouts(short_timeouts());
    let (events, answer, result) =
        drain(client.stream(&endpoint(API, server.url()), &hello(), CancellationToken::new())).await;
    (events, answer, result, server)
}

#[tokio::test]
async fn interleaved_reasoning_and_calls_make_the_round_trip() {
    for size in [1, 5, 4096] {
        let (events, answer, result, server) = answered(Reply::sse(stream(&interleaved())).cut(size)).await;
        result.unwrap();
        check_events(&events, &answer);
        assert_eq!(answer.stop, StopReason::ToolUse);
        assert_eq!(answer.usage, Usage { input: 40, output: 30, cache_read: 60, cache_write: 0 });
        assert!(matches!(&answer.blocks[0], Block::Thinking { thinking, .. } if thinking == "thought 1"));
        assert!(matches!(&answer.blocks[1], Block::Text { text, .. } if text == "I look at it 🦀."));
        assert!(matches!(&answer.blocks[3], Block::ToolCall { id, .. } if id == "call_a|fc_a"));
        let asked = &server.requests()[0];
        assert_eq!(asked.path, "/responses");
        assert_eq!(asked.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
        assert_eq!(validate_responses(&asked.body, &Made::new()), Vec::<String>::new());

        let endpoint = endpoint(API, server.url());
        let mut messages = hello().messages;
        messages.push(answer.to_message(&endpoint, 0));
        for id in ["call_a|fc_a", "call_b|fc_b", "call_c|fc_c"] {
            messages.push(json!({"role": "toolResult", "toolCallId": id, "toolName": "read", "content": [{"type": "text", "text": "ok"}]}).to_string());
        }
        let body = body(&endpoint, &Request { messages, ..hello() });
        let made: Made = [("msg_1", "rs_1"), ("fc_a", "rs_2"), ("fc_b", "rs_2"), ("fc_c", "rs_3")]
            .map(|(item, reasoning)| (item.to_owned(), reasoning.to_owned()))
            .into();
        assert_eq!(validate_responses(&body, &made), Vec::<String>::new());
        let sent: Value = serde_json::from_slice(&body).unwrap();
        let call = |name: &str, arguments: &str| json!({"type": "function_call", "id": format!("fc_{name}"), "call_id": format!("call_{name}"), "name": "read", "arguments": arguments});
        assert_eq!(
            sent["input"].as_array().unwrap()[1..8],
            [
                reasoning(1),
                json!({"type": "message", "role": "assistant", "id": "msg_1", "status": "completed", "phase": "commentary", "content": [{"type": "output_text", "text": "I look at it 🦀.", "annotations": []}]}),
                reasoning(2),
                call("a", r#"{"path":"a"}"#),
                call("b", r#"{"path":"b"}"#),
                reasoning(3),
                call("c", "{}"),
            ]
        );
        assert_eq!(sent["include"], json!(["reasoning.encrypted_content"]));
        assert_eq!((&sent["store"], &sent["max_output_tokens"]), (&json!(false), &json!(16)));
        // The item goes back as it came, not as another program would write it.
        assert!(String::from_utf8(body).unwrap().contains(&reasoning(2).to_string()));
    }
}

/// An answer of ours as it stands in a log.
fn own(content: Value, stop: &str) -> Value {
    json!({"role": "assistant", "api": API.name(), "provider": "test", "model": "model-1", "stopReason": stop, "content": content})
}

fn result(id: &str) -> Value {
    json!({"role": "toolResult", "toolCallId": id, "toolName": "read", "content": [{"type": "text", "text": "ok"}, {"type": "image", "data": "aGk=", "mimeType": "image/png"}]})
}

fn thinking(number: usize) -> Value {
    json!({"type": "thinking", "thinking": "t", "thinkingSignature": reasoning(number).to_string()})
}

fn call(id: &str) -> Value {
    json!({"type": "toolCall", "id": id, "name": "read", "arguments": {"path": "x"}})
}

/// A conversation with everything in it that is hard.
fn hard() -> Vec<Value> {
    let foreign = |content: Value| json!({"role": "assistant", "api": "openai-codex-responses", "provider": "openai-codex", "model": "g", "content": content});
    vec![
        json!({"role": "user", "content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]}),
        own(
            json!([thinking(1), {"type": "text", "text": "own", "textSignature": "msg_own"}, thinking(2)]),
            "stop",
        ),
        json!({"role": "developer", "content": "careful"}),
        foreign(
            json!([thinking(3), {"type": "text", "text": "foreign", "textSignature": "msg_foreign"}, call("call_x|fc_foreign")]),
        ),
        result("call_x|fc_foreign"),
        // The same ids again, and an id that is no id.
        own(json!([thinking(4), call("call_x|fc_4"), call("call 5|fc_5"), thinking(5)]), "toolUse"),
        result("call_x|fc_4"),
        result("call 5|fc_5"),
        // Reasoning that says nothing without storage: what followed it cannot carry its id.
        own(
            json!([{"type": "thinking", "thinking": "x", "thinkingSignature": "{\"type\":\"reasoning\",\"id\":\"rs_6\",\"summary\":[],\"content\":[]}"}, {"type": "text", "text": "six", "textSignature": "{\"v\":1,\"id\":\"msg_six\"}"}]),
            "stop",
        ),
        json!({"role": "user", "content": "go on"}),
        own(
            json!([thinking(7), {"type": "text", "text": "abor", "textSignature": "msg_seven"}, call("call_7|fc_7")]),
            "aborted",
        ),
        result("call_7|fc_7"),
        own(
            json!([{"type": "thinking", "thinking": "n", "thinkingSignature": "not json"}, {"type": "text", "text": "eight", "textSignature": "zzz"}]),
            "length",
        ),
        json!({"role": "user", "content": "end"}),
    ]
}

#[test]
fn hard_conversations_are_acceptable() {
    let made: Made = [
        ("msg_own", "rs_1"),
        ("msg_foreign", "rs_3"),
        ("fc_foreign", "rs_3"),
        ("fc_4", "rs_4"),
        ("fc_5", "rs_4"),
        ("msg_six", "rs_6"),
        ("msg_seven", "rs_7"),
        ("fc_7", "rs_7"),
    ]
    .map(|(item, reasoning)| (item.to_owned(), reasoning.to_owned()))
    .into();
    let endpoint = endpoint(API, "https://api.openai.com/v1");
    let body = body(&endpoint, &request(&hard()));
    let text = String::from_utf8_lossy(&body).into_owned();
    assert_eq!(validate_responses(&body, &made), Vec::<String>::new(), "{text}");
    for needle in [
        "msg_own",
        "rs_1",
        "careful",
        "foreign",
        "fc_4",
        "fc_5",
        "rs_4",
        "six",
        "abor",
        "eight",
        "base64,aGk=",
    ] {
        assert!(text.contains(needle), "{needle} is missing in {text}");
    }
    for foreign in [
        "rs_2",
        "rs_3",
        "msg_foreign",
        "fc_foreign",
        "rs_5",
        "rs_6",
        "msg_six",
        "rs_7",
        "msg_seven",
        "fc_7",
        "zzz",
        "not json",
    ] {
        assert!(!text.contains(foreign), "{foreign} is in {text}");
    }
    let blind = Endpoint { sees: false, thinks: false, ..endpoint.clone() };
    let body = self::body(&blind, &request(&hard()));
    assert_eq!(validate_responses(&body, &made), Vec::<String>::new());
    let text = String::from_utf8_lossy(&body).into_owned();
    assert!(!text.contains("base64") && !text.contains("include"), "{text}");
}

#[test]
fn the_request_up_to_a_fork_stays_as_it_was() {
    let endpoint = endpoint(API, "https://api.openai.com/v1");
    let messages = hard();
    let more = Request { thinking: ThinkingLevel::High, max_output: Some(77), ..request(&messages) };
    let whole = body(&endpoint, &more);
    for end in 1..messages.len() {
        let fork = body(&endpoint, &request(&messages[..end]));
        // Behind the items stands what may differ.
        let behind = fork.iter().rposition(|&byte| byte == b']').unwrap();
        assert_eq!(fork[..behind], whole[..behind], "at {end}");
    }
}

/// Which reasoning stands before each item in the answers of a conversation.
fn made_in(messages: &[String]) -> Made {
    let mut made = Made::new();
    for message in messages {
        let message: Value = serde_json::from_str(message).unwrap();
        let mut reasoning = None;
        for block in message["content"].as_array().into_iter().flatten() {
            let signature = |key: &str| {
                let text = block[key].as_str()?;
                Some(
                    serde_json::from_str::<Value>(text)
                        .map_or(text.to_owned(), |v| v["id"].as_str().unwrap_or_default().to_owned()),
                )
            };
            let id = match block["type"].as_str() {
                Some("thinking") => {
                    reasoning = signature("thinkingSignature").or(reasoning);
                    None
                }
                Some("text") => signature("textSignature"),
                _ => block["id"].as_str().and_then(|id| Some(id.split_once('|')?.1.to_owned())),
            };
            if let (Some(id), Some(reasoning)) = (id, &reasoning) {
                made.insert(id, reasoning.clone());
            }
        }
    }
    made
}

#[test]
fn every_conversation_is_acceptable() {
    let (mut with_reasoning, mut with_items) = (0, 0);
    for file in session_files() {
        for (place, messages) in conversations(&file) {
            if messages.is_empty() {
                continue;
            }
            let made = made_in(&messages);
            // As a new model sees it, and as if every answer of the codex backend were our own.
            let codex = r#""api":"openai-codex-responses","provider":"openai-codex","model":"gpt-5.6-sol""#;
            let ours = format!(r#""api":"{}","provider":"test","model":"model-1""#, API.name());
            let own: Vec<String> = messages.iter().map(|message| message.replace(codex, &ours)).collect();
            for messages in [messages, own] {
                let body =
                    body(&endpoint(API, "https://api.openai.com/v1"), &Request { messages, ..hello() });
                let wrong = validate_responses(&body, &made);
                assert!(wrong.is_empty(), "{place}: {wrong:#?}");
                let text = String::from_utf8_lossy(&body);
                with_reasoning += usize::from(text.contains(r#""encrypted_content":"#));
                with_items += usize::from(text.contains(r#""id":"fc_"#));
            }
        }
    }
    eprintln!("{with_reasoning} requests with reasoning, {with_items} with items' ids");
}

#[test]
fn the_rules_are_rules() {
    let made = Made::from([("msg_own".to_owned(), "rs_1".to_owned())]);
    let good = body(&endpoint(API, "https://api.openai.com/v1"), &request(&hard()));
    let change = |pointer: &str, value: Value| {
        let mut body: Value = serde_json::from_slice(&good).unwrap();
        *body.pointer_mut(pointer).expect(pointer) = value;
        validate_responses(body.to_string().as_bytes(), &made)
    };
    assert!(change("/instructions", json!("other")).is_empty());
    for (pointer, value) in [
        ("/store", json!(true)),
        ("/instructions", json!("")),
        ("/input/0/content", json!([])),
        ("/input/1", json!({"role": "user", "content": [{"type": "input_text", "text": "x"}]})),
        ("/input/1/encrypted_content", Value::Null),
        ("/input/2", json!({"role": "user", "content": [{"type": "input_text", "text": "x"}]})),
        ("/input/2/id", json!("rs_1")),
        ("/input/2/content/0/text", json!("")),
        ("/input/5/call_id", json!("a|b")),
        ("/input/6/call_id", json!("other")),
        ("/input/6", json!({"role": "user", "content": [{"type": "input_text", "text": "x"}]})),
        ("/max_output_tokens", json!(3)),
    ] {
        assert!(!change(pointer, value.clone()).is_empty(), "{pointer} = {value}");
    }
}

async fn failure(reply: Reply) -> (ModelError, Answer) {
    let (_, answer, result, _) = answered(reply).await;
    let error = result.unwrap_err();
    assert!(!format!("{error} {error:?} {answer:?}").contains(KEY));
    (error, answer)
}

#[tokio::test]
async fn failures_are_told_apart() {
    let body =
        format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}.","code":"invalid_api_key"}}}}"#);
    assert!(matches!(failure(Reply::json(401, &body)).await.0, ModelError::KeyRefused { .. }));
    let limit = r#"{"error":{"message":"Rate limit reached for gpt-5 in organization. Please try again in 1.5s.","code":"rate_limit_exceeded"}}"#;
    let (error, _) = failure(Reply::json(429, limit)).await;
    assert_eq!(error.passing(), Passing::Yes(Some(Duration::from_millis(1500))), "{error}");
    let (error, _) = failure(Reply::json(429, limit).header("retry-after", "7")).await;
    assert_eq!(error.passing(), Passing::Yes(Some(Duration::from_secs(7))), "{error}");
    assert!(matches!(failure(Reply::json(500, "{}")).await.0, ModelError::Server { .. }));
    assert!(matches!(failure(Reply::json(529, "{}")).await.0, ModelError::Overloaded { .. }));
    let long = r#"{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}}"#;
    assert!(matches!(failure(Reply::json(400, long)).await.0, ModelError::ContextTooLong { .. }));
}

fn begun() -> Vec<Value> {
    vec![
        json!({"type": "response.created", "response": {"id": "r"}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "id": "msg_1", "content": []}}),
        json!({"type": "response.output_text.delta", "output_index": 0, "item_id": "msg_1", "delta": "so far"}),
    ]
}

#[tokio::test]
async fn streams_that_go_wrong_keep_what_came() {
    let said =
        |answer: &Answer| matches!(answer.blocks.as_slice(), [Block::Text { text, .. }] if text == "so far");
    for step in [Step::BreakOff, Step::Stall] {
        let (error, answer) = failure(Reply::sse(stream(&begun())).then(step)).await;
        assert!(matches!(error, ModelError::ConnectionLost { .. }) && said(&answer), "{error}");
    }
    let (error, answer) = failure(Reply::sse(stream(&begun()))).await;
    assert!(matches!(error, ModelError::ConnectionLost { .. }) && said(&answer), "{error}");
    let (error, answer) = failure(Reply::sse(stream(&begun())).text("data: {\"type\": oops\n\n")).await;
    assert!(matches!(error, ModelError::NotUnderstood { .. }) && said(&answer), "{error}");
    let ends = [
        (
            json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": "server_error", "message": "x"}}}),
            "server",
        ),
        (
            json!({"type": "response.failed", "response": {"error": {"code": "rate_limit_exceeded", "message": "try again in 2s"}}}),
            "rate",
        ),
        (json!({"type": "error", "code": "context_length_exceeded", "message": "x", "param": null}), "long"),
        (
            json!({"type": "error", "error": {"type": "invalid_request_error", "code": "invalid_prompt", "message": "violating our usage policy"}}),
            "refused",
        ),
        (
            json!({"type": "response.incomplete", "response": {"incomplete_details": {"reason": "content_filter"}}}),
            "refused",
        ),
    ];
    for (end, want) in ends {
        let mut events = begun();
        events.push(end);
        let (error, answer) = failure(Reply::sse(stream(&events))).await;
        let kind = match error {
            ModelError::Server { .. } => "server",
            ModelError::RateLimited { wait: Some(_), .. } => "rate",
            ModelError::ContextTooLong { .. } => "long",
            ModelError::Refused { .. } => "refused",
            other => panic!("{other}"),
        };
        assert_eq!(kind, want);
        assert!(said(&answer), "{answer:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_kept_as_far_as_it_came() {
    let mut events = begun();
    events.push(json!({"type": "response.output_item.added", "output_index": 1, "item": {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read", "arguments": ""}}));
    events.push(json!({"type": "response.function_call_arguments.delta", "output_index": 1, "item_id": "fc_1", "delta": "{\"pa"}));
    events.push(json!({"type": "response.incomplete", "response": {"incomplete_details": {"reason": "max_output_tokens"}, "usage": {"input_tokens": 5, "output_tokens": 16}}}));
    let (told, answer, result, _) = answered(Reply::sse(stream(&events))).await;
    result.unwrap();
    check_events(&told, &answer);
    assert_eq!((answer.stop, answer.usage.output), (StopReason::Length, 16));
    let message: Value = serde_json::from_str(&answer.to_message(&endpoint(API, "http://x"), 0)).unwrap();
    assert_eq!(message["content"], json!([{"type": "text", "text": "so far"}]));
}

#[tokio::test]
async fn a_server_that_tells_no_items_is_understood() {
    let end = json!({"type": "response.completed", "response": {"status": "completed", "output": [
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]},
        {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "hello"}, {"type": "refusal", "refusal": " no"}]},
    ]}});
    let (told, answer, result, _) = answered(Reply::sse(stream(&[end]))).await;
    result.unwrap();
    check_events(&told, &answer);
    assert!(
        matches!(answer.blocks.as_slice(), [Block::Thinking { thinking, .. }, Block::Text { text, .. }] if thinking == "hm" && text == "hello no"),
        "{answer:?}"
    );
}

#[tokio::test]
async fn an_abort_in_the_middle_hangs_up() {
    let server = Server::start(vec![Reply::sse(stream(&begun())).then(Step::Stall)]).await;
    let abort = CancellationToken::new();
    let mut stream = Client::new().stream(&endpoint(API, server.url()), &hello(), abort.clone());
    while !matches!(stream.next().await, Some(Event::TextDelta { .. })) {}
    abort.cancel();
    assert_eq!(stream.next().await, None);
    assert_eq!(stream.outcome().await.answer.stop, StopReason::Aborted);
    assert!(server.hang_up().await.is_some());
}

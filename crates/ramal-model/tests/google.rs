//! Google's Gemini over a real connection: what is sent is what its documentation allows, what comes
//! back is understood, and so is what goes wrong.

#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

mod support;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ramal_model::wire::Wire as _;
use ramal_model::wire::google::Google;
use ramal_model::{
    Answer, Api, Block, Client, Endpoint, Event, LanguageModel as _, ModelError, Request, StopReason,
    ThinkingLevel, ToolSpec, Usage,
};
use ramal_session::{At, SessionManager};
use ramal_testing::endpoint::{KEY, endpoint};
use ramal_testing::rules::google::check;
use ramal_testing::server::{Reply, Server, Step};
use serde_json::{Value, json};
use support::{check_events, drain, requests, sessions, short_timeouts};
use tokio_util::sync::CancellationToken;

fn gemini(base_url: &str, model: &str) -> Endpoint {
    Endpoint { model: model.into(), ..endpoint(Api::GoogleGenerativeAi, base_url) }
}

fn request(messages: Vec<Value>) -> Request {
    Request {
        system: "Be brief.".into(),
        messages: messages.iter().map(Value::to_string).collect(),
        tools: vec![ToolSpec {
            name: "read".into(),
            description: "Reads a file.".into(),
            parameters: r#"{"$schema":"x","type":"object","properties":{"path":{"type":"string"}},"required":["path"]}"#
                .into(),
        }],
        thinking: ThinkingLevel::Medium,
        ..Request::default()
    }
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text, "timestamp": 1})
}

fn own(model: &str, content: Value) -> Value {
    json!({"role": "assistant", "content": content, "api": "google-generative-ai", "provider": "test", "model": model,
        "stopReason": "toolUse", "timestamp": 2})
}

fn result(id: &str, text: &str) -> Value {
    json!({"role": "toolResult", "toolCallId": id, "toolName": "read", "isError": false, "timestamp": 3,
        "content": [{"type": "text", "text": text}]})
}

async fn ask(reply: Reply) -> (Vec<Event>, Answer, Result<(), ModelError>) {
    let server = Server::start(vec![reply]).await;
    let endpoint = gemini(server.url(), "gemini-3-flash-preview");
    let stream = Client::with_timeouts(short_timeouts()).stream(
        &endpoint,
        &request(vec![user("hello")]),
        CancellationToken::new(),
    );
    let done = drain(stream).await;
    check_events(&done.0, &done.1);
    assert!(!format!("{done:?}").contains(KEY), "the key is told: {done:?}");
    done
}

fn chunks(chunks: &[Value]) -> Reply {
    let texts: Vec<String> = chunks.iter().map(Value::to_string).collect();
    Reply::events(texts.iter().map(|text| ("", &**text)))
}

fn parts(parts: Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]})
}

fn end(reason: &str) -> Value {
    json!({"candidates": [{"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": reason}],
        "usageMetadata": {"promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 7,
            "thoughtsTokenCount": 5, "totalTokenCount": 112}})
}

#[tokio::test]
async fn everything_at_once_in_odd_pieces() {
    let whole = [
        parts(json!([{"text": "Let me ", "thought": true}])),
        parts(json!([{"text": "think 🌿.", "thought": true}])),
        parts(json!([{"text": "Here "}])),
        parts(json!([{"text": "it is."}, {"text": "", "thoughtSignature": "QUJD"}])),
        parts(json!([
            {"functionCall": {"id": "a", "name": "read", "args": {"path": "é", "n": 1.50}}, "thoughtSignature": "REVG"},
            {"functionCall": {"name": "read", "args": {"path": "y"}}},
            {"functionCall": {"id": "a", "name": "read"}},
        ])),
        end("STOP"),
    ];
    for size in [1, 2, 3, 7, 64, 100_000] {
        let (events, answer, outcome) = ask(chunks(&whole).cut(size)).await;
        outcome.unwrap();
        assert_eq!(events.first(), Some(&Event::Start));
        assert_eq!(answer.stop, StopReason::ToolUse);
        assert_eq!(answer.usage, Usage { input: 40, output: 12, cache_read: 60, cache_write: 0 });
        let thinking = "Let me think 🌿.".to_owned();
        assert_eq!(answer.blocks[0], Block::Thinking { thinking, signature: None, redacted: false });
        assert_eq!(
            answer.blocks[1],
            Block::Text { text: "Here it is.".into(), signature: Some("QUJD".into()) }
        );
        let mut ids = HashSet::new();
        for block in &answer.blocks[2..] {
            let Block::ToolCall { id, name, .. } = block else { panic!("{block:?}") };
            assert!(!id.is_empty() && ids.insert(id.clone()) && name == "read", "{block:?}");
        }
        let Block::ToolCall { arguments, signature, .. } = &answer.blocks[2] else { panic!() };
        assert_eq!((&**arguments, signature.as_deref()), (r#"{"n":1.5,"path":"é"}"#, Some("REVG")));
        assert_eq!(answer.blocks.len(), 5);
    }
}

#[tokio::test]
async fn an_answer_goes_back_as_it_came() {
    let reply = chunks(&[
        parts(json!([{"text": "Hm.", "thought": true}])),
        parts(json!([{"text": "First ", "thoughtSignature": "QUJD"}])),
        parts(json!([{"text": "second."}])),
        parts(
            json!([{"functionCall": {"id": "a", "name": "read", "args": {"path": "x"}}, "thoughtSignature": "REVG"}]),
        ),
        parts(json!([{"text": "", "thoughtSignature": "R0hJ"}])),
        end("STOP"),
    ]);
    let (_, answer, _) = ask(reply).await;
    let model = gemini("http://x", "gemini-3-flash-preview");
    let message: Value = serde_json::from_str(&answer.to_message(&model, 5)).unwrap();
    let next = request(vec![user("hello"), message.clone(), result("a", "text")]);
    let body: Value = serde_json::from_slice(&Google.request(&model, &next).body).unwrap();
    check("gemini-3-flash-preview", &body);
    assert_eq!(
        body["contents"][1]["parts"],
        json!([
            {"text": "Hm.", "thought": true},
            {"text": "First ", "thoughtSignature": "QUJD"},
            {"text": "second."},
            {"functionCall": {"id": "a", "name": "read", "args": {"path": "x"}}, "thoughtSignature": "REVG"},
            {"text": "", "thoughtSignature": "R0hJ"},
        ])
    );
    // Another model gets neither thoughts nor signatures, but what stands for one.
    let other = gemini("http://x", "gemini-3.1-pro-preview");
    let body: Value = serde_json::from_slice(&Google.request(&other, &next).body).unwrap();
    check("gemini-3.1-pro-preview", &body);
    let sent = body["contents"][1].to_string();
    assert!(!sent.contains("Hm.") && !sent.contains("REVG") && !sent.contains("QUJD"), "{sent}");
    assert!(sent.contains("skip_thought_signature_validator"), "{sent}");
    let older = gemini("http://x", "gemini-2.5-flash");
    let body: Value = serde_json::from_slice(&Google.request(&older, &next).body).unwrap();
    check("gemini-2.5-flash", &body);
    assert!(!body.to_string().contains("thoughtSignature"));
}

#[tokio::test]
async fn a_malformed_call_is_kept_as_it_came_beside_the_good_one() {
    let calls = parts(json!([
        {"functionCall": {"id": "c0", "name": "read", "args": {"path": "a"}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"id": "c1", "name": "read", "args": [1]}},
        {"functionCall": {"id": "c2", "name": "read", "args": "{\"path\":\"b\"}"}},
    ]));
    let (_, answer, result) = ask(chunks(&[calls, end("STOP")])).await;
    result.unwrap();
    let endpoint = gemini("http://127.0.0.1:9", "gemini-2.5-flash");
    let message = answer.to_message(&endpoint, 1);
    let content = serde_json::from_str::<Value>(&message).unwrap()["content"].clone();
    assert_eq!(content[0]["arguments"], json!({"path": "a"}));
    assert_eq!((&content[1]["arguments"], &content[1]["rawArguments"]), (&json!({}), &json!("[1]")));
    assert_eq!(content[2]["arguments"], json!({"path": "b"}));
    let mut messages = vec![user("x"), serde_json::from_str(&message).unwrap()];
    messages.extend(["c0", "c1", "c2"].map(|id| self::result(id, "y")));
    let sent = Google.request(&endpoint, &request(messages));
    check(&endpoint.model, &serde_json::from_slice(&sent.body).unwrap());
}

#[tokio::test]
async fn what_is_asked_for() {
    let server = Server::start(vec![chunks(&[parts(json!([{"text": "Hi"}])), end("STOP")])]).await;
    let model = gemini(&format!("{}/v1beta", server.url()), "gemini-2.5-pro");
    let client = Client::with_timeouts(short_timeouts());
    drain(client.stream(&model, &request(vec![user("hello")]), CancellationToken::new())).await.2.unwrap();
    let asked = server.requests().remove(0);
    assert_eq!(asked.path, "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse");
    assert_eq!(asked.header("x-goog-api-key"), Some(KEY));
    let body = asked.json();
    check("gemini-2.5-pro", &body);
    assert_eq!(body["systemInstruction"]["parts"][0]["text"], "Be brief.");
    assert_eq!(body["contents"], json!([{"role": "user", "parts": [{"text": "hello"}]}]));
    assert_eq!(
        body["generationConfig"],
        json!({"maxOutputTokens": 64_000, "thinkingConfig": {"thinkingBudget": 8192, "includeThoughts": true}})
    );
}

#[test]
fn odd_conversations_are_put_right() {
    let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
    let foreign = json!({"role": "assistant", "api": "anthropic-messages", "provider": "anthropic", "model": "m",
        "content": [{"type": "thinking", "thinking": "secret", "thinkingSignature": "QUJD"}, {"type": "text", "text": " "},
            {"type": "toolCall", "id": "t|1", "name": "9 odd/name", "arguments": {"a": 1}, "thoughtSignature": "QUJD"},
            {"type": "toolCall", "id": "t|2", "name": "read", "arguments": [1]}]});
    let aborted = json!({"role": "assistant", "api": "google-generative-ai", "provider": "test",
        "model": "gemini-3-flash-preview", "stopReason": "aborted",
        "content": [{"type": "thinking", "thinking": "half"}, {"type": "text", "text": "half said"}]});
    let with_image = json!({"role": "toolResult", "toolCallId": "t|2", "toolName": "read", "isError": true,
        "content": [{"type": "text", "text": "see"}, image]});
    let conversations = [
        vec![],
        vec![foreign.clone()],
        vec![json!({"role": "assistant", "content": [{"type": "text", "text": "I begin"}]})],
        vec![
            json!({"role": "system", "content": "rules"}),
            user("a"),
            json!({"role": "developer", "content": "b"}),
        ],
        vec![user("a"), foreign.clone(), result("t|1", ""), with_image, user("b"), aborted, user("c")],
        vec![
            json!({"role": "user", "content": [image, {"type": "text", "text": ""}, {"type": "odd"}]}),
            user(""),
        ],
    ];
    for model in ["gemini-3-flash-preview", "gemini-2.5-flash", "gemma-4-26b-a4b-it"] {
        for (number, conversation) in conversations.iter().enumerate() {
            let mut asked = request(conversation.clone());
            if number == 1 {
                asked.messages.push(result("t|1", "x").to_string());
                asked.messages.push(result("t|2", "y").to_string());
            }
            let mut model_of = gemini("http://x", model);
            for sees in [true, false] {
                model_of.sees = sees;
                let body: Value = serde_json::from_slice(&Google.request(&model_of, &asked).body).unwrap();
                check(model, &body);
                let text = body.to_string();
                assert!(!text.contains("secret") && !text.contains("\"half\""), "{text}");
                assert_eq!(text.contains("AAAA"), sees && number >= 4, "{text}");
                if number == 3 {
                    assert_eq!(body["systemInstruction"]["parts"][1]["text"], "rules");
                }
            }
        }
    }
}

/// What is sent for these messages is allowed, and the bytes before a fork are the same on both sides.
fn check_conversation(place: &str, messages: &[String]) {
    for model in ["gemini-3.1-pro-preview", "gemini-2.5-flash"] {
        let endpoint = gemini("http://x", model);
        let asked = Request { messages: messages.to_vec(), ..request(Vec::new()) };
        let body = Google.request(&endpoint, &asked).body;
        let body: Value = serde_json::from_slice(&body).unwrap_or_else(|error| panic!("{place}: {error}"));
        check(model, &body);
        requests::check_fork(&Google, &endpoint, messages, place, str::to_owned);
    }
}

#[test]
fn every_leaf_of_every_session_makes_a_request_that_is_allowed() {
    for path in sessions::session_files() {
        for (place, messages) in sessions::conversations(&path) {
            check_conversation(&place, &messages);
        }
    }
}

/// The session files of the vectors, odd as they are (`$RAMAL_VECTORS`, or `shared/vectors` beside the
/// repository): from every entry without children, as far as they open at all.
#[test]
fn every_leaf_of_every_vector_makes_a_request_that_is_allowed() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors");
    let folder = std::env::var_os("RAMAL_VECTORS").map_or(beside, PathBuf::from);
    let Ok(files) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: there are no vectors at {}", folder.display());
        return;
    };
    let mut checked = 0;
    for path in files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
    {
        // Some hold halves of surrogate pairs.
        let vector = std::fs::read(&path).unwrap();
        let vector: Value = serde_json::from_str(&ramal_session::json::clean(&vector)).unwrap();
        let Some(text) = vector["file"].as_str() else { continue };
        let scratch = tempfile::tempdir().unwrap();
        let copy = scratch.path().join("session.jsonl");
        #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
        std::fs::write(&copy, text).unwrap();
        let Ok(session) = SessionManager::open(&copy, Some(scratch.path())) else { continue };
        // Of the very wide ones, some.
        for entry in session.get_entries().filter(|entry| !entry.has_children()).take(8) {
            let Ok(id) = entry.id() else { continue };
            let Ok(context) = session.build_session_context(At::Entry(id.as_str())) else { continue };
            let Ok(messages) = context.model_messages().collect::<Result<Vec<_>, _>>() else { continue };
            check_conversation(&format!("{} at {}", path.display(), id.as_str()), &messages);
            checked += 1;
        }
    }
    assert!(checked > 200, "{checked}");
}

#[test]
fn what_two_conversations_share_is_the_same_bytes() {
    let trunk = [
        user("a"),
        own(
            "gemini-3-flash-preview",
            json!([{"type": "toolCall", "id": "1", "name": "read", "arguments": {"b": 1, "a": 2}}]),
        ),
        result("1", "x"),
        own("gemini-3-flash-preview", json!([{"type": "text", "text": "done"}])),
    ];
    let model = gemini("http://x", "gemini-3-flash-preview");
    let body = |more: &[Value], level| {
        let messages = trunk.iter().chain(more).cloned().collect();
        let asked = Request { thinking: level, ..request(messages) };
        String::from_utf8(Google.request(&model, &asked).body).unwrap()
    };
    let one = body(
        &[user("b"), own("gemini-3-flash-preview", json!([{"type": "text", "text": "c"}]))],
        ThinkingLevel::Low,
    );
    let two = body(&[user("other")], ThinkingLevel::High);
    let shared = one.bytes().zip(two.bytes()).take_while(|(a, b)| a == b).count();
    assert!(one[..shared].ends_with(r#"{"role":"user","parts":[{"text":""#), "{}", &one[..shared]);
    assert!(one[..shared].contains(r#""args":{"#), "the whole trunk is shared");
    assert_eq!(
        one,
        body(
            &[user("b"), own("gemini-3-flash-preview", json!([{"type": "text", "text": "c"}]))],
            ThinkingLevel::Low
        )
    );
}

#[tokio::test]
async fn errors_are_told_apart() {
    let error = |code: u16, status: &str, message: &str, details: Value| {
        Reply::json(
            code,
            &json!({"error": {"code": code, "message": message, "status": status, "details": details}})
                .to_string(),
        )
    };
    let key = json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]);
    let wait = json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}]);
    let told = |message: &str| format!("{message} {KEY}");
    let case = ask(error(400, "INVALID_ARGUMENT", &told("API key not valid."), key)).await.2;
    assert!(matches!(case, Err(ModelError::KeyRefused { .. })), "{case:?}");
    let case = ask(error(403, "PERMISSION_DENIED", &told("no"), json!([]))).await.2;
    assert!(matches!(case, Err(ModelError::KeyRefused { .. })), "{case:?}");
    let case = ask(error(429, "RESOURCE_EXHAUSTED", "quota", wait)).await.2;
    let wanted = Some(Duration::from_secs_f64(34.5));
    assert!(matches!(&case, Err(ModelError::RateLimited { wait, .. }) if *wait == wanted), "{case:?}");
    let case = ask(error(429, "RESOURCE_EXHAUSTED", "quota", json!([])).header("retry-after", "7")).await.2;
    let wanted = Some(Duration::from_secs(7));
    assert!(matches!(&case, Err(ModelError::RateLimited { wait, .. }) if *wait == wanted), "{case:?}");
    for code in [503, 529] {
        let case = ask(error(code, "UNAVAILABLE", "The model is overloaded.", json!([]))).await.2;
        assert!(matches!(case, Err(ModelError::Overloaded { .. })), "{case:?}");
    }
    let case = ask(error(500, "INTERNAL", "oops", json!([]))).await.2;
    assert!(matches!(case, Err(ModelError::Server { status: 500, .. })), "{case:?}");
    let long = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
    let case = ask(error(400, "INVALID_ARGUMENT", long, json!([]))).await.2;
    assert!(matches!(case, Err(ModelError::ContextTooLong { .. })), "{case:?}");
    let case = ask(error(400, "INVALID_ARGUMENT", "contents is not specified", json!([]))).await.2;
    assert!(matches!(case, Err(ModelError::BadRequest { status: 400, .. })), "{case:?}");
    let case = ask(Reply::json(404, "[{\"error\":{\"code\":404,\"message\":\"no such model\"}}]")).await.2;
    assert!(
        matches!(&case, Err(ModelError::BadRequest { message, .. }) if message == "no such model"),
        "{case:?}"
    );
    let case = ask(Reply::json(502, "<html>")).await.2;
    assert!(matches!(case, Err(ModelError::Server { status: 502, .. })), "{case:?}");
}

#[tokio::test]
async fn what_goes_wrong_in_a_stream_keeps_what_came() {
    let begun = parts(json!([{"text": "Half of"}]));
    let said =
        |answer: &Answer| matches!(&answer.blocks[..], [Block::Text { text, .. }] if text == "Half of");
    for reason in ["SAFETY", "RECITATION", "PROHIBITED_CONTENT"] {
        let (_, answer, case) = ask(chunks(&[begun.clone(), end(reason)])).await;
        assert!(matches!(&case, Err(ModelError::Refused { message, .. }) if message == reason), "{case:?}");
        assert!(said(&answer) && answer.stop == StopReason::Error && answer.usage.output == 12);
    }
    let (_, _, case) = ask(chunks(&[json!({"promptFeedback": {"blockReason": "OTHER"}})])).await;
    assert!(matches!(case, Err(ModelError::Refused { .. })), "{case:?}");
    let (_, answer, case) = ask(chunks(&[begun.clone(), end("MALFORMED_FUNCTION_CALL")])).await;
    assert!(said(&answer) && matches!(case, Err(ModelError::Server { .. })), "{case:?}");
    let (_, answer, case) = ask(chunks(&[begun.clone(), end("SOMETHING_NEW")])).await;
    assert!(said(&answer) && matches!(case, Err(ModelError::NotUnderstood { .. })), "{case:?}");
    let (_, answer, case) = ask(chunks(&[begun.clone(), end("MAX_TOKENS")])).await;
    assert!(case.is_ok() && answer.stop == StopReason::Length);
    let error = json!({"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}});
    let (_, answer, case) = ask(chunks(&[begun.clone(), error])).await;
    assert!(said(&answer) && matches!(case, Err(ModelError::Overloaded { .. })), "{case:?}");
    for reply in [
        chunks(std::slice::from_ref(&begun)),
        chunks(std::slice::from_ref(&begun)).then(Step::BreakOff),
        chunks(std::slice::from_ref(&begun)).then(Step::Stall),
    ] {
        let (_, answer, case) = ask(reply).await;
        assert!(said(&answer) && matches!(case, Err(ModelError::ConnectionLost { .. })), "{case:?}");
    }
    for rubbish in
        ["data: {\"candidates\":[\n\n", "data: 7\n\n", "data: {\"candidates\":{}}\n\n", "<html>\n\n"]
    {
        let (_, _, case) = ask(Reply::sse(rubbish)).await;
        assert!(matches!(case, Err(ModelError::NotUnderstood { .. })), "{rubbish}: {case:?}");
    }
}

#[tokio::test]
async fn an_abort_hangs_up_and_keeps_what_came() {
    let server = Server::start(vec![chunks(&[parts(json!([{"text": "Half of"}]))]).then(Step::Stall)]).await;
    let abort = CancellationToken::new();
    let model = gemini(server.url(), "gemini-3-flash-preview");
    let mut stream = Client::new().stream(&model, &request(vec![user("a")]), abort.clone());
    while !matches!(stream.next().await, Some(Event::TextDelta { .. }) | None) {}
    let aborted = Instant::now();
    abort.cancel();
    let (_, answer, outcome) = drain(stream).await;
    outcome.unwrap();
    assert_eq!(answer.stop, StopReason::Aborted);
    assert_eq!(answer.blocks, [Block::Text { text: "Half of".into(), signature: None }]);
    assert!(server.hang_up().await.is_some_and(|at| at.duration_since(aborted) < Duration::from_secs(5)));
}

//! Anthropic's Messages over a server that speaks it.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::time::{Duration, Instant};

use proptest::prelude::*;
use ramal_model::{
    Answer, Api, Block, Client, Event, LanguageModel, ModelError, Outcome, Passing, Secret, StopReason,
    ThinkingLevel, Usage, wire,
};
use ramal_testing::endpoint::{KEY, endpoint};
use ramal_testing::rules::anthropic::validate_anthropic;
use ramal_testing::server::{Reply, Server, Step, sse_text};
use support::requests::{request, user};
use support::{check_events, drain, short_timeouts};
use tokio_util::sync::CancellationToken;

const API: Api = Api::AnthropicMessages;

const START: &str = r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":12,"cache_creation_input_tokens":30,"cache_read_input_tokens":400,"output_tokens":1,"service_tier":"standard"}}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;

fn end(reason: &str) -> String {
    format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}","stop_sequence":null}},"usage":{{"output_tokens":77}}}}"#
    )
}

fn begin(index: usize, block: &str) -> String {
    format!(r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#)
}

fn delta(index: usize, delta: &str) -> String {
    format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#)
}

fn stop(index: usize) -> String {
    format!(r#"{{"type":"content_block_stop","index":{index}}}"#)
}

fn text(index: usize, pieces: &[&str]) -> Vec<String> {
    let mut all = vec![begin(index, r#"{"type":"text","text":""}"#)];
    let piece = |text: &&str| delta(index, &format!(r#"{{"type":"text_delta","text":{text:?}}}"#));
    all.extend(pieces.iter().map(piece));
    all.push(stop(index));
    all
}

fn stream(events: &[String]) -> String {
    let named: Vec<(String, &String)> = events
        .iter()
        .map(|data| {
            let value: serde_json::Value = serde_json::from_str(data).unwrap();
            (value["type"].as_str().unwrap().to_owned(), data)
        })
        .collect();
    sse_text(named.iter().map(|(name, data)| (name.as_str(), data.as_str())))
}

fn whole(middle: Vec<String>, reason: &str) -> String {
    let mut all = vec![START.to_owned(), r#"{"type": "ping"}"#.to_owned()];
    all.extend(middle);
    all.extend([end(reason), STOP.to_owned()]);
    stream(&all)
}

async fn ask(server: &Server) -> (Vec<Event>, Answer, Result<(), ModelError>) {
    let client = Client::with_timeouts(short_timeouts());
    let asked = request(vec![user("Hello")], ThinkingLevel::High);
    let stream = client.stream(&endpoint(API, server.url()), &asked, CancellationToken::new());
    drain(stream).await
}

async fn answered(reply: Reply) -> (Vec<Event>, Answer, Result<(), ModelError>) {
    let server = Server::start(vec![reply]).await;
    let got = ask(&server).await;
    for sent in server.requests() {
        assert_eq!(validate_anthropic(&sent.body), Vec::<String>::new());
    }
    got
}

async fn fails(reply: Reply) -> (Answer, ModelError) {
    let (_, answer, result) = answered(reply).await;
    let error = result.unwrap_err();
    assert_eq!(answer.stop, StopReason::Error);
    assert_eq!(answer.error.as_deref(), Some(error.to_string().as_str()));
    assert!(!format!("{error:?} {error} {answer:?}").contains(KEY));
    (answer, error)
}

#[tokio::test]
async fn a_text_arrives_whole_however_it_is_cut() {
    let script = whole(text(0, &["Grüße, ", "世界 🌍", "!"]), "end_turn");
    for (script, size) in
        [(script.clone(), 1), (script.clone(), 7), (script.replace('\n', "\r\n"), 3), (script, 9999)]
    {
        let (events, answer, result) = answered(Reply::sse(script).cut(size)).await;
        assert_eq!(result, Ok(()));
        check_events(&events, &answer);
        assert_eq!(answer.blocks, [Block::Text { text: "Grüße, 世界 🌍!".into(), signature: None }]);
        assert_eq!(answer.usage, Usage { input: 12, output: 77, cache_read: 400, cache_write: 30 });
        assert_eq!((answer.stop, &answer.error), (StopReason::Stop, &None));
        assert_eq!(events.first(), Some(&Event::Start));
        assert_eq!(events.iter().filter(|event| matches!(event, Event::TextDelta { .. })).count(), 3);
    }
}

#[tokio::test]
async fn the_request_has_what_the_provider_wants() {
    let server = Server::start(vec![Reply::sse(whole(text(0, &["x"]), "end_turn"))]).await;
    let mut at = endpoint(API, server.url());
    at.headers =
        vec![("X-Team".into(), Secret::new("blue")), ("anthropic-version".into(), Secret::new("2099-01-01"))];
    at.model = "claude-sonnet-4-5".into();
    let client = Client::new();
    let asked = request(vec![user("Hello")], ThinkingLevel::Medium);
    for _ in 0..2 {
        let (_, _, result) = drain(client.stream(&at, &asked, CancellationToken::new())).await;
        assert_eq!(result, Ok(()));
    }
    let sent = server.requests();
    assert_eq!(sent[0].body, sent[1].body);
    assert_eq!((sent[0].method.as_str(), sent[0].path.as_str()), ("POST", "/v1/messages"));
    for (name, value) in [
        ("x-api-key", KEY),
        ("x-team", "blue"),
        ("anthropic-version", "2099-01-01"),
        ("anthropic-beta", "interleaved-thinking-2025-05-14"),
        ("content-type", "application/json"),
        ("accept", "text/event-stream"),
    ] {
        assert_eq!(sent[0].header(name), Some(value), "{name}");
    }
    let body = sent[0].json();
    assert_eq!(body["thinking"], serde_json::json!({"type": "enabled", "budget_tokens": 8192}));
    assert_eq!(body["system"][0]["text"], "You help with code.");
    assert_eq!(body["tools"][1]["input_schema"]["type"], "object");
    assert!(!String::from_utf8_lossy(&sent[0].body).contains(KEY));
}

#[tokio::test]
async fn thoughts_keep_their_signatures_and_go_back_as_they_came() {
    let mut middle = vec![
        begin(0, r#"{"type":"thinking","thinking":"","signature":""}"#),
        delta(0, r#"{"type":"thinking_delta","thinking":"First "}"#),
        delta(0, r#"{"type":"thinking_delta","thinking":"this."}"#),
        delta(0, r#"{"type":"signature_delta","signature":"c2ln"}"#),
        delta(0, r#"{"type":"signature_delta","signature":"MQ=="}"#),
        stop(0),
        begin(1, r#"{"type":"redacted_thinking","data":"aGlkZGVu"}"#),
        stop(1),
    ];
    middle.extend(text(2, &["Looking."]));
    middle.extend([
        begin(3, r#"{"type":"thinking","thinking":"","signature":""}"#),
        delta(3, r#"{"type":"signature_delta","signature":"c2lnMg=="}"#),
        stop(3),
        begin(4, r#"{"type":"tool_use","id":"toolu_01","name":"read","input":{}}"#),
        delta(4, r#"{"type":"input_json_delta","partial_json":""}"#),
        delta(4, r#"{"type":"input_json_delta","partial_json":"{\"path\": \"a"}"#),
        delta(4, r#"{"type":"input_json_delta","partial_json":".rs\",\"n\":1.0}"}"#),
        stop(4),
    ]);
    let server = Server::start(vec![Reply::sse(whole(middle, "tool_use")).cut(11)]).await;
    let (events, answer, result) = ask(&server).await;
    assert_eq!(result, Ok(()));
    check_events(&events, &answer);
    let thinking = |thinking: &str, signature: &str, redacted| Block::Thinking {
        thinking: thinking.into(),
        signature: Some(signature.into()),
        redacted,
    };
    let call = Block::ToolCall {
        id: "toolu_01".into(),
        name: "read".into(),
        arguments: r#"{"path": "a.rs","n":1.0}"#.into(),
        signature: None,
    };
    let expected = [
        thinking("First this.", "c2lnMQ==", false),
        thinking("", "aGlkZGVu", true),
        Block::Text { text: "Looking.".into(), signature: None },
        thinking("", "c2lnMg==", false),
        call,
    ];
    assert_eq!(answer.blocks, expected);
    assert_eq!(answer.stop, StopReason::ToolUse);

    // To the same model it goes back block by block; another gets no signature.
    let at = endpoint(API, server.url());
    let result = r#"{"role":"toolResult","toolCallId":"toolu_01","toolName":"read","content":[{"type":"text","text":"fn"}],"isError":false}"#;
    let messages = vec![user("Hello"), answer.to_message(&at, 1), result.to_owned()];
    let content = |at| {
        let sent = wire::of(API).unwrap().request(&at, &request(messages.clone(), ThinkingLevel::High));
        assert_eq!(validate_anthropic(&sent.body), Vec::<String>::new());
        String::from_utf8(sent.body).unwrap()
    };
    let own = content(at.clone());
    let sent_back = concat!(
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"First this.","signature":"c2lnMQ=="},"#,
        r#"{"type":"redacted_thinking","data":"aGlkZGVu"},{"type":"text","text":"Looking."},"#,
        r#"{"type":"thinking","thinking":"","signature":"c2lnMg=="},"#,
        r#"{"type":"tool_use","id":"toolu_01","name":"read","input":{"path": "a.rs","n":1.0}}]}"#
    );
    assert!(own.contains(sent_back), "{own}");
    assert!(own.contains(r#""thinking":{"type":"enabled""#));
    for change in [
        |at: &mut ramal_model::Endpoint| at.model = "model-2".into(),
        |at: &mut ramal_model::Endpoint| at.provider = "other".into(),
    ] {
        let mut at = at.clone();
        change(&mut at);
        let foreign = content(at);
        assert!(!foreign.contains("signature") && !foreign.contains("aGlkZGVu"), "{foreign}");
        // The turn did not begin with a thought of this model.
        assert!(!foreign.contains(r#""thinking":{"#), "{foreign}");
    }
}

#[tokio::test]
async fn two_calls_at_once_keep_their_arguments_apart() {
    let call = |index, id: &str| {
        begin(index, &format!(r#"{{"type":"tool_use","id":"{id}","name":"bash","input":{{}}}}"#))
    };
    let piece = |index, text: &str| {
        delta(index, &format!(r#"{{"type":"input_json_delta","partial_json":{text:?}}}"#))
    };
    let middle = vec![
        call(0, "toolu_a"),
        piece(0, ""),
        piece(0, "{\"comm"),
        call(1, "toolu_b"),
        piece(1, "{\"command\":\"l"),
        piece(0, "and\":\"ls\"}"),
        stop(0),
        piece(1, "l\"}"),
        stop(1),
        call(2, "toolu_c"),
        stop(2),
    ];
    let (events, answer, result) = answered(Reply::sse(whole(middle, "tool_use")).cut(13)).await;
    assert_eq!(result, Ok(()));
    check_events(&events, &answer);
    let found: Vec<(&str, &str)> = answer
        .blocks
        .iter()
        .map(|block| match block {
            Block::ToolCall { id, arguments, .. } => (id.as_str(), arguments.as_str()),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected =
        [("toolu_a", r#"{"command":"ls"}"#), ("toolu_b", r#"{"command":"ll"}"#), ("toolu_c", "{}")];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn errors_are_told_apart() {
    let body = |kind: &str, message: &str| {
        format!(
            r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}},"request_id":"req_1"}}"#
        )
    };
    let refused = Reply::json(401, &body("authentication_error", &format!("invalid x-api-key {KEY}")));
    assert!(matches!(fails(refused).await.1, ModelError::KeyRefused { .. }));
    let limited = Reply::json(429, &body("rate_limit_error", "slow down")).header("retry-after", "7");
    let (_, error) = fails(limited).await;
    assert!(matches!(&error, ModelError::RateLimited { message, .. } if message == "slow down"), "{error:?}");
    assert_eq!(error.passing(), Passing::Yes(Some(Duration::from_secs(7))));
    assert_eq!(error.to_string(), "test wants fewer requests and asks to wait 7 s: slow down");
    let server = Reply::json(500, "<html>Internal error</html>").cut(2);
    let (_, error) = fails(server).await;
    assert!(
        matches!(&error, ModelError::Server { status: 500, message, .. } if message.contains("Internal"))
    );
    let (_, error) = fails(Reply::json(529, &body("overloaded_error", "Overloaded"))).await;
    assert!(matches!(error, ModelError::Overloaded { .. }), "{error:?}");
    for (status, kind, message) in [
        (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
        (400, "invalid_request_error", "input length and `max_tokens` exceed context limit: 1 + 2 > 2"),
        (413, "request_too_large", "Request exceeds the maximum size"),
    ] {
        let (_, error) = fails(Reply::json(status, &body(kind, message))).await;
        assert!(matches!(error, ModelError::ContextTooLong { .. }), "{error:?}");
    }
    let (_, error) = fails(Reply::json(400, &body("invalid_request_error", "messages: empty"))).await;
    assert!(matches!(error, ModelError::BadRequest { status: 400, .. }), "{error:?}");
    assert_eq!(error.passing(), Passing::No);
    let moved = Reply::json(307, "").header("location", "http://127.0.0.1:1/else?key=no-such-secret");
    let (_, error) = fails(moved).await;
    assert!(matches!(error, ModelError::BadRequest { status: 307, .. }));
    assert!(error.to_string().contains("/else?key=…;"), "{error}");
}

#[tokio::test]
async fn what_a_server_repeats_of_keys_is_not_told() {
    let echo = format!("what are {KEY}, header-secret, user-secret and query-secret?");
    let body = format!(r#"{{"type":"error","error":{{"type":"api_error","message":"{echo}"}}}}"#);
    let mut inside = stream(&[START.to_owned()]);
    inside += &sse_text([("error", &*body)]);
    let rubbish = format!("event: x\ndata: {{\"oops {echo}\n\n");
    for reply in [Reply::json(500, &body), Reply::sse(inside), Reply::sse(rubbish)] {
        let server = Server::start(vec![reply]).await;
        let url = server.url().replace("http://", "http://me:user-secret@") + "/?key=query-secret&x=";
        let mut at = endpoint(API, &url);
        at.headers = vec![("X-Team".into(), Secret::new("Bearer header-secret"))];
        let asked = request(vec![user("x")], ThinkingLevel::Off);
        let outcome = Client::with_timeouts(short_timeouts())
            .stream(&at, &asked, CancellationToken::new())
            .outcome()
            .await;
        let error = outcome.result.unwrap_err();
        let text = format!("{error} {error:?} {:?}", outcome.answer);
        assert!(text.contains("what are …, …, … and …?") && !text.contains("secret"), "{text}");
    }
}

#[tokio::test]
async fn an_error_in_the_stream_keeps_what_came() {
    let mut events = vec![START.to_owned()];
    events.extend(text(0, &["Half"]));
    events.push(r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#.to_owned());
    let (answer, error) = fails(Reply::sse(stream(&events))).await;
    assert!(matches!(error, ModelError::Overloaded { .. }), "{error:?}");
    assert_eq!(answer.blocks, [Block::Text { text: "Half".into(), signature: None }]);
    assert_eq!(answer.usage.input, 12);
}

#[tokio::test]
async fn a_refusal_and_a_cut_answer_are_said() {
    let (answer, error) = fails(Reply::sse(whole(text(0, &["I"]), "refusal"))).await;
    assert!(matches!(error, ModelError::Refused { .. }), "{error:?}");
    assert_eq!((answer.blocks.len(), answer.usage.output), (1, 77));
    for (reason, stop) in [
        ("max_tokens", StopReason::Length),
        ("model_context_window_exceeded", StopReason::Length),
        ("stop_sequence", StopReason::Stop),
        ("pause_turn", StopReason::Stop),
        ("something_new", StopReason::Stop),
    ] {
        let (_, answer, result) = answered(Reply::sse(whole(text(0, &["x"]), reason))).await;
        assert_eq!((result, answer.stop), (Ok(()), stop), "{reason}");
    }
}

#[tokio::test]
async fn what_is_not_known_is_passed_over() {
    let mut middle = vec![
        r#"{"type":"something_new","index":"x"}"#.replace(r#""x""#, "9"),
        begin(0, r#"{"type":"server_tool_use","id":"s","name":"web_search","input":{}}"#),
        delta(0, r#"{"type":"input_json_delta","partial_json":"{"}"#),
        stop(0),
    ];
    let mut said = text(1, &["Hi"]);
    said.insert(1, delta(1, r#"{"type":"citations_delta","citation":{"cited_text":"x"}}"#));
    said.insert(1, delta(1, r#"{"type":"new_delta","value":[1]}"#));
    middle.extend(said);
    let (events, answer, result) = answered(Reply::sse(whole(middle, "end_turn"))).await;
    assert_eq!(result, Ok(()));
    check_events(&events, &answer);
    assert_eq!(answer.blocks, [Block::Text { text: "Hi".into(), signature: None }]);
}

fn half() -> String {
    let mut events = vec![START.to_owned()];
    events.extend(text(0, &["Whole."]));
    events.push(begin(1, r#"{"type":"tool_use","id":"toolu_1","name":"bash","input":{}}"#));
    events.push(delta(1, r#"{"type":"input_json_delta","partial_json":"{\"command\":\"rm"}"#));
    events.push(begin(2, r#"{"type":"tool_use","id":"toolu_2","name":"bash","input":{}}"#));
    stream(&events)
}

#[tokio::test]
async fn a_lost_connection_keeps_what_came() {
    let broken_off = Reply::sse(half()).then(Step::BreakOff);
    let ended_early = Reply::sse(half());
    let stalled = Reply::sse(half()).then(Step::Stall);
    for reply in [broken_off, ended_early, stalled] {
        let (answer, error) = fails(reply).await;
        assert!(matches!(error, ModelError::ConnectionLost { .. }), "{error:?}");
        // A call that had not begun to say what it wants is none, one that broke off is never stored.
        assert_eq!(answer.blocks.len(), 2);
        let stored = answer.to_message(&endpoint(API, ""), 1);
        assert!(stored.contains("Whole.") && !stored.contains("toolCall"), "{stored}");
    }
    // Nobody listens; or somebody who does not speak TLS.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let plain = format!("https://{}", listener.local_addr().unwrap());
    let task = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 Bad\r\n\r\n").await;
        }
    });
    for address in ["http://127.0.0.1:1", plain.as_str()] {
        let asked = request(vec![user("x")], ThinkingLevel::Off);
        let at = endpoint(API, address);
        let outcome = Client::new().stream(&at, &asked, CancellationToken::new()).outcome().await;
        assert!(matches!(outcome.result, Err(ModelError::ConnectionLost { .. })), "{outcome:?}");
    }
    task.abort();
}

#[tokio::test]
async fn half_a_signature_is_none() {
    let thought = |index| {
        [
            begin(index, r#"{"type":"thinking","thinking":"","signature":""}"#),
            delta(index, r#"{"type":"thinking_delta","thinking":"Hm."}"#),
            delta(index, r#"{"type":"signature_delta","signature":"c2ln"}"#),
        ]
    };
    let mut events = vec![START.to_owned()];
    events.extend(thought(0));
    events.push(stop(0));
    events.extend(thought(1));
    let (answer, _) = fails(Reply::sse(stream(&events)).then(Step::BreakOff)).await;
    let block = |signature: Option<&str>| Block::Thinking {
        thinking: "Hm.".into(),
        signature: signature.map(str::to_owned),
        redacted: false,
    };
    assert_eq!(answer.blocks, [block(Some("c2ln")), block(None)]);
}

#[tokio::test]
async fn rubbish_is_not_understood() {
    let begun = |more: &str| Reply::sse(format!("{}{more}", half()));
    let mut not_utf8 = Reply::sse(half());
    not_utf8 = not_utf8.then(Step::Bytes(b"data: {\"type\":\"\xff\xfe\"}\n\n".to_vec()));
    for reply in [
        begun("event: content_block_delta\ndata: {\"type\":\n\n"),
        begun("data: \u{1}\u{2}\u{3}\n\n"),
        begun("data: {\"type\":\"content_block_start\",\"index\":\"x\"}\n\n"),
        not_utf8,
        Reply::sse("<html><body>Welcome to the hotel</body></html>"),
        Reply::json(200, r#"{"ok":true}"#),
        Reply::sse("lorem ipsum\n\ndolor\n\n"),
    ] {
        let (_, error) = fails(reply.cut(5)).await;
        assert!(matches!(error, ModelError::NotUnderstood { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn an_abort_hangs_up_and_keeps_what_came() {
    let server = Server::start(vec![Reply::sse(half()).then(Step::Stall)]).await;
    let abort = CancellationToken::new();
    let asked = request(vec![user("x")], ThinkingLevel::Off);
    let mut stream = Client::new().stream(&endpoint(API, server.url()), &asked, abort.clone());
    while let Some(event) = stream.next().await {
        if matches!(event, Event::ToolCallStart { block: 2, .. }) {
            break;
        }
    }
    let aborted = Instant::now();
    abort.cancel();
    assert_eq!(stream.next().await, None);
    let Outcome { answer, result } = stream.outcome().await;
    assert_eq!((result, answer.stop), (Ok(()), StopReason::Aborted));
    assert!(answer.error.is_some());
    assert_eq!(answer.blocks[0], Block::Text { text: "Whole.".into(), signature: None });
    let hung_up = server.hang_up().await.expect("the server sees that nobody listens any more");
    assert!(hung_up.duration_since(aborted) < Duration::from_secs(2));
}

#[tokio::test]
async fn an_abort_before_the_answer_and_a_drop_hang_up_too() {
    let quiet = Reply::sse("").then(Step::Stall);
    let server = Server::start(vec![quiet.clone()]).await;
    let abort = CancellationToken::new();
    let asked = request(vec![user("x")], ThinkingLevel::Off);
    let stream = Client::new().stream(&endpoint(API, server.url()), &asked, abort.clone());
    let waiting = tokio::spawn(stream.outcome());
    while server.requests().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    abort.cancel();
    assert_eq!(waiting.await.unwrap().answer.stop, StopReason::Aborted);
    assert!(server.hang_up().await.is_some());

    let server = Server::start(vec![quiet]).await;
    let stream = Client::new().stream(&endpoint(API, server.url()), &asked, CancellationToken::new());
    let waiting = tokio::spawn(stream.outcome());
    while server.requests().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    waiting.abort();
    assert!(server.hang_up().await.is_some());
    // One that is aborted before it began asks nobody.
    let abort = CancellationToken::new();
    abort.cancel();
    let outcome = Client::new().stream(&endpoint(API, server.url()), &asked, abort).outcome().await;
    assert_eq!((outcome.answer.stop, server.requests().len()), (StopReason::Aborted, 1));
}

#[tokio::test]
async fn a_server_that_does_not_close_its_stream_does_not_hold_up_the_answer() {
    let reply = Reply::sse(whole(text(0, &["x"]), "end_turn")).then(Step::Stall);
    let (_, answer, result) = answered(reply).await;
    assert_eq!((result, answer.stop), (Ok(()), StopReason::Stop));
    // Nor one that leaves out the last empty line.
    let script = whole(text(0, &["x"]), "end_turn");
    let (_, _, result) = answered(Reply::sse(script.trim_end())).await;
    assert_eq!(result, Ok(()));
}

#[tokio::test]
async fn what_cannot_be_sent_is_said_without_the_key() {
    let asked = request(vec![user("x")], ThinkingLevel::Off);
    let mut bad = vec![
        endpoint(API, "not an address"),
        endpoint(API, "file:///etc"),
        endpoint(Api::Replay, "http://h"),
    ];
    bad.push(endpoint(API, &format!("https://me:{KEY}/@api.example/v1")));
    bad.push(endpoint(API, &format!("api.example/v1?key={KEY}")));
    let mut with_header = endpoint(API, "http://127.0.0.1:1");
    with_header.headers = vec![("a b".into(), Secret::new("x"))];
    bad.push(with_header);
    let mut with_key = endpoint(API, "http://127.0.0.1:1");
    with_key.key = Some(Secret::new(format!("{KEY}\u{1}")));
    bad.push(with_key);
    for at in bad {
        let outcome = Client::new().stream(&at, &asked, CancellationToken::new()).outcome().await;
        let error = outcome.result.unwrap_err();
        assert!(matches!(error, ModelError::BadRequest { status: 0, .. }), "{error:?}");
        assert!(!format!("{error:?}{error}").contains(KEY));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn stream_is_read_without_panic(events in prop::collection::vec((0usize..3, 0..8, "[a-z\"{}é]{0,8}"), 0..20)) {
        let wire = wire::of(API).unwrap();
        let mut reader = wire.reader(&endpoint(API, "http://h"));
        let (mut answer, mut out) = (Answer::default(), Vec::new());
        for (index, kind, said) in events {
            let quoted = serde_json::Value::from(said.as_str());
            let data = match kind {
                0 => START.to_owned(),
                1 => begin(index, r#"{"type":"text"}"#),
                2 => begin(index, r#"{"type":"tool_use","id":"i","input":{"a":1}}"#),
                3 => begin(index, r#"{"type":"thinking"}"#),
                4 => delta(index, &format!(r#"{{"type":"text_delta","text":{quoted}}}"#)),
                5 => delta(index, &format!(r#"{{"type":"input_json_delta","partial_json":{quoted}}}"#)),
                6 => stop(index),
                _ => said,
            };
            if reader.take(wire::ServerEvent { event: "", data: &data }, &mut answer, &mut out).is_err() {
                return Ok(());
            }
        }
        let _ = reader.finish(&mut answer, &mut out);
        answer.to_message(&endpoint(API, ""), 0);
    }
}

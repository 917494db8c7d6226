//! The model that plays recorded answers.

#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

mod support;

use std::time::Duration;

use ramal_model::{
    Answer, Api, Block, Endpoint, Event, LanguageModel as _, ModelError, Models, Replay, Request, StopReason,
    Usage,
};
use ramal_testing::endpoint::endpoint;
use support::{check_events, drain};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

struct Recording {
    folder: TempDir,
    endpoint: Endpoint,
    model: Replay,
}

fn recording(lines: &[&str]) -> Recording {
    let folder = tempfile::tempdir().unwrap();
    #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
    std::fs::write(folder.path().join("a.jsonl"), lines.join("\n")).unwrap();
    let endpoint = Endpoint {
        provider: "replay".into(),
        model: "a.jsonl".into(),
        key: None,
        ..endpoint(Api::Replay, "")
    };
    let model = Replay::new().with_speed(f64::INFINITY).relative_to(folder.path());
    Recording { folder, endpoint, model }
}

fn request(system: &str, messages: &[(&str, &str)]) -> Request {
    let message = |(role, text): &(&str, &str)| {
        serde_json::json!({"role": role, "content": [{"type": "text", "text": text}]}).to_string()
    };
    Request { system: system.into(), messages: messages.iter().map(message).collect(), ..Request::default() }
}

impl Recording {
    async fn ask(&self, request: &Request) -> (Vec<Event>, Answer, Result<(), ModelError>) {
        let done = drain(self.model.stream(&self.endpoint, request, CancellationToken::new())).await;
        check_events(&done.0, &done.1);
        done
    }

    async fn text(&self, messages: &[(&str, &str)]) -> String {
        let (_, answer, result) = self.ask(&request("", messages)).await;
        match (result, answer.blocks.first()) {
            (Err(error), _) => error.to_string(),
            (Ok(()), Some(Block::Text { text, .. })) => text.clone(),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn recorded_arguments_may_be_no_object() {
    let line = r#"{"events":[{"toolCall":{"id":"a","name":"ls","arguments":[1, 2]},"pace":1},{"toolCall":{"id":"b","name":"ls","arguments":"{\"path"}}]}"#;
    let recording = recording(&[line]);
    let (_, answer, result) = recording.ask(&request("", &[("user", "x")])).await;
    result.unwrap();
    assert_eq!(answer.stop, StopReason::ToolUse);
    let message: serde_json::Value =
        serde_json::from_str(&answer.to_message(&recording.endpoint, 1)).unwrap();
    let raw =
        |at: usize| (&message["content"][at]["arguments"], message["content"][at]["rawArguments"].as_str());
    let nothing = serde_json::json!({});
    assert_eq!((raw(0), raw(1)), ((&nothing, Some("[1, 2]")), (&nothing, Some("{\"path"))));
}

#[tokio::test]
async fn an_answer_comes_as_it_was_recorded() {
    let line = r#"{"events":[{"thinking":"So  it ","pace":1},{"thinking":"is.","signature":"s"},{"text":"one"},{"after":5},{"text":"two","newBlock":true},{"toolCall":{"id":"t","name":"read","arguments":{"a": [1.0, "é ü"]}},"pace":1},{"toolCall":{"id":"u","name":"ls"}}],"usage":{"input":5,"output":6,"cacheRead":7}}"#;
    let recording = recording(&[r#"{"replay":1,"title":"x"}"#, "", line]);
    let (events, answer, result) = recording.ask(&request("", &[("user", "a")])).await;
    result.unwrap();
    assert_eq!(events[0], Event::Start);
    let deltas: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            Event::ThinkingDelta { delta, .. } => Some(&**delta),
            _ => None,
        })
        .collect();
    assert_eq!(deltas, ["So  ", "it ", "is."]);
    let text = |text: &str| Block::Text { text: text.into(), signature: None };
    let call = |id: &str, name: &str, arguments: &str| Block::ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
        signature: None,
    };
    let wanted = [
        Block::Thinking { thinking: "So  it is.".into(), signature: Some("s".into()), redacted: false },
        text("one"),
        text("two"),
        call("t", "read", r#"{"a": [1.0, "é ü"]}"#),
        call("u", "ls", "{}"),
    ];
    assert_eq!(answer.blocks, wanted);
    assert_eq!(
        (answer.stop, answer.usage),
        (StopReason::ToolUse, Usage { input: 5, output: 6, cache_read: 7, cache_write: 0 })
    );
    let message = answer.to_message(&recording.endpoint, 1);
    assert!(message.contains(r#""api":"replay","provider":"replay","model":"a.jsonl""#), "{message}");
}

#[tokio::test]
async fn each_request_gets_its_answer() {
    let lines = [
        r#"{"events":[{"text":"first"}]}"#,
        r#"{"when":"log","events":[{"text":"log 1"}]}"#,
        r#"{"events":[{"text":"second"}]}"#,
        r#"{"when":"log","events":[{"text":"log 2"}]}"#,
        r#"{"whenSystem":"title","events":[{"text":"a title"}]}"#,
    ];
    let recording = recording(&lines);
    let (_, title, _) = recording.ask(&request("Give a title.", &[("user", "x")])).await;
    assert!(matches!(&title.blocks[0], Block::Text { text, .. } if text == "a title"));
    let mut told = Vec::new();
    for said in ["a", "a log", "b", "log", "log", "c"] {
        told.push(recording.text(&[("user", "log"), ("assistant", "log"), ("user", said)]).await);
    }
    assert_eq!(told[..5], ["first", "log 1", "second", "log 2", "log 2"]);
    assert!(told[5].contains("a.jsonl has no further answer"), "{}", told[5]);
    assert_eq!(
        recording
            .model
            .clone()
            .with_speed(9.0)
            .stream(&recording.endpoint, &request("", &[("user", "log")]), CancellationToken::new())
            .outcome()
            .await
            .answer
            .stop,
        StopReason::Stop
    );
}

#[tokio::test]
async fn a_place_in_the_tree_has_its_answer() {
    let recording = recording(&[
        r#"{"replay":1,"count":"answers"}"#,
        r#"{"events":[{"text":"1"}]}"#,
        r#"{"events":[{"text":"2"}]}"#,
    ]);
    for _ in 0..3 {
        assert_eq!(recording.text(&[("user", "a")]).await, "1");
        assert_eq!(recording.text(&[("user", "a"), ("assistant", "1"), ("user", "b")]).await, "2");
    }
}

#[tokio::test]
async fn errors_are_those_that_were_recorded() {
    let recording = recording(&[
        r#"{"events":[{"text":"half"}],"error":{"kind":"rateLimited","message":"slow down","wait":1500}}"#,
        r#"{"error":{"kind":"contextTooLong"}}"#,
        r#"{"error":{"kind":"server","status":502}}"#,
    ]);
    let (_, answer, result) = recording.ask(&request("", &[("user", "a")])).await;
    let wait = Some(Duration::from_millis(1500));
    assert_eq!(
        result,
        Err(ModelError::RateLimited { provider: "replay".into(), message: "slow down".into(), wait })
    );
    assert_eq!((answer.stop, answer.blocks.len()), (StopReason::Error, 1));
    assert!(matches!(recording.ask(&request("", &[])).await.2, Err(ModelError::ContextTooLong { .. })));
    assert!(matches!(recording.ask(&request("", &[])).await.2, Err(ModelError::Server { status: 502, .. })));
}

#[tokio::test]
async fn a_wrong_file_is_named_with_its_line() {
    for (line, want) in [
        ("{", "line 2"),
        (r#"{"event":[]}"#, "unknown field"),
        (r#"{"events":[{"txt":"a"}]}"#, "unknown field"),
        (r#"{"replay":2}"#, "version 2"),
        (r#"{"error":{"kind":"odd"}}"#, "unknown variant"),
    ] {
        let error = recording(&[r#"{"events":[]}"#, line]).text(&[("user", "a")]).await;
        assert!(error.contains("a.jsonl, line 2: ") && error.contains(want), "{error}");
    }
    let mut recording = recording(&[]);
    recording.endpoint.model = "nowhere.jsonl".into();
    assert!(recording.text(&[]).await.contains("nowhere.jsonl cannot be read"));
    assert!(recording.folder.path().is_dir());
}

#[tokio::test]
async fn an_abort_ends_it_in_the_middle_of_a_wait() {
    let recording = recording(&[r#"{"events":[{"text":"half"},{"after":3600000,"text":"never"}]}"#]);
    let models = Models { replay: Replay::new().relative_to(recording.folder.path()), ..Models::default() };
    let abort = CancellationToken::new();
    let mut stream = models.stream(&recording.endpoint, &request("", &[("user", "a")]), abort.clone());
    while !matches!(stream.next().await, Some(Event::TextDelta { .. }) | None) {}
    abort.cancel();
    let (_, answer, result) = drain(stream).await;
    result.unwrap();
    assert_eq!(answer.stop, StopReason::Aborted);
    assert_eq!(answer.blocks, [Block::Text { text: "half".into(), signature: None }]);
}

//! Whoever watches a request.

#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::sync::{Arc, Mutex};

use ramal_model::{
    Answer, Api, Block, Client, LanguageModel, Replay, Request, StopReason, ToolSpec, Watch, Watching,
};
use ramal_testing::endpoint::{KEY, endpoint};
use ramal_testing::says::says;
use ramal_testing::server::{Reply, Server};
use tokio_util::sync::CancellationToken;

/// Keeps what it sees, and puts a text in the place of another.
#[derive(Default)]
struct Watcher {
    seen: Mutex<Vec<String>>,
    change: Option<(&'static str, &'static str)>,
}

impl Watch for Watcher {
    fn before<'a>(&'a self, body: String) -> Watching<'a, String> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            self.seen.lock().unwrap().push(body.clone());
            self.change.map_or(body.clone(), |(from, to)| body.replace(from, to))
        })
    }

    fn after<'a>(&'a self, status: u16, headers: Vec<(String, String)>) -> Watching<'a, ()> {
        Box::pin(async move {
            self.seen.lock().unwrap().push(format!("{status} {headers:?}"));
        })
    }
}

fn asked() -> Request {
    Request {
        system: "Be brief.".into(),
        messages: vec![r#"{"role":"user","content":[{"type":"text","text":"Hello"}]}"#.into()],
        tools: vec![ToolSpec { name: "t".into(), description: "d".into(), parameters: "{}".into() }],
        ..Request::default()
    }
}

fn text(answer: &Answer) -> &str {
    match answer.blocks.first() {
        Some(Block::Text { text, .. }) => text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_is_sent_is_what_the_watcher_made_of_it() {
    let reply = || says("Hi").reply(Api::AnthropicMessages);
    let server = Server::start(vec![
        reply().header("set-cookie", "a=b").header("X-Request-Id", "r1").header("x-echo", KEY),
        Reply::json(500, "{}"),
    ])
    .await;
    let watcher = Arc::new(Watcher { change: Some(("Hello", "Good evening")), ..Watcher::default() });
    let (client, at) = (Client::new(), endpoint(Api::AnthropicMessages, server.url()));
    let watch = Arc::clone(&watcher) as Arc<dyn Watch>;
    let stream = client.stream_watched(&at, &asked(), Some(watch), CancellationToken::new());
    let outcome = stream.outcome().await;
    assert_eq!((outcome.result, text(&outcome.answer)), (Ok(()), "Hi"));
    let sent = String::from_utf8(server.requests()[0].body.clone()).unwrap();
    assert!(sent.contains("Good evening") && !sent.contains("Hello"), "{sent}");
    let seen = std::mem::take(&mut *watcher.seen.lock().unwrap());
    assert!(seen[0].starts_with('{') && seen[0].contains("Hello"), "{seen:?}");
    assert!(seen[1].starts_with("200 ") && seen[1].contains(r#"("x-request-id", "r1")"#), "{seen:?}");
    assert!(!seen[1].contains("cookie") && !seen.concat().contains(KEY), "nothing secret: {seen:?}");

    let stream =
        client.stream_watched(&at, &asked(), Some(Arc::clone(&watcher) as _), CancellationToken::new());
    assert_eq!(stream.outcome().await.answer.stop, StopReason::Error);
    assert!(watcher.seen.lock().unwrap()[1].starts_with("500 "), "an error is an answer, too");
}

#[tokio::test]
async fn an_abort_ends_a_watcher_that_waits() {
    struct Forever;
    impl Watch for Forever {
        fn before<'a>(&'a self, _: String) -> Watching<'a, String> {
            Box::pin(std::future::pending())
        }

        fn after<'a>(&'a self, _: u16, _: Vec<(String, String)>) -> Watching<'a, ()> {
            Box::pin(async {})
        }
    }
    let server = Server::start(vec![says("Hi").reply(Api::OpenAiResponses)]).await;
    let at = endpoint(Api::OpenAiResponses, server.url());
    let abort = CancellationToken::new();
    let stream = Client::new().stream_watched(&at, &asked(), Some(Arc::new(Forever)), abort.clone());
    abort.cancel();
    assert_eq!(stream.outcome().await.answer.stop, StopReason::Aborted);
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_recording_is_chosen_by_what_the_watcher_made_of_the_request() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [
        r#"{"replay":1}"#,
        r#"{"when":"evening","events":[{"text":"Good night"}]}"#,
        r#"{"events":[{"text":"Hi"}]}"#,
    ];
    #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
    std::fs::write(folder.path().join("a.jsonl"), lines.join("\n")).unwrap();
    let at = ramal_model::Endpoint { model: "a.jsonl".into(), ..endpoint(Api::Replay, "") };
    let replay = Replay::new().with_speed(f64::INFINITY).relative_to(folder.path());
    let watcher = Arc::new(Watcher { change: Some(("Hello", "evening")), ..Watcher::default() });
    let stream =
        replay.stream_watched(&at, &asked(), Some(Arc::clone(&watcher) as _), CancellationToken::new());
    assert_eq!(text(&stream.outcome().await.answer), "Good night");
    let seen = watcher.seen.lock().unwrap().clone();
    let body: serde_json::Value = serde_json::from_str(&seen[0]).unwrap();
    assert_eq!((&body["system"], &body["tools"][0]["name"]), (&"Be brief.".into(), &"t".into()));
    assert_eq!(seen[1], "200 []");
}

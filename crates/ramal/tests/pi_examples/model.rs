//! Examples that ask a model themselves, or listen to what it is asked.

use ramal_model::Api;
use ramal_testing::says;
use ramal_testing::server::Server;
use serde_json::json;

use crate::scene::{Scene, calls, says};

const API: Api = Api::OpenAiCompletions;

/// A provider on loopback in the place of a real one.
fn provider(scene: &Scene, name: &str, model: &str, answers: &[&str]) -> Server {
    let server = Server::beside(answers.iter().map(|text| says::says(*text).reply(API)).collect());
    let models = format!(
        "[providers.{name}]\napi = \"{}\"\nbase_url = \"{}/v1\"\napi_key = \"none\"\n[[providers.{name}.models]]\nid = \"{model}\"\n\
         context_window = 100000\nmax_output = 4096\n",
        API.name(),
        server.url()
    );
    scene.write("CONFIG/ramal/models.toml", &models);
    server
}

/// A conversation of which there is something to sum up.
const LONG: usize = 4000;

pub(crate) fn custom_compaction(scene: &Scene) {
    let server = provider(scene, "google", "gemini-2.5-flash", &["A summary of its own."]);
    let mut talk = scene.answered(&[says(&"word ".repeat(LONG)), says("Yes.")]);
    talk.say("tell me about trees");
    talk.say("really?");
    talk.ask("compact", json!({"type": "compact"}));
    talk.notified("Custom compaction extension triggered");
    let compacted = talk.answer("compact");
    assert_eq!(compacted["summary"], "A summary of its own.");
    let asked = server.requests()[0].json().to_string();
    assert!(
        asked.contains("tell me about trees") && asked.contains("You are a conversation summarizer"),
        "{asked}"
    );
    assert!(scene.told().contains(&"compaction: A summary of its own.".to_owned()), "{:?}", scene.told());
    talk.close();
}

pub(crate) fn trigger_compact(scene: &Scene) {
    let mut talk =
        scene.answered(&[says(&"word ".repeat(LONG)), says("Yes."), says("Summed up."), says("Summed up.")]);
    talk.say("tell me about trees");
    talk.say("really?");
    talk.command("/trigger-compact only the trees");
    talk.notified("Compaction started");
    talk.notified("Compaction completed");
    assert!(scene.told().iter().any(|told| told.starts_with("compaction: Summed up.")), "{:?}", scene.told());
    talk.close();
}

pub(crate) fn summarize(scene: &Scene) {
    let server = provider(scene, "openai", "gpt-5.2", &["In short: trees."]);
    let mut talk = scene.answered(&[calls("ls", json!({})), says("They are green.")]);
    talk.command("/summarize");
    talk.notified("No conversation text found");
    talk.say("tell me about trees");
    talk.command("/summarize");
    talk.notified("Preparing summary...");
    scene.until("a model is asked", || !server.requests().is_empty());
    let asked = server.requests()[0].json().to_string();
    assert!(asked.contains("User: tell me about trees") && asked.contains("Tool ls was called"), "{asked}");
    talk.close();
}

pub(crate) fn provider_payload(scene: &Scene) {
    let _server = provider(scene, "here", "some-model", &["Green."]);
    scene.write(".ramal/keep", "");
    let mut talk = scene.start_as("here/some-model", &[]);
    talk.say("tell me about trees");
    let log = scene.read(".ramal/provider-payload.log");
    assert!(log.contains("tell me about trees") && log.contains("\"model\": \"some-model\""), "{log}");
    assert!(log.contains("[200] {") && log.contains("content-type"), "{log}");
    talk.close();
}

pub(crate) fn debug_provider(scene: &Scene) {
    let mut talk = scene.answered(&[says("Green.")]);
    talk.command("/debug-provider on");
    talk.notified("Provider event capture enabled");
    talk.status("debug-provider", "provider debug");
    talk.say("hello");
    scene.until("an entry is there", || {
        scene.entries().iter().any(|entry| entry["customType"] == "debug-provider-events")
    });
    let entries = scene.entries();
    let kept = entries.iter().find(|entry| entry["customType"] == "debug-provider-events").unwrap();
    assert_eq!(
        (&kept["data"]["provider"], &kept["data"]["model"]),
        (&json!("replay"), &json!("answers.jsonl"))
    );
    talk.close();
}

//! What servers do that is not in the reference.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::OpenAiResponses;
use crate::answer::{Answer, Block, Event, StopReason};
use crate::error::ModelError;
use crate::request::{Api, Endpoint, Request, ThinkingLevel};
use crate::wire::openai::testing::{self, any_json};
use crate::wire::{ServerEvent, Wire};

fn endpoint() -> Endpoint {
    testing::endpoint(Api::OpenAiResponses, "http://localhost/v1/")
}

fn read(events: &[Value]) -> (Answer, Vec<Event>, Result<(), ModelError>) {
    let mut reader = OpenAiResponses.reader(&endpoint());
    let (mut answer, mut out) = (Answer::default(), Vec::new());
    for event in events {
        let taken = reader.take(ServerEvent { event: "", data: &event.to_string() }, &mut answer, &mut out);
        if let Err(error) = taken {
            return (answer, out, Err(error));
        }
    }
    let result = reader.finish(&mut answer, &mut out);
    (answer, out, result)
}

fn completed() -> Value {
    json!({"type": "response.completed", "response": {"status": "completed"}})
}

#[test]
fn deltas_of_items_that_were_not_added_are_kept() {
    let (answer, _, result) = read(&[
        json!({"type": "response.reasoning_text.delta", "item_id": "rs_1", "output_index": 0, "delta": "hm"}),
        json!({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 1, "delta": "ha"}),
        completed(),
    ]);
    result.unwrap();
    assert!(
        matches!(answer.blocks.as_slice(), [Block::Thinking { thinking, .. }, Block::Text { text, .. }] if thinking == "hm" && text == "ha"),
        "{answer:?}"
    );
}

#[test]
fn events_of_unknown_kinds_may_have_any_form() {
    let odd = |kind: &str| json!({"type": kind, "output_index": "first", "arguments": 5, "item_id": {}});
    let (.., result) = read(&[odd("response.web_search_call.searching"), completed()]);
    result.unwrap();
    let (.., result) = read(&[odd("response.output_text.delta"), completed()]);
    assert!(matches!(result, Err(ModelError::NotUnderstood { .. })));
}

#[test]
fn parts_of_a_summary_are_paragraphs() {
    let part = json!({"type": "response.reasoning_summary_part.added", "output_index": 0});
    let more = |text: &str| json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": text});
    let (answer, ..) = read(&[
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning", "id": "rs_1"}}),
        part.clone(),
        more("one"),
        part,
        more("two"),
        completed(),
    ]);
    assert!(matches!(&answer.blocks[0], Block::Thinking { thinking, .. } if thinking == "one\n\ntwo"));
}

#[test]
fn a_call_without_ids_gets_one_and_one_without_a_name_is_an_error() {
    let call = |name: &str| json!({"type": "response.output_item.done", "output_index": 0, "item": {"type": "function_call", "name": name, "arguments": ""}});
    let (answer, _, result) = read(&[call("a"), completed()]);
    result.unwrap();
    assert_eq!(answer.stop, StopReason::ToolUse);
    assert!(
        matches!(&answer.blocks[0], Block::ToolCall { id, arguments, .. } if id.starts_with("call_") && arguments == "{}")
    );
    assert!(matches!(read(&[call(""), completed()]).2, Err(ModelError::NotUnderstood { .. })));
}

#[test]
fn what_is_asked_for_depends_on_the_model() {
    let body = |thinks: bool, level: ThinkingLevel, session: &str| {
        let request = Request { thinking: level, session_id: Some(session.into()), ..Request::default() };
        let request = OpenAiResponses.request(&Endpoint { thinks, ..endpoint() }, &request);
        assert_eq!(request.url, "http://localhost/v1/responses");
        serde_json::from_slice::<Value>(&request.body).unwrap()
    };
    assert_eq!(body(false, ThinkingLevel::High, "s").get("include"), None);
    assert_eq!(body(false, ThinkingLevel::High, "s").get("reasoning"), None);
    assert_eq!(body(true, ThinkingLevel::Off, "s").get("reasoning"), None);
    assert_eq!(body(true, ThinkingLevel::Low, "s")["reasoning"], json!({"effort": "low", "summary": "auto"}));
    let long = "x".repeat(200);
    assert_eq!(body(true, ThinkingLevel::Off, "s")["prompt_cache_key"], "s");
    assert_eq!(
        body(true, ThinkingLevel::Off, &long)["prompt_cache_key"],
        body(true, ThinkingLevel::Off, &long)["prompt_cache_key"]
    );
    assert!(body(true, ThinkingLevel::Off, &long)["prompt_cache_key"].as_str().unwrap().len() <= 64);
}

proptest! {
    #[test]
    fn no_stream_and_no_message_breaks_anything(events in prop::collection::vec(any_json(), 0..8), text in ".{0,40}") {
        let _ = read(&events);
        let mut messages: Vec<String> = events.iter().map(Value::to_string).collect();
        messages.push(text);
        let body = OpenAiResponses.request(&endpoint(), &Request { messages, ..Request::default() }).body;
        prop_assert!(serde_json::from_slice::<Value>(&body).is_ok(), "{}", String::from_utf8_lossy(&body));
    }
}

//! What servers do that is not in the reference.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::OpenAiCompletions;
use crate::answer::{Answer, Block, Event, StopReason, Usage};
use crate::error::ModelError;
use crate::request::{Api, Request, ThinkingLevel};
use crate::wire::openai::testing::{any_json, endpoint};
use crate::wire::{ServerEvent, Wire};

fn read(events: &[Value]) -> (Answer, Vec<Event>, Result<(), ModelError>) {
    let mut reader = OpenAiCompletions.reader(&endpoint(Api::OpenAiCompletions, "http://localhost/v1"));
    let (mut answer, mut out) = (Answer::default(), Vec::new());
    for event in events {
        let data = event.as_str().map_or_else(|| event.to_string(), str::to_owned);
        if let Err(error) = reader.take(ServerEvent { event: "", data: &data }, &mut answer, &mut out) {
            return (answer, out, Err(error));
        }
    }
    let result = reader.finish(&mut answer, &mut out);
    (answer, out, result)
}

fn delta(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta}]})
}

fn calls(list: Value) -> Value {
    delta(json!({"tool_calls": list}))
}

fn end(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

/// Names and arguments of the calls that were understood.
fn called(events: &[Value]) -> Vec<(String, String)> {
    let (answer, out, result) = read(events);
    result.unwrap();
    assert_eq!(answer.stop, StopReason::ToolUse);
    let mut ids = std::collections::HashSet::new();
    let calls: Vec<(String, String)> = answer
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::ToolCall { id, name, arguments, .. } => {
                assert!(!id.is_empty() && ids.insert(id.clone()), "{id}");
                Some((name.clone(), arguments.clone()))
            }
            _ => None,
        })
        .collect();
    let count = |wanted: fn(&Event) -> bool| out.iter().filter(|event| wanted(event)).count();
    assert_eq!(count(|event| matches!(event, Event::ToolCallStart { .. })), calls.len());
    assert_eq!(count(|event| matches!(event, Event::BlockEnd { .. })), answer.blocks.len());
    calls
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(name, arguments)| ((*name).to_owned(), (*arguments).to_owned())).collect()
}

#[test]
fn calls_are_told_apart_however_they_come() {
    let two = pairs(&[("a", r#"{"x":1}"#), ("a", r#"{"x":2}"#)]);
    let whole = |x: u8| format!("{{\"x\":{x}}}");
    // In pieces, without an index, by id.
    assert_eq!(
        called(&[
            calls(json!([{"id": "1", "function": {"name": "a", "arguments": "{\"x\""}}])),
            calls(json!([{"id": "1", "function": {"arguments": ":1}"}}])),
            calls(json!([{"id": "2", "function": {"name": "a", "arguments": "{\"x\":"}}])),
            calls(json!([{"function": {"arguments": "2}"}}])),
            end("tool_calls"),
        ]),
        two
    );
    // Whole, all counted as the first, with ids and without.
    for ids in [["1", "2"], ["", ""]] {
        assert_eq!(
            called(&[
                calls(json!([{"index": 0, "id": ids[0], "function": {"name": "a", "arguments": whole(1)}}])),
                calls(json!([{"index": 0, "id": ids[1], "function": {"name": "a", "arguments": whole(2)}}])),
                end("stop"),
            ]),
            two
        );
    }
    // Whole, in one chunk, with nothing but names; arguments as an object.
    assert_eq!(
        called(&[
            calls(
                json!([{"function": {"name": "a", "arguments": {"x": 1}}}, {"function": {"name": "a", "arguments": whole(2)}}])
            ),
            end("stop"),
        ]),
        two
    );
    // The name and the id with every piece, or another id with every piece.
    for id in ["1", "other"] {
        assert_eq!(
            called(&[
                calls(json!([{"index": 0, "id": "1", "function": {"name": "a", "arguments": "{\"x\""}}])),
                calls(
                    json!([{"index": 0, "id": id, "function": {"name": if id == "1" { "a" } else { "" }, "arguments": ":1}"}}])
                ),
                end("tool_calls"),
            ]),
            two[..1]
        );
    }
    assert_eq!(
        called(&[
            calls(json!([{"function": {"name": "a", "arguments": "{\"x\""}}])),
            calls(json!([{"function": {"name": "a", "arguments": ":1}"}}])),
            end("tool_calls"),
        ]),
        two[..1]
    );
    // The id first and the name later; whole arguments once more at the end.
    assert_eq!(
        called(&[
            calls(json!([{"index": 0, "id": "1", "function": {"arguments": "{\"x\""}}])),
            calls(json!([{"index": 0, "function": {"name": "a", "arguments": ":1}"}}])),
            calls(json!([{"index": 0, "function": {"arguments": whole(1)}}])),
            end("tool_calls"),
        ]),
        two[..1]
    );
    // Nothing, null, and JSON in JSON.
    for arguments in [json!(""), Value::Null, json!("null"), json!("\"{}\"")] {
        assert_eq!(
            called(&[
                calls(json!([{"index": 0, "id": "1", "function": {"name": "a", "arguments": arguments}}])),
                end("function_call"),
            ]),
            pairs(&[("a", "{}")])
        );
    }
    // The oldest form.
    assert_eq!(
        called(&[
            delta(json!({"function_call": {"name": "a", "arguments": "{\"x\""}})),
            delta(json!({"function_call": {"arguments": ":1}"}})),
            end("function_call"),
        ]),
        two[..1]
    );
}

#[test]
fn usage_is_counted_the_same_whoever_counts() {
    let usage = |usage: Value| {
        let (answer, _, result) = read(&[
            delta(json!({"content": "x"})),
            end("stop"),
            json!({"choices": [], "usage": usage}),
            json!("[DONE]"),
        ]);
        result.unwrap();
        answer.usage
    };
    let want = |input, output, cache_read, cache_write| Usage { input, output, cache_read, cache_write };
    assert_eq!(usage(json!({"prompt_tokens": 10, "completion_tokens": 2})), want(10, 2, 0, 0));
    assert_eq!(
        usage(json!({"prompt_tokens": 10, "completion_tokens": 2, "prompt_cache_hit_tokens": 7})),
        want(3, 2, 7, 0)
    );
    assert_eq!(
        usage(
            json!({"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3}})
        ),
        want(3, 2, 4, 3)
    );
    assert_eq!(
        usage(
            json!({"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 17, "completion_tokens_details": {"reasoning_tokens": 5}})
        ),
        want(10, 7, 0, 0)
    );
    assert_eq!(
        usage(
            json!({"prompt_tokens": 10, "completion_tokens": 7, "total_tokens": 17, "completion_tokens_details": {"reasoning_tokens": 5}})
        ),
        want(10, 7, 0, 0)
    );
    assert_eq!(
        usage(
            json!({"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": 9}, "completion_tokens": null})
        ),
        want(0, 0, 1, 0)
    );
}

#[test]
fn ends_are_understood() {
    let stop = |events: &[Value]| read(events).2.map(|()| read(events).0.stop);
    let said = delta(json!({"content": "x"}));
    assert_eq!(stop(&[said.clone(), end("stop")]), Ok(StopReason::Stop));
    assert_eq!(stop(&[said.clone(), end("eos_token"), json!("[DONE]")]), Ok(StopReason::Stop));
    assert_eq!(stop(&[said.clone(), end("length")]), Ok(StopReason::Length));
    assert_eq!(stop(&[said.clone(), json!("[DONE]")]), Ok(StopReason::Stop));
    assert_eq!(
        stop(&[json!({"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]})]),
        Ok(StopReason::Stop)
    );
    assert!(matches!(stop(std::slice::from_ref(&said)), Err(ModelError::ConnectionLost { .. })));
    assert!(matches!(stop(&[json!("[DONE]")]), Err(ModelError::ConnectionLost { .. })));
    assert!(matches!(
        stop(&[said.clone(), end("insufficient_system_resource")]),
        Err(ModelError::Overloaded { .. })
    ));
    assert!(matches!(
        stop(&[
            said.clone(),
            json!({"object": "error", "message": "maximum context length is 5", "code": 400})
        ]),
        Err(ModelError::ContextTooLong { .. })
    ));
    assert!(matches!(stop(&[said, json!({"error": "out of memory"})]), Err(ModelError::Server { .. })));
}

#[test]
fn thoughts_in_lists_and_hidden_ones_are_kept() {
    let (answer, ..) = read(&[
        delta(
            json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "ha"}]}),
        ),
        end("stop"),
    ]);
    assert!(
        matches!(answer.blocks.as_slice(), [Block::Thinking { thinking, signature: None, .. }, Block::Text { text, .. }] if thinking == "hm" && text == "ha")
    );
    let (answer, ..) = read(&[
        delta(
            json!({"reasoning": "h", "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "h", "signature": null}]}),
        ),
        delta(
            json!({"reasoning": "m", "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "m", "signature": "S"}]}),
        ),
        delta(json!({"content": "ha"})),
        end("stop"),
    ]);
    let Some(Block::Thinking { thinking, signature: Some(signature), .. }) = answer.blocks.first() else {
        panic!()
    };
    assert_eq!(thinking, "hm");
    let details: Value = serde_json::from_str(signature).unwrap();
    assert_eq!(details, json!([{"type": "reasoning.text", "index": 0, "text": "hm", "signature": "S"}]));
    // They go back to where they came from.
    let router = endpoint(Api::OpenAiCompletions, "https://openrouter.ai/api/v1");
    let request = Request { messages: vec![answer.to_message(&router, 0)], ..Request::default() };
    let body: Value = serde_json::from_slice(&OpenAiCompletions.request(&router, &request).body).unwrap();
    assert_eq!(body["messages"][0]["reasoning_details"], details);
}

#[test]
fn half_surrogates_do_not_break_a_stream() {
    let (answer, _, result) =
        read(&[json!(r#"{"choices":[{"delta":{"content":"a\ud83db"},"finish_reason":"stop"}]}"#)]);
    result.unwrap();
    assert!(matches!(answer.blocks.as_slice(), [Block::Text { text, .. }] if text == "a\u{fffd}b"));
}

#[test]
fn thinking_is_asked_for_in_the_words_of_the_server() {
    let asked = |url: &str, level: ThinkingLevel| {
        let request = Request { thinking: level, ..Request::default() };
        let body = OpenAiCompletions.request(&endpoint(Api::OpenAiCompletions, url), &request).body;
        let body: Value = serde_json::from_slice(&body).unwrap();
        ["reasoning_effort", "reasoning", "thinking"].map(|key| body.get(key).cloned().unwrap_or_default())
    };
    let none = Value::Null;
    assert_eq!(
        asked("https://api.openai.com/v1", ThinkingLevel::XHigh),
        [json!("high"), none.clone(), none.clone()]
    );
    assert_eq!(
        asked("http://localhost:1234/v1", ThinkingLevel::Minimal),
        [json!("low"), none.clone(), none.clone()]
    );
    assert_eq!(
        asked("https://openrouter.ai/api/v1", ThinkingLevel::High),
        [none.clone(), json!({"effort": "high"}), none.clone()]
    );
    assert_eq!(
        asked("https://api.deepseek.com", ThinkingLevel::Off),
        [none.clone(), none.clone(), json!({"type": "disabled"})]
    );
    assert_eq!(asked("https://api.x.ai/v1", ThinkingLevel::High), [none.clone(), none.clone(), none]);
}

#[test]
fn a_base_url_may_be_written_in_several_ways() {
    for url in ["http://h/v1", "http://h/v1/", "http://h/v1/chat/completions"] {
        let request = OpenAiCompletions.request(&endpoint(Api::OpenAiCompletions, url), &Request::default());
        assert_eq!(request.url, "http://h/v1/chat/completions");
    }
}

proptest! {
    #[test]
    fn no_stream_and_no_message_breaks_anything(events in prop::collection::vec(any_json(), 0..8), text in ".{0,40}") {
        let mut events = events;
        events.push(Value::from(text.clone()));
        let _ = read(&events);
        let mut messages: Vec<String> = events.iter().map(Value::to_string).collect();
        messages.push(text);
        for url in ["https://api.openai.com/v1", "https://api.mistral.ai/v1"] {
            let request = Request { messages: messages.clone(), ..Request::default() };
            let body = OpenAiCompletions.request(&endpoint(Api::OpenAiCompletions, url), &request).body;
            prop_assert!(serde_json::from_slice::<Value>(&body).is_ok(), "{}", String::from_utf8_lossy(&body));
        }
    }
}

//! Answers of a model, written as a provider of each interface streams them.

use std::sync::atomic::{AtomicU64, Ordering};

use ramal_model::Api;
use serde_json::{Value, json};

use crate::server::{Reply, Step, sse_text};

/// A piece of what a model says.
#[derive(Debug, Clone)]
enum Part {
    Text(String),
    Call { id: String, name: String, arguments: Value },
}

/// What a model says in one answer.
#[derive(Debug, Clone)]
pub struct Says {
    parts: Vec<Part>,
    input: u64,
    output: u64,
    reason: Option<String>,
}

/// A text.
pub fn says(text: impl Into<String>) -> Says {
    Says { parts: vec![Part::Text(text.into())], ..nothing() }
}

/// A call of a tool.
pub fn calls(id: &str, name: &str, arguments: Value) -> Says {
    nothing().and_calls(id, name, arguments)
}

/// Nothing at all.
pub fn nothing() -> Says {
    Says { parts: Vec::new(), input: 10, output: 1, reason: None }
}

impl Says {
    /// And a call of a tool.
    pub fn and_calls(mut self, id: &str, name: &str, arguments: Value) -> Says {
        self.parts.push(Part::Call { id: id.into(), name: name.into(), arguments });
        self
    }

    /// Tokens that the provider has counted: of the request and of the answer.
    pub fn counted(mut self, input: u64, output: u64) -> Says {
        (self.input, self.output) = (input, output);
        self
    }

    /// Another reason for which it ends, in the words of the interface, as far as that has such words.
    pub fn ends_by(mut self, reason: &str) -> Says {
        self.reason = Some(reason.into());
        self
    }

    /// Why it ends: with calls, without any.
    fn reason(&self, with_calls: &str, without: &str) -> String {
        let has_calls = self.parts.iter().any(|part| matches!(part, Part::Call { .. }));
        let usual = if has_calls { with_calls } else { without };
        self.reason.clone().unwrap_or_else(|| usual.to_owned())
    }

    /// The whole answer.
    pub fn reply(&self, api: Api) -> Reply {
        Reply::sse(self.begun(api) + &self.ended(api))
    }

    /// Its beginning; the connection stays open until the client hangs up.
    pub fn stalled(&self, api: Api) -> Reply {
        Reply::sse(self.begun(api)).then(Step::Stall)
    }

    /// Its beginning; then the connection breaks.
    pub fn broken_off(&self, api: Api) -> Reply {
        Reply::sse(self.begun(api)).then(Step::BreakOff)
    }

    /// Its beginning, and after `step` the rest.
    pub fn paused(&self, api: Api, step: Step) -> Reply {
        Reply::sse(self.begun(api)).then(step).text(&self.ended(api))
    }

    /// All that is said, without its end.
    fn begun(&self, api: Api) -> String {
        match api {
            Api::OpenAiCompletions => stream(&self.completions()),
            Api::OpenAiResponses => stream(&self.responses()),
            Api::GoogleGenerativeAi => stream(&self.google()),
            _ => stream(&self.anthropic()),
        }
    }

    /// The end.
    fn ended(&self, api: Api) -> String {
        let (input, output, total) = (self.input, self.output, self.input + self.output);
        match api {
            Api::OpenAiCompletions => {
                let reason = self.reason("tool_calls", "stop");
                stream(&[
                    json!({"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}),
                    json!({"id": "c1", "choices": [], "usage": {"prompt_tokens": input, "completion_tokens": output, "total_tokens": total}}),
                ]) + "data: [DONE]\n\n"
            }
            Api::OpenAiResponses => stream(&[json!({"type": "response.completed", "response": {
                "id": "resp_1", "status": "completed",
                "usage": {"input_tokens": input, "output_tokens": output, "total_tokens": total}}})]),
            Api::GoogleGenerativeAi => stream(&[json!({
                "candidates": [{"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": self.reason("STOP", "STOP")}],
                "usageMetadata": {"promptTokenCount": input, "candidatesTokenCount": output, "totalTokenCount": total}})]),
            _ => {
                let reason = self.reason("tool_use", "end_turn");
                stream(&[
                    json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": output}}),
                    json!({"type": "message_stop"}),
                ])
            }
        }
    }

    fn anthropic(&self) -> Vec<Value> {
        let usage = json!({"input_tokens": self.input, "output_tokens": 1});
        let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [],
            "stop_reason": null, "usage": usage});
        let mut events = vec![json!({"type": "message_start", "message": message})];
        for (index, part) in self.parts.iter().enumerate() {
            let (block, delta) = match part {
                Part::Text(text) => {
                    (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text}))
                }
                Part::Call { id, name, arguments } => (
                    json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
                    json!({"type": "input_json_delta", "partial_json": arguments.to_string()}),
                ),
            };
            events.extend([
                json!({"type": "content_block_start", "index": index, "content_block": block}),
                json!({"type": "content_block_delta", "index": index, "delta": delta}),
                json!({"type": "content_block_stop", "index": index}),
            ]);
        }
        events
    }

    fn completions(&self) -> Vec<Value> {
        let mut number = 0;
        let delta = |delta: Value| json!({"id": "c1", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
        let part = |part: &Part| match part {
            Part::Text(text) => delta(json!({"content": text})),
            Part::Call { id, name, arguments } => {
                number += 1;
                let function = json!({"name": name, "arguments": arguments.to_string()});
                let call = json!({"index": number - 1, "id": id, "type": "function", "function": function});
                delta(json!({"tool_calls": [call]}))
            }
        };
        self.parts.iter().map(part).collect()
    }

    fn responses(&self) -> Vec<Value> {
        // No two items of a provider have the same id.
        static MADE: AtomicU64 = AtomicU64::new(0);
        let mut events = vec![json!({"type": "response.created", "response": {"id": "resp_1"}})];
        for (at, part) in self.parts.iter().enumerate() {
            match part {
                Part::Text(text) => {
                    let id = format!("msg_{}", MADE.fetch_add(1, Ordering::Relaxed));
                    let item = |content: Value| json!({"type": "message", "id": id, "role": "assistant", "content": content});
                    events.extend([
                        json!({"type": "response.output_item.added", "output_index": at, "item": item(json!([]))}),
                        json!({"type": "response.output_text.delta", "output_index": at, "item_id": id, "delta": text}),
                        json!({"type": "response.output_item.done", "output_index": at, "item": item(json!([{"type": "output_text", "text": text}]))}),
                    ]);
                }
                Part::Call { id, name, arguments } => {
                    let item = |arguments: String| json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name, "arguments": arguments});
                    events.extend([
                        json!({"type": "response.output_item.added", "output_index": at, "item": item(String::new())}),
                        json!({"type": "response.output_item.done", "output_index": at, "item": item(arguments.to_string())}),
                    ]);
                }
            }
        }
        events
    }

    fn google(&self) -> Vec<Value> {
        let part = |part: &Part| {
            let part = match part {
                Part::Text(text) => json!({"text": text}),
                Part::Call { id, name, arguments } => {
                    json!({"functionCall": {"id": id, "name": name, "args": arguments}, "thoughtSignature": "QUJD"})
                }
            };
            json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]})
        };
        self.parts.iter().map(part).collect()
    }
}

/// Events as they stand in a stream, with the names that they have.
fn stream(events: &[Value]) -> String {
    let texts: Vec<(String, String)> = events
        .iter()
        .map(|event| (event["type"].as_str().unwrap_or("").to_owned(), event.to_string()))
        .collect();
    sse_text(texts.iter().map(|(name, data)| (&**name, &**data)))
}

//! Answers of Anthropic's Messages.

use std::collections::HashMap;

use ramal_session::json;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::{Reader, ServerEvent, shortened};
use super::{ErrorDetail, told};
use crate::answer::{Answer, Block, Event, StopReason};
use crate::error::ModelError;

pub(super) struct AnthropicReader {
    provider: String,
    /// The number that a block of the stream has in the answer, until it is complete.
    open: HashMap<u64, usize>,
    has_begun: bool,
    stop: Option<String>,
    explanation: Option<String>,
    is_done: bool,
}

impl AnthropicReader {
    pub(super) fn new(provider: &str) -> AnthropicReader {
        AnthropicReader {
            provider: provider.to_owned(),
            open: HashMap::new(),
            has_begun: false,
            stop: None,
            explanation: None,
            is_done: false,
        }
    }

    fn not_understood(&self, message: String) -> ModelError {
        ModelError::NotUnderstood { provider: self.provider.clone(), message }
    }
}

/// Any event; what does not belong to its type is not there.
#[derive(Deserialize)]
struct Any<'a> {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    index: u64,
    message: Option<Begun>,
    #[serde(borrow)]
    content_block: Option<Started<'a>>,
    delta: Option<Delta>,
    usage: Option<Counts>,
    error: Option<ErrorDetail>,
}

#[derive(Deserialize)]
struct Begun {
    usage: Option<Counts>,
}

/// Tokens so far: each count stands for all before it. `input_tokens` is without what was cached.
#[derive(Deserialize)]
struct Counts {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Started<'a> {
    #[serde(rename = "type", default)]
    kind: String,
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    data: Option<String>,
    id: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Delta {
    #[serde(rename = "type", default)]
    kind: String,
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    partial_json: Option<String>,
    stop_reason: Option<String>,
    stop_details: Option<StopDetails>,
}

#[derive(Deserialize)]
struct StopDetails {
    explanation: Option<String>,
}

impl Reader for AnthropicReader {
    fn take(
        &mut self,
        event: ServerEvent<'_>,
        answer: &mut Answer,
        out: &mut Vec<Event>,
    ) -> Result<(), ModelError> {
        // How streams end elsewhere; some servers send it here too.
        if event.data.trim() == "[DONE]" {
            return Ok(());
        }
        let data = json::clean(event.data.as_bytes());
        let any: Any<'_> = serde_json::from_str(&data).map_err(|error| {
            self.not_understood(format!("{error}, in the event {:?}", shortened(event.data)))
        })?;
        let kind = if any.kind.is_empty() { event.event } else { &any.kind };
        match kind {
            "message_start" => {
                self.has_begun = true;
                count(answer, any.message.and_then(|message| message.usage));
                out.push(Event::Start);
            }
            "content_block_start" => {
                if let Some(started) = any.content_block {
                    self.start(any.index, started, answer, out);
                }
            }
            "content_block_delta" => {
                if let (Some(delta), Some(&block)) = (any.delta, self.open.get(&any.index)) {
                    grow(block, delta, answer, out);
                }
            }
            "content_block_stop" => {
                if let Some(block) = self.open.remove(&any.index) {
                    complete(block, answer, out);
                }
            }
            "message_delta" => {
                count(answer, any.usage);
                if let Some(delta) = any.delta {
                    self.explanation = delta.stop_details.and_then(|details| details.explanation);
                    self.stop = delta.stop_reason.or(self.stop.take());
                }
            }
            "message_stop" => self.is_done = true,
            "error" => {
                return Err(told(&self.provider, None, any.error.unwrap_or_default(), None));
            }
            // `ping`, and whatever is added one day.
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, answer: &mut Answer, out: &mut Vec<Event>) -> Result<(), ModelError> {
        let Some(stop) = self.stop.take().filter(|_| self.has_begun) else {
            let message = "the stream ended before the answer did".to_owned();
            return Err(ModelError::ConnectionLost { provider: self.provider.clone(), message });
        };
        let mut open: Vec<usize> = self.open.drain().map(|(_, block)| block).collect();
        open.sort_unstable();
        for block in open {
            complete(block, answer, out);
        }
        answer.stop = match stop.as_str() {
            "tool_use" => StopReason::ToolUse,
            "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
            "refusal" | "sensitive" => {
                let message = self.explanation.take().unwrap_or_else(|| format!("it stopped with {stop:?}"));
                return Err(ModelError::Refused { provider: self.provider.clone(), message });
            }
            _ => StopReason::Stop,
        };
        // Arguments may be cut where the answer was; elsewhere the model wrote them so.
        if answer.stop != StopReason::Length {
            answer.settle_calls();
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

impl AnthropicReader {
    fn start(&mut self, index: u64, started: Started<'_>, answer: &mut Answer, out: &mut Vec<Event>) {
        let block = answer.blocks.len();
        match started.kind.as_str() {
            "text" => {
                let text = started.text.unwrap_or_default();
                out.push(Event::TextStart { block });
                if !text.is_empty() {
                    out.push(Event::TextDelta { block, delta: text.clone() });
                }
                answer.blocks.push(Block::Text { text, signature: None });
            }
            "thinking" => {
                let thinking = started.thinking.unwrap_or_default();
                let signature = started.signature.filter(|signature| !signature.is_empty());
                out.push(Event::ThinkingStart { block });
                if !thinking.is_empty() {
                    out.push(Event::ThinkingDelta { block, delta: thinking.clone() });
                }
                answer.blocks.push(Block::Thinking { thinking, signature, redacted: false });
            }
            "redacted_thinking" => {
                out.push(Event::ThinkingStart { block });
                let signature = started.data;
                answer.blocks.push(Block::Thinking { thinking: String::new(), signature, redacted: true });
            }
            "tool_use" => {
                let (id, name) = (started.id.unwrap_or_default(), started.name.unwrap_or_default());
                out.push(Event::ToolCallStart { block, id: id.clone(), name: name.clone() });
                // Empty here, and then in pieces; some servers give it whole.
                let input = started.input.map(RawValue::get).unwrap_or_default();
                let is_whole =
                    input.starts_with('{') && json::Members::new(input.as_bytes()).next().is_some();
                let arguments = if is_whole { input.to_owned() } else { String::new() };
                if is_whole {
                    out.push(Event::ToolCallDelta { block, delta: arguments.clone() });
                }
                answer.blocks.push(Block::ToolCall { id, name, arguments, signature: None });
            }
            // Tools that run at the provider: none is asked for.
            _ => return,
        }
        self.open.insert(index, block);
    }
}

fn grow(block: usize, delta: Delta, answer: &mut Answer, out: &mut Vec<Event>) {
    match (delta.kind.as_str(), answer.blocks.get_mut(block)) {
        ("text_delta", Some(Block::Text { text, .. })) => {
            if let Some(delta) = delta.text.filter(|delta| !delta.is_empty()) {
                text.push_str(&delta);
                out.push(Event::TextDelta { block, delta });
            }
        }
        ("thinking_delta", Some(Block::Thinking { thinking, .. })) => {
            if let Some(delta) = delta.thinking.filter(|delta| !delta.is_empty()) {
                thinking.push_str(&delta);
                out.push(Event::ThinkingDelta { block, delta });
            }
        }
        ("signature_delta", Some(Block::Thinking { signature, .. })) => {
            if let Some(delta) = delta.signature.filter(|delta| !delta.is_empty()) {
                signature.get_or_insert_default().push_str(&delta);
            }
        }
        ("input_json_delta", Some(Block::ToolCall { arguments, .. })) => {
            if let Some(delta) = delta.partial_json.filter(|delta| !delta.is_empty()) {
                arguments.push_str(&delta);
                out.push(Event::ToolCallDelta { block, delta });
            }
        }
        // Citations, and whatever is added one day.
        _ => {}
    }
}

fn complete(block: usize, answer: &mut Answer, out: &mut Vec<Event>) {
    if let Some(Block::ToolCall { arguments, .. }) = answer.blocks.get_mut(block)
        && arguments.trim().is_empty()
    {
        *arguments = "{}".to_owned();
        out.push(Event::ToolCallDelta { block, delta: "{}".to_owned() });
    }
    out.push(Event::BlockEnd { block });
}

fn count(answer: &mut Answer, counts: Option<Counts>) {
    let Some(counts) = counts else { return };
    let usage = &mut answer.usage;
    let set = |field: &mut u64, count: Option<u64>| {
        if let Some(count) = count {
            *field = count;
        }
    };
    set(&mut usage.input, counts.input_tokens);
    set(&mut usage.output, counts.output_tokens);
    set(&mut usage.cache_read, counts.cache_read_input_tokens);
    set(&mut usage.cache_write, counts.cache_creation_input_tokens);
}

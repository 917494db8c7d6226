//! The stream of a Chat Completions answer. Servers differ in what they leave out and repeat; what
//! can be understood is taken.

use std::borrow::Cow;

use ramal_session::json;
use serde_json::Value;

use crate::answer::{Answer, Block, Event, StopReason, Usage, is_object};
use crate::error::ModelError;
use crate::wire::openai::blocks::{Growing, made_up_id};
use crate::wire::openai::failure::Provider;
use crate::wire::{Reader, ServerEvent};

/// A call of which more may come.
struct Call {
    block: usize,
    index: Option<u64>,
    /// The id that the server gave it.
    id: String,
    /// It has a name, and that it began was told.
    is_told: bool,
    /// The chunk in which it was seen last.
    chunk: usize,
}

/// The block that text or thinking goes to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Text(usize),
    Thinking(usize),
}

/// Reads one answer.
pub(super) struct CompletionsReader {
    provider: Provider,
    has_started: bool,
    open: Option<Open>,
    calls: Vec<Call>,
    chunk: usize,
    finish_reason: Option<String>,
    has_usage_at_end: bool,
    is_done: bool,
    is_closed: bool,
    details: Details,
}

impl CompletionsReader {
    pub(super) fn new(provider: Provider) -> CompletionsReader {
        CompletionsReader {
            provider,
            has_started: false,
            open: None,
            calls: Vec::new(),
            chunk: 0,
            finish_reason: None,
            has_usage_at_end: false,
            is_done: false,
            is_closed: false,
            details: Details::default(),
        }
    }

    fn choice(&mut self, choice: &Value, grow: &mut Growing<'_>) {
        let delta = match choice.get("delta") {
            Some(Value::Object(_)) => choice.get("delta"),
            // A server that cannot stream sends the message as a whole.
            _ => choice.get("message"),
        };
        if let Some(delta) = delta {
            self.delta(delta, grow);
        }
        if let Some(reason) =
            choice.get("finish_reason").and_then(Value::as_str).filter(|text| !text.is_empty())
        {
            self.finish_reason = Some(reason.to_owned());
        }
    }

    fn delta(&mut self, delta: &Value, grow: &mut Growing<'_>) {
        for member in ["reasoning_content", "reasoning", "reasoning_text"] {
            // Some send the same thought under two names.
            if let Some(text) = delta.get(member).and_then(Value::as_str).filter(|text| !text.is_empty()) {
                self.think(text, member, grow);
                break;
            }
        }
        if let Some(Value::Array(details)) = delta.get("reasoning_details") {
            self.details.take(details);
        }
        match delta.get("content") {
            Some(Value::String(text)) => self.say(text, grow),
            Some(Value::Array(parts)) => parts.iter().for_each(|part| self.part(part, grow)),
            _ => {}
        }
        if let Some(text) = delta.get("refusal").and_then(Value::as_str) {
            self.say(text, grow);
        }
        if let Some(Value::Array(calls)) = delta.get("tool_calls") {
            for call in calls {
                let index = call.get("index").and_then(Value::as_u64);
                self.call(index, call, call.get("function").unwrap_or(call), grow);
            }
        }
        if let Some(function @ Value::Object(_)) = delta.get("function_call") {
            self.call(Some(0), function, function, grow);
        }
    }

    /// A part of a content that is a list, as Mistral sends it: texts, and thoughts made of texts.
    fn part(&mut self, part: &Value, grow: &mut Growing<'_>) {
        if let Some(text) = part.get("text").and_then(Value::as_str) {
            return self.say(text, grow);
        }
        match part.get("thinking") {
            Some(Value::String(text)) => self.think(text, "", grow),
            Some(Value::Array(texts)) => {
                for text in texts.iter().filter_map(|text| text.get("text")?.as_str()) {
                    self.think(text, "", grow);
                }
            }
            _ => {}
        }
    }

    fn say(&mut self, text: &str, grow: &mut Growing<'_>) {
        if text.is_empty() {
            return;
        }
        let block = match self.open {
            Some(Open::Text(block)) => block,
            _ => {
                self.close(grow);
                let block = grow.text();
                self.open = Some(Open::Text(block));
                block
            }
        };
        grow.grow(block, text);
    }

    fn think(&mut self, text: &str, member: &str, grow: &mut Growing<'_>) {
        if text.is_empty() {
            return;
        }
        let block = match self.open {
            Some(Open::Thinking(block)) => block,
            _ => {
                self.close(grow);
                let block = grow.thinking((!member.is_empty()).then(|| member.to_owned()));
                self.open = Some(Open::Thinking(block));
                block
            }
        };
        grow.grow(block, text);
    }

    fn close(&mut self, grow: &mut Growing<'_>) {
        if let Some(Open::Text(block) | Open::Thinking(block)) = self.open.take() {
            grow.end(block);
        }
    }

    fn call(&mut self, index: Option<u64>, call: &Value, function: &Value, grow: &mut Growing<'_>) {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let (id, name) = (text(call.get("id")), text(function.get("name")));
        let arguments: Cow<'_, str> = match function.get("arguments") {
            Some(Value::String(text)) => Cow::Borrowed(text),
            Some(Value::Null) | None => Cow::Borrowed(""),
            // Whole, and not as a text.
            Some(other) => Cow::Owned(other.to_string()),
        };
        let found = self.find(index, &id, &name, &arguments, grow.answer);
        let number = match found {
            Some(number) => number,
            // Neither id nor name: nothing that a call could begin with.
            None if id.is_empty() && name.is_empty() => return,
            None => {
                self.close(grow);
                let made_up = if id.is_empty() { made_up_id() } else { id.clone() };
                let block = grow.call(made_up, String::new());
                self.calls.push(Call { block, index, id: id.clone(), is_told: false, chunk: self.chunk });
                self.calls.len() - 1
            }
        };
        let Some(known) = self.calls.get_mut(number) else { return };
        known.chunk = self.chunk;
        let Some(Block::ToolCall { id: stored, name: called, arguments: so_far, signature }) =
            grow.answer.blocks.get_mut(known.block)
        else {
            return;
        };
        if let Some(extra @ Value::Object(_)) = call.get("extra_content") {
            *signature = Some(extra.to_string());
        }
        // Whole arguments that come a second time, at the end.
        let is_repeated = !arguments.is_empty() && *so_far == *arguments && is_object(so_far);
        if known.is_told {
            if !is_repeated {
                grow.grow(known.block, &arguments);
            }
            return;
        }
        if known.id.is_empty() && !id.is_empty() {
            *stored = id.clone();
            known.id = id;
        }
        so_far.push_str(if is_repeated { "" } else { &arguments });
        if !name.is_empty() {
            *called = name;
            known.is_told = true;
            grow.call_begins(known.block);
        }
    }

    /// The call that a delta belongs to; none if another one begins.
    fn find(
        &self,
        index: Option<u64>,
        id: &str,
        name: &str,
        arguments: &str,
        answer: &Answer,
    ) -> Option<usize> {
        let known = |number: usize| self.calls.get(number).and_then(|call| answer.blocks.get(call.block));
        // Whether a delta that looks like the beginning of a call can only be another one.
        let is_other = |number: usize| {
            let Some(Block::ToolCall { name: called, arguments: so_far, .. }) = known(number) else {
                return false;
            };
            let begins = !name.is_empty() && arguments.trim_start().starts_with('{');
            begins
                && so_far.trim_end().ends_with('}')
                && is_object(so_far)
                && (name != called || so_far != arguments)
        };
        if let Some(index) = index {
            let number = self.calls.iter().rposition(|call| call.index == Some(index))?;
            let call = self.calls.get(number)?;
            // Servers that count every call as the first one.
            let has_other_id = !id.is_empty() && !call.id.is_empty() && id != call.id && !name.is_empty();
            let is_other = has_other_id || (id.is_empty() && is_other(number));
            return (!is_other).then_some(number);
        }
        if !id.is_empty() {
            return self.calls.iter().rposition(|call| call.id == id);
        }
        let last = self.calls.len().checked_sub(1)?;
        if name.is_empty() {
            return Some(last);
        }
        // Two in one chunk are two calls. Otherwise a name that is repeated is no new call, as long
        // as the arguments are not whole.
        let is_same_chunk = self.calls.get(last).is_some_and(|call| call.chunk == self.chunk);
        let Some(Block::ToolCall { name: called, arguments: so_far, .. }) = known(last) else { return None };
        (!is_same_chunk && (called.is_empty() || (name == called && !is_object(so_far)))).then_some(last)
    }

    /// Everything is there: blocks end.
    fn close_all(&mut self, grow: &mut Growing<'_>) {
        if std::mem::replace(&mut self.is_closed, true) {
            return;
        }
        if let Some(details) = self.details.json() {
            let last = grow.answer.blocks.iter_mut().rev().find_map(|block| match block {
                Block::Thinking { signature, .. } => Some(signature),
                _ => None,
            });
            match last {
                Some(signature) => *signature = Some(details),
                None => {
                    // Hidden thoughts only. They stand before what they led to, but numbers of blocks
                    // have been told already.
                    self.close(grow);
                    let block = grow.thinking(Some(details));
                    if let Some(Block::Thinking { redacted, .. }) = grow.answer.blocks.get_mut(block) {
                        *redacted = true;
                    }
                    self.open = Some(Open::Thinking(block));
                }
            }
        }
        self.close(grow);
        for call in &self.calls {
            if call.is_told {
                grow.arguments_end(call.block);
                grow.end(call.block);
            }
        }
    }
}

impl Reader for CompletionsReader {
    fn take(
        &mut self,
        event: ServerEvent<'_>,
        answer: &mut Answer,
        out: &mut Vec<Event>,
    ) -> Result<(), ModelError> {
        let data = event.data.trim();
        if data.is_empty() || self.is_done {
            return Ok(());
        }
        if data == "[DONE]" {
            self.is_done = true;
            self.close_all(&mut Growing { answer, out });
            return Ok(());
        }
        let Ok(chunk) = serde_json::from_str::<Value>(&json::clean(data.as_bytes())) else {
            if event.event == "error" {
                return Err(self.provider.failed_in_stream(&Value::String(data.to_owned())));
            }
            return Err(self.provider.not_understood(&format!("an event is no JSON: {data}")));
        };
        let is_error = chunk.get("error").is_some_and(|error| !error.is_null())
            || event.event == "error"
            || chunk.get("object").and_then(Value::as_str) == Some("error");
        if is_error {
            return Err(self.provider.failed_in_stream(&chunk));
        }
        if !chunk.is_object() {
            return Err(self.provider.not_understood(&format!("an event is no object: {data}")));
        }
        if !std::mem::replace(&mut self.has_started, true) {
            out.push(Event::Start);
        }
        self.chunk += 1;
        let choice = chunk.get("choices").and_then(Value::as_array).and_then(|choices| {
            choices.iter().find(|choice| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0)
        });
        if let Some(choice) = choice {
            self.choice(choice, &mut Growing { answer, out });
        }
        let places = [
            chunk.get("usage"),
            choice.and_then(|choice| choice.get("usage")),
            chunk.pointer("/x_groq/usage"),
        ];
        if let Some(usage) = places.into_iter().flatten().find(|usage| usage.is_object()) {
            answer.usage = counted(usage);
            self.has_usage_at_end = self.finish_reason.is_some();
        }
        Ok(())
    }

    fn finish(&mut self, answer: &mut Answer, out: &mut Vec<Event>) -> Result<(), ModelError> {
        self.close_all(&mut Growing { answer, out });
        let has_calls = !self.calls.is_empty();
        let stop = match self.finish_reason.as_deref() {
            None if !self.is_done || !self.has_started => return Err(self.provider.broke_off()),
            Some("content_filter") => {
                return Err(self.provider.refused("the answer was cut off by a filter"));
            }
            Some("insufficient_system_resource") => {
                let error = serde_json::json!({"code": "overloaded", "message": "its resources ran out"});
                return Err(self.provider.failed_in_stream(&error));
            }
            Some("error") => {
                let error = serde_json::json!({"message": "the answer ended with an error"});
                return Err(self.provider.failed_in_stream(&error));
            }
            Some("length" | "max_tokens") => StopReason::Length,
            // Many say "stop" behind calls as well.
            _ if has_calls => StopReason::ToolUse,
            _ => StopReason::Stop,
        };
        if stop != StopReason::Length {
            // Without a name nobody can say who should be told that it was not understood.
            if self.calls.iter().any(|call| !call.is_told) {
                return Err(self.provider.not_understood("a call has no name"));
            }
            answer.settle_calls();
        }
        answer.stop = stop;
        Ok(())
    }

    fn is_done(&self) -> bool {
        // The usage comes last. Not every server says that it is done behind it.
        self.is_done || self.has_usage_at_end
    }
}

/// Tokens as the log counts them.
fn counted(usage: &Value) -> Usage {
    let number = |path: &str| usage.pointer(path).and_then(Value::as_u64).unwrap_or(0);
    let prompt = number("/prompt_tokens");
    let cached = number("/prompt_tokens_details/cached_tokens")
        .max(number("/prompt_cache_hit_tokens"))
        .max(number("/cached_tokens"))
        .min(prompt);
    let written = number("/prompt_tokens_details/cache_write_tokens").min(prompt - cached);
    let mut output = number("/completion_tokens");
    // xAI counts thoughts beside the answer, not in it. The sum tells.
    let thoughts = number("/completion_tokens_details/reasoning_tokens");
    if thoughts > 0 && number("/total_tokens") == prompt.saturating_add(output).saturating_add(thoughts) {
        output += thoughts;
    }
    Usage { input: prompt - cached - written, output, cache_read: cached, cache_write: written }
}

/// What OpenRouter wants back of thoughts: a list of objects, which come in pieces.
#[derive(Default)]
struct Details(Vec<serde_json::Map<String, Value>>);

impl Details {
    fn take(&mut self, details: &[Value]) {
        for detail in details.iter().filter_map(Value::as_object) {
            let same = self.0.last_mut().filter(|last| {
                ["type", "index"].iter().all(|key| last.get(*key) == detail.get(*key))
                    && detail.get("type").and_then(Value::as_str) != Some("reasoning.encrypted")
            });
            let Some(last) = same else {
                self.0.push(detail.clone());
                continue;
            };
            for (key, value) in detail.iter().filter(|(_, value)| !value.is_null()) {
                match (last.get_mut(key), value) {
                    (Some(Value::String(so_far)), Value::String(more))
                        if ["text", "summary"].contains(&key.as_str()) =>
                    {
                        so_far.push_str(more);
                    }
                    _ => {
                        last.insert(key.clone(), value.clone());
                    }
                }
            }
        }
    }

    fn json(&self) -> Option<String> {
        let is_needed = self.0.iter().any(|detail| {
            ["signature", "data"].iter().any(|key| detail.get(*key).is_some_and(Value::is_string))
        });
        is_needed.then(|| serde_json::to_string(&self.0).unwrap_or_default())
    }
}

//! The stream of a Responses answer: items that are added, grow, and are done.

use ramal_session::json;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::answer::{Answer, Block, Event, StopReason, Usage, is_object};
use crate::error::ModelError;
use crate::wire::openai::blocks::{Growing, made_up_id};
use crate::wire::openai::failure::Provider;
use crate::wire::{Reader, ServerEvent};

/// What is needed of an event. An item keeps its text: it goes back as it came.
#[derive(Deserialize)]
struct Told<'a> {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    output_index: Option<u64>,
    #[serde(default)]
    item_id: Option<String>,
    #[serde(default)]
    delta: Option<Value>,
    #[serde(default)]
    arguments: Option<String>,
    #[serde(borrow, default)]
    item: Option<&'a RawValue>,
    #[serde(borrow, default)]
    response: Option<&'a RawValue>,
}

/// An item of the answer.
struct Item {
    index: Option<u64>,
    id: String,
    /// None for a message that has said nothing yet, and for items of kinds that are not known.
    block: Option<usize>,
    is_done: bool,
}

/// How an answer ended.
enum End {
    Completed,
    Incomplete(String),
}

/// Reads one answer.
pub(super) struct ResponsesReader {
    provider: Provider,
    has_started: bool,
    items: Vec<Item>,
    end: Option<End>,
    has_finished: bool,
}

impl ResponsesReader {
    pub(super) fn new(provider: Provider) -> ResponsesReader {
        ResponsesReader { provider, has_started: false, items: Vec::new(), end: None, has_finished: false }
    }

    /// The item that an event is about.
    fn find(&mut self, told: &Told<'_>) -> Option<&mut Item> {
        let place = match (told.output_index, &told.item_id) {
            (Some(index), _) => self.items.iter().rposition(|item| item.index == Some(index)),
            (None, Some(id)) => self.items.iter().rposition(|item| item.id == *id),
            (None, None) => self.items.iter().rposition(|item| !item.is_done),
        }?;
        self.items.get_mut(place)
    }

    /// An item began; its place among the items.
    fn added(&mut self, index: Option<u64>, item: &Value, grow: &mut Growing<'_>) -> usize {
        let id = text(item, "id").to_owned();
        let block = match text(item, "type") {
            "reasoning" => Some(grow.thinking(None)),
            "function_call" => Some(begin_call(item, grow)),
            _ => None,
        };
        self.items.push(Item { index, id, block, is_done: false });
        self.items.len() - 1
    }

    /// Text came for a message.
    fn say(&mut self, told: &Told<'_>, grow: &mut Growing<'_>) {
        let Some(Value::String(delta)) = &told.delta else { return };
        if delta.is_empty() {
            return;
        }
        if self.find(told).is_none() {
            self.added(told.output_index, &serde_json::json!({"type": "message", "id": told.item_id}), grow);
        }
        if let Some(item) = self.find(told) {
            let block = *item.block.get_or_insert_with(|| grow.text());
            grow.grow(block, delta);
        }
    }

    fn think(&mut self, told: &Told<'_>, grow: &mut Growing<'_>) {
        let Some(Value::String(delta)) = &told.delta else { return };
        if self.find(told).is_none() {
            self.added(
                told.output_index,
                &serde_json::json!({"type": "reasoning", "id": told.item_id}),
                grow,
            );
        }
        if let Some(block) = self.find(told).and_then(|item| item.block) {
            grow.grow(block, delta);
        }
    }

    /// A further part of a summary: a paragraph of its own.
    fn next_part(&mut self, told: &Told<'_>, grow: &mut Growing<'_>) {
        let Some(block) = self.find(told).and_then(|item| item.block) else { return };
        if matches!(grow.answer.blocks.get(block), Some(Block::Thinking { thinking, .. }) if !thinking.is_empty())
        {
            grow.grow(block, "\n\n");
        }
    }

    /// Arguments came, in a piece or as a whole.
    fn argue(&mut self, told: &Told<'_>, grow: &mut Growing<'_>) {
        let Some(block) = self.find(told).and_then(|item| item.block) else { return };
        if let Some(whole) = &told.arguments {
            complete(block, whole, grow);
        } else if let Some(Value::String(delta)) = &told.delta {
            grow.grow(block, delta);
        }
    }

    /// An item is complete, `raw` its text.
    fn done(&mut self, told_index: Option<u64>, raw: &str, item: &Value, grow: &mut Growing<'_>) {
        let id = text(item, "id");
        let known = self.items.iter().rposition(|known| match (told_index, known.index) {
            (Some(index), Some(known)) => index == known,
            _ => known.id == id && !id.is_empty(),
        });
        let number = known.unwrap_or_else(|| self.added(told_index, item, grow));
        let Some(known) = self.items.get_mut(number) else { return };
        if std::mem::replace(&mut known.is_done, true) {
            return;
        }
        match text(item, "type") {
            "message" => {
                let said = parts(item.get("content"), &["text", "refusal"], "");
                if said.is_empty() && known.block.is_none() {
                    return;
                }
                let block = *known.block.get_or_insert_with(|| grow.text());
                complete(block, &said, grow);
                if let Some(Block::Text { signature, .. }) = grow.answer.blocks.get_mut(block) {
                    *signature = message_signature(item);
                }
            }
            "reasoning" => {
                let Some(block) = known.block else { return };
                let is_silent = matches!(
                    grow.answer.blocks.get(block),
                    Some(Block::Thinking { thinking, .. }) if thinking.is_empty()
                );
                if is_silent {
                    let summary = parts(item.get("summary"), &["text"], "\n\n");
                    let thought = if summary.is_empty() {
                        parts(item.get("content"), &["text"], "\n\n")
                    } else {
                        summary
                    };
                    grow.grow(block, &thought);
                }
                if let Some(Block::Thinking { signature, .. }) = grow.answer.blocks.get_mut(block) {
                    *signature = Some(raw.to_owned());
                }
            }
            "function_call" => {
                let Some(block) = known.block else { return };
                complete(block, text(item, "arguments"), grow);
                grow.arguments_end(block);
            }
            _ => {}
        }
        if let Some(block) = known.block {
            grow.end(block);
        }
    }

    /// The answer ended; `response` is all of it.
    fn ended(&mut self, kind: &str, response: &Value, grow: &mut Growing<'_>) {
        if let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) {
            grow.answer.usage = counted(usage);
        }
        // Servers that tell no items by themselves.
        if self.items.is_empty() {
            let output = response.get("output").and_then(Value::as_array);
            for (index, item) in output.into_iter().flatten().enumerate() {
                let raw = item.to_string();
                self.done(u64::try_from(index).ok(), &raw, item, grow);
            }
        }
        let reason = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
        self.end = Some(match (kind, reason) {
            ("response.incomplete", reason) => End::Incomplete(reason.unwrap_or_default().to_owned()),
            _ => End::Completed,
        });
    }

    fn close_all(&mut self, grow: &mut Growing<'_>) {
        if std::mem::replace(&mut self.has_finished, true) {
            return;
        }
        for item in self.items.iter().filter(|item| !item.is_done) {
            if let Some(block) = item.block {
                grow.end(block);
            }
        }
    }
}

impl Reader for ResponsesReader {
    fn take(
        &mut self,
        event: ServerEvent<'_>,
        answer: &mut Answer,
        out: &mut Vec<Event>,
    ) -> Result<(), ModelError> {
        let data = event.data.trim();
        if data.is_empty() || data == "[DONE]" || self.end.is_some() {
            return Ok(());
        }
        let data = json::clean(data.as_bytes());
        let Ok(told) = serde_json::from_str::<Told<'_>>(&data) else {
            if is_unknown(&data) {
                return Ok(());
            }
            return Err(self.provider.not_understood(&format!("an event is not of the usual form: {data}")));
        };
        let kind = if told.kind.is_empty() { event.event } else { &told.kind };
        let read = |raw: Option<&RawValue>| {
            raw.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok()).unwrap_or(Value::Null)
        };
        let is_error = kind == "error" || (kind.is_empty() && json::get(data.as_bytes(), "error").is_some());
        if is_error {
            return Err(self.provider.failed_in_stream(&serde_json::from_str(&data).unwrap_or_default()));
        }
        if kind == "response.failed" {
            let response = read(told.response);
            return Err(self.provider.failed_in_stream(&response));
        }
        let grow = &mut Growing { answer, out };
        if kind.starts_with("response.") && !std::mem::replace(&mut self.has_started, true) {
            grow.out.push(Event::Start);
        }
        match kind {
            "response.output_item.added" => {
                let item = read(told.item);
                self.added(told.output_index, &item, grow);
            }
            "response.output_item.done" => {
                let item = read(told.item);
                self.done(told.output_index, told.item.map_or("", RawValue::get), &item, grow);
            }
            "response.output_text.delta" | "response.refusal.delta" => self.say(&told, grow),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.think(&told, grow)
            }
            "response.reasoning_summary_part.added" => self.next_part(&told, grow),
            "response.function_call_arguments.delta" | "response.function_call_arguments.done" => {
                self.argue(&told, grow);
            }
            "response.completed" | "response.incomplete" | "response.done" => {
                let response = read(told.response);
                self.ended(kind, &response, grow);
            }
            // New events come up all the time, and are no reason to fail.
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, answer: &mut Answer, out: &mut Vec<Event>) -> Result<(), ModelError> {
        self.close_all(&mut Growing { answer, out });
        answer.stop = match &self.end {
            None => return Err(self.provider.broke_off()),
            Some(End::Incomplete(reason)) if reason == "content_filter" => {
                return Err(self.provider.refused("the answer was cut off by a filter"));
            }
            Some(End::Incomplete(_)) => StopReason::Length,
            Some(End::Completed) => {
                answer.settle_calls();
                let mut stop = StopReason::Stop;
                for block in &answer.blocks {
                    let Block::ToolCall { name, .. } = block else { continue };
                    if name.is_empty() {
                        return Err(self.provider.not_understood("a call has no name"));
                    }
                    stop = StopReason::ToolUse;
                }
                stop
            }
        };
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.end.is_some()
    }
}

/// Whether an event is of a kind that nothing is made of, so that its form does not matter.
fn is_unknown(data: &str) -> bool {
    let kind = json::get_str(data.as_bytes(), "type").unwrap_or_default();
    let known =
        ["error", "response.output_", "response.reasoning_", "response.function_call_", "response.refusal"];
    is_object(data)
        && kind.contains('.')
        && !known.iter().any(|start| kind.starts_with(start))
        && !["response.completed", "response.incomplete", "response.failed", "response.done"]
            .contains(&&*kind)
}

fn text<'a>(item: &'a Value, key: &str) -> &'a str {
    item.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn begin_call(item: &Value, grow: &mut Growing<'_>) -> usize {
    let (call, id) = (text(item, "call_id"), text(item, "id"));
    let call = if call.is_empty() { id } else { call };
    // Both ids are wanted back; the log has one place for them.
    let id = match (call, id) {
        ("", _) => made_up_id(),
        (call, "") => call.to_owned(),
        (call, id) if call == id => call.to_owned(),
        (call, id) => format!("{call}|{id}"),
    };
    let block = grow.call(id, text(item, "name").to_owned());
    grow.call_begins(block);
    grow.grow(block, text(item, "arguments"));
    block
}

/// The whole of what came in pieces. What is missing is told; what differs counts.
fn complete(block: usize, whole: &str, grow: &mut Growing<'_>) {
    let so_far = match grow.answer.blocks.get_mut(block) {
        Some(Block::Text { text, .. }) => text,
        Some(Block::ToolCall { arguments, .. }) => arguments,
        _ => return,
    };
    match whole.strip_prefix(so_far.as_str()) {
        Some(more) => grow.grow(block, more),
        None if whole.is_empty() => {}
        None => whole.clone_into(so_far),
    }
}

/// The texts of a list of parts.
fn parts(list: Option<&Value>, keys: &[&str], between: &str) -> String {
    let texts: Vec<&str> = list
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|part| keys.iter().find_map(|key| part.get(key)?.as_str()))
        .collect();
    texts.join(between)
}

/// What a message wants back: its id, and its phase if it has one.
fn message_signature(item: &Value) -> Option<String> {
    let id = text(item, "id");
    match text(item, "phase") {
        _ if id.is_empty() => None,
        "" => Some(id.to_owned()),
        phase => Some(format!(r#"{{"v":1,"id":{},"phase":{}}}"#, json::quote(id), json::quote(phase))),
    }
}

/// Tokens as the log counts them.
fn counted(usage: &Value) -> Usage {
    let number = |path: &str| usage.pointer(path).and_then(Value::as_u64).unwrap_or(0);
    let input = number("/input_tokens");
    let cached = number("/input_tokens_details/cached_tokens").min(input);
    let written = number("/input_tokens_details/cache_write_tokens").min(input - cached);
    Usage {
        input: input - cached - written,
        output: number("/output_tokens"),
        cache_read: cached,
        cache_write: written,
    }
}

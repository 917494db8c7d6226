//! Reads the stream of one answer of Gemini.

use std::sync::atomic::{AtomicU64, Ordering};

use ramal_session::time;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::errors::{ErrorBody, Teller};
use crate::answer::{Answer, Block, Event, StopReason, Usage, meant};
use crate::error::ModelError;
use crate::request::Endpoint;
use crate::wire::{Reader, ServerEvent};

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Chunk {
    candidates: Vec<Candidate>,
    usage_metadata: Option<UsageMetadata>,
    prompt_feedback: Option<Feedback>,
    error: Option<ErrorBody>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Candidate {
    content: Option<Content>,
    finish_reason: Option<String>,
    finish_message: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Content {
    parts: Vec<Part>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Part {
    text: Option<String>,
    thought: bool,
    thought_signature: Option<String>,
    function_call: Option<FunctionCall>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct FunctionCall {
    id: Option<String>,
    name: String,
    args: Option<Box<RawValue>>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct UsageMetadata {
    prompt_token_count: u64,
    cached_content_token_count: u64,
    candidates_token_count: u64,
    thoughts_token_count: u64,
    tool_use_prompt_token_count: u64,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Feedback {
    block_reason: Option<String>,
    block_reason_message: Option<String>,
}

/// Reads one answer.
pub(super) struct GoogleReader {
    teller: Teller,
    has_begun: bool,
    /// The block that goes on: text or thinking. It is the last one.
    is_open: bool,
    is_finished: bool,
    is_counted: bool,
}

impl GoogleReader {
    pub(super) fn new(endpoint: &Endpoint) -> GoogleReader {
        GoogleReader {
            teller: Teller::new(endpoint),
            has_begun: false,
            is_open: false,
            is_finished: false,
            is_counted: false,
        }
    }

    fn close(&mut self, answer: &Answer, out: &mut Vec<Event>) {
        if std::mem::take(&mut self.is_open) {
            out.push(Event::BlockEnd { block: answer.blocks.len().saturating_sub(1) });
        }
    }

    fn part(&mut self, part: Part, answer: &mut Answer, out: &mut Vec<Event>) {
        let signature = part.thought_signature.filter(|signature| !signature.is_empty());
        if let Some(call) = part.function_call {
            return self.call(call, signature, answer, out);
        }
        let Some(text) = part.text else { return };
        if text.is_empty() && signature.is_none() {
            return;
        }
        // Behind a signature begins another part, and the two must not become one.
        let goes_on = self.is_open
            && match answer.blocks.last() {
                Some(Block::Text { signature: None, .. }) => !part.thought,
                Some(Block::Thinking { signature: None, .. }) => part.thought,
                _ => false,
            };
        if !goes_on {
            self.close(answer, out);
            let block = answer.blocks.len();
            self.is_open = true;
            answer.blocks.push(if part.thought {
                out.push(Event::ThinkingStart { block });
                Block::Thinking { thinking: String::new(), signature: None, redacted: false }
            } else {
                out.push(Event::TextStart { block });
                Block::Text { text: String::new(), signature: None }
            });
        }
        let block = answer.blocks.len().saturating_sub(1);
        match answer.blocks.last_mut() {
            Some(Block::Text { text: all, signature: kept }) => {
                all.push_str(&text);
                *kept = signature;
                if !text.is_empty() {
                    out.push(Event::TextDelta { block, delta: text });
                }
            }
            Some(Block::Thinking { thinking: all, signature: kept, .. }) => {
                all.push_str(&text);
                *kept = signature;
                if !text.is_empty() {
                    out.push(Event::ThinkingDelta { block, delta: text });
                }
            }
            _ => {}
        }
    }

    fn call(
        &mut self,
        call: FunctionCall,
        signature: Option<String>,
        answer: &mut Answer,
        out: &mut Vec<Event>,
    ) {
        self.close(answer, out);
        let block = answer.blocks.len();
        let is_taken = |wanted: &str| {
            answer.blocks.iter().any(|block| matches!(block, Block::ToolCall { id, .. } if id == wanted))
        };
        let given = call.id.filter(|id| !id.is_empty() && !is_taken(id));
        let id = given.unwrap_or_else(make_up_id);
        let arguments = call.args.map_or_else(|| "{}".to_owned(), |args| args.get().to_owned());
        let arguments = meant(&arguments).unwrap_or(arguments);
        out.push(Event::ToolCallStart { block, id: id.clone(), name: call.name.clone() });
        out.push(Event::ToolCallDelta { block, delta: arguments.clone() });
        out.push(Event::BlockEnd { block });
        answer.blocks.push(Block::ToolCall { id, name: call.name, arguments, signature });
    }

    fn end(
        &mut self,
        reason: &str,
        message: Option<&str>,
        answer: &mut Answer,
        out: &mut Vec<Event>,
    ) -> Result<(), ModelError> {
        self.close(answer, out);
        self.is_finished = true;
        let provider = self.teller.provider.clone();
        let message = self.teller.told(&match message {
            Some(message) => format!("{message} ({reason})"),
            None => reason.to_owned(),
        });
        match reason {
            "STOP" | "FINISH_REASON_UNSPECIFIED" => {
                let calls = answer.blocks.iter().any(|block| matches!(block, Block::ToolCall { .. }));
                answer.stop = if calls { StopReason::ToolUse } else { StopReason::Stop };
                Ok(())
            }
            "MAX_TOKENS" => {
                answer.stop = StopReason::Length;
                Ok(())
            }
            "SAFETY"
            | "RECITATION"
            | "LANGUAGE"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "MODEL_ARMOR"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION" => Err(ModelError::Refused { provider, message }),
            // The model stumbled; asked again, it mostly does not.
            "MALFORMED_FUNCTION_CALL"
            | "MALFORMED_RESPONSE"
            | "UNEXPECTED_TOOL_CALL"
            | "TOO_MANY_TOOL_CALLS"
            | "OTHER" => Err(ModelError::Server { provider, status: 200, message, wait: None }),
            _ => Err(ModelError::NotUnderstood {
                provider,
                message: format!("it ended for an unknown reason: {message}"),
            }),
        }
    }
}

impl Reader for GoogleReader {
    fn take(
        &mut self,
        event: ServerEvent<'_>,
        answer: &mut Answer,
        out: &mut Vec<Event>,
    ) -> Result<(), ModelError> {
        // Gemini has no mark of the end, but servers that speak like it may.
        if matches!(event.data.trim(), "" | "[DONE]") {
            return Ok(());
        }
        let chunk: Chunk = serde_json::from_str(event.data).map_err(|error| ModelError::NotUnderstood {
            provider: self.teller.provider.clone(),
            message: format!("an event is not of the form it should have: {error}"),
        })?;
        if let Some(usage) = chunk.usage_metadata {
            answer.usage = usage.into();
            self.is_counted = true;
        }
        if let Some(error) = chunk.error {
            self.close(answer, out);
            return Err(self.teller.of_error(&error, None));
        }
        if !self.has_begun {
            self.has_begun = true;
            out.push(Event::Start);
        }
        if let Some(Feedback { block_reason: Some(reason), block_reason_message }) = chunk.prompt_feedback {
            let message =
                block_reason_message.map_or(reason.clone(), |message| format!("{message} ({reason})"));
            let provider = self.teller.provider.clone();
            return Err(ModelError::Refused { provider, message: self.teller.told(&message) });
        }
        let Some(candidate) = chunk.candidates.into_iter().next() else { return Ok(()) };
        for part in candidate.content.unwrap_or_default().parts {
            self.part(part, answer, out);
        }
        match candidate.finish_reason {
            Some(reason) => self.end(&reason, candidate.finish_message.as_deref(), answer, out),
            None => Ok(()),
        }
    }

    fn finish(&mut self, answer: &mut Answer, out: &mut Vec<Event>) -> Result<(), ModelError> {
        self.close(answer, out);
        if self.is_finished {
            if answer.stop != StopReason::Length {
                answer.settle_calls();
            }
            return Ok(());
        }
        let message = "the stream ended before the answer did".to_owned();
        Err(ModelError::ConnectionLost { provider: self.teller.provider.clone(), message })
    }

    fn is_done(&self) -> bool {
        self.is_finished && self.is_counted
    }
}

impl From<UsageMetadata> for Usage {
    /// What was read from the cache is part of Gemini's count of the prompt, and what was thought is
    /// no part of its count of the answer.
    fn from(usage: UsageMetadata) -> Usage {
        let prompt = usage.prompt_token_count.saturating_add(usage.tool_use_prompt_token_count);
        Usage {
            input: prompt.saturating_sub(usage.cached_content_token_count),
            output: usage.candidates_token_count.saturating_add(usage.thoughts_token_count),
            cache_read: usage.cached_content_token_count,
            cache_write: 0,
        }
    }
}

/// An id for a call that came without. Not given twice in one session, whoever ran before.
fn make_up_id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("call_{:x}_{:x}_{count:x}", time::now(), std::process::id())
}

//! Requests to Anthropic's Messages.
//!
//! Everything that stays the same for a session stands before the messages, and what a message
//! becomes depends only on what stands before it: the bytes up to a fork stay what they were.

use std::fmt::Write;

use ramal_session::json::quote;
use ramal_session::{Message, Role};

use super::super::HttpRequest;
use super::super::messages::{
    CONTINUE, IMAGE_MADE, NO_OUTPUT, NO_RESULT, OPENING, Part, ToolIds, acceptable, for_each, is_own, parts,
    schema, text_block,
};
use crate::address::below;
use crate::request::{Endpoint, Request, Secret, ThinkingLevel};

const VERSION: &str = "2023-06-01";
/// Thinking between calls has to be asked for where thinking has a budget.
const INTERLEAVED: &str = "interleaved-thinking-2025-05-14";
const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;
/// Characters of a call's id, and of a tool's name.
const LONGEST_ID: usize = 64;
const LONGEST_NAME: usize = 128;
/// Tokens for an answer, unless the caller or the model says otherwise.
const ANSWER: u64 = 32_000;
/// The smallest budget for thinking that is accepted.
const SMALLEST_BUDGET: u64 = 1024;
/// What thinking leaves for the answer, unless the caller wants less.
const SMALLEST_ANSWER: u64 = 1024;

pub(super) fn write(endpoint: &Endpoint, request: &Request) -> HttpRequest {
    let mut conversation = Conversation::new(endpoint);
    for_each(&request.messages, |message| conversation.take(message));
    let conversation = conversation.finish();
    let thinking = Thinking::of(endpoint, request, &conversation.turns);
    let mut headers = vec![("anthropic-version", Secret::new(VERSION))];
    if let Some(key) = &endpoint.key {
        headers.push(("x-api-key", key.clone()));
    }
    if matches!(thinking.how, How::Budget(_)) && !request.tools.is_empty() {
        headers.push(("anthropic-beta", Secret::new(INTERLEAVED)));
    }
    let url = below(&below(&endpoint.base_url, "/v1"), "/messages");
    HttpRequest { url, headers, body: body(endpoint, request, &thinking, conversation).into_bytes() }
}

/// What may differ between two requests of a session — how much to think — stands behind the messages.
fn body(endpoint: &Endpoint, request: &Request, thinking: &Thinking, conversation: Told) -> String {
    let mut out = format!("{{\"model\":{},\"stream\":true", quote(&endpoint.model));
    write_tools(&mut out, request, &conversation);
    let texts =
        std::iter::once(request.system.as_str()).chain(conversation.system.iter().map(String::as_str));
    let mut system: Vec<String> =
        texts.filter(|text| !text.trim().is_empty()).map(|text| text_block("text", text)).collect();
    if let Some(last) = system.last_mut() {
        mark(last);
        let _ = write!(out, ",\"system\":[{}]", system.join(","));
    }
    out += ",\"messages\":[";
    write_turns(&mut out, conversation.turns);
    let _ = write!(out, "],\"max_tokens\":{}", thinking.max_tokens);
    match thinking.how {
        How::Off => {}
        How::Budget(tokens) => {
            let _ = write!(out, r#","thinking":{{"type":"enabled","budget_tokens":{tokens}}}"#);
        }
        How::Adaptive { effort, asks_to_show } => {
            let display = if asks_to_show { r#","display":"summarized""# } else { "" };
            let _ = write!(out, r#","thinking":{{"type":"adaptive"{display}}}"#);
            let _ = write!(out, r#","output_config":{{"effort":"{effort}"}}"#);
        }
    }
    out.push('}');
    out
}

fn write_tools(out: &mut String, request: &Request, conversation: &Told) {
    let mut tools: Vec<String> = request
        .tools
        .iter()
        .map(|tool| {
            format!(
                "{{\"name\":{},\"description\":{},\"input_schema\":{}}}",
                quote(&acceptable(&tool.name, LONGEST_NAME)),
                quote(&tool.description),
                schema(tool)
            )
        })
        .collect();
    if let Some(last) = tools.last_mut() {
        mark(last);
        let _ = write!(out, ",\"tools\":[{}]", tools.join(","));
        return;
    }
    // Calls in the conversation are only accepted together with tools.
    if !conversation.tools.is_empty() {
        let named = conversation.tools.iter().map(|name| {
            format!(
                r#"{{"name":{},"description":"Was used earlier.","input_schema":{{"type":"object"}}}}"#,
                quote(name)
            )
        });
        let named: Vec<String> = named.collect();
        let _ = write!(out, r#","tools":[{}],"tool_choice":{{"type":"none"}}"#, named.join(","));
    }
}

/// Writes the turns, with marks for the cache at the end of the last two turns of the user: what is
/// asked next finds the first, what is asked now finds the second.
fn write_turns(out: &mut String, turns: Vec<Turn>) {
    let marked: Vec<usize> = (0..turns.len()).rev().filter(|&number| turns[number].is_user).take(2).collect();
    for (number, mut turn) in turns.into_iter().enumerate() {
        if marked.contains(&number)
            && let Some(last) = turn.blocks.last_mut()
        {
            mark(&mut last.json);
        }
        if number > 0 {
            out.push(',');
        }
        let role = if turn.is_user { "user" } else { "assistant" };
        let _ = write!(out, "{{\"role\":\"{role}\",\"content\":[");
        for (place, block) in turn.blocks.iter().enumerate() {
            if place > 0 {
                out.push(',');
            }
            out.push_str(&block.json);
        }
        out.push_str("]}");
    }
}

/// Marks the end of a part that may be cached: `object` is the JSON text of an object.
fn mark(object: &mut String) {
    if object.ends_with('}') {
        object.insert_str(object.len() - 1, MARK);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Is {
    Result,
    Call,
    Thinking,
    Other,
}

struct Block {
    is: Is,
    json: String,
}

/// Messages of one role that stand together.
struct Turn {
    is_user: bool,
    blocks: Vec<Block>,
}

impl Turn {
    fn starts_with(&self, is: Is) -> bool {
        self.blocks.first().is_some_and(|block| block.is == is)
    }

    fn is_only_results(&self) -> bool {
        self.blocks.iter().all(|block| block.is == Is::Result)
    }
}

/// A conversation in the form of the interface.
struct Told {
    turns: Vec<Turn>,
    /// What stood before the conversation as system messages.
    system: Vec<String>,
    /// The tools that were called, in the order of their first call.
    tools: Vec<String>,
}

struct Conversation<'e> {
    endpoint: &'e Endpoint,
    ids: ToolIds,
    told: Told,
    /// Calls whose results are still to come.
    open: Vec<String>,
    /// What may only stand behind all results of a turn.
    behind_results: Vec<Block>,
}

impl<'e> Conversation<'e> {
    fn new(endpoint: &'e Endpoint) -> Self {
        let told = Told { turns: Vec::new(), system: Vec::new(), tools: Vec::new() };
        let (open, behind_results) = (Vec::new(), Vec::new());
        Conversation { endpoint, ids: ToolIds::new(LONGEST_ID), told, open, behind_results }
    }

    fn take(&mut self, message: Message<'_>) {
        match message.role() {
            Role::ToolResult => self.take_result(message),
            Role::Assistant => {
                self.end_results();
                self.take_answer(message);
            }
            Role::System if self.told.turns.is_empty() => {
                let text = message.text();
                if !text.trim().is_empty() {
                    self.told.system.push(text);
                }
            }
            // There is no other role within a conversation.
            _ => {
                self.end_results();
                let blocks = parts(message, self.endpoint).into_iter().filter_map(said).collect();
                self.push(true, blocks);
            }
        }
    }

    fn take_answer(&mut self, message: Message<'_>) {
        let is_own = is_own(message, self.endpoint);
        let mut blocks: Vec<Block> = Vec::new();
        for part in parts(message, self.endpoint) {
            match part {
                Part::Thinking { thinking, signature: Some(signature), redacted } if is_own => {
                    let json = match redacted {
                        true => format!(r#"{{"type":"redacted_thinking","data":{}}}"#, quote(&signature)),
                        false => format!(
                            r#"{{"type":"thinking","thinking":{},"signature":{}}}"#,
                            quote(&thinking),
                            quote(&signature)
                        ),
                    };
                    blocks.push(Block { is: Is::Thinking, json });
                }
                Part::ToolCall { id, name, arguments, .. } => {
                    let (name, id) = (acceptable(&name, LONGEST_NAME), self.ids.call(&id));
                    let json = format!(
                        r#"{{"type":"tool_use","id":{},"name":{},"input":{arguments}}}"#,
                        quote(&id),
                        quote(&name),
                    );
                    self.open.push(id);
                    if !self.told.tools.contains(&name) {
                        self.told.tools.push(name);
                    }
                    blocks.push(Block { is: Is::Call, json });
                }
                // Images are taken from the user only.
                Part::Image { .. } => {
                    blocks.push(Block { is: Is::Other, json: text_block("text", IMAGE_MADE) });
                }
                other => blocks.extend(said(other)),
            }
        }
        if !is_own {
            // Other providers let text stand behind calls.
            blocks.sort_by_key(|block| block.is == Is::Call);
        }
        // An answer that broke off may end in a thought, but none may be sent so.
        while blocks.last().is_some_and(|block| block.is == Is::Thinking) {
            blocks.pop();
        }
        self.push(false, blocks);
    }

    fn take_result(&mut self, message: Message<'_>) {
        let id = message.get_str("toolCallId").unwrap_or_default();
        let Some(id) = self.ids.result(&id) else { return };
        // A second result, or one of a call that was answered for, finds no place.
        let Some(place) = self.open.iter().position(|open| open == id) else { return };
        let id = self.open.remove(place);
        let is_error = message.is_error();
        let mut content = Vec::new();
        for part in parts(message, self.endpoint) {
            let is_image = matches!(part, Part::Image { .. });
            let Some(block) = said(part) else { continue };
            // The result of a tool that failed may hold nothing but text.
            match is_image && is_error {
                true => self.behind_results.push(block),
                false => content.push(block.json),
            }
        }
        if content.is_empty() {
            content.push(text_block("text", NO_OUTPUT));
        }
        self.push(true, vec![result_block(&id, &content, is_error)]);
    }

    /// No more results come: a call may not stand without one.
    fn end_results(&mut self) {
        for id in std::mem::take(&mut self.open) {
            let block = result_block(&id, &[text_block("text", NO_RESULT)], true);
            self.push(true, vec![block]);
        }
        let blocks = std::mem::take(&mut self.behind_results);
        self.push(true, blocks);
    }

    /// Adds to the turn of the role, or begins one.
    fn push(&mut self, is_user: bool, blocks: Vec<Block>) {
        if blocks.is_empty() {
            return;
        }
        if self.told.turns.is_empty() && !is_user {
            self.push_text(OPENING);
        }
        match self.told.turns.last_mut().filter(|turn| turn.is_user == is_user) {
            Some(turn) => turn.blocks.extend(blocks),
            None => self.told.turns.push(Turn { is_user, blocks }),
        }
    }

    fn push_text(&mut self, text: &str) {
        let block = Block { is: Is::Other, json: text_block("text", text) };
        self.told.turns.push(Turn { is_user: true, blocks: vec![block] });
    }

    fn finish(mut self) -> Told {
        self.end_results();
        if self.told.turns.last().is_none_or(|turn| !turn.is_user) {
            self.push_text(CONTINUE);
        }
        self.told
    }
}

/// The result of a call.
fn result_block(id: &str, content: &[String], is_error: bool) -> Block {
    let failed = if is_error { r#","is_error":true"# } else { "" };
    let json = format!(
        r#"{{"type":"tool_result","tool_use_id":{},"content":[{}]{failed}}}"#,
        quote(id),
        content.join(",")
    );
    Block { is: Is::Result, json }
}

/// A text or an image as a block.
fn said(part: Part<'_>) -> Option<Block> {
    let json = match part {
        Part::Text { text, .. } => text_block("text", &text),
        Part::Image { mime_type, data } => format!(
            r#"{{"type":"image","source":{{"type":"base64","media_type":{},"data":{}}}}}"#,
            quote(&mime_type),
            quote(&data)
        ),
        Part::Thinking { .. } | Part::ToolCall { .. } => return None,
    };
    Some(Block { is: Is::Other, json })
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum How {
    Off,
    Budget(u64),
    Adaptive {
        effort: &'static str,
        /// Newer models hide what they think unless asked.
        asks_to_show: bool,
    },
}

struct Thinking {
    how: How,
    max_tokens: u64,
}

impl Thinking {
    fn of(endpoint: &Endpoint, request: &Request, turns: &[Turn]) -> Thinking {
        let most = endpoint.max_output.max(1);
        let level = request.thinking;
        let roomy = if level >= ThinkingLevel::High { 2 * ANSWER } else { ANSWER };
        let answer = request.max_output.unwrap_or(roomy).clamp(1, most);
        let off = Thinking { how: How::Off, max_tokens: answer };
        if !endpoint.thinks || level == ThinkingLevel::Off {
            return off;
        }
        if let Some(version) = Version::of(&endpoint.model).filter(|version| version.is_adaptive()) {
            let how = How::Adaptive { effort: version.effort(level), asks_to_show: version.number > (4, 6) };
            // Thoughts count as output: the caller's limit is meant for what is said.
            let more = if request.max_output.is_some() { budget(level) } else { 0 };
            return Thinking { how, max_tokens: (answer + more).min(most) };
        }
        let max_tokens = match request.max_output {
            Some(_) => (answer + budget(level)).min(most),
            None => answer,
        };
        let budget = budget(level).min(max_tokens.saturating_sub(answer.min(SMALLEST_ANSWER)));
        if budget < SMALLEST_BUDGET || !can_begin_to_think(turns) {
            return off;
        }
        Thinking { how: How::Budget(budget), max_tokens }
    }
}

fn budget(level: ThinkingLevel) -> u64 {
    match level {
        ThinkingLevel::Off => 0,
        ThinkingLevel::Minimal => 1024,
        ThinkingLevel::Low => 2048,
        ThinkingLevel::Medium => 8192,
        ThinkingLevel::High => 16_384,
        ThinkingLevel::XHigh => 31_999,
    }
}

/// Whether thinking with a budget is accepted here. Between a call and its result it is not, unless
/// the turn began with a thought: another model may have begun it, or thinking was off.
fn can_begin_to_think(turns: &[Turn]) -> bool {
    let Some((last, before)) = turns.split_last() else { return true };
    if !last.starts_with(Is::Result) {
        return true;
    }
    let begins = |is_start: fn(&Turn) -> bool| {
        let start = before.iter().rposition(|turn| turn.is_user && is_start(turn)).map_or(0, |at| at + 1);
        before.get(start).is_some_and(|turn| turn.starts_with(Is::Thinking))
    };
    // What the user says beside results may or may not begin a turn.
    begins(|turn| !turn.starts_with(Is::Result)) || begins(|turn| !turn.is_only_results())
}

/// Which model of Anthropic's it is.
struct Version {
    number: (u32, u32),
    is_opus: bool,
}

impl Version {
    /// Reads `claude-opus-4-6`, `claude-3-7-sonnet-20250219`, `anthropic/claude-sonnet-4.5`. None for
    /// what is no Claude; a Claude without a number is newer than all that have one.
    fn of(model: &str) -> Option<Version> {
        let at = model.find("claude")?;
        let words = model.get(at..)?.split(['-', '.', ':', '@', '/', '_']);
        let mut numbers = words.filter(|word| word.len() <= 2).filter_map(|word| word.parse().ok());
        let number = match numbers.next() {
            Some(major) => (major, numbers.next().unwrap_or(0)),
            None => (u32::MAX, 0),
        };
        Some(Version { number, is_opus: model.contains("opus") })
    }

    /// Decides itself how much to think.
    fn is_adaptive(&self) -> bool {
        self.number >= (4, 6)
    }

    fn effort(&self, level: ThinkingLevel) -> &'static str {
        match level {
            ThinkingLevel::Off | ThinkingLevel::Minimal | ThinkingLevel::Low => "low",
            ThinkingLevel::Medium => "medium",
            ThinkingLevel::High => "high",
            ThinkingLevel::XHigh if self.number > (4, 6) => "xhigh",
            ThinkingLevel::XHigh if self.is_opus => "max",
            ThinkingLevel::XHigh => "high",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_told_apart_by_their_ids() {
        let number = |model| Version::of(model).map(|version| version.number);
        assert_eq!(number("claude-opus-4-6"), Some((4, 6)));
        assert_eq!(number("claude-sonnet-4-5-20250929"), Some((4, 5)));
        assert_eq!(number("claude-sonnet-4-20250514"), Some((4, 0)));
        assert_eq!(number("claude-3-7-sonnet-20250219"), Some((3, 7)));
        assert_eq!(number("anthropic/claude-opus-4.8"), Some((4, 8)));
        assert_eq!(number("claude-sonnet-5"), Some((5, 0)));
        assert_eq!(number("claude-3-5-haiku-latest"), Some((3, 5)));
        assert!(Version::of("claude-something-preview").unwrap().is_adaptive());
        assert_eq!(number("glm-5"), None);
    }
}

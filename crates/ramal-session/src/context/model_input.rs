//! Messages of a context as a model gets them (contract, section 8, "To model input"): roles that
//! providers know, every call with its result behind it, nothing empty.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;

use super::render::{Rendered, changed, text_block};
use super::{blob, templates};
use crate::entry::{Message, Role};
use crate::json::{self, ObjectEdit, members, quote};

/// How messages become model input.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ModelInput {
    /// The folder with the data of images that the log holds references to. Where there is none, or
    /// the file is not in it, a line of text stands in the image's place: no provider would take the
    /// reference, and a request without any trace of the image would say something else.
    pub blobs: Option<PathBuf>,
}

impl ModelInput {
    /// Options with a folder of blobs.
    pub fn with_blobs(folder: impl Into<PathBuf>) -> ModelInput {
        ModelInput { blobs: Some(folder.into()) }
    }
}

/// A message, turned into what it is for a model.
enum Turned {
    Answer { json: String, calls: Vec<Call>, timestamp: Option<String> },
    Result { call: String, json: String },
    Other(String),
    Nothing,
}

struct Call {
    id: String,
    name: String,
}

/// Brings results behind their calls. Holds what stands between an answer and the last of its
/// results.
pub(super) struct Pairing {
    options: ModelInput,
    ready: VecDeque<String>,
    open: Option<Open>,
}

/// An answer whose results are not all there yet.
struct Open {
    calls: Vec<Call>,
    /// The place of each call, by its id.
    places: HashMap<String, usize>,
    results: Vec<Option<String>>,
    missing: usize,
    /// The timestamp of the answer, as it stands in it.
    timestamp: Option<String>,
    /// What stands between the results.
    others: Vec<String>,
}

impl Pairing {
    pub(super) fn new(options: ModelInput) -> Pairing {
        Pairing { options, ready: VecDeque::new(), open: None }
    }

    /// The next message that is complete.
    pub(super) fn next_ready(&mut self) -> Option<String> {
        self.ready.pop_front()
    }

    /// Takes in the next message of the context.
    pub(super) fn take(&mut self, message: Rendered) {
        match turn(message, &self.options) {
            Turned::Answer { json, calls, timestamp } => {
                self.finish();
                if !calls.is_empty() {
                    self.open = Some(Open::new(calls, timestamp));
                }
                self.ready.push_back(json);
            }
            Turned::Result { call, json } => {
                // A result of no call, or a second one, finds no place.
                if let Some(open) = &mut self.open {
                    open.put(&call, json);
                    if open.missing == 0 {
                        self.finish();
                    }
                }
            }
            Turned::Other(json) => match &mut self.open {
                Some(open) => open.others.push(json),
                None => self.ready.push_back(json),
            },
            Turned::Nothing => {}
        }
    }

    /// No more results will come for the answer: what is missing is made up.
    pub(super) fn finish(&mut self) {
        let Some(open) = self.open.take() else { return };
        for (call, result) in open.calls.iter().zip(open.results) {
            let result = result.unwrap_or_else(|| made_up(call, open.timestamp.as_deref()));
            self.ready.push_back(result);
        }
        self.ready.extend(open.others);
    }
}

impl Open {
    fn new(calls: Vec<Call>, timestamp: Option<String>) -> Open {
        let places = calls.iter().enumerate().map(|(place, call)| (call.id.clone(), place)).collect();
        Open {
            places,
            results: calls.iter().map(|_| None).collect(),
            missing: calls.len(),
            calls,
            timestamp,
            others: Vec::new(),
        }
    }

    fn put(&mut self, call: &str, result: String) {
        let Some(&place) = self.places.get(call) else { return };
        if self.results[place].is_some() {
            return;
        }
        // Some providers want the name as well.
        let named = Message::new(&result).get_str("toolName").is_some_and(|name| !name.is_empty());
        let name = quote(&self.calls[place].name);
        let result = if named { result } else { changed(&result, ObjectEdit::new().set("toolName", name)) };
        self.results[place] = Some(result);
        self.missing -= 1;
    }
}

/// The result of a call that has none.
fn made_up(call: &Call, timestamp: Option<&str>) -> String {
    let timestamp = timestamp.map(|time| format!(",\"timestamp\":{time}")).unwrap_or_default();
    format!(
        "{{\"role\":\"toolResult\",\"toolCallId\":{},\"toolName\":{},\"content\":{},\"isError\":true{timestamp}}}",
        quote(&call.id),
        quote(&call.name),
        text_block(&quote(templates::NO_RESULT)),
    )
}

/// Turns a message of the context into what it is for a model.
fn turn(message: Rendered, options: &ModelInput) -> Turned {
    match message.role {
        Role::User | Role::Developer | Role::System => {
            let content = Content::of(message.content(), false, options);
            if content.is_empty && !message.changes_setting {
                return Turned::Nothing;
            }
            let other = content.replaces();
            Turned::Other(put_back(message, other))
        }
        Role::Assistant => {
            let mut content = Content::of(message.content(), true, options);
            if content.is_empty {
                return Turned::Nothing;
            }
            let calls = std::mem::take(&mut content.calls);
            let other = content.replaces();
            let timestamp = message.timestamp().map(str::to_owned);
            Turned::Answer { json: put_back(message, other), calls, timestamp }
        }
        Role::ToolResult => {
            let Some(call) = message.message().get_str("toolCallId").map(Cow::into_owned) else {
                return Turned::Nothing;
            };
            let other = Content::of(message.content(), true, options).replaces();
            Turned::Result { call, json: put_back(message, other) }
        }
        Role::Custom | Role::HookMessage => {
            let content = Content::of(message.content(), false, options);
            if content.is_empty { Turned::Nothing } else { user(&message, &content.json) }
        }
        Role::BranchSummary | Role::CompactionSummary => summary(&message),
        Role::BashExecution | Role::PythonExecution => execution(&message),
        Role::FileMention => file_mention(&message, options),
        Role::None | Role::Unknown => Turned::Nothing,
    }
}

/// A message with another content, if there is one.
fn put_back(message: Rendered, content: Option<String>) -> String {
    match content {
        Some(content) => message.with_content(&content),
        None => message.json,
    }
}

/// A message of the user with `content`, at the time of `message`.
fn user(message: &Rendered, content: &str) -> Turned {
    let timestamp = message.timestamp().map(|time| format!(",\"timestamp\":{time}")).unwrap_or_default();
    Turned::Other(format!("{{\"role\":\"user\",\"content\":{content}{timestamp}}}"))
}

fn summary(message: &Rendered) -> Turned {
    let Some(summary) = message.message().get_str("summary").filter(|text| !text.trim().is_empty()) else {
        return Turned::Nothing;
    };
    let text = match message.role {
        Role::BranchSummary => templates::branch_summary(&summary),
        _ => templates::compaction_summary(&summary),
    };
    user(message, &text_block(&quote(&text)))
}

/// The content of a message, fit for a provider.
struct Content<'a> {
    json: Cow<'a, str>,
    /// Nothing in it is an utterance: no text, no image, no call; thinking alone is none.
    is_empty: bool,
    calls: Vec<Call>,
}

impl<'a> Content<'a> {
    /// Looks through a content: blank texts, calls that cannot be answered and calls that come a
    /// second time go, images are resolved. With `blocks` a text becomes a block.
    fn of(content: &'a str, blocks: bool, options: &ModelInput) -> Content<'a> {
        if content.starts_with('"') {
            let is_empty = is_blank(content);
            let json = match (blocks, is_empty) {
                (false, _) => Cow::Borrowed(content),
                (true, false) => Cow::Owned(text_block(content)),
                (true, true) => Cow::Owned("[]".into()),
            };
            return Content { json, is_empty, calls: Vec::new() };
        }
        let mut kept: Vec<Cow<'a, str>> = Vec::new();
        let (mut is_changed, mut is_empty) = (!content.starts_with('['), true);
        let mut calls = Vec::new();
        let mut ids = HashSet::new();
        for block in members::items(content.as_bytes()).filter_map(|block| std::str::from_utf8(block).ok()) {
            let look = look_at(block, options);
            match look {
                Block::Says => is_empty = false,
                Block::Thinks => {}
                Block::Call(call) if ids.insert(call.id.clone()) => {
                    is_empty = false;
                    calls.push(call);
                }
                Block::Instead(other) => {
                    (is_changed, is_empty) = (true, false);
                    kept.push(Cow::Owned(other));
                    continue;
                }
                Block::Call(_) | Block::Drop => {
                    is_changed = true;
                    continue;
                }
            }
            kept.push(Cow::Borrowed(block));
        }
        let json =
            if is_changed { Cow::Owned(format!("[{}]", kept.join(","))) } else { Cow::Borrowed(content) };
        Content { json, is_empty, calls }
    }

    /// What must stand in place of the content that was looked through, if anything must.
    fn replaces(self) -> Option<String> {
        match self.json {
            Cow::Borrowed(_) => None,
            Cow::Owned(json) => Some(json),
        }
    }
}

/// What a block of a content is good for.
enum Block {
    Says,
    Thinks,
    Call(Call),
    /// Another block goes in its place.
    Instead(String),
    Drop,
}

fn look_at(block: &str, options: &ModelInput) -> Block {
    if !block.starts_with('{') {
        return Block::Drop;
    }
    let [kind, text, thinking, signature, id, name] =
        members::find(block, ["type", "text", "thinking", "thinkingSignature", "id", "name"]);
    let filled = |value: Option<&'_ str>| {
        value
            .and_then(|value| members::as_str(value.as_bytes()))
            .filter(|text| !text.is_empty())
            .map(Cow::into_owned)
    };
    match kind.unwrap_or_default() {
        "\"text\"" if text.is_none_or(is_blank) => Block::Drop,
        "\"text\"" => Block::Says,
        "\"thinking\"" if thinking.is_none_or(is_blank) && filled(signature).is_none() => Block::Drop,
        "\"thinking\"" => Block::Thinks,
        "\"toolCall\"" => match (filled(id), filled(name)) {
            (Some(id), Some(name)) => Block::Call(Call { id, name }),
            _ => Block::Drop,
        },
        "\"image\"" => image(block, options),
        kind if kind.contains('\\') => match json::get_str(block.as_bytes(), "type") {
            // The usual spelling, so that the arms above see it.
            Some(plain) if plain.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
                look_at(&changed(block, ObjectEdit::new().set("type", quote(&plain))), options)
            }
            _ => Block::Says,
        },
        "" => Block::Drop,
        _ => Block::Says,
    }
}

/// An image as it goes to a model.
fn image(block: &str, options: &ModelInput) -> Block {
    let Some(data) = json::get(block.as_bytes(), "data") else { return Block::Says };
    // A look at the first bytes: data is long, and nearly always what it should be.
    let reference = match data {
        [b'"', b'"'] => Some(Cow::Borrowed("")),
        [b'"', rest @ ..] if rest.starts_with(b"blob:") || rest.starts_with(b"\\") => members::as_str(data),
        [b'"', ..] => None,
        _ => Some(Cow::Borrowed("")),
    };
    let Some(reference) = reference.filter(|text| text.is_empty() || blob::is_reference(text)) else {
        return Block::Says;
    };
    if let Some(data) = blob::resolve(options.blobs.as_deref(), &reference) {
        return Block::Instead(changed(block, ObjectEdit::new().set("data", format!("\"{data}\""))));
    }
    let mime_type = json::get_str(block.as_bytes(), "mimeType").unwrap_or(Cow::Borrowed("image"));
    Block::Instead(text_object(&templates::missing_image(&mime_type)))
}

fn text_object(text: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":{}}}", quote(text))
}

/// Whether a JSON string holds nothing but white space; also what is no string.
fn is_blank(value: &str) -> bool {
    let [b'"', inner @ .., b'"'] = value.as_bytes() else { return true };
    match inner.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None => true,
        Some(byte) if byte.is_ascii_graphic() && *byte != b'\\' => false,
        Some(_) => json::decode(inner).trim().is_empty(),
    }
}

fn execution(rendered: &Rendered) -> Turned {
    let message = rendered.message();
    if message.get("excludeFromContext") == Some("true") {
        return Turned::Nothing;
    }
    let output = message.get_str("output").unwrap_or_default();
    let full_output = message.get_str("fullOutputPath");
    let text = templates::execution(&templates::Run {
        what: &message.text(),
        language: if message.role() == Role::PythonExecution { "python" } else { "sh" },
        output: &output,
        failed_with: message.get("exitCode").filter(|&code| code != "0" && code != "null"),
        cancelled: message.get("cancelled") == Some("true"),
        truncated: message.get("truncated") == Some("true"),
        full_output: full_output.as_deref(),
    });
    user(rendered, &text_block(&quote(&text)))
}

/// Files in tags, their images as blocks behind them.
fn file_mention(rendered: &Rendered, options: &ModelInput) -> Turned {
    let message = rendered.message();
    let mut blocks = Vec::new();
    for file in members::items(message.get("files").unwrap_or_default().as_bytes()) {
        if !file.starts_with(b"{") {
            continue;
        }
        let path = json::get_str(file, "path").unwrap_or_default();
        blocks.push(text_object(&match json::get_str(file, "content") {
            Some(content) if !content.trim().is_empty() => templates::file(&path, &content),
            _ => templates::file_without_content(
                &path,
                &json::get_str(file, "skippedReason").unwrap_or_default(),
            ),
        }));
        let picture = json::get(file, "image").and_then(|image| std::str::from_utf8(image).ok());
        if let Some(picture) = picture.filter(|picture| picture.starts_with('{')) {
            match image(picture, options) {
                Block::Instead(other) => blocks.push(other),
                _ => blocks.push(picture.to_owned()),
            }
        }
    }
    if blocks.is_empty() { Turned::Nothing } else { user(rendered, &format!("[{}]", blocks.join(","))) }
}

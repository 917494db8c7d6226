//! What is shown of an entry.

use ramal_session::{Entry, EntryId, Kind, Message, Role as Who, json};

use super::block::{Block, Body, Command};
use super::output::Output;
use super::tool::{Outcome, State, Tool, images};
use crate::text::says;
use crate::theme::Role;

/// What an entry gives.
pub(super) enum Shown {
    /// Blocks of its own.
    Blocks(Vec<Body>),
    /// The result of a call that another entry made.
    Result { call: String, name: String, outcome: Box<Outcome> },
}

/// What is shown of an entry, in a session whose working directory is `cwd`.
pub(super) fn shown(entry: &Entry, cwd: &str) -> Shown {
    if entry.is_unreadable() {
        let what = entry.role().name().map_or_else(|| entry.type_name().into_owned(), str::to_owned);
        let text = format!("an entry that cannot be read: {what} {}", entry.id());
        return Shown::Blocks(vec![Body::Wrong(text)]);
    }
    let text = |key: &str| entry.get_str(key).unwrap_or_default().into_owned();
    let one = |body| Shown::Blocks(vec![body]);
    match entry.kind() {
        Kind::Message => match entry.message() {
            Some(message) => of_message(message, Some(entry.id()), cwd),
            None => one(Body::Wrong(format!("a message without content: {}", entry.id()))),
        },
        Kind::CustomMessage if entry.get("display") == Some("false") => Shown::Blocks(Vec::new()),
        Kind::CustomMessage => one(custom(&text("customType"), entry.text())),
        Kind::BranchSummary => one(summary("branch summary", entry.text())),
        Kind::Compaction => one(summary(&says::compaction(entry), entry.text())),
        Kind::ModelChange => {
            one(Body::Change(format!("model: {}", says::bookkeeping(entry, Kind::ModelChange))))
        }
        Kind::ThinkingLevelChange => {
            let level = says::bookkeeping(entry, Kind::ThinkingLevelChange);
            one(Body::Change(format!("thinking: {level}")))
        }
        Kind::ResetBoundary => one(Body::Change("── the model sees nothing above ──".to_owned())),
        _ => Shown::Blocks(Vec::new()),
    }
}

/// What is shown of a message.
pub(super) fn of_message(message: Message<'_>, entry: Option<&EntryId>, cwd: &str) -> Shown {
    let one = |body| Shown::Blocks(vec![body]);
    match message.role() {
        Who::User => one(Body::User { text: message.text(), images: images(message) }),
        Who::Assistant => Shown::Blocks(of_answer(message, cwd)),
        Who::ToolResult => Shown::Result {
            call: message.get_str("toolCallId").unwrap_or_default().into_owned(),
            name: message.get_str("toolName").unwrap_or_default().into_owned(),
            outcome: Box::new(Outcome::of_message(message, entry.cloned())),
        },
        Who::BashExecution => one(command(message, "$")),
        Who::PythonExecution => one(command(message, ">>>")),
        Who::FileMention => {
            let files = json::members::items(message.get("files").unwrap_or_default().as_bytes());
            let paths: Vec<_> = files.filter_map(|file| json::get_str(file, "path")).collect();
            one(Body::Change(format!("files: {}", paths.join(", "))))
        }
        Who::BranchSummary => one(summary("branch summary", message.text())),
        Who::CompactionSummary => one(summary("compaction", message.text())),
        Who::Custom | Who::HookMessage if message.get("display") == Some("false") => {
            Shown::Blocks(Vec::new())
        }
        Who::Custom | Who::HookMessage => {
            one(custom(&message.get_str("customType").unwrap_or_default(), message.text()))
        }
        _ => {
            let who = message.get_str("role").unwrap_or("message".into()).into_owned();
            one(Body::Card { title: who, text: message.text(), role: Role::Dim })
        }
    }
}

fn custom(who: &str, text: String) -> Body {
    let who = if who.trim().is_empty() { "message" } else { who };
    Body::Said { who: who.to_owned(), text }
}

fn summary(title: &str, text: String) -> Body {
    Body::Card { title: title.to_owned(), text, role: Role::Summary }
}

fn of_answer(message: Message<'_>, cwd: &str) -> Vec<Body> {
    let mut bodies: Vec<Body> = parts(message).filter_map(|part| part.into_body(cwd)).collect();
    // A content that is a string and no list.
    if message.get("content").is_some_and(|content| content.starts_with('"')) {
        bodies.push(Body::Answer(message.text()));
    }
    bodies.extend(wrong(message).map(Body::Wrong));
    bodies
}

/// A part of an answer.
pub(super) enum Part<'a> {
    Text(String),
    Thinking(String),
    Call(ramal_session::ToolCall<'a>),
    Other,
}

impl Part<'_> {
    fn into_body(self, cwd: &str) -> Option<Body> {
        match self {
            Part::Text(text) => Some(text).filter(|text| !text.trim().is_empty()).map(Body::Answer),
            Part::Thinking(text) => Some(Body::Thinking(text)),
            Part::Call(call) => Some(Body::Tool(Box::new(Tool::new(&call, cwd, State::NotRun)))),
            Part::Other => None,
        }
    }
}

/// The parts of an answer, in order, one for each block of its content.
pub(super) fn parts(message: Message<'_>) -> impl Iterator<Item = Part<'_>> {
    let mut calls = message.tool_calls();
    message.blocks().map(move |block| {
        let text = |key| json::get_str(block.as_bytes(), key).unwrap_or_default().into_owned();
        match json::get_str(block.as_bytes(), "type").as_deref() {
            Some("text") => Part::Text(text("text")),
            Some("thinking" | "redactedThinking") => Part::Thinking(text("thinking")),
            Some("toolCall") => calls.next().map_or(Part::Other, Part::Call),
            _ => Part::Other,
        }
    })
}

/// How an answer ended, if not as answers should; an error in full.
pub(super) fn wrong(message: Message<'_>) -> Option<String> {
    let wrong = says::ended_wrong(message)?;
    let error = message.get_str("errorMessage").filter(|error| !error.trim().is_empty());
    match (message.get_str("stopReason").as_deref(), error) {
        (Some("error"), Some(error)) => Some(format!("error: {error}")),
        _ => Some(wrong),
    }
}

fn command(message: Message<'_>, prompt: &'static str) -> Body {
    Body::Command(Command {
        prompt,
        command: message.text(),
        output: Output::new(&message.get_str("output").unwrap_or_default()),
        wrong: says::execution_failed(message),
        is_kept_back: message.get("excludeFromContext") == Some("true"),
        path: message.get_str("fullOutputPath").map(Into::into),
    })
}

impl Block {
    /// A result whose call is nowhere to be seen.
    pub(super) fn of_result(call: &str, name: &str, outcome: Outcome) -> Block {
        let entry = outcome.entry.clone();
        let mut tool = Tool::named(call, name, State::Done);
        tool.set_outcome(outcome);
        Block { entry, ..Block::from(Body::Tool(Box::new(tool))) }
    }
}

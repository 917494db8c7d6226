//! A recording as it stands in its file, and each of its answers as steps.

use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

use ramal_session::json::members::get;
use ramal_session::json::quote;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::PROVIDER;
use crate::answer::{StopReason, Usage};
use crate::error::ModelError;

/// What decides which of the answers without a condition is given.
#[derive(Deserialize, Debug, Clone, Copy, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub(super) enum Count {
    #[default]
    Requests,
    Answers,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    replay: u64,
    #[serde(default)]
    count: Count,
    #[serde(default, rename = "title")]
    _title: Option<String>,
}

pub(super) struct Recording {
    pub(super) count: Count,
    pub(super) answers: Vec<Recorded>,
}

impl Recording {
    pub(super) fn parse(text: &str, path: &Path) -> Result<Recording, ModelError> {
        let wrong = |line: usize, what: String| ModelError::NotUnderstood {
            provider: PROVIDER.into(),
            message: format!("{}, line {line}: {what}", path.display()),
        };
        let mut recording = Recording { count: Count::default(), answers: Vec::new() };
        let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
        for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
            if get(line.as_bytes(), "replay").is_some() {
                let head: Head =
                    serde_json::from_str(line).map_err(|error| wrong(number, error.to_string()))?;
                if head.replay != 1 {
                    return Err(wrong(number, format!("version {} of the format is not known", head.replay)));
                }
                recording.count = head.count;
                continue;
            }
            let mut answer: Recorded =
                serde_json::from_str(line).map_err(|error| wrong(number, error.to_string()))?;
            answer.line = number;
            recording.answers.push(answer);
        }
        Ok(recording)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Recorded {
    #[serde(skip)]
    pub(super) line: usize,
    pub(super) when: Option<String>,
    pub(super) when_system: Option<String>,
    #[serde(default)]
    events: Vec<Piece>,
    usage: Option<RecordedUsage>,
    stop: Option<End>,
    error: Option<RecordedError>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "camelCase")]
enum End {
    Stop,
    Length,
    ToolUse,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct RecordedUsage {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

/// One piece of an answer: exactly one of `text`, `thinking` and `toolCall`, or only a wait.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Piece {
    #[serde(default)]
    after: u64,
    #[serde(default)]
    pace: u64,
    text: Option<String>,
    thinking: Option<String>,
    tool_call: Option<RecordedCall>,
    signature: Option<String>,
    #[serde(default)]
    new_block: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedCall {
    id: String,
    name: String,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct RecordedError {
    kind: Kind,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    wait: Option<u64>,
    #[serde(default)]
    status: Option<u16>,
    #[serde(default)]
    after: u64,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "camelCase")]
enum Kind {
    NoKey,
    KeyRefused,
    RateLimited,
    Overloaded,
    ContextTooLong,
    Refused,
    BadRequest,
    Server,
    ConnectionLost,
    NotUnderstood,
}

impl RecordedError {
    fn error(self) -> ModelError {
        let provider = PROVIDER.to_owned();
        let message = self.message.unwrap_or_else(|| "as it was recorded".into());
        let wait = self.wait.map(Duration::from_millis);
        match self.kind {
            Kind::NoKey => ModelError::NoKey { provider, hint: message },
            Kind::KeyRefused => ModelError::KeyRefused { provider, message },
            Kind::RateLimited => ModelError::RateLimited { provider, message, wait },
            Kind::Overloaded => ModelError::Overloaded { provider, message, wait },
            Kind::ContextTooLong => ModelError::ContextTooLong { message },
            Kind::Refused => ModelError::Refused { provider, message },
            Kind::BadRequest => {
                ModelError::BadRequest { provider, status: self.status.unwrap_or(400), message }
            }
            Kind::Server => {
                ModelError::Server { provider, status: self.status.unwrap_or(500), message, wait }
            }
            Kind::ConnectionLost => ModelError::ConnectionLost { provider, message },
            Kind::NotUnderstood => ModelError::NotUnderstood { provider, message },
        }
    }
}

/// Something to do after a wait.
pub(super) struct Timed(pub(super) Duration, pub(super) Step);

pub(super) enum Step {
    Begin(Usage),
    Text(String),
    Thinking(String),
    Call { id: String, name: String },
    Arguments(String),
    Sign(String),
    Close,
    Wait,
    End(StopReason),
    Fail(ModelError),
}

impl Recorded {
    pub(super) fn is_conditional(&self) -> bool {
        self.when.is_some() || self.when_system.is_some()
    }

    pub(super) fn steps(&self, speed: f64) -> VecDeque<Timed> {
        let wait = |ms: u64| {
            let seconds = ms as f64 / 1000.0 / speed;
            Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
        };
        let usage = self.usage.unwrap_or_default();
        let usage = Usage {
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
        };
        let mut steps = VecDeque::from([Timed(Duration::ZERO, Step::Begin(usage))]);
        let mut calls = false;
        for piece in &self.events {
            let mut after = wait(piece.after);
            let mut add = |step| steps.push_back(Timed(std::mem::take(&mut after), step));
            if piece.new_block {
                add(Step::Close);
            }
            let pace = wait(piece.pace);
            let mut cut = |text: &str, step: fn(String) -> Step| {
                for (at, word) in pieces(text, piece.pace > 0).enumerate() {
                    let first = if at == 0 { std::mem::take(&mut after) } else { pace };
                    steps.push_back(Timed(first, step(word.to_owned())));
                }
            };
            if let Some(text) = &piece.text {
                cut(text, Step::Text);
            } else if let Some(text) = &piece.thinking {
                cut(text, Step::Thinking);
            } else if let Some(call) = &piece.tool_call {
                calls = true;
                let (id, name) = (call.id.clone(), call.name.clone());
                steps.push_back(Timed(std::mem::take(&mut after), Step::Call { id, name }));
                let arguments = call.arguments.as_ref().map_or("{}", |arguments| arguments.get());
                // What is no object is kept as a text; one that is recorded so is that text.
                let is_kept = arguments.starts_with(['{', '"']);
                let arguments = if is_kept { arguments.to_owned() } else { quote(arguments) };
                for word in pieces(&arguments, piece.pace > 0) {
                    steps.push_back(Timed(pace, Step::Arguments(word.to_owned())));
                }
            }
            if let Some(signature) = &piece.signature {
                steps.push_back(Timed(std::mem::take(&mut after), Step::Sign(signature.clone())));
            }
            if piece.tool_call.is_some() {
                steps.push_back(Timed(Duration::ZERO, Step::Close));
            }
            if after > Duration::ZERO {
                steps.push_back(Timed(after, Step::Wait));
            }
        }
        let stop = match self.stop {
            Some(End::Length) => StopReason::Length,
            Some(End::ToolUse) => StopReason::ToolUse,
            Some(End::Stop) => StopReason::Stop,
            None if calls => StopReason::ToolUse,
            None => StopReason::Stop,
        };
        steps.push_back(match self.error.clone() {
            Some(error) => Timed(wait(error.after), Step::Fail(error.error())),
            None => Timed(Duration::ZERO, Step::End(stop)),
        });
        steps
    }
}

/// A text as a whole, or word by word, white space behind each.
fn pieces(text: &str, in_words: bool) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.trim_start();
        let word = start.find(char::is_whitespace).unwrap_or(start.len());
        let behind = start.get(word..).unwrap_or_default();
        let end = rest.len() - behind.trim_start().len();
        let end = if in_words && end < rest.len() { end } else { rest.len() };
        let (piece, more) = rest.split_at(end);
        rest = more;
        (!piece.is_empty()).then_some(piece)
    })
}

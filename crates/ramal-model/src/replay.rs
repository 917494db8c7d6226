//! A model that plays recorded answers from a file (docs/replay-format.md). It asks nobody, and the
//! same requests get the same answers.

use std::collections::{HashMap, HashSet, VecDeque};
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use ramal_session::json::members::{get, get_str, items};
use ramal_session::json::quote;
use tokio::time::{Sleep, sleep};
use tokio_util::sync::CancellationToken;

use crate::answer::{Answer, Block, Event};
use crate::client::LanguageModel;
use crate::error::ModelError;
use crate::request::{Endpoint, Request, ToolSpec};
use crate::stream::{AnswerStream, Source};
use crate::watch::{After, Watch};

mod recording;

use recording::{Count, Recorded, Recording, Step, Timed};

/// What its errors and messages call it.
const PROVIDER: &str = "replay";

/// Plays recorded answers. The endpoint's model is the file; clones go on together.
#[derive(Debug, Clone)]
pub struct Replay {
    speed: f64,
    folder: Option<PathBuf>,
    played: Arc<Mutex<HashMap<PathBuf, Played>>>,
}

/// How far a file has been played.
#[derive(Debug, Default)]
struct Played {
    /// Answers without a condition that were given.
    in_order: usize,
    /// Lines of answers with a condition that were given.
    conditional: HashSet<usize>,
}

impl Default for Replay {
    fn default() -> Replay {
        Replay { speed: 1.0, folder: None, played: Arc::default() }
    }
}

impl Replay {
    /// Plays with the timing of the recording.
    pub fn new() -> Replay {
        Replay::default()
    }

    /// Plays so many times as fast. Infinity leaves the waits out, and so does what is no speed.
    pub fn with_speed(mut self, speed: f64) -> Replay {
        self.speed = if speed > 0.0 { speed } else { f64::INFINITY };
        self
    }

    /// Files are looked for from this folder, not from the current one.
    pub fn relative_to(mut self, folder: impl Into<PathBuf>) -> Replay {
        self.folder = Some(folder.into());
        self
    }
}

impl Replay {
    /// The answer to what is asked with this system prompt and these messages.
    fn player(&self, endpoint: &Endpoint, system: String, messages: &[String]) -> Player {
        let path = match &self.folder {
            Some(folder) => folder.join(&endpoint.model),
            None => PathBuf::from(&endpoint.model),
        };
        let role_of = |message: &String| get_str(message.as_bytes(), "role").map(|role| role.into_owned());
        let is = |role: &'static str| move |message: &&String| role_of(message).as_deref() == Some(role);
        let asked = Asked {
            replay: self.clone(),
            path,
            said: messages.iter().rev().find(is("user")).map(|message| text_of(message)).unwrap_or_default(),
            system,
            answers: messages.iter().filter(is("assistant")).count(),
        };
        Player { asked: Some(asked), steps: VecDeque::new(), wait: None, is_open: false }
    }
}

impl LanguageModel for Replay {
    /// Nothing is sent. Whoever watches sees the system prompt, the messages and the tools as they are; what is
    /// put in the place of the first two counts.
    fn stream_watched(
        &self,
        endpoint: &Endpoint,
        request: &Request,
        watch: Option<Arc<dyn Watch>>,
        abort: CancellationToken,
    ) -> AnswerStream {
        let Some(watch) = watch else {
            return AnswerStream::new(
                self.player(endpoint, request.system.clone(), &request.messages),
                abort,
            );
        };
        let (replay, endpoint, body) = (self.clone(), endpoint.clone(), body_of(endpoint, request));
        let begin = async move {
            let body = watch.before(body).await;
            watch.after(200, Vec::new()).await;
            let system = get_str(body.as_bytes(), "system").unwrap_or_default().into_owned();
            let messages = items(get(body.as_bytes(), "messages").unwrap_or_default());
            let messages = messages.map(|message| String::from_utf8_lossy(message).into_owned());
            replay.player(&endpoint, system, &messages.collect::<Vec<_>>())
        };
        AnswerStream::new(After::Waiting(Box::pin(begin)), abort)
    }
}

/// What a request is, as JSON.
fn body_of(endpoint: &Endpoint, request: &Request) -> String {
    let tool = |tool: &ToolSpec| {
        format!(
            "{{\"name\":{},\"description\":{},\"parameters\":{}}}",
            quote(&tool.name),
            quote(&tool.description),
            tool.parameters
        )
    };
    format!(
        "{{\"model\":{},\"system\":{},\"messages\":[{}],\"tools\":[{}]}}",
        quote(&endpoint.model),
        quote(&request.system),
        request.messages.join(","),
        request.tools.iter().map(tool).collect::<Vec<_>>().join(",")
    )
}

/// What was asked, as far as it decides what is answered.
struct Asked {
    replay: Replay,
    path: PathBuf,
    said: String,
    system: String,
    answers: usize,
}

impl Asked {
    fn choose(&self) -> Result<VecDeque<Timed>, ModelError> {
        let text = std::fs::read_to_string(&self.path).map_err(|error| ModelError::BadRequest {
            provider: PROVIDER.into(),
            status: 0,
            message: format!("{} cannot be read: {error}", self.path.display()),
        })?;
        let recording = Recording::parse(&text, &self.path)?;
        let mut all = self.replay.played.lock().unwrap_or_else(PoisonError::into_inner);
        let played = all.entry(self.path.clone()).or_default();
        let holds =
            |text: &str, wanted: &Option<String>| wanted.as_ref().is_none_or(|part| text.contains(part));
        let fits: Vec<&Recorded> = recording
            .answers
            .iter()
            .filter(|answer| answer.is_conditional())
            .filter(|answer| holds(&self.said, &answer.when) && holds(&self.system, &answer.when_system))
            .collect();
        // Each in its turn; the last of them stays.
        let unused = fits.iter().find(|answer| !played.conditional.contains(&answer.line));
        let chosen = match unused.or(fits.last()) {
            Some(answer) => {
                played.conditional.insert(answer.line);
                Some(*answer)
            }
            None => {
                let number = match recording.count {
                    Count::Requests => played.in_order,
                    Count::Answers => self.answers,
                };
                played.in_order += 1;
                recording.answers.iter().filter(|answer| !answer.is_conditional()).nth(number)
            }
        };
        let answer = chosen.ok_or_else(|| ModelError::NotUnderstood {
            provider: PROVIDER.into(),
            message: format!("{} has no further answer", self.path.display()),
        })?;
        Ok(answer.steps(self.replay.speed))
    }
}

/// The texts of a message.
fn text_of(message: &str) -> String {
    let content = get(message.as_bytes(), "content").unwrap_or_default();
    match ramal_session::json::members::as_str(content) {
        Some(text) => text.into_owned(),
        None => {
            let texts: Vec<_> = items(content).filter_map(|block| get_str(block, "text")).collect();
            texts.join("\n")
        }
    }
}

struct Player {
    asked: Option<Asked>,
    steps: VecDeque<Timed>,
    wait: Option<Pin<Box<Sleep>>>,
    /// Whether the last block goes on.
    is_open: bool,
}

impl Source for Player {
    fn poll_more(
        &mut self,
        cx: &mut Context<'_>,
        answer: &mut Answer,
        out: &mut Vec<Event>,
    ) -> Poll<Result<bool, ModelError>> {
        if let Some(asked) = self.asked.take() {
            self.steps = asked.choose()?;
        }
        if let Some(Timed(wait, _)) = self.steps.front_mut()
            && !wait.is_zero()
        {
            self.wait = Some(Box::pin(sleep(std::mem::take(wait))));
        }
        if let Some(wait) = &mut self.wait {
            std::task::ready!(wait.as_mut().poll(cx));
            self.wait = None;
        }
        let Some(Timed(_, step)) = self.steps.pop_front() else { return Poll::Ready(Ok(false)) };
        Poll::Ready(self.step(step, answer, out))
    }
}

impl Player {
    fn step(&mut self, step: Step, answer: &mut Answer, out: &mut Vec<Event>) -> Result<bool, ModelError> {
        match step {
            Step::Begin(usage) => {
                answer.usage = usage;
                out.push(Event::Start);
            }
            Step::Text(delta) => {
                let fits = matches!(answer.blocks.last(), Some(Block::Text { .. }));
                let block = self.block(fits, answer, out, |block| {
                    (Event::TextStart { block }, Block::Text { text: String::new(), signature: None })
                });
                if let Some(Block::Text { text, .. }) = answer.blocks.last_mut() {
                    text.push_str(&delta);
                }
                out.push(Event::TextDelta { block, delta });
            }
            Step::Thinking(delta) => {
                let fits = matches!(answer.blocks.last(), Some(Block::Thinking { .. }));
                let block = self.block(fits, answer, out, |block| {
                    let thinking =
                        Block::Thinking { thinking: String::new(), signature: None, redacted: false };
                    (Event::ThinkingStart { block }, thinking)
                });
                if let Some(Block::Thinking { thinking, .. }) = answer.blocks.last_mut() {
                    thinking.push_str(&delta);
                }
                out.push(Event::ThinkingDelta { block, delta });
            }
            Step::Call { id, name } => {
                self.block(false, answer, out, |block| {
                    let call = Block::ToolCall {
                        id: id.clone(),
                        name: name.clone(),
                        arguments: String::new(),
                        signature: None,
                    };
                    (Event::ToolCallStart { block, id, name }, call)
                });
            }
            Step::Arguments(delta) => {
                let block = answer.blocks.len().saturating_sub(1);
                if let Some(Block::ToolCall { arguments, .. }) = answer.blocks.last_mut() {
                    arguments.push_str(&delta);
                    out.push(Event::ToolCallDelta { block, delta });
                }
            }
            Step::Sign(given) => match answer.blocks.last_mut() {
                Some(
                    Block::Text { signature, .. }
                    | Block::Thinking { signature, .. }
                    | Block::ToolCall { signature, .. },
                ) => *signature = Some(given),
                None => {}
            },
            Step::Close => self.close(answer, out),
            Step::Wait => {}
            Step::End(stop) => {
                self.close(answer, out);
                answer.stop = stop;
                return Ok(false);
            }
            Step::Fail(error) => return Err(error),
        }
        Ok(true)
    }

    /// The number of the block that goes on, or of a new one.
    fn block(
        &mut self,
        fits: bool,
        answer: &mut Answer,
        out: &mut Vec<Event>,
        new: impl FnOnce(usize) -> (Event, Block),
    ) -> usize {
        if !(self.is_open && fits) {
            self.close(answer, out);
            let (event, block) = new(answer.blocks.len());
            answer.blocks.push(block);
            out.push(event);
            self.is_open = true;
        }
        answer.blocks.len().saturating_sub(1)
    }

    fn close(&mut self, answer: &Answer, out: &mut Vec<Event>) {
        if std::mem::take(&mut self.is_open) {
            out.push(Event::BlockEnd { block: answer.blocks.len().saturating_sub(1) });
        }
    }
}

//! The interfaces of providers: a request as bytes, a stream of events as an answer. No network here.

use crate::answer::{Answer, Event};
use crate::error::ModelError;
use crate::request::{Api, Endpoint, Request, Secret};

pub mod anthropic;
pub mod google;
pub(crate) mod messages;
mod openai;
pub mod openai_completions;
pub mod openai_responses;

/// A request as it goes over HTTP: always a POST, answered by server-sent events.
#[derive(Debug, Clone)]
pub struct HttpRequest {
    /// The whole address.
    pub url: String,
    /// Headers beside the type of the content, keys among them.
    pub headers: Vec<(&'static str, Secret)>,
    /// The body: JSON.
    pub body: Vec<u8>,
}

/// One event of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerEvent<'a> {
    /// Its name; empty if it has none.
    pub event: &'a str,
    /// Its data.
    pub data: &'a str,
}

/// Reads the stream of one answer. What was understood so far is in the answer at any time.
pub trait Reader: Send {
    /// Takes in the next event of the stream.
    ///
    /// # Errors
    /// If the provider reports one in the stream, or the event is not of the form it should have.
    fn take(
        &mut self,
        event: ServerEvent<'_>,
        answer: &mut Answer,
        out: &mut Vec<Event>,
    ) -> Result<(), ModelError>;

    /// The stream is over.
    ///
    /// # Errors
    /// [`ModelError::ConnectionLost`] if it ended before the answer did.
    fn finish(&mut self, answer: &mut Answer, out: &mut Vec<Event>) -> Result<(), ModelError>;

    /// Whether the answer is complete, so that nothing further need be waited for: not every server
    /// closes its stream. [`Reader::finish`] is called next, and nothing is taken in after it.
    fn is_done(&self) -> bool {
        false
    }
}

/// The interface of that name; none for what is not spoken over HTTP.
pub fn of(api: Api) -> Option<&'static dyn Wire> {
    match api {
        Api::AnthropicMessages => Some(&anthropic::Anthropic),
        Api::OpenAiCompletions => Some(&openai_completions::OpenAiCompletions),
        Api::OpenAiResponses => Some(&openai_responses::OpenAiResponses),
        Api::GoogleGenerativeAi => Some(&google::Google),
        _ => None,
    }
}

/// The beginning of a foreign text, short enough for a message.
pub(crate) fn shortened(text: &str) -> &str {
    let text = text.trim();
    match text.char_indices().nth(300) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}

/// An interface.
pub trait Wire: Send + Sync {
    /// The request in the form of this interface.
    fn request(&self, endpoint: &Endpoint, request: &Request) -> HttpRequest;

    /// A reader for one answer.
    fn reader(&self, endpoint: &Endpoint) -> Box<dyn Reader>;

    /// What a status other than success means, with the body that came with it. `retry_after` is how
    /// long the headers ask to wait, whatever header it was: seconds, as a decimal number
    /// ([`crate::retry_after`] reads it).
    fn error(&self, endpoint: &Endpoint, status: u16, retry_after: Option<&str>, body: &str) -> ModelError;
}

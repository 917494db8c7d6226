//! The interfaces of providers: a request as bytes, a stream of events as an answer. No network here.

mod google;

pub use google::Google;

use crate::answer::{Answer, Event};
use crate::error::ModelError;
use crate::request::{Endpoint, Request, Secret};

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
}

/// An interface.
pub trait Wire: Send + Sync {
    /// The request in the form of this interface.
    fn request(&self, endpoint: &Endpoint, request: &Request) -> HttpRequest;

    /// A reader for one answer.
    fn reader(&self, endpoint: &Endpoint) -> Box<dyn Reader>;

    /// What a status other than success means, with the body that came with it.
    fn error(&self, endpoint: &Endpoint, status: u16, retry_after: Option<&str>, body: &str) -> ModelError;
}

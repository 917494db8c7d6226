//! Whoever watches a request: it sees what is sent before it is, and may have something else sent.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use crate::answer::{Answer, Event};
use crate::error::ModelError;
use crate::stream::Source;

/// Something that is waited for.
pub type Watching<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Watches one request.
pub trait Watch: Send + Sync {
    /// Before it is sent: the body, JSON in the words of the interface. What is answered is sent in its place.
    fn before<'a>(&'a self, body: String) -> Watching<'a, String>;

    /// The provider has begun to answer: its status, and its headers by their names in lower case. Those that
    /// set cookies are left out.
    fn after<'a>(&'a self, status: u16, headers: Vec<(String, String)>) -> Watching<'a, ()>;
}

/// A source that is there only when what is before it has come to an end.
pub(crate) enum After<S> {
    /// What comes before.
    Waiting(Watching<'static, S>),
    /// The source itself.
    Begun(S),
}

impl<S: Source> Source for After<S> {
    fn poll_more(
        &mut self,
        cx: &mut Context<'_>,
        answer: &mut Answer,
        out: &mut Vec<Event>,
    ) -> Poll<Result<bool, ModelError>> {
        match self {
            After::Waiting(waiting) => {
                *self = After::Begun(ready!(waiting.as_mut().poll(cx)));
                Poll::Ready(Ok(true))
            }
            After::Begun(source) => source.poll_more(cx, answer, out),
        }
    }
}

/// What goes out in place of a body, if somebody watches.
pub(crate) async fn watched(watch: Option<&Arc<dyn Watch>>, body: Vec<u8>) -> Vec<u8> {
    match (watch, String::from_utf8(body)) {
        (Some(watch), Ok(body)) => watch.before(body).await.into_bytes(),
        (None, Ok(body)) => body.into_bytes(),
        (_, Err(error)) => error.into_bytes(),
    }
}

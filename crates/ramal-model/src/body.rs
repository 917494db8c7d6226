//! The bytes of a streamed answer, watched: stalls, what is no stream of events, lines without end.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::Stream;
use tokio::time::{Instant, Sleep, sleep};

/// Bytes that an event may have; images that a model makes are the largest.
const LONGEST_EVENT: usize = 128 * 1024 * 1024;
/// Bytes that are kept of something that is no stream of events.
const KEPT: usize = 4096;

/// Why no more bytes come.
#[derive(Debug)]
pub(crate) enum BodyError {
    /// The connection broke off.
    Http(reqwest::Error),
    /// Nothing came for so long.
    Stalled(Duration),
    /// It is a document: JSON or a page of HTML. Its beginning.
    NotEvents(String),
    /// An event that is longer than any event.
    TooLong,
}

/// How far a body was read, known to the body and to its reader.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress(Arc<(AtomicUsize, AtomicBool)>);

impl Progress {
    /// An event is complete.
    pub(crate) fn event(&self) {
        self.0.0.store(0, Ordering::Relaxed);
    }

    /// Whether anything came at all.
    pub(crate) fn has_bytes(&self) -> bool {
        self.0.1.load(Ordering::Relaxed)
    }

    /// Bytes since the last event.
    fn add(&self, bytes: usize) -> usize {
        self.0.1.fetch_or(bytes > 0, Ordering::Relaxed);
        self.0.0.fetch_add(bytes, Ordering::Relaxed) + bytes
    }
}

type Chunks = Pin<Box<dyn Stream<Item = Result<Vec<u8>, reqwest::Error>> + Send>>;

/// What the bytes are, by the first of them that is no white space.
enum Form {
    Unknown,
    Events,
    Document(Vec<u8>),
    Over,
}

/// The bytes of a streamed answer.
pub(crate) struct Body {
    chunks: Chunks,
    /// What is waited for now, and what will be once something came.
    limit: Duration,
    stall: Duration,
    stalled: Pin<Box<Sleep>>,
    form: Form,
    progress: Progress,
}

impl Body {
    /// Watches over `chunks`: nothing may stall for longer than `stall`, nor may the beginning take
    /// longer than `first`.
    pub(crate) fn new<B: AsRef<[u8]>>(
        chunks: impl Stream<Item = Result<B, reqwest::Error>> + Send + 'static,
        first: Duration,
        stall: Duration,
        progress: Progress,
    ) -> Body {
        use futures_util::StreamExt;
        let chunks = Box::pin(chunks.map(|chunk| chunk.map(|bytes| bytes.as_ref().to_vec())));
        Body { chunks, limit: first, stall, stalled: Box::pin(sleep(first)), form: Form::Unknown, progress }
    }

    fn end(&mut self) -> Option<Result<Vec<u8>, BodyError>> {
        match std::mem::replace(&mut self.form, Form::Over) {
            Form::Over => None,
            Form::Document(bytes) => Some(Err(not_events(&bytes))),
            // Some servers leave out the empty line behind their last event.
            Form::Unknown | Form::Events => Some(Ok(b"\n\n".to_vec())),
        }
    }
}

fn not_events(bytes: &[u8]) -> BodyError {
    BodyError::NotEvents(String::from_utf8_lossy(bytes).into_owned())
}

impl Stream for Body {
    type Item = Result<Vec<u8>, BodyError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if matches!(self.form, Form::Over) {
                return Poll::Ready(None);
            }
            let Poll::Ready(next) = self.chunks.as_mut().poll_next(cx) else {
                ready!(self.stalled.as_mut().poll(cx));
                let error = match std::mem::replace(&mut self.form, Form::Over) {
                    Form::Document(bytes) => not_events(&bytes),
                    _ => BodyError::Stalled(self.limit),
                };
                return Poll::Ready(Some(Err(error)));
            };
            let bytes = match next {
                None => return Poll::Ready(self.end()),
                Some(Err(error)) => {
                    self.form = Form::Over;
                    return Poll::Ready(Some(Err(BodyError::Http(error))));
                }
                Some(Ok(bytes)) => bytes,
            };
            self.limit = self.stall;
            if let Some(deadline) = Instant::now().checked_add(self.stall) {
                self.stalled.as_mut().reset(deadline);
            }
            if self.progress.add(bytes.len()) > LONGEST_EVENT {
                self.form = Form::Over;
                return Poll::Ready(Some(Err(BodyError::TooLong)));
            }
            if let Form::Unknown = self.form {
                match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
                    Some(b'{' | b'[' | b'<') => self.form = Form::Document(Vec::new()),
                    Some(_) => self.form = Form::Events,
                    None => {}
                }
            }
            let Form::Document(kept) = &mut self.form else { return Poll::Ready(Some(Ok(bytes))) };
            kept.extend_from_slice(&bytes);
            if kept.len() > KEPT {
                return Poll::Ready(self.end());
            }
        }
    }
}

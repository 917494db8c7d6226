//! An answer while it is made: its events, and the answer as far as it has come.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::Stream;
use futures_util::future::poll_fn;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::answer::{Answer, Block, Event, StopReason};
use crate::error::ModelError;

/// What the log says of an answer that was aborted.
const ABORTED: &str = "The request was aborted.";

/// Where an answer comes from. Dropping it ends the request.
pub trait Source: Send {
    /// Goes on with the answer as far as that is possible now. Whatever is new stands in `answer`,
    /// and what happened is appended to `out`; it need not be anything.
    ///
    /// Ready with `Ok(true)` when there may be more, with `Ok(false)` when the answer is complete.
    ///
    /// # Errors
    /// Whatever ended the answer before it was complete. It is not polled again after that.
    fn poll_more(
        &mut self,
        cx: &mut Context<'_>,
        answer: &mut Answer,
        out: &mut Vec<Event>,
    ) -> Poll<Result<bool, ModelError>>;
}

/// How an answer ended, and what came before that.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The answer, as far as it came.
    pub answer: Answer,
    /// An abort is no error: it stands in the answer as [`StopReason::Aborted`].
    pub result: Result<(), ModelError>,
}

/// The events of one answer. Nothing is asked of the provider before it is polled, it belongs to
/// nobody else, and dropping it hangs up.
///
/// After an abort no further event comes, and after the last event [`AnswerStream::outcome`] has
/// everything that did come.
pub struct AnswerStream {
    source: Option<Box<dyn Source>>,
    abort: Pin<Box<WaitForCancellationFutureOwned>>,
    answer: Answer,
    ready: VecDeque<Event>,
    result: Result<(), ModelError>,
    /// Blocks that are complete.
    complete: HashSet<usize>,
}

impl AnswerStream {
    /// The answer that `source` gives, until `abort` is cancelled.
    pub fn new(source: impl Source + 'static, abort: CancellationToken) -> AnswerStream {
        AnswerStream {
            source: Some(Box::new(source)),
            abort: Box::pin(abort.cancelled_owned()),
            answer: Answer::default(),
            ready: VecDeque::new(),
            result: Ok(()),
            complete: HashSet::new(),
        }
    }

    /// An answer that failed before it was asked for.
    pub fn failed(error: ModelError) -> AnswerStream {
        struct Failed(Option<ModelError>);
        impl Source for Failed {
            fn poll_more(
                &mut self,
                _: &mut Context<'_>,
                _: &mut Answer,
                _: &mut Vec<Event>,
            ) -> Poll<Result<bool, ModelError>> {
                Poll::Ready(self.0.take().map_or(Ok(false), Err))
            }
        }
        AnswerStream::new(Failed(Some(error)), CancellationToken::new())
    }

    /// The next event; none once the answer is over. May be dropped while it waits: nothing is lost.
    pub async fn next(&mut self) -> Option<Event> {
        poll_fn(|cx| self.poll_event(cx)).await
    }

    /// The answer as far as it has come.
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// The answer and how it ended, once [`AnswerStream::next`] has answered none; the events that
    /// are still to come are waited for, but not told.
    pub async fn outcome(mut self) -> Outcome {
        while self.next().await.is_some() {}
        Outcome { answer: self.answer, result: self.result }
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        let mut out = Vec::new();
        loop {
            if self.source.is_some() && self.abort.as_mut().poll(cx).is_ready() {
                self.ready.clear();
                self.answer.stop = StopReason::Aborted;
                self.answer.error = Some(ABORTED.to_owned());
                self.end();
            }
            if let Some(event) = self.ready.pop_front() {
                return Poll::Ready(Some(event));
            }
            let Some(source) = &mut self.source else { return Poll::Ready(None) };
            let polled = source.poll_more(cx, &mut self.answer, &mut out);
            for event in out.drain(..) {
                if let Event::BlockEnd { block } = event {
                    self.complete.insert(block);
                }
                self.ready.push_back(event);
            }
            match polled {
                Poll::Pending if self.ready.is_empty() => return Poll::Pending,
                Poll::Pending | Poll::Ready(Ok(true)) => {}
                Poll::Ready(Ok(false)) => self.source = None,
                Poll::Ready(Err(error)) => {
                    self.answer.stop = StopReason::Error;
                    self.answer.error = Some(error.to_string());
                    self.result = Err(error);
                    self.end();
                }
            }
        }
    }

    /// Ends an answer that is not complete. A call whose arguments had not begun would read as a
    /// call without arguments, so it goes; half a signature would make every further request fail.
    fn end(&mut self) {
        self.source = None;
        let complete = &self.complete;
        let mut number = 0;
        self.answer.blocks.retain_mut(|block| {
            let is_complete = complete.contains(&number);
            number += 1;
            match block {
                _ if is_complete => true,
                Block::ToolCall { arguments, .. } => !arguments.trim().is_empty(),
                Block::Thinking { signature, redacted: false, .. } => {
                    *signature = None;
                    true
                }
                _ => true,
            }
        });
    }
}

impl Stream for AnswerStream {
    type Item = Event;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        self.get_mut().poll_event(cx)
    }
}

impl fmt::Debug for AnswerStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerStream")
            .field("answer", &self.answer)
            .field("is_over", &self.source.is_none())
            .finish_non_exhaustive()
    }
}

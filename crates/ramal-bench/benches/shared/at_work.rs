//! What benches of a session at work share: an answer of so many words, and a permission that is never given.

use std::pin::Pin;
use std::task::{Context, Poll};

use ramal_agent::Permit;
use ramal_agent::tools::Access;
use ramal_model::{Answer, Block, Event, ModelError, Source};

/// Words that come one by one, each an event.
pub(crate) struct Words {
    pub(crate) left: usize,
}

impl Source for Words {
    fn poll_more(
        &mut self,
        _: &mut Context<'_>,
        answer: &mut Answer,
        out: &mut Vec<Event>,
    ) -> Poll<Result<bool, ModelError>> {
        if answer.blocks.is_empty() {
            answer.blocks.push(Block::Text { text: String::new(), signature: None });
            out.push(Event::TextStart { block: 0 });
        }
        if self.left == 0 {
            out.push(Event::BlockEnd { block: 0 });
            return Poll::Ready(Ok(false));
        }
        self.left -= 1;
        // As long as a screen: what is told with each event does not grow without end here.
        if let Some(Block::Text { text, .. }) = answer.blocks.first_mut() {
            if text.len() > 2_000 {
                text.clear();
            }
            text.push_str("word ");
        }
        out.push(Event::TextDelta { block: 0, delta: "word ".into() });
        Poll::Ready(Ok(true))
    }
}

/// Nothing may be run.
pub(crate) struct Never;

impl Permit for Never {
    fn may_run<'a>(
        &'a self,
        _: &'a str,
        _: &'a str,
        _: &'a [Access],
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        Box::pin(async { false })
    }
}

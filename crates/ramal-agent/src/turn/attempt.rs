//! Asking the model: a request, what streams back, and another attempt where the first one failed.

use ramal_model::{Answer, Endpoint, Event, ModelError, Outcome, StopReason};
use ramal_session::EntryId;

use super::Work;
use crate::error::AgentError;
use crate::events::{AgentEvent, CompactionReason};

impl Work<'_> {
    /// An answer of the model, stored.
    pub(super) async fn answer(&mut self) -> Result<(Answer, String), AgentError> {
        let mut attempt = 0;
        loop {
            let endpoint = self.session.endpoint()?;
            self.stand()?;
            let (outcome, has_begun) = self.ask(&endpoint).await?;
            let answer = outcome.answer;
            let message = answer.to_message_now(&endpoint);
            let Err(error) = outcome.result else {
                let id = self.append(message.clone(), has_begun)?;
                if answer.stop != StopReason::Aborted && answer.usage.total() > 0 {
                    self.session.note_count(id);
                }
                self.session.end_retries(attempt, answer.error.clone());
                return Ok((answer, message));
            };
            // What a failed attempt said stays in the tree; the next one is its sibling. What hooks
            // appended meanwhile stands before both.
            self.stand()?;
            let before = self.tip.clone();
            let stored = match answer.is_empty() {
                false => Some(self.append(message.clone(), has_begun)?),
                true => None,
            };
            if self.can_go_on_after(&error, before, &mut attempt).await? {
                if stored.is_none() && has_begun {
                    let entry_id = String::new();
                    self.session.emit(AgentEvent::MessageEnd { message, entry_id });
                }
                continue;
            }
            match stored {
                Some(id) => self.back_to(Some(id))?,
                None => drop(self.append(message.clone(), has_begun)?),
            }
            self.session.end_retries(attempt, Some(error.to_string()));
            return Ok((answer, message));
        }
    }

    /// Prepares for asking once more after an error, if that makes sense: makes the conversation
    /// shorter, or waits. Stands before the failed attempt then.
    async fn can_go_on_after(
        &mut self,
        error: &ModelError,
        before: Option<EntryId>,
        attempt: &mut u32,
    ) -> Result<bool, AgentError> {
        if matches!(error, ModelError::ContextTooLong { .. }) && !self.has_overflowed {
            self.has_overflowed = true;
            self.back_to(before)?;
            return self.compact(CompactionReason::Overflow).await;
        }
        let goes_on = self.session.wait_for_retry(&self.abort, attempt, error).await;
        if goes_on {
            self.back_to(before)?;
        }
        Ok(goes_on)
    }

    /// Sends the conversation and tells what streams back. Answers whether the beginning of an answer
    /// was told.
    async fn ask(&self, endpoint: &Endpoint) -> Result<(Outcome, bool), AgentError> {
        let request = self.session.request_at(self.tip.as_deref(), &self.abort).await?;
        let mut stream = self.session.model().stream(endpoint, &request, self.abort.clone());
        let mut has_begun = false;
        while let Some(event) = stream.next().await {
            if !has_begun {
                self.session.ask_for_title();
            }
            if !self.session.is_heard() {
                // The whole answer so far is written out for each event: not if nobody reads it.
                has_begun = true;
                continue;
            }
            let message = stream.answer().to_message_now(endpoint);
            if !has_begun {
                has_begun = true;
                self.session.emit(AgentEvent::MessageStart { message: message.clone() });
            }
            let block = match &event {
                Event::BlockEnd { block } => stream.answer().blocks.get(*block).cloned(),
                _ => None,
            };
            self.session.emit(AgentEvent::MessageUpdate { message, event, block });
        }
        let outcome = stream.outcome().await;
        if has_begun && self.session.is_heard() {
            let (message, stop) = (outcome.answer.to_message_now(endpoint), outcome.answer.stop);
            self.session.emit(AgentEvent::MessageStop { message, stop });
        }
        Ok((outcome, has_begun))
    }

    /// Goes to before a failed attempt, or back to it.
    fn back_to(&mut self, tip: Option<EntryId>) -> Result<(), AgentError> {
        let mut manager = self.session.manager();
        match &tip {
            Some(id) => manager.branch(id)?,
            None => manager.reset_leaf(),
        }
        drop(manager);
        self.tip = tip;
        Ok(())
    }
}

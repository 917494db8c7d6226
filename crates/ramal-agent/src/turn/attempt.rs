//! Asking the model: a request, what streams back, and another attempt where the first one failed.

use std::time::Duration;

use futures_util::FutureExt;
use ramal_model::{Answer, Endpoint, Event, ModelError, Outcome, Request, StopReason, ToolSpec};
use ramal_session::EntryId;

use super::{Work, is_object};
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
                self.end_retries(attempt, answer.error.clone());
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
            self.end_retries(attempt, Some(error.to_string()));
            return Ok((answer, message));
        }
    }

    fn end_retries(&self, attempt: u32, final_error: Option<String>) {
        if attempt > 0 {
            let success = final_error.is_none();
            self.session.emit(AgentEvent::AutoRetryEnd { success, attempt, final_error });
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
        let Some(wait) = self.session.retry().wait(*attempt, error) else { return Ok(false) };
        let goes_on = self.wait_for_retry(wait, attempt, error).await;
        if goes_on {
            self.back_to(before)?;
        }
        Ok(goes_on)
    }

    /// Tells that the model will be asked again, and waits; false if the user does not want to.
    async fn wait_for_retry(&self, wait: Duration, attempt: &mut u32, error: &ModelError) -> bool {
        let mut given_up = std::pin::pin!(self.given_up());
        // From here on it is heard: what is told next may be the reason for it.
        if given_up.as_mut().now_or_never().is_some() {
            return false;
        }
        *attempt += 1;
        self.session.emit(AgentEvent::AutoRetryStart {
            attempt: *attempt,
            max_attempts: self.session.config().retry.max_retries,
            delay_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            error_message: error.to_string(),
        });
        tokio::select! {
            biased;
            () = given_up => false,
            () = tokio::time::sleep(wait) => true,
        }
    }

    /// The user does not want to wait for another attempt.
    async fn given_up(&self) {
        tokio::select! {
            () = self.abort.cancelled() => {}
            () = self.session.shared.switches.end_retry.notified() => {}
        }
    }

    /// Sends the conversation and tells what streams back. Answers whether the beginning of an answer
    /// was told.
    async fn ask(&self, endpoint: &Endpoint) -> Result<(Outcome, bool), AgentError> {
        let request = self.request().await?;
        let mut stream = self.session.config().model.stream(endpoint, &request, self.abort.clone());
        let mut has_begun = false;
        while let Some(event) = stream.next().await {
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
        Ok((stream.outcome().await, has_begun))
    }

    async fn request(&self) -> Result<Request, AgentError> {
        let mut messages = self.session.messages_at(self.tip.as_deref())?;
        let session_id = self.session.manager().get_session_id().to_owned();
        for hook in self.session.hooks() {
            let answering = hook.context(&messages);
            let answer = self.session.ask_until(&self.abort, &*hook, "context", answering).await;
            let Some(Some(others)) = answer else { continue };
            if others.iter().all(|other| is_object(other)) {
                messages = others;
            } else {
                self.session.hook_failed(&*hook, "context", "a message is no JSON object");
            }
        }
        let choice = self.session.model_choice()?;
        let config = self.session.config();
        Ok(Request {
            system: config.system.clone(),
            messages,
            tools: config.tools.iter().map(|tool| tool.spec()).collect::<Vec<ToolSpec>>(),
            thinking: choice.thinking,
            max_output: None,
            session_id: Some(session_id),
        })
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

//! Asking a model once more after an error that passes, visibly, and as long as the user wants to wait.

use std::pin::Pin;

use futures_util::FutureExt;
use ramal_model::{Endpoint, ModelError, Outcome, Request};
use tokio_util::sync::CancellationToken;

use crate::AgentSession;
use crate::ask::AskModel;
use crate::events::AgentEvent;

impl AgentSession {
    /// Tells that the model will be asked again, and waits; false if that makes no sense after this
    /// error, or the user does not want to.
    pub(crate) async fn wait_for_retry(
        &self,
        abort: &CancellationToken,
        attempt: &mut u32,
        error: &ModelError,
    ) -> bool {
        let Some(wait) = self.retry_policy().wait(*attempt, error) else { return false };
        let mut given_up = std::pin::pin!(async {
            tokio::select! {
                () = abort.cancelled() => {}
                () = self.shared.switches.end_retry.notified() => {}
            }
        });
        // From here on it is heard: what is told next may be the reason for it.
        if given_up.as_mut().now_or_never().is_some() {
            return false;
        }
        *attempt += 1;
        self.emit(AgentEvent::AutoRetryStart {
            attempt: *attempt,
            max_attempts: self.config().retry.max_retries,
            delay_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            error_message: error.to_string(),
        });
        tokio::select! {
            biased;
            () = given_up => false,
            () = tokio::time::sleep(wait) => true,
        }
    }

    /// Tells how the attempts ended, if there was more than one.
    pub(crate) fn end_retries(&self, attempt: u32, final_error: Option<String>) {
        if attempt > 0 {
            let success = final_error.is_none();
            self.emit(AgentEvent::AutoRetryEnd { success, attempt, final_error });
        }
    }
}

/// Asks the session's model for a summary, again after errors that pass.
pub(crate) struct Patient<'a>(pub(crate) &'a AgentSession);

impl AskModel for Patient<'_> {
    fn ask<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        request: &'a Request,
        abort: &'a CancellationToken,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        let session = self.0;
        Box::pin(async move {
            let mut attempt = 0;
            loop {
                let outcome = session.model().ask(endpoint, request, abort).await;
                let error = match &outcome.result {
                    Err(error) if session.wait_for_retry(abort, &mut attempt, error).await => continue,
                    Err(error) => Some(error.to_string()),
                    Ok(()) => outcome.answer.error.clone(),
                };
                session.end_retries(attempt, error);
                return outcome;
            }
        })
    }
}

//! Hooks asked one after the other, within their limit, their failures told.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::AgentSession;
use crate::events::AgentEvent;
use crate::hooks::{Answering, Hook};

impl AgentSession {
    /// What one hook answers; none if it failed or did not come back, which is told.
    pub(crate) async fn ask<T>(
        &self,
        hook: &dyn Hook,
        event: &'static str,
        answering: Answering<'_, T>,
    ) -> Option<T> {
        let limit = self.config().hook_limit;
        let error = match tokio::time::timeout(limit, answering).await {
            Ok(Ok(answer)) => return Some(answer),
            Ok(Err(error)) => error,
            Err(_) => format!("it did not answer within {} s", limit.as_secs_f64()),
        };
        self.emit(AgentEvent::HookError { hook: hook.name().to_owned(), event, error });
        None
    }

    /// As [`AgentSession::ask`], given up at once when `abort` is cancelled.
    pub(crate) async fn ask_until<T>(
        &self,
        abort: &CancellationToken,
        hook: &dyn Hook,
        event: &'static str,
        answering: Answering<'_, T>,
    ) -> Option<T> {
        tokio::select! {
            biased;
            () = abort.cancelled() => None,
            answer = self.ask(hook, event, answering) => answer,
        }
    }

    /// The hooks, in order.
    pub(crate) fn hooks(&self) -> Vec<Arc<dyn Hook>> {
        self.config().hooks.clone()
    }
}

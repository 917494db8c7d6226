//! Hooks asked one after the other, within their limit, their failures told.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;

use crate::AgentSession;
use crate::events::AgentEvent;
use crate::hooks::{Answering, Hook, HookEvent};

impl AgentSession {
    /// What one hook answers; none if it failed or did not come back, which is told.
    pub(crate) async fn ask<T>(
        &self,
        hook: &dyn Hook,
        event: HookEvent,
        answering: Answering<'_, T>,
    ) -> Option<T> {
        let limit = self.config().hook_limit;
        let answering = self.shared.stage.hooked(AssertUnwindSafe(answering).catch_unwind());
        let answered = match hook.keeps_time() {
            true => Ok(answering.await),
            false => tokio::time::timeout(limit, answering).await,
        };
        let error = match answered {
            Ok(Ok(Ok(answer))) => return Some(answer),
            Ok(Ok(Err(error))) => error,
            Ok(Err(_)) => "it broke off by a fault of its own".to_owned(),
            Err(_) => format!("it did not answer within {} s", limit.as_secs_f64()),
        };
        self.hook_failed(hook, event, &error);
        None
    }

    pub(crate) fn hook_failed(&self, hook: &dyn Hook, event: HookEvent, error: &str) {
        self.tell_hook_error(hook.name(), event.name(), error);
    }

    /// Tells that somebody who takes part failed in something: an event that is no hook, a command.
    pub fn tell_hook_error(&self, hook: &str, event: &'static str, error: &str) {
        self.emit(AgentEvent::HookError { hook: hook.to_owned(), event, error: error.to_owned() });
    }

    /// As [`AgentSession::ask`], given up at once when `abort` is cancelled.
    pub(crate) async fn ask_until<T>(
        &self,
        abort: &CancellationToken,
        hook: &dyn Hook,
        event: HookEvent,
        answering: Answering<'_, T>,
    ) -> Option<T> {
        tokio::select! {
            biased;
            () = abort.cancelled() => None,
            answer = self.ask(hook, event, answering) => answer,
        }
    }

    /// Waits until all hooks have heard what was told so far, or the user aborts.
    pub(crate) async fn caught_up(&self, abort: &CancellationToken) {
        for hook in &self.config().hooks {
            tokio::select! {
                biased;
                () = abort.cancelled() => return,
                () = hook.caught_up() => {}
            }
        }
    }

    /// The hooks that hear of an event, in order.
    pub(crate) fn hooks(&self, event: HookEvent) -> Vec<Arc<dyn Hook>> {
        self.config().hooks.iter().filter(|hook| hook.hears(event)).cloned().collect()
    }
}

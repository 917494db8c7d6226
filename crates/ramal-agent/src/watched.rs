//! Requests to models, seen by hooks: the body before it is sent, and that a provider answers.

use std::sync::Arc;

use ramal_model::{AnswerStream, Endpoint, LanguageModel, Request, Watch, Watching};
use tokio_util::sync::CancellationToken;

use crate::AgentSession;
use crate::hooks::HookEvent;
use crate::turn::is_object;

impl AgentSession {
    /// Answers requests, without that any hook sees them.
    pub fn language_model(&self) -> Arc<dyn LanguageModel> {
        Arc::clone(&self.config().model)
    }

    /// Answers requests, seen by the hooks that want to.
    pub(crate) fn model(&self) -> Arc<dyn LanguageModel> {
        let [before, after] = [HookEvent::BeforeProviderRequest, HookEvent::AfterProviderResponse];
        match self.hooks(before).is_empty() && self.hooks(after).is_empty() {
            true => self.language_model(),
            false => Arc::new(Watched(self.clone())),
        }
    }
}

/// The session's model, watched by its hooks.
struct Watched(AgentSession);

impl LanguageModel for Watched {
    fn stream_watched(
        &self,
        endpoint: &Endpoint,
        request: &Request,
        _: Option<Arc<dyn Watch>>,
        abort: CancellationToken,
    ) -> AnswerStream {
        let watch = Arc::new(ByHooks { session: self.0.clone(), abort: abort.clone() });
        self.0.language_model().stream_watched(endpoint, request, Some(watch), abort)
    }
}

/// The hooks of a session, as those that watch one request.
struct ByHooks {
    session: AgentSession,
    abort: CancellationToken,
}

impl Watch for ByHooks {
    fn before<'a>(&'a self, mut body: String) -> Watching<'a, String> {
        let event = HookEvent::BeforeProviderRequest;
        Box::pin(async move {
            for hook in self.session.hooks(event) {
                let answering = hook.before_provider_request(&body);
                let answer = self.session.ask_until(&self.abort, &*hook, event, answering).await;
                let Some(Some(other)) = answer else { continue };
                if is_object(&other) {
                    body = other;
                } else {
                    self.session.hook_failed(&*hook, event, "what it answered is no JSON object");
                }
            }
            body
        })
    }

    fn after<'a>(&'a self, status: u16, headers: Vec<(String, String)>) -> Watching<'a, ()> {
        let event = HookEvent::AfterProviderResponse;
        Box::pin(async move {
            for hook in self.session.hooks(event) {
                let answering = hook.after_provider_response(status, &headers);
                self.session.ask_until(&self.abort, &*hook, event, answering).await;
            }
        })
    }
}

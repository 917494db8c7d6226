//! What a session sends to its model: the conversation up to an entry, the system prompt, the tools.

use ramal_model::Request;
use tokio_util::sync::CancellationToken;

use crate::AgentSession;
use crate::error::AgentError;
use crate::hooks::HookEvent;
use crate::turn::is_object;

impl AgentSession {
    /// The request to go on behind an entry. Hooks may put other messages in place of those of the path.
    pub(crate) async fn request_at(
        &self,
        tip: Option<&str>,
        abort: &CancellationToken,
    ) -> Result<Request, AgentError> {
        let mut messages = self.messages_at(tip)?;
        let session_id = self.manager().get_session_id().to_owned();
        for hook in self.hooks(HookEvent::Context) {
            let answering = hook.context(&messages);
            let answer = self.ask_until(abort, &*hook, HookEvent::Context, answering).await;
            let Some(Some(others)) = answer else { continue };
            if others.iter().all(|other| is_object(other)) {
                messages = others;
            } else {
                self.hook_failed(&*hook, HookEvent::Context, "a message is no JSON object");
            }
        }
        let choice = self.model_choice()?;
        Ok(Request {
            system: self.system_prompt(),
            messages,
            tools: self.offered().iter().map(|tool| tool.spec()).collect(),
            thinking: choice.thinking,
            max_output: None,
            session_id: Some(session_id),
        })
    }
}

//! Before the model is asked for the first time: what hooks say to a prompt.

use tokio_util::sync::CancellationToken;

use super::Work;
use crate::AgentSession;
use crate::error::AgentError;
use crate::hooks::{AgentStart, CustomMessage, HookEvent};
use crate::queue::Prompt;

impl AgentSession {
    /// Asks hooks about a prompt. What they say of the system prompt counts from now on; their messages are
    /// answered, in order.
    pub(super) async fn before_start(
        &self,
        abort: &CancellationToken,
        prompts: &[Prompt],
    ) -> Vec<CustomMessage> {
        let event = HookEvent::BeforeAgentStart;
        let hooks = self.hooks(event);
        let mut messages = Vec::new();
        if hooks.is_empty() {
            return messages;
        }
        let texts: Vec<&str> = prompts.iter().map(|prompt| &*prompt.text).collect();
        let mut start = AgentStart {
            prompt: texts.join("\n\n"),
            images: prompts.iter().flat_map(|prompt| prompt.images.iter().cloned()).collect(),
            system_prompt: self.system_prompt(),
        };
        for hook in hooks {
            let answering = hook.before_agent_start(&start);
            let Some(answer) = self.ask_until(abort, &*hook, event, answering).await else { continue };
            messages.extend(answer.messages);
            if let Some(system) = answer.system_prompt {
                start.system_prompt.clone_from(&system);
                self.prompt_with(Some(system));
            }
        }
        messages
    }
}

impl Work<'_> {
    /// Appends messages behind what the user said.
    pub(super) fn add(&mut self, messages: &[CustomMessage]) -> Result<(), AgentError> {
        for message in messages {
            let id = {
                let mut manager = self.session.manager();
                self.stand_at_tip(&mut manager)?;
                message.append_to(&mut manager)?
            };
            self.session.tell_appended(&id);
            self.tip = Some(id);
        }
        Ok(())
    }
}

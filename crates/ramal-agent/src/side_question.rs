//! A question on the side: answered from the present context, and not kept.

use ramal_model::{Block, Event, ModelError, StopReason, Usage};
use ramal_session::time;
use tokio_util::sync::CancellationToken;

use crate::AgentSession;
use crate::ask::tagged;
use crate::error::AgentError;
use crate::queue::Prompt;

/// What the model is told of the question.
const ASIDE: &str = include_str!("prompts/aside.md");

/// An answer that is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideAnswer {
    /// What the model said: all that was told piece by piece.
    pub text: String,
    /// Whether it broke off at the greatest length of an answer.
    pub is_cut: bool,
    /// What it took. It is in no total of the session.
    pub usage: Usage,
}

impl AgentSession {
    /// Asks the model something about what it sees at the leaf. Neither the question nor the answer is
    /// kept, the leaf stays, no tool is run, and no event tells of it; it may be asked whatever else runs.
    /// The request begins with what a turn would send, so that what the provider has cached serves both.
    ///
    /// `told` hears each piece of the answer as it comes, on the task that waits for this. `abort` ends it;
    /// [`AgentSession::abort`] does not. It is asked once, also where a turn would ask again.
    ///
    /// # Errors
    /// [`AgentError::Aborted`] after an abort; [`AgentError::NoAnswer`] if the model said nothing in words;
    /// if no model can be asked, it failed, or the log cannot be read.
    pub async fn ask_aside(
        &self,
        question: &str,
        abort: CancellationToken,
        mut told: impl FnMut(&str) + Send,
    ) -> Result<SideAnswer, AgentError> {
        let endpoint = self.endpoint()?;
        let leaf = self.leaf_id()?;
        let mut request = self.request_at(leaf.as_deref(), &abort).await?;
        let asked = format!("{}\n\n{}", ASIDE.trim(), tagged("question", question));
        request.messages.push(Prompt::text(asked).to_message(time::now()));
        let mut stream = self.model().stream(&endpoint, &request, abort.clone());
        let mut has_text = false;
        while let Some(event) = stream.next().await {
            match &event {
                Event::TextStart { .. } if has_text => told(BETWEEN),
                Event::TextDelta { delta, .. } => {
                    has_text = true;
                    told(delta);
                }
                _ => {}
            }
        }
        let outcome = stream.outcome().await;
        let answer = outcome.answer;
        if abort.is_cancelled() || answer.stop == StopReason::Aborted {
            return Err(AgentError::Aborted { what: "the question" });
        }
        outcome.result?;
        if answer.stop == StopReason::Error {
            let message = answer.error.unwrap_or_default();
            return Err(ModelError::NotUnderstood { provider: endpoint.provider, message }.into());
        }
        let texts = answer.blocks.iter().filter_map(|block| match block {
            Block::Text { text, .. } if !text.is_empty() => Some(&**text),
            _ => None,
        });
        let text = texts.collect::<Vec<_>>().join(BETWEEN);
        if text.trim().is_empty() {
            return Err(AgentError::NoAnswer);
        }
        Ok(SideAnswer { text, is_cut: answer.stop == StopReason::Length, usage: answer.usage })
    }
}

/// Stands between texts that the model said one after the other.
const BETWEEN: &str = "\n\n";

//! Beginning the context anew without leaving the session.

use ramal_session::{At, EntryId};

use crate::AgentSession;
use crate::error::AgentError;
use crate::events::AgentEvent;
use crate::operation::Operation;

impl AgentSession {
    /// Lets the context begin anew behind the leaf: what was said stays in the tree, the model does not see
    /// it any more. The model, the thinking level and other settings of the path stay. A turn that runs is
    /// ended first.
    ///
    /// Answers the boundary, which [`AgentEvent::ContextReset`] tells as well; none where the context is
    /// empty already, and nothing is appended.
    ///
    /// # Errors
    /// If something else than a turn runs, or the log could not be read or appended to.
    pub async fn reset_context(&self) -> Result<Option<EntryId>, AgentError> {
        let stage = self.shared.stage.take_over(Operation::Navigation).await?;
        let reset = self.reset_on();
        self.end(stage);
        reset
    }

    fn reset_on(&self) -> Result<Option<EntryId>, AgentError> {
        let boundary = {
            let mut manager = self.manager();
            let is_empty = manager.build_session_context(At::Leaf)?.messages().next().is_none();
            if is_empty && !self.has_seen() {
                return Ok(None);
            }
            manager.append_reset_boundary()?
        };
        self.forget_count();
        self.forget_seen();
        self.emit(AgentEvent::ContextReset { entry_id: boundary.to_string() });
        Ok(Some(boundary))
    }
}

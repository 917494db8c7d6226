//! Entries that stand beside a turn: appended by whoever takes part, and told, so that they are seen.

use ramal_session::{EntryId, SessionManager};

use crate::AgentSession;
use crate::error::AgentError;
use crate::events::AgentEvent;
use crate::hooks::CustomMessage;

impl CustomMessage {
    pub(crate) fn append_to(&self, manager: &mut SessionManager) -> Result<EntryId, AgentError> {
        let (kind, details) = (&self.custom_type, self.details.as_deref());
        Ok(manager.append_custom_message_entry(kind, &self.content, self.display, details)?)
    }
}

impl AgentSession {
    /// Appends a message that is no person's and no model's, and tells it.
    ///
    /// # Errors
    /// If its content is no JSON, or it could not be appended.
    pub fn append_custom_message(&self, message: &CustomMessage) -> Result<EntryId, AgentError> {
        let id = message.append_to(&mut self.manager())?;
        self.tell_appended(&id);
        Ok(id)
    }

    /// Tells that an entry was appended, for whoever shows the conversation. What a turn appends, and what the
    /// user did, is told otherwise.
    pub fn tell_appended(&self, id: &str) {
        if !self.is_heard() {
            return;
        }
        let entry = {
            let manager = self.manager();
            manager.get_entry(id).and_then(|entry| entry.read().ok()).map(|entry| entry.json().to_owned())
        };
        if let Some(entry) = entry {
            self.emit(AgentEvent::EntryAppended { entry_id: id.to_owned(), entry });
        }
    }
}

//! What is stored beside the work: at once while nothing runs, or at the end of what does, for within a
//! turn it would stand between a call and its result.

use std::sync::MutexGuard;

use ramal_session::SessionManager;

use crate::AgentSession;
use crate::error::AgentError;
use crate::events::AgentEvent;
use crate::queue::Queue;

/// Something to be stored when nothing runs any more. It is let go if its session is left meanwhile.
#[derive(Debug)]
pub(crate) struct Aside {
    session_id: String,
    what: What,
}

#[derive(Debug)]
enum What {
    /// JSON text.
    Message(String),
    Title(String),
}

impl AgentSession {
    /// Stores a message that is no part of a turn, such as that of a command of the user's: now, or at the
    /// end of what runs. It is let go if the session `session_id` is left meanwhile.
    ///
    /// # Errors
    /// If it could not be appended now.
    pub fn append_aside(&self, session_id: &str, message: String) -> Result<(), AgentError> {
        let aside = Aside { session_id: session_id.to_owned(), what: What::Message(message) };
        self.put_aside(&mut self.queue(), aside)
    }

    /// Gives the session `session_id` a title now, or at the end of what runs.
    pub(crate) fn put_aside_title(&self, session_id: String, title: String) {
        let mut queue = self.queue();
        if self.has_given_up_titles() {
            return;
        }
        let put = self.put_aside(&mut queue, Aside { session_id, what: What::Title(title) });
        if let Err(error) = put {
            self.emit(AgentEvent::Notice { message: format!("the title could not be stored: {error}") });
        }
    }

    fn put_aside(&self, queue: &mut Queue, aside: Aside) -> Result<(), AgentError> {
        // A turn that begins now has to store its prompt first: it comes no further than that.
        let manager = self.manager();
        if self.running().is_some() {
            queue.aside.push(aside);
            return Ok(());
        }
        self.store(manager, aside)
    }

    /// Stores what was put aside, at the end of what ran.
    pub(crate) fn store_aside(&self, queue: &mut Queue) {
        for aside in std::mem::take(&mut queue.aside) {
            if let Err(error) = self.store(self.manager(), aside) {
                self.emit(AgentEvent::Notice { message: error.to_string() });
            }
        }
    }

    fn store(&self, mut manager: MutexGuard<'_, SessionManager>, aside: Aside) -> Result<(), AgentError> {
        if manager.get_session_id() != aside.session_id {
            return Ok(());
        }
        match aside.what {
            What::Message(message) => drop(manager.append_message(&message)?),
            What::Title(title) => {
                let is_named = self.name(&mut manager, &title)?;
                drop(manager);
                if is_named {
                    self.emit(AgentEvent::SessionInfoChanged { name: title });
                }
            }
        }
        Ok(())
    }
}

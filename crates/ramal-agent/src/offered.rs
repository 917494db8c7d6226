//! Which of the session's tools the model is offered.

use std::sync::{Arc, MutexGuard, PoisonError};

use ramal_model::ToolSpec;

use crate::AgentSession;
use crate::session::AgentConfig;
use crate::tools::{self, Tool};

impl AgentSession {
    fn active(&self) -> MutexGuard<'_, Option<Vec<String>>> {
        self.shared.active_tools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All tools, offered or not.
    pub fn tools(&self) -> Vec<ToolSpec> {
        self.config().tools.iter().map(|tool| tool.spec()).collect()
    }

    /// The names of those that the model is offered.
    pub fn active_tools(&self) -> Vec<String> {
        self.offered().iter().map(|tool| tool.spec().name).collect()
    }

    /// Offers the model only the tools of these names, from its next request on; none: all there are. Names that
    /// no tool has are passed over.
    pub fn set_active_tools(&self, names: Option<Vec<String>>) {
        *self.active() = names;
    }

    /// Brings a tool, and offers it from the next request on. It takes the place of the one that has its name.
    pub fn add_tool(&self, tool: Arc<dyn Tool>) {
        let name = tool.spec().name;
        if let Some(active) = &mut *self.active()
            && !active.contains(&name)
        {
            active.push(name.clone());
        }
        self.configure(|config| {
            let mut tools = config.tools.clone();
            let more = tools::take_place(&mut tools, tool);
            tools.extend(more);
            AgentConfig { tools, ..config.clone() }
        });
    }

    /// The tools that the model is offered, in an order that stays the same.
    pub(crate) fn offered(&self) -> Vec<Arc<dyn Tool>> {
        let active = self.active();
        let is_active =
            |tool: &&Arc<dyn Tool>| active.as_ref().is_none_or(|active| active.contains(&tool.spec().name));
        self.config().tools.iter().filter(is_active).cloned().collect()
    }
}

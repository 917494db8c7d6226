//! Which model answers, and how much it thinks: as the path says, chosen, and told when it is another one.

use std::collections::VecDeque;
use std::sync::{MutexGuard, PoisonError};

use ramal_model::{Endpoint, ThinkingLevel};
use ramal_session::{At, EntryId, SessionContext};
use tokio::runtime::Handle;

use crate::AgentSession;
use crate::error::AgentError;
use crate::hooks::{HookEvent, ModelChange, ModelSource};
use crate::session::AgentConfig;

/// The model that answers next, and how much it thinks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelChoice {
    /// `provider/id`; none if nothing names a model.
    pub model: Option<String>,
    /// How much it is asked to think.
    pub thinking: ThinkingLevel,
}

/// Changes that hooks are still to be told of, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    waiting: VecDeque<Change>,
    is_telling: bool,
}

#[derive(Debug)]
enum Change {
    Model(ModelChange),
    Thinking { level: ThinkingLevel, previous: ThinkingLevel },
}

impl AgentSession {
    /// The model and the thinking level as the path to the leaf has them, and the defaults where it
    /// says nothing: exactly as after opening.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn model_choice(&self) -> Result<ModelChoice, AgentError> {
        let manager = self.manager();
        let context = manager.build_session_context(At::Leaf)?;
        Ok(self.model_choice_in(&context))
    }

    /// As [`AgentSession::model_choice`], where the context is there already.
    pub fn model_choice_in(&self, context: &SessionContext<'_>) -> ModelChoice {
        let thinking = context.thinking_level.parse().ok().filter(|_| context.says_thinking_level);
        ModelChoice {
            model: context
                .model("default")
                .map(str::to_owned)
                .or_else(|| self.config().default_model.clone()),
            thinking: thinking.unwrap_or(self.config().default_thinking),
        }
    }

    /// The endpoint of the model that answers next.
    ///
    /// # Errors
    /// If no model is chosen, or the one that is cannot be used.
    pub fn endpoint(&self) -> Result<Endpoint, AgentError> {
        let name = self.model_choice()?.model.ok_or(AgentError::NoModel)?;
        (self.config().find_model)(&name).map_err(|why| AgentError::UnusableModel { name, why })
    }

    /// Uses another model where the path names none.
    pub fn set_default_model(&self, name: Option<String>) {
        self.choosing(ModelSource::Set, || {
            self.configure(|config| AgentConfig { default_model: name, ..config.clone() });
        });
    }

    /// Chooses the model for this branch, `provider/id`.
    ///
    /// # Errors
    /// If there is no such model, or the choice could not be appended.
    pub fn set_model(&self, name: &str) -> Result<EntryId, AgentError> {
        self.set_model_as(name, ModelSource::Set)
    }

    /// As [`AgentSession::set_model`], for a reason of its own.
    ///
    /// # Errors
    /// As there.
    pub fn set_model_as(&self, name: &str, source: ModelSource) -> Result<EntryId, AgentError> {
        let endpoint = (self.config().find_model)(name)
            .map_err(|why| AgentError::UnusableModel { name: name.into(), why })?;
        self.forget_count();
        self.choosing(source, || {
            Ok(self.manager().append_model_change(&endpoint.provider, &endpoint.model, None)?)
        })
    }

    /// Chooses how much to think on this branch.
    ///
    /// # Errors
    /// If the choice could not be appended.
    pub fn set_thinking_level(&self, level: ThinkingLevel) -> Result<EntryId, AgentError> {
        self.choosing(ModelSource::Set, || {
            Ok(self.manager().append_thinking_level_change(Some(level.name()))?)
        })
    }

    /// Does something after which another model or level may count, and tells hooks if one does.
    fn choosing<T>(&self, source: ModelSource, work: impl FnOnce() -> T) -> T {
        let before = self.choice_if_heard();
        let done = work();
        self.tell_choice(before, source);
        done
    }

    /// What is chosen; none if no hook wants to hear of another choice.
    pub(crate) fn choice_if_heard(&self) -> Option<ModelChoice> {
        let events = [HookEvent::ModelSelect, HookEvent::ThinkingLevelSelect];
        let is_heard = events.into_iter().any(|event| !self.hooks(event).is_empty());
        is_heard.then(|| self.model_choice().ok()).flatten()
    }

    /// Tells hooks what is chosen now, if that is something else than before. They are told in order, on a task
    /// of its own.
    pub(crate) fn tell_choice(&self, before: Option<ModelChoice>, source: ModelSource) {
        let Some((before, now)) = before.zip(self.choice_if_heard()) else { return };
        let mut changes = self.changes();
        if let Some(model) = now.model.filter(|model| before.model.as_ref() != Some(model)) {
            changes.waiting.push_back(Change::Model(ModelChange { model, previous: before.model, source }));
        }
        if now.thinking != before.thinking {
            let (level, previous) = (now.thinking, before.thinking);
            changes.waiting.push_back(Change::Thinking { level, previous });
        }
        if changes.waiting.is_empty() || changes.is_telling {
            return;
        }
        match Handle::try_current() {
            Ok(runtime) => {
                changes.is_telling = true;
                let session = self.clone();
                runtime.spawn(async move { session.tell_changes().await });
            }
            // Where nothing can be waited for nobody can be told.
            Err(_) => changes.waiting.clear(),
        }
    }

    fn changes(&self) -> MutexGuard<'_, Changes> {
        self.shared.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_change(&self) -> Option<Change> {
        let mut changes = self.changes();
        let next = changes.waiting.pop_front();
        changes.is_telling = next.is_some();
        next
    }

    async fn tell_changes(&self) {
        while let Some(change) = self.next_change() {
            let event = match &change {
                Change::Model(_) => HookEvent::ModelSelect,
                Change::Thinking { .. } => HookEvent::ThinkingLevelSelect,
            };
            for hook in self.hooks(event) {
                let answering = match &change {
                    Change::Model(change) => hook.model_select(change),
                    Change::Thinking { level, previous } => hook.thinking_level_select(*level, *previous),
                };
                self.ask(&*hook, event, answering).await;
            }
        }
    }
}

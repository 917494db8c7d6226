//! Moving inside the tree and bringing home what was learned (contract, section 6).

use std::sync::Arc;

use ramal_session::{BranchSummary, EntryId, Kind, Role};

use crate::AgentSession;
use crate::error::AgentError;
use crate::events::AgentEvent;
use crate::hooks::{BeforeTree, Hook, HookEvent, ModelSource, SuppliedSummary, TreeMoved, TreePreparation};
use crate::operation::{OnStage, Operation};
use crate::retrying::Patient;
use crate::summary::{self, SummaryError, SummaryOptions};

/// How to move.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NavigateOptions {
    /// Whether the branch that is left is summarised.
    pub summarize: bool,
    /// What the summary should look at.
    pub custom_instructions: Option<String>,
    /// Whether that stands in place of the built-in prompt.
    pub replace_instructions: bool,
    /// A label for the summary entry, or for the target without one.
    pub label: Option<String>,
}

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Navigated {
    /// A hook or the user ended it; nothing is changed.
    pub cancelled: bool,
    /// The user ended it.
    pub aborted: bool,
    /// The text of the message that is to be said again.
    pub editor_text: Option<String>,
    /// The summary entry, as JSON text.
    pub summary_entry: Option<String>,
}

impl Navigated {
    fn aborted() -> Navigated {
        Navigated { cancelled: true, aborted: true, ..Navigated::default() }
    }
}

/// A summary and who made it.
struct Made {
    summary: String,
    details: Option<String>,
    from_extension: bool,
    usage: Option<String>,
}

impl AgentSession {
    /// Moves the leaf to an entry as a user does who picks it in the tree. A turn that runs is ended
    /// first, and what it had is stored.
    ///
    /// # Errors
    /// If there is no such entry, no model for a summary that is wanted, the summariser failed, or
    /// another navigation runs. The leaf is where it was.
    pub async fn navigate_tree(
        &self,
        target: &str,
        options: NavigateOptions,
    ) -> Result<Navigated, AgentError> {
        // What cannot be done does not end a turn either.
        if !self.is_at(target)? {
            if options.summarize && self.model_choice()?.model.is_none() {
                return Err(AgentError::NoModel);
            }
            self.must_exist(target)?;
        }
        let stage = self.shared.stage.take_over(Operation::Navigation).await?;
        let navigated = self.navigate_on(&stage, target, options).await;
        self.end(stage);
        navigated
    }

    /// Whether there is an entry that one can go to.
    fn must_exist(&self, target: &str) -> Result<(), AgentError> {
        let manager = self.manager();
        let entry = manager.get_entry(target);
        match entry.filter(|entry| entry.irregular() != Some(ramal_session::Irregular::NoId)) {
            Some(_) => Ok(()),
            None => Err(ramal_session::NoSuchEntry { id: target.into() }.into()),
        }
    }

    async fn navigate_on(
        &self,
        stage: &OnStage,
        target: &str,
        options: NavigateOptions,
    ) -> Result<Navigated, AgentError> {
        let old_leaf = self.leaf_id()?;
        if self.is_at(target)? {
            return Ok(Navigated::default());
        }
        if options.summarize && self.model_choice()?.model.is_none() {
            return Err(AgentError::NoModel);
        }
        self.must_exist(target)?;
        let hooks = self.hooks(HookEvent::SessionBeforeTree);
        let (preparation, path) = {
            let manager = self.manager();
            let path = summary::abandoned_path(&manager, old_leaf.as_deref(), target)?;
            // A branch may be large: it is read as a whole only for somebody who wants it.
            let told = if hooks.is_empty() { Vec::new() } else { path.entries_json(&manager)? };
            let preparation = TreePreparation {
                target_id: target.to_owned(),
                old_leaf_id: old_leaf.as_deref().map(str::to_owned),
                common_ancestor_id: path.common_ancestor.as_deref().map(str::to_owned),
                entries_to_summarize: told,
                user_wants_summary: options.summarize,
                custom_instructions: options.custom_instructions.clone(),
                replace_instructions: options.replace_instructions,
                label: options.label.clone(),
            };
            (preparation, path)
        };
        let Some(said) = self.ask_before_tree(stage, &hooks, &preparation).await else {
            return Ok(if stage.abort.is_cancelled() {
                Navigated::aborted()
            } else {
                Navigated { cancelled: true, ..Navigated::default() }
            });
        };
        let instructions = said.custom_instructions.or(options.custom_instructions);
        let options_for_summary = SummaryOptions {
            custom_instructions: instructions.as_deref().filter(|text| !text.trim().is_empty()),
            replace_instructions: said.replace_instructions.unwrap_or(options.replace_instructions),
            reserve_tokens: self.config().summary_reserve,
        };
        let made = match said.summary {
            _ if !options.summarize => None,
            Some(SuppliedSummary { summary, details }) => (!summary.trim().is_empty()).then_some(Made {
                summary,
                details,
                from_extension: true,
                usage: None,
            }),
            None => match self.summarize(stage, &path, options_for_summary).await {
                Ok(made) => made,
                Err(SummaryFailed::Aborted) => return Ok(Navigated::aborted()),
                Err(SummaryFailed::Error(error)) => return Err(error),
            },
        };
        if stage.abort.is_cancelled() {
            return Ok(Navigated::aborted());
        }
        let label = said.label.or(options.label).filter(|label| !label.trim().is_empty());
        let chosen = self.choice_if_heard();
        let moved = self.go(target, made.as_ref(), label.as_deref())?;
        self.forget_count();
        self.forget_seen();
        self.tell_choice(chosen, ModelSource::Restore);
        self.announce(stage, &moved, old_leaf.as_deref(), made.as_ref()).await?;
        Ok(moved)
    }

    /// Whether the leaf is at an entry already.
    fn is_at(&self, target: &str) -> Result<bool, AgentError> {
        let manager = self.manager();
        // A `leaf` entry stands for where it leads.
        let target = summary::landing(&manager, target)?;
        Ok(target.is_some() && target == manager.get_leaf_entry())
    }

    /// What the hooks say before a navigation; none if one of them, or the user, ended it.
    async fn ask_before_tree(
        &self,
        stage: &OnStage,
        hooks: &[Arc<dyn Hook>],
        preparation: &TreePreparation,
    ) -> Option<BeforeTree> {
        let mut said = BeforeTree::default();
        for hook in hooks {
            let answering = hook.session_before_tree(preparation, stage.abort.clone());
            let event = HookEvent::SessionBeforeTree;
            let answer = self.ask_until(&stage.abort, &**hook, event, answering).await;
            // Whatever a hook answered: an abort while it ran ends the navigation.
            if stage.abort.is_cancelled() {
                return None;
            }
            let Some(answer) = answer else { continue };
            if answer.cancel {
                return None;
            }
            said.summary = answer.summary.or(said.summary);
            said.custom_instructions = answer.custom_instructions.or(said.custom_instructions);
            said.replace_instructions = answer.replace_instructions.or(said.replace_instructions);
            said.label = answer.label.or(said.label);
        }
        Some(said)
    }

    async fn summarize(
        &self,
        stage: &OnStage,
        path: &summary::AbandonedPath,
        options: SummaryOptions<'_>,
    ) -> Result<Option<Made>, SummaryFailed> {
        if !path.has_conversation {
            return Ok(None);
        }
        let endpoint = self.endpoint()?;
        let request =
            summary::summary_request(&self.manager(), path, &endpoint, options).map_err(AgentError::from)?;
        let Some(request) = request else { return Ok(None) };
        match summary::summarize(&Patient(self), &endpoint, request, stage.abort.clone()).await {
            Ok(made) => Ok(Some(Made {
                summary: made.summary,
                details: Some(made.details),
                from_extension: false,
                usage: Some(made.usage.to_json(endpoint.cost)),
            })),
            Err(SummaryError::Aborted) => Err(SummaryFailed::Aborted),
            Err(SummaryError::Empty) => Err(AgentError::EmptySummary.into()),
            Err(SummaryError::Model(error)) => Err(AgentError::from(error).into()),
        }
    }

    /// Moves, and appends the summary and the label: all in one go, so that nobody sees half of it.
    fn go(&self, target: &str, made: Option<&Made>, label: Option<&str>) -> Result<Navigated, AgentError> {
        let mut manager = self.manager();
        let old_leaf = manager.get_leaf_id()?;
        let entry =
            manager.get_entry(target).ok_or_else(|| ramal_session::NoSuchEntry { id: target.into() })?;
        let goes_before = entry.kind() == Kind::CustomMessage
            || (entry.kind() == Kind::Message && entry.role() == Role::User);
        let editor_text = goes_before.then(|| entry.read()).transpose()?.map(|entry| entry.text());
        let position: Option<EntryId> = if goes_before {
            entry.parent().map(|parent| parent.id()).transpose()?
        } else {
            Some(entry.id()?)
        };
        let mut result = Navigated { editor_text, ..Navigated::default() };
        let moved = match made {
            Some(made) => manager
                .branch_with_summary_of(
                    position.as_deref(),
                    &BranchSummary {
                        summary: &made.summary,
                        details: made.details.as_deref(),
                        from_extension: Some(made.from_extension),
                        usage: made.usage.as_deref(),
                    },
                )
                .map(Some),
            None => match &position {
                Some(id) => manager.branch(id).map(|()| None).map_err(Into::into),
                None => {
                    manager.reset_leaf();
                    Ok(None)
                }
            },
        };
        let summary_id = moved?;
        if let Some(id) = &summary_id {
            result.summary_entry = manager
                .get_entry(id)
                .map(|entry| entry.read())
                .transpose()?
                .map(|entry| entry.json().to_owned());
        }
        if let Some(label) = label {
            let labelled = summary_id.as_deref().unwrap_or(target).to_owned();
            if let Err(error) = manager.append_label_change(&labelled, Some(label)) {
                if summary_id.is_none() {
                    // Nothing was written: one is where one was.
                    match &old_leaf {
                        Some(id) => manager.branch(id)?,
                        None => manager.reset_leaf(),
                    }
                }
                return Err(error.into());
            }
        }
        Ok(result)
    }

    /// Tells hooks and listeners that the leaf was moved.
    async fn announce(
        &self,
        stage: &OnStage,
        moved: &Navigated,
        old_leaf: Option<&str>,
        made: Option<&Made>,
    ) -> Result<(), AgentError> {
        let new_leaf_id = self.leaf_id()?.as_deref().map(str::to_owned);
        let event = TreeMoved {
            new_leaf_id: new_leaf_id.clone(),
            old_leaf_id: old_leaf.map(str::to_owned),
            summary_entry: moved.summary_entry.clone(),
            from_extension: made.map(|made| made.from_extension),
        };
        for hook in self.hooks(HookEvent::SessionTree) {
            let answering = hook.session_tree(&event, stage.abort.clone());
            self.ask(&*hook, HookEvent::SessionTree, answering).await;
        }
        let TreeMoved { old_leaf_id, summary_entry, from_extension, .. } = event;
        self.emit(AgentEvent::SessionTree { new_leaf_id, old_leaf_id, summary_entry, from_extension });
        Ok(())
    }
}

/// Why there is no summary.
enum SummaryFailed {
    Aborted,
    Error(AgentError),
}

impl<E: Into<AgentError>> From<E> for SummaryFailed {
    fn from(error: E) -> Self {
        SummaryFailed::Error(error.into())
    }
}

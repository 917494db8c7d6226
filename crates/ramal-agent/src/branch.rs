//! Going over to another session: a branch of this one, a copy, a new one, one that exists (contract,
//! section 7).

use std::path::Path;

use ramal_session::{At, Kind, OpenError, Role, SessionManager};

use crate::AgentSession;
use crate::chosen::ModelChoice;
use crate::error::AgentError;
use crate::events::AgentEvent;
use crate::hooks::{BranchPosition, HookEvent, ModelSource, SwitchReason};
use crate::operation::{OnStage, Operation};

/// What came of making a branch a session of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Branched {
    /// The text of the message that is to be said again.
    pub selected_text: String,
    /// A hook ended it; nothing is changed.
    pub cancelled: bool,
}

impl AgentSession {
    /// Begins a session anew from before a user message. A turn that runs is ended first.
    ///
    /// # Errors
    /// If the entry is no user message, or the new session could not be made.
    pub async fn branch(&self, id: &str) -> Result<Branched, AgentError> {
        // What cannot be done does not end a turn either.
        self.user_message(id)?;
        let stage = self.shared.stage.take_over(Operation::Replacement).await?;
        let branched = self.branch_on(&stage, id).await;
        self.end(stage);
        branched
    }

    /// The text of a user message.
    fn user_message(&self, id: &str) -> Result<String, AgentError> {
        let manager = self.manager();
        let entry = manager.get_entry(id).ok_or_else(|| ramal_session::NoSuchEntry { id: id.into() })?;
        if entry.kind() != Kind::Message || entry.role() != Role::User {
            return Err(AgentError::NotAUserMessage { id: id.into() });
        }
        Ok(entry.read()?.text())
    }

    async fn branch_on(&self, stage: &OnStage, id: &str) -> Result<Branched, AgentError> {
        let selected_text = self.user_message(id)?;
        let Some(restores) = self.ask_before_branch(stage, id, BranchPosition::Before).await else {
            return Ok(Branched { selected_text, cancelled: true });
        };
        let previous = self.session_file();
        self.leave_for_copy(restores, |manager| Ok(manager.fork_before(id).map(drop)?))?;
        self.announce_branch(stage, previous.as_deref()).await;
        Ok(Branched { selected_text, cancelled: false })
    }

    /// Copies the whole active path into a session of its own and goes on there. Answers whether a
    /// hook ended it.
    ///
    /// # Errors
    /// If there is nothing to copy, or the copy could not be made.
    pub async fn clone_session(&self) -> Result<bool, AgentError> {
        let stage = self.shared.stage.take_over(Operation::Replacement).await?;
        let cloned = self.clone_on(&stage).await;
        self.end(stage);
        cloned
    }

    async fn clone_on(&self, stage: &OnStage) -> Result<bool, AgentError> {
        // Nothing is told of what cannot be done.
        let leaf = self.leaf_id()?.ok_or(ramal_session::CopyError::Empty)?;
        self.copy_on(stage, &leaf).await
    }

    /// Copies the path to an entry, which need not be the leaf, into a session of its own and goes on there. A
    /// turn that runs is ended first. Answers whether a hook ended it.
    ///
    /// # Errors
    /// If there is no such entry, or the copy could not be made.
    pub async fn branch_at(&self, id: &str) -> Result<bool, AgentError> {
        // What cannot be done does not end a turn either.
        let is_there = self.manager().get_entry(id).is_some();
        if !is_there {
            return Err(ramal_session::NoSuchEntry { id: id.into() }.into());
        }
        let stage = self.shared.stage.take_over(Operation::Replacement).await?;
        let copied = self.copy_on(&stage, id).await;
        self.end(stage);
        copied
    }

    async fn copy_on(&self, stage: &OnStage, id: &str) -> Result<bool, AgentError> {
        let Some(restores) = self.ask_before_branch(stage, id, BranchPosition::At).await else {
            return Ok(true);
        };
        let previous = self.session_file();
        self.leave_for_copy(restores, |manager| Ok(manager.create_branched_session(id).map(drop)?))?;
        self.announce_branch(stage, previous.as_deref()).await;
        Ok(false)
    }

    /// What the hooks say before a branch: none if one of them, or the user, ended it, otherwise
    /// whether the model sees the new session's conversation.
    async fn ask_before_branch(
        &self,
        stage: &OnStage,
        entry_id: &str,
        position: BranchPosition,
    ) -> Option<bool> {
        let mut restores = true;
        let event = HookEvent::SessionBeforeBranch;
        for hook in self.hooks(event) {
            let answering = hook.session_before_branch(entry_id, position);
            let answer = self.ask_until(&stage.abort, &*hook, event, answering).await;
            let answer = answer.unwrap_or_default();
            if stage.abort.is_cancelled() || answer.cancel {
                return None;
            }
            restores &= !answer.skip_conversation_restore;
        }
        Some(restores)
    }

    /// Goes over to a copy. If it is not restored, the model goes on seeing what it saw, and behind
    /// that what is said in the copy.
    fn leave_for_copy(
        &self,
        restores: bool,
        go: impl FnOnce(&mut SessionManager) -> Result<(), AgentError>,
    ) -> Result<(), AgentError> {
        let seen = if restores { None } else { Some(self.seen_by_model()?) };
        self.leave(go)?;
        // Where it has no name it is as new as one that is empty.
        let manager = self.manager();
        self.titles().enter(&manager, true);
        drop(manager);
        if let Some(messages) = seen {
            self.keep_seen(messages)?;
        }
        Ok(())
    }

    async fn announce_branch(&self, stage: &OnStage, previous: Option<&Path>) {
        let previous = previous.map(|path| path.to_string_lossy().into_owned());
        self.emit_replaced(previous.clone());
        for hook in self.hooks(HookEvent::SessionBranch) {
            let answering = hook.session_branch(previous.as_deref(), stage.abort.clone());
            self.ask(&*hook, HookEvent::SessionBranch, answering).await;
        }
    }

    /// Begins a new session with the model and the thinking level of this one. Answers whether a hook
    /// ended it.
    ///
    /// # Errors
    /// If it could not be made.
    pub async fn new_session(&self, parent_session: Option<&str>) -> Result<bool, AgentError> {
        let stage = self.shared.stage.take_over(Operation::Replacement).await?;
        let choice = self.model_choice();
        let start = |manager: &mut SessionManager| {
            manager.start_new(parent_session)?;
            self.choose_in(manager, &choice?)
        };
        let switched = self.switch_on(&stage, SwitchReason::New, None, start).await;
        self.end(stage);
        switched
    }

    /// Chooses the model and the thinking level for a session that does not have them already.
    pub(crate) fn choose_in(
        &self,
        manager: &mut SessionManager,
        choice: &ModelChoice,
    ) -> Result<(), AgentError> {
        let has = self.model_choice_in(&manager.build_session_context(At::Leaf)?);
        if let Some((provider, id)) = choice.model.as_deref().and_then(|name| name.split_once('/'))
            && choice.model != has.model
        {
            manager.append_model_change(provider, id, None)?;
        }
        if choice.thinking != has.thinking {
            manager.append_thinking_level_change(Some(choice.thinking.name()))?;
        }
        Ok(())
    }

    /// Goes over to the session in the file at `path`. Answers whether a hook ended it.
    ///
    /// # Errors
    /// If there is no such file or it could not be opened; one is where one was, and a turn goes on.
    pub async fn switch_session(&self, path: &Path) -> Result<bool, AgentError> {
        let open = || Ok(SessionManager::open_in(path, None, &self.config().cwd)?);
        self.switch_session_with(path, open).await
    }

    /// As [`AgentSession::switch_session`]; `open` opens the session.
    ///
    /// # Errors
    /// Those of `open`; and if there is no such file.
    pub async fn switch_session_with(
        &self,
        path: &Path,
        open: impl Fn() -> Result<SessionManager, AgentError>,
    ) -> Result<bool, AgentError> {
        // Opening a path where nothing is would begin a session there.
        std::fs::metadata(path).map_err(|source| OpenError::Io { path: path.into(), source })?;
        let mut other = open()?;
        let stage = self.shared.stage.take_over(Operation::Replacement).await?;
        if self.session_file().as_deref() == other.get_session_file() {
            // A turn may have added to it.
            other = open()?;
        }
        let target = path.to_string_lossy().into_owned();
        let switch = |manager: &mut SessionManager| {
            *manager = other;
            Ok(())
        };
        let switched = self.switch_on(&stage, SwitchReason::Resume, Some(&target), switch).await;
        self.end(stage);
        switched
    }

    async fn switch_on(
        &self,
        stage: &OnStage,
        reason: SwitchReason,
        target: Option<&str>,
        go: impl FnOnce(&mut SessionManager) -> Result<(), AgentError>,
    ) -> Result<bool, AgentError> {
        if !self.may_switch(stage, reason, target).await {
            return Ok(true);
        }
        self.go_over(stage, reason, go).await?;
        Ok(false)
    }

    /// What the hooks say before the session is left: false if one of them, or the user, ended it.
    pub(crate) async fn may_switch(
        &self,
        stage: &OnStage,
        reason: SwitchReason,
        target: Option<&str>,
    ) -> bool {
        let event = HookEvent::SessionBeforeSwitch;
        for hook in self.hooks(event) {
            let answering = hook.session_before_switch(reason, target);
            let answer = self.ask_until(&stage.abort, &*hook, event, answering).await;
            if stage.abort.is_cancelled() || answer.is_some_and(|answer| answer.cancel) {
                return false;
            }
        }
        true
    }

    /// Goes over to another session, which the hooks had nothing against, and tells them that it is done.
    pub(crate) async fn go_over(
        &self,
        stage: &OnStage,
        reason: SwitchReason,
        go: impl FnOnce(&mut SessionManager) -> Result<(), AgentError>,
    ) -> Result<(), AgentError> {
        let previous = self.session_file().map(|path| path.to_string_lossy().into_owned());
        self.leave(go)?;
        self.emit_replaced(previous.clone());
        for hook in self.hooks(HookEvent::SessionSwitch) {
            let answering = hook.session_switch(reason, previous.as_deref(), stage.abort.clone());
            self.ask(&*hook, HookEvent::SessionSwitch, answering).await;
        }
        Ok(())
    }

    /// Goes over to another session. What was appended to this one is forced to disk first, and what
    /// waits to be said in it does not follow.
    fn leave(
        &self,
        go: impl FnOnce(&mut SessionManager) -> Result<(), AgentError>,
    ) -> Result<(), AgentError> {
        let chosen = self.choice_if_heard();
        let mut manager = self.manager();
        if let Err(error) = manager.sync() {
            self.emit(AgentEvent::Notice { message: error.to_string() });
        }
        go(&mut manager)?;
        self.reconfigure(&manager);
        self.titles().enter(&manager, manager.message_count() == 0);
        drop(manager);
        self.forget_count();
        self.forget_seen();
        self.clear_queue();
        self.tell_choice(chosen, ModelSource::Restore);
        Ok(())
    }

    fn emit_replaced(&self, previous_session_file: Option<String>) {
        let (session_id, file) = {
            let manager = self.manager();
            (manager.get_session_id().to_owned(), manager.get_session_file().map(Path::to_owned))
        };
        let session_file = file.map(|path| path.to_string_lossy().into_owned());
        self.emit(AgentEvent::SessionReplaced { session_id, session_file, previous_session_file });
    }
}

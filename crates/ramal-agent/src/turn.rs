//! Working on a prompt: the model is asked, its calls are run, until it has nothing more to do.

use std::sync::Arc;

use ramal_model::{Answer, Endpoint, Event, ModelError, Outcome, Request, StopReason, ToolSpec};
use ramal_session::json::quote;
use ramal_session::{At, EntryId, time};
use tokio_util::sync::CancellationToken;

use crate::AgentSession;
use crate::error::AgentError;
use crate::events::{AgentEvent, CompactionReason};
use crate::operation::{OnStage, Operation};
use crate::queue::{Prompt, QueueMode};
use crate::tools::{Call, Tool, ToolResult};

/// What a turn needs from one request to the next.
struct Work<'a> {
    session: &'a AgentSession,
    abort: &'a CancellationToken,
    /// The last entry of this turn: what it appends hangs there, whatever else happens.
    tip: Option<EntryId>,
    /// Messages that came of this prompt.
    messages: Vec<String>,
    /// The conversation was compacted because it did not fit; it is not done twice.
    has_overflowed: bool,
}

impl AgentSession {
    /// Says something to the model. Answers when the message is in the log and the model is being
    /// asked; [`AgentSession::wait_for_idle`] waits for the end.
    ///
    /// # Errors
    /// If a turn runs already (see [`AgentSession::steer`], [`AgentSession::follow_up`]), no model can
    /// be asked, or the message could not be stored.
    pub fn prompt(&self, prompt: Prompt) -> Result<EntryId, AgentError> {
        self.prompt_on(self.shared.stage.enter(Operation::Turn)?, prompt)
    }

    /// Ends the turn that runs, if one does, and says something to the model. Answers as
    /// [`AgentSession::prompt`] does.
    ///
    /// # Errors
    /// As for [`AgentSession::prompt`]; and if something else than a turn runs.
    pub async fn abort_and_prompt(&self, prompt: Prompt) -> Result<EntryId, AgentError> {
        self.prompt_on(self.shared.stage.take_over(Operation::Turn).await?, prompt)
    }

    fn prompt_on(&self, stage: OnStage, prompt: Prompt) -> Result<EntryId, AgentError> {
        // A model that cannot be asked is told before anything is stored.
        self.endpoint()?;
        let message = prompt.to_message(time::now());
        let id = self.manager().append_message(&message)?;
        let session = self.clone();
        let first = (message, id.clone());
        tokio::spawn(async move { session.run(stage, first).await });
        Ok(id)
    }

    /// Says something to the model and waits until it has nothing more to do.
    ///
    /// # Errors
    /// As for [`AgentSession::prompt`].
    pub async fn prompt_and_wait(&self, prompt: Prompt) -> Result<EntryId, AgentError> {
        let id = self.prompt(prompt)?;
        self.wait_for_idle().await;
        Ok(id)
    }

    /// Says something as soon as the model has finished what it is at: before the calls that it has
    /// not run yet. Without a turn it is a prompt.
    ///
    /// # Errors
    /// As for [`AgentSession::prompt`].
    pub fn steer(&self, prompt: Prompt) -> Result<(), AgentError> {
        if self.running() != Some(Operation::Turn) {
            return self.prompt(prompt).map(drop);
        }
        self.queue().steering.push_back(prompt);
        self.emit_queue();
        Ok(())
    }

    /// Says something when the model has nothing more to do. Without a turn it is a prompt.
    ///
    /// # Errors
    /// As for [`AgentSession::prompt`].
    pub fn follow_up(&self, prompt: Prompt) -> Result<(), AgentError> {
        if self.running() != Some(Operation::Turn) {
            return self.prompt(prompt).map(drop);
        }
        self.queue().follow_up.push_back(prompt);
        self.emit_queue();
        Ok(())
    }

    /// Takes back what waits to be said: what steers, and what follows.
    pub fn clear_queue(&self) -> (Vec<Prompt>, Vec<Prompt>) {
        let taken = {
            let mut queue = self.queue();
            (queue.steering.drain(..).collect(), queue.follow_up.drain(..).collect())
        };
        self.emit_queue();
        taken
    }

    /// How many messages wait to be said.
    pub fn pending_messages(&self) -> usize {
        let queue = self.queue();
        queue.steering.len() + queue.follow_up.len()
    }

    /// How many of the waiting messages are said at once: of those that steer, and of those that follow.
    pub fn queue_modes(&self) -> (QueueMode, QueueMode) {
        let queue = self.queue();
        (queue.steering_mode, queue.follow_up_mode)
    }

    /// Says how many of the messages that steer are said at once.
    pub fn set_steering_mode(&self, mode: QueueMode) {
        self.queue().steering_mode = mode;
    }

    /// Says how many of the messages that follow are said at once.
    pub fn set_follow_up_mode(&self, mode: QueueMode) {
        self.queue().follow_up_mode = mode;
    }

    fn emit_queue(&self) {
        let (steering, follow_up) = self.queue().texts();
        self.emit(AgentEvent::QueueUpdate { steering, follow_up });
    }

    async fn run(&self, stage: OnStage, (message, id): (String, EntryId)) {
        self.emit(AgentEvent::AgentStart);
        self.emit(AgentEvent::MessageStart { message: message.clone() });
        self.emit(AgentEvent::MessageEnd { message: message.clone(), entry_id: id.to_string() });
        let mut work = Work {
            session: self,
            abort: &stage.abort,
            tip: Some(id),
            messages: vec![message],
            has_overflowed: false,
        };
        if let Err(error) = work.run().await {
            self.emit(AgentEvent::Notice { message: error.to_string() });
        }
        let messages = std::mem::take(&mut work.messages);
        if let Err(error) = self.manager().sync() {
            self.emit(AgentEvent::Notice { message: error.to_string() });
        }
        // The end is told once the next prompt is possible.
        drop(stage);
        self.emit(AgentEvent::AgentEnd { messages });
    }
}

impl Work<'_> {
    async fn run(&mut self) -> Result<(), AgentError> {
        loop {
            let goes_on = self.turn().await?;
            if self.abort.is_cancelled() {
                return Ok(());
            }
            let mut said = self.session.queue().next_steering();
            if said.is_empty() && !goes_on {
                said = self.session.queue().next_follow_up();
            }
            if said.is_empty() && !goes_on {
                return Ok(());
            }
            if !said.is_empty() {
                self.session.emit_queue();
            }
            for prompt in said {
                self.append(prompt.to_message(time::now()))?;
            }
        }
    }

    /// Asks the model once and runs what it calls. Answers whether the model has to be asked again.
    async fn turn(&mut self) -> Result<bool, AgentError> {
        self.session.emit(AgentEvent::TurnStart);
        let Some((answer, message)) = self.answer().await? else { return Ok(true) };
        let calls = calls(&message);
        let mut tool_results = Vec::new();
        let wants_tools =
            answer.stop == StopReason::ToolUse || (answer.stop == StopReason::Stop && !calls.is_empty());
        if wants_tools && !self.abort.is_cancelled() {
            for (number, call) in calls.iter().enumerate() {
                let result = if self.abort.is_cancelled() {
                    ToolResult::error("The call was not run: the user ended the turn.")
                } else if number > 0 && !self.session.queue().steering.is_empty() {
                    ToolResult::error("The call was not run: the user had something to say first.")
                } else {
                    self.run_call(call).await
                };
                let message = self.tell_result(call, result).await;
                tool_results.push(self.append(message)?);
            }
        }
        let goes_on = !tool_results.is_empty() && !self.abort.is_cancelled();
        self.session.emit(AgentEvent::TurnEnd { message, tool_results });
        if matches!(answer.stop, StopReason::Stop | StopReason::ToolUse) {
            self.session.compact_if_needed(self.abort, CompactionReason::Threshold).await;
            self.tip = self.session.leaf_id()?;
        }
        Ok(goes_on)
    }

    /// An answer of the model, stored. None says that the conversation was made shorter, and that the
    /// model has to be asked again.
    async fn answer(&mut self) -> Result<Option<(Answer, String)>, AgentError> {
        let endpoint = self.session.endpoint()?;
        let retry = self.session.retry();
        let mut attempt = 0;
        loop {
            let outcome = self.ask(&endpoint).await?;
            let error = outcome.result.err();
            let before = self.tip.clone();
            let message = outcome.answer.to_message_now(&endpoint);
            let has_said_something = !outcome.answer.is_empty();
            let wait = error.as_ref().and_then(|error| retry.wait(attempt, error));
            let overflows = matches!(error, Some(ModelError::ContextTooLong { .. })) && !self.has_overflowed;
            if has_said_something || (wait.is_none() && !overflows) {
                self.store(message.clone())?;
            } else {
                self.session
                    .emit(AgentEvent::MessageEnd { message: message.clone(), entry_id: String::new() });
            }
            let Some(error) = error else {
                if let Some(id) = &self.tip
                    && outcome.answer.usage.total() > 0
                {
                    self.session.note_count(id.clone());
                }
                if attempt > 0 {
                    self.session.emit(AgentEvent::AutoRetryEnd { success: true, attempt, final_error: None });
                }
                return Ok(Some((outcome.answer, message)));
            };
            if overflows {
                self.has_overflowed = true;
                self.back_to(before)?;
                if self.session.compact_if_needed(self.abort, CompactionReason::Overflow).await {
                    self.tip = self.session.leaf_id()?;
                    return Ok(None);
                }
                return Ok(Some((outcome.answer, message)));
            }
            let Some(wait) = wait else {
                if attempt > 0 {
                    let final_error = Some(error.to_string());
                    self.session.emit(AgentEvent::AutoRetryEnd { success: false, attempt, final_error });
                }
                return Ok(Some((outcome.answer, message)));
            };
            attempt += 1;
            // What a failed attempt said stays in the tree; the next one is its sibling.
            self.back_to(before)?;
            self.session.emit(AgentEvent::AutoRetryStart {
                attempt,
                max_attempts: retry.max_retries,
                delay_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
                error_message: error.to_string(),
            });
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.given_up() => {
                    let final_error = Some(error.to_string());
                    self.session.emit(AgentEvent::AutoRetryEnd { success: false, attempt, final_error });
                    return Ok(Some((Answer { stop: StopReason::Aborted, ..Answer::default() }, message)));
                }
            }
        }
    }

    /// The user does not want to wait for another attempt.
    async fn given_up(&self) {
        tokio::select! {
            () = self.abort.cancelled() => {}
            () = self.session.shared.switches.end_retry.notified() => {}
        }
    }

    /// Sends the conversation and tells what streams back.
    async fn ask(&self, endpoint: &Endpoint) -> Result<Outcome, AgentError> {
        let request = self.request().await?;
        let mut stream = self.session.config().model.stream(endpoint, &request, self.abort.clone());
        let mut has_begun = false;
        while let Some(event) = stream.next().await {
            let message = stream.answer().to_message_now(endpoint);
            if !has_begun {
                has_begun = true;
                self.session.emit(AgentEvent::MessageStart { message: message.clone() });
            }
            let block = match &event {
                Event::BlockEnd { block } => stream.answer().blocks.get(*block).cloned(),
                _ => None,
            };
            self.session.emit(AgentEvent::MessageUpdate { message, event, block });
        }
        let outcome = stream.outcome().await;
        if !has_begun {
            let message = outcome.answer.to_message_now(endpoint);
            self.session.emit(AgentEvent::MessageStart { message });
        }
        Ok(outcome)
    }

    async fn request(&self) -> Result<Request, AgentError> {
        let (mut messages, session_id) = {
            let manager = self.session.manager();
            let context = manager.build_session_context(match &self.tip {
                Some(tip) => At::Entry(tip),
                None => At::BeforeFirst,
            })?;
            let messages: Result<Vec<String>, _> = context.model_messages().collect();
            (messages?, manager.get_session_id().to_owned())
        };
        for hook in self.session.hooks() {
            let answering = hook.context(&messages);
            if let Some(Some(others)) = self.session.ask_until(self.abort, &*hook, "context", answering).await
            {
                messages = others;
            }
        }
        let choice = self.session.model_choice()?;
        let config = self.session.config();
        Ok(Request {
            system: config.system.clone(),
            messages,
            tools: config.tools.iter().map(|tool| tool.spec()).collect::<Vec<ToolSpec>>(),
            thinking: choice.thinking,
            max_output: None,
            session_id: Some(session_id),
        })
    }

    async fn run_call(&self, call: &ToolUse) -> ToolResult {
        let session = self.session;
        let tool_call_id = call.id.clone();
        session.emit(AgentEvent::ToolExecutionStart {
            tool_call_id: tool_call_id.clone(),
            tool_name: call.name.clone(),
            args: call.arguments.clone(),
        });
        let tool = session.config().tools.iter().find(|tool| tool.spec().name == call.name).cloned();
        let result = match tool {
            None => ToolResult::error(format!("There is no tool called {}.", call.name)),
            Some(tool) => self.run_tool(&tool, call).await,
        };
        session.emit(AgentEvent::ToolExecutionEnd {
            tool_call_id,
            tool_name: call.name.clone(),
            result: format!("{{\"content\":{}}}", result.content_json()),
            is_error: result.is_error,
        });
        result
    }

    async fn run_tool(&self, tool: &Arc<dyn Tool>, call: &ToolUse) -> ToolResult {
        let session = self.session;
        for hook in session.hooks() {
            let answering = hook.tool_call(&call.name, &call.arguments);
            let answer = session.ask_until(self.abort, &*hook, "tool_call", answering).await;
            if let Some(why) = answer.and_then(|answer| answer.block) {
                return ToolResult::error(format!("The call was not run: {why}"));
            }
        }
        let cwd = session.config().cwd.clone();
        let access = tool.access(&call.arguments, &cwd);
        let permitted = tokio::select! {
            biased;
            () = self.abort.cancelled() => return ToolResult::error("The call was not run: the user ended the turn."),
            permitted = session.config().permit.may_run(&call.name, &call.arguments, &access) => permitted,
        };
        if !permitted {
            return ToolResult::error("The call was not run: it was not allowed.");
        }
        let overflow = session.session_file().map(|path| path.with_extension("outputs"));
        let update = |text: String| {
            session.emit(AgentEvent::ToolExecutionUpdate {
                tool_call_id: call.id.clone(),
                tool_name: call.name.clone(),
                args: call.arguments.clone(),
                partial_result: format!("{{\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}", quote(&text)),
            });
        };
        tool.run(Call {
            arguments: &call.arguments,
            cwd: &cwd,
            overflow: overflow.as_deref(),
            abort: self.abort.clone(),
            update: &update,
        })
        .await
    }

    /// The result as a message; hooks may put another in its place.
    async fn tell_result(&self, call: &ToolUse, result: ToolResult) -> String {
        let mut message = result.to_message(&call.id, &call.name, time::now());
        for hook in self.session.hooks() {
            let answering = hook.tool_result(&call.name, &message);
            if let Some(Some(other)) = self.session.ask(&*hook, "tool_result", answering).await {
                message = other;
            }
        }
        message
    }

    /// Appends a message of this turn where the turn stands, and tells it.
    fn append(&mut self, message: String) -> Result<String, AgentError> {
        self.session.emit(AgentEvent::MessageStart { message: message.clone() });
        self.store(message)
    }

    /// As [`Work::append`], for a message whose beginning has been told.
    fn store(&mut self, message: String) -> Result<String, AgentError> {
        let id = {
            let mut manager = self.session.manager();
            self.stand_at_tip(&mut manager)?;
            manager.append_message(&message)?
        };
        self.session.emit(AgentEvent::MessageEnd { message: message.clone(), entry_id: id.to_string() });
        self.tip = Some(id);
        self.messages.push(message.clone());
        Ok(message)
    }

    /// A turn appends to its own tip. What hooks appended behind it since belongs to the same path.
    fn stand_at_tip(&self, manager: &mut ramal_session::SessionManager) -> Result<(), AgentError> {
        let Some(tip) = self.tip.as_deref() else { return Ok(()) };
        let mut at = manager.get_leaf_entry();
        while let Some(entry) = at {
            if entry.id()? == *tip {
                return Ok(());
            }
            if entry.kind().is_conversation() {
                break;
            }
            at = entry.parent();
        }
        Ok(manager.branch(tip)?)
    }

    /// Goes back to before a failed attempt.
    fn back_to(&mut self, tip: Option<EntryId>) -> Result<(), AgentError> {
        let mut manager = self.session.manager();
        match &tip {
            Some(id) => manager.branch(id)?,
            None => manager.reset_leaf(),
        }
        drop(manager);
        self.tip = tip;
        Ok(())
    }
}

/// A call that a model made.
struct ToolUse {
    id: String,
    name: String,
    arguments: String,
}

/// The calls in a stored answer: those that are whole.
fn calls(message: &str) -> Vec<ToolUse> {
    let message = ramal_session::Message::new(message);
    let calls = message.tool_calls();
    calls
        .map(|call| ToolUse {
            id: call.id.into_owned(),
            name: call.name.into_owned(),
            arguments: call.arguments.to_owned(),
        })
        .collect()
}

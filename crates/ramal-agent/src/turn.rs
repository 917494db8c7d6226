//! Working on a prompt: the model is asked, its calls are run, until it has nothing more to do.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use ramal_model::{Answer, Endpoint, Event, ModelError, Outcome, Request, StopReason, ToolSpec};
use ramal_session::json::{is_valid, quote};
use ramal_session::{EntryId, Message, Role, SessionManager, time};
use tokio_util::sync::CancellationToken;

use crate::AgentSession;
use crate::error::AgentError;
use crate::events::{AgentEvent, CompactionReason};
use crate::operation::{OnStage, Operation};
use crate::queue::{Prompt, Queue, QueueMode};
use crate::tools::{Call, Tool, ToolResult, arguments};

/// What a turn needs from one request to the next.
struct Work<'a> {
    session: &'a AgentSession,
    abort: CancellationToken,
    /// The last entry of this turn: what it appends hangs there, whatever else happens.
    tip: Option<EntryId>,
    /// Messages that came of this prompt.
    messages: Vec<String>,
    /// The conversation was compacted because it did not fit; it is not done twice.
    has_overflowed: bool,
}

/// How a request and the calls that came of it ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// The model has to see the results of its calls.
    GoesOn,
    /// The model has nothing more to do.
    Done,
    /// The model failed, or the user ended it: what waits to be said goes on waiting.
    GivenUp,
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
        self.begin(stage, vec![prompt])
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
    /// not run yet. While something else than a turn runs it is said after that (contract, section 6);
    /// while nothing runs it is a prompt.
    ///
    /// # Errors
    /// As for [`AgentSession::prompt`].
    pub fn steer(&self, prompt: Prompt) -> Result<(), AgentError> {
        self.say_later(prompt, |queue| &mut queue.steering)
    }

    /// Says something when the model has nothing more to do. While something else than a turn runs it
    /// is said after that (contract, section 6); while nothing runs it is a prompt.
    ///
    /// # Errors
    /// As for [`AgentSession::prompt`].
    pub fn follow_up(&self, prompt: Prompt) -> Result<(), AgentError> {
        self.say_later(prompt, |queue| &mut queue.follow_up)
    }

    fn say_later(
        &self,
        prompt: Prompt,
        place: impl Fn(&mut Queue) -> &mut VecDeque<Prompt>,
    ) -> Result<(), AgentError> {
        loop {
            {
                // Nothing ends while the queue is locked, so that nothing is left waiting.
                let mut queue = self.queue();
                if self.running().is_some() {
                    place(&mut queue).push_back(prompt);
                    drop(queue);
                    self.emit_queue();
                    return Ok(());
                }
            }
            match self.prompt(prompt.clone()) {
                Err(AgentError::Busy { .. }) => {}
                other => return other.map(drop),
            }
        }
    }

    /// Ends an operation that was no turn. What the user said meanwhile is sent now.
    pub(crate) fn end(&self, mut stage: OnStage) {
        let is_waited_for = {
            let mut queue = self.queue();
            self.store_aside(&mut queue);
            stage.leave();
            !queue.is_empty()
        };
        drop(stage);
        if is_waited_for && let Err(error) = self.send_waiting() {
            self.emit(AgentEvent::Notice { message: error.to_string() });
        }
    }

    /// Stores a message that is no part of a turn, such as that of a command of the user's: now, or at the
    /// end of what runs, for within a turn it would stand between a call and its result. It is let go if
    /// the session `session_id` is left meanwhile.
    ///
    /// # Errors
    /// If it could not be appended now.
    pub fn append_aside(&self, session_id: &str, message: String) -> Result<(), AgentError> {
        let mut queue = self.queue();
        if self.running().is_some() {
            queue.aside.push((session_id.to_owned(), message));
            return Ok(());
        }
        let mut manager = self.manager();
        if manager.get_session_id() == session_id {
            manager.append_message(&message)?;
        }
        Ok(())
    }

    fn store_aside(&self, queue: &mut Queue) {
        for (session_id, message) in std::mem::take(&mut queue.aside) {
            let mut manager = self.manager();
            if manager.get_session_id() != session_id {
                continue;
            }
            let stored = manager.append_message(&message);
            drop(manager);
            if let Err(error) = stored {
                self.emit(AgentEvent::Notice { message: error.to_string() });
            }
        }
    }

    fn send_waiting(&self) -> Result<(), AgentError> {
        // Whoever runs by now takes care of what waits.
        let Ok(stage) = self.shared.stage.enter(Operation::Turn) else { return Ok(()) };
        self.endpoint()?;
        let said = self.queue().next();
        if !said.is_empty() {
            self.emit_queue();
            self.begin(stage, said)?;
        }
        Ok(())
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

    pub(crate) fn emit_queue(&self) {
        let (steering, follow_up) = self.queue().texts();
        self.emit(AgentEvent::QueueUpdate { steering, follow_up });
    }

    /// Stores what is said, and begins to work on it. Answers the first message's id.
    fn begin(&self, stage: OnStage, prompts: Vec<Prompt>) -> Result<EntryId, AgentError> {
        let mut said = Vec::new();
        {
            let mut manager = self.manager();
            for prompt in prompts {
                let message = prompt.to_message(time::now());
                let id = manager.append_message(&message)?;
                said.push((message, id));
            }
        }
        let first = said.first().map(|(_, id)| id.clone()).unwrap_or_else(|| "".into());
        let session = self.clone();
        tokio::spawn(async move { session.run(stage, said).await });
        Ok(first)
    }

    async fn run(&self, mut stage: OnStage, said: Vec<(String, EntryId)>) {
        self.emit(AgentEvent::AgentStart);
        let mut work = Work {
            session: self,
            abort: stage.abort.clone(),
            tip: None,
            messages: Vec::new(),
            has_overflowed: false,
        };
        for (message, id) in said {
            self.emit(AgentEvent::MessageStart { message: message.clone() });
            work.told(message, id);
        }
        let mut ended = work.run().await;
        loop {
            if let Err(error) = &ended {
                self.emit(AgentEvent::Notice { message: error.to_string() });
            }
            if let Err(error) = self.manager().sync() {
                self.emit(AgentEvent::Notice { message: error.to_string() });
            }
            let gives_up = !matches!(ended, Ok(Turn::Done | Turn::GoesOn));
            if self.leaves(&mut stage, gives_up, &mut work.messages) {
                return;
            }
            ended = work.go_on().await;
        }
    }

    /// Ends a turn, unless something was said meanwhile. The end is told when the next prompt is
    /// possible, and before anything is told of that.
    fn leaves(&self, stage: &mut OnStage, gives_up: bool, messages: &mut Vec<String>) -> bool {
        let mut queue = self.queue();
        if !gives_up && !stage.abort.is_cancelled() && !queue.is_empty() {
            return false;
        }
        self.store_aside(&mut queue);
        self.emit_after(|| stage.leave(), AgentEvent::AgentEnd { messages: std::mem::take(messages) });
        true
    }
}

impl Work<'_> {
    async fn run(&mut self) -> Result<Turn, AgentError> {
        loop {
            let turn = self.turn().await?;
            if turn == Turn::GivenUp || self.abort.is_cancelled() {
                return Ok(Turn::GivenUp);
            }
            if !self.say_what_waits(turn)? && turn == Turn::Done {
                return Ok(turn);
            }
        }
    }

    /// Goes on with what was said since the model had nothing more to do.
    async fn go_on(&mut self) -> Result<Turn, AgentError> {
        if self.say_what_waits(Turn::Done)? { self.run().await } else { Ok(Turn::Done) }
    }

    /// Says what waits; what follows only when the model is done. Answers whether anything did.
    fn say_what_waits(&mut self, turn: Turn) -> Result<bool, AgentError> {
        let said = match turn {
            Turn::Done => self.session.queue().next(),
            _ => self.session.queue().next_steering(),
        };
        if said.is_empty() {
            return Ok(false);
        }
        self.session.emit_queue();
        for prompt in said {
            self.append(prompt.to_message(time::now()), false)?;
        }
        Ok(true)
    }

    /// Asks the model once and runs what it calls.
    async fn turn(&mut self) -> Result<Turn, AgentError> {
        self.session.emit(AgentEvent::TurnStart);
        let (answer, message) = self.answer().await?;
        let calls = calls(&message);
        let mut tool_results = Vec::new();
        let wants_tools =
            answer.stop == StopReason::ToolUse || (answer.stop == StopReason::Stop && !calls.is_empty());
        if wants_tools && !self.abort.is_cancelled() {
            for call in &calls {
                let result = if self.abort.is_cancelled() {
                    ToolResult::error("The call was not run: the user ended the turn.")
                } else if !self.session.queue().steering.is_empty() {
                    ToolResult::error("The call was not run: the user had something to say first.")
                } else {
                    self.run_call(call).await
                };
                let message = self.tell_result(call, result).await;
                self.append(message.clone(), false)?;
                tool_results.push(message);
            }
        }
        let turn = match answer.stop {
            _ if self.abort.is_cancelled() => Turn::GivenUp,
            StopReason::Error | StopReason::Aborted => Turn::GivenUp,
            _ if tool_results.is_empty() => Turn::Done,
            _ => Turn::GoesOn,
        };
        self.session.emit(AgentEvent::TurnEnd { message, tool_results });
        if turn != Turn::GivenUp && answer.stop != StopReason::Length {
            self.compact(CompactionReason::Threshold).await?;
        }
        Ok(turn)
    }

    /// Makes the conversation up to the tip shorter, if that has to be. Answers whether it did.
    async fn compact(&mut self, reason: CompactionReason) -> Result<bool, AgentError> {
        self.stand()?;
        let has_compacted = self.session.compact_if_needed(&self.abort, reason).await;
        if has_compacted {
            self.tip = self.session.leaf_id()?;
        }
        Ok(has_compacted)
    }

    /// An answer of the model, stored.
    async fn answer(&mut self) -> Result<(Answer, String), AgentError> {
        let mut attempt = 0;
        loop {
            let endpoint = self.session.endpoint()?;
            self.stand()?;
            let (outcome, has_begun) = self.ask(&endpoint).await?;
            let answer = outcome.answer;
            let message = answer.to_message_now(&endpoint);
            let Err(error) = outcome.result else {
                let id = self.append(message.clone(), has_begun)?;
                if answer.stop != StopReason::Aborted && answer.usage.total() > 0 {
                    self.session.note_count(id);
                }
                self.end_retries(attempt, answer.error.clone());
                return Ok((answer, message));
            };
            // What a failed attempt said stays in the tree; the next one is its sibling. What hooks
            // appended meanwhile stands before both.
            self.stand()?;
            let before = self.tip.clone();
            let stored = match answer.is_empty() {
                false => Some(self.append(message.clone(), has_begun)?),
                true => None,
            };
            if self.can_go_on_after(&error, before, &mut attempt).await? {
                if stored.is_none() && has_begun {
                    let entry_id = String::new();
                    self.session.emit(AgentEvent::MessageEnd { message, entry_id });
                }
                continue;
            }
            match stored {
                Some(id) => self.back_to(Some(id))?,
                None => drop(self.append(message.clone(), has_begun)?),
            }
            self.end_retries(attempt, Some(error.to_string()));
            return Ok((answer, message));
        }
    }

    fn end_retries(&self, attempt: u32, final_error: Option<String>) {
        if attempt > 0 {
            let success = final_error.is_none();
            self.session.emit(AgentEvent::AutoRetryEnd { success, attempt, final_error });
        }
    }

    /// Prepares for asking once more after an error, if that makes sense: makes the conversation
    /// shorter, or waits. Stands before the failed attempt then.
    async fn can_go_on_after(
        &mut self,
        error: &ModelError,
        before: Option<EntryId>,
        attempt: &mut u32,
    ) -> Result<bool, AgentError> {
        if matches!(error, ModelError::ContextTooLong { .. }) && !self.has_overflowed {
            self.has_overflowed = true;
            self.back_to(before)?;
            return self.compact(CompactionReason::Overflow).await;
        }
        let Some(wait) = self.session.retry().wait(*attempt, error) else { return Ok(false) };
        let goes_on = self.wait_for_retry(wait, attempt, error).await;
        if goes_on {
            self.back_to(before)?;
        }
        Ok(goes_on)
    }

    /// Tells that the model will be asked again, and waits; false if the user does not want to.
    async fn wait_for_retry(&self, wait: Duration, attempt: &mut u32, error: &ModelError) -> bool {
        let mut given_up = std::pin::pin!(self.given_up());
        // From here on it is heard: what is told next may be the reason for it.
        if given_up.as_mut().now_or_never().is_some() {
            return false;
        }
        *attempt += 1;
        self.session.emit(AgentEvent::AutoRetryStart {
            attempt: *attempt,
            max_attempts: self.session.config().retry.max_retries,
            delay_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            error_message: error.to_string(),
        });
        tokio::select! {
            biased;
            () = given_up => false,
            () = tokio::time::sleep(wait) => true,
        }
    }

    /// The user does not want to wait for another attempt.
    async fn given_up(&self) {
        tokio::select! {
            () = self.abort.cancelled() => {}
            () = self.session.shared.switches.end_retry.notified() => {}
        }
    }

    /// Sends the conversation and tells what streams back. Answers whether the beginning of an answer
    /// was told.
    async fn ask(&self, endpoint: &Endpoint) -> Result<(Outcome, bool), AgentError> {
        let request = self.request().await?;
        let mut stream = self.session.config().model.stream(endpoint, &request, self.abort.clone());
        let mut has_begun = false;
        while let Some(event) = stream.next().await {
            if !self.session.is_heard() {
                // The whole answer so far is written out for each event: not if nobody reads it.
                has_begun = true;
                continue;
            }
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
        Ok((stream.outcome().await, has_begun))
    }

    async fn request(&self) -> Result<Request, AgentError> {
        let mut messages = self.session.messages_at(self.tip.as_deref())?;
        let session_id = self.session.manager().get_session_id().to_owned();
        for hook in self.session.hooks() {
            let answering = hook.context(&messages);
            let answer = self.session.ask_until(&self.abort, &*hook, "context", answering).await;
            let Some(Some(others)) = answer else { continue };
            if others.iter().all(|other| is_object(other)) {
                messages = others;
            } else {
                self.session.hook_failed(&*hook, "context", "a message is no JSON object");
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
        // Nobody need be asked about what cannot be run anyway.
        if let Some(wrong) = arguments::wrong_as_a_whole(&call.arguments) {
            return ToolResult::error(wrong);
        }
        for hook in session.hooks() {
            let answering = hook.tool_call(&call.name, &call.arguments);
            let answer = session.ask_until(&self.abort, &*hook, "tool_call", answering).await;
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
        let running = tool.run(Call {
            arguments: &call.arguments,
            cwd: &cwd,
            overflow: overflow.as_deref(),
            abort: self.abort.clone(),
            update: &update,
        });
        // A fault in a tool must not take the turn with it.
        let result = AssertUnwindSafe(running).catch_unwind().await;
        result.unwrap_or_else(|_| ToolResult::error("The tool broke off by a fault of its own."))
    }

    /// The result as a message; hooks may put another in its place.
    async fn tell_result(&self, call: &ToolUse, result: ToolResult) -> String {
        let mut message = result.to_message(&call.id, &call.name, time::now());
        for hook in self.session.hooks() {
            let answering = hook.tool_result(&call.name, &message);
            let answer = self.session.ask(&*hook, "tool_result", answering).await;
            let Some(Some(other)) = answer else { continue };
            if is_result_of(&other, call) {
                message = other;
            } else {
                self.session.hook_failed(&*hook, "tool_result", "what it answered is no result of the call");
            }
        }
        message
    }

    /// Appends a message of this turn where the turn stands, and tells it; its beginning may have been
    /// told.
    fn append(&mut self, message: String, has_begun: bool) -> Result<EntryId, AgentError> {
        let id = {
            let mut manager = self.session.manager();
            self.stand_at_tip(&mut manager)?;
            manager.append_message(&message)?
        };
        if !has_begun {
            self.session.emit(AgentEvent::MessageStart { message: message.clone() });
        }
        self.told(message, id.clone());
        Ok(id)
    }

    /// A message of this turn is in the log.
    fn told(&mut self, message: String, id: EntryId) {
        self.session.emit(AgentEvent::MessageEnd { message: message.clone(), entry_id: id.to_string() });
        self.tip = Some(id);
        self.messages.push(message);
    }

    fn stand(&mut self) -> Result<(), AgentError> {
        let session = self.session;
        self.stand_at_tip(&mut session.manager())
    }

    /// A turn appends to its own tip. What was appended behind it since, by hooks or by commands that
    /// do not move, belongs to the same path; from anywhere else the leaf is brought back.
    fn stand_at_tip(&mut self, manager: &mut SessionManager) -> Result<(), AgentError> {
        let Some(tip) = self.tip.as_deref() else { return Ok(()) };
        let entry = manager.get_entry(tip);
        let mut above = std::iter::successors(manager.get_leaf_entry(), |entry| entry.parent());
        if entry.is_some() && above.any(|above| Some(above) == entry) {
            self.tip = manager.get_leaf_id()?;
            return Ok(());
        }
        Ok(manager.branch(tip)?)
    }

    /// Goes to before a failed attempt, or back to it.
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

fn is_object(json: &str) -> bool {
    json.trim_start().starts_with('{') && is_valid(json)
}

/// Whether a message can stand in the log as the result of a call.
fn is_result_of(message: &str, call: &ToolUse) -> bool {
    is_object(message) && {
        let message = Message::new(message);
        message.role() == Role::ToolResult && message.get_str("toolCallId").is_some_and(|id| id == call.id)
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
    let message = Message::new(message);
    let calls = message.tool_calls();
    calls
        .map(|call| ToolUse {
            id: call.id.into_owned(),
            name: call.name.into_owned(),
            arguments: call.arguments.to_owned(),
        })
        .collect()
}

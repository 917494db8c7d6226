//! Working on a prompt: the model is asked, its calls are run, until it has nothing more to do.

mod attempt;
mod beginning;
mod call;

use std::collections::VecDeque;

use ramal_model::StopReason;
use ramal_session::json::is_valid;
use ramal_session::{EntryId, SessionManager, time};
use tokio_util::sync::CancellationToken;

use self::call::calls;

use crate::AgentSession;
use crate::error::AgentError;
use crate::events::{AgentEvent, CompactionReason};
use crate::hooks::CustomMessage;
use crate::operation::{OnStage, Operation};
use crate::queue::{Prompt, Queue, QueueMode};
use crate::tools::ToolResult;

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
    /// be asked, the directory is gone, or the message could not be stored.
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
        // What cannot be done is told before anything is stored.
        self.must_be_able_to_work()?;
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

    /// Has the model answer what is there, though the user said nothing new.
    ///
    /// # Errors
    /// As for [`AgentSession::prompt`].
    pub fn go_on(&self) -> Result<(), AgentError> {
        let stage = self.shared.stage.enter(Operation::Turn)?;
        self.must_be_able_to_work()?;
        let (session, tip) = (self.clone(), self.leaf_id()?);
        tokio::spawn(async move { session.run(stage, tip, Vec::new(), Vec::new()).await });
        Ok(())
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

    fn send_waiting(&self) -> Result<(), AgentError> {
        // Whoever runs by now takes care of what waits.
        let Ok(stage) = self.shared.stage.enter(Operation::Turn) else { return Ok(()) };
        self.must_be_able_to_work()?;
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
            for prompt in &prompts {
                let message = prompt.to_message(time::now());
                let id = manager.append_message(&message)?;
                self.titles().said(&manager, prompt.typed.as_deref().unwrap_or(&prompt.text));
                said.push((message, id));
            }
        }
        let first = said.first().map(|(_, id)| id.clone()).unwrap_or_else(|| "".into());
        let session = self.clone();
        tokio::spawn(async move {
            let added = session.before_start(&stage.abort, &prompts).await;
            session.run(stage, None, said, added).await;
        });
        Ok(first)
    }

    /// Begins to work on what has been said up to `tip`.
    pub(crate) fn ask_again(&self, stage: OnStage, tip: EntryId) {
        let session = self.clone();
        tokio::spawn(async move { session.run(stage, Some(tip), Vec::new(), Vec::new()).await });
    }

    async fn run(
        &self,
        mut stage: OnStage,
        tip: Option<EntryId>,
        said: Vec<(String, EntryId)>,
        added: Vec<CustomMessage>,
    ) {
        self.emit(AgentEvent::AgentStart);
        let mut work = Work {
            session: self,
            abort: stage.abort.clone(),
            tip,
            messages: Vec::new(),
            has_overflowed: false,
        };
        for (message, id) in said {
            self.emit(AgentEvent::MessageStart { message: message.clone() });
            work.told(message, id);
        }
        let mut ended = match work.add(&added) {
            Ok(()) => work.run().await,
            Err(error) => Err(error),
        };
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
        self.prompt_with(None);
        let (messages, aborted) = (std::mem::take(messages), stage.abort.is_cancelled());
        self.emit_after(|| stage.leave(), AgentEvent::AgentEnd { messages, aborted });
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
        self.session.caught_up(&self.abort).await;
        let (answer, message) = self.answer().await?;
        let calls = calls(&message);
        let mut tool_results = Vec::new();
        let mut goes_on = false;
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
                goes_on |= !result.ends_turn;
                let message = self.tell_result(call, result).await;
                self.append(message.clone(), false)?;
                tool_results.push(message);
            }
        }
        let turn = match answer.stop {
            _ if self.abort.is_cancelled() => Turn::GivenUp,
            StopReason::Error | StopReason::Aborted => Turn::GivenUp,
            _ if !goes_on => Turn::Done,
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
}

pub(crate) fn is_object(json: &str) -> bool {
    json.trim_start().starts_with('{') && is_valid(json)
}

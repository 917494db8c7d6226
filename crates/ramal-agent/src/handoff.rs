//! Handing the work off to a new session: the model writes a brief of this one, and the new one begins with
//! it.

use std::collections::VecDeque;

use ramal_model::Endpoint;
use ramal_session::json::quote;
use ramal_session::{At, EntryId, Message, NewEntry, Role, SessionManager};
use tokio_util::sync::CancellationToken;

use crate::AgentSession;
use crate::ask::{SummaryError, tagged, with_instructions};
use crate::compact::Asking;
use crate::error::AgentError;
use crate::events::AgentEvent;
use crate::hooks::SwitchReason;
use crate::operation::{OnStage, Operation};
use crate::queue::Prompt;
use crate::retrying::Patient;
use crate::transcript::{Budget, Files, Outcomes, Section, without_lists};

const HANDOFF: &str = include_str!("prompts/handoff.md");
const FORM: &str = include_str!("prompts/form.md");

/// The `customType` of the message that the new session begins with.
const CUSTOM_TYPE: &str = "handoff";

/// Stands before the brief.
const LEAD: &str = "The work of an earlier session goes on here. You cannot see that session; this is the brief \
                    that was written at its end:";

/// What a handoff did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandedOff {
    /// The brief, with the lists of files at its end.
    pub brief: String,
    /// The entry of the new session that holds it.
    pub entry_id: EntryId,
    /// The file of the session that was left; none in memory.
    pub previous_session_file: Option<String>,
}

impl AgentSession {
    /// Lets the model write a brief of the conversation at the leaf, and goes over to a new session that
    /// begins with it. The model sees the brief there; it is not asked for anything before the user says
    /// something. A turn that runs is ended first. `instructions` are added to what the model is asked.
    ///
    /// The session that is left stays as it is, and the new one names it as its parent. The new one's file is
    /// there at once, and counts what the brief cost. What waited to be said in the old one does not follow; what
    /// is said while the brief is written is said in the new one. None says that a hook or the user ended it, and nothing
    /// has moved.
    ///
    /// # Errors
    /// [`AgentError::NothingToHandOff`] if nothing was said yet; if something else than a turn runs, no model
    /// can be asked, the brief or the new session could not be made. Nothing has moved.
    pub async fn handoff(&self, instructions: Option<&str>) -> Result<Option<HandedOff>, AgentError> {
        // What cannot be done does not end a turn either.
        self.endpoint()?;
        let stage = self.shared.stage.take_over(Operation::Replacement).await?;
        let handed_off = self.handoff_on(&stage, instructions).await;
        self.end(stage);
        handed_off
    }

    async fn handoff_on(
        &self,
        stage: &OnStage,
        instructions: Option<&str>,
    ) -> Result<Option<HandedOff>, AgentError> {
        let waits = self.waits();
        let endpoint = self.endpoint()?;
        let material = Material::of(&self.manager())?.ok_or(AgentError::NothingToHandOff)?;
        // Nobody pays for a brief that is not wanted.
        if !self.may_switch(stage, SwitchReason::New, None).await {
            return Ok(None);
        }
        let written = self.write_brief(&endpoint, &material, instructions, stage.abort.clone()).await;
        let (brief, usage) = match written {
            Ok(written) => written,
            Err(SummaryError::Aborted) => return Ok(None),
            Err(SummaryError::Empty) => return Err(AgentError::EmptySummary),
            Err(SummaryError::Model(error)) => return Err(error.into()),
        };
        if stage.abort.is_cancelled() {
            return Ok(None);
        }
        let parent = self.session_file().map(|path| path.to_string_lossy().into_owned());
        let choice = self.model_choice()?;
        let mut entry_id = None;
        let begin = |manager: &mut SessionManager| {
            manager.start_new(parent.as_deref())?;
            self.choose_in(manager, &choice)?;
            let usage = NewEntry::new("usage")
                .text("kind", CUSTOM_TYPE)
                .text("provider", &endpoint.provider)
                .text("model", &endpoint.model)
                .json("usage", &usage);
            manager.append(&usage)?;
            let content = quote(&format!("{LEAD}\n\n{}", tagged("brief", &brief)));
            let details = material.files.details();
            entry_id =
                Some(manager.append_custom_message_entry(CUSTOM_TYPE, &content, true, Some(&details))?);
            // Otherwise it is written with the first message.
            if let Err(error) = manager.write_now() {
                self.emit(AgentEvent::Notice { message: error.to_string() });
            }
            Ok(())
        };
        let meanwhile = self.said_since(waits);
        let gone = self.go_over(stage, SwitchReason::New, begin).await;
        self.say_after(meanwhile);
        gone?;
        Ok(entry_id.map(|entry_id| HandedOff { brief, entry_id, previous_session_file: parent }))
    }

    /// How many messages wait to be said: that steer, and that follow.
    fn waits(&self) -> (usize, usize) {
        let queue = self.queue();
        (queue.steering.len(), queue.follow_up.len())
    }

    /// Takes out what was said since so many messages waited.
    fn said_since(&self, (steering, follow_up): (usize, usize)) -> (VecDeque<Prompt>, VecDeque<Prompt>) {
        let mut queue = self.queue();
        let (steering, follow_up) =
            (steering.min(queue.steering.len()), follow_up.min(queue.follow_up.len()));
        (queue.steering.split_off(steering), queue.follow_up.split_off(follow_up))
    }

    /// Lets messages wait to be said.
    fn say_after(&self, (steering, follow_up): (VecDeque<Prompt>, VecDeque<Prompt>)) {
        if steering.is_empty() && follow_up.is_empty() {
            return;
        }
        let mut queue = self.queue();
        queue.steering.extend(steering);
        queue.follow_up.extend(follow_up);
        drop(queue);
        self.emit_queue();
    }

    /// A brief with the lists of files, and what it cost as JSON text.
    async fn write_brief(
        &self,
        endpoint: &Endpoint,
        material: &Material,
        instructions: Option<&str>,
        abort: CancellationToken,
    ) -> Result<(String, String), SummaryError> {
        let reserve = self.config().compaction.for_window(endpoint.context_window).reserve_tokens;
        let patient = Patient(self);
        let mut asking = Asking::new(&patient, endpoint, Budget::of(endpoint, reserve), abort);
        let prompt = with_instructions(&format!("{}\n\n{FORM}", HANDOFF.trim()), instructions, false);
        let brief = asking.sum_up(&material.sections, &prompt, material.previous.clone()).await?;
        let brief = brief.ok_or(SummaryError::Empty)?;
        Ok((material.files.listed_behind(&brief), asking.usage.to_json(endpoint.cost)))
    }
}

/// What a brief is made of.
struct Material {
    sections: Vec<Section>,
    /// The summary of the compaction that the context begins with.
    previous: Option<String>,
    files: Files,
}

impl Material {
    /// What the model sees at the leaf; none if nobody has said anything.
    fn of(session: &SessionManager) -> Result<Option<Material>, AgentError> {
        let (mut sections, mut previous) = (Vec::new(), None);
        let mut outcomes = Outcomes::default();
        let mut says_something = false;
        let context = session.build_session_context(At::Leaf)?;
        for message in context.messages() {
            let message = message?;
            let said = Message::new(&message.json);
            let is_brief = said.get_str("customType").as_deref() == Some(CUSTOM_TYPE);
            if is_brief || matches!(said.role(), Role::BranchSummary | Role::CompactionSummary) {
                outcomes.files.carry_on(&message.entry.read()?);
            }
            says_something |= !matches!(said.role(), Role::System | Role::Developer);
            if said.role() == Role::CompactionSummary && sections.is_empty() {
                let summary = said.get_str("summary").unwrap_or_default();
                previous = Some(without_lists(&summary).to_owned()).filter(|text| !text.is_empty());
                continue;
            }
            sections.extend(Section::of(said));
        }
        for section in sections.iter_mut().rev() {
            outcomes.take(section);
        }
        Ok(says_something.then_some(Material { sections, previous, files: outcomes.files }))
    }
}

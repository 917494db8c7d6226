//! Making the conversation shorter, by hand and when it has to be (contract, section 9).

use std::sync::Arc;
use std::time::Duration;

use ramal_session::json::quote;
use ramal_session::{Kind, NewEntry, SessionManager, SessionStats};
use tokio_util::sync::CancellationToken;

use crate::AgentSession;
use crate::compact::{self, CompactionPlan, CompactionSettings, ContextTokens};
use crate::error::AgentError;
use crate::events::{AgentEvent, CompactionReason};
use crate::hooks::{CompactPreparation, Compacting, Hook, HookEvent, SuppliedCompaction};
use crate::operation::Operation;
use crate::retrying::Patient;
use crate::summary::SummaryError;
use crate::tokens::BYTES;

/// Bytes that are read before others get their turn at the session: a few milliseconds.
const PIECE: u64 = 1 << 20;

/// How long they have then. Whoever lets go of a lock and takes it at once gets it again.
const BREATH: Duration = Duration::from_millis(1);

/// What a compaction did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compacted {
    /// The entry, as JSON text.
    pub entry: String,
    /// The summary.
    pub summary: String,
    /// The first entry that is kept as it is.
    pub first_kept_entry_id: String,
    /// Tokens in the context before.
    pub tokens_before: u64,
    /// JSON text.
    pub details: Option<String>,
}

impl Compacted {
    /// The result on the wire.
    pub fn to_json(&self) -> String {
        format!(
            "{{\"summary\":{},\"firstKeptEntryId\":{},\"tokensBefore\":{},\"details\":{}}}",
            quote(&self.summary),
            quote(&self.first_kept_entry_id),
            self.tokens_before,
            self.details.as_deref().unwrap_or("null")
        )
    }
}

/// How a compaction ended that made no entry.
enum NoCompaction {
    Cancelled,
    Error(AgentError),
}

impl<E: Into<AgentError>> From<E> for NoCompaction {
    fn from(error: E) -> Self {
        NoCompaction::Error(error.into())
    }
}

impl AgentSession {
    /// Makes the conversation shorter. None says that a hook or the user ended it. A turn that runs is
    /// ended first.
    ///
    /// # Errors
    /// If something else runs, there is nothing to compact, or the summary could not be made; the
    /// conversation is as it was.
    pub async fn compact(&self, instructions: Option<&str>) -> Result<Option<Compacted>, AgentError> {
        let stage = self.shared.stage.take_over(Operation::Compaction).await?;
        let result = self.tell_compaction(&stage.abort, CompactionReason::Manual, instructions).await;
        self.end(stage);
        match result {
            Ok(compacted) => Ok(Some(compacted)),
            Err(NoCompaction::Cancelled) => Ok(None),
            Err(NoCompaction::Error(error)) => Err(error),
        }
    }

    /// Makes the conversation shorter within a turn, if that has to be. Answers whether it did.
    pub(crate) async fn compact_if_needed(
        &self,
        abort: &CancellationToken,
        reason: CompactionReason,
    ) -> bool {
        let settings = CompactionSettings { enabled: true, ..self.config().compaction };
        if !self.auto_compaction() {
            return false;
        }
        if reason == CompactionReason::Threshold {
            let Ok(endpoint) = self.endpoint() else { return false };
            let Ok(count) = self.context_tokens() else { return false };
            if !compact::should_compact(count.tokens, endpoint.context_window, settings) {
                return false;
            }
        }
        self.tell_compaction(abort, reason, None).await.is_ok()
    }

    /// How full the context at the leaf is: counted by the provider, as far as that still holds.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn context_tokens(&self) -> Result<ContextTokens, AgentError> {
        let beside = self.tokens_beside();
        let measured = self.counted_answer();
        Ok(compact::context_tokens(&self.manager(), beside, measured.as_deref())?)
    }

    /// As [`AgentSession::context_tokens`], for a thread that can wait: where much is to be read for it, others
    /// get their turn at the session in between.
    ///
    /// # Errors
    /// If the log cannot be read any more.
    pub fn context_tokens_by_and_by(&self) -> Result<ContextTokens, AgentError> {
        if let Some(measured) = self.counted_answer()
            && let Some(tokens) = compact::measured_tokens(&self.manager(), &measured)?
        {
            return Ok(ContextTokens { tokens, is_measured: true });
        }
        let beside = self.tokens_beside();
        let mut estimate = compact::Estimate::default();
        while !self.with_session(|session| estimate.go_on(session, PIECE))? {
            std::thread::sleep(BREATH);
        }
        Ok(estimate.tokens(beside))
    }

    /// As [`AgentSession::get_session_stats`], for a thread that can wait. None if the session was left for
    /// another one meanwhile.
    ///
    /// # Errors
    /// If the log cannot be read any more.
    pub fn get_session_stats_by_and_by(&self) -> Result<Option<SessionStats>, AgentError> {
        let of = |session: &SessionManager| (session.get_session_id().to_owned(), session.generation());
        let begun = self.with_session(|session| of(session));
        let (mut stats, mut from) = (SessionStats::default(), 0);
        loop {
            let next = self.with_session(|session| match of(session) == begun {
                true => session.add_session_stats(&mut stats, from, PIECE).map(Some),
                false => Ok(None),
            })?;
            match next {
                None => return Ok(None),
                Some(None) => return Ok(Some(stats)),
                Some(Some(next)) => from = next,
            }
            std::thread::sleep(BREATH);
        }
    }

    /// An estimate of what goes along with every conversation: the system prompt and the tools.
    pub(crate) fn tokens_beside(&self) -> u64 {
        let offered = self.offered();
        let tools = offered.iter().map(|tool| tool.spec());
        let bytes: usize = tools.map(|spec| spec.description.len() + spec.parameters.len()).sum();
        (bytes + self.config().system.len()) as u64 / BYTES
    }

    async fn tell_compaction(
        &self,
        abort: &CancellationToken,
        reason: CompactionReason,
        instructions: Option<&str>,
    ) -> Result<Compacted, NoCompaction> {
        self.emit(AgentEvent::CompactionStart { reason });
        let result = self.compact_on(abort, instructions).await;
        let will_retry = reason == CompactionReason::Overflow && result.is_ok();
        let (said, error_message) = match &result {
            Ok(compacted) => (Some(compacted.to_json()), None),
            Err(NoCompaction::Cancelled) => (None, None),
            Err(NoCompaction::Error(error)) => (None, Some(error.to_string())),
        };
        let aborted = matches!(result, Err(NoCompaction::Cancelled));
        self.emit(AgentEvent::CompactionEnd { reason, result: said, aborted, will_retry, error_message });
        result
    }

    async fn compact_on(
        &self,
        abort: &CancellationToken,
        instructions: Option<&str>,
    ) -> Result<Compacted, NoCompaction> {
        let before = self.hooks(HookEvent::SessionBeforeCompact);
        let compacting = self.hooks(HookEvent::SessionCompacting);
        let (plan, preparation) = {
            let settings = match self.endpoint() {
                Ok(endpoint) => self.config().compaction.for_window(endpoint.context_window),
                Err(_) => self.config().compaction,
            };
            let manager = self.manager();
            let plan = compact::plan_compaction(&manager, settings).map_err(AgentError::from)?;
            let plan = plan.ok_or(AgentError::NothingToCompact)?;
            let is_asked = !before.is_empty() || !compacting.is_empty();
            let preparation = is_asked.then(|| plan.preparation(&manager, instructions)).transpose();
            (plan, preparation.map_err(AgentError::from)?)
        };
        let supplied = match &preparation {
            Some(preparation) => self.ask_before_compact(abort, &before, preparation).await?,
            None => None,
        };
        let from_extension = supplied.is_some();
        let (made, usage, extra) = match supplied {
            Some(supplied) => (supplied, None, None),
            None => {
                let extra = match &preparation {
                    Some(preparation) => self.ask_compacting(abort, &compacting, preparation).await,
                    None => None,
                };
                let (made, usage) = self.summary_of(abort, &plan, instructions, extra.as_ref()).await?;
                (made, Some(usage), extra)
            }
        };
        if abort.is_cancelled() {
            return Err(NoCompaction::Cancelled);
        }
        let entry = NewEntry::new("compaction")
            .text("summary", &made.summary)
            .text("firstKeptEntryId", &made.first_kept_entry_id)
            .json("tokensBefore", &made.tokens_before.to_string())
            .json_if("details", made.details.as_deref())
            .json_if("preserveData", extra.as_ref().and_then(|extra| extra.preserve_data.as_deref()))
            .json("fromExtension", if from_extension { "true" } else { "false" })
            .json_if("usage", usage.as_deref());
        let entry = {
            let mut manager = self.manager();
            let id = manager.append(&entry).map_err(AgentError::from)?;
            let entry =
                manager.get_entry(&id).map(|entry| entry.read()).transpose().map_err(AgentError::from)?;
            debug_assert!(entry.as_ref().is_some_and(|entry| entry.kind() == Kind::Compaction));
            entry.map(|entry| entry.json().to_owned()).unwrap_or_default()
        };
        self.forget_count();
        self.forget_seen();
        for hook in self.hooks(HookEvent::SessionCompact) {
            let answering = hook.session_compact(&entry, from_extension, abort.clone());
            self.ask(&*hook, HookEvent::SessionCompact, answering).await;
        }
        Ok(Compacted {
            entry,
            summary: made.summary,
            first_kept_entry_id: made.first_kept_entry_id,
            tokens_before: made.tokens_before,
            details: made.details,
        })
    }

    async fn ask_before_compact(
        &self,
        abort: &CancellationToken,
        hooks: &[Arc<dyn Hook>],
        preparation: &CompactPreparation,
    ) -> Result<Option<SuppliedCompaction>, NoCompaction> {
        let mut supplied = None;
        for hook in hooks {
            let answering = hook.session_before_compact(preparation, abort.clone());
            let event = HookEvent::SessionBeforeCompact;
            let answer = self.ask_until(abort, &**hook, event, answering).await;
            if abort.is_cancelled() {
                return Err(NoCompaction::Cancelled);
            }
            let Some(answer) = answer else { continue };
            if answer.cancel {
                return Err(NoCompaction::Cancelled);
            }
            supplied = answer.compaction.or(supplied);
        }
        Ok(supplied)
    }

    /// What the hooks say of the prompt; the last answer counts.
    async fn ask_compacting(
        &self,
        abort: &CancellationToken,
        hooks: &[Arc<dyn Hook>],
        preparation: &CompactPreparation,
    ) -> Option<Compacting> {
        let mut said = None;
        let messages = [&preparation.messages_to_summarize[..], &preparation.turn_prefix_messages].concat();
        let session_id = self.manager().get_session_id().to_owned();
        for hook in hooks {
            let answering = hook.session_compacting(&session_id, &messages);
            let event = HookEvent::SessionCompacting;
            if let Some(Some(answer)) = self.ask_until(abort, &**hook, event, answering).await {
                said = Some(answer);
            }
        }
        said
    }

    /// A summary of the model's, and what it cost.
    async fn summary_of(
        &self,
        abort: &CancellationToken,
        plan: &CompactionPlan,
        instructions: Option<&str>,
        extra: Option<&Compacting>,
    ) -> Result<(SuppliedCompaction, String), NoCompaction> {
        let endpoint = self.endpoint()?;
        match compact::compact(&Patient(self), &endpoint, plan, instructions, extra, abort.clone()).await {
            Ok(text) => {
                let made = SuppliedCompaction {
                    summary: text.summary,
                    first_kept_entry_id: plan.first_kept_entry_id.to_string(),
                    tokens_before: plan.tokens_before,
                    details: Some(text.details),
                };
                Ok((made, text.usage.to_json(endpoint.cost)))
            }
            Err(SummaryError::Aborted) => Err(NoCompaction::Cancelled),
            Err(SummaryError::Empty) => Err(AgentError::EmptySummary.into()),
            Err(SummaryError::Model(error)) => Err(AgentError::from(error).into()),
        }
    }
}

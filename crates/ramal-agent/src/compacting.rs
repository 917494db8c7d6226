//! Making the conversation shorter, by hand and when it has to be (contract, section 9).

use ramal_session::{Kind, NewEntry};
use ramal_session::json::quote;
use tokio_util::sync::CancellationToken;

use crate::AgentSession;
use crate::compact::{self, CompactionPlan};
use crate::error::AgentError;
use crate::events::{AgentEvent, CompactionReason};
use crate::hooks::{Compacting, SuppliedCompaction};
use crate::operation::Operation;
use crate::summary::SummaryError;

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
    /// Makes the conversation shorter. None says that a hook or the user ended it.
    ///
    /// # Errors
    /// If something else runs, there is nothing to compact, or the summary could not be made; the
    /// conversation is as it was.
    pub async fn compact(&self, instructions: Option<&str>) -> Result<Option<Compacted>, AgentError> {
        let stage = self.shared.stage.take_over(Operation::Compaction).await?;
        match self.tell_compaction(&stage.abort, CompactionReason::Manual, instructions).await {
            Ok(compacted) => Ok(Some(compacted)),
            Err(NoCompaction::Cancelled) => Ok(None),
            Err(NoCompaction::Error(error)) => Err(error),
        }
    }

    /// Makes the conversation shorter within a turn, if that has to be. Answers whether it did.
    pub(crate) async fn compact_if_needed(&self, abort: &CancellationToken, reason: CompactionReason) -> bool {
        let settings = self.config().compaction;
        if !settings.enabled {
            return false;
        }
        if reason == CompactionReason::Threshold {
            let Ok(endpoint) = self.endpoint() else { return false };
            let Ok(tokens) = compact::context_tokens(&self.manager()) else { return false };
            if !compact::should_compact(tokens, endpoint.context_window, &settings) {
                return false;
            }
        }
        self.tell_compaction(abort, reason, None).await.is_ok()
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

    async fn compact_on(&self, abort: &CancellationToken, instructions: Option<&str>) -> Result<Compacted, NoCompaction> {
        let plan = compact::plan_compaction(&self.manager(), &self.config().compaction).map_err(AgentError::from)?;
        let plan = plan.ok_or(AgentError::NothingToCompact)?;
        let supplied = self.ask_before_compact(abort, &plan, instructions).await?;
        let from_extension = supplied.is_some();
        let (made, extra) = match supplied {
            Some(supplied) => (supplied, None),
            None => {
                let extra = self.ask_compacting(abort, &plan).await;
                (self.summary_of(abort, &plan, instructions, extra.as_ref()).await?, extra)
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
            .json("fromExtension", if from_extension { "true" } else { "false" });
        let entry = {
            let mut manager = self.manager();
            let id = manager.append(&entry).map_err(AgentError::from)?;
            let entry = manager.get_entry(&id).map(|entry| entry.read()).transpose().map_err(AgentError::from)?;
            debug_assert!(entry.as_ref().is_some_and(|entry| entry.kind() == Kind::Compaction));
            entry.map(|entry| entry.json().to_owned()).unwrap_or_default()
        };
        for hook in self.hooks() {
            self.ask(&*hook, "session_compact", hook.session_compact(&entry, from_extension)).await;
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
        plan: &CompactionPlan,
        instructions: Option<&str>,
    ) -> Result<Option<SuppliedCompaction>, NoCompaction> {
        let hooks = self.hooks();
        if hooks.is_empty() {
            return Ok(None);
        }
        let preparation = plan.preparation(instructions);
        let mut supplied = None;
        for hook in hooks {
            let answering = hook.session_before_compact(&preparation, abort.clone());
            let answer = self.ask_until(abort, &*hook, "session_before_compact", answering).await;
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
    async fn ask_compacting(&self, abort: &CancellationToken, plan: &CompactionPlan) -> Option<Compacting> {
        let mut said = None;
        for hook in self.hooks() {
            let messages = plan.messages();
            let answering = hook.session_compacting(&messages);
            if let Some(Some(answer)) = self.ask_until(abort, &*hook, "session.compacting", answering).await {
                said = Some(answer);
            }
        }
        said
    }

    async fn summary_of(
        &self,
        abort: &CancellationToken,
        plan: &CompactionPlan,
        instructions: Option<&str>,
        extra: Option<&Compacting>,
    ) -> Result<SuppliedCompaction, NoCompaction> {
        let endpoint = self.endpoint()?;
        let model = &*self.config().model;
        match compact::compact(model, &endpoint, plan, instructions, extra, abort.clone()).await {
            Ok(text) => Ok(SuppliedCompaction {
                summary: text.summary,
                first_kept_entry_id: plan.first_kept_entry_id.clone(),
                tokens_before: plan.tokens_before,
                details: Some(text.details),
            }),
            Err(SummaryError::Aborted) => Err(NoCompaction::Cancelled),
            Err(SummaryError::Empty) => Err(AgentError::EmptySummary.into()),
            Err(SummaryError::Model(error)) => Err(AgentError::from(error).into()),
        }
    }
}

//! How full the context is: counted by the provider, as far as that still holds, or estimated.

use ramal_session::{Kind, Message, ReadError, SessionManager};

use super::CompactionSettings;
use super::plan::context;
use crate::tokens::{BYTES, estimate_tokens};
use crate::transcript::message_of;

/// How many tokens are in a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextTokens {
    /// The tokens.
    pub tokens: u64,
    /// Whether a provider counted them (what came after its answer is estimated), or all is estimated.
    pub is_measured: bool,
}

/// How many tokens are in the context at the leaf.
///
/// `measured` is the answer whose count is to be believed: the last one since the session was opened,
/// compacted, moved, or given another model; none where there is no such answer. A count holds only
/// for the context it was made on: if the answer is not on the path, or a compaction, an edit, a boundary
/// or the choice of a model stands behind it, all is estimated. `beside` is what an estimate does not
/// see: tokens of the system prompt and the tools.
///
/// # Errors
/// If the log cannot be read any more.
pub fn context_tokens(
    session: &SessionManager,
    beside: u64,
    measured: Option<&str>,
) -> Result<ContextTokens, ReadError> {
    if let Some(measured) = measured
        && let Some(tokens) = measured_tokens(session, measured)?
    {
        return Ok(ContextTokens { tokens, is_measured: true });
    }
    let mut estimate = Estimate::default();
    estimate.go_on(session, u64::MAX)?;
    Ok(estimate.tokens(beside))
}

/// A context of more entries fits no model. Nobody reads all of it, piece by piece, to know that: how long its
/// lines are is enough.
const MOST_READ: usize = 1 << 16;

/// An estimate of the context, made piece by piece.
#[derive(Debug, Default)]
pub(crate) struct Estimate {
    tokens: u64,
    /// Entries that speak of which this is the estimate, and which context they are of.
    done: usize,
    of: (String, u64, Option<usize>),
}

impl Estimate {
    /// Reads on until so many bytes were read; from the beginning if the context is another one by now.
    /// Answers whether that is all.
    pub(crate) fn go_on(&mut self, session: &SessionManager, bytes: u64) -> Result<bool, ReadError> {
        let leaf = session.get_leaf_entry().map(|leaf| leaf.position());
        let of = (session.get_session_id().to_owned(), session.generation(), leaf);
        if self.of != of {
            *self = Estimate { of, ..Estimate::default() };
        }
        let context = context(session, None)?;
        if bytes < u64::MAX && context.speaking() > MOST_READ {
            self.tokens = context.entries().map(|entry| entry.size() / BYTES).sum();
            self.done = context.speaking();
        }
        let mut read = 0;
        while self.done < context.speaking() {
            if read >= bytes {
                return Ok(false);
            }
            for message in context.messages_of(self.done..self.done + 1) {
                let json = message?.json;
                read += json.len() as u64;
                self.tokens += estimate_tokens(Message::new(&json));
            }
            self.done += 1;
        }
        Ok(true)
    }

    pub(crate) fn tokens(&self, beside: u64) -> ContextTokens {
        ContextTokens { tokens: self.tokens + beside, is_measured: false }
    }
}

/// What the answer `measured` counted, and an estimate of what came after it.
pub(crate) fn measured_tokens(session: &SessionManager, measured: &str) -> Result<Option<u64>, ReadError> {
    let mut behind = 0;
    let mut at = session.get_leaf_entry();
    while let Some(entry) = at {
        match entry.kind() {
            Kind::Compaction | Kind::ContextEdit | Kind::ResetBoundary | Kind::ModelChange => {
                return Ok(None);
            }
            Kind::Message | Kind::CustomMessage | Kind::BranchSummary => {
                let is_it = entry.id()?.as_str() == measured;
                let entry = entry.read()?;
                let Some(message) = message_of(&entry) else { return Ok(None) };
                let message = Message::new(&message);
                if is_it {
                    return Ok(counted(message).map(|tokens| tokens.saturating_add(behind)));
                }
                behind += estimate_tokens(message);
            }
            _ => {}
        }
        at = entry.parent();
    }
    Ok(None)
}

/// What an answer says of the tokens in its context; none if it broke off, or does not say.
fn counted(answer: Message<'_>) -> Option<u64> {
    if matches!(answer.get_str("stopReason").as_deref(), Some("error" | "aborted")) {
        return None;
    }
    let usage = answer.usage()?;
    let total = usage.input + usage.output + usage.cache_read + usage.cache_write;
    // Counts are whole and small, whatever a file says.
    (total >= 1.0).then_some(total as u64)
}

/// Whether so many tokens are too many (`compaction.thresholdTokens`, `.thresholdPercent`, or else
/// `.reserveTokens`). Never where it is not known how large the window is.
pub fn should_compact(tokens: u64, context_window: u64, settings: CompactionSettings) -> bool {
    settings.enabled && context_window > 0 && tokens > settings.most_tokens(context_window)
}

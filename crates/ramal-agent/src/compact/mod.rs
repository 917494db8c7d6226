//! Compaction: when, where it cuts, what is asked, and the asking (contract, section 9). Appending the
//! entry is not done here.

mod count;
mod plan;
#[cfg(test)]
mod tests;

use ramal_model::{Endpoint, Usage};
use tokio_util::sync::CancellationToken;

pub use count::{ContextTokens, context_tokens, should_compact};
pub(crate) use count::{Estimate, measured_tokens};
pub use plan::{CompactionPlan, plan_compaction};

pub use crate::ask::{AskModel, SummaryError};
use crate::ask::{ask, request, with_instructions};
use crate::hooks::Compacting;
pub use crate::tokens::estimate_tokens;
use crate::transcript::{Budget, Section, fitting_reserve, shortened, without_lists};

const COMPACTION: &str = include_str!("../prompts/compaction.md");
const FORM: &str = include_str!("../prompts/form.md");
const TURN: &str = include_str!("../prompts/turn.md");

/// Stands between the summary of what came before and that of the turn that was cut.
const TURN_HEADING: &str = "## The turn that is going on: its beginning";

/// When to compact, and how much to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactionSettings {
    /// Whether it happens by itself.
    pub enabled: bool,
    /// Tokens of the window that are kept free.
    pub reserve_tokens: u64,
    /// Tokens of the newest messages that stay as they are.
    pub keep_recent_tokens: u64,
    /// The percentage of the window beyond which it happens, in place of what is not reserved.
    pub threshold_percent: Option<u8>,
    /// The tokens beyond which it happens; they go before the percentage.
    pub threshold_tokens: Option<u64>,
}

impl Default for CompactionSettings {
    fn default() -> Self {
        CompactionSettings {
            enabled: true,
            reserve_tokens: 16384,
            keep_recent_tokens: 20000,
            threshold_percent: None,
            threshold_tokens: None,
        }
    }
}

impl CompactionSettings {
    /// The settings as far as they make sense for a window of so many tokens: at most half of it is
    /// reserved, and of what may be in it at most half is kept, or a compaction would be followed by the
    /// next.
    pub fn for_window(self, context_window: u64) -> CompactionSettings {
        if context_window == 0 {
            return self;
        }
        let reserve_tokens = fitting_reserve(self.reserve_tokens, context_window);
        let half = self.most_tokens(context_window) / 2;
        CompactionSettings { reserve_tokens, keep_recent_tokens: self.keep_recent_tokens.min(half), ..self }
    }

    /// The tokens that may be in a window of this size; more are too many.
    pub fn most_tokens(self, context_window: u64) -> u64 {
        let wanted = match (self.threshold_tokens, self.threshold_percent) {
            (Some(tokens), _) => tokens,
            (None, Some(percent)) => {
                let tokens = u128::from(context_window) * u128::from(percent) / 100;
                u64::try_from(tokens).unwrap_or(u64::MAX)
            }
            (None, None) => return context_window - fitting_reserve(self.reserve_tokens, context_window),
        };
        // A full window is no room for an answer.
        wanted.clamp(1, context_window.saturating_sub(1).max(1))
    }
}

/// What came of a compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionText {
    /// The summary, with the lists of files at its end.
    pub summary: String,
    /// `{readFiles, modifiedFiles}` as JSON text.
    pub details: String,
    /// What it cost, all requests together.
    pub usage: Usage,
}

/// Asks for the summary of a compaction: one for what came before the turn that is cut, one for the
/// beginning of that turn. What does not fit into one request is summed up piece by piece, each time with
/// the summary so far, so that nothing is left out.
///
/// `instructions` are added to the built-in prompts. Of `extra` the prompt stands in place of the
/// built-in one for what came before, and its lines are added to every request.
///
/// # Errors
/// If it was aborted, the model failed, or it said nothing.
pub async fn compact(
    model: &dyn AskModel,
    endpoint: &Endpoint,
    plan: &CompactionPlan,
    instructions: Option<&str>,
    extra: Option<&Compacting>,
    abort: CancellationToken,
) -> Result<CompactionText, SummaryError> {
    let budget = Budget::of(endpoint, plan.settings.reserve_tokens);
    let mut asking = Asking::new(model, endpoint, budget, abort);
    let own = extra.and_then(|extra| extra.prompt.as_deref()).filter(|prompt| !prompt.trim().is_empty());
    let history = own.map_or_else(|| format!("{}\n\n{FORM}", COMPACTION.trim()), str::to_owned);
    let prompt = |built_in: &str| {
        with_instructions(built_in, instructions, false)
            + &lines(extra.map_or(&[][..], |extra| &extra.context))
    };
    let previous = plan.previous_summary.as_deref().map(without_lists).filter(|text| !text.is_empty());
    let before = asking.sum_up(&plan.history, &prompt(&history), previous.map(str::to_owned)).await?;
    let turn = asking.sum_up(&plan.turn_prefix, &prompt(TURN), None).await?;
    let summary = match (before, turn) {
        (Some(before), Some(turn)) => format!("{before}\n\n{TURN_HEADING}\n\n{turn}"),
        (None, Some(turn)) => format!("{TURN_HEADING}\n\n{turn}"),
        (Some(before), None) => before,
        (None, None) => return Err(SummaryError::Empty),
    };
    Ok(CompactionText {
        summary: plan.files.listed_behind(&summary),
        details: plan.files.details(),
        usage: asking.usage,
    })
}

/// Lines that a hook wants to be considered.
fn lines(lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    format!("\n\nConsider this as well:\n{}", lines.join("\n"))
}

/// Sums up conversations of any length.
pub(crate) struct Asking<'a> {
    model: &'a dyn AskModel,
    endpoint: &'a Endpoint,
    budget: Budget,
    abort: CancellationToken,
    /// What it took so far.
    pub(crate) usage: Usage,
}

impl<'a> Asking<'a> {
    pub(crate) fn new(
        model: &'a dyn AskModel,
        endpoint: &'a Endpoint,
        budget: Budget,
        abort: CancellationToken,
    ) -> Asking<'a> {
        Asking { model, endpoint, budget, abort, usage: Usage::default() }
    }

    /// The summary of a conversation, in as many requests as are needed; what there was before where
    /// there is nothing to sum up.
    pub(crate) async fn sum_up(
        &mut self,
        sections: &[Section],
        prompt: &str,
        previous: Option<String>,
    ) -> Result<Option<String>, SummaryError> {
        let mut summary = previous;
        let mut rest = sections;
        while !rest.is_empty() {
            let taken = summary.as_ref().map_or(0, String::len) as u64 + prompt.len() as u64;
            let room = self.budget.conversation.saturating_sub(taken).max(self.budget.conversation / 4);
            let (part, behind) = rest.split_at(fitting(rest, room));
            let texts: Vec<&str> = part.iter().map(|section| shortened(&section.text, room)).collect();
            let request = request(&texts.join("\n\n"), summary.as_deref(), prompt, self.budget.answer);
            let (text, usage) = ask(self.model, self.endpoint, &request, &self.abort).await?;
            self.usage = sum(self.usage, usage);
            summary = Some(text);
            rest = behind;
        }
        Ok(summary)
    }
}

/// How many of the sections fit into so many bytes; at least one.
fn fitting(sections: &[Section], room: u64) -> usize {
    let mut left = room;
    let fitting = sections.iter().take_while(|section| {
        let fits = section.size() <= left;
        left = left.saturating_sub(section.size());
        fits
    });
    fitting.count().max(1)
}

fn sum(one: Usage, other: Usage) -> Usage {
    Usage {
        input: one.input.saturating_add(other.input),
        output: one.output.saturating_add(other.output),
        cache_read: one.cache_read.saturating_add(other.cache_read),
        cache_write: one.cache_write.saturating_add(other.cache_write),
    }
}

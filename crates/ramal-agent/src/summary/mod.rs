//! The summary of a branch that is left: what belongs to it, what is asked, and the asking (contract,
//! section 6.2, 6.4 and "Summariser"). Moving the leaf is not done here.

mod path;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use ramal_model::{Endpoint, Request, Usage};
use ramal_session::json::{self, ObjectEdit};
use ramal_session::{Kind, Message, ReadError, Role, SessionManager};
use tokio_util::sync::CancellationToken;

pub(crate) use path::landing;
pub use path::{AbandonedPath, abandoned_path};

pub use crate::ask::{AskModel, SummaryError};
use crate::ask::{ask, request, with_instructions};
use crate::transcript::{Budget, Files, Outcomes, Section, Transcript, message_of};

const BRANCH: &str = include_str!("../prompts/branch.md");
const FORM: &str = include_str!("../prompts/form.md");

/// Tokens that are kept free when a summary is made (`branchSummary.reserveTokens`).
pub const RESERVE_TOKENS: u64 = 16384;

/// How a summary is to be made.
#[derive(Debug, Clone, Copy)]
pub struct SummaryOptions<'a> {
    /// What the user wants of it; empty means nothing.
    pub custom_instructions: Option<&'a str>,
    /// Whether that stands in place of the built-in prompt.
    pub replace_instructions: bool,
    /// Tokens of the context window that are kept free.
    pub reserve_tokens: u64,
}

impl Default for SummaryOptions<'_> {
    fn default() -> Self {
        SummaryOptions {
            custom_instructions: None,
            replace_instructions: false,
            reserve_tokens: RESERVE_TOKENS,
        }
    }
}

/// What is to be asked for a summary, and the files to be listed with it.
#[derive(Debug, Clone)]
pub struct SummaryRequest {
    /// The request.
    pub request: Request,
    files: Files,
}

/// A summary of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchSummary {
    /// The text, with the lists of files at its end.
    pub summary: String,
    /// `{readFiles, modifiedFiles}` as JSON text.
    pub details: String,
    /// What it cost.
    pub usage: Usage,
}

/// The request for a summary of a path that is left; none if nothing on it would be told (contract,
/// section 6, "Summariser").
///
/// Entries are read from the newest to the oldest, one at a time, until the budget is reached. Beyond
/// it only answers and summaries are looked at, for the files they name. What an edit on the path left
/// out or changed is left out or changed here too, and a `reset_boundary` ends the walk: what was cleared
/// does not come back.
///
/// # Errors
/// If the log cannot be read any more.
pub fn summary_request(
    session: &SessionManager,
    path: &AbandonedPath,
    endpoint: &Endpoint,
    options: SummaryOptions<'_>,
) -> Result<Option<SummaryRequest>, ReadError> {
    if !path.has_conversation {
        return Ok(None);
    }
    let built_in = format!("{}\n\n{FORM}", BRANCH.trim());
    let prompt = with_instructions(&built_in, options.custom_instructions, options.replace_instructions);
    let mut budget = Budget::of(endpoint, options.reserve_tokens);
    // Long instructions take from the conversation, not from the answer.
    let beyond = (prompt.len() as u64).saturating_sub(built_in.len() as u64);
    budget.conversation = budget.conversation.saturating_sub(beyond);
    let mut transcript = Transcript::new(budget);
    let mut outcomes = Outcomes::default();
    let mut edits = Edits::default();
    let mut says_something = false;
    for &position in path.entries.iter().rev() {
        let Some(entry) = session.get_entry_at(position) else { continue };
        match entry.kind() {
            Kind::ResetBoundary => break,
            Kind::ContextEdit => edits.see(&entry.read()?, position),
            kind if !kind.is_conversation() => {}
            Kind::Message if transcript.is_full() && entry.role() != Role::Assistant => {}
            kind => {
                let entry = entry.read()?;
                let Some(message) = message_of(&entry) else { continue };
                let Some(message) = edits.apply(session, entry.id(), message)? else { continue };
                if kind != Kind::Message {
                    outcomes.files.carry_on(&entry);
                }
                let Some(mut section) = Section::of(Message::new(&message)) else { continue };
                says_something |= entry.role() != Role::System;
                outcomes.take(&mut section);
                transcript.push_older(section);
            }
        }
    }
    if !says_something {
        return Ok(None);
    }
    let request = request(&transcript.finish(), None, &prompt, budget.answer);
    Ok(Some(SummaryRequest { request, files: outcomes.files }))
}

/// What edits on the path do to the entries above them: the position of the latest edit of each.
#[derive(Default)]
struct Edits(HashMap<String, usize>);

impl Edits {
    /// Sees an edit, newest first.
    fn see(&mut self, edit: &ramal_session::Entry, position: usize) {
        if let Some(target) = edit.get_str("targetId") {
            self.0.entry(target.into_owned()).or_insert(position);
        }
    }

    /// The message as its edit leaves it; none if it is left out.
    fn apply(
        &self,
        session: &SessionManager,
        id: &str,
        message: String,
    ) -> Result<Option<String>, ReadError> {
        let Some(edit) = self.0.get(id).and_then(|&position| session.get_entry_at(position)) else {
            return Ok(Some(message));
        };
        let edit = edit.read()?;
        let replacement = edit.get("replacement").unwrap_or_default();
        if replacement == "null" {
            return Ok(None);
        }
        let content =
            json::get(replacement.as_bytes(), "content").and_then(|text| std::str::from_utf8(text).ok());
        Ok(Some(match content.filter(|content| content.starts_with(['"', '['])) {
            Some(content) => {
                let edited = ObjectEdit::new().set("content", content).apply(message.as_bytes());
                String::from_utf8_lossy(&edited).into_owned()
            }
            None => message,
        }))
    }
}

/// Asks for the summary.
///
/// # Errors
/// If it was aborted, the model failed, or it said nothing.
pub async fn summarize(
    model: &dyn AskModel,
    endpoint: &Endpoint,
    request: SummaryRequest,
    abort: CancellationToken,
) -> Result<BranchSummary, SummaryError> {
    let (summary, usage) = ask(model, endpoint, &request.request, &abort).await?;
    let SummaryRequest { files, .. } = request;
    Ok(BranchSummary { summary: files.listed_behind(&summary), details: files.details(), usage })
}

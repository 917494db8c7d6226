//! A request for a summary put together, and the one place where a model is asked for one.

use std::pin::Pin;

use ramal_model::{Block, Endpoint, LanguageModel, ModelError, Outcome, Request, StopReason, Usage};
use ramal_session::json::quote;
use tokio_util::sync::CancellationToken;

use crate::transcript::without_lists;

/// What the model is told that it is.
const SYSTEM: &str = include_str!("prompts/system.md");

/// What is asked for when there is an earlier summary.
const UPDATE: &str = include_str!("prompts/update.md");

/// Why there is no summary. Nothing was changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SummaryError {
    /// The user did not want to wait for it.
    #[error("the summary was aborted")]
    Aborted,
    /// The model said nothing.
    #[error("the model answered with an empty summary")]
    Empty,
    /// The model could not be asked, or its answer broke off.
    #[error("the summary could not be made: {0}")]
    Model(#[from] ModelError),
}

/// Asks a model and waits for the whole answer: once, or as often as it takes.
pub trait AskModel: Sync {
    /// How the answer ended.
    fn ask<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        request: &'a Request,
        abort: &'a CancellationToken,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;
}

/// A model itself is asked once.
impl<M: LanguageModel + ?Sized> AskModel for M {
    fn ask<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        request: &'a Request,
        abort: &'a CancellationToken,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        Box::pin(async move { self.stream(endpoint, request, abort.clone()).outcome().await })
    }
}

/// A built-in prompt with the user's instructions: added to it, or in its place. Empty ones are none.
pub(crate) fn with_instructions(built_in: &str, instructions: Option<&str>, replace: bool) -> String {
    match instructions.map(str::trim).filter(|text| !text.is_empty()) {
        Some(text) if replace => text.to_owned(),
        Some(text) => format!("{}\n\nThe user asks you to mind this in particular:\n{text}", built_in.trim()),
        None => built_in.trim().to_owned(),
    }
}

/// A request to sum up a conversation, or to bring an earlier summary up to date with it.
pub(crate) fn request(conversation: &str, previous: Option<&str>, prompt: &str, answer: u64) -> Request {
    let mut text = tagged("conversation", conversation);
    if let Some(previous) = previous {
        text += &format!("\n\n{}\n\n{}", tagged("previous-summary", previous), UPDATE.trim());
    }
    text += &format!("\n\n{prompt}");
    Request {
        system: SYSTEM.trim().to_owned(),
        messages: vec![format!(
            "{{\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}",
            quote(&text)
        )],
        max_output: Some(answer),
        ..Request::default()
    }
}

/// A text between tags. An end tag inside it does not end it.
pub(crate) fn tagged(tag: &str, text: &str) -> String {
    let end = format!("</{tag}>");
    let harmless = format!("<\\/{tag}>");
    format!("<{tag}>\n{}\n{end}", text.trim().replace(&end, &harmless))
}

/// Asks for a summary: its text without lists of files, and what it cost.
pub(crate) async fn ask(
    model: &dyn AskModel,
    endpoint: &Endpoint,
    request: &Request,
    abort: &CancellationToken,
) -> Result<(String, Usage), SummaryError> {
    if abort.is_cancelled() {
        return Err(SummaryError::Aborted);
    }
    let outcome = model.ask(endpoint, request, abort).await;
    // An abort that came with the last words is an abort all the same: the user has been told so.
    if abort.is_cancelled() || outcome.answer.stop == StopReason::Aborted {
        return Err(SummaryError::Aborted);
    }
    outcome.result?;
    if outcome.answer.stop == StopReason::Error {
        return Err(SummaryError::Model(ModelError::NotUnderstood {
            provider: endpoint.provider.clone(),
            message: outcome.answer.error.unwrap_or_default(),
        }));
    }
    let texts = outcome.answer.blocks.iter().filter_map(|block| match block {
        Block::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let summary = texts.collect::<String>();
    let summary = without_lists(&summary);
    if summary.is_empty() {
        return Err(SummaryError::Empty);
    }
    Ok((summary.to_owned(), outcome.answer.usage))
}

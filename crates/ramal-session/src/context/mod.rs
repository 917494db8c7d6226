//! What a path means: the settings in force at its end, and the messages a model would be shown
//! (contract, section 8).
//!
//! A context holds numbers of entries, never what they say. Messages are read from the log one
//! after the other, as they are asked for.

mod blob;
mod model_input;
mod plan;
mod render;
mod state;
mod stats;
mod surveys;
mod templates;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

pub use model_input::ModelInput;
pub use stats::SessionStats;
pub(crate) use surveys::Surveys;

use self::model_input::Pairing;
use self::plan::Surveyed;
use self::render::Rendered;
use crate::error::{NoSuchEntry, ReadError};
use crate::json::quote;
use crate::manager::{At, EntryRef, SessionManager};

/// Why there is no context.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContextError {
    /// No entry has the id.
    #[error(transparent)]
    NoSuchEntry(#[from] NoSuchEntry),
    /// The log could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// What a model would be given at one position of the tree (contract, section 8).
///
/// The settings are read at once, the messages when they are asked for.
///
/// ```
/// use ramal_session::{At, SessionManager};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut session = SessionManager::in_memory("/work");
/// session.append_model_change("local", "smollm2", None)?;
/// session.append_message(r#"{"role":"user","content":"Why is it slow?"}"#)?;
///
/// let context = session.build_session_context(At::Leaf)?;
/// assert_eq!(context.model("default"), Some("local/smollm2"));
/// assert_eq!(context.messages().count(), 1);
/// # Ok(()) }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct SessionContext<'a> {
    /// How much the model is to think; `off` if nothing says otherwise.
    pub thinking_level: String,
    /// Whether an entry of the path is about that, also one that cannot be read.
    pub says_thinking_level: bool,
    /// Role and model, as `provider/id`, in the order in which the roles first appear. The role of
    /// the model that answers is `default`.
    pub models: Vec<(String, String)>,
    /// The mode; `none` if there is none.
    pub mode: String,
    /// What the mode keeps, as JSON text.
    pub mode_data: Option<String>,
    /// The service tier, as JSON text: a name, or an object of names by provider.
    pub service_tier: Option<String>,
    /// Names of rules that were injected, in the order in which they first appear.
    pub injected_rules: Vec<String>,
    /// Names of the tools of MCP servers that are selected.
    pub selected_mcp_tools: Vec<String>,
    /// Names of the active tools; none if no entry says.
    pub active_tools: Option<Vec<String>>,
    session: &'a SessionManager,
    survey: Arc<Surveyed>,
}

/// A message of a context.
#[derive(Debug, Clone)]
pub struct ContextMessage<'a> {
    /// The message as a JSON object. What was not changed by an edit stands as in the log.
    pub json: String,
    /// The entry that it comes from.
    pub entry: EntryRef<'a>,
}

impl SessionManager {
    /// The context at a position: its settings, and a plan of its messages. Linear in the path; of a path
    /// that was asked for before, in what is new on it and in its messages.
    ///
    /// # Errors
    /// If there is no such entry, or the log cannot be read any more.
    pub fn build_session_context(&self, at: At<'_>) -> Result<SessionContext<'_>, ContextError> {
        let survey = surveys::survey(self, self.number_at(at)?)?;
        let state = &survey.state;
        Ok(SessionContext {
            thinking_level: state.thinking_level.clone(),
            says_thinking_level: state.says_thinking_level,
            models: state.models_with(survey.answered_by.as_deref()),
            mode: state.mode.clone(),
            mode_data: state.mode_data.clone(),
            service_tier: state.service_tier.clone(),
            injected_rules: state.injected_rules.clone(),
            selected_mcp_tools: state.selected_mcp_tools.clone(),
            active_tools: state.active_tools.clone(),
            session: self,
            survey,
        })
    }
}

impl<'a> SessionContext<'a> {
    /// The model of a role, as `provider/id`.
    pub fn model(&self, role: &str) -> Option<&str> {
        self.models.iter().find(|(known, _)| known == role).map(|(_, model)| &**model)
    }

    /// The settings as a JSON object: what `get_context` answers, less the messages (contract,
    /// section 12). What is not in force is not in it.
    pub fn state_json(&self) -> String {
        let models: Vec<String> =
            self.models.iter().map(|(role, model)| format!("{}:{}", quote(role), quote(model))).collect();
        let mut out = format!(
            "{{\"thinkingLevel\":{},\"models\":{{{}}},\"mode\":{}",
            quote(&self.thinking_level),
            models.join(","),
            quote(&self.mode)
        );
        let mut member = |key: &str, value: Option<&str>| {
            if let Some(value) = value {
                out += &format!(",\"{key}\":{value}");
            }
        };
        member("modeData", self.mode_data.as_deref());
        member("injectedTtsrRules", Some(&names(&self.injected_rules)));
        member("serviceTier", self.service_tier.as_deref());
        member("selectedMCPToolNames", Some(&names(&self.selected_mcp_tools)));
        member("activeToolNames", self.active_tools.as_deref().map(names).as_deref());
        out + "}"
    }

    /// The messages, in order, each read from the log when it is its turn.
    ///
    /// At most what one entry says is in memory. References to images in a blob folder are left
    /// alone.
    pub fn messages(&self) -> impl Iterator<Item = Result<ContextMessage<'a>, ReadError>> {
        let session = self.session;
        self.rendered().map(move |message| {
            message
                .map(|(number, message)| ContextMessage { json: message.json, entry: session.handle(number) })
        })
    }

    /// How many entries speak.
    pub fn speaking(&self) -> usize {
        self.survey.items.len()
    }

    /// The entries that speak, in order.
    pub fn entries(&self) -> impl Iterator<Item = EntryRef<'a>> {
        let session = self.session;
        self.survey.items.iter().map(move |item| session.handle(item.number))
    }

    /// The messages of some of the entries that speak, by their numbers from 0: for those who do not read
    /// all at once.
    pub fn messages_of(
        &self,
        speaking: Range<usize>,
    ) -> impl Iterator<Item = Result<ContextMessage<'a>, ReadError>> {
        let session = self.session;
        let items = self.survey.items.get(speaking).unwrap_or_default();
        items.iter().flat_map(move |item| {
            let (messages, error) = match render::messages(session, *item) {
                Ok(messages) => (Some(messages), None),
                Err(error) => (None, Some(Err(error))),
            };
            let entry = session.handle(item.number);
            let messages = messages.into_iter().flatten();
            messages.map(move |message| Ok(ContextMessage { json: message.json, entry })).chain(error)
        })
    }

    /// The messages, each with the number of its entry.
    fn rendered(&self) -> impl Iterator<Item = Result<(u32, Rendered), ReadError>> {
        let session = self.session;
        let mut items = self.survey.items.iter();
        let mut ready = VecDeque::new();
        std::iter::from_fn(move || {
            loop {
                if let Some(message) = ready.pop_front() {
                    return Some(Ok(message));
                }
                let item = items.next()?;
                match render::messages(session, *item) {
                    Ok(messages) => {
                        ready.extend(messages.into_iter().map(|message| (item.number, message)));
                    }
                    Err(error) => return Some(Err(error)),
                }
            }
        })
    }

    /// The messages as they go to a model, as JSON objects: only the roles `user`, `assistant`,
    /// `toolResult`, `system` and `developer`, every call of a tool followed by its result, nothing
    /// that is empty (contract, section 8, "To model input").
    ///
    /// What is in memory reaches from one answer to the next, and no further than the last of its
    /// results.
    pub fn model_messages(&self) -> impl Iterator<Item = Result<String, ReadError>> {
        self.model_messages_with(ModelInput::default())
    }

    /// As [`SessionContext::model_messages`], with options.
    pub fn model_messages_with(
        &self,
        options: ModelInput,
    ) -> impl Iterator<Item = Result<String, ReadError>> {
        let mut messages = self.rendered();
        let mut pairing = Pairing::new(options);
        std::iter::from_fn(move || {
            loop {
                if let Some(message) = pairing.next_ready() {
                    return Some(Ok(message));
                }
                match messages.next() {
                    Some(Ok((_, message))) => pairing.take(message),
                    Some(Err(error)) => return Some(Err(error)),
                    None => {
                        pairing.finish();
                        return pairing.next_ready().map(Ok);
                    }
                }
            }
        })
    }
}

/// An array of strings.
fn names(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| quote(name)).collect();
    format!("[{}]", quoted.join(","))
}

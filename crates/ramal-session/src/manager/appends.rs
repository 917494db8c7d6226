//! One function for each kind of entry that programs append (contract, section 1).

use super::{NewEntry, SessionManager};
use crate::entry::EntryId;
use crate::error::AppendError;
use crate::json::quote;

/// What a compaction says.
#[derive(Debug, Clone, Default)]
pub struct Compaction<'a> {
    /// The summary that stands in place of what is not kept.
    pub summary: &'a str,
    /// The first entry that is kept; empty to keep nothing, which is written as the compaction's own id.
    pub first_kept_entry_id: &'a str,
    /// Tokens in the context before it.
    pub tokens_before: u64,
    /// JSON text that the compactor wants to find again.
    pub details: Option<&'a str>,
    /// Whether an extension made it.
    pub from_extension: Option<bool>,
}

/// Who gave a session its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameSource {
    /// The user: such a name stands until the user changes it.
    User,
    /// A program: used only where the user gave none.
    Generated,
}

impl SessionManager {
    /// Appends a message, given as a JSON object with a `role`.
    ///
    /// # Errors
    /// As for [`SessionManager::append`]; also if `message` is no JSON object.
    pub fn append_message(&mut self, message: &str) -> Result<EntryId, AppendError> {
        if !message.trim_start().starts_with('{') {
            return Err(AppendError::BadEntry { why: "a message must be a JSON object" });
        }
        self.append(&NewEntry::new("message").json("message", message))
    }

    /// Puts a label on an entry, or takes it off with none or an empty one. Answers the id of the
    /// `label` entry, which becomes the leaf; the label is in force when this returns.
    ///
    /// # Errors
    /// If there is no such entry, or nothing could be appended.
    pub fn append_label_change(&mut self, target: &str, label: Option<&str>) -> Result<EntryId, AppendError> {
        let label = label.map(str::trim).filter(|label| !label.is_empty()).map(quote);
        self.append(&NewEntry::new("label").text("targetId", target).json_if("label", label.as_deref()))
    }

    /// Names the session. An empty name clears what this source said before.
    ///
    /// # Errors
    /// As for [`SessionManager::append`].
    pub fn set_session_name(&mut self, name: &str, source: NameSource) -> Result<EntryId, AppendError> {
        match source {
            NameSource::User => self.append_session_info(name),
            NameSource::Generated => {
                self.append(&NewEntry::new("title_change").text("title", name.trim()).text("source", "auto"))
            }
        }
    }

    /// Appends a name given by the user.
    ///
    /// # Errors
    /// As for [`SessionManager::append`].
    pub fn append_session_info(&mut self, name: &str) -> Result<EntryId, AppendError> {
        self.append(&NewEntry::new("session_info").text("name", name.trim()))
    }

    /// Appends the choice of a model, in a form that both pi and oh-my-pi read. No role is the default one.
    ///
    /// # Errors
    /// As for [`SessionManager::append`].
    pub fn append_model_change(
        &mut self,
        provider: &str,
        model: &str,
        role: Option<&str>,
    ) -> Result<EntryId, AppendError> {
        let entry = NewEntry::new("model_change")
            .text("model", &format!("{provider}/{model}"))
            .text("provider", provider)
            .text("modelId", model)
            .json_if("role", role.map(quote).as_deref());
        self.append(&entry)
    }

    /// Appends the choice of a thinking level; none is off.
    ///
    /// # Errors
    /// As for [`SessionManager::append`].
    pub fn append_thinking_level_change(&mut self, level: Option<&str>) -> Result<EntryId, AppendError> {
        let level = level.map_or_else(|| "null".into(), quote);
        self.append(&NewEntry::new("thinking_level_change").json("thinkingLevel", &level))
    }

    /// Appends a compaction.
    ///
    /// # Errors
    /// As for [`SessionManager::append`].
    pub fn append_compaction(&mut self, compaction: &Compaction<'_>) -> Result<EntryId, AppendError> {
        let entry = NewEntry::new("compaction").text("summary", compaction.summary);
        let entry = match compaction.first_kept_entry_id {
            "" => entry.own_id("firstKeptEntryId"),
            id => entry.text("firstKeptEntryId", id),
        };
        let entry = entry
            .json("tokensBefore", &compaction.tokens_before.to_string())
            .json_if("details", compaction.details)
            .json_if(
                "fromExtension",
                compaction.from_extension.map(|yes| if yes { "true" } else { "false" }),
            );
        self.append(&entry)
    }

    /// Appends a record of an extension, which the model never sees. `data` is JSON text.
    ///
    /// # Errors
    /// As for [`SessionManager::append`].
    pub fn append_custom_entry(
        &mut self,
        custom_type: &str,
        data: Option<&str>,
    ) -> Result<EntryId, AppendError> {
        self.append(&NewEntry::new("custom").text("customType", custom_type).json_if("data", data))
    }

    /// Appends a message of an extension, which the model sees. `content` is JSON text, a string or
    /// blocks; `display` says whether the user sees it.
    ///
    /// # Errors
    /// As for [`SessionManager::append`].
    pub fn append_custom_message_entry(
        &mut self,
        custom_type: &str,
        content: &str,
        display: bool,
        details: Option<&str>,
    ) -> Result<EntryId, AppendError> {
        let entry = NewEntry::new("custom_message")
            .text("customType", custom_type)
            .json("content", content)
            .json("display", if display { "true" } else { "false" })
            .json_if("details", details);
        self.append(&entry)
    }

    /// Appends a change to what an entry contributes to the context on this branch: nothing any more,
    /// or another content, given as JSON text.
    ///
    /// # Errors
    /// If there is no such entry, or nothing could be appended.
    pub fn append_context_edit(
        &mut self,
        target: &str,
        content: Option<&str>,
    ) -> Result<EntryId, AppendError> {
        let replacement =
            content.map_or_else(|| "null".into(), |content| format!("{{\"content\":{content}}}"));
        self.append(&NewEntry::new("context_edit").text("targetId", target).json("replacement", &replacement))
    }

    /// Appends a boundary: the context begins after it.
    ///
    /// # Errors
    /// As for [`SessionManager::append`].
    pub fn append_reset_boundary(&mut self) -> Result<EntryId, AppendError> {
        self.append(&NewEntry::new("reset_boundary"))
    }
}

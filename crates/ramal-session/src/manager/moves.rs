//! Moving the leaf (contract, section 5, and section 6 as far as no model and no event is in it).

use super::{NewEntry, SessionManager};
use crate::entry::EntryId;
use crate::error::{AppendError, NoSuchEntry, ReadError};
use crate::json::quote;

/// Why one could not go to an entry. The leaf is where it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NavigateError {
    /// There is no such entry, or none that one can be at.
    #[error(transparent)]
    NoSuchEntry(#[from] NoSuchEntry),
    /// The entry could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The label could not be appended.
    #[error(transparent)]
    Append(#[from] AppendError),
}

/// What came of going to an entry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Moved {
    /// False if one was there already.
    pub moved: bool,
    /// The text of the message that is to be said again, for the editor.
    pub editor_text: Option<String>,
}

/// A summary of a branch that is left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BranchSummary<'a> {
    /// What was learned there.
    pub summary: &'a str,
    /// What is kept with it, as JSON text.
    pub details: Option<&'a str>,
    /// Whether an extension made it.
    pub from_extension: Option<bool>,
    /// What it cost, as JSON text in the form that answers have it.
    pub usage: Option<&'a str>,
}

impl SessionManager {
    /// Moves the leaf to an entry: the next one appended is its child. Writes nothing. Going to a
    /// `leaf` entry goes to its target.
    ///
    /// # Errors
    /// If there is no such entry; an entry without an id of its own cannot be gone to.
    pub fn branch(&mut self, id: &str) -> Result<(), NoSuchEntry> {
        let number = self.number_of(id)?;
        self.leaf = self.tree.landing(number).ok_or_else(|| NoSuchEntry { id: id.into() })?;
        Ok(())
    }

    /// Moves the leaf before the first entry: the next one appended is a new root. Writes nothing.
    pub fn reset_leaf(&mut self) {
        self.leaf = None;
    }

    /// Moves the leaf to `from`, or before the first entry, and appends a summary of the branch that
    /// is left there. The entry keeps the old leaf, so that one can go back to what was summarised.
    ///
    /// `details` is JSON text.
    ///
    /// # Errors
    /// If there is no such entry, or the summary could not be appended; the leaf is where it was then.
    pub fn branch_with_summary(
        &mut self,
        from: Option<&str>,
        summary: &str,
        details: Option<&str>,
        from_extension: Option<bool>,
    ) -> Result<EntryId, AppendError> {
        self.branch_with_summary_of(from, &BranchSummary { summary, details, from_extension, usage: None })
    }

    /// As [`SessionManager::branch_with_summary`], with all that a summary can have.
    ///
    /// # Errors
    /// As there.
    pub fn branch_with_summary_of(
        &mut self,
        from: Option<&str>,
        summary: &BranchSummary<'_>,
    ) -> Result<EntryId, AppendError> {
        let old = self.leaf;
        let old_id = self.get_leaf_id().map_err(|error| self.io_error(error.source))?;
        let entry = NewEntry::new("branch_summary")
            .text("fromId", from.unwrap_or("root"))
            .text("summary", summary.summary)
            .json_if("details", summary.details)
            .json("abandonedLeafId", &old_id.as_ref().map_or_else(|| "null".into(), |id| quote(id)))
            .json_if("fromExtension", summary.from_extension.map(|yes| if yes { "true" } else { "false" }))
            .json_if("usage", summary.usage);
        match from {
            Some(id) => self.branch(id)?,
            None => self.reset_leaf(),
        }
        let appended = self.append(&entry);
        if appended.is_err() {
            self.stand_again(old, old_id.as_ref());
        }
        appended
    }

    /// Stands again where one stood before an append failed, at the node `old` with the id `id`. The
    /// log may have been read anew meanwhile, and the entry be another node.
    fn stand_again(&mut self, old: Option<u32>, id: Option<&EntryId>) {
        let Some(id) = id else {
            self.leaf = None;
            return;
        };
        let is_it = |&number: &u32| {
            (number as usize) < self.tree.len() && self.entry_id(number).is_ok_and(|now| now == *id)
        };
        self.leaf = old.filter(is_it).or_else(|| self.tree.find(id)).or(self.leaf);
    }

    /// Goes to an entry as a user does who picks it in the tree: to the parent of a user message or an
    /// injected message, whose text is answered for the editor, and to anything else itself. A label,
    /// if one is given, is put on the target.
    ///
    /// # Errors
    /// If there is no such entry, or it could not be read or labelled.
    pub fn navigate(&mut self, id: &str, label: Option<&str>) -> Result<Moved, NavigateError> {
        let number = self.number_of(id)?;
        if self.leaf == Some(number) {
            return Ok(Moved::default());
        }
        let editor_text = self.editor_text(number)?;
        let old = self.leaf;
        let old_id = old.map(|old| self.entry_id(old).map_err(|source| self.read_error(old, source)));
        let old_id = old_id.transpose()?;
        if self.goes_before(number) {
            // A `leaf` entry is no place to be, as a parent neither.
            self.leaf = match self.tree.parent(number) {
                Some(parent) => self.tree.landing(parent).ok_or_else(|| NoSuchEntry { id: id.into() })?,
                None => None,
            };
        } else {
            self.branch(id)?;
        }
        if let Some(label) = label
            && let Err(error) = self.append_label_change(id, Some(label))
        {
            self.stand_again(old, old_id.as_ref());
            return Err(error.into());
        }
        Ok(Moved { moved: true, editor_text })
    }
}

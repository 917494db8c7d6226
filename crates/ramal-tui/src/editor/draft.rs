//! What is being written, as a text that outlives the program.

use serde::{Deserialize, Serialize};

use super::content::{Content, Mark, MarkKind};
use super::undo::Grouping;
use super::{Editor, Last, places};

/// Why a draft cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("this is no draft of an editor")]
pub struct DraftError(#[from] serde_json::Error);

#[derive(Serialize, Deserialize)]
struct StoredDraft {
    /// Without it, it is not a draft.
    text: String,
    #[serde(default, deserialize_with = "or_default")]
    marks: Vec<StoredMark>,
    #[serde(default, deserialize_with = "or_default")]
    cursor: Option<usize>,
    /// How many marks of pastes there have been.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Option::is_none")]
    pastes: Option<usize>,
    /// What was offered and had no room.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Option::is_none")]
    pending: Option<Box<StoredDraft>>,
}

#[derive(Serialize, Deserialize)]
struct StoredMark {
    label: String,
    text: String,
    /// Of a picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<String>,
}

impl Editor {
    /// What is being written, with the whole text of its marks, the cursor, and what waits to be put in. While
    /// an earlier prompt is looked at, it is what was being written before.
    pub fn to_draft(&self) -> String {
        let (content, cursor) = match self.history.draft() {
            Some(draft) => (&draft.content, draft.cursor),
            None => (&self.content, self.cursor),
        };
        let mut stored = store(content, Some(cursor));
        stored.pastes = Some(self.pastes);
        stored.pending = self.pending.as_ref().map(|pending| Box::new(store(pending, None)));
        serde_json::to_string(&stored).unwrap_or_default()
    }

    /// Puts a draft in the place of what is written, which can be taken back like any other change. What waits to
    /// be put in goes on waiting.
    ///
    /// # Errors
    /// If it is no draft; then nothing is changed.
    pub fn restore_draft(&mut self, draft: &str) -> Result<(), DraftError> {
        let other = Editor::from_draft(draft)?;
        self.edit(0..self.content.len(), &other.content, Grouping::Alone);
        self.cursor = other.cursor;
        self.pastes = self.pastes.max(other.pastes);
        self.pending = self.pending.take().or(other.pending);
        self.last = Last::Other;
        self.follow();
        Ok(())
    }

    /// An editor in which a draft goes on. What is damaged in one is passed over as long as its text reads.
    pub fn from_draft(draft: &str) -> Result<Editor, DraftError> {
        let stored: StoredDraft = serde_json::from_str(draft)?;
        let mut editor = Editor::new();
        editor.content = restore(&stored);
        let cursor = stored.cursor.unwrap_or(usize::MAX).min(editor.content.len());
        editor.cursor = places::at_or_after(editor.content.raw(), cursor);
        editor.pending = stored.pending.map(|pending| restore(&pending));
        editor.pastes = stored.pastes.unwrap_or(editor.content.marks().len());
        editor.follow();
        Ok(editor)
    }
}

fn store(content: &Content, cursor: Option<usize>) -> StoredDraft {
    let marks = content.marks().iter().map(|mark| StoredMark {
        label: mark.label().to_owned(),
        text: mark.text().to_owned(),
        source: match mark.kind() {
            MarkKind::Paste => None,
            MarkKind::Image { source } => Some(source.clone()),
        },
    });
    StoredDraft {
        text: content.raw().to_owned(),
        marks: marks.collect(),
        cursor,
        pastes: None,
        pending: None,
    }
}

fn restore(stored: &StoredDraft) -> Content {
    let marks = stored.marks.iter().map(|mark| {
        let kind = match &mark.source {
            None => MarkKind::Paste,
            Some(source) => MarkKind::Image { source: source.clone() },
        };
        Mark::restored(kind, &mark.label, &mark.text)
    });
    Content::mended(&stored.text, marks.collect())
}

/// A member that is not what it should be is as good as missing: the text matters more.
fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Default + serde::de::DeserializeOwned,
{
    let value = serde_json::Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

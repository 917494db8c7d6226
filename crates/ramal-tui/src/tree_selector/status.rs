//! What is to be said beside the rows.

use ramal_session::{Filter, ReadError};

use super::Selector;

/// What is to be said beside the rows.
#[derive(Debug)]
pub struct Status<'a> {
    /// The selected row, counted from 1; 0 if there is none.
    pub selected: usize,
    /// How many rows there are.
    pub rows: usize,
    /// How many entries the session has.
    pub entries: usize,
    /// The filter.
    pub filter: Filter,
    /// The words that are searched for, as they were typed.
    pub words: &'a str,
    /// How far the search is, if it has not seen everything.
    pub searching: Option<Progress>,
    /// How far the entries were looked at, if not all were: until then rows may still go.
    pub reading: Option<Progress>,
    /// Whether it is shown when labels were set.
    pub shows_label_times: bool,
    /// Why there is nothing to see, if there is not.
    pub nothing: Option<Nothing>,
    /// What kept an entry from being read, the last time that something did.
    pub problem: Option<&'a ReadError>,
}

/// How far something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Entries that were looked at.
    pub done: usize,
    /// Entries that there are.
    pub of: usize,
}

/// Why there is nothing to see but where one stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nothing {
    /// The session has no entries.
    NoEntries,
    /// It has, and none of them is conversation.
    NoConversation,
    /// The search has found nothing.
    NotFound,
    /// The filter hides all other entries: so many.
    Hidden(usize),
}

impl Selector {
    /// What is to be said beside the rows, as they were when they were asked for last.
    pub fn status(&self) -> Status<'_> {
        let entries = self.facts.len();
        let searched = self.search.as_ref().filter(|search| !search.is_complete());
        Status {
            selected: self.selected_row().map_or(0, |row| row + 1),
            rows: self.rows.len(),
            entries,
            filter: self.filter,
            words: &self.words,
            searching: searched.map(|search| Progress { done: search.looked_at(), of: entries }),
            reading: (!self.facts.is_complete()).then(|| Progress { done: self.facts.known(), of: entries }),
            shows_label_times: self.shows_label_times,
            nothing: self.nothing(),
            problem: self.problem.as_ref(),
        }
    }

    fn nothing(&self) -> Option<Nothing> {
        let only_here = self.rows.rows().take(2).all(|row| row.is_leaf());
        match &self.search {
            _ if self.facts.is_empty() => Some(Nothing::NoEntries),
            Some(search) => (only_here && search.is_complete()).then_some(Nothing::NotFound),
            None if !self.has_conversation => Some(Nothing::NoConversation),
            None => {
                let hidden = self.rows.hidden();
                let is_by_filter = only_here && self.folded.is_empty() && hidden > 0;
                is_by_filter.then_some(Nothing::Hidden(hidden))
            }
        }
    }
}

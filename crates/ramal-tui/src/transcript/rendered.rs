//! Lines that somebody else has drawn of an entry, in place of ours.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ramal_session::EntryId;
use ratatui::text::Line;

use super::output::block;
use crate::theme::{Role, Theme};

/// The lines of entries that are drawn elsewhere, and the entries whose lines are waited for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered {
    lines: Arc<HashMap<EntryId, String>>,
    awaited: HashSet<EntryId>,
    /// All of which was ever asked.
    asked: HashSet<EntryId>,
}

impl Rendered {
    /// The lines of an entry will come: until then it is not printed for good.
    pub fn wait_for(&mut self, id: &EntryId) {
        self.awaited.insert(id.clone());
    }

    /// The lines of an entry are asked for.
    pub fn ask(&mut self, id: &EntryId) {
        self.asked.insert(id.clone());
    }

    /// Whether they were ever asked for.
    pub fn is_asked(&self, id: &EntryId) -> bool {
        self.asked.contains(id)
    }

    /// Whether there are any.
    pub fn has_lines(&self, id: &EntryId) -> bool {
        self.lines.contains_key(id)
    }

    /// Whether the lines of anything are waited for.
    pub fn is_waiting(&self) -> bool {
        !self.awaited.is_empty()
    }

    /// What is waited for is drawn as usual until it comes.
    pub fn give_up(&mut self) {
        self.awaited.clear();
    }

    /// The lines of an entry have come, or nobody draws it: then it is drawn as usual. Answers whether what was
    /// printed of it already is drawn in another way now.
    pub fn has(&mut self, id: &EntryId, lines: Option<Vec<String>>) -> bool {
        let was_awaited = self.awaited.remove(id);
        let Some(text) = lines.map(|lines| lines.join("\n")).filter(|text| self.lines.get(id) != Some(text))
        else {
            return false;
        };
        Arc::make_mut(&mut self.lines).insert(id.clone(), text);
        !was_awaited
    }

    /// Nobody draws anything any more.
    pub fn forget(&mut self) {
        *self = Rendered::default();
    }

    /// Whether the lines of an entry are waited for.
    pub(super) fn is_awaited(&self, id: Option<&EntryId>) -> bool {
        id.is_some_and(|id| self.awaited.contains(id))
    }

    /// The lines of an entry, wrapped and made harmless; none if it is drawn as usual.
    pub(super) fn lines(
        &self,
        id: Option<&EntryId>,
        width: usize,
        theme: &Theme,
    ) -> Option<Vec<Line<'static>>> {
        let text = id.and_then(|id| self.lines.get(id))?;
        Some(block(text, width, 0, |_: &str| theme.style(Role::Text)))
    }
}

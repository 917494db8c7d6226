//! Looking through the options of a question that has many.

use super::{Question, Told};
use crate::keys::{ActionId, Key, Keymap, Place};
use crate::typing::{Typed, Typing};

/// With more options than have a number of their own, letters search.
const MOST_NUMBERED: usize = 9;

impl Question {
    /// The same; where there are many options, what is typed searches them.
    #[must_use]
    pub fn searched(mut self) -> Question {
        self.search = (self.options.len() > MOST_NUMBERED).then(|| Typing::one_line(""));
        self
    }

    /// The options that are seen: those with all words that are searched for.
    pub(super) fn found(&self) -> Vec<usize> {
        let query = self.search.as_ref().map(|search| search.text().to_lowercase()).unwrap_or_default();
        if query.trim().is_empty() {
            return (0..self.options.len()).collect();
        }
        let has_all = |text: &str| {
            let text = text.to_lowercase();
            query.split_whitespace().all(|word| text.contains(word))
        };
        let options = self.options.iter().enumerate();
        options.filter(|(_, option)| has_all(&option.text)).map(|(index, _)| index).collect()
    }

    /// Whether the selected option is seen.
    pub(super) fn has_selected(&self) -> bool {
        self.search.is_none() || self.found().contains(&self.selected)
    }

    /// Gives a key to the search. None if it is not for that.
    pub(super) fn search_key(&mut self, keymap: &Keymap, key: Key) -> Option<Told> {
        let search = self.search.as_mut()?;
        if key.typed().is_none() && keymap.action(Place::List, key).is_some() {
            return None;
        }
        let before = search.text();
        match search.key(keymap, key) {
            Typed::Nothing | Typed::Left | Typed::Done => return None,
            Typed::Changed => {}
        }
        if search.text() != before {
            self.selected = self.found().first().copied().unwrap_or(0);
        }
        Some(Told::Redraw)
    }

    /// The option so many steps from the selected one, among those that are seen; from the last one on to the
    /// first.
    pub(super) fn step(&mut self, action: ActionId) {
        let found = self.found();
        let Some(last) = found.len().checked_sub(1) else { return };
        let at = found.iter().position(|index| *index == self.selected).unwrap_or(0);
        let to = match action {
            ActionId::Up => at.checked_sub(1).unwrap_or(last),
            ActionId::Down if at == last => 0,
            ActionId::Down => at + 1,
            ActionId::First => 0,
            _ => last,
        };
        self.selected = found.get(to).copied().unwrap_or(self.selected);
    }
}

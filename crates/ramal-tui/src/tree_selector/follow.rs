//! A selector follows its session: entries that were appended, a leaf that moved, a log that was read anew.

use std::ops::Range;

use ramal_session::{Detail, EntryFacts, Kind, SessionManager};

use super::{Held, SLICE, Selector};

impl Selector {
    /// Takes in what has changed in the session; answers whether anything has. Folds, filter, search,
    /// selection and the place on the screen stay.
    ///
    /// All that a selector is asked begins with this; it costs nothing if nothing has changed.
    pub fn refresh(&mut self, session: &SessionManager) -> bool {
        if self.generation != session.generation() {
            self.begin_anew(session);
            return true;
        }
        let before = self.facts.len();
        if !self.order.refresh(session) {
            return false;
        }
        if session.entry_count() > before {
            self.take_in(session, before..session.entry_count());
        }
        self.follow_leaf(session);
        self.is_stale = true;
        true
    }

    fn take_in(&mut self, session: &SessionManager, new: Range<usize>) {
        let kinds =
            || new.clone().filter_map(|position| session.get_entry_at(position)).map(|entry| entry.kind());
        self.has_conversation |= kinds().any(Kind::is_conversation);
        let is_labeling = kinds().any(|kind| kind == Kind::Label);
        let was_complete = self.facts.is_complete();
        let mut relabeled = if is_labeling { self.facts.labeled().to_vec() } else { Vec::new() };
        self.facts.take_in(session);
        if was_complete {
            // A few entries are known at once, so that none shows up only to be gone again.
            self.read_facts(session, SLICE);
        }
        if is_labeling {
            relabeled.extend(self.facts.labeled());
            relabeled.sort_unstable();
            relabeled.dedup();
        }
        let Some(search) = &mut self.search else { return };
        search.grow(new.end);
        for position in relabeled {
            if let Err(problem) = search.look_again(session, position as usize) {
                self.problem = Some(problem);
            }
        }
        self.search_on(session, SLICE);
    }

    /// Where one stands moves with the leaf, but stays where one labelled something: a `label` entry is
    /// the leaf then, and nobody has gone anywhere.
    fn follow_leaf(&mut self, session: &SessionManager) {
        let home = self.home.as_ref().map(|home| home.position);
        let mut at = session.get_leaf_entry();
        while at.map(|entry| entry.position()) != home {
            match at {
                Some(entry) if entry.kind() == Kind::Label => at = entry.parent(),
                _ => {
                    let leaf = session.get_leaf_entry();
                    self.home = leaf.and_then(|leaf| Held::new(session, leaf.position()));
                    return;
                }
            }
        }
    }

    /// Entries have other positions or other parents than before: what is held is found by its id.
    fn begin_anew(&mut self, session: &SessionManager) {
        let find = |held: &Held| {
            let id = held.id.as_ref()?;
            Held::new(session, session.get_entry(id)?.position())
        };
        self.anchor = self.anchor.as_ref().and_then(find);
        self.home = self.home.as_ref().and_then(find);
        self.folds = self.folds.iter().filter_map(find).collect();
        self.folded = self.folds.iter().map(|fold| fold.position).collect();
        self.generation = session.generation();
        self.order.refresh(session);
        self.facts = EntryFacts::new(session, Detail::All);
        self.has_conversation = session.get_entries().any(|entry| entry.kind().is_conversation());
        self.read_facts(session, SLICE);
        self.forget_texts();
        self.follow_leaf(session);
        self.search = None;
        self.search_for(session);
        self.is_stale = true;
    }
}

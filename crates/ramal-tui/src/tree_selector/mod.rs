//! The tree under one's hands, without a terminal (contract, section 10).
//!
//! A [`Selector`] is told what to do by [`Command`]s and answers with an [`Outcome`]; it draws nothing,
//! writes nothing and holds no session. Whoever has the session lends it for each call, so that it is
//! locked only as long as that takes:
//!
//! - [`Selector::handle`] does what a key says, in one pass over a few bytes of each entry at worst;
//! - [`Selector::window`] and [`Selector::rows`] give what is to be drawn, and read only that;
//! - [`Selector::work`] reads on, a piece at a time, until searches and facts are complete;
//! - [`Selector::refresh`] takes in what was appended.
//!
//! Which entries a filter shows, what hangs where and what a search finds is decided by
//! [`ramal_session::Projection`] and its neighbours, as for `ramal tree`.

mod command;
mod follow;
mod row;
mod search;
mod selection;
mod status;

use std::collections::BTreeSet;

use ramal_session::{
    BranchTotals, Detail, EntryFacts, EntryId, EntryRef, Filter, Irregular, Projection, ReadError, Search,
    SessionManager, Shown, TreeOrder,
};

pub use command::{Command, Direction, Landmark, Outcome, Summary};
pub use row::{Excerpt, Marks, RowView};
pub use status::{Nothing, Progress, Status};

use self::row::Texts;
use self::search::SearchJob;

/// Bytes of entries that are looked at before an answer is given: some milliseconds.
const SLICE: u64 = 1 << 20;

/// A tree from which an entry is selected.
#[derive(Debug)]
pub struct Selector {
    filter: Filter,
    order: TreeOrder,
    facts: EntryFacts,
    rows: Projection,
    totals: Option<BranchTotals>,
    /// Whether the rows are to be made anew before anybody looks at them.
    is_stale: bool,
    /// Entries below which nothing is shown, by their positions; and the same by their ids.
    folded: BTreeSet<usize>,
    folds: Vec<Held>,
    words: String,
    search: Option<SearchJob>,
    /// The selected entry; its nearest visible ancestor is selected if it is hidden.
    anchor: Option<Held>,
    /// Where one stands: choosing it is to do nothing.
    home: Option<Held>,
    /// The line of the screen on which the selected row was last.
    line: Option<usize>,
    /// Somebody has moved the selection since the words were changed that are searched for.
    has_moved: bool,
    shows_label_times: bool,
    has_conversation: bool,
    generation: u64,
    texts: Texts,
    problem: Option<ReadError>,
}

/// An entry that is kept: by its position, and by its id for the case that positions change.
#[derive(Debug, Clone)]
struct Held {
    position: usize,
    id: Option<EntryId>,
}

impl Held {
    fn new(session: &SessionManager, position: usize) -> Option<Held> {
        let entry = session.get_entry_at(position)?;
        Some(Held { position, id: entry.id().ok() })
    }
}

/// What came of [`Selector::work`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// Whether something is to be drawn again.
    pub changed: bool,
    /// Whether there is nothing left to do.
    pub done: bool,
}

impl Selector {
    /// The tree of a session under a filter. The entry where one stands is selected, or the last row before
    /// the first entry.
    pub fn new(session: &SessionManager, filter: Filter) -> Selector {
        let home = session.get_leaf_entry().and_then(|leaf| Held::new(session, leaf.position()));
        let mut selector = Selector {
            filter,
            order: TreeOrder::new(session),
            facts: EntryFacts::new(session, Detail::All),
            rows: Projection::default(),
            totals: None,
            is_stale: true,
            folded: BTreeSet::new(),
            folds: Vec::new(),
            words: String::new(),
            search: None,
            anchor: home.clone(),
            home,
            line: None,
            has_moved: false,
            shows_label_times: false,
            has_conversation: session.get_entries().any(|entry| entry.kind().is_conversation()),
            generation: session.generation(),
            texts: Texts::default(),
            problem: None,
        };
        selector.read_facts(session, SLICE);
        selector.bring_up_to_date(session);
        selector.keep_selection(session);
        selector
    }

    /// Does what it is told.
    pub fn handle(&mut self, session: &SessionManager, command: Command) -> Outcome {
        self.bring_up_to_date(session);
        let outcome = self.obey(session, command);
        self.bring_up_to_date(session);
        outcome
    }

    fn obey(&mut self, session: &SessionManager, command: Command) -> Outcome {
        use Direction::{Back, Forward};
        match command {
            Command::Up => self.step(session, Back),
            Command::Down => self.step(session, Forward),
            Command::PageUp(rows) => self.page(session, Back, rows),
            Command::PageDown(rows) => self.page(session, Forward, rows),
            Command::Home => self.page(session, Back, usize::MAX),
            Command::End => self.page(session, Forward, usize::MAX),
            Command::Jump(direction, landmark) => self.jump(session, direction, landmark),
            Command::Select(row) => self.go(session, row),
            Command::FoldOrUp => self.fold_or_up(session),
            Command::UnfoldOrDown => self.unfold_or_down(session),
            Command::ToggleFold => self.toggle_fold(session),
            Command::UnfoldAll => self.unfold_all(),
            Command::SetFilter(filter) => self.set_filter(session, filter),
            Command::ToggleFilter(filter) if filter == self.filter => {
                self.set_filter(session, Filter::Default)
            }
            Command::ToggleFilter(filter) => self.set_filter(session, filter),
            Command::CycleFilter(direction) => self.set_filter(session, next_filter(self.filter, direction)),
            Command::Type(letter) => self.set_words(session, format!("{}{letter}", self.words)),
            Command::Erase => {
                let mut words = self.words.clone();
                words.pop();
                self.set_words(session, words)
            }
            Command::Search(words) => self.set_words(session, words),
            Command::ToggleLabelTimes => {
                self.shows_label_times = !self.shows_label_times;
                Outcome::Changed
            }
            Command::EditLabel => self.edit_label(session),
            Command::Copy => self.selected().map_or(Outcome::Nothing, Outcome::Copy),
            Command::Choose(summary) => self.choose(session, summary),
            Command::Escape if !self.words.is_empty() => self.set_words(session, String::new()),
            Command::Escape | Command::Cancel => Outcome::Close,
        }
    }

    fn set_filter(&mut self, session: &SessionManager, filter: Filter) -> Outcome {
        if filter == self.filter {
            return Outcome::Nothing;
        }
        self.keep_selection(session);
        self.filter = filter;
        self.is_stale = true;
        Outcome::Changed
    }

    fn set_words(&mut self, session: &SessionManager, words: String) -> Outcome {
        if words == self.words {
            return Outcome::Nothing;
        }
        self.keep_selection(session);
        self.words = words;
        self.has_moved = false;
        self.search_for(session);
        Outcome::Changed
    }

    /// Searches for the words, in what the search before has found if that was for less. The first piece is
    /// looked through at once, so that there is something to see.
    fn search_for(&mut self, session: &SessionManager) {
        self.is_stale = true;
        self.texts.forget_excerpts();
        let search = Search::new(&self.words);
        let before = self.search.take();
        if search.is_empty() {
            return;
        }
        self.search = Some(match before {
            Some(job) if search.narrows(job.search()) => job.narrowed(search),
            _ => {
                let entries = session.entry_count();
                let start = self.home.as_ref().map_or(entries, |home| home.position + 1);
                SearchJob::new(search, start, entries)
            }
        });
        self.search_on(session, SLICE);
    }

    fn search_on(&mut self, session: &SessionManager, bytes: u64) {
        let Some(job) = &mut self.search else { return };
        match job.work(session, bytes) {
            Ok(found) => self.is_stale |= found,
            Err(problem) => (self.problem, self.is_stale) = (Some(problem), true),
        }
    }

    fn read_facts(&mut self, session: &SessionManager, bytes: u64) {
        match self.facts.read(session, bytes) {
            Ok(changed) => self.is_stale |= changed,
            Err(problem) => (self.problem, self.is_stale) = (Some(problem), true),
        }
    }

    /// Reads on, about so many bytes: first for the search, then for what rows tell of entries and branches.
    /// To be called whenever there is time, until it is done. Rows are made of it when they are asked for, so
    /// that several pieces can be read between two drawings.
    pub fn work(&mut self, session: &SessionManager, bytes: u64) -> Work {
        let mut changed = self.refresh(session);
        if self.search.as_ref().is_some_and(|search| !search.is_complete()) {
            self.search_on(session, bytes);
            // How far it is can be seen, too.
            changed = true;
        } else if !self.facts.is_complete() {
            self.read_facts(session, bytes);
            changed |= self.is_stale || self.facts.is_complete();
        }
        let searched = self.search.as_ref().is_none_or(|search| search.is_complete());
        Work { changed, done: searched && self.facts.is_complete() }
    }

    /// Makes the rows anew if anything has changed that they show.
    fn bring_up_to_date(&mut self, session: &SessionManager) {
        self.refresh(session);
        if !std::mem::replace(&mut self.is_stale, false) {
            return;
        }
        self.totals = None;
        let shown = Shown {
            filter: self.filter,
            found: self.search.as_ref().map(SearchJob::found),
            // What was found is to be seen, wherever it is.
            folded: Some(&self.folded).filter(|_| self.search.is_none()),
            current: self.home.as_ref().map(|home| home.position),
        };
        self.rows.rebuild(&self.order, &self.facts, &shown);
    }

    fn choose(&mut self, session: &SessionManager, summary: Summary) -> Outcome {
        let leaf = session.get_leaf_entry().map(EntryRef::position);
        let home = self.home.as_ref().map(|home| home.position);
        match self.selected() {
            None => Outcome::Nothing,
            selected if selected == home || selected == leaf => Outcome::AlreadyHere,
            Some(position) => {
                self.place(session, position, |position, id, _| Outcome::Go { position, id, summary })
            }
        }
    }

    fn edit_label(&mut self, session: &SessionManager) -> Outcome {
        let Some(position) = self.selected() else { return Outcome::Nothing };
        self.place(session, position, |position, id, entry| Outcome::AskLabel {
            position,
            id,
            present: entry.label().map(str::to_owned),
        })
    }

    /// What is to be done at an entry, if it is a place where one can be.
    fn place(
        &self,
        session: &SessionManager,
        position: usize,
        then: impl FnOnce(usize, EntryId, EntryRef<'_>) -> Outcome,
    ) -> Outcome {
        let Some(entry) = session.get_entry_at(position) else { return Outcome::Nothing };
        match (entry.irregular(), entry.id()) {
            (Some(Irregular::NoId), _) => Outcome::NotAPlace(Irregular::NoId),
            (_, Ok(id)) => then(position, id, entry),
            (_, Err(problem)) => Outcome::Failed(problem),
        }
    }
}

fn next_filter(filter: Filter, direction: Direction) -> Filter {
    let all = Filter::ALL;
    let at = all.iter().position(|&other| other == filter).unwrap_or_default();
    let step = if direction == Direction::Forward { 1 } else { all.len() - 1 };
    all[(at + step) % all.len()]
}

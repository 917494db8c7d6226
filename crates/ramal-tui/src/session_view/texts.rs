//! What a search has found in texts, and what it has still to hear about.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use ramal_session::library::{Query, TextMatch};

/// Files whose texts are to be looked through, as [`ramal_session::library::search`] does.
#[derive(Debug, Clone)]
pub struct TextsWanted {
    /// The number of the search. It goes back to the view with what was found.
    pub number: u64,
    /// What is searched for.
    pub query: Query,
    /// The files, those that are seen first before the others.
    pub files: Vec<PathBuf>,
}

/// The search of a number.
#[derive(Debug, Default)]
pub(super) struct Texts {
    number: u64,
    asked: HashSet<PathBuf>,
    answered: HashSet<PathBuf>,
    found: HashMap<PathBuf, TextMatch>,
}

impl Texts {
    /// Another search begins.
    pub(super) fn forget(&mut self) {
        *self = Texts { number: self.number + 1, ..Texts::default() };
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Asks for those of the files that were not asked for before.
    pub(super) fn want<'a>(
        &mut self,
        query: &Query,
        files: impl Iterator<Item = &'a Path>,
    ) -> Option<TextsWanted> {
        let new: Vec<PathBuf> = files.filter(|file| !self.asked.contains(*file)).map(PathBuf::from).collect();
        self.asked.extend(new.iter().cloned());
        let is_any = !new.is_empty();
        is_any.then(|| TextsWanted { number: self.number, query: query.clone(), files: new })
    }

    /// Takes in an answer; whether rows may have changed.
    pub(super) fn found(&mut self, number: u64, path: &Path, found: Option<TextMatch>) -> bool {
        if number != self.number || !self.asked.contains(path) {
            return false;
        }
        self.answered.insert(path.to_owned());
        let Some(found) = found else { return false };
        self.found.insert(path.to_owned(), found);
        true
    }

    pub(super) fn of(&self, path: &Path) -> Option<&TextMatch> {
        self.found.get(path)
    }

    /// How many files of how many have been looked through, as long as there are more.
    pub(super) fn searching(&self) -> Option<(usize, usize)> {
        (self.answered.len() < self.asked.len()).then_some((self.answered.len(), self.asked.len()))
    }
}

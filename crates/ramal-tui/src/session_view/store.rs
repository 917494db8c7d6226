//! The sessions of a scope, as far as they have been found.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ramal_session::library::{Query, SessionInfo};

use super::find::{Fields, Fits, fits};

/// The sessions, each at a place that it keeps until one is taken out.
#[derive(Debug, Default)]
pub(super) struct Store {
    infos: Vec<SessionInfo>,
    /// For each what is searched in it.
    fields: Vec<Fields>,
    by_path: HashMap<PathBuf, usize>,
    /// How they fit the search of that number, as far as that has been looked at.
    fits: (u64, Vec<Fits>),
    listing: Listing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Listing {
    #[default]
    NotBegun,
    Goes {
        done: usize,
        of: usize,
    },
    Finished,
}

impl Store {
    /// One whose sessions are being listed.
    pub(super) fn begun() -> Store {
        Store { listing: Listing::Goes { done: 0, of: 0 }, ..Store::default() }
    }

    /// Notes that they are being listed; whether they were not before.
    pub(super) fn begin(&mut self) -> bool {
        let is_new = self.listing == Listing::NotBegun;
        if is_new {
            self.listing = Listing::Goes { done: 0, of: 0 };
        }
        is_new
    }

    pub(super) fn progress(&mut self, done: usize, of: usize) {
        self.listing = Listing::Goes { done, of };
    }

    pub(super) fn finish(&mut self) {
        self.listing = Listing::Finished;
    }

    /// How many files of how many have been read, as long as there are more.
    pub(super) fn reading(&self) -> Option<(usize, usize)> {
        match self.listing {
            Listing::Goes { done, of } => Some((done, of)),
            Listing::NotBegun | Listing::Finished => None,
        }
    }

    pub(super) fn add(&mut self, sessions: impl IntoIterator<Item = SessionInfo>) {
        for info in sessions {
            let fields = Fields::of(&info);
            if let Some(&at) = self.by_path.get(&info.path) {
                self.infos[at] = info;
                self.fields[at] = fields;
                self.fits.1.truncate(at);
            } else {
                self.by_path.insert(info.path.clone(), self.infos.len());
                self.infos.push(info);
                self.fields.push(fields);
            }
        }
    }

    pub(super) fn rename(&mut self, path: &Path, name: Option<&str>) {
        let Some(at) = self.find(path) else { return };
        let mut info = self.infos[at].clone();
        info.name = name.map(str::to_owned);
        self.add([info]);
    }

    pub(super) fn remove(&mut self, path: &Path) {
        let Some(at) = self.by_path.remove(path) else { return };
        self.infos.remove(at);
        self.fields.remove(at);
        self.fits.1.clear();
        self.by_path.values_mut().filter(|place| **place > at).for_each(|place| *place -= 1);
    }

    pub(super) fn all(&self) -> &[SessionInfo] {
        &self.infos
    }

    pub(super) fn get(&self, at: usize) -> Option<&SessionInfo> {
        self.infos.get(at)
    }

    pub(super) fn find(&self, path: &Path) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// Looks how each fits a search, by what stands beside its texts.
    pub(super) fn look_at(&mut self, query: &Query, number: u64) {
        if self.fits.0 != number {
            self.fits = (number, Vec::new());
        }
        let from = self.fits.1.len();
        self.fits.1.extend(self.fields[from..].iter().map(|fields| fits(query, fields)));
    }

    /// How one fits the search that was looked at last.
    pub(super) fn fits(&self, at: usize) -> Option<&Fits> {
        self.fits.1.get(at)
    }
}

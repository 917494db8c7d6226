//! A search that goes on while one looks: entries are read from the leaf outwards, a piece at a time, and
//! the whole can be dropped at the next letter.

use std::ops::Range;

use ramal_session::{EntrySet, ReadError, Search, Searcher, SessionManager};

/// A search at work.
#[derive(Debug)]
pub(super) struct SearchJob {
    search: Search,
    searcher: Searcher,
    /// Where it began.
    start: usize,
    /// The entries that were looked at; it grows at both ends.
    looked_at: Range<usize>,
    found: EntrySet,
    /// What a wider search left of the entries that it looked at.
    wider: Range<usize>,
    left: EntrySet,
    entries: usize,
}

/// Entries that are looked at on one side before it is the other side's turn.
const RUN: usize = 64;
/// What it counts, in bytes, to pass over entries.
const GLANCE: u64 = 16;

impl SearchJob {
    /// A search that begins at an entry.
    pub(super) fn new(search: Search, start: usize, entries: usize) -> SearchJob {
        let start = start.min(entries);
        SearchJob {
            search,
            searcher: Searcher::new(),
            start,
            looked_at: start..start,
            found: EntrySet::new(),
            wider: start..start,
            left: EntrySet::new(),
            entries,
        }
    }

    /// The search for more or longer words: of what was looked at already it looks only at what was found.
    pub(super) fn narrowed(self, search: Search) -> SearchJob {
        let mut left = self.found;
        // Further out an even wider search may have been.
        for range in [self.wider.start..self.looked_at.start, self.looked_at.end..self.wider.end] {
            let mut at = range.start;
            while let Some(position) = self.left.first_in(at..range.end) {
                left.insert(position);
                at = position + 1;
            }
        }
        let wider = self.looked_at.start.min(self.wider.start)..self.looked_at.end.max(self.wider.end);
        SearchJob {
            search,
            searcher: self.searcher,
            start: self.start,
            looked_at: self.start..self.start,
            found: EntrySet::new(),
            wider,
            left,
            entries: self.entries,
        }
    }

    pub(super) fn search(&self) -> &Search {
        &self.search
    }

    pub(super) fn searcher(&mut self) -> &mut Searcher {
        &mut self.searcher
    }

    pub(super) fn found(&self) -> &EntrySet {
        &self.found
    }

    pub(super) fn looked_at(&self) -> usize {
        self.looked_at.len()
    }

    pub(super) fn is_complete(&self) -> bool {
        self.looked_at == (0..self.entries)
    }

    /// Entries were appended.
    pub(super) fn grow(&mut self, entries: usize) {
        self.entries = entries;
    }

    /// Looks on until about so many bytes were read; answers whether anything was found.
    ///
    /// # Errors
    /// If an entry cannot be read. It is passed over, and one may go on.
    pub(super) fn work(&mut self, session: &SessionManager, bytes: u64) -> Result<bool, ReadError> {
        let mut found = false;
        let mut left = bytes;
        while left > 0 && !self.is_complete() {
            for _ in 0..RUN {
                if left == 0 || self.looked_at.start == 0 {
                    break;
                }
                let next = self.next_above();
                let (is_found, cost) = self.look_at(session, next)?;
                found |= is_found;
                left = left.saturating_sub(cost);
            }
            for _ in 0..RUN {
                if left == 0 || self.looked_at.end == self.entries {
                    break;
                }
                let next = self.next_below();
                let (is_found, cost) = self.look_at(session, next)?;
                found |= is_found;
                left = left.saturating_sub(cost);
            }
        }
        Ok(found)
    }

    /// The next entry towards the beginning of the log; none if only such were passed over that a wider
    /// search ruled out.
    fn next_above(&mut self) -> Option<usize> {
        let end = self.looked_at.start;
        if end > self.wider.start {
            let next = self.left.last_in(self.wider.start..end);
            self.looked_at.start = next.unwrap_or(self.wider.start);
            return next;
        }
        self.looked_at.start = end - 1;
        Some(end - 1)
    }

    /// The same towards the end.
    fn next_below(&mut self) -> Option<usize> {
        let from = self.looked_at.end;
        if self.wider.contains(&from) {
            let next = self.left.first_in(from..self.wider.end);
            self.looked_at.end = next.map_or(self.wider.end, |next| next + 1);
            return next;
        }
        self.looked_at.end = from + 1;
        Some(from)
    }

    fn look_at(&mut self, session: &SessionManager, next: Option<usize>) -> Result<(bool, u64), ReadError> {
        let Some(entry) = next.and_then(|position| session.get_entry_at(position)) else {
            return Ok((false, GLANCE));
        };
        let finds = self.searcher.finds(session, &self.search, entry)?;
        if finds {
            self.found.insert(entry.position());
        }
        Ok((finds, entry.size().max(GLANCE)))
    }

    /// Looks again at an entry whose label has changed.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn look_again(&mut self, session: &SessionManager, position: usize) -> Result<(), ReadError> {
        if !self.looked_at.contains(&position) {
            self.left.insert(position);
            return Ok(());
        }
        self.found.remove(position);
        self.look_at(session, Some(position)).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// However little was looked at before the next letter came, in the end everything is found, and
        /// nothing is looked at twice that was ruled out.
        #[test]
        fn narrowed_again_and_again_it_finds_what_there_is(
            texts in prop::collection::vec("[01]{1,5}", 1..80),
            start in 0usize..80,
            letters in prop::collection::vec(("[01]", 0u64..4000), 1..5),
        ) {
            let mut session = SessionManager::in_memory("/");
            for text in &texts {
                session.append_message(&format!(r#"{{"role":"user","content":"<{text}>"}}"#)).unwrap();
            }
            let mut words = String::new();
            let mut job = SearchJob::new(Search::new("<"), start, texts.len());
            for (letter, bytes) in letters {
                job.work(&session, bytes).unwrap();
                words += &letter;
                job = job.narrowed(Search::new(&words));
                let ruled_out = job.wider.clone().filter(|&at| !job.left.contains(at));
                prop_assert!(ruled_out.into_iter().all(|at| !texts[at].contains(&words)));
            }
            while !job.is_complete() {
                job.work(&session, 500).unwrap();
            }
            let found: Vec<usize> = (0..texts.len()).filter(|&at| job.found().contains(at)).collect();
            let wanted: Vec<usize> = (0..texts.len()).filter(|&at| texts[at].contains(&words)).collect();
            prop_assert_eq!(found, wanted);
        }
    }
}

//! A set of entries: a bit for each.

use std::ops::Range;

/// A set of entries by their positions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntrySet {
    words: Vec<u64>,
}

impl EntrySet {
    /// A set with no entry in it.
    pub fn new() -> EntrySet {
        EntrySet::default()
    }

    /// Whether an entry is in it.
    pub fn contains(&self, position: usize) -> bool {
        self.words.get(position / 64).is_some_and(|word| word >> (position % 64) & 1 == 1)
    }

    /// Puts an entry in.
    pub fn insert(&mut self, position: usize) {
        let place = position / 64;
        if place >= self.words.len() {
            self.words.resize(place + 1, 0);
        }
        self.words[place] |= 1 << (position % 64);
    }

    /// Takes an entry out.
    pub fn remove(&mut self, position: usize) {
        if let Some(word) = self.words.get_mut(position / 64) {
            *word &= !(1 << (position % 64));
        }
    }

    /// How many are in it.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether none is in it.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// The first entry of a range that is in it.
    pub fn first_in(&self, range: Range<usize>) -> Option<usize> {
        let mut at = range.start;
        while at < range.end {
            let rest = self.words.get(at / 64)? >> (at % 64);
            if rest != 0 {
                let found = at + rest.trailing_zeros() as usize;
                return (found < range.end).then_some(found);
            }
            at = (at / 64 + 1) * 64;
        }
        None
    }

    /// The last entry of a range that is in it.
    pub fn last_in(&self, range: Range<usize>) -> Option<usize> {
        let mut end = range.end.min(self.words.len() * 64);
        while end > range.start {
            let last = end - 1;
            let rest = self.words[last / 64] << (63 - last % 64);
            if rest != 0 {
                let found = last - rest.leading_zeros() as usize;
                return (found >= range.start).then_some(found);
            }
            end = last / 64 * 64;
        }
        None
    }
}

impl Extend<usize> for EntrySet {
    fn extend<I: IntoIterator<Item = usize>>(&mut self, positions: I) {
        positions.into_iter().for_each(|position| self.insert(position));
    }
}

impl FromIterator<usize> for EntrySet {
    fn from_iter<I: IntoIterator<Item = usize>>(positions: I) -> EntrySet {
        let mut set = EntrySet::new();
        set.extend(positions);
        set
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_answers_as_a_list_would(list in prop::collection::btree_set(0usize..300, 0..40), from in 0usize..320, to in 0usize..320) {
            let mut set: EntrySet = list.iter().copied().chain([7]).collect();
            if !list.contains(&7) {
                set.remove(7);
            }
            set.remove(1000);
            prop_assert_eq!(set.len(), list.len());
            prop_assert_eq!(set.is_empty(), list.is_empty());
            prop_assert!((0..320).all(|at| set.contains(at) == list.contains(&at)));
            let inside = || list.iter().copied().filter(|at| (from..to).contains(at));
            prop_assert_eq!(set.first_in(from..to), inside().next());
            prop_assert_eq!(set.last_in(from..to), inside().next_back());
        }
    }
}

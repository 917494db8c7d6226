//! Which rows have the words of a query, how well, and where.

use std::ops::Range;

use crate::editor::fuzzy_find;
use crate::text::marks::occurrences;

/// What a word is worth that stands in a row as it was typed, against one whose letters only do.
const AS_TYPED: i64 = 1 << 32;

/// The words of a query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Words(Vec<String>);

impl Words {
    /// The words of a query; whether they are typed in upper or lower case is all the same.
    pub(super) fn of(query: &str) -> Words {
        Words(query.split_whitespace().map(str::to_lowercase).collect())
    }

    /// Whether everything has them, there being none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a text in lower case has all of them as they are.
    pub(super) fn all_stand_in(&self, lower: &str) -> bool {
        self.0.iter().all(|word| lower.contains(&**word))
    }

    /// How well a text in lower case has all of them: as they are, or their letters in one word of its own.
    /// The better, the higher; none if one is missing.
    pub(super) fn score(&self, lower: &str) -> Option<i64> {
        let mut sum = 0;
        for word in &self.0 {
            let best = lower.split_whitespace().filter_map(|own| Some(fuzzy_find(word, own)?.score)).max()?;
            sum += best + if lower.contains(&**word) { AS_TYPED } else { 0 };
        }
        Some(sum)
    }

    /// What is to be marked of a text: each word where it stands, or else the letters of it in that word of
    /// the text where they stand best. In order, and none within another.
    pub(super) fn marks(&self, text: &str) -> Vec<Range<usize>> {
        let mut marks: Vec<Range<usize>> = Vec::new();
        for word in &self.0 {
            let found = occurrences(text, std::slice::from_ref(word));
            if found.is_empty() {
                marks.extend(letters(word, text));
            } else {
                marks.extend(found);
            }
        }
        marks.sort_by_key(|mark| (mark.start, mark.end));
        let mut merged: Vec<Range<usize>> = Vec::with_capacity(marks.len());
        for mark in marks {
            match merged.last_mut() {
                Some(last) if mark.start <= last.end => last.end = last.end.max(mark.end),
                _ => merged.push(mark),
            }
        }
        merged
    }
}

fn letters(word: &str, text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    let mut best: Option<(i64, Vec<Range<usize>>)> = None;
    for own in text.split_inclusive(char::is_whitespace) {
        if let Some(found) = fuzzy_find(word, own)
            && best.as_ref().is_none_or(|(score, _)| found.score > *score)
        {
            let letter = |&index: &usize| {
                let length = own[index..].chars().next().map_or(0, char::len_utf8);
                at + index..at + index + length
            };
            best = Some((found.score, found.at.iter().map(letter).collect()));
        }
        at += own.len();
    }
    best.map(|(_, marks)| marks).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_marked() {
        for (query, text, want) in [
            ("pars", "The parser, a Parser", "The [pars]er, a [Pars]er"),
            ("prsr", "The parser", "The [p]a[rs]e[r]"),
            ("gpt 4o", "openai/gpt-4o", "openai/[gpt]-[4o]"),
            ("é", "CAFÉ au lait", "CAF[É] au lait"),
            ("pa ars", "parser", "[pars]er"),
            ("thepa", "the parser", "the parser"),
        ] {
            let mut shown = text.to_owned();
            for mark in Words::of(query).marks(text).into_iter().rev() {
                shown.insert(mark.end, ']');
                shown.insert(mark.start, '[');
            }
            assert_eq!(shown, want, "{query}");
        }
    }

    #[test]
    fn as_typed_comes_before_letters_in_between() {
        let words = Words::of("mini");
        let score = |text| words.score(text);
        assert!(score("a mini model") > score("magnificent"));
        assert!(score("gpt-4o-mini") > score("m-i-n-i"));
        assert_eq!(score("max in"), None, "the letters stand in two words");
        assert_eq!(Words::of("  ").score("anything"), Some(0));
    }
}

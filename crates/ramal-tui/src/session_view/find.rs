//! How sessions fit a search, and where in what is shown of them it is found.

use std::ops::Range;

use ramal_session::library::{Query, SessionInfo, Term};

use crate::editor::fuzzy_find;
use crate::text::marks::{apart, occurrences};

/// What is searched in a session besides its texts, as it is and in lower case.
#[derive(Debug)]
pub(super) struct Fields {
    fields: [Field; 5],
}

#[derive(Debug)]
struct Field {
    text: String,
    lower: String,
    /// What it is worth if something is found in it.
    worth: i64,
    /// Letters may be missing between those of a word.
    is_fuzzy: bool,
}

impl Fields {
    pub(super) fn of(info: &SessionInfo) -> Fields {
        let field = |text: &str, worth, is_fuzzy| Field {
            text: text.to_owned(),
            lower: text.to_lowercase(),
            worth,
            is_fuzzy,
        };
        let path = info.path.to_string_lossy();
        Fields {
            fields: [
                field(info.name.as_deref().unwrap_or_default(), 1000, true),
                field(info.first_message.as_deref().unwrap_or_default(), 800, true),
                field(&info.id, 700, false),
                field(&info.cwd, 600, true),
                field(&path, 500, false),
            ],
        }
    }
}

/// What it is worth if something stands in a text. More than letters that are found here and there.
pub(super) const IN_TEXTS: i64 = 400;
const FUZZY: i64 = 300;
/// A word that begins where a word does fits better.
const BEGINS: i64 = 100;
/// Fewer letters are in their order in nearly everything.
const FEWEST: usize = 3;
/// Characters of a field in which letters may be missing.
const FUZZY_WITHIN: usize = 200;

/// How a session fits, term by term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fits {
    /// What each term is worth; none where it was not found.
    pub(super) worth: Vec<Option<i64>>,
    /// All terms were found letter by letter: its texts can add nothing.
    pub(super) is_literal: bool,
}

pub(super) fn fits(query: &Query, fields: &Fields) -> Fits {
    let worth: Vec<_> = query.terms().iter().map(|term| worth(term, fields)).collect();
    let is_literal = worth.iter().all(|worth| worth.is_some_and(|worth| worth > IN_TEXTS));
    Fits { worth, is_literal }
}

fn worth(term: &Term, fields: &Fields) -> Option<i64> {
    let literal = |field: &Field| match term {
        Term::Word(text) | Term::Phrase(text) => {
            let at = field.lower.find(&**text)?;
            let before = field.lower[..at].chars().next_back();
            Some(field.worth + if before.is_none_or(|c| !c.is_alphanumeric()) { BEGINS } else { 0 })
        }
        Term::Pattern(pattern) => pattern.is_in(&field.text).then_some(field.worth),
    };
    let found = fields.fields.iter().filter_map(literal).max();
    let Term::Word(word) = term else { return found };
    let fuzzy = |field: &Field| {
        let end = field.text.char_indices().nth(FUZZY_WITHIN).map_or(field.text.len(), |(at, _)| at);
        let at = loosely(word, &field.text[..end])?;
        Some(FUZZY - (span(&at) - at.len()).min(100) as i64)
    };
    found.or_else(|| fields.fields.iter().filter(|field| field.is_fuzzy).filter_map(fuzzy).max())
}

/// Where the letters of a word stand in a text in their order and near each other, the first of them where a word
/// begins. Less strict, nearly everything would be found.
fn loosely(word: &str, text: &str) -> Option<Vec<usize>> {
    let letters = word.chars().count();
    if letters < FEWEST {
        return None;
    }
    let at = fuzzy_find(word, text)?.at;
    let before = text.get(..*at.first()?)?.chars().next_back();
    let begins = before.is_none_or(|c| !c.is_alphanumeric());
    (begins && span(&at) <= word.len() * 2).then_some(at)
}

/// Bytes from the first place to the last.
fn span(at: &[usize]) -> usize {
    match at {
        [first, .., last] => last - first + 1,
        places => places.len(),
    }
}

/// Where a search is found in a text that is shown, from left to right.
pub(super) fn marks(query: &Query, text: &str) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    for term in query.terms() {
        match term {
            Term::Pattern(pattern) => places.extend(pattern.places(text)),
            Term::Phrase(phrase) => places.extend(occurrences(text, std::slice::from_ref(phrase))),
            Term::Word(word) => {
                let found = occurrences(text, std::slice::from_ref(word));
                if found.is_empty() {
                    let letters = loosely(word, text).unwrap_or_default().into_iter();
                    places.extend(
                        letters.filter_map(|at| Some(at..at + text.get(at..)?.chars().next()?.len_utf8())),
                    );
                }
                places.extend(found);
            }
        }
    }
    apart(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_searched_for_is_marked() {
        for (query, text, want) in [
            ("cache", "The Cache of caches", &["Cache", "cache"][..]),
            ("\"slow start\"", "a Slow start, slow", &["Slow start"]),
            ("re:s.o", "slow, slo", &["slo", "slo"]),
            ("csh", "cache", &[]),
            ("cch", "the cache", &["c", "c", "h"]),
            ("cache ache", "cache", &["cache"]),
            ("日語x", "日本語 x", &["日", "語", "x"]),
            ("", "text", &[]),
        ] {
            let query = Query::read(query).unwrap();
            let found: Vec<_> = marks(&query, text).into_iter().map(|place| &text[place]).collect();
            assert_eq!(found, want, "{text}");
        }
    }
}

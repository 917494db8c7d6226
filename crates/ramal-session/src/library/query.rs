//! What sessions are searched for: words, `"exact phrases"`, or one `re:pattern`.

use std::fmt;
use std::ops::Range;

use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

/// What all has to be found in a session for it to be shown.
#[derive(Debug, Clone, Default)]
pub struct Query {
    terms: Vec<Term>,
}

/// One thing that has to be found.
#[derive(Debug, Clone)]
pub enum Term {
    /// A word, in lower case. Where little is looked through, letters may be missing between its own.
    Word(String),
    /// Several words as they stand, in lower case, with single spaces between them.
    Phrase(String),
    /// A regular expression; upper and lower case are the same to it.
    Pattern(Pattern),
}

/// A regular expression, read.
#[derive(Clone)]
pub struct Pattern {
    text: String,
    matcher: RegexMatcher,
}

/// A pattern that is no regular expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this is no regular expression: {why}")]
pub struct PatternError {
    /// What is wrong with it, in a line.
    pub why: String,
}

impl Query {
    /// Reads what somebody typed. `re:` at its beginning makes all of it one pattern; words within quotes are a
    /// phrase; a quote that is not closed makes everything plain words.
    ///
    /// # Errors
    /// If the pattern is no regular expression.
    pub fn read(text: &str) -> Result<Query, PatternError> {
        let text = text.trim();
        if let Some(pattern) = text.strip_prefix("re:") {
            let pattern = pattern.trim();
            let terms = match pattern {
                "" => Vec::new(),
                pattern => vec![Term::Pattern(Pattern::read(pattern)?)],
            };
            return Ok(Query { terms });
        }
        let pieces: Vec<&str> = text.split('"').collect();
        let is_closed = pieces.len() % 2 == 1;
        let mut terms: Vec<Term> = Vec::new();
        for (number, piece) in pieces.into_iter().enumerate() {
            let words = piece.split_whitespace().map(str::to_lowercase);
            if is_closed && number % 2 == 1 {
                let phrase = words.collect::<Vec<_>>().join(" ");
                terms.extend((!phrase.is_empty()).then_some(Term::Phrase(phrase)));
            } else {
                terms.extend(words.map(Term::Word));
            }
        }
        Ok(Query { terms })
    }

    /// Whether nothing is searched for, and everything is found.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// All that has to be found.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }
}

impl Term {
    /// Whether it stands in a text, letter by letter, whatever the case.
    pub fn is_in(&self, text: &str) -> bool {
        match self {
            Term::Word(word) => text.to_lowercase().contains(&**word),
            Term::Phrase(phrase) => phrase_is_in(phrase, text),
            Term::Pattern(pattern) => pattern.is_in(text),
        }
    }
}

pub(super) fn phrase_is_in(phrase: &str, text: &str) -> bool {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line.to_lowercase().contains(phrase)
}

impl Pattern {
    fn read(text: &str) -> Result<Pattern, PatternError> {
        let matcher = RegexMatcherBuilder::new().case_insensitive(true).build(text);
        let matcher = matcher.map_err(|error| {
            // Its last line says what is wrong; those before it draw where.
            let said = error.to_string();
            let why = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
            PatternError { why: why.trim().trim_start_matches("error: ").to_owned() }
        })?;
        Ok(Pattern { text: text.to_owned(), matcher })
    }

    /// Whether it matches somewhere in a text.
    pub fn is_in(&self, text: &str) -> bool {
        self.matcher.is_match(text.as_bytes()).unwrap_or(false)
    }

    /// Where it matches in a text, from left to right, empty matches left out.
    pub fn places(&self, text: &str) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        let take = |found: grep_matcher::Match| {
            let place = found.start()..found.end();
            if !place.is_empty() && text.get(place.clone()).is_some() {
                places.push(place);
            }
            true
        };
        // Nothing can go wrong here, as the type of the error says.
        let _ = self.matcher.find_iter(text.as_bytes(), take);
        places
    }

    /// The pattern as it was typed.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({:?})", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        let query = Query::read(text).unwrap();
        let shown = query.terms().iter().map(|term| match term {
            Term::Word(word) => word.clone(),
            Term::Phrase(phrase) => format!("<{phrase}>"),
            Term::Pattern(pattern) => format!("/{}/", pattern.text()),
        });
        shown.collect()
    }

    #[test]
    fn words_phrases_and_patterns() {
        for (text, want) in [
            ("", &[][..]),
            ("  The Cache ", &["the", "cache"]),
            (r#"a "Slow  START" b"#, &["a", "<slow start>", "b"]),
            (r#""" x"#, &["x"]),
            (r#"a "b c"#, &["a", "b", "c"]),
            (r#""a b" "c"#, &["a", "b", "c"]),
            ("re:", &[]),
            (" re: slow.*start ", &["/slow.*start/"]),
            ("x re:y", &["x", "re:y"]),
        ] {
            assert_eq!(terms(text), want, "{text}");
        }
        let error = Query::read("re:(open").unwrap_err();
        assert!(error.why.contains("unclosed group") && !error.why.contains('\n'), "{error}");
    }

    #[test]
    fn found_whatever_the_case_and_the_spaces() {
        for (text, within, want) in [
            ("cache", "The CACHE", true),
            (r#""slow start""#, "a Slow\n  start", true),
            (r#""slow start""#, "slow to start", false),
            ("re:SLOW.start", "a slow start", true),
            ("re:^slow", "a slow start", false),
            ("straße", "Die STRAßE", true),
        ] {
            let query = Query::read(text).unwrap();
            assert_eq!(query.terms().iter().all(|term| term.is_in(within)), want, "{text} in {within}");
        }
        let Term::Pattern(pattern) = Query::read("re:e*").unwrap().terms()[0].clone() else { panic!() };
        assert_eq!(pattern.places("see é E"), [1..3, 7..8]);
    }
}

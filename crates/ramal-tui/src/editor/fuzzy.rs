//! Whether the letters of a query stand in a text in their order, and how well.

/// Letters of a query found in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The better, the higher.
    pub score: i64,
    /// Where in the text each letter stands, in bytes.
    pub at: Vec<usize>,
}

/// Finds the letters of a query, whatever their case, in their order. Blanks of the query count for nothing.
pub fn find(query: &str, text: &str) -> Option<Found> {
    Query::new(query).find(text)
}

/// A query that is made ready to be looked for in many texts.
pub(super) struct Query(Vec<char>);

impl Query {
    pub(super) fn new(query: &str) -> Query {
        Query(query.chars().filter(|c| !c.is_whitespace()).map(lower).collect())
    }

    /// From the first place where all letters have been passed, one goes back as far as needed: this is nearly
    /// always the narrowest place, and never costs more than twice the text.
    pub(super) fn find(&self, text: &str) -> Option<Found> {
        let Query(query) = self;
        let end = end_of_match(query, text)?;
        let mut at = Vec::with_capacity(query.len());
        let mut wanted = query.iter().rev().peekable();
        for (index, c) in text[..end].char_indices().rev() {
            match wanted.peek() {
                None => break,
                Some(letter) if **letter == lower(c) => {
                    at.push(index);
                    wanted.next();
                }
                Some(_) => {}
            }
        }
        at.reverse();
        Some(Found { score: score(text, &at), at })
    }
}

fn end_of_match(query: &[char], text: &str) -> Option<usize> {
    let mut wanted = query.iter().peekable();
    let mut end = 0;
    for (index, c) in text.char_indices() {
        match wanted.peek() {
            None => break,
            Some(letter) if **letter == lower(c) => {
                end = index + c.len_utf8();
                wanted.next();
            }
            Some(_) => {}
        }
    }
    wanted.peek().is_none().then_some(end)
}

/// Letters beside each other and at the beginning of words are worth most; gaps and long texts cost.
fn score(text: &str, at: &[usize]) -> i64 {
    let mut score = 0;
    let mut last_end = None;
    for &index in at {
        let before = text[..index].chars().next_back();
        let here = text[index..].chars().next().unwrap_or(' ');
        score += match (before, last_end) {
            (None, _) => 24,
            (_, Some(end)) if end == index => 16,
            (Some(before), _) if begins_word(before, here) => 14,
            _ => 4,
        };
        if let Some(end) = last_end {
            score -= to_score(index - end).min(12);
        }
        last_end = Some(index + here.len_utf8());
    }
    // Of two that match alike the one with less besides comes first.
    score * 64 - to_score(text.len()).min(63)
}

fn begins_word(before: char, here: char) -> bool {
    !before.is_alphanumeric() || (before.is_lowercase() && here.is_uppercase())
}

fn to_score(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn lower(c: char) -> char {
    // Nearly all of what is searched.
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    c.to_lowercase().next().unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(query: &str, text: &str) -> Option<String> {
        let found = find(query, text)?;
        let shown = text
            .char_indices()
            .map(|(index, c)| if found.at.contains(&index) { format!("[{c}]") } else { c.to_string() });
        Some(shown.collect())
    }

    #[test]
    fn letters_in_their_order() {
        for (query, text, want) in [
            ("", "tree", Some("tree")),
            ("te", "tree", Some("[t]r[e]e")),
            ("TR e", "tree", Some("[t][r][e]e")),
            ("et", "tree", None),
            ("treee", "tree", None),
            ("abc", "aab-abc", Some("aab-[a][b][c]")),
            ("É", "café", Some("caf[é]")),
            ("日語", "日本語", Some("[日]本[語]")),
            ("İ", "istanbul", Some("[i]stanbul")),
        ] {
            assert_eq!(marked(query, text).as_deref(), want, "{query} in {text}");
        }
    }

    #[test]
    fn better_ones_first() {
        for (query, better, worse) in [
            ("tr", "tree", "thinker"),
            ("tree", "tree", "tree-filter"),
            ("ed", "src/editor.rs", "src/needle.rs"),
            ("sm", "src/main.rs", "awesome.rs"),
            ("fb", "fooBar", "foxbat"),
        ] {
            let score = |text| find(query, text).unwrap().score;
            assert!(score(better) > score(worse), "{query}: {better} before {worse}");
        }
    }
}

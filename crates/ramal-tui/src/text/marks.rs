//! Where in a text stands what was searched for.

use std::ops::Range;

/// Where any of the words stands in a text, whatever the case, from left to right and none in another. The words
/// are in lower case.
pub fn occurrences(text: &str, words: &[String]) -> Vec<Range<usize>> {
    if words.is_empty() {
        return Vec::new();
    }
    // Lower case may take more bytes or fewer: where each one comes from is kept.
    let (mut lower, mut from) = (String::new(), Vec::new());
    for (at, c) in text.char_indices() {
        lower.extend(c.to_lowercase());
        from.resize(lower.len(), (at, at + c.len_utf8()));
    }
    let found = words.iter().flat_map(|word| lower.match_indices(&**word));
    apart(found.filter_map(|(at, word)| Some(from.get(at)?.0..from.get(at + word.len() - 1)?.1)).collect())
}

/// The places from left to right, without those that begin in another; of two at one place the longer stays.
pub(crate) fn apart(mut places: Vec<Range<usize>>) -> Vec<Range<usize>> {
    places.sort_by_key(|place| (place.start, usize::MAX - place.end));
    let mut end = 0;
    places.retain(|place| {
        let is_free = place.start >= end;
        end = if is_free { place.end } else { end };
        is_free
    });
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_searched_for_is_found_in_rows() {
        for (text, words, want) in [
            ("The year, the YEAR", &["year"][..], &["year", "YEAR"][..]),
            ("week 53 of weeks", &["week", "weeks"], &["week", "weeks"]),
            ("straße İzmir", &["zmir", "stra"], &["stra", "zmir"]),
            ("İİ x", &["x"], &["x"]),
            ("aaa", &["aa"], &["aa"]),
            ("nothing", &["here"], &[]),
            ("", &["x"], &[]),
        ] {
            let words: Vec<_> = words.iter().map(ToString::to_string).collect();
            let found: Vec<_> = occurrences(text, &words).into_iter().map(|place| &text[place]).collect();
            assert_eq!(found, want, "{text}");
        }
    }
}

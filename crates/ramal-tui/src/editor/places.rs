//! Places in a text where a cursor can stand: between grapheme clusters, at words, at lines.

use super::content::HOLE;
use crate::text::width::clusters;

/// Where the line of a place begins.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Where the line of a place ends, before its line break.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |newline| at + newline)
}

/// The place itself if a cursor can stand there, or else the next one. What a cluster is depends on all of
/// its line before it, as with flags, so it is looked at from there.
pub(super) fn at_or_after(text: &str, at: usize) -> usize {
    let at = text.ceil_char_boundary(at);
    let mut place = line_start(text, at);
    for cluster in clusters(&text[place..]) {
        if place >= at {
            break;
        }
        place += cluster.len();
    }
    place
}

/// The place after this one.
pub(super) fn after(text: &str, at: usize) -> usize {
    at_or_after(text, (at + 1).min(text.len()))
}

/// The place before this one.
pub(super) fn before(text: &str, at: usize) -> usize {
    let mut place = line_start(text, at);
    if place == at {
        return place.saturating_sub(1);
    }
    for cluster in clusters(&text[place..]) {
        if place + cluster.len() >= at {
            break;
        }
        place += cluster.len();
    }
    place
}

/// The end of the word that a place is in or before.
pub(super) fn word_after(text: &str, at: usize) -> usize {
    let mut place = at;
    let mut word = None;
    for cluster in clusters(&text[at..]) {
        match (class(cluster), word) {
            (Class::Space, None) => {}
            (Class::Mark, None) => return place + cluster.len(),
            (found, None) => word = Some(found),
            (found, Some(word)) if found != word => break,
            _ => {}
        }
        place += cluster.len();
    }
    place
}

/// The beginning of the word that a place is in or behind.
pub(super) fn word_before(text: &str, at: usize) -> usize {
    let mut place = at;
    let mut word = None;
    loop {
        let from = line_start(text, place);
        let line: Vec<_> = clusters(&text[from..place]).collect();
        for cluster in line.into_iter().rev() {
            match (class(cluster), word) {
                (Class::Space, None) => {}
                (Class::Mark, None) => return place - cluster.len(),
                (found, None) => word = Some(found),
                (found, Some(word)) if found != word => return place,
                _ => {}
            }
            place -= cluster.len();
        }
        if word.is_some() || place == 0 {
            return place;
        }
        place -= 1;
    }
}

/// What goes together in a word. Scripts that are written without spaces change where a word often does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Word,
    Han,
    Hiragana,
    Katakana,
    Punctuation,
    Mark,
}

fn class(cluster: &str) -> Class {
    match cluster.chars().next().unwrap_or(' ') {
        HOLE => Class::Mark,
        c if c.is_whitespace() => Class::Space,
        '\u{3041}'..='\u{309f}' => Class::Hiragana,
        '\u{30a0}'..='\u{30ff}' => Class::Katakana,
        '\u{3005}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}' => {
            Class::Han
        }
        c if c.is_alphanumeric() || c == '_' => Class::Word,
        _ => Class::Punctuation,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All places that a step leads to, from one end to the other, as bars in the text.
    fn stops(text: &str, from: usize, step: fn(&str, usize) -> usize) -> String {
        let mut places = vec![from];
        loop {
            let next = step(text, places[places.len() - 1]);
            if next == places[places.len() - 1] {
                break;
            }
            places.push(next);
        }
        let mut drawn = text.to_owned();
        places.sort_unstable();
        for place in places.into_iter().rev() {
            drawn.insert(place, '|');
        }
        drawn
    }

    #[test]
    fn characters() {
        for text in [
            "",
            "|a|b|\n|\n|c|",
            "|e\u{301}|日|👩\u{200d}👩\u{200d}👧|🇫🇷|🇩🇪|x|",
            "|\u{301}|\n|\u{301}|",
            "|a|\u{1a}|\u{301}|\u{1a}|\u{1a}|",
        ] {
            let plain = text.replace('|', "");
            let want = if text.is_empty() { "|" } else { text };
            assert_eq!(stops(&plain, 0, after), want);
            assert_eq!(stops(&plain, plain.len(), before), want);
        }
    }

    #[test]
    fn words() {
        for (text, right, left) in [
            ("one two", "|one| two|", "|one |two|"),
            ("  a.b_c(d)  ", "|  a|.|b_c|(|d|)|  ", "  |a|.|b_c|(|d|)  |"),
            ("end\n\n next", "|end|\n\n next|", "|end\n\n |next|"),
            ("x\u{1a}\u{1a} y", "|x|\u{1a}|\u{1a}| y|", "|x|\u{1a}|\u{1a} |y|"),
            ("日本語のテスト", "|日本語|の|テスト|", "|日本語|の|テスト|"),
            ("cafe\u{301} né", "|cafe\u{301}| né|", "|cafe\u{301} |né|"),
        ] {
            // Blanks at an end are walked over in one step, to the very end.
            let right = if text.ends_with(' ') { format!("{right}|") } else { right.to_owned() };
            let left = if text.starts_with(' ') { format!("|{left}") } else { left.to_owned() };
            assert_eq!(stops(text, 0, word_after), right);
            assert_eq!(stops(text, text.len(), word_before), left);
        }
    }
}

//! Exact replacements in a text: several at once, each found once, all of them in the text as it was.

use std::borrow::Cow;
use std::collections::HashMap;

/// Characters of a line that a message shows.
const LINE_SHOWN: usize = 160;
/// Places that are counted before it is enough to say "many".
const PLACES: usize = 50;
/// What the likeness of a line must reach to be worth a mention.
const LIKE: f64 = 0.5;

/// One text in place of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) old: String,
    pub(super) new: String,
}

/// The text after all edits.
///
/// Line ends are compared as `\n`, and what is put in gets those of the text around it; all bytes
/// that no edit names stay as they are.
///
/// # Errors
/// If an edit is empty, is not found or found more than once, or touches what another one does; the
/// text says which, and what stands nearest.
pub(super) fn apply(original: &str, edits: &[Edit]) -> Result<String, String> {
    let text = Normal::new(original);
    let mut places: Vec<(usize, usize, usize)> = Vec::with_capacity(edits.len());
    for (number, edit) in edits.iter().enumerate() {
        let name = name(number, edits.len());
        let old = normalize(&edit.old);
        if old.is_empty() {
            return Err(format!("{name}: oldText is empty. Say which text is to be replaced."));
        }
        let found = find(&text.text, &old);
        match found.as_slice() {
            [] => return Err(format!("{name}: oldText is not in the file. {}", nearest(&text.text, &old))),
            [at] => places.push((*at, at + old.len(), number)),
            many => return Err(format!("{name}: {}", ambiguous(&text.text, many))),
        }
    }
    places.sort_unstable();
    for pair in places.windows(2) {
        if let [(_, end, first), (start, _, second)] = pair
            && start < end
        {
            return Err(format!(
                "edits[{first}] and edits[{second}] overlap (line {}). Make one edit of them.",
                line_of(&text.text, *start)
            ));
        }
    }
    let mut result = String::with_capacity(original.len());
    let mut done = 0;
    for (start, end, number) in places {
        let (start, end) = (text.original(start), text.original(end));
        let Some(edit) = edits.get(number) else { continue };
        let replaced = original.get(start..end).unwrap_or_default();
        result.push_str(original.get(done..start).unwrap_or_default());
        let returns = replaced.contains("\r\n") || (!replaced.contains('\n') && text.mostly_returns);
        let new = normalize(&edit.new);
        result.push_str(&if returns { Cow::Owned(new.replace('\n', "\r\n")) } else { new });
        done = end;
    }
    result.push_str(original.get(done..).unwrap_or_default());
    if result == original {
        return Err("The edits change nothing: newText is what stands there already.".to_owned());
    }
    Ok(result)
}

fn name(number: usize, count: usize) -> String {
    if count == 1 { "The edit".to_owned() } else { format!("edits[{number}]") }
}

fn normalize(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// A text with `\n` for every line end, and the way back.
struct Normal<'a> {
    text: Cow<'a, str>,
    /// Where the ends stand in `text` that were `\r\n`.
    returns: Vec<usize>,
    mostly_returns: bool,
}

impl Normal<'_> {
    fn new(original: &str) -> Normal<'_> {
        let found = memchr::memmem::find_iter(original.as_bytes(), b"\r\n");
        let returns: Vec<usize> = found.enumerate().map(|(before, at)| at - before).collect();
        let ends = memchr::memchr_iter(b'\n', original.as_bytes()).count();
        let mostly_returns = 2 * returns.len() > ends;
        Normal { text: normalize(original), returns, mostly_returns }
    }

    fn original(&self, at: usize) -> usize {
        at + self.returns.partition_point(|&end| end < at)
    }
}

/// Where `old` stands in `text`, also where two places overlap.
fn find(text: &str, old: &str) -> Vec<usize> {
    let finder = memchr::memmem::Finder::new(old);
    let step = old.chars().next().map_or(1, char::len_utf8);
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(at) = text.as_bytes().get(from..).and_then(|rest| finder.find(rest)) {
        places.push(from + at);
        if places.len() == PLACES {
            break;
        }
        from += at + step;
    }
    places
}

fn line_of(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    memchr::memchr_iter(b'\n', before).count() + 1
}

fn ambiguous(text: &str, places: &[usize]) -> String {
    let lines: Vec<String> = places.iter().take(5).map(|&at| line_of(text, at).to_string()).collect();
    let count = if places.len() == PLACES { format!("at least {PLACES}") } else { places.len().to_string() };
    let more = if places.len() > 5 { ", …" } else { "" };
    format!(
        "oldText stands in {count} places (lines {}{more}). Give more of the text around the one that is meant.",
        lines.join(", ")
    )
}

/// What stands in `text` that may have been meant.
fn nearest(text: &str, old: &str) -> String {
    let wanted: Vec<&str> = old.trim_matches('\n').lines().map(str::trim).collect();
    let lines: Vec<&str> = text.lines().collect();
    let same = |window: &[&str]| window.iter().zip(&wanted).all(|(line, wanted)| line.trim() == *wanted);
    let Some(first) = wanted.iter().find(|line| !line.is_empty()) else {
        return "It is nothing but white space.".to_owned();
    };
    if let Some(at) = lines.windows(wanted.len()).position(same) {
        return format!(
            "With other white space it stands at line {}:\n{}",
            at + 1,
            excerpt(&lines, at, wanted.len().min(12))
        );
    }
    let pairs = pairs_of(first);
    let likeness = lines.iter().map(|line| alike(&pairs, line)).enumerate();
    match likeness.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))) {
        Some((at, likeness)) if likeness >= LIKE => {
            let from = at.saturating_sub(1);
            format!("Nearest to its beginning is line {}:\n{}", at + 1, excerpt(&lines, from, 4))
        }
        _ => "Nothing in it is like its beginning. Read the file first.".to_owned(),
    }
}

fn excerpt(lines: &[&str], from: usize, count: usize) -> String {
    let numbered = lines.iter().enumerate().skip(from).take(count).map(|(number, line)| {
        let end = line.floor_char_boundary(LINE_SHOWN);
        let cut = if end < line.len() { "…" } else { "" };
        format!("{}: {}{cut}", number + 1, line.get(..end).unwrap_or(line))
    });
    numbered.collect::<Vec<_>>().join("\n")
}

type Pairs = HashMap<[u8; 2], usize>;

fn pairs_of(line: &str) -> Pairs {
    let mut pairs = Pairs::new();
    for pair in line.trim().as_bytes().windows(2).take(LINE_SHOWN) {
        if let [one, other] = pair {
            *pairs.entry([*one, *other]).or_default() += 1;
        }
    }
    pairs
}

/// How alike two lines are: the share of neighbouring bytes that they have in common.
fn alike(wanted: &Pairs, line: &str) -> f64 {
    let pairs = pairs_of(line);
    let all = wanted.values().sum::<usize>() + pairs.values().sum::<usize>();
    let common: usize = pairs.iter().map(|(pair, count)| count.min(wanted.get(pair).unwrap_or(&0))).sum();
    if all == 0 { 0.0 } else { 2.0 * common as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edits(edits: &[(&str, &str)]) -> Vec<Edit> {
        edits.iter().map(|(old, new)| Edit { old: (*old).into(), new: (*new).into() }).collect()
    }

    #[track_caller]
    fn check(original: &str, given: &[(&str, &str)], want: &str) {
        assert_eq!(apply(original, &edits(given)).as_deref(), Ok(want));
    }

    #[track_caller]
    fn refused(original: &str, given: &[(&str, &str)], says: &[&str]) {
        let error = apply(original, &edits(given)).unwrap_err();
        for part in says {
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn edits_apply_to_the_text_as_it_was() {
        check("one two three", &[("three", "one"), ("one", "two"), (" two ", "-")], "two-one");
        check("ab", &[("b", "a"), ("a", "b")], "ba");
        check("a\n", &[("a\n", "")], "");
        check("größe €", &[("ö", "o"), ("€", "")], "große ");
    }

    #[test]
    fn line_ends_stay_what_they_were() {
        check("a\r\nb\r\nc\r\n", &[("a\nb\n", "x\ny\nz\n")], "x\r\ny\r\nz\r\nc\r\n");
        check("a\r\nb\r\n", &[("b", "1\n2")], "a\r\n1\r\n2\r\n");
        check("a\nb\n", &[("a\r\n", "x\r\ny\r\n")], "x\ny\nb\n");
        check("a\r\nb\nc\nd\n", &[("c", "1\n2")], "a\r\nb\n1\n2\nd\n");
        check("a\r\nb\nc\nd\n", &[("a\n", "1\n2\n")], "1\r\n2\r\nb\nc\nd\n");
        check("a\r\nb", &[("\n", "")], "ab");
        check("a\rb\r\n", &[("a\rb", "c")], "c\r\n");
    }

    #[test]
    fn what_is_wrong_is_told() {
        refused("a", &[("", "x")], &["oldText is empty"]);
        refused("a", &[("a", "a")], &["change nothing"]);
        refused("x\naa\naa\n", &[("aa", "b")], &["2 places", "lines 2, 3"]);
        refused("aaa", &[("aa", "b")], &["2 places"]);
        refused("abc", &[("ab", "x"), ("bc", "y")], &["edits[0] and edits[1] overlap", "line 1"]);
        refused("abc", &[("b", "x"), ("b", "y")], &["overlap"]);
        refused("abc", &[("a", "x"), ("nope", "y")], &["edits[1]", "not in the file"]);
        let text = "fn main() {\n\tlet x = compute(1);\n\tprint(x);\n}\n";
        refused(text, &[("    let x = compute(1);\n    print(x);", "")], &["white space", "2: \tlet x"]);
        refused(text, &[("let y = compute(12);", "")], &["Nearest", "line 2", "2: \tlet x = compute(1);"]);
        refused(text, &[("zzzzzzzz", "")], &["Read the file"]);
        refused("", &[("a", "")], &["not in the file"]);
        refused(&"a\n".repeat(1000), &[("a", "b")], &["at least 50"]);
    }

    proptest! {
        #[test]
        fn edits_are_what_cutting_and_joining_is(
            parts in prop::collection::vec(("[a-c\n€]{0,4}", prop::option::of("[x-z\n]{0,3}")), 1..8),
            returns in any::<bool>(),
        ) {
            // Each place that is replaced has a number of its own, so that it is found once.
            let ends = |text: &str| if returns { text.replace('\n', "\r\n") } else { text.to_owned() };
            let mut original = String::new();
            let mut want = String::new();
            let mut given = Vec::new();
            for (number, (part, new)) in parts.iter().enumerate() {
                let old = format!("<{number}>\n{part}</{number}>");
                original += &ends(&old);
                match new {
                    Some(new) => {
                        want += &ends(new);
                        given.push(Edit { old, new: new.clone() });
                    }
                    None => want += &ends(&old),
                }
            }
            given.reverse();
            match apply(&original, &given) {
                Ok(result) => prop_assert_eq!(result, want),
                Err(_) => prop_assert!(given.is_empty()),
            }
        }

        #[test]
        fn an_edit_is_made_once_where_the_text_stands_once(
            original in "(a|b|\r\n|\n|€){0,12}",
            old in "(a|b|\r\n|\n|€){0,3}",
            new in "(a|b|\r\n|\n|€){0,3}",
        ) {
            let plain = |text: &str| text.replace("\r\n", "\n");
            let (text, from, to) = (plain(&original), plain(&old), plain(&new));
            let count = (0..text.len())
                .filter(|&at| text.get(at..).is_some_and(|rest| rest.starts_with(&from)))
                .count();
            match apply(&original, &[Edit { old, new }]) {
                Ok(result) => {
                    prop_assert_eq!(count, 1);
                    prop_assert_eq!(plain(&result), text.replacen(&from, &to, 1));
                }
                Err(_) => prop_assert!(from.is_empty() || count != 1 || from == to),
            }
        }

        #[test]
        fn nothing_breaks_it(original in "[ab\r\n€]{0,12}", old in "[ab\r\n€]{0,3}", new in "[ab\r\n€]{0,3}") {
            if let Ok(result) = apply(&original, &[Edit { old, new: new.clone() }]) {
                prop_assert_ne!(&result, &original);
                prop_assert!(result.len() <= original.len() + 2 * new.len());
            }
        }
    }
}

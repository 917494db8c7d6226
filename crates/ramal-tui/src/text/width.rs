//! How wide text is on the screen, and making it fit.
//!
//! Columns are counted by grapheme cluster, the unit a terminal draws: a
//! letter with its accents, a family of emoji, a flag. The text is expected to
//! have been through [`clean`](super::clean) and to hold no colours yet.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The longest cluster that is kept together, in bytes: a letter with all the
/// marks that cleaning lets it have. A limit means that no text can make a
/// step expensive.
const LONGEST_CLUSTER: usize = 128;

/// The columns that a text takes.
pub fn width(text: &str) -> usize {
    if text.bytes().all(is_plain) {
        return text.len();
    }
    clusters(text).map(cluster_width).sum()
}

/// The text, or if it is wider than `columns`, as much of its beginning as
/// leaves room for `…`. Never wider than `columns`; nothing at all for 0.
pub fn fit(text: &str, columns: usize) -> Cow<'_, str> {
    if columns == 0 {
        return Cow::Borrowed("");
    }
    // Plain letters take a byte and a column each, and most texts begin with nothing else.
    let head = &text.as_bytes()[..text.len().min(columns.saturating_add(1))];
    if head.iter().copied().all(is_plain) {
        return match text.get(..columns - 1) {
            Some(kept) if text.len() > columns => Cow::Owned(format!("{}…", kept.trim_end())),
            _ => Cow::Borrowed(text),
        };
    }
    let mut used = 0;
    let mut end = 0;
    // The end of what still has room for the dots.
    let mut keep = 0;
    for cluster in clusters(text) {
        used += cluster_width(cluster);
        if used > columns {
            let mut cut = text[..keep].trim_end().to_owned();
            cut.push('…');
            return Cow::Owned(cut);
        }
        end += cluster.len();
        if used < columns {
            keep = end;
        }
    }
    Cow::Borrowed(text)
}

/// The text in exactly `columns`: with spaces after it, or cut like [`fit`].
pub fn pad(text: &str, columns: usize) -> String {
    let mut padded = fit(text, columns).into_owned();
    let missing = columns.saturating_sub(width(&padded));
    padded.extend(std::iter::repeat_n(' ', missing));
    padded
}

/// Like [`pad`], with the spaces before the text, as numbers are set.
pub fn pad_start(text: &str, columns: usize) -> String {
    let text = fit(text, columns);
    let mut padded = " ".repeat(columns.saturating_sub(width(&text)));
    padded.push_str(&text);
    padded
}

/// Breaks the text into lines of at most `columns`, of which there is at least
/// one.
///
/// Lines break at spaces, between wide characters where no punctuation holds
/// them together, and anywhere in a word that is longer than a line. Spaces at
/// a break are dropped, those inside and at the beginning of a line are kept.
/// A line break in the text is one in the result; at the very end it begins no
/// further line.
///
/// Only a single character that is wider than `columns` by itself makes a
/// line wider. 0 columns are taken for 1.
pub fn wrap(text: &str, columns: usize) -> Wrap<'_> {
    Wrap { rest: Some(text), columns: columns.max(1) }
}

/// The iterator that [`wrap`] returns.
#[derive(Debug, Clone)]
pub struct Wrap<'a> {
    /// What is still to be broken; `None` when all is done.
    rest: Option<&'a str>,
    columns: usize,
}

impl<'a> Iterator for Wrap<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<Self::Item> {
        let text = self.rest.take()?;
        // The line, once it ends: `text[start..end]`.
        let mut start = 0;
        let mut end = 0;
        let mut used = 0;
        // The last place to break: where this line ends, the next begins.
        let mut chance: Option<(usize, usize)> = None;
        let mut before: Option<(&str, usize)> = None;
        let mut position = 0;

        for cluster in clusters(text) {
            let after = position + cluster.len();
            if is_newline(cluster) {
                self.rest = Some(&text[after..]).filter(|rest| !rest.is_empty());
                return Some(&text[start..end]);
            }
            let wide = cluster_width(cluster);
            if is_space(cluster) {
                // Spaces may stand over the edge: a break swallows them.
                if end > start {
                    chance = Some((end, after));
                }
                used += wide;
                before = None;
                position = after;
                continue;
            }
            if before.is_some_and(|before| may_part(before, (cluster, wide))) {
                chance = Some((position, position));
            }
            if used + wide > self.columns {
                if let Some((line_end, next)) = chance {
                    self.rest = Some(&text[next..]);
                    return Some(&text[start..line_end]);
                }
                if end > start {
                    self.rest = Some(&text[position..]);
                    return Some(&text[start..position]);
                }
                // Only an indent so far, and no room beside it.
                start = position;
                used = 0;
                if wide > self.columns {
                    let split = position + split_cluster(cluster, self.columns);
                    self.rest = after_split(&text[split..]);
                    return Some(&text[start..split]);
                }
            }
            used += wide;
            before = Some((cluster, wide));
            position = after;
            end = after;
        }
        Some(&text[start..end])
    }
}

/// What is left after a break inside a cluster. If that was the end of its
/// line, the break is the line break.
fn after_split(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(is_breaking_space);
    let rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')).unwrap_or(rest);
    Some(rest).filter(|rest| !rest.is_empty())
}

/// How many bytes of a cluster wider than `columns` go on one line: at least
/// one character, with the marks that follow it.
fn split_cluster(cluster: &str, columns: usize) -> usize {
    let mut used = 0;
    for (index, c) in cluster.char_indices() {
        used += match c {
            // These can turn a narrow character into a wide one.
            '\u{fe01}' | '\u{fe0f}' => 1,
            c => c.width().unwrap_or(1),
        };
        if used > columns && index > 0 {
            return index;
        }
    }
    cluster.len()
}

/// Whether a line may break between two clusters, given with their widths,
/// without a space.
pub(crate) fn may_part(before: (&str, usize), after: (&str, usize)) -> bool {
    (before.1 > 1 || after.1 > 1)
        && !before.0.chars().next().is_some_and(opens)
        && !after.0.chars().next().is_some_and(closes)
}

/// Whether a character belongs to what follows it.
fn opens(c: char) -> bool {
    matches!(
        c,
        '(' | '['
            | '{'
            | '<'
            | '"'
            | '\''
            | '“'
            | '‘'
            | '«'
            | '$'
            | '#'
            | '@'
            | '\u{a0}'
            | '（'
            | '［'
            | '｛'
            | '〈'
            | '《'
            | '「'
            | '『'
            | '【'
            | '〔'
            | '〖'
            | '〘'
            | '〝'
            | '￥'
    )
}

/// Whether a character belongs to what is before it.
fn closes(c: char) -> bool {
    matches!(
        c,
        ')' | ']'
            | '}'
            | '>'
            | '"'
            | '\''
            | '”'
            | '’'
            | '»'
            | ','
            | '.'
            | ';'
            | ':'
            | '!'
            | '?'
            | '%'
            | '…'
            | '\u{a0}'
            | '）'
            | '］'
            | '｝'
            | '〉'
            | '》'
            | '」'
            | '』'
            | '】'
            | '〕'
            | '〗'
            | '〙'
            | '〟'
            | '、'
            | '。'
            | '，'
            | '．'
            | '；'
            | '：'
            | '！'
            | '？'
            | '％'
            | '・'
            | 'ー'
            | '々'
            | 'ぁ'
            | 'ぃ'
            | 'ぅ'
            | 'ぇ'
            | 'ぉ'
            | 'っ'
            | 'ゃ'
            | 'ゅ'
            | 'ょ'
            | 'ァ'
            | 'ィ'
            | 'ゥ'
            | 'ェ'
            | 'ォ'
            | 'ッ'
            | 'ャ'
            | 'ュ'
            | 'ョ'
    )
}

fn is_newline(cluster: &str) -> bool {
    matches!(cluster, "\n" | "\r\n")
}

/// Whether a cluster is white space that a line may break at.
pub(crate) fn is_space(cluster: &str) -> bool {
    cluster.chars().all(is_breaking_space)
}

/// White space that a line may break at.
fn is_breaking_space(c: char) -> bool {
    c.is_whitespace() && !matches!(c, '\n' | '\u{a0}' | '\u{2007}' | '\u{202f}')
}

/// The columns of one cluster.
fn cluster_width(cluster: &str) -> usize {
    if cluster.len() == 1 { 1 } else { cluster.width() }
}

/// A byte that is a cluster by itself if the next one is such a byte too.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

/// The grapheme clusters of a text, one that is absurdly long in pieces.
pub(crate) fn clusters(text: &str) -> Clusters<'_> {
    Clusters { rest: text }
}

/// The iterator that [`clusters`] returns.
#[derive(Debug, Clone)]
pub(crate) struct Clusters<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Clusters<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<Self::Item> {
        let length = match self.rest.as_bytes() {
            [] => return None,
            [one] if is_plain(*one) => 1,
            [one, two, ..] if is_plain(*one) && two.is_ascii() => 1,
            _ => {
                let window = self.rest.floor_char_boundary(LONGEST_CLUSTER);
                self.rest[..window].graphemes(true).next()?.len()
            }
        };
        let (cluster, rest) = self.rest.split_at(length);
        self.rest = rest;
        Some(cluster)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    /// Text with a good share of what makes text difficult.
    pub(in super::super) fn any_text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => "[a-z]{1,12}",
            3 => Just(" ".to_owned()),
            1 => "[ -~]{0,8}",
            2 => any::<char>().prop_map(String::from),
            1 => (0u32..0x100).prop_map(|n| char::from_u32(n).into_iter().collect()),
            1 => (0x2000u32..0x2070).prop_map(|n| char::from_u32(n).into_iter().collect()),
            1 => (0xe0000u32..0xe0200).prop_map(|n| char::from_u32(n).into_iter().collect()),
            1 => (0x1f1e6u32..0x1f200).prop_map(|n| char::from_u32(n).into_iter().collect()),
            4 => proptest::sample::select(vec![
                "\n", "\r\n", "\t", "\x1b[31m", "\u{9b}", "\u{301}", "\u{200d}", "\u{200b}",
                "\u{fe0f}", "\u{fe0e}", "\u{202e}", "\u{feff}", "\u{3000}", "\u{a0}", "日本語、",
                "「漢字」", "한국어", "👩", "👩\u{200d}👩\u{200d}👧", "👍🏽", "🏽", "🇫🇷", "❤", "1\u{fe0f}\u{20e3}",
                "🏴", "\u{1100}", "\u{1161}", "\u{11a8}", "क\u{94d}ष", "\u{17d8}", "لا", "\u{600}",
                "\u{2018}", "\u{fe01}", "\u{e0067}", "\u{e007f}", "©",
            ]).prop_map(str::to_owned),
        ];
        proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    fn wrapped(text: &str, columns: usize) -> Vec<&str> {
        wrap(text, columns).collect()
    }

    #[test]
    fn widths() {
        for (text, expected) in [
            ("", 0),
            ("abc", 3),
            ("e\u{301}", 1),
            ("日本", 4),
            ("한", 2),
            ("\u{1112}\u{1161}\u{11ab}", 2),
            ("👩\u{200d}👩\u{200d}👧", 2),
            ("👍🏽", 2),
            ("🇫🇷", 2),
            ("❤\u{fe0f}", 2),
            ("1\u{fe0f}\u{20e3}", 2),
            ("␛", 1),
            ("…", 1),
            ("│├└─", 4),
        ] {
            assert_eq!(width(text), expected, "{text:?}");
        }
    }

    #[test]
    fn fitting() {
        for (text, columns, expected) in [
            ("", 0, ""),
            ("", 5, ""),
            ("abc", 0, ""),
            ("abc", 1, "…"),
            ("abc", 2, "a…"),
            ("abc", 3, "abc"),
            ("a bc", 3, "a…"),
            ("日", 1, "…"),
            ("日本", 3, "日…"),
            ("日本", 2, "…"),
            ("日本", 4, "日本"),
            ("a日本", 3, "a…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            ("👩\u{200d}👧👩\u{200d}👧", 3, "👩\u{200d}👧…"),
            ("\u{301}", 0, ""),
        ] {
            assert_eq!(fit(text, columns), expected, "{text:?} in {columns}");
        }
        assert!(matches!(fit("abc", 3), Cow::Borrowed("abc")));
    }

    #[test]
    fn padding() {
        assert_eq!(pad("ab", 4), "ab  ");
        assert_eq!(pad("日本語", 4), "日… ");
        assert_eq!(pad("", 0), "");
        assert_eq!(pad_start("12", 4), "  12");
        assert_eq!(pad_start("12345", 4), "123…");
    }

    #[test]
    fn wrapping() {
        for (text, columns, expected) in [
            ("", 10, &[""][..]),
            ("\n", 10, &[""]),
            ("a\n", 10, &["a"]),
            ("a\n\nb", 10, &["a", "", "b"]),
            ("a\r\nb", 10, &["a", "b"]),
            ("one two three", 7, &["one two", "three"]),
            ("one two three", 8, &["one two", "three"]),
            ("one   two", 9, &["one   two"]),
            ("one   two", 5, &["one", "two"]),
            ("trailing   ", 8, &["trailing"]),
            ("    code here", 9, &["    code", "here"]),
            ("    code", 4, &["code"]),
            ("    overlong", 8, &["    over", "long"]),
            ("      ", 3, &[""]),
            ("abcdefgh", 3, &["abc", "def", "gh"]),
            ("ab abcdefgh", 3, &["ab", "abc", "def", "gh"]),
            ("日本語", 4, &["日本", "語"]),
            ("日本語。", 6, &["日本", "語。"]),
            ("「日本」語", 5, &["「日", "本」", "語"]),
            ("say日本", 5, &["say日", "本"]),
            ("日本", 1, &["日", "本"]),
            ("日 \n\n本", 1, &["日", "", "本"]),
            ("日\n", 1, &["日"]),
            ("👩\u{200d}👧👍🏽", 2, &["👩\u{200d}👧", "👍🏽"]),
            ("e\u{301}e\u{301}e\u{301}", 2, &["e\u{301}e\u{301}", "e\u{301}"]),
            ("no\u{a0}break here", 8, &["no\u{a0}break", "here"]),
            ("\u{1100}\u{1100}\u{1100}", 4, &["\u{1100}\u{1100}", "\u{1100}"]),
        ] {
            assert_eq!(wrapped(text, columns), expected, "{text:?} in {columns}");
        }
        assert_eq!(wrapped("ab", 0), ["a", "b"]);
    }

    #[test]
    fn endless_text_takes_linear_time() {
        for unit in ["x", " ", "日", "\u{301}", "\u{1100}", "👩\u{200d}", "a ", "क\u{94d}", "\n"] {
            let text = unit.repeat((1 << 17) / unit.len());
            let begun = Instant::now();
            for columns in [1, 2, 80] {
                assert!(wrap(&text, columns).count() > 0);
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "{unit:?}");
        }
    }

    fn without_space(text: &str) -> String {
        text.chars().filter(|c| !c.is_whitespace()).collect()
    }

    proptest! {
        #[test]
        fn nothing_is_too_wide(text in any_text()) {
            for columns in 0..=120 {
                let cut = fit(&text, columns);
                prop_assert!(width(&cut) <= columns, "{cut:?} in {columns}");
                prop_assert!(cut.width() <= columns.max(cut.matches('\n').count()));
                prop_assert_eq!(width(&pad(&text, columns)), columns);
                prop_assert_eq!(width(&pad_start(&text, columns)), columns);
            }
        }

        #[test]
        fn wrapping_fits_and_loses_nothing(text in any_text()) {
            for columns in 0..=120 {
                let lines = wrapped(&text, columns);
                for line in &lines {
                    // At three columns every character has room.
                    let single = line.chars().filter(|c| c.width() != Some(0)).count() <= 1;
                    prop_assert!(
                        width(line) <= columns.max(1) || single && columns < 3,
                        "{line:?} in {columns}"
                    );
                    prop_assert!(!line.contains('\n'));
                }
                prop_assert_eq!(without_space(&lines.concat()), without_space(&text));
            }
        }
    }
}

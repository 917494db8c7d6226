//! Makes text from outside safe to print.
//!
//! A terminal takes escape sequences from whoever sends them, lets a
//! right-to-left override reorder a line, and draws nothing at all for
//! characters that a model reads as text. Here every such character is either
//! shown in a form that does nothing or, where it has no meaning on a screen,
//! left out:
//!
//! | characters                               | become                        |
//! |------------------------------------------|-------------------------------|
//! | C0 controls and DEL                      | their picture, `␛`            |
//! | C1 controls                              | `\u{9b}`                      |
//! | bidirectional controls                   | `\u{202e}`                    |
//! | tags outside a flag, stray selectors     | `\u{e0041}`                   |
//! | other invisible or reserved ones         | `\u{3164}`                    |
//! | byte order mark, zero width space, soft hyphen, joiners with nothing to join | nothing |
//! | line and paragraph separator             | a space                       |
//! | a mark with nothing before it            | the mark on a dotted circle   |
//! | marks after the thirtieth on one letter  | nothing                       |
//!
//! The joiners and selectors inside emoji and the tags inside flags are text
//! and stay.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar as _;

use super::width::{clusters, width};

/// The distance between tab stops, in columns.
const TAB: usize = 4;

/// How many characters without width may follow one with width. Thirty is what
/// Unicode's stream-safe format allows; more only smears over other lines.
const MOST_MARKS: usize = 30;

/// How much source text [`one_line`] looks at besides what the columns need.
const READ_AHEAD: usize = 64 * 1024;

/// How much source text [`one_line`] looks at for each column.
const READ_PER_COLUMN: usize = 16;

/// The text as one line for a row of `columns`: white space of any kind and
/// length is a single space, none is left at the ends.
///
/// Only what is needed to fill the row is looked at. The result may be wider
/// than `columns`, and is when the text is, so that [`fit`] sees that
/// there is more; when it stops before the end of the text it ends in `…`.
///
/// [`fit`]: super::width::fit
pub fn one_line(text: &str, columns: usize) -> String {
    let limit = read_limit(columns).min(text.len());
    let head = &text[..text.floor_char_boundary(limit)];
    one_line_of_head(head, columns, head.len() < text.len())
}

/// [`one_line`] of bytes that ought to be UTF-8; what is not becomes `U+FFFD`.
pub fn one_line_bytes(bytes: &[u8], columns: usize) -> String {
    let mut limit = read_limit(columns).min(bytes.len());
    // Do not take a character apart that is whole.
    for _ in 0..3 {
        match bytes.get(limit) {
            Some(byte) if byte & 0xc0 == 0x80 && limit > 0 => limit -= 1,
            _ => break,
        }
    }
    let head = String::from_utf8_lossy(&bytes[..limit]);
    one_line_of_head(&head, columns, limit < bytes.len())
}

fn read_limit(columns: usize) -> usize {
    columns.saturating_mul(READ_PER_COLUMN).saturating_add(READ_AHEAD)
}

fn one_line_of_head(head: &str, columns: usize, cut: bool) -> String {
    plain_line(head, columns, cut).unwrap_or_else(|| any_line(head, columns, cut))
}

/// [`any_line`] of a text that has nothing but plain letters as far as it is looked at, which most have:
/// each takes a byte and a column. None if it has others.
fn plain_line(head: &str, columns: usize, mut cut: bool) -> Option<String> {
    let mut out = String::with_capacity(head.len().min(columns.saturating_add(4)));
    let mut gap = false;
    for byte in head.bytes() {
        match byte {
            // A mark may belong to the letter before it.
            0x80.. => return None,
            _ if out.len() > columns => {
                cut = true;
                break;
            }
            b' ' | b'\t' | b'\n' | b'\r' => gap = !out.is_empty(),
            b'!'..=b'~' => {
                if std::mem::take(&mut gap) {
                    out.push(' ');
                }
                out.push(char::from(byte));
            }
            _ => return None,
        }
    }
    if cut {
        out.push('…');
    }
    Some(out)
}

fn any_line(head: &str, columns: usize, mut cut: bool) -> String {
    let mut out = String::new();
    let mut cleaner = Cleaner::new(Unsafe::Show);
    let mut gap = false;
    let mut used = 0;
    let mut rest = head;
    for cluster in clusters(head) {
        if used > columns {
            cut = true;
            break;
        }
        let before = out.len();
        for c in cluster.chars() {
            rest = &rest[c.len_utf8()..];
            cleaner.push_joined(c, rest, &mut gap, &mut out);
        }
        used += width(&out[before..]);
    }
    if cut {
        out.push('…');
    }
    out
}

/// The text as a name or title: one line like [`one_line`], but whole, and
/// with the unsafe characters removed rather than shown.
pub fn name(text: &str) -> String {
    let mut out = String::new();
    let mut cleaner = Cleaner::new(Unsafe::Remove);
    let mut gap = false;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        cleaner.push_joined(c, chars.as_str(), &mut gap, &mut out);
    }
    out
}

/// The lines of the text, each cleaned when it is asked for, without its line
/// ending.
///
/// A line ends at `\n` or `\r\n`; one at the very end begins no further line.
/// Tabs reach to the next multiple of four columns, other spaces stay as they
/// are.
pub fn lines(text: &str) -> Lines<'_> {
    Lines { lines: text.lines() }
}

/// Writes [`lines`] of bytes that ought to be UTF-8, each with a `\n`.
pub fn write_lines(bytes: &[u8], out: &mut impl std::fmt::Write) -> std::fmt::Result {
    for line in lines(&String::from_utf8_lossy(bytes)) {
        out.write_str(&line)?;
        out.write_char('\n')?;
    }
    Ok(())
}

/// The iterator that [`lines`] returns.
#[derive(Debug, Clone)]
pub struct Lines<'a> {
    lines: std::str::Lines<'a>,
}

impl<'a> Iterator for Lines<'a> {
    type Item = Cow<'a, str>;

    fn next(&mut self) -> Option<Self::Item> {
        self.lines.next().map(clean_line)
    }
}

/// One line, which holds no `\n`.
fn clean_line(line: &str) -> Cow<'_, str> {
    if line.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len());
    let mut cleaner = Cleaner::new(Unsafe::Show);
    // Where the last tab stop is, in the output and on the screen.
    let mut stop = (0, 0);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\t' => {
                let column = stop.1 + width(&out[stop.0..]);
                let next = (column / TAB + 1) * TAB;
                for _ in column..next {
                    cleaner.push_space(' ', &mut out);
                }
                stop = (out.len(), next);
            }
            '\u{2028}' | '\u{2029}' => cleaner.push_space(' ', &mut out),
            c if kind(c) == Kind::Space => cleaner.push_space(c, &mut out),
            c => cleaner.push(c, chars.as_str(), &mut out),
        }
    }
    Cow::Owned(out)
}

/// What is to be done about a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Print it.
    Text,
    /// White space other than the controls among it.
    Space,
    /// A C0 control or DEL, with the picture of it.
    Control(char),
    /// Show its number.
    Unsafe,
    /// Leave it out.
    Void,
    /// Selects a variant of the character before it.
    Selector,
    /// Joins its neighbours, or keeps them apart.
    Joiner,
    /// A tag, text inside the flag of a region and hidden elsewhere.
    Tag,
}

fn kind(c: char) -> Kind {
    match c {
        '!'..='~' => Kind::Text,
        '\0'..='\x1f' => Kind::Control(picture(c as u32)),
        '\x7f' => Kind::Control('␡'),
        '\u{80}'..='\u{9f}' => Kind::Unsafe,
        // Bidirectional marks, embeddings, overrides and isolates.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' => Kind::Unsafe,
        '\u{2066}'..='\u{2069}' => Kind::Unsafe,
        // Deprecated format characters, annotations, musical brackets.
        '\u{206a}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}' => Kind::Unsafe,
        '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' => Kind::Unsafe,
        // Letters that leave a blank.
        '\u{3164}' | '\u{ffa0}' => Kind::Unsafe,
        // Soft hyphen, Mongolian vowel separator, zero width space, word
        // joiner and the invisible operators, byte order mark.
        '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' => Kind::Void,
        '\u{200c}' | '\u{200d}' => Kind::Joiner,
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => Kind::Selector,
        '\u{e0020}'..='\u{e007f}' => Kind::Tag,
        // Reserved for more of the same.
        '\u{2065}' | '\u{fff0}'..='\u{fff8}' | '\u{e0000}'..='\u{e0fff}' => Kind::Unsafe,
        // Not characters.
        '\u{fdd0}'..='\u{fdef}' => Kind::Unsafe,
        c if c as u32 & 0xfffe == 0xfffe => Kind::Unsafe,
        c if c.is_whitespace() => Kind::Space,
        _ => Kind::Text,
    }
}

/// The control picture of a C0 control.
fn picture(control: u32) -> char {
    char::from_u32(0x2400 + control).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// What becomes of a character that must not be printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unsafe {
    Show,
    Remove,
}

/// What the next character would attach itself to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// The beginning of the line.
    Nothing,
    /// Something that takes marks, but neither joiners nor selectors.
    Plain,
    /// A digit or another key that can have a cap, which takes selectors.
    Key,
    /// A character that takes joiners and selectors.
    Base,
    /// A character and its selector.
    Selected,
    /// A joiner.
    Joiner,
}

/// Passes characters on, one line's worth.
#[derive(Debug)]
struct Cleaner {
    on_unsafe: Unsafe,
    before: Before,
    /// How many characters without width have come since one with.
    marks: usize,
    /// How many tags still belong to a flag.
    tags: usize,
}

impl Cleaner {
    fn new(on_unsafe: Unsafe) -> Self {
        Cleaner { on_unsafe, before: Before::Nothing, marks: 0, tags: 0 }
    }

    /// Adds a character that `rest` follows, with white space collected in
    /// `gap` until something comes after it.
    fn push_joined(&mut self, c: char, rest: &str, gap: &mut bool, out: &mut String) {
        if matches!(c, '\t'..='\r') || kind(c) == Kind::Space {
            *gap = true;
            return;
        }
        let end = out.len();
        if *gap && end > 0 {
            self.push_space(' ', out);
        }
        let spaced = out.len();
        self.push(c, rest, out);
        if out.len() > spaced {
            *gap = false;
        } else {
            // Nothing came of it, so the space still waits.
            out.truncate(end);
        }
    }

    fn push_space(&mut self, space: char, out: &mut String) {
        out.push(space);
        self.before = Before::Plain;
        self.marks = 0;
        self.tags = 0;
    }

    /// Adds a character that `rest` follows.
    fn push(&mut self, c: char, rest: &str, out: &mut String) {
        match kind(c) {
            Kind::Text => self.push_text(c, rest, out),
            Kind::Space => self.push_space(c, out),
            Kind::Void => {}
            Kind::Control(picture) => {
                if self.on_unsafe == Unsafe::Show {
                    self.push_space(picture, out);
                }
            }
            Kind::Unsafe => self.push_number(c, out),
            Kind::Selector => {
                if matches!(self.before, Before::Base | Before::Key) {
                    out.push(c);
                    self.before = Before::Selected;
                } else {
                    self.push_number(c, out);
                }
            }
            Kind::Joiner => {
                let joins = matches!(self.before, Before::Base | Before::Selected);
                if joins && rest.chars().next().is_some_and(|next| !next.is_ascii()) {
                    out.push(c);
                    self.before = Before::Joiner;
                }
            }
            Kind::Tag => {
                if self.tags > 0 {
                    self.tags -= 1;
                    out.push(c);
                } else {
                    self.push_number(c, out);
                }
            }
        }
    }

    fn push_text(&mut self, c: char, rest: &str, out: &mut String) {
        self.tags = 0;
        if c.width() == Some(0) {
            if self.marks >= MOST_MARKS {
                return;
            }
            if self.before == Before::Nothing {
                out.push('◌');
            }
            self.marks += 1;
            self.before = Before::Base;
        } else {
            self.marks = 0;
            self.before = match c {
                '0'..='9' | '#' | '*' => Before::Key,
                c if c.is_ascii() => Before::Plain,
                _ => Before::Base,
            };
            if c == '\u{1f3f4}' {
                self.tags = flag_tags(rest);
            }
        }
        out.push(c);
    }

    fn push_number(&mut self, c: char, out: &mut String) {
        if self.on_unsafe == Unsafe::Show {
            // Writing to a string does not fail.
            let _ = write!(out, "\\u{{{:x}}}", c as u32);
            self.before = Before::Plain;
            self.marks = 0;
            self.tags = 0;
        }
    }
}

/// How many of the tags that `rest` begins with make a flag of the black flag
/// before them: the code of a region and the closing tag.
fn flag_tags(rest: &str) -> usize {
    let code = rest
        .chars()
        .take(7)
        .take_while(|c| matches!(c, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}'))
        .count();
    if (3..=6).contains(&code) && rest.chars().nth(code) == Some('\u{e007f}') { code + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::width::fit;
    use super::super::width::tests::any_text;
    use super::*;

    const WALES: &str = "🏴\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}";
    const FAMILY: &str = "👩\u{200d}👩\u{200d}👧";

    fn joined(text: &str) -> String {
        lines(text).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn rows() {
        for (text, expected) in [
            ("", ""),
            ("plain", "plain"),
            ("  two\n\n  lines\t\tand a tab \r\n", "two lines and a tab"),
            ("a\u{b}b\u{c}c\u{3000}d\u{a0}e\u{2028}f\u{2029}g", "a b c d e f g"),
            ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
            ("\x1b]0;title\x07", "␛]0;title␇"),
            ("nul\0del\x7f", "nul␀del␡"),
            ("c1 \u{9b}31m nel\u{85}", "c1 \\u{9b}31m nel\\u{85}"),
            ("a\u{202e}b\u{2066}c\u{200f}d\u{61c}", "a\\u{202e}b\\u{2066}c\\u{200f}d\\u{61c}"),
            ("\u{feff}bom", "bom"),
            ("ze\u{200b}ro\u{2060}\u{ad}", "zero"),
            // The space before something left out is not doubled.
            ("a \u{200b} b", "a b"),
            ("a \u{200b}", "a"),
            ("hid\u{e0041}den", "hid\\u{e0041}den"),
            (WALES, WALES),
            ("🏴\u{e0067}\u{e0062}", "🏴\\u{e0067}\\u{e0062}"),
            (FAMILY, FAMILY),
            ("❤\u{fe0f}\u{200d}🔥", "❤\u{fe0f}\u{200d}🔥"),
            ("1\u{fe0f}\u{20e3}", "1\u{fe0f}\u{20e3}"),
            ("a\u{fe0f}", "a\\u{fe0f}"),
            ("☁\u{fe0f}\u{fe01}", "☁\u{fe0f}\\u{fe01}"),
            ("葛\u{e0100}", "葛\u{e0100}"),
            ("می\u{200c}خواهم", "می\u{200c}خواهم"),
            ("a\u{200d}b", "ab"),
            ("👩\u{200d}", "👩"),
            ("👩\u{200d}\u{200d}👧", "👩\u{200d}👧"),
            ("\u{301}lone", "◌\u{301}lone"),
            ("  \u{301}lone", "◌\u{301}lone"),
            ("e\u{301}", "e\u{301}"),
            ("blank\u{3164}", "blank\\u{3164}"),
            ("\u{fffe}\u{10ffff}\u{fdd0}", "\\u{fffe}\\u{10ffff}\\u{fdd0}"),
            ("\u{e000}", "\u{e000}"),
        ] {
            assert_eq!(one_line(text, 1000), expected, "{text:?}");
            assert_eq!(one_line_bytes(text.as_bytes(), 1000), expected, "{text:?}");
        }
    }

    #[test]
    fn rows_stop_when_full() {
        assert_eq!(one_line("abcdef", 6), "abcdef");
        assert_eq!(one_line("abcdef", 5), "abcdef");
        assert_eq!(one_line("abcdefgh", 3), "abcd…");
        assert_eq!(fit(&one_line("abcdefgh", 3), 3), "ab…");
        assert_eq!(fit(&one_line("abc\n", 3), 3), "abc");
        assert_eq!(fit(&one_line("abc\nd", 3), 3), "ab…");
        assert_eq!(one_line("abc", 0), "a…");
        assert_eq!(fit(&one_line("abc", 0), 0), "");
    }

    #[test]
    fn rows_of_endless_text_cost_only_what_is_shown() {
        let megabytes = 32 << 20;
        for unit in [" ", "x", "\u{301}", "\u{200b}", "👩\u{200d}", "\u{1100}", "क\u{94d}"] {
            let text = unit.repeat(megabytes / unit.len());
            for columns in [0, 1, 3, 80] {
                let row = one_line(&text, columns);
                assert!(row.len() < READ_AHEAD * 2, "{unit:?}");
                assert!(row.ends_with('…'), "{unit:?}");
                assert_eq!(one_line_bytes(text.as_bytes(), columns), row);
                assert!(width(&fit(&row, columns)) <= columns);
            }
        }
    }

    #[test]
    fn marks_are_limited() {
        let text = format!("a{}b", "\u{301}".repeat(1000));
        assert_eq!(one_line(&text, 10).chars().count(), 2 + MOST_MARKS);
    }

    #[test]
    fn broken_bytes() {
        assert_eq!(one_line_bytes(b"a\xff\xe2\x82b\xc0", 80), "a\u{fffd}\u{fffd}b\u{fffd}");
        assert_eq!(one_line_bytes(b"", 80), "");
        let continuations = [0x80; 3 * READ_AHEAD];
        assert!(one_line_bytes(&continuations, 5).starts_with('\u{fffd}'));
    }

    #[test]
    fn transcripts() {
        for (text, expected) in [
            ("", ""),
            ("one\ntwo\n", "one\ntwo"),
            ("one\r\n\r\ntwo", "one\n\ntwo"),
            ("10%\r20%", "10%␍20%"),
            ("\tx", "    x"),
            ("abc\tx\tyz", "abc x   yz"),
            ("abcd\tx", "abcd    x"),
            ("日本\tx", "日本    x"),
            ("👩\u{200d}👧\tx", "👩\u{200d}👧  x"),
            ("\x1b\tx", "␛   x"),
            ("  kept  inside  ", "  kept  inside  "),
            ("ideographic\u{3000}space", "ideographic\u{3000}space"),
            ("a\u{2028}b", "a b"),
            ("form\u{c}feed", "form␌feed"),
            ("a\n\u{301}b", "a\n◌\u{301}b"),
        ] {
            assert_eq!(joined(text), expected, "{text:?}");
        }
        assert!(matches!(lines("plain").next(), Some(Cow::Borrowed("plain"))));
        assert_eq!(lines("").count(), 0);
        assert_eq!(lines("\n").collect::<Vec<_>>(), [""]);

        let mut out = String::new();
        write_lines(b"a\xff\tb\n\nc", &mut out).unwrap();
        assert_eq!(out, "a\u{fffd}  b\n\nc\n");
    }

    #[test]
    fn names() {
        for (text, expected) in [
            ("  fix \x1b[1mthe\x1b[0m\n bug\u{202e} ", "fix [1mthe[0m bug"),
            ("a\u{9b}b\x7fc\u{e0041}d", "abcd"),
            ("\x07 \x07", ""),
            ("a \x07 b", "a b"),
            (FAMILY, FAMILY),
            (WALES, WALES),
        ] {
            assert_eq!(name(text), expected, "{text:?}");
        }
    }

    /// Whether the text may be sent to a terminal.
    fn harmless(text: &str) -> bool {
        text.chars().all(|c| {
            !c.is_control()
                && !matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}')
                && !matches!(c, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        })
    }

    proptest! {
        #[test]
        fn nothing_harmful_is_left(text in any_text(), columns in 0usize..=120) {
            let row = one_line(&text, columns);
            prop_assert!(harmless(&row), "{row:?}");
            prop_assert!(width(&fit(&row, columns)) <= columns);
            prop_assert!(!row.contains("  ") && row.trim() == row);
            for line in lines(&text) {
                prop_assert!(harmless(&line), "{line:?}");
            }
            let name = name(&text);
            prop_assert!(harmless(&name), "{name:?}");
            prop_assert!(!name.contains("  ") && name.trim() == name);
        }

        #[test]
        fn plain_lines_are_no_other_lines(text in "[a-c .,\t\n\r]{0,40}|[ -~\n\u{1}é\u{301}]{0,40}", columns in 0usize..=30) {
            for cut in [false, true] {
                if let Some(plain) = plain_line(&text, columns, cut) {
                    prop_assert_eq!(plain, any_line(&text, columns, cut));
                }
            }
        }

        #[test]
        fn a_whole_row_says_so(text in any_text()) {
            // What is shown when there is room does not depend on how much.
            prop_assert_eq!(one_line(&text, 5000), one_line(&text, usize::MAX));
        }

        #[test]
        fn any_bytes_will_do(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(harmless(&one_line_bytes(&bytes, 40)));
            let mut out = String::new();
            write_lines(&bytes, &mut out).unwrap();
            prop_assert!(harmless(&out.replace('\n', "")));
        }
    }
}

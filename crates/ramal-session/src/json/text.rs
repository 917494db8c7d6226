//! The text of JSON: strings decoded and quoted, lone surrogates and odd bytes made harmless.

use std::borrow::Cow;

use memchr::memmem;

/// `bytes` as JSON text that strict readers accept: what is not UTF-8 reads as U+FFFD, and so does
/// the escape of half a surrogate pair.
///
/// Both rules keep an entry readable that other programs stored that way. Nothing is copied when
/// there is nothing to mend. A replaced escape keeps its length.
///
/// ```
/// assert_eq!(ramal_session::json::clean(br#""\ud83d!""#), r#""\ufffd!""#);
/// ```
pub fn clean(bytes: &[u8]) -> Cow<'_, str> {
    // Nearly everything is UTF-8, and to see that is quicker than to look for what is not.
    without_half_pairs(match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    })
}

/// [`clean`] of bytes that are not needed any more.
pub(crate) fn clean_owned(bytes: Vec<u8>) -> String {
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    };
    without_half_pairs(Cow::Owned(text)).into_owned()
}

fn without_half_pairs(mut text: Cow<'_, str>) -> Cow<'_, str> {
    let mut from = 0;
    while let Some(at) = next_surrogate(text.as_bytes(), from) {
        let bytes = text.as_bytes();
        if is_high(bytes, at) && is_escape_at(bytes, at + 6) && is_low(bytes, at + 6) {
            from = at + 12;
            continue;
        }
        text.to_mut().replace_range(at..at + 6, "\\ufffd");
        from = at + 6;
    }
    text
}

/// Where the next escape of a surrogate stands, at or after `from`.
fn next_surrogate(bytes: &[u8], mut from: usize) -> Option<usize> {
    loop {
        let at = from + memmem::find(bytes.get(from..)?, b"\\u")?;
        let run = bytes[..at].iter().rev().take_while(|&&b| b == b'\\').count();
        // An even number of backslashes before it: this one starts the escape.
        if run % 2 == 0 && (is_high(bytes, at) || is_low(bytes, at)) {
            return Some(at);
        }
        from = at + 2;
    }
}

fn is_escape_at(bytes: &[u8], at: usize) -> bool {
    bytes.get(at) == Some(&b'\\') && bytes.get(at + 1) == Some(&b'u')
}

fn is_high(bytes: &[u8], at: usize) -> bool {
    surrogate(bytes, at, b"89abAB")
}

fn is_low(bytes: &[u8], at: usize) -> bool {
    surrogate(bytes, at, b"cdefCDEF")
}

fn surrogate(bytes: &[u8], at: usize, second: &[u8]) -> bool {
    matches!(bytes.get(at + 2..at + 6), Some([b'd' | b'D', b, c, d])
        if second.contains(b) && c.is_ascii_hexdigit() && d.is_ascii_hexdigit())
}

/// What a JSON string says; `raw` is what stands between its quotes.
///
/// Never fails: a sequence that is no escape reads as it stands.
pub fn decode(raw: &[u8]) -> Cow<'_, str> {
    // To see that it is UTF-8 is quicker than to look for what is not.
    let text = std::str::from_utf8(raw).map_or_else(|_| String::from_utf8_lossy(raw), Cow::Borrowed);
    let Some(first) = memchr::memchr(b'\\', text.as_bytes()) else { return text };
    let mut out = String::with_capacity(text.len());
    let (before, mut rest) = text.split_at(first);
    out.push_str(before);
    // `rest` begins with a backslash.
    loop {
        let (said, length) = escape(rest.as_bytes()).unwrap_or(('\\', 1));
        out.push(said);
        rest = rest.get(length..).unwrap_or_default();
        let Some(next) = memchr::memchr(b'\\', rest.as_bytes()) else { break };
        let (before, from_next) = rest.split_at(next);
        out.push_str(before);
        rest = from_next;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// What the escape at the beginning of `bytes` says, and its length; none if it is none. Half a
/// surrogate pair says U+FFFD, as for [`clean`].
fn escape(bytes: &[u8]) -> Option<(char, usize)> {
    let said = match bytes.get(1)? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        &same @ (b'"' | b'\\' | b'/') => char::from(same),
        b'u' => {
            let unit = hex(bytes.get(2..6)?)?;
            let low =
                bytes.get(6..12).filter(|next| next.starts_with(b"\\u")).and_then(|next| hex(&next[2..]));
            return Some(match (unit, low) {
                (0xd800..=0xdbff, Some(low @ 0xdc00..=0xdfff)) => {
                    let code = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                    (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
                }
                _ => (char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
            });
        }
        _ => return None,
    };
    Some((said, 2))
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |number, &digit| Some(number << 4 | char::from(digit).to_digit(16)?))
}

/// `text` as a JSON string, quotes included.
pub fn quote(text: &str) -> String {
    // Writing a string to a string cannot fail; an empty string is what would be left to say.
    serde_json::to_string(text).unwrap_or_default()
}

/// Whether `text` is one JSON value and nothing else, however deeply it is nested.
pub fn is_valid(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Whether a line is one JSON value once it is [`clean`]. What that replaces stands within strings or makes
/// no JSON, so nothing has to be replaced to tell.
pub(crate) fn is_valid_line(line: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_pairs_are_replaced_and_whole_ones_kept() {
        for (given, want) in [
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\uDE00 \ud83d\ude00""#, r#""\ufffd \ud83d\ude00""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
            (r#""\u00e9""#, r#""\u00e9""#),
            (r#""\ud8"#, r#""\ud8"#),
        ] {
            assert_eq!(clean(given.as_bytes()), want, "{given}");
        }
        assert_eq!(clean(b"\"\xff\""), "\"\u{fffd}\"");
        assert_eq!(clean_owned(b"\"\xff \\ud83d\"".to_vec()), "\"\u{fffd} \\ufffd\"");
    }

    #[test]
    fn strings_are_decoded() {
        assert_eq!(decode(br"a\nb\u0041"), "a\nbA");
        assert_eq!(decode(br"\ud83d"), "\u{fffd}");
        assert_eq!(decode(b"plain"), "plain");
        assert_eq!(decode(br"\x"), r"\x");
        assert_eq!(
            decode(br#"\"\\\/\b\f\r\t\ud83d\ude00\ud83dx\ude00\u12"#),
            "\"\\/\u{8}\u{c}\r\t😀\u{fffd}x\u{fffd}\\u12"
        );
        assert_eq!(decode(b"a\\"), "a\\");
    }

    proptest::proptest! {
        #[test]
        fn what_was_quoted_is_decoded(text in "(?s)[\\x00-\\x7f]{0,20}|.{0,20}") {
            let quoted = quote(&text);
            proptest::prop_assert_eq!(decode(&quoted.as_bytes()[1..quoted.len() - 1]), &*text);
            let escaped: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
            proptest::prop_assert_eq!(decode(escaped.as_bytes()), text);
        }
    }

    proptest::proptest! {
        #[test]
        fn a_line_need_not_be_clean_to_be_told_valid(
            parts in proptest::collection::vec(proptest::sample::select(vec![
                &b"{"[..], b"}", b"\"", b"\"a\":", b"\\ud83d", b"\\ude00", b"\\u00", b"\xff", b"\xc3", b"\xa9", b"\xe2\x82",
                b"\\", b"1", b",", b" ", b"\x01", b"\"k\":\"v\"",
            ]), 0..8),
        ) {
            for line in [parts.concat(), [&b"{\"k\":\""[..], &parts.concat(), b"\"}"].concat()] {
                proptest::prop_assert_eq!(is_valid_line(&line), is_valid(&clean(&line)), "{:?}", line);
            }
        }
    }

    #[test]
    fn nesting_is_no_limit() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert!(is_valid(&deep));
        assert!(!is_valid(r#"{"a":oops}"#));
    }
}

//! What may stand in the page: text as text, addresses of few kinds, pictures of few kinds.

use std::borrow::Cow;

use super::super::harmless::harmless;

/// A text as it stands between tags and in a quoted attribute. Nothing in it is markup, and nothing in it
/// turns the line around.
pub(super) fn escape(text: &str) -> String {
    let text = harmless(text);
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    push_escaped(&mut out, &text);
    out
}

/// Adds a text that is harmless already.
pub(super) fn push_escaped(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
}

/// An address that a link may have: of the web, or of a mailbox.
pub(super) fn address(text: &str) -> Option<&str> {
    let begins = |start: &str| text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
    let is_plain = !text.chars().any(|c| c.is_control() || c.is_whitespace());
    (is_plain && ["http://", "https://", "mailto:"].into_iter().any(begins)).then_some(text)
}

/// The kind of a picture that is shown; none for others, among them those that can hold a script.
pub(super) fn picture_kind(kind: &str) -> Option<&'static str> {
    ["image/png", "image/jpeg", "image/gif", "image/webp"]
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(kind))
}

/// The data of a picture if it is base64 and nothing else.
pub(super) fn picture_data(data: &str) -> Option<Cow<'_, str>> {
    let digits = data.trim_end_matches('=');
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let is_whole = data.len().is_multiple_of(4) && data.len() - digits.len() <= 2;
    (!digits.is_empty() && is_whole && digits.bytes().all(is_digit)).then_some(Cow::Borrowed(data))
}

//! Text of a session for places where it is only to be read: nothing in it acts on a terminal, turns a line
//! around or cannot be seen. Tabs and lines stay as they are.

use std::borrow::Cow;

use crate::view::clean;

/// The text with every character that acts or hides shown in a form that does nothing.
pub(super) fn harmless(text: &str) -> Cow<'_, str> {
    // Most text has nothing else.
    if text.bytes().all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for (count, line) in text.split('\n').enumerate() {
        if count > 0 {
            out.push('\n');
        }
        for (count, part) in line.strip_suffix('\r').unwrap_or(line).split('\t').enumerate() {
            if count > 0 {
                out.push('\t');
            }
            out.extend(clean::lines(part));
        }
    }
    Cow::Owned(out)
}

/// The whole text as one harmless line.
pub(super) fn on_one_line(text: &str) -> String {
    clean::one_line(text, usize::MAX / 64)
}

//! Pictures that are dropped on a terminal: it pastes their paths.

use std::path::PathBuf;

/// Ends of the names of pictures that models take.
const ENDS: [&str; 5] = [".png", ".jpg", ".jpeg", ".gif", ".webp"];

/// The path of a picture, if that is all that was pasted: terminals paste it when a file is dropped on them,
/// quoted as for a shell or as an address. Whether the file is there is not looked at.
pub fn pasted_path(text: &str) -> Option<PathBuf> {
    let text = text.trim();
    if text.contains(['\n', '\r', '\0']) {
        return None;
    }
    let path = match (quoted(text), text.strip_prefix("file://")) {
        (Some(inner), _) => inner.to_owned(),
        (None, Some(address)) => decoded(address.strip_prefix("localhost").unwrap_or(address))?,
        (None, None) => unescaped(text)?,
    };
    let is_absolute = path.starts_with('/') || PathBuf::from(&path).is_absolute();
    let lower = path.to_lowercase();
    (is_absolute && ENDS.iter().any(|end| lower.ends_with(end))).then(|| path.into())
}

fn quoted(text: &str) -> Option<&str> {
    ['\'', '"'].into_iter().find_map(|quote| {
        let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.contains(quote)).then_some(inner)
    })
}

/// A word of a shell. A blank that is not escaped ends it, and then more than a path was pasted.
fn unescaped(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' if cfg!(not(windows)) => out.push(characters.next()?),
            c if c.is_whitespace() => return None,
            c => out.push(c),
        }
    }
    Some(out)
}

/// An address with its `%20` as what they stand for.
fn decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let (high, low) = (digit(bytes.next())?, digit(bytes.next())?);
                out.push(u8::try_from(high * 16 + low).ok()?);
            }
            byte => out.push(byte),
        }
    }
    let text = String::from_utf8(out).ok()?;
    (!text.contains('\0')).then_some(text)
}

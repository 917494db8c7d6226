//! Secrets blanked out of what is given away: first the whole session is looked at for them, then none of
//! them is let through, wherever it stands.
//!
//! Some secrets show by their shape ([`shapes`]), others only by what stands before them in one place; the
//! same text may stand alone in ten others. That is why there are two passes.

mod shapes;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use ramal_session::json::{self, decode, quote};
use ramal_session::{ReadError, SessionManager};

/// Stands where a secret stood.
pub(crate) const BLANK: &str = "[redacted]";

/// A shorter text is blanked where it was found, and not looked for elsewhere: it may be a word.
const SHORTEST: usize = 8;

/// What must not be given away.
#[derive(Debug, Default)]
pub(crate) struct Secrets {
    /// Found texts, the longest first: one may be a part of another.
    texts: Vec<String>,
}

impl Secrets {
    /// Looks for secrets in every string of a session, and in variables of the environment that are named
    /// like secrets. `named` are blanked too, whatever they look like.
    ///
    /// # Errors
    /// If the log cannot be read any more.
    pub(crate) fn of(session: &SessionManager, named: &[String]) -> Result<Secrets, ReadError> {
        let mut found: BTreeSet<String> = named.iter().filter(|text| !text.is_empty()).cloned().collect();
        found.extend(of_environment(
            std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
        ));
        gather(session.get_header().json(), &mut found);
        for entry in session.get_entries() {
            gather(entry.read()?.json(), &mut found);
        }
        Ok(Secrets::from_texts(found))
    }

    fn from_texts(found: BTreeSet<String>) -> Secrets {
        let mut texts: Vec<String> = found.into_iter().collect();
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        Secrets { texts }
    }

    /// A text without secrets.
    pub(crate) fn blank<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut places: Vec<Range<usize>> = shapes::find(text);
        for secret in &self.texts {
            places.extend(text.match_indices(&**secret).map(|(at, found)| at..at + found.len()));
        }
        if places.is_empty() {
            return Cow::Borrowed(text);
        }
        places.sort_unstable_by_key(|place| (place.start, place.end));
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for place in places {
            if place.start >= done {
                out += text.get(done..place.start).unwrap_or_default();
                out += BLANK;
            }
            done = done.max(place.end);
        }
        out += text.get(done..).unwrap_or_default();
        Cow::Owned(out)
    }

    /// JSON text without secrets: every string in it is looked at, also the names of members. What has no
    /// secret in it keeps its bytes.
    pub(crate) fn blank_json<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut out = String::new();
        let mut done = 0;
        for place in strings(text) {
            let said = decode(text.as_bytes().get(place.clone()).unwrap_or_default());
            if let Cow::Owned(blanked) = self.blank(&said) {
                // The quotation marks stand around the place.
                out += text.get(done..place.start - 1).unwrap_or_default();
                out += &quote(&blanked);
                done = place.end + 1;
            }
        }
        if done == 0 {
            return Cow::Borrowed(text);
        }
        out += text.get(done..).unwrap_or_default();
        Cow::Owned(out)
    }

    /// As [`Secrets::blank_json`], of an entry: pictures, which nobody looks into, are left out, too.
    pub(crate) fn blank_entry(&self, text: &str) -> String {
        let blanked = self.blank_json(text);
        without_pictures(&blanked).unwrap_or_else(|| blanked.into_owned())
    }
}

/// Says what stands in place of a picture.
const NO_PICTURE: &str = r#"{"type":"text","text":"[picture left out]"}"#;

/// An entry whose content has pictures, with a few words in place of each; none if it has no picture.
fn without_pictures(entry: &str) -> Option<String> {
    let in_content = |object: &str| {
        let content = json::get(object.as_bytes(), "content")?;
        let blocks: Vec<&[u8]> = json::members::items(content).collect();
        let is_picture = |block: &&[u8]| json::get_str(block, "type").is_some_and(|kind| kind == "image");
        if !blocks.iter().any(is_picture) {
            return None;
        }
        let left = blocks.iter().map(|block| match is_picture(block) {
            true => NO_PICTURE.into(),
            false => String::from_utf8_lossy(block),
        });
        let left = format!("[{}]", left.collect::<Vec<_>>().join(","));
        let edited = json::ObjectEdit::new().set("content", left).apply(object.as_bytes());
        String::from_utf8(edited).ok()
    };
    let message =
        json::get(entry.as_bytes(), "message").and_then(|message| std::str::from_utf8(message).ok());
    match message.and_then(in_content) {
        Some(message) => {
            String::from_utf8(json::ObjectEdit::new().set("message", message).apply(entry.as_bytes())).ok()
        }
        None => in_content(entry),
    }
}

/// Puts what is found in the strings of a JSON text with the rest.
fn gather(text: &str, found: &mut BTreeSet<String>) {
    for place in strings(text) {
        let said = decode(text.as_bytes().get(place).unwrap_or_default());
        for place in shapes::find(&said) {
            let secret = said.get(place).unwrap_or_default();
            if secret.len() >= SHORTEST && secret.len() < LONGEST {
                found.insert(secret.to_owned());
            }
        }
    }
}

/// What is longer is a block that shows by its shape everywhere.
const LONGEST: usize = 1024;

/// The values of variables that are named like secrets.
fn of_environment(variables: impl Iterator<Item = (String, String)>) -> impl Iterator<Item = String> {
    let is_secret = |(name, value): &(String, String)| {
        shapes::names_a_secret(name) && value.len() >= SHORTEST && !value.contains(['/', ' '])
    };
    variables.filter(is_secret).map(|(_, value)| value)
}

/// Where the strings of a JSON text stand, without their quotation marks.
fn strings(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + bytes.get(at..)?.iter().position(|&byte| byte == b'"')? + 1;
        let mut end = start;
        loop {
            match bytes.get(end)? {
                b'"' => break,
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
        at = end + 1;
        Some(start..end)
    })
}

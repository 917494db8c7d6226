//! Whether words stand in what a message says, letter by letter, without reading the message as what it is.
//!
//! What stands there is said for sure; what does not may be said all the same, and then the entry is read.
//! Most entries that have a common word have it in their text, and looking there is a fraction of reading.

use std::ops::Range;

use memchr::memmem::Finder;

use crate::entry::Role;
use crate::json::{self, members};

/// Whether a word means the same in JSON text as in what the text says: nothing in it is ever escaped there.
pub(super) fn means_itself(word: &str) -> bool {
    !word.chars().any(|letter| letter == '"' || letter == '\\' || letter.is_control())
}

/// Whether all words are said in the content of a message, as far as one sees without decoding it.
///
/// `line` is that of an entry of type `message`, `lower` the same with its letters of ASCII in lower case. The
/// words have to mean themselves.
pub(super) fn says(line: &[u8], lower: &[u8], words: &[&Finder<'_>]) -> bool {
    let mut missing = words.to_vec();
    each_piece(line, &mut |piece| {
        let piece = lower.get(piece).unwrap_or_default();
        missing.retain(|word| !stands_in(word, piece));
        !missing.is_empty()
    });
    // Of what is no JSON nothing is said but its type, whatever could be guessed of it.
    missing.is_empty() && json::text::is_valid_line(line)
}

/// Whether a word stands in a piece of JSON text where no escape reaches into it.
fn stands_in(word: &Finder<'_>, piece: &[u8]) -> bool {
    // A `u` escape is the longest: a backslash and five more.
    let is_clear = |at: usize| memchr::memchr(b'\\', &piece[at.saturating_sub(5)..at]).is_none();
    word.find_iter(piece).any(is_clear)
}

/// The places of texts, of names of tools and of their arguments in the content of a message, as long as the
/// answer is true.
fn each_piece(line: &[u8], visit: &mut dyn FnMut(Range<usize>) -> bool) {
    let Some((place, message)) = members::get_object(line, "message") else { return };
    if line.get(place.start) != Some(&b'{') {
        return;
    }
    let within = |part: &Range<usize>| place.start + part.start..place.start + part.end;
    let member = |key| {
        let is_it = |member: &&json::Member| members::is_key(&line[within(&member.key)], key);
        message.iter().rev().find(is_it).map(|member| within(&member.value))
    };
    let (Some(role), Some(content)) = (member("role"), member("content")) else { return };
    let role = members::as_str(&line[role]).map(|role| Role::of(&role));
    if !matches!(role, Some(Role::User | Role::Assistant | Role::ToolResult)) {
        // Others may say their text elsewhere.
        return;
    }
    if line.get(content.start) == Some(&b'"') {
        visit(content);
        return;
    }
    for block in members::item_places(&line[content.clone()]) {
        let block = content.start + block.start..content.start + block.end;
        if line.get(block.start) == Some(&b'{') && !block_pieces(line, block, visit) {
            return;
        }
    }
}

fn block_pieces(line: &[u8], place: Range<usize>, visit: &mut dyn FnMut(Range<usize>) -> bool) -> bool {
    let block = &line[place.clone()];
    let (mut kind, mut text, mut name, mut arguments, mut raw) = (None, None, None, None, None);
    let is_string = |value: &Range<usize>| block.get(value.start) == Some(&b'"');
    for json::Member { key, value } in json::Members::new(block) {
        let member = match &*json::decode(&block[key]) {
            "type" => &mut kind,
            "text" => &mut text,
            "name" => &mut name,
            "arguments" => &mut arguments,
            "rawArguments" if is_string(&value) => &mut raw,
            _ => continue,
        };
        *member = Some(value);
    }
    let said = match kind.and_then(|kind| members::as_str(&block[kind])).as_deref() {
        Some("text") => [text.filter(is_string), None],
        Some("toolCall") => [name.filter(is_string), raw.or(arguments)],
        _ => return true,
    };
    said.into_iter().flatten().all(|said| visit(place.start + said.start..place.start + said.end))
}

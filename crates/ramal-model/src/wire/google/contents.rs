//! A conversation as Gemini's contents.

use std::borrow::Cow;
use std::collections::HashMap;

use ramal_session::json::members::{get, get_str, items};
use ramal_session::json::{is_valid, quote};

use super::family::Family;
use crate::request::{Api, Endpoint};

/// What Google documents for calls whose signature is not at hand, because another model made them.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Contents begin with the user's. This stands there where a conversation does not.
const BEGINNING: &str = "(The beginning of the conversation is missing.)";

/// And they end with the user's, or with results.
const END: &str = "Continue.";

/// The longest name of a function.
const LONGEST_NAME: usize = 64;

/// A conversation, ready to be sent.
pub(super) struct Contents {
    /// What was said before the first message, as part of the instructions.
    pub(super) system: Vec<String>,
    /// JSON objects; roles alternate, the first and the last are the user's.
    pub(super) list: Vec<String>,
}

/// The messages of a session as contents. What is made of a message depends on it and on what stands
/// before it, so that a conversation that goes on keeps its bytes.
pub(super) fn contents(endpoint: &Endpoint, messages: &[String]) -> Contents {
    let mut writer =
        Writer { endpoint, family: Family::of(&endpoint.model), names: HashMap::new(), turns: Vec::new() };
    let mut system = Vec::new();
    for message in messages {
        let message = message.as_bytes();
        let role = get_str(message, "role").unwrap_or_default();
        let content = get(message, "content").unwrap_or_default();
        match &*role {
            "assistant" => writer.answer(message, content),
            "toolResult" => writer.result(message, content),
            "system" | "developer" if writer.turns.is_empty() => system.extend(texts(content)),
            _ => writer.user(content),
        }
    }
    Contents { system, list: writer.finish() }
}

/// A text as a part.
pub(super) fn text_part(text: &str) -> String {
    format!("{{\"text\":{}}}", quote(text))
}

struct Turn {
    is_user: bool,
    parts: Vec<String>,
    /// Images of results, for models that take none inside of them. Results come first.
    images: Vec<String>,
}

struct Writer<'a> {
    endpoint: &'a Endpoint,
    family: Family,
    /// Functions of the calls so far, by id.
    names: HashMap<String, String>,
    turns: Vec<Turn>,
}

impl Writer<'_> {
    fn turn(&mut self, is_user: bool) -> &mut Turn {
        if self.turns.last().is_none_or(|turn| turn.is_user != is_user) {
            if self.turns.is_empty() && !is_user {
                self.turns.push(Turn {
                    is_user: true,
                    parts: vec![text_part(BEGINNING)],
                    images: Vec::new(),
                });
            }
            self.turns.push(Turn { is_user, parts: Vec::new(), images: Vec::new() });
        }
        let last = self.turns.len() - 1;
        &mut self.turns[last]
    }

    fn user(&mut self, content: &[u8]) {
        let parts = self.said(content);
        if !parts.is_empty() {
            let turn = self.turn(true);
            turn.parts.append(&mut turn.images);
            turn.parts.extend(parts);
        }
    }

    /// Texts and images as parts.
    fn said(&self, content: &[u8]) -> Vec<String> {
        if content.first() == Some(&b'"') {
            return texts(content).map(|text| text_part(&text)).collect();
        }
        let part = |block| match get_str(block, "type").as_deref() {
            Some("image") => Some(self.image(block).unwrap_or_else(|| text_part("(An image was left out.)"))),
            _ => block_text(block).map(|text| text_part(&text)),
        };
        items(content).filter_map(part).collect()
    }

    /// None if the model cannot see it.
    fn image(&self, block: &[u8]) -> Option<String> {
        let (data, mime) = (get_str(block, "data")?, get_str(block, "mimeType")?);
        let is_fit = self.endpoint.sees && is_base64(&data) && mime.starts_with("image/");
        is_fit.then(|| {
            format!("{{\"inlineData\":{{\"mimeType\":{},\"data\":{}}}}}", quote(&mime), quote(&data))
        })
    }

    fn answer(&mut self, message: &[u8], content: &[u8]) {
        let same = |key, wanted: &str| get_str(message, key).is_some_and(|text| text == wanted);
        let is_own = same("api", Api::GoogleGenerativeAi.name())
            && same("provider", &self.endpoint.provider)
            && same("model", &self.endpoint.model);
        let is_whole = !same("stopReason", "aborted") && !same("stopReason", "error");
        let signature = |block, key| {
            let found = get_str(block, key).filter(|text| is_own && is_base64(text))?;
            Some(format!(",\"thoughtSignature\":{}", quote(&found)))
        };
        let mut parts = Vec::new();
        if content.first() == Some(&b'"') {
            parts.extend(texts(content).map(|text| text_part(&text)));
        }
        let mut is_first_call = true;
        for block in items(content) {
            let kind = get_str(block, "type");
            match kind.as_deref() {
                Some("text") => {
                    let text = get_str(block, "text").unwrap_or_default();
                    let signature = signature(block, "textSignature");
                    // A signature may come behind the last text, alone.
                    if !text.trim().is_empty() || signature.is_some() {
                        let signature = signature.unwrap_or_default();
                        parts.push(format!("{{\"text\":{}{signature}}}", quote(&text)));
                    }
                }
                Some("thinking") if is_own && is_whole => {
                    let text = get_str(block, "thinking").unwrap_or_default();
                    let signature = signature(block, "thinkingSignature");
                    if !text.trim().is_empty() || signature.is_some() {
                        let signature = signature.unwrap_or_default();
                        parts.push(format!("{{\"text\":{},\"thought\":true{signature}}}", quote(&text)));
                    }
                }
                Some("toolCall") => {
                    let mut signature = signature(block, "thoughtSignature");
                    // Of calls made at once, only the first has one.
                    if is_first_call && self.family.wants_signatures() && signature.is_none() {
                        signature = Some(format!(",\"thoughtSignature\":{}", quote(NO_SIGNATURE)));
                    }
                    is_first_call = false;
                    parts.push(self.call(block, &signature.unwrap_or_default()));
                }
                _ => {}
            }
        }
        if !parts.is_empty() {
            self.turn(false).parts.extend(parts);
        }
    }

    fn call(&mut self, block: &[u8], signature: &str) -> String {
        let id = get_str(block, "id").unwrap_or_default();
        let name = function_name(&get_str(block, "name").unwrap_or_default());
        let arguments = get(block, "arguments").map(String::from_utf8_lossy).unwrap_or_default();
        let is_object = arguments.starts_with('{') && is_valid(&arguments);
        let arguments = if is_object { &*arguments } else { "{}" };
        let part = format!(
            "{{\"functionCall\":{{{}\"name\":{},\"args\":{arguments}}}{signature}}}",
            id_member(&id),
            quote(&name)
        );
        self.names.insert(id.into_owned(), name);
        part
    }

    fn result(&mut self, message: &[u8], content: &[u8]) {
        let id = get_str(message, "toolCallId").unwrap_or_default();
        let name = match self.names.get(&*id) {
            Some(name) => name.clone(),
            None => function_name(&get_str(message, "toolName").unwrap_or_default()),
        };
        let mut images: Vec<String> = Vec::new();
        let mut left_out = 0;
        for block in items(content).filter(|block| get_str(block, "type").as_deref() == Some("image")) {
            match self.image(block) {
                Some(image) => images.push(image),
                None => left_out += 1,
            }
        }
        let mut text = texts(content).collect::<Vec<_>>().join("\n");
        if left_out > 0 {
            text += if text.is_empty() { "(An image was left out.)" } else { "\n(An image was left out.)" };
        }
        if text.is_empty() && !images.is_empty() {
            text = "(an image)".into();
        }
        let key = if get(message, "isError") == Some(b"true") { "error" } else { "output" };
        let inside = self.family.takes_images_in_results() && !images.is_empty();
        let nested = if inside { format!(",\"parts\":[{}]", images.join(",")) } else { String::new() };
        let part = format!(
            "{{\"functionResponse\":{{{}\"name\":{},\"response\":{{\"{key}\":{}}}{nested}}}}}",
            id_member(&id),
            quote(&name),
            quote(&text)
        );
        let turn = self.turn(true);
        turn.parts.push(part);
        if !inside {
            turn.images.extend(images);
        }
    }

    fn finish(mut self) -> Vec<String> {
        if self.turns.last().is_none_or(|turn| !turn.is_user) {
            let text = if self.turns.is_empty() { BEGINNING } else { END };
            self.turn(true).parts.push(text_part(text));
        }
        let write = |turn: Turn| {
            let role = if turn.is_user { "user" } else { "model" };
            let parts: Vec<String> = turn.parts.into_iter().chain(turn.images).collect();
            format!("{{\"role\":\"{role}\",\"parts\":[{}]}}", parts.join(","))
        };
        self.turns.into_iter().map(write).collect()
    }
}

fn id_member(id: &str) -> String {
    if id.is_empty() { String::new() } else { format!("\"id\":{},", quote(id)) }
}

/// The texts of a content, a string or blocks; none that are empty.
fn texts(content: &[u8]) -> impl Iterator<Item = String> {
    let whole = match content.first() {
        Some(b'"') => ramal_session::json::members::as_str(content).map(Cow::into_owned),
        _ => None,
    };
    let whole = whole.filter(|text| !text.trim().is_empty());
    whole.into_iter().chain(items(content).filter_map(block_text))
}

fn block_text(block: &[u8]) -> Option<String> {
    let is_text = get_str(block, "type").as_deref() == Some("text");
    let text = get_str(block, "text").filter(|text| is_text && !text.trim().is_empty())?;
    Some(text.into_owned())
}

/// A name that Gemini takes: letters, digits and `_.-:`, a letter or `_` first.
fn function_name(name: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() || "_.-:".contains(c) { c } else { '_' };
    let mut out: String = name.chars().map(fit).take(LONGEST_NAME).collect();
    if !out.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        out.insert(0, '_');
        out.truncate(LONGEST_NAME);
    }
    out
}

/// Bytes come as base64, and a request with anything else in their place is refused as a whole.
fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    !body.is_empty()
        && text.len() - body.len() <= 2
        && text.len().is_multiple_of(4)
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_names_of_functions() {
        for (name, want) in
            [("read", "read"), ("", "_"), ("9x", "_9x"), ("a b/ü", "a_b__"), ("mcp.x:y-z", "mcp.x:y-z")]
        {
            assert_eq!(function_name(name), want);
        }
        assert_eq!(function_name(&"é1".repeat(99)).len(), LONGEST_NAME);
    }

    #[test]
    fn only_base64_counts_as_bytes() {
        for good in ["AAAA", "AAA=", "AA==", "a-_/"] {
            assert!(is_base64(good), "{good}");
        }
        for bad in ["", "A", "AAAAA", "A===", "====", "AA A", "{\"a\":1}"] {
            assert!(!is_base64(bad), "{bad}");
        }
    }
}

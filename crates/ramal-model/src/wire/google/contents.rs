//! A conversation as Gemini's contents.

use std::collections::HashMap;

use ramal_session::json::{self, members, quote};
use ramal_session::{Message, Role};

use super::family::Family;
use crate::request::Endpoint;
use crate::wire::messages::{self, CONTINUE, NO_OUTPUT, OPENING, Part, is_own, parts};

/// What Google documents for calls whose signature is not at hand, because another model made them.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

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
    messages::for_each(messages, |message| {
        match message.role() {
            Role::Assistant => writer.answer(message),
            Role::ToolResult => writer.result(message),
            role => {
                let parts = parts(message, endpoint);
                // What stands before the first message is part of the instructions.
                let is_instruction =
                    matches!(&*message.get_str("role").unwrap_or_default(), "system" | "developer");
                if is_instruction && role != Role::User && writer.turns.is_empty() {
                    system.extend(parts.into_iter().filter_map(|part| match part {
                        Part::Text { text, .. } => Some(text.into_owned()),
                        _ => None,
                    }));
                } else {
                    writer.user(&parts);
                }
            }
        }
    });
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
                self.turns.push(Turn { is_user: true, parts: vec![text_part(OPENING)], images: Vec::new() });
            }
            self.turns.push(Turn { is_user, parts: Vec::new(), images: Vec::new() });
        }
        let last = self.turns.len() - 1;
        &mut self.turns[last]
    }

    fn user(&mut self, parts: &[Part<'_>]) {
        let parts: Vec<String> = parts.iter().filter_map(said).collect();
        if !parts.is_empty() {
            let turn = self.turn(true);
            turn.parts.append(&mut turn.images);
            turn.parts.extend(parts);
        }
    }

    fn answer(&mut self, message: Message<'_>) {
        let is_own = is_own(message, self.endpoint);
        let is_whole = !matches!(&*message.get_str("stopReason").unwrap_or_default(), "aborted" | "error");
        let signed = |signature: Option<&str>| {
            let found = signature.filter(|text| is_own && is_base64(text));
            found.map(|found| format!(",\"thoughtSignature\":{}", quote(found)))
        };
        let mut is_first_call = true;
        let mut out = Vec::new();
        for part in parts_with_ends(message, self.endpoint) {
            match part {
                Part::Text { text, signature } => {
                    let signature = signed(signature.as_deref());
                    if !text.trim().is_empty() || signature.is_some() {
                        out.push(format!("{{\"text\":{}{}}}", quote(&text), signature.unwrap_or_default()));
                    }
                }
                Part::Thinking { thinking, signature, .. } if is_own && is_whole => {
                    let signature = signed(signature.as_deref());
                    if !thinking.trim().is_empty() || signature.is_some() {
                        let signature = signature.unwrap_or_default();
                        out.push(format!("{{\"text\":{},\"thought\":true{signature}}}", quote(&thinking)));
                    }
                }
                Part::ToolCall { id, name, arguments, signature } => {
                    let mut signature = signed(signature.as_deref());
                    // Of calls made at once, only the first has one.
                    if is_first_call && self.family.wants_signatures() && signature.is_none() {
                        signature = Some(format!(",\"thoughtSignature\":{}", quote(NO_SIGNATURE)));
                    }
                    is_first_call = false;
                    let name = function_name(&name);
                    out.push(format!(
                        "{{\"functionCall\":{{{}\"name\":{},\"args\":{arguments}}}{}}}",
                        id_member(&id),
                        quote(&name),
                        signature.unwrap_or_default()
                    ));
                    self.names.insert(id.into_owned(), name);
                }
                Part::Thinking { .. } | Part::Image { .. } => {}
            }
        }
        if !out.is_empty() {
            self.turn(false).parts.extend(out);
        }
    }

    fn result(&mut self, message: Message<'_>) {
        let id = message.get_str("toolCallId").unwrap_or_default();
        let name = match self.names.get(&*id) {
            Some(name) => name.clone(),
            None => function_name(&message.get_str("toolName").unwrap_or_default()),
        };
        let (mut texts, mut images) = (Vec::new(), Vec::new());
        for part in parts(message, self.endpoint) {
            match part {
                Part::Text { text, .. } => texts.push(text),
                Part::Image { .. } => images.extend(said(&part)),
                _ => {}
            }
        }
        let text = if texts.is_empty() { NO_OUTPUT.to_owned() } else { texts.join("\n") };
        let key = if message.is_error() { "error" } else { "output" };
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
            let text = if self.turns.is_empty() { OPENING } else { CONTINUE };
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

/// What a person or a program said.
fn said(part: &Part<'_>) -> Option<String> {
    match part {
        Part::Text { text, .. } => Some(text_part(text)),
        Part::Image { mime_type, data } => {
            Some(format!("{{\"inlineData\":{{\"mimeType\":{},\"data\":{}}}}}", quote(mime_type), quote(data)))
        }
        _ => None,
    }
}

/// The parts of an answer, with a text that is empty but for its signature: Gemini may send one behind
/// everything else, and wants it back.
fn parts_with_ends<'a>(message: Message<'a>, endpoint: &Endpoint) -> Vec<Part<'a>> {
    let blocks: Vec<&str> = message.blocks().collect();
    if blocks.is_empty() {
        return parts(message, endpoint);
    }
    let lone = |block: &'a str| {
        let [kind, signature] = json::find(block, ["type", "textSignature"])
            .map(|value| value.and_then(|value| members::as_str(value.as_bytes())));
        let signature = signature.filter(|_| kind.as_deref() == Some("text"));
        Some(Part::Text { text: "".into(), signature: Some(signature?) })
    };
    blocks.into_iter().filter_map(|block| messages::part(block, endpoint).or_else(|| lone(block))).collect()
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

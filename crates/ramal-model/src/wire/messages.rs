//! Stored messages, read for requests: their blocks, what of them may go to whom, and ids that a
//! provider accepts.
//!
//! Arguments of calls, schemas and image data stay JSON text from the log to the wire, so that what
//! goes back is what came.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use ramal_session::json::{self, Members, decode, is_valid, members, quote};
use ramal_session::{Message, Role};

use crate::request::{Endpoint, ToolSpec};

/// Stands first where a conversation does not begin with the user.
pub(crate) const OPENING: &str = "(The conversation goes on from here.)";
/// Stands last where a conversation ends with the model.
pub(crate) const CONTINUE: &str = "Continue.";
/// Stands for an image that a model made, where only the user can show images.
pub(crate) const IMAGE_MADE: &str = "(An image was made here.)";
/// Stands for a result that says nothing.
pub(crate) const NO_OUTPUT: &str = "(no output)";
/// Stands for a result that is not there. `ramal_session` has made one up already, in what it answers.
pub(crate) const NO_RESULT: &str = "(This tool was not run.)";

/// Media types that every provider takes.
const IMAGE_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// A block of a stored message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part<'a> {
    /// Text that is not blank.
    Text {
        /// What it says.
        text: Cow<'a, str>,
        /// What the provider gave with it.
        signature: Option<Cow<'a, str>>,
    },
    /// A thought, or what stands for a hidden one.
    Thinking {
        /// What it says; may be empty.
        thinking: Cow<'a, str>,
        /// What the provider gave with it; not empty.
        signature: Option<Cow<'a, str>>,
        /// The provider hides the thought.
        redacted: bool,
    },
    /// An image that a provider takes.
    Image {
        /// Its type, one of four.
        mime_type: Cow<'a, str>,
        /// Its bytes in base64.
        data: Cow<'a, str>,
    },
    /// A call of a tool.
    ToolCall {
        /// Its id as stored.
        id: Cow<'a, str>,
        /// The tool.
        name: Cow<'a, str>,
        /// The arguments, the JSON text of an object.
        arguments: Cow<'a, str>,
        /// What the provider gave with it.
        signature: Option<Cow<'a, str>>,
    },
}

/// Messages of a request, each with the places of its members.
pub(crate) fn for_each(messages: &[String], mut take: impl FnMut(Message<'_>)) {
    let mut members = Vec::new();
    for message in messages {
        members.clear();
        members.extend(Members::new(message.as_bytes()));
        take(Message::with_members(message, &members));
    }
}

/// The blocks of a message that can go to a model, in their order. Blank texts are left out; an image
/// that cannot be sent is a line of text.
pub(crate) fn parts<'a>(message: Message<'a>, endpoint: &Endpoint) -> Vec<Part<'a>> {
    let content = message.get("content").unwrap_or_default();
    if content.starts_with('"') {
        let text = members::as_str(content.as_bytes()).unwrap_or_default();
        return text_part(text, None).into_iter().collect();
    }
    message.blocks().filter_map(|block| part(block, endpoint)).collect()
}

fn text_part<'a>(text: Cow<'a, str>, signature: Option<Cow<'a, str>>) -> Option<Part<'a>> {
    (!text.trim().is_empty()).then_some(Part::Text { text, signature })
}

pub(crate) fn part<'a>(block: &'a str, endpoint: &Endpoint) -> Option<Part<'a>> {
    // One walk: what stands in a block is long.
    let [kind, text, text_signature, thinking, thinking_signature, redacted, id, name, arguments, thought] =
        json::find(
            block,
            [
                "type",
                "text",
                "textSignature",
                "thinking",
                "thinkingSignature",
                "redacted",
                "id",
                "name",
                "arguments",
                "thoughtSignature",
            ],
        );
    let says = |value: Option<&'a str>| members::as_str(value?.as_bytes());
    let filled = |value| says(value).filter(|text| !text.is_empty());
    match &*says(kind)? {
        "text" => text_part(says(text)?, filled(text_signature)),
        "thinking" => {
            let thinking = says(thinking).unwrap_or_default();
            let signature = filled(thinking_signature);
            let redacted = redacted == Some("true");
            (signature.is_some() || !thinking.trim().is_empty()).then_some(Part::Thinking {
                thinking,
                signature,
                redacted,
            })
        }
        "image" => Some(image(block, endpoint)),
        "toolCall" => Some(Part::ToolCall {
            id: filled(id)?,
            name: filled(name)?,
            arguments: object_of(arguments.unwrap_or_default()),
            signature: filled(thought),
        }),
        _ => None,
    }
}

fn image<'a>(block: &'a str, endpoint: &Endpoint) -> Part<'a> {
    let note = |text: String| Part::Text { text: Cow::Owned(text), signature: None };
    if !endpoint.sees {
        return note("(An image was here; this model takes none.)".to_owned());
    }
    let [mime_type, data] = json::find(block, ["mimeType", "data"])
        .map(|value| value.and_then(|value| members::as_str(value.as_bytes())).unwrap_or_default());
    let mime_type = if mime_type == "image/jpg" { Cow::Borrowed("image/jpeg") } else { mime_type };
    let data = match data.split_once(',').filter(|_| data.starts_with("data:")) {
        Some((_, bare)) => Cow::Owned(bare.to_owned()),
        None => data,
    };
    if !is_base64(&data) || !IMAGE_TYPES.contains(&mime_type.as_ref()) {
        let name = if mime_type.is_empty() { "unknown" } else { &mime_type };
        return note(format!("(An image of type {name} was here; it cannot be shown to a model.)"));
    }
    Part::Image { mime_type, data }
}

/// Whether image data is what it should be; one bad image and the whole request is refused.
fn is_base64(data: &str) -> bool {
    let body = data.trim_end_matches('=');
    !body.is_empty()
        && data.len().is_multiple_of(4)
        && data.len() - body.len() <= 2
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/')
}

/// Arguments as the JSON text of an object. Some programs store that text in a string.
fn object_of(stored: &str) -> Cow<'_, str> {
    if stored.starts_with('{') {
        return Cow::Borrowed(stored);
    }
    let said = match stored.as_bytes() {
        [b'"', inner @ .., b'"'] => decode(inner).into_owned(),
        _ => String::new(),
    };
    match said.trim_start().starts_with('{') && is_valid(&said) {
        true => Cow::Owned(said),
        false => Cow::Borrowed("{}"),
    }
}

/// Whether an assistant's message was made by the same api, provider and model that it would go to:
/// only then its signatures go back.
pub(crate) fn is_own(message: Message<'_>, endpoint: &Endpoint) -> bool {
    message.role() == Role::Assistant
        && message.get_str("api").as_deref() == Some(endpoint.api.name())
        && message.get_str("provider").as_deref() == Some(endpoint.provider.as_str())
        && message.get_str("model").as_deref() == Some(endpoint.model.as_str())
}

/// The schema of a tool's arguments as the JSON text of an object that names its type, on one line.
pub(crate) fn schema(tool: &ToolSpec) -> String {
    let parameters = tool.parameters.trim();
    if !parameters.starts_with('{') || !is_valid(parameters) {
        return r#"{"type":"object","properties":{}}"#.to_owned();
    }
    match json::get(parameters.as_bytes(), "type") {
        Some(_) => parameters.to_owned(),
        None => {
            let whole =
                json::ObjectEdit::new().insert_first("type", "\"object\"").apply(parameters.as_bytes());
            String::from_utf8(whole).unwrap_or_else(|_| parameters.to_owned())
        }
    }
}

/// A text block of a provider that writes them `{"type":…,"text":…}`.
pub(crate) fn text_block(kind: &str, text: &str) -> String {
    format!("{{\"type\":{},\"text\":{}}}", quote(kind), quote(text))
}

/// Ids of calls as a provider accepts them: letters, digits, `_` and `-`, of a limited length, each
/// only once. What an id becomes depends only on what stands before it, so that it stays the same as
/// the conversation grows.
#[derive(Debug)]
pub(crate) struct ToolIds {
    longest: usize,
    taken: HashSet<String>,
    /// What the last call of a stored id became.
    given: HashMap<String, String>,
}

impl ToolIds {
    /// Ids of at most `longest` characters.
    pub(crate) fn new(longest: usize) -> ToolIds {
        ToolIds { longest, taken: HashSet::new(), given: HashMap::new() }
    }

    /// The id for a call that is stored under `id`.
    pub(crate) fn call(&mut self, id: &str) -> String {
        let plain = acceptable(id, self.longest);
        let mut unique = plain.clone();
        let mut number = 2u32;
        while !self.taken.insert(unique.clone()) {
            let tail = format!("_{number}");
            let room = self.longest.saturating_sub(tail.len());
            unique = plain.chars().take(room).collect::<String>() + &tail;
            number += 1;
        }
        self.given.insert(id.to_owned(), unique.clone());
        unique
    }

    /// The id for the result of the call that is stored under `id`; none if there was no such call.
    pub(crate) fn result(&self, id: &str) -> Option<&str> {
        self.given.get(id).map(String::as_str)
    }
}

/// `text` with `_` for every character that is not in `[a-zA-Z0-9_-]`, cut to `longest`. A text that
/// is too long ends in its hash, so that two with one beginning stay apart.
pub(crate) fn acceptable(text: &str, longest: usize) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    if text.is_empty() {
        return "_".to_owned();
    }
    if text.chars().count() <= longest {
        return text.chars().map(plain).collect();
    }
    let hash = format!("_{:016x}", ramal_session::stable_hash(&[text.as_bytes()]));
    let room = longest.saturating_sub(hash.len());
    let cut: String = text.chars().take(room).map(plain).collect();
    (cut + &hash).chars().take(longest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_acceptable_unique_and_stay() {
        let mut ids = ToolIds::new(20);
        assert_eq!(ids.call("toolu_01-Ab"), "toolu_01-Ab");
        assert_eq!(ids.call("call_1|fc_2"), "call_1_fc_2");
        assert_eq!(ids.call("call_1_fc_2"), "call_1_fc_2_2");
        assert_eq!(ids.call("é"), "_");
        assert_eq!(ids.result("call_1|fc_2"), Some("call_1_fc_2"));
        assert_eq!(ids.result("call_1_fc_2"), Some("call_1_fc_2_2"));
        assert_eq!(ids.result("none"), None);
        let (one, other) =
            (ids.call(&format!("{}1", "x".repeat(40))), ids.call(&format!("{}2", "x".repeat(40))));
        assert!(one != other && one.len() == 20 && other.len() == 20, "{one} {other}");
        // The same id once more is another call.
        assert_eq!(ids.call("toolu_01-Ab"), "toolu_01-Ab_2");
        assert_eq!(ids.result("toolu_01-Ab"), Some("toolu_01-Ab_2"));
    }

    #[test]
    fn arguments_are_objects_and_keep_their_bytes() {
        assert_eq!(object_of(r#"{"n": 1.0,"n":2}"#), r#"{"n": 1.0,"n":2}"#);
        assert_eq!(object_of(r#""{\"a\":1}""#), r#"{"a":1}"#);
        for other in ["", "null", "[1]", "\"{\"", "3"] {
            assert_eq!(object_of(other), "{}", "{other}");
        }
    }
}

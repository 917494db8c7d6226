//! The messages of a request, looked at in one pass. Texts stay JSON: what goes out again is not
//! decoded in between.

use std::borrow::Cow;

use ramal_session::json::{self, Members, members};

use crate::request::Endpoint;

/// What stands between the quotes of a JSON string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::wire) struct Inner<'a>(pub(in crate::wire) &'a str);

impl<'a> Inner<'a> {
    fn of(value: &'a str) -> Option<Inner<'a>> {
        value.strip_prefix('"')?.strip_suffix('"').map(Inner)
    }

    /// Whether there is nothing but white space in it.
    pub(in crate::wire) fn is_blank(self) -> bool {
        match self.0.bytes().find(|byte| !byte.is_ascii_whitespace()) {
            None => true,
            Some(byte) if byte.is_ascii_graphic() && byte != b'\\' => false,
            Some(_) => self.decoded().trim().is_empty(),
        }
    }

    /// What it says.
    pub(in crate::wire) fn decoded(self) -> Cow<'a, str> {
        json::decode(self.0.as_bytes())
    }
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::wire) enum Speaker {
    User,
    Assistant,
    Tool,
    Developer,
    System,
}

/// A part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::wire) enum Part<'a> {
    Text {
        text: Inner<'a>,
        signature: Option<Inner<'a>>,
    },
    Thinking {
        thinking: Inner<'a>,
        signature: Option<Inner<'a>>,
    },
    Image {
        data: Inner<'a>,
        mime_type: Inner<'a>,
    },
    /// `arguments` is a JSON object.
    Call {
        id: Inner<'a>,
        name: Inner<'a>,
        arguments: &'a str,
        signature: Option<Inner<'a>>,
    },
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::wire) struct Said<'a> {
    pub(in crate::wire) speaker: Speaker,
    pub(in crate::wire) parts: Vec<Part<'a>>,
    /// The answer was made by the api, provider and model that the request goes to, and came to its
    /// end: what they want back with it can be sent.
    pub(in crate::wire) is_own: bool,
    /// The call that a result is of.
    pub(in crate::wire) call: Inner<'a>,
    /// The tool that a result is of.
    pub(in crate::wire) tool: Inner<'a>,
    /// The tool failed.
    pub(in crate::wire) is_error: bool,
}

/// The messages as texts that every provider can read: half surrogates mended, none that is no JSON.
pub(in crate::wire) fn cleaned(messages: &[String]) -> Vec<Cow<'_, str>> {
    messages.iter().map(|text| json::clean(text.as_bytes())).filter(|text| json::is_valid(text)).collect()
}

/// Looks at a message. None if it is none of a role that is sent.
pub(in crate::wire) fn look_at<'a>(text: &'a str, endpoint: &Endpoint) -> Option<Said<'a>> {
    let mut said = Said {
        speaker: Speaker::User,
        parts: Vec::new(),
        is_own: false,
        call: Inner::default(),
        tool: Inner::default(),
        is_error: false,
    };
    let (mut role, mut content, mut stop) = (Inner::default(), "", Inner::default());
    let [mut api, mut provider, mut model] = [Inner::default(); 3];
    for (key, value) in pairs(text) {
        let inner = Inner::of(value).unwrap_or_default();
        match key {
            "role" => role = inner,
            "content" => content = value,
            "api" => api = inner,
            "provider" => provider = inner,
            "model" => model = inner,
            "stopReason" => stop = inner,
            "toolCallId" => said.call = inner,
            "toolName" => said.tool = inner,
            "isError" => said.is_error = value == "true",
            _ => {}
        }
    }
    said.speaker = match role.0 {
        "user" => Speaker::User,
        "assistant" => Speaker::Assistant,
        "toolResult" => Speaker::Tool,
        "developer" => Speaker::Developer,
        "system" => Speaker::System,
        _ => return None,
    };
    said.is_own = said.speaker == Speaker::Assistant
        && api.decoded() == endpoint.api.name()
        && provider.decoded() == endpoint.provider
        && model.decoded() == endpoint.model
        && !matches!(stop.0, "aborted" | "error");
    said.parts = match Inner::of(content) {
        Some(text) if text.is_blank() => Vec::new(),
        Some(text) => vec![Part::Text { text, signature: None }],
        None => members::items(content.as_bytes())
            .filter_map(|block| part(std::str::from_utf8(block).ok()?))
            .collect(),
    };
    Some(said)
}

/// A block of a content. None for what says nothing.
fn part(block: &str) -> Option<Part<'_>> {
    let [mut kind, mut text, mut thinking, mut data, mut mime_type, mut id, mut name] = [Inner::default(); 7];
    let [mut of_text, mut of_thinking, mut of_call] = [None; 3];
    let mut arguments = "{}";
    for (key, value) in pairs(block) {
        let found = Inner::of(value);
        let inner = found.unwrap_or_default();
        match key {
            "type" => kind = inner,
            "text" => text = inner,
            "thinking" => thinking = inner,
            "data" => data = inner,
            "mimeType" => mime_type = inner,
            "id" => id = inner,
            "name" => name = inner,
            "arguments" if value.starts_with('{') => arguments = value,
            "textSignature" => of_text = found,
            "thinkingSignature" => of_thinking = found,
            "thoughtSignature" => of_call = found,
            _ => {}
        }
    }
    match kind.0 {
        "text" if !text.is_blank() => Some(Part::Text { text, signature: of_text }),
        "thinking" => Some(Part::Thinking { thinking, signature: of_thinking }),
        "image" if !data.0.is_empty() => Some(Part::Image { data, mime_type }),
        "toolCall" if !id.0.is_empty() && !name.0.is_empty() => {
            Some(Part::Call { id, name, arguments, signature: of_call })
        }
        _ => None,
    }
}

/// The members of an object whose keys are written without escapes.
fn pairs(object: &str) -> impl Iterator<Item = (&str, &str)> {
    Members::new(object.as_bytes())
        .filter_map(move |member| Some((object.get(member.key)?, object.get(member.value)?)))
}

/// Texts as one JSON string, `between` them; `between` is written as it stands inside the quotes.
pub(in crate::wire) fn joined<'a>(texts: impl Iterator<Item = &'a str>, between: &str) -> String {
    let mut out = String::from("\"");
    for (number, text) in texts.enumerate() {
        if number > 0 {
            out.push_str(between);
        }
        out.push_str(text);
    }
    out.push('"');
    out
}

/// The schema of a tool's arguments, as it may stand in a request.
pub(in crate::wire) fn schema(parameters: &str) -> &str {
    if super::blocks::is_object(parameters) { parameters } else { r#"{"type":"object","properties":{}}"# }
}

/// In place of an image for a model that takes none.
pub(in crate::wire) const NO_IMAGE: &str = "(an image that this model cannot see)";
/// In place of the output of a tool that said nothing.
pub(in crate::wire) const NO_OUTPUT: &str = "(no output)";
/// In place of an output that is images only.
pub(in crate::wire) const SEE_IMAGES: &str = "(the images follow)";
/// Before the images of results.
pub(in crate::wire) const IMAGES_OF_RESULTS: &str = "Images of the results above:";

//! The messages of a request as both interfaces look at them.

use std::borrow::Cow;

use ramal_session::json;
use ramal_session::{Message, Role};

use crate::request::Endpoint;
use crate::wire::messages::{self, Part};

/// A message.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::wire) struct Said<'a> {
    pub(in crate::wire) speaker: Role,
    pub(in crate::wire) parts: Vec<Part<'a>>,
    /// The answer was made by the api, provider and model that the request goes to, and came to its
    /// end: what they want back with it can be sent.
    pub(in crate::wire) is_own: bool,
    /// The call that a result is of.
    pub(in crate::wire) call: Cow<'a, str>,
    /// The tool that a result is of.
    pub(in crate::wire) tool: Cow<'a, str>,
}

impl Said<'_> {
    /// The texts in it, `between` them.
    pub(in crate::wire) fn text(&self, between: &str) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text { text, .. } => Some(text.as_ref()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join(between)
    }
}

/// Looks at a message.
pub(in crate::wire) fn look_at<'a>(message: Message<'a>, endpoint: &Endpoint) -> Said<'a> {
    let member = |key: &str| message.get_str(key).unwrap_or_default();
    let speaker = message.role();
    let is_result = speaker == Role::ToolResult;
    Said {
        speaker,
        parts: messages::parts(message, endpoint),
        is_own: messages::is_own(message, endpoint)
            && !matches!(member("stopReason").as_ref(), "aborted" | "error"),
        call: if is_result { member("toolCallId") } else { Cow::Borrowed("") },
        tool: if is_result { member("toolName") } else { Cow::Borrowed("") },
    }
}

/// Arguments as both interfaces want them: a JSON string with the text of an object.
pub(in crate::wire) fn quoted_arguments(arguments: &str) -> String {
    let text = json::clean(arguments.as_bytes());
    json::quote(if json::is_valid(&text) { &text } else { "{}" })
}

/// An image as both interfaces want it: a JSON string with an address that holds the data.
pub(in crate::wire) fn quoted_image(mime_type: &str, data: &str) -> String {
    // Both were checked to hold nothing that would have to be escaped.
    format!("\"data:{mime_type};base64,{data}\"")
}

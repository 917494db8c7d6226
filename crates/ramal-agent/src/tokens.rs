//! About how many tokens messages take, where no provider has counted them.

use ramal_session::{Message, Role, json};

/// Bytes that are counted as a token.
pub(crate) const BYTES: u64 = 4;

/// Tokens that an image is counted as.
const IMAGE: u64 = 1200;

/// About how many tokens a message takes: its texts, thoughts and calls at four bytes each, an image as
/// 1,200. Nothing for an execution that the model is not shown.
pub fn estimate_tokens(message: Message<'_>) -> u64 {
    if message.get("excludeFromContext") == Some("true") {
        return 0;
    }
    let (mut bytes, mut images) = (0, 0);
    let texts = ["content", "summary", "command", "code", "output"];
    for key in texts {
        bytes += message.get_str(key).map_or(0, |text| text.len() as u64);
    }
    for block in message.blocks() {
        let block = block.as_bytes();
        for key in ["text", "thinking", "name"] {
            bytes += json::get_str(block, key).map_or(0, |text| text.len() as u64);
        }
        bytes += json::get(block, "arguments").map_or(0, |arguments| arguments.len() as u64);
        images += u64::from(json::get_str(block, "type").as_deref() == Some("image"));
    }
    if message.role() == Role::FileMention {
        for file in json::members::items(message.get("files").unwrap_or_default().as_bytes()) {
            bytes += json::get_str(file, "content").map_or(0, |text| text.len() as u64);
            images += u64::from(json::get(file, "image").is_some());
        }
    }
    bytes.div_ceil(BYTES) + images * IMAGE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_bytes_are_a_token() {
        for (message, want) in [
            (r#"{"role":"user","content":"12345678"}"#, 2),
            (
                r#"{"role":"user","content":[{"type":"text","text":"12345"},{"type":"image","data":"AAAA"}]}"#,
                1202,
            ),
            (
                r#"{"role":"assistant","content":[{"type":"thinking","thinking":"1234"},{"type":"toolCall","id":"x","name":"read","arguments":{"a":1}}]}"#,
                4,
            ),
            (r#"{"role":"bashExecution","command":"12","output":"12"}"#, 1),
            (r#"{"role":"bashExecution","command":"12","output":"12","excludeFromContext":true}"#, 0),
            (r#"{"role":"fileMention","files":[{"path":"p","content":"1234"}]}"#, 1),
            (r#"{"role":"user"}"#, 0),
        ] {
            assert_eq!(estimate_tokens(Message::new(message)), want, "{message}");
        }
    }
}

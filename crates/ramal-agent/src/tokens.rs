//! About how many tokens messages take, where no provider has counted them.

use ramal_session::{Message, Role, json};

/// Bytes that are counted as a token.
pub(crate) const BYTES: u64 = 4;

/// Tokens that an image is counted as.
const IMAGE: u64 = 1200;

/// What tokens of a message are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece {
    Text,
    Thinking,
    Call,
    Image,
}

/// About how many tokens a message takes: its texts, thoughts and calls at four bytes each, an image as
/// 1,200. Nothing for an execution that the model is not shown.
pub fn estimate_tokens(message: Message<'_>) -> u64 {
    let mut tokens = 0;
    pieces(message, |_, more| tokens += more);
    tokens
}

/// Tells the tokens of a message piece by piece: together what [`estimate_tokens`] answers.
pub(crate) fn pieces(message: Message<'_>, mut tell: impl FnMut(Piece, u64)) {
    if message.get("excludeFromContext") == Some("true") {
        return;
    }
    let mut bytes = Bytes::default();
    let texts = ["content", "summary", "command", "code", "output"];
    for key in texts {
        if let Some(text) = message.get_str(key) {
            tell(Piece::Text, bytes.add(text.len()));
        }
    }
    for block in message.blocks() {
        let block = block.as_bytes();
        for (key, piece) in [("text", Piece::Text), ("thinking", Piece::Thinking), ("name", Piece::Call)] {
            if let Some(text) = json::get_str(block, key) {
                tell(piece, bytes.add(text.len()));
            }
        }
        if let Some(arguments) = json::get(block, "arguments") {
            tell(Piece::Call, bytes.add(arguments.len()));
        }
        if json::get_str(block, "type").as_deref() == Some("image") {
            tell(Piece::Image, IMAGE);
        }
    }
    if message.role() == Role::FileMention {
        for file in json::members::items(message.get("files").unwrap_or_default().as_bytes()) {
            if let Some(text) = json::get_str(file, "content") {
                tell(Piece::Text, bytes.add(text.len()));
            }
            if json::get(file, "image").is_some() {
                tell(Piece::Image, IMAGE);
            }
        }
    }
}

/// Bytes that come piece by piece and are rounded up once, as a whole.
#[derive(Default)]
struct Bytes {
    bytes: u64,
    told: u64,
}

impl Bytes {
    /// The tokens that these bytes add to those before.
    fn add(&mut self, bytes: usize) -> u64 {
        self.bytes += bytes as u64;
        let tokens = self.bytes.div_ceil(BYTES);
        let more = tokens - self.told;
        self.told = tokens;
        more
    }
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

//! An answer, as it is made and as it stands in the log at the end.

use ramal_session::json::{is_valid, quote};
use ramal_session::time;

use crate::request::{Cost, Endpoint};

/// Something that happened while an answer was made. Blocks are numbered in the order in which they
/// began.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[expect(
    missing_docs,
    reason = "`block` is always the number of the block, the others say themselves what they are"
)]
pub enum Event {
    /// The provider began to answer.
    Start,
    /// A block of text began.
    TextStart { block: usize },
    /// More text.
    TextDelta { block: usize, delta: String },
    /// A block of thinking began.
    ThinkingStart { block: usize },
    /// More thinking.
    ThinkingDelta { block: usize, delta: String },
    /// A call of a tool began.
    ToolCallStart { block: usize, id: String, name: String },
    /// More of a call's arguments, as JSON text in pieces.
    ToolCallDelta { block: usize, delta: String },
    /// A block is complete.
    BlockEnd { block: usize },
}

/// A part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Block {
    /// Text for the user.
    Text {
        /// The text.
        text: String,
        /// What the provider wants back with it.
        signature: Option<String>,
    },
    /// What the model thought.
    Thinking {
        /// The thought, as far as it is shown.
        thinking: String,
        /// What the provider wants back with it.
        signature: Option<String>,
        /// The provider hides the thought; the signature holds it.
        redacted: bool,
    },
    /// A call of a tool.
    ToolCall {
        /// The id that the result has to name.
        id: String,
        /// The tool.
        name: String,
        /// The arguments as JSON text. Of a whole answer they are an object or, where what came was
        /// none, a string with what came.
        arguments: String,
        /// What the provider wants back with it.
        signature: Option<String>,
    },
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names of the log")]
pub enum StopReason {
    #[default]
    Stop,
    Length,
    ToolUse,
    Error,
    Aborted,
}

impl StopReason {
    /// The name in the log.
    pub fn name(self) -> &'static str {
        match self {
            StopReason::Stop => "stop",
            StopReason::Length => "length",
            StopReason::ToolUse => "toolUse",
            StopReason::Error => "error",
            StopReason::Aborted => "aborted",
        }
    }
}

/// Tokens, as the provider counted them. `input` is what was neither read from a cache nor written
/// to one, whatever the provider means by its own word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names of the log")]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

impl Usage {
    /// All tokens together.
    pub fn total(self) -> u64 {
        self.input + self.output + self.cache_read + self.cache_write
    }

    /// The form of the log, with what it costs at these prices.
    pub fn to_json(self, cost: Cost) -> String {
        let dollars = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        let parts = [
            dollars(self.input, cost.input),
            dollars(self.output, cost.output),
            dollars(self.cache_read, cost.cache_read),
            dollars(self.cache_write, cost.cache_write),
        ];
        format!(
            r#"{{"input":{},"output":{},"cacheRead":{},"cacheWrite":{},"totalTokens":{},"cost":{{"input":{},"output":{},"cacheRead":{},"cacheWrite":{},"total":{}}}}}"#,
            self.input,
            self.output,
            self.cache_read,
            self.cache_write,
            self.total(),
            parts[0],
            parts[1],
            parts[2],
            parts[3],
            parts.iter().sum::<f64>()
        )
    }
}

/// An answer as far as it has come.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// Its parts, in the order in which they came.
    pub blocks: Vec<Block>,
    /// What it cost so far.
    pub usage: Usage,
    /// Why it ended.
    pub stop: StopReason,
    /// What went wrong, if something did.
    pub error: Option<String>,
}

impl Answer {
    /// The answer as an assistant message of the log: a JSON object. `now` is in milliseconds since
    /// 1970.
    ///
    /// A call whose arguments broke off with the answer is not in it: nobody could run it, and no
    /// provider takes it back. One whose arguments are no object, though the answer came to its end,
    /// is in it with an empty object, and what came as `rawArguments`: other programs expect an object
    /// there.
    pub fn to_message(&self, endpoint: &Endpoint, now: i64) -> String {
        let has_ended = !matches!(self.stop, StopReason::Length | StopReason::Error | StopReason::Aborted);
        let content = self.blocks.iter().filter_map(|block| block_json(block, has_ended));
        let content: Vec<String> = content.collect();
        let mut out = format!(
            r#"{{"role":"assistant","content":[{}],"api":{},"provider":{},"model":{},"usage":{},"stopReason":{}"#,
            content.join(","),
            quote(endpoint.api.name()),
            quote(&endpoint.provider),
            quote(&endpoint.model),
            self.usage.to_json(endpoint.cost),
            quote(self.stop.name()),
        );
        if let Some(error) = &self.error {
            out += &format!(",\"errorMessage\":{}", quote(error));
        }
        out + &format!(",\"timestamp\":{now}}}")
    }

    /// As [`Answer::to_message`], made now.
    pub fn to_message_now(&self, endpoint: &Endpoint) -> String {
        self.to_message(endpoint, time::now())
    }

    /// Settles the calls of an answer that came to its end: what their arguments mean, and what of
    /// them is no object, which the log keeps as it came.
    pub(crate) fn settle_calls(&mut self) {
        for block in &mut self.blocks {
            let Block::ToolCall { arguments, .. } = block else { continue };
            if let Some(meant) = meant(arguments) {
                *arguments = meant;
            } else if !is_object(arguments) {
                *arguments = quote(arguments);
            }
        }
    }

    /// Whether anything was said at all.
    pub fn is_empty(&self) -> bool {
        self.blocks.iter().all(|block| match block {
            Block::Text { text, .. } => text.is_empty(),
            Block::Thinking { thinking, signature, .. } => thinking.is_empty() && signature.is_none(),
            Block::ToolCall { .. } => false,
        })
    }
}

fn block_json(block: &Block, has_ended: bool) -> Option<String> {
    let with = |mut out: String, key: &str, signature: &Option<String>| {
        if let Some(signature) = signature {
            out += &format!(",\"{key}\":{}", quote(signature));
        }
        out
    };
    Some(match block {
        Block::Text { text, signature } => {
            with(format!("{{\"type\":\"text\",\"text\":{}", quote(text)), "textSignature", signature) + "}"
        }
        Block::Thinking { thinking, signature, redacted } => {
            let out = format!("{{\"type\":\"thinking\",\"thinking\":{}", quote(thinking));
            with(out, "thinkingSignature", signature) + if *redacted { ",\"redacted\":true}" } else { "}" }
        }
        Block::ToolCall { id, name, arguments, signature } => {
            let text = arguments.trim();
            let (arguments, raw) = match text.as_bytes().first() {
                None => ("{}", None),
                Some(b'{') if is_valid(text) => (text, None),
                Some(b'"') if has_ended && is_valid(text) => ("{}", Some(text)),
                _ => return None,
            };
            let mut out = format!(
                "{{\"type\":\"toolCall\",\"id\":{},\"name\":{},\"arguments\":{}",
                quote(id),
                quote(name),
                arguments.replace(['\n', '\r'], " ")
            );
            if let Some(raw) = raw {
                out += &format!(",\"rawArguments\":{raw}");
            }
            with(out, "thoughtSignature", signature) + "}"
        }
    })
}

/// What arguments must be replaced by once they are whole, if they must: nothing at all, and JSON
/// inside a JSON string, are things that servers send.
pub(crate) fn meant(arguments: &str) -> Option<String> {
    let text = arguments.trim();
    if matches!(text, "" | "null" | "\"\"") {
        return Some("{}".into());
    }
    if !text.starts_with('"') {
        return None;
    }
    serde_json::from_str::<String>(text).ok().filter(|inner| is_object(inner))
}

/// Whether `text` is a JSON object and nothing else.
pub(crate) fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && is_valid(text)
}

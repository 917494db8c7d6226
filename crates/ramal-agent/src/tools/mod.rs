//! What a model can do to the world, and what it needs to be allowed for that.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;

use ramal_model::ToolSpec;
use ramal_session::json::quote;
use tokio_util::sync::CancellationToken;

/// A tool.
pub trait Tool: Send + Sync {
    /// Its name, what it does, and its arguments, for the model.
    fn spec(&self) -> ToolSpec;

    /// What a call would touch, so that it can be allowed or not. `arguments` is JSON text.
    fn access(&self, arguments: &str, cwd: &std::path::Path) -> Vec<Access>;

    /// Runs a call. Whatever goes wrong is in the result, for the model to read.
    fn run<'a>(&'a self, call: Call<'a>) -> Pin<Box<dyn Future<Output = ToolResult> + Send + 'a>>;
}

/// Something that a call touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// Reads this file or folder.
    Read(PathBuf),
    /// Writes this file.
    Write(PathBuf),
    /// Runs this command.
    Run(String),
}

/// A call of a tool, as it is run.
pub struct Call<'a> {
    /// The arguments as JSON text.
    pub arguments: &'a str,
    /// The directory that relative paths begin at.
    pub cwd: &'a std::path::Path,
    /// Where an output that is too long for the model is kept whole; none in a session without a file.
    pub overflow: Option<&'a std::path::Path>,
    /// Cancelled when the user aborts.
    pub abort: CancellationToken,
    /// Takes the output so far, as text, while the tool still runs.
    pub update: &'a (dyn Fn(String) + Send + Sync),
}

/// A part of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Text.
    Text(String),
    /// An image: base64 and its type.
    Image {
        /// Base64.
        data: String,
        /// Such as `image/png`.
        mime_type: String,
    },
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolResult {
    /// For the model.
    pub content: Vec<Content>,
    /// For whoever shows it: JSON text.
    pub details: Option<String>,
    /// The tool failed.
    pub is_error: bool,
}

impl ToolResult {
    /// A result that is one text.
    pub fn text(text: impl Into<String>) -> ToolResult {
        ToolResult { content: vec![Content::Text(text.into())], ..ToolResult::default() }
    }

    /// A failure, told to the model.
    pub fn error(text: impl Into<String>) -> ToolResult {
        ToolResult { is_error: true, ..ToolResult::text(text) }
    }

    /// The content as JSON text, in the form of the log.
    pub fn content_json(&self) -> String {
        let blocks = self.content.iter().map(|content| match content {
            Content::Text(text) => format!("{{\"type\":\"text\",\"text\":{}}}", quote(text)),
            Content::Image { data, mime_type } => {
                format!("{{\"type\":\"image\",\"data\":{},\"mimeType\":{}}}", quote(data), quote(mime_type))
            }
        });
        format!("[{}]", blocks.collect::<Vec<_>>().join(","))
    }

    /// The result as a message of the log.
    pub fn to_message(&self, call_id: &str, tool: &str, now: i64) -> String {
        let details =
            self.details.as_ref().map(|details| format!(",\"details\":{details}")).unwrap_or_default();
        format!(
            "{{\"role\":\"toolResult\",\"toolCallId\":{},\"toolName\":{},\"content\":{}{details},\"isError\":{},\"timestamp\":{now}}}",
            quote(call_id),
            quote(tool),
            self.content_json(),
            self.is_error
        )
    }
}

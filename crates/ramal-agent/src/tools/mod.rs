//! What a model can do to the world, and what it needs to be allowed for that.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use ramal_model::ToolSpec;
use ramal_session::json::quote;
use tokio_util::sync::CancellationToken;

pub(crate) mod arguments;
mod bash;
mod cut;
mod edit;
mod edits;
mod environment;
mod find;
mod globs;
mod grep;
mod ls;
pub mod paths;
pub(crate) mod process;
mod read;
mod replace;
#[cfg(test)]
mod tests;
mod write;

pub use bash::Bash;
pub use cut::{MAX_BYTES, MAX_LINES};
pub use edit::Edit;
pub use environment::{hidden_variables, hide_variables};
pub use find::Find;
pub use grep::Grep;
pub use ls::Ls;
pub use read::Read;
pub(crate) use read::{LARGEST_IMAGE, image_type};
pub use write::Write;

/// All tools, in an order that stays the same.
pub fn all() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(Read),
        Arc::new(Bash::default()),
        Arc::new(Edit),
        Arc::new(Write),
        Arc::new(Grep),
        Arc::new(Find),
        Arc::new(Ls),
    ]
}

/// The tools of these names, each once, in the order of [`all`], so that the same choice makes the
/// same request however it was written down.
///
/// # Errors
/// If there is no tool of a name.
pub fn named<S: AsRef<str>>(names: &[S]) -> Result<Vec<Arc<dyn Tool>>, UnknownTool> {
    let all = all();
    let known: Vec<String> = all.iter().map(|tool| tool.spec().name).collect();
    if let Some(name) = names.iter().map(AsRef::as_ref).find(|name| !known.iter().any(|known| known == name))
    {
        return Err(UnknownTool { name: name.to_owned(), known: known.join(", ") });
    }
    let wanted = |tool: &Arc<dyn Tool>| names.iter().any(|name| name.as_ref() == tool.spec().name);
    Ok(all.into_iter().filter(wanted).collect())
}

/// The folder beside a session's file in which outputs are kept whole that were too long for its model.
pub fn outputs_folder(session_file: &Path) -> PathBuf {
    session_file.with_extension("outputs")
}

/// There is no tool of this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no tool `{name}`; the tools are {known}")]
pub struct UnknownTool {
    /// The name that was asked for.
    pub name: String,
    /// The names that there are.
    pub known: String,
}

/// A tool.
pub trait Tool: Send + Sync {
    /// Its name, what it does, and its arguments, for the model.
    fn spec(&self) -> ToolSpec;

    /// What a call would touch, so that it can be allowed or not. `arguments` is JSON text.
    fn access(&self, arguments: &str, cwd: &Path) -> Vec<Access>;

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
    /// Does something that nobody but the tool knows: one of somebody else's.
    Unknown,
}

/// A call of a tool, as it is run.
pub struct Call<'a> {
    /// The id that the model gave it.
    pub id: &'a str,
    /// The arguments as JSON text.
    pub arguments: &'a str,
    /// The directory that relative paths begin at.
    pub cwd: &'a Path,
    /// The folder in which an output that is too long for the model is kept whole, made when it is
    /// needed; none in a session without a file.
    pub overflow: Option<&'a Path>,
    /// Cancelled when the user aborts.
    pub abort: CancellationToken,
    /// Takes the output so far, as text, while the tool still runs.
    pub update: &'a (dyn Fn(String) + Send + Sync),
}

/// What a call brings, for work that is done off the runtime's threads.
struct Job {
    arguments: arguments::Arguments,
    cwd: PathBuf,
    overflow: Option<PathBuf>,
    abort: CancellationToken,
}

/// Does the work of a call where it may block. The work looks at `abort` itself, so that what it
/// writes is written whole or not at all.
async fn blocking(
    call: Call<'_>,
    work: impl FnOnce(&Job) -> Result<ToolResult, String> + Send + 'static,
) -> ToolResult {
    let arguments = match arguments::Arguments::parse(call.arguments) {
        Ok(arguments) => arguments,
        Err(error) => return ToolResult::error(error),
    };
    let (cwd, overflow) = (call.cwd.to_owned(), call.overflow.map(PathBuf::from));
    let job = Job { arguments, cwd, overflow, abort: call.abort };
    match tokio::task::spawn_blocking(move || work(&job)).await {
        Ok(Ok(result)) => result,
        Ok(Err(error)) => ToolResult::error(error),
        Err(_) => ToolResult::error("The tool broke off by a fault of its own."),
    }
}

/// What a tool says that was aborted.
const ABORTED: &str = "Aborted by the user.";

/// The one file or folder that a call reads: its argument `path`, or else the directory itself.
fn reads(arguments: &str, cwd: &Path) -> Vec<Access> {
    let Ok(arguments) = arguments::Arguments::parse(arguments) else { return Vec::new() };
    let path = arguments.path().unwrap_or_default();
    vec![Access::Read(paths::real(&paths::resolve(path.unwrap_or("."), cwd)))]
}

/// The one file that a call writes: its argument `path`.
fn writes(arguments: &str, cwd: &Path) -> Vec<Access> {
    let arguments = arguments::Arguments::parse(arguments);
    let Some(path) = arguments.as_ref().ok().and_then(|arguments| arguments.path().ok().flatten()) else {
        return Vec::new();
    };
    vec![Access::Write(paths::real(&paths::resolve(path, cwd)))]
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
    /// The model need not see it: where all calls of an answer say so, the turn ends with them.
    pub ends_turn: bool,
}

/// Puts a tool in the place of the one that has its name; hands it back if none has.
pub fn take_place(tools: &mut [Arc<dyn Tool>], tool: Arc<dyn Tool>) -> Option<Arc<dyn Tool>> {
    let name = tool.spec().name;
    match tools.iter_mut().find(|there| there.spec().name == name) {
        Some(place) => {
            *place = tool;
            None
        }
        None => Some(tool),
    }
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

    /// The result as it stands on the wire: its content and details.
    pub fn to_json(&self) -> String {
        format!("{{\"content\":{}{}}}", self.content_json(), self.details_json())
    }

    fn details_json(&self) -> String {
        self.details.as_ref().map(|details| format!(",\"details\":{details}")).unwrap_or_default()
    }

    /// The result as a message of the log.
    pub fn to_message(&self, call_id: &str, tool: &str, now: i64) -> String {
        let details = self.details_json();
        // Without it a turn that was ended would look like one that broke off.
        let ends = if self.ends_turn { ",\"endsTurn\":true" } else { "" };
        format!(
            "{{\"role\":\"toolResult\",\"toolCallId\":{},\"toolName\":{},\"content\":{}{details},\"isError\":{}{ends},\"timestamp\":{now}}}",
            quote(call_id),
            quote(tool),
            self.content_json(),
            self.is_error
        )
    }
}

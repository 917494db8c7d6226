//! Our words around what goes to a model.

use std::borrow::Cow;

/// Around the summary of a branch that was left.
pub(super) fn branch_summary(summary: &str) -> String {
    format!(
        "Before this point the conversation went another way, and then came back here. \
         What happened there:\n\n<summary>\n{summary}\n</summary>"
    )
}

/// Around the summary that stands in place of earlier messages.
pub(super) fn compaction_summary(summary: &str) -> String {
    format!(
        "The earlier part of this conversation was shortened to the following summary; \
         what comes after it is complete:\n\n<summary>\n{summary}\n</summary>"
    )
}

/// The result of a call that has none.
pub(super) const NO_RESULT: &str =
    "This call did not run to its end: no result of it was recorded. Nothing is known of its effects.";

/// In place of an image whose data is elsewhere and cannot be had.
pub(super) fn missing_image(mime_type: &str) -> String {
    format!("[An image ({mime_type}) was here. Its data is not available any more.]")
}

/// What one run of a command was, for [`execution`].
pub(super) struct Run<'a> {
    /// The command, or the code.
    pub(super) what: &'a str,
    /// The name of its language, for the fence.
    pub(super) language: &'a str,
    pub(super) output: &'a str,
    /// None if it is not known, or zero.
    pub(super) failed_with: Option<&'a str>,
    pub(super) cancelled: bool,
    pub(super) truncated: bool,
    /// Where the whole output is.
    pub(super) full_output: Option<&'a str>,
}

/// A command that the user ran, and what came of it.
pub(super) fn execution(run: &Run<'_>) -> String {
    let mut text = format!("The user ran:\n{}", fenced(run.what, run.language));
    if run.output.trim().is_empty() {
        text += "\n\nIt printed nothing.";
    } else {
        text += &format!("\n\nIts output:\n{}", fenced(run.output, ""));
    }
    match (run.truncated, run.full_output) {
        (true, Some(path)) => text += &format!("\n\nThe output was shortened; all of it is in {path}."),
        (true, None) => text += "\n\nThe output was shortened.",
        (false, _) => {}
    }
    if run.cancelled {
        text += "\n\nIt was cancelled before it ended.";
    } else if let Some(code) = run.failed_with {
        text += &format!("\n\nIt ended with exit code {code}.");
    }
    text
}

/// Text in a fence that is longer than any run of backticks in it.
fn fenced(text: &str, language: &str) -> String {
    let (mut longest, mut run) = (2, 0);
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}

/// A file that the user mentioned.
pub(super) fn file(path: &str, content: &str) -> String {
    format!("<file path=\"{}\">\n{content}\n</file>", attribute(path))
}

/// A file that the user mentioned and whose content is not text, or was left out.
pub(super) fn file_without_content(path: &str, why: &str) -> String {
    format!("<file path=\"{}\">{why}</file>", attribute(path))
}

fn attribute(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '"', '<', '>', '\n']) {
        return Cow::Borrowed(text);
    }
    let mut out = text.replace('&', "&amp;");
    for (plain, escaped) in [("\"", "&quot;"), ("<", "&lt;"), (">", "&gt;"), ("\n", "&#10;")] {
        out = out.replace(plain, escaped);
    }
    Cow::Owned(out)
}

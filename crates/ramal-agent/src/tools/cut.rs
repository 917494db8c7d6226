//! Output that is too long for the model: what is kept of it, what is said about the rest, and where
//! the whole of it stands.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Content, ToolResult};

/// Lines of an output that a model is shown.
pub const MAX_LINES: usize = 2000;

/// Bytes of an output that a model is shown.
pub const MAX_BYTES: usize = 50 * 1024;

/// Bytes of an output that are kept in a file. A command that never stops talking must not fill the disk.
const MOST_KEPT: u64 = 256 << 20;

/// Which limit was met first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Lines,
    Bytes,
}

/// A part of a text, in whole lines as far as possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    pub(crate) text: &'a str,
    pub(crate) lines: usize,
    /// None: it is the whole.
    pub(crate) by: Option<By>,
    /// It is a part of one line, which is longer than all that may be shown.
    pub(crate) partial: bool,
}

/// The beginning of `text` that a model may be shown.
pub(crate) fn head(text: &str) -> Piece<'_> {
    let mut end = 0;
    let mut lines = 0;
    let mut by = None;
    for line in text.split_inclusive('\n') {
        // A line's end costs nothing when the line is the last one.
        let bytes = end + line.strip_suffix('\n').unwrap_or(line).len();
        if lines == MAX_LINES || bytes > MAX_BYTES {
            by = Some(if lines == MAX_LINES { By::Lines } else { By::Bytes });
            break;
        }
        (end, lines) = (end + line.len(), lines + 1);
    }
    if by.is_some() && lines == 0 {
        let end = text.floor_char_boundary(MAX_BYTES);
        return Piece { text: &text[..end], lines: 1, by, partial: true };
    }
    let text = if by.is_some() { text[..end].trim_end_matches('\n') } else { text };
    Piece { text, lines, by, partial: false }
}

/// The end of `text` that a model may be shown.
pub(crate) fn tail(text: &str) -> Piece<'_> {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let mut start = body.len();
    let mut lines = 0;
    let mut by = None;
    for line in body.rsplit('\n') {
        let from = line_start(body, line);
        if lines == MAX_LINES || body.len() - from > MAX_BYTES {
            by = Some(if lines == MAX_LINES { By::Lines } else { By::Bytes });
            break;
        }
        (start, lines) = (from, lines + 1);
    }
    if by.is_some() && lines == 0 {
        let start = body.ceil_char_boundary(body.len() - MAX_BYTES);
        return Piece { text: &body[start..], lines: 1, by, partial: true };
    }
    Piece { text: if by.is_some() { &body[start..] } else { text }, lines, by, partial: false }
}

/// Where a line begins that was cut out of `text`.
fn line_start(text: &str, line: &str) -> usize {
    (line.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

/// The whole of an output, in a file that is made when it is needed and that only the user can read.
pub(crate) struct Whole {
    folder: Option<PathBuf>,
    name: &'static str,
    file: Option<(PathBuf, File)>,
    written: u64,
    problem: Option<String>,
}

impl Whole {
    pub(crate) fn new(folder: Option<&Path>, name: &'static str) -> Whole {
        let folder = folder.map(PathBuf::from);
        Whole { folder, name, file: None, written: 0, problem: None }
    }

    /// Adds to the file. What goes wrong is said in the note; the tool goes on.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        if self.problem.is_some() || self.folder.is_none() {
            return;
        }
        let room = usize::try_from(MOST_KEPT - self.written.min(MOST_KEPT)).unwrap_or(usize::MAX);
        let bytes = bytes.get(..room).unwrap_or(bytes);
        self.written += bytes.len() as u64;
        if let Err(error) = self.try_write(bytes) {
            self.problem = Some(error.to_string());
        }
    }

    fn try_write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let file = match (&mut self.file, &self.folder) {
            (Some((_, file)), _) => file,
            (none, Some(folder)) => {
                create_private_folders(folder)?;
                let made = tempfile::Builder::new()
                    .prefix(&format!("{}-", self.name))
                    .suffix(".log")
                    .rand_bytes(10)
                    .tempfile_in(folder)?;
                let (file, path) = made.keep().map_err(|error| error.error)?;
                &mut none.insert((path, file)).1
            }
            (None, None) => return Ok(()),
        };
        file.write_all(bytes)
    }

    /// Takes the file away again: nothing was left out after all.
    pub(crate) fn discard(&mut self) {
        if let Some((path, _)) = self.file.take() {
            let _ = std::fs::remove_file(path);
        }
    }

    /// Where it stands.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.file.as_ref().map(|(path, _)| path.as_path())
    }

    /// A sentence about where it stands.
    pub(crate) fn note(&self) -> String {
        match (&self.problem, self.path()) {
            (Some(problem), _) => format!(" The whole could not be kept: {problem}."),
            (None, Some(path)) if self.written >= MOST_KEPT => {
                format!(" Its first {} MB: {}", MOST_KEPT >> 20, path.display())
            }
            (None, Some(path)) => format!(" The whole: {}", path.display()),
            (None, None) => String::new(),
        }
    }
}

fn create_private_folders(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// What was cut, as others find it in `details.truncation`.
pub(crate) fn truncation(piece: &Piece<'_>, total_lines: u64, total_bytes: u64) -> Value {
    json!({
        "truncated": piece.by.is_some(),
        "truncatedBy": piece.by.map(|by| if by == By::Lines { "lines" } else { "bytes" }),
        "totalLines": total_lines,
        "totalBytes": total_bytes,
        "outputLines": piece.lines,
        "outputBytes": piece.text.len(),
        "lastLinePartial": piece.partial,
        "maxLines": MAX_LINES,
        "maxBytes": MAX_BYTES,
    })
}

/// The limit that was met, in words.
pub(crate) fn limit(by: Option<By>) -> String {
    match by {
        Some(By::Lines) => format!("{MAX_LINES} lines"),
        _ => format!("{} KB", MAX_BYTES >> 10),
    }
}

/// A result of `text` and `notes`, cut after its beginning if it is too long; then the whole is kept.
pub(super) fn listing(
    text: &str,
    notes: &[String],
    name: &'static str,
    overflow: Option<&Path>,
) -> ToolResult {
    let piece = head(text);
    let mut details = None;
    let mut notes = notes.to_vec();
    let mut shown = piece.text.to_owned();
    if piece.by.is_some() {
        let total = text.lines().count();
        let mut whole = Whole::new(overflow, name);
        whole.write(text.as_bytes());
        notes.push(format!(
            "The first {} of {total} lines are shown (limit {}).{}",
            piece.lines,
            limit(piece.by),
            whole.note()
        ));
        let mut value = json!({ "truncation": truncation(&piece, total as u64, text.len() as u64) });
        if let Some(path) = whole.path() {
            value["fullOutputPath"] = json!(path.display().to_string());
        }
        details = Some(value.to_string());
    }
    for note in &notes {
        shown.push_str(&format!("{}[{note}]", if shown.is_empty() { "" } else { "\n\n" }));
    }
    ToolResult { content: vec![Content::Text(shown)], details, ..ToolResult::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_stay_whole() {
        for text in ["", "a", "a\n", "\n\n", "é\r\n"] {
            assert_eq!((head(text).text, head(text).by), (text, None));
            assert_eq!((tail(text).text, tail(text).by), (text, None));
        }
        let full = "x\n".repeat(MAX_LINES);
        assert_eq!((head(&full).by, tail(&full).by), (None, None));
        let line = "x".repeat(MAX_BYTES);
        assert_eq!((head(&line).by, tail(&line).by), (None, None));
    }

    #[test]
    fn long_texts_are_cut_at_lines() {
        let text: String = (0..3000).map(|n| format!("{n}\n")).collect();
        let (head, tail) = (head(&text), tail(&text));
        assert_eq!((head.lines, head.by, head.text.lines().last()), (2000, Some(By::Lines), Some("1999")));
        assert_eq!((tail.lines, tail.by, tail.text.lines().next()), (2000, Some(By::Lines), Some("1000")));
        let text = format!("{}\n", "é".repeat(500)).repeat(100);
        let (head, tail) = (super::head(&text), super::tail(&text));
        assert_eq!((head.lines, head.by), (51, Some(By::Bytes)));
        assert_eq!((tail.lines, tail.by), (51, Some(By::Bytes)));
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_between_characters() {
        let text = format!("a{}\n", "€".repeat(MAX_BYTES));
        let (head, tail) = (head(&text), tail(&text));
        assert!(head.partial && head.text.starts_with('a') && head.text.len() > MAX_BYTES - 4);
        assert!(tail.partial && tail.text.chars().all(|c| c == '€') && tail.text.len() <= MAX_BYTES);
    }
}

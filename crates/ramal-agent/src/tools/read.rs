//! The tool that reads a file: lines of a text, or an image.

use std::fs::File;
use std::future::Future;
use std::io::{BufRead, BufReader, Read as _, Seek};
use std::path::Path;
use std::pin::Pin;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ramal_model::ToolSpec;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::cut::{self, By, MAX_BYTES, MAX_LINES, Piece};
use super::{ABORTED, Access, Call, Content, Tool, ToolResult, blocking, paths, reads};

/// Bytes of an image that is sent; as base64 that is 5 MB, more than which providers refuse.
pub(crate) const LARGEST_IMAGE: u64 = 3_750_000;
/// Bytes at the beginning by which it is told whether a file is text.
const SNIFFED: u64 = 8192;
/// Bytes that are read on only to say how many lines there are.
const COUNTED: usize = 64 << 20;
const CHUNK: usize = 64 << 10;

/// Reads a file: `{path, offset?, limit?}`, in lines, the first being 1.
#[derive(Debug, Clone, Copy, Default)]
pub struct Read;

impl Tool for Read {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "read".to_owned(),
            description: "Read a file: text, or an image (PNG, JPEG, GIF, WebP). At most 2000 lines or \
                          50 KB of a text are shown; go on with offset and limit."
                .to_owned(),
            parameters: r#"{"type":"object","properties":{"path":{"type":"string","description":"The file, relative to the working directory or absolute"},"offset":{"type":"integer","description":"The line to begin at; the first is 1"},"limit":{"type":"integer","description":"How many lines"}},"required":["path"],"additionalProperties":false}"#.to_owned(),
        }
    }

    fn access(&self, arguments: &str, cwd: &Path) -> Vec<Access> {
        reads(arguments, cwd)
    }

    fn run<'a>(&'a self, call: Call<'a>) -> Pin<Box<dyn Future<Output = ToolResult> + Send + 'a>> {
        Box::pin(blocking(call, |job| {
            let path = paths::resolve(job.arguments.required_path()?, &job.cwd);
            let first = job.arguments.count("offset")?.unwrap_or(1).max(1);
            let limit = job.arguments.count("limit")?;
            if limit == Some(0) {
                return Err("`limit` must be one line at least.".to_owned());
            }
            let shown = paths::shown(&path, &job.cwd);
            let file = open(&path, &shown)?;
            read(file, &shown, first, limit, &job.abort)
                .unwrap_or_else(|error| Err(format!("{shown} could not be read: {error}.")))
        }))
    }
}

fn open(path: &Path, shown: &str) -> Result<File, String> {
    // Looked at before it is opened: to open a named pipe waits for whoever writes to it.
    let metadata = std::fs::metadata(path).map_err(|error| format!("{shown} could not be read: {error}."))?;
    if metadata.is_dir() {
        return Err(format!("{shown} is a folder. Its content is listed by ls."));
    }
    if !metadata.is_file() {
        return Err(format!("{shown} is no ordinary file, and is not read."));
    }
    File::open(path).map_err(|error| format!("{shown} could not be read: {error}."))
}

fn read(
    mut file: File,
    shown: &str,
    first: usize,
    limit: Option<usize>,
    abort: &CancellationToken,
) -> std::io::Result<Result<ToolResult, String>> {
    let mut start = Vec::new();
    (&mut file).take(SNIFFED).read_to_end(&mut start)?;
    file.rewind()?;
    let size = file.metadata()?.len();
    if let Some(mime_type) = image_type(&start) {
        return image(file, shown, mime_type);
    }
    if memchr::memchr(0, &start).is_some() {
        return Ok(Err(format!(
            "{shown} is not text ({size} bytes), and is not shown. If its content matters, look at it with a \
             program that knows its format, or with `xxd`."
        )));
    }
    let mut lines = Lines { first, limit: limit.unwrap_or(usize::MAX).min(MAX_LINES), ..Lines::default() };
    if !lines.fill(&mut BufReader::with_capacity(CHUNK, file), abort)? {
        return Ok(Err(ABORTED.to_owned()));
    }
    Ok(lines.result(shown, limit, size))
}

/// The type of an image by its first bytes; only those that all providers take.
pub(crate) fn image_type(start: &[u8]) -> Option<&'static str> {
    match start {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

fn image(file: File, shown: &str, mime_type: &str) -> std::io::Result<Result<ToolResult, String>> {
    let mut bytes = Vec::new();
    file.take(LARGEST_IMAGE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_IMAGE {
        return Ok(Err(format!(
            "{shown} is an image ({mime_type}) of more than {:.1} MB, too large to be sent. Make a smaller \
             copy of it and read that.",
            LARGEST_IMAGE as f64 / 1e6
        )));
    }
    let text = format!("{shown}: an image ({mime_type}, {} bytes).", bytes.len());
    let image = Content::Image { data: STANDARD.encode(bytes), mime_type: mime_type.to_owned() };
    Ok(Ok(ToolResult { content: vec![Content::Text(text), image], ..ToolResult::default() }))
}

/// Why the lines end where they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    Lines,
    Bytes,
}

/// Some lines of a text that may be larger than memory.
#[derive(Default)]
struct Lines {
    /// The first that is wanted, counted from 1.
    first: usize,
    limit: usize,
    text: Vec<u8>,
    /// Lines in `text`.
    taken: usize,
    /// The line that is being read: its beginning, as far as it may be shown.
    line: Vec<u8>,
    /// Lines that have ended.
    ended: usize,
    /// Something stands after the last line's end.
    in_line: bool,
    /// No more lines are taken.
    stop: Option<Stop>,
    /// `text` is the beginning of a line that is too long.
    partial: bool,
    /// The end of the file was seen, so that `ended` counts all.
    all: bool,
}

impl Lines {
    /// Reads. Answers false if it was aborted.
    fn fill(&mut self, reader: &mut impl BufRead, abort: &CancellationToken) -> std::io::Result<bool> {
        let mut only_counted = 0;
        loop {
            if abort.is_cancelled() {
                return Ok(false);
            }
            let chunk = match reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if chunk.is_empty() {
                break;
            }
            if self.stop.is_some() {
                only_counted += chunk.len();
            }
            let length = chunk.len();
            self.take(chunk);
            reader.consume(length);
            if only_counted > COUNTED {
                return Ok(true);
            }
        }
        self.all = true;
        if self.in_line {
            self.end_line();
        }
        Ok(true)
    }

    fn take(&mut self, mut chunk: &[u8]) {
        while !chunk.is_empty() {
            let end = memchr::memchr(b'\n', chunk);
            let (part, rest) = chunk.split_at(end.map_or(chunk.len(), |end| end + 1));
            chunk = rest;
            self.in_line = true;
            if self.is_wanted() {
                // One byte more than may be shown is enough to see that it is too much.
                let room = (MAX_BYTES + 2).saturating_sub(self.line.len());
                self.line.extend_from_slice(part.get(..room).unwrap_or(part));
            }
            if end.is_some() {
                self.end_line();
            }
        }
    }

    fn is_wanted(&self) -> bool {
        self.stop.is_none() && self.ended + 1 >= self.first
    }

    fn end_line(&mut self) {
        if self.is_wanted() {
            let bytes = self.line.strip_suffix(b"\n").unwrap_or(&self.line).len();
            if self.taken == self.limit {
                self.stop = Some(Stop::Lines);
            } else if self.text.len() + bytes > MAX_BYTES {
                self.stop = Some(Stop::Bytes);
                if self.taken == 0 {
                    (self.partial, self.taken) = (true, 1);
                    self.text = std::mem::take(&mut self.line);
                    self.text.truncate(MAX_BYTES);
                }
            } else {
                self.text.append(&mut self.line);
                self.taken += 1;
            }
            self.line.clear();
        }
        self.ended += 1;
        self.in_line = false;
    }

    fn result(self, shown: &str, asked: Option<usize>, size: u64) -> Result<ToolResult, String> {
        if self.taken == 0 {
            return match self.ended {
                0 => Ok(ToolResult::text("(The file is empty.)")),
                all => Err(format!("{shown} has only {all} lines; line {} is not there.", self.first)),
            };
        }
        let last = self.first.saturating_add(self.taken - 1);
        let total = if self.all { self.ended.to_string() } else { format!("more than {}", self.ended) };
        let mut text = lossy(&self.text, self.partial);
        let Some(stop) = self.stop else { return Ok(ToolResult::text(text)) };
        text.truncate(text.trim_end_matches('\n').len());
        let limit = match (stop, asked) {
            (Stop::Lines, Some(asked)) if asked <= MAX_LINES => "as asked".to_owned(),
            (Stop::Lines, _) => format!("limit {}", cut::limit(Some(By::Lines))),
            (Stop::Bytes, _) => format!("limit {}", cut::limit(Some(By::Bytes))),
        };
        let by = if stop == Stop::Lines { By::Lines } else { By::Bytes };
        let piece = Piece { text: &text, lines: self.taken, by: Some(by), partial: self.partial };
        let details = json!({ "truncation": cut::truncation(&piece, self.ended as u64, size) });
        let note = if self.partial {
            format!(
                "Line {last} of {total} is longer than {} KB; its beginning is shown. More of it: bash with \
                 `sed -n {last}p FILE | tail -c +{}`.",
                MAX_BYTES >> 10,
                MAX_BYTES + 1
            )
        } else {
            format!(
                "Lines {}-{last} of {total} are shown ({limit}). Go on with offset={}.",
                self.first,
                last + 1
            )
        };
        let text = format!("{text}\n\n[{note}]");
        Ok(ToolResult { details: Some(details.to_string()), ..ToolResult::text(text) })
    }
}

/// Text of bytes. Where they were `cut`, half a character at the end is left out.
fn lossy(bytes: &[u8], cut: bool) -> String {
    let first = (bytes.len().saturating_sub(3)..bytes.len()).rev().find(|&at| bytes[at] >= 0xc0);
    let (whole, last) = bytes.split_at(first.filter(|_| cut).unwrap_or(bytes.len()));
    let is_half = std::str::from_utf8(last).is_err_and(|error| error.error_len().is_none());
    String::from_utf8_lossy(if is_half { whole } else { bytes }).into_owned()
}

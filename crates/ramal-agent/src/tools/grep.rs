//! The tool that looks for a pattern in files.

use std::fs::File;
use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ramal_model::ToolSpec;
use tokio_util::sync::CancellationToken;

use super::globs::{Pattern, walk};
use super::{ABORTED, Access, Call, Job, Tool, ToolResult, blocking, cut, paths, reads};

/// Matches that are shown when no limit is asked for, and at most.
const USUAL: usize = 100;
const MOST: usize = 10_000;
/// Lines around a match, at most.
const MOST_CONTEXT: usize = 100;
/// Bytes of a line that are shown.
const LINE_SHOWN: usize = 500;
/// Bytes that are collected, at most; what is shown of them is less.
const COLLECTED: usize = 4 << 20;
/// Bytes that one line may take in memory.
const LONGEST_LINE: usize = 64 << 20;

/// Looks for a pattern in files: `{pattern, path?, glob?, ignoreCase?, literal?, context?, limit?}`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Grep;

impl Tool for Grep {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "grep".to_owned(),
            description: "Look for a regular expression in files, line by line. Lines that match are shown \
                          as path:line: text. What git ignores and what is not text is left out."
                .to_owned(),
            parameters: r#"{"type":"object","properties":{"pattern":{"type":"string","description":"The regular expression, or the text if literal"},"path":{"type":"string","description":"The file or folder to look in; the working directory if not given"},"glob":{"type":"string","description":"Only files of such names, as *.ts or src/**/*.rs"},"ignoreCase":{"type":"boolean","description":"Upper and lower case are the same"},"literal":{"type":"boolean","description":"The pattern is a text, and no regular expression"},"context":{"type":"integer","description":"How many lines to show before and after each match"},"limit":{"type":"integer","description":"How many matches to show; 100 if not given"}},"required":["pattern"],"additionalProperties":false}"#.to_owned(),
        }
    }

    fn access(&self, arguments: &str, cwd: &Path) -> Vec<Access> {
        reads(arguments, cwd)
    }

    fn run<'a>(&'a self, call: Call<'a>) -> Pin<Box<dyn Future<Output = ToolResult> + Send + 'a>> {
        Box::pin(blocking(call, grep))
    }
}

fn grep(job: &Job) -> Result<ToolResult, String> {
    let arguments = &job.arguments;
    let matcher =
        matcher(arguments.required("pattern")?, arguments.flag("literal")?, arguments.flag("ignoreCase")?)?;
    let glob = arguments.text("glob")?.map(Pattern::new).transpose()?;
    let context = arguments.count("context")?.unwrap_or(0).min(MOST_CONTEXT);
    let limit = arguments.count("limit")?.unwrap_or(USUAL).clamp(1, MOST);
    let root = paths::resolve(arguments.path()?.unwrap_or("."), &job.cwd);
    let found = std::fs::metadata(&root);
    let found = found.map_err(|error| format!("{}: {error}.", paths::shown(&root, &job.cwd)))?;
    if !found.is_dir() && !found.is_file() {
        return Err(format!("{} is no ordinary file.", paths::shown(&root, &job.cwd)));
    }
    let mut searcher = SearcherBuilder::new()
        .line_terminator(LineTerminator::crlf())
        .binary_detection(BinaryDetection::quit(0))
        .before_context(context)
        .after_context(context)
        .heap_limit(Some(LONGEST_LINE))
        .build();
    let mut hits = Hits { limit, ..Hits::default() };
    for entry in walk(&root) {
        if job.abort.is_cancelled() {
            return Err(ABORTED.to_owned());
        }
        let Ok(entry) = entry else {
            hits.unread += 1;
            continue;
        };
        // The file that was named is searched whatever it is called, and through a link.
        let named = entry.depth() == 0;
        let relative = entry.path().strip_prefix(&root).unwrap_or(entry.path());
        let wanted = named || glob.as_ref().is_none_or(|glob| glob.is_match(relative));
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file()) || (named && found.is_file());
        if !wanted || !is_file {
            continue;
        }
        hits.begin(paths::shown(entry.path(), &job.cwd));
        if hits.search(&mut searcher, &matcher, entry.path(), &job.abort).is_err() {
            hits.unread += 1;
        }
        if hits.is_full() {
            break;
        }
    }
    if job.abort.is_cancelled() {
        return Err(ABORTED.to_owned());
    }
    Ok(cut::listing(&hits.text, &hits.notes(), "grep", job.overflow.as_deref()))
}

fn matcher(pattern: &str, literal: bool, ignore_case: bool) -> Result<RegexMatcher, String> {
    RegexMatcherBuilder::new()
        .multi_line(true)
        .crlf(true)
        .fixed_strings(literal)
        .case_insensitive(ignore_case)
        .build(pattern)
        .map_err(|error| {
            let hint = if literal { "" } else { " With `literal` it is taken as a text." };
            format!("The pattern cannot be used: {error}.{hint}")
        })
}

/// What was found.
#[derive(Default)]
struct Hits {
    limit: usize,
    text: String,
    file: String,
    /// Lines of this file stand in `text` already.
    in_file: bool,
    matches: usize,
    /// There are more matches than the limit.
    more: bool,
    unread: usize,
    long: usize,
}

impl Hits {
    fn begin(&mut self, file: String) {
        (self.file, self.in_file) = (file, false);
    }

    fn is_full(&self) -> bool {
        self.more || self.text.len() >= COLLECTED
    }

    fn search(
        &mut self,
        searcher: &mut Searcher,
        matcher: &RegexMatcher,
        path: &Path,
        abort: &CancellationToken,
    ) -> io::Result<()> {
        let reader = Abortable { file: File::open(path)?, abort };
        searcher.search_reader(matcher, reader, self)
    }

    /// Adds a line, which ends as it did in the file.
    fn add(&mut self, number: Option<u64>, mark: char, line: &[u8]) {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let long = line.len() > LINE_SHOWN;
        let text = String::from_utf8_lossy(line.get(..LINE_SHOWN + 4).unwrap_or(line));
        let end = text.floor_char_boundary(LINE_SHOWN);
        let text = if long { text.get(..end).unwrap_or(&text) } else { &text };
        self.long += usize::from(long);
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(&self.file);
        self.text.push_str(&format!("{mark}{}{mark} {text}", number.unwrap_or_default()));
        if long {
            self.text.push('…');
        }
        self.in_file = true;
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.matches == 0 {
            notes.push("No line matches.".to_owned());
        }
        if self.more {
            let limit = self.limit;
            notes.push(format!(
                "There are more than {limit} matches. Ask for a higher limit or look for less."
            ));
        } else if self.is_full() {
            notes.push("There is too much to look at all of it. Look for less.".to_owned());
        }
        if self.long > 0 {
            notes.push(format!("Long lines are cut after {LINE_SHOWN} bytes. Read shows them whole."));
        }
        if self.unread > 0 {
            notes.push(format!("{} could not be read.", self.unread));
        }
        notes
    }
}

impl Sink for &mut Hits {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.matches == self.limit {
            self.more = true;
            return Ok(false);
        }
        self.matches += 1;
        self.add(found.line_number(), ':', found.bytes());
        Ok(self.text.len() < COLLECTED)
    }

    fn context(&mut self, _searcher: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        self.add(context.line_number(), '-', context.bytes());
        Ok(self.text.len() < COLLECTED)
    }

    fn context_break(&mut self, _searcher: &Searcher) -> Result<bool, io::Error> {
        if self.in_file {
            self.text.push_str("\n--");
        }
        Ok(true)
    }
}

/// A file whose reading ends at an abort.
struct Abortable<'a> {
    file: File,
    abort: &'a CancellationToken,
}

impl io::Read for Abortable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.abort.is_cancelled() {
            return Err(io::Error::other(ABORTED));
        }
        self.file.read(buffer)
    }
}

//! The tool that finds files by their names.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;

use ramal_model::ToolSpec;

use super::globs::{Pattern, walk};
use super::{ABORTED, Access, Call, Tool, ToolResult, blocking, cut, paths, reads};

/// Files that are named when no limit is asked for, and at most.
const USUAL: usize = 1000;
const MOST: usize = 100_000;

/// Finds files by a pattern for their names: `{pattern, path?, limit?}`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Find;

impl Tool for Find {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "find".to_owned(),
            description: "Find files and folders by name. A pattern without a slash is for the name \
                          (*.rs, Cargo.*), one with a slash for the path (src/**/*.ts). What git ignores is \
                          left out."
                .to_owned(),
            parameters: r#"{"type":"object","properties":{"pattern":{"type":"string","description":"The pattern, with * ** ? [ ] { }"},"path":{"type":"string","description":"The folder to look in; the working directory if not given"},"limit":{"type":"integer","description":"How many to name; 1000 if not given"}},"required":["pattern"],"additionalProperties":false}"#.to_owned(),
        }
    }

    fn access(&self, arguments: &str, cwd: &Path) -> Vec<Access> {
        reads(arguments, cwd)
    }

    fn run<'a>(&'a self, call: Call<'a>) -> Pin<Box<dyn Future<Output = ToolResult> + Send + 'a>> {
        Box::pin(blocking(call, |job| {
            let pattern = Pattern::new(job.arguments.required("pattern")?)?;
            let limit = job.arguments.count("limit")?.unwrap_or(USUAL).clamp(1, MOST);
            let root = paths::resolve(job.arguments.path()?.unwrap_or("."), &job.cwd);
            if !root.is_dir() {
                return Err(format!("{} is no folder.", paths::shown(&root, &job.cwd)));
            }
            let mut found = Vec::new();
            let mut unread = 0;
            let mut more = false;
            for entry in walk(&root) {
                if job.abort.is_cancelled() {
                    return Err(ABORTED.to_owned());
                }
                let Ok(entry) = entry else {
                    unread += 1;
                    continue;
                };
                let relative = entry.path().strip_prefix(&root).unwrap_or(entry.path());
                if entry.depth() == 0 || !pattern.is_match(relative) {
                    continue;
                }
                if found.len() == limit {
                    more = true;
                    break;
                }
                let folder = entry.file_type().is_some_and(|kind| kind.is_dir());
                let end = if folder { "/" } else { "" };
                found.push(paths::shown(entry.path(), &job.cwd) + end);
            }
            let mut notes = Vec::new();
            if found.is_empty() {
                notes.push("No file of such a name was found.".to_owned());
            }
            if more {
                notes.push(format!(
                    "There are more than {limit}. Ask for a higher limit or a narrower pattern."
                ));
            }
            if unread > 0 {
                notes.push(format!("{unread} could not be read."));
            }
            Ok(cut::listing(&found.join("\n"), &notes, "find", job.overflow.as_deref()))
        }))
    }
}

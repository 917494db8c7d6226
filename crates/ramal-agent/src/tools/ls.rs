//! The tool that lists a folder.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;

use ramal_model::ToolSpec;

use super::{ABORTED, Access, Call, Tool, ToolResult, blocking, cut, paths, reads};

/// Names that are listed when no limit is asked for.
const USUAL: usize = 500;

/// Lists a folder: `{path?, limit?}`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ls;

impl Tool for Ls {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "ls".to_owned(),
            description: "List what is in a folder, hidden files included. Folders end in a slash, links in \
                          an at sign."
                .to_owned(),
            parameters: r#"{"type":"object","properties":{"path":{"type":"string","description":"The folder; the working directory if not given"},"limit":{"type":"integer","description":"How many names; 500 if not given"}},"additionalProperties":false}"#.to_owned(),
        }
    }

    fn access(&self, arguments: &str, cwd: &Path) -> Vec<Access> {
        reads(arguments, cwd)
    }

    fn run<'a>(&'a self, call: Call<'a>) -> Pin<Box<dyn Future<Output = ToolResult> + Send + 'a>> {
        Box::pin(blocking(call, |job| {
            let path = paths::resolve(job.arguments.path()?.unwrap_or("."), &job.cwd);
            let limit = job.arguments.count("limit")?.unwrap_or(USUAL).max(1);
            let shown = paths::shown(&path, &job.cwd);
            if path.is_file() {
                return Err(format!("{shown} is a file, and no folder. Its content is shown by read."));
            }
            let fail = |error: std::io::Error| format!("{shown} could not be listed: {error}.");
            let mut names = Vec::new();
            for entry in std::fs::read_dir(&path).map_err(fail)? {
                if job.abort.is_cancelled() {
                    return Err(ABORTED.to_owned());
                }
                let entry = entry.map_err(fail)?;
                let end = match entry.file_type() {
                    Ok(kind) if kind.is_dir() => "/",
                    Ok(kind) if kind.is_symlink() => "@",
                    _ => "",
                };
                let name = entry.file_name().to_string_lossy().into_owned();
                names.push((name.to_lowercase(), name + end));
            }
            names.sort_unstable();
            let mut notes = Vec::new();
            if names.is_empty() {
                notes.push("The folder is empty.".to_owned());
            }
            if names.len() > limit {
                notes.push(format!("{limit} of {} names are shown. Ask for a higher limit.", names.len()));
            }
            let shown: Vec<String> = names.into_iter().take(limit).map(|(_, name)| name).collect();
            Ok(cut::listing(&shown.join("\n"), &notes, "ls", job.overflow.as_deref()))
        }))
    }
}

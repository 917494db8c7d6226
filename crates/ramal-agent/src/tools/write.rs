//! The tool that writes a file whole.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;

use ramal_model::ToolSpec;

use super::{ABORTED, Access, Call, Tool, ToolResult, blocking, paths, replace, writes};

/// Writes a file whole: `{path, content}`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Write;

impl Tool for Write {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "write".to_owned(),
            description: "Write a file: creates it, or replaces what stands in it. Missing folders are \
                          made. To change a part of a file, use edit."
                .to_owned(),
            parameters: r#"{"type":"object","properties":{"path":{"type":"string","description":"The file, relative to the working directory or absolute"},"content":{"type":"string","description":"What the file shall contain"}},"required":["path","content"],"additionalProperties":false}"#.to_owned(),
        }
    }

    fn access(&self, arguments: &str, cwd: &Path) -> Vec<Access> {
        writes(arguments, cwd)
    }

    fn run<'a>(&'a self, call: Call<'a>) -> Pin<Box<dyn Future<Output = ToolResult> + Send + 'a>> {
        Box::pin(blocking(call, |job| {
            let path = paths::resolve(job.arguments.required_path()?, &job.cwd);
            let content = job.arguments.required("content")?;
            let _alone = replace::alone();
            if job.abort.is_cancelled() {
                return Err(ABORTED.to_owned());
            }
            let shown = paths::shown(&path, &job.cwd);
            let real = paths::real(&path);
            let created = !real.exists();
            replace::replace(&real, content.as_bytes())
                .map_err(|error| format!("{shown} could not be written: {error}. Nothing was changed."))?;
            let done = if created { "Created" } else { "Replaced" };
            let text = format!("{done} {shown} ({} bytes).", content.len());
            let details = serde_json::json!({ "path": real.display().to_string(), "created": created });
            Ok(ToolResult { details: Some(details.to_string()), ..ToolResult::text(text) })
        }))
    }
}

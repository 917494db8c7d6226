//! The tool that replaces parts of a text.

use std::fmt::Write as _;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use ramal_model::ToolSpec;
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

use super::arguments::Arguments;
use super::edits::{self, apply};
use super::{ABORTED, Access, Call, Tool, ToolResult, blocking, cut, paths, replace, writes};

/// Bytes of a file that can be edited; it is held in memory several times over.
const LARGEST: u64 = 64 << 20;
/// How long a difference is refined before a coarser one is taken.
const DIFF_TIME: Duration = Duration::from_millis(500);
const BOM: &str = "\u{feff}";

/// Replaces parts of a text: `{path, edits: [{oldText, newText}]}`, or one `{path, oldText, newText}`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Edit;

impl Tool for Edit {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "edit".to_owned(),
            description: "Replace parts of a file. Each oldText must stand in the file exactly as given and \
                          only once, white space included. All edits are looked up in the file as it was \
                          before; they must not overlap. If one cannot be made, none is."
                .to_owned(),
            parameters: r#"{"type":"object","properties":{"path":{"type":"string","description":"The file, relative to the working directory or absolute"},"edits":{"type":"array","description":"The replacements","items":{"type":"object","properties":{"oldText":{"type":"string","description":"What stands there now"},"newText":{"type":"string","description":"What shall stand there"}},"required":["oldText","newText"],"additionalProperties":false}}},"required":["path","edits"],"additionalProperties":false}"#.to_owned(),
        }
    }

    fn access(&self, arguments: &str, cwd: &Path) -> Vec<Access> {
        writes(arguments, cwd)
    }

    fn run<'a>(&'a self, call: Call<'a>) -> Pin<Box<dyn Future<Output = ToolResult> + Send + 'a>> {
        Box::pin(blocking(call, |job| {
            let path = paths::resolve(job.arguments.required_path()?, &job.cwd);
            let edits = wanted(&job.arguments)?;
            let shown = paths::shown(&path, &job.cwd);
            let real = paths::real(&path);
            let _alone = replace::alone();
            let before = read(&real, &shown)?;
            let (bom, text) = before.strip_prefix(BOM).map_or(("", before.as_str()), |text| (BOM, text));
            let after = apply(text, &edits).map_err(|error| format!("{shown} was not changed. {error}"))?;
            if job.abort.is_cancelled() {
                return Err(ABORTED.to_owned());
            }
            replace::replace(&real, format!("{bom}{after}").as_bytes())
                .map_err(|error| format!("{shown} could not be written: {error}. Nothing was changed."))?;
            let parts = if edits.len() == 1 { "1 part".to_owned() } else { format!("{} parts", edits.len()) };
            let text_said = format!("Replaced {parts} of {shown}.");
            let details = differences(text, &after, &shown).to_string();
            Ok(ToolResult { details: Some(details), ..ToolResult::text(text_said) })
        }))
    }
}

fn read(path: &Path, shown: &str) -> Result<String, String> {
    let fail = |error: std::io::Error| format!("{shown} could not be read: {error}.");
    let metadata = std::fs::metadata(path).map_err(fail)?;
    if !metadata.is_file() {
        return Err(format!("{shown} is no ordinary file, and cannot be edited."));
    }
    if metadata.len() > LARGEST {
        return Err(format!("{shown} is larger than {} MB. Change it with a command.", LARGEST >> 20));
    }
    let bytes = std::fs::read(path).map_err(fail)?;
    String::from_utf8(bytes)
        .map_err(|_| format!("{shown} is not UTF-8 text, and cannot be edited without damage."))
}

/// The edits of a call, in each of the forms in which models write them.
fn wanted(arguments: &Arguments) -> Result<Vec<edits::Edit>, String> {
    let mut edits = Vec::new();
    match arguments.get("edits") {
        None => {}
        Some(Value::Array(items)) => edits = several(items)?,
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(Value::Array(items)) => edits = several(&items)?,
            _ => return Err("`edits` should be a list of {oldText, newText}.".to_owned()),
        },
        Some(item @ Value::Object(_)) => edits = several(std::slice::from_ref(item))?,
        Some(_) => return Err("`edits` should be a list of {oldText, newText}.".to_owned()),
    }
    if let (Some(old), Some(new)) = (arguments.text("oldText")?, arguments.text("newText")?) {
        edits.push(edits::Edit { old: old.to_owned(), new: new.to_owned() });
    }
    if edits.is_empty() {
        return Err("There are no edits: give `edits`, a list of {oldText, newText}.".to_owned());
    }
    Ok(edits)
}

fn several(items: &[Value]) -> Result<Vec<edits::Edit>, String> {
    let one = |(number, item): (usize, &Value)| {
        let text = |key| item.get(key).and_then(Value::as_str).map(str::to_owned);
        match (text("oldText"), text("newText")) {
            (Some(old), Some(new)) => Ok(edits::Edit { old, new }),
            _ => Err(format!("edits[{number}] needs the texts `oldText` and `newText`.")),
        }
    };
    items.iter().enumerate().map(one).collect()
}

/// What changed: `diff` with line numbers, to be shown; `patch` as programs read it.
fn differences(before: &str, after: &str, shown: &str) -> Value {
    let diff = TextDiff::configure().timeout(DIFF_TIME).diff_lines(before, after);
    let patch = diff.unified_diff().context_radius(3).header(shown, shown).to_string();
    let first = diff.ops().iter().find(|op| op.tag() != similar::DiffTag::Equal);
    let first = first.map(|op| op.new_range().start + 1);
    json!({ "diff": short(&numbered(&diff)), "patch": short(&patch), "firstChangedLine": first })
}

fn numbered(diff: &TextDiff<'_, '_, '_, str>) -> String {
    let last = diff.old_slices().len().max(diff.new_slices().len());
    let width = last.to_string().len();
    let mut text = String::new();
    for (number, group) in diff.grouped_ops(3).iter().enumerate() {
        if number > 0 {
            let _ = writeln!(text, " {:width$} ...", "");
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (sign, line) = match change.tag() {
                ChangeTag::Delete => ('-', change.old_index()),
                ChangeTag::Insert => ('+', change.new_index()),
                ChangeTag::Equal => (' ', change.new_index()),
            };
            let line = line.unwrap_or_default() + 1;
            let _ = writeln!(text, "{sign}{line:width$} {}", change.value().trim_end_matches(['\r', '\n']));
        }
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

/// A difference is kept in the log: one that nobody would read is cut.
fn short(diff: &str) -> String {
    let piece = cut::head(diff);
    match piece.by {
        Some(by) => format!("{}\n[cut: limit {}]", piece.text, cut::limit(Some(by))),
        None => diff.to_owned(),
    }
}

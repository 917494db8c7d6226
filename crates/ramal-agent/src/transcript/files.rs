//! The files that a conversation read and changed, as summaries list them.

use std::collections::BTreeSet;

use ramal_session::json::members::{as_str, items};
use ramal_session::json::{self, quote};
use ramal_session::{Entry, ToolCall};

/// Files that a list in a text names at most; the details have all.
const LISTED: usize = 300;

/// Files by what was done to them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Files {
    read: BTreeSet<String>,
    modified: BTreeSet<String>,
}

/// A file that a call is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Touched {
    Read(String),
    Modified(String),
}

impl Touched {
    /// What a call of `read`, `write` or `edit` is about; none for other tools.
    pub(crate) fn by(call: &ToolCall<'_>) -> Option<Touched> {
        let touched = match &*call.name {
            "read" => Touched::Read,
            "write" | "edit" => Touched::Modified,
            _ => return None,
        };
        let arguments = call.arguments.as_bytes();
        let path = json::get_str(arguments, "path").or_else(|| json::get_str(arguments, "file_path"))?;
        (!path.trim().is_empty()).then(|| touched(path.into_owned()))
    }
}

impl Files {
    pub(crate) fn add(&mut self, touched: Touched) {
        match touched {
            Touched::Read(path) => self.read.insert(path),
            Touched::Modified(path) => self.modified.insert(path),
        };
    }

    /// Takes over what an earlier summary lists, if it is one of the built-in kind: what extensions
    /// keep under the same name is their own.
    pub(crate) fn carry_on(&mut self, summary: &Entry) {
        let is_true = |key| summary.get(key) == Some("true");
        let Some(details) = summary.get("details") else { return };
        if is_true("fromExtension") || is_true("fromHook") {
            return;
        }
        let strings = |key| {
            let list = json::get(details.as_bytes(), key).unwrap_or_default();
            items(list).filter_map(as_str).map(std::borrow::Cow::into_owned)
        };
        self.read.extend(strings("readFiles"));
        self.modified.extend(strings("modifiedFiles"));
    }

    /// Files that were only read.
    pub(crate) fn only_read(&self) -> impl Iterator<Item = &str> {
        self.read.difference(&self.modified).map(String::as_str)
    }

    /// Files that were changed.
    pub(crate) fn modified(&self) -> impl Iterator<Item = &str> {
        self.modified.iter().map(String::as_str)
    }

    /// The `details` of a summary: JSON text.
    pub(crate) fn details(&self) -> String {
        let list = |paths: &mut dyn Iterator<Item = &str>| paths.map(quote).collect::<Vec<_>>().join(",");
        format!(
            "{{\"readFiles\":[{}],\"modifiedFiles\":[{}]}}",
            list(&mut self.only_read()),
            list(&mut self.modified())
        )
    }

    /// A summary with the lists behind it; one that is empty is left out.
    pub(crate) fn listed_behind(&self, summary: &str) -> String {
        let mut out = summary.trim().to_owned();
        list(&mut out, "read-files", self.only_read());
        list(&mut out, "modified-files", self.modified());
        out
    }
}

fn list<'a>(out: &mut String, tag: &str, paths: impl Iterator<Item = &'a str>) {
    let mut count = 0;
    for path in paths {
        if count == 0 {
            *out += &format!("\n\n<{tag}>");
        }
        count += 1;
        if count <= LISTED {
            out.push('\n');
            out.extend(path.chars().map(|char| if char.is_control() { ' ' } else { char }));
        }
    }
    if count > LISTED {
        *out += &format!("\n(and {} more)", count - LISTED);
    }
    if count > 0 {
        *out += &format!("\n</{tag}>");
    }
}

/// A summary without the lists that stand behind it, so that no model has to copy them.
pub(crate) fn without_lists(summary: &str) -> &str {
    let mut summary = summary.trim();
    for tag in ["modified-files", "read-files"] {
        if summary.ends_with(&format!("</{tag}>"))
            && let Some((before, _)) = summary.rsplit_once(&format!("<{tag}>"))
        {
            summary = before.trim_end();
        }
    }
    summary
}

//! The commands, one file each: what it takes, and what it does.

pub(crate) mod branch;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod context;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod export;
pub(crate) mod extensions;
pub(crate) mod go;
pub(crate) mod import;
pub(crate) mod label;
pub(crate) mod labels;
pub(crate) mod log;
pub(crate) mod ls;
pub(crate) mod man;
pub(crate) mod models;
mod notices;
pub(crate) mod prompt;
pub(crate) mod rpc;
pub(crate) mod show;
pub(crate) mod tree;
pub(crate) mod which;

use std::io::{self, IsTerminal as _, Write};
use std::path::Path;

use ramal_session::{Calls, EntryRef, ReadError, SessionManager};

use crate::cli;
use crate::failure::Status;
use crate::view::clean;
use crate::view::says::says;
use crate::view::width::fit;

/// `--json`, for the commands that have it.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Json {
    /// Print JSON, as docs/json-output.md describes it
    #[arg(long)]
    pub(crate) json: bool,
}

/// Without a command: what there is.
pub(crate) fn help(out: &mut dyn Write) -> anyhow::Result<Status> {
    writeln!(out, "{}", cli::command().render_help())?;
    Ok(Status::Done)
}

/// The file of a session, for JSON; none in memory.
fn session_file(session: &SessionManager) -> Option<String> {
    session.get_session_file().map(|path| path.to_string_lossy().into_owned())
}

/// JSON text of an entry, to stand in other JSON as it is.
fn raw(json: &str) -> serde_json::Result<Box<serde_json::value::RawValue>> {
    serde_json::value::RawValue::from_string(json.to_owned())
}

/// Columns of an entry's text in a sentence.
const QUOTED: usize = 60;

/// Where the leaf is, in words.
fn describe_leaf(session: &SessionManager) -> Result<String, ReadError> {
    let Some(leaf) = session.get_leaf_entry() else { return Ok("before the first entry".into()) };
    Ok(format!("at {}, {}", leaf.id()?, in_a_line(session, leaf, &mut Calls::default())?))
}

/// What an entry says, in a part of a sentence.
pub(crate) fn in_a_line(
    session: &SessionManager,
    handle: EntryRef<'_>,
    calls: &mut Calls,
) -> Result<String, ReadError> {
    let entry = handle.read()?;
    let call = calls.of_entry(session, handle, &entry)?;
    let line = says(&entry, call, session.get_cwd(), QUOTED).line();
    Ok(fit(&line, QUOTED).into_owned())
}

/// Prints a text that somebody will work with: its characters are shown if they act on a terminal, but
/// tabs stay tabs unless it goes to one.
fn print_text(out: &mut dyn Write, text: &str) -> io::Result<()> {
    let keep_tabs = !io::stdout().is_terminal();
    for line in text.lines() {
        if line.is_empty() {
            writeln!(out)?;
            continue;
        }
        if keep_tabs && line.contains('\t') {
            let parts: Vec<_> = line.split('\t').flat_map(clean_part).collect();
            writeln!(out, "{}", parts.join("\t"))?;
            continue;
        }
        for line in clean::lines(line) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// A part of a line; empty parts stay.
fn clean_part(part: &str) -> Option<std::borrow::Cow<'_, str>> {
    clean::lines(part).next().or(Some("".into()))
}

/// Prints a path: for a program as it is, for a terminal harmless.
fn print_path(out: &mut dyn Write, path: &Path) -> io::Result<()> {
    if io::stdout().is_terminal() {
        return writeln!(out, "{}", clean::name(&path.to_string_lossy()));
    }
    out.write_all(path.as_os_str().as_encoded_bytes())?;
    out.write_all(b"\n")
}

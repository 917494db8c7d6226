//! `ramal show`: one entry whole.

use std::io::{self, IsTerminal as _, Write};

use ramal_session::{Calls, EntryRef, Irregular, SessionManager, time};
use serde::Serialize;
use serde_json::value::RawValue;

use super::log::which_branch;
use super::notices::oddity;
use super::{raw, session_file};
use crate::cli::Globals;
use crate::failure::Status;
use crate::output::{json_line, raw_json};
use crate::resolve;
use crate::view::human;
use crate::view::style::{Palette, Role};
use crate::view::transcript::{Heading, Length, Transcript};
use crate::view::{clean, says};

/// Show one entry whole
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramal show leaf
  ramal show 7dbcb437 --session examples/date-parser.jsonl
  ramal show leaf~2 --raw | jq .message.usage")]
pub(crate) struct Args {
    /// The entry: an id or the beginning of one, a label, `leaf` or `root`; with `~n` its nth ancestor
    entry: String,
    #[command(flatten)]
    session: resolve::SessionOption,
    /// Print JSON, as docs/json-output.md describes it
    #[arg(long, conflicts_with = "raw")]
    json: bool,
    /// Print the line of the entry as it stands in the file, to the byte
    #[arg(long)]
    raw: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonEntry<'a> {
    session_file: Option<String>,
    entry: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label_timestamp: Option<String>,
    offset: u64,
    length: u64,
    /// How many entries there are above it.
    depth: usize,
    child_ids: Vec<String>,
    is_active: bool,
    is_leaf: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unreadable: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    has_made_up_id: bool,
}

pub(crate) fn run(args: &Args, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<Status> {
    let session = resolve::session(args.session.name(), globals)?;
    let handle = resolve::entry_ref(&session, &args.entry)?;
    if args.raw {
        print_raw(&session, handle, out)?;
    } else if args.json {
        print_json(&session, handle, out)?;
    } else {
        print(&session, handle, globals.palette(), globals.columns(), out)?;
    }
    Ok(Status::Done)
}

/// The bytes and nothing else; on a terminal they are made harmless, and end a line.
fn print_raw(session: &SessionManager, handle: EntryRef<'_>, out: &mut dyn Write) -> anyhow::Result<()> {
    let bytes = session.get_raw(&handle.id()?)?.unwrap_or_default();
    if io::stdout().is_terminal() {
        raw_json(out, &String::from_utf8_lossy(&bytes))?;
        writeln!(out)?;
    } else {
        out.write_all(&bytes)?;
    }
    Ok(())
}

fn is_above_leaf(session: &SessionManager, handle: EntryRef<'_>) -> bool {
    std::iter::successors(session.get_leaf_entry(), |entry| entry.parent()).any(|entry| entry == handle)
}

fn print_json(session: &SessionManager, handle: EntryRef<'_>, out: &mut dyn Write) -> anyhow::Result<()> {
    let entry = handle.read()?;
    let child_ids = handle.ordered_children().into_iter().map(|child| Ok(child.id()?.as_str().to_owned()));
    let line = JsonEntry {
        session_file: session_file(session),
        entry: &raw(entry.json())?,
        label: handle.label(),
        label_timestamp: handle.labelled_by().and_then(EntryRef::time).map(time::format),
        offset: handle.offset(),
        length: handle.size(),
        depth: std::iter::successors(handle.parent(), |entry| entry.parent()).count(),
        child_ids: child_ids.collect::<anyhow::Result<_>>()?,
        is_active: is_above_leaf(session, handle),
        is_leaf: session.get_leaf_entry() == Some(handle),
        unreadable: entry.is_unreadable(),
        has_made_up_id: handle.irregular() == Some(Irregular::NoId),
    };
    json_line(out, &line)?;
    Ok(())
}

/// What is known about the entry, then the entry.
fn print(
    session: &SessionManager,
    handle: EntryRef<'_>,
    palette: Palette,
    columns: usize,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let entry = handle.read()?;
    let is_leaf = session.get_leaf_entry() == Some(handle);
    let heading = Heading {
        id: entry.id(),
        time: &entry.time().map(time::format).unwrap_or_default(),
        label: handle.label(),
        branch: which_branch(session, handle),
        is_leaf,
        oddity: handle.irregular().map(oddity),
    };
    let mut transcript = Transcript::new(out, palette, columns, Length::Whole, session.get_cwd());
    if let Some(id) = entry.message().and_then(|message| message.get_str("toolCallId"))
        && let Some(call) = Calls::default().of(session, handle, &id)?
    {
        transcript.expect(call.clone());
    }
    transcript.entry(&entry, &heading)?;
    transcript.end()?;
    let mut facts = Vec::new();
    let place = match handle.parent() {
        Some(parent) => format!("below {}", parent.id()?),
        None => "a root".into(),
    };
    facts.push(place);
    let children = handle.children().count() as u64;
    if children > 0 {
        facts.push(super::notices::several(children, "entry hangs on it", "entries hang on it"));
    }
    if !is_leaf && is_above_leaf(session, handle) {
        facts.push("on the way to the leaf".into());
    }
    if let Some(message) = entry.message() {
        let model: Vec<_> = ["provider", "model"].iter().filter_map(|key| message.get_str(key)).collect();
        if !model.is_empty() {
            facts.push(model.join("/"));
        }
        if let Some(usage) = message.usage() {
            let tokens = usage.input + usage.cache_read + usage.cache_write;
            facts.push(format!(
                "{} tokens in, {} out, {}",
                human::short_count(tokens.max(0.0) as u64),
                human::short_count(usage.output.max(0.0) as u64),
                human::cost(usage.cost)
            ));
        }
        if let Some(wrong) = says::ended_wrong(message) {
            facts.push(wrong);
        }
    }
    facts.push(human::size(handle.size()));
    let line = clean::name(&facts.join(" · "));
    writeln!(out)?;
    for line in crate::view::width::wrap(&line, columns) {
        writeln!(out, "{}", palette.paint(Role::Dim, line))?;
    }
    Ok(())
}

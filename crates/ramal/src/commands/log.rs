//! `ramal log`: a path through a session as a transcript.

use std::io::Write;

use ramal_session::{EntryRef, Kind, time};
use serde::Serialize;
use serde_json::value::RawValue;

use super::notices::{self, oddity};
use super::{Json, raw};
use crate::cli::Globals;
use crate::failure::{self, Status};
use crate::output::json_line;
use crate::resolve;
use crate::view::human;
use crate::view::transcript::{Heading, Length, Transcript};
use crate::view::tree_row::Times;

/// Show what was said on the way to the leaf
///
/// From the root on, oldest first. Where the path passes a fork, it says which of the branches it takes.
/// Results of tools are shortened; `ramal show ID` prints one whole.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramal log
  ramal log examples/date-parser.jsonl --from 'works, but ugly'
  ramal log --from leaf~10 --json")]
pub(crate) struct Args {
    /// The session: a path, the beginning of an id, or a name; else the most recent one here
    session: Option<String>,
    /// The path to this entry, in place of the leaf
    #[arg(long, value_name = "ENTRY")]
    from: Option<String>,
    #[command(flatten)]
    json: Json,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonEntry<'a> {
    entry: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label_timestamp: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unreadable: bool,
}

pub(crate) fn run(args: &Args, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<Status> {
    let session = resolve::session(args.session.as_deref(), globals)?;
    let from = match &args.from {
        Some(from) => Some(resolve::entry_ref(&session, from)?),
        None => session.get_leaf_entry(),
    };
    let mut path: Vec<EntryRef<'_>> = std::iter::successors(from, |entry| entry.parent()).collect();
    path.reverse();
    if args.json.json {
        for handle in path {
            let entry = handle.read()?;
            let line = JsonEntry {
                entry: &raw(entry.json())?,
                label: handle.label(),
                label_timestamp: handle.labelled_by().and_then(EntryRef::time).map(time::format),
                unreadable: entry.is_unreadable(),
            };
            json_line(out, &line)?;
        }
        return Ok(Status::Done);
    }
    let (palette, columns) = (globals.palette(), globals.columns());
    let times = path.iter().filter_map(|entry| entry.time());
    let span = times.fold(None, |span, at| match span {
        None => Some((at, at)),
        Some((from, to)) => Some((at.min(from), at.max(to))),
    });
    let times = Times::new(human::local_zone(), span);
    if path.is_empty() {
        failure::note(match session.entry_count() {
            0 => "The session has no entries yet",
            _ => "The leaf is before the first entry; `ramal tree` shows what there is",
        });
    }
    let leaf = session.get_leaf_entry();
    let mut transcript = Transcript::new(out, palette, columns, Length::Short, session.get_cwd());
    for handle in path {
        if is_passed_over(handle.kind()) && Some(handle) != leaf {
            continue;
        }
        let entry = handle.read()?;
        let heading = Heading {
            id: entry.id(),
            time: &entry.time().map(|at| times.show(at)).unwrap_or_default(),
            label: handle.label(),
            branch: which_branch(&session, handle),
            is_leaf: Some(handle) == leaf,
            oddity: handle.irregular().map(oddity),
        };
        transcript.entry(&entry, &heading)?;
    }
    transcript.end()?;
    if args.from.is_none()
        && let Some(open) = ramal_agent::interruption(&session)?
    {
        failure::note(&open.message());
    }
    notices::write(&session, globals.palette(), columns, true, out)?;
    Ok(Status::Done)
}

/// Records that say nothing to somebody who reads: labels stand in headings, names above.
fn is_passed_over(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Label
            | Kind::Custom
            | Kind::Usage
            | Kind::ModelUsage
            | Kind::CredentialPin
            | Kind::SessionInfo
            | Kind::TitleChange
            | Kind::Leaf
    )
}

/// Which of the branches of a fork an entry begins, oldest first; none if there is but one.
pub(super) fn which_branch(
    session: &ramal_session::SessionManager,
    entry: EntryRef<'_>,
) -> Option<(usize, usize)> {
    let siblings = match entry.parent() {
        Some(parent) if parent.children().nth(1).is_some() => parent.ordered_children(),
        Some(_) => return None,
        None => session.get_tree(),
    };
    // A label or a record at the side makes no branch.
    let counts =
        |other: &&EntryRef<'_>| **other == entry || other.kind().is_conversation() || other.has_children();
    let branches: Vec<_> = siblings.iter().filter(counts).collect();
    let place = branches.iter().position(|other| **other == entry)?;
    (branches.len() > 1).then_some((place + 1, branches.len()))
}

//! `ramal labels`: all labels of a session.

use std::io::Write;

use ramal_session::{Calls, time};
use serde::Serialize;

use super::Json;
use crate::cli::Globals;
use crate::failure::{self, Status};
use crate::output::json_line;
use crate::resolve;
use crate::view::line::Line;
use crate::view::says::{preview, says, says_for_preview};
use crate::view::style::Role;
use crate::view::width::{pad, width};
use crate::view::{clean, human};

/// List the labels of a session
///
/// In the order of the labelled entries in the session. A star marks entries on the way to the leaf.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramal labels
  ramal labels examples/date-parser.jsonl
  ramal labels parser --json")]
pub(crate) struct Args {
    #[command(flatten)]
    session: resolve::SessionArgument,
    #[command(flatten)]
    json: Json,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    id: &'a str,
    label: &'a str,
    label_timestamp: Option<String>,
    r#type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    timestamp: Option<String>,
    preview: &'a str,
    is_active: bool,
}

/// Columns of an id.
const ID: usize = 8;

/// Where lines are shorter than this, times are left out.
const NARROW: usize = 50;

/// The most columns that labels may take of a line.
const WIDEST_LABEL: usize = 32;

pub(crate) fn run(args: &Args, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<Status> {
    let session = resolve::session(args.session.name(), globals)?;
    let mut active = vec![false; session.entry_count()];
    for entry in session.get_branch(session.get_leaf_id()?.as_deref()) {
        active[entry.position()] = true;
    }
    let names = session.get_labels().filter_map(|entry| entry.label()).map(clean::name);
    let label_columns = names.map(|name| width(&name)).max().unwrap_or(0);
    let (palette, columns) = (globals.palette(), globals.columns());
    let label_columns = label_columns.min(columns / 3).min(WIDEST_LABEL);
    let time_columns = if columns < NARROW { 0 } else { 12 };
    let (zone, now) = (human::local_zone(), jiff::Timestamp::now());
    let (mut any, mut calls) = (false, Calls::default());
    for handle in session.get_labels() {
        any = true;
        let (entry, label) = (handle.read()?, handle.label().unwrap_or_default());
        let call = calls.of_entry(&session, handle, &entry)?;
        let is_active = active.get(handle.position()).copied().unwrap_or(false);
        let set_at = handle.labelled_by().and_then(|by| by.time());
        if args.json.json {
            let row = Row {
                id: entry.id(),
                label,
                label_timestamp: set_at.map(time::format),
                r#type: &entry.type_name(),
                role: entry.role().name(),
                timestamp: entry.time().map(time::format),
                preview: &preview(&says_for_preview(&entry, call, session.get_cwd())),
                is_active,
            };
            json_line(out, &row)?;
            continue;
        }
        let when = set_at.and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
        let when = when.map(|when| human::time(now, when, &zone)).unwrap_or_default();
        let id = clean::one_line(entry.id(), ID);
        let time_gap = if time_columns > 0 { time_columns + 2 } else { 0 };
        let room = columns.saturating_sub(2 + label_columns + 2 + ID + time_gap + 2);
        let says = says(&entry, call, session.get_cwd(), room);
        let mut line = Line::new(palette, &[]);
        line.push_fit(Role::Active, if is_active { "* " } else { "  " }, columns);
        line.push_fit(Role::Label, &pad(&clean::name(label), label_columns), columns);
        line.push_fit(Role::Dim, &format!("  {}", pad(&id, ID)), columns);
        if time_columns > 0 {
            line.push_fit(Role::Dim, &format!("  {}", pad(&when, time_columns)), columns);
        }
        line.push_fit(Role::Dim, "  ", columns);
        for (role, part) in says.parts() {
            line.push_fit(role, &part, columns);
        }
        writeln!(out, "{}", line.finish())?;
    }
    if !any && !args.json.json {
        failure::note("No entry has a label; `ramal label ENTRY TEXT` gives one");
    }
    Ok(Status::Done)
}

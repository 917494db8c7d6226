//! `ramal tree`: a session as a tree.

use std::io::Write;
use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ramal_session::{Calls, EntryRef, Filter, Projection, SessionManager, View, time};
use serde::Serialize;

use super::notices::{self, oddity, several};
use super::{Json, session_file};
use crate::cli::Globals;
use crate::failure::Status;
use crate::output::json_line;
use crate::resolve;
use crate::settings;
use crate::view::says::{preview, says, says_for_preview};
use crate::view::style::{Palette, Role};
use crate::view::tree_row::{Drawing, Times, TreeRow};
use crate::view::width::{fit, wrap};
use crate::view::{clean, human};

/// Show a session as a tree
///
/// The branch of the leaf stands first at every fork and is marked with dots; only forks are indented.
/// Beside each branch stand its turns, when it was last worked on, and what it cost.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramal tree
  ramal tree examples/date-parser.jsonl --filter user-only
  ramal tree parser --search 'week test' --leaf leaf~3

Filters: default (without bookkeeping), no-tools (without results of tools), user-only, labeled-only, all. \
The leaf is shown under every filter and search.")]
pub(crate) struct Args {
    /// The session: a path, the beginning of an id, or a name; else the most recent one here
    session: Option<String>,
    /// Which entries are shown; else those that the setting treeFilterMode names
    #[arg(long, short, value_name = "FILTER", value_parser = filter_parser())]
    filter: Option<Filter>,
    /// Only entries in which all these words occur, in what was said, called, summed up or labelled
    #[arg(long, short, value_name = "WORDS", default_value = "", hide_default_value = true)]
    search: String,
    /// The tree as it is seen from this entry; nothing is moved
    #[arg(long, value_name = "ENTRY")]
    leaf: Option<String>,
    #[command(flatten)]
    json: Json,
}

fn filter_parser() -> impl clap::builder::TypedValueParser<Value = Filter> {
    use clap::builder::TypedValueParser as _;
    clap::builder::PossibleValuesParser::new(Filter::ALL.map(Filter::name))
        .try_map(|name| name.parse::<Filter>())
}

pub(crate) fn run(args: &Args, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<Status> {
    let mut session = resolve::session(args.session.as_deref(), globals)?;
    if let Some(leaf) = &args.leaf {
        let id = resolve::entry(&session, leaf)?;
        session.branch(&id)?;
    }
    let filter = args.filter.unwrap_or_else(|| {
        let (settings, problems) = settings::load(Path::new(session.get_cwd()));
        settings::warn(&problems);
        settings.tree_filter
    });
    let view = View {
        filter,
        search: args.search.clone(),
        // A session that never forks has no branches to tell about.
        facts: session
            .get_entries()
            .any(|entry| entry.parent().is_none() || entry.children().nth(1).is_some()),
        ..View::default()
    };
    let projection = session.project(&view)?;
    if args.json.json {
        write_json(&session, &view, &projection, out)?;
    } else {
        let frame = Frame {
            palette: globals.palette(),
            columns: globals.columns(),
            now: Timestamp::now(),
            zone: human::local_zone(),
        };
        draw(&session, &view, &projection, &frame, out)?;
    }
    let nothing_found = !args.search.trim().is_empty() && projection.len() <= 1;
    let found = !nothing_found || projection.rows().any(|row| !row.is_leaf());
    Ok(if found { Status::Done } else { Status::NotThere })
}

/// What a drawing is made for.
#[derive(Debug)]
struct Frame {
    palette: Palette,
    columns: usize,
    now: Timestamp,
    zone: TimeZone,
}

/// Writes the rows one by one, each read when it is its turn, and what there is to say below.
fn draw(
    session: &SessionManager,
    view: &View,
    projection: &Projection,
    frame: &Frame,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let span = span(session);
    let drawing =
        Drawing::new(frame.palette, frame.columns, frame.now, frame.zone.clone(), span).marking(&view.search);
    let mut calls = Calls::default();
    for (at, row) in projection.rows().enumerate() {
        let Some(handle) = projection.entry(session, at) else { continue };
        let entry = handle.read()?;
        let call = calls.of_entry(session, handle, &entry)?;
        let says = says(&entry, call, session.get_cwd(), drawing.text_columns());
        let guides = projection.guides(at, drawing.levels());
        let line = drawing.draw(&TreeRow {
            guides: &guides,
            shifted: row.depth() - guides.len(),
            is_active: row.is_beside_active().then_some(row.is_active()),
            is_leaf: row.is_leaf(),
            label: handle.label(),
            says: &says,
            oddity: handle.irregular().map(oddity),
            facts: if row.starts_branch() { projection.facts(at) } else { None },
            id: entry.id(),
            time: entry.time(),
        });
        writeln!(out, "{line}")?;
    }
    write_below(session, view, projection, frame, span, out)
}

fn write_below(
    session: &SessionManager,
    view: &View,
    projection: &Projection,
    frame: &Frame,
    span: Option<(i64, i64)>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let (palette, columns) = (frame.palette, frame.columns);
    let (shown, all) = (projection.len() as u64, session.entry_count() as u64);
    if shown > 0 {
        writeln!(out)?;
    }
    let mut parts = Vec::new();
    match shown {
        _ if all == 0 => parts.push("no entries yet".to_owned()),
        shown if shown == all => parts.push(several(all, "entry", "entries")),
        shown => parts.push(format!("{} of {}", human::count(shown), several(all, "entry", "entries"))),
    }
    if view.filter != Filter::Default {
        parts.push(format!("filter {}", view.filter));
    }
    let search = clean::one_line(&view.search, 40);
    if !search.is_empty() {
        parts.push(format!("search “{search}”"));
    }
    if let Some(name) = session.get_session_name() {
        parts.push(fit(&clean::name(&name), NAME).into_owned());
    }
    if let Some((from, to)) = span {
        parts.push(Times::new(frame.zone.clone(), span).span(from, to));
    }
    let mut say = |role: Role, text: &str| -> anyhow::Result<()> {
        for line in wrap(text, columns) {
            writeln!(out, "{}", palette.paint(role, line))?;
        }
        Ok(())
    };
    say(Role::Dim, &parts.join(" · "))?;
    let conversation = session.get_entries().any(|entry| entry.kind().is_conversation());
    let filtered = view.filter != Filter::All;
    if all > 0 && !conversation {
        let all = if filtered { "; `--filter all` shows what programs noted" } else { "" };
        say(Role::Heading, &format!("There is no conversation yet{all}."))?;
    } else if !search.is_empty() && projection.rows().all(|row| row.is_leaf()) {
        let filter = if filtered { " under this filter; `--filter all` looks into every entry" } else { "" };
        say(Role::Heading, &format!("Nothing else was found{filter}."))?;
    } else if filtered && search.is_empty() && shown <= 1 && all > shown {
        let hidden = several(all - shown, "entry is", "entries are");
        say(Role::Heading, &format!("{hidden} hidden; `--filter all` shows everything."))?;
    }
    if all > 0 && session.get_leaf_entry().is_none() {
        say(Role::Heading, "The leaf is before the first entry: what is said next begins a new tree.")?;
    }
    notices::write(session, palette, columns, false, out)?;
    Ok(())
}

/// Columns of the session's name below the tree.
const NAME: usize = 60;

/// When the oldest and the newest entry were made.
fn span(session: &SessionManager) -> Option<(i64, i64)> {
    session.get_entries().filter_map(EntryRef::time).fold(None, |span, time| match span {
        None => Some((time, time)),
        Some((from, to)) => Some((time.min(from), time.max(to))),
    })
}

/// The first line of JSON: the session.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonSession<'a> {
    session_file: Option<String>,
    session_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_name: Option<String>,
    cwd: &'a str,
    leaf_id: Option<String>,
    entry_count: usize,
    shown_count: usize,
    branch_count: usize,
    damaged_lines: u64,
    filter: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    search: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonRow<'a> {
    id: &'a str,
    /// As it is in the tree: null for a root.
    parent_id: Option<&'a str>,
    visible_parent_id: Option<&'a str>,
    depth: usize,
    r#type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'a str>,
    timestamp: Option<String>,
    preview: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label_timestamp: Option<String>,
    is_active: bool,
    is_leaf: bool,
    is_fork: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<JsonBranch>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unreadable: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    has_made_up_id: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    oddity: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonBranch {
    entry_count: u32,
    turns: u32,
    last_activity: Option<String>,
    cost: f64,
    last_tool_failed: bool,
}

fn write_json(
    session: &SessionManager,
    view: &View,
    projection: &Projection,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let leaf_id = session.get_leaf_id()?.map(|id| id.as_str().to_owned());
    let head = JsonSession {
        session_file: session_file(session),
        session_id: session.get_session_id(),
        session_name: session.get_session_name(),
        cwd: session.get_cwd(),
        leaf_id,
        entry_count: session.entry_count(),
        shown_count: projection.len(),
        branch_count: session.branch_count(),
        damaged_lines: session.damaged_lines(),
        filter: view.filter.name(),
        search: view.search.trim(),
    };
    json_line(out, &head)?;
    let mut calls = Calls::default();
    for (at, row) in projection.rows().enumerate() {
        let Some(handle) = projection.entry(session, at) else { continue };
        let entry = handle.read()?;
        let call = calls.of_entry(session, handle, &entry)?;
        let says = says_for_preview(&entry, call, session.get_cwd());
        let id_of = |handle: Option<EntryRef<'_>>| handle.map(EntryRef::id).transpose();
        let parent = id_of(handle.parent())?;
        let visible = id_of(projection.parent(at).and_then(|row| projection.entry(session, row)))?;
        let facts = if row.starts_branch() { projection.facts(at) } else { None };
        let message = entry.message();
        let role = message.and_then(|message| message.get_str("role"));
        let oddity = handle.irregular();
        let line = JsonRow {
            id: entry.id(),
            parent_id: parent.as_deref(),
            visible_parent_id: visible.as_deref(),
            depth: row.depth(),
            r#type: &entry.type_name(),
            role: role.as_deref(),
            timestamp: entry.time().map(time::format),
            preview: &preview(&says),
            error: says.wrong.as_deref(),
            label: handle.label(),
            label_timestamp: handle.labelled_by().and_then(EntryRef::time).map(time::format),
            is_active: row.is_active(),
            is_leaf: row.is_leaf(),
            is_fork: row.is_fork(),
            branch: facts.map(|facts| JsonBranch {
                entry_count: facts.entries,
                turns: facts.turns,
                last_activity: facts.last.map(time::format),
                cost: facts.cost,
                last_tool_failed: facts.last_tool_failed,
            }),
            unreadable: entry.is_unreadable(),
            has_made_up_id: oddity == Some(ramal_session::Irregular::NoId),
            oddity: oddity.map(notices::oddity),
        };
        json_line(out, &line)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn open(example: &str) -> SessionManager {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example);
        SessionManager::open(&path, None).unwrap()
    }

    fn drawn(session: &SessionManager, view: &View, columns: usize) -> String {
        let frame = Frame {
            palette: Palette::plain(),
            columns,
            now: "2026-10-16T12:00:00Z".parse().unwrap(),
            zone: TimeZone::UTC,
        };
        let projection = session.project(view).unwrap();
        let mut out = Vec::new();
        draw(session, view, &projection, &frame, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        for line in text.lines() {
            assert!(crate::view::width::width(line) <= columns, "{line}");
        }
        // Where the examples are differs from machine to machine.
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        text.replace(&*folder.to_string_lossy(), "examples")
    }

    fn view(filter: Filter, search: &str) -> View {
        View { filter, search: search.into(), facts: true, ..View::default() }
    }

    #[test]
    fn in_three_widths() {
        let session = open("date-parser.jsonl");
        for columns in [60, 100, 200] {
            insta::assert_snapshot!(
                format!("tree_{columns}"),
                drawn(&session, &view(Filter::Default, ""), columns)
            );
        }
    }

    #[test]
    fn under_filters_and_searches() {
        let session = open("date-parser.jsonl");
        insta::assert_snapshot!("tree_user_only", drawn(&session, &view(Filter::UserOnly, ""), 100));
        insta::assert_snapshot!("tree_labeled_only", drawn(&session, &view(Filter::LabeledOnly, ""), 100));
        insta::assert_snapshot!("tree_all", drawn(&session, &view(Filter::All, ""), 100));
        insta::assert_snapshot!(
            "tree_search",
            drawn(&session, &view(Filter::Default, "CARGO test failed"), 100)
        );
    }

    #[test]
    fn damage_is_told_once() {
        let notices = drawn(&open("damaged.jsonl"), &view(Filter::Default, ""), 200);
        assert_eq!(notices.matches("cannot be read").count(), 1, "{notices}");
        assert_eq!(notices.matches("parent is not in the file").count(), 1, "{notices}");
        insta::assert_snapshot!(
            "tree_old_version",
            drawn(&open("old-version-1.jsonl"), &view(Filter::Default, ""), 80)
        );
    }

    #[test]
    fn empty_sessions_say_so() {
        let session = SessionManager::in_memory("/w");
        assert_eq!(drawn(&session, &view(Filter::Default, ""), 80), "no entries yet\n");
        let mut session = SessionManager::in_memory("/w");
        session.append_thinking_level_change(Some("high")).unwrap();
        let text = drawn(&session, &view(Filter::UserOnly, ""), 80);
        assert!(text.contains("◀ leaf") && text.contains("There is no conversation yet"), "{text}");
    }

    /// Fourteen forks inside each other: half of the width stays text.
    #[test]
    fn deep_forks_leave_room() {
        let mut session = SessionManager::in_memory("/w");
        let mut at: Option<ramal_session::EntryId> = None;
        for depth in 0..14 {
            for side in ["a side", "further in"] {
                match &at {
                    Some(id) => session.branch(id).unwrap(),
                    None => session.reset_leaf(),
                }
                let text = format!("{side} {depth} {}", "and on ".repeat(20));
                let message = format!(r#"{{"role":"user","content":"{text}"}}"#);
                let id = session.append_message(&message).unwrap();
                if side == "further in" {
                    at = Some(id);
                }
            }
        }
        for columns in [40, 50, 80, 120] {
            for line in drawn(&session, &view(Filter::Default, ""), columns).lines().take(28) {
                let text = line.find("user:").map(|place| crate::view::width::width(&line[place..]));
                assert!(text.is_some_and(|text| text >= columns / 2 - 6), "{columns}: {line}");
            }
        }
    }
}

//! `ramal ls`: the sessions there are.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ramal_session::library::{self, Lineage, Listing, Origin, Scope, SessionInfo};
use ramal_session::{Format, time};
use serde::Serialize;

use super::Json;
use crate::cli::Globals;
use crate::failure::{self, Status};
use crate::output::json_line;
use crate::progress::Progress;
use crate::resolve;
use crate::view::line::Line;
use crate::view::style::{Palette, Role};
use crate::view::width::{pad, pad_start, width};
use crate::view::{clean, human};

/// List the sessions of this directory, or all
///
/// The most recent first; copies below the session they were made of, marked └. From left to right: the
/// beginning of the id, which is enough to name the session; its name, or what the user said first;
/// messages and branches; size; how long ago something was said; whose it is.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramal ls
  ramal ls --all
  ramal ls --all --json | jq -r 'select(.messageCount > 100).sessionFile'")]
pub(crate) struct Args {
    /// Those of all directories
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    json: Json,
}

pub(crate) fn run(args: &Args, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<Status> {
    let cwd = resolve::cwd()?;
    let places = globals.places();
    let mut progress = Progress::new();
    let mut list = |scope| {
        let listing = library::list_with(&places, scope, &mut |done, all| {
            progress.show(|| format!("{done} of {all} files read"));
        });
        progress.clear();
        listing
    };
    let listing = list(if args.all { Scope::All } else { Scope::Cwd(&cwd) });
    if args.json.json {
        for session in &listing.sessions {
            json_line(out, &Row::of(session))?;
        }
    } else if !listing.sessions.is_empty() {
        let table = Table::new(&listing.sessions, args.all, globals.palette(), globals.columns());
        table.print(out)?;
    } else if args.all {
        failure::note(&none_at_all(globals));
    } else {
        failure::note(&match list(Scope::All).sessions.len() as u64 {
            0 => none_at_all(globals),
            all => {
                format!("This directory: 0 sessions, all: {}; `ramal ls --all` lists them", human::count(all))
            }
        });
    }
    out.flush()?;
    tell_problems(&listing);
    Ok(Status::Done)
}

fn none_at_all(globals: &Globals) -> String {
    match &globals.session_dir {
        Some(folder) if !folder.is_dir() => format!("There is no folder {}", folder.display()),
        Some(folder) => format!("There are no sessions in {}", folder.display()),
        None => "There are no sessions yet".into(),
    }
}

/// Problems that are told one by one.
const PROBLEMS: usize = 10;

fn tell_problems(listing: &Listing) {
    for problem in listing.problems.iter().take(PROBLEMS) {
        failure::warn(&problem.error.to_string());
    }
    if let Some(more @ 1..) = listing.problems.len().checked_sub(PROBLEMS) {
        failure::warn(&format!("and {more} more files or folders could not be read"));
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    session_file: String,
    session_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_message: Option<&'a str>,
    cwd: &'a str,
    source: &'static str,
    version: String,
    created: Option<String>,
    modified: String,
    size: u64,
    entry_count: usize,
    message_count: usize,
    branch_count: usize,
    damaged_lines: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_session: Option<&'a str>,
    is_read_only: bool,
}

impl<'a> Row<'a> {
    fn of(session: &'a SessionInfo) -> Row<'a> {
        Row {
            session_file: session.path.to_string_lossy().into_owned(),
            session_id: &session.id,
            session_name: session.name.as_deref(),
            first_message: session.first_message.as_deref(),
            cwd: &session.cwd,
            source: source(session.origin),
            version: version(&session.format),
            created: session.created.map(time::format),
            modified: time::format(session.modified),
            size: session.size,
            entry_count: session.entries,
            message_count: session.messages,
            branch_count: session.branches,
            damaged_lines: session.damaged_lines,
            parent_session: session.parent_session.as_deref(),
            is_read_only: session.read_only.is_some(),
        }
    }
}

fn source(origin: Origin) -> &'static str {
    match origin {
        Origin::Ramal => "ramal",
        Origin::Pi => "pi",
        Origin::OhMyPi => "oh-my-pi",
        _ => "other",
    }
}

/// The version of a format as the header states it.
pub(super) fn version(format: &Format) -> String {
    match format {
        Format::One => "1".into(),
        Format::Two => "2".into(),
        Format::Newer(version) => version.clone(),
        _ => "3".into(),
    }
}

/// The listing as people read it.
struct Table<'a> {
    sessions: &'a [SessionInfo],
    ids: Vec<String>,
    lineage: Lineage,
    with_cwd: bool,
    palette: Palette,
    columns: usize,
    now: jiff::Timestamp,
    home: Option<PathBuf>,
    /// The widest of each figure.
    widths: [usize; FIGURES],
}

/// How many figures stand beside a name.
const FIGURES: usize = 5;
/// The fewest columns that leave a name beside the figures readable.
const NAME_NEEDS: usize = 24;
/// Columns of the directory, where there is room for it in the line.
const DIRECTORY: usize = 32;
/// From here on there is.
const DIRECTORY_BESIDE: usize = 120;
/// Copies of copies are not set in further than this.
const DEEPEST: usize = 6;

impl<'a> Table<'a> {
    fn new(sessions: &'a [SessionInfo], with_cwd: bool, palette: Palette, columns: usize) -> Table<'a> {
        let (ids, lineage) = (library::short_ids(sessions), Lineage::of(sessions));
        let mut table = Table {
            sessions,
            ids,
            lineage,
            with_cwd,
            palette,
            columns,
            now: jiff::Timestamp::now(),
            home: std::env::home_dir().filter(|home| home.is_absolute()),
            widths: [0; FIGURES],
        };
        for session in sessions {
            for (at, figure) in table.figures(session).iter().enumerate() {
                table.widths[at] = table.widths[at].max(width(figure));
            }
        }
        table
    }

    /// Each session, and below it what was copied from it.
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let id_columns = self.ids.iter().map(|id| width(&clean::name(id))).max().unwrap_or(0).min(40);
        let mut waiting: Vec<(usize, usize)> =
            self.lineage.roots.iter().rev().map(|&root| (root, 0)).collect();
        while let Some((number, depth)) = waiting.pop() {
            self.print_row(number, depth, id_columns, out)?;
            waiting.extend(self.lineage.children[number].iter().rev().map(|&child| (child, depth + 1)));
        }
        Ok(())
    }

    fn print_row(
        &self,
        number: usize,
        depth: usize,
        id_columns: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let session = &self.sessions[number];
        let branch = match depth {
            0 => String::new(),
            depth => format!("{}└ ", "  ".repeat(depth.min(DEEPEST) - 1)),
        };
        let figures = self.figures(session);
        let indent = id_columns + 2 + width(&branch);
        let room = self.columns.saturating_sub(indent);
        let (title, role) = title(session, room);
        let mut line = self.line();
        line.push_fit(
            Role::Dim,
            &format!("{}  ", pad(&clean::name(&self.ids[number]), id_columns)),
            self.columns,
        );
        line.push_fit(Role::Guide, &branch, self.columns);
        let beside: usize = self.widths.iter().map(|width| width + 2).sum();
        if self.columns < id_columns + 2 + NAME_NEEDS + beside {
            // Too narrow for one line: the figures go below.
            line.push_fit(role, &title, self.columns);
            writeln!(out, "{}", line.finish())?;
            self.print_below(indent, &figures.join("  "), out)?;
        } else {
            let (mut room, mut figures) = (room.saturating_sub(beside), self.in_columns(&figures));
            if self.directory_beside() {
                figures += &format!("  {}", fit_end(&self.directory(session), DIRECTORY));
                room = room.saturating_sub(DIRECTORY + 2);
            }
            line.push_fit(role, &pad(&title, room), self.columns);
            line.push_fit(Role::Dim, figures.trim_end(), self.columns);
            writeln!(out, "{}", line.finish())?;
        }
        let notes = self.notes(session);
        if notes.is_empty() { Ok(()) } else { self.print_below(indent, &notes, out) }
    }

    fn line(&self) -> Line<'static> {
        Line::new(self.palette, &[])
    }

    /// What there is no room for beside the name, or that has no column of its own.
    fn print_below(&self, indent: usize, text: &str, out: &mut dyn Write) -> io::Result<()> {
        let mut line = self.line();
        line.pad_to(indent.min(self.columns));
        line.push_fit(Role::Dim, text, self.columns);
        writeln!(out, "{}", line.finish())
    }

    /// Messages, branches, size, age, whose it is.
    fn figures(&self, session: &SessionInfo) -> [String; FIGURES] {
        let then = jiff::Timestamp::from_millisecond(session.modified).unwrap_or(jiff::Timestamp::MIN);
        let of = |count: usize, what: &str| format!("{} {what}", human::short_count(count as u64));
        [
            of(session.messages, "msg"),
            of(session.branches, "br"),
            human::size(session.size),
            human::age(self.now, then),
            if session.origin == Origin::OhMyPi { "omp" } else { source(session.origin) }.into(),
        ]
    }

    /// Each figure below those of the row above: numbers to the right, whose it is to the left.
    fn in_columns(&self, figures: &[String; FIGURES]) -> String {
        let mut line = String::new();
        for (at, (figure, &columns)) in figures.iter().zip(&self.widths).enumerate() {
            line += "  ";
            line += &if at + 1 == FIGURES { pad(figure, columns) } else { pad_start(figure, columns) };
        }
        line
    }

    fn directory_beside(&self) -> bool {
        self.with_cwd && self.columns >= DIRECTORY_BESIDE
    }

    /// The directory that a session belongs to, the user's home as `~`.
    fn directory(&self, session: &SessionInfo) -> String {
        if session.cwd.is_empty() {
            return "no directory".into();
        }
        let home = self.home.as_deref().and_then(|home| Path::new(&session.cwd).strip_prefix(home).ok());
        match home {
            Some(below) => clean::name(&Path::new("~").join(below).to_string_lossy()),
            None => clean::name(&session.cwd),
        }
    }

    /// What only some sessions have: another directory, damage, a reason to be read only.
    fn notes(&self, session: &SessionInfo) -> String {
        let mut notes = Vec::new();
        if self.with_cwd && !self.directory_beside() {
            notes.push(self.directory(session));
        }
        match session.damaged_lines {
            0 => {}
            1 => notes.push("1 damaged line".into()),
            lines => notes.push(format!("{} damaged lines", human::count(lines))),
        }
        if session.read_only.is_some() {
            notes.push("takes no entries".into());
        }
        notes.join(" · ")
    }
}

/// The end of a path, which tells more than its beginning.
fn fit_end(path: &str, columns: usize) -> String {
    if width(path) <= columns {
        return path.to_owned();
    }
    let ends = path.char_indices().rev().map(|(at, _)| &path[at..]);
    let longest = ends.take_while(|end| width(end) < columns).take(columns).last();
    format!("…{}", longest.unwrap_or_default())
}

fn title(session: &SessionInfo, columns: usize) -> (String, Role) {
    match (&session.name, &session.first_message) {
        (Some(name), _) => (clean::name(name), Role::Heading),
        (None, Some(text)) => (clean::one_line(text, columns), Role::Assistant),
        (None, None) => ("(nothing said yet)".into(), Role::Dim),
    }
}

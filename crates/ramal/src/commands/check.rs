//! `ramal check`: what is damaged in a session, and mending it.

use std::io::Write;
use std::path::{Path, PathBuf};

use ramal_session::SessionManager;
use ramal_session::check::{self, Finding, Flaw, Mended, Repaired, Report, Severity, Trouble};
use serde::Serialize;

use super::Json;
use super::notices::several;
use crate::cli::Globals;
use crate::failure::{self, Status};
use crate::output::json_line;
use crate::progress::Progress;
use crate::resolve;
use crate::view::style::{Palette, Role};
use crate::view::width::{fit, pad, wrap};
use crate::view::{clean, human};

/// Tell what is damaged in sessions, and mend it
///
/// Every line is read. Without --repair nothing is written. With it, whole entries in damaged lines are
/// recovered, missing headers and ids are made, and entries whose parent is missing hang on the entry
/// before them; the old bytes stay beside the file as <file>.<time>.bak.
///
/// The exit status is 1 if a session is damaged, and with --repair if it still is.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramal check
  ramal check ~/.pi/agent/sessions/*/*.jsonl
  ramal check broken.jsonl --repair")]
pub(crate) struct Args {
    /// The sessions: paths, beginnings of ids, or names; the most recent one here if none is given
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    /// Replace damaged files by mended ones
    #[arg(long)]
    repair: bool,
    #[command(flatten)]
    json: Json,
}

pub(crate) fn run(args: &Args, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<Status> {
    if args.sessions.is_empty() {
        let path = resolve::session_path(None, globals)?;
        return check_one(args, globals, &path, out);
    }
    let mut status = Status::Done;
    for name in &args.sessions {
        let checked =
            resolve::session_path(Some(name), globals).and_then(|path| check_one(args, globals, &path, out));
        let one = match checked {
            Ok(status) => status,
            // The other files are still worth a look, unless nobody reads what is said of them.
            Err(error) => match failure::report(&error, globals.color) {
                Status::Done => return Ok(Status::Done),
                status => status,
            },
        };
        if one != Status::Done {
            status = one;
        }
    }
    Ok(status)
}

fn check_one(args: &Args, globals: &Globals, path: &Path, out: &mut dyn Write) -> anyhow::Result<Status> {
    let mut checked = Checked::read(path)?;
    let before = checked.report.clone();
    if args.repair && before.mendable > 0 {
        let repaired = check::repair(path, &resolve::cwd()?)?;
        checked = Checked { repaired: Some(repaired), ..Checked::read(path)? };
    }
    if args.json.json {
        json_line(out, &Row::of(&checked, &before))?;
    } else {
        let page = Page { palette: globals.palette(), columns: globals.columns() };
        page.print(&checked, &before, args.repair, out)?;
    }
    out.flush()?;
    Ok(if checked.report.is_sound() { Status::Done } else { Status::NotThere })
}

/// A session, and what there is to say about its file.
struct Checked {
    path: PathBuf,
    session_id: Option<String>,
    report: Report,
    repaired: Option<Repaired>,
}

impl Checked {
    fn read(path: &Path) -> anyhow::Result<Checked> {
        let session = SessionManager::open(path, None)?;
        let mut progress = Progress::new();
        let report = session.check(&mut |done, all| {
            progress.show(|| format!("{} of {} read", human::size(done), human::size(all)));
        });
        progress.clear();
        let mut report =
            report.map_err(|source| ramal_session::OpenError::Io { path: path.into(), source })?;
        if std::fs::metadata(path).is_ok_and(|file| file.len() == 0) {
            // What was looked at is the session that would begin there.
            (report.bytes, report.lines) = (0, 0);
        }
        let header = session.get_header();
        let session_id = (!header.is_made_up()).then(|| header.id().to_owned());
        Ok(Checked { path: path.into(), session_id, report, repaired: None })
    }
}

/// The listing of findings as people read it.
struct Page {
    palette: Palette,
    columns: usize,
}

impl Page {
    fn print(
        &self,
        checked: &Checked,
        before: &Report,
        repair: bool,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let name = clean::name(&checked.path.to_string_lossy());
        let (verdict, role) = match before.is_sound() {
            true => ("whole", Role::Active),
            false => ("damaged", Role::Error),
        };
        let verdict = self.palette.paint(role, verdict).to_string();
        let (entries, size) = (entries(before.entries), human::size(before.bytes));
        writeln!(out, "{name}: {verdict}, {entries}, {size}")?;
        for finding in &before.findings {
            let role = if finding.what.severity() == Severity::Damage { Role::Error } else { Role::Dim };
            self.print_row(&place(finding), &finding.what.to_string(), role, out)?;
        }
        let unlisted = (before.damage + before.notes).saturating_sub(before.findings.len() as u64);
        if unlisted > 0 {
            self.print_row("", &format!("and {} more", human::count(unlisted)), Role::Dim, out)?;
        }
        if let Some(repaired) = &checked.repaired {
            return self.print_repaired(checked, repaired, out);
        }
        let left = before.damage - before.mendable.min(before.damage);
        if before.mendable > 0 && !repair {
            let hint =
                format!("  {} of it can be mended with --repair", of_it(before.mendable, before.damage));
            writeln!(out, "{}", self.palette.paint(Role::Heading, &hint))?;
        } else if left > 0 {
            writeln!(
                out,
                "{}",
                self.palette.paint(Role::Heading, "  It cannot be mended, and stays as it is")
            )?;
        }
        Ok(())
    }

    fn print_repaired(
        &self,
        checked: &Checked,
        repaired: &Repaired,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let heading = format!("  Repaired: {} done", several(repaired.count, "thing", "things"));
        writeln!(out, "{}", self.palette.paint(Role::Active, &heading))?;
        for mended in &repaired.mended {
            let (place, text) = describe(mended);
            self.print_row(&place, &text, Role::Assistant, out)?;
        }
        if let Some(backup) = &repaired.backup {
            writeln!(out, "  The old file is {}", clean::name(&backup.to_string_lossy()))?;
        }
        match checked.report.damage {
            0 => writeln!(out, "  It is whole now: {}", entries(checked.report.entries))?,
            left => writeln!(out, "  {} cannot be mended", several(left, "thing", "things"))?,
        }
        Ok(())
    }

    /// A row of two columns, of which the second goes on below itself.
    fn print_row(&self, place: &str, text: &str, role: Role, out: &mut dyn Write) -> anyhow::Result<()> {
        const PLACE: usize = 22;
        /// With fewer columns the second stands below the first.
        const NARROW: usize = 60;
        let text = clean::one_line(text, 500);
        let beside = self.columns >= NARROW;
        if !beside {
            writeln!(
                out,
                "  {}",
                self.palette.paint(Role::Dim, &fit(place, self.columns.saturating_sub(2)))
            )?;
        }
        let before = if beside { PLACE + 4 } else { 4 };
        for (at, line) in wrap(&text, self.columns.saturating_sub(before).max(16)).enumerate() {
            let place = if beside && at == 0 { place } else { "" };
            let place = pad(place, before - 4);
            writeln!(out, "  {}  {}", self.palette.paint(Role::Dim, &place), self.palette.paint(role, line))?;
        }
        Ok(())
    }
}

fn entries(count: usize) -> String {
    several(count as u64, "entry", "entries")
}

fn of_it(some: u64, all: u64) -> String {
    if some == all { "All".into() } else { human::count(some) }
}

/// The whole path, as other commands give it.
fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
}

/// Where something was found: the line, and the entry if there is one.
fn place(finding: &Finding) -> String {
    let line = finding.line.map(|line| format!("line {line}")).unwrap_or_else(|| "the file".into());
    match &finding.entry {
        Some(id) => format!("{line}, {}", clean::one_line(id, 12)),
        None => line,
    }
}

/// What was mended, and where.
fn describe(mended: &Mended) -> (String, String) {
    let at = |id: &str| clean::one_line(id, 20);
    match mended {
        Mended::Migrated => ("the file".into(), "was rewritten in version 3".into()),
        Mended::Header { id, made: true } => {
            ("the file".into(), format!("got a new header, with the id {id}"))
        }
        Mended::Header { id, made: false } => {
            ("the file".into(), format!("got back the header of session {id}"))
        }
        Mended::Lines { lines, recovered } => {
            let place = match lines.start() == lines.end() {
                true => format!("line {}", lines.start()),
                false => format!("lines {}-{}", lines.start(), lines.end()),
            };
            let text = match recovered {
                0 => "taken out; nothing in it was whole".into(),
                _ => format!("{} recovered", several(*recovered as u64, "entry", "entries")),
            };
            (place, text)
        }
        Mended::Repeat { line } => (format!("line {line}"), "taken out; it repeats an entry".into()),
        Mended::Id { id } => (at(id), "got this id for good".into()),
        Mended::Parent { id, parent: Some(parent) } => (at(id), format!("hangs on {parent} now")),
        Mended::Parent { id, parent: None } => (at(id), "is a root now".into()),
        _ => (String::new(), "something was mended".into()),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    session_file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    status: &'static str,
    version: String,
    size: u64,
    line_count: u64,
    entry_count: usize,
    damage_count: u64,
    mendable_count: u64,
    note_count: u64,
    findings: Vec<JsonFinding<'a>>,
    is_repaired: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    backup_file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    damage_left: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonFinding<'a> {
    kind: &'static str,
    severity: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry_id: Option<&'a str>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    recoverable_entries: Option<usize>,
}

impl<'a> Row<'a> {
    fn of(checked: &'a Checked, before: &'a Report) -> Row<'a> {
        let backup = checked.repaired.as_ref().and_then(|repaired| repaired.backup.as_deref());
        Row {
            session_file: absolute(&checked.path),
            session_id: checked.session_id.as_deref(),
            status: if before.is_sound() { "whole" } else { "damaged" },
            version: super::ls::version(&before.format),
            size: before.bytes,
            line_count: before.lines,
            entry_count: before.entries,
            damage_count: before.damage,
            mendable_count: before.mendable,
            note_count: before.notes,
            findings: before.findings.iter().map(JsonFinding::of).collect(),
            is_repaired: checked.repaired.is_some(),
            backup_file: backup.map(|path| path.to_string_lossy().into_owned()),
            damage_left: checked.repaired.as_ref().map(|_| checked.report.damage),
        }
    }
}

impl<'a> JsonFinding<'a> {
    fn of(finding: &'a Finding) -> JsonFinding<'a> {
        let recoverable_entries = match finding.what {
            Trouble::DamagedLine { entries, .. } => Some(entries),
            _ => None,
        };
        JsonFinding {
            kind: kind(&finding.what),
            severity: if finding.what.severity() == Severity::Damage { "damage" } else { "note" },
            line: finding.line,
            entry_id: finding.entry.as_deref(),
            message: finding.what.to_string(),
            recoverable_entries,
        }
    }
}

/// The name of a finding, as scripts know it.
fn kind(what: &Trouble) -> &'static str {
    match what {
        Trouble::NoHeader => "missingHeader",
        Trouble::NewerVersion(_) => "newerVersion",
        Trouble::OldVersion => "oldVersion",
        Trouble::DamagedLine { flaw: Flaw::Torn, .. } => "tornTail",
        Trouble::DamagedLine { .. } => "damagedLine",
        Trouble::Unreadable => "unreadableEntry",
        Trouble::NoId => "missingId",
        Trouble::Orphan { .. } => "orphan",
        Trouble::NoParent => "missingParent",
        Trouble::OwnParent => "ownParent",
        Trouble::CycleCut => "cycle",
        Trouble::SharedId => "repeatedId",
        Trouble::Repeat => "repeatedLine",
        Trouble::LabelTarget { .. } => "missingLabelTarget",
        Trouble::LeafTarget { .. } => "missingLeafTarget",
        Trouble::AnchorMissing { .. } => "missingAnchor",
        Trouble::AnchorOffPath { .. } => "anchorOffPath",
        _ => "other",
    }
}

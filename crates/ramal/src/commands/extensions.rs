//! `ramal extensions`: which there are, whether they run, and what they bring.

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use ramal_extension::{Always, Brings, Extensions, Options};
use serde::Serialize;

use super::Json;
use crate::cli::Globals;
use crate::extensions::{Found, Origin, Store, find, log_place};
use crate::failure::{self, Failure, Status};
use crate::output::json_line;
use crate::view::clean;
use crate::view::style::Role;
use crate::{resolve, settings};

/// List the extensions for work in this directory, and say whether a project's may run
///
/// Extensions lie in `extensions/` of the folder of settings, and in `.ramal/extensions/` of a project, whose do
/// not run before you trust it. --load runs each by itself, allows it nothing, and says what it brings.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramal extensions
  ramal extensions --trust
  ramal extensions --load -e mine.ts")]
pub(crate) struct Args {
    /// This extension too: a file, or a folder of them
    #[arg(short, long, value_name = "FILE")]
    extension: Vec<PathBuf>,
    /// None but those named with --extension
    #[arg(long)]
    no_extensions: bool,
    /// Load them, and say what each of them brings
    #[arg(long)]
    load: bool,
    /// Let the extensions of the project in this directory run from now on
    #[arg(long, conflicts_with_all = ["distrust", "load"])]
    trust: bool,
    /// Never let them run
    #[arg(long, conflicts_with = "load")]
    distrust: bool,
    #[command(flatten)]
    json: Json,
}

/// A row of the list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    path: PathBuf,
    source: &'static str,
    /// Whether it runs where somebody talks in this directory.
    runs: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_not: Option<String>,
    #[serde(flatten)]
    loaded: Option<Loaded>,
}

/// What came of loading it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Loaded {
    #[serde(flatten)]
    brings: Brings,
    /// What was written to its log meanwhile.
    log: Vec<String>,
}

pub(crate) fn run(args: &Args, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<Status> {
    let (cwd, store) = (resolve::cwd()?, Store::from_environment());
    let told = |why: String| Failure::new(why);
    if args.trust || args.distrust {
        store.trust(&cwd, args.trust).map_err(told)?;
        let what = if args.trust { "run from now on" } else { "never run" };
        failure::note(&format!("The extensions of the project {} {what}", cwd.display()));
        return Ok(Status::Done);
    }
    let (settings, problems) = settings::load(&cwd);
    settings::warn(&problems);
    let is_trusted = store.trusts(&cwd).map_err(told)?;
    let (found, absent) = find(&cwd, &args.extension, &settings);
    let found = found.into_iter().filter(|found| !args.no_extensions || found.origin == Origin::Named);
    let mut rows: Vec<Row> = found.map(|found| row(found, is_trusted)).collect();
    if args.load {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        for row in rows.iter_mut().filter(|row| row.runs) {
            runtime.block_on(load(row, &cwd, &settings.extensions));
        }
    }
    let is_wrong = !absent.is_empty() || rows.iter().any(|row| row.runs && row.why_not.is_some());
    if args.json.json {
        rows.iter().try_for_each(|row| json_line(out, row))?;
    } else {
        print(&rows, globals, out)?;
    }
    out.flush()?;
    absent.iter().for_each(|problem| failure::warn(&problem.to_string()));
    if rows.is_empty() && absent.is_empty() && !args.json.json {
        failure::note(
            "There are no extensions for work in this directory; docs/extensions.md says where they lie",
        );
    }
    Ok(if is_wrong { Status::NotThere } else { Status::Done })
}

fn row(found: Found, is_trusted: Option<bool>) -> Row {
    let (source, waits) = match found.origin {
        Origin::User => ("user", false),
        Origin::Project => ("project", is_trusted != Some(true)),
        Origin::Settings => ("settings", false),
        Origin::Named => ("named", false),
    };
    let why_not = waits.then(|| match is_trusted {
        Some(_) => "you do not want this project's to run; --trust changes that".to_owned(),
        None => "the project is not trusted yet; --trust lets its extensions run".to_owned(),
    });
    Row { path: found.path, source, runs: !waits, why_not, loaded: None }
}

async fn load(row: &mut Row, cwd: &std::path::Path, limits: &settings::Extensions) {
    let log = Arc::new(Mutex::new(Vec::new()));
    let lines = Arc::clone(&log);
    let options = Options {
        running_time: limits.running_time,
        event_time: limits.event_time,
        memory: limits.memory,
        permits: Arc::new(Always::Refuse),
        log: Arc::new(move |line| {
            let line = format!("{}: {}", line.level, line.text);
            lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }),
        ..Options::new(cwd)
    };
    let (extensions, problems) = Extensions::load(std::slice::from_ref(&row.path), options).await;
    row.why_not = problems.into_iter().next().map(|problem| problem.why);
    if let Some(extension) = extensions.all().first() {
        let log = log.lock().unwrap_or_else(PoisonError::into_inner).clone();
        row.loaded = Some(Loaded { brings: extension.brings(), log });
    }
    extensions.end("quit").await;
}

fn print(rows: &[Row], globals: &Globals, out: &mut dyn Write) -> std::io::Result<()> {
    let palette = globals.palette();
    for row in rows {
        let state = match (&row.why_not, row.runs) {
            (None, _) => String::new(),
            (Some(why), true) => format!("not loaded: {why}"),
            (Some(why), false) => format!("does not run: {why}"),
        };
        write!(out, "{}", clean::one_line(&row.path.to_string_lossy(), usize::MAX))?;
        match &*clean::one_line(&state, usize::MAX) {
            "" => writeln!(out)?,
            state => writeln!(out, "  {}", palette.paint(Role::Dim, state))?,
        }
        let Some(Loaded { brings, log }) = &row.loaded else { continue };
        let kinds = [
            ("commands", &brings.commands),
            ("tools", &brings.tools),
            ("keys", &brings.shortcuts),
            ("flags", &brings.flags),
            ("draws", &brings.renderers),
            ("hears", &brings.events),
            ("says", log),
        ];
        for (kind, names) in kinds.into_iter().filter(|(_, names)| !names.is_empty()) {
            writeln!(out, "  {kind:9}{}", clean::one_line(&names.join(", "), usize::MAX))?;
        }
    }
    if let Some(place) = log_place().filter(|place| place.exists() && !rows.is_empty()) {
        let line = format!("What they write to their console is in {}", place.display());
        writeln!(out, "{}", palette.paint(Role::Dim, &clean::one_line(&line, usize::MAX)))?;
    }
    Ok(())
}

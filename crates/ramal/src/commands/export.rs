//! `ramal export`: a session as a page, as a file of its own format, or as text.

use std::io::Write;
use std::path::{Path, PathBuf};

use ramal_session::SessionManager;
use serde::Serialize;

use super::{Json, print_path};
use crate::cli::Globals;
use crate::export::{self, Format, Options, Secrets};
use crate::failure::{Failure, Status};
use crate::output::json_line;
use crate::resolve;

/// Write a session to a page to look at, or to a file
///
/// OUT ends in .html for one page with all branches, which needs nothing else; in .jsonl for the active path
/// as a session that `ramal import` takes in; in .md or .txt for the active path as text. Without OUT it is a
/// page in this directory. Its path is printed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramal export
  ramal export parser parser.html
  ramal export path.jsonl --redact
  ramal export 0199c0de notes.md --force")]
pub(crate) struct Args {
    /// The session: a path, the beginning of an id, or a name; else the most recent one here
    session: Option<String>,
    /// The file to write. One name alone that ends like a page or a text, or is of a .jsonl file that is not
    /// there, is meant for this
    out: Option<PathBuf>,
    /// Replace OUT if it is there
    #[arg(long)]
    force: bool,
    /// Blank secrets: keys and tokens by their shape, values of variables named like secrets, and pictures
    #[arg(long)]
    redact: bool,
    /// With --redact, blank this text too; can be given several times
    #[arg(long, value_name = "TEXT", requires = "redact")]
    secret: Vec<String>,
    #[command(flatten)]
    json: Json,
}

#[derive(Serialize)]
struct Exported<'a> {
    path: &'a str,
    format: &'a str,
}

pub(crate) fn run(args: &Args, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<Status> {
    let (name, target) = which(args.session.as_deref(), args.out.as_deref());
    let session = resolve::session(name, globals)?;
    let secrets = if args.redact { Some(Secrets::of(&session, &args.secret)?) } else { None };
    write(&session, target, &Options { force: args.force, secrets }, args.json.json, out)
}

/// `ramal --export IN [OUT]`, as pi has it.
pub(crate) fn run_option(names: &[String], globals: &Globals, out: &mut dyn Write) -> anyhow::Result<Status> {
    let (name, target) = match names {
        [name] => (name, None),
        [name, target] => (name, Some(Path::new(target))),
        _ => return Err(Failure::usage("--export takes a session and a file to write").into()),
    };
    let session = resolve::session(Some(name), globals)?;
    write(&session, target, &Options::default(), false, out)
}

/// Which session is meant, and which file, where both may be left out.
fn which<'a>(one: Option<&'a str>, other: Option<&'a Path>) -> (Option<&'a str>, Option<&'a Path>) {
    match (one, other) {
        (Some(one), None) => {
            let path = Path::new(one);
            let ends_in =
                |endings: &[&str]| path.extension().is_some_and(|end| endings.iter().any(|e| end == *e));
            let is_out = ends_in(&["html", "htm", "md", "txt"]) || (ends_in(&["jsonl"]) && !path.exists());
            if is_out { (None, Some(path)) } else { (Some(one), None) }
        }
        both => both,
    }
}

fn write(
    session: &SessionManager,
    target: Option<&Path>,
    options: &Options,
    json: bool,
    out: &mut dyn Write,
) -> anyhow::Result<Status> {
    let path = match target {
        Some(path) => path.to_owned(),
        None => export::free_name(session, Path::new("")),
    };
    export::export(session, &path, options)?;
    if json {
        let format = match Format::of(&path) {
            Format::Html => "html",
            Format::Jsonl => "jsonl",
            Format::Text => "text",
        };
        json_line(out, &Exported { path: &path.to_string_lossy(), format })?;
    } else {
        print_path(out, &path)?;
    }
    Ok(Status::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_alone_is_the_session_unless_it_is_of_a_file_to_write() {
        let file = |name| Some(Path::new(name));
        assert_eq!(which(None, None), (None, None));
        assert_eq!(which(Some("parser"), None), (Some("parser"), None));
        assert_eq!(which(Some("a/b.html"), None), (None, file("a/b.html")));
        assert_eq!(which(Some("notes.md"), None), (None, file("notes.md")));
        assert_eq!(which(Some("not-there.jsonl"), None), (None, file("not-there.jsonl")));
        assert_eq!(which(Some("x.html"), file("y.html")), (Some("x.html"), file("y.html")));
        let there = tempfile::Builder::new().suffix(".jsonl").tempfile().unwrap();
        let there = there.path().to_str();
        assert_eq!(which(there, None), (there, None));
    }
}

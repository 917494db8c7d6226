//! `ramal demo`: the sample session in a folder of its own, with recorded answers in place of a model.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ramal_agent::Prompt;
use ramal_session::SessionManager;

use super::prompt::{self, Mode, Turn};
use crate::failure::{Failure, Status};
use crate::work::WorkOptions;
use crate::{remembered, settings};

const SESSION: &str = include_str!("../../../../../examples/date-parser.jsonl");
const ANSWERS: &str = include_str!("answers.jsonl");

/// Try everything without a key: a sample session, and recorded answers
///
/// The session is a copy in a folder of its own; nothing that is done to it touches another. The answers
/// are recorded, and say so. Tools are run as ever, in that folder.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramal demo
  ramal demo 'Which files are here?'
  ramal demo --fresh")]
pub(crate) struct Args {
    /// What to say; without it, what there is to try
    text: Option<String>,
    /// Begin again with an untouched copy; the one there was is kept beside it
    #[arg(long)]
    fresh: bool,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Status> {
    let folder = folder()?;
    let session = prepare(&folder, args.fresh).map_err(|error| {
        Failure::new(format!("the demo cannot be prepared in {}: {error}", folder.display()))
            .hint("set XDG_CACHE_HOME to a folder that can be written to")
    })?;
    let model = format!("replay/{}", folder.join("answers.jsonl").display());
    let Some(text) = args.text.as_deref().filter(|text| !text.trim().is_empty()) else {
        tell(&session, &model, out)?;
        return Ok(Status::Done);
    };
    let mut manager = SessionManager::open(&session, None)?;
    remembered::recall(&mut manager);
    let (settings, problems) = settings::load(&folder);
    settings::warn(&problems);
    let options = WorkOptions { model: Some(model), ..WorkOptions::default() };
    let turn = Turn { cwd: &folder, mode: Mode::Text, name: None, options: &options, settings: &settings };
    prompt::say(manager.into(), &Prompt::text(text), &turn, out)
}

/// Where the demo is.
fn folder() -> anyhow::Result<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let cache =
        cache.or_else(|| Some(std::env::home_dir()?.join(".cache"))).filter(|path| path.is_absolute());
    let cache = cache.ok_or_else(|| {
        Failure::new("there is no place for the demo").hint("set HOME or XDG_CACHE_HOME to a folder")
    })?;
    Ok(cache.join("ramal/demo"))
}

/// Puts the answers there, and the session unless one is there that is to be gone on with.
fn prepare(folder: &Path, fresh: bool) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    put(folder, "answers.jsonl", ANSWERS)?;
    let session = folder.join("session.jsonl");
    if fresh && session.exists() {
        let free = (1..).map(|n| folder.join(format!("session-{n}.jsonl"))).find(|path| !path.exists());
        if let Some(kept) = free {
            fs::rename(&session, kept)?;
        }
    }
    if !session.exists() {
        put(folder, "session.jsonl", &sample_in(folder))?;
    }
    Ok(session)
}

/// The sample, as if its work had been done in this folder.
fn sample_in(folder: &Path) -> String {
    let (header, entries) = SESSION.split_once('\n').unwrap_or((SESSION, ""));
    let Ok(mut header) = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(header) else {
        return SESSION.to_owned();
    };
    header.insert("cwd".into(), folder.to_string_lossy().into());
    format!("{}\n{entries}", serde_json::Value::Object(header))
}

/// Writes a file whole or not at all.
fn put(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(".").suffix(".tmp").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(folder.join(name)).map(drop).map_err(|error| error.error)
}

/// What there is, and what to try.
fn tell(session: &Path, model: &str, out: &mut dyn Write) -> io::Result<()> {
    let session = quoted(&session.to_string_lossy());
    let model = quoted(model);
    writeln!(
        out,
        "A sample session of two days, three forks and some labels is in

  {session}

Its model is a recording: it asks nobody, needs no key, and gives one of a few recorded answers whatever is
said. Everything else is real. To try:

  ramal tree {session}
  ramal log {session}
  ramal demo 'Which files are here?'
  ramal go 'two cures' --session {session}
  ramal demo 'Is there a third cure?'
  ramal tree {session} --filter no-tools
  ramal -p 'And with a pipe?' --session {session} --model {model}
  ramal demo --fresh"
    )
}

/// A word of the shell.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+@%:,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

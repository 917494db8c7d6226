//! A file of the log's format taken in as a session of this directory.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use ramal_session::SessionManager;

use crate::failure::Failure;

/// Bytes that are looked at to say what a file is instead.
const HEAD: u64 = 4096;

/// Copies a file into a new session for work in `cwd`, below `session_dir` or the folder of `cwd`, with a
/// link to where it came from. All its branches come along; the file is not touched. Answers the new file.
///
/// # Errors
/// If the file is no session in the format of the log: then it says what it is, if that can be told. If it
/// cannot be read, or the new one not be written.
pub(crate) fn import(file: &Path, cwd: &Path, session_dir: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(what) = other_format(file)? {
        let failure = Failure::new(format!("{} is {what}, not a session", file.display()));
        return Err(failure.hint("what can be imported is a session's .jsonl file").into());
    }
    let session = SessionManager::open_in(file, None, cwd)?;
    if session.get_header().is_made_up() {
        return Err(Failure::new(format!(
            "{} has no header, so that it may not be a session of pi, oh-my-pi or ramal",
            file.display()
        ))
        .hint("if it is one, `ramal check --repair` makes it whole")
        .into());
    }
    let mut made = SessionManager::fork_from(file, cwd, session_dir)?;
    let path = made.write_now()?;
    path.context("the session that was imported has no file")
}

/// What a file is, if it shows that it is something else than lines of JSON.
fn other_format(path: &Path) -> anyhow::Result<Option<&'static str>> {
    let cannot = || format!("cannot read {}", path.display());
    if path.is_dir() {
        return Ok(Some("a folder"));
    }
    let mut head = Vec::new();
    File::open(path).with_context(cannot)?.take(HEAD).read_to_end(&mut head).with_context(cannot)?;
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head).trim_ascii_start();
    Ok(match text {
        [] => Some("empty"),
        [b'<', ..] => Some("a web page, which is only to look at"),
        [b'[', ..] => Some("a list in JSON"),
        [0x1f, 0x8b, ..] | [b'P', b'K', 3, 4, ..] => Some("compressed"),
        [b'#', ..] => Some("a text to read"),
        _ if text.starts_with(b"SQLite format 3") => Some("a database"),
        _ => None,
    })
}

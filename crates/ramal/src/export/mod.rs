//! What leaves the program: a session as a page to look at, as a file of the log's own format, as plain
//! text; and such a file taken in.
//!
//! One reader serves them all, the one of `ramal_session`: what the tree shows can be found in a page, and
//! what goes out as a file comes back as an equal tree. Entries are written as they are read, so that a
//! session may be larger than memory.

mod dump;
mod harmless;
mod html;
mod import;
mod jsonl;
mod new_file;
mod redact;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use ramal_session::{Entry, EntryRef, ReadError, SessionManager, library};

pub(crate) use self::dump::dump;
pub(crate) use self::html::html;
pub(crate) use self::import::import;
pub(crate) use self::jsonl::jsonl;
use self::new_file::NewFile;
pub(crate) use self::redact::Secrets;
use crate::failure::Failure;

/// How something is written out.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// Whether a file that stands there already is replaced.
    pub(crate) force: bool,
    /// What is blanked, if anything is.
    pub(crate) secrets: Option<Secrets>,
}

impl Options {
    /// An entry as it may be given away.
    fn entry(&self, handle: EntryRef<'_>) -> Result<Entry, ReadError> {
        let entry = handle.read()?;
        Ok(match &self.secrets {
            Some(secrets) => entry.with_json(secrets.blank_entry(entry.json())),
            None => entry,
        })
    }

    /// A text that stands outside of entries, as it may be given away.
    fn text<'t>(&self, text: &'t str) -> std::borrow::Cow<'t, str> {
        match &self.secrets {
            Some(secrets) => secrets.blank(text),
            None => text.into(),
        }
    }
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// A page, all branches in it.
    Html,
    /// The active path in the format of the log.
    Jsonl,
    /// The active path as text.
    Text,
}

impl Format {
    /// The format that the name of a file asks for; a page where it asks for none.
    pub(crate) fn of(path: &Path) -> Format {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match &*ending.to_ascii_lowercase() {
            "jsonl" => Format::Jsonl,
            "md" | "txt" => Format::Text,
            _ => Format::Html,
        }
    }
}

/// Writes a session to a file, as its name says.
///
/// # Errors
/// If a file stands there and is not to be replaced, the session cannot be read, or the file not be written.
/// Then nothing is left behind.
pub(crate) fn export(session: &SessionManager, out: &Path, options: &Options) -> anyhow::Result<()> {
    match Format::of(out) {
        Format::Html => html(session, out, options),
        Format::Jsonl => jsonl(session, out, options),
        Format::Text => {
            let mut file = NewFile::begin(session, out, options)?;
            let text = dump(session, options)?;
            file.write(text.as_bytes())?;
            file.finish()
        }
    }
}

/// A name in `folder` for the page of a session, which nothing has yet.
pub(crate) fn free_name(session: &SessionManager, folder: &Path) -> PathBuf {
    let stem = session.get_session_file().and_then(|file| file.file_stem()?.to_str());
    // Names come from outside: what may be an id cannot lead anywhere.
    let stem = stem.filter(|stem| library::check_id(stem).is_ok()).unwrap_or("session");
    let named = |end: &str| folder.join(format!("ramal-{stem}{end}.html"));
    let mut path = named("");
    let mut count = 1;
    while path.symlink_metadata().is_ok() {
        count += 1;
        path = named(&format!("-{count}"));
    }
    path
}

/// That a file stands where one is to be written.
fn stands_there(path: &Path) -> Failure {
    Failure::new(format!("{} is there already", path.display()))
        .hint("name another file, or replace it with --force")
}

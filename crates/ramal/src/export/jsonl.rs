//! The active path in the log's own format: a session of its own, with a link to where it comes from.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use ramal_session::{SessionManager, json};

use super::{NewFile, Options};
use crate::failure::Failure;

/// Writes the active path to a new file that is a session: entries and labels as they are, the header with
/// an id of its own and the origin. [`super::import`] makes an equal tree of it.
///
/// # Errors
/// If there is nothing on the path, a file stands there that is not to be replaced, the session cannot be
/// read, the file not be written, or secrets are to be blanked in an entry that is no JSON.
pub(crate) fn jsonl(session: &SessionManager, out: &Path, options: &Options) -> anyhow::Result<()> {
    let mut file = NewFile::begin(session, out, options)?;
    let mut failure = None;
    let written = session.write_path(&mut |line| {
        let line = match blanked(line, options) {
            Ok(line) => line,
            Err(refused) => {
                failure = Some(refused.into());
                return Err(io::ErrorKind::InvalidData.into());
            }
        };
        file.write(&line).map_err(|error| {
            failure = Some(error);
            io::ErrorKind::Other.into()
        })
    });
    match failure {
        Some(failure) => Err(failure),
        None => {
            written?;
            file.finish()
        }
    }
}

/// A line, with its newline, as it may be given away.
fn blanked<'l>(line: &'l [u8], options: &Options) -> Result<Cow<'l, [u8]>, Failure> {
    let Some(secrets) = &options.secrets else { return Ok(Cow::Borrowed(line)) };
    let text = json::clean(line);
    if !json::is_valid(&text) {
        let id = json::get_str(line, "id").unwrap_or_default();
        return Err(Failure::new(format!("entry {id} cannot be read, so that no secret can be found in it"))
            .hint("a page has nothing of what cannot be read; or export without --redact"));
    }
    Ok(Cow::Owned(secrets.blank_entry(&text).into_bytes()))
}

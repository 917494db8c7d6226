//! A file that appears when it is whole: written beside its place, then put there in one step.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use ramal_session::SessionManager;
use tempfile::NamedTempFile;

use super::{Options, stands_there};
use crate::failure::Failure;

/// Bytes that come together before they are written.
const BUFFER: usize = 256 * 1024;

/// A file that is being written. Only its owner can read it; dropped before it is finished, nothing is left
/// of it.
pub(super) struct NewFile {
    out: BufWriter<NamedTempFile>,
    path: PathBuf,
    force: bool,
}

impl NewFile {
    /// Begins a file that will stand at `path`.
    ///
    /// # Errors
    /// If something stands there that is not to be replaced, or its folder takes no files.
    pub(super) fn begin(session: &SessionManager, path: &Path, options: &Options) -> anyhow::Result<NewFile> {
        if path.is_dir() {
            let failure = Failure::new(format!("{} is a folder", path.display()));
            return Err(failure.hint("name a file in it").into());
        }
        if path.symlink_metadata().is_ok() {
            if !options.force {
                return Err(stands_there(path).into());
            }
            let real = |path: &Path| std::fs::canonicalize(path).ok();
            let own = session.get_session_file().and_then(real);
            if own.is_some() && own == real(path) {
                return Err(Failure::new(format!("{} is the session itself", path.display()))
                    .hint("name another file")
                    .into());
            }
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        // The name ends in no `.jsonl`, so that no listing takes it for a session.
        let folder = folder.unwrap_or(Path::new("."));
        let file = tempfile::Builder::new().prefix(".ramal-").suffix(".tmp").tempfile_in(folder);
        // The error of the library names a file that nobody knows but us.
        let file = file.map_err(|error| io::Error::from(error.kind())).with_context(|| cannot_write(path))?;
        let out = BufWriter::with_capacity(BUFFER, file);
        Ok(NewFile { out, path: path.into(), force: options.force })
    }

    /// Writes bytes at the end.
    ///
    /// # Errors
    /// If the system refuses; with the file's name.
    pub(super) fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.out.write_all(bytes).with_context(|| cannot_write(&self.path))
    }

    /// Where bytes are written; [`NewFile::failed`] says what an error of it means.
    pub(super) fn out(&mut self) -> &mut dyn Write {
        &mut self.out
    }

    /// An error of [`NewFile::out`], with the file's name.
    pub(super) fn failed(&self, error: io::Error) -> anyhow::Error {
        anyhow::Error::new(error).context(cannot_write(&self.path))
    }

    /// Forces the file to disk and puts it in its place.
    ///
    /// # Errors
    /// If the system refuses, or something appeared there meanwhile.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        let NewFile { out, path, force } = self;
        let file = out.into_inner().map_err(io::IntoInnerError::into_error);
        let file = file.with_context(|| cannot_write(&path))?;
        file.as_file().sync_all().with_context(|| cannot_write(&path))?;
        let placed = if force { file.persist(&path) } else { file.persist_noclobber(&path) };
        match placed.map_err(|error| error.error) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(stands_there(&path).into()),
            Err(error) => Err(error).with_context(|| cannot_write(&path)),
        }
    }
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

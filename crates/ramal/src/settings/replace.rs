//! Replacing a file of settings whole. What stood there before is kept beside it, as `settings.toml.bak`.

use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::read::LONGEST;

/// A file that is to be replaced, as it was when it was read.
pub(super) struct Replaced {
    /// Where it is when links are followed.
    path: PathBuf,
    before: Option<(Vec<u8>, Metadata)>,
}

impl Replaced {
    /// Reads the file, which need not be there.
    ///
    /// # Errors
    /// If it cannot be read, or may not be written.
    pub(super) fn read(path: &Path) -> io::Result<Replaced> {
        match fs::symlink_metadata(path) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Replaced { path: path.into(), before: None });
            }
            Err(error) => return Err(error),
        }
        // People keep the real file elsewhere, with a link to it here.
        let path = fs::canonicalize(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => io::Error::other("it is a link to what is not there"),
            _ => error,
        })?;
        let metadata = fs::metadata(&path)?;
        if !metadata.is_file() {
            return Err(io::Error::other("it is no regular file"));
        }
        if metadata.len() > LONGEST {
            return Err(io::Error::other(format!("it is longer than {LONGEST} bytes")));
        }
        // What may not be written is not replaced either, though its folder would let us.
        let mut file = File::options().read(true).append(true).open(&path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(Replaced { path, before: Some((bytes, metadata)) })
    }

    /// What is in it; none if it is not there.
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        self.before.as_ref().map(|(bytes, _)| &**bytes)
    }

    /// Puts other bytes in its place, in one step.
    ///
    /// # Errors
    /// If it could not be done, or another program has changed the file since it was read. It is as it was.
    pub(super) fn replace(self, bytes: &[u8]) -> io::Result<()> {
        let folder = self.path.parent().ok_or(io::ErrorKind::IsADirectory)?;
        let changed = || io::Error::other("another program changed it at the same time; set it again");
        let Some((before, metadata)) = &self.before else {
            make_private(folder)?;
            let draft = draft(folder, bytes, None)?;
            draft.persist_noclobber(&self.path).map_err(|error| match error.error.kind() {
                io::ErrorKind::AlreadyExists => changed(),
                _ => error.error,
            })?;
            return sync(folder);
        };
        // All that can fail for want of room comes before anything can be seen.
        let draft = draft(folder, bytes, Some(metadata))?;
        let backup = self::draft(folder, before, Some(metadata))?;
        if fs::read(&self.path)? != *before {
            return Err(changed());
        }
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".bak");
        backup.persist(self.path.with_file_name(name)).map_err(|error| error.error)?;
        draft.persist(&self.path).map_err(|error| error.error)?;
        sync(folder)
    }
}

fn draft(folder: &Path, bytes: &[u8], like: Option<&Metadata>) -> io::Result<tempfile::NamedTempFile> {
    let draft = tempfile::Builder::new().prefix(".ramal-").suffix(".tmp").tempfile_in(folder);
    // The error of the library names the draft; nobody knows that name but us.
    let mut draft = draft.map_err(|error| io::Error::from(error.kind()))?;
    draft.write_all(bytes)?;
    if let Some(like) = like {
        keep_owner(draft.as_file(), like);
        draft.as_file().set_permissions(like.permissions())?;
    }
    draft.as_file().sync_all()?;
    Ok(draft)
}

fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(unix)]
fn keep_owner(file: &File, like: &Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};
    // Only root may give a file away; for everybody else it is theirs already or becomes theirs.
    if file.metadata().is_ok_and(|now| (now.uid(), now.gid()) != (like.uid(), like.gid())) {
        let _ = fchown(file, Some(like.uid()), Some(like.gid()));
    }
}

#[cfg(not(unix))]
fn keep_owner(_file: &File, _like: &Metadata) {}

/// Makes a new name last. Where a folder cannot be forced to disk there is nothing else to do.
fn sync(folder: &Path) -> io::Result<()> {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

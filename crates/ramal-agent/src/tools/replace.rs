//! Writing a file of the user's: made whole beside its place, then put there in one step.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held from reading a file to replacing it, so that two calls at once do not undo each other.
pub(super) fn alone() -> MutexGuard<'static, ()> {
    static WRITING: Mutex<()> = Mutex::new(());
    // Nothing is behind this lock that a panic could have left in pieces.
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Puts `content` at `path`, whose links have been followed. A file that stands there keeps its mode
/// and, as far as that is allowed, its owner; a new one gets what the user's mask leaves. Folders are
/// made where they are missing.
pub(super) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::IsADirectory)?;
    fs::create_dir_all(folder)?;
    let before = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(metadata) if !metadata.is_file() => {
            return Err(io::Error::other("it is no ordinary file"));
        }
        // What may not be written is not replaced either, though the folder would let us.
        Ok(metadata) => {
            File::options().append(true).open(path)?;
            Some(metadata)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".ramal-").suffix(".tmp");
    if let Some(permissions) = usual_permissions() {
        builder.permissions(permissions);
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(content)?;
    if let Some(before) = before {
        keep_owner(file.as_file(), &before);
        file.as_file().set_permissions(before.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(unix)]
fn usual_permissions() -> Option<Permissions> {
    Some(std::os::unix::fs::PermissionsExt::from_mode(0o666))
}

#[cfg(not(unix))]
fn usual_permissions() -> Option<Permissions> {
    None
}

#[cfg(unix)]
fn keep_owner(file: &File, before: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};
    // Only root may give a file away; for everybody else it is theirs already or becomes theirs.
    if file.metadata().is_ok_and(|now| (now.uid(), now.gid()) != (before.uid(), before.gid())) {
        let _ = fchown(file, Some(before.uid()), Some(before.gid()));
    }
}

#[cfg(not(unix))]
fn keep_owner(_file: &File, _before: &fs::Metadata) {}

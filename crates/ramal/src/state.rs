//! Small files below the state folder: where they lie, and that they are replaced whole.
//!
//! They are nobody's business but the user's, and losing one costs little: nothing here forces a disk.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use ramal_session::stable_hash;

/// A folder of the state folder; none where the environment names no place for it.
pub(crate) fn folder(name: &str) -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(std::env::home_dir()?.join(".local").join("state")))?;
    state.is_absolute().then(|| state.join("ramal").join(name))
}

/// The name of the file for something that may not be a name: always the same for the same parts.
pub(crate) fn name_for(parts: &[&[u8]]) -> String {
    format!("{:016x}", stable_hash(parts))
}

/// Makes a folder that only the user can look into.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Puts a file into a folder, in place of the one of that name, if there is one. It is whole at every moment, and
/// only the user can read it.
pub(crate) fn replace(folder: &Path, place: &Path, bytes: &[u8]) -> io::Result<()> {
    create_folder(folder)?;
    let mut file = tempfile::Builder::new().prefix(".").suffix(".tmp").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.persist(place).map(drop).map_err(|error| error.error)
}

/// Opens a file to append to, which only the user can read. It is made if it is not there.
pub(crate) fn open_to_append(place: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(place)
}

/// Takes a file away; that it is not there is fine.
pub(crate) fn remove(place: &Path) -> io::Result<()> {
    match fs::remove_file(place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// What a file is locked by, until it is dropped or the program ends in whatever way.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of that name; none if another has it. Where files cannot be locked, everybody gets it.
    pub(crate) fn take(place: &Path) -> io::Result<Option<Lock>> {
        let file = open_to_append(place)?;
        match file.try_lock() {
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Ok(()) | Err(fs::TryLockError::Error(_)) => Ok(Some(Lock { _file: file })),
        }
    }
}

//! Writing a whole file: made beside its place, forced to disk, then put there in one step.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::file::create_private_folders;

/// A file that is being written beside the place where it will stand. Readable by its owner only.
pub(crate) struct Draft {
    file: NamedTempFile,
}

impl Draft {
    /// Begins a file in the folder of `path`, which is created if it is not there.
    pub(crate) fn beside(path: &Path) -> io::Result<Draft> {
        let folder = folder_of(path);
        if !folder.exists() {
            create_private_folders(folder)?;
        }
        // The name ends in no `.jsonl`, so that no listing takes it for a session.
        let file = tempfile::Builder::new().prefix(".ramal-").suffix(".tmp").tempfile_in(folder);
        // The error of the library names the draft; nobody knows that name but us.
        Ok(Draft { file: file.map_err(|error| io::Error::from(error.kind()))? })
    }

    pub(crate) fn file(&self) -> &File {
        self.file.as_file()
    }

    pub(crate) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.as_file_mut().write_all(bytes)
    }

    /// Puts the file at `path`, where nothing may stand yet.
    pub(crate) fn place_new(self, path: &Path) -> io::Result<File> {
        self.file.as_file().sync_all()?;
        let file = match self.file.persist_noclobber(path) {
            Ok(file) => file,
            Err(error) => return Err(error.error),
        };
        sync_folder(path);
        Ok(file)
    }

    /// Gives the file the mode that the user had set on the one it stands for.
    pub(crate) fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        self.file.as_file().set_permissions(permissions)
    }

    /// Puts the file at `path` in place of what stands there, whose bytes are kept under another name.
    /// Answers the file and that name.
    ///
    /// # Errors
    /// If it could not be done; what stands there stays, and no other name is left behind.
    pub(crate) fn replace(self, path: &Path, permissions: Permissions) -> io::Result<(File, PathBuf)> {
        self.set_permissions(permissions)?;
        // All that can fail for want of room comes before anything can be seen.
        self.file.as_file().sync_all()?;
        let backup = keep_backup(path, crate::entry::time::now())?;
        let file = self.file.persist(path).map_err(|error| {
            let _ = std::fs::remove_file(&backup);
            error.error
        })?;
        sync_folder(path);
        Ok((file, backup))
    }
}

/// Keeps the bytes of `path` under another name beside it, which is answered.
///
/// A hard link where the file system has such, a copy otherwise.
fn keep_backup(path: &Path, now: i64) -> io::Result<PathBuf> {
    let time = crate::entry::time::format(now).replace([':', '.'], "-");
    for attempt in 0.. {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(if attempt == 0 { format!(".{time}.bak") } else { format!(".{time}-{attempt}.bak") });
        let backup = path.with_file_name(name);
        match std::fs::hard_link(path, &backup) {
            Ok(()) => return Ok(backup),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 100 => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            Err(_) => {
                let mut draft = Draft::beside(path)?;
                io::copy(&mut File::open(path)?, draft.file.as_file_mut())?;
                draft.place_new(&backup)?;
                return Ok(backup);
            }
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// The file that `path` names when its symbolic links are followed, whether it is there or not.
pub(crate) fn real_path(path: &Path) -> PathBuf {
    if let Ok(real) = std::fs::canonicalize(path) {
        return real;
    }
    // A link to nothing: the file belongs where the link points. The system follows 40 links, too.
    let mut path = path.to_owned();
    for _ in 0..40 {
        let Ok(target) = std::fs::read_link(&path) else { break };
        path = folder_of(&path).join(target);
    }
    path
}

pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes a new name last. Where a folder cannot be forced to disk there is nothing else to do.
fn sync_folder(path: &Path) {
    if let Ok(folder) = File::open(folder_of(path)) {
        let _ = folder.sync_all();
    }
}

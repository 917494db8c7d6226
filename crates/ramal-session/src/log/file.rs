//! A log in a file: read at positions, appended to in single writes.
//!
//! It is not mapped into memory: another program may cut it short at any time, and a map would then
//! end this one.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// An open log. The descriptor is kept as long as the session is open, so that what was read once
/// can be read again whatever happens to the path.
#[derive(Debug)]
pub(crate) struct FileLog {
    path: PathBuf,
    file: File,
    /// Opened for appending; a log that is only looked at never needs it.
    writer: Option<File>,
    identity: Identity,
}

/// Which file a path names, as far as the system tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

/// What the path of a log names now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtPath {
    /// The file that is open, with that many bytes.
    Same(u64),
    Another,
    Nothing,
}

impl FileLog {
    /// Opens the file at `path` for reading. Symbolic links are followed.
    pub(crate) fn open(path: &Path) -> io::Result<FileLog> {
        let mut options = OpenOptions::new();
        options.read(true);
        // A named pipe would be waited for until somebody writes to it.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(
            &mut options,
            rustix::fs::OFlags::NONBLOCK.bits().cast_signed(),
        );
        FileLog::from_file(path.to_owned(), options.open(path)?)
    }

    pub(crate) fn from_file(path: PathBuf, file: File) -> io::Result<FileLog> {
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
        }
        let identity = identity(&metadata);
        Ok(FileLog { path, file, writer: None, identity })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    pub(crate) fn modified(&self) -> io::Result<SystemTime> {
        self.file.metadata()?.modified()
    }

    pub(crate) fn permissions(&self) -> io::Result<std::fs::Permissions> {
        Ok(self.file.metadata()?.permissions())
    }

    pub(crate) fn read_at(&self, mut offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < buffer.len() {
            match read_some(&self.file, offset, &mut buffer[done..]) {
                Ok(0) => break,
                Ok(count) => {
                    done += count;
                    offset += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    /// What stands at the path now: one call to the system.
    pub(crate) fn at_path(&self) -> io::Result<AtPath> {
        match std::fs::metadata(&self.path) {
            Ok(metadata) if identity(&metadata) == self.identity => Ok(AtPath::Same(metadata.len())),
            Ok(_) => Ok(AtPath::Another),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(AtPath::Nothing),
            Err(error) => Err(error),
        }
    }

    /// The descriptor to lock and to append through, opened when it is first needed. None if the path
    /// does not name this file any more.
    pub(crate) fn writer(&mut self) -> io::Result<Option<&File>> {
        if self.writer.is_none() {
            let writer = match OpenOptions::new().read(true).append(true).open(&self.path) {
                Ok(writer) => writer,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            };
            if identity(&writer.metadata()?) != self.identity {
                return Ok(None);
            }
            self.writer = Some(writer);
        }
        Ok(self.writer.as_ref())
    }

    /// The descriptor to append through, if one was opened: the lock is on it then.
    pub(crate) fn opened_writer(&self) -> Option<&File> {
        self.writer.as_ref()
    }

    /// The descriptor that can be locked: that for appending, or that for reading.
    pub(crate) fn lockable(&self) -> &File {
        self.writer.as_ref().unwrap_or(&self.file)
    }

    /// Forces what was appended to disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.lockable().sync_data()
    }
}

/// What one write did.
#[derive(Debug)]
pub(crate) struct Written {
    /// Where the bytes end in the file, whoever wrote before them.
    pub(crate) end: u64,
    pub(crate) count: usize,
    /// Why not all of them were written.
    pub(crate) error: Option<io::Error>,
}

/// Appends `bytes` with a single write, and tells where they landed.
pub(crate) fn append(mut writer: &File, bytes: &[u8]) -> io::Result<Written> {
    use std::io::Seek;
    let result = loop {
        match writer.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => break result,
        }
    };
    let (count, error) = match result {
        Ok(count) if count < bytes.len() => (count, Some(io::Error::from(io::ErrorKind::WriteZero))),
        Ok(count) => (count, None),
        Err(error) => (0, Some(error)),
    };
    // The position after an appending write is the end of what it wrote, not of what others wrote since.
    let end = if count > 0 { writer.stream_position()? } else { 0 };
    Ok(Written { end, count, error })
}

#[cfg(unix)]
pub(crate) fn identity(metadata: &std::fs::Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    Identity { device: metadata.dev(), inode: metadata.ino() }
}

#[cfg(not(unix))]
pub(crate) fn identity(metadata: &std::fs::Metadata) -> Identity {
    // The stable library tells no file number here; the time of creation is the nearest thing.
    let created = metadata.created().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    Identity { device: 0, inode: created.map_or(0, |time| time.as_nanos() as u64) }
}

#[cfg(unix)]
fn read_some(file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_some(file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

/// Creates folders that only their owner can enter.
pub(crate) fn create_private_folders(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

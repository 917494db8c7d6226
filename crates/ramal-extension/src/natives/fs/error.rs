//! What goes wrong with files, in the words of Node.

use std::io;

use serde_json::{Value, json};

/// An error as `node:fs` throws it.
#[derive(Debug)]
pub(super) struct FsError {
    code: &'static str,
    errno: i32,
    message: String,
}

impl FsError {
    pub(super) fn new(code: &'static str, errno: i32, message: impl Into<String>) -> FsError {
        FsError { code, errno, message: message.into() }
    }

    /// As JSON, with what was done and to which file.
    pub(super) fn told(&self, syscall: &str, path: &str, dest: Option<&str>) -> Value {
        let to = dest.map(|dest| format!(" -> '{dest}'")).unwrap_or_default();
        let FsError { code, errno, message } = self;
        json!({
            "code": code, "errno": errno, "syscall": syscall, "path": path, "dest": dest,
            "message": format!("{code}: {message}, {syscall} '{path}'{to}"),
        })
    }
}

impl From<io::Error> for FsError {
    fn from(error: io::Error) -> FsError {
        let errno = -error.raw_os_error().unwrap_or(5);
        match known(&error) {
            Some((code, message)) => FsError::new(code, errno, message),
            None => FsError::new("EIO", errno, error.to_string()),
        }
    }
}

#[cfg(unix)]
fn known(error: &io::Error) -> Option<(&'static str, &'static str)> {
    use rustix::io::Errno;
    let table = [
        (Errno::NOENT, "ENOENT", "no such file or directory"),
        (Errno::ACCESS, "EACCES", "permission denied"),
        (Errno::PERM, "EPERM", "operation not permitted"),
        (Errno::EXIST, "EEXIST", "file already exists"),
        (Errno::NOTDIR, "ENOTDIR", "not a directory"),
        (Errno::ISDIR, "EISDIR", "illegal operation on a directory"),
        (Errno::NOTEMPTY, "ENOTEMPTY", "directory not empty"),
        (Errno::INVAL, "EINVAL", "invalid argument"),
        (Errno::LOOP, "ELOOP", "too many symbolic links encountered"),
        (Errno::NAMETOOLONG, "ENAMETOOLONG", "name too long"),
        (Errno::XDEV, "EXDEV", "cross-device link not permitted"),
        (Errno::ROFS, "EROFS", "read-only file system"),
        (Errno::NOSPC, "ENOSPC", "no space left on device"),
        (Errno::MFILE, "EMFILE", "too many open files"),
        (Errno::BUSY, "EBUSY", "resource busy or locked"),
        (Errno::TXTBSY, "ETXTBSY", "text file is busy"),
        (Errno::NXIO, "ENXIO", "no such device or address"),
        (Errno::AGAIN, "EAGAIN", "resource temporarily unavailable"),
    ];
    let errno = Errno::from_io_error(error)?;
    table.into_iter().find(|(known, ..)| *known == errno).map(|(_, code, message)| (code, message))
}

#[cfg(not(unix))]
fn known(error: &io::Error) -> Option<(&'static str, &'static str)> {
    Some(match error.kind() {
        io::ErrorKind::NotFound => ("ENOENT", "no such file or directory"),
        io::ErrorKind::PermissionDenied => ("EACCES", "permission denied"),
        io::ErrorKind::AlreadyExists => ("EEXIST", "file already exists"),
        io::ErrorKind::NotADirectory => ("ENOTDIR", "not a directory"),
        io::ErrorKind::IsADirectory => ("EISDIR", "illegal operation on a directory"),
        io::ErrorKind::DirectoryNotEmpty => ("ENOTEMPTY", "directory not empty"),
        _ => return None,
    })
}

//! Coming to a file whose path was resolved: if a link has come into the path since then, one does not.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct How {
    pub(super) reads: bool,
    pub(super) writes: bool,
    pub(super) appends: bool,
    pub(super) creates: bool,
    pub(super) empties: bool,
    pub(super) must_be_new: bool,
    /// Of a file that is made.
    pub(super) mode: u32,
}

impl How {
    pub(super) const READ: How = How {
        reads: true,
        writes: false,
        appends: false,
        creates: false,
        empties: false,
        must_be_new: false,
        mode: 0o666,
    };

    /// By a flag of Node: `r`, `w`, `a`, with `+` and `x`.
    pub(super) fn of_flag(flag: &str, mode: Option<u32>) -> Option<How> {
        let mode = mode.unwrap_or(0o666);
        let plus = flag.contains('+');
        if !flag.chars().all(|char| "rwax+s".contains(char)) {
            return None;
        }
        let base = How { reads: plus, writes: true, creates: true, mode, ..How::READ };
        let must_be_new = flag.contains('x');
        match flag.chars().next()? {
            'r' => Some(How { writes: plus, mode, ..How::READ }),
            'w' => Some(How { empties: true, must_be_new, ..base }),
            'a' => Some(How { appends: true, must_be_new, ..base }),
            _ => None,
        }
    }

    #[cfg(unix)]
    fn flags(self) -> rustix::fs::OFlags {
        use rustix::fs::OFlags;
        let mut flags = match (self.reads, self.writes) {
            (true, true) => OFlags::RDWR,
            (false, true) => OFlags::WRONLY,
            _ => OFlags::RDONLY,
        };
        for (is_wanted, flag) in [
            (self.appends, OFlags::APPEND),
            (self.creates, OFlags::CREATE),
            (self.empties, OFlags::TRUNC),
            (self.must_be_new, OFlags::EXCL),
        ] {
            if is_wanted {
                flags |= flag;
            }
        }
        // Nobody is waited for at the other end of a pipe.
        flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK
    }
}

/// Opens the file at a path in which there was no link.
#[cfg(unix)]
pub(super) fn open(path: &Path, how: How) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = how.flags();
    let mode = match flags.contains(OFlags::CREATE) {
        true => Mode::from_raw_mode(how.mode & 0o7777),
        false => Mode::empty(),
    };
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, ResolveFlags, openat2};
        use rustix::io::Errno;
        match openat2(CWD, path, flags, mode, ResolveFlags::NO_SYMLINKS) {
            // Older systems, and some boxes, do not have it.
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return Ok(File::from(opened?)),
        }
    }
    Ok(File::from(rustix::fs::open(path, flags, mode)?))
}

/// Opens the file at a path.
#[cfg(not(unix))]
pub(super) fn open(path: &Path, how: How) -> io::Result<File> {
    std::fs::OpenOptions::new()
        .read(how.reads)
        .write(how.writes && !how.appends)
        .append(how.appends)
        .create(how.creates && !how.must_be_new)
        .create_new(how.must_be_new)
        .truncate(how.empties)
        .open(path)
}

/// A path that goes on leading to where it led, whatever is put in its way.
pub(super) struct Held {
    path: PathBuf,
    #[cfg(target_os = "linux")]
    _holds: Option<std::os::fd::OwnedFd>,
}

impl AsRef<Path> for Held {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}

/// Holds the folder in which something lies, or is to lie.
pub(super) fn hold(path: &Path) -> io::Result<Held> {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => {
            let mut held = hold_itself(folder)?;
            held.path.push(name);
            Ok(held)
        }
        _ => hold_itself(path),
    }
}

/// Holds a file or a folder. What does not follow links must not be done to it.
#[cfg(target_os = "linux")]
pub(super) fn hold_itself(path: &Path) -> io::Result<Held> {
    use std::os::fd::AsRawFd;

    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    use rustix::io::Errno;
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let plain = || Held { path: path.to_owned(), _holds: None };
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Err(Errno::NOSYS | Errno::PERM) => Ok(plain()),
        opened => {
            let opened = opened?;
            let path = PathBuf::from(format!("/proc/self/fd/{}", opened.as_raw_fd()));
            match path.exists() {
                true => Ok(Held { path, _holds: Some(opened) }),
                // There may be no `/proc`.
                false => Ok(plain()),
            }
        }
    }
}

/// The path as it is: there is no way to hold it here.
#[cfg(not(target_os = "linux"))]
pub(super) fn hold_itself(path: &Path) -> io::Result<Held> {
    Ok(Held { path: path.to_owned() })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_comes_into_the_path_leads_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["mine", "other"] {
            std::fs::create_dir(root.join(name)).unwrap();
            File::create(root.join(name).join("file")).unwrap();
        }
        let path = root.join("mine/file");
        let held = hold(&path).unwrap();
        std::fs::rename(root.join("mine"), root.join("moved")).unwrap();
        std::os::unix::fs::symlink("other", root.join("mine")).unwrap();
        std::fs::remove_file(&held).unwrap();
        assert!(root.join("other/file").exists() && !root.join("moved/file").exists());
        let write = How::of_flag("w", None).unwrap();
        for refused in [open(&path, How::READ).map(drop), open(&path, write).map(drop), hold(&path).map(drop)]
        {
            assert_eq!(refused.unwrap_err().raw_os_error(), Some(rustix::io::Errno::LOOP.raw_os_error()));
        }
    }
}

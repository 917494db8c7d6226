//! The lock that lets several programs append to one log (contract, section 11, "Several writers").

use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

/// How long a lock is tried for.
const PATIENCE: Duration = Duration::from_secs(5);

/// What came of trying to lock a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Locking {
    /// The file is locked until it is unlocked or closed.
    Locked,
    /// The file system has no locks: each entry is one write at the end of the file, and that is all.
    Unavailable,
}

/// Locks `file` for writing, waiting for others a while, in growing steps.
///
/// Answers `WouldBlock` if somebody else holds the lock all that time.
pub(crate) fn lock(file: &File) -> io::Result<Locking> {
    let begin = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        match system::try_lock(file) {
            Ok(true) => return Ok(Locking::Locked),
            Ok(false) => {
                let left = PATIENCE.saturating_sub(begin.elapsed());
                if left.is_zero() {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                std::thread::sleep(pause.min(left));
                pause = (pause * 3 / 2).min(Duration::from_millis(40));
            }
            Err(error) if system::has_no_locks(&error) => return Ok(Locking::Unavailable),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Takes the lock back. A failure leaves it to the closing of the file.
pub(crate) fn unlock(file: &File) {
    let _ = system::unlock(file);
}

/// `flock`: on the open file, not on the process.
#[cfg(not(windows))]
mod system {
    use std::fs::{File, TryLockError};
    use std::io;

    pub(super) fn try_lock(file: &File) -> io::Result<bool> {
        match file.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    pub(super) fn unlock(file: &File) -> io::Result<()> {
        file.unlock()
    }

    pub(super) fn has_no_locks(error: &io::Error) -> bool {
        #[cfg(unix)]
        if let Some(code) = error.raw_os_error() {
            use rustix::io::Errno;
            return [Errno::NOLCK, Errno::OPNOTSUPP, Errno::NOSYS]
                .iter()
                .any(|errno| errno.raw_os_error() == code);
        }
        error.kind() == io::ErrorKind::Unsupported
    }
}

/// One byte far beyond the end. Locks bind readers here, too: a lock on the bytes of the log would
/// keep everybody from reading it.
#[cfg(windows)]
mod system {
    use std::fs::File;
    use std::io;
    use std::os::windows::io::AsRawHandle;

    use windows_sys::Win32::Foundation::{
        ERROR_INVALID_FUNCTION, ERROR_IO_PENDING, ERROR_LOCK_VIOLATION, ERROR_NOT_SUPPORTED,
    };
    use windows_sys::Win32::Storage::FileSystem::{
        LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx, UnlockFileEx,
    };
    use windows_sys::Win32::System::IO::{OVERLAPPED, OVERLAPPED_0, OVERLAPPED_0_0};

    fn far_beyond_the_end() -> OVERLAPPED {
        let place = OVERLAPPED_0_0 { Offset: 0, OffsetHigh: 0x4000_0000 };
        OVERLAPPED { Anonymous: OVERLAPPED_0 { Anonymous: place }, ..OVERLAPPED::default() }
    }

    pub(super) fn try_lock(file: &File) -> io::Result<bool> {
        let mut place = far_beyond_the_end();
        let flags = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
        // SAFETY: the handle is open as long as `file` lives, and `place` outlives the call, which
        // does not wait.
        if unsafe { LockFileEx(file.as_raw_handle(), flags, 0, 1, 0, &mut place) } != 0 {
            return Ok(true);
        }
        let error = io::Error::last_os_error();
        let held = [ERROR_LOCK_VIOLATION, ERROR_IO_PENDING];
        if error.raw_os_error().is_some_and(|code| held.contains(&(code as u32))) {
            Ok(false)
        } else {
            Err(error)
        }
    }

    pub(super) fn unlock(file: &File) -> io::Result<()> {
        let mut place = far_beyond_the_end();
        // SAFETY: as above.
        if unsafe { UnlockFileEx(file.as_raw_handle(), 0, 1, 0, &mut place) } != 0 {
            return Ok(());
        }
        Err(io::Error::last_os_error())
    }

    pub(super) fn has_no_locks(error: &io::Error) -> bool {
        let codes = [ERROR_INVALID_FUNCTION, ERROR_NOT_SUPPORTED];
        error.raw_os_error().is_some_and(|code| codes.contains(&(code as u32)))
    }
}

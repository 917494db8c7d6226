//! The lock that lets several programs append to one log (contract, section 11, "Several writers").

use std::fs::{File, TryLockError};
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
        match file.try_lock() {
            Ok(()) => return Ok(Locking::Locked),
            Err(TryLockError::Error(error)) if is_unsupported(&error) => return Ok(Locking::Unavailable),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {
                let left = PATIENCE.saturating_sub(begin.elapsed());
                if left.is_zero() {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                std::thread::sleep(pause.min(left));
                pause = (pause * 3 / 2).min(Duration::from_millis(40));
            }
        }
    }
}

/// Takes the lock back. A failure leaves it to the closing of the file.
pub(crate) fn unlock(file: &File) {
    let _ = file.unlock();
}

fn is_unsupported(error: &io::Error) -> bool {
    #[cfg(unix)]
    if let Some(code) = error.raw_os_error() {
        use rustix::io::Errno;
        return [Errno::NOLCK, Errno::OPNOTSUPP, Errno::NOSYS]
            .iter()
            .any(|errno| errno.raw_os_error() == code);
    }
    error.kind() == io::ErrorKind::Unsupported
}

//! The bytes of a log, wherever they live, and how they are read, locked, appended to and replaced.
//!
//! Nothing here knows of trees. A file and the memory answer the same questions, so the index over
//! them is one code.

pub(crate) mod file;
pub(crate) mod lock;
pub(crate) mod replace;
pub(crate) mod scan;
pub(crate) mod window;

use std::io;

use self::file::FileLog;

/// Where the bytes of a log are.
#[derive(Debug)]
pub(crate) enum Log {
    /// In memory: a session without a file, or one whose file has not appeared yet.
    Memory(Vec<u8>),
    File(FileLog),
}

impl Log {
    /// Bytes that can be read now.
    pub(crate) fn len(&self) -> io::Result<u64> {
        match self {
            Log::Memory(bytes) => Ok(bytes.len() as u64),
            Log::File(file) => file.len(),
        }
    }

    /// Reads at `offset` until `buffer` is full or the bytes end; answers how many were read.
    pub(crate) fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Log::Memory(bytes) => {
                let from = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                let count = buffer.len().min(bytes.len() - from);
                buffer[..count].copy_from_slice(&bytes[from..from + count]);
                Ok(count)
            }
            Log::File(file) => file.read_at(offset, buffer),
        }
    }

    /// The `len` bytes at `offset`; an error if there are fewer.
    pub(crate) fn read(&self, offset: u64, len: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_into(offset, len, &mut bytes)?;
        Ok(bytes)
    }

    /// As [`Log::read`], into a buffer that is used again.
    pub(crate) fn read_into(&self, offset: u64, len: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
        let wanted = usize::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory)?;
        bytes.clear();
        bytes.try_reserve_exact(wanted).map_err(|_| io::ErrorKind::OutOfMemory)?;
        bytes.resize(wanted, 0);
        if self.read_at(offset, bytes)? < wanted {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the file was cut short while it was open",
            ));
        }
        Ok(())
    }
}

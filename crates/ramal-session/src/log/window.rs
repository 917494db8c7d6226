//! Lines that lie near each other, many with one call to the system.

use std::io;

use super::Log;

/// A part of the log that was read, grown as long as what is asked for lies beside it.
///
/// Whoever walks over entries that follow each other, up or down, mostly finds the next one in it.
/// Whoever jumps about reads little more than what is asked for.
#[derive(Debug)]
pub(crate) struct Window {
    from: u64,
    bytes: Vec<u8>,
    /// Bytes that are read at the next turn.
    next: u64,
}

const LEAST: u64 = 1024;
const MOST: u64 = 256 * 1024;

impl Window {
    pub(crate) fn new() -> Window {
        Window { from: 0, bytes: Vec::new(), next: LEAST }
    }

    /// The `len` bytes at `offset`; an error if there are fewer.
    pub(crate) fn read(&mut self, log: &Log, offset: u64, len: u64) -> io::Result<&[u8]> {
        let end = self.from + self.bytes.len() as u64;
        if offset < self.from || offset + len > end {
            self.fill(log, offset, len, end)?;
        }
        let start = (offset - self.from) as usize;
        self.bytes.get(start..start + len as usize).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    fn fill(&mut self, log: &Log, offset: u64, len: u64, end: u64) -> io::Result<()> {
        let is_near = offset <= end + self.next && offset + len + self.next >= self.from;
        self.next = if is_near { (self.next * 4).min(MOST) } else { LEAST };
        let wanted = self.next.max(len);
        // Downwards it begins at what is asked for, upwards it ends there.
        let from = if offset < self.from && is_near { (offset + len).saturating_sub(wanted) } else { offset };
        let wanted = wanted.min(log.len()?.saturating_sub(from)).max(offset + len - from);
        if self.bytes.capacity() as u64 > MOST && wanted <= MOST {
            // What a very long line needed is given back.
            self.bytes = Vec::new();
        }
        log.read_into(from, wanted, &mut self.bytes)?;
        self.from = from;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upwards_downwards_and_about() {
        let bytes: Vec<u8> = (0..3_000_000u32).map(|n| (n % 251) as u8).collect();
        let log = Log::Memory(bytes.clone());
        let mut window = Window::new();
        let down = (0..3_000_000).step_by(977);
        let up = (0..3_000_000).rev().step_by(1_777);
        let about = (0..2_000u64).map(|n| n * 7_919_993 % 3_000_000);
        for (offset, len) in down.chain(up).chain(about).zip([1, 100, 5_000, 300_000, 0].into_iter().cycle())
        {
            let (offset, len) = (offset, len.min(3_000_000 - offset));
            let want = &bytes[offset as usize..(offset + len) as usize];
            assert!(window.read(&log, offset, len).unwrap() == want, "{offset} {len}");
        }
        assert!(window.read(&log, 2_999_999, 2).is_err());
    }
}

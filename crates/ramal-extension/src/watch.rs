//! How long JavaScript runs at a stretch, and what makes it stop.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Watches one engine. Between [`Watch::begin`] and [`Watch::end`] lies a slice: something that the program
/// asked for, with all promises that can go on because of it.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// The number of the slice that runs; 0 while none does.
    slice: AtomicU64,
    begun: AtomicU64,
    last: AtomicU64,
    /// The slice that is to be ended; all of them with [`ALL`].
    ended: AtomicU64,
    is_over: AtomicBool,
    /// How often it was asked whether to stop.
    asked: AtomicU64,
    /// JavaScript has called the program and waits for it.
    is_outside: AtomicBool,
    limit: u64,
}

const ALL: u64 = u64::MAX;

impl Watch {
    pub(crate) fn new(limit: Duration) -> Watch {
        Watch { limit: nanoseconds(limit), ..Watch::default() }
    }

    /// A slice begins, on the thread that runs it.
    pub(crate) fn begin(&self) {
        self.begun.store(used(), Ordering::Relaxed);
        self.is_over.store(false, Ordering::Relaxed);
        self.slice.store(self.last.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Release);
    }

    pub(crate) fn end(&self) {
        self.slice.store(0, Ordering::Release);
    }

    /// Whether what runs is to stop. Asked by the engine again and again, on its thread.
    pub(crate) fn stops(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let slice = self.slice.load(Ordering::Relaxed);
        let ended = self.ended.load(Ordering::Relaxed);
        let over = ended == ALL
            || (slice != 0 && ended == slice)
            || (slice != 0 && used().saturating_sub(self.begun.load(Ordering::Relaxed)) > self.limit);
        if over {
            self.is_over.store(true, Ordering::Relaxed);
        }
        over
    }

    /// Whether the slice was made to stop.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Whether it was made to stop from outside, and not since it ran too long.
    pub(crate) fn was_ended(&self) -> bool {
        let ended = self.ended.load(Ordering::Relaxed);
        ended == ALL || ended == self.slice.load(Ordering::Relaxed)
    }

    /// The slice that runs now.
    pub(crate) fn running(&self) -> Option<u64> {
        Some(self.slice.load(Ordering::Acquire)).filter(|slice| *slice != 0)
    }

    /// Does something of the program's in the midst of a slice.
    pub(crate) fn outside<T>(&self, work: impl FnOnce() -> T) -> T {
        self.is_outside.store(true, Ordering::Relaxed);
        let done = work();
        self.is_outside.store(false, Ordering::Relaxed);
        done
    }

    /// Changes as long as what runs can be stopped; none if it is the program that takes its time, or nothing
    /// runs.
    pub(crate) fn sign_of_life(&self) -> Option<(u64, u64)> {
        let is_outside = self.is_outside.load(Ordering::Relaxed);
        let slice = self.running().filter(|_| !is_outside)?;
        Some((slice, self.asked.load(Ordering::Relaxed)))
    }

    /// Makes a slice stop, if it still runs.
    pub(crate) fn end_slice(&self, slice: u64) {
        if self.ended.load(Ordering::Relaxed) != ALL {
            self.ended.store(slice, Ordering::Relaxed);
        }
    }

    /// Nothing runs any more from now on.
    pub(crate) fn end_all(&self) {
        self.ended.store(ALL, Ordering::Relaxed);
    }
}

/// The time that this thread has run so far: that it was waiting, or others were at work, does not count.
#[cfg(unix)]
fn used() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    u64::try_from(time.tv_sec).unwrap_or_default() * 1_000_000_000
        + u64::try_from(time.tv_nsec).unwrap_or_default()
}

#[cfg(not(unix))]
fn used() -> u64 {
    static BEGUN: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    nanoseconds(BEGUN.elapsed())
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

//! Memory for large tables, asked for in large pages where the system has them.
//!
//! A million entries touch some sixteen thousand pages of usual size; having each of them handed out
//! one by one costs as much as reading the lines.

/// Tables smaller than this have few pages anyway.
const WORTH_IT: usize = 4 << 20;

/// Tells the system that the whole of this memory will be used. A hint: nothing depends on it.
#[cfg(target_os = "linux")]
pub(super) fn will_be_used<T>(memory: *const T, count: usize) {
    use rustix::mm::{Advice, madvise};
    const PAGE: usize = 4096;
    let bytes = count * size_of::<T>();
    if bytes < WORTH_IT {
        return;
    }
    let begin = (memory as usize).next_multiple_of(PAGE);
    let end = (memory as usize + bytes) / PAGE * PAGE;
    if begin < end {
        let begin_at = memory.cast::<u8>().wrapping_add(begin - memory as usize);
        // SAFETY: the whole pages inside an allocation that the caller holds. This advice changes
        // neither their content nor who may touch them.
        let _ = unsafe { madvise(begin_at.cast_mut().cast(), end - begin, Advice::LinuxHugepage) };
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn will_be_used<T>(_memory: *const T, count: usize) {
    let _ = (count, WORTH_IT);
}

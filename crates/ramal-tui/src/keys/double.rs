//! A key pressed twice.

use std::time::{Duration, Instant};

/// How far apart two presses may be.
const WITHIN: Duration = Duration::from_millis(500);

/// Tells when a key was pressed twice in a row within half a second.
#[derive(Debug, Clone, Default)]
pub struct DoublePress {
    first: Option<Instant>,
}

impl DoublePress {
    /// The key was pressed. True for the second press of two; a third one begins anew.
    pub fn press(&mut self, now: Instant) -> bool {
        let is_second = self.first.is_some_and(|first| now.saturating_duration_since(first) <= WITHIN);
        self.first = (!is_second).then_some(now);
        is_second
    }

    /// Another key was pressed, or the press meant something else.
    pub fn forget(&mut self) {
        self.first = None;
    }
}

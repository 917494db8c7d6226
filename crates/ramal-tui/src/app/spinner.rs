//! The sign that something goes on.

use std::time::Duration;

/// What is seen of it, one after the other.
const SIGNS: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// How long each is seen.
pub(super) const STEP: Duration = Duration::from_millis(100);

/// What is seen of it after so long.
pub(super) fn sign(since: Duration) -> &'static str {
    let step = since.as_millis() / STEP.as_millis();
    SIGNS.get(usize::try_from(step).unwrap_or_default() % SIGNS.len()).copied().unwrap_or(SIGNS[0])
}

/// How long it has gone on, as people say it.
pub(super) fn lasting(since: Duration) -> String {
    match since.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

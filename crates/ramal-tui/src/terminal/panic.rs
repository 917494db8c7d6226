//! Panics: the terminal is left first, so that what they say can be read.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::PanicHookInfo;
use std::sync::{Arc, Mutex, Once, PoisonError, Weak};
use std::time::Duration;

use super::shared::Shared;
use crate::text::clean;

/// The terminal that is to be left.
static GUARDED: Mutex<Weak<Shared>> = Mutex::new(Weak::new());

static INSTALLED: Once = Once::new();

/// How long a panic waits for the terminal.
const PATIENCE: Duration = Duration::from_millis(500);

/// Has panics leave this terminal. The hook that was there before does what it did while there is none.
pub(super) fn guard(shared: &Arc<Shared>) {
    *GUARDED.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(shared);
    INSTALLED.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let guarded = GUARDED.try_lock().ok().and_then(|guarded| guarded.upgrade());
            let is_said = guarded.is_some_and(|shared| on_panic(&shared, message(info)));
            if !is_said {
                before(info);
            }
        }));
    });
}

/// Leaves the terminal if it is the panic of the thread that draws. Another thread's may be caught, as those
/// of tasks are: what it says is kept for when the terminal is left, which is soon if it was not caught.
/// False if the terminal has been left before.
pub(super) fn on_panic(shared: &Shared, message: String) -> bool {
    let is_kept = shared.say_afterwards(message);
    if shared.is_owner() {
        shared.leave_within(PATIENCE);
    }
    is_kept
}

/// What a panic says, made harmless: it may quote what a session holds.
fn message(info: &PanicHookInfo<'_>) -> String {
    let thread = std::thread::current();
    let says = format!("thread '{}' {info}", thread.name().unwrap_or("?"));
    let backtrace = Backtrace::capture();
    let mut lines: Vec<String> = clean::lines(&says).map(|line| line.to_string()).collect();
    if backtrace.status() == BacktraceStatus::Captured {
        lines.push(backtrace.to_string());
    }
    lines.join("\n")
}

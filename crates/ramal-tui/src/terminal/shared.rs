//! The one state of a terminal, for all who may have to leave it.

use std::io;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use super::probe::Answers;
use super::{Device, Modes, Options, probe};
use crate::keys::Key;

/// Whose the terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nobody's yet: keys may be raw, and nothing else is turned on.
    Starting,
    /// Ours.
    On,
    /// Another program's for a while.
    Away,
    /// The user's again. It does not come back from here.
    Left,
}

#[derive(Debug)]
struct State {
    device: Box<dyn Device>,
    modes: Modes,
    phase: Phase,
    /// What is written on the main screen before leaving it.
    parting: String,
    /// What is to be said once the terminal has been left.
    afterwards: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    owner: ThreadId,
}

impl Shared {
    pub(super) fn new(device: Box<dyn Device>) -> Shared {
        let state = State {
            device,
            modes: Modes::default(),
            phase: Phase::Starting,
            parting: String::new(),
            afterwards: Vec::new(),
        };
        Shared { state: Mutex::new(state), owner: thread::current().id() }
    }

    /// A panic with the lock held leaves nothing half done that matters here.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The state, unless it is held for longer: by a write to a terminal that takes nothing at the moment,
    /// or by the very thread that asks.
    fn lock_within(&self, limit: Duration) -> Option<MutexGuard<'_, State>> {
        let start = Instant::now();
        loop {
            match self.state.try_lock() {
                Ok(state) => return Some(state),
                Err(TryLockError::Poisoned(state)) => return Some(state.into_inner()),
                Err(TryLockError::WouldBlock) if start.elapsed() > limit => return None,
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    pub(super) fn is_owner(&self) -> bool {
        self.owner == thread::current().id()
    }

    pub(super) fn raw(&self) -> io::Result<()> {
        self.lock().device.set_raw(true)
    }

    pub(super) fn probe(&self, options: &Options) -> io::Result<(Answers, Vec<Key>)> {
        probe::ask(self.lock().device.as_mut(), options)
    }

    pub(super) fn enter(&self, modes: Modes) -> io::Result<()> {
        let mut state = self.lock();
        state.modes = modes;
        // What a failing write has turned on is turned off by leaving.
        state.phase = Phase::On;
        let bytes = state.modes.enter();
        state.device.write(bytes.as_bytes())
    }

    /// Leaves the terminal for a while. False if it was not ours.
    pub(super) fn step_aside(&self) -> bool {
        let mut state = self.lock();
        if state.phase != Phase::On {
            return false;
        }
        state.phase = Phase::Away;
        // A terminal that cannot be left is gone, and the next frame will tell.
        let _ = state.turn_off();
        true
    }

    /// Takes the terminal back after [`Shared::step_aside`], unless it has been left for good meanwhile.
    pub(super) fn come_back(&self) -> io::Result<()> {
        let mut state = self.lock();
        if state.phase != Phase::Away {
            return Ok(());
        }
        state.phase = Phase::On;
        state.device.set_raw(true)?;
        let bytes = state.modes.enter();
        state.device.write(bytes.as_bytes())
    }

    /// Whether another program has the terminal.
    #[cfg(unix)]
    pub(super) fn is_away(&self) -> bool {
        self.lock().phase == Phase::Away
    }

    /// Leaves the terminal for good; nothing the second time.
    pub(super) fn leave(&self) -> io::Result<()> {
        self.lock().leave()
    }

    /// [`Shared::leave`] for those who must not wait for a terminal that takes nothing. Where it does, keys
    /// are at least what they were.
    pub(super) fn leave_within(&self, limit: Duration) {
        match self.lock_within(limit) {
            // The terminal may be gone already, and there is nobody to tell.
            Some(mut state) => drop(state.leave()),
            None => drop(crossterm::terminal::disable_raw_mode()),
        }
    }

    /// Keeps something to be said once the terminal has been left. False if it has been.
    pub(super) fn say_afterwards(&self, text: String) -> bool {
        let Some(mut state) = self.lock_within(Duration::from_millis(100)) else { return false };
        let is_kept = state.phase != Phase::Left;
        if is_kept {
            state.afterwards.push(text);
        }
        is_kept
    }

    pub(super) fn has_keyboard(&self) -> bool {
        self.lock().modes.keyboard
    }

    pub(super) fn has_title(&self) -> bool {
        self.lock().modes.title.is_some()
    }

    /// Writes a frame, if the terminal is ours.
    pub(super) fn write_frame(&self, frame: &[u8], modes: impl FnOnce(&mut Modes)) -> io::Result<()> {
        let mut state = self.lock();
        // Also while another program has it: what is turned on now is what one comes back to.
        modes(&mut state.modes);
        match state.phase {
            Phase::On => state.device.write(frame),
            _ => Ok(()),
        }
    }

    pub(super) fn set_parting(&self, parting: String) {
        self.lock().parting = parting;
    }
}

impl State {
    fn turn_off(&mut self) -> io::Result<()> {
        let bytes = self.modes.leave(&self.parting);
        let written = self.device.write(bytes.as_bytes());
        // Also on a terminal that took no bytes: it may only have been full.
        self.device.set_raw(false).and(written)
    }

    fn leave(&mut self) -> io::Result<()> {
        let result = match std::mem::replace(&mut self.phase, Phase::Left) {
            Phase::Starting => self.device.set_raw(false),
            Phase::On => self.turn_off(),
            Phase::Away | Phase::Left => Ok(()),
        };
        for text in self.afterwards.drain(..) {
            eprintln!("{text}");
        }
        result
    }
}

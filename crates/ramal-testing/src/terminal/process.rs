//! The pseudo-terminal, the program in it, and the hands and eyes of the test.

use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use super::emulator::Emulator;
use super::keys::{self, Form};
use super::left;
use super::options::{Options, Size};
use super::recording::{Happened, Recording};
use super::screen::Screen;
use crate::program::TOO_LONG;

/// Written into the terminal by us after the program has ended: what is before it came from the program. No
/// program writes it, and it is not passed on.
const END: &[u8] = b"\x1b]ramal-testing;end\x07";

/// A program in a terminal of its own.
pub struct Terminal {
    shared: Arc<Shared>,
    child: Child,
    /// Held open, so that how the terminal was left can still be looked at.
    slave: Arc<OwnedFd>,
    before: Termios,
    wake: OwnedFd,
    carrier: Option<JoinHandle<()>>,
    undertaker: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    begun: Instant,
}

struct State {
    emulator: Emulator,
    recording: Recording,
    /// Bytes that were read, so far.
    written: usize,
    /// What is typed or answered and not yet taken.
    outgoing: Vec<u8>,
    is_closing: bool,
    /// The program has ended; END is on its way.
    has_ended: bool,
    /// END has come.
    is_drained: bool,
    /// The beginning of what may be END.
    held: Vec<u8>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Duration {
        self.begun.elapsed()
    }
}

impl Terminal {
    /// Starts a program; with an environment of its own, as [`crate::program::Scratch::bare`] makes it. Its
    /// input, output and errors are the terminal, which is also the one that it is controlled by.
    ///
    /// # Panics
    ///
    /// If there are no pseudo-terminals, or no such program.
    #[track_caller]
    pub fn start(mut command: Command, options: Options) -> Terminal {
        let (master, slave) = pair(options.size);
        let before = tcgetattr(&slave).unwrap();
        let stdio = || slave.try_clone().unwrap();
        command.stdin(stdio()).stdout(stdio()).stderr(stdio());
        command.envs(options.environment.iter().map(|(name, value)| (name, value)));
        // SAFETY: what runs between fork and exec are two system calls, which allocate nothing.
        unsafe { command.pre_exec(take_the_terminal) };
        let child = command.spawn().unwrap();
        // Its copies of the slave would keep the terminal open.
        drop(command);
        let (woken, wake) = rustix::pipe::pipe().unwrap();
        rustix::io::ioctl_fionbio(&wake, true).unwrap();
        let size = (options.size.columns.get(), options.size.rows.get());
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                emulator: Emulator::new(&options),
                recording: Recording::new(size),
                written: 0,
                outgoing: Vec::new(),
                is_closing: false,
                has_ended: false,
                is_drained: false,
                held: Vec::new(),
            }),
            changed: Condvar::new(),
            begun: Instant::now(),
        });
        let slave = Arc::new(slave);
        let carrier = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || carry(&shared, &master, &woken)
        });
        let undertaker = std::thread::spawn({
            let (shared, slave, id) = (Arc::clone(&shared), Arc::clone(&slave), child.id());
            move || tell_the_end(&shared, &slave, id)
        });
        Terminal { shared, child, slave, before, wake, carrier: Some(carrier), undertaker: Some(undertaker) }
    }

    fn send(&self, bytes: &[u8]) {
        let mut state = self.shared.lock();
        state.recording.push(self.shared.now(), Happened::Input(bytes.to_vec()));
        state.outgoing.extend_from_slice(bytes);
        drop(state);
        self.wake();
    }

    fn wake(&self) {
        // A pipe that is full has woken it already.
        let _ = rustix::io::write(&self.wake, &[0]);
    }

    /// Presses a key and lets it go: `ctrl+left`, `alt+enter`, `shift+l`, `esc`, `a`. It is sent as the program
    /// has asked for by now.
    ///
    /// # Panics
    ///
    /// If there is no such key.
    #[track_caller]
    pub fn key(&self, name: &str) {
        let form = {
            let emulator = &self.shared.lock().emulator;
            Form {
                flags: emulator.keyboard_flags(),
                has_application_cursor: emulator.has_application_cursor(),
            }
        };
        self.send(&keys::bytes(name, form));
    }

    /// Presses several, one after the other.
    #[track_caller]
    pub fn keys(&self, names: &[&str]) {
        names.iter().for_each(|name| self.key(name));
    }

    /// Types a text, as an input method or a quick hand does: all at once and as it is.
    pub fn text(&self, text: &str) {
        self.send(text.as_bytes());
    }

    /// Pastes: within brackets if the program has asked for them. Ends of lines are sent as Enter, as terminals
    /// do; all else, escape sequences included, as it is.
    pub fn paste(&self, text: &str) {
        let text = text.replace("\r\n", "\r").replace('\n', "\r");
        let bracketed = self.shared.lock().emulator.has_bracketed_paste();
        self.send(if bracketed { format!("\x1b[200~{text}\x1b[201~") } else { text }.as_bytes());
    }

    /// Sends bytes, whatever they mean.
    pub fn raw(&self, bytes: &[u8]) {
        self.send(bytes);
    }

    /// Writes on the screen as another program of the same terminal does, behind the back of ours.
    pub fn write_from_elsewhere(&self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            match rustix::io::write(&*self.slave, rest) {
                Ok(length) => rest = &rest[length..],
                Err(Errno::INTR) => {}
                // A window that was closed shows nothing.
                Err(_) => return,
            }
        }
    }

    /// Gives the window another size, and tells the program (SIGWINCH).
    pub fn resize(&self, columns: u16, rows: u16) {
        let size = Size::new(columns, rows);
        let mut state = self.shared.lock();
        state.emulator.resize(size);
        let resized = Happened::Resize(size.columns.get(), size.rows.get());
        state.recording.push(self.shared.now(), resized);
        // A window that was closed has no size.
        let _ = tcsetwinsize(&self.slave, winsize(size));
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Sends a signal to the program. Once it has ended: nothing happens.
    pub fn signal(&self, signal: Signal) {
        let _ = rustix::process::kill_process(self.id(), signal);
    }

    /// Closes the window, as a lost connection does: the program gets SIGHUP, and can neither read nor write.
    pub fn hang_up(&mut self) {
        self.shared.lock().is_closing = true;
        self.wake();
        // The carrier has the master, and closes it.
        if let Some(carrier) = self.carrier.take() {
            let _ = carrier.join();
        }
    }

    /// The number of the process, as the system knows it.
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    fn id(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Waits until the screen is so. Screens within a synchronized update are not looked at.
    ///
    /// # Panics
    ///
    /// If it never is: the program has ended, or it takes too long.
    #[track_caller]
    pub fn wait_for(&self, is: impl Fn(&Screen<'_>) -> bool) {
        let until = Instant::now() + TOO_LONG;
        let mut state = self.shared.lock();
        loop {
            let is_closed = !state.emulator.watch.is_synchronizing() || state.is_drained;
            if is_closed && is(&state.emulator.screen()) {
                return;
            }
            let left = until.saturating_duration_since(Instant::now());
            let why = match (state.is_drained || state.is_closing, left.is_zero()) {
                (true, _) => "the program has ended",
                (_, true) => "it took too long",
                _ => "",
            };
            if !why.is_empty() {
                let seen = format!("{:?}", state.emulator.screen());
                drop(state);
                panic!("what was waited for did not come, {why}:\n{seen}");
            }
            state = self.pause(state, left);
        }
    }

    /// Waits until some row says that.
    ///
    /// # Panics
    ///
    /// As [`Terminal::wait_for`].
    #[track_caller]
    pub fn wait_for_text(&self, text: &str) {
        self.wait_for(|screen| screen.says(text));
    }

    /// Waits until nothing was written for that long while the program was idle. For showing that nothing
    /// happens; whoever waits for something says what.
    #[track_caller]
    pub fn wait_until_quiet(&self, quiet: Duration) {
        let until = Instant::now() + TOO_LONG;
        let mut state = self.shared.lock();
        let mut seen = (state.written, Instant::now());
        while !state.is_drained {
            let rest = quiet.saturating_sub(seen.1.elapsed());
            if rest.is_zero() && state.outgoing.is_empty() && !is_running(self.child.id()) {
                return;
            }
            assert!(Instant::now() < until, "it was never quiet:\n{:?}", state.emulator.screen());
            // A program that waits for its turn on a busy machine is looked at again a little later.
            state = self.pause(state, rest.max(Duration::from_millis(5)));
            if state.written != seen.0 {
                seen = (state.written, Instant::now());
            }
        }
    }

    fn pause<'a>(&'a self, state: MutexGuard<'a, State>, time: Duration) -> MutexGuard<'a, State> {
        let woken = self.shared.changed.wait_timeout(state, time);
        woken.unwrap_or_else(PoisonError::into_inner).0
    }

    /// What is on the screen. If a synchronized update is open: once it is closed, or after as long as a
    /// terminal would wait.
    pub fn screen(&self) -> Screen<'static> {
        let until = Instant::now() + Duration::from_secs(1);
        let mut state = self.shared.lock();
        while state.emulator.watch.is_synchronizing() && !state.is_drained && Instant::now() < until {
            state = self.pause(state, until.saturating_duration_since(Instant::now()));
        }
        state.emulator.screen().into_owned()
    }

    /// The screen with the scrollback, also while the alternate one is shown.
    pub fn main_screen(&self) -> Screen<'static> {
        self.shared.lock().emulator.main_screen()
    }

    /// How many bytes the program has written so far.
    pub fn bytes_written(&self) -> usize {
        self.shared.lock().written
    }

    /// Gives this moment a name in the recording.
    pub fn mark(&self, name: &str) {
        self.shared.lock().recording.push(self.shared.now(), Happened::Mark(name.into()));
    }

    /// All that happened so far.
    pub fn recording(&self) -> Recording {
        self.shared.lock().recording.clone()
    }

    /// Waits until the program has ended by itself and all that it wrote is on the screen.
    ///
    /// # Panics
    ///
    /// If it does not end.
    #[track_caller]
    pub fn end(&mut self) -> ExitStatus {
        let until = Instant::now() + TOO_LONG;
        let mut state = self.shared.lock();
        while !(state.is_drained || (state.has_ended && state.is_closing)) {
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "it did not end:\n{:?}", state.emulator.screen());
            state = self.pause(state, left);
        }
        drop(state);
        self.child.wait().unwrap()
    }

    /// As [`Terminal::end`], for a program that a signal ended; answers which.
    #[track_caller]
    pub fn end_by_signal(&mut self) -> Option<i32> {
        self.end().signal()
    }

    /// What the program has left in the terminal, in words. While it runs: what it has changed.
    pub fn left_behind(&self) -> Vec<String> {
        let state = self.shared.lock();
        // Of a window that was closed nothing is left.
        let now = tcgetattr(&self.slave).unwrap_or_else(|_| self.before.clone());
        left::behind(&state.emulator.watch, &self.before, &now)
    }

    /// That the program has left the terminal as it found it.
    ///
    /// # Panics
    ///
    /// If not; the message says what it left.
    #[track_caller]
    pub fn assert_clean(&self) {
        let left = self.left_behind();
        assert!(left.is_empty(), "the terminal was left unclean:\n{}\n{:?}", left.join("\n"), self.screen());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The program leads a group of its own, which is its children as well.
        let _ = rustix::process::kill_process_group(self.id(), Signal::KILL);
        self.hang_up();
        if let Some(undertaker) = self.undertaker.take() {
            let _ = undertaker.join();
        }
        let _ = self.child.wait();
    }
}

fn pair(size: Size) -> (OwnedFd, OwnedFd) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    rustix::io::fcntl_setfd(&master, rustix::io::FdFlags::CLOEXEC).unwrap();
    rustix::io::ioctl_fionbio(&master, true).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let slave = rustix::fs::open(name, flags, Mode::empty()).unwrap();
    tcsetwinsize(&slave, winsize(size)).unwrap();
    (master, slave)
}

fn winsize(size: Size) -> Winsize {
    let (columns, rows) = (size.columns.get(), size.rows.get());
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

/// In the child: a session of its own, controlled by what is its input by now.
fn take_the_terminal() -> std::io::Result<()> {
    rustix::process::setsid()?;
    rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
    Ok(())
}

/// Carries bytes between the program and the screen until the window is closed.
fn carry(shared: &Shared, master: &OwnedFd, woken: &OwnedFd) {
    let mut buffer = vec![0; 1 << 16];
    while !shared.lock().is_closing {
        let wants =
            if shared.lock().outgoing.is_empty() { PollFlags::IN } else { PollFlags::IN | PollFlags::OUT };
        let mut sources = [PollFd::new(master, wants), PollFd::new(woken, PollFlags::IN)];
        if poll(&mut sources, None).is_err() {
            continue;
        }
        let (terminal, woke) = (sources[0].revents(), !sources[1].revents().is_empty());
        if woke {
            let _ = rustix::io::read(woken, &mut [0; 256]);
        }
        if terminal.contains(PollFlags::OUT) {
            type_in(&mut shared.lock(), master);
        }
        if terminal.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
            match rustix::io::read(master, &mut buffer) {
                Ok(length) if length > 0 => take(shared, &buffer[..length]),
                Err(Errno::AGAIN | Errno::INTR) => {}
                _ => break,
            }
        }
    }
    shared.lock().is_closing = true;
    shared.changed.notify_all();
}

fn type_in(state: &mut State, master: &OwnedFd) {
    if let Ok(length) = rustix::io::write(master, &state.outgoing) {
        state.outgoing.drain(..length);
    }
}

/// What came from the program's side.
fn take(shared: &Shared, bytes: &[u8]) {
    let mut guard = shared.lock();
    let state = &mut *guard;
    state.held.extend_from_slice(bytes);
    let found = state.held.windows(END.len()).position(|window| window == END);
    let ours = match found {
        Some(at) => at,
        None if state.has_ended => state.held.len() - beginning_of_end(&state.held),
        None => state.held.len(),
    };
    let whole: Vec<u8> = state.held.drain(..ours).collect();
    if found.is_some() {
        state.held.drain(..END.len());
        state.is_drained = true;
    }
    if !whole.is_empty() {
        let answers = state.emulator.feed(&whole, |_| {});
        state.outgoing.extend(answers);
        state.written += whole.len();
        state.recording.push(shared.now(), Happened::Output(whole));
    }
    drop(guard);
    shared.changed.notify_all();
}

/// How many bytes at the end may be the beginning of END.
fn beginning_of_end(bytes: &[u8]) -> usize {
    (1..END.len()).rev().find(|length| bytes.ends_with(&END[..*length])).unwrap_or(0)
}

/// Waits for the end of the program without burying it, so that its number stays its own.
fn tell_the_end(shared: &Shared, slave: &OwnedFd, id: u32) {
    let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw) else { return };
    while let Err(Errno::INTR) =
        rustix::process::waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
    {}
    shared.lock().has_ended = true;
    let mut rest = END;
    while !rest.is_empty() && !shared.lock().is_closing {
        match rustix::io::write(slave, rest) {
            Ok(length) => rest = &rest[length..],
            Err(Errno::INTR) => {}
            Err(_) => break,
        }
    }
    shared.changed.notify_all();
}

/// Whether some thread of it has work to do. Known on Linux only; elsewhere it is taken to have none.
fn is_running(id: u32) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{id}/task"));
    tasks.into_iter().flatten().flatten().any(|task| {
        let state = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        state.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['R', 'D']))
    })
}

//! What is seen before a session is there: opening a long one takes its time, and nobody waits for an editor.
//!
//! [`Opening`] is the work, on a thread of its own. [`Door`] has the terminal meanwhile: it shows the end of
//! the log as soon as that is known, keeps what is typed, and hands all of it over to [`super::run`]. A
//! session that is opened at once is never seen to be opened.

mod tail;
#[cfg(test)]
mod tests;
mod waiting;

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use ramal_session::LogTail;

pub(super) use self::tail::Tail;
pub(super) use self::waiting::Seen;
use self::waiting::Waiting;
use super::{Leaving, Left, Look, Message, Messages, spinner};
use crate::terminal::{Input, InputThread, Terminal, TerminalWriter};
use crate::theme::Background;

/// How long nothing is shown, since the session may be there at once.
const PATIENCE: Duration = Duration::from_millis(30);
/// How long the end of a log is waited for, so that the first thing that is seen has it.
const PATIENCE_FOR_TAIL: Duration = Duration::from_millis(100);

/// Something that happens while a session is opened.
pub(crate) enum Step {
    /// It is known which log is read; this reads the end of it.
    Found { is_long: bool, read: ReadTail },
    /// The end of it was read; none if it does not tell where one stands.
    Tail(Option<Box<Tail>>),
    /// The work is done.
    Done,
}

/// Reads the end of a log, as far as it can be read by itself.
type ReadTail = Box<dyn FnOnce() -> Option<LogTail> + Send>;

/// A session that is being opened, on a thread of its own.
pub struct Opening<T> {
    thread: JoinHandle<T>,
}

/// Takes what is known while a session is being opened.
pub struct Finder(Sender<Message>);

/// Tells that the work is done, however it ended.
struct Bell(Sender<Message>);

impl Drop for Bell {
    fn drop(&mut self) {
        // Nobody listens any more where the program ended meanwhile.
        let _ = self.0.send(Message::Opening(Step::Done));
    }
}

impl<T: Send + 'static> Opening<T> {
    /// Begins to open a session.
    ///
    /// # Errors
    /// If the system has no thread for us.
    pub fn begin(
        channel: &Messages,
        open: impl FnOnce(&Finder) -> T + Send + 'static,
    ) -> io::Result<Opening<T>> {
        let sender = channel.sender.clone();
        let thread = thread::Builder::new().name("opening".into()).spawn(move || {
            let _bell = Bell(sender.clone());
            open(&Finder(sender))
        })?;
        Ok(Opening { thread })
    }

    /// What came of it. Waits for it.
    fn join(self) -> T {
        match self.thread.join() {
            Ok(opened) => opened,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

impl Finder {
    /// It is known which log is read. `read` gives the end of it, on another thread; it is not asked where
    /// the session is there before.
    pub fn found(&self, is_long: bool, read: impl FnOnce() -> Option<LogTail> + Send + 'static) {
        let _ = self.0.send(Message::Opening(Step::Found { is_long, read: Box::new(read) }));
    }
}

/// What became of waiting for a session.
pub enum Waited<T> {
    /// It is open, or could not be opened.
    Opened(T),
    /// Somebody did not want to wait.
    Left(Left),
}

/// What is seen before a session is there.
pub struct Doorway {
    /// What is drawn with.
    pub look: Look,
    /// The background of the terminal.
    pub background: Background,
    /// The size of the terminal, columns and rows.
    pub size: (u16, u16),
    /// Whether the program says what it is.
    pub greets: bool,
    /// Whether what the model thinks is left out.
    pub hides_thinking: bool,
    /// Where the user is.
    pub cwd: PathBuf,
    /// The user's own directory, which is shown as `~`.
    pub home: Option<PathBuf>,
    /// Messages, and where they are sent.
    pub channel: Messages,
}

/// The terminal, while a session is opened.
pub struct Door {
    terminal: Terminal,
    input: InputThread,
    writer: TerminalWriter,
    background: Background,
    channel: Messages,
    home: Option<PathBuf>,
    /// What came meanwhile and is for the conversation, in order.
    kept: Vec<Message>,
    waiting: Waiting,
    is_seen: bool,
}

/// What is handed over to the conversation.
pub(super) struct Handed {
    pub(super) terminal: Terminal,
    pub(super) input: InputThread,
    pub(super) writer: TerminalWriter,
    pub(super) kept: Vec<Message>,
    pub(super) parts: Parts,
}

/// What the conversation takes over.
pub(in crate::app) struct Parts {
    pub(super) look: Look,
    pub(super) background: Background,
    pub(super) channel: Messages,
    pub(super) home: Option<PathBuf>,
    pub(super) size: (u16, u16),
    /// What stands on the screen already; none if nothing does.
    pub(super) seen: Option<Seen>,
}

impl Door {
    /// Begins to listen to the terminal.
    ///
    /// # Errors
    /// If it cannot be listened to; then it is left.
    pub fn new(mut terminal: Terminal, doorway: Doorway) -> io::Result<Door> {
        let Doorway { look, background, size, greets, hides_thinking, cwd, home, channel } = doorway;
        let sender = channel.sender.clone();
        let input = terminal.listen(move |input| sender.send(Message::Input(input)).is_ok())?;
        let waiting = Waiting::new(look, size, greets, hides_thinking, &cwd, home.as_deref());
        let writer = terminal.writer();
        let (kept, is_seen) = (Vec::new(), false);
        Ok(Door { terminal, input, writer, background, channel, home, kept, waiting, is_seen })
    }

    /// Waits for a session, and shows that it is waited for where that is not over at once.
    ///
    /// # Errors
    /// If the terminal cannot be written to.
    pub fn wait<T: Send + 'static>(&mut self, opening: Opening<T>) -> io::Result<Waited<T>> {
        let begun = Instant::now();
        let (mut later, mut is_reading) = (None, false);
        loop {
            let patience = if is_reading { PATIENCE_FOR_TAIL } else { PATIENCE };
            self.is_seen |= begun.elapsed() >= patience;
            if self.is_seen {
                if let Some(read) = later.take() {
                    self.read_tail(read)?;
                }
                self.show(begun)?;
            }
            let rest = if self.is_seen { spinner::STEP } else { patience.saturating_sub(begun.elapsed()) };
            match self.channel.receiver.recv_timeout(rest) {
                Ok(Message::Opening(Step::Done)) => return Ok(Waited::Opened(opening.join())),
                Ok(Message::Opening(Step::Found { is_long: true, read })) => {
                    self.read_tail(read)?;
                    is_reading = true;
                }
                Ok(Message::Opening(Step::Found { is_long: false, read })) => later = Some(read),
                Ok(Message::Opening(Step::Tail(tail))) => {
                    tail.into_iter().for_each(|tail| self.waiting.print_tail(*tail));
                    self.is_seen = true;
                }
                Ok(Message::Input(input)) => {
                    match self.waiting.take(&input) {
                        // What the window is like is known by now.
                        None if matches!(input, Input::Resumed | Input::Resize(..)) => {}
                        None => self.kept.push(Message::Input(input)),
                        Some(Leaving::Signal(signal)) => return Ok(Waited::Left(Left::Signal(signal))),
                        Some(Leaving::Wanted | Leaving::Closed) => return Ok(Waited::Left(Left::Wanted)),
                    };
                }
                Ok(message) => self.kept.push(message),
                Err(RecvTimeoutError::Timeout) => {}
                // We hold a sender ourselves.
                Err(RecvTimeoutError::Disconnected) => return Ok(Waited::Opened(opening.join())),
            }
        }
    }

    /// Gives the terminal back.
    ///
    /// # Errors
    /// If it does not take what restores it.
    pub fn leave(self) -> io::Result<()> {
        self.terminal.leave()
    }

    pub(super) fn hand_over(self) -> Handed {
        let Door { terminal, input, writer, background, channel, home, kept, waiting, is_seen } = self;
        let (look, size, seen) = waiting.into_parts();
        let seen = is_seen.then_some(seen);
        let parts = Parts { look, background, channel, home, size, seen };
        Handed { terminal, input, writer, kept, parts }
    }

    fn read_tail(&self, read: ReadTail) -> io::Result<()> {
        let (draw, sender) = (self.waiting.draws_tail(), self.channel.sender.clone());
        let read = move || {
            let tail = read().and_then(|tail| draw.lines(&tail));
            let _ = sender.send(Message::Opening(Step::Tail(tail.map(Box::new))));
        };
        thread::Builder::new().name("tail".into()).spawn(read).map(drop)
    }

    fn show(&mut self, begun: Instant) -> io::Result<()> {
        let (bytes, parting) = self.waiting.frame(begun.elapsed());
        if bytes.is_empty() {
            return Ok(());
        }
        self.writer.set_parting(parting);
        self.writer.write_all(bytes.as_bytes())?;
        self.writer.flush()
    }
}

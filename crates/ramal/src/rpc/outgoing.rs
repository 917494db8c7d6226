//! One thread writes everything that goes to the client: whole lines, in the order in which they came
//! about. A client that does not read holds up that thread and whoever answers it, but no turn.

use std::io::{self, Stdout};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use ramal_agent::AgentEvent;

use super::answer::Output;

/// Bytes of events that wait for a client. Beyond that, the news about messages and outputs that are
/// still growing are left out for it: the end of each tells all of it.
const BEHIND: usize = 8 * 1024 * 1024;

enum Item {
    Event(Arc<AgentEvent>),
    Line(String),
    /// Somebody writes an answer piece by piece: is told that it is their turn, and hangs up when done.
    Turn(SyncSender<()>, Receiver<()>),
    End,
}

/// Takes what is to be written. Clones lead to the same place.
#[derive(Clone)]
pub(super) struct Outgoing {
    items: Sender<Item>,
    /// Bytes of events that wait.
    behind: Arc<AtomicUsize>,
    /// What is kept back until something else has been said; none if none are to be.
    held: Arc<Mutex<Option<Vec<Item>>>>,
    output: Arc<Mutex<Output<Stdout>>>,
}

impl Outgoing {
    /// Starts the thread. `gone` is called when the client cannot be written to any more.
    ///
    /// # Errors
    /// If no thread can be started.
    pub(super) fn start(
        gone: impl Fn() + Send + 'static,
    ) -> io::Result<(Outgoing, JoinHandle<io::Result<()>>)> {
        let (items, waiting) = channel();
        let outgoing = Outgoing {
            items,
            behind: Arc::default(),
            held: Arc::default(),
            output: Arc::new(Mutex::new(Output::new(io::stdout()))),
        };
        let (output, behind) = (Arc::clone(&outgoing.output), Arc::clone(&outgoing.behind));
        let write = move || {
            let mut written = write_until_end(&waiting, &output, &behind);
            if written.is_err() {
                gone();
                // Nobody is left waiting: what comes now is let go of.
                while !matches!(waiting.recv(), Ok(Item::End) | Err(_)) {}
            } else {
                written = output.lock().unwrap_or_else(PoisonError::into_inner).flush();
            }
            written
        };
        Ok((outgoing, std::thread::Builder::new().name("answers".into()).spawn(write)?))
    }

    /// Tells an event. Never waits for the client.
    pub(super) fn event(&self, event: &Arc<AgentEvent>) {
        let size = size(event);
        let grows =
            matches!(**event, AgentEvent::MessageUpdate { .. } | AgentEvent::ToolExecutionUpdate { .. });
        if grows && self.behind.load(Ordering::Relaxed) > BEHIND {
            return;
        }
        self.behind.fetch_add(size, Ordering::Relaxed);
        self.tell(Item::Event(Arc::clone(event)));
    }

    fn tell(&self, item: Item) {
        match &mut *self.held() {
            Some(held) => held.push(item),
            None => self.send(item),
        }
    }

    fn held(&self) -> MutexGuard<'_, Option<Vec<Item>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something that is answered with a line before anything that comes of it is told. Nobody who
    /// tells an event waits for that.
    pub(super) fn line_first<E>(&self, work: impl FnOnce() -> Result<String, E>) -> Result<(), E> {
        *self.held() = Some(Vec::new());
        let outcome = work();
        let mut held = self.held();
        let outcome = outcome.map(|line| self.send(Item::Line(line)));
        held.take().into_iter().flatten().for_each(|item| self.send(item));
        outcome
    }

    /// Writes a line. Never waits for the client.
    pub(super) fn line(&self, text: String) {
        self.tell(Item::Line(text));
    }

    /// Waits until everything before has been written, and lets `write` write.
    ///
    /// # Errors
    /// If the client cannot be written to.
    pub(super) fn lend(&self, write: impl FnOnce(&mut Output<Stdout>) -> io::Result<()>) -> io::Result<()> {
        let (tell, my_turn) = sync_channel(1);
        let (done, is_done) = sync_channel(1);
        self.send(Item::Turn(tell, is_done));
        if my_turn.recv().is_err() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let written = write(&mut self.output.lock().unwrap_or_else(PoisonError::into_inner));
        // Hanging up says so as well.
        let _ = done.send(());
        written
    }

    /// Lets the thread end once everything before has been written.
    pub(super) fn end(&self) {
        self.send(Item::End);
    }

    fn send(&self, item: Item) {
        // The thread ends last; a line that comes even later has no reader.
        let _ = self.items.send(item);
    }
}

/// Stops behind [`Item::End`], or at an error.
fn write_until_end(
    waiting: &Receiver<Item>,
    output: &Mutex<Output<Stdout>>,
    behind: &AtomicUsize,
) -> io::Result<()> {
    let lock = || output.lock().unwrap_or_else(PoisonError::into_inner);
    let mut next = waiting.recv().ok();
    while let Some(item) = next {
        match item {
            Item::Event(event) => {
                lock().line(&event.to_json())?;
                behind.fetch_sub(size(&event), Ordering::Relaxed);
            }
            Item::Line(text) => lock().line(&text)?,
            Item::Turn(tell, is_done) => {
                // What was written before is not to wait for an answer that takes its time.
                lock().flush()?;
                if tell.send(()).is_ok() {
                    let _ = is_done.recv();
                }
            }
            Item::End => return Ok(()),
        }
        next = match waiting.try_recv() {
            Ok(item) => Some(item),
            Err(_) => {
                lock().flush()?;
                waiting.recv().ok()
            }
        };
    }
    Ok(())
}

/// About how many bytes an event takes: only what can be large counts.
fn size(event: &AgentEvent) -> usize {
    let large = match event {
        AgentEvent::MessageStart { message }
        | AgentEvent::MessageUpdate { message, .. }
        | AgentEvent::MessageEnd { message, .. } => message.len(),
        AgentEvent::TurnEnd { message, tool_results } => {
            message.len() + tool_results.iter().map(String::len).sum::<usize>()
        }
        AgentEvent::AgentEnd { messages, .. } => messages.iter().map(String::len).sum(),
        AgentEvent::ToolExecutionUpdate { args, partial_result, .. } => args.len() + partial_result.len(),
        AgentEvent::ToolExecutionEnd { result, .. } => result.len(),
        _ => 0,
    };
    large + 256
}

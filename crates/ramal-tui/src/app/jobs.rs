//! Work beside the screen, and taking in what came of it.

use tokio::task::JoinHandle;

use super::{App, Message};

/// Takes in what came of some work.
pub(crate) type Job = Box<dyn FnOnce(&mut App) + Send>;

/// Files that are being written, one after the other.
#[derive(Default)]
pub(super) struct Writes {
    /// The last of them, which ends after all others.
    last: Option<JoinHandle<()>>,
    /// How many there are of which nobody has taken in what came of them.
    count: usize,
}

impl Writes {
    /// Whether all that was to be written is, and what came of it was taken in.
    pub(super) fn are_done(&self) -> bool {
        self.count == 0
    }

    /// Waits until all is written.
    pub(super) fn wait(&mut self) -> impl Future<Output = ()> + use<> {
        let last = self.last.take();
        async move {
            if let Some(last) = last {
                // Of one that panics nobody has to be told twice.
                let _ = last.await;
            }
        }
    }
}

impl App {
    /// Begins something that waits; `then` takes in what comes of it.
    pub(super) fn job<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
        then: impl FnOnce(&mut App, T) + Send + 'static,
    ) {
        let messages = self.messages.clone();
        self.runtime.spawn(async move {
            let result = work.await;
            // Nobody listens any more once the program ends.
            let _ = messages.send(Message::Done(Box::new(move |app| then(app, result))));
        });
    }

    /// Begins something that reads or computes for longer than a moment.
    pub(super) fn aside<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
        then: impl FnOnce(&mut App, T) + Send + 'static,
    ) {
        let messages = self.messages.clone();
        self.runtime.spawn_blocking(move || {
            let result = work();
            let _ = messages.send(Message::Done(Box::new(move |app| then(app, result))));
        });
    }

    /// Writes a file beside the screen, after those that are being written: what is asked for later holds.
    /// The program does not end before it is done.
    pub(super) fn write<T: Send + 'static>(
        &mut self,
        work: impl FnOnce() -> T + Send + 'static,
        then: impl FnOnce(&mut App, T) + Send + 'static,
    ) {
        let (messages, before) = (self.messages.clone(), self.writes.wait());
        self.writes.count += 1;
        self.writes.last = Some(self.runtime.spawn(async move {
            before.await;
            let result = tokio::task::spawn_blocking(work).await;
            let _ = messages.send(Message::Done(Box::new(move |app| {
                app.writes.count = app.writes.count.saturating_sub(1);
                if let Ok(result) = result {
                    then(app, result);
                }
            })));
        }));
    }
}

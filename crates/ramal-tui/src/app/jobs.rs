//! Work beside the screen, and taking in what came of it.

use super::{App, Message};

/// Takes in what came of some work.
pub(crate) type Job = Box<dyn FnOnce(&mut App) + Send>;

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
}

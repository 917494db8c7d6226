//! Something that was asked of an extension, and what belongs to it: what it started, what it waits for.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ramal_agent::Within;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// What came of it: JSON, or what went wrong.
pub(crate) type Reply = Result<String, String>;

/// Takes what a tool says while it runs.
pub(crate) type Update = dyn Fn(String) + Send + Sync;

/// Something that was asked.
pub(crate) struct Owner {
    pub(crate) id: u64,
    /// What it is called in messages: an event, or `command NAME`.
    pub(crate) what: String,
    /// Cancelled when nobody waits for it any more.
    pub(crate) given_up: CancellationToken,
    /// The hooks that it is a part of.
    within: Within,
    reply: Mutex<Option<oneshot::Sender<Reply>>>,
    waits: AtomicUsize,
    pub(crate) update: Option<Arc<Update>>,
}

impl Owner {
    pub(crate) fn new(
        id: u64,
        what: String,
        reply: Option<oneshot::Sender<Reply>>,
        update: Option<Arc<Update>>,
    ) -> Arc<Owner> {
        Arc::new(Owner {
            id,
            what,
            given_up: CancellationToken::new(),
            within: Within::current(),
            reply: Mutex::new(reply),
            waits: AtomicUsize::new(0),
            update,
        })
    }

    fn reply(&self) -> std::sync::MutexGuard<'_, Option<oneshot::Sender<Reply>>> {
        self.reply.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers. False if nobody waits.
    pub(crate) fn answer(&self, reply: Reply) -> bool {
        let sender = self.reply().take();
        sender.is_some_and(|sender| sender.send(reply).is_ok())
    }

    /// The hooks that what it starts now is a part of: none once it was answered.
    pub(crate) fn within(&self) -> Option<Within> {
        self.reply().is_some().then(|| self.within.clone())
    }

    /// Whether it waits for somebody: the user, a process, a model.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waits.load(Ordering::Relaxed) > 0
    }

    /// It waits as long as this is there.
    pub(crate) fn wait(self: &Arc<Self>) -> Waits {
        self.waits.fetch_add(1, Ordering::Relaxed);
        Waits(Arc::clone(self))
    }
}

/// Somebody is waited for.
pub(crate) struct Waits(Arc<Owner>);

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.waits.fetch_sub(1, Ordering::Relaxed);
    }
}

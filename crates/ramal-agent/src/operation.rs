//! One operation at a time: who runs, who has to wait, and how it is aborted (contract, section 12).

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::error::AgentError;

/// What a session can be busy with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A prompt is being worked on.
    Turn,
    /// The leaf is being moved, with whatever belongs to it.
    Navigation,
    /// The session is being left for another.
    Replacement,
    /// The conversation is being compacted.
    Compaction,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Operation::Turn => "a turn",
            Operation::Navigation => "a navigation",
            Operation::Replacement => "going to another session",
            Operation::Compaction => "a compaction",
        }
    }
}

#[derive(Debug, Clone)]
struct Running {
    operation: Operation,
    abort: CancellationToken,
    ended: watch::Receiver<bool>,
}

/// The place where an operation runs. There is one for a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stage(Arc<Mutex<Option<Running>>>);

/// An operation that runs; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct OnStage {
    stage: Stage,
    /// Cancelled when the user aborts.
    pub(crate) abort: CancellationToken,
    ended: watch::Sender<bool>,
}

impl Stage {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Running>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins an operation, if nothing runs.
    pub(crate) fn enter(&self, operation: Operation) -> Result<OnStage, AgentError> {
        let mut place = self.lock();
        if let Some(running) = &*place {
            return Err(AgentError::Busy { with: running.operation.name() });
        }
        let abort = CancellationToken::new();
        let (ended, receiver) = watch::channel(false);
        *place = Some(Running { operation, abort: abort.clone(), ended: receiver });
        Ok(OnStage { stage: self.clone(), abort, ended })
    }

    /// Begins an operation that goes before a turn: one that runs is aborted, and waited for until
    /// what it had is stored. Anything else that runs is in the way.
    pub(crate) async fn take_over(&self, operation: Operation) -> Result<OnStage, AgentError> {
        loop {
            let running = self.lock().clone();
            match running {
                Some(Running { operation: Operation::Turn, abort, mut ended }) => {
                    abort.cancel();
                    // An error says that the sender is gone, which is an end as well.
                    let _ = ended.wait_for(|ended| *ended).await;
                }
                _ => return self.enter(operation),
            }
        }
    }

    /// What runs now.
    pub(crate) fn running(&self) -> Option<Operation> {
        self.lock().as_ref().map(|running| running.operation)
    }

    /// Refuses what must not be done while anything runs.
    pub(crate) fn must_be_idle(&self) -> Result<(), AgentError> {
        match self.running() {
            Some(operation) => Err(AgentError::Busy { with: operation.name() }),
            None => Ok(()),
        }
    }

    /// Aborts what runs, if anything does.
    pub(crate) fn abort(&self) {
        if let Some(running) = &*self.lock() {
            running.abort.cancel();
        }
    }

    /// Waits until nothing runs.
    pub(crate) async fn idle(&self) {
        loop {
            let Some(mut running) = self.lock().clone() else { return };
            let _ = running.ended.wait_for(|ended| *ended).await;
        }
    }
}

impl Drop for OnStage {
    fn drop(&mut self) {
        *self.stage.lock() = None;
        // Nobody may be listening.
        let _ = self.ended.send(true);
    }
}

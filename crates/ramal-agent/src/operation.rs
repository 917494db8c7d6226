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

/// Who is on stage, and who waits for a turn to leave it.
#[derive(Debug, Default)]
struct Place {
    running: Option<Running>,
    /// Its token exists while it waits already: an abort that comes then is meant for it as well.
    next: Option<(Operation, CancellationToken)>,
}

/// The place where an operation runs. There is one for a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stage(Arc<Mutex<Place>>);

/// An operation that waits. Its claim ends when this is dropped.
struct Next<'a>(&'a Stage);

impl Drop for Next<'_> {
    fn drop(&mut self) {
        self.0.lock().next = None;
    }
}

/// An operation that runs; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct OnStage {
    stage: Stage,
    /// Cancelled when the user aborts.
    pub(crate) abort: CancellationToken,
    ended: watch::Sender<bool>,
}

impl Place {
    /// What waits to run is as much in the way as what runs.
    fn must_be_free(&self) -> Result<(), AgentError> {
        let waiting = self.next.as_ref().map(|(operation, _)| *operation);
        match waiting.or(self.running.as_ref().map(|running| running.operation)) {
            Some(operation) => Err(AgentError::Busy { with: operation.name() }),
            None => Ok(()),
        }
    }
}

impl Stage {
    fn lock(&self) -> std::sync::MutexGuard<'_, Place> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins an operation, if nothing runs.
    pub(crate) fn enter(&self, operation: Operation) -> Result<OnStage, AgentError> {
        let mut place = self.lock();
        place.must_be_free()?;
        Ok(self.put(&mut place, operation, CancellationToken::new()))
    }

    fn put(&self, place: &mut Place, operation: Operation, abort: CancellationToken) -> OnStage {
        let (ended, receiver) = watch::channel(false);
        place.running = Some(Running { operation, abort: abort.clone(), ended: receiver });
        OnStage { stage: self.clone(), abort, ended }
    }

    /// Begins an operation that goes before a turn: one that runs is aborted, and waited for until
    /// what it had is stored. Anything else that runs is in the way.
    pub(crate) async fn take_over(&self, operation: Operation) -> Result<OnStage, AgentError> {
        let token = CancellationToken::new();
        let (turn, mut ended) = {
            let mut place = self.lock();
            match (&place.running, &place.next) {
                (Some(Running { operation: Operation::Turn, abort, ended }), None) => {
                    let turn = (abort.clone(), ended.clone());
                    place.next = Some((operation, token.clone()));
                    turn
                }
                _ => {
                    place.must_be_free()?;
                    return Ok(self.put(&mut place, operation, token));
                }
            }
        };
        let claim = Next(self);
        turn.cancel();
        // An error says that the sender is gone, which is an end as well.
        let _ = ended.wait_for(|ended| *ended).await;
        let on_stage = self.put(&mut self.lock(), operation, token);
        drop(claim);
        Ok(on_stage)
    }

    /// What runs now.
    pub(crate) fn running(&self) -> Option<Operation> {
        self.lock().running.as_ref().map(|running| running.operation)
    }

    /// Refuses what must not be done while anything runs.
    pub(crate) fn must_be_idle(&self) -> Result<(), AgentError> {
        self.lock().must_be_free()
    }

    /// Aborts what runs, and what waits to run.
    pub(crate) fn abort(&self) {
        let place = self.lock();
        if let Some(running) = &place.running {
            running.abort.cancel();
        }
        if let Some((_, abort)) = &place.next {
            abort.cancel();
        }
    }

    /// Waits until nothing runs.
    pub(crate) async fn idle(&self) {
        loop {
            let running = {
                let place = self.lock();
                match (&place.running, &place.next) {
                    (Some(running), _) => Some(running.clone()),
                    (None, None) => return,
                    // It is about to begin.
                    (None, Some(_)) => None,
                }
            };
            let Some(mut running) = running else {
                tokio::task::yield_now().await;
                continue;
            };
            let _ = running.ended.wait_for(|ended| *ended).await;
        }
    }
}

impl Drop for OnStage {
    fn drop(&mut self) {
        self.stage.lock().running = None;
        // Nobody may be listening.
        let _ = self.ended.send(true);
    }
}

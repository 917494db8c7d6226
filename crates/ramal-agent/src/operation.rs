//! One operation at a time: who runs, who has to wait, and how it is aborted (contract, section 12).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

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

/// What runs, and what takes its place as soon as it has ended.
#[derive(Debug, Default)]
struct Place {
    running: Option<Running>,
    next: Option<(Operation, CancellationToken)>,
}

/// The place where an operation runs. There is one for a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stage(Arc<Mutex<Place>>);

/// An operation that runs; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct OnStage {
    stage: Stage,
    /// Cancelled when the user aborts.
    pub(crate) abort: CancellationToken,
    ended: watch::Sender<bool>,
    has_left: bool,
}

/// An operation that waits for a turn to end; it gives up when this is dropped.
struct Next<'a>(&'a Stage);

impl Drop for Next<'_> {
    fn drop(&mut self) {
        self.0.lock().next = None;
    }
}

tokio::task_local! {
    /// The sessions whose hooks this task is running in.
    static HOOKED: Vec<usize>;
}

/// The sessions whose hooks something belongs to: so that it can be taken along to another task, and
/// what is done there is refused as it would be in the hook itself.
#[derive(Debug, Clone, Default)]
pub struct Within(Vec<usize>);

impl Within {
    /// Those that this task is running in.
    pub fn current() -> Within {
        Within(HOOKED.try_with(Clone::clone).unwrap_or_default())
    }

    /// Does something as a part of these hooks.
    pub async fn scope<T>(self, work: impl Future<Output = T>) -> T {
        HOOKED.scope(self.0, work).await
    }
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

    fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Runs a hook of this session. What it starts within its own task is refused if it would have to
    /// wait for what the hook is a part of.
    pub(crate) async fn hooked<T>(&self, hook: impl Future<Output = T>) -> T {
        let mut sessions = HOOKED.try_with(Clone::clone).unwrap_or_default();
        sessions.push(self.address());
        HOOKED.scope(sessions, hook).await
    }

    /// Begins an operation, if nothing runs.
    pub(crate) fn enter(&self, operation: Operation) -> Result<OnStage, AgentError> {
        self.enter_with(&mut self.lock(), operation, CancellationToken::new())
    }

    fn enter_with(
        &self,
        place: &mut Place,
        operation: Operation,
        abort: CancellationToken,
    ) -> Result<OnStage, AgentError> {
        let running = place.running.as_ref().map(|running| running.operation);
        if let Some(other) = running.or(place.next.as_ref().map(|next| next.0)) {
            return Err(AgentError::Busy { with: other.name() });
        }
        let (ended, receiver) = watch::channel(false);
        place.running = Some(Running { operation, abort: abort.clone(), ended: receiver });
        Ok(OnStage { stage: self.clone(), abort, ended, has_left: false })
    }

    /// Begins an operation that goes before a turn: one that runs is aborted, and waited for until
    /// what it had is stored. Anything else that runs, or waits already, is in the way; so is a turn
    /// whose hook asks for this, since it would wait for itself.
    pub(crate) async fn take_over(&self, operation: Operation) -> Result<OnStage, AgentError> {
        let abort = CancellationToken::new();
        let mut ended = {
            let mut place = self.lock();
            let turn = match (&place.running, &place.next) {
                (Some(running), None) if running.operation == Operation::Turn => running.clone(),
                _ => return self.enter_with(&mut place, operation, abort),
            };
            if HOOKED.try_with(|sessions| sessions.contains(&self.address())).unwrap_or(false) {
                return Err(AgentError::Busy { with: turn.operation.name() });
            }
            place.next = Some((operation, abort.clone()));
            turn.abort.cancel();
            turn.ended
        };
        let next = Next(self);
        // An error says that the sender is gone, which is an end as well.
        let _ = ended.wait_for(|ended| *ended).await;
        let mut place = self.lock();
        place.next = None;
        let entered = self.enter_with(&mut place, operation, abort);
        drop(place);
        std::mem::forget(next);
        entered
    }

    /// What runs now, or is about to.
    pub(crate) fn running(&self) -> Option<Operation> {
        let place = self.lock();
        place.running.as_ref().map(|running| running.operation).or(place.next.as_ref().map(|next| next.0))
    }

    /// Refuses what must not be done while anything runs.
    pub(crate) fn must_be_idle(&self) -> Result<(), AgentError> {
        self.lock().must_be_free()
    }

    /// Aborts what runs, and what waits to run.
    pub(crate) fn abort(&self) {
        let place = self.lock();
        let next = place.next.iter().map(|(_, abort)| abort);
        for abort in place.running.iter().map(|running| &running.abort).chain(next) {
            abort.cancel();
        }
    }

    /// Waits until nothing runs, or is about to.
    pub(crate) async fn idle(&self) {
        loop {
            let running = {
                let place = self.lock();
                if place.running.is_none() && place.next.is_none() {
                    return;
                }
                place.running.clone()
            };
            match running {
                Some(mut running) => drop(running.ended.wait_for(|ended| *ended).await),
                // What comes next is a moment away.
                None => tokio::time::sleep(Duration::from_millis(1)).await,
            }
        }
    }
}

impl OnStage {
    /// Makes room for the next operation. Who waits for the end is told when this is dropped.
    pub(crate) fn leave(&mut self) {
        if !std::mem::replace(&mut self.has_left, true) {
            self.stage.lock().running = None;
        }
    }
}

impl Drop for OnStage {
    fn drop(&mut self) {
        self.leave();
        // Nobody may be listening.
        let _ = self.ended.send(true);
    }
}

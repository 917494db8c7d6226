//! What is before the extensions: a terminal, a client, or nobody.

use std::sync::{Arc, Mutex, PoisonError};

use ramal_extension::{NoUi, OtherCommand, Ui};

/// Whoever has the user.
pub(crate) trait Front: Send + Sync {
    /// Shows what extensions show, and asks what they ask.
    fn ui(&self) -> Arc<dyn Ui>;

    /// Ends the program as if the user had.
    fn shut_down(&self);

    /// The commands that are no extension's.
    fn commands(&self) -> Vec<OtherCommand>;

    /// The extensions have ended, and others are loaded in their place.
    fn are_gone(&self) {}

    /// Extensions are there, or have become others.
    fn are_there(&self) {}

    /// The themes that they bring have become others.
    fn have_themes(&self) {}
}

/// Nobody: `ramal -p`.
pub(crate) struct Nobody;

impl Front for Nobody {
    fn ui(&self) -> Arc<dyn Ui> {
        Arc::new(NoUi)
    }

    /// It ends by itself when what was said is done.
    fn shut_down(&self) {}

    fn commands(&self) -> Vec<OtherCommand> {
        Vec::new()
    }
}

/// Where whoever has the user comes in.
#[derive(Default)]
pub(super) struct Door(Mutex<Option<Arc<dyn Front>>>);

impl Door {
    pub(super) fn set(&self, front: Arc<dyn Front>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(front);
    }

    pub(super) fn front(&self) -> Option<Arc<dyn Front>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn ui(&self) -> Option<Arc<dyn Ui>> {
        self.front().map(|front| front.ui())
    }
}

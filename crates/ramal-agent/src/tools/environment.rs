//! Which variables the commands that are run do not see: those that hold keys for models. What a command
//! prints stands in the session and goes to a model, and a key must do neither.

use std::collections::BTreeSet;
use std::sync::{PoisonError, RwLock};

/// One for the whole program, as the environment is.
static HIDDEN: RwLock<BTreeSet<String>> = RwLock::new(BTreeSet::new());

/// From now on the commands of all sessions are run without the variables of these names, and with
/// those that were hidden before.
pub fn hide_variables(names: impl IntoIterator<Item = String>) {
    *HIDDEN.write().unwrap_or_else(PoisonError::into_inner) = names.into_iter().collect();
}

/// The names of the variables that a command must not see.
pub fn hidden_variables() -> BTreeSet<String> {
    HIDDEN.read().unwrap_or_else(PoisonError::into_inner).clone()
}

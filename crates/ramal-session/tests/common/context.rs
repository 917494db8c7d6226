//! Questions about the context, answered as JSON values.

use ramal_session::{At, SessionManager};

use super::json::Json;

/// Whether there is an answer to these questions.
pub const KNOWN: bool = false;

/// State and messages at a position; none for an unknown entry.
pub fn context(_session: &SessionManager, _at: At<'_>) -> Option<Json> {
    None
}

/// The messages as the model gets them; none for an unknown entry.
pub fn model_messages(_session: &SessionManager, _at: At<'_>) -> Option<Vec<Json>> {
    None
}

//! Questions about the context, answered as JSON values.

use ramal_session::{At, SessionManager};

use super::json::Json;
use super::questions::value;

/// State and messages at a position; none for an unknown entry.
pub fn context(session: &SessionManager, at: At<'_>) -> Option<Json> {
    let context = session.build_session_context(at).ok()?;
    let Json::Object(mut members) = value(&context.state_json()) else { panic!("the state is no object") };
    let messages = context.messages().map(|message| value(&message.unwrap().json));
    members.insert(b"messages".to_vec(), Json::List(messages.collect()));
    Some(Json::Object(members))
}

/// The messages as the model gets them; none for an unknown entry.
pub fn model_messages(session: &SessionManager, at: At<'_>) -> Option<Vec<Json>> {
    let context = session.build_session_context(at).ok()?;
    Some(context.model_messages().map(|message| value(&message.unwrap())).collect())
}

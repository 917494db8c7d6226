//! Whether the last turn of a path broke off: the program was killed, or the machine went down.

use ramal_session::{EntryRef, Kind, ReadError, Role, SessionManager};

/// What was left open at the leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interruption {
    /// A message, or the results of calls, that the model has not answered.
    NotAnswered,
    /// So many calls of the last answer have no result: they were not run, not to their end, or what came
    /// of them was not stored.
    CallsWithoutResult(usize),
}

impl Interruption {
    /// What the user is told.
    pub fn message(self) -> String {
        match self {
            Interruption::NotAnswered => {
                "Nothing follows the last message: the turn was interrupted, or goes on in another program.".into()
            }
            Interruption::CallsWithoutResult(1) => {
                "A call of a tool has no result: the turn was interrupted, or goes on in another program. It may have run, wholly or in part; the model is told that nothing is known of its effects.".into()
            }
            Interruption::CallsWithoutResult(count) => format!(
                "{count} calls of tools have no result: the turn was interrupted, or goes on in another program. They may have run, wholly or in part; the model is told that nothing is known of their effects."
            ),
        }
    }
}

/// What was left open at the leaf; none if the last turn of its path came to an end. Reads one entry at
/// most, and where all calls have results, those. A question that was copied out to be asked another way looks the same as one that was
/// interrupted, so this is not to be asked of a session that was just made.
///
/// # Errors
/// If the log cannot be read any more.
pub fn interruption(session: &SessionManager) -> Result<Option<Interruption>, ReadError> {
    let mut at = session.get_leaf_entry();
    let mut results = Vec::new();
    while let Some(entry) = at {
        match (entry.kind(), entry.role()) {
            // What was cleared is left open on purpose.
            (Kind::ResetBoundary, _) => return Ok(None),
            (Kind::Message, Role::User) => return Ok(Some(Interruption::NotAnswered)),
            (Kind::Message, Role::ToolResult) => results.push(entry),
            (Kind::Message, Role::Assistant) => {
                let entry = entry.read()?;
                let calls = match entry.message() {
                    Some(message) if message.get_str("stopReason").as_deref() == Some("toolUse") => {
                        message.tool_calls().count()
                    }
                    _ => 0,
                };
                return Ok(match calls.saturating_sub(results.len()) {
                    0 if results.is_empty() || end_the_turn(&results)? => None,
                    0 => Some(Interruption::NotAnswered),
                    open => Some(Interruption::CallsWithoutResult(open)),
                });
            }
            (kind, _) if kind.is_conversation() => return Ok(None),
            _ => {}
        }
        at = entry.parent();
    }
    Ok(None)
}

/// Whether the tools wanted no more to be said.
fn end_the_turn(results: &[EntryRef<'_>]) -> Result<bool, ReadError> {
    for result in results {
        let result = result.read()?;
        let ends = result.message().and_then(|message| message.get("endsTurn").map(|ends| ends == "true"));
        if ends != Some(true) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(messages: &[&str]) -> Option<Interruption> {
        let mut session = SessionManager::in_memory("/work");
        for message in messages {
            session.append_message(message).unwrap();
        }
        session.append_custom_entry("bookkeeping", None).unwrap();
        interruption(&session).unwrap()
    }

    #[test]
    fn the_user_reads_what_the_model_is_told() {
        let mut session = SessionManager::in_memory("/work");
        let call = r#"{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"bash","arguments":{}}],"stopReason":"toolUse"}"#;
        session.append_message(call).unwrap();
        let said = interruption(&session).unwrap().unwrap().message();
        let context = session.build_session_context(ramal_session::At::Leaf).unwrap();
        let told: Vec<String> = context.model_messages().map(Result::unwrap).collect();
        let words = "othing is known of its effects";
        assert!(told.last().unwrap().contains(words) && said.contains(words), "{said}\n{told:?}");
        assert!(!said.contains("did not run"), "{said}");
    }

    #[test]
    fn what_was_cleared_is_not_open() {
        let mut session = SessionManager::in_memory("/work");
        session.append_message(r#"{"role":"user","content":"q"}"#).unwrap();
        assert_eq!(interruption(&session).unwrap(), Some(Interruption::NotAnswered));
        session.append_reset_boundary().unwrap();
        assert_eq!(interruption(&session).unwrap(), None);
    }

    #[test]
    fn what_is_left_open_is_told() {
        let ask = r#"{"role":"user","content":"q"}"#;
        let done = r#"{"role":"assistant","content":[{"type":"text","text":"a"}],"stopReason":"stop"}"#;
        let aborted = r#"{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"read","arguments":{}}],"stopReason":"aborted"}"#;
        let calls = r#"{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"read","arguments":{}},{"type":"toolCall","id":"d","name":"read","arguments":{}}],"stopReason":"toolUse"}"#;
        let result =
            r#"{"role":"toolResult","toolCallId":"c","toolName":"read","content":[],"isError":false}"#;
        assert_eq!(after(&[]), None);
        assert_eq!(after(&[ask]), Some(Interruption::NotAnswered));
        assert_eq!(after(&[ask, done]), None);
        assert_eq!(after(&[ask, aborted]), None);
        assert_eq!(after(&[ask, calls]), Some(Interruption::CallsWithoutResult(2)));
        assert_eq!(after(&[ask, calls, result]), Some(Interruption::CallsWithoutResult(1)));
        assert_eq!(after(&[ask, calls, result, result]), Some(Interruption::NotAnswered));
        let ends = result.replace("\"isError\"", "\"endsTurn\":true,\"isError\"");
        assert_eq!(after(&[ask, calls, &ends, &ends]), None);
        assert_eq!(after(&[ask, calls, &ends, result]), Some(Interruption::NotAnswered));
    }
}

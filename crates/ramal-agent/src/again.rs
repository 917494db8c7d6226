//! Repeating a turn that failed, was ended or broke off: the model is asked once more, and what came of it
//! before stays in the tree.

use ramal_session::{EntryId, Kind, ReadError, Role, SessionManager};

use crate::AgentSession;
use crate::error::AgentError;
use crate::events::AgentEvent;
use crate::operation::Operation;

/// From where the model is asked once more.
#[derive(Debug, Clone, PartialEq, Eq)]
enum From {
    /// From before an answer that failed: the next one is its sibling.
    Before(EntryId),
    /// From the leaf. What was said behind an answer that failed is to be seen, the answer is not.
    LeafWithout(EntryId),
    /// From the leaf, since nothing answers it.
    Leaf,
}

impl AgentSession {
    /// Repeats the last turn, where it failed, the user ended it, or it broke off with the program. Only the
    /// request that failed is made again: what tools did before it is done.
    ///
    /// The new answer is a sibling of the failed one. Where something else was said behind that, such as a
    /// command of the user's or a compaction, the new one hangs there, and the failed one is left out of
    /// the context. A model and a thinking level that were chosen since count. What a tool did not finish is
    /// not run again by itself: the model is told that nothing is known of it.
    ///
    /// Answers the entry from which the model is asked, when it is being asked, as
    /// [`AgentSession::prompt`] does.
    ///
    /// # Errors
    /// [`AgentError::NothingToRetry`] if the last turn came to its end; if anything runs, no model can be
    /// asked, the directory is gone, or the log could not be read or appended to. The leaf is where it was.
    pub fn retry(&self) -> Result<EntryId, AgentError> {
        let stage = self.shared.stage.enter(Operation::Turn)?;
        match self.must_be_able_to_work().and_then(|()| self.stand_for_retry()) {
            Ok(from) => {
                self.ask_again(stage, from.clone());
                Ok(from)
            }
            Err(error) => {
                // What waits to be said goes on waiting.
                self.store_aside(&mut self.queue());
                drop(stage);
                Err(error)
            }
        }
    }

    /// Stands where the model is to be asked once more, and tells it where that is another place.
    fn stand_for_retry(&self) -> Result<EntryId, AgentError> {
        let choice = self.model_choice()?;
        let mut manager = self.manager();
        let from = find(&manager)?.ok_or(AgentError::NothingToRetry)?;
        let old_leaf = manager.get_leaf_id()?;
        let stood = match &from {
            From::Before(entry) => {
                manager.branch(entry)?;
                self.choose_in(&mut manager, &choice)
            }
            From::LeafWithout(answer) => {
                manager.append_context_edit(answer, None).map(drop).map_err(AgentError::from)
            }
            From::Leaf => Ok(()),
        };
        if let (Err(error), Some(leaf)) = (stood, &old_leaf) {
            manager.branch(leaf)?;
            return Err(error);
        }
        let leaf = manager.get_leaf_id()?.ok_or(AgentError::NothingToRetry)?;
        drop(manager);
        if matches!(from, From::Before(_)) {
            self.emit(AgentEvent::SessionTree {
                new_leaf_id: Some(leaf.to_string()),
                old_leaf_id: old_leaf.map(|id| id.to_string()),
                summary_entry: None,
                from_extension: None,
            });
        }
        Ok(leaf)
    }
}

/// From where the last turn of the path can be repeated; none if it came to its end. Reads one entry at most.
fn find(session: &SessionManager) -> Result<Option<From>, ReadError> {
    let mut at = session.get_leaf_entry();
    let (mut results, mut is_behind) = (0, false);
    while let Some(entry) = at {
        match (entry.kind(), entry.role()) {
            // What was cleared is not gone back to.
            (Kind::ResetBoundary, _) => return Ok(None),
            (Kind::Message, Role::User) => return Ok(Some(From::Leaf)),
            (Kind::Message, Role::ToolResult) => results += 1,
            (Kind::Message, Role::Assistant) => {
                let read = entry.read()?;
                let Some(message) = read.message() else { return Ok(None) };
                let from = match message.get_str("stopReason").as_deref() {
                    // What hangs behind its results is another turn.
                    Some("error" | "aborted") if results == 0 => match entry.parent() {
                        _ if is_behind => Some(From::LeafWithout(entry.id()?)),
                        Some(parent) => Some(From::Before(parent.id()?)),
                        None => None,
                    },
                    Some("toolUse") if results > 0 || message.tool_calls().next().is_some() => {
                        Some(From::Leaf)
                    }
                    _ if results > 0 => Some(From::Leaf),
                    _ => None,
                };
                return Ok(from);
            }
            (kind, _) => is_behind |= kind.is_conversation(),
        }
        at = entry.parent();
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASK: &str = r#"{"role":"user","content":"q"}"#;
    const DONE: &str = r#"{"role":"assistant","content":[{"type":"text","text":"a"}],"stopReason":"stop"}"#;
    const FAILED: &str =
        r#"{"role":"assistant","content":[{"type":"text","text":"h"}],"stopReason":"error"}"#;
    const ABORTED: &str = r#"{"role":"assistant","content":[],"stopReason":"aborted"}"#;
    const CALLS: &str = r#"{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"read","arguments":{}}],"stopReason":"toolUse"}"#;
    const RESULT: &str =
        r#"{"role":"toolResult","toolCallId":"c","toolName":"read","content":[],"isError":true}"#;
    const COMMAND: &str = r#"{"role":"bashExecution","command":"ls","output":"","exitCode":0}"#;

    /// What is found behind these messages, with the position of the entry that it names.
    fn found(messages: &[&str]) -> Option<(&'static str, usize)> {
        let mut session = SessionManager::in_memory("/work");
        let mut ids = Vec::new();
        for message in messages {
            ids.push(match *message {
                "boundary" => session.append_reset_boundary().unwrap(),
                "name" => session.append_session_info("name").unwrap(),
                "note" => session.append_custom_message_entry("note", "\"n\"", true, None).unwrap(),
                message => session.append_message(message).unwrap(),
            });
        }
        let place = |id: &EntryId| ids.iter().position(|other| other == id).unwrap();
        find(&session).unwrap().map(|from| match &from {
            From::Before(id) => ("before", place(id)),
            From::LeafWithout(id) => ("without", place(id)),
            From::Leaf => ("leaf", ids.len() - 1),
        })
    }

    #[test]
    fn an_answer_that_failed_gets_a_sibling() {
        assert_eq!(found(&[ASK, FAILED]), Some(("before", 0)));
        assert_eq!(found(&[ASK, ABORTED, "name"]), Some(("before", 0)));
        assert_eq!(found(&[ASK, CALLS, RESULT, FAILED]), Some(("before", 2)));
        assert_eq!(found(&[FAILED]), None, "nothing was asked");
    }

    #[test]
    fn what_was_said_behind_it_is_seen() {
        assert_eq!(found(&[ASK, FAILED, COMMAND]), Some(("without", 1)));
        assert_eq!(found(&[ASK, ABORTED, "note", "name"]), Some(("without", 1)));
    }

    #[test]
    fn what_broke_off_goes_on() {
        assert_eq!(found(&[ASK]), Some(("leaf", 0)));
        assert_eq!(found(&[ASK, CALLS]), Some(("leaf", 1)));
        assert_eq!(found(&[ASK, CALLS, RESULT, "name"]), Some(("leaf", 3)));
        assert_eq!(found(&[ASK, COMMAND]), Some(("leaf", 1)));
    }

    #[test]
    fn what_came_to_its_end_is_not_repeated() {
        for messages in [
            &[][..],
            &[ASK, DONE],
            &[ASK, DONE, COMMAND],
            &[ASK, FAILED, ASK, DONE, "note"],
            &["note"],
            &[ASK, FAILED, "boundary"],
            &[ASK, "boundary", "name"],
        ] {
            assert_eq!(found(messages), None, "{messages:?}");
        }
    }
}

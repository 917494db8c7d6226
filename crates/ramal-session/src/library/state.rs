//! How a session ended: what its last turn came to, and what was said last.

use crate::SessionManager;
use crate::entry::{Entry, Kind, Role};

use super::listing::{TYPED, one_line};

/// What the last turn of a session came to, where one would go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SessionState {
    /// The turn came to its end.
    Complete,
    /// Something is not answered: a message, the results of calls, or calls without results. The program was
    /// killed, or the turn goes on in another one.
    Interrupted,
    /// The user stopped it.
    Aborted,
    /// It ended with an error.
    Error,
    /// Nothing has been said.
    Empty,
}

impl SessionState {
    /// Its name in a word.
    pub fn name(self) -> &'static str {
        match self {
            SessionState::Complete => "complete",
            SessionState::Interrupted => "interrupted",
            SessionState::Aborted => "aborted",
            SessionState::Error => "error",
            SessionState::Empty => "empty",
        }
    }
}

/// What was said last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastMessage {
    /// By whom: the user or the model.
    pub role: Role,
    /// In one line and cut after 2,000 characters.
    pub text: String,
}

/// How the path to the leaf ends. Reads as many entries as it takes to find one that says something: the last
/// answer mostly does.
pub(super) fn end_of(session: &SessionManager) -> (SessionState, Option<LastMessage>) {
    let mut state = None;
    let mut results = 0;
    let mut read = 0;
    let mut at = session.get_leaf_entry().map(|leaf| leaf.position() as u32);
    while let Some(number) = at {
        let node = session.tree.node(number);
        at = session.tree.parent(number);
        match (node.kind, node.role) {
            (Kind::Message, Role::ToolResult) => results += 1,
            (Kind::Message, role @ (Role::User | Role::Assistant)) => {
                // What cannot be read any more, or is far too long, costs a row its text and nothing else.
                let entry = (node.len() <= TYPED).then(|| session.entry(number).ok()).flatten();
                state.get_or_insert_with(|| match role {
                    Role::User => SessionState::Interrupted,
                    _ => of_answer(entry.as_ref(), results),
                });
                let text = entry.map(|entry| one_line(&entry.text())).filter(|text| !text.is_empty());
                if let Some(text) = text {
                    return (state.unwrap_or(SessionState::Complete), Some(LastMessage { role, text }));
                }
                read += 1;
                if read == LOOKED_AT {
                    break;
                }
            }
            (kind, _) if kind.is_conversation() => {
                state.get_or_insert(SessionState::Complete);
            }
            _ => {}
        }
    }
    (state.unwrap_or(SessionState::Empty), None)
}

/// Messages that are looked at for something said; an answer may be calls and nothing else.
const LOOKED_AT: usize = 16;

/// What a turn came to whose last answer has so many results of calls behind it.
fn of_answer(entry: Option<&Entry>, results: usize) -> SessionState {
    let message = entry.and_then(Entry::message);
    let reason = message.and_then(|message| message.get_str("stopReason")).unwrap_or_default();
    let calls = message.map_or(0, |message| message.tool_calls().count());
    match &*reason {
        "aborted" => SessionState::Aborted,
        "error" => SessionState::Error,
        "toolUse" if calls > results => SessionState::Interrupted,
        _ if results > 0 => SessionState::Interrupted,
        _ => SessionState::Complete,
    }
}

//! Which call a tool's result answers.

use super::super::node::NONE;
use crate::entry::{Entry, Role};
use crate::error::ReadError;
use crate::{EntryRef, SessionManager, ToolCall};

/// A call of a tool, as the answer that made it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallOf {
    /// The id that its result names.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as JSON text.
    pub arguments: String,
}

impl From<ToolCall<'_>> for CallOf {
    fn from(call: ToolCall<'_>) -> CallOf {
        CallOf {
            id: call.id.into_owned(),
            name: call.name.into_owned(),
            arguments: call.arguments.to_owned(),
        }
    }
}

/// Finds the calls that results answer: on the path above them. Results mostly come in runs behind
/// the answer that asked for them, so the calls of one answer are kept.
#[derive(Debug)]
pub struct Calls {
    answer: u32,
    calls: Vec<CallOf>,
}

/// How many entries above a result its call is looked for.
const STEPS: usize = 256;

/// The answers in which the call of a result is looked for. A call and its result have no other answer
/// between them, save for odd logs.
pub(super) fn answers_above<'a>(session: &'a SessionManager, at: EntryRef<'a>) -> impl Iterator<Item = u32> {
    let above = session.tree.upwards(at.position() as u32).take(STEPS);
    above.filter(|&number| session.tree.node(number).role == Role::Assistant).take(3)
}

impl Default for Calls {
    fn default() -> Self {
        Calls { answer: NONE, calls: Vec::new() }
    }
}

impl Calls {
    /// Keeps the calls of an answer that was just read anyway.
    pub fn note(&mut self, at: EntryRef<'_>, answer: &Entry) {
        self.answer = at.position() as u32;
        let message = answer.message();
        self.calls = message.into_iter().flat_map(|message| message.tool_calls()).map(CallOf::from).collect();
    }

    /// The call that an entry answers, if it is the result of one. An answer is kept, so that the results
    /// behind it find their calls.
    ///
    /// # Errors
    /// If the log cannot be read any more.
    pub fn of_entry(
        &mut self,
        session: &SessionManager,
        at: EntryRef<'_>,
        entry: &Entry,
    ) -> Result<Option<&CallOf>, ReadError> {
        match entry.role() {
            Role::Assistant => self.note(at, entry),
            Role::ToolResult => {
                let id =
                    entry.message().and_then(|message| Some(message.get_str("toolCallId")?.into_owned()));
                if let Some(id) = id {
                    return self.of(session, at, &id);
                }
            }
            _ => {}
        }
        Ok(None)
    }

    /// The call that the result at `at` answers by `call_id`.
    ///
    /// # Errors
    /// If the log cannot be read any more.
    pub fn of(
        &mut self,
        session: &SessionManager,
        at: EntryRef<'_>,
        call_id: &str,
    ) -> Result<Option<&CallOf>, ReadError> {
        for number in answers_above(session, at) {
            if self.answer != number {
                let handle = session.handle(number);
                let answer = handle.read()?;
                self.note(handle, &answer);
            }
            if let Some(place) = self.calls.iter().position(|call| call.id == call_id) {
                return Ok(self.calls.get(place));
            }
        }
        Ok(None)
    }
}

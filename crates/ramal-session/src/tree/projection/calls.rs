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
        let answers = session
            .tree
            .upwards(at.position() as u32)
            .take(STEPS)
            .filter(|&number| session.tree.node(number).role == Role::Assistant);
        // A call and its result have no other answer between them, save for odd logs.
        for number in answers.take(3) {
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

//! Which call a tool's result answers.

use super::super::node::NONE;
use crate::entry::{Entry, Role};
use crate::error::ReadError;
use crate::json::{Members, members};
use crate::{EntryRef, SessionManager};

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
        self.calls = message.into_iter().flat_map(|message| message.blocks()).filter_map(call).collect();
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

/// The call that a block of an answer is. One walk: arguments can be long.
fn call(block: &str) -> Option<CallOf> {
    let bytes = block.as_bytes();
    let mut call = CallOf { id: String::new(), name: String::new(), arguments: "{}".into() };
    let mut is_call = false;
    for member in Members::new(bytes) {
        let value = &bytes[member.value.clone()];
        let text = || members::as_str(value).unwrap_or_default().into_owned();
        match &bytes[member.key] {
            b"type" if value != b"\"toolCall\"" => return None,
            b"type" => is_call = true,
            b"id" => call.id = text(),
            b"name" => call.name = text(),
            b"arguments" => call.arguments = block.get(member.value).unwrap_or("{}").into(),
            _ => {}
        }
    }
    is_call.then_some(call)
}

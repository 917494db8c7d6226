//! Searching in everything that entries say (contract, section 10).

use memchr::memmem::Finder;

use super::calls::Calls;
use crate::entry::{Entry, Kind, Role};
use crate::error::ReadError;
use crate::json::{decode, members};
use crate::{EntryRef, SessionManager};

/// The words that must all occur.
#[derive(Debug)]
pub(super) struct Search {
    words: Vec<Finder<'static>>,
}

impl Search {
    pub(super) fn new(words: &str) -> Search {
        let words = words.split_whitespace().map(str::to_lowercase);
        Search { words: words.map(|word| Finder::new(word.as_bytes()).into_owned()).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Leaves visible what matches, and the leaf. Entries are read in the order of the file, one at
    /// a time.
    pub(super) fn narrow(
        &self,
        session: &SessionManager,
        leaf: Option<u32>,
        visible: &mut [bool],
    ) -> Result<(), ReadError> {
        let mut calls = Calls::default();
        let mut text = String::new();
        for (number, shown) in (0u32..).zip(visible) {
            // An answer that is hidden holds the calls that results are found by.
            let is_answer = session.tree.node(number).role == Role::Assistant;
            if !*shown && !is_answer {
                continue;
            }
            let handle = session.handle(number);
            let entry = handle.read()?;
            if is_answer {
                calls.note(handle, &entry);
            }
            if *shown && Some(number) != leaf {
                text.clear();
                collect(session, handle, &entry, &mut calls, &mut text)?;
                let text = text.to_lowercase();
                *shown = self.words.iter().all(|word| word.find(text.as_bytes()).is_some());
            }
        }
        Ok(())
    }
}

/// Everything an entry says, pieces on lines of their own.
fn collect(
    session: &SessionManager,
    at: EntryRef<'_>,
    entry: &Entry,
    calls: &mut Calls,
    out: &mut String,
) -> Result<(), ReadError> {
    let mut say = |text: &str| {
        out.push_str(text);
        out.push('\n');
    };
    say(at.label().unwrap_or_default());
    say(&entry.type_name());
    match entry.kind() {
        Kind::Message => {
            let Some(message) = entry.message() else { return Ok(()) };
            say(&message.get_str("role").unwrap_or_default());
            say(&message.text());
            for call in message.tool_calls() {
                say(&call.name);
                say(&plain(call.arguments));
            }
            for key in ["toolName", "output", "errorMessage", "customType", "stopReason", "summary"] {
                say(&message.get_str(key).unwrap_or_default());
            }
            if entry.role() == Role::FileMention {
                say(&plain(message.get("files").unwrap_or_default()));
            }
            if entry.role() == Role::ToolResult
                && let Some(id) = message.get_str("toolCallId")
                && let Some(call) = calls.of(session, at, &id)?
            {
                say(&call.name);
                say(&plain(&call.arguments));
            }
        }
        // Of the other types, all that stands behind the envelope is what they say.
        _ => {
            for member in crate::json::Members::new(entry.json().as_bytes()) {
                let key = decode(&entry.json().as_bytes()[member.key]);
                if !matches!(&*key, "type" | "id" | "parentId" | "timestamp" | "preserveData") {
                    say(&plain(&entry.json()[member.value]));
                }
            }
        }
    }
    Ok(())
}

/// JSON text with its strings as they read: what a person would search for in it.
fn plain(json: &str) -> String {
    let bytes = json.as_bytes();
    let mut out = String::with_capacity(json.len());
    let mut from = 0;
    while let Some(quote) = memchr::memchr(b'"', &bytes[from..]).map(|at| from + at) {
        out.push_str(&json[from..quote]);
        let Some(inner) = members::string_at(bytes, quote) else { break };
        from = inner.end + 1;
        out.push_str(&decode(&bytes[inner]));
    }
    out.push_str(json.get(from..).unwrap_or_default());
    out
}

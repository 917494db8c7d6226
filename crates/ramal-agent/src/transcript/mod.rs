//! A conversation as text for a model that is to sum it up: what goes in, how much of it, and which
//! files it was about. No model is asked here.

mod files;
mod section;

use std::collections::HashMap;

use ramal_model::Endpoint;

pub(crate) use files::{Files, without_lists};
pub(crate) use section::{Section, message_of};

use crate::tokens::BYTES;

/// Stands first where older parts did not fit.
const LEFT_OUT: &str = "[What came before this is not shown.]";

/// How much of what may go into a request for a summary, in bytes but for the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    /// The conversation: the context window less what is reserved.
    pub(crate) conversation: u64,
    /// What a summary at the edge may take beyond that.
    pub(crate) edge: u64,
    /// Tokens of the answer.
    pub(crate) answer: u64,
}

impl Budget {
    /// `reserve` tokens of the window are kept free: half of them for the answer, a quarter for a summary
    /// at the edge, the rest for the prompt. Of a small window never more than half is reserved; where
    /// it is not known how large a window is, everything goes in.
    pub(crate) fn of(endpoint: &Endpoint, reserve: u64) -> Budget {
        let window = endpoint.context_window;
        let reserve = fitting_reserve(reserve, window);
        let answer = match endpoint.max_output {
            0 => reserve / 2,
            most => most.min(reserve / 2),
        };
        let tokens = if window == 0 { u64::MAX / BYTES } else { window - reserve };
        Budget { conversation: tokens * BYTES, edge: reserve / 4 * BYTES, answer: answer.max(1) }
    }
}

/// What is reserved of a window, in tokens: at most half of it.
pub(crate) fn fitting_reserve(reserve: u64, window: u64) -> u64 {
    if window == 0 { reserve } else { reserve.min(window / 2) }
}

/// What came of calls, found by looking at sections from the newest to the oldest.
#[derive(Debug, Default)]
pub(crate) struct Outcomes {
    failed: HashMap<String, bool>,
    pub(crate) files: Files,
}

impl Outcomes {
    /// Takes in the next older section. Files of calls that failed do not count; a call without a result
    /// says so.
    pub(crate) fn take(&mut self, section: &mut Section) {
        if let Some((call, failed)) = section.result.take() {
            self.failed.insert(call, failed);
        }
        let mut without = String::new();
        for call in section.calls.drain(..) {
            let failed = self.failed.remove(&call.id);
            if failed.is_none() {
                without += &format!("\n\n[No result of {}: it did not run to its end]", call.name);
            }
            if failed != Some(true)
                && let Some(touched) = call.touched
            {
                self.files.add(touched);
            }
        }
        section.text += &without;
    }
}

/// A conversation as text, put together from its end (contract, section 6, "Summariser").
#[derive(Debug)]
pub(crate) struct Transcript {
    /// The newest first.
    texts: Vec<String>,
    left: u64,
    edge: u64,
    is_full: bool,
}

impl Transcript {
    pub(crate) fn new(budget: Budget) -> Transcript {
        Transcript { texts: Vec::new(), left: budget.conversation, edge: budget.edge, is_full: false }
    }

    /// Whether nothing older goes in any more.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Puts the next older section in. The first that does not fit ends it; it still goes in, as far as
    /// there is room, if it is a summary, since that stands for all that is older, or if there is
    /// nothing else.
    pub(crate) fn push_older(&mut self, section: Section) {
        if self.is_full {
            return;
        }
        if section.size() <= self.left {
            self.left -= section.size();
            self.texts.push(section.text);
            return;
        }
        self.is_full = true;
        let room = if section.is_summary { self.left.saturating_add(self.edge) } else { self.left };
        if section.is_summary || self.texts.is_empty() {
            self.texts.push(shortened(&section.text, room).to_owned());
        }
    }

    /// The whole text, oldest first.
    pub(crate) fn finish(mut self) -> String {
        if self.is_full {
            self.texts.push(LEFT_OUT.to_owned());
        }
        self.texts.reverse();
        self.texts.join("\n\n")
    }
}

/// The beginning of a text, in bytes.
pub(crate) fn shortened(text: &str, bytes: u64) -> &str {
    let end = usize::try_from(bytes).unwrap_or(usize::MAX);
    text.get(..text.floor_char_boundary(end)).unwrap_or(text)
}

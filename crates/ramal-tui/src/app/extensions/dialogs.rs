//! What extensions ask the user: one of several, yes or no, a line, a text.

use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::super::spinner;
use crate::question::{Question, Told};

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// One of these.
    Choice(Vec<String>),
    /// Yes or no to this.
    Consent(String),
    /// A line; the text is seen where nothing is written yet.
    Line(String),
    /// A text of several lines that begins as this.
    Text(String),
}

/// What the user answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// The number of what was chosen, from 0.
    Choice(usize),
    /// Yes, or no.
    Consent(bool),
    /// What was written.
    Text(String),
}

/// A question of an extension's.
#[derive(Debug)]
pub struct Dialog {
    /// Who asks.
    pub extension: String,
    /// What stands above.
    pub title: String,
    /// What is asked for.
    pub wanted: Wanted,
    /// After so long whoever asks waits no more, which is told beforehand.
    pub timeout: Option<Duration>,
    /// Takes the answer; none if the user gave none. Once nobody waits for it any more the question is gone.
    pub answer: oneshot::Sender<Option<Given>>,
}

/// A dialog that waits, or is on the screen.
#[derive(Debug)]
pub(in crate::app) struct Waiting {
    pub(in crate::app) dialog: Dialog,
    /// When it will have been waited for long enough.
    until: Option<Instant>,
}

impl Waiting {
    pub(in crate::app) fn new(dialog: Dialog) -> Waiting {
        let until = dialog.timeout.and_then(|limit| Instant::now().checked_add(limit));
        Waiting { dialog, until }
    }

    /// Whether nobody waits for an answer any more.
    pub(in crate::app) fn is_over(&self) -> bool {
        self.dialog.answer.is_closed()
    }

    /// Whether it says how long it is waited for.
    pub(in crate::app) fn has_limit(&self) -> bool {
        self.until.is_some()
    }

    /// Who asks, and how long an answer is waited for.
    pub(in crate::app) fn above(&self) -> String {
        let left = self.until.map(|until| {
            // Rounded up, so that nothing is left when nobody waits.
            let left = until.saturating_duration_since(Instant::now()) + Duration::from_millis(999);
            format!(" · {} left", spinner::lasting(left))
        });
        format!("{}{}", self.dialog.extension, left.unwrap_or_default())
    }

    /// The question, as it is seen.
    pub(in crate::app) fn question(&self) -> Question {
        let title = &*self.dialog.title;
        let question = match &self.dialog.wanted {
            Wanted::Choice(options) => {
                Question::select(title, options.iter().map(|option| &**option)).searched()
            }
            Wanted::Consent(message) => Question::yes_no(title, message, "Yes", "No"),
            Wanted::Line(placeholder) => Question::input(title, placeholder, ""),
            Wanted::Text(prefill) => Question::editor(title, "", prefill),
        };
        match self.dialog.wanted {
            Wanted::Consent(_) => question,
            _ => question.back("no answer"),
        }
    }

    /// Gives the answer to whoever waits for it.
    pub(in crate::app) fn answer(self, told: &Told) {
        let given = match (&self.dialog.wanted, told) {
            (Wanted::Choice(_), Told::Answer { option, .. }) => Some(Given::Choice(*option)),
            (Wanted::Consent(_), Told::Answer { option, .. }) => Some(Given::Consent(*option == 0)),
            (Wanted::Line(_) | Wanted::Text(_), Told::Answer { text: Some(text), .. }) => {
                Some(Given::Text(text.clone()))
            }
            _ => None,
        };
        // Whoever asked may just have given up.
        let _ = self.dialog.answer.send(given);
    }
}

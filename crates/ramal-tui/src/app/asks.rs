//! Questions that somebody behind the screen has for the user.

use std::collections::VecDeque;
use std::sync::mpsc::Sender;

use tokio::sync::oneshot;

use super::Message;
use crate::transcript::Block;

/// For how long a yes is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remembered {
    /// For the rest of the session.
    Session,
    /// For later sessions in the same directory, too.
    Project,
}

/// What the user answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Answer {
    /// Whether it may be done.
    pub is_yes: bool,
    /// For how long that holds; none: once.
    pub remembered: Option<Remembered>,
}

/// Whether a call of a tool may be run.
#[derive(Debug)]
pub struct Ask {
    /// The tool.
    pub tool: String,
    /// What the model wants to do, behind "to".
    pub reason: String,
    /// The arguments of the call, as JSON text.
    pub arguments: String,
    /// For how long a yes can be remembered.
    pub offered: Vec<Remembered>,
    /// Takes the answer. Once nobody waits for it any more the question is gone.
    pub answer: oneshot::Sender<Answer>,
}

/// Asks the user, from whatever thread.
#[derive(Debug, Clone)]
pub struct Asker(pub(super) Sender<Message>);

impl Asker {
    /// Puts a question behind those that wait. Nobody answers it once the program has ended.
    pub fn ask(&self, ask: Ask) {
        let _ = self.0.send(Message::Done(Box::new(move |app| app.ask(ask))));
    }

    /// Tells the user something.
    pub fn notice(&self, text: String) {
        let _ = self.0.send(Message::Done(Box::new(move |app| app.say(Block::notice(&text)))));
    }
}

/// The questions that wait, the first of which is seen.
#[derive(Debug, Default)]
pub(super) struct Asks(VecDeque<Ask>);

impl Asks {
    pub(super) fn push(&mut self, ask: Ask) {
        self.0.push_back(ask);
    }

    /// The next question that somebody still waits for.
    pub(super) fn next(&mut self) -> Option<Ask> {
        while let Some(ask) = self.0.pop_front() {
            if !ask.answer.is_closed() {
                return Some(ask);
            }
        }
        None
    }
}

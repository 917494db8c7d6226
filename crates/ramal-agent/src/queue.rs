//! What the user said while the model was at work, and waits to be said.

use std::collections::VecDeque;

use ramal_session::json::quote;

use crate::aside::Aside;

/// A message that the user wants to say: text, and images as JSON blocks of the log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prompt {
    /// What is said.
    pub text: String,
    /// Image blocks, each a JSON object.
    pub images: Vec<String>,
    /// What the user typed of it, where files and the like are said with it: by that a conversation can be
    /// named.
    pub typed: Option<String>,
}

impl Prompt {
    /// A prompt that is only text.
    pub fn text(text: impl Into<String>) -> Prompt {
        Prompt { text: text.into(), ..Prompt::default() }
    }

    /// The message of the log.
    pub(crate) fn to_message(&self, now: i64) -> String {
        let text = format!("{{\"type\":\"text\",\"text\":{}}}", quote(&self.text));
        // Images may come without a word; providers take no empty text.
        let text = (!self.text.is_empty() || self.images.is_empty()).then_some(&*text);
        let blocks: Vec<&str> = text.into_iter().chain(self.images.iter().map(|image| &**image)).collect();
        format!("{{\"role\":\"user\",\"content\":[{}],\"timestamp\":{now}}}", blocks.join(","))
    }
}

/// How many of the waiting messages are said at once (the settings `steeringMode`, `followUpMode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QueueMode {
    /// One, then the model answers.
    #[default]
    OneAtATime,
    /// All.
    All,
}

/// Messages that wait: those that steer go in at the next turn, those that follow when all is done.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub(crate) steering: VecDeque<Prompt>,
    pub(crate) follow_up: VecDeque<Prompt>,
    pub(crate) steering_mode: QueueMode,
    pub(crate) follow_up_mode: QueueMode,
    /// What is to be stored when nothing runs any more.
    pub(crate) aside: Vec<Aside>,
}

impl Queue {
    /// What is to be said before the model is asked again.
    pub(crate) fn next_steering(&mut self) -> Vec<Prompt> {
        take(&mut self.steering, self.steering_mode)
    }

    fn next_follow_up(&mut self) -> Vec<Prompt> {
        take(&mut self.follow_up, self.follow_up_mode)
    }

    /// What is to be said when the model has nothing more to do: what steers goes first.
    pub(crate) fn next(&mut self) -> Vec<Prompt> {
        let said = self.next_steering();
        if said.is_empty() { self.next_follow_up() } else { said }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.steering.is_empty() && self.follow_up.is_empty()
    }

    /// The texts that wait, for whoever shows them.
    pub(crate) fn texts(&self) -> (Vec<String>, Vec<String>) {
        let texts = |queue: &VecDeque<Prompt>| queue.iter().map(|prompt| prompt.text.clone()).collect();
        (texts(&self.steering), texts(&self.follow_up))
    }
}

fn take(queue: &mut VecDeque<Prompt>, mode: QueueMode) -> Vec<Prompt> {
    match mode {
        QueueMode::OneAtATime => queue.pop_front().into_iter().collect(),
        QueueMode::All => queue.drain(..).collect(),
    }
}

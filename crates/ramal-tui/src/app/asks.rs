//! Questions that somebody behind the screen has for the user.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use super::extensions::dialogs::{self, Dialog};
use super::extensions::shown::Show;
use super::{App, Message};
use crate::text::human;
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

/// What is known on every thread.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// What stands in the editor.
    written: Mutex<String>,
    /// Nobody answers any more.
    is_over: AtomicBool,
    /// Notices of extensions that are not said yet.
    notices: AtomicUsize,
    /// Those for which there was no room.
    left_out: AtomicUsize,
}

/// Notices of extensions that wait to be said, at most.
const NOTICES: usize = 1000;

/// Bytes of a notice that are said.
const LONGEST: usize = 16 << 10;

impl Shared {
    pub(super) fn set_written(&self, text: String) {
        *self.written.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    /// Whether there is room for one more notice.
    fn has_room(&self) -> bool {
        let has_room = self.notices.load(Ordering::SeqCst) < NOTICES;
        if has_room { &self.notices } else { &self.left_out }.fetch_add(1, Ordering::SeqCst);
        has_room
    }

    /// A notice is said. When it was the last: for how many there was no room.
    fn is_said(&self) -> usize {
        match self.notices.fetch_sub(1, Ordering::SeqCst) {
            1 => self.left_out.swap(0, Ordering::SeqCst),
            _ => 0,
        }
    }

    /// From now on nobody answers.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }
}

/// Asks the user and tells them things, from whatever thread. Nothing of it is heard once the program has ended.
#[derive(Debug, Clone)]
pub struct Asker {
    pub(super) messages: Sender<Message>,
    pub(super) shared: Arc<Shared>,
}

impl Asker {
    fn tell(&self, job: impl FnOnce(&mut App) + Send + 'static) {
        let _ = self.messages.send(Message::Done(Box::new(job)));
    }

    /// Whether there is somebody to be asked.
    pub fn is_there(&self) -> bool {
        !self.shared.is_over.load(Ordering::SeqCst)
    }

    /// Puts a question behind those that wait.
    pub fn ask(&self, ask: Ask) {
        self.tell(move |app| app.ask(ask));
    }

    /// Puts a question of an extension's behind those that wait.
    pub fn dialog(&self, dialog: Dialog) {
        let waiting = dialogs::Waiting::new(dialog);
        self.tell(move |app| app.ask_dialog(waiting));
    }

    /// Somebody does not wait for an answer any more.
    pub fn gave_up(&self) {
        self.tell(App::ask_next);
    }

    /// Tells the user something.
    pub fn notice(&self, text: String) {
        self.tell(move |app| app.say(Block::notice(&text)));
    }

    /// Shows what an extension shows. Of notices that come faster than they can be said, some are left out.
    pub fn show(&self, extension: &str, show: Show) {
        if let Show::Notice { mut text, weight } = show {
            if !self.shared.has_room() {
                return;
            }
            if text.len() > LONGEST {
                text.truncate(text.floor_char_boundary(LONGEST));
                text.push('…');
            }
            let extension = extension.to_owned();
            return self.tell(move |app| {
                app.show(&extension, Show::Notice { text, weight });
                let left_out = app.shared.is_said();
                if left_out > 0 {
                    let count = human::count(left_out as u64);
                    app.say(Block::notice(&format!(
                        "{count} more notices of extensions came at once and were left out"
                    )));
                }
            });
        }
        if let Show::Written(text) = &show {
            // Whoever asks for it next is answered so, even if it is not seen yet.
            self.shared.set_written(text.clone());
        }
        let extension = extension.to_owned();
        self.tell(move |app| app.show(&extension, show));
    }

    /// What stands in the editor.
    pub fn written(&self) -> String {
        self.shared.written.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The extensions of before are gone, with all that they have shown.
    pub fn forget_extensions(&self) {
        self.tell(App::forget_extensions);
    }

    /// Others are loaded.
    pub fn has_extensions(&self) {
        self.tell(App::has_extensions);
    }

    /// The themes that there are have become others.
    pub fn has_themes(&self) {
        self.tell(App::choose_theme);
    }

    /// Ends the program, as if the user had.
    pub fn leave(&self) {
        self.tell(App::leave);
    }
}

/// A question that waits.
#[derive(Debug)]
pub(super) enum Waiting {
    /// Of a tool.
    Tool(Ask),
    /// Of an extension.
    Dialog(dialogs::Waiting),
}

impl Waiting {
    fn is_over(&self) -> bool {
        match self {
            Waiting::Tool(ask) => ask.answer.is_closed(),
            Waiting::Dialog(dialog) => dialog.is_over(),
        }
    }
}

/// The questions that wait, the first of which is seen.
#[derive(Debug, Default)]
pub(super) struct Asks(VecDeque<Waiting>);

impl Asks {
    pub(super) fn push(&mut self, waiting: Waiting) {
        self.0.push_back(waiting);
    }

    /// The next question that somebody still waits for. What a tool may do is not asked above what covers the
    /// screen.
    pub(super) fn next(&mut self, is_covered: bool) -> Option<Waiting> {
        self.0.retain(|waiting| !waiting.is_over());
        let can_be_asked = |waiting: &Waiting| !is_covered || matches!(waiting, Waiting::Dialog(_));
        let at = self.0.iter().position(can_be_asked)?;
        self.0.remove(at)
    }

    /// Nobody is asked any more.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_that_come_too_fast_are_counted() {
        let shared = Shared::default();
        let room = (0..NOTICES + 7).filter(|_| shared.has_room()).count();
        assert_eq!(room, NOTICES);
        assert_eq!((1..NOTICES).map(|_| shared.is_said()).sum::<usize>(), 0);
        assert_eq!(shared.is_said(), 7);
        assert!(shared.has_room());
        assert_eq!(shared.is_said(), 0, "they are told of once");
    }
}

//! What keys do on the main screen.

use std::time::{Duration, Instant};

use ramal_agent::Operation;

use super::over::Over;
use super::questions::Asked;
use super::say::When;
use super::{App, DoubleEscape, Effect, Leaving};
use crate::editor::{EditorAction, Outcome};
use crate::keys::{ActionId, Key, Place};
use crate::tree_selector::Direction;

/// Whoever types pauses so long before a question is answered.
const PAUSE: Duration = Duration::from_millis(700);

impl App {
    pub(super) fn key(&mut self, key: Key) {
        if self.question.is_some() && !self.is_typing() && !self.shows_hotkeys() {
            return self.question_key(key);
        }
        if !self.over.is_empty() {
            self.pressed_at = Some(Instant::now());
            return self.over_key(key);
        }
        let place = if self.editor.is_empty() { Place::EmptyEditor } else { Place::Editor };
        let actions = self.look.keymap.actions(place, key).to_vec();
        if !actions.contains(&ActionId::Interrupt) {
            self.escape.forget();
        }
        if !actions.contains(&ActionId::Clear) {
            self.clear.forget();
        }
        if self.complete_key(key) {
            return;
        }
        let is_free = actions.is_empty();
        for action in actions {
            if self.act(action) {
                return self.typed();
            }
        }
        if is_free && self.run_key_of_extension(key) {
            return;
        }
        if let Some(letter) = key.typed() {
            self.editor.insert(letter.encode_utf8(&mut [0; 4]));
            self.typed_at = Some(Instant::now());
            self.typed();
        }
    }

    /// Whether somebody is in the middle of typing: a question that has just come up does not take what is
    /// meant for the editor for its answer.
    fn is_typing(&self) -> bool {
        let comes_between = self.question.as_ref().is_some_and(Asked::came_by_itself);
        let pressed = match self.over.is_empty() {
            true => self.typed_at,
            false => self.pressed_at.filter(|_| comes_between),
        };
        pressed.is_some_and(|at| at.elapsed() < PAUSE)
    }

    /// Whether all keys are on the screen: they cover a question, too.
    pub(super) fn shows_hotkeys(&self) -> bool {
        matches!(self.over.last(), Some(Over::Hotkeys(_)))
    }

    pub(super) fn paste(&mut self, text: &str) {
        if self.question.is_some() && !self.is_typing() && self.question_paste(text) {
            return;
        }
        if !self.over.is_empty() {
            return self.over_paste(text);
        }
        self.paste_into_editor(text);
    }

    /// Does something on the main screen. Answers whether there was anything to do.
    pub(super) fn act(&mut self, action: ActionId) -> bool {
        if let Some(action) = EditorAction::from_id(action.name()) {
            match self.editor.handle(action) {
                Outcome::Done => {}
                Outcome::Nothing => return false,
                Outcome::Submit => self.submit(When::Soon),
                Outcome::Complete => self.complete(),
                // There is nothing selected in a terminal that we would know of.
                Outcome::Copy => self.copy_written(self.editor.text()),
            }
            return true;
        }
        match action {
            ActionId::Interrupt => self.escape(),
            ActionId::Clear => self.clear(),
            ActionId::Exit => self.leave(),
            ActionId::Tree => self.open_tree(),
            ActionId::Fork => self.open_fork(),
            ActionId::Resume => self.open_sessions(),
            ActionId::NewSession => self.new_session(),
            ActionId::PreviousSibling => self.go_to_sibling(Direction::Back),
            ActionId::NextSibling => self.go_to_sibling(Direction::Forward),
            ActionId::OpenTranscript => self.open_transcript(),
            ActionId::ExpandTools => {
                self.is_open = !self.is_open;
                self.is_resized = true;
                self.render_again();
            }
            ActionId::SelectModel => self.open_models(),
            ActionId::NextModel => self.cycle_model(Direction::Forward),
            ActionId::PreviousModel => self.cycle_model(Direction::Back),
            ActionId::CycleThinking => self.cycle_thinking(),
            ActionId::ToggleThinking => {
                self.hides_thinking = !self.hides_thinking;
                self.is_resized = true;
            }
            ActionId::FollowUp => self.submit(When::Afterwards),
            ActionId::Dequeue => return self.take_back(),
            ActionId::ExternalEditor => self.effects.push(Effect::ExternalEditor),
            ActionId::SearchHistory => self.open_history(),
            ActionId::TakeOffered => return self.editor.handle(EditorAction::TakePrefill) == Outcome::Done,
            ActionId::StashDraft => self.stash(),
            ActionId::CopyPrompt => self.copy_written(self.editor.text()),
            ActionId::CopyLine => self.copy_written(self.editor.line()),
            ActionId::Suspend => self.effects.push(Effect::Suspend),
            ActionId::Hotkeys => self.open_hotkeys(),
            ActionId::Redraw => self.effects.push(Effect::Redraw),
            // What belongs to other places.
            _ => return false,
        }
        true
    }

    /// Copies something of what is written. Where there is nothing, what the clipboard has stays there.
    fn copy_written(&mut self, text: String) {
        if text.is_empty() {
            self.hint = Some("Nothing is written here that could be copied".into());
            return;
        }
        self.effects.push(Effect::Copy(text));
        self.hint = Some("Copied".into());
    }

    /// Escape: ends what runs; pressed twice on an empty editor, it opens what the settings say.
    fn escape(&mut self) {
        if self.abort() || !self.editor.is_empty() {
            self.escape.forget();
            return;
        }
        if !self.escape.press(Instant::now()) {
            return;
        }
        match self.wishes.double_escape {
            DoubleEscape::Tree => self.open_tree(),
            DoubleEscape::Branch => self.open_messages(),
            DoubleEscape::None => {}
        }
    }

    /// Ctrl+C: empties the editor, or ends what runs; pressed twice it leaves.
    fn clear(&mut self) {
        if !self.editor.is_empty() {
            self.editor.clear();
            self.clear.forget();
            return;
        }
        if self.clear.press(Instant::now()) {
            return self.leave();
        }
        let runs = self.abort();
        let key = self.look.keymap.hint(ActionId::Clear).unwrap_or_default();
        self.hint = Some(match runs {
            true => format!("Ended; {key} once more leaves"),
            false => format!("{key} once more leaves"),
        });
    }

    pub(super) fn leave(&mut self) {
        // A turn that runs is ended, and what it has is stored.
        if self.agent.running() == Some(Operation::Turn) {
            self.agent.abort();
        }
        self.leaving = Some(Leaving::Wanted);
    }
}

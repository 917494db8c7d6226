//! What is turned on at a terminal, and how that is undone.

use super::sequences::{self as seq, CursorShape};

/// What is turned on. Pasted text is marked in any case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Modes {
    /// Keys are reported by kitty's protocol.
    pub keyboard: bool,
    /// The window tells of its focus.
    pub focus: bool,
    /// The alternate screen is shown.
    pub alternate: bool,
    /// There is no cursor.
    pub cursor_hidden: bool,
    /// What the cursor looks like.
    pub shape: CursorShape,
    /// The window's title, if it has one of ours.
    pub title: Option<String>,
}

impl Modes {
    /// Turns all of it on at a terminal where nothing is.
    pub fn enter(&self) -> String {
        let mut bytes = String::from(seq::PASTE_ON);
        bytes += on(self.focus, seq::FOCUS_ON);
        bytes += on(self.keyboard, seq::KEYBOARD_PUSH);
        bytes += &on(self.alternate, self.switch(true));
        bytes += on(self.cursor_hidden, seq::CURSOR_OFF);
        bytes += on(self.shape != CursorShape::Default, self.shape.sequence());
        if let Some(title) = &self.title {
            bytes += seq::TITLE_PUSH;
            bytes += &seq::title(title);
        }
        bytes
    }

    /// Turns all of it off. `parting` is written on the main screen before, to leave the cursor below what
    /// is to stay.
    pub fn leave(&self, parting: &str) -> String {
        // A frame that broke off must not keep the rest from being seen.
        let mut bytes = String::from(seq::END_FRAME);
        bytes += &on(self.alternate, self.switch(false));
        bytes += seq::PLAIN_TEXT;
        bytes += parting;
        bytes += on(self.keyboard, seq::KEYBOARD_POP);
        bytes += on(self.focus, seq::FOCUS_OFF);
        bytes += seq::PASTE_OFF;
        bytes += on(self.shape != CursorShape::Default, CursorShape::Default.sequence());
        bytes += on(self.title.is_some(), seq::TITLE_POP);
        bytes += seq::CURSOR_ON;
        bytes
    }

    /// Goes to the alternate screen, or back. Each screen has its own keyboard protocol.
    pub(super) fn switch(&self, to_alternate: bool) -> String {
        match (to_alternate, self.keyboard) {
            (true, true) => [seq::ALTERNATE_ON, seq::KEYBOARD_PUSH].concat(),
            (true, false) => seq::ALTERNATE_ON.into(),
            (false, true) => [seq::KEYBOARD_POP, seq::ALTERNATE_OFF].concat(),
            (false, false) => seq::ALTERNATE_OFF.into(),
        }
    }
}

fn on<T: Default>(is_on: bool, value: T) -> T {
    if is_on { value } else { T::default() }
}

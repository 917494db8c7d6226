//! Frames: put together, then written at once.

use std::io;
use std::sync::Arc;

use super::Modes;
use super::sequences::{self as seq, CopyTooLong, CursorShape};
use super::shared::Shared;

/// Collects a frame. [`io::Write::flush`] sends it with one write, so that nothing of it is seen before the
/// rest; what was not flushed is never sent.
#[derive(Debug)]
pub struct TerminalWriter {
    shared: Arc<Shared>,
    frame: Vec<u8>,
    /// What the frame turns on and off, to be known once it is sent.
    changes: Vec<Change>,
    has_keyboard: bool,
}

#[derive(Debug)]
enum Change {
    Alternate(bool),
    CursorHidden(bool),
    Shape(CursorShape),
    Title(String),
}

impl Change {
    fn apply(self, modes: &mut Modes) {
        match self {
            Change::Alternate(alternate) => modes.alternate = alternate,
            Change::CursorHidden(hidden) => modes.cursor_hidden = hidden,
            Change::Shape(shape) => modes.shape = shape,
            Change::Title(title) => modes.title = Some(title),
        }
    }
}

impl TerminalWriter {
    pub(super) fn new(shared: Arc<Shared>) -> TerminalWriter {
        let has_keyboard = shared.has_keyboard();
        TerminalWriter { shared, frame: Vec::new(), changes: Vec::new(), has_keyboard }
    }

    fn push(&mut self, text: &str) {
        self.frame.extend_from_slice(text.as_bytes());
    }

    /// Goes to the alternate screen, or back to the main one.
    pub fn alternate_screen(&mut self, alternate: bool) {
        let modes = Modes { keyboard: self.has_keyboard, ..Modes::default() };
        self.push(&modes.switch(alternate));
        self.changes.push(Change::Alternate(alternate));
    }

    /// Shows or hides the cursor.
    pub fn show_cursor(&mut self, shown: bool) {
        self.push(if shown { seq::CURSOR_ON } else { seq::CURSOR_OFF });
        self.changes.push(Change::CursorHidden(!shown));
    }

    /// Gives the cursor a shape.
    pub fn cursor_shape(&mut self, shape: CursorShape) {
        self.push(shape.sequence());
        self.changes.push(Change::Shape(shape));
    }

    /// Gives the window a title. The one that it had comes back when the terminal is left.
    pub fn title(&mut self, title: &str) {
        // Titles are kept on a stack, and only the user's own goes there.
        let is_first = !self.changes.iter().any(|change| matches!(change, Change::Title(_)));
        if is_first && !self.shared.has_title() {
            self.push(seq::TITLE_PUSH);
        }
        self.push(&seq::title(title));
        self.changes.push(Change::Title(title.to_owned()));
    }

    /// Copies a text into the clipboard.
    ///
    /// # Errors
    /// If it is too long for terminals.
    pub fn copy(&mut self, text: &str, in_tmux: bool) -> Result<(), CopyTooLong> {
        let sequence = seq::copy(text, in_tmux)?;
        self.push(&sequence);
        Ok(())
    }

    /// Rings the bell.
    pub fn bell(&mut self) {
        self.push(seq::BELL);
    }

    /// What is to be written on the main screen when the terminal is left, from whatever place and for
    /// whatever reason: usually to go below what is drawn there. It holds from now on.
    pub fn set_parting(&mut self, parting: impl Into<String>) {
        self.shared.set_parting(parting.into());
    }
}

impl io::Write for TerminalWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.frame.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.frame.is_empty() {
            return Ok(());
        }
        let frame = [seq::BEGIN_FRAME.as_bytes(), &self.frame, seq::END_FRAME.as_bytes()].concat();
        self.frame.clear();
        let changes = std::mem::take(&mut self.changes);
        self.shared.write_frame(&frame, |modes| {
            changes.into_iter().for_each(|change| change.apply(modes));
        })
    }
}

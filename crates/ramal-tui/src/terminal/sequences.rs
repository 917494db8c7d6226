//! What terminals are told, as bytes.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::text::clean;

/// Nothing of what follows is shown until [`END_FRAME`]. Terminals that do not know it show it as it comes.
pub const BEGIN_FRAME: &str = "\x1b[?2026h";
/// All of it is shown now.
pub const END_FRAME: &str = "\x1b[?2026l";

pub(super) const PASTE_ON: &str = "\x1b[?2004h";
pub(super) const PASTE_OFF: &str = "\x1b[?2004l";
pub(super) const FOCUS_ON: &str = "\x1b[?1004h";
pub(super) const FOCUS_OFF: &str = "\x1b[?1004l";
pub(super) const ALTERNATE_ON: &str = "\x1b[?1049h";
pub(super) const ALTERNATE_OFF: &str = "\x1b[?1049l";
pub(super) const CURSOR_ON: &str = "\x1b[?25h";
pub(super) const CURSOR_OFF: &str = "\x1b[?25l";
/// Keys that differ are reported differently; nothing about their being let go.
pub(super) const KEYBOARD_PUSH: &str = "\x1b[>1u";
pub(super) const KEYBOARD_POP: &str = "\x1b[<1u";
pub(super) const TITLE_PUSH: &str = "\x1b[22;2t";
pub(super) const TITLE_POP: &str = "\x1b[23;2t";
pub(super) const PLAIN_TEXT: &str = "\x1b[0m";

/// Rings the bell.
pub const BELL: &str = "\x07";

/// Asks which keyboard protocol there is.
pub(super) const ASK_KEYBOARD: &str = "\x1b[?u";
/// Asks for the colour of the background.
pub(super) const ASK_BACKGROUND: &str = "\x1b]11;?\x1b\\";
/// Asks what every terminal answers, so that one need not wait for what a simple one does not.
pub(super) const ASK_ANYTHING: &str = "\x1b[c";

/// The most columns of a title that are sent: more than any window shows.
const TITLE_COLUMNS: usize = 200;

/// The most bytes that are copied at a time. Terminals drop what is longer than they expect, without a word.
pub const MOST_COPIED: usize = 74_000;

/// What the cursor looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CursorShape {
    /// As the user has it.
    #[default]
    Default,
    /// A block.
    Block,
    /// A line below the character.
    Underline,
    /// A line before it.
    Bar,
}

impl CursorShape {
    pub(super) fn sequence(self) -> &'static str {
        match self {
            CursorShape::Default => "\x1b[0 q",
            CursorShape::Block => "\x1b[2 q",
            CursorShape::Underline => "\x1b[4 q",
            CursorShape::Bar => "\x1b[6 q",
        }
    }
}

/// A text is longer than what terminals take for copying.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyTooLong {
    /// How many bytes it has.
    pub bytes: usize,
}

impl fmt::Display for CopyTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes are too many to copy through the terminal; the most is {MOST_COPIED}", self.bytes)
    }
}

impl std::error::Error for CopyTooLong {}

/// Gives the window a title. It is made harmless first.
pub fn title(text: &str) -> String {
    let line = clean::one_line(text, TITLE_COLUMNS);
    format!("\x1b]2;{}\x1b\\", crate::text::width::fit(&line, TITLE_COLUMNS))
}

/// Puts a text into the clipboard of whoever sits at the terminal, also over SSH. Inside tmux it is also
/// handed through to the terminal around it, since tmux by itself keeps it.
///
/// # Errors
/// If it is too long.
pub fn copy(text: &str, in_tmux: bool) -> Result<String, CopyTooLong> {
    if text.len() > MOST_COPIED {
        return Err(CopyTooLong { bytes: text.len() });
    }
    let copy = format!("\x1b]52;c;{}\x1b\\", BASE64_STANDARD.encode(text));
    if !in_tmux {
        return Ok(copy);
    }
    Ok(format!("{copy}\x1bPtmux;{}\x1b\\", copy.replace('\x1b', "\x1b\x1b")))
}

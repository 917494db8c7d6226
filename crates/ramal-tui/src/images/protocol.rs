//! How terminals are told to draw a picture.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::Format;

/// A way of telling a terminal to draw a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// kitty's, which takes PNG.
    Kitty,
    /// iTerm2's, which takes all that the terminal can read.
    Iterm,
}

/// The most of a picture that goes into one of kitty's commands.
const CHUNK: usize = 4096;

impl Protocol {
    /// What the variables of an environment say of the terminal. Nothing else is asked. Inside tmux and screen
    /// there are no pictures: those draw the screen themselves, and know nothing of what is not text.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Option<Protocol> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let term = set("TERM").unwrap_or_default();
        let is_multiplexed = ["TMUX", "STY", "ZELLIJ"].iter().any(|name| set(name).is_some());
        if is_multiplexed || ["tmux", "screen", "dumb"].iter().any(|name| term.starts_with(name)) {
            return None;
        }
        // This one comes along over SSH, and does not outlive the terminal.
        if term.contains("kitty") || term.contains("ghostty") {
            return Some(Protocol::Kitty);
        }
        match set("TERM_PROGRAM").as_deref() {
            Some("kitty" | "ghostty") => Some(Protocol::Kitty),
            Some("iTerm.app" | "WezTerm") => Some(Protocol::Iterm),
            // Some other terminal, that was started from one of them.
            Some(_) => None,
            None if set("KITTY_WINDOW_ID").is_some() => Some(Protocol::Kitty),
            None if set("LC_TERMINAL").as_deref() == Some("iTerm2") => Some(Protocol::Iterm),
            None => None,
        }
    }

    /// Whether pictures of that kind can be drawn so.
    pub fn draws(self, format: Format) -> bool {
        match self {
            Protocol::Kitty => format == Format::Png,
            Protocol::Iterm => true,
        }
    }

    /// What takes the pictures off the screen that are on it, before it is drawn anew. Those that have scrolled
    /// off stay. Nothing where pictures go with the cells that they stand in.
    pub fn clear(self) -> &'static str {
        match self {
            Protocol::Kitty => "\x1b_Ga=d,d=a,q=2\x1b\\",
            Protocol::Iterm => "",
        }
    }

    /// What draws a picture from where the cursor stands, over so many columns and rows.
    pub(super) fn encode(self, bytes: &[u8], columns: u16, rows: u16) -> String {
        let text = BASE64_STANDARD.encode(bytes);
        match self {
            Protocol::Kitty => kitty(&text, columns, rows),
            // The proportions are kept by the terminal within these cells.
            Protocol::Iterm => format!(
                "\x1b]1337;File=inline=1;size={};width={columns};height={rows};preserveAspectRatio=1:{text}\x07",
                bytes.len()
            ),
        }
    }
}

/// In pieces, since longer commands are refused. The terminal is to answer nothing (`q=2`), which would look
/// like keys, and to leave the cursor where it is (`C=1`).
fn kitty(text: &str, columns: u16, rows: u16) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 256 + 64);
    let mut rest = text;
    let mut what = format!("a=T,f=100,t=d,q=2,C=1,c={columns},r={rows},");
    loop {
        let (piece, after) = rest.split_at(rest.len().min(CHUNK));
        let more = u8::from(!after.is_empty());
        let _ = write!(out, "\x1b_G{what}m={more};{piece}\x1b\\");
        if after.is_empty() {
            return out;
        }
        rest = after;
        "q=2,".clone_into(&mut what);
    }
}

//! What every view on the whole screen is drawn from, and what comes of it.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::layout::Position;
use ratatui::text::Line;

use crate::keys::Keymap;
use crate::theme::Theme;

/// Where and when it is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// The columns of the screen.
    pub columns: u16,
    /// Its rows.
    pub rows: u16,
    /// The styles.
    pub theme: &'a Theme,
    /// The keys, for the hints.
    pub keymap: &'a Keymap,
    /// The time.
    pub now: Timestamp,
    /// The zone of the machine.
    pub zone: &'a TimeZone,
}

/// What is seen.
#[derive(Debug, Clone)]
pub struct View {
    /// As many lines as the screen has rows, none wider than it.
    pub lines: Vec<Line<'static>>,
    /// Where the cursor is, if something is being written.
    pub cursor: Option<Position>,
}

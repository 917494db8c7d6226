//! What everything on the screen is drawn with.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::keys::Keymap;
use crate::markdown::SyntectHighlighter;
use crate::scene::Scene;
use crate::theme::{ColorDepth, Theme};
use crate::transcript::{Options, Rendered};

/// Styles, keys, the zone of the machine.
pub struct Look {
    /// The styles.
    pub theme: Theme,
    /// The colours that the terminal has.
    pub depth: ColorDepth,
    /// What keys do.
    pub keymap: Keymap,
    /// The zone of the machine.
    pub zone: TimeZone,
    /// Who tells the parts of code apart.
    pub highlighter: Arc<SyntectHighlighter>,
    /// Entries that are drawn elsewhere.
    pub rendered: Rendered,
}

impl Look {
    /// How blocks of the conversation are drawn now.
    pub(super) fn options(&self, open: bool, hide_thinking: bool) -> Options<'_> {
        Options {
            open,
            hide_thinking,
            color_depth: self.depth,
            highlighter: &*self.highlighter,
            rendered: Some(&self.rendered),
            ..Options::at(Timestamp::now())
        }
    }

    /// Where and when a view on the whole screen is drawn.
    pub(super) fn scene(&self, columns: u16, rows: u16) -> Scene<'_> {
        Scene {
            columns,
            rows,
            theme: &self.theme,
            keymap: &self.keymap,
            now: Timestamp::now(),
            zone: &self.zone,
        }
    }
}

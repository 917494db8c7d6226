//! The end of a log as lines, drawn beside the screen.

use std::sync::Arc;

use ramal_session::{EntryId, LogTail};
use ratatui::text::Line;

use crate::markdown::SyntectHighlighter;
use crate::screen::rule;
use crate::text::clean;
use crate::theme::{ColorDepth, Role, Theme};
use crate::transcript::{Options, Transcript};

/// Rows that are printed at most: some screenfuls to scroll back to, and what is drawn in a moment.
const ROWS: usize = 600;

/// The end of a log.
pub(crate) struct Tail {
    /// Its lines, with a line above that says whose they are.
    pub(super) lines: Vec<Line<'static>>,
    /// The entry at the end; none before the first.
    pub(super) leaf: Option<EntryId>,
}

/// How it is drawn.
pub(super) struct Draws {
    pub(super) columns: u16,
    pub(super) theme: Theme,
    pub(super) depth: ColorDepth,
    pub(super) highlighter: Arc<SyntectHighlighter>,
    pub(super) hides_thinking: bool,
}

impl Draws {
    /// The lines of it. None if it does not tell where one stands, or cannot be read: opening tells why.
    pub(super) fn lines(&self, tail: &LogTail) -> Option<Tail> {
        let options = Options {
            hide_thinking: self.hides_thinking,
            color_depth: self.depth,
            highlighter: &*self.highlighter,
            ..Options::at(jiff::Timestamp::now())
        };
        let session = tail.session()?;
        let leaf = session.get_leaf_entry();
        let id = leaf.map(|leaf| leaf.id()).transpose().ok()?;
        let width = usize::from(self.columns);
        let drawn = Transcript::lines_of_tail(tail, ROWS, width, &self.theme, &options).ok()??;
        let name = session.get_session_name().map(|name| clean::one_line(&name, 60));
        let title = name.unwrap_or_else(|| "a session".to_owned());
        let mut lines = vec![rule(self.columns, &title, self.theme.style(Role::Border))];
        let skip = drawn.len().saturating_sub(ROWS);
        lines.extend(drawn.into_iter().skip(skip));
        Some(Tail { lines, leaf: id })
    }
}

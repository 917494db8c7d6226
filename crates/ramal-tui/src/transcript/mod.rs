//! What a conversation looks like, as lines.
//!
//! A [`Block`] is what is shown of an entry, or of a part of one: what the user said, what the model said or
//! thought, a call of a tool together with its result, a summary. A [`Transcript`] holds those of a path and
//! reads them from its end upwards, as many as somebody wants to see. A [`LiveTurn`] holds those of a turn
//! that is going on.

mod block;
mod entries;
mod find;
mod live;
mod output;
mod path;
mod rendered;
mod sibling;
#[cfg(test)]
mod tests;
mod tool;

use jiff::Timestamp;
use ratatui::text::Line;

use crate::markdown::{Highlighter, Look, NoHighlighter};
use crate::theme::{ColorDepth, Theme};

pub use block::{Block, Forks};
pub use find::Phrase;
pub use live::LiveTurn;
pub use path::{Followed, Transcript};
pub use rendered::Rendered;
pub use sibling::{Sibling, sibling, sibling_branch};

/// How blocks are drawn.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Shown whole: arguments, results, summaries.
    pub open: bool,
    /// What the model thought is not shown.
    pub hide_thinking: bool,
    /// The time it is.
    pub now: Timestamp,
    /// The colours that may be used for code.
    pub color_depth: ColorDepth,
    /// Who tells the parts of code apart.
    pub highlighter: &'a dyn Highlighter,
    /// What is drawn elsewhere.
    pub rendered: Option<&'a Rendered>,
}

impl Options<'_> {
    /// Closed, with thoughts, without highlighted code.
    pub fn at(now: Timestamp) -> Options<'static> {
        Options {
            open: false,
            hide_thinking: false,
            now,
            color_depth: ColorDepth::Ansi16,
            highlighter: &NoHighlighter,
            rendered: None,
        }
    }

    fn look<'a>(&'a self, theme: &'a Theme) -> Look<'a> {
        Look { theme, depth: self.color_depth, highlighter: self.highlighter }
    }
}

/// The blocks one below the other, with blank lines where they belong.
pub fn lines<'b>(
    blocks: impl IntoIterator<Item = &'b Block>,
    width: usize,
    theme: &Theme,
    options: &Options<'_>,
) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut above: Option<&Block> = None;
    for block in blocks {
        let mut more = block.lines(width, theme, options);
        if !more.is_empty() {
            if above.is_some_and(|above| block.stands_apart_from(above)) {
                lines.push(Line::default());
            }
            lines.append(&mut more);
            above = Some(block);
        }
    }
    lines
}

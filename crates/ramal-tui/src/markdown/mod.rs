//! What models write, as lines of a terminal.
//!
//! Text is drawn chunk by chunk, a chunk being a block at the top of the document: a paragraph, a list, a
//! table, a fence with code. A chunk is drawn by itself, so that what follows cannot change it. So an address
//! that is defined somewhere (`[name]: address`) is shown where it stands, and put in nowhere else.
//! [`StreamedMarkdown`] depends on this: it draws each chunk once, however often text is added.
//!
//! Line breaks of the text are kept: models and people mean them.

mod chunk;
mod fence;
mod highlight;
mod render;
pub(crate) mod run;
mod stream;
mod table;
#[cfg(test)]
mod tests;

use ratatui::text::Line;

use crate::theme::{ColorDepth, Theme};

pub use highlight::{Highlighter, Highlighting, NoHighlighter, SyntectHighlighter};
pub use stream::StreamedMarkdown;

/// With what text is drawn.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    /// The styles.
    pub theme: &'a Theme,
    /// The colours that may be used for code.
    pub depth: ColorDepth,
    /// Who tells the parts of code apart.
    pub highlighter: &'a dyn Highlighter,
}

impl<'a> Look<'a> {
    /// Without highlighted code.
    pub fn plain(theme: &'a Theme) -> Look<'a> {
        Look { theme, depth: ColorDepth::None, highlighter: &NoHighlighter }
    }
}

/// The text in lines of at most `width` columns. 0 columns are taken for 1.
pub fn lines(text: &str, width: usize, look: &Look<'_>) -> Vec<Line<'static>> {
    let mut whole = StreamedMarkdown::new();
    whole.set(text);
    whole.finish();
    whole.drain_stable(width, look)
}

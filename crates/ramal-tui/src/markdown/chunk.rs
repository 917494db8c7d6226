//! Where the chunks of a text begin.

use pulldown_cmark::{Event, Options, Parser, Tag};

/// What is understood beyond the standard.
pub(super) fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// Adds a line to a text that is to be read.
///
/// Nothing in it defines the address of a link elsewhere: what follows must not change what is drawn already,
/// and a definition that was read would not be seen. So a character of no width is put where a definition has
/// nothing, and taken out again when the text is cleaned to be drawn.
pub(super) fn push_line(text: &mut String, line: &str) {
    let mut pieces = line.split("]:");
    text.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        text.push_str("]\u{2060}:");
        text.push_str(piece);
    }
    text.push('\n');
}

/// The chunks of a text.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    /// Where they begin: at 0 and at the beginnings of lines.
    pub(super) starts: Vec<usize>,
    /// Whether the last one is closed, so that no whole line that follows can belong to it.
    pub(super) is_closed: bool,
}

/// Finds the chunks of a text.
pub(super) fn chunks(source: &str) -> Chunks {
    let mut chunks = Chunks::default();
    let ends_blank = source.lines().next_back().is_some_and(|line| line.trim().is_empty());
    let mut depth = 0_usize;
    for (event, range) in Parser::new_ext(source, options()).into_offset_iter() {
        if depth == 0 && !matches!(event, Event::End(_)) {
            // Blank lines before the first chunk are part of it.
            let start = if chunks.starts.is_empty() { 0 } else { line_start(source, range.start) };
            chunks.starts.push(start);
            chunks.is_closed = match &event {
                Event::Rule | Event::Start(Tag::Heading { .. }) => true,
                Event::Start(Tag::Paragraph | Tag::Table(_) | Tag::BlockQuote(_)) => ends_blank,
                _ => false,
            };
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    chunks
}

fn line_start(source: &str, at: usize) -> usize {
    source.get(..at).and_then(|head| head.rfind('\n')).map_or(0, |newline| newline + 1)
}

//! Where the chunks of a text begin.

use pulldown_cmark::{Event, Options, Parser};

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

/// Where the chunks of a text begin: at 0 and at the beginnings of lines.
pub(super) fn starts(source: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut depth = 0_usize;
    for (event, range) in Parser::new_ext(source, options()).into_offset_iter() {
        if depth == 0 && !matches!(event, Event::End(_)) {
            // Blank lines before the first chunk are part of it.
            starts.push(if starts.is_empty() { 0 } else { line_start(source, range.start) });
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    starts
}

fn line_start(source: &str, at: usize) -> usize {
    source.get(..at).and_then(|head| head.rfind('\n')).map_or(0, |newline| newline + 1)
}

//! Text that is still being written.

use ratatui::text::Line;

use super::Look;
use super::chunk::{self, Chunks};
use super::fence::Fence;
use super::render::{Rendered, render};
use crate::text::clean;
use crate::theme::{ColorDepth, Theme};

/// Text that grows, as lines: those that cannot change any more, whatever follows, and those that can.
///
/// A chunk is drawn for good once the next one has begun, code between fences line by line. What is
/// drawn again when text is added is only what comes after that.
#[derive(Default)]
pub struct StreamedMarkdown {
    /// The whole lines, harmless.
    text: String,
    /// The beginning of a line.
    rest: String,
    /// The text as it was given.
    given: String,
    finished: bool,
    drawn: Option<Drawn>,
    /// Before this everything was taken away by [`StreamedMarkdown::drain_stable`].
    base: Place,
}

/// A place in the text up to which lines cannot change.
#[derive(Default)]
struct Place {
    at: usize,
    /// The fence that is open there.
    fence: Option<Fence>,
    /// Whether any lines stand before it.
    has_lines: bool,
    /// How many items of the list that begins there were drawn.
    items: usize,
}

impl Place {
    fn again(&self) -> Place {
        Place { fence: self.fence.as_ref().map(Fence::again), ..*self }
    }
}

/// What was drawn at one width in one look.
struct Drawn {
    width: usize,
    theme: Theme,
    depth: ColorDepth,
    stable: Vec<Line<'static>>,
    place: Place,
    open: Vec<Line<'static>>,
    /// How much text is in it, and whether that was all.
    seen: Option<(usize, bool)>,
}

impl StreamedMarkdown {
    /// No text yet.
    pub fn new() -> StreamedMarkdown {
        StreamedMarkdown::default()
    }

    /// Adds text.
    pub fn push(&mut self, more: &str) {
        self.given.push_str(more);
        let Some(end) = more.rfind('\n') else { return self.rest.push_str(more) };
        self.rest.push_str(&more[..=end]);
        self.take_rest();
        self.rest.push_str(&more[end + 1..]);
    }

    fn take_rest(&mut self) {
        for line in clean::lines(&std::mem::take(&mut self.rest)) {
            chunk::push_line(&mut self.text, &line);
        }
    }

    /// The text so far, which begins with what was given before. If it does not, everything begins anew.
    pub fn set(&mut self, text: &str) {
        if !text.starts_with(&*self.given) {
            *self = StreamedMarkdown::new();
        }
        let given = self.given.len();
        self.push(text.get(given..).unwrap_or_default());
    }

    /// The text so far.
    pub fn given(&self) -> &str {
        &self.given
    }

    /// Nothing more will follow: all lines are stable.
    pub fn finish(&mut self) {
        self.take_rest();
        self.finished = true;
    }

    /// Whether nothing more will follow.
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// All lines that were not taken away.
    pub fn lines(&mut self, width: usize, look: &Look<'_>) -> Vec<Line<'static>> {
        let drawn = self.draw(width, look);
        drawn.stable.iter().chain(&drawn.open).cloned().collect()
    }

    /// The lines that can still change.
    pub fn open_lines(&mut self, width: usize, look: &Look<'_>) -> &[Line<'static>] {
        &self.draw(width, look).open
    }

    /// How many lines at the top cannot change any more whatever follows.
    pub fn stable_lines(&mut self, width: usize, look: &Look<'_>) -> usize {
        self.draw(width, look).stable.len()
    }

    /// Takes away the lines that cannot change. From then on only what follows them is drawn, at
    /// whatever width.
    pub fn drain_stable(&mut self, width: usize, look: &Look<'_>) -> Vec<Line<'static>> {
        let drawn = self.draw(width, look);
        let lines = std::mem::take(&mut drawn.stable);
        let place = drawn.place.again();
        self.base = place;
        lines
    }

    fn draw(&mut self, width: usize, look: &Look<'_>) -> &mut Drawn {
        let width = width.max(1);
        let fits =
            |drawn: &Drawn| drawn.width == width && drawn.depth == look.depth && drawn.theme == *look.theme;
        let mut drawn = self.drawn.take().filter(fits).unwrap_or_else(|| Drawn {
            width,
            theme: look.theme.clone(),
            depth: look.depth,
            stable: Vec::new(),
            place: self.base.again(),
            open: Vec::new(),
            seen: None,
        });
        let seen = Some((self.given.len(), self.finished));
        if drawn.seen != seen {
            drawn.seen = seen;
            let end = if self.finished { End::Here } else { End::ToCome };
            let mut walk = Walk { text: &self.text, width, look, lines: &mut drawn.stable };
            walk.on(&mut drawn.place, end);
            drawn.open.clear();
            if !self.finished {
                let mut place = drawn.place.again();
                let mut tail = self.text.get(place.at..).unwrap_or_default().to_owned();
                for line in clean::lines(&self.rest) {
                    chunk::push_line(&mut tail, &line);
                }
                place.at = 0;
                Walk { text: &tail, width, look, lines: &mut drawn.open }.on(&mut place, End::Here);
            }
        }
        self.drawn.insert(drawn)
    }
}

/// Whether a text ends where it ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Here,
    ToCome,
}

/// Draws a text from a place on.
struct Walk<'a> {
    text: &'a str,
    width: usize,
    look: &'a Look<'a>,
    lines: &'a mut Vec<Line<'static>>,
}

impl Walk<'_> {
    /// As far as lines cannot change, or to the end.
    fn on(&mut self, place: &mut Place, end: End) {
        while place.fence.is_none() || self.code(place, end) {
            if !self.chunks(place, end) {
                return;
            }
        }
    }

    /// Chunks, as far as it goes. Answers whether it goes on behind a fence.
    fn chunks(&mut self, place: &mut Place, end: End) -> bool {
        let base = place.at;
        let tail = self.text.get(base..).unwrap_or_default();
        let Chunks { starts, is_closed } = chunk::chunks(tail);
        for (number, from) in starts.iter().copied().enumerate() {
            let to = starts.get(number + 1).copied();
            place.at = base + from;
            if let Some((fence, code)) = opened(&tail[from..], end, self.look) {
                place.at += code;
                self.open(fence, place);
                if !self.code(place, end) {
                    return false;
                }
                // Where it ends is known here and there.
                match to.and_then(|to| self.text.get(place.at..base + to)) {
                    Some(between) if between.trim().is_empty() => continue,
                    _ => return true,
                }
            }
            let rendered = render(&tail[from..to.unwrap_or(tail.len())], self.width, self.look);
            if to.is_none() && end == End::ToCome && !is_closed {
                self.items(place, rendered);
                return false;
            }
            let whole = rendered.lines.len();
            self.rest(place, rendered, whole);
            place.items = 0;
        }
        if end == End::Here || is_closed {
            place.at = self.text.len();
        }
        false
    }

    /// The items of a list that is still open, save for the last one.
    fn items(&mut self, place: &mut Place, rendered: Rendered) {
        let closed = rendered.items.len().saturating_sub(1);
        if closed > place.items {
            let until = rendered.items.last().copied().unwrap_or_default();
            self.rest(place, rendered, until);
            place.items = closed;
        }
    }

    /// Lines of a chunk, without those of items that were drawn before.
    fn rest(&mut self, place: &mut Place, mut rendered: Rendered, until: usize) {
        rendered.lines.truncate(until);
        match rendered.items.get(place.items) {
            Some(from) if place.items > 0 => self.lines.extend(rendered.lines.drain(*from..)),
            _ => self.below(place, rendered.lines),
        }
    }

    fn open(&mut self, mut fence: Fence, place: &mut Place) {
        match fence.caption(self.width, self.look) {
            Some(caption) => self.below(place, vec![caption]),
            // Then the blank line above comes with the first line of code.
            None => fence.is_bare = true,
        }
        place.fence = Some(fence);
    }

    /// Lines of code until the fence is closed, which is answered.
    fn code(&mut self, place: &mut Place, end: End) -> bool {
        let Some(mut fence) = place.fence.take() else { return true };
        while let Some(rest) = self.text.get(place.at..).filter(|rest| !rest.is_empty()) {
            let line = match (rest.split_once('\n'), end) {
                (Some((line, _)), _) => line,
                (None, End::Here) => rest,
                (None, End::ToCome) => break,
            };
            place.at = (place.at + line.len() + 1).min(self.text.len());
            if fence.is_closed_by(line) {
                return true;
            }
            let lines = fence.line(line, self.width, self.look);
            match std::mem::take(&mut fence.is_bare) {
                true => self.below(place, lines),
                false => self.lines.extend(lines),
            }
        }
        place.fence = Some(fence);
        false
    }

    /// Lines below others, with a blank one between them.
    fn below(&mut self, place: &mut Place, lines: Vec<Line<'static>>) {
        if place.has_lines && !lines.is_empty() {
            self.lines.push(Line::default());
        }
        place.has_lines |= !lines.is_empty();
        self.lines.extend(lines);
    }
}

/// The fence that a chunk begins with, and where the code begins.
fn opened(chunk: &str, end: End, look: &Look<'_>) -> Option<(Fence, usize)> {
    let mut at = 0;
    while let Some((line, _)) = chunk[at..].split_once('\n').filter(|(line, _)| line.trim().is_empty()) {
        at += line.len() + 1;
    }
    let line = match chunk[at..].split_once('\n') {
        Some((line, _)) => line,
        None if end == End::Here => &chunk[at..],
        None => return None,
    };
    Some((Fence::open(line, look)?, (at + line.len() + 1).min(chunk.len())))
}

//! What stands in an editor: text, and marks that stand for what is too long or no text at all.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::text::clean;

/// Holds a mark's place in the text. A control character, since those never come in from outside, and never
/// join with what is beside them.
pub(super) const HOLE: char = '\u{1a}';

/// Text with marks in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Content {
    raw: String,
    /// One for each [`HOLE`] of `raw`, in that order.
    marks: Vec<Mark>,
}

/// Something that counts as one character, and stands for more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    kind: MarkKind,
    label: String,
    text: Arc<str>,
}

/// What a mark stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkKind {
    /// Text that was pasted.
    Paste,
    /// A picture.
    Image {
        /// Where whoever attached it finds it again.
        source: String,
    },
}

impl Mark {
    /// The mark of a text that was pasted, the how manieth of its prompt.
    pub fn paste(number: usize, text: &str) -> Mark {
        let text = clean_input(text);
        let size = match text.lines().count() {
            0 | 1 => format!("{} characters", text.chars().count()),
            lines => format!("{lines} lines"),
        };
        let label = format!("[paste #{number}, {size}]");
        Mark { kind: MarkKind::Paste, label, text: text.into() }
    }

    /// The mark of a picture. Its label is also what the text says in its place.
    pub fn image(label: &str, source: impl Into<String>) -> Mark {
        Mark::restored(MarkKind::Image { source: source.into() }, label, label)
    }

    /// A mark as it was kept.
    pub(super) fn restored(kind: MarkKind, label: &str, text: &str) -> Mark {
        Mark { kind, label: clean::name(label), text: clean_input(text).into() }
    }

    /// What it stands for.
    pub fn kind(&self) -> &MarkKind {
        &self.kind
    }

    /// What is seen of it.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// What is sent in its place.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl Content {
    /// Everything, with its text in the place of each mark: what is sent.
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.raw.len());
        let mut marks = self.marks.iter();
        for (n, part) in self.raw.split(HOLE).enumerate() {
            if n > 0 {
                text.extend(marks.next().map(Mark::text));
            }
            text.push_str(part);
        }
        text
    }

    /// The marks in it, from first to last.
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// Whether there is nothing in it but white space.
    pub fn is_blank(&self) -> bool {
        self.raw.trim().is_empty()
    }

    /// Adds text at the end, without its control characters.
    pub fn push_text(&mut self, text: &str) {
        self.raw.push_str(&clean_input(text));
    }

    /// Adds a mark at the end.
    pub fn push_mark(&mut self, mark: Mark) {
        self.raw.push(HOLE);
        self.marks.push(mark);
    }

    /// The text with holes in it.
    pub(super) fn raw(&self) -> &str {
        &self.raw
    }

    pub(super) fn len(&self) -> usize {
        self.raw.len()
    }

    /// How many marks stand before a place.
    pub(super) fn marks_before(&self, at: usize) -> usize {
        holes(&self.raw[..at])
    }

    /// The mark that stands at a place.
    pub(super) fn mark_at(&self, at: usize) -> Option<&Mark> {
        self.raw[at..].starts_with(HOLE).then(|| self.marks.get(self.marks_before(at)))?
    }

    /// What stands in a part of it.
    pub(super) fn slice(&self, range: Range<usize>) -> Content {
        let mut part = self.clone();
        part.splice(range.end..part.len(), &Content::default());
        part.splice(0..range.start, &Content::default());
        part
    }

    /// Puts something in the place of a part, which is given back.
    pub(super) fn splice(&mut self, range: Range<usize>, with: &Content) -> Content {
        let first = self.marks_before(range.start);
        let last = first + holes(&self.raw[range.clone()]);
        let marks = self.marks.splice(first..last, with.marks.iter().cloned()).collect();
        let raw = self.raw[range.clone()].to_owned();
        self.raw.replace_range(range, &with.raw);
        Content { raw, marks }
    }

    /// A text with holes and the marks for them, made to fit: holes without a mark are left out, and marks
    /// without a hole stand at the end.
    pub(super) fn mended(raw: &str, marks: Vec<Mark>) -> Content {
        let mut content = Content::default();
        let mut marks = marks.into_iter();
        for (n, part) in raw.split(HOLE).enumerate() {
            if n > 0
                && let Some(mark) = marks.next()
            {
                content.push_mark(mark);
            }
            content.push_text(part);
        }
        marks.for_each(|mark| content.push_mark(mark));
        content
    }

    /// A text in which the marks of an older one are found again by what they stand for.
    pub(super) fn with_marks_of(text: &str, old: &Content) -> Content {
        let text = clean_input(text);
        let mut rest = &*text;
        let mut content = Content::default();
        for mark in old.marks.iter().filter(|mark| !mark.text.is_empty()) {
            if let Some((before, after)) = rest.split_once(&*mark.text) {
                content.push_text(before);
                content.push_mark(mark.clone());
                rest = after;
            }
        }
        content.push_text(rest);
        content
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Content {
        Content { raw: clean_input(text).into_owned(), marks: Vec::new() }
    }
}

impl From<Mark> for Content {
    fn from(mark: Mark) -> Content {
        Content { raw: HOLE.into(), marks: vec![mark] }
    }
}

fn holes(raw: &str) -> usize {
    raw.bytes().filter(|byte| *byte == HOLE as u8).count()
}

/// Text as it may stand in an editor: lines end in a line feed, and tabs are the only other controls. Terminals
/// paste line breaks as carriage returns.
pub(super) fn clean_input(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        return Cow::Borrowed(text);
    }
    let mut text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.retain(|c| !c.is_control() || matches!(c, '\n' | '\t'));
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_stay_outside() {
        for (text, want) in [
            ("plain é 日本", "plain é 日本"),
            ("a\r\nb\rc\n\td", "a\nb\nc\n\td"),
            ("\x1b[31mred\x1b[0m\u{9b}x\x7f\0", "[31mred[0mx"),
            ("sub\u{1a}stitute", "substitute"),
            ("\r\n\r\n", "\n\n"),
        ] {
            assert_eq!(Content::from(text).text(), want, "{text:?}");
        }
    }

    #[test]
    fn marks_go_where_their_text_goes() {
        let mut content = Content::from("ab");
        content.push_mark(Mark::paste(1, "one"));
        content.push_text("c");
        content.push_mark(Mark::image("[image #1]", "/tmp/x.png"));
        assert_eq!(content.text(), "abonec[image #1]");
        let removed = content.splice(2..4, &Content::from("-"));
        assert_eq!((removed.text(), content.text()), ("onec".into(), "ab-[image #1]".into()));
        assert_eq!(content.mark_at(3).map(Mark::label), Some("[image #1]"));
        assert_eq!(content.mark_at(2), None);
    }

    #[test]
    fn what_does_not_fit_together_is_mended() {
        let mark = |n| Mark::paste(n, &n.to_string());
        assert_eq!(Content::mended("a\u{1a}b\u{1a}c", vec![mark(1)]).text(), "a1bc");
        assert_eq!(Content::mended("ab", vec![mark(1), mark(2)]).text(), "ab12");
    }

    #[test]
    fn marks_are_found_again() {
        let mut old = Content::from("see ");
        old.push_mark(Mark::paste(1, "long text"));
        old.push_mark(Mark::image("[image #1]", "x"));
        let new = Content::with_marks_of("now see long text, and more", &old);
        assert_eq!((new.marks().len(), new.raw()), (1, "now see \u{1a}, and more"));
    }
}

//! An option of a question.

use crate::text::clean;
use crate::typing::Typing;

/// Something that can be answered.
#[derive(Debug, Clone)]
pub struct Choice {
    pub(super) text: String,
    pub(super) says: String,
    pub(super) key: Option<char>,
    pub(super) writes: Option<Typing>,
}

impl Choice {
    /// An option that is chosen by its number.
    pub fn new(text: &str) -> Choice {
        Choice { text: clean::name(text), says: String::new(), key: None, writes: None }
    }

    /// The same, with what it means.
    #[must_use]
    pub fn says(self, text: &str) -> Choice {
        Choice { says: text.to_owned(), ..self }
    }

    /// The same, chosen by a letter too.
    #[must_use]
    pub fn key(self, letter: char) -> Choice {
        Choice { key: letter.to_lowercase().next(), ..self }
    }

    /// The same, with a line that is written when it is chosen. The placeholder is seen where nothing is
    /// written yet.
    #[must_use]
    pub fn line(self, placeholder: &str, prefill: &str) -> Choice {
        self.writing(Typing::one_line(prefill), placeholder)
    }

    /// The same, with a text of several lines.
    #[must_use]
    pub fn text(self, placeholder: &str, prefill: &str) -> Choice {
        self.writing(Typing::several_lines(prefill), placeholder)
    }

    fn writing(self, mut typing: Typing, placeholder: &str) -> Choice {
        typing.set_placeholder(placeholder);
        Choice { writes: Some(typing), ..self }
    }
}

//! Whether a block says what is searched for.

use super::block::{Block, Body};

/// What is searched for in blocks: words behind each other, whatever the case and the white space between
/// them. Stars and backticks count nowhere, since answers are searched as they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase(String);

impl Phrase {
    /// The phrase of a text; none if it says nothing.
    pub fn new(text: &str) -> Option<Phrase> {
        let phrase = normal(text).trim().to_owned();
        Some(Phrase(phrase)).filter(|phrase| !phrase.0.is_empty())
    }

    /// It, in lower case.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl Block {
    /// Whether it says a phrase, be it open or not.
    pub fn says(&self, phrase: &Phrase) -> bool {
        self.texts().into_iter().any(|text| normal(text).contains(&phrase.0))
    }

    /// Bytes of all that it says, or about as many.
    pub fn size(&self) -> usize {
        self.texts().into_iter().map(str::len).sum()
    }

    fn texts(&self) -> Vec<&str> {
        let mut texts: Vec<&str> = self.label.as_deref().into_iter().collect();
        match &self.body {
            Body::User { text, images } => {
                texts.push(text);
                texts.extend(images.iter().map(String::as_str));
            }
            Body::Answer(text)
            | Body::Thinking(text)
            | Body::Change(text)
            | Body::Told(text)
            | Body::Warning(text)
            | Body::Wrong(text)
            | Body::Retry { error: text, .. } => texts.push(text),
            Body::Tool(tool) => tool.texts(&mut texts),
            Body::Command(command) => {
                texts.push(&command.command);
                texts.extend(command.output.texts());
                texts.extend(command.wrong.as_deref());
                texts.extend(command.path.as_deref());
            }
            Body::Card { title: who, text, .. } | Body::Said { who, text } => texts.extend([who, &**text]),
        }
        texts
    }
}

fn normal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !matches!(c, '*' | '`')) {
        if !c.is_whitespace() {
            out.extend(c.to_lowercase());
        } else if !out.ends_with(' ') {
            out.push(' ');
        }
    }
    out
}

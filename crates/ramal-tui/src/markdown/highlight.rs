//! Telling the parts of code apart.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

use crate::theme::Token;

/// Who tells the parts of code apart.
pub trait Highlighter: Send + Sync {
    /// Begins with code in a language, named as behind a fence or by a file's extension; none if it is
    /// not known, or not yet.
    fn begin(&self, language: &str) -> Option<Box<dyn Highlighting>>;
}

/// Code that is being read, line by line.
pub trait Highlighting: Send + Sync {
    /// The next line, without its line end: its parts in order. What is in none of them is plain.
    fn line(&mut self, line: &str) -> Vec<(Range<usize>, Token)>;

    /// The same state once more.
    fn again(&self) -> Box<dyn Highlighting>;
}

/// Knows no language.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHighlighter;

impl Highlighter for NoHighlighter {
    fn begin(&self, _language: &str) -> Option<Box<dyn Highlighting>> {
        None
    }
}

/// Knows some two hundred languages once they are loaded, which takes a tenth of a second; until then
/// none, so that nobody waits for colours.
#[derive(Debug, Default)]
pub struct SyntectHighlighter {
    languages: OnceLock<Arc<Languages>>,
}

#[derive(Debug)]
struct Languages {
    set: SyntaxSet,
    /// Beginnings of scopes, the longer before the shorter.
    rules: Vec<(Scope, Token)>,
}

impl SyntectHighlighter {
    /// Loads the languages. For a thread that has nothing better to do.
    pub fn load(&self) {
        self.languages.get_or_init(|| {
            let rules = RULES.iter().filter_map(|(scope, token)| Some((Scope::new(scope).ok()?, *token)));
            Arc::new(Languages { set: two_face::syntax::extra_newlines(), rules: rules.collect() })
        });
    }

    /// Whether the languages are loaded.
    pub fn is_loaded(&self) -> bool {
        self.languages.get().is_some()
    }
}

impl Highlighter for SyntectHighlighter {
    fn begin(&self, language: &str) -> Option<Box<dyn Highlighting>> {
        let languages = self.languages.get()?;
        let syntax = languages.set.find_syntax_by_token(language)?;
        if syntax.name == "Plain Text" {
            return None;
        }
        let state = ParseState::new(syntax);
        Some(Box::new(Reading { languages: languages.clone(), state, stack: ScopeStack::new() }))
    }
}

#[derive(Clone)]
struct Reading {
    languages: Arc<Languages>,
    state: ParseState,
    stack: ScopeStack,
}

impl Highlighting for Reading {
    fn line(&mut self, line: &str) -> Vec<(Range<usize>, Token)> {
        let Ok(ops) = self.state.parse_line(&format!("{line}\n"), &self.languages.set) else {
            return Vec::new();
        };
        let mut parts: Vec<(Range<usize>, Token)> = Vec::new();
        let mut from = 0;
        for (at, op) in ops.into_iter().map(|(at, op)| (at, Some(op))).chain([(line.len(), None)]) {
            let at = at.min(line.len());
            if at > from {
                let token = self.languages.token(&self.stack);
                match parts.last_mut() {
                    Some((range, last)) if *last == token => range.end = at,
                    _ => parts.push((from..at, token)),
                }
                from = at;
            }
            // An operation that does not fit leaves the colours as they were.
            if let Some(op) = op {
                let _ = self.stack.apply(&op);
            }
        }
        parts
    }

    fn again(&self) -> Box<dyn Highlighting> {
        Box::new(self.clone())
    }
}

impl Languages {
    fn token(&self, stack: &ScopeStack) -> Token {
        let known = |scope: &Scope| {
            self.rules.iter().find_map(|(rule, token)| rule.is_prefix_of(*scope).then_some(*token))
        };
        stack.as_slice().iter().rev().find_map(known).unwrap_or(Token::Plain)
    }
}

/// What the beginnings of scopes mean, as the names are given by the syntaxes.
const RULES: &[(&str, Token)] = &[
    ("comment", Token::Comment),
    ("punctuation.definition.comment", Token::Comment),
    ("punctuation.definition.string", Token::Text),
    ("constant.character.escape", Token::Number),
    ("string", Token::Text),
    ("constant", Token::Number),
    ("keyword.operator.word", Token::Keyword),
    ("keyword.operator", Token::Punctuation),
    ("keyword", Token::Keyword),
    ("storage.type.function", Token::Keyword),
    ("storage", Token::Keyword),
    ("entity.name.function", Token::Function),
    ("support.function", Token::Function),
    ("variable.function", Token::Function),
    ("entity.name.type", Token::Type),
    ("entity.name.class", Token::Type),
    ("entity.name.struct", Token::Type),
    ("entity.name.tag", Token::Name),
    ("entity.other.attribute-name", Token::Type),
    ("support.type", Token::Type),
    ("support.class", Token::Type),
    ("markup.inserted", Token::Added),
    ("markup.deleted", Token::Removed),
    ("markup.heading", Token::Heading),
    ("variable.language", Token::Name),
    ("punctuation", Token::Punctuation),
];

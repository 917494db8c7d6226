//! What is being typed that can be completed, and completing it.

use std::ops::Range;

use super::completion_list::CompletionItem;
use super::content::{Content, HOLE};
use super::undo::Grouping;
use super::{Editor, Last, places};

/// What a word is about, as its first character says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompletionKind {
    /// `/command`, at the very beginning.
    Command,
    /// `@file`, or `@"file with spaces"`.
    File,
    /// `#entry`, or a label.
    Entry,
    /// What stands behind a command.
    Argument,
}

/// A word that is being typed and can be completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completing {
    /// What it is about.
    pub kind: CompletionKind,
    /// What there is of it, without its first character.
    pub query: String,
    /// Where it stands, its first character included: in bytes of the editor's text, in which a mark is one.
    pub range: Range<usize>,
}

impl Editor {
    /// The word before the cursor, if it can be completed.
    pub fn completing(&self) -> Option<Completing> {
        let raw = self.content.raw();
        let line = places::line_start(raw, self.cursor);
        let before = &raw[line..self.cursor];
        if let Some(start) = open_quote(before) {
            let query = before[start + 2..].to_owned();
            return Some(Completing { kind: CompletionKind::File, query, range: line + start..self.cursor });
        }
        let word = before.rfind(|c: char| c.is_whitespace() || c == HOLE).map_or(before, |end| {
            let length = before[end..].chars().next().map_or(0, char::len_utf8);
            &before[end + length..]
        });
        let word = word.trim_start_matches(opens);
        let start = self.cursor - word.len();
        let kind = match word.chars().next()? {
            '/' if start == 0 => CompletionKind::Command,
            '@' => CompletionKind::File,
            '#' => CompletionKind::Entry,
            _ => return None,
        };
        Some(Completing { kind, query: word[1..].to_owned(), range: start..self.cursor })
    }

    /// The command that is being written, and what stands between it and the cursor.
    pub fn command(&self) -> Option<(&str, &str)> {
        let before = self.content.raw().get(..self.cursor)?;
        let (name, typed) = before.strip_prefix('/')?.split_once(' ')?;
        let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
        (is_name && !typed.contains(['\n', HOLE])).then_some((name, typed))
    }

    /// Puts an item in the place of what stands behind the command. False if there is none.
    pub fn accept_argument(&mut self, item: &CompletionItem) -> bool {
        let Some((_, typed)) = self.command() else { return false };
        let range = self.cursor - typed.len()..self.cursor;
        self.edit(range, &Content::from(item.insert()), Grouping::Alone);
        self.last = Last::Other;
        true
    }

    /// Puts an item in the place of the word that is being typed. False if there is none.
    pub fn accept(&mut self, item: &CompletionItem) -> bool {
        let Some(Completing { kind, range, .. }) = self.completing() else { return false };
        let insert = item.insert();
        let mut text = match kind {
            CompletionKind::Command => format!("/{insert}"),
            CompletionKind::File if insert.contains(char::is_whitespace) => format!("@\"{insert}\""),
            CompletionKind::File => format!("@{insert}"),
            CompletionKind::Entry => format!("#{insert}"),
            CompletionKind::Argument => insert.to_owned(),
        };
        if kind == CompletionKind::File && insert.ends_with('/') {
            // A folder is the beginning of what is in it, which is completed next.
            text.truncate(text.trim_end_matches('"').len());
        } else if !self.content.raw()[range.end..].starts_with(char::is_whitespace) {
            text.push(' ');
        }
        self.edit(range, &Content::from(&*text), Grouping::Alone);
        self.last = Last::Other;
        true
    }
}

/// Where a quoted file name begins that is not closed yet.
fn open_quote(before: &str) -> Option<usize> {
    let start = before.rfind("@\"")?;
    let begins =
        before[..start].chars().next_back().is_none_or(|c| c.is_whitespace() || c == HOLE || opens(c));
    (begins && !before[start + 2..].contains(['"', HOLE])).then_some(start)
}

/// What may stand before a word without being a part of it.
fn opens(c: char) -> bool {
    matches!(c, '(' | '[' | '{' | '"' | '\'' | '`' | '<')
}

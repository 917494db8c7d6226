//! Searching in everything that entries say (contract, section 10).
//!
//! An entry that says a word has it in its line, in nearly every case letter by letter: so lines are
//! looked through as bytes first, and few have to be read as what they are.

use std::collections::VecDeque;

use memchr::memmem::{self, Finder};

use super::calls::{Calls, answers_above};
use super::plainly;
use crate::entry::{Entry, Kind, Role};
use crate::error::ReadError;
use crate::json::{decode, members};
use crate::log::window::Window;
use crate::tree::node::Flags;
use crate::{EntryRef, Message, SessionManager};

/// Words that must all occur in an entry, upper and lower case being the same.
#[derive(Debug, Clone, Default)]
pub struct Search {
    words: Vec<Word>,
}

/// A word that is looked for in lines.
#[derive(Debug, Clone)]
pub(crate) struct Word {
    text: String,
    finder: Finder<'static>,
    /// Whether it stands in a line as it reads: nothing in it is ever escaped or changes its case.
    is_plain: bool,
    /// Whether where it stands in a line it is also said.
    means_itself: bool,
}

impl Word {
    /// A word, which is in lower case.
    pub(crate) fn new(text: &str) -> Word {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\');
        Word {
            finder: Finder::new(text.as_bytes()).into_owned(),
            is_plain,
            means_itself: plainly::means_itself(text),
            text: text.to_owned(),
        }
    }

    /// Whether it occurs in a text, which is given with its letters of ASCII in lower case, too.
    pub(crate) fn is_in(&self, text: &str, lower: &[u8]) -> bool {
        if self.finder.find(lower).is_some() {
            return true;
        }
        let may_differ = !text.is_ascii() && (!self.is_plain || has_odd_letters(text.as_bytes()));
        may_differ && text.to_lowercase().contains(&self.text)
    }

    /// The word.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether it may be said in a line, which is given in lower case.
    pub(crate) fn may_be_said_in(&self, line: &[u8]) -> bool {
        self.finder.find(line).is_some() || self.may_be_hidden_in(line)
    }

    /// Whether it may be said in a line, in lower case, in which it does not stand.
    fn may_be_hidden_in(&self, line: &[u8]) -> bool {
        !self.is_plain
            || (self.text.contains('/') && memmem::find(line, br"\/").is_some())
            || has_escaped_letters(line)
            || has_odd_letters(line)
    }
}

/// Whether there is an escape of a character whose lower case is, or begins with, one of ASCII that shows.
fn has_escaped_letters(line: &[u8]) -> bool {
    memmem::find_iter(line, br"\u").any(|at| {
        let digits = line.get(at + 2..at + 6).unwrap_or_default();
        matches!(digits, [b'0', b'0', b'2'..=b'7', _] | b"212a" | b"212A" | b"0130")
    })
}

/// Whether there is one of the two characters beyond ASCII whose lower case begins with one of ASCII: the
/// sign for Kelvin and a capital I with a dot.
fn has_odd_letters(text: &[u8]) -> bool {
    let has = |letter: &str| memmem::find(text, letter.as_bytes()).is_some();
    !text.is_ascii() && (has("\u{212a}") || has("\u{130}"))
}

impl Search {
    /// The search for words that are separated by white space.
    pub fn new(words: &str) -> Search {
        let mut words: Vec<_> = words.split_whitespace().map(str::to_lowercase).collect();
        words.sort_unstable();
        words.dedup();
        Search { words: words.iter().map(|word| Word::new(word)).collect() }
    }

    /// Whether it has no words, and finds everything.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The words, in lower case and each once.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| &*word.text)
    }

    /// Whether it finds nothing that the other does not find.
    pub fn narrows(&self, other: &Search) -> bool {
        let is_within = |wide: &Word| self.words.iter().any(|word| word.text.contains(&wide.text));
        other.words.iter().all(is_within)
    }

    /// Whether all words occur in a text.
    pub fn is_in(&self, text: &str) -> bool {
        let lower = text.to_ascii_lowercase();
        self.words.iter().all(|word| word.is_in(text, lower.as_bytes()))
    }
}

/// Looks for words in entries. It keeps what neighbours need of each other: walk in the order of the log,
/// up or down, and a log is read about once.
#[derive(Debug)]
pub struct Searcher {
    lines: Window,
    answers: Window,
    calls: Calls,
    /// What is looked at, in lower case.
    lower: Vec<u8>,
    /// The entry whose line that is.
    in_lower: Option<u32>,
    text: String,
    /// Which words may be in the answers looked at last; it holds for one search.
    may_be_in: VecDeque<(u32, Vec<bool>)>,
    /// The words that it holds for.
    searched: Vec<String>,
}

/// Answers that are kept in mind.
const ANSWERS: usize = 8;

impl Default for Searcher {
    fn default() -> Self {
        Searcher::new()
    }
}

impl Searcher {
    /// One that has looked at nothing yet.
    pub fn new() -> Searcher {
        Searcher {
            lines: Window::new(),
            answers: Window::new(),
            calls: Calls::default(),
            lower: Vec::new(),
            in_lower: None,
            text: String::new(),
            may_be_in: VecDeque::new(),
            searched: Vec::new(),
        }
    }

    /// Whether an entry says all the words: its label, its role and type, its text, the tools it calls
    /// and their arguments; a result also what its call says.
    ///
    /// # Errors
    /// If the log cannot be read any more.
    pub fn finds(
        &mut self,
        session: &SessionManager,
        search: &Search,
        at: EntryRef<'_>,
    ) -> Result<bool, ReadError> {
        let mut missing: Vec<&Word> = search.words.iter().collect();
        for name in [at.label(), at.kind().name(), at.role().name()].into_iter().flatten() {
            self.strike_out(&mut missing, name);
        }
        if missing.is_empty() || !self.may_find(session, search, &missing, at)? {
            return Ok(missing.is_empty());
        }
        if self.says_plainly(session, &missing, at)? {
            return Ok(true);
        }
        let entry = at.read()?;
        each_piece(at, &entry, &mut |piece| {
            self.strike_out(&mut missing, piece);
            !missing.is_empty()
        });
        if missing.is_empty() {
            return Ok(true);
        }
        if let Some(call) = self.calls.of_entry(session, at, &entry)? {
            let said = format!("{}\n{}", call.name, plain(&call.arguments));
            self.strike_out(&mut missing, &said);
        }
        Ok(missing.is_empty())
    }

    /// Whether the content of a message says all words, as far as its line tells; it was looked at last.
    fn says_plainly(
        &mut self,
        session: &SessionManager,
        missing: &[&Word],
        at: EntryRef<'_>,
    ) -> Result<bool, ReadError> {
        let number = at.position() as u32;
        if at.kind() != Kind::Message
            || !stands_in_its_line(session, number)
            || !missing.iter().all(|word| word.means_itself)
        {
            return Ok(false);
        }
        let node = session.tree.node(number);
        let line = self.lines.read(&session.log, node.offset(), node.len());
        let line = line.map_err(|source| session.read_error(number, source))?;
        if self.in_lower != Some(number) {
            return Ok(false);
        }
        let words: Vec<_> = missing.iter().map(|word| &word.finder).collect();
        Ok(plainly::says(line, &self.lower, &words))
    }

    /// Leaves the words that do not occur in a piece of what is said.
    fn strike_out(&mut self, missing: &mut Vec<&Word>, piece: &str) {
        self.in_lower = None;
        self.lower.clear();
        self.lower.extend(piece.bytes().map(|byte| byte.to_ascii_lowercase()));
        missing.retain(|word| !word.is_in(piece, &self.lower));
    }

    /// Everything that an entry says, pieces on lines of their own: what searches look at.
    ///
    /// # Errors
    /// If the log cannot be read any more.
    pub fn says(&mut self, session: &SessionManager, at: EntryRef<'_>) -> Result<&str, ReadError> {
        let entry = at.read()?;
        self.text.clear();
        each_piece(at, &entry, &mut |piece| {
            self.text.push_str(piece);
            self.text.push('\n');
            true
        });
        if let Some(call) = self.calls.of_entry(session, at, &entry)? {
            self.text.push_str(&call.name);
            self.text.push('\n');
            self.text.push_str(&plain(&call.arguments));
        }
        Ok(&self.text)
    }

    /// Whether an entry might say the words that are still missing, as far as the bytes of its line tell,
    /// and those of the answers that may hold its call.
    fn may_find(
        &mut self,
        session: &SessionManager,
        search: &Search,
        missing: &[&Word],
        at: EntryRef<'_>,
    ) -> Result<bool, ReadError> {
        let number = at.position() as u32;
        let may = self.words_that_may_be_in(session, missing, number, Whose::Own)?;
        if at.role() != Role::ToolResult || may.iter().all(|&may| may) {
            return Ok(may.iter().all(|&may| may));
        }
        if !self.searched.iter().map(String::as_str).eq(search.words()) {
            self.searched = search.words().map(str::to_owned).collect();
            self.may_be_in.clear();
        }
        let mut elsewhere: Vec<&Word> =
            missing.iter().zip(may).filter(|&(_, may)| !may).map(|(&word, _)| word).collect();
        for answer in answers_above(session, at) {
            if !self.may_be_in.iter().any(|&(number, _)| number == answer) {
                let words: Vec<&Word> = search.words.iter().collect();
                let may = self.words_that_may_be_in(session, &words, answer, Whose::OfCall)?;
                self.may_be_in.truncate(ANSWERS - 1);
                self.may_be_in.push_front((answer, may));
            }
            let may = self.may_be_in.iter().find(|&&(number, _)| number == answer);
            for (word, _) in search
                .words
                .iter()
                .zip(may.map(|(_, may)| may).into_iter().flatten())
                .filter(|&(_, &may)| may)
            {
                elsewhere.retain(|missing| missing.text != word.text);
            }
        }
        Ok(elsewhere.is_empty())
    }

    fn words_that_may_be_in(
        &mut self,
        session: &SessionManager,
        words: &[&Word],
        number: u32,
        whose: Whose,
    ) -> Result<Vec<bool>, ReadError> {
        if !stands_in_its_line(session, number) {
            return Ok(vec![true; words.len()]);
        }
        let node = session.tree.node(number);
        let lines = match whose {
            Whose::Own => &mut self.lines,
            Whose::OfCall => &mut self.answers,
        };
        let line = lines.read(&session.log, node.offset(), node.len());
        let line = line.map_err(|source| session.read_error(number, source))?;
        self.lower.clear();
        self.lower.extend(line.iter().map(u8::to_ascii_lowercase));
        self.in_lower = Some(number);
        let line = &*self.lower;
        Ok(words.iter().map(|word| word.may_be_said_in(line)).collect())
    }
}

/// Whether what an entry says stands in its line, and nowhere else: not if it is migrated while it is read.
fn stands_in_its_line(session: &SessionManager, number: u32) -> bool {
    !session.tree.node(number).flags.has(Flags::MIGRATED) && !session.tree.hooks_are_custom
}

/// Whose line is looked at.
#[derive(Debug, Clone, Copy)]
enum Whose {
    Own,
    /// Of the answer above that may have made the call.
    OfCall,
}

/// Goes through everything an entry says by itself, piece by piece, as long as the answer is true.
fn each_piece(at: EntryRef<'_>, entry: &Entry, visit: &mut dyn FnMut(&str) -> bool) {
    let mut say = |piece: &str| piece.is_empty() || visit(piece);
    let role = at.role().name().unwrap_or_default();
    let goes_on = say(at.label().unwrap_or_default()) && say(&entry.type_name()) && say(role);
    if !goes_on || entry.is_unreadable() {
        return;
    }
    match entry.message() {
        Some(message) => message_pieces(message, entry.role(), &mut say),
        None => entry.kind() == Kind::Message || member_pieces(entry, &mut say),
    };
}

fn message_pieces(message: Message<'_>, role: Role, say: &mut dyn FnMut(&str) -> bool) -> bool {
    let text = |key| message.get_str(key).unwrap_or_default();
    message.texts().all(|piece| say(&piece))
        && message.tool_calls().all(|call| say(&call.name) && say(&plain(call.arguments)))
        && ["toolName", "output", "errorMessage", "customType", "stopReason", "summary"]
            .into_iter()
            .all(|key| say(&text(key)))
        && (role != Role::Unknown || say(&text("role")))
        && (role != Role::FileMention || say(&plain(message.get("files").unwrap_or_default())))
}

/// Of other types than messages, all that stands behind the envelope is what they say.
fn member_pieces(entry: &Entry, say: &mut dyn FnMut(&str) -> bool) -> bool {
    crate::json::Members::new(entry.json().as_bytes()).all(|member| {
        let key = decode(&entry.json().as_bytes()[member.key]);
        matches!(&*key, "type" | "id" | "parentId" | "timestamp" | "preserveData")
            || say(&plain(&entry.json()[member.value]))
    })
}

/// JSON text with its strings as they read, each on a line of its own: what a person would search for
/// in it.
fn plain(json: &str) -> String {
    let bytes = json.as_bytes();
    let mut out = String::with_capacity(json.len());
    let mut from = 0;
    while let Some(quote) = memchr::memchr(b'"', &bytes[from..]).map(|at| from + at) {
        out.push_str(&json[from..quote]);
        out.push('\n');
        let Some(inner) = members::string_at(bytes, quote) else { break };
        from = inner.end + 1;
        out.push_str(&decode(&bytes[inner]));
        out.push('\n');
    }
    out.push_str(json.get(from..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_other_characters_only_two_become_ascii_in_lower_case() {
        let others = ('\u{80}'..=char::MAX).filter(|c| c.to_lowercase().any(|c| c.is_ascii()));
        assert_eq!(others.collect::<Vec<_>>(), ['\u{130}', '\u{212a}']);
    }

    #[test]
    fn longer_words_and_more_of_them_narrow() {
        let narrows = |new: &str, old: &str| Search::new(new).narrows(&Search::new(old));
        assert!(narrows("cache", "cac") && narrows("the cache", "cache") && narrows("x", ""));
        assert!(narrows("CACHE", "cache cac"));
        assert!(!narrows("cac", "cache") && !narrows("", "x") && !narrows("cache", "cache the"));
    }
}

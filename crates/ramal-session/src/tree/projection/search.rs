//! Searching in everything that entries say (contract, section 10).
//!
//! An entry that says a word has it in its line, in nearly every case letter by letter: so lines are
//! looked through as bytes first, and few have to be read as what they are.

use std::collections::VecDeque;

use memchr::memmem::Finder;

use super::calls::{Calls, answers_above};
use crate::entry::{Entry, Kind, Role};
use crate::error::ReadError;
use crate::json::{decode, members};
use crate::log::window::Window;
use crate::tree::node::Flags;
use crate::{EntryRef, SessionManager};

/// Words that must all occur in an entry, upper and lower case being the same.
#[derive(Debug, Clone, Default)]
pub struct Search {
    words: Vec<Word>,
}

#[derive(Debug, Clone)]
struct Word {
    text: String,
    finder: Finder<'static>,
    /// Whether it stands in a line as it reads: nothing in it is ever escaped or changes its case.
    is_plain: bool,
}

impl Word {
    fn new(text: &str) -> Word {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\');
        Word { finder: Finder::new(text.as_bytes()).into_owned(), is_plain, text: text.to_owned() }
    }
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
        let lower = text.to_lowercase();
        self.words.iter().all(|word| word.finder.find(lower.as_bytes()).is_some())
    }
}

/// Looks for words in entries. It keeps what neighbours need of each other: walk in the order of the log,
/// up or down, and a log is read about once.
#[derive(Debug)]
pub struct Searcher {
    lines: Window,
    answers: Window,
    calls: Calls,
    /// The line at hand in lower case.
    lower: Vec<u8>,
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
        if !self.may_find(session, search, at)? {
            return Ok(false);
        }
        Ok(search.is_in(self.says(session, at)?))
    }

    /// Everything that an entry says, pieces on lines of their own: what searches look at.
    ///
    /// # Errors
    /// If the log cannot be read any more.
    pub fn says(&mut self, session: &SessionManager, at: EntryRef<'_>) -> Result<&str, ReadError> {
        let entry = at.read()?;
        let call = self.calls.of_entry(session, at, &entry)?;
        self.text.clear();
        say_all(at.label(), &entry, &mut self.text);
        if let Some(call) = call {
            say(&mut self.text, &call.name);
            say(&mut self.text, &plain(&call.arguments));
        }
        Ok(&self.text)
    }

    /// Whether an entry might say all the words, as far as the bytes of its line tell.
    fn may_find(
        &mut self,
        session: &SessionManager,
        search: &Search,
        at: EntryRef<'_>,
    ) -> Result<bool, ReadError> {
        let number = at.position() as u32;
        let mut may = self.words_that_may_be_in(session, search, number, false)?;
        if let Some(label) = at.label() {
            let label = label.to_lowercase();
            may.iter_mut().zip(&search.words).for_each(|(may, word)| *may |= label.contains(&word.text));
        }
        if at.role() != Role::ToolResult || may.iter().all(|&may| may) {
            return Ok(may.iter().all(|&may| may));
        }
        if !self.searched.iter().map(String::as_str).eq(search.words()) {
            self.searched = search.words().map(str::to_owned).collect();
            self.may_be_in.clear();
        }
        for answer in answers_above(session, at) {
            if !self.may_be_in.iter().any(|&(number, _)| number == answer) {
                let words = self.words_that_may_be_in(session, search, answer, true)?;
                self.may_be_in.truncate(ANSWERS - 1);
                self.may_be_in.push_front((answer, words));
            }
            let words = self.may_be_in.iter().find(|&&(number, _)| number == answer);
            for (may, also) in may.iter_mut().zip(words.map(|(_, words)| words).into_iter().flatten()) {
                *may |= also;
            }
            if may.iter().all(|&may| may) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn words_that_may_be_in(
        &mut self,
        session: &SessionManager,
        search: &Search,
        number: u32,
        is_other: bool,
    ) -> Result<Vec<bool>, ReadError> {
        let node = session.tree.node(number);
        if node.flags.has(Flags::MIGRATED) || session.tree.hooks_are_custom {
            // It says what does not stand in its line.
            return Ok(vec![true; search.words.len()]);
        }
        let lines = if is_other { &mut self.answers } else { &mut self.lines };
        let line = lines.read(&session.log, node.offset(), node.len());
        let line = line.map_err(|source| session.read_error(number, source))?;
        self.lower.clear();
        self.lower.extend(line.iter().map(u8::to_ascii_lowercase));
        let line = &*self.lower;
        let mut is_odd = None;
        let mut may_be_in = |word: &Word| {
            !word.is_plain
                || word.finder.find(line).is_some()
                || *is_odd.get_or_insert_with(|| says_more_than_it_shows(line))
        };
        Ok(search.words.iter().map(&mut may_be_in).collect())
    }
}

/// Whether letters of ASCII may be said in a line in which they do not stand: by escapes, or by the two
/// other characters whose lower case begins with one, the sign for Kelvin and a capital I with a dot.
fn says_more_than_it_shows(line: &[u8]) -> bool {
    let has = |bytes: &[u8]| memchr::memmem::find(line, bytes).is_some();
    has(br"\u")
        || has(br"\/")
        || (!line.is_ascii() && (has("\u{212a}".as_bytes()) || has("\u{130}".as_bytes())))
}

fn say(out: &mut String, text: &str) {
    if !text.is_empty() {
        out.push_str(text);
        out.push('\n');
    }
}

/// Everything an entry says by itself, pieces on lines of their own.
fn say_all(label: Option<&str>, entry: &Entry, out: &mut String) {
    say(out, label.unwrap_or_default());
    say(out, &entry.type_name());
    let Kind::Message = entry.kind() else { return say_members(entry, out) };
    let Some(message) = entry.message() else { return };
    say(out, &message.get_str("role").unwrap_or_default());
    message.texts().for_each(|text| say(out, &text));
    for call in message.tool_calls() {
        say(out, &call.name);
        say(out, &plain(call.arguments));
    }
    for key in ["toolName", "output", "errorMessage", "customType", "stopReason", "summary"] {
        say(out, &message.get_str(key).unwrap_or_default());
    }
    if entry.role() == Role::FileMention {
        say(out, &plain(message.get("files").unwrap_or_default()));
    }
}

/// Of other types than messages, all that stands behind the envelope is what they say.
fn say_members(entry: &Entry, out: &mut String) {
    if entry.is_unreadable() {
        return;
    }
    for member in crate::json::Members::new(entry.json().as_bytes()) {
        let key = decode(&entry.json().as_bytes()[member.key]);
        if !matches!(&*key, "type" | "id" | "parentId" | "timestamp" | "preserveData") {
            say(out, &plain(&entry.json()[member.value]));
        }
    }
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

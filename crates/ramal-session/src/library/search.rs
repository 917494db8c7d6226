//! Searching in everything that was said in sessions (contract, section 14).
//!
//! What tools answered is left out: one remembers what was said. As in the tree, a line is looked through as
//! bytes first, and few lines have to be read as what they are.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::listing::open_to_read;
use super::parallel::in_parallel;
use super::query::{Pattern, Query, Term, phrase_is_in};
use crate::SessionManager;
use crate::entry::{EntryId, Kind, Role};
use crate::error::OpenError;
use crate::log::window::Window;
use crate::tree::node::{Flags, Node};
use crate::tree::projection::Word;

/// What a search has found in the texts of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextMatch {
    /// For each term of the query whether it stands in one of the texts.
    pub terms: Vec<bool>,
    /// The entry that has most of them, the newest of several.
    pub entry: EntryId,
    /// Who says it.
    pub role: Role,
    /// What it says around the place, in one line.
    pub excerpt: String,
}

/// Characters that stand before the place in an excerpt, and in all of it.
const BEFORE: usize = 40;
const EXCERPT: usize = 400;
/// Entries between two looks at whether the search is still wanted.
const STRIDE: u32 = 256;

/// Looks through all that was said in the sessions of some files, on all branches, several files at a time.
/// `hear` is told of each file by its place, in any order: what was found in it, if anything was. A session in
/// which only some of the terms stand is told, too: the others may stand in its name.
///
/// It takes as long as the files are large, so it belongs on a thread of its own. It ends early when `cancelled`
/// says so, and nothing more is heard then.
pub fn search(
    files: &[PathBuf],
    query: &Query,
    cancelled: &(dyn Fn() -> bool + Sync),
    hear: &mut dyn FnMut(usize, Result<Option<TextMatch>, OpenError>),
) {
    let needles: Vec<Needle<'_>> = query.terms().iter().map(Needle::of).collect();
    let work = |path: &PathBuf, buffer: &mut Vec<u8>| match cancelled() {
        true => Ok(None),
        false => search_file(path, &needles, cancelled, buffer),
    };
    in_parallel(files, &work, &mut |number, found| {
        if cancelled() {
            return ControlFlow::Break(());
        }
        hear(number, found);
        ControlFlow::Continue(())
    });
}

/// A term, ready to be looked for in lines.
enum Needle<'a> {
    Word(Word),
    /// A phrase, and its longest word: without that a line cannot have it.
    Phrase(&'a str, Word),
    Pattern(&'a Pattern),
}

impl Needle<'_> {
    fn of(term: &Term) -> Needle<'_> {
        match term {
            Term::Word(word) => Needle::Word(Word::new(word)),
            Term::Phrase(phrase) => {
                let longest = phrase.split(' ').max_by_key(|word| word.len()).unwrap_or_default();
                Needle::Phrase(phrase, Word::new(longest))
            }
            Term::Pattern(pattern) => Needle::Pattern(pattern),
        }
    }

    /// Whether a line, in lower case, may say it.
    fn may_be_in(&self, line: &[u8]) -> bool {
        match self {
            Needle::Word(word) | Needle::Phrase(_, word) => word.may_be_said_in(line),
            Needle::Pattern(_) => true,
        }
    }

    /// Whether a text has it; the text is given with its letters of ASCII in lower case, too.
    fn is_in(&self, text: &str, lower: &[u8]) -> bool {
        match self {
            Needle::Word(word) => word.is_in(text, lower),
            Needle::Phrase(phrase, word) => word.is_in(text, lower) && phrase_is_in(phrase, text),
            Needle::Pattern(pattern) => pattern.is_in(text),
        }
    }

    /// Where it stands in a text, as near as an excerpt needs it.
    fn place(&self, text: &str) -> Option<usize> {
        let of_word = |word: &Word| {
            // Where lower case takes other bytes, the place is a little off, which does no harm.
            text.to_lowercase().find(word.text())
        };
        match self {
            Needle::Word(word) => of_word(word),
            Needle::Phrase(phrase, word) => text.to_lowercase().find(phrase).or_else(|| of_word(word)),
            Needle::Pattern(pattern) => pattern.places(text).first().map(|place| place.start),
        }
    }
}

/// Whether an entry says what somebody said.
fn is_said(node: &Node) -> bool {
    match node.kind {
        Kind::Message => !matches!(
            node.role,
            Role::None
                | Role::Unknown
                | Role::ToolResult
                | Role::System
                | Role::Developer
                | Role::FileMention
        ),
        kind => kind.is_conversation(),
    }
}

/// The newest entry so far that has most.
struct Best {
    number: u32,
    has: usize,
    excerpt: String,
}

fn search_file(
    path: &Path,
    needles: &[Needle<'_>],
    cancelled: &dyn Fn() -> bool,
    buffer: &mut Vec<u8>,
) -> Result<Option<TextMatch>, OpenError> {
    let (session, _) = open_to_read(path, buffer)?;
    let io_error = |source| OpenError::Io { path: path.into(), source };
    let mut terms = vec![false; needles.len()];
    let mut best: Option<Best> = None;
    let (mut lines, mut lower) = (Window::new(), Vec::new());
    for number in (0..session.tree.len() as u32).rev() {
        if number % STRIDE == 0 && cancelled() {
            return Ok(None);
        }
        let node = session.tree.node(number);
        if !is_said(node) || !may_say(&session, number, needles, &mut lines, &mut lower).map_err(io_error)? {
            continue;
        }
        let text = session.entry(number).map_err(|error| io_error(error.source))?.text();
        let ascii_lower = text.to_ascii_lowercase();
        let has: Vec<bool> =
            needles.iter().map(|needle| needle.is_in(&text, ascii_lower.as_bytes())).collect();
        let count = has.iter().filter(|has| **has).count();
        if count == 0 {
            continue;
        }
        terms.iter_mut().zip(&has).for_each(|(term, has)| *term |= has);
        if best.as_ref().is_none_or(|best| best.has < count) {
            let first = needles.iter().zip(&has).find(|(_, has)| **has);
            let place = first.and_then(|(needle, _)| needle.place(&text)).unwrap_or(0);
            best = Some(Best { number, has: count, excerpt: excerpt(&text, place) });
        }
        if terms.iter().all(|term| *term) {
            break;
        }
    }
    let Some(best) = best else { return Ok(None) };
    let entry = session.entry_id(best.number).map_err(io_error)?;
    let role = session.tree.node(best.number).role;
    Ok(Some(TextMatch { terms, entry, role, excerpt: best.excerpt }))
}

/// Whether an entry may say any of the terms, as far as the bytes of its line tell.
fn may_say(
    session: &SessionManager,
    number: u32,
    needles: &[Needle<'_>],
    lines: &mut Window,
    lower: &mut Vec<u8>,
) -> std::io::Result<bool> {
    let node = session.tree.node(number);
    if node.flags.has(Flags::MIGRATED) || session.tree.hooks_are_custom {
        // It says what does not stand in its line.
        return Ok(true);
    }
    let line = lines.read(&session.log, node.offset(), node.len())?;
    lower.clear();
    lower.extend(line.iter().map(u8::to_ascii_lowercase));
    Ok(needles.iter().any(|needle| needle.may_be_in(lower)))
}

/// What stands around a place of a text, in one line.
fn excerpt(text: &str, place: usize) -> String {
    let place = text.floor_char_boundary(place);
    let before = text[..place].char_indices().rev().take(BEFORE).last().map_or(place, |(at, _)| at);
    let cut: String = text[before..].chars().take(EXCERPT).collect();
    let line = cut.split_whitespace().collect::<Vec<_>>().join(" ");
    if before > 0 { format!("…{line}") } else { line }
}

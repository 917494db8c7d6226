//! What a word can become, while it is typed: commands, files, entries.
//!
//! The [editor](crate::editor) knows which word is being typed, and [`CompletionList`] is the list; here is where
//! the list comes from, when it opens and closes, and what keys do in it. [`FileIndex`] reads the folder's files on
//! a thread of its own: nothing here waits for a disk.

mod files;
mod mentions;
mod sources;

pub use files::{FileIndex, Files};
pub use mentions::mentions;
pub use sources::{Arguments, Command, Entry, Sources};

use ratatui::text::Line;

use crate::editor::{Completing, CompletionItem, CompletionKind, CompletionList, Editor, ListStep};
use crate::keys::{ActionId, Key, Keymap, Place};
use crate::theme::Theme;

/// The rows of the list that are seen at a time.
const ROWS: usize = 8;

/// What came of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// Nothing: it is not for the list, and means what it means without one.
    Passed,
    /// Something is to be drawn again.
    Redraw,
    /// Something was put into the editor.
    Accepted,
    /// A command was put into the editor, and is to be sent: it takes no arguments.
    Submit,
}

/// The list of what the word can become that is being typed, while there is one.
#[derive(Debug, Default)]
pub struct Completer {
    open: Option<Open>,
    /// The editor's revision when it was looked at last. The list opens by typing, and not by moving about.
    revision: u64,
    /// The word for which no list is wanted any more: what it is about, and where it begins.
    dismissed: Option<(CompletionKind, usize)>,
}

/// An open list.
#[derive(Debug)]
struct Open {
    list: CompletionList,
    word: Completing,
    /// What the items are made from, to be compared with what there is later.
    sources: Sources,
    /// Which of the items of the sources they are.
    part: Part,
    /// Whether somebody has gone through the list.
    is_stepped: bool,
}

/// Which items of the sources are in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// Commands by their first names, since nothing was typed yet.
    Names,
    /// What is in a folder.
    Folder(String),
    /// All of them.
    All,
}

impl Part {
    fn of(word: &Completing, sources: &Sources) -> Part {
        match word.kind {
            CompletionKind::Command if word.query.is_empty() => Part::Names,
            // The folder itself would be the best match, and lead nowhere.
            CompletionKind::File => match word.query.rfind('/').map(|slash| &word.query[..=slash]) {
                Some(folder) if sources.files.has_folder(folder) => Part::Folder(folder.to_owned()),
                _ => Part::All,
            },
            _ => Part::All,
        }
    }

    fn items(&self, kind: CompletionKind, sources: &Sources) -> Vec<CompletionItem> {
        match (kind, self) {
            (CompletionKind::Command, part) => sources.commands(*part == Part::All),
            (CompletionKind::File, Part::Folder(folder)) => sources.files.below(folder),
            (CompletionKind::File, _) => sources.files.items().to_vec(),
            (CompletionKind::Entry, _) => sources.entries(),
            (CompletionKind::Argument, _) => sources.arguments(),
        }
    }
}

impl Completer {
    /// No list yet.
    pub fn new() -> Completer {
        Completer::default()
    }

    /// Whether there is a list to be seen.
    pub fn is_open(&self) -> bool {
        self.open.as_ref().is_some_and(|open| !open.list.is_empty())
    }

    /// What is seen of the list; nothing while there is none.
    pub fn lines(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        self.open.as_ref().map_or_else(Vec::new, |open| open.list.lines(columns, theme))
    }

    /// Opens, changes or closes the list, as what is in the editor and what there is to choose from want it. To
    /// be called after everything that may have changed one of them. Answers whether something is to be drawn
    /// again.
    pub fn follow(&mut self, editor: &Editor, sources: &Sources) -> bool {
        let was_typed = std::mem::replace(&mut self.revision, editor.revision()) != editor.revision();
        let word = sources.word(editor);
        let place = word.as_ref().map(|word| (word.kind, word.range.start));
        if self.dismissed != place {
            self.dismissed = None;
        }
        match word {
            Some(word) if self.dismissed.is_none() && (was_typed || self.open.is_some()) => {
                self.update(word, sources)
            }
            _ => self.open.take().is_some_and(|open| !open.list.is_empty()),
        }
    }

    /// There may be more to choose from for what was just typed: as [`Completer::follow`].
    pub fn has_more(&mut self, editor: &Editor, sources: &Sources) -> bool {
        self.revision = editor.revision().wrapping_sub(1);
        self.follow(editor, sources)
    }

    /// Opens the list although it was closed before, or the word was not just typed: what Tab asks for. Answers
    /// whether there is something to choose from.
    pub fn ask(&mut self, editor: &Editor, sources: &Sources) -> bool {
        (self.dismissed, self.revision) = (None, editor.revision());
        if let Some(word) = sources.word(editor) {
            self.update(word, sources);
        }
        self.is_open()
    }

    fn update(&mut self, word: Completing, sources: &Sources) -> bool {
        let part = Part::of(&word, sources);
        let Some(open) = self
            .open
            .as_mut()
            .filter(|open| open.word.range.start == word.range.start && open.word.kind == word.kind)
        else {
            let mut list = CompletionList::new(word.kind, part.items(word.kind, sources), ROWS);
            list.set_query(searched(&word));
            let is_seen = !list.is_empty();
            let before = self.is_open();
            self.open = Some(Open { list, word, sources: sources.clone(), part, is_stepped: false });
            return is_seen || before;
        };
        let has_others = open.part != part || !open.sources.is_same(word.kind, sources);
        if has_others {
            open.list.set_items(part.items(word.kind, sources));
            (open.part, open.sources) = (part, sources.clone());
        }
        let is_other_query = open.word.query != word.query;
        if is_other_query {
            open.list.set_query(searched(&word));
            open.is_stepped = false;
        }
        open.word = word;
        has_others || is_other_query
    }

    /// A key was pressed. While there is a list, keys go here first.
    pub fn key(&mut self, editor: &mut Editor, keymap: &Keymap, key: Key) -> Told {
        let Some(open) = self.open.as_mut().filter(|open| !open.list.is_empty()) else { return Told::Passed };
        if keymap.action(Place::Editor, key) == Some(ActionId::Complete) {
            return self.accept(editor);
        }
        let step = match keymap.action(Place::List, key) {
            Some(ActionId::Up) => ListStep::Up,
            Some(ActionId::Down) => ListStep::Down,
            Some(ActionId::PageUp) => ListStep::PageUp,
            Some(ActionId::PageDown) => ListStep::PageDown,
            Some(ActionId::Confirm) => return self.confirm(editor),
            Some(ActionId::Cancel) => {
                self.dismiss();
                return Told::Redraw;
            }
            _ => return Told::Passed,
        };
        open.list.step(step);
        open.is_stepped = true;
        Told::Redraw
    }

    /// Closes the list for this word.
    fn dismiss(&mut self) {
        self.dismissed = self.open.take().map(|open| (open.word.kind, open.word.range.start));
    }

    /// Enter: what is selected is taken, and a command sent if it needs nothing more. What is there already, word
    /// for word, needs no list.
    fn confirm(&mut self, editor: &mut Editor) -> Told {
        let Some(open) = &self.open else { return Told::Passed };
        let Some(item) = open.list.selected() else { return Told::Passed };
        let (kind, query) = (open.word.kind, &open.word.query);
        let is_whole = item.insert() == query;
        // A number sign is often nothing but that: `#12` sends, unless a label begins so.
        let begins = |label: &str| label.to_lowercase().starts_with(&query.to_lowercase());
        // Behind a command anything may stand.
        let may_be_other = matches!(kind, CompletionKind::Entry | CompletionKind::Argument);
        let is_meant = open.is_stepped
            || !may_be_other
            || (!query.is_empty() && (begins(item.label()) || begins(item.insert())));
        if is_whole || !is_meant {
            self.dismiss();
            return Told::Passed;
        }
        let is_sent = kind == CompletionKind::Command && !open.sources.takes_arguments(item.insert());
        match self.accept(editor) {
            Told::Accepted if is_sent => Told::Submit,
            told => told,
        }
    }

    /// Puts what is selected in the place of the word. In a folder one goes on.
    fn accept(&mut self, editor: &mut Editor) -> Told {
        let Some(open) = self.open.take() else { return Told::Passed };
        let Some(item) = open.list.selected() else { return Told::Passed };
        let is_in = match open.word.kind {
            CompletionKind::Argument => editor.accept_argument(item),
            _ => editor.accept(item),
        };
        if !is_in {
            return Told::Passed;
        }
        let goes_on = open.word.kind == CompletionKind::File && item.insert().ends_with('/');
        if !goes_on {
            self.dismissed = Some((open.word.kind, open.word.range.start));
        }
        Told::Accepted
    }
}

/// What is searched for in the list of a word. Whoever says what can stand behind a command has chosen already.
fn searched(word: &Completing) -> &str {
    if word.kind == CompletionKind::Argument { "" } else { &word.query }
}

#[cfg(test)]
mod tests;

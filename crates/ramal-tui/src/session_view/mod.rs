//! The sessions on the whole screen: to be searched, opened, renamed, deleted.
//!
//! [`SessionView`] turns keys into what is to be done ([`Told`]), and sessions into lines. It reads no file and
//! writes nothing: sessions are given to it as they are found, and so is what stands in their texts.

mod draw;
mod find;
mod lines;
mod preview;
mod row;
mod rows;
mod store;
mod texts;

use std::path::{Path, PathBuf};

use ramal_session::EntryId;
use ramal_session::library::{Query, SessionInfo, TextMatch};

use crate::editor::Editor;
use crate::keys::{ActionId, Key, Keymap, Place};
use crate::text::clean;
use lines::LineKey;
use rows::Rows;
use store::Store;
use texts::Texts;
pub use texts::TextsWanted;

/// Which sessions are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SessionScope {
    /// Those of the directory that one works in.
    Directory,
    /// Those of all projects.
    All,
}

/// The order of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SessionOrder {
    /// Copies below what they were copied from, the thread that was worked in last first. A search makes it
    /// [`SessionOrder::Relevance`].
    Threaded,
    /// The one worked in last first.
    Recent,
    /// What the search fits best first; without one as [`SessionOrder::Recent`].
    Relevance,
}

/// What there is to know about where one is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Around {
    /// The directory that one works in.
    pub cwd: PathBuf,
    /// The home of the user, which paths show as `~`.
    pub home: Option<PathBuf>,
    /// The file of the session that is open, if one is.
    pub open: Option<PathBuf>,
}

/// The sessions, and what is being done with them.
#[derive(Debug)]
pub struct SessionView {
    around: Around,
    /// Of the directory, and of all.
    stores: [Store; 2],
    scope: SessionScope,
    order: SessionOrder,
    named_only: bool,
    shows_paths: bool,
    search: Editor,
    /// What is searched for; or why it cannot be.
    query: Result<Query, String>,
    texts: Texts,
    asked: Asked,
    rows: Rows,
    /// The rows are not those that should be seen any more.
    is_stale: bool,
    /// The session that was chosen as the selected one; none for the first row, whichever that is.
    selected: Option<PathBuf>,
    /// The one that was selected before a search began.
    before_search: Option<PathBuf>,
    /// The one that was drawn as the selected one, and in which row.
    seen: (Option<PathBuf>, usize),
    /// The first row that is seen.
    top: usize,
    /// Rows that were drawn last: a page.
    page: usize,
    /// What is said below the rows, until the next key.
    notice: Option<String>,
}

/// What is to be answered before anything else goes on.
#[derive(Debug)]
enum Asked {
    Nothing,
    /// Whether a session is to be deleted.
    Delete(PathBuf),
    /// What it is to be called.
    Name(PathBuf, Box<Editor>),
}

/// What a key asks of whoever shows the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// Nothing is to be drawn again.
    Nothing,
    /// Something is.
    Redraw,
    /// Something is, and texts may have to be looked through: [`SessionView::texts_wanted`] says which.
    Search,
    /// The sessions of a scope are to be listed, and given to [`SessionView::add`]. Told once for each scope.
    WantScope(SessionScope),
    /// A session is to be opened.
    Open {
        /// Its file.
        path: PathBuf,
        /// The entry in which the search has found its words, if it did not find them in what the row shows.
        found_at: Option<EntryId>,
    },
    /// The session that is open was chosen: the view is to be closed, and nothing is to be done.
    AlreadyOpen,
    /// A session is to be renamed; then [`SessionView::renamed`] or [`SessionView::notice`].
    Rename {
        /// Its file. It may be the one that is open.
        path: PathBuf,
        /// The name; an empty one takes the name off.
        name: String,
    },
    /// A session is to go to the trash, which the user has confirmed; then [`SessionView::deleted`] or
    /// [`SessionView::notice`].
    Delete(PathBuf),
    /// The view is to be closed.
    Close,
    /// The process is to be stopped until the shell wakes it.
    Suspend,
}

impl SessionView {
    /// A view of the sessions of a directory, which are being listed.
    pub fn new(around: Around) -> SessionView {
        SessionView {
            around,
            stores: [Store::begun(), Store::default()],
            scope: SessionScope::Directory,
            order: SessionOrder::Threaded,
            named_only: false,
            shows_paths: false,
            search: Editor::new(),
            query: Ok(Query::default()),
            texts: Texts::default(),
            asked: Asked::Nothing,
            rows: Rows::default(),
            is_stale: true,
            selected: None,
            before_search: None,
            seen: (None, 0),
            top: 0,
            page: 10,
            notice: None,
        }
    }

    /// Which sessions are shown.
    pub fn scope(&self) -> SessionScope {
        self.scope
    }

    /// The order that was chosen.
    pub fn order(&self) -> SessionOrder {
        self.order
    }

    /// The file of the session that is selected; none if no row is there.
    pub fn selected(&mut self) -> Option<&Path> {
        self.freshen();
        let at = self.position();
        self.info_of(at).map(|info| info.path.as_path())
    }

    /// Takes in sessions that were found. One that is there already is replaced. Where a search goes on, ask
    /// [`SessionView::texts_wanted`] afterwards.
    pub fn add(&mut self, scope: SessionScope, sessions: impl IntoIterator<Item = SessionInfo>) {
        self.store_mut(scope).add(sessions);
        self.is_stale = true;
    }

    /// So many files of how many have been read for a scope.
    pub fn progress(&mut self, scope: SessionScope, done: usize, of: usize) {
        self.store_mut(scope).progress(done, of);
    }

    /// All sessions of a scope have been given.
    pub fn finished(&mut self, scope: SessionScope) {
        self.store_mut(scope).finish();
    }

    /// Which texts are to be looked through for the present search, besides those that were asked for before;
    /// none if nothing is. With another number than before, the searches before are not wanted any more.
    pub fn texts_wanted(&mut self) -> Option<TextsWanted> {
        self.freshen();
        let query = self.query.as_ref().ok().filter(|query| !query.is_empty())?;
        let store = &self.stores[self.scope as usize];
        let files = self.rows.without_texts.iter().filter_map(|&at| Some(store.get(at)?.path.as_path()));
        self.texts.want(query, files)
    }

    /// What was found in the texts of a session, if anything was, by the search of a number; every file that
    /// was asked for is told once, also one that could not be read.
    pub fn texts_found(&mut self, number: u64, path: &Path, found: Option<TextMatch>) {
        self.is_stale |= self.texts.found(number, path, found);
    }

    /// A session has got a name, or lost it.
    pub fn renamed(&mut self, path: &Path, name: Option<&str>) {
        self.stores.iter_mut().for_each(|store| store.rename(path, name));
        self.is_stale = true;
    }

    /// A session is not there any more.
    pub fn deleted(&mut self, path: &Path) {
        self.stores.iter_mut().for_each(|store| store.remove(path));
        self.is_stale = true;
    }

    /// Says something below the rows, until the next key.
    pub fn notice(&mut self, text: impl Into<String>) {
        self.notice = Some(text.into());
    }

    /// A key was pressed.
    pub fn key(&mut self, keymap: &Keymap, key: Key) -> Told {
        let had_notice = self.notice.take().is_some();
        self.freshen();
        let told = match std::mem::replace(&mut self.asked, Asked::Nothing) {
            Asked::Nothing => self.list_key(keymap, key),
            Asked::Delete(path) => self.answer(path, keymap, key),
            Asked::Name(path, editor) => self.name_key(path, editor, keymap, key),
        };
        if had_notice && told == Told::Nothing { Told::Redraw } else { told }
    }

    /// Something was pasted: into the name that is being written, or into what is searched for.
    pub fn paste(&mut self, text: &str) -> Told {
        let mut line = clean::one_line(text, lines::LONGEST);
        if text.starts_with(char::is_whitespace) {
            // It is set off from what stands before it.
            line.insert(0, ' ');
        }
        match &mut self.asked {
            Asked::Name(_, editor) => editor.insert(&line),
            Asked::Delete(_) => return Told::Nothing,
            Asked::Nothing => {
                self.search.insert(&line);
                return self.searched();
            }
        }
        Told::Redraw
    }

    fn answer(&mut self, path: PathBuf, keymap: &Keymap, key: Key) -> Told {
        match keymap.action(Place::List, key) {
            Some(ActionId::Confirm) => Told::Delete(path),
            Some(ActionId::Cancel) => Told::Redraw,
            action => {
                self.asked = Asked::Delete(path);
                if action == Some(ActionId::Suspend) { Told::Suspend } else { Told::Nothing }
            }
        }
    }

    fn name_key(&mut self, path: PathBuf, mut editor: Box<Editor>, keymap: &Keymap, key: Key) -> Told {
        if keymap.action(Place::List, key) == Some(ActionId::Cancel) {
            return Told::Redraw;
        }
        if lines::key(&mut editor, keymap, key) == LineKey::Submit {
            let name = clean::one_line(&editor.text(), lines::LONGEST).trim().to_owned();
            return Told::Rename { path, name };
        }
        self.asked = Asked::Name(path, editor);
        Told::Redraw
    }

    fn list_key(&mut self, keymap: &Keymap, key: Key) -> Told {
        let action = keymap.action(Place::Sessions, key);
        // While one searches, a letter is a letter.
        let action = action.filter(|_| self.search.is_empty() || key.typed().is_none());
        match action {
            Some(ActionId::Up) => self.go_by(-1),
            Some(ActionId::Down) => self.go_by(1),
            Some(ActionId::PageUp) => self.go_by(-(self.page as isize)),
            Some(ActionId::PageDown) => self.go_by(self.page as isize),
            Some(ActionId::First) => self.go_by(isize::MIN),
            Some(ActionId::Last) => self.go_by(isize::MAX),
            Some(ActionId::Confirm) => self.choose(),
            Some(ActionId::Cancel) if self.search.is_empty() => Told::Close,
            Some(ActionId::Cancel) => {
                self.search = Editor::new();
                self.searched()
            }
            Some(ActionId::ToggleScope) => self.toggle_scope(),
            Some(ActionId::ToggleSort) => {
                self.order = match self.order {
                    SessionOrder::Threaded => SessionOrder::Recent,
                    SessionOrder::Recent => SessionOrder::Relevance,
                    SessionOrder::Relevance => SessionOrder::Threaded,
                };
                self.keep_selected();
                self.is_stale = true;
                Told::Redraw
            }
            Some(ActionId::ToggleNamed) => {
                self.named_only = !self.named_only;
                self.keep_selected();
                self.is_stale = true;
                Told::Search
            }
            Some(ActionId::TogglePath) => {
                self.shows_paths = !self.shows_paths;
                Told::Redraw
            }
            Some(ActionId::Rename) => self.ask_name(),
            Some(ActionId::Delete) => self.ask_delete(),
            Some(ActionId::DeleteUnlessSearching) if self.search.is_empty() => self.ask_delete(),
            Some(ActionId::DeleteUnlessSearching) => {
                self.search.handle(crate::editor::EditorAction::DeleteWordBackward);
                self.searched()
            }
            Some(ActionId::Suspend) => Told::Suspend,
            Some(ActionId::Redraw) => Told::Redraw,
            _ => match lines::key(&mut self.search, keymap, key) {
                LineKey::Changed => self.searched(),
                LineKey::Moved => Told::Redraw,
                LineKey::Submit | LineKey::Nothing => Told::Nothing,
            },
        }
    }

    /// What is searched for is another now.
    fn searched(&mut self) -> Told {
        let text = self.search.text();
        self.query = Query::read(&text).map_err(|error| error.to_string());
        self.texts.forget();
        self.is_stale = true;
        let is_empty = text.trim().is_empty();
        if is_empty {
            let before = self.before_search.take();
            self.selected = self.selected.take().or(before);
        } else {
            if self.before_search.is_none() {
                self.before_search = self.selected.take();
            }
            // What fits best is looked at first.
            self.selected = None;
        }
        self.seen = (None, 0);
        Told::Search
    }

    fn toggle_scope(&mut self) -> Told {
        self.keep_selected();
        self.scope = match self.scope {
            SessionScope::Directory => SessionScope::All,
            SessionScope::All => SessionScope::Directory,
        };
        self.is_stale = true;
        self.seen = (None, 0);
        let scope = self.scope;
        if self.store_mut(scope).begin() { Told::WantScope(scope) } else { Told::Search }
    }

    fn choose(&mut self) -> Told {
        let Some(info) = self.info_of(self.position()) else { return Told::Nothing };
        let path = info.path.clone();
        let found_at = self.texts.of(&path).map(|found| found.entry.clone());
        match found_at {
            None if self.is_open(&path) => Told::AlreadyOpen,
            found_at => Told::Open { path, found_at },
        }
    }

    fn ask_name(&mut self) -> Told {
        let Some(info) = self.info_of(self.position()) else { return Told::Nothing };
        let mut editor = Editor::new();
        editor.insert(&clean::one_line(info.name.as_deref().unwrap_or_default(), lines::LONGEST));
        self.asked = Asked::Name(info.path.clone(), Box::new(editor));
        self.keep_selected();
        Told::Redraw
    }

    fn ask_delete(&mut self) -> Told {
        let Some(info) = self.info_of(self.position()) else { return Told::Nothing };
        if self.is_open(&info.path) {
            self.notice = Some("This session is open: it cannot be deleted from here".into());
            return Told::Redraw;
        }
        self.asked = Asked::Delete(info.path.clone());
        self.keep_selected();
        Told::Redraw
    }

    fn go_by(&mut self, rows: isize) -> Told {
        let last = self.rows.list.len().saturating_sub(1);
        let at = self.position();
        let to = at.saturating_add_signed(rows).min(last);
        self.selected = self.info_of(to).map(|info| info.path.clone());
        self.seen = (self.selected.clone(), to);
        if to == at { Told::Nothing } else { Told::Redraw }
    }

    /// The row where one is. Until one has moved, that is the first row; but not for somebody who has seen
    /// another one selected.
    fn position(&self) -> usize {
        let chosen = self.selected.as_deref().or(self.seen.0.as_deref());
        let found = chosen.and_then(|path| self.row_of(path));
        let last = self.rows.list.len().saturating_sub(1);
        // What has gone leaves one where it was.
        found.unwrap_or(if self.selected.is_some() { self.seen.1.min(last) } else { 0 })
    }

    /// From now on the selected session is the one that was seen as such.
    fn keep_selected(&mut self) {
        self.selected = self.info_of(self.position()).map(|info| info.path.clone());
    }

    fn row_of(&self, path: &Path) -> Option<usize> {
        let at = self.stores[self.scope as usize].find(path)?;
        self.rows.list.iter().position(|row| row.at == at)
    }

    fn info_of(&self, row: usize) -> Option<&SessionInfo> {
        self.stores[self.scope as usize].get(self.rows.list.get(row)?.at)
    }

    /// What the session of a row was copied from, if that is there, too.
    fn parent_of(&self, row: usize) -> Option<&SessionInfo> {
        let parent = (*self.rows.parents.get(self.rows.list.get(row)?.at)?)?;
        self.stores[self.scope as usize].get(parent)
    }

    fn is_open(&self, path: &Path) -> bool {
        self.around.open.as_deref() == Some(path)
    }

    fn store_mut(&mut self, scope: SessionScope) -> &mut Store {
        &mut self.stores[scope as usize]
    }

    /// Finds the rows anew, if anything has changed.
    fn freshen(&mut self) {
        if std::mem::take(&mut self.is_stale) {
            let store = &mut self.stores[self.scope as usize];
            self.rows = match &self.query {
                Ok(query) => Rows::of(store, query, &self.texts, self.order, self.named_only),
                Err(_) => Rows::default(),
            };
        }
    }
}

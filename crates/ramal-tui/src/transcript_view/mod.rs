//! The whole transcript on the whole screen: every block of a path, of the active one or another.
//!
//! [`TranscriptView`] turns keys into what a session is to be told ([`Told`]), and a path into lines. It
//! reads upwards as one scrolls, a few entries at a time; what takes longer — everything, a search beyond
//! what was read — goes on in [`TranscriptView::work`]. It writes nothing: neither into the session nor to
//! a terminal.

mod draw;
mod goal;
mod moves;
mod pane;
mod search;
#[cfg(test)]
mod tests;

use ramal_session::{EntryId, EntryRef, Irregular, ReadError, SessionManager};

use self::goal::Goal;
use self::pane::{Pane, Spot};
use crate::editor::{Editor, EditorAction, Outcome as Edited};
use crate::keys::{ActionId, Key, Keymap, Place};
use crate::text::clean;
use crate::transcript::{Block, Phrase, Transcript, sibling_branch};
use crate::tree_selector::{Direction, Work};

/// Columns of what is pasted into a line.
const LINE: usize = 1000;

/// The whole transcript, and what is being done with it.
#[derive(Debug)]
pub struct TranscriptView {
    pane: Pane,
    writing: Option<Writing>,
    /// What was searched for.
    phrase: Option<Phrase>,
    /// Where it was found last.
    found: Option<Spot>,
    /// What takes longer than a key may.
    goal: Option<Goal>,
    /// Another branch has been shown and one has not moved in it.
    is_fresh: bool,
    /// What is said below the rows, until the next key.
    notice: Option<String>,
    /// The log cannot be read any further.
    is_stuck: bool,
    seen: Seen,
    /// Whether there were colours for code.
    had_colors: bool,
}

/// What a session was like when it was looked at last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    generation: u64,
    entries: usize,
    leaf: Option<usize>,
}

impl Seen {
    fn of(session: &SessionManager) -> Seen {
        Seen {
            generation: session.generation(),
            entries: session.entry_count(),
            leaf: session.get_leaf_entry().map(EntryRef::position),
        }
    }
}

/// A line that is being written.
#[derive(Debug)]
enum Writing {
    Search(Editor),
    Label { id: EntryId, editor: Editor },
}

impl Writing {
    fn editor(&mut self) -> &mut Editor {
        match self {
            Writing::Search(editor) | Writing::Label { editor, .. } => editor,
        }
    }
}

/// Which blocks are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Filter {
    /// All of them.
    #[default]
    Everything,
    /// All but calls of tools and what came of them.
    NoTools,
    /// What the user and the model said to each other.
    Said,
}

impl Filter {
    fn shows(self, block: &Block) -> bool {
        match self {
            Filter::Everything => true,
            Filter::NoTools => !block.is_tool(),
            Filter::Said => block.is_user() || block.is_answer(),
        }
    }

    /// Its name, in a few words.
    pub fn name(self) -> &'static str {
        match self {
            Filter::Everything => "everything",
            Filter::NoTools => "without tools",
            Filter::Said => "only what was said",
        }
    }

    fn next(self) -> Filter {
        match self {
            Filter::Everything => Filter::NoTools,
            Filter::NoTools => Filter::Said,
            Filter::Said => Filter::Everything,
        }
    }
}

/// What a key asks of whoever shows the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// Nothing is to be drawn again.
    Nothing,
    /// Something is.
    Redraw,
    /// The view is to be closed.
    Close,
    /// The entry where one stands was chosen: the view is to be closed, and nothing is to be done.
    AlreadyHere,
    /// One is to go to an entry, as if it had been chosen in the tree.
    Go {
        /// The entry.
        id: EntryId,
    },
    /// One is to go to the end of another branch, and to stand there whatever entry it is.
    GoToEnd {
        /// The entry at the end.
        id: EntryId,
    },
    /// An entry is to get a label, or to lose the one that it has.
    Label {
        /// The entry.
        id: EntryId,
        /// The label; none takes it off.
        label: Option<String>,
    },
    /// The entry at a position is to be copied.
    Copy(usize),
    /// The tree is to be opened with an entry selected.
    Tree(EntryId),
    /// The keys are to be shown.
    Hotkeys,
    /// The process is to be stopped until the shell wakes it.
    Suspend,
}

impl TranscriptView {
    /// The active path, from its end.
    pub fn new(session: &SessionManager) -> TranscriptView {
        TranscriptView::of(session, Transcript::at_leaf(session))
    }

    /// The path to the entry at a position, from its end.
    pub fn at(session: &SessionManager, position: usize) -> TranscriptView {
        TranscriptView::of(session, Transcript::at(session, position))
    }

    fn of(session: &SessionManager, transcript: Transcript) -> TranscriptView {
        TranscriptView {
            pane: Pane::new(session, transcript),
            writing: None,
            phrase: None,
            found: None,
            goal: None,
            is_fresh: false,
            notice: None,
            is_stuck: false,
            seen: Seen::of(session),
            had_colors: false,
        }
    }

    /// Says something below the rows, until the next key.
    pub fn notice(&mut self, text: impl Into<String>) {
        self.notice = Some(text.into());
    }

    /// Which blocks are seen.
    pub fn filter(&self) -> Filter {
        self.pane.filter
    }

    /// Goes on with what takes longer than a key may, and takes in what was appended. To be called while
    /// nothing else is to be done; reads a few entries at a time.
    pub fn work(&mut self, session: &SessionManager) -> Work {
        let mut changed = self.follow(session);
        if self.goal.is_some() {
            self.pursue(session);
            changed = true;
        } else if !self.is_all_read() && !self.pane.has_above(session, 2 * self.pane.paper.rows) {
            // So that scrolling finds something there.
            self.read(session, goal::SLICE);
            changed = true;
        } else {
            return Work { changed, done: true };
        }
        Work { changed, done: false }
    }

    /// A key was pressed.
    pub fn key(&mut self, session: &SessionManager, keymap: &Keymap, key: Key) -> Told {
        self.follow(session);
        let had_notice = self.notice.take().is_some();
        let told = match self.writing.take() {
            Some(writing) => self.written(session, writing, keymap, key),
            None => match keymap.action(Place::Transcript, key) {
                Some(action) => self.act(session, action),
                None => Told::Nothing,
            },
        };
        if had_notice && told == Told::Nothing { Told::Redraw } else { told }
    }

    /// Something was pasted: into the line that is being written, or behind what is searched for.
    pub fn paste(&mut self, text: &str) -> Told {
        let line = clean::one_line(text, LINE);
        let writing = self.writing.get_or_insert_with(|| Writing::Search(Editor::new()));
        writing.editor().insert(&line);
        Told::Redraw
    }

    fn written(&mut self, session: &SessionManager, mut writing: Writing, keymap: &Keymap, key: Key) -> Told {
        if keymap.action(Place::List, key) == Some(ActionId::Cancel) {
            return Told::Redraw;
        }
        let actions = keymap.actions(Place::Editor, key);
        let action = actions.iter().find_map(|action| EditorAction::from_id(action.name()));
        let editor = writing.editor();
        match (action, key.typed()) {
            // What is written here is one line.
            (Some(EditorAction::NewLine), _) => {}
            (Some(action), _) => {
                if editor.handle(action) == Edited::Submit {
                    let text = editor.take().text();
                    return self.submitted(session, writing, text.trim());
                }
            }
            (None, Some(letter)) => editor.insert(letter.encode_utf8(&mut [0; 4])),
            (None, None) => {}
        }
        self.writing = Some(writing);
        Told::Redraw
    }

    fn submitted(&mut self, session: &SessionManager, writing: Writing, text: &str) -> Told {
        match writing {
            Writing::Label { id, .. } => {
                Told::Label { id, label: Some(text.to_owned()).filter(|label| !label.is_empty()) }
            }
            Writing::Search(_) => {
                self.search_for(session, text);
                Told::Redraw
            }
        }
    }

    fn act(&mut self, session: &SessionManager, action: ActionId) -> Told {
        use Direction::{Back, Forward};
        // Loading goes on while one looks around; what was looked for is not wanted any more.
        let goal = self.goal.take();
        if goal == Some(Goal::Everything) && action != ActionId::Cancel {
            self.goal = Some(Goal::Everything);
        }
        match action {
            ActionId::LineUp => self.scroll(session, Back, 1),
            ActionId::LineDown => self.scroll(session, Forward, 1),
            ActionId::PageUp | ActionId::TranscriptPageUp => self.page(session, Back),
            ActionId::PageDown | ActionId::TranscriptPageDown => self.page(session, Forward),
            ActionId::First | ActionId::TranscriptTop => self.aim(session, Goal::Top),
            ActionId::Last | ActionId::TranscriptBottom => self.show_bottom(session),
            ActionId::Up => self.step(session, Back),
            ActionId::Down => self.step(session, Forward),
            ActionId::TranscriptPreviousTurn => self.aim(session, Goal::PreviousTurn),
            ActionId::TranscriptNextTurn => self.next_turn(session),
            ActionId::TranscriptPreviousSibling => return self.beside(session, Back),
            ActionId::TranscriptNextSibling => return self.beside(session, Forward),
            ActionId::OpenEntry => return self.open(session),
            ActionId::OpenAll => {
                self.pane.change(session, Pane::toggle_all);
                self.found = None;
            }
            ActionId::TranscriptFilter => {
                self.pane.change(session, |pane| pane.filter = pane.filter.next());
            }
            ActionId::TranscriptLoadAll if self.is_all_read() => self.notice("Everything is loaded"),
            ActionId::TranscriptLoadAll => self.aim(session, Goal::Everything),
            ActionId::TranscriptSearch => self.writing = Some(Writing::Search(Editor::new())),
            ActionId::NextMatch => self.next_match(session, Forward),
            ActionId::PreviousMatch => self.next_match(session, Back),
            ActionId::Redraw => {}
            ActionId::TranscriptLabel => self.edit_label(session),
            ActionId::TranscriptCopy => {
                return self.target(session).map_or(Told::Nothing, |entry| Told::Copy(entry.position()));
            }
            ActionId::TranscriptTree => return self.tree(session),
            ActionId::Confirm => return self.go(session),
            ActionId::Cancel if goal.is_some() => {}
            ActionId::Cancel if self.phrase.is_some() => (self.phrase, self.found) = (None, None),
            ActionId::Cancel | ActionId::CloseTranscript => return Told::Close,
            ActionId::Suspend => return Told::Suspend,
            ActionId::Hotkeys => return Told::Hotkeys,
            _ => {
                self.goal = goal;
                return Told::Nothing;
            }
        }
        Told::Redraw
    }

    /// The entry that is meant by what is selected: of a call that has a result, the result.
    fn target<'s>(&mut self, session: &'s SessionManager) -> Option<EntryRef<'s>> {
        let selected = self.pane.selected(session)?;
        let block = self.pane.block(selected)?;
        session.get_entry(block.result_id().or(block.entry_id())?)
    }

    fn go(&mut self, session: &SessionManager) -> Told {
        let transcript = self.pane.transcript();
        let end = transcript.end().and_then(|end| session.get_entry_at(end));
        let goes_to_end = self.is_fresh && !transcript.is_active();
        let Some(entry) = (if goes_to_end { end } else { self.target(session) }) else {
            return Told::Nothing;
        };
        if entry.irregular() == Some(Irregular::NoId) {
            self.notice("This entry has no id of its own: it can be seen, not gone to");
            return Told::Redraw;
        }
        match entry.id() {
            _ if session.get_leaf_entry() == Some(entry) => Told::AlreadyHere,
            Ok(id) if goes_to_end => Told::GoToEnd { id },
            Ok(id) => Told::Go { id },
            Err(error) => self.failed(&error),
        }
    }

    fn tree(&mut self, session: &SessionManager) -> Told {
        match self.target(session).map(EntryRef::id) {
            Some(Ok(id)) => Told::Tree(id),
            Some(Err(error)) => self.failed(&error),
            None => Told::Nothing,
        }
    }

    fn edit_label(&mut self, session: &SessionManager) {
        let Some(selected) = self.pane.selected(session) else { return };
        let Some(block) = self.pane.block(selected) else { return };
        // The label that is seen is meant, or else what a copy would be of.
        let both = [block.result_id(), block.entry_id()];
        let labelled = both.into_iter().flatten().find(|id| session.get_label(id).is_some());
        let Some(id) = labelled.or(block.result_id()).or(block.entry_id()).cloned() else { return };
        if session.get_entry(&id).and_then(EntryRef::irregular) == Some(Irregular::NoId) {
            return self.notice("This entry has no id of its own: it can have no label");
        }
        let mut editor = Editor::new();
        editor.insert(&clean::one_line(session.get_label(&id).unwrap_or_default(), LINE));
        self.writing = Some(Writing::Label { id, editor });
    }

    /// Shows the branch beside the one that the selected entry is on.
    fn beside(&mut self, session: &SessionManager, direction: Direction) -> Told {
        let Some(position) = self.target(session).map(EntryRef::position) else { return Told::Nothing };
        let Some(sibling) = sibling_branch(session, position, direction) else {
            self.notice(match direction {
                Direction::Back => "There is no branch before this one",
                Direction::Forward => "There is no branch behind this one",
            });
            return Told::Redraw;
        };
        self.pane.show(session, Transcript::at(session, sibling.end.position()));
        (self.is_fresh, self.is_stuck, self.found) = (true, false, None);
        let above = std::iter::successors(Some(sibling.end), |entry| entry.parent());
        let depth = above.take_while(|entry| *entry != sibling.first).count() + 1;
        self.aim(session, Goal::Beginning { first: sibling.first.position(), depth });
        Told::Redraw
    }

    /// Takes in what became of the session; answers whether anything did.
    fn follow(&mut self, session: &SessionManager) -> bool {
        let now = Seen::of(session);
        if now == self.seen {
            return false;
        }
        self.seen = now;
        let was_last = self.pane.selected(session).is_some_and(|at| self.pane.below(session, at).is_none());
        match self.pane.follow(session) {
            Ok(true) if was_last => {
                if let Some(last) = self.pane.above(session, i64::MAX) {
                    self.pane.select(last);
                }
            }
            Ok(true) => {}
            Ok(false) => self.begin_anew(session),
            Err(error) => {
                self.failed(&error);
            }
        }
        true
    }

    /// The path has become another one: it is read again from its end.
    fn begin_anew(&mut self, session: &SessionManager) {
        let last = self.pane.transcript().blocks().next_back();
        let id = last.and_then(|block| block.result_id().or(block.entry_id())).cloned();
        let was_active = self.pane.transcript().is_active();
        let end = id.filter(|_| !was_active).and_then(|id| session.get_entry(&id));
        let transcript = match end {
            Some(end) => Transcript::at(session, end.position()),
            None => Transcript::at_leaf(session),
        };
        self.pane.show(session, transcript);
        (self.goal, self.found) = (None, None);
        (self.is_fresh, self.is_stuck) = (false, false);
    }

    fn failed(&mut self, error: &ReadError) -> Told {
        self.is_stuck = true;
        self.notice(error.to_string());
        Told::Redraw
    }
}

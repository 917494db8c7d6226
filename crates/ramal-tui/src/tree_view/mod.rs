//! The tree on the whole screen: rows, what is selected in full, a line for the search, a line for a label.
//!
//! [`TreeView`] turns keys into what a session is to be told ([`Told`]), and a session into lines. It writes
//! nothing: neither into the session nor to a terminal.

pub(crate) mod draw;
pub(crate) mod row;

pub(crate) use draw::side_by_side;
pub(crate) use row::{Pieces, selected};

use ramal_session::{EntryId, SessionManager};

use crate::editor::{Editor, EditorAction, Outcome as Edited};
use crate::keys::{ActionId, Key, Keymap, Place};
use crate::tree_selector::{Command, Direction, Landmark, Outcome, Selector, Summary, Work};

/// The tree, and what is being done with it.
#[derive(Debug)]
pub struct TreeView {
    selector: Selector,
    label: Option<LabelLine>,
    shows_preview: bool,
    /// Rows of the preview that are scrolled away, and the entry that it is of.
    preview: (usize, Option<usize>),
    /// What is said below the rows, until the next key.
    notice: Option<String>,
    /// Rows of the tree that were drawn last: a page.
    page: usize,
}

/// A label that is being written.
#[derive(Debug)]
struct LabelLine {
    id: EntryId,
    editor: Editor,
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
    /// One is to go to an entry.
    Go {
        /// The entry.
        id: EntryId,
        /// Whether the branch that is left gets summed up.
        summary: Summary,
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
    /// The process is to be stopped until the shell wakes it.
    Suspend,
    /// All keys are to be shown.
    Hotkeys,
}

impl TreeView {
    /// A view of a tree.
    pub fn new(selector: Selector) -> TreeView {
        TreeView { selector, label: None, shows_preview: true, preview: (0, None), notice: None, page: 10 }
    }

    /// Reads on, as [`Selector::work`] does.
    pub fn work(&mut self, session: &SessionManager, bytes: u64) -> Work {
        self.selector.work(session, bytes)
    }

    /// Says something below the rows, until the next key.
    pub fn notice(&mut self, text: impl Into<String>) {
        self.notice = Some(text.into());
    }

    /// A key was pressed.
    pub fn key(&mut self, session: &SessionManager, keymap: &Keymap, key: Key) -> Told {
        let had_notice = self.notice.take().is_some();
        let told = match self.label.take() {
            Some(line) => self.label_key(line, keymap, key),
            None => self.tree_key(session, keymap, key),
        };
        if had_notice && told == Told::Nothing { Told::Redraw } else { told }
    }

    /// Something was pasted: into the label that is being written, or behind the words that are searched for.
    pub fn paste(&mut self, session: &SessionManager, text: &str) -> Told {
        let line = crate::text::clean::one_line(text, 1000);
        match &mut self.label {
            Some(label) => label.editor.insert(&line),
            None => {
                let words = format!("{}{line}", self.selector.status().words);
                self.selector.handle(session, Command::Search(words));
            }
        }
        Told::Redraw
    }

    fn label_key(&mut self, mut line: LabelLine, keymap: &Keymap, key: Key) -> Told {
        if keymap.action(Place::List, key) == Some(ActionId::Cancel) {
            return Told::Redraw;
        }
        let actions = keymap.actions(Place::Editor, key);
        let action = actions.iter().find_map(|action| EditorAction::from_id(action.name()));
        match (action, key.typed()) {
            // A label is one line.
            (Some(EditorAction::NewLine), _) => {}
            (Some(action), _) => {
                if line.editor.handle(action) == Edited::Submit {
                    let text = line.editor.take().text();
                    let label = Some(text.trim().to_owned()).filter(|label| !label.is_empty());
                    return Told::Label { id: line.id, label };
                }
            }
            (None, Some(letter)) => line.editor.insert(letter.encode_utf8(&mut [0; 4])),
            (None, None) => {}
        }
        self.label = Some(line);
        Told::Redraw
    }

    fn tree_key(&mut self, session: &SessionManager, keymap: &Keymap, key: Key) -> Told {
        let is_searching = !self.selector.status().words.is_empty();
        let action = keymap.action(Place::Tree, key);
        // While one searches, a letter is a letter.
        let action = action.filter(|_| !is_searching || key.typed().is_none());
        let command = match action {
            Some(ActionId::TogglePreview) => {
                self.shows_preview = !self.shows_preview;
                return Told::Redraw;
            }
            Some(ActionId::PreviewUp) => return self.scroll(Direction::Back),
            Some(ActionId::PreviewDown) => return self.scroll(Direction::Forward),
            Some(ActionId::Suspend) => return Told::Suspend,
            Some(ActionId::Hotkeys) => return Told::Hotkeys,
            Some(ActionId::Redraw) => return Told::Redraw,
            Some(action) => command(action, self.page),
            None => key.typed().map(Command::Type),
        };
        match command {
            Some(command) => self.told(session, command),
            None => Told::Nothing,
        }
    }

    fn scroll(&mut self, direction: Direction) -> Told {
        let step = 5;
        self.preview.0 = match direction {
            Direction::Back => self.preview.0.saturating_sub(step),
            Direction::Forward => self.preview.0 + step,
        };
        Told::Redraw
    }

    fn told(&mut self, session: &SessionManager, command: Command) -> Told {
        match self.selector.handle(session, command) {
            Outcome::Nothing => Told::Nothing,
            Outcome::Changed => Told::Redraw,
            Outcome::AlreadyHere => Told::AlreadyHere,
            Outcome::Go { id, summary, .. } => Told::Go { id, summary },
            Outcome::NotAPlace(_) => {
                self.notice = Some("This entry has no id of its own: it can be seen, not gone to".into());
                Told::Redraw
            }
            Outcome::AskLabel { id, present, .. } => {
                let mut editor = Editor::new();
                editor.insert(&crate::text::clean::one_line(&present.unwrap_or_default(), 1000));
                self.label = Some(LabelLine { id, editor });
                Told::Redraw
            }
            Outcome::Copy(position) => Told::Copy(position),
            Outcome::Close => Told::Close,
            Outcome::Failed(error) => {
                self.notice = Some(error.to_string());
                Told::Redraw
            }
        }
    }
}

/// What the selector is told for an action; none for those that are not its.
fn command(action: ActionId, page: usize) -> Option<Command> {
    use Direction::{Back, Forward};
    use ramal_session::Filter;
    Some(match action {
        ActionId::Up => Command::Up,
        ActionId::Down => Command::Down,
        ActionId::PageUp | ActionId::TreePageUp => Command::PageUp(page),
        ActionId::PageDown | ActionId::TreePageDown => Command::PageDown(page),
        ActionId::First => Command::Home,
        ActionId::Last => Command::End,
        ActionId::FoldOrUp => Command::FoldOrUp,
        ActionId::UnfoldOrDown => Command::UnfoldOrDown,
        ActionId::ToggleFold => Command::ToggleFold,
        ActionId::UnfoldAll => Command::UnfoldAll,
        ActionId::PreviousTurn => Command::Jump(Back, Landmark::Turn),
        ActionId::NextTurn => Command::Jump(Forward, Landmark::Turn),
        ActionId::PreviousFork => Command::Jump(Back, Landmark::Fork),
        ActionId::NextFork => Command::Jump(Forward, Landmark::Fork),
        ActionId::PreviousLabel => Command::Jump(Back, Landmark::Label),
        ActionId::NextLabel => Command::Jump(Forward, Landmark::Label),
        ActionId::Confirm => Command::Choose(Summary::AsSet),
        ActionId::ChooseSummarising => Command::Choose(Summary::Wanted),
        ActionId::EditLabel => Command::EditLabel,
        ActionId::ToggleLabelTimes => Command::ToggleLabelTimes,
        ActionId::CopyEntry => Command::Copy,
        ActionId::EraseSearch => Command::Erase,
        ActionId::FilterDefault => Command::SetFilter(Filter::Default),
        ActionId::FilterNoTools => Command::ToggleFilter(Filter::NoTools),
        ActionId::FilterUserOnly => Command::ToggleFilter(Filter::UserOnly),
        ActionId::FilterLabeledOnly => Command::ToggleFilter(Filter::LabeledOnly),
        ActionId::FilterAll => Command::ToggleFilter(Filter::All),
        ActionId::SetFilterNoTools => Command::SetFilter(Filter::NoTools),
        ActionId::SetFilterUserOnly => Command::SetFilter(Filter::UserOnly),
        ActionId::SetFilterLabeledOnly => Command::SetFilter(Filter::LabeledOnly),
        ActionId::SetFilterAll => Command::SetFilter(Filter::All),
        ActionId::NextFilter => Command::CycleFilter(Forward),
        ActionId::PreviousFilter => Command::CycleFilter(Back),
        ActionId::Cancel => Command::Escape,
        _ => return None,
    })
}

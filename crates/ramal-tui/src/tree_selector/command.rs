//! What a tree selector can be told, and what it answers.

use ramal_session::{EntryId, Filter, Irregular, ReadError};

/// Something to do. Which key says it is not known here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// A row up; from the first to the last.
    Up,
    /// A row down; from the last to the first.
    Down,
    /// So many rows up; stops at the first.
    PageUp(usize),
    /// So many rows down; stops at the last.
    PageDown(usize),
    /// To the first row.
    Home,
    /// To the last row.
    End,
    /// To the nearest row of one kind, up or down; stays where there is none.
    Jump(Direction, Landmark),
    /// To a row, as somebody does who clicks on it.
    Select(usize),
    /// Folds the branch that begins here; otherwise goes up to where the branch begins, or the one that it
    /// hangs on.
    FoldOrUp,
    /// Unfolds what is folded here; otherwise goes down into the next branch, or to the end of this one.
    UnfoldOrDown,
    /// Folds or unfolds the branch that begins here.
    ToggleFold,
    /// Unfolds everything.
    UnfoldAll,
    /// Shows what a filter shows.
    SetFilter(Filter),
    /// As [`Command::SetFilter`], or back to the default if it is set already.
    ToggleFilter(Filter),
    /// Goes on to the next filter, or back.
    CycleFilter(Direction),
    /// Puts a character behind the words that are searched for.
    Type(char),
    /// Takes the last character off.
    Erase,
    /// Searches for other words.
    Search(String),
    /// Shows when labels were set, or no longer.
    ToggleLabelTimes,
    /// Begins to change the label of the selected entry.
    EditLabel,
    /// Copies the selected entry.
    Copy,
    /// Goes to the selected entry.
    Choose(Summary),
    /// Clears the search if there is one, and closes otherwise.
    Escape,
    /// Closes.
    Cancel,
}

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Up, or back.
    Back,
    /// Down, or on.
    Forward,
}

/// Rows that one jumps to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Landmark {
    /// One that has a label.
    Label,
    /// One from which several branches go on.
    Fork,
    /// A message of the user, or an answer.
    Turn,
}

/// Whether the branch that is left gets summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Summary {
    /// As the settings say: it is asked, or there is none.
    AsSet,
    /// Without a question.
    Wanted,
}

/// What came of a command.
#[derive(Debug)]
pub enum Outcome {
    /// Nothing is to be drawn again.
    Nothing,
    /// Something is.
    Changed,
    /// The entry where one stands was chosen: there is nothing to do.
    AlreadyHere,
    /// One is to go to an entry.
    Go {
        /// Its position.
        position: usize,
        /// Its id.
        id: EntryId,
        /// Whether the branch that is left gets summed up.
        summary: Summary,
    },
    /// The entry can be seen, and neither gone to nor labelled.
    NotAPlace(Irregular),
    /// A label is to be asked for. Once it is stored, [`Selector::refresh`] shows it.
    ///
    /// [`Selector::refresh`]: super::Selector::refresh
    AskLabel {
        /// The position of the entry.
        position: usize,
        /// Its id.
        id: EntryId,
        /// The label that it has; it is not cleaned.
        present: Option<String>,
    },
    /// The entry at a position is to be copied.
    Copy(usize),
    /// The selector is to be closed.
    Close,
    /// The log cannot be read any more.
    Failed(ReadError),
}

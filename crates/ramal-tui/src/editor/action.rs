//! What an editor can be told, by the ids that users know from their key files, and what it answers.

/// Something to do. Which key says it is not known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EditorAction {
    /// A row up; on the first row, to the prompt before.
    CursorUp,
    /// A row down; on the last row, to the prompt after.
    CursorDown,
    /// A character back.
    CursorLeft,
    /// A character on.
    CursorRight,
    /// To the beginning of the word.
    CursorWordLeft,
    /// To the end of the word.
    CursorWordRight,
    /// To the beginning of the line, wrapped or not.
    CursorLineStart,
    /// To the end of the line, wrapped or not.
    CursorLineEnd,
    /// To the beginning of everything.
    CursorBufferStart,
    /// To the end of everything.
    CursorBufferEnd,
    /// As many rows up as are seen.
    PageUp,
    /// As many rows down as are seen.
    PageDown,
    /// Takes out the character before the cursor.
    DeleteCharBackward,
    /// Takes out the character behind the cursor.
    DeleteCharForward,
    /// Kills the word before the cursor.
    DeleteWordBackward,
    /// Kills the word behind the cursor.
    DeleteWordForward,
    /// Kills what is before the cursor on its line; at its beginning, the line break.
    DeleteToLineStart,
    /// Kills what is behind the cursor on its line; at its end, the line break.
    DeleteToLineEnd,
    /// Puts in what was killed last.
    Yank,
    /// Right after a yank: what was killed before that, in its place.
    YankPop,
    /// Takes the last change back.
    Undo,
    /// Makes it again.
    Redo,
    /// Puts the whole text in the place of the mark that stands at the cursor.
    Unfold,
    /// Exchanges the text for the one that was offered and had no room.
    TakePrefill,
    /// Sends.
    Submit,
    /// Begins a line.
    NewLine,
    /// Completes.
    Tab,
    /// Copies.
    Copy,
}

impl EditorAction {
    /// All of them.
    pub const ALL: [EditorAction; 28] = [
        EditorAction::CursorUp,
        EditorAction::CursorDown,
        EditorAction::CursorLeft,
        EditorAction::CursorRight,
        EditorAction::CursorWordLeft,
        EditorAction::CursorWordRight,
        EditorAction::CursorLineStart,
        EditorAction::CursorLineEnd,
        EditorAction::CursorBufferStart,
        EditorAction::CursorBufferEnd,
        EditorAction::PageUp,
        EditorAction::PageDown,
        EditorAction::DeleteCharBackward,
        EditorAction::DeleteCharForward,
        EditorAction::DeleteWordBackward,
        EditorAction::DeleteWordForward,
        EditorAction::DeleteToLineStart,
        EditorAction::DeleteToLineEnd,
        EditorAction::Yank,
        EditorAction::YankPop,
        EditorAction::Undo,
        EditorAction::Redo,
        EditorAction::Unfold,
        EditorAction::TakePrefill,
        EditorAction::Submit,
        EditorAction::NewLine,
        EditorAction::Tab,
        EditorAction::Copy,
    ];

    /// Its name in key files.
    pub fn id(self) -> &'static str {
        match self {
            EditorAction::CursorUp => "tui.editor.cursorUp",
            EditorAction::CursorDown => "tui.editor.cursorDown",
            EditorAction::CursorLeft => "tui.editor.cursorLeft",
            EditorAction::CursorRight => "tui.editor.cursorRight",
            EditorAction::CursorWordLeft => "tui.editor.cursorWordLeft",
            EditorAction::CursorWordRight => "tui.editor.cursorWordRight",
            EditorAction::CursorLineStart => "tui.editor.cursorLineStart",
            EditorAction::CursorLineEnd => "tui.editor.cursorLineEnd",
            EditorAction::CursorBufferStart => "tui.editor.cursorBufferStart",
            EditorAction::CursorBufferEnd => "tui.editor.cursorBufferEnd",
            EditorAction::PageUp => "tui.editor.pageUp",
            EditorAction::PageDown => "tui.editor.pageDown",
            EditorAction::DeleteCharBackward => "tui.editor.deleteCharBackward",
            EditorAction::DeleteCharForward => "tui.editor.deleteCharForward",
            EditorAction::DeleteWordBackward => "tui.editor.deleteWordBackward",
            EditorAction::DeleteWordForward => "tui.editor.deleteWordForward",
            EditorAction::DeleteToLineStart => "tui.editor.deleteToLineStart",
            EditorAction::DeleteToLineEnd => "tui.editor.deleteToLineEnd",
            EditorAction::Yank => "tui.editor.yank",
            EditorAction::YankPop => "tui.editor.yankPop",
            EditorAction::Undo => "tui.editor.undo",
            EditorAction::Redo => "tui.editor.redo",
            EditorAction::Unfold => "tui.editor.unfold",
            EditorAction::TakePrefill => "tui.editor.takePrefill",
            EditorAction::Submit => "tui.input.submit",
            EditorAction::NewLine => "tui.input.newLine",
            EditorAction::Tab => "tui.input.tab",
            EditorAction::Copy => "tui.input.copy",
        }
    }

    /// The action of that name.
    pub fn from_id(id: &str) -> Option<EditorAction> {
        EditorAction::ALL.into_iter().find(|action| action.id() == id)
    }
}

/// What came of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was done.
    Done,
    /// There was nothing to do here, so the key may mean something else.
    Nothing,
    /// The text is to be sent: [`take`](super::Editor::take) it.
    Submit,
    /// What is being typed is to be completed, if it can be.
    Complete,
    /// Something is to be copied.
    Copy,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_is_found_by_its_id() {
        for action in EditorAction::ALL {
            assert_eq!(EditorAction::from_id(action.id()), Some(action));
        }
        assert_eq!(EditorAction::from_id("tui.editor.fly"), None);
        // As many names as the last one counts, so that none is missing from the list.
        assert_eq!(EditorAction::Copy as usize + 1, EditorAction::ALL.len());
    }
}

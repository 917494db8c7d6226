//! A line in which something is written.

use crate::editor::{Editor, EditorAction, Outcome};
use crate::keys::{Key, Keymap, Place};

/// Columns that what is pasted into it may have.
pub(super) const LONGEST: usize = 1000;

/// What a key has done to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKey {
    Nothing,
    /// The cursor is elsewhere, if anything is.
    Moved,
    /// It says something else.
    Changed,
    /// It is finished.
    Submit,
}

/// Does in a line what a key does in the editor, as far as it makes no second one.
pub(super) fn key(editor: &mut Editor, keymap: &Keymap, key: Key) -> LineKey {
    let before = editor.revision();
    let actions = keymap.actions(Place::Editor, key);
    let action = actions.iter().find_map(|action| EditorAction::from_id(action.name()));
    match (action, key.typed()) {
        (Some(EditorAction::NewLine | EditorAction::Tab), _) | (None, None) => return LineKey::Nothing,
        (Some(action), _) => match editor.handle(action) {
            Outcome::Submit => return LineKey::Submit,
            Outcome::Done => {}
            Outcome::Nothing | Outcome::Complete | Outcome::Copy => return LineKey::Nothing,
        },
        (None, Some(letter)) => editor.insert(letter.encode_utf8(&mut [0; 4])),
    }
    if editor.revision() == before { LineKey::Moved } else { LineKey::Changed }
}

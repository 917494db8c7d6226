//! An editor as a text: `|` is the cursor, and marks are what is seen of them.

use ramal_tui::editor::{Drawing, Editor, EditorAction, Outcome};
use ramal_tui::theme::Theme;

/// An editor with a text and the cursor where the bar is.
pub(crate) fn editor(text: &str) -> Editor {
    let (before, after) = text.split_once('|').unwrap_or((text, ""));
    let mut editor = Editor::new();
    editor.insert(after);
    editor.handle(EditorAction::CursorBufferStart);
    editor.insert(before);
    editor
}

/// What is in an editor, with a bar where the cursor is: whatever is typed goes there.
pub(crate) fn shown(editor: &Editor) -> String {
    let mut probe = editor.clone();
    probe.insert("|");
    labelled(&probe)
}

/// What is in an editor, with what is seen of its marks.
fn labelled(editor: &Editor) -> String {
    let mut text = editor.text();
    for mark in editor.content().marks() {
        text = text.replacen(mark.text(), mark.label(), 1);
    }
    text
}

/// Does what the ids say, the beginning of which goes without saying.
pub(crate) fn press(editor: &mut Editor, ids: &str) -> Vec<Outcome> {
    ids.split_whitespace().map(|id| editor.handle(action(id))).collect()
}

fn action(id: &str) -> EditorAction {
    let names = [format!("tui.editor.{id}"), format!("tui.input.{id}")];
    names.iter().find_map(|id| EditorAction::from_id(id)).unwrap_or_else(|| panic!("no action {id}"))
}

/// A text, what is done, and the text after that.
#[track_caller]
pub(crate) fn check(before: &str, ids: &str, after: &str) {
    let mut editor = editor(before);
    press(&mut editor, ids);
    assert_eq!(shown(&editor), after, "{before:?} {ids}");
}

/// The rows that are seen, between bars, with the cursor below where it is.
pub(crate) fn draw(editor: &Editor, columns: usize) -> String {
    let Drawing { lines, cursor, above, below } = editor.lines(columns, &Theme::plain());
    let mut drawn = String::new();
    if above > 0 {
        drawn += &format!("^{above}\n");
    }
    for (row, line) in lines.iter().enumerate() {
        drawn += &format!("{line}\n");
        if row == usize::from(cursor.y) {
            drawn += &format!("{}*\n", " ".repeat(cursor.x.into()));
        }
    }
    if below > 0 {
        drawn += &format!("v{below}\n");
    }
    drawn
}

/// Takes the indentation off a drawing.
pub(crate) fn dedent(drawing: &str) -> String {
    let lines = drawing.lines().skip(1);
    let indent = lines.clone().filter(|line| !line.trim().is_empty());
    let indent = indent.map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let mut out: Vec<_> = lines.map(|line| line.get(indent..).unwrap_or("")).collect();
    out.pop();
    out.iter().map(|line| format!("{line}\n")).collect()
}

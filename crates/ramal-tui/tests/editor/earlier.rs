//! Earlier prompts.

use ramal_tui::editor::Editor;

use crate::notation::{editor, press, shown};

fn with_history(text: &str) -> Editor {
    let mut editor = editor(text);
    editor.set_history(["newest", "middle\nof two lines", "oldest"].map(String::from));
    editor
}

#[test]
fn one_key_leads_through_all_of_them_and_back() {
    let mut editor = with_history("a dr|aft");
    let mut seen = Vec::new();
    for _ in 0..4 {
        press(&mut editor, "cursorUp");
        seen.push(shown(&editor));
    }
    assert_eq!(seen, ["newest|", "middle|\nof two lines", "oldest|", "|oldest"]);
    seen.clear();
    for _ in 0..4 {
        press(&mut editor, "cursorDown");
        seen.push(shown(&editor));
    }
    assert_eq!(seen, ["middle\nof two lines|", "newest|", "a dr|aft", "a draft|"]);
}

#[test]
fn the_draft_comes_back_with_all_that_it_was() {
    let mut editor = with_history("first |");
    editor.paste(&"x\n".repeat(20));
    press(&mut editor, "cursorLeft cursorUp cursorUp cursorDown cursorDown cursorDown cursorDown");
    assert_eq!(shown(&editor), "first [paste #1, 20 lines]|");
    press(&mut editor, "undo undo");
    assert_eq!(shown(&editor), "|");
    press(&mut editor, "redo redo cursorUp undo");
    assert_eq!(shown(&editor), "first [paste #1, 20 lines]|");
}

#[test]
fn rows_come_first() {
    let mut editor = with_history("one two three|");
    editor.resize(8, 5);
    press(&mut editor, "cursorUp");
    assert_eq!(shown(&editor), "one t|wo three");
    press(&mut editor, "cursorUp");
    assert_eq!(shown(&editor), "newest|");
}

#[test]
fn changing_an_earlier_prompt_makes_it_the_draft() {
    let mut editor = with_history("a draft|");
    press(&mut editor, "cursorUp");
    editor.insert("!");
    press(&mut editor, "cursorDown");
    assert_eq!(shown(&editor), "newest!|");
    // The draft has become an earlier prompt, and taking back leads to it as well.
    press(&mut editor, "cursorUp");
    assert_eq!(shown(&editor), "a draft|");
    press(&mut editor, "cursorUp");
    assert_eq!(shown(&editor), "newest|");
    press(&mut editor, "cursorDown cursorDown undo");
    assert_eq!(shown(&editor), "newest|");
    press(&mut editor, "undo");
    assert_eq!(shown(&editor), "a draft|");
    press(&mut editor, "redo redo");
    assert_eq!(shown(&editor), "newest!|");
}

#[test]
fn what_is_sent_is_the_newest() {
    let mut editor = with_history("sent|");
    assert_eq!(editor.take().text(), "sent");
    assert_eq!(shown(&editor), "|");
    press(&mut editor, "undo cursorUp");
    assert_eq!(shown(&editor), "sent|");
    // Once is enough.
    editor.take();
    press(&mut editor, "cursorUp cursorUp");
    assert_eq!(shown(&editor), "newest|");
}

#[test]
fn an_earlier_prompt_that_is_sent_leaves_the_draft() {
    let mut editor = with_history("a dr|aft");
    press(&mut editor, "cursorUp cursorUp");
    assert_eq!(editor.take().text(), "middle\nof two lines");
    assert_eq!(shown(&editor), "a dr|aft");
    press(&mut editor, "undo");
    assert_eq!(shown(&editor), "|aft");
}

#[test]
fn a_text_from_elsewhere_does_not_take_the_drafts_place() {
    let mut editor = with_history("a draft|");
    press(&mut editor, "cursorUp");
    assert!(!editor.set_text_if_empty("question"));
    press(&mut editor, "takePrefill");
    assert_eq!(shown(&editor), "question|");
    press(&mut editor, "takePrefill");
    assert_eq!(shown(&editor), "a draft|");

    let mut editor = with_history("");
    press(&mut editor, "cursorUp");
    assert!(editor.set_text_if_empty("question"));
    assert_eq!(shown(&editor), "question|");
    press(&mut editor, "undo");
    assert_eq!(shown(&editor), "|");
}

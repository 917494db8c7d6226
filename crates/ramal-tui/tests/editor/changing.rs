//! Moving, deleting, killing, pasting, and taking it back.

use ramal_tui::editor::{Content, Editor, EditorAction, Mark, Outcome};

use crate::notation::{check, editor, press, shown};

#[test]
fn moving() {
    for (before, ids, after) in [
        ("ab|", "cursorLeft cursorLeft cursorLeft", "|ab"),
        ("|e\u{301}日", "cursorRight", "e\u{301}|日"),
        ("👩\u{200d}👧🇫🇷|", "cursorLeft", "👩\u{200d}👧|🇫🇷"),
        ("a\n|b", "cursorLeft", "a|\nb"),
        ("one two|", "cursorWordLeft", "one |two"),
        ("|one two", "cursorWordRight", "one| two"),
        ("one\ntwo| three\nfour", "cursorLineStart", "one\n|two three\nfour"),
        ("one\ntwo| three\nfour", "cursorLineEnd", "one\ntwo three|\nfour"),
        ("one\ntwo|", "cursorBufferStart", "|one\ntwo"),
        ("|one\ntwo", "cursorBufferEnd", "one\ntwo|"),
        // The column is remembered over a line that is too short for it.
        ("long line\nx\nlong| line", "cursorUp cursorUp", "long| line\nx\nlong line"),
        ("long| line\nx\nlong line", "cursorDown cursorDown", "long line\nx\nlong| line"),
        ("long| line\nx\nlong line", "cursorDown cursorLeft cursorDown", "long line\nx\n|long line"),
        // In columns, not in characters.
        ("日本|語\nabcdef", "cursorDown", "日本語\nabcd|ef"),
        ("abc|def\n日本語", "cursorDown", "abcdef\n日|本語"),
        // Where there are no rows more, to the end.
        ("ab|c", "cursorUp", "|abc"),
        ("ab|c", "cursorDown", "abc|"),
    ] {
        check(before, ids, after);
    }
}

#[test]
fn rows_that_are_wrapped_are_rows() {
    let mut editor = editor("one two three four|");
    editor.resize(10, 5);
    // one two / three / four
    press(&mut editor, "cursorUp");
    assert_eq!(shown(&editor), "one two thre|e four");
    press(&mut editor, "cursorLineStart cursorDown");
    assert_eq!(shown(&editor), "one two |three four");
    press(&mut editor, "cursorRight cursorRight cursorUp");
    assert_eq!(shown(&editor), "on|e two three four");
}

#[test]
fn pages() {
    let lines: Vec<_> = (0..20).map(|n| n.to_string()).collect();
    let mut editor = editor(&lines.join("\n"));
    editor.resize(20, 6);
    press(&mut editor, "cursorBufferStart pageDown pageDown");
    assert!(shown(&editor).contains("\n|10\n"));
    press(&mut editor, "pageUp");
    assert!(shown(&editor).contains("\n|5\n"));
    press(&mut editor, "pageDown pageDown pageDown");
    assert!(shown(&editor).ends_with("\n|19"));
    assert_eq!(press(&mut editor, "pageDown pageDown"), [Outcome::Done, Outcome::Nothing]);
    assert!(shown(&editor).ends_with("19|"));
}

#[test]
fn deleting() {
    for (before, ids, after) in [
        ("ab|c", "deleteCharBackward", "a|c"),
        ("a|bc", "deleteCharForward", "a|c"),
        ("xe\u{301}|", "deleteCharBackward", "x|"),
        ("|👩\u{200d}👧x", "deleteCharForward", "|x"),
        ("a\n|b", "deleteCharBackward", "a|b"),
        ("one two.|x", "deleteWordBackward", "one two|x"),
        ("one |two three", "deleteWordForward", "one | three"),
        ("a\none |two", "deleteToLineStart", "a\n|two"),
        ("a\n|two", "deleteToLineStart", "a|two"),
        ("one| two\nb", "deleteToLineEnd", "one|\nb"),
        ("one|\nb", "deleteToLineEnd", "one|b"),
    ] {
        check(before, ids, after);
    }
    let mut empty = Editor::new();
    let ids = "deleteCharBackward deleteCharForward deleteWordBackward deleteToLineEnd yank undo redo unfold";
    assert!(press(&mut empty, ids).iter().all(|outcome| *outcome == Outcome::Nothing));
}

#[test]
fn what_is_taken_out_between_two_that_join_leaves_the_cursor_behind_both() {
    let mut editor = editor("ex\u{301}|");
    press(&mut editor, "cursorLeft");
    editor.insert("x");
    assert_eq!(shown(&editor), "ex|x\u{301}");
    press(&mut editor, "deleteCharBackward deleteCharForward");
    assert_eq!(shown(&editor), "e|");
}

#[test]
fn killing_and_yanking() {
    for (before, ids, after) in [
        ("one two|", "deleteWordBackward cursorBufferStart yank", "two|one "),
        // What is killed in a row is one kill.
        ("one two three|", "deleteWordBackward deleteWordBackward yank", "one two three|"),
        ("|one two three", "deleteWordForward deleteWordForward cursorBufferEnd yank", " threeone two|"),
        ("a b|", "deleteWordBackward cursorLeft cursorRight deleteWordBackward yank yankPop", "b|"),
        ("a b|", "deleteWordBackward cursorLeft cursorRight deleteWordBackward yank yankPop yankPop", "a |"),
        // Only right behind a yank.
        ("a b|", "deleteWordBackward yank cursorLeft yankPop", "a |b"),
        ("x| y", "deleteToLineEnd yank yank", "x y y|"),
    ] {
        check(before, ids, after);
    }
}

#[test]
fn typing_ends_a_run_of_kills() {
    let mut editor = editor("one two|");
    press(&mut editor, "deleteWordBackward");
    editor.insert("x");
    press(&mut editor, "deleteCharBackward deleteWordBackward yank");
    assert_eq!(shown(&editor), "one |");
}

#[test]
fn a_word_is_taken_back_at_once() {
    let mut editor = Editor::new();
    for letter in ["o", "n", "e", " ", "t", "w", "o"] {
        editor.insert(letter);
    }
    press(&mut editor, "undo");
    assert_eq!(shown(&editor), "one |");
    press(&mut editor, "undo");
    assert_eq!(shown(&editor), "|");
    assert_eq!(press(&mut editor, "redo redo redo"), [Outcome::Done, Outcome::Done, Outcome::Nothing]);
    assert_eq!(shown(&editor), "one two|");
    press(&mut editor, "deleteCharBackward deleteCharBackward undo");
    assert_eq!(shown(&editor), "one two|");
    // What is typed elsewhere is a step of its own, and nothing can be made again behind it.
    press(&mut editor, "cursorLeft");
    editor.insert("x");
    assert_eq!(press(&mut editor, "redo undo"), [Outcome::Nothing, Outcome::Done]);
    assert_eq!(shown(&editor), "one tw|o");
}

#[test]
fn lines_begin_with_either_key() {
    for (before, id, outcome, after) in [
        ("a|b", "newLine", Outcome::Done, "a\n|b"),
        ("a\\|b", "submit", Outcome::Done, "a\n|b"),
        ("a|b", "submit", Outcome::Submit, "a|b"),
        ("a\\b|", "submit", Outcome::Submit, "a\\b|"),
    ] {
        let mut editor = editor(before);
        assert_eq!(press(&mut editor, id), [outcome]);
        assert_eq!(shown(&editor), after);
    }
    assert_eq!(press(&mut Editor::new(), "tab copy"), [Outcome::Complete, Outcome::Copy]);
}

#[test]
fn pastes() {
    let mut editor = editor("see |!");
    editor.paste("a\r\nb\rc\t\x1b[31md\u{7}");
    assert_eq!(shown(&editor), "see a\nb\nc\t[31md|!");
    assert!(editor.content().marks().is_empty());
    for (pasted, label) in [
        ("x\n".repeat(10), None),
        ("x\r\n".repeat(11), Some("[paste #1, 11 lines]")),
        ("é".repeat(1000), None),
        ("é".repeat(1001), Some("[paste #1, 1001 characters]")),
    ] {
        let mut editor = Editor::new();
        editor.paste(&pasted);
        assert_eq!(editor.text(), pasted.replace("\r\n", "\n"));
        assert_eq!(editor.content().marks().first().map(Mark::label), label);
    }
}

#[test]
fn a_mark_is_one_character() {
    let long = "line\n".repeat(123);
    let mut editor = editor("a|b");
    editor.paste(&long);
    assert_eq!(shown(&editor), "a[paste #1, 123 lines]|b");
    press(&mut editor, "cursorLeft");
    assert_eq!(shown(&editor), "a|[paste #1, 123 lines]b");
    press(&mut editor, "deleteCharForward");
    assert_eq!(shown(&editor), "a|b");
    press(&mut editor, "undo");
    assert_eq!(editor.text(), format!("a{long}b"));
    // Killed and put in again, it is a mark still.
    press(&mut editor, "cursorBufferEnd deleteToLineStart yank");
    assert_eq!(shown(&editor), "a[paste #1, 123 lines]b|");
    editor.paste(&long);
    assert_eq!(editor.content().marks()[1].label(), "[paste #2, 123 lines]");
    assert_eq!(editor.text(), format!("a{long}b{long}"));
}

#[test]
fn a_mark_is_unfolded_in_its_place() {
    let long = "line\n".repeat(11);
    let mut editor = editor("a|b");
    editor.paste(&long);
    assert_eq!(press(&mut editor, "unfold unfold"), [Outcome::Done, Outcome::Nothing]);
    assert!(editor.content().marks().is_empty());
    assert_eq!(editor.text(), format!("a{long}b"));
    press(&mut editor, "undo");
    assert_eq!(editor.content().marks().len(), 1);
    // A picture has nothing to unfold.
    editor.clear();
    editor.insert_mark(Mark::image("[image #1 cat.png]", "/tmp/cat.png"));
    assert_eq!(press(&mut editor, "unfold"), [Outcome::Nothing]);
    assert_eq!(editor.text(), "[image #1 cat.png]");
}

#[test]
fn another_program_had_it() {
    let long = "line\n".repeat(11);
    let mut editor = editor("see |");
    editor.paste(long.trim_end());
    let text = editor.text();
    let revision = editor.revision();
    editor.replace_text(&text);
    assert_eq!(editor.revision(), revision);
    editor.replace_text(&format!("now {text}thanks\n"));
    assert_eq!(shown(&editor), "now see [paste #1, 11 lines]thanks|");
    press(&mut editor, "undo");
    assert_eq!(editor.text(), text);
    editor.replace_text("");
    assert!(editor.is_empty());
    press(&mut editor, "undo");
    assert_eq!(editor.text(), text);
}

#[test]
fn a_text_from_elsewhere_waits_where_something_stands() {
    let mut editor = Editor::new();
    assert!(editor.set_text_if_empty("the question"));
    assert_eq!(shown(&editor), "the question|");
    editor.clear();
    editor.insert("half a thou");
    assert!(!editor.set_text_if_empty("the question"));
    assert_eq!(shown(&editor), "half a thou|");
    assert_eq!(editor.pending_prefill().map(Content::text).as_deref(), Some("the question"));
    // The key brings the one and keeps the other.
    press(&mut editor, "takePrefill");
    assert_eq!(shown(&editor), "the question|");
    press(&mut editor, "takePrefill");
    assert_eq!(shown(&editor), "half a thou|");
    // A third one does not push out what was typed.
    press(&mut editor, "takePrefill");
    assert!(!editor.set_text_if_empty("another question"));
    press(&mut editor, "cursorUp");
    assert_eq!(shown(&editor), "half a thou|");
    press(&mut editor, "cursorDown");
    assert_eq!(shown(&editor), "the question|");
    assert_eq!(editor.dismiss_prefill().map(|text| text.text()).as_deref(), Some("another question"));
    assert_eq!(editor.handle(EditorAction::TakePrefill), Outcome::Nothing);
}

#[test]
fn pictures_come_back_with_their_text() {
    let mut content = Content::from("what is on ");
    content.push_mark(Mark::image("[image #1]", "entry/7"));
    let mut editor = Editor::new();
    assert!(editor.set_text_if_empty(content.clone()));
    assert_eq!(editor.take(), content);
    assert!(editor.is_empty());
}

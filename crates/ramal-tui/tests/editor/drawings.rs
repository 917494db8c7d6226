//! What an editor looks like.

use ramal_tui::editor::{Editor, Mark};
use ramal_tui::theme::{Role, Theme};

use crate::notation::{dedent, draw, editor, press};

#[track_caller]
fn check(text: &str, columns: usize, drawing: &str) {
    assert_eq!(draw(&editor(text), columns), dedent(drawing), "{text:?} in {columns}");
}

#[test]
fn lines_are_wrapped_at_words() {
    check(
        "the quick brown fox|",
        11,
        "
        the quick 
        brown fox
                 *
        ",
    );
    // The cursor between two rows is on the second, and behind a full row beside it.
    check(
        "the quick |brown",
        11,
        "
        the quick 
        brown
        *
        ",
    );
    check(
        "0123456789|",
        11,
        "
        0123456789
                  *
        ",
    );
    check(
        "0123456789|abc",
        11,
        "
        0123456789
        abc
        *
        ",
    );
}

#[test]
fn spaces_at_a_break_hang_over_the_edge() {
    check(
        "0123456789   |x",
        11,
        "
        0123456789
        x
        *
        ",
    );
    check(
        "0123456789  |",
        11,
        "
        0123456789
                  *
        ",
    );
}

#[test]
fn wide_characters() {
    check(
        "日本語|テキスト",
        8,
        "
        日本語
        テキス
        *
        ト
        ",
    );
    check(
        "a日|本",
        10,
        "
        a日本
           *
        ",
    );
    check(
        "e\u{301}👩\u{200d}👧|x",
        10,
        "
        e\u{301}👩\u{200d}👧x
           *
        ",
    );
    check(
        "a\tb|\tc",
        20,
        "
        a   b   c
             *
        ",
    );
}

#[test]
fn what_has_no_room_at_all() {
    check(
        "日|a",
        1,
        "
        …
        a
        *
        ",
    );
    check(
        "\u{202e}|",
        5,
        "
        …
         *
        ",
    );
    check(
        "\u{202e}|",
        20,
        "
        \\u{202e}
                *
        ",
    );
}

#[test]
fn marks() {
    let mut editor = editor("see |, please");
    editor.paste(&"line\n".repeat(123));
    let wide = "
        see [paste #1, 123 lines], please
                                 *
        ";
    assert_eq!(draw(&editor, 60), dedent(wide));
    let narrow = "
        see 
        [paste #1, 123 lines]
        , please
        *
        ";
    assert_eq!(draw(&editor, 22), dedent(narrow));
    let cut = "
        see 
        [paste…,
               *
        please
        ";
    assert_eq!(draw(&editor, 9), dedent(cut));
    let mut theme = Theme::dark();
    theme.set(Role::Accent, theme.style(Role::Error));
    let drawing = editor.lines(60, &theme);
    assert_eq!(drawing.lines[0].spans[1].content, "[paste #1, 123 lines]");
    assert_eq!(drawing.lines[0].spans[1].style, theme.style(Role::Error));
    assert_eq!(drawing.lines[0].spans[2].style, theme.style(Role::Text));
}

#[test]
fn a_mark_cannot_say_what_a_terminal_obeys() {
    let mut editor = Editor::new();
    editor.insert_mark(Mark::image("[\x1b]0;x\x07image\n]", "x"));
    assert_eq!(draw(&editor, 40), "[]0;ximage ]\n            *\n");
}

#[test]
fn it_scrolls_to_the_cursor() {
    let mut editor = editor("1\n2\n3\n4\n5\n6|");
    editor.resize(10, 3);
    assert_eq!(draw(&editor, 10), "^3\n4\n5\n6\n *\n");
    press(&mut editor, "cursorUp cursorUp");
    assert_eq!(draw(&editor, 10), "^3\n4\n *\n5\n6\n");
    press(&mut editor, "cursorUp");
    assert_eq!(draw(&editor, 10), "^2\n3\n *\n4\n5\nv1\n");
    press(&mut editor, "cursorBufferStart");
    assert_eq!(draw(&editor, 10), "1\n*\n2\n3\nv3\n");
    press(&mut editor, "cursorDown cursorDown cursorDown");
    assert_eq!(draw(&editor, 10), "^1\n2\n3\n4\n*\nv2\n");
    editor.resize(10, 1);
    assert_eq!(draw(&editor, 10), "^3\n4\n*\nv2\n");
    // With more room, there is no gap below.
    editor.resize(10, 5);
    press(&mut editor, "cursorBufferEnd");
    editor.resize(10, 50);
    assert_eq!(draw(&editor, 10), "1\n2\n3\n4\n5\n6\n *\n");
}

#[test]
fn the_placeholder() {
    let mut editor = Editor::new();
    editor.set_placeholder("Ask \x1b[2Janything");
    assert_eq!(draw(&editor, 40), "Ask ␛[2Janything\n*\n");
    assert_eq!(draw(&editor, 6), "Ask ␛…\n*\n");
    assert_eq!(draw(&editor, 0), "…\n*\n");
    editor.insert(" ");
    assert_eq!(draw(&editor, 40), " \n *\n");
}

//! Drawings of texts, and what must hold while they are streamed.

use proptest::prelude::*;
use ratatui::style::{Color, Modifier};
use ratatui::text::Line;

use super::*;
use crate::text::width;
use crate::theme::Role;

fn look(theme: &Theme) -> Look<'_> {
    Look::plain(theme)
}

/// Lines as plain text, each with `|` where its width ends in the drawing.
fn drawn(lines: &[Line<'_>]) -> String {
    let text = |line: &Line<'_>| line.spans.iter().map(|span| &*span.content).collect::<String>();
    lines.iter().map(text).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(text: &str, columns: usize, want: &str) {
    let theme = Theme::dark();
    let lines = lines(text, columns, &look(&theme));
    let got = drawn(&lines);
    let want = want.strip_prefix('\n').unwrap_or(want);
    assert_eq!(got, want, "\n--- got\n{got}\n--- want\n{want}");
    for line in &lines {
        assert!(line.width() <= columns, "{line:?}");
    }
}

#[test]
fn paragraphs_and_words() {
    check(
        "One *two* **three** `four` ~~five~~ six.\n\nNext.",
        20,
        "\nOne two three four\nfive six.\n\nNext.",
    );
    check("a line\nand the next\\\nthird", 40, "\na line\nand the next\nthird");
    check("abcdefghijklmnop", 6, "\nabcdef\nghijkl\nmnop");
    check("", 10, "");
    check("\n\n  \n", 10, "");
}

#[test]
fn headings_rules_quotes() {
    check(
        "# One\ntext\n### Three\n---\n> said *so*\n> > deep\n\nend",
        20,
        "
One

text

### Three

────────────────────

│ said so
│
│ │ deep

end",
    );
}

#[test]
fn lists_hang() {
    check(
        "1. first item that is long\n2. second\n   - inner one that wraps\n   - [x] done\n   - [ ] open\n\n   more\n10. ten",
        20,
        "
1. first item that
   is long
2. second
   • inner one that
     wraps
   • [x] done
   • [ ] open

   more
3. ten",
    );
    check("intro\n- a\n\n- b\n\n\n+ c\n", 20, "\nintro\n\n• a\n• b\n\n• c");
    check("-\n- x", 10, "\n•\n• x");
}

#[test]
fn links_say_where_they_lead() {
    check(
        "[docs](https://a.b) <https://c.d> <me@e.f> ![cat](cat.png)",
        60,
        "
docs (https://a.b) https://c.d me@e.f [image: cat] (cat.png)",
    );
    check(
        "see [one][1]\n\n[1]: https://a.b\n[2]: x\n\nend",
        40,
        "
see [one][1]

[1]: https://a.b
[2]: x

end",
    );
}

#[test]
fn code_is_set_apart() {
    check(
        "text\n```rust\nfn main() {\n    let a = 1;\n\n}\n```\nafter",
        40,
        "
text

  rust
  fn main() {
      let a = 1;

  }

after",
    );
    check(
        "~~~\na ``` b\n~~~\n\n    indented\n\n- x\n  ```sh\n  ls\n  ```",
        40,
        "
  a ``` b

  indented

• x

    sh
    ls",
    );
    check("```\n0123456789abcdef\n", 10, "\n  01234567\n  89abcdef");
    check("```\n```\nx", 10, "\nx");
}

#[test]
fn html_is_text() {
    check(
        "<b>bold</b> &amp; &#27;[31m\n\n<div>\n<p>x</p>\n</div>",
        40,
        "
<b>bold</b> & ␛[31m

<div>
<p>x</p>
</div>",
    );
}

const TABLE: &str = "| Name | Count | What it is for |\n|:--|--:|:-:|\n| one | 1 | a short one |\n| *two* | 1000 | a longer text in this cell |\n";

#[test]
fn tables_fit() {
    check(
        TABLE,
        60,
        "
Name │ Count │       What it is for
─────┼───────┼───────────────────────────
one  │     1 │        a short one
two  │  1000 │ a longer text in this cell",
    );
    check(
        TABLE,
        32,
        "
Name │ Count │  What it is for
─────┼───────┼──────────────────
one  │     1 │    a short one
two  │  1000 │ a longer text in
     │       │     this cell",
    );
    check(
        TABLE,
        16,
        "
Name: one
Count: 1
What it is for:
a short one

Name: two
Count: 1000
What it is for:
a longer text in
this cell",
    );
}

#[test]
fn wide_characters_and_narrow_windows() {
    check("日本語テスト", 5, "\n日本\n語テ\nスト");
    check("日a", 1, "\n…\na");
    check("- - - x", 1, "\nx");
}

#[test]
fn styles_come_from_the_theme() {
    let theme = Theme::dark();
    let lines = lines("**b** `c`", 20, &look(&theme));
    let spans = &lines[0].spans;
    assert!(spans[0].style.add_modifier.contains(Modifier::BOLD));
    assert_eq!(spans.last().unwrap().style.fg, theme.style(Role::Code).fg);
    let plain = Theme::plain();
    assert_eq!(drawn(&super::lines("`c`", 20, &look(&plain))), "`c`");
}

#[test]
fn code_is_highlighted_once_languages_are_loaded() {
    let highlighter = SyntectHighlighter::default();
    let theme = Theme::plain();
    let look = Look { theme: &theme, depth: ColorDepth::Ansi16, highlighter: &highlighter };
    let code = "```rust\nlet a = \"x\"; // said\n```";
    let colours = |lines: Vec<Line<'static>>| {
        let spans = lines.into_iter().flat_map(|line| line.spans);
        spans.filter_map(|span| Some((span.content.into_owned(), span.style.fg?))).collect::<Vec<_>>()
    };
    assert_eq!(colours(lines(code, 40, &look)), []);
    highlighter.load();
    let found = colours(lines(code, 40, &look));
    assert!(found.contains(&("let".into(), Color::Magenta)), "{found:?}");
    assert!(found.contains(&("\"x\"".into(), Color::Green)), "{found:?}");
    // Streamed it is the same, cut anywhere.
    let whole = lines(code, 40, &look);
    for cut in (0..code.len()).filter(|cut| code.is_char_boundary(*cut)) {
        let mut streamed = StreamedMarkdown::new();
        streamed.set(&code[..cut]);
        let stable = streamed.stable_lines(40, &look);
        assert_eq!(streamed.lines(40, &look)[..stable], whole[..stable], "{cut}");
    }
}

#[test]
fn lines_of_an_open_fence_are_stable() {
    let theme = Theme::plain();
    let look = look(&theme);
    let mut streamed = StreamedMarkdown::new();
    streamed.push("text\n\n```sh\none\ntwo\nthr");
    assert_eq!(streamed.stable_lines(40, &look), 5);
    assert_eq!(drawn(&streamed.drain_stable(40, &look)), "text\n\n  sh\n  one\n  two");
    streamed.push("ee\n");
    // Another width, and only what has not been taken is drawn.
    assert_eq!(drawn(&streamed.drain_stable(20, &look)), "  three");
    streamed.push("```\nend");
    streamed.finish();
    assert_eq!(drawn(&streamed.drain_stable(20, &look)), "\nend");
    assert_eq!(streamed.lines(20, &look), []);
}

#[test]
fn what_is_closed_is_stable_at_once() {
    let theme = Theme::plain();
    for (text, stable) in [
        ("A paragraph.\n\nThe ne", "A paragraph."),
        ("A paragraph.\nThe ne", ""),
        ("# Head\nThe ne", "Head"),
        ("- one\n  two\n- thr", "• one\n  two"),
        ("- one\n- two\n\n- thr", "• one\n• two"),
        ("- one\n\nThe ne", ""),
        ("- one\n\nThe next\nli", "• one"),
        ("|a|\n|-|\n|b|\n\nx", "a\n─\nb"),
    ] {
        let mut streamed = StreamedMarkdown::new();
        streamed.push(text);
        // The last item's beginning is a whole line only with the next one.
        streamed.push(if text.starts_with("- one\n") && text.ends_with("thr") { "ee\n" } else { "" });
        assert_eq!(drawn(&streamed.drain_stable(40, &look(&theme))), stable, "{text:?}");
    }
}

/// Pieces of text of which difficult documents can be made.
fn document() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[a-z]{1,8}",
        6 => Just(" ".to_owned()),
        6 => Just("\n".to_owned()),
        3 => Just("\n\n".to_owned()),
        8 => proptest::sample::select(vec![
            "# ", "#", "## x\n", "- ", "-", "* ", "+ ", "1. ", "12) ", "> ", ">", "```", "```rs\n", "\n```\n",
            "~~~", "    ", "  ", "\t", "---", "===", "***", "*", "**", "_", "`", "``", "~~", "[", "]", "(", ")",
            "[a]", "[a]: ", "[a]: /u\n", "[a]: /u 'ti", "'", "[b](http://x.y)", "<", ">", "<div>", "</div>",
            "<!--", "-->", "<b>", "<pre>", "</pre>", "|", "|-|-|\n", "a|b\n", "-|-\n", "| x | y |\n|--|:-:|\n",
            "\\", "&amp;", "&#27;", "!", "\r\n", "\r", "- [ ] ", "- [x] ", "日本語", "\u{301}", "👩\u{200d}👧", "\u{1b}[31m",
            "\u{202e}", "  \n", "http://x.y", "0", ":", "$", "<?", "?>", "<![CDATA[", "<script>", "</script>",
        ]).prop_map(str::to_owned),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn nothing_is_too_wide(text in document()) {
        let theme = Theme::dark();
        for columns in [1, 2, 3, 5, 8, 13, 40, 80] {
            for line in lines(&text, columns, &look(&theme)) {
                let wide: usize = line.spans.iter().map(|span| width::width(&span.content)).sum();
                prop_assert!(wide <= columns && line.width() <= columns, "{columns}: {line:?}");
                prop_assert!(!line.spans.iter().any(|span| span.content.chars().any(char::is_control)));
            }
        }
    }

    #[test]
    fn stable_lines_stay(text in document(), columns in 1_usize..60) {
        let theme = Theme::dark();
        let look = look(&theme);
        let whole = lines(&text, columns, &look);
        let mut grown = StreamedMarkdown::new();
        let mut drained = StreamedMarkdown::new();
        let mut taken = Vec::new();
        for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            grown.set(&text[..cut]);
            let stable = grown.stable_lines(columns, &look);
            let shown = grown.lines(columns, &look);
            prop_assert!(stable <= whole.len(), "{cut}");
            prop_assert_eq!(&shown[..stable], &whole[..stable], "cut at {}: {:?}", cut, &text[..cut]);
            // What is shown does not depend on how the text came.
            let at_once = lines(&text[..cut], columns, &look);
            prop_assert_eq!(&shown, &at_once, "cut at {}", cut);
            drained.set(&text[..cut]);
            taken.append(&mut drained.drain_stable(columns, &look));
        }
        drained.finish();
        taken.append(&mut drained.drain_stable(columns, &look));
        prop_assert_eq!(taken, whole);
    }

    #[test]
    fn another_width_neither_loses_nor_repeats(
        pieces in proptest::collection::vec(
            (proptest::sample::select(vec!["word ", "- item\n", "\n", "\n\n", "```\n", "> said\n", "# head\n", "3. x\n"]), 1_usize..40),
            0..30,
        ),
    ) {
        let theme = Theme::plain();
        let mut streamed = StreamedMarkdown::new();
        let (mut text, mut taken) = (String::new(), String::new());
        for (piece, columns) in &pieces {
            text += piece;
            streamed.push(piece);
            taken += &drawn(&streamed.drain_stable(*columns, &look(&theme)));
        }
        streamed.finish();
        taken += &drawn(&streamed.drain_stable(40, &look(&theme)));
        // Numbers of items are left out in the narrowest windows.
        let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).collect::<String>();
        prop_assert_eq!(letters(&taken), letters(&drawn(&lines(&text, 40, &look(&theme)))));
    }

    #[test]
    fn no_word_is_lost(words in proptest::collection::vec("[a-z]{1,9}", 1..30), columns in 1_usize..40) {
        let theme = Theme::dark();
        let text = words.join(" ");
        let shown = drawn(&lines(&text, columns, &look(&theme)));
        let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        prop_assert_eq!(letters(&shown), letters(&text));
    }
}

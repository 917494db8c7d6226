//! Words that complete themselves.

use ramal_tui::editor::{CompletionItem, CompletionKind, CompletionList, ListStep};
use ramal_tui::text::width::width;
use ramal_tui::theme::{Role, Theme};

use crate::notation::{editor, press, shown};

#[test]
fn what_is_being_completed() {
    use CompletionKind::{Command, Entry, File};
    for (text, want) in [
        ("/|", Some((Command, ""))),
        ("/tre|e", Some((Command, "tre"))),
        (" /tre|", None),
        ("/tree |", None),
        ("say /tre|", None),
        ("@|", Some((File, ""))),
        ("look at @src/ma|", Some((File, "src/ma"))),
        ("look at (@src|)", Some((File, "src"))),
        ("line\n@a|", Some((File, "a"))),
        ("ana@example|", None),
        ("@\"my fi|", Some((File, "my fi"))),
        ("x @\"my file\" |", None),
        ("@\"my file\"|", None),
        ("as in #ear|", Some((Entry, "ear"))),
        ("# head|", None),
        ("語\u{3000}#x|", Some((Entry, "x"))),
        ("|@a", None),
        ("", None),
    ] {
        let found = editor(text).completing();
        let found = found.map(|found| (found.kind, found.query));
        assert_eq!(found, want.map(|(kind, query)| (kind, query.to_owned())), "{text}");
    }
}

#[test]
fn an_item_takes_the_words_place() {
    for (text, insert, after) in [
        ("/tr|", "tree", "/tree |"),
        ("see @ma|", "src/main.rs", "see @src/main.rs |"),
        ("see @ma| now", "src/main.rs", "see @src/main.rs| now"),
        ("@s|", "src/", "@src/|"),
        ("@m|", "my file.md", "@\"my file.md\" |"),
        ("@m|", "my files/", "@\"my files/|"),
        ("@\"my f|", "my file.md", "@\"my file.md\" |"),
        ("(#e|", "a1b2c3d4", "(#a1b2c3d4 |"),
    ] {
        let mut editor = editor(text);
        assert!(editor.accept(&CompletionItem::new(insert, "")), "{text}");
        assert_eq!(shown(&editor), after, "{text}");
        press(&mut editor, "undo");
        assert_eq!(shown(&editor), text);
    }
    assert!(!editor("plain|").accept(&CompletionItem::new("tree", "")));
}

#[test]
fn a_mark_ends_a_word() {
    let mut editor = editor("@a|");
    editor.paste(&"x".repeat(2000));
    assert_eq!(editor.completing(), None);
    editor.insert("@b");
    assert_eq!(editor.completing().map(|found| found.query).as_deref(), Some("b"));
}

fn commands(rows: usize) -> CompletionList {
    let items = [
        ("tree", "walk the tree"),
        ("branch", "go back to a question"),
        ("resume", "another session"),
        ("rename", ""),
        ("retry", "the last turn again"),
    ];
    let items = items.map(|(name, about)| CompletionItem::new(name, about));
    CompletionList::new(CompletionKind::Command, items, rows)
}

fn draw(list: &CompletionList, columns: usize) -> Vec<String> {
    list.lines(columns, &Theme::plain()).iter().map(|line| line.to_string().trim_end().to_owned()).collect()
}

#[test]
fn the_list() {
    let mut list = commands(3);
    assert_eq!(
        draw(&list, 40),
        ["> tree    walk the tree", "  branch  go back to a question", "  resume  another session", "  1/5"]
    );
    list.step(ListStep::Up);
    assert_eq!(
        draw(&list, 24),
        ["  resume  another sessi…", "  rename", "> retry   the last turn…", "  5/5"]
    );
    list.step(ListStep::Down);
    list.step(ListStep::PageDown);
    assert_eq!(list.selected().map(CompletionItem::label), Some("rename"));
    list.set_query("re");
    assert_eq!(draw(&list, 40)[..2], ["> retry   the last turn again", "  resume  another session"]);
    for (query, matching) in [("r", 5), ("re", 4), ("ren", 1), ("r", 5), ("", 5), (" ", 5), ("", 5)] {
        list.set_query(query);
        assert_eq!(list.matches().count(), matching, "{query}");
    }
    assert_eq!(list.selected().map(CompletionItem::label), Some("tree"));
    list.set_query("nothing");
    assert!(list.is_empty() && list.lines(40, &Theme::plain()).is_empty() && list.selected().is_none());
    list.step(ListStep::Down);
}

#[test]
fn letters_that_match_are_marked() {
    let mut list = commands(5);
    list.set_query("rh");
    let (theme, mut marked) = (Theme::plain(), String::new());
    let line = &list.lines(40, &theme)[0];
    for span in &line.spans {
        if span.style
            == theme.style(Role::Text).patch(theme.style(Role::Selected)).patch(theme.style(Role::Match))
        {
            marked += &format!("[{}]", span.content);
        }
    }
    assert_eq!((line.to_string().trim_end(), &*marked), ("> branch  go back to a question", "[r][h]"));
}

#[test]
fn the_selected_one_stays_when_more_are_found() {
    let mut list = commands(3);
    list.step(ListStep::Down);
    let more = ["clone", "tree", "branch"].map(|name| CompletionItem::new(name, "walk the tree"));
    list.set_items(more.into_iter().chain([CompletionItem::new("branch", "go back to a question")]));
    assert_eq!(list.selected().map(CompletionItem::description), Some("go back to a question"));
}

#[test]
fn names_are_put_in_as_they_are_and_shown_harmless() {
    let item = CompletionItem::new("a\u{202e}b 日本.txt", "\x1b[2Jx");
    assert_eq!(
        (item.insert(), item.label(), item.description()),
        ("a\u{202e}b 日本.txt", "ab 日本.txt", "[2Jx")
    );
    let mut list = CompletionList::new(CompletionKind::File, [item, CompletionItem::new("x", "y")], 1);
    list.set_query("日");
    for columns in 0..30 {
        for line in list.lines(columns, &Theme::plain()) {
            assert!(width(&line.to_string()) <= columns, "{columns}: {line}");
        }
    }
}

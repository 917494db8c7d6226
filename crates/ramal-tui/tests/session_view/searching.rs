//! Searching: in what rows show, and in what was said.

use ramal_session::library::Query;
use ramal_tui::session_view::{SessionScope, Told};

use crate::notation::{draw, ids, info, of, path, press, said, some, type_in};

#[track_caller]
fn found(query: &str, want: &[&str]) {
    let mut view = of(some());
    view.paste(query);
    assert_eq!(ids(&mut view), want, "{query}");
}

#[test]
fn in_what_stands_beside_the_texts() {
    found("version", &["old"]);
    // A name is worth more than a first message.
    found("checkout", &["open", "copy"]);
    found("MONDAYS slow", &["open", "copy"]);
    found("monday cache", &[]);
    // Letters may be missing between those of a word, if they stand near each other.
    found("chkout", &["open", "copy"]);
    found("tsn", &[]);
    found("\"larger cache\"", &["again"]);
    found("\"cache larger\"", &[]);
    found("\"cache larger", &["again"]);
    found("re:l.rger|index", &["again", "second"]);
    found("re:^write", &["old"]);
    found("re:(", &[]);
    // Id, path, directory.
    found("2027_empty", &["empty"]);
    found("work/shop", &["open", "copy", "again", "second", "empty", "odd", "old"]);
    found("日本語", &["odd"]);
}

#[test]
fn in_what_was_said() {
    let mut view = of(some());
    type_in(&mut view, "slow");
    let first = view.texts_wanted().unwrap();
    // Those in which all was found already need no look.
    assert!(!first.files.contains(&path("open")) && first.files.contains(&path("old")));
    assert_eq!(view.texts_wanted().map(|wanted| wanted.files), None, "asked for once");
    assert_eq!(ids(&mut view), ["open", "copy"]);
    view.texts_found(first.number, &path("old"), Some(said(&[true], "a slow disk")));
    view.texts_found(first.number, &path("odd"), None);
    assert_eq!(ids(&mut view), ["open", "copy", "old"]);
    // It opens where it was said.
    let entry = match press(&mut view, "enter") {
        Told::Open { path: opened, found_at } => {
            assert_eq!(opened, path("old"));
            found_at
        }
        told => panic!("{told:?}"),
    };
    assert!(entry.is_some());
    // Some of the words in the name, others in the texts.
    type_in(&mut view, " shop");
    let second = view.texts_wanted().unwrap();
    assert!(second.number > first.number);
    view.texts_found(first.number, &path("again"), Some(said(&[true], "late")));
    view.texts_found(second.number, &path("old"), Some(said(&[true, false], "a slow disk")));
    view.texts_found(second.number, &path("empty"), Some(said(&[false, true], "shop")));
    assert!(ids(&mut view).contains(&"old".to_owned()));
    assert!(!ids(&mut view).contains(&"again".to_owned()), "that was an answer to another search");
}

#[test]
fn what_arrives_during_a_search_is_searched() {
    let mut view = of(some());
    type_in(&mut view, "disk");
    let first = view.texts_wanted().unwrap();
    view.add(SessionScope::Directory, [info("late", "nothing of it", 5), info("disk", "the disk", 6)]);
    let second = view.texts_wanted().unwrap();
    assert_eq!((second.number, second.files), (first.number, vec![path("late")]));
    assert_eq!(ids(&mut view), ["disk"]);
}

#[test]
fn the_order_of_what_was_found() {
    let named = |id: &str, name: &str, seconds| {
        let mut info = info(id, "a talk about words", seconds);
        info.name = Some(name.into());
        info
    };
    let sessions = [
        named("late", "talks", 1),
        named("fits", "the words", 2),
        named("other", "swords", 3),
        info("texts", "-", 0),
    ];
    let mut view = of(sessions);
    type_in(&mut view, "words");
    let wanted = view.texts_wanted().unwrap();
    view.texts_found(wanted.number, &path("texts"), Some(said(&[true], "words")));
    assert_eq!(ids(&mut view), ["fits", "other", "late", "texts"]);
    press(&mut view, "ctrl+s");
    assert_eq!(ids(&mut view), ["texts", "late", "fits", "other"], "recent keeps to the time");
    press(&mut view, "ctrl+s");
    assert_eq!(ids(&mut view), ["fits", "other", "late", "texts"]);
}

#[test]
fn a_search_begins_at_its_best_row_and_gives_back_where_one_was() {
    let mut view = of(some());
    press(&mut view, "end");
    type_in(&mut view, "index");
    assert_eq!(view.selected(), Some(&*path("second")));
    press(&mut view, "escape");
    assert_eq!(view.selected(), Some(&*path("old")));
    // Typed quickly, before anything was drawn, the choice is of what fits.
    let mut view = of(some());
    draw(&mut view, 80, 24);
    type_in(&mut view, "index");
    assert_eq!(press(&mut view, "enter"), Told::Open { path: path("second"), found_at: None });
}

#[test]
fn without_a_search_no_text_is_wanted() {
    let mut view = of(some());
    assert!(view.texts_wanted().is_none());
    type_in(&mut view, "re:(");
    assert!(view.texts_wanted().is_none());
    assert!(Query::read("re:(").is_err());
}

#[test]
fn what_was_found_is_marked() {
    use ratatui::style::Modifier;
    let mut view = of(some());
    type_in(&mut view, "index");
    let shown = draw(&mut view, 80, 24);
    let is_marked = |span: &&ratatui::text::Span<'_>| span.style.add_modifier.contains(Modifier::UNDERLINED);
    let marked: Vec<_> = shown.lines[2].spans.iter().filter(is_marked).map(|span| &*span.content).collect();
    assert_eq!(marked, ["index"], "{:?}", shown.lines[2]);
}

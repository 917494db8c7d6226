//! What is appended, labelled, moved or rewritten while a selector is open.

use std::io::{Seek as _, Write as _};

use ramal_session::{Filter, SessionManager};
use ramal_tui::tree_selector::{Command, Outcome, Summary};

use crate::notation::{HEADER, Session, assert_drawn, finish, press, selector};

const CHAIN: &str = "q1 - user one\n b1 . answer two\n q2 . user three\n b2 . answer four";

#[test]
fn labelling_goes_nowhere() {
    let mut session = Session::new(CHAIN, Some("b2"));
    let mut selector = selector(&session, Filter::Default);
    press(&mut selector, &session, [Command::Up, Command::Up]);
    session.manager.append_label_change("b1", Some("here")).unwrap();
    assert!(selector.refresh(&session.manager));
    assert!(!selector.refresh(&session.manager));
    let drawn = ["  ⊟•q1", "› •[here] b1", "  •q2", "  •b2 ◀"];
    assert_drawn(&mut selector, &session, &drawn);
    session.manager.append_label_change("b2", Some("end")).unwrap();
    let outcome = press(&mut selector, &session, [Command::End, Command::Choose(Summary::AsSet)]);
    assert!(matches!(outcome, Outcome::AlreadyHere), "{outcome:?}");
    // The entry that holds the label is the leaf, and choosing it would go nowhere either.
    let all = [Command::SetFilter(Filter::All), Command::End, Command::Choose(Summary::AsSet)];
    assert!(matches!(press(&mut selector, &session, all), Outcome::AlreadyHere));
    assert_eq!(selector.status().rows, 6);
    // What is said next does go somewhere.
    session.user("five");
    press(&mut selector, &session, [Command::SetFilter(Filter::UserOnly)]);
    let rows = crate::notation::rows(&mut selector, &session.manager);
    assert!(rows.last().unwrap().place.is_leaf() && rows.last().unwrap().says.text == "five");
    assert_eq!(rows.iter().filter(|row| row.place.is_leaf()).count(), 1);
}

#[test]
fn labels_come_and_go_under_the_filter_for_them() {
    let mut session = Session::new(CHAIN, Some("b2"));
    let mut selector = selector(&session, Filter::LabeledOnly);
    assert_drawn(&mut selector, &session, &["› •b2 ◀"]);
    session.manager.append_label_change("q1", Some("start")).unwrap();
    assert_drawn(&mut selector, &session, &["  ⊟•[start] q1", "› •b2 ◀"]);
    session.manager.append_label_change("q1", None).unwrap();
    assert_drawn(&mut selector, &session, &["› •b2 ◀"]);
}

#[test]
fn labels_are_searched_as_they_are_now() {
    let mut session = Session::new(CHAIN, Some("b2"));
    let mut selector = selector(&session, Filter::Default);
    press(&mut selector, &session, [Command::Search("start".into())]);
    assert_drawn(&mut selector, &session, &["› •b2 ◀"]);
    session.manager.append_label_change("q1", Some("start")).unwrap();
    assert_drawn(&mut selector, &session, &["› ⊟•[start] q1", "  •b2 ◀"]);
    session.manager.append_label_change("q1", Some("begin")).unwrap();
    assert_drawn(&mut selector, &session, &["› •b2 ◀"]);
}

#[test]
fn what_another_program_appends_appears_and_nothing_else_moves() {
    let mut session = Session::new(CHAIN, Some("b2"));
    let mut selector = selector(&session, Filter::Default);
    press(&mut selector, &session, [Command::Up, Command::Search("o".into())]);
    let mut other = SessionManager::open(session.file.path(), None).unwrap();
    other.branch("b1").unwrap();
    other.append_message(r#"{"role":"user","content":"other"}"#).unwrap();
    other.append_message(r#"{"role":"user","content":"hidden by the search"}"#).unwrap();
    assert!(!selector.refresh(&session.manager));
    assert!(session.manager.refresh().unwrap());
    press(&mut selector, &session, []);
    let texts: Vec<_> = crate::notation::rows(&mut selector, &session.manager)
        .iter()
        .map(|row| row.says.text.clone())
        .collect();
    assert_eq!(texts, ["one", "two", "four", "other"]);
    assert_eq!(selector.status().words, "o");
    press(&mut selector, &session, [Command::Escape]);
    assert_eq!(selector.status().rows, 6);
}

#[test]
fn an_answer_that_only_calls_never_shows_up() {
    let mut session = Session::new(CHAIN, Some("q2"));
    let mut selector = selector(&session, Filter::Default);
    session.calls("src/a.rs");
    session.user("on");
    let rows = crate::notation::rows(&mut selector, &session.manager);
    let texts: Vec<_> = rows.iter().map(|row| &*row.says.text).collect();
    assert_eq!(texts, ["one", "two", "three", "on", "four"]);
    assert!(selector.status().reading.is_none());
}

#[test]
fn a_selection_is_found_again_in_a_log_that_was_written_anew() {
    let mut session =
        Session::of_log(&(HEADER.to_owned() + &lines(&["q1 -", "q2 q1", "q3 q2", "q4 q1"])), Some("q4"));
    let mut selector = selector(&session, Filter::Default);
    press(&mut selector, &session, [Command::Select(2), Command::FoldOrUp]);
    assert_drawn(&mut selector, &session, &["  ⊟•q1", "  ├ •q4 (1) ◀", "› └ ⊞q2 (2)"]);
    // The same session, its entries in other places; the parent of `q3` comes after it.
    let file = session.file.as_file_mut();
    file.set_len(0).unwrap();
    file.rewind().unwrap();
    let written = lines(&["q1 -", "q5 q1", "q4 q1", "q3 q2", "q2 q1", "q6 q5", "q7 q4"]);
    file.write_all((HEADER.to_owned() + &written).as_bytes()).unwrap();
    session.manager.refresh().unwrap();
    assert!(selector.refresh(&session.manager));
    finish(&mut selector, &session.manager);
    let drawn = ["  ⊟•q1", "  ├ ⊟•q4 (2) ◀", "  │ q7", "  ├ ⊟q5 (2)", "  │ q6", "› └ ⊞q2 (2)"];
    assert_drawn(&mut selector, &session, &drawn);
}

#[test]
fn a_parent_that_comes_late_hangs_its_children_elsewhere() {
    let mut session = Session::of_log(&(HEADER.to_owned() + &lines(&["q1 -", "q3 q2"])), Some("q3"));
    let mut selector = selector(&session, Filter::Default);
    assert_drawn(&mut selector, &session, &["› ├ •q3 (1) ◀", "  └ q1 (1)"]);
    session.file.as_file_mut().write_all(lines(&["q2 q1"]).as_bytes()).unwrap();
    session.manager.refresh().unwrap();
    finish(&mut selector, &session.manager);
    assert_drawn(&mut selector, &session, &["  ⊟•q1", "  •q2", "› •q3 ◀"]);
}

#[test]
fn a_log_that_is_gone_is_told_and_survived() {
    let session = Session::new(CHAIN, Some("b2"));
    let mut selector = selector(&session, Filter::Default);
    session.file.as_file().set_len(40).unwrap();
    let rows = crate::notation::rows(&mut selector, &session.manager);
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|row| row.says.wrong.as_deref() == Some("cannot be read")), "{rows:?}");
    press(&mut selector, &session, [Command::Search("one".into())]);
    assert!(selector.status().problem.is_some());
}

fn lines(entries: &[&str]) -> String {
    let line = |entry: &&str| {
        let (id, parent) = entry.split_once(' ').unwrap();
        let parent = if parent == "-" { "null".to_owned() } else { format!("\"{parent}\"") };
        format!(
            "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2025-01-01T00:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{id}\"}}}}\n"
        )
    };
    entries.iter().map(line).collect()
}

//! What each key does.

use super::*;

type Check = fn(&mut Shown, &str);

/// Every action that there is here, and what shows that it does what it says: told each of its keys.
const CHECKS: &[(ActionId, Check)] = &[
    (ActionId::LineUp, |shown, key| {
        let before = shown.body();
        shown.press(key);
        assert_eq!(rows(&shown.body()[1..]), rows(&before[..before.len() - 1]));
    }),
    (ActionId::LineDown, |shown, key| {
        shown.press("g");
        let before = shown.body();
        shown.press(key);
        assert_eq!(rows(&shown.body()[..before.len() - 1]), rows(&before[1..]));
    }),
    (ActionId::TranscriptPageUp, page_up),
    (ActionId::PageUp, page_up),
    (ActionId::TranscriptPageDown, page_down),
    (ActionId::PageDown, page_down),
    (ActionId::TranscriptTop, top),
    (ActionId::First, top),
    (ActionId::TranscriptBottom, bottom),
    (ActionId::Last, bottom),
    (ActionId::Up, |shown, key| {
        shown.press(key);
        assert_eq!(shown.selected(), "❯ Good. Commit.");
        shown.press(key);
        assert!(shown.selected().starts_with("There is a better test:"), "{}", shown.selected());
    }),
    (ActionId::Down, |shown, key| {
        shown.press("g");
        shown.press(key);
        assert_eq!(shown.selected(), "The parser.");
    }),
    (ActionId::TranscriptPreviousSibling, |shown, key| {
        shown.press("g");
        shown.press("]");
        shown.press("down");
        // At the answer: there was one before, whose branch is a single entry.
        assert_eq!(shown.press(key), Told::Redraw);
        assert_eq!(shown.selected(), "There is a test. ‹1/2›");
        assert!(shown.status().starts_with("another branch"), "{}", shown.status());
        // Above it the next fork is that of the questions.
        shown.press("[");
        shown.press(key);
        assert_eq!(shown.selected(), "❯ Fix it in the printer. ‹2/3›");
        shown.press(key);
        assert_eq!(shown.selected(), "❯ Fix it in the parser. ‹1/3› [parser]");
        shown.press(key);
        assert_eq!(shown.foot(), "There is no branch before this one");
        let end = id_of(&shown.session, "keeps it** now");
        assert_eq!(shown.press("enter"), Told::GoToEnd { id: end });
        // Once one has moved, what is selected is meant.
        let question = id_of(&shown.session, "Fix it in the parser.");
        shown.press("down");
        shown.press("up");
        assert_eq!(shown.press("enter"), Told::Go { id: question });
    }),
    (ActionId::TranscriptNextSibling, |shown, key| {
        let end = shown.session.get_leaf_entry().unwrap().position();
        shown.press("[");
        shown.press("[");
        shown.press("left");
        assert_eq!(shown.selected(), "❯ Fix it in the printer. ‹2/3›");
        shown.press(key);
        // Back on the active path, at its newest end.
        assert_eq!(shown.selected(), "❯ Write a test first. ‹3/3› [test first]");
        assert_eq!(shown.view.pane.transcript().end(), Some(end));
        assert!(!shown.status().contains("another branch"), "{}", shown.status());
        shown.press(key);
        assert_eq!(shown.foot(), "There is no branch behind this one");
    }),
    (ActionId::TranscriptPreviousTurn, |shown, key| {
        for question in ["❯ Good. Commit.", "❯ Write a test first. ‹3/3› [test first]"] {
            shown.press(key);
            assert_eq!(shown.selected(), question);
        }
        shown.press(key);
        assert_eq!(shown.selected(), "❯ The date parser drops the time zone.");
        shown.press(key);
        assert_eq!(shown.foot(), "There is no message of yours above");
    }),
    (ActionId::TranscriptNextTurn, |shown, key| {
        shown.press("g");
        shown.press(key);
        assert_eq!(shown.selected(), "❯ Write a test first. ‹3/3› [test first]");
        assert!(shown.screen().contains("turn 2/3"), "{}", shown.screen());
        shown.press(key);
        assert_eq!(shown.selected(), "❯ Good. Commit.");
        shown.press(key);
        assert_eq!(shown.foot(), "There is no message of yours below");
    }),
    (ActionId::OpenEntry, |shown, key| {
        select_tool(shown);
        shown.press(key);
        assert_eq!(shown.selected(), "✓ read src/date.rs · 3 lines|path: src/date.rs|one|two|three needles");
        shown.press(key);
        assert_eq!(shown.selected(), "✓ read src/date.rs · 3 lines");
        shown.press("shift+g");
        shown.press(key);
        assert_eq!(shown.foot(), "There is no more of this than what is shown");
    }),
    (ActionId::OpenAll, |shown, key| {
        shown.rows = 60;
        shown.press(key);
        let open = shown.screen();
        assert!(open.contains("  three needles") && open.contains("A test was written."), "{open}");
        // One by itself is closed among the open ones.
        select_tool(shown);
        shown.press("o");
        assert_eq!(shown.selected(), "✓ read src/date.rs · 3 lines");
        assert!(shown.screen().contains("▾ branch summary"));
        shown.press(key);
        let closed = shown.screen();
        assert!(closed.contains("▸ branch summary: A test was written."), "{closed}");
        assert!(!closed.contains("three needles"), "{closed}");
    }),
    (ActionId::TranscriptFilter, |shown, key| {
        shown.rows = 60;
        shown.press(key);
        let screen = shown.screen();
        assert!(shown.status().starts_with("without tools"), "{}", shown.status());
        assert!(!screen.contains("✓ read") && screen.contains("branch summary"), "{screen}");
        shown.press(key);
        let screen = shown.screen();
        assert!(shown.status().starts_with("only what was said"), "{}", shown.status());
        assert!(!screen.contains("branch summary") && !screen.contains("The parser."), "{screen}");
        assert!(screen.contains("Committed.") && screen.contains("I look."), "{screen}");
        shown.press(key);
        assert_eq!(shown.view.filter(), Filter::Everything);
        assert!(shown.screen().contains("✓ read"), "{}", shown.screen());
    }),
    (ActionId::TranscriptLoadAll, |shown, key| {
        shown.session = long();
        shown.view = TranscriptView::new(&shown.session);
        assert!(shown.status().contains(" of 1,000 entries loaded"), "{}", shown.status());
        shown.press(key);
        shown.work();
        assert!(shown.status().contains("all 1,000 entries"), "{}", shown.status());
        assert!(shown.selected().contains("question 999"), "one stays where one was");
        shown.press(key);
        assert_eq!(shown.foot(), "Everything is loaded");
    }),
    (ActionId::TranscriptSearch, |shown, key| {
        shown.press(key);
        assert!(shown.status().starts_with("Search:"), "{}", shown.status());
        shown.type_in("THREE n");
        assert!(shown.see().cursor.is_some());
        shown.press("enter");
        // What is closed opens where it says it.
        assert!(shown.screen().contains("▶   three needles"), "{}", shown.screen());
        assert!(shown.status().starts_with("Search: three n"), "{}", shown.status());
        let marked: Vec<String> = underlined(shown);
        assert_eq!(marked, ["three n"]);
        // The first escape takes the marks off, the second closes.
        assert_eq!(shown.press("escape"), Told::Redraw);
        assert_eq!(underlined(shown), [""; 0]);
        assert_eq!(shown.press("escape"), Told::Close);
    }),
    (ActionId::NextMatch, |shown, key| {
        shown.press(key);
        assert_eq!(shown.foot(), "Nothing is searched for");
        shown.press("g");
        shown.press("/");
        shown.type_in("test");
        shown.press("enter");
        let mut found = vec![hit(shown)];
        for _ in 0..3 {
            shown.press(key);
            found.push(hit(shown));
        }
        let want = [
            "❯ Write a test first. ‹3/3› [test first]",
            "▸ branch summary: A test was written. · 2 lines ‹2/2›",
            "There is a better test:",
            "There is a better test:",
        ];
        assert_eq!(found, want);
        assert_eq!(shown.foot(), "Nothing more has been found below");
    }),
    (ActionId::PreviousMatch, |shown, key| {
        shown.press("/");
        shown.type_in("parser");
        shown.press("enter");
        assert_eq!(hit(shown), "The parser.");
        shown.press(key);
        assert_eq!(hit(shown), "❯ The date parser drops the time zone.");
        shown.press(key);
        assert_eq!(shown.foot(), "Nothing more has been found above");
    }),
    (ActionId::TranscriptLabel, |shown, key| {
        let third = id_of(&shown.session, "Write a test first.");
        shown.press("[");
        shown.press("[");
        shown.press(key);
        assert!(shown.status().starts_with("Label: test first"), "{}", shown.status());
        assert!(shown.foot().starts_with("Enter save"), "{}", shown.foot());
        shown.type_in("!");
        let label = Some("test first!".to_owned());
        assert_eq!(shown.press("enter"), Told::Label { id: third.clone(), label: label.clone() });
        // Once it is set it is seen.
        shown.session.append_label_change(&third, label.as_deref()).unwrap();
        assert_eq!(shown.selected(), "❯ Write a test first. ‹3/3› [test first!]");
        shown.press(key);
        shown.press("ctrl+u");
        assert_eq!(shown.press("enter"), Told::Label { id: third, label: None });
        // Escape leaves it as it was.
        shown.press(key);
        assert_eq!(shown.press("escape"), Told::Redraw);
        assert!(!shown.status().contains("Label"), "{}", shown.status());
    }),
    (ActionId::TranscriptCopy, |shown, key| {
        let leaf = shown.session.get_leaf_entry().unwrap().position();
        assert_eq!(shown.press(key), Told::Copy(leaf));
        // Of a call what came of it.
        select_tool(shown);
        let result = shown.session.get_entry(&id_of(&shown.session, "three needles")).unwrap().position();
        assert_eq!(shown.press(key), Told::Copy(result));
    }),
    (ActionId::TranscriptTree, |shown, key| {
        shown.press("[");
        let id = id_of(&shown.session, "Good. Commit.");
        assert_eq!(shown.press(key), Told::Tree(id));
    }),
    (ActionId::CloseTranscript, |shown, key| assert_eq!(shown.press(key), Told::Close)),
    (ActionId::Cancel, |shown, key| assert_eq!(shown.press(key), Told::Close)),
    (ActionId::Confirm, |shown, key| {
        assert_eq!(shown.press(key), Told::AlreadyHere);
        shown.press("[");
        let id = id_of(&shown.session, "Good. Commit.");
        assert_eq!(shown.press(key), Told::Go { id });
    }),
    (ActionId::Suspend, |shown, key| assert_eq!(shown.press(key), Told::Suspend)),
    (ActionId::Hotkeys, |shown, key| assert_eq!(shown.press(key), Told::Hotkeys)),
    (ActionId::Redraw, |shown, key| assert_eq!(shown.press(key), Told::Redraw)),
];

/// Rows without the mark of what is selected.
fn rows(lines: &[String]) -> Vec<String> {
    lines.iter().map(|line| line.replace('▌', " ").trim_end().to_owned()).collect()
}

fn page_up(shown: &mut Shown, key: &str) {
    shown.rows = 11;
    let before = shown.body();
    shown.press(key);
    // One row is seen again.
    assert_eq!(rows(&shown.body()[7..]), rows(&before[..1]));
    for _ in 0..5 {
        shown.press(key);
    }
    assert_eq!(shown.selected(), "❯ The date parser drops the time zone.");
}

fn page_down(shown: &mut Shown, key: &str) {
    shown.rows = 11;
    shown.press("g");
    let before = shown.body();
    shown.press(key);
    assert_eq!(rows(&shown.body()[..1]), rows(&before[7..]));
    for _ in 0..5 {
        shown.press(key);
    }
    assert_eq!(shown.selected(), "Committed.");
}

fn top(shown: &mut Shown, key: &str) {
    shown.press(key);
    assert_eq!(shown.body()[0], "▌ ❯ The date parser drops the time zone.");
}

fn bottom(shown: &mut Shown, key: &str) {
    shown.press("g");
    shown.press(key);
    assert_eq!(shown.body().last().unwrap(), "▌ Committed.");
}

fn select_tool(shown: &mut Shown) {
    shown.press("g");
    for _ in 0..3 {
        shown.press("down");
    }
    assert!(shown.selected().starts_with("✓ read"), "{}", shown.selected());
}

fn long() -> SessionManager {
    let mut session = SessionManager::in_memory("/work");
    for number in 0..1000 {
        user(&mut session, &format!("question {number}"));
    }
    session
}

/// The row that a search has found.
fn hit(shown: &mut Shown) -> String {
    shown.body().iter().find_map(|line| line.strip_prefix("▶ ")).unwrap_or("(nowhere)").trim().to_owned()
}

fn underlined(shown: &mut Shown) -> Vec<String> {
    let lines = shown.see().lines;
    let spans = lines.iter().flat_map(|line| &line.spans);
    let label = Theme::dark().style(crate::theme::Role::Match);
    let is_marked = |span: &&ratatui::text::Span<'_>| {
        span.style.add_modifier.contains(ratatui::style::Modifier::UNDERLINED)
            && (label.bg.is_none() || span.style.bg == label.bg)
    };
    spans.filter(is_marked).map(|span| span.content.to_string()).collect()
}

#[test]
fn every_key_does_what_it_says() {
    for (action, check) in CHECKS {
        let keys = Keymap::default().keys_of(*action).to_vec();
        assert!(!keys.is_empty(), "{action:?}");
        for key in keys {
            let name = key.file_name();
            eprintln!("{action:?} with {name}");
            check(&mut Shown::new(session(), 80, 14), &name);
        }
    }
}

#[test]
fn every_action_is_checked() {
    let places = [Place::Transcript, Place::List, Place::Everywhere];
    // The transcript shows everything itself.
    let of_previews = [ActionId::TogglePreview, ActionId::PreviewUp, ActionId::PreviewDown];
    let actions = ActionId::all().filter(|action| places.contains(&action.place()));
    for action in actions.filter(|action| !of_previews.contains(action)) {
        assert!(CHECKS.iter().any(|(checked, _)| *checked == action), "{action:?}");
    }
}

#[test]
fn what_is_appended_appears() {
    let mut shown = Shown::new(session(), 80, 14);
    user(&mut shown.session, "And now?");
    assert_eq!(shown.selected(), "❯ And now?");
    assert!(shown.screen().contains("turn 4/4"), "{}", shown.screen());
    // Whoever looks at something else goes on looking at it.
    shown.press("g");
    let before = shown.body();
    says(&mut shown.session, "That is all.");
    assert_eq!(shown.body(), before);
    assert!(shown.status().contains("all 1"), "{}", shown.status());
    shown.press("shift+g");
    assert_eq!(shown.selected(), "That is all.");
}

#[test]
fn forks_appear_while_one_looks() {
    let mut shown = Shown::new(session(), 80, 14);
    shown.press("[");
    assert_eq!(shown.selected(), "❯ Good. Commit.");
    let leaf = shown.session.get_leaf_id().unwrap().unwrap();
    let answer = id_of(&shown.session, "There is a better test");
    shown.session.branch(&answer).unwrap();
    user(&mut shown.session, "Bad.");
    shown.session.branch(&leaf).unwrap();
    assert_eq!(shown.selected(), "❯ Good. Commit. ‹1/2›");
}

#[test]
fn another_branch_grows_where_it_is_looked_at() {
    let mut shown = Shown::new(session(), 80, 14);
    let printer = id_of(&shown.session, "The printer keeps it.");
    let position = shown.session.get_entry(&printer).unwrap().position();
    shown.view = TranscriptView::at(&shown.session, position);
    assert!(shown.status().starts_with("another branch"), "{}", shown.status());
    assert_eq!(shown.selected(), "The printer keeps it. [printer]");
    let leaf = shown.session.get_leaf_id().unwrap().unwrap();
    shown.session.branch(&printer).unwrap();
    says(&mut shown.session, "Does it?");
    shown.session.branch(&leaf).unwrap();
    assert_eq!(shown.selected(), "Does it?");
}

#[test]
fn who_goes_elsewhere_sees_it() {
    let mut shown = Shown::new(session(), 80, 14);
    let printer = id_of(&shown.session, "The printer keeps it.");
    shown.session.branch(&printer).unwrap();
    assert_eq!(shown.selected(), "The printer keeps it. [printer]");
}

#[test]
fn long_blocks_are_scrolled_through() {
    let mut session = session();
    let lines: Vec<String> = (0..100).map(|number| format!("- line {number}")).collect();
    says(&mut session, &lines.join("\n"));
    user(&mut session, "Too long.");
    let mut shown = Shown::new(session, 80, 14);
    shown.press("up");
    let seen = |shown: &mut Shown, what: &str| shown.body().iter().any(|line| line.ends_with(what));
    assert!(seen(&mut shown, "line 99"), "{}", shown.screen());
    shown.press("up");
    assert!(seen(&mut shown, "line 88") && !seen(&mut shown, "line 99"), "{}", shown.screen());
    let mut steps = 0;
    while !seen(&mut shown, "line 0") {
        shown.press("up");
        steps += 1;
    }
    assert!((5..40).contains(&steps), "{steps}");
    shown.press("up");
    assert_eq!(shown.selected(), "Committed.");
    shown.press("down");
    assert!(seen(&mut shown, "line 0"), "{}", shown.screen());
    for _ in 0..steps + 5 {
        shown.press("down");
    }
    assert_eq!(shown.selected(), "❯ Too long.");
}

#[test]
fn pasted_text_is_searched_for_or_becomes_a_label() {
    let mut shown = Shown::new(session(), 80, 14);
    assert_eq!(shown.view.paste("better\n test"), Told::Redraw);
    assert!(shown.status().starts_with("Search: better test"), "{}", shown.status());
    shown.press("enter");
    assert_eq!(hit(&mut shown), "There is a better test:");
    shown.press("shift+l");
    shown.view.paste("mine");
    let id = id_of(&shown.session, "There is a better test");
    assert_eq!(shown.press("enter"), Told::Label { id, label: Some("mine".to_owned()) });
}

#[test]
fn a_label_of_a_result_is_the_one_that_is_edited() {
    let mut shown = Shown::new(session(), 80, 14);
    let result = id_of(&shown.session, "three needles");
    shown.session.append_label_change(&result, Some("read it")).unwrap();
    shown.press("f");
    shown.press("f");
    shown.press("f");
    select_tool(&mut shown);
    assert_eq!(shown.selected(), "✓ read src/date.rs · 3 lines [read it]");
    shown.press("shift+l");
    assert!(shown.status().starts_with("Label: read it"), "{}", shown.status());
    let told = shown.press("enter");
    assert_eq!(told, Told::Label { id: result, label: Some("read it".to_owned()) });
}

#[test]
fn what_has_no_id_can_only_be_seen() {
    use std::io::Write as _;
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let log = concat!(
        r#"{"type":"session","version":3,"id":"s","cwd":"/w"}"#,
        "\n",
        r#"{"type":"message","message":{"role":"user","content":"Who am I?"}}"#,
        "\n",
    );
    file.write_all(log.as_bytes()).unwrap();
    let mut shown = Shown::new(SessionManager::open(file.path(), None).unwrap(), 80, 14);
    shown.view = TranscriptView::at(&shown.session, 0);
    assert_eq!(shown.selected(), "❯ Who am I?");
    assert_eq!(shown.press("enter"), Told::Redraw);
    assert_eq!(shown.foot(), "This entry has no id of its own: it can be seen, not gone to");
    shown.press("shift+l");
    assert_eq!(shown.foot(), "This entry has no id of its own: it can have no label");
}

#[test]
fn a_row_that_was_found_is_not_marked_once_it_stands_elsewhere() {
    let mut shown = Shown::new(session(), 80, 14);
    shown.press("/");
    shown.type_in("needles");
    shown.press("enter");
    assert_eq!(hit(&mut shown), "three needles");
    shown.press("o");
    assert_eq!(hit(&mut shown), "(nowhere)");
    // It is found there again.
    shown.press("n");
    assert_eq!(hit(&mut shown), "three needles");
    shown.columns = 30;
    assert_eq!(hit(&mut shown), "(nowhere)");
}

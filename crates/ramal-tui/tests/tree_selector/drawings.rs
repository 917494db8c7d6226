//! Rows, folds and the selection, in drawings.

use ramal_session::{Filter, Irregular};
use ramal_tui::tree_selector::{Command, Direction, Landmark, Nothing, Outcome, Summary};

use crate::notation::{Session, assert_drawn, check, draw, press, selector};

use Command::{
    CycleFilter, Down, End, Escape, FoldOrUp, Home, Jump, PageDown, PageUp, Select, SetFilter, ToggleFilter,
    ToggleFold, UnfoldAll, UnfoldOrDown, Up,
};
use Direction::{Back, Forward};

/// A question, three ways on, and one of them forks again.
const FORKED: &str = "
    q1 - user Find the slow part
    a1 . calls src/cache.rs
    t1 . tool fn get
    b1 . answer The cache
    q2 b1 user Make it larger
    b2 . answer Done
    l2 . label b1 cause
    q3 b1 user Remove it
    a3 . calls src/lib.rs
    f3 . failed no such file
    q4 b1 user Ask the disk
    b4 . answer Which one
    q5 b4 user The first
    q6 b4 user The second
    b6 . answer Full
";

#[test]
fn what_entries_say_stands_in_the_rows() {
    let session = Session::new(FORKED, Some("b2"));
    let mut selector = selector(&session, Filter::Default);
    let want = "
  ⊟•user: Find the slow part
  •[read: src/cache.rs]
  •[cause] assistant: The cache
  ├ ⊟•user: Make it larger (1 $)
› │ •assistant: Done ◀
  ├ ⊟user: Remove it (1 ✗)
  │ ✗ failed [read: src/lib.rs] no such file
  └ ⊟user: Ask the disk (3 $)
    assistant: Which one
    ├ user: The first (1)
    └ ⊟user: The second (1 $)
      assistant: Full
";
    assert_eq!(draw(&mut selector, &session), &want[1..]);
}

#[test]
fn filters_keep_the_leaf_and_the_selection() {
    check(
        FORKED,
        "f3",
        [Up, SetFilter(Filter::NoTools)],
        &[
            "  ⊟•q1",
            "  •[cause] b1",
            "› ├ ⊟•q3 (1 ✗)",
            "  │ •f3 ◀",
            "  ├ ⊟q2 (1 $)",
            "  │ b2",
            "  └ ⊟q4 (3 $)",
            "    b4",
            "    ├ q5 (1)",
            "    └ ⊟q6 (1 $)",
            "      b6",
        ],
    );
    // A hidden selection goes to the nearest visible entry above it.
    check(
        FORKED,
        "b6",
        [SetFilter(Filter::UserOnly), Up, Up, SetFilter(Filter::LabeledOnly)],
        &["› ⊟•[cause] b1", "  •b6 ◀"],
    );
    check(
        FORKED,
        "q3",
        [SetFilter(Filter::All), Down, SetFilter(Filter::Default)],
        &[
            "  ⊟•q1",
            "  •t1",
            "  •[cause] b1",
            "› ├ ⊟•q3 (1 ✗) ◀",
            "  │ f3",
            "  ├ ⊟q2 (1 $)",
            "  │ b2",
            "  └ ⊟q4 (3 $)",
            "    b4",
            "    ├ q5 (1)",
            "    └ ⊟q6 (1 $)",
            "      b6",
        ],
    );
}

#[test]
fn filters_are_stepped_through_and_toggled() {
    let session = Session::new(FORKED, Some("b2"));
    let mut selector = selector(&session, Filter::Default);
    let mut seen = Vec::new();
    for _ in 0..5 {
        press(&mut selector, &session, [CycleFilter(Forward)]);
        seen.push(selector.status().filter.name());
    }
    assert_eq!(seen, ["no-tools", "user-only", "labeled-only", "all", "default"]);
    for (command, want) in [
        (CycleFilter(Back), "all"),
        (ToggleFilter(Filter::All), "default"),
        (ToggleFilter(Filter::UserOnly), "user-only"),
        (ToggleFilter(Filter::NoTools), "no-tools"),
        (SetFilter(Filter::NoTools), "no-tools"),
        (SetFilter(Filter::Default), "default"),
    ] {
        press(&mut selector, &session, [command]);
        assert_eq!(selector.status().filter.name(), want);
    }
}

#[test]
fn folding_goes_up_and_unfolding_goes_down() {
    let folded = [
        "  ⊟•q1",
        "  •t1",
        "  •[cause] b1",
        "  ├ ⊟•q2 (1 $)",
        "  │ •b2 ◀",
        "  ├ ⊟q3 (1 ✗)",
        "  │ f3",
        "› └ ⊞q4 (3 $)",
    ];
    check(FORKED, "b2", [Select(8), FoldOrUp, FoldOrUp], &folded);
    // What is folded cannot be folded again: on to where the branch above begins.
    let session = Session::new(FORKED, Some("b2"));
    let mut selector = selector(&session, Filter::Default);
    let mut row = |commands: &[Command]| {
        press(&mut selector, &session, commands.iter().cloned());
        (selector.selected_row().unwrap(), selector.status().rows)
    };
    assert_eq!(row(&[Select(11), FoldOrUp]), (10, 12));
    assert_eq!(row(&[FoldOrUp]), (10, 11));
    assert_eq!(row(&[FoldOrUp]), (7, 11));
    assert_eq!(row(&[FoldOrUp]), (7, 8));
    assert_eq!(row(&[FoldOrUp]), (0, 8));
    assert_eq!(row(&[FoldOrUp]), (0, 1));
    assert_eq!(row(&[FoldOrUp]), (0, 1));
    // Down: unfolded first, then into the next branch, at last to the end.
    assert_eq!(row(&[UnfoldOrDown]), (0, 8));
    assert_eq!(row(&[UnfoldOrDown]), (3, 8));
    assert_eq!(row(&[UnfoldOrDown]), (4, 8));
    assert_eq!(row(&[UnfoldOrDown]), (4, 8));
    assert_eq!(row(&[End, UnfoldOrDown]), (7, 11));
    assert_eq!(row(&[UnfoldOrDown]), (9, 11));
    assert_eq!(row(&[UnfoldOrDown]), (9, 11));
    assert_eq!(row(&[UnfoldAll]), (9, 12));
}

#[test]
fn folds_survive_filters_and_tell_where_one_stands() {
    check(
        FORKED,
        "b2",
        [Select(3), ToggleFold, CycleFilter(Forward), CycleFilter(Forward)],
        &["  ⊟•q1", "› ├ ⊞•q2 (1 $) ◀", "  ├ q3 (1 ✗)", "  └ ⊟q4 (3 $)", "    ├ q5 (1)", "    └ q6 (1 $)"],
    );
    check(
        FORKED,
        "b2",
        [Select(3), ToggleFold, SetFilter(Filter::UserOnly), SetFilter(Filter::Default), ToggleFold, Down],
        &[
            "  ⊟•q1",
            "  •t1",
            "  •[cause] b1",
            "  ├ ⊟•q2 (1 $)",
            "› │ •b2 ◀",
            "  ├ ⊟q3 (1 ✗)",
            "  │ f3",
            "  └ ⊟q4 (3 $)",
            "    b4",
            "    ├ q5 (1)",
            "    └ ⊟q6 (1 $)",
            "      b6",
        ],
    );
}

#[test]
fn rows_are_stepped_through_round_the_ends_and_paged_up_to_them() {
    let session = Session::new(FORKED, Some("b2"));
    let mut selector = selector(&session, Filter::Default);
    for (command, want) in [
        (Up, 3),
        (PageUp(2), 1),
        (PageUp(2), 0),
        (PageUp(2), 0),
        (Up, 11),
        (PageDown(3), 11),
        (Down, 0),
        (PageDown(3), 3),
        (End, 11),
        (Home, 0),
        (Select(99), 0),
        (Select(5), 5),
        (Jump(Forward, Landmark::Label), 5),
        (Jump(Back, Landmark::Label), 2),
        (Jump(Back, Landmark::Label), 2),
        (Jump(Forward, Landmark::Fork), 8),
        (Jump(Forward, Landmark::Fork), 8),
        (Jump(Back, Landmark::Fork), 2),
        (Jump(Back, Landmark::Fork), 2),
        (Jump(Back, Landmark::Turn), 0),
        (Jump(Forward, Landmark::Turn), 2),
        (Jump(Forward, Landmark::Turn), 3),
    ] {
        press(&mut selector, &session, [command.clone()]);
        assert_eq!(selector.selected_row(), Some(want), "{command:?}");
    }
}

#[test]
fn the_selected_row_stays_on_its_line_of_the_screen() {
    let notation: String = std::iter::once("e0 - user x\n".to_owned())
        .chain((1..60).map(|n| format!("e{n} . user x\n")))
        .collect();
    let session = Session::new(&notation, Some("e30"));
    let mut selector = selector(&session, Filter::Default);
    let mut window = |commands: &[Command]| {
        press(&mut selector, &session, commands.iter().cloned());
        selector.window(&session.manager, 10)
    };
    assert_eq!(window(&[]), 25..35);
    assert_eq!(window(&[Up, Up]), 25..35);
    assert_eq!(window(&[Down, Down, Down, Down, Down, Down]), 25..35);
    assert_eq!(window(&[Down]), 26..36);
    assert_eq!(window(&[Down]), 27..37);
    assert_eq!(window(&[PageUp(10)]), 26..36);
    assert_eq!(window(&[Home]), 0..10);
    assert_eq!(window(&[Up]), 50..60);
    assert_eq!(selector.window(&session.manager, 1), 59..60);
    assert_eq!(selector.window(&session.manager, 0), 0..0);
    assert_eq!(selector.window(&session.manager, 100), 0..60);
}

#[test]
fn before_the_first_entry_the_last_row_is_selected() {
    let session = Session::new("q1 - user a\n b1 . answer b\n q2 - user c\n q3 . user d", None);
    let mut selector = selector(&session, Filter::Default);
    assert_drawn(&mut selector, &session, &["  ├ ⊟q1 (1 $)", "  │ b1", "  └ ⊟q2 (2)", "›   q3"]);
    assert!(matches!(press(&mut selector, &session, [Command::Choose(Summary::AsSet)]), Outcome::Go { .. }));
}

#[test]
fn choosing_answers_where_to_go() {
    let session = Session::new(FORKED, Some("b2"));
    let mut selector = selector(&session, Filter::Default);
    let choose = Command::Choose(Summary::Wanted);
    assert!(matches!(press(&mut selector, &session, [choose.clone()]), Outcome::AlreadyHere));
    let outcome = press(&mut selector, &session, [Up, choose]);
    let Outcome::Go { position: 4, id, summary: Summary::Wanted } = outcome else { panic!("{outcome:?}") };
    assert_eq!(&*id, "q2");
    let outcome = press(&mut selector, &session, [Select(2), Command::EditLabel]);
    let Outcome::AskLabel { position: 3, id, present } = outcome else { panic!("{outcome:?}") };
    assert_eq!((&*id, present.as_deref()), ("b1", Some("cause")));
    assert!(matches!(press(&mut selector, &session, [Command::Copy]), Outcome::Copy(3)));
    assert!(matches!(press(&mut selector, &session, [Command::Type('x'), Escape]), Outcome::Changed));
    assert!(matches!(press(&mut selector, &session, [Escape]), Outcome::Close));
    assert!(matches!(press(&mut selector, &session, [Command::Type('x'), Command::Cancel]), Outcome::Close));
}

#[test]
fn an_entry_without_an_id_is_no_place() {
    let log = crate::notation::log_of("q1 - user a")
        + "{\"type\":\"message\",\"parentId\":\"q1\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}\n";
    let session = Session::of_log(&log, Some("q1"));
    let mut selector = selector(&session, Filter::Default);
    for command in [Command::Choose(Summary::AsSet), Command::EditLabel] {
        let outcome = press(&mut selector, &session, [Select(1), command]);
        assert!(matches!(outcome, Outcome::NotAPlace(Irregular::NoId)), "{outcome:?}");
    }
}

#[test]
fn why_there_is_nothing_to_see_is_told() {
    for (notation, leaf, filter, words, want) in [
        ("", None, Filter::Default, "", Some(Nothing::NoEntries)),
        ("m1 - model_change\n s1 . custom", Some("s1"), Filter::Default, "", Some(Nothing::NoConversation)),
        ("q1 - user a\n b1 . answer b", Some("b1"), Filter::Default, "", None),
        ("q1 - user a\n b1 . answer b", Some("b1"), Filter::LabeledOnly, "", Some(Nothing::Hidden(1))),
        ("q1 - user a", Some("q1"), Filter::LabeledOnly, "", None),
        ("q1 - user a\n b1 . answer b", Some("b1"), Filter::Default, "zzz", Some(Nothing::NotFound)),
        ("q1 - user a\n b1 . answer b", Some("b1"), Filter::Default, "user", None),
    ] {
        let session = Session::new(notation, leaf);
        let mut selector = selector(&session, filter);
        press(&mut selector, &session, [Command::Search(words.into())]);
        assert_eq!(selector.status().nothing, want, "{notation} {filter} {words}");
    }
}

#[test]
fn lines_are_given_from_the_inside_where_there_is_no_room() {
    let session = Session::new(FORKED, Some("b6"));
    let mut selector = selector(&session, Filter::Default);
    let last = selector.selected_row().unwrap();
    let row = selector.rows(&session.manager, last..last + 1, 1).remove(0);
    assert_eq!((row.place.depth(), row.guides.len(), row.shifted), (2, 1, 1));
}

//! What holds at every size and whatever is pressed.

use proptest::prelude::*;
use ramal_session::library::SessionInfo;
use ramal_tui::session_view::{SessionScope, SessionView};
use ramal_tui::text::width::width;

use crate::notation::{draw, info, of, path, press, said, some, view};

/// Draws it and looks whether that fits the screen.
#[track_caller]
fn drawn(view: &mut SessionView, columns: u16, rows: u16) -> Vec<String> {
    let seen = draw(view, columns, rows);
    assert_eq!(seen.lines.len(), usize::from(rows), "{columns}×{rows}");
    let texts: Vec<String> = seen.lines.iter().map(ToString::to_string).collect();
    for text in &texts {
        assert!(width(text) <= usize::from(columns), "{columns}×{rows}: {text:?}");
        assert!(!text.contains(char::is_control), "{text:?}");
    }
    if let Some(cursor) = seen.cursor {
        assert!(cursor.x < columns && cursor.y < rows, "{columns}×{rows}: {cursor:?}");
    }
    texts
}

#[test]
fn every_size_is_drawn() {
    let prepare: [&dyn Fn(&mut SessionView); 6] = [
        &|_| {},
        &|view| {
            press(view, "tab");
            view.add(SessionScope::All, some());
            press(view, "ctrl+p");
        },
        &|view| {
            view.paste("slow 日本");
            let wanted = view.texts_wanted().unwrap();
            let found = said(&[true, true], "slow \u{1b}[0m日本 👩‍👩‍👧\ta\nb");
            view.texts_found(wanted.number, &path("old"), Some(found));
        },
        &|view| {
            press(view, "end");
            press(view, "ctrl+d");
        },
        &|view| {
            press(view, "ctrl+r");
            view.paste(&"a very long name 日本語 ".repeat(20));
        },
        &|view| {
            view.paste("re:(");
        },
    ];
    for prepare in prepare {
        let mut view = of(some());
        prepare(&mut view);
        for columns in (1..=24).chain([31, 39, 40, 55, 56, 60, 83, 84, 100, 129, 130, 200, 300]) {
            for rows in [1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 14, 15, 24, 50, 100] {
                drawn(&mut view, columns, rows);
            }
        }
    }
    drawn(&mut view(), 1, 1);
}

#[test]
fn deep_threads_leave_room_for_what_is_said() {
    let mut sessions: Vec<SessionInfo> = (0..60).map(|n| info(&format!("s{n}"), "said here", n)).collect();
    for (n, session) in sessions.iter_mut().enumerate().skip(1) {
        session.parent_session = Some(format!("s{}", n - 1));
    }
    let mut view = of(sessions);
    press(&mut view, "end");
    let shown = drawn(&mut view, 60, 20);
    let selected = shown.iter().find(|line| line.starts_with('›')).unwrap();
    assert!(selected.contains("… ") && selected.contains("said here"), "{selected}");
}

fn keys() -> impl Strategy<Value = &'static str> {
    let keys = [
        "up",
        "down",
        "pageUp",
        "pageDown",
        "home",
        "end",
        "tab",
        "ctrl+s",
        "ctrl+n",
        "ctrl+p",
        "ctrl+r",
        "ctrl+d",
        "escape",
        "enter",
        "backspace",
        "ctrl+w",
        "left",
        "s",
        "l",
        "o",
        "w",
        "space",
        "ctrl+backspace",
    ];
    prop::sample::select(keys.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_selected_row_is_seen(
        keys in prop::collection::vec((keys(), 0u8..6), 1..40),
        columns in 20u16..150,
        rows in 4u16..40,
    ) {
        let mut view = of(some());
        for (number, (key, more)) in keys.into_iter().enumerate() {
            press(&mut view, key);
            match more {
                0 => view.add(SessionScope::Directory, [info(&format!("n{number}"), "slow", number as i64)]),
                1 => view.add(SessionScope::All, some()),
                2 => view.deleted(&path(if number % 2 == 0 { "copy" } else { "old" })),
                3 => {
                    if let Some(wanted) = view.texts_wanted() {
                        let found = said(&vec![true; wanted.query.terms().len()], "found");
                        view.texts_found(wanted.number, &wanted.files[0], Some(found));
                    }
                }
                _ => {}
            }
            let shown = drawn(&mut view, columns, rows);
            let is_any = view.selected().is_some();
            let marked = shown.iter().filter(|line| line.starts_with('›')).count();
            prop_assert_eq!(marked, usize::from(is_any), "{:#?}", shown);
        }
    }
}

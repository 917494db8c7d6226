//! What is seen, at three sizes.

use ramal_session::library::SessionState;
use ramal_tui::session_view::{SessionScope, Told};

use crate::notation::{DAY, draw, info, of, path, press, said, screen, some, type_in, view};

const SIZES: [(u16, u16); 3] = [(60, 20), (100, 40), (200, 60)];

#[track_caller]
fn check(name: &str, view: &mut ramal_tui::session_view::SessionView) {
    for (columns, rows) in SIZES {
        ramal_testing::screens::check(&format!("{name}-{columns}x{rows}"), &screen(view, columns, rows));
    }
}

#[test]
fn threads_of_a_directory() {
    check("threads", &mut of(some()));
}

#[test]
fn all_projects_with_paths() {
    let mut view = of(some());
    assert_eq!(press(&mut view, "tab"), Told::WantScope(SessionScope::All));
    let mut elsewhere = info("elsewhere", "Which port does it listen on?", 2 * DAY);
    elsewhere.cwd = "/home/me/work/a-project-of-some-other-kind".into();
    elsewhere.state = SessionState::Interrupted;
    let mut nowhere = info("nowhere", "Where am I?", 3 * DAY);
    nowhere.cwd = String::new();
    view.add(SessionScope::All, some().into_iter().chain([elsewhere, nowhere]));
    view.progress(SessionScope::All, 9, 1200);
    press(&mut view, "ctrl+s");
    check("all", &mut view);
    press(&mut view, "ctrl+p");
    check("all-paths", &mut view);
}

#[test]
fn a_search() {
    let mut view = of(some());
    type_in(&mut view, "slow cache");
    let wanted = view.texts_wanted().unwrap();
    let found = said(&[true, true], "…so the Cache\u{1b} is slow as it is read twice for each of the items");
    view.texts_found(wanted.number, &path("old"), Some(found));
    press(&mut view, "down");
    check("search", &mut view);
}

#[test]
fn questions_and_what_goes_wrong() {
    let mut view = of(some());
    press(&mut view, "down");
    press(&mut view, "ctrl+d");
    check("delete", &mut view);
    press(&mut view, "escape");
    press(&mut view, "ctrl+r");
    type_in(&mut view, "A better name");
    check("rename", &mut view);
    press(&mut view, "escape");
    type_in(&mut view, "re:(open");
    check("pattern", &mut view);
}

#[test]
fn nothing_there_says_why() {
    let mut nothing = view();
    for (what, want) in [(0, "Looking for sessions"), (1, "No sessions of this directory; Tab shows")] {
        if what == 1 {
            nothing.finished(SessionScope::Directory);
        }
        assert!(screen(&mut nothing, 100, 20).contains(want), "{}", screen(&mut nothing, 100, 20));
    }
    let mut unnamed = of([info("a", "a", 1), info("b", "b", 2)]);
    press(&mut unnamed, "ctrl+n");
    assert!(screen(&mut unnamed, 100, 20).contains("2 sessions without a name; Ctrl+N shows them"));
    let mut view = of(some());
    type_in(&mut view, "zzz");
    assert!(screen(&mut view, 100, 20).contains("Nothing has been found"));
    let wanted = view.texts_wanted().unwrap();
    assert!(screen(&mut view, 100, 20).contains("Nothing found yet"));
    for file in &wanted.files {
        view.texts_found(wanted.number, file, None);
    }
    assert!(screen(&mut view, 100, 20).contains("Nothing has been found"));
}

#[test]
fn the_cursor_stands_where_one_writes() {
    let mut view = of(some());
    type_in(&mut view, "日本");
    let cursor = draw(&mut view, 80, 24).cursor.unwrap();
    assert_eq!((usize::from(cursor.x), cursor.y), ("Search: ".len() + 4, 1));
}

#[test]
fn the_smallest_screen_shows_what_is_asked() {
    let mut view = of(some());
    press(&mut view, "down");
    press(&mut view, "delete");
    assert!(screen(&mut view, 40, 1).starts_with("Move to the trash?"));
}

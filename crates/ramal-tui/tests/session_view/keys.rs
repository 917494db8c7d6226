//! What each key does.

use ramal_tui::session_view::{SessionOrder, SessionScope, Told};

use crate::notation::{DAY, HOUR, draw, ids, info, of, path, press, screen, some, type_in, view};

#[test]
fn moving_stops_at_the_ends() {
    let sessions = (0..30).map(|n| info(&format!("s{n:02}"), "x", n));
    let mut view = of(sessions);
    draw(&mut view, 80, 24);
    let mut at = |key: &str| {
        press(&mut view, key);
        view.selected().map(|path| path.to_string_lossy().trim_end_matches(".jsonl").to_owned()).unwrap()
    };
    for (key, want) in [
        ("up", "s00"),
        ("down", "s01"),
        ("pageDown", "s14"),
        ("pageDown", "s27"),
        ("pageDown", "s29"),
        ("down", "s29"),
        ("pageUp", "s16"),
        ("home", "s00"),
        ("end", "s29"),
    ] {
        assert!(at(key).ends_with(want), "{key}: {} and not {want}", at(""));
    }
}

#[test]
fn the_orders() {
    let mut view = of(some());
    let threaded = ["open", "copy", "again", "second", "empty", "odd", "old"];
    assert_eq!((view.order(), ids(&mut view)), (SessionOrder::Threaded, threaded.map(String::from).to_vec()));
    for order in [SessionOrder::Recent, SessionOrder::Relevance, SessionOrder::Threaded] {
        assert_eq!(press(&mut view, "ctrl+s"), Told::Redraw);
        assert_eq!(view.order(), order);
    }
    // A thread is as recent as what was done last in it, wherever it was done.
    let mut fresh = info("fresh", "x", 10);
    fresh.parent_session = Some("old".into());
    view.add(SessionScope::Directory, [fresh]);
    assert_eq!(ids(&mut view)[..3], ["old", "fresh", "open"]);
    press(&mut view, "ctrl+s");
    assert_eq!(ids(&mut view)[..2], ["fresh", "open"]);
}

#[test]
fn only_named_ones_hang_on_the_nearest_of_them() {
    let mut sessions = some();
    for session in &mut sessions {
        session.name = (session.id != "copy").then(|| session.id.clone());
    }
    let mut view = of(sessions);
    press(&mut view, "ctrl+n");
    assert_eq!(ids(&mut view), ["open", "again", "second", "empty", "odd", "old"]);
    assert!(screen(&mut view, 80, 30).contains("├─ again"), "{}", screen(&mut view, 80, 30));
    press(&mut view, "ctrl+n");
    assert_eq!(ids(&mut view).len(), 7);
}

#[test]
fn circles_of_copies_are_drawn_and_end() {
    let mut a = info("a", "a", 1);
    let mut b = info("b", "b", 2);
    (a.parent_session, b.parent_session) = (Some("b".into()), Some("a".into()));
    let mut own = info("own", "own", 3);
    own.parent_session = Some("own".into());
    assert_eq!(ids(&mut of([a, b, own])).len(), 3);
}

#[test]
fn each_scope_is_asked_for_once() {
    let mut view = of(some());
    assert_eq!(press(&mut view, "tab"), Told::WantScope(SessionScope::All));
    assert_eq!(view.selected(), None);
    view.add(SessionScope::All, some());
    assert_eq!(press(&mut view, "tab"), Told::Search);
    assert_eq!(view.scope(), SessionScope::Directory);
    assert_eq!(press(&mut view, "tab"), Told::Search);
    assert_eq!(ids(&mut view).len(), 7);
}

#[test]
fn choosing_opens() {
    let mut view = of(some());
    assert_eq!(press(&mut view, "enter"), Told::AlreadyOpen);
    press(&mut view, "down");
    assert_eq!(press(&mut view, "enter"), Told::Open { path: path("copy"), found_at: None });
    assert_eq!(press(&mut crate::notation::view(), "enter"), Told::Nothing);
}

#[test]
fn deleting_is_asked_in_place_and_never_of_the_open_one() {
    for key in ["ctrl+d", "delete", "ctrl+backspace"] {
        let mut view = of(some());
        assert_eq!(press(&mut view, key), Told::Redraw);
        assert!(screen(&mut view, 80, 20).contains("This session is open"));
        assert_eq!(press(&mut view, "enter"), Told::AlreadyOpen, "nothing was asked");
        press(&mut view, "down");
        assert_eq!(press(&mut view, key), Told::Redraw);
        assert!(screen(&mut view, 80, 20).contains("Move to the trash? Why is the checkout slow"));
        assert_eq!(press(&mut view, "down"), Told::Nothing);
        assert_eq!(press(&mut view, "escape"), Told::Redraw);
        press(&mut view, key);
        assert_eq!(press(&mut view, "enter"), Told::Delete(path("copy")));
        draw(&mut view, 80, 20);
        view.deleted(&path("copy"));
        // Its copy becomes a thread of its own, and one stays in the row where one was.
        let rows = ["open", "second", "again", "empty", "odd", "old"];
        assert_eq!(view.selected(), Some(&*path(rows[1])));
        assert_eq!(ids(&mut view), rows);
    }
}

#[test]
fn while_one_searches_ctrl_backspace_is_for_words() {
    let mut view = of(some());
    type_in(&mut view, "shop version");
    assert_eq!(press(&mut view, "ctrl+backspace"), Told::Search);
    assert!(screen(&mut view, 80, 20).contains("Search: shop\n"));
    assert_eq!(press(&mut view, "ctrl+d"), Told::Redraw);
    assert!(screen(&mut view, 80, 20).contains("Move to the trash?"));
}

#[test]
fn renaming_in_place() {
    let mut view = of(some());
    press(&mut view, "ctrl+r");
    assert!(screen(&mut view, 80, 20).contains("Name: Slow checkout"));
    press(&mut view, "ctrl+u");
    type_in(&mut view, "Fast");
    view.paste(" and\n\u{1b}[31mred");
    // What is a command elsewhere does nothing here.
    press(&mut view, "tab");
    let told = press(&mut view, "enter");
    assert_eq!(told, Told::Rename { path: path("open"), name: "Fast and ␛[31mred".into() });
    view.renamed(&path("open"), Some("Fast"));
    assert!(screen(&mut view, 80, 20).contains("• Fast"));
    press(&mut view, "ctrl+r");
    press(&mut view, "ctrl+u");
    assert_eq!(press(&mut view, "enter"), Told::Rename { path: path("open"), name: String::new() });
    press(&mut view, "ctrl+r");
    assert_eq!(press(&mut view, "escape"), Told::Redraw);
    assert_eq!(press(&mut view, "escape"), Told::Close);
}

#[test]
fn escape_clears_the_search_first() {
    for key in ["escape", "ctrl+c"] {
        let mut view = of(some());
        type_in(&mut view, "old");
        assert_eq!(press(&mut view, key), Told::Search);
        assert_eq!(ids(&mut view).len(), 7);
        assert_eq!(press(&mut view, key), Told::Close);
    }
}

#[test]
fn what_is_said_below_goes_with_the_next_key() {
    let mut view = of(some());
    view.notice("It could not be renamed");
    assert!(screen(&mut view, 80, 20).contains("It could not be renamed"));
    assert_eq!(press(&mut view, "up"), Told::Redraw);
    assert!(!screen(&mut view, 80, 20).contains("It could not be renamed"));
    assert_eq!(press(&mut view, "ctrl+z"), Told::Suspend);
}

#[test]
fn rows_that_arrive_leave_the_selection_where_it_is() {
    let mut view = view();
    view.progress(SessionScope::Directory, 0, 400);
    view.add(SessionScope::Directory, [info("b", "b", 2 * HOUR), info("c", "c", 3 * HOUR)]);
    view.progress(SessionScope::Directory, 2, 400);
    assert!(screen(&mut view, 80, 24).contains("reading 2/400  1/2"));
    // Nobody has moved: what comes above is the first row now.
    view.add(SessionScope::Directory, [info("a", "a", HOUR)]);
    assert!(screen(&mut view, 80, 24).contains("› a"));
    press(&mut view, "down");
    assert_eq!(view.selected(), Some(&*path("b")));
    view.add(SessionScope::Directory, (0..50).map(|n| info(&format!("n{n}"), "n", n)));
    assert_eq!(view.selected(), Some(&*path("b")));
    assert!(screen(&mut view, 80, 24).contains("› b"));
    // What was seen as selected is what is opened, even if something has come above it since.
    let mut other = of([info("b", "b", 2 * HOUR)]);
    draw(&mut other, 80, 24);
    other.add(SessionScope::Directory, [info("a", "a", HOUR)]);
    assert_eq!(press(&mut other, "enter"), Told::Open { path: path("b"), found_at: None });
    view.finished(SessionScope::Directory);
    assert!(!screen(&mut view, 80, 24).contains("reading"));
    // The same session, found again.
    view.add(SessionScope::Directory, [info("b", "changed", DAY)]);
    assert_eq!(view.selected(), Some(&*path("b")));
    assert_eq!(ids(&mut view).len(), 53);
}

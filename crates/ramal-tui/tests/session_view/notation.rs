//! Sessions for tests, and views of them.

use std::path::PathBuf;
use std::sync::LazyLock;

use crossterm::event::{KeyCode, KeyModifiers};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ramal_session::library::{LastMessage, SessionInfo, SessionState, TextMatch};
use ramal_session::{Role, SessionManager};
use ramal_tui::keys::{Key, Keymap};
use ramal_tui::scene::{Scene, View};
use ramal_tui::session_view::{Around, SessionScope, SessionView, Told};
use ramal_tui::theme::Theme;

/// The time of all drawings, in seconds since 1970.
pub(crate) const NOW: i64 = 1_800_000_000;
pub(crate) const HOUR: i64 = 3600;
pub(crate) const DAY: i64 = 24 * HOUR;

/// Only a listing makes such a value: this is the one that others are made of.
static BLANK: LazyLock<SessionInfo> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let mut session =
        SessionManager::open_in(&folder.path().join("blank.jsonl"), None, "/w".as_ref()).unwrap();
    session.append_message(r#"{"role":"user","content":"blank"}"#).unwrap();
    session.append_message(r#"{"role":"assistant","content":"blank"}"#).unwrap();
    SessionInfo::read(session.get_session_file().unwrap()).unwrap()
});

/// A session of `/home/me/work/shop` that said so first, so many seconds ago.
pub(crate) fn info(id: &str, first: &str, seconds: i64) -> SessionInfo {
    let mut info = BLANK.clone();
    info.id = id.into();
    info.path = path(id);
    info.cwd = "/home/me/work/shop".into();
    info.first_message = Some(first.into()).filter(|text: &String| !text.is_empty());
    info.last_message = Some(LastMessage { role: Role::Assistant, text: format!("That was about: {first}") });
    info.state = SessionState::Complete;
    info.modified = (NOW - seconds) * 1000;
    (info.messages, info.branches, info.size) = (12, 1, 34_567);
    info
}

pub(crate) fn path(id: &str) -> PathBuf {
    format!("/home/me/.local/share/ramal/sessions/--home-me-work-shop--/2027_{id}.jsonl").into()
}

pub(crate) fn view() -> SessionView {
    SessionView::new(Around {
        cwd: "/home/me/work/shop".into(),
        home: Some("/home/me".into()),
        open: Some(path("open")),
    })
}

/// A view of these sessions, all of which have been read.
pub(crate) fn of(sessions: impl IntoIterator<Item = SessionInfo>) -> SessionView {
    let mut view = view();
    view.add(SessionScope::Directory, sessions);
    view.finished(SessionScope::Directory);
    view
}

/// Sessions with all that a row can show.
pub(crate) fn some() -> Vec<SessionInfo> {
    let mut open = info("open", "Why is the checkout slow on Mondays?", 40);
    open.name = Some("Slow checkout".into());
    (open.messages, open.branches) = (1234, 17);
    let mut copy = info("copy", "Why is the checkout slow on Mondays?", 3 * HOUR);
    copy.parent_session = Some("open".into());
    copy.state = SessionState::Interrupted;
    let mut again = info("again", "Try it with a larger cache", 5 * HOUR);
    again.parent_session = Some("copy".into());
    again.state = SessionState::Error;
    let mut second = info("second", "What about the index?", 2 * DAY);
    second.parent_session = Some("open".into());
    second.state = SessionState::Aborted;
    let mut empty = info("empty", "", 8 * DAY);
    (empty.state, empty.messages, empty.last_message) = (SessionState::Empty, 0, None);
    let mut odd = info("odd", "日本語のテスト 👩‍👩‍👧 \u{1b}[31mred \u{202e}שלום", 40 * DAY);
    odd.damaged_lines = 3;
    let old = info("old", "Write the first version of the shop", 400 * DAY);
    vec![old, odd, empty, second, again, copy, open]
}

pub(crate) fn draw(view: &mut SessionView, columns: u16, rows: u16) -> View {
    let (theme, keymap, zone) = (Theme::plain(), Keymap::default(), TimeZone::UTC);
    let now = Timestamp::from_second(NOW).unwrap();
    view.draw(&Scene { columns, rows, theme: &theme, keymap: &keymap, now, zone: &zone })
}

/// What is seen, a line each, without blanks at their ends.
pub(crate) fn screen(view: &mut SessionView, columns: u16, rows: u16) -> String {
    let lines = draw(view, columns, rows).lines;
    lines.iter().map(|line| line.to_string().trim_end().to_owned() + "\n").collect()
}

pub(crate) fn press(view: &mut SessionView, key: &str) -> Told {
    view.key(&Keymap::default(), key.parse().unwrap())
}

pub(crate) fn type_in(view: &mut SessionView, text: &str) {
    for letter in text.chars() {
        let key = match letter {
            ' ' => "space".parse().unwrap(),
            letter => Key::new(KeyCode::Char(letter), KeyModifiers::NONE),
        };
        assert_ne!(view.key(&Keymap::default(), key), Told::Nothing);
    }
}

/// The ids of the rows from top to bottom.
pub(crate) fn ids(view: &mut SessionView) -> Vec<String> {
    press(view, "home");
    let mut ids: Vec<String> = Vec::new();
    loop {
        let Some(path) = view.selected() else { return ids };
        let stem = path.file_stem().unwrap().to_str().unwrap();
        ids.push(stem.trim_start_matches("2027_").to_owned());
        if press(view, "down") == Told::Nothing {
            return ids;
        }
    }
}

pub(crate) fn said(terms: &[bool], excerpt: &str) -> TextMatch {
    let mut session = SessionManager::in_memory("/w");
    let entry = session.append_message(r#"{"role":"user","content":"x"}"#).unwrap();
    TextMatch { terms: terms.to_vec(), entry, role: Role::Assistant, excerpt: excerpt.into() }
}

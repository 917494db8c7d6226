//! What is seen and kept while a session is waited for.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use ramal_session::EntryId;
use ratatui::text::Line;

use super::tail::Tail;
use super::waiting::Waiting;
use crate::app::{Leaving, Look};
use crate::keys::Keymap;
use crate::markdown::SyntectHighlighter;
use crate::terminal::Input;
use crate::testing::{key, letters, sizes};
use crate::theme::{ColorDepth, Theme};
use crate::transcript::Rendered;

fn waiting(columns: u16, rows: u16) -> Waiting {
    let look = Look {
        theme: Theme::plain(),
        depth: ColorDepth::None,
        keymap: Keymap::default(),
        zone: TimeZone::UTC,
        highlighter: Arc::new(SyntectHighlighter::default()),
        rendered: Rendered::default(),
    };
    Waiting::new(look, (columns, rows), true, false, Path::new("/w/project"), Some(Path::new("/w")))
}

fn press(waiting: &mut Waiting, name: &str) -> Option<Leaving> {
    waiting.take(&Input::Key(key(name)))
}

fn write(waiting: &mut Waiting, text: &str) {
    for key in letters(text) {
        assert_eq!(waiting.take(&Input::Key(key)), None);
    }
}

/// The next frame, as bytes.
fn frame(waiting: &mut Waiting) -> String {
    waiting.frame(Duration::ZERO).0
}

fn tail() -> Tail {
    Tail { lines: vec![Line::from("the last that was said")], leaf: Some(EntryId::from("0000000a")) }
}

#[test]
fn what_is_typed_is_seen_at_once() {
    let mut waiting = waiting(60, 12);
    let first = frame(&mut waiting);
    assert!(first.contains("~/project") && first.contains("opening the session"), "{first:?}");
    write(&mut waiting, "hello");
    waiting.take(&Input::Paste(" there".to_owned()));
    assert!(frame(&mut waiting).contains("hello there"));
    press(&mut waiting, "backspace");
    assert!(frame(&mut waiting).contains("hello ther\x1b"), "the last letter is gone");
    // What is said is on its way, and the next can be written.
    press(&mut waiting, "enter");
    assert!(!frame(&mut waiting).contains("hello"));
    write(&mut waiting, "more");
    assert!(frame(&mut waiting).contains("more"));
}

#[test]
fn one_can_leave() {
    for name in ["ctrl+d", "ctrl+c"] {
        assert_eq!(press(&mut waiting(60, 12), name), Some(Leaving::Wanted), "{name}");
    }
    let mut typed = waiting(60, 12);
    write(&mut typed, "x");
    assert_eq!(press(&mut typed, "ctrl+d"), None);
    assert_eq!(press(&mut typed, "ctrl+c"), None);
    assert_eq!(press(&mut typed, "ctrl+c"), Some(Leaving::Wanted));
    let mut waiting = waiting(60, 12);
    assert_eq!(waiting.take(&Input::Quit(15)), Some(Leaving::Signal(15)));
    assert_eq!(waiting.take(&Input::Closed), Some(Leaving::Closed));
}

#[test]
fn behind_a_key_whose_work_waits_nothing_is_shown_as_typed() {
    for keys in [&["alt+t"][..], &["/", "t", "r", "e", "e", "enter"]] {
        let mut waiting = waiting(60, 12);
        keys.iter().for_each(|key| assert_eq!(press(&mut waiting, key), None));
        write(&mut waiting, "q");
        let frame = frame(&mut waiting);
        assert!(frame.contains("what is pressed is done then"), "{frame:?}");
        assert!(!frame.contains('q'), "{frame:?}");
        assert_eq!(press(&mut waiting, "ctrl+c"), Some(Leaving::Wanted));
    }
}

#[test]
fn the_end_of_the_log_is_printed_once() {
    let mut waiting = waiting(60, 12);
    frame(&mut waiting);
    waiting.print_tail(tail());
    assert!(frame(&mut waiting).contains("the last that was said"));
    assert!(!frame(&mut waiting).contains("the last that was said"));
    // A window of another size gets it anew.
    waiting.take(&Input::Resize(40, 10));
    assert!(frame(&mut waiting).contains("the last that was said"));
    let (_, size, seen) = waiting.into_parts();
    assert_eq!(size, (40, 10));
    assert_eq!(seen.leaf, Some(Some(EntryId::from("0000000a"))));
}

#[test]
fn it_fits_every_screen() {
    for (columns, rows) in sizes() {
        let mut waiting = waiting(columns, rows);
        write(&mut waiting, "wide enough for no small screen");
        frame(&mut waiting);
        waiting.print_tail(tail());
        waiting.take(&Input::Resize(rows, columns));
        frame(&mut waiting);
    }
}

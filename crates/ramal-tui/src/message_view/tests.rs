//! Which messages there are to choose from, and what is seen of them.

use jiff::tz::TimeZone;
use ramal_session::json::quote;

use super::*;
use crate::testing::{key, letters, now, sizes, text, view};

fn said(session: &mut SessionManager, role: &str, text: &str) -> EntryId {
    session.append_message(&format!(r#"{{"role":"{role}","content":{}}}"#, quote(text))).unwrap()
}

/// Two ways to go on after the first message, one of them with a label.
fn session() -> SessionManager {
    let mut session = SessionManager::in_memory("/w");
    let first = said(&mut session, "user", "The date parser drops the time zone.\nFind out why.");
    said(&mut session, "assistant", "I look at it.");
    said(&mut session, "user", "Keep it in the struct.\u{1b}[31m");
    session.append_label_change(&first, Some("start")).unwrap();
    session.branch(&first).unwrap();
    said(&mut session, "user", "  ");
    said(&mut session, "user", "Normalise to UTC instead.");
    session
}

fn shown() -> MessageView {
    let mut view = MessageView::new("Branch off before a message");
    let mut rows = rows(&session()).unwrap();
    for (row, id) in rows.iter_mut().zip(["a1", "b2", "c3"]) {
        row.time = Some(now());
        row.id = EntryId::from(id);
    }
    view.set_rows(rows, now(), &TimeZone::UTC);
    view
}

#[test]
fn every_message_with_a_text_is_there() {
    let rows = rows(&session()).unwrap();
    let seen: Vec<_> = rows
        .iter()
        .map(|row| (&*row.text, row.is_on_path, row.label.as_deref(), row.time.is_some()))
        .collect();
    assert_eq!(
        seen,
        [
            ("The date parser drops the time zone.\nFind out why.", true, Some("start"), true),
            ("Keep it in the struct.\u{1b}[31m", false, None, true),
            ("Normalise to UTC instead.", true, None, true),
        ]
    );
}

#[test]
fn they_can_be_read_a_piece_at_a_time() {
    let session = session();
    let (mut reader, mut pieces) = (Reader::new(&session), 1);
    while !reader.read_more(&session, 1).unwrap() {
        pieces += 1;
    }
    assert_eq!(pieces, 4);
    assert_eq!(reader.into_rows(), rows(&session).unwrap());
    // Of another session it is another list.
    let mut reader = Reader::new(&session);
    let mut other = SessionManager::in_memory("/w");
    said(&mut other, "user", "elsewhere");
    assert!(reader.read_more(&other, u64::MAX).unwrap());
    assert_eq!(reader.into_rows().len(), 1);
}

#[test]
fn the_last_is_selected_and_enter_chooses() {
    let mut view = shown();
    let keymap = Keymap::default();
    for (name, want) in [
        ("enter", Told::Choose(Origin::Before("c3".into()))),
        ("down", Told::Redraw),
        ("enter", Told::Choose(Origin::Before("a1".into()))),
        ("up", Told::Redraw),
        ("up", Told::Redraw),
        ("enter", Told::Choose(Origin::Before("b2".into()))),
        ("escape", Told::Close),
    ] {
        assert_eq!(view.key(&keymap, key(name)), want, "{name}");
    }
    assert_eq!(view.selected().map(|row| &*row.text), Some("Keep it in the struct.\u{1b}[31m"));
    letters("zone").for_each(|letter| assert_eq!(view.key(&keymap, letter), Told::Redraw));
    assert_eq!(view.selected().map(|row| row.id.as_str()), Some("a1"));
}

#[test]
fn everything_up_to_here_comes_last_and_is_not_what_enter_means_at_first() {
    let mut messages = MessageView::new("Branch off before a message").offering_all();
    messages.set_rows(rows(&session()).unwrap(), now(), &TimeZone::UTC);
    let keymap = Keymap::default();
    assert_eq!(messages.selected().map(|row| &*row.text), Some("Normalise to UTC instead."));
    messages.key(&keymap, key("down"));
    assert_eq!(messages.selected(), None);
    let seen = text(&view(100, 40, |scene| messages.draw(scene)).lines);
    assert!(seen.contains("›   Everything up to here") && seen.contains("Enter go on in a copy"), "{seen}");
    assert_eq!(messages.key(&keymap, key("enter")), Told::Choose(Origin::Here));
    // Of a session in which nothing was said there is nothing to copy.
    let mut empty = MessageView::new("Branch off before a message").offering_all();
    empty.set_rows(Vec::new(), now(), &TimeZone::UTC);
    assert_eq!(empty.key(&keymap, key("enter")), Told::Nothing);
}

#[test]
fn messages_are_drawn() {
    let mut messages = shown();
    messages.key(&Keymap::default(), key("up"));
    messages.key(&Keymap::default(), key("up"));
    let seen = view(60, 20, |scene| messages.draw(scene));
    assert_eq!(
        text(&seen.lines),
        "\
Branch off before a message                              1/3
Type to search
› • [start] The date parser drops the time zone. Fin…  12:00
    Keep it in the struct.␛[31m                        12:00
  • Normalise to UTC instead.                          12:00









────────────────────────────────────────────────────────────
on the active path · 12:00 · [start] · a1
The date parser drops the time zone.
Find out why.

Enter branch off before it · Esc back · Alt+V preview"
    );
    let seen = text(&view(100, 40, |scene| messages.draw(scene)).lines);
    assert!(seen.contains("› • [start] The date parser drops the time zone. Find out why."), "{seen}");
    let mut late = MessageView::new("Branch off before a message");
    assert!(text(&view(60, 20, |scene| late.draw(scene)).lines).contains("\n  reading"));
    late.set_rows(Vec::new(), now(), &TimeZone::UTC);
    assert!(text(&view(60, 20, |scene| late.draw(scene)).lines).contains("\n  Nothing has been said"));
    for (columns, rows) in sizes() {
        view(columns, rows, |scene| shown().draw(scene));
    }
}

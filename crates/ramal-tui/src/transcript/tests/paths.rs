//! Paths to any entry, marks that change, branches beside each other, and searching.

use super::*;

#[test]
fn the_path_to_any_entry_can_be_seen() {
    let mut session = forked();
    let at = |session: &SessionManager, says: &str| {
        let is_it = |entry: &ramal_session::EntryRef<'_>| entry.read().unwrap().text() == says;
        session.get_entries().find(is_it).unwrap().position()
    };
    let shown =
        |transcript: &Transcript| drawn(&lines(transcript.blocks(), 40, &Theme::dark(), &Options::at(now())));
    let first = at(&session, "First.");
    let mut transcript = Transcript::at(&session, first);
    assert_eq!((transcript.end(), transcript.is_active()), (Some(first), false));
    transcript.read_more(&session, usize::MAX).unwrap();
    same(&shown(&transcript), "\n❯ Why?\n\nFirst. ‹1/3›\n");
    assert_eq!(transcript.entries_read(), 2);
    // What is appended elsewhere is none of it, what hangs on its end is.
    session.append_message(&user("elsewhere")).unwrap();
    assert_eq!(transcript.follow(&session).unwrap(), Followed::On(0));
    let id = session.get_entry_at(first).unwrap().id().unwrap();
    session.branch(&id).unwrap();
    session.append_custom_entry("bookkeeping", None).unwrap();
    session.append_message(&user("below")).unwrap();
    session.append_message(&answer(&text("at the end"), "stop")).unwrap();
    assert_eq!(transcript.follow(&session).unwrap(), Followed::On(2));
    same(&shown(&transcript), "\n❯ Why?\n\nFirst. ‹1/3›\n\n❯ below\n\nat the end\n");
    assert!(Transcript::at(&session, at(&session, "at the end")).is_active());
    assert!(Transcript::at(&session, usize::MAX).is_whole());
}

#[test]
fn marks_of_results_and_of_what_is_hidden_are_looked_at_again() {
    let mut session = forked();
    let result = session.get_entries().find(|entry| entry.role() == ramal_session::Role::ToolResult);
    let result = result.unwrap().id().unwrap();
    let question = session.get_entry_at(0).unwrap().id().unwrap();
    let leaf = session.get_leaf_id().unwrap().unwrap();
    session.branch(&question).unwrap();
    session.append_custom_entry("bookkeeping", None).unwrap();
    let fourth = session.append_message(&answer(&text("Fourth."), "stop")).unwrap();
    let mut transcript = whole(&session);
    session.branch(&question).unwrap();
    session.append_message(&answer(&text("Fifth."), "stop")).unwrap();
    session.branch(&fourth).unwrap();
    transcript.refresh_marks(&session);
    assert_eq!(transcript.get(1).unwrap().siblings(), Some(Forks { index: 4, count: 5 }));
    session.branch(&leaf).unwrap();
    let mut transcript = whole(&session);
    session.append_label_change(&result, Some("read")).unwrap();
    session.branch(&leaf).unwrap();
    transcript.refresh_marks(&session);
    assert!(transcript.blocks().eq(whole(&session).blocks()));
    assert_eq!(transcript.blocks().last().unwrap().label(), Some("read"));
}

#[test]
fn from_a_branch_to_the_one_beside_it() {
    use crate::tree_selector::Direction::{Back, Forward};
    let session = forked();
    let named = |says: &str| {
        let is_it = |entry: &ramal_session::EntryRef<'_>| entry.read().unwrap().text() == says;
        session.get_entries().find(is_it).unwrap()
    };
    let leaf = session.get_leaf_entry().unwrap().position();
    let to = |position, direction| {
        let id = sibling(&session, position, direction)?;
        Some(session.get_entry(&id)?.read().unwrap().text())
    };
    // From the leaf of the second answer's branch to the ends of the others, and back to where it ended.
    assert_eq!(to(leaf, Back).as_deref(), Some("First."));
    assert_eq!(to(leaf, Forward).as_deref(), Some("Third."));
    assert_eq!(to(named("First.").position(), Forward).as_deref(), Some("x"));
    assert_eq!(to(named("First.").position(), Back), None);
    assert_eq!(to(named("Third.").position(), Forward), None);
    assert_eq!(to(named("Why?").position(), Forward), None);
    assert_eq!(to(usize::MAX, Back), None);
}

#[test]
fn blocks_are_searched_whatever_the_form() {
    let session = everything();
    let transcript = whole(&session);
    let found = |says: &str| {
        let phrase = Phrase::new(says).unwrap();
        transcript.blocks().filter(|block| block.says(&phrase)).count()
    };
    assert_eq!(Phrase::new(" *\n"), None);
    for (says, want) in [
        ("the PARSER", 1),
        ("zone. find", 1),
        ("look at date.rs first", 1),
        ("mismatched  types", 1),
        ("keep()", 1),
        ("image/png", 1),
        ("fix the zone", 1),
        ("git status", 1),
        ("looks good", 1),
        ("overloaded", 1),
        ("unseen", 0),
    ] {
        assert_eq!(found(says), want, "{says}");
    }
}

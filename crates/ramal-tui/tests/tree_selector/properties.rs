//! What holds after whatever is done: by properties over random trees and random commands.

use proptest::prelude::*;
use ramal_session::{EntryRef, Filter, SessionManager};
use ramal_tui::tree_selector::{Command, Direction, Landmark, Selector};

use crate::notation::{Session, draw, draw_ids, press, rows, selector};

/// Random trees, and where one stands in them.
fn any_tree() -> impl Strategy<Value = (String, usize)> {
    let kinds = [
        "user x",
        "answer y",
        "calls z",
        "tool t",
        "failed f",
        "custom",
        "aborted",
        "compaction s",
        "label e0 l",
    ];
    let entry = (0usize..1000, 0..kinds.len());
    (prop::collection::vec(entry, 1..30), 0usize..1000).prop_map(move |(entries, leaf)| {
        let leaf = leaf % entries.len();
        let mut notation = String::new();
        for (n, (parent, kind)) in entries.into_iter().enumerate() {
            // Half of the entries follow the one above, so that there are chains.
            let parent = if parent % 2 == 0 { n.saturating_sub(1) } else { parent % (n + 1) };
            let parent = if parent == n { "-".into() } else { format!("e{parent}") };
            notation += &format!("e{n} {parent} {}\n", kinds[kind]);
        }
        (notation, leaf)
    })
}

/// Something that is done, by the user or by somebody else.
#[derive(Debug, Clone)]
enum Step {
    Do(Command),
    Append(usize),
    AppendCalls,
    Label(usize),
    Move(usize),
    Work(u64),
}

fn any_filter() -> impl Strategy<Value = Filter> {
    prop::sample::select(Filter::ALL.to_vec())
}

fn any_command() -> impl Strategy<Value = Command> {
    let direction = || prop::sample::select(vec![Direction::Back, Direction::Forward]);
    let landmark = prop::sample::select(vec![Landmark::Label, Landmark::Fork, Landmark::Turn]);
    prop_oneof![
        2 => Just(Command::Up),
        2 => Just(Command::Down),
        1 => (0usize..8).prop_map(Command::PageUp),
        1 => (0usize..8).prop_map(Command::PageDown),
        1 => Just(Command::Home),
        1 => Just(Command::End),
        2 => (direction(), landmark).prop_map(|(direction, landmark)| Command::Jump(direction, landmark)),
        2 => (0usize..30).prop_map(Command::Select),
        3 => Just(Command::FoldOrUp),
        2 => Just(Command::UnfoldOrDown),
        2 => Just(Command::ToggleFold),
        1 => Just(Command::UnfoldAll),
        3 => any_filter().prop_map(Command::SetFilter),
        2 => prop::sample::select(vec!["", "x", "y", "user", "x user"]).prop_map(|words| Command::Search(words.into())),
        1 => Just(Command::Escape),
    ]
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => any_command().prop_map(Step::Do),
        2 => (0usize..3).prop_map(Step::Append),
        1 => Just(Step::AppendCalls),
        1 => (0usize..1000).prop_map(Step::Label),
        1 => (0usize..1000).prop_map(Step::Move),
        2 => (1u64..400).prop_map(Step::Work),
    ]
}

fn take(step: Step, selector: &mut Selector, session: &mut Session) {
    let id = |session: &SessionManager, number: usize| {
        session.get_entry_at(number % session.entry_count()).unwrap().id().unwrap()
    };
    match step {
        Step::Do(command) => {
            selector.handle(&session.manager, command);
        }
        Step::Append(count) => (0..count).for_each(|_| {
            session.user("x");
        }),
        Step::AppendCalls => {
            session.calls("z");
        }
        Step::Label(number) => {
            let id = id(&session.manager, number);
            session.manager.append_label_change(&id, Some("l")).unwrap();
        }
        Step::Move(number) => {
            let id = id(&session.manager, number);
            session.manager.branch(&id).unwrap();
        }
        Step::Work(bytes) => {
            selector.work(&session.manager, bytes);
        }
    }
}

/// What must hold of what is drawn.
fn check_rows(selector: &mut Selector, session: &SessionManager) -> Result<(), TestCaseError> {
    let rows = rows(selector, session);
    let shown: Vec<usize> = rows.iter().map(|row| row.place.position()).collect();
    prop_assert_eq!(rows.iter().filter(|row| row.is_selected).count(), usize::from(!rows.is_empty()));
    prop_assert_eq!(selector.selected_row(), rows.iter().position(|row| row.is_selected));
    prop_assert_eq!(
        selector.selected(),
        rows.iter().find(|row| row.is_selected).map(|row| row.place.position())
    );
    let leaves = rows.iter().filter(|row| row.place.is_leaf() || row.place.folds_leaf()).count();
    prop_assert_eq!(leaves, 1, "the mark of where one stands");
    // Depths and connectors are those of hanging under the nearest visible entry above.
    let above = |entry: EntryRef<'_>| {
        let ancestors = std::iter::successors(entry.parent(), |entry| entry.parent());
        let mut ancestors = ancestors.map(|entry| entry.position());
        ancestors.find(|position| shown.contains(position))
    };
    let parents: Vec<_> =
        shown.iter().map(|&position| above(session.get_entry_at(position).unwrap())).collect();
    for (at, row) in rows.iter().enumerate() {
        let siblings: Vec<usize> = (0..rows.len()).filter(|&other| parents[other] == parents[at]).collect();
        prop_assert_eq!(row.place.starts_branch(), siblings.len() > 1);
        let parent = parents[at].and_then(|parent| shown.iter().position(|&position| position == parent));
        let depth = parent.map_or(0, |parent| rows[parent].place.depth()) + usize::from(siblings.len() > 1);
        prop_assert_eq!(row.place.depth(), depth);
        prop_assert_eq!(row.guides.len(), depth);
        prop_assert!(parent.is_none_or(|parent| parent < at));
        // Depth first: nothing that hangs elsewhere stands between an entry and what hangs on it.
        if let Some(parent) = parent {
            let mut between =
                (parent + 1..at).map(|row| parents[row].and_then(|p| shown.iter().position(|&s| s == p)));
            prop_assert!(between.all(|up| up.is_some_and(|up| up >= parent)));
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn whatever_is_done_the_rows_are_right(
        (notation, leaf) in any_tree(),
        filter in any_filter(),
        steps in prop::collection::vec(any_step(), 0..25),
    ) {
        let mut session = Session::new(&notation, Some(&format!("e{leaf}")));
        let mut selector = Selector::new(&session.manager, filter);
        for step in steps {
            take(step, &mut selector, &mut session);
            check_rows(&mut selector, &session.manager)?;
        }
    }

    /// After whatever was appended, labelled and moved in the meantime, there is what a selector shows that
    /// is opened now.
    #[test]
    fn kept_up_to_date_is_made_anew(
        (notation, leaf) in any_tree(),
        filter in any_filter(),
        steps in prop::collection::vec(any_step(), 0..25),
        words in prop::sample::select(vec!["", "x", "y user"]),
    ) {
        let mut session = Session::new(&notation, Some(&format!("e{leaf}")));
        let mut kept = Selector::new(&session.manager, Filter::Default);
        for step in steps {
            take(step, &mut kept, &mut session);
        }
        // Where one only labelled, one stands where one stood; said once more, they agree.
        session.user("x");
        let setting = [Command::UnfoldAll, Command::SetFilter(filter), Command::Search(words.into()), Command::Home];
        press(&mut kept, &session, setting.clone());
        let mut anew = selector(&session, Filter::Default);
        press(&mut anew, &session, setting);
        prop_assert_eq!(draw(&mut kept, &session), draw(&mut anew, &session));
    }

    #[test]
    fn what_is_folded_and_unfolded_is_as_before(
        (notation, leaf) in any_tree(),
        filter in any_filter(),
        row in 0usize..30,
        others in prop::collection::vec(any_command(), 0..6),
    ) {
        let session = Session::new(&notation, Some(&format!("e{leaf}")));
        let mut selector = selector(&session, filter);
        press(&mut selector, &session, others);
        press(&mut selector, &session, [Command::Search(String::new()), Command::SetFilter(filter), Command::Select(row)]);
        let place = rows(&mut selector, &session.manager).into_iter().find(|row| row.is_selected).unwrap().place;
        let before = draw(&mut selector, &session);
        press(&mut selector, &session, [Command::ToggleFold]);
        let changed = draw(&mut selector, &session) != before;
        prop_assert_eq!(changed, place.is_foldable() || place.is_folded());
        // What was folded under another filter, and begins no branch under this one, can only be unfolded.
        prop_assume!(place.is_foldable() || !place.is_folded());
        let position = selector.selected().unwrap();
        press(&mut selector, &session, Filter::ALL.map(Command::SetFilter));
        press(&mut selector, &session, [Command::SetFilter(filter)]);
        let row = rows(&mut selector, &session.manager).iter().position(|row| row.place.position() == position);
        press(&mut selector, &session, [Command::Select(row.unwrap()), Command::ToggleFold]);
        prop_assert_eq!(draw(&mut selector, &session), before);
    }

    /// After each change of filter the selected entry is the old one, or its nearest visible ancestor.
    #[test]
    fn a_selection_survives_filters(
        (notation, leaf) in any_tree(),
        row in 0usize..30,
        filters in prop::collection::vec(any_filter(), 1..8),
    ) {
        let session = Session::new(&notation, Some(&format!("e{leaf}")));
        let mut selector = selector(&session, Filter::All);
        press(&mut selector, &session, [Command::Select(row)]);
        for filter in filters {
            let before = selector.selected().unwrap();
            press(&mut selector, &session, [Command::SetFilter(filter)]);
            let shown: Vec<usize> = rows(&mut selector, &session.manager).iter().map(|row| row.place.position()).collect();
            let up = std::iter::successors(session.manager.get_entry_at(before), |entry| entry.parent()).map(|entry| entry.position());
            let nearest = up.into_iter().find(|position| shown.contains(position));
            prop_assert_eq!(selector.selected(), Some(nearest.unwrap_or(leaf)), "{}", draw_ids(&mut selector, &session));
        }
    }
}

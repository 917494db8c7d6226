//! What searches find, how they go on, and what they mark.

use proptest::prelude::*;
use ramal_session::{Filter, Search};
use ramal_tui::tree_selector::{Command, Selector};

use crate::notation::{Session, check, finish, press, rows, said_by, selector};

const FORKED: &str = "
    q1 - user Find the slow part
    a1 . calls src/cache.rs
    t1 . tool fn get
    b1 . answer The Cache, and a long way behind it, where no row reaches any more, a needle
    q2 b1 user Make it larger
    l2 . label b1 cause
    q3 b1 user Remove it
    k3 . compaction what was said
";

fn words(words: &str) -> Command {
    Command::Search(words.into())
}

#[test]
fn all_words_must_occur_in_what_is_said_called_or_labelled() {
    check(FORKED, "q2", [words("CACHE")], &["  ⊟•t1", "› •[cause] b1", "  •q2 ◀"]);
    check(FORKED, "q2", [words("cause needle")], &["› ⊟•[cause] b1", "  •q2 ◀"]);
    check(FORKED, "q2", [words("said compaction")], &["  ├ •q2 (1) ◀", "› └ k3 (0)"]);
    // Where one stands is always seen, and selected as long as one does not find anything or wants to be there.
    check(FORKED, "q2", [words("cause needle"), Command::Down], &["  ⊟•[cause] b1", "› •q2 ◀"]);
    check(FORKED, "q2", [words("it user")], &["› ├ •q2 (1) ◀", "  └ q3 (1)"]);
    check(FORKED, "q3", [words("nothing like it")], &["› •q3 ◀"]);
    // Letter by letter, and one taken back.
    let typed =
        "lab x".chars().map(Command::Type).chain([Command::Erase, Command::Erase, Command::Type('e')]);
    check(FORKED, "l2", typed.chain([Command::SetFilter(Filter::All)]), &["› •l2 ◀"]);
}

#[test]
fn folds_do_not_hide_what_is_found_and_come_back() {
    let folded = [Command::Select(4), Command::FoldOrUp, words("o m")];
    check(
        FORKED,
        "q2",
        folded,
        &["  ⊟•q1", "  •t1", "  •[cause] b1", "  ├ •q2 (1) ◀", "› └ ⊟q3 (1)", "    k3"],
    );
    let folded = [Command::Select(4), Command::FoldOrUp, words("said"), Command::FoldOrUp, Command::Escape];
    check(FORKED, "q2", folded, &["  ⊟•q1", "  •t1", "  •[cause] b1", "  ├ •q2 (1) ◀", "› └ ⊞q3 (1)"]);
}

#[test]
fn what_was_found_is_marked_where_it_stands() {
    let session = Session::new(FORKED, Some("q2"));
    let mut selector = selector(&session, Filter::Default);
    press(&mut selector, &session, [words("ca the")]);
    let rows = rows(&mut selector, &session.manager);
    let row = &rows[0];
    let marked = |text: &str, places: &[std::ops::Range<usize>]| -> Vec<String> {
        places.iter().map(|place| text[place.clone()].to_owned()).collect()
    };
    assert_eq!(marked(&row.says.text, &row.marks.text), ["The", "Ca"]);
    assert_eq!(marked(row.label.as_deref().unwrap(), &row.marks.label), ["ca"]);
    assert_eq!(row.marks.excerpt, None);
}

#[test]
fn a_word_that_no_row_shows_is_shown_apart() {
    let long = "x ".repeat(300);
    let notation =
        format!("q1 - user hi\n b1 . answer {long}the Needle\u{1b}[2J in it {long}\n q2 . user end");
    let session = Session::new(&notation.replace('\u{1b}', "\\u001b"), Some("q2"));
    let mut selector = selector(&session, Filter::Default);
    press(&mut selector, &session, [words("needle")]);
    let rows = rows(&mut selector, &session.manager);
    let excerpt = rows[0].marks.excerpt.as_deref().unwrap();
    assert!(excerpt.text.starts_with('…') && excerpt.text.ends_with('…'), "{excerpt:?}");
    assert!(!excerpt.text.chars().any(char::is_control), "{excerpt:?}");
    assert_eq!(&excerpt.text[excerpt.marks[0].clone()], "Needle");
    // The row where one stands is there without having been found.
    assert_eq!(rows[1].marks.excerpt, None);
}

#[test]
fn a_search_fills_in_outwards_from_where_one_stands() {
    let text = "word ".repeat(2000);
    let notation: String = std::iter::once("e0 - user word\n".to_owned())
        .chain((1..600).map(|n| format!("e{n} . user {text}\n")))
        .collect();
    let session = Session::new(&notation, Some("e300"));
    let mut selector = selector(&session, Filter::Default);
    selector.handle(&session.manager, words("word"));
    let found = |selector: &mut Selector| -> Vec<usize> {
        selector.window(&session.manager, 1);
        let all = selector.status().rows;
        let shown = selector.rows(&session.manager, 0..1, 0).into_iter().chain(selector.rows(
            &session.manager,
            all - 1..all,
            0,
        ));
        shown.map(|row| row.place.position()).collect()
    };
    // The first piece is there at once, around the leaf.
    let first = found(&mut selector);
    assert!(first[0] > 0 && first[0] < 300 && first[1] > 300 && first[1] < 599, "{first:?}");
    let progress = selector.status().searching.unwrap();
    assert!(progress.done > 0 && progress.done < progress.of, "{progress:?}");
    assert!(!selector.work(&session.manager, 1 << 20).done);
    let second = found(&mut selector);
    assert!(second[0] < first[0] && second[1] > first[1], "{second:?}");
    // A letter that finds nothing ends it soon: only what was found is looked at again, and the rest.
    selector.handle(&session.manager, Command::Type('x'));
    finish(&mut selector, &session.manager);
    selector.window(&session.manager, 1);
    assert_eq!((selector.status().rows, selector.status().searching), (1, None));
    selector.handle(&session.manager, Command::Erase);
    finish(&mut selector, &session.manager);
    selector.window(&session.manager, 1);
    assert_eq!(selector.status().rows, 600);
}

/// Random trees with words of few letters.
fn any_notation() -> impl Strategy<Value = (String, usize)> {
    let entry = (0usize..1000, 0usize..8, "[abAB]{1,3}( [abAB]{1,2})?", 0usize..1000);
    (prop::collection::vec(entry, 1..30), 0usize..1000).prop_map(|(entries, leaf)| {
        let count = entries.len();
        let mut notation = String::new();
        for (n, (parent, kind, text, target)) in entries.into_iter().enumerate() {
            let parent = parent % (n + 1);
            let parent = if parent == n { "-".into() } else { format!("e{parent}") };
            let what = match kind {
                0 => format!("user {text}"),
                1 => format!("answer {text}"),
                2 => format!("calls {text}"),
                3 => format!("tool {text}"),
                4 => format!("failed {text}"),
                5 => "aborted".into(),
                6 => format!("compaction {text}"),
                // Each entry has one label at most, so that all of them are in force.
                _ if target % count == n => "custom".into(),
                _ => format!("label e{n} {text}"),
            };
            notation += &format!("e{n} {parent} {what}\n");
        }
        (notation, leaf % count)
    })
}

proptest! {
    /// Whatever is typed in whatever pieces it is read: in the end there is what is said, and nothing else.
    #[test]
    fn a_search_finds_what_its_words_are_in(
        (notation, leaf) in any_notation(),
        typed in prop::collection::vec((prop_oneof![6 => "[ab]", 1 => Just(" ".to_owned()), 2 => Just("<".to_owned())], 0u64..4), 1..8),
        bytes in 1u64..600,
    ) {
        let session = Session::new(&notation, Some(&format!("e{leaf}")));
        let mut selector = Selector::new(&session.manager, Filter::All);
        let mut now = String::new();
        for (key, pieces) in typed {
            let command = if key == "<" { now.pop(); Command::Erase } else { now += &key; Command::Type(key.chars().next().unwrap()) };
            selector.handle(&session.manager, command);
            for _ in 0..pieces {
                selector.work(&session.manager, bytes);
            }
        }
        finish(&mut selector, &session.manager);
        let search = Search::new(&now);
        let found: Vec<String> = rows(&mut selector, &session.manager).iter().map(|row| crate::notation::id_of(&session.manager, row)).collect();
        for n in 0..session.manager.entry_count() {
            let id = format!("e{n}");
            let said = said_by(&notation, &id).to_lowercase();
            let wanted = n == leaf || search.words().all(|word| said.contains(word));
            prop_assert_eq!(found.contains(&id), wanted, "{} in {:?}, said by {}: {}", now, found, id, said);
        }
    }
}

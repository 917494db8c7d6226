//! Long sessions: what is read, what is laid out, and that scrolling comes back to where it was.

use proptest::prelude::*;

use super::*;

fn long(turns: usize) -> SessionManager {
    let mut session = SessionManager::in_memory("/work");
    for number in 0..turns {
        user(&mut session, &format!("question {number}"));
        says(&mut session, &format!("answer {number}\n\n- one\n- two"));
    }
    session
}

#[test]
fn only_what_is_seen_is_read_and_laid_out() {
    let mut shown = Shown::new(long(20_000), 80, 24);
    let read = |shown: &Shown| shown.view.pane.transcript().entries_read();
    assert!(read(&shown) <= 64, "{}", read(&shown));
    shown.work();
    assert!(read(&shown) <= 128, "{}", read(&shown));
    assert!(shown.view.pane.laid_out() <= 64, "{}", shown.view.pane.laid_out());
    assert!(shown.screen().contains("turn 20,000/20,000"), "{}", shown.screen());
    assert!(shown.status().contains(" of 40,000 entries loaded"), "{}", shown.status());
    for _ in 0..20 {
        shown.press("b");
    }
    // 20 pages of 20 rows each, with three rows and a blank one for each of half the entries.
    assert!(read(&shown) <= 400, "{}", read(&shown));
    shown.press("a");
    assert!(read(&shown) <= 1000, "a key does not read everything: {}", read(&shown));
    assert!(shown.status().contains("reading…"), "{}", shown.status());
    shown.work();
    assert_eq!(read(&shown), 40_000);
    assert!(shown.status().contains("all 40,000 entries"), "{}", shown.status());
    let laid = shown.view.pane.laid_out();
    assert!(laid < 1100, "what is not seen is not laid out: {laid}");
    shown.press("g");
    assert_eq!(shown.selected(), "❯ question 0");
    assert!(shown.screen().contains("turn 1/20,000"), "{}", shown.screen());
}

#[test]
fn the_beginning_is_reached_in_steps() {
    let mut shown = Shown::new(long(5000), 80, 24);
    shown.press("g");
    assert!(shown.status().contains("reading…"), "{}", shown.status());
    // Another key gives it up.
    shown.press("k");
    assert!(!shown.status().contains("reading…"), "{}", shown.status());
    shown.press("g");
    shown.work();
    assert_eq!(shown.selected(), "❯ question 0");
    shown.press("shift+g");
    assert!(shown.selected().starts_with("answer 4999"), "{}", shown.selected());
}

#[test]
fn a_search_goes_beyond_what_is_loaded() {
    let mut shown = Shown::new(long(5000), 80, 24);
    shown.press("/");
    shown.type_in("question 7");
    shown.press("escape");
    shown.press("/");
    shown.type_in("answer 42\n".trim_end());
    shown.press("enter");
    shown.work();
    // The nearest one above, in whatever number it stands.
    assert!(shown.selected().starts_with("answer 4299"), "{}", shown.selected());
    shown.press("shift+n");
    assert!(shown.selected().starts_with("answer 4298"), "{}", shown.selected());
    shown.press("n");
    assert!(shown.selected().starts_with("answer 4299"), "{}", shown.selected());
    shown.press("/");
    shown.type_in("nowhere");
    shown.press("enter");
    assert!(shown.status().contains("searching…"), "{}", shown.status());
    shown.work();
    assert_eq!(shown.foot(), "Nothing has been found");
    assert!(shown.selected().starts_with("answer 4299"), "{}", shown.selected());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn scrolling_to_the_top_and_back_shows_the_same_rows(
        texts in proptest::collection::vec("([a-z ]{0,40}\n?){0,12}", 1..60),
        columns in 3u16..90,
        rows in 6u16..40,
        opens in any::<bool>(),
        filters in 0usize..3,
    ) {
        let mut session = SessionManager::in_memory("/w");
        for (number, text) in texts.iter().enumerate() {
            match number % 3 {
                0 => user(&mut session, text),
                1 => says(&mut session, text),
                _ => call(&mut session, &format!("c{number}"), "a.rs", text),
            };
        }
        let mut shown = Shown::new(session, columns, rows);
        if opens {
            shown.press("ctrl+o");
        }
        for _ in 0..filters {
            shown.press("f");
        }
        shown.press("shift+g");
        let rows_of = |shown: &mut Shown| -> Vec<String> {
            let lines = shown.see().lines;
            let head = if rows > 7 { 2 } else { 1 };
            let body = &lines[head..lines.len() - 1];
            // What is selected moves along.
            let plain = |line: &ratatui::text::Line<'_>| line.to_string().replace('▌', " ").trim_end().to_owned();
            body.iter().map(plain).collect()
        };
        let mut seen = vec![rows_of(&mut shown)];
        loop {
            shown.press("k");
            let now = rows_of(&mut shown);
            if seen.last() == Some(&now) && shown.view.pane.transcript().is_whole() {
                // Rows of one kind may follow each other: it is the top only if nothing is above.
                if !shown.view.pane.has_above(&shown.session, 1) {
                    break;
                }
            }
            seen.push(now);
            prop_assert!(seen.len() < 5000);
        }
        let steps = seen.len() - 1;
        let up: Vec<Vec<String>> = seen.iter().rev().cloned().collect();
        for (number, want) in up.iter().enumerate() {
            prop_assert_eq!(&rows_of(&mut shown), want, "step {} of {}", number, steps);
            shown.press("j");
        }
        shown.press("g");
        shown.press("shift+g");
        prop_assert_eq!(&rows_of(&mut shown), &seen[0]);
    }
}

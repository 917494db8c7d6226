//! What keys do in a list, and what is seen of it.

use proptest::prelude::*;
use ratatui::text::Line;

use super::*;
use crate::scene::{Scene, View};
use crate::testing::{key, letters, sizes, text, view};
use crate::theme::Role;

fn rows(names: &[&str]) -> Vec<ListRow<String>> {
    names.iter().map(|name| ListRow::new((*name).to_owned()).says(Role::Text, name)).collect()
}

fn list(order: Order, names: &[&str]) -> ListView<String> {
    let mut list = ListView::new("Fruit", Start::First, order);
    list.set_rows(rows(names));
    list
}

const FRUIT: [&str; 6] = ["apple", "apricot", "banana", "cherry", "grape", "pineapple"];

fn press(list: &mut ListView<String>, names: &str) -> Told<String> {
    let keymap = Keymap::default();
    names.split_whitespace().map(|name| list.key(&keymap, key(name))).last().unwrap()
}

fn write(list: &mut ListView<String>, text: &str) {
    letters(text).for_each(|letter| assert_eq!(list.key(&Keymap::default(), letter), Told::Redraw));
}

fn names(list: &ListView<String>) -> Vec<&str> {
    list.matching().map(|row| &**row.value()).collect()
}

fn draw(list: &mut ListView<String>, scene: &Scene<'_>) -> View {
    list.draw(scene, &Face::new(&[(ActionId::Confirm, "take"), (ActionId::Cancel, "back")]))
}

#[test]
fn up_and_down_wrap_and_pages_stop() {
    let mut list = list(Order::Kept, &FRUIT);
    view(40, 6, |scene| draw(&mut list, scene));
    for (keys, want) in [
        ("up", "pineapple"),
        ("down", "apple"),
        ("pageUp", "apple"),
        ("pageDown", "cherry"),
        ("pageDown", "pineapple"),
        ("pageDown", "pineapple"),
        ("home", "apple"),
        ("end", "pineapple"),
        ("up up", "cherry"),
    ] {
        assert_eq!(press(&mut list, keys), Told::Redraw);
        assert_eq!(list.selected().unwrap(), want, "{keys}");
    }
    assert_eq!(press(&mut list, "enter"), Told::Choose("cherry".into()));
}

#[test]
fn what_is_selected_stays_so_while_one_searches() {
    let mut list = list(Order::Kept, &FRUIT);
    press(&mut list, "down down down down");
    write(&mut list, "ap");
    assert_eq!(
        (names(&list), list.selected().unwrap().as_str()),
        (vec!["apple", "apricot", "grape", "pineapple"], "grape")
    );
    write(&mut list, "p");
    assert_eq!((names(&list), list.selected().unwrap().as_str()), (vec!["apple", "pineapple"], "pineapple"));
    press(&mut list, "backspace");
    assert_eq!(list.selected().unwrap(), "grape", "it is back, and so is the selection");
    press(&mut list, "up");
    assert_eq!(press(&mut list, "escape"), Told::Redraw, "the first one clears the search");
    assert_eq!((names(&list).len(), list.selected().unwrap().as_str()), (6, "apricot"));
    assert_eq!(press(&mut list, "escape"), Told::Close);
}

#[test]
fn nothing_found_remembers_what_was_selected() {
    let mut list = list(Order::Kept, &FRUIT);
    press(&mut list, "down down");
    write(&mut list, "zzz");
    assert_eq!(press(&mut list, "enter"), Told::Nothing);
    assert_eq!(list.selected(), None);
    for key in ["up", "down", "pageUp", "pageDown", "home", "end"] {
        press(&mut list, key);
    }
    assert!(text(&view(40, 10, |scene| draw(&mut list, scene)).lines).contains("Nothing has been found"));
    press(&mut list, "escape");
    assert_eq!(list.selected().unwrap(), "banana");
}

#[test]
fn the_best_comes_first_where_that_is_wanted() {
    let models = ["openai/gpt-4o-mini", "openai/gpt-4o", "google/gemini-pro"];
    let mut best = list(Order::BestFirst, &models);
    write(&mut best, "4o");
    assert_eq!(names(&best), ["openai/gpt-4o", "openai/gpt-4o-mini"]);
    assert_eq!(best.selected().unwrap(), "openai/gpt-4o");
    press(&mut best, "down");
    write(&mut best, " gpt");
    assert_eq!(best.selected().unwrap(), "openai/gpt-4o-mini", "somebody has selected it");
    // Letters with others in between count only where nothing has the words as they are.
    let mut kept = list(Order::Kept, &["g-p-t", "gpt"]);
    write(&mut kept, "gpt");
    assert_eq!(names(&kept), ["gpt"]);
    let mut kept = list(Order::Kept, &["g-p-t", "other"]);
    write(&mut kept, "gpt");
    assert_eq!(names(&kept), ["g-p-t"]);
}

#[test]
fn rows_may_arrive_late() {
    let mut list: ListView<String> = ListView::new("Fruit", Start::Last, Order::Kept);
    list.set_empty("No fruit");
    list.set_loading(Some("reading".into()));
    assert!(text(&view(40, 10, |scene| draw(&mut list, scene)).lines).contains("reading"));
    list.set_rows(rows(&["apple", "banana"]));
    assert_eq!(list.selected().unwrap(), "banana");
    list.set_rows(rows(&["apple", "banana", "cherry"]));
    assert_eq!(list.selected().unwrap(), "cherry", "nobody has selected another one");
    press(&mut list, "up");
    list.set_rows(rows(&["zero", "apple", "banana", "cherry"]));
    assert_eq!(list.selected().unwrap(), "banana");
    list.set_loading(None);
    list.set_rows(Vec::new());
    assert_eq!(list.selected(), None);
    assert!(text(&view(40, 10, |scene| draw(&mut list, scene)).lines).contains("  No fruit"));
}

#[test]
fn what_holds_at_present_is_where_one_begins() {
    let mut list: ListView<String> = ListView::new("Fruit", Start::Present, Order::Kept);
    let present =
        FRUIT.map(|name| ListRow::new(name.to_owned()).says(Role::Text, name).present(name == "cherry"));
    list.set_rows(present.into());
    assert_eq!(list.selected().unwrap(), "cherry");
    let seen = text(&view(40, 10, |scene| draw(&mut list, scene)).lines);
    assert!(seen.contains("\n› • cherry\n    grape\n"), "{seen}");
}

#[test]
fn keys_of_everywhere_are_handed_on() {
    let mut list = list(Order::Kept, &FRUIT);
    assert_eq!(press(&mut list, "ctrl+z"), Told::Suspend);
    assert_eq!(press(&mut list, "f1"), Told::Hotkeys);
    assert_eq!(press(&mut list, "f5"), Told::Redraw);
    assert_eq!(press(&mut list, "space"), Told::Nothing, "a search begins with a letter");
    list.notice("It could not be read");
    assert!(text(&view(40, 10, |scene| draw(&mut list, scene)).lines).ends_with("It could not be read"));
    assert_eq!(press(&mut list, "space"), Told::Redraw);
    assert!(text(&view(40, 10, |scene| draw(&mut list, scene)).lines).ends_with("Enter take · Esc back"));
}

#[test]
fn a_letter_is_a_letter_while_one_searches() {
    let keymap = Keymap::read(r#"{"tui.select.cancel": ["q"], "tui.select.down": ["j"]}"#);
    let mut list = list(Order::Kept, &["jq", "apple"]);
    list.key(&keymap, key("j"));
    assert_eq!(list.selected().unwrap(), "apple");
    list.key(&keymap, key("a"));
    for letter in ["j", "q"] {
        assert_eq!(list.key(&keymap, key(letter)), Told::Redraw);
    }
    assert!(text(&view(40, 10, |scene| draw(&mut list, scene)).lines).contains("Search: ajq"));
}

#[test]
fn a_list_is_drawn() {
    let mut list: ListView<String> = ListView::new("Fruit", Start::First, Order::Kept).align();
    let row = |name: &str, color: &str, kind: &str| {
        let row = ListRow::new(name.to_owned()).says(Role::Text, name).says(Role::Dim, color);
        row.right("5 g").under(kind).present(name == "apple")
    };
    list.set_rows(vec![
        row("apple", "red", "Pomes"),
        row("pear", "green \u{1b}[31m", "Pomes"),
        row("cherry", "red", "Drupes"),
    ]);
    let preview =
        |name: &String, _: usize| vec![Line::raw(format!("All about {name}")), Line::raw("and more")];
    let hints = [(ActionId::Confirm, "take"), (ActionId::Cancel, "back")];
    let seen = view(40, 18, |scene| list.draw(scene, &Face::new(&hints).preview(&preview)));
    assert_eq!(
        text(&seen.lines),
        "\
Fruit                                1/3
Type to search
Pomes
› • apple   red                      5 g
    pear    green ␛[31m              5 g
Drupes
    cherry  red                      5 g





────────────────────────────────────────
All about apple
and more


Enter take · Esc back"
    );
    write(&mut list, "red e");
    let seen = view(120, 10, |scene| list.draw(scene, &Face::new(&hints).preview(&preview)));
    assert_eq!(seen.cursor.map(|cursor| (cursor.x, cursor.y)), Some((13, 1)));
    assert_eq!(
        text(&seen.lines[..6]),
        "\
Fruit                                                                                                           1/2 of 3
Search: red e
Pomes                                                                   │ All about apple
› • apple   red                                                     5 g │ and more
Drupes                                                                  │
    cherry  red                                                     5 g │"
    );
}

#[test]
fn every_size_is_drawn() {
    for (columns, rows) in sizes() {
        let mut list: ListView<String> = ListView::new("日本語 title", Start::First, Order::Kept).align();
        let row = |number: usize| {
            let name = format!("{number} 日本語のテスト 👩‍👩‍👧 \u{1b}[31m {}", "long ".repeat(number));
            let row = ListRow::new(name.clone()).says(Role::Label, "[ラベル]").says(Role::User, &name);
            row.right("at\u{7} 12:00").under(&format!("heading {}", number / 3)).present(number == 4)
        };
        list.set_rows((0..12).map(row).collect());
        let preview = |name: &String, columns: usize| {
            crate::text::width::wrap(name, columns)
                .map(|row| Line::raw(crate::text::clean::one_line(row, columns)))
                .map(|line| Line::raw(crate::text::width::fit(&line.to_string(), columns).into_owned()))
                .collect()
        };
        for keys in ["end", "alt+j", "alt+v", "l", "pageDown"] {
            press(&mut list, keys);
            view(columns, rows, |scene| {
                list.draw(scene, &Face::new(&[(ActionId::Confirm, "take")]).preview(&preview))
            });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_is_selected_is_always_seen(
        count in 0usize..40,
        headings in 1usize..8,
        keys in prop::collection::vec(
            prop::sample::select(vec!["up", "down", "pageUp", "pageDown", "home", "end", "a", "1", "backspace", "escape"]),
            0..30,
        ),
        columns in 8u16..130,
        heights in prop::collection::vec(1u16..30, 1..4),
    ) {
        let mut list: ListView<String> = ListView::new("All", Start::Last, Order::Kept);
        let row = |number: usize| {
            let row = ListRow::new(number.to_string()).says(Role::Text, &format!("a{number}"));
            row.under(&format!("heading {}", number / headings))
        };
        list.set_rows((0..count).map(row).collect());
        for (at, key) in keys.into_iter().enumerate() {
            press(&mut list, key);
            let rows = heights[at % heights.len()];
            let seen = view(columns, rows, |scene| draw(&mut list, scene));
            match list.selected() {
                Some(value) => {
                    let row = format!("› a{value}");
                    let at = seen.lines.iter().position(|line| line.to_string().trim_end() == row);
                    prop_assert!(at.is_some(), "{row} in {}", text(&seen.lines));
                }
                None => prop_assert_eq!(list.matching().len(), 0),
            }
        }
    }
}

//! What keys answer, and what is seen of questions.

use proptest::prelude::*;

use super::*;
use crate::keys::Key;
use crate::screen::Cursor;
use crate::testing::{fits, key, letters, sizes, text};
use crate::text::human;
use crate::theme::Theme;

fn press(question: &mut Question, names: &str) -> Told {
    let keymap = Keymap::default();
    names.split_whitespace().map(|name| question.key(&keymap, key(name))).last().unwrap()
}

fn write(question: &mut Question, text: &str) {
    letters(text).for_each(|letter| assert_eq!(question.key(&Keymap::default(), letter), Told::Redraw));
}

/// What is seen of it in that many columns and at most that many rows.
fn draw(question: &mut Question, columns: u16, rows: u16) -> (String, Option<Cursor>) {
    question.resize(columns, rows);
    let (lines, cursor) = question.lines(columns, &Theme::plain(), &Keymap::default());
    assert!(lines.len() <= usize::from(rows), "{columns}×{rows}: {}", lines.len());
    fits(&lines, columns);
    if let Some(cursor) = cursor {
        assert!(cursor.column < columns && usize::from(cursor.row) < lines.len(), "{cursor:?}");
    }
    (text(&lines), cursor)
}

fn answer(option: usize) -> Told {
    Told::Answer { option, text: None }
}

const RULE: &str = "────────────────────────────────────────────────────────────";

#[test]
fn options_are_chosen_by_moving_by_number_and_by_letter() {
    let mut question = Question::select("Which one?", ["first", "second", "third"]);
    for (keys, want) in [
        ("enter", answer(0)),
        ("up enter", answer(2)),
        ("down enter", answer(0)),
        ("end enter", answer(2)),
        ("2", answer(1)),
        ("4", Told::Nothing),
        ("0", Told::Nothing),
        ("x", Told::Nothing),
        ("escape", Told::Back),
        ("ctrl+c", Told::Back),
        ("ctrl+z", Told::Suspend),
        ("f1", Told::Hotkeys),
    ] {
        assert_eq!(press(&mut question, keys), want, "{keys}");
    }
    let ask = || Question::yes_no("Delete the session?", "It goes to the trash.", "Delete", "Keep it");
    for (keys, want) in
        [("enter", answer(1)), ("y", answer(0)), ("shift+y", answer(0)), ("n", answer(1)), ("1", answer(0))]
    {
        assert_eq!(press(&mut ask(), keys), want, "{keys}");
    }
    assert_eq!(ask().paste("y"), Told::Nothing, "what is pasted is no answer");
    assert_eq!(press(&mut Question::new("Nothing to choose"), "enter"), Told::Nothing);
}

#[test]
fn own_instructions_are_written_and_kept() {
    let mut question = summary("4 turns, $0.12");
    assert_eq!(press(&mut question, "3"), Told::Redraw);
    assert!(question.is_writing());
    write(&mut question, "why it was slow");
    press(&mut question, "shift+enter");
    question.paste("2 lines");
    let (seen, cursor) = draw(&mut question, 60, 20);
    assert_eq!(
        seen,
        format!(
            "{RULE}
Sum up the branch that you leave?
4 turns, $0.12
Summarise with own instructions:
  why it was slow
  2 lines
Enter done · Shift+Enter new line · Esc back"
        )
    );
    assert_eq!(cursor, Some(Cursor { column: 9, row: 5 }));
    assert_eq!(press(&mut question, "escape"), Told::Redraw, "back at the question");
    assert_eq!(press(&mut question, "up enter"), answer(1));
    assert_eq!(SummaryAnswer::of(&answer(1)), Some(SummaryAnswer::Yes));
    let told = press(&mut question, "down enter enter");
    let text = "why it was slow\n2 lines".to_owned();
    assert_eq!(told, Told::Answer { option: 2, text: Some(text.clone()) });
    assert_eq!(SummaryAnswer::of(&told), Some(SummaryAnswer::Focused(text)));
    assert_eq!(press(&mut question, "escape escape"), Told::Back);
    assert_eq!(SummaryAnswer::of(&Told::Back), None);
    assert_eq!(SummaryAnswer::of(&answer(0)), Some(SummaryAnswer::No));
    let blank = Told::Answer { option: 2, text: Some(" \n".into()) };
    assert_eq!(SummaryAnswer::of(&blank), Some(SummaryAnswer::Yes));
}

#[test]
fn the_question_after_choosing_is_drawn() {
    let wide = "\
Sum up the branch that you leave?
› 1 No summary  go there at once
  2 Summarise  the model is told what happened on the branch
  3 Summarise with own instructions  you say what matters
Enter choose · Esc back to the tree";
    assert_eq!(draw(&mut summary(""), 60, 20).0, format!("{RULE}\n{wide}"));
    assert_eq!(
        draw(&mut summary(""), 34, 20).0,
        "\
──────────────────────────────────
Sum up the branch that you leave?
› 1 No summary  go there at once
  2 Summarise
      the model is told what
      happened on the branch
  3 Summarise with own
    instructions
      you say what matters
Enter choose · Esc back to the"
            .replace("Enter choose · Esc back to the", "Enter choose")
    );
}

fn permitted(shows: &str) -> (Question, Vec<PermissionAnswer>) {
    permission(&Permission {
        tool: "bash",
        reason: "A command can do anything that you can.",
        shows,
        for_session: Some("commands that begin with `cargo test`"),
        for_project: Some("the same, from now on"),
    })
}

#[test]
fn a_call_is_permitted_or_not() {
    let (mut question, answers) = permitted("cargo test\u{1b}[2K -p ramal");
    assert_eq!(
        draw(&mut question, 60, 20).0,
        format!(
            "{RULE}
Run bash?
A command can do anything that you can.
  cargo test␛[2K -p ramal
› y Yes
  s Yes, for this session
      commands that begin with `cargo test`
  p Yes, for this project  the same, from now on
  n No
Enter choose · Esc no"
        )
    );
    for (keys, want) in [
        ("enter", Some(PermissionAnswer::Once)),
        ("down", None),
        ("enter", Some(PermissionAnswer::Session)),
        ("p", Some(PermissionAnswer::Project)),
        ("4", Some(PermissionAnswer::No)),
        ("escape", Some(PermissionAnswer::No)),
        ("ctrl+o", None),
    ] {
        assert_eq!(PermissionAnswer::of(&press(&mut question, keys), &answers), want, "{keys}");
    }
    let asked = Permission { tool: "bash", reason: "", shows: "ls", for_session: None, for_project: None };
    let (mut question, answers) = permission(&asked);
    assert_eq!(answers, [PermissionAnswer::Once, PermissionAnswer::No]);
    assert_eq!(press(&mut question, "s"), Told::Nothing);
    assert_eq!(PermissionAnswer::of(&press(&mut question, "2"), &answers), Some(PermissionAnswer::No));
    assert_eq!(PermissionAnswer::of(&answer(7), &answers), Some(PermissionAnswer::No));
}

#[test]
fn all_of_a_long_command_can_be_seen() {
    let command: Vec<String> = (1..=40).map(|line| format!("echo {line}")).collect();
    let (mut question, _) = permitted(&command.join("\n"));
    let (seen, _) = draw(&mut question, 60, 20);
    assert!(seen.contains("\n  echo 8\n  … 32 more rows · Ctrl+O shows all\n› y Yes\n"), "{seen}");
    assert_eq!(press(&mut question, "ctrl+o"), Told::Redraw);
    let mut rows = Vec::new();
    for _ in 0..9 {
        let (seen, _) = draw(&mut question, 60, 20);
        assert!(
            seen.contains("› y Yes") && seen.contains(" of 40 · PgDn goes on · Ctrl+O shows less"),
            "{seen}"
        );
        rows.extend(
            seen.lines().filter(|line| line.starts_with("  echo ")).map(|line| line.trim().to_owned()),
        );
        assert_eq!(press(&mut question, "pageDown"), Told::Redraw);
    }
    rows.dedup();
    assert!(command.iter().all(|line| rows.contains(line)), "no row is passed over: {rows:?}");
    press(&mut question, "pageUp");
    assert!(!draw(&mut question, 60, 20).0.contains("echo 40"));
    press(&mut question, "ctrl+o");
    assert!(draw(&mut question, 60, 20).0.contains("… 32 more rows"));
    // Where there is room for all of it, nothing is to be scrolled.
    press(&mut question, "ctrl+o");
    let (seen, _) = draw(&mut question, 60, 60);
    assert!(seen.contains("\n  echo 40\n› y Yes"), "{seen}");
}

#[test]
fn something_is_written_at_once() {
    let mut input = Question::input("Name of the session", "none", "");
    let (seen, cursor) = draw(&mut input, 60, 20);
    assert_eq!(seen, format!("{RULE}\nName of the session\n  none\nEnter done · Esc back"));
    assert_eq!(cursor, Some(Cursor { column: 2, row: 2 }));
    write(&mut input, "1 y");
    input.paste("\nz");
    let told = press(&mut input, "shift+enter enter");
    assert_eq!(told, Told::Answer { option: 0, text: Some("1 yz".into()) });
    assert_eq!(press(&mut input, "escape"), Told::Back);

    let long: String = (1..=30).map(|line| format!("line {line}\n")).collect();
    let mut editor = Question::editor("Instructions", "", &long);
    for (columns, rows) in [(60, 20), (60, 6), (60, 3), (20, 2), (20, 1)] {
        let (seen, cursor) = draw(&mut editor, columns, rows);
        assert!(cursor.is_some(), "{seen}");
    }
    press(&mut editor, "up up");
    let (seen, cursor) = draw(&mut editor, 60, 10);
    let row = cursor.map(|cursor| usize::from(cursor.row)).and_then(|row| seen.lines().nth(row)).unwrap();
    assert_eq!(row, "  line 29");
}

#[test]
fn every_size_is_drawn() {
    let odd = "日本語のテスト 👩‍👩‍👧 \u{1b}[31m\u{202e}x\ty";
    let questions: [fn(&str) -> Question; 5] = [
        |odd| permitted(&format!("{odd}\n").repeat(12)).0.says(&odd.repeat(5)),
        |odd| summary(odd),
        |odd| Question::editor(odd, odd, &odd.repeat(4)),
        |odd| Question::select(odd, [odd; 12]).says(odd),
        |odd| Question::yes_no(&odd.repeat(4), odd, odd, odd),
    ];
    for (columns, rows) in sizes() {
        for make in questions {
            let mut question = make(odd);
            for keys in ["up", "ctrl+o", "pageDown", "3", "日", "escape"] {
                draw(&mut question, columns, rows);
                press(&mut question, keys);
            }
        }
    }
}

#[test]
fn many_options_are_searched_and_few_are_not() {
    let names: Vec<String> = (0..12).map(|number| format!("Option {number} of all")).collect();
    let ask =
        |count: usize| Question::select("Which?", names.iter().take(count).map(|name| &**name)).searched();
    assert_eq!(press(&mut ask(9), "2"), answer(1));
    let mut question = ask(12);
    write(&mut question, "ALL 1");
    assert_eq!(press(&mut question, "enter"), answer(1));
    assert_eq!(press(&mut question, "down enter"), answer(10));
    assert_eq!(press(&mut question, "down down enter"), answer(1), "behind the last comes the first");
    assert_eq!(press(&mut question, "end enter"), answer(11));
    let (seen, cursor) = draw(&mut question, 40, 20);
    assert!(seen.contains("Search: ALL 1\n") && !seen.contains("Option 2"), "{seen}");
    assert_eq!(cursor.map(|cursor| cursor.column), Some(13), "{seen}");
    write(&mut question, "x");
    assert!(draw(&mut question, 40, 20).0.contains("Nothing matches"));
    assert_eq!(press(&mut question, "enter"), Told::Nothing);
    assert_eq!(press(&mut question, "backspace enter"), answer(1));
    assert_eq!(press(&mut question, "escape"), Told::Back);
}

#[test]
fn what_is_hidden_of_very_many_options_is_counted() {
    let names: Vec<String> = (0..50_000).map(|number| format!("Option {number}")).collect();
    let title = "Which? ".repeat(10_000);
    let mut question = Question::select(&title, names.iter().map(|name| &**name)).searched();
    let (seen, _) = draw(&mut question, 40, 20);
    assert!(seen.contains("› ") && seen.contains("Option 0\n"), "{seen}");
    let first = seen.lines().filter(|line| line.contains("Option ")).count();
    assert!(seen.contains(&format!("… {} below", human::count(50_000 - first as u64))), "{seen}");
    press(&mut question, "end");
    let (seen, _) = draw(&mut question, 40, 20);
    let last = seen.lines().filter(|line| line.contains("Option ")).count();
    assert!(seen.contains("Option 49999") && !seen.contains("below"), "{seen}");
    assert!(seen.contains(&format!("… {} above", human::count(50_000 - last as u64))), "{seen}");
    write(&mut question, "25000");
    assert_eq!(press(&mut question, "enter"), answer(25_000));
}

#[test]
fn who_asks_stands_above() {
    let mut question = Question::select("Which?", ["one", "two"]);
    question.set_above("an extension\x1b[2J · 3 s left");
    let (seen, _) = draw(&mut question, 40, 10);
    assert!(seen.starts_with("── an extension[2J · 3 s left ──"), "{seen}");
}

#[test]
fn a_text_can_be_written_elsewhere() {
    let mut question = Question::editor("Write.", "", "one\ntwo");
    assert_eq!(press(&mut question, "ctrl+g"), Told::External);
    assert_eq!(question.written().as_deref(), Some("one\ntwo"));
    question.rewrite("three");
    assert_eq!(press(&mut question, "enter"), Told::Answer { option: 0, text: Some("three".into()) });
    assert_eq!(Question::input("Who?", "", "me").written(), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_selected_option_is_always_seen(
        texts in prop::collection::vec("[a-z]{1,30}( [a-z]{1,20}){0,5}", 1..30),
        says in prop::sample::select(vec!["", "short", "something that is longer than a row may be in many columns"]),
        shown in 0usize..30,
        keys in prop::collection::vec(
            prop::sample::select(vec!["up", "down", "pageUp", "pageDown", "home", "end", "ctrl+o"]),
            0..12,
        ),
        columns in 7u16..90,
        rows in 1u16..30,
        is_searched: bool,
    ) {
        let question = Question::new("Which one?").says(says).shows(&"x\n".repeat(shown));
        let mut question = texts.iter().fold(question, |question, text| question.option(Choice::new(text).says(says)));
        if is_searched {
            question = question.searched();
        }
        for name in keys {
            question.resize(columns, rows);
            question.key(&Keymap::default(), name.parse::<Key>().unwrap());
            let seen = draw(&mut question, columns, rows).0;
            let selected = seen.lines().filter(|line| line.starts_with("› ")).collect::<Vec<_>>();
            prop_assert_eq!(selected.len(), 1, "{}", seen);
            let said = selected[0].chars().nth(4);
            prop_assert_eq!(said, texts[question.selected].chars().next(), "{}", seen);
        }
    }
}

//! The window gets another size.

use std::time::Duration;

use ramal_testing::terminal::{Options, Screen, Terminal};
use serde_json::{Value, json};

use super::support::says;
use super::world::{World, leave};

/// Paragraphs of an answer, each with a number of its own.
fn paragraph(number: usize) -> String {
    let words = "water stands higher than it did at this hour of yesterday, and it will fall again";
    format!("§{number:02} The {}.", &words[..30 + number * 7 % 50])
}

fn paragraphs(numbers: std::ops::RangeInclusive<usize>) -> String {
    numbers.map(paragraph).collect::<Vec<_>>().join("\n\n")
}

/// That everything that was said can still be read, from top to bottom, and that nothing is left of what stood
/// below it when the window had another size.
#[track_caller]
fn assert_whole(screen: &Screen<'_>, last: usize) {
    let everything = screen.everything();
    let rows: Vec<&str> = everything.lines().collect();
    let mut from = 0;
    for number in 1..=last {
        let mark = format!("§{number:02}");
        let at = rows.iter().skip(from).position(|row| row.contains(&mark));
        from += at.unwrap_or_else(|| panic!("{mark} is lost:\n{everything}"));
    }
    let rules = rows.iter().filter(|row| row.ends_with("──────────")).count();
    assert_eq!(rules, 2, "lines around the editor:\n{everything}");
    let is_footer = |row: &str| row.ends_with("replay/answers.jsonl") && !row.starts_with("model: ");
    let footers = rows.iter().filter(|row| is_footer(row)).count();
    assert_eq!(footers, 1, "footers:\n{everything}");
}

/// The conversation with the editor below it, at that size.
#[track_caller]
fn wait_for_size(terminal: &Terminal, columns: u16, rows: u16) {
    terminal.wait_for(|screen| {
        let rule = "─".repeat(usize::from(columns));
        let lines = screen.rows();
        screen.size() == (columns, rows)
            && lines.iter().filter(|row| **row == rule).count() == 2
            && lines.iter().any(|row| {
                row.contains("replay/answers.jsonl") && row.chars().count() == usize::from(columns)
            })
    });
}

fn each_way() -> [Options; 2] {
    [Options::new(200, 30), Options::new(200, 30).reflowing()]
}

/// Asks, and waits for the end of the answer.
fn ask(terminal: &Terminal, last: usize) {
    terminal.text("How high is it?");
    terminal.key("enter");
    terminal.wait_for(|screen| screen.says(&format!("§{last:02}")) && !screen.says("Working"));
}

#[test]
fn a_window_that_is_dragged_loses_nothing() {
    for options in each_way() {
        let world = World::new(&[says(&paragraphs(1..=40))]);
        let mut terminal = world.start(options);
        ask(&terminal, 40);
        terminal.text("a draft");
        terminal.wait_for_text("a draft");
        for columns in (40..200).rev().chain(41..=120) {
            terminal.resize(columns, 30);
            if columns % 20 == 0 {
                wait_for_size(&terminal, columns, 30);
            }
        }
        wait_for_size(&terminal, 120, 30);
        terminal.wait_for_text("a draft");
        assert_whole(&terminal.screen(), 40);
        terminal.key("ctrl+c");
        terminal.wait_for(|screen| !screen.says("a draft"));
        leave_at_rest(&mut terminal);
    }
}

#[test]
fn a_window_becomes_lower_and_higher_again() {
    for options in each_way() {
        let world = World::new(&[says(&paragraphs(1..=40))]);
        let mut terminal = world.start(options);
        ask(&terminal, 40);
        for rows in (6..30).rev().chain(7..=45) {
            terminal.resize(200, rows);
            if rows % 6 == 0 {
                wait_for_size(&terminal, 200, rows);
            }
        }
        wait_for_size(&terminal, 200, 45);
        assert_whole(&terminal.screen(), 40);
        leave_at_rest(&mut terminal);
    }
}

/// Leaves once nothing of the last change is on its way any more.
#[track_caller]
fn leave_at_rest(terminal: &mut Terminal) {
    terminal.wait_until_quiet(Duration::from_millis(300));
    leave(terminal);
}

/// An answer that comes word by word, and says at its end that it is over.
fn streams(last: usize) -> Value {
    json!({"events": [{"text": format!("{}\n\nThat is all.", paragraphs(1..=last)), "pace": 4}]})
}

#[test]
fn a_window_changes_in_the_middle_of_an_answer() {
    for options in each_way() {
        let world = World::new(&[streams(40)]);
        let mut terminal = world.start(options);
        terminal.text("How high is it?");
        terminal.key("enter");
        for (number, columns) in [(5, 160), (10, 100), (15, 60), (20, 120)] {
            terminal.wait_for(|screen| screen.everything().contains(&format!("§{number:02}")));
            terminal.resize(columns, 30);
            wait_for_size(&terminal, columns, 30);
        }
        terminal.wait_for(|screen| screen.says("That is all.") && !screen.says("Working"));
        wait_for_size(&terminal, 120, 30);
        assert_whole(&terminal.screen(), 40);
        leave_at_rest(&mut terminal);
    }
}

#[test]
fn a_window_is_dragged_while_something_covers_it() {
    for options in each_way() {
        let world = World::new(&[says(&paragraphs(1..=40))]);
        let mut terminal = world.start(options);
        ask(&terminal, 40);
        for (opens, title) in [("alt+t", "Tree"), ("alt+o", "Transcript"), ("f1", "Keys")] {
            terminal.key(opens);
            terminal.wait_for(|screen| screen.is_alternate() && screen.rows()[0].starts_with(title));
            for (columns, rows) in [(40, 10), (300, 100), (20, 5), (77, 24)] {
                terminal.resize(columns, rows);
                terminal.wait_for(|screen| screen.is_alternate() && screen.size() == (columns, rows));
            }
            terminal.wait_for(|screen| screen.rows()[0].starts_with(title));
            terminal.key("esc");
            terminal.wait_for(|screen| !screen.is_alternate());
            wait_for_size(&terminal, 77, 24);
        }
        assert_whole(&terminal.screen(), 40);
        leave_at_rest(&mut terminal);
    }
}

#[test]
fn the_smallest_and_the_largest_window() {
    for (columns, rows) in [(40, 10), (300, 100)] {
        let world = World::new(&[says(&paragraphs(1..=40))]);
        let mut terminal = world.start(Options::new(columns, rows));
        ask(&terminal, 40);
        wait_for_size(&terminal, columns, rows);
        assert_whole(&terminal.screen(), 40);
        for (opens, title) in
            [("alt+t", "Tree"), ("alt+o", "Transcript"), ("f1", "Keys"), ("ctrl+l", "Models")]
        {
            terminal.key(opens);
            terminal.wait_for(|screen| screen.is_alternate() && screen.rows()[0].starts_with(title));
            terminal.key("esc");
            terminal.wait_for(|screen| !screen.is_alternate());
        }
        wait_for_size(&terminal, columns, rows);
        leave_at_rest(&mut terminal);
    }
}

//! The bytes, read by a terminal emulator.

use std::num::NonZeroU16;

use proptest::prelude::*;

use super::*;
use crate::images::{Cell, Protocol};

/// A terminal that does not reflow, with what has scrolled off it.
struct Terminal {
    parser: vt100::Parser,
    /// What a resize took away at the top: an emulator without reflow cuts it.
    screen: Screen,
    said: Vec<Line<'static>>,
}

fn size(cells: u16) -> NonZeroU16 {
    NonZeroU16::new(cells).unwrap()
}

fn line(text: &str) -> Line<'static> {
    Line::raw(text.to_owned())
}

impl Terminal {
    fn new(columns: u16, rows: u16) -> Terminal {
        Terminal {
            parser: vt100::Parser::new(size(rows), size(columns), 10_000),
            screen: Screen::new(columns, rows),
            said: Vec::new(),
        }
    }

    fn show(&mut self, said: &[Line<'static>], live: &[Line<'static>], cursor: Option<Cursor>) {
        self.said.extend_from_slice(said);
        let bytes = self.screen.show(said, live.to_vec(), cursor);
        self.parser.process(bytes.as_bytes());
    }

    fn resize(&mut self, columns: u16, rows: u16, live: &[Line<'static>]) {
        self.parser.screen_mut().set_size(size(rows), size(columns));
        let tail = |_: u16, seen: usize, room: usize| {
            self.said[self.said.len().saturating_sub(seen.max(room))..].to_vec()
        };
        let bytes = self.screen.resize(columns, rows, tail, live.to_vec(), None);
        self.parser.process(bytes.as_bytes());
    }

    /// All rows, from the first that scrolled off to the last on the screen; trailing blanks cut.
    fn rows(&mut self) -> Vec<String> {
        self.parser.screen_mut().set_scrollback(usize::MAX);
        let off = self.parser.screen().scrollback();
        let (rows, columns) = self.parser.screen().size();
        let (rows, columns) = (rows.get(), columns.get());
        let mut all = Vec::new();
        for back in (1..=off).rev() {
            self.parser.screen_mut().set_scrollback(back);
            all.extend(self.parser.screen().rows(0, columns).next());
        }
        self.parser.screen_mut().set_scrollback(0);
        all.extend(self.parser.screen().rows(0, columns).take(usize::from(rows)));
        while all.last().is_some_and(|row| row.trim().is_empty()) {
            all.pop();
        }
        all.iter().map(|row| row.trim_end().to_owned()).collect()
    }
}

#[test]
fn what_was_said_scrolls_off_and_what_changes_stays_below() {
    let mut terminal = Terminal::new(20, 5);
    let live = [line("> prompt"), line("footer")];
    terminal.show(&[], &live, Some(Cursor { column: 2, row: 0 }));
    assert_eq!(terminal.rows(), ["> prompt", "footer"]);
    assert_eq!(terminal.parser.screen().cursor_position(), (0, 2));
    for number in 0..8 {
        terminal.show(&[line(&format!("said {number}"))], &live, Some(Cursor { column: 3, row: 0 }));
    }
    let rows = terminal.rows();
    assert_eq!(rows[..8], [0, 1, 2, 3, 4, 5, 6, 7].map(|number| format!("said {number}")));
    assert_eq!(rows[8..], ["> prompt", "footer"]);
    assert_eq!(terminal.parser.screen().cursor_position(), (3, 3));
    // More and fewer lines below.
    terminal.show(&[], &[line("> a"), line("b"), line("c"), line("footer")], None);
    assert_eq!(terminal.rows()[8..], ["> a", "b", "c", "footer"]);
    assert!(terminal.parser.screen().hide_cursor());
    terminal.show(&[], &[line("footer")], None);
    assert_eq!(terminal.rows()[8..], ["footer"]);
    let bytes = terminal.screen.leave();
    terminal.parser.process(bytes.as_bytes());
    assert_eq!(terminal.rows().len(), 8);
}

#[test]
fn only_rows_that_changed_are_drawn() {
    let mut screen = Screen::new(80, 24);
    let lines = |middle: &str| vec![line("above"), line(middle), line("below")];
    screen.show(&[], lines("one"), None);
    let bytes = screen.show(&[], lines("two"), None);
    assert!(bytes.contains("two") && !bytes.contains("above") && !bytes.contains("below"), "{bytes:?}");
}

#[test]
fn full_rows_wide_characters_and_styles() {
    let mut terminal = Terminal::new(6, 4);
    terminal.show(&[line("123456"), line("ab日本"), line("a日本語")], &[line("x")], None);
    assert_eq!(terminal.rows(), ["123456", "ab日本", "a日本", "x"]);
    let mut screen = Screen::new(20, 4);
    let red = Style::new().fg(ratatui::style::Color::Red);
    let bytes =
        screen.show(&[], vec![Line::from(vec!["a".into(), ratatui::text::Span::styled("b", red)])], None);
    assert!(bytes.contains("a\x1b[0;31mb\x1b[0m"), "{bytes:?}");
}

#[test]
fn what_stood_there_before_us_is_not_erased() {
    let mut terminal = Terminal::new(20, 6);
    terminal.parser.process(b"$ ls\r\nfile\r\n$ ramal\r\n");
    terminal.show(&[line("said")], &[line("> "), line("footer")], Some(Cursor { column: 2, row: 0 }));
    terminal.resize(30, 6, &[line("> "), line("footer")]);
    assert_eq!(terminal.rows(), ["$ ls", "file", "$ ramal", "said", "> ", "footer"].map(str::trim_end));
}

proptest! {
    #[test]
    fn nothing_that_was_said_is_lost(
        steps in proptest::collection::vec((0..4_usize, 0..5_usize, proptest::option::weighted(0.3, (8..40_u16, 1..12_u16))), 1..30),
    ) {
        let mut terminal = Terminal::new(20, 6);
        let mut number = 0;
        for (said, height, size) in steps {
            let live: Vec<Line<'static>> = (0..height).map(|row| line(&format!("live {row}"))).collect();
            let said: Vec<Line<'static>> = (0..said).map(|_| { number += 1; line(&format!("s{number}")) }).collect();
            terminal.show(&said, &live, None);
            let mut rows = terminal.rows();
            let height = height.min(usize::from(terminal.screen.rows()));
            let below = rows.split_off(rows.len().saturating_sub(height));
            let wanted: Vec<String> = live[live.len() - height..].iter().map(ToString::to_string).collect();
            prop_assert_eq!(below, wanted);
            // Each stands there, the last of them right above, in order; after a resize some twice.
            let mut rest = rows.iter();
            for number in 1..=number {
                let wanted = format!("s{number}");
                prop_assert!(rest.any(|row| *row == wanted), "{} is missing in {:?}", wanted, rows);
            }
            if let Some((columns, lines)) = size.filter(|size| size.1 >= terminal.screen.rows()) {
                terminal.resize(columns, lines, &live);
            }
        }
    }
}

#[test]
fn a_picture_scrolls_off_with_the_lines_around_it() {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend([90u32, 54].map(u32::to_be_bytes).concat());
    let picture = crate::images::Picture::new(&bytes).unwrap();
    let placed = picture.place(Protocol::Kitty, Cell::default(), 20, 6).unwrap();
    assert_eq!((placed.columns(), placed.rows()), (10, 3));
    let mut terminal = Terminal::new(20, 6);
    let live = [line("> edit"), line("footer"), line("more")];
    terminal.show(&[line("before")], &live, None);
    let shown = terminal.screen.show_picture(&placed, live.to_vec(), None);
    // Where the terminal stands when it gets the picture: on the first of its blank rows.
    let (until, after) = shown.split_at(shown.find("\x1b_G").unwrap());
    terminal.parser.process(until.as_bytes());
    let (row, column) = terminal.parser.screen().cursor_position();
    assert_eq!(column, 0);
    let screen = terminal.parser.screen();
    let rows: Vec<String> = screen.rows(0, 20).collect();
    assert_eq!(rows[usize::from(row) - 1], "before");
    assert!(rows[usize::from(row)..].iter().all(|row| row.trim().is_empty()), "{rows:?}");
    // The rest; an emulator that knows no pictures passes over them.
    terminal.parser.process(after.as_bytes());
    assert_eq!(terminal.rows(), ["before", "", "", "", "> edit", "footer", "more"]);
    terminal.show(&[line("after")], &live, None);
    assert_eq!(terminal.rows(), ["before", "", "", "", "after", "> edit", "footer", "more"]);
}

#[test]
fn a_picture_of_a_higher_screen_is_not_drawn() {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend([900u32, 900].map(u32::to_be_bytes).concat());
    let picture = crate::images::Picture::new(&bytes).unwrap();
    let placed = picture.place(Protocol::Kitty, Cell::default(), 200, 40).unwrap();
    let shown = Screen::new(20, 6).show_picture(&placed, vec![line("live")], None);
    assert!(!shown.contains("\x1b_G"));
}

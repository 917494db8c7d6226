//! A terminal that wraps its rows anew when its width changes.
//!
//! The emulator below does not, so that the screen is written again into a new one: all rows, those that have
//! scrolled off included, as the lines that they were wrapped from.

use std::fmt::Write;

use super::drawing::Look;
use super::options::Size;

struct Cell {
    text: String,
    width: u16,
    look: Look,
}

/// What was written between two ends of lines, and whether it has only been wrapped so far.
#[derive(Default)]
struct Line {
    cells: Vec<Cell>,
    goes_on: bool,
}

/// Where something is in the lines: in which, and behind how many of its cells.
type Place = (usize, usize);

/// The same terminal with another size.
pub(crate) fn wrapped_anew(old: &mut vt100::Parser, size: Size) -> vt100::Parser {
    let alternate = old.screen().alternate_screen().then(|| {
        let mut shown = old.screen().clone();
        shown.set_size(size.rows, size.columns);
        format!("\x1b[?1049h{}", shown.state_formatted())
    });
    if alternate.is_some() {
        old.process(b"\x1b[?47l");
    }
    let mut screen = old.screen().clone();
    let (lines, cursor) = lines(&mut screen);
    let mut new = vt100::Parser::new(size.rows, size.columns, screen.scrollback_capacity());
    new.process(written(&lines).as_bytes());
    put_cursor(&mut new, &lines, cursor);
    new.process(screen.attributes_formatted().as_bytes());
    new.process(screen.input_mode_formatted().as_bytes());
    new.process(if screen.hide_cursor() { b"\x1b[?25l" } else { b"" });
    new.process(alternate.unwrap_or_default().as_bytes());
    new
}

/// All that was written, without blank lines that nothing follows; and where the cursor is.
fn lines(screen: &mut vt100::Screen) -> (Vec<Line>, Place) {
    let mut lines: Vec<Line> = Vec::new();
    for offset in (1..=screen.scrollback_len()).rev() {
        screen.set_scrollback(offset);
        take_row(&mut lines, screen, 0);
    }
    screen.set_scrollback(0);
    let (row_of_cursor, column) = screen.cursor_position();
    let mut cursor = (0, 0);
    for row in 0..screen.size().0.get() {
        let before = lines.last().filter(|line| line.goes_on).map_or(0, |line| line.cells.len());
        take_row(&mut lines, screen, row);
        if row == row_of_cursor {
            let cells =
                (0..column).filter(|at| screen.cell(row, *at).is_some_and(|it| !it.is_wide_continuation()));
            cursor = (lines.len() - 1, before + cells.count());
        }
    }
    let used = lines.iter().rposition(|line| !line.cells.is_empty()).map_or(0, |at| at + 1);
    lines.truncate(used.max(cursor.0 + 1));
    (lines, cursor)
}

fn take_row(lines: &mut Vec<Line>, screen: &vt100::Screen, row: u16) {
    if !lines.last().is_some_and(|line| line.goes_on) {
        lines.push(Line::default());
    }
    let Some(line) = lines.last_mut() else { return };
    line.goes_on = screen.row_wrapped(row);
    let begins = line.cells.len();
    for column in 0..screen.size().1.get() {
        let Some(cell) = screen.cell(row, column).filter(|cell| !cell.is_wide_continuation()) else {
            continue;
        };
        let text = if cell.has_contents() { cell.contents() } else { "" };
        line.cells.push(Cell {
            text: text.into(),
            width: 1 + u16::from(cell.is_wide()),
            look: Look::of(cell),
        });
    }
    // In a row that is full, what nothing was written to is the place that was too narrow for a wide one.
    let is_nothing = |cell: &Cell| cell.text.is_empty() && cell.look.background == vt100::Color::Default;
    while line.cells.len() > begins && line.cells.last().is_some_and(is_nothing) {
        line.cells.pop();
    }
}

fn written(lines: &[Line]) -> String {
    let mut out = String::new();
    let mut look = None;
    for (number, line) in lines.iter().enumerate() {
        if number > 0 {
            // Rows that scroll in would have the background.
            out.push_str("\x1b[m\r\n");
            look = None;
        }
        for cell in &line.cells {
            if look != Some(cell.look) {
                out.push_str(&cell.look.sequence());
                look = Some(cell.look);
            }
            out.push_str(if cell.text.is_empty() { " " } else { &cell.text });
        }
    }
    out
}

/// In how many rows a line is wrapped, and the column behind its last cell.
fn wrap(cells: &[Cell], columns: u16) -> (usize, u16) {
    cells.iter().fold((1, 0), |(rows, column), cell| {
        if column + cell.width > columns { (rows + 1, cell.width) } else { (rows, column + cell.width) }
    })
}

fn put_cursor(new: &mut vt100::Parser, lines: &[Line], (line, behind): Place) {
    let columns = new.screen().size().1.get();
    let cells = &lines[line].cells;
    let before = &cells[..behind.min(cells.len())];
    let (row_in_line, column) = wrap(before, columns);
    let rest: usize = lines[line..].iter().map(|line| wrap(&line.cells, columns).0).sum();
    let up = u16::try_from(rest - row_in_line).unwrap_or(u16::MAX);
    let row = new.screen().cursor_position().0.saturating_sub(up);
    let beyond = u16::try_from(behind - before.len()).unwrap_or(u16::MAX);
    let is_full = column == columns && beyond == 0;
    let mut go = String::new();
    match before.last().filter(|_| is_full) {
        // Written again, so that it is known that the next one belongs into the next row.
        Some(last) => {
            let text = if last.text.is_empty() { " " } else { &last.text };
            let column = columns.saturating_sub(last.width) + 1;
            let _ = write!(go, "\x1b[{};{column}H{}{text}", row + 1, last.look.sequence());
        }
        None => {
            let column = column.saturating_add(beyond).min(columns - 1);
            let _ = write!(go, "\x1b[{};{}H", row + 1, column + 1);
        }
    }
    new.process(go.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::super::emulator::Emulator;
    use super::super::options::{Options, Size};
    use super::super::screen::Screen;

    fn emulator(columns: u16, rows: u16, written: &str) -> Emulator {
        let mut emulator = Emulator::new(&Options::new(columns, rows).reflowing());
        emulator.feed(written.as_bytes(), |_| {});
        emulator
    }

    fn place(screen: &Screen<'_>) -> (u16, u16) {
        (screen.cursor().row, screen.cursor().column)
    }

    #[test]
    fn rows_are_wrapped_anew_and_come_back() {
        let mut emulator = emulator(10, 4, "0123456789abcde\r\n\r\n\x1b[1;32m> \x1b[0mtyped");
        let before = emulator.screen().styled();
        emulator.resize(Size::new(6, 4));
        assert_eq!(emulator.screen().everything(), "012345\n6789ab\ncde\n\n> type\nd");
        assert_eq!(emulator.screen().text(), "cde\n\n> type\nd");
        assert_eq!(place(&emulator.screen()), (3, 1));
        emulator.resize(Size::new(40, 4));
        assert_eq!(emulator.screen().text(), "0123456789abcde\n\n> typed");
        emulator.resize(Size::new(10, 4));
        assert_eq!(emulator.screen().styled(), before);
        assert_eq!(place(&emulator.screen()), (3, 7));
    }

    #[test]
    fn no_width_loses_anything() {
        let text = "wide 漢字漢字 and e\u{301} and \u{1f333}, a long line of many words\r\n\r\nlast one";
        let mut emulator = emulator(30, 5, text);
        let plain = |screen: &Screen<'_>| screen.everything().replace([' ', '\n'], "");
        let before = plain(&emulator.screen());
        // No wide character fits into one column.
        for columns in (2..60).chain((2..60).rev()) {
            emulator.resize(Size::new(columns, 5));
            assert_eq!(plain(&emulator.screen()), before, "{columns}");
        }
        emulator.feed("!".as_bytes(), |_| {});
        assert!(plain(&emulator.screen()).ends_with("lastone!"));
    }

    #[test]
    fn the_smallest_sizes_are_sizes() {
        let mut emulator = emulator(30, 5, "wide 漢字 and \u{1f333}\r\nlast");
        for (columns, rows) in [(1, 5), (2, 2), (300, 100), (1, 2), (30, 5)] {
            emulator.resize(Size::new(columns, rows));
        }
        assert!(emulator.screen().everything().ends_with("\nlast"));
        for (columns, rows) in [(1, 1), (2, 1), (0, 0), (30, 5)] {
            emulator.resize(Size::new(columns, rows));
        }
        // Of a single row it is not known that it was wrapped, since it has scrolled off by then.
        assert!(emulator.screen().everything().ends_with("\nl\na\ns\nt"));
    }

    #[test]
    fn a_stream_goes_on_where_it_was() {
        let text = "\x1b[31mred 漢\x1b[0m and \x1b]2;title\x1b\\plain, and more than fits \x1b[1mé";
        for cut in 0..text.len() {
            let mut emulator = Emulator::new(&Options::new(12, 5).reflowing());
            emulator.feed(&text.as_bytes()[..cut], |_| {});
            emulator.resize(Size::new(9, 5));
            emulator.main_screen();
            emulator.feed(&text.as_bytes()[cut..], |_| {});
            let mut whole = Emulator::new(&Options::new(9, 5));
            whole.feed(text.as_bytes(), |_| {});
            assert_eq!(emulator.screen().styled(), whole.screen().styled(), "cut at {cut}");
            assert_eq!(place(&emulator.screen()), place(&whole.screen()), "cut at {cut}");
        }
    }

    #[test]
    fn the_main_screen_is_wrapped_behind_the_alternate_one() {
        let mut emulator = emulator(10, 4, "0123456789abc\x1b[?2004h\x1b[?1049h\x1b[Hother one");
        emulator.resize(Size::new(5, 4));
        assert_eq!(emulator.screen().text(), "other");
        assert!(emulator.has_bracketed_paste());
        emulator.feed(b"\x1b[?1049l!", |_| {});
        assert_eq!(emulator.screen().text(), "01234\n56789\nabc!");
    }
}

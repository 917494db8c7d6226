//! Screens as pictures: text on a grid, as SVG. The same screens give the same bytes.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::drawing::Look;
use super::frames::Frame;
use super::screen::Screen;

/// One cell, in the units of the picture; fonts that are 0.6 as wide as high are what viewers have.
const CELL: (f64, f64) = (8.4, 18.0);
const MARGIN: f64 = 12.0;
const BASELINE: f64 = 13.5;

const FOREGROUND: &str = "#d8d8d8";
const BACKGROUND: &str = "#181818";
const SIXTEEN: [&str; 16] = [
    "#3b3b3b", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#c8ccd4", "#767676",
    "#ff7b86", "#b5e890", "#ffd68a", "#82c4ff", "#e29bf5", "#7fd6e0", "#ffffff",
];

/// A screen as a picture.
pub fn picture(screen: &Screen<'_>) -> String {
    let mut rows = Rows::default();
    let shown = rows.add(screen);
    document(screen.size(), "", &rows, &shown)
}

/// Screens one after the other, and again from the beginning. As large as the largest of them.
pub fn moving_picture(frames: &[Frame]) -> String {
    let mut rows = Rows::default();
    let total: f64 = frames.iter().map(|frame| frame.lasts.as_secs_f64()).sum();
    let (mut style, mut body, mut begins, mut size) = (String::new(), String::new(), 0.0, (1, 1));
    for (number, frame) in frames.iter().enumerate() {
        let (columns, lines) = frame.screen.size();
        size = (size.0.max(columns), size.1.max(lines));
        let ends = begins + frame.lasts.as_secs_f64();
        let per_cent = |at: f64| if total > 0.0 { at / total * 100.0 } else { 0.0 };
        let is_last = number + 1 == frames.len();
        // Where no end is said, it is hidden again at the end of all.
        let hidden =
            if is_last { String::new() } else { format!("{:.3}%{{visibility:hidden}}", per_cent(ends)) };
        let shown = format!("{:.3}%{{visibility:visible}}", per_cent(begins));
        let before = if number == 0 { "" } else { "0%{visibility:hidden}" };
        // A viewer that does not move shows the first.
        let at_rest = if number == 0 { "visible" } else { "hidden" };
        let _ = writeln!(style, "@keyframes f{number}{{{before}{shown}{hidden}}}");
        let _ = writeln!(
            style,
            "#f{number}{{visibility:{at_rest};animation:f{number} {total:.3}s step-end infinite}}"
        );
        let _ = writeln!(body, "<g id=\"f{number}\">\n{}</g>", rows.add(&frame.screen));
        begins = ends;
    }
    document(size, &style, &rows, &body)
}

fn document(size: (u16, u16), style: &str, rows: &Rows, body: &str) -> String {
    let width = f64::from(size.0) * CELL.0 + 2.0 * MARGIN;
    let height = f64::from(size.1) * CELL.1 + 2.0 * MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.1}\" height=\"{height:.1}\" \
         viewBox=\"0 0 {width:.1} {height:.1}\">\n<style>\ntext{{font:14px ui-monospace,Menlo,Consolas,\
         'DejaVu Sans Mono',monospace;white-space:pre;fill:{FOREGROUND}}}\n{style}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n<defs>\n{}</defs>\n\
         <g transform=\"translate({MARGIN} {MARGIN})\">\n{body}</g>\n</svg>\n",
        rows.drawn,
    )
}

/// Rows that were drawn; most rows are on many screens, and drawn once.
#[derive(Default)]
struct Rows {
    known: BTreeMap<String, usize>,
    drawn: String,
}

impl Rows {
    /// Draws what is new of a screen, and answers the whole of it.
    fn add(&mut self, screen: &Screen<'_>) -> String {
        let mut shown = String::new();
        for row in 0..screen.size().1 {
            let drawn = draw(screen, row);
            if drawn.is_empty() {
                continue;
            }
            let next = self.known.len();
            let number = *self.known.entry(drawn.clone()).or_insert(next);
            if number == next {
                let _ = writeln!(self.drawn, "<g id=\"r{number}\">{drawn}</g>");
            }
            let _ = writeln!(shown, "<use href=\"#r{number}\" y=\"{:.1}\"/>", f64::from(row) * CELL.1);
        }
        let cursor = screen.cursor();
        if cursor.is_visible {
            let last = screen.size().0 - 1;
            let _ = writeln!(
                shown,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{FOREGROUND}\" \
                 fill-opacity=\"0.5\"/>",
                f64::from(cursor.column.min(last)) * CELL.0,
                f64::from(cursor.row) * CELL.1,
                CELL.0,
                CELL.1,
            );
        }
        shown
    }
}

/// Cells that look the same and can be written as one text.
struct Run {
    column: u16,
    cells: u16,
    text: String,
    look: Look,
    /// Other than one cell for each character: a text of its own, since fonts differ most in these.
    stands_alone: bool,
}

fn runs(screen: &Screen<'_>, row: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for column in 0..screen.size().0 {
        let Some(cell) = screen.cell(row, column) else { continue };
        if cell.is_wide_continuation() {
            continue;
        }
        let look = Look::of(cell);
        let text = if cell.has_contents() { cell.contents() } else { " " };
        let stands_alone = cell.is_wide() || text.chars().count() > 1;
        match runs.last_mut().filter(|run| run.look == look && !run.stands_alone && !stands_alone) {
            Some(run) => {
                run.text.push_str(text);
                run.cells += 1;
            }
            None => {
                let cells = 1 + u16::from(cell.is_wide());
                runs.push(Run { column, cells, text: text.to_owned(), look, stands_alone });
            }
        }
    }
    runs
}

fn draw(screen: &Screen<'_>, row: u16) -> String {
    let mut out = String::new();
    for run in runs(screen, row) {
        let (left, width) = (f64::from(run.column) * CELL.0, f64::from(run.cells) * CELL.0);
        let (ink, ground) = colours(&run.look);
        if let Some(ground) = ground {
            let _ = write!(
                out,
                "<rect x=\"{left:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{ground}\"/>",
                CELL.1
            );
        }
        let blanks = run.text.len() - run.text.trim_end_matches(' ').len();
        // Blanks at the end are seen if they are underlined only.
        let blanks = if run.look.underline { 0 } else { blanks };
        let text = &run.text[..run.text.len() - blanks];
        if text.is_empty() {
            continue;
        }
        let width = width - blanks as f64 * CELL.0;
        let _ = write!(
            out,
            "<text x=\"{left:.1}\" y=\"{BASELINE}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" \
             xml:space=\"preserve\"{}>{}</text>",
            attributes(&run.look, ink.as_deref()),
            escaped(text),
        );
    }
    out
}

fn attributes(look: &Look, ink: Option<&str>) -> String {
    let mut out = String::new();
    let mut style = String::new();
    if let Some(ink) = ink {
        let _ = write!(style, "fill:{ink};");
    }
    for (is, words) in [
        (look.bold, "font-weight:bold;"),
        (look.italic, "font-style:italic;"),
        (look.underline, "text-decoration:underline;"),
        (look.dim, "opacity:0.6;"),
    ] {
        style.push_str(if is { words } else { "" });
    }
    if !style.is_empty() {
        let _ = write!(out, " style=\"{}\"", style.trim_end_matches(';'));
    }
    out
}

/// Of the text and of what is behind it; none is what the picture has anyway.
fn colours(look: &Look) -> (Option<String>, Option<String>) {
    let (ink, ground) = (colour(look.foreground), colour(look.background));
    if look.inverse {
        return (
            Some(ground.unwrap_or_else(|| BACKGROUND.into())),
            Some(ink.unwrap_or_else(|| FOREGROUND.into())),
        );
    }
    (ink, ground)
}

fn colour(colour: vt100::Color) -> Option<String> {
    Some(match colour {
        vt100::Color::Default => return None,
        vt100::Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
        vt100::Color::Idx(number) => match number {
            0..16 => SIXTEEN[usize::from(number)].to_owned(),
            16..232 => {
                let part = |place: u8| match (number - 16) / place % 6 {
                    0 => 0,
                    step => 55 + 40 * step,
                };
                format!("#{:02x}{:02x}{:02x}", part(36), part(6), part(1))
            }
            grey => {
                let value = 8 + 10 * (grey - 232);
                format!("#{value:02x}{value:02x}{value:02x}")
            }
        },
    })
}

/// As XML wants it, without what XML does not know at all.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            letter if letter.is_control() => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::emulator::Emulator;
    use super::super::options::Options;
    use super::*;

    fn screen(written: &str) -> Screen<'static> {
        let mut emulator = Emulator::new(&Options::new(12, 2));
        emulator.feed(written.as_bytes(), |_| {});
        emulator.screen().into_owned()
    }

    #[test]
    fn text_stands_on_its_grid() {
        let svg = picture(&screen("a<b>&\x1b[?25l\r\n\x1b[1;38;5;196mred\x1b[0m 漢\x1b[7mx"));
        let texts: Vec<&str> = svg.lines().filter(|line| line.starts_with("<g id=")).collect();
        let attributes = "lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\"";
        let first = format!(
            "<g id=\"r0\"><text x=\"0.0\" y=\"13.5\" textLength=\"42.0\" {attributes}>a&lt;b&gt;&amp;</text></g>"
        );
        let second = format!(
            "<g id=\"r1\"><text x=\"0.0\" y=\"13.5\" textLength=\"25.2\" {attributes} \
             style=\"fill:#ff0000;font-weight:bold\">red</text>\
             <text x=\"33.6\" y=\"13.5\" textLength=\"16.8\" {attributes}>漢</text>\
             <rect x=\"50.4\" width=\"8.4\" height=\"18.0\" fill=\"#d8d8d8\"/>\
             <text x=\"50.4\" y=\"13.5\" textLength=\"8.4\" {attributes} style=\"fill:#181818\">x</text></g>"
        );
        assert_eq!(texts, [first, second]);
    }

    #[test]
    fn a_row_that_stays_is_drawn_once() {
        let frames = ["same\r\none", "same\r\ntwo", "two\r\nsame"]
            .map(|written| Frame { screen: screen(written), lasts: Duration::from_millis(500) });
        let svg = moving_picture(&frames);
        assert_eq!(svg.matches("same").count(), 1);
        assert_eq!(svg.matches("two").count(), 1);
        assert!(svg.contains("@keyframes f1{0%{visibility:hidden}33.333%{visibility:visible}66.667%"));
        assert_eq!(svg, moving_picture(&frames));
    }

    #[test]
    fn colours_of_all_kinds() {
        let named = |number| colour(vt100::Color::Idx(number)).unwrap();
        assert_eq!([named(16), named(21), named(231)], ["#000000", "#0000ff", "#ffffff"]);
        assert_eq!([named(232), named(255)], ["#080808", "#eeeeee"]);
        assert_eq!(colour(vt100::Color::Rgb(1, 2, 255)).unwrap(), "#0102ff");
    }

    #[test]
    fn nothing_breaks_the_document() {
        assert_eq!(escaped("\"<&>\u{1}\u{ffff}é"), "&quot;&lt;&amp;&gt;\u{fffd}\u{fffd}é");
        assert!(moving_picture(&[]).ends_with("</svg>\n"));
    }
}

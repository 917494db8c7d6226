//! A line as the bytes that draw it.

use std::fmt::Write as _;

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;

use crate::text::width::{clusters, width};

/// The columns that a line takes.
pub(super) fn width_of(line: &Line<'_>) -> u16 {
    let columns: usize = line.spans.iter().map(|span| width(&span.content)).sum();
    u16::try_from(columns).unwrap_or(u16::MAX)
}

/// Draws a line, cut at `columns`.
pub(super) fn paint(out: &mut String, line: &Line<'_>, columns: u16) {
    let mut room = usize::from(columns);
    let mut styled = false;
    for span in &line.spans {
        let style = line.style.patch(span.style);
        if style != Style::default() || styled {
            sgr(out, style);
            styled = style != Style::default();
        }
        for cluster in clusters(&span.content) {
            let Some(rest) = room.checked_sub(width(cluster)) else {
                room = 0;
                break;
            };
            room = rest;
            out.push_str(cluster);
        }
        if room == 0 {
            break;
        }
    }
    if styled {
        out.push_str("\x1b[0m");
    }
}

/// Everything off, then what the style has.
fn sgr(out: &mut String, style: Style) {
    out.push_str("\x1b[0");
    let on = style.add_modifier - style.sub_modifier;
    for (modifier, code) in [
        (Modifier::BOLD, 1),
        (Modifier::DIM, 2),
        (Modifier::ITALIC, 3),
        (Modifier::UNDERLINED, 4),
        (Modifier::REVERSED, 7),
        (Modifier::CROSSED_OUT, 9),
    ] {
        if on.contains(modifier) {
            let _ = write!(out, ";{code}");
        }
    }
    color(out, style.fg, 30);
    color(out, style.bg, 40);
    out.push('m');
}

fn color(out: &mut String, color: Option<Color>, base: u8) {
    let plain = |number: u8| base + number;
    let bright = |number: u8| base + 60 + number;
    let code = match color {
        None | Some(Color::Reset) => return,
        Some(Color::Black) => plain(0),
        Some(Color::Red) => plain(1),
        Some(Color::Green) => plain(2),
        Some(Color::Yellow) => plain(3),
        Some(Color::Blue) => plain(4),
        Some(Color::Magenta) => plain(5),
        Some(Color::Cyan) => plain(6),
        Some(Color::Gray) => plain(7),
        Some(Color::DarkGray) => bright(0),
        Some(Color::LightRed) => bright(1),
        Some(Color::LightGreen) => bright(2),
        Some(Color::LightYellow) => bright(3),
        Some(Color::LightBlue) => bright(4),
        Some(Color::LightMagenta) => bright(5),
        Some(Color::LightCyan) => bright(6),
        Some(Color::White) => bright(7),
        Some(Color::Indexed(number)) => {
            let _ = write!(out, ";{};5;{number}", base + 8);
            return;
        }
        Some(Color::Rgb(red, green, blue)) => {
            let _ = write!(out, ";{};2;{red};{green};{blue}", base + 8);
            return;
        }
    };
    let _ = write!(out, ";{code}");
}

//! What the text of a screen looks like, in letters.

use std::fmt::Write;

use super::screen::Screen;

/// All that a cell can look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) foreground: vt100::Color,
    pub(crate) background: vt100::Color,
    pub(crate) bold: bool,
    pub(crate) dim: bool,
    pub(crate) italic: bool,
    pub(crate) underline: bool,
    pub(crate) inverse: bool,
}

impl Look {
    pub(crate) fn of(cell: &vt100::Cell) -> Look {
        Look {
            foreground: cell.fgcolor(),
            background: cell.bgcolor(),
            bold: cell.bold(),
            dim: cell.dim(),
            italic: cell.italic(),
            underline: cell.underline(),
            inverse: cell.inverse(),
        }
    }

    /// The sequence that makes what follows look so, whatever was before.
    pub(crate) fn sequence(&self) -> String {
        let modes = [
            (self.bold, "1"),
            (self.dim, "2"),
            (self.italic, "3"),
            (self.underline, "4"),
            (self.inverse, "7"),
        ];
        let mut parts = vec!["0".to_owned()];
        parts.extend(modes.iter().filter(|(is, _)| *is).map(|(_, mode)| (*mode).to_owned()));
        for (colour, place) in [(self.foreground, 38), (self.background, 48)] {
            match colour {
                vt100::Color::Default => {}
                vt100::Color::Idx(number) => parts.push(format!("{place};5;{number}")),
                vt100::Color::Rgb(red, green, blue) => parts.push(format!("{place};2;{red};{green};{blue}")),
            }
        }
        format!("\x1b[{}m", parts.join(";"))
    }

    fn words(&self) -> String {
        let mut words: Vec<String> = Vec::new();
        let named = [
            (self.bold, "bold"),
            (self.dim, "dim"),
            (self.italic, "italic"),
            (self.underline, "underline"),
            (self.inverse, "inverse"),
        ];
        words.extend(named.iter().filter(|(is, _)| *is).map(|(_, name)| (*name).to_owned()));
        words.extend(colour(self.foreground));
        words.extend(colour(self.background).map(|name| format!("on {name}")));
        if words.is_empty() { "plain".into() } else { words.join(", ") }
    }
}

const NAMES: [&str; 8] = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

fn colour(colour: vt100::Color) -> Option<String> {
    Some(match colour {
        vt100::Color::Default => return None,
        vt100::Color::Idx(number @ 0..8) => NAMES[usize::from(number)].to_owned(),
        vt100::Color::Idx(number @ 8..16) => format!("bright {}", NAMES[usize::from(number) - 8]),
        vt100::Color::Idx(number) => format!("colour {number}"),
        vt100::Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
    })
}

const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// A blank looks like nothing unless something of it is seen.
fn is_plain(cell: &vt100::Cell) -> bool {
    let look = Look::of(cell);
    let is_blank = cell.contents().trim().is_empty();
    let is_seen = look.inverse || look.underline || look.background != vt100::Color::Default;
    look.words() == "plain" || (is_blank && !is_seen)
}

pub(crate) fn styled(screen: &Screen<'_>) -> String {
    let (columns, rows) = screen.size();
    let mut looks: Vec<Look> = Vec::new();
    let mut picture = Vec::new();
    for row in 0..rows {
        let mut line = String::new();
        for cell in (0..columns).filter_map(|column| screen.cell(row, column)) {
            let before = line.chars().next_back().unwrap_or(' ');
            line.push(if cell.is_wide_continuation() { before } else { letter(cell, &mut looks) });
        }
        picture.push(line.trim_end().to_owned());
    }
    let mut out = format!("{}\n── looks\n{}\n──", screen.text(), picture.join("\n").trim_end_matches('\n'));
    for (look, letter) in looks.iter().zip(LETTERS) {
        let _ = write!(out, "\n{} {}", char::from(*letter), look.words());
    }
    out
}

fn letter(cell: &vt100::Cell, looks: &mut Vec<Look>) -> char {
    if is_plain(cell) {
        return if cell.contents().trim().is_empty() { ' ' } else { '·' };
    }
    let look = Look::of(cell);
    let at = looks.iter().position(|it| *it == look).unwrap_or_else(|| {
        looks.push(look);
        looks.len() - 1
    });
    LETTERS.get(at).map_or('?', |letter| char::from(*letter))
}

//! Colours as numbers: how light they are, how far apart, which of few is the nearest.

use std::str::FromStr;

use ratatui::style::Color;

/// A colour of red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// The levels of each part in the cube of 216 colours.
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// The sixteen colours as terminals usually draw them, by their numbers.
const SIXTEEN: [(Color, Rgb); 16] = [
    (Color::Black, Rgb(0, 0, 0)),
    (Color::Red, Rgb(205, 0, 0)),
    (Color::Green, Rgb(0, 205, 0)),
    (Color::Yellow, Rgb(205, 205, 0)),
    (Color::Blue, Rgb(0, 0, 238)),
    (Color::Magenta, Rgb(205, 0, 205)),
    (Color::Cyan, Rgb(0, 205, 205)),
    (Color::Gray, Rgb(229, 229, 229)),
    (Color::DarkGray, Rgb(127, 127, 127)),
    (Color::LightRed, Rgb(255, 0, 0)),
    (Color::LightGreen, Rgb(0, 255, 0)),
    (Color::LightYellow, Rgb(255, 255, 0)),
    (Color::LightBlue, Rgb(92, 92, 255)),
    (Color::LightMagenta, Rgb(255, 0, 255)),
    (Color::LightCyan, Rgb(0, 255, 255)),
    (Color::White, Rgb(255, 255, 255)),
];

impl Rgb {
    /// The colour with a number among 256; the first sixteen as terminals usually draw them.
    pub fn of_index(index: u8) -> Rgb {
        match index {
            0..16 => SIXTEEN[usize::from(index)].1,
            16..232 => {
                let level = |place: u8| CUBE[usize::from((index - 16) / place % 6)];
                Rgb(level(36), level(6), level(1))
            }
            232.. => {
                let gray = 8 + 10 * (index - 232);
                Rgb(gray, gray, gray)
            }
        }
    }

    /// What a colour usually looks like; none for the terminal's own.
    pub fn of(color: Color) -> Option<Rgb> {
        match color {
            Color::Rgb(red, green, blue) => Some(Rgb(red, green, blue)),
            Color::Indexed(index) => Some(Rgb::of_index(index)),
            color => SIXTEEN.iter().find(|(known, _)| *known == color).map(|(_, rgb)| *rgb),
        }
    }

    /// The number of the nearest of 240 colours. The first sixteen are left out: users change them.
    pub fn nearest_index(self) -> u8 {
        // The cube comes first: where both are as near, it is the one with a hue.
        (16..=255).min_by_key(|&index| self.distance(Rgb::of_index(index))).unwrap_or(16)
    }

    /// The nearest of the sixteen colours.
    pub fn nearest_of_sixteen(self) -> Color {
        let nearest = SIXTEEN.iter().min_by_key(|(_, rgb)| self.distance(*rgb));
        nearest.map_or(Color::Reset, |(color, _)| *color)
    }

    /// How different two colours look, roughly: the eye sees green best, and red the better the more there is.
    fn distance(self, other: Rgb) -> u64 {
        let squared = |a: u8, b: u8| u64::from(a.abs_diff(b)).pow(2);
        let red = (u64::from(self.0) + u64::from(other.0)) / 2;
        (512 + red) * squared(self.0, other.0)
            + 1024 * squared(self.1, other.1)
            + (767 - red) * squared(self.2, other.2)
    }

    /// How light it is, between 0 and 1, as the WCAG count it.
    pub fn luminance(self) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }

    /// How well one can be read on the other: from 1, not at all, to 21.
    pub fn contrast(self, other: Rgb) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }
}

/// `#rrggbb` or `#rgb`.
impl FromStr for Rgb {
    type Err = ();

    fn from_str(text: &str) -> Result<Rgb, ()> {
        let digits = text.strip_prefix('#').ok_or(())?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(());
        }
        let part =
            |from: usize, length: usize| u8::from_str_radix(&digits[from..from + length], 16).map_err(|_| ());
        match digits.len() {
            3 => Ok(Rgb(part(0, 1)? * 17, part(1, 1)? * 17, part(2, 1)? * 17)),
            6 => Ok(Rgb(part(0, 2)?, part(2, 2)?, part(4, 2)?)),
            _ => Err(()),
        }
    }
}

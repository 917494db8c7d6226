//! The themes that come with the program.

use ratatui::style::{Color, Modifier, Style};

use super::{Background, Role, Theme};

/// In which colours a theme is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Palette {
    /// In all of them.
    All,
    /// In the sixteen that users choose for themselves: chosen by hand, since the nearest is seldom the best.
    Sixteen,
}

/// A colour on dark and on light, each in all colours and in sixteen.
struct Shade {
    dark: u32,
    light: u32,
    dark16: Color,
    light16: Color,
}

const fn shade(dark: u32, dark16: Color, light: u32, light16: Color) -> Shade {
    Shade { dark, light, dark16, light16 }
}

const GRAY: Shade = shade(0x9a_a0_a6, Color::Gray, 0x5c_62_68, Color::DarkGray);
const LINE: Shade = shade(0x80_86_8c, Color::DarkGray, 0x6a_70_76, Color::DarkGray);
const TEAL: Shade = shade(0x5f_d7_d7, Color::Cyan, 0x00_66_70, Color::Cyan);
const BLUE: Shade = shade(0x8a_b4_f8, Color::LightBlue, 0x1a_56_b0, Color::Blue);
const GREEN: Shade = shade(0x87_d7_87, Color::Green, 0x1e_6b_2a, Color::Green);
const YELLOW: Shade = shade(0xe6_c3_6a, Color::Yellow, 0x7a_54_00, Color::Magenta);
const ORANGE: Shade = shade(0xf0_a8_6c, Color::Yellow, 0x8f_47_00, Color::Red);
const RED: Shade = shade(0xff_8a_8a, Color::LightRed, 0xb0_1c_24, Color::Red);
const VIOLET: Shade = shade(0xc8_a6_f5, Color::Magenta, 0x74_37_a8, Color::Magenta);

/// The colour of text in each role. A role that is not here has the terminal's own.
const FOREGROUNDS: &[(Role, Shade)] = &[
    (Role::Dim, GRAY),
    (Role::Accent, TEAL),
    (Role::User, TEAL),
    (Role::Assistant, VIOLET),
    (Role::Thinking, GRAY),
    (Role::Tool, BLUE),
    (Role::Success, GREEN),
    (Role::Warning, YELLOW),
    (Role::Error, RED),
    (Role::Border, LINE),
    (Role::Label, YELLOW),
    (Role::Active, TEAL),
    (Role::Branch, LINE),
    (Role::Code, ORANGE),
    (Role::Heading, TEAL),
    (Role::Link, BLUE),
    (Role::Quote, GRAY),
    (Role::Added, GREEN),
    (Role::Removed, RED),
    (Role::Summary, VIOLET),
];

/// What stands behind the selected row, dark and light.
const SELECTED: (u32, u32) = (0x2a_33_42, 0xdd_e8_f5);

/// What stands behind what a search has found, and the text on it.
const MATCH: (u32, u32) = (0x5c_4a_12, 0xff_e0_8a);
const ON_MATCH: (u32, u32) = (0xff_f4_d0, 0x3a_2c_00);

pub(super) fn theme(background: Background, palette: Palette) -> Theme {
    let is_dark = background == Background::Dark;
    let name = if is_dark { "dark" } else { "light" };
    let mut theme = Theme { name: name.into(), is_dark, ..Theme::plain() };
    for (role, shade) in FOREGROUNDS {
        let color = match (palette, is_dark) {
            (Palette::All, true) => color(shade.dark),
            (Palette::All, false) => color(shade.light),
            (Palette::Sixteen, true) => shade.dark16,
            (Palette::Sixteen, false) => shade.light16,
        };
        // A gray is dim by itself, and dimmed once more it can no longer be read.
        let modifiers = theme.style(*role).add_modifier - Modifier::DIM;
        theme.set(*role, Style::new().fg(color).add_modifier(modifiers));
    }
    theme.set(Role::Thinking, theme.style(Role::Thinking).add_modifier(Modifier::ITALIC));
    theme.set(Role::Quote, theme.style(Role::Quote).add_modifier(Modifier::ITALIC));
    if palette == Palette::All {
        let of = |pair: (u32, u32)| color(if is_dark { pair.0 } else { pair.1 });
        theme.set(Role::Selected, Style::new().bg(of(SELECTED)).add_modifier(Modifier::BOLD));
        theme.set(Role::Match, theme.style(Role::Match).fg(of(ON_MATCH)).bg(of(MATCH)));
    }
    theme
}

fn color(hex: u32) -> Color {
    Color::from_u32(hex)
}

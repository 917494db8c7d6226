//! How many colours a terminal has.

use ratatui::style::Color;

use super::Rgb;

/// How many colours there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ColorDepth {
    /// None: they are not there, or not wanted.
    None,
    /// The sixteen that users choose for themselves.
    Ansi16,
    /// 256.
    Ansi256,
    /// All that red, green and blue make.
    TrueColor,
}

/// Terminals that have all colours, by what they put into `TERM`.
const TRUE_COLOR_TERMS: &[&str] = &["alacritty", "contour", "foot", "ghostty", "kitty", "rio", "wezterm"];

/// The same by what they put into `TERM_PROGRAM`.
const TRUE_COLOR_PROGRAMS: &[&str] = &["ghostty", "Hyper", "iTerm.app", "rio", "vscode", "WezTerm", "zed"];

impl ColorDepth {
    /// What the variables of an environment say. Nothing else is asked.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> ColorDepth {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let term = set("TERM").unwrap_or_default();
        let is_windows_terminal = set("WT_SESSION").is_some();
        if set("NO_COLOR").is_some() || term == "dumb" || (term.is_empty() && !is_windows_terminal) {
            return ColorDepth::None;
        }
        // GNU screen hands the variables of the terminal around it on, and not the colours. Tmux names itself
        // `screen`, too, and turns the colours into what the terminal around it has.
        let is_screen = term.starts_with("screen") && set("TMUX").is_none();
        if !is_screen && (is_windows_terminal || says_true_color(&term, &set)) {
            return ColorDepth::TrueColor;
        }
        if term.contains("256color") || set("TERM_PROGRAM").as_deref() == Some("Apple_Terminal") {
            return ColorDepth::Ansi256;
        }
        ColorDepth::Ansi16
    }

    /// The nearest colour that there is; none where there are no colours. Whether the background is dark
    /// matters where few are left, lest something be written in the background's own colour.
    pub fn reduce(self, color: Color, on_dark: bool) -> Option<Color> {
        match (self, color) {
            (ColorDepth::None, _) => None,
            (ColorDepth::TrueColor, color) => Some(color),
            (ColorDepth::Ansi256, Color::Rgb(red, green, blue)) => {
                Some(Color::Indexed(Rgb(red, green, blue).nearest_index()))
            }
            (ColorDepth::Ansi16, Color::Rgb(..) | Color::Indexed(_)) => {
                Rgb::of(color).map(|rgb| apart_from_background(rgb.nearest_of_sixteen(), on_dark))
            }
            (_, color) => Some(color),
        }
    }
}

fn says_true_color(term: &str, set: &impl Fn(&str) -> Option<String>) -> bool {
    let colorterm = set("COLORTERM").unwrap_or_default();
    let program = set("TERM_PROGRAM").unwrap_or_default();
    matches!(colorterm.as_str(), "truecolor" | "24bit")
        || term.ends_with("-direct")
        || TRUE_COLOR_TERMS.iter().any(|name| term.contains(name))
        || TRUE_COLOR_PROGRAMS.contains(&program.as_str())
}

fn apart_from_background(color: Color, on_dark: bool) -> Color {
    match (color, on_dark) {
        (Color::Black, true) | (Color::White | Color::Gray, false) => Color::DarkGray,
        (color, _) => color,
    }
}

//! A theme of the user's own, from a TOML file.
//!
//! ```toml
//! name = "harbour"
//! base = "dark"            # or "light", or "plain": what is not said here stays as it is there
//!
//! [colors]                 # names for one's own use
//! sea = "#5fd7d7"
//!
//! [roles]
//! accent = "sea"           # a colour alone is that of the text
//! dim = 245                # one of 256 by its number
//! error = { fg = "light-red", bg = "default", modifiers = ["bold", "underlined"] }
//!
//! [code]                   # what parts of programs are drawn in
//! keyword = "sea"
//! ```

use std::fmt;

use ratatui::style::{Color, Modifier, Style};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Background, ColorDepth, Rgb, Role, Theme, Token};

/// Something in a theme's file that could not be used. What it was about stays as the base has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThemeProblem {
    /// The line where it stands, counted from one.
    pub line: usize,
    /// What is wrong there.
    pub kind: ThemeProblemKind,
}

/// What is wrong in a theme's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThemeProblemKind {
    /// It is no TOML; what the reader says of it.
    NotToml(String),
    /// It is no JSON; what the reader says of it.
    NotJson(String),
    /// The file has nothing of this name.
    UnknownKey(String),
    /// No theme to begin with is called so.
    UnknownBase(String),
    /// There is no role of this name.
    UnknownRole(String),
    /// There is no piece of code of this name.
    UnknownToken(String),
    /// There is no colour of this name.
    UnknownColor(String),
    /// A number that is none of 256.
    NotAnIndex(String),
    /// There is no such way of writing.
    UnknownModifier(String),
    /// Something else belongs here.
    Expected(&'static str),
}

impl fmt::Display for ThemeProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.kind {
            ThemeProblemKind::NotToml(says) => write!(f, "not TOML: {says}"),
            ThemeProblemKind::NotJson(says) => write!(f, "not JSON: {says}"),
            ThemeProblemKind::UnknownKey(name) => {
                write!(
                    f,
                    "nothing here is called {name:?}; there are name, base, [colors], [roles] and [code]"
                )
            }
            ThemeProblemKind::UnknownBase(name) => {
                write!(f, "no theme to begin with is called {name:?}; there are dark, light and plain")
            }
            ThemeProblemKind::UnknownRole(name) => {
                let names: Vec<&str> = Role::ALL.iter().map(|role| role.name()).collect();
                write!(f, "no role is called {name:?}; there are {}", names.join(", "))
            }
            ThemeProblemKind::UnknownToken(name) => {
                let names: Vec<&str> = Token::names().collect();
                write!(f, "no piece of code is called {name:?}; there are {}", names.join(", "))
            }
            ThemeProblemKind::UnknownColor(name) => {
                write!(f, "no colour is called {name:?}; write one of the sixteen, 0 to 255, or #rrggbb")
            }
            ThemeProblemKind::NotAnIndex(number) => write!(f, "{number} is not between 0 and 255"),
            ThemeProblemKind::UnknownModifier(name) => {
                let names: Vec<&str> = MODIFIERS.iter().map(|(name, _)| *name).collect();
                write!(f, "no modifier is called {name:?}; there are {}", names.join(", "))
            }
            ThemeProblemKind::Expected(what) => write!(f, "expected {what}"),
        }
    }
}

/// The sixteen colours, and the terminal's own.
const COLORS: &[(&str, Color)] = &[
    ("default", Color::Reset),
    ("black", Color::Black),
    ("red", Color::Red),
    ("green", Color::Green),
    ("yellow", Color::Yellow),
    ("blue", Color::Blue),
    ("magenta", Color::Magenta),
    ("cyan", Color::Cyan),
    ("gray", Color::Gray),
    ("dark-gray", Color::DarkGray),
    ("light-red", Color::LightRed),
    ("light-green", Color::LightGreen),
    ("light-yellow", Color::LightYellow),
    ("light-blue", Color::LightBlue),
    ("light-magenta", Color::LightMagenta),
    ("light-cyan", Color::LightCyan),
    ("white", Color::White),
];

const MODIFIERS: &[(&str, Modifier)] = &[
    ("bold", Modifier::BOLD),
    ("dim", Modifier::DIM),
    ("italic", Modifier::ITALIC),
    ("underlined", Modifier::UNDERLINED),
    ("reversed", Modifier::REVERSED),
    ("crossed-out", Modifier::CROSSED_OUT),
];

impl Theme {
    /// A theme from the text of a file, in the colours that there are, and what in it could not be used.
    pub fn read(text: &str, depth: ColorDepth) -> (Theme, Vec<ThemeProblem>) {
        let mut reader = Reader { text, own: Vec::new(), problems: Vec::new() };
        let table = match DeTable::parse(text) {
            Ok(table) => table.into_inner(),
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                reader.report(at, ThemeProblemKind::NotToml(error.message().to_owned()));
                return (Theme::built_in(Background::Dark, depth), reader.problems);
            }
        };
        let theme = reader.theme(&table, depth);
        reader.problems.sort_by_key(|problem| problem.line);
        (theme, reader.problems)
    }
}

type Value<'a> = Spanned<DeValue<'a>>;

struct Reader<'a> {
    text: &'a str,
    own: Vec<(String, Color)>,
    problems: Vec<ThemeProblem>,
}

impl Reader<'_> {
    fn report(&mut self, at: usize, kind: ThemeProblemKind) {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        self.problems.push(ThemeProblem { line, kind });
    }

    fn theme(&mut self, table: &DeTable<'_>, depth: ColorDepth) -> Theme {
        let mut theme = self.base(table.get("base"), depth);
        if let Some(colors) = table.get("colors") {
            self.own_colors(colors);
        }
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "base" | "colors" => {}
                "name" => match value.get_ref().as_str() {
                    Some(name) => name.clone_into(&mut theme.name),
                    None => self.report(value.span().start, ThemeProblemKind::Expected("a name")),
                },
                "roles" => self.roles(value, &mut theme),
                "code" => self.code(value, &mut theme),
                name => self.report(key.span().start, ThemeProblemKind::UnknownKey(name.to_owned())),
            }
        }
        theme.at(depth)
    }

    fn base(&mut self, value: Option<&Value<'_>>, depth: ColorDepth) -> Theme {
        let dark = || Theme::built_in(Background::Dark, depth);
        let Some(value) = value else { return dark() };
        match value.get_ref().as_str() {
            Some("dark") => dark(),
            Some("light") => Theme::built_in(Background::Light, depth),
            Some("plain") => Theme::plain(),
            Some(name) => {
                self.report(value.span().start, ThemeProblemKind::UnknownBase(name.to_owned()));
                dark()
            }
            None => {
                self.report(value.span().start, ThemeProblemKind::Expected("the name of a theme"));
                dark()
            }
        }
    }

    fn own_colors(&mut self, value: &Value<'_>) {
        let Some(table) = value.get_ref().as_table() else {
            return self.report(value.span().start, ThemeProblemKind::Expected("a table of colours"));
        };
        let mut own = Vec::new();
        for (key, value) in table {
            // Names stand for colours and not for other names, so that none can stand for itself.
            if let Some(color) = self.color(value) {
                own.push((key.get_ref().to_string(), color));
            }
        }
        self.own = own;
    }

    fn roles(&mut self, value: &Value<'_>, theme: &mut Theme) {
        let Some(table) = value.get_ref().as_table() else {
            return self.report(value.span().start, ThemeProblemKind::Expected("a table of roles"));
        };
        for (key, value) in table {
            let Some(role) = Role::named(key.get_ref()) else {
                let name = key.get_ref().to_string();
                self.report(key.span().start, ThemeProblemKind::UnknownRole(name));
                continue;
            };
            if let Some(style) = self.style(value, theme.style(role)) {
                theme.set(role, style);
            }
        }
    }

    fn code(&mut self, value: &Value<'_>, theme: &mut Theme) {
        let Some(table) = value.get_ref().as_table() else {
            return self.report(value.span().start, ThemeProblemKind::Expected("a table of pieces of code"));
        };
        for (key, value) in table {
            match Token::named(key.get_ref()) {
                Some(token) => {
                    if let Some(color) = self.color(value) {
                        theme.set_token(token, color);
                    }
                }
                None => {
                    let name = key.get_ref().to_string();
                    self.report(key.span().start, ThemeProblemKind::UnknownToken(name));
                }
            }
        }
    }

    /// The style that a value says, over the one that there is.
    fn style(&mut self, value: &Value<'_>, before: Style) -> Option<Style> {
        let Some(table) = value.get_ref().as_table() else {
            return self.color(value).map(|color| before.fg(color));
        };
        let mut style = before;
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "fg" => style.fg = self.color(value).or(style.fg),
                "bg" => style.bg = self.color(value).or(style.bg),
                "modifiers" => style = self.modifiers(value, style),
                _ => self.report(key.span().start, ThemeProblemKind::Expected("fg, bg or modifiers")),
            }
        }
        Some(style)
    }

    /// The modifiers of a list are all that the role has.
    fn modifiers(&mut self, value: &Value<'_>, before: Style) -> Style {
        let Some(list) = value.get_ref().as_array() else {
            self.report(value.span().start, ThemeProblemKind::Expected("a list of modifiers"));
            return before;
        };
        let mut modifiers = Modifier::empty();
        for value in list {
            let name = value.get_ref().as_str().unwrap_or_default();
            match MODIFIERS.iter().find(|(known, _)| *known == name) {
                Some((_, modifier)) => modifiers |= *modifier,
                None => self.report(value.span().start, ThemeProblemKind::UnknownModifier(name.to_owned())),
            }
        }
        Style { add_modifier: modifiers, sub_modifier: Modifier::empty(), ..before }
    }

    fn color(&mut self, value: &Value<'_>) -> Option<Color> {
        let at = value.span().start;
        match value.get_ref() {
            DeValue::String(name) => {
                let color = self.named(name);
                if color.is_none() {
                    self.report(at, ThemeProblemKind::UnknownColor(name.to_string()));
                }
                color
            }
            DeValue::Integer(number) => {
                let index = u8::from_str_radix(number.as_str(), number.radix());
                if index.is_err() {
                    self.report(at, ThemeProblemKind::NotAnIndex(number.as_str().to_owned()));
                }
                index.ok().map(Color::Indexed)
            }
            _ => {
                self.report(at, ThemeProblemKind::Expected("a colour"));
                None
            }
        }
    }

    fn named(&self, name: &str) -> Option<Color> {
        if let Some((_, color)) = self.own.iter().find(|(own, _)| own == name) {
            return Some(*color);
        }
        if let Ok(Rgb(red, green, blue)) = name.parse() {
            return Some(Color::Rgb(red, green, blue));
        }
        if let Ok(index) = name.parse() {
            return Some(Color::Indexed(index));
        }
        let plain =
            name.to_lowercase().replace('_', "-").replace("bright-", "light-").replace("grey", "gray");
        let plain = if plain == "light-black" { "dark-gray" } else { &plain };
        COLORS.iter().find(|(known, _)| *known == plain).map(|(_, color)| *color)
    }
}

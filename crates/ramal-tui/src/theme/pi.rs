//! A theme that was made for pi, as far as its colours have a role here.
//!
//! ```json
//! {
//!   "name": "harbour",
//!   "vars": { "sea": "#5fd7d7", "mist": 245 },
//!   "colors": { "accent": "sea", "muted": "mist", "text": "", "error": "#ff5f5f" }
//! }
//! ```

use ratatui::style::{Color, Style};
use serde_json::{Map, Value};

use super::{Background, ColorDepth, Rgb, Role, Theme, ThemeProblem, ThemeProblemKind, Token};

/// The roles, and what pi calls their colours. The first that a theme has counts.
const ROLES: &[(Role, &[&str])] = &[
    (Role::Text, &["text"]),
    (Role::Dim, &["muted", "dim"]),
    (Role::Accent, &["accent"]),
    (Role::User, &["accent"]),
    (Role::Assistant, &["success"]),
    (Role::Thinking, &["thinkingText", "muted"]),
    (Role::Tool, &["toolTitle"]),
    (Role::Success, &["success"]),
    (Role::Warning, &["warning"]),
    (Role::Error, &["error"]),
    (Role::Border, &["border"]),
    (Role::Label, &["warning"]),
    (Role::Active, &["accent"]),
    (Role::Branch, &["dim", "muted"]),
    (Role::Code, &["mdCode"]),
    (Role::Heading, &["mdHeading"]),
    (Role::Link, &["mdLink"]),
    (Role::Quote, &["mdQuote"]),
    (Role::Added, &["toolDiffAdded"]),
    (Role::Removed, &["toolDiffRemoved"]),
    (Role::Summary, &["customMessageLabel"]),
];

/// Pieces of code, and what pi calls their colours.
const TOKENS: &[(Token, &str)] = &[
    (Token::Keyword, "syntaxKeyword"),
    (Token::Comment, "syntaxComment"),
    (Token::Text, "syntaxString"),
    (Token::Number, "syntaxNumber"),
    (Token::Function, "syntaxFunction"),
    (Token::Type, "syntaxType"),
    (Token::Name, "syntaxVariable"),
    (Token::Punctuation, "syntaxPunctuation"),
];

/// Colours behind text, by which one sees whether a theme is dark.
const GROUNDS: [&str; 4] = ["userMessageBg", "selectedBg", "toolSuccessBg", "customMessageBg"];

/// How many names may stand for one another until there is a colour.
const DEEPEST: usize = 8;

impl Theme {
    /// A theme from the text of a file that was made for pi, in the colours that there are, and what in it could
    /// not be used. Such files do not say what they are made for: that is seen by the colours behind text, and
    /// where there are none, it is `background`.
    pub fn read_pi(text: &str, background: Background, depth: ColorDepth) -> (Theme, Vec<ThemeProblem>) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let problem = |line, kind| ThemeProblem { line, kind };
        let file = match serde_json::from_str(text) {
            Ok(Value::Object(file)) => file,
            Ok(_) => {
                let kind = ThemeProblemKind::Expected("an object with vars and colors");
                return (Theme::built_in(background, depth), vec![problem(1, kind)]);
            }
            Err(error) => {
                let kind = ThemeProblemKind::NotJson(error.to_string());
                return (Theme::built_in(background, depth), vec![problem(error.line().max(1), kind)]);
            }
        };
        let Some(Value::Object(colors)) = file.get("colors") else {
            let kind = ThemeProblemKind::Expected("an object called colors");
            return (Theme::built_in(background, depth), vec![problem(line_of(text, "colors"), kind)]);
        };
        let vars = file.get("vars").and_then(Value::as_object);
        let mut reader = Reader { text, colors, vars, problems: Vec::new() };
        let mut theme = reader.theme(background, depth);
        if let Some(name) = file.get("name").and_then(Value::as_str) {
            name.clone_into(&mut theme.name);
        }
        reader.problems.sort_by_key(|problem| problem.line);
        reader.problems.dedup();
        (theme.at(depth), reader.problems)
    }
}

struct Reader<'a> {
    text: &'a str,
    colors: &'a Map<String, Value>,
    vars: Option<&'a Map<String, Value>>,
    problems: Vec<ThemeProblem>,
}

impl<'a> Reader<'a> {
    fn theme(&mut self, background: Background, depth: ColorDepth) -> Theme {
        let ground = GROUNDS.iter().find_map(|name| Rgb::of(self.color(name)?));
        let mut theme = Theme::built_in(ground.map_or(background, Background::of), depth);
        for (role, names) in ROLES {
            if let Some(color) = names.iter().find_map(|name| self.color(name)) {
                theme.set(*role, theme.style(*role).fg(color));
            }
        }
        if let Some(color) = self.color("selectedBg") {
            theme.set(Role::Selected, Style { bg: Some(color), ..theme.style(Role::Selected) });
        }
        for (token, name) in TOKENS {
            if let Some(color) = self.color(name) {
                theme.set_token(*token, color);
            }
        }
        theme
    }

    /// The colour that a theme has under a name, if it has one.
    fn color(&mut self, name: &str) -> Option<Color> {
        let colors = self.colors;
        let value = colors.get(name)?;
        match self.resolve(value) {
            Ok(color) => Some(color),
            Err(kind) => {
                self.problems.push(ThemeProblem { line: line_of(self.text, name), kind });
                None
            }
        }
    }

    /// A colour, or the name of one. Nothing is the terminal's own.
    fn resolve(&self, mut value: &'a Value) -> Result<Color, ThemeProblemKind> {
        for _ in 0..DEEPEST {
            match value {
                Value::Number(number) => {
                    let index = number.as_u64().and_then(|index| u8::try_from(index).ok());
                    return index
                        .map(Color::Indexed)
                        .ok_or_else(|| ThemeProblemKind::NotAnIndex(number.to_string()));
                }
                Value::String(name) if name.is_empty() => return Ok(Color::Reset),
                Value::String(name) => match (name.parse(), self.vars.and_then(|vars| vars.get(name))) {
                    (Ok(Rgb(red, green, blue)), _) => return Ok(Color::Rgb(red, green, blue)),
                    (Err(()), Some(named)) => value = named,
                    (Err(()), None) => return Err(ThemeProblemKind::UnknownColor(name.clone())),
                },
                _ => break,
            }
        }
        Err(ThemeProblemKind::Expected("a colour, its number, or a name of vars"))
    }
}

/// The last line on which a name stands in quotes before a colon: those of `vars`, which may be called the
/// same, come first in every theme.
fn line_of(text: &str, name: &str) -> usize {
    let quoted = format!("\"{name}\"");
    let is_here =
        |line: &str| line.split_once(&quoted).is_some_and(|(_, after)| after.trim_start().starts_with(':'));
    text.lines().enumerate().filter(|(_, line)| is_here(line)).last().map_or(1, |(index, _)| index + 1)
}

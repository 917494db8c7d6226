//! The looks of code: what the parts of a program are drawn in.

use ratatui::style::{Color, Modifier, Style};

use super::{ColorDepth, Role, Theme};

/// What a piece of code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Token {
    Plain,
    Keyword,
    Comment,
    Text,
    Number,
    Function,
    Type,
    Name,
    Punctuation,
    Added,
    Removed,
    Heading,
}

/// What files call the pieces of code that can have a colour of their own.
const NAMES: &[(&str, Token)] = &[
    ("keyword", Token::Keyword),
    ("comment", Token::Comment),
    ("string", Token::Text),
    ("number", Token::Number),
    ("function", Token::Function),
    ("type", Token::Type),
    ("variable", Token::Name),
    ("punctuation", Token::Punctuation),
];

/// How many pieces of code there are.
pub(super) const TOKENS: usize = Token::Heading as usize + 1;

impl Token {
    /// The piece of code that files call so.
    pub fn named(name: &str) -> Option<Token> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, token)| *token)
    }

    /// What files call the pieces of code that can have a colour of their own.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }
}

impl Theme {
    /// Gives a piece of code a colour of its own.
    pub fn set_token(&mut self, token: Token, color: Color) {
        self.tokens[token as usize] = Some(color);
    }

    /// The style of a piece of code. Without colours comments are dim and keywords bold, and that is all.
    pub fn token(&self, token: Token, depth: ColorDepth) -> Style {
        if let Some(color) = self.tokens[token as usize].and_then(|color| depth.reduce(color, self.is_dark)) {
            return Style::new().fg(color);
        }
        match token {
            Token::Added => return self.style(Role::Added),
            Token::Removed => return self.style(Role::Removed),
            Token::Heading => return self.style(Role::Heading),
            Token::Comment if depth <= ColorDepth::Ansi16 => return self.style(Role::Dim),
            _ => {}
        }
        let style = match token {
            Token::Keyword if depth == ColorDepth::None => Style::new().add_modifier(Modifier::BOLD),
            _ => Style::new(),
        };
        match self.token_color(token, depth) {
            Some(color) => style.fg(color),
            None => style,
        }
    }

    fn token_color(&self, token: Token, depth: ColorDepth) -> Option<Color> {
        match depth {
            ColorDepth::None => None,
            ColorDepth::Ansi16 => sixteen(token),
            ColorDepth::Ansi256 => palette(token).map(|(dark, light)| match self.is_dark {
                true => Color::Indexed(dark),
                false => Color::Indexed(light),
            }),
            ColorDepth::TrueColor => bits(token).map(|(dark, light)| {
                Color::from_u32(match self.is_dark {
                    true => dark,
                    false => light,
                })
            }),
        }
    }
}

fn sixteen(token: Token) -> Option<Color> {
    Some(match token {
        Token::Keyword => Color::Magenta,
        Token::Text => Color::Green,
        Token::Number => Color::Cyan,
        Token::Function => Color::Blue,
        Token::Type => Color::Yellow,
        _ => return None,
    })
}

/// For a dark background, and for a light one.
fn palette(token: Token) -> Option<(u8, u8)> {
    Some(match token {
        Token::Keyword => (176, 90),
        Token::Comment => (245, 243),
        Token::Text => (114, 28),
        Token::Number => (80, 30),
        Token::Function => (111, 25),
        Token::Type => (180, 94),
        Token::Name => (174, 124),
        _ => return None,
    })
}

/// For a dark background, and for a light one.
fn bits(token: Token) -> Option<(u32, u32)> {
    Some(match token {
        Token::Keyword => (0xc6_92e0, 0x86_2b9e),
        Token::Comment => (0x8a_909c, 0x6b_717d),
        Token::Text => (0x98_c379, 0x3d_7a25),
        Token::Number => (0x6f_c3cf, 0x0f_6f7c),
        Token::Function => (0x7a_b0f0, 0x1f_55a8),
        Token::Type => (0xe0_bf80, 0x8a_5a00),
        Token::Name => (0xe0_8a90, 0xa8_3040),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_need_a_terminal_that_has_them() {
        let theme = Theme::plain();
        for token in [Token::Keyword, Token::Comment, Token::Text, Token::Type, Token::Plain] {
            assert_eq!(
                theme.token(token, ColorDepth::None).fg,
                theme.token(Token::Plain, ColorDepth::None).fg
            );
            let sixteen = theme.token(token, ColorDepth::Ansi16).fg;
            assert!(!matches!(sixteen, Some(Color::Rgb(..) | Color::Indexed(_))), "{token:?}");
            assert!(!matches!(theme.token(token, ColorDepth::Ansi256).fg, Some(Color::Rgb(..))), "{token:?}");
        }
        assert!(matches!(theme.token(Token::Text, ColorDepth::TrueColor).fg, Some(Color::Rgb(..))));
    }
}

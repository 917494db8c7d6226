//! What things look like: a style for each role, so that nobody names a colour anywhere else.
//!
//! [`Theme::built_in`] is a theme for a background and for as many colours as the terminal has;
//! [`Theme::read`] one of the user's own, from a file,
//! [`Theme::read_pi`] one that was made for pi. [`ColorDepth`] says how many colours there are, and
//! [`Background`] whether they stand on dark or on light.

mod background;
mod built_in;
mod depth;
mod file;
mod pi;
mod rgb;
mod syntax;

pub use background::Background;
pub use depth::ColorDepth;
pub use file::{ThemeProblem, ThemeProblemKind};
pub use rgb::Rgb;
pub use syntax::Token;

use ratatui::style::{Color, Modifier, Style};

macro_rules! roles {
    ($($role:ident $name:literal $says:literal)*) => {
        /// What something is, as far as its look is concerned.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Role {
            $(#[doc = $says] $role,)*
        }

        impl Role {
            /// All of them.
            pub const ALL: &[Role] = &[$(Role::$role,)*];

            /// What files call it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Role::$role => $name,)*
                }
            }

            /// What it is for, in a sentence.
            pub fn description(self) -> &'static str {
                match self {
                    $(Role::$role => $says,)*
                }
            }
        }
    };
}

roles! {
    Text "text" "What is said and read."
    Dim "dim" "What stands beside it: times, hints, counts."
    Accent "accent" "What one looks for first: the prompt's mark, keys, names of places."
    User "user" "What the user said."
    Assistant "assistant" "The name of who answers."
    Thinking "thinking" "What the model thought."
    Tool "tool" "A call of a tool."
    Success "success" "What went well."
    Warning "warning" "What the user should know."
    Error "error" "What went wrong."
    Border "border" "Lines between things."
    Selected "selected" "The row that is selected."
    Match "match" "What a search has found."
    Label "label" "A label on an entry."
    Active "active" "The active path in the tree."
    Branch "branch" "The lines of the tree."
    Code "code" "Code within a text."
    Heading "heading" "A heading."
    Link "link" "An address."
    Quote "quote" "A quotation."
    Added "added" "A line that was added."
    Removed "removed" "A line that was taken out."
    Summary "summary" "A summary: of a branch, of a conversation."
}

impl Role {
    /// The role that files call so.
    pub fn named(name: &str) -> Option<Role> {
        Role::ALL.iter().copied().find(|role| role.name() == name)
    }
}

/// How many roles there are.
const ROLES: usize = Role::ALL.len();

/// A style for each role.
#[derive(Debug, Clone, PartialEq)]
pub struct Theme {
    /// Its name.
    pub name: String,
    /// Whether it is made for a dark background.
    pub is_dark: bool,
    styles: [Style; ROLES],
    /// The colours of code, where they are not the usual ones.
    tokens: [Option<Color>; syntax::TOKENS],
}

impl Theme {
    /// The style of a role.
    pub fn style(&self, role: Role) -> Style {
        self.styles[role as usize]
    }

    /// Gives a role another style.
    pub fn set(&mut self, role: Role, style: Style) {
        self.styles[role as usize] = style;
    }

    /// Nothing but bold, dim and reversed text.
    pub fn plain() -> Theme {
        let mut theme = Theme {
            name: "plain".into(),
            is_dark: true,
            styles: [Style::new(); ROLES],
            tokens: [None; syntax::TOKENS],
        };
        for role in [Role::Dim, Role::Thinking, Role::Border, Role::Branch, Role::Quote] {
            theme.set(role, Style::new().add_modifier(Modifier::DIM));
        }
        for role in [Role::Accent, Role::User, Role::Heading, Role::Error, Role::Active] {
            theme.set(role, Style::new().add_modifier(Modifier::BOLD));
        }
        theme.set(Role::Selected, Style::new().add_modifier(Modifier::REVERSED));
        for role in [Role::Match, Role::Link, Role::Label] {
            theme.set(role, Style::new().add_modifier(Modifier::UNDERLINED));
        }
        theme
    }

    /// For a dark background, in all colours.
    pub fn dark() -> Theme {
        Theme::built_in(Background::Dark, ColorDepth::TrueColor)
    }

    /// For a light background, in all colours.
    pub fn light() -> Theme {
        Theme::built_in(Background::Light, ColorDepth::TrueColor)
    }

    /// The theme for a background, in the colours that there are.
    pub fn built_in(background: Background, depth: ColorDepth) -> Theme {
        match depth {
            ColorDepth::None => Theme { is_dark: background == Background::Dark, ..Theme::plain() },
            ColorDepth::Ansi16 => built_in::theme(background, built_in::Palette::Sixteen),
            depth => built_in::theme(background, built_in::Palette::All).at(depth),
        }
    }

    /// The same theme in the colours that a terminal has; each becomes the nearest one.
    #[must_use]
    pub fn at(&self, depth: ColorDepth) -> Theme {
        let mut theme = self.clone();
        for style in &mut theme.styles {
            let has_ground = style.bg.is_some();
            style.fg = style.fg.and_then(|color| depth.reduce(color, self.is_dark));
            style.bg = style.bg.and_then(|color| depth.reduce(color, self.is_dark));
            style.underline_color = style.underline_color.and_then(|color| depth.reduce(color, self.is_dark));
            // Without colours, what stood on a ground of its own would look like anything else.
            if has_ground && depth == ColorDepth::None {
                *style = style.add_modifier(Modifier::REVERSED);
            }
        }
        for color in &mut theme.tokens {
            *color = color.and_then(|color| depth.reduce(color, self.is_dark));
        }
        theme
    }
}

#[cfg(test)]
mod tests;

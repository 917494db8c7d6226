//! What things look like: a style for each role, so that nobody names a colour anywhere else.

use ratatui::style::{Color, Modifier, Style};

mod syntax;

pub use syntax::{ColorDepth, Token};

/// What something is, as far as its look is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// What is said and read.
    Text,
    /// What stands beside it: times, hints, counts.
    Dim,
    /// What one looks for first: the prompt's mark, keys, names of places.
    Accent,
    /// What the user said.
    User,
    /// The name of who answers.
    Assistant,
    /// What the model thought.
    Thinking,
    /// A call of a tool.
    Tool,
    /// What went well.
    Success,
    /// What the user should know.
    Warning,
    /// What went wrong.
    Error,
    /// Lines between things.
    Border,
    /// The row that is selected.
    Selected,
    /// What a search has found.
    Match,
    /// A label on an entry.
    Label,
    /// The active path in the tree.
    Active,
    /// The lines of the tree.
    Branch,
    /// Code within a text.
    Code,
    /// A heading.
    Heading,
    /// An address.
    Link,
    /// A quotation.
    Quote,
    /// A line that was added.
    Added,
    /// A line that was taken out.
    Removed,
    /// A summary: of a branch, of a conversation.
    Summary,
}

/// How many roles there are.
const ROLES: usize = Role::Summary as usize + 1;

/// A style for each role.
#[derive(Debug, Clone, PartialEq)]
pub struct Theme {
    /// Its name.
    pub name: String,
    /// Whether it is made for a dark background.
    pub is_dark: bool,
    styles: [Style; ROLES],
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
        let mut theme = Theme { name: "plain".into(), is_dark: true, styles: [Style::new(); ROLES] };
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

    /// For a dark background, in the sixteen colours that every terminal has.
    pub fn dark() -> Theme {
        let mut theme = Theme { name: "dark".into(), ..Theme::plain() };
        for (role, color) in [
            (Role::Accent, Color::Cyan),
            (Role::User, Color::Cyan),
            (Role::Tool, Color::Blue),
            (Role::Success, Color::Green),
            (Role::Warning, Color::Yellow),
            (Role::Error, Color::Red),
            (Role::Label, Color::Yellow),
            (Role::Code, Color::Yellow),
            (Role::Heading, Color::Cyan),
            (Role::Link, Color::Blue),
            (Role::Added, Color::Green),
            (Role::Removed, Color::Red),
            (Role::Summary, Color::Magenta),
        ] {
            theme.set(role, theme.style(role).fg(color));
        }
        theme
    }
}

//! Colours, by the part a text plays.
//!
//! Which theme the terminal has is unknown, so only the sixteen colours that
//! the theme itself defines are used, and of these none that is close to a
//! usual background: no black, white, yellow, nor the bright ones, of which
//! some themes make background shades. What matters less is dim. Colour never
//! says anything that is not also written.

use std::ffi::OsString;
use std::fmt;
use std::io::IsTerminal as _;

pub(crate) use ramal_tui::text::Role;

/// When to colour, as in `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum ColorChoice {
    /// If the output is a terminal that is expected to understand it
    #[default]
    Auto,
    /// Whatever the output is
    Always,
    /// Not at all
    Never,
}

/// The parameters of the sequence that selects the look of a role; none for the look the terminal has
/// anyway.
fn parameters(role: Role) -> &'static str {
    match role {
        Role::Assistant => "",
        Role::User => "1;34",
        Role::Tool => "36",
        Role::ToolFailed => "31",
        Role::Summary => "3",
        Role::Label => "1;35",
        Role::Dim | Role::Guide => "2",
        Role::Active => "1;32",
        Role::Error => "1;31",
        Role::Heading => "1",
        Role::Match => "1;4",
    }
}

/// Whether to colour, decided once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Palette {
    coloured: bool,
}

impl Palette {
    /// The palette for the standard output of this process.
    pub(crate) fn for_stdout(choice: ColorChoice) -> Self {
        Self::decide(choice, |name| std::env::var_os(name), std::io::stdout().is_terminal())
    }

    /// The palette for the standard error of this process.
    pub(crate) fn for_stderr(choice: ColorChoice) -> Self {
        Self::decide(choice, |name| std::env::var_os(name), std::io::stderr().is_terminal())
    }

    /// The palette that leaves text as it is.
    pub(crate) fn plain() -> Self {
        Palette { coloured: false }
    }

    /// What was asked for on the command line comes first, then `NO_COLOR`,
    /// `CLICOLOR_FORCE` and what is known of the terminal.
    fn decide(
        choice: ColorChoice,
        environment: impl Fn(&str) -> Option<OsString>,
        is_terminal: bool,
    ) -> Self {
        let variable = |name| environment(name).filter(|value| !value.is_empty());
        let coloured = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto if variable("NO_COLOR").is_some() => false,
            ColorChoice::Auto if variable("CLICOLOR_FORCE").is_some_and(|v| v != "0") => true,
            ColorChoice::Auto => {
                is_terminal
                    && variable("CLICOLOR").is_none_or(|value| value != "0")
                    && variable("TERM").is_none_or(|value| value != "dumb")
            }
        };
        Palette { coloured }
    }

    /// Whether anything is coloured.
    pub(crate) fn is_coloured(self) -> bool {
        self.coloured
    }

    /// The text in the look of its role.
    ///
    /// The text must have been [cleaned](super::clean) and cut to its width;
    /// painted text is neither measured nor painted again.
    pub(crate) fn paint(self, role: Role, text: &str) -> impl fmt::Display {
        debug_assert!(
            !text.chars().any(|c| c.is_control() && c != '\n'),
            "painted before it was cleaned: {text:?}"
        );
        let parameters = if self.coloured { parameters(role) } else { "" };
        Painted { parameters, text }
    }
}

/// Text between the sequences that turn its look on and off.
struct Painted<'a> {
    parameters: &'static str,
    text: &'a str,
}

impl fmt::Display for Painted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.parameters.is_empty() || self.text.is_empty() {
            return f.write_str(self.text);
        }
        write!(f, "\x1b[{}m{}\x1b[0m", self.parameters, self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROLES: [Role; 12] = [
        Role::User,
        Role::Assistant,
        Role::Tool,
        Role::ToolFailed,
        Role::Summary,
        Role::Label,
        Role::Dim,
        Role::Active,
        Role::Error,
        Role::Heading,
        Role::Guide,
        Role::Match,
    ];

    fn decide(choice: ColorChoice, variables: &[(&str, &str)], is_terminal: bool) -> bool {
        let find = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        Palette::decide(choice, find, is_terminal).is_coloured()
    }

    #[test]
    fn decisions() {
        use ColorChoice::{Always, Auto, Never};
        for (choice, variables, is_terminal, expected) in [
            (Auto, &[][..], true, true),
            (Auto, &[], false, false),
            (Auto, &[("TERM", "xterm")], true, true),
            (Auto, &[("TERM", "dumb")], true, false),
            (Auto, &[("NO_COLOR", "1")], true, false),
            (Auto, &[("NO_COLOR", "0")], true, false),
            (Auto, &[("NO_COLOR", "")], true, true),
            (Auto, &[("CLICOLOR", "0")], true, false),
            (Auto, &[("CLICOLOR", "1")], false, false),
            (Auto, &[("CLICOLOR_FORCE", "1")], false, true),
            (Auto, &[("CLICOLOR_FORCE", "0")], false, false),
            (Auto, &[("CLICOLOR_FORCE", "")], false, false),
            (Auto, &[("CLICOLOR_FORCE", "1"), ("TERM", "dumb")], false, true),
            (Auto, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], true, false),
            (Always, &[("NO_COLOR", "1"), ("TERM", "dumb")], false, true),
            (Never, &[("CLICOLOR_FORCE", "1")], true, false),
        ] {
            assert_eq!(
                decide(choice, variables, is_terminal),
                expected,
                "{choice:?} {variables:?} {is_terminal}"
            );
        }
    }

    #[test]
    fn painting() {
        let colours = Palette { coloured: true };
        assert_eq!(colours.paint(Role::Error, "no").to_string(), "\x1b[1;31mno\x1b[0m");
        assert_eq!(colours.paint(Role::Assistant, "hi").to_string(), "hi");
        assert_eq!(colours.paint(Role::Dim, "").to_string(), "");
        for role in ROLES {
            assert_eq!(Palette::plain().paint(role, "text").to_string(), "text");
        }
    }

    #[test]
    fn only_looks_that_suit_any_theme() {
        for role in ROLES {
            for parameter in parameters(role).split(';').filter(|p| !p.is_empty()) {
                assert!(
                    ["1", "2", "3", "4", "31", "32", "34", "35", "36"].contains(&parameter),
                    "{role:?}: {parameter}"
                );
            }
        }
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "before it was cleaned")]
    fn unclean_text_is_noticed() {
        let _ = Palette::plain().paint(Role::User, "\x1b[2J").to_string();
    }
}

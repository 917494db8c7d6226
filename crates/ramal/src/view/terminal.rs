//! The terminal at the other end: how much room it has, and that it may be
//! gone.

use std::error::Error;
use std::io;

/// The width to write for when nothing is known.
const USUAL_COLUMNS: usize = 80;

/// More than any screen has; beyond it `COLUMNS` is a mistake.
const MOST_COLUMNS: usize = 9999;

/// The columns to write standard output for: what `COLUMNS` says, otherwise
/// what the terminal says, otherwise 80.
pub(crate) fn columns() -> usize {
    let variable = std::env::var("COLUMNS").ok();
    let terminal = || {
        let (width, _) = terminal_size::terminal_size_of(io::stdout())?;
        Some(usize::from(width.0))
    };
    choose_columns(variable.as_deref(), terminal)
}

/// The columns and rows of the terminal that standard output goes to; 80 by 24 if it does not say.
pub(crate) fn size() -> (u16, u16) {
    let size = terminal_size::terminal_size_of(io::stdout());
    size.map_or((80, 24), |(columns, rows)| (columns.0.max(1), rows.0.max(1)))
}

/// Whether somebody sits before a terminal: what is read comes from one, and what is written goes there.
pub(crate) fn is_both_ways() -> bool {
    use std::io::IsTerminal as _;
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

fn choose_columns(variable: Option<&str>, terminal: impl FnOnce() -> Option<usize>) -> usize {
    let sane = |columns: &usize| (1..=MOST_COLUMNS).contains(columns);
    variable
        .and_then(|value| value.trim().parse().ok())
        .filter(sane)
        .or_else(|| terminal().filter(sane))
        .unwrap_or(USUAL_COLUMNS)
}

/// Whether an error is only that the reader of the output has gone, as `head`
/// does when it has seen enough. Then there is nothing to report, and the
/// program ends as if all had been written.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(tells_broken_pipe)
}

fn tells_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    if let Some(error) = error.downcast_ref::<io::Error>() {
        // An error inside an I/O error is not a member of the chain.
        return error.kind() == io::ErrorKind::BrokenPipe
            || error.get_ref().is_some_and(|inner| tells_broken_pipe(inner));
    }
    error
        .downcast_ref::<serde_json::Error>()
        .is_some_and(|error| error.io_error_kind() == Some(io::ErrorKind::BrokenPipe))
}

#[cfg(test)]
mod tests {
    use anyhow::{Context as _, anyhow};

    use super::*;

    #[test]
    fn widths_are_chosen() {
        for (variable, terminal, expected) in [
            (None, None, 80),
            (None, Some(132), 132),
            (None, Some(0), 80),
            (Some("100"), Some(132), 100),
            (Some(" 100\n"), None, 100),
            (Some(""), Some(132), 132),
            (Some("0"), Some(132), 132),
            (Some("-5"), Some(132), 132),
            (Some("wide"), None, 80),
            (Some("99999999999999999999"), None, 80),
            (Some("10000"), None, 80),
        ] {
            assert_eq!(choose_columns(variable, || terminal), expected, "{variable:?}");
        }
        assert!(columns() > 0);
    }

    /// A reader that has gone.
    struct Gone;

    impl io::Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn broken_pipes_are_told_from_errors() {
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        for (error, expected) in [
            (anyhow::Error::new(broken()), true),
            (Err::<(), _>(broken()).context("while drawing").unwrap_err(), true),
            (io::Error::other(broken()).into(), true),
            (io::Error::other(io::Error::other(broken())).into(), true),
            (serde_json::to_writer(Gone, &1).unwrap_err().into(), true),
            (io::Error::from(io::ErrorKind::NotFound).into(), false),
            (anyhow!("broken pipe"), false),
            (io::Error::other("broken pipe").into(), false),
            (serde_json::from_str::<u8>("x").unwrap_err().into(), false),
        ] {
            assert_eq!(is_broken_pipe(&error), expected, "{error:?}");
        }
    }
}

//! `ramal man`: the manual pages.

use std::io::Write;

use crate::cli;
use crate::failure::{Failure, Status};

/// Print the manual page of the program, or of one command
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramal man > ~/.local/share/man/man1/ramal.1
  ramal man branch | man -l -")]
pub(crate) struct Args {
    /// The command; none for the program as a whole
    command: Option<String>,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Status> {
    let mut program = cli::command();
    // Fills in the full names and the options that every command has.
    program.build();
    let page = match &args.command {
        None => program,
        Some(name) => {
            let found = program.get_subcommands().find(|command| command.get_name() == name);
            let missing = || {
                Failure::usage(format!("no command {name}"))
                    .hint("`ramal --help` lists the commands there are")
            };
            let page = found.cloned().ok_or_else(missing)?;
            page.display_name(format!("ramal-{name}"))
        }
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text)?;
    out.write_all(&text)?;
    Ok(Status::Done)
}

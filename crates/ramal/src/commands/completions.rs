//! `ramal completions`: what a shell needs to complete the command line.

use std::io::Write;

use clap_complete::Shell;

use crate::cli;
use crate::failure::Status;

/// Print the completions for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramal completions bash > ~/.local/share/bash-completion/completions/ramal
  ramal completions zsh > ~/.zfunc/_ramal
  ramal completions fish > ~/.config/fish/completions/ramal.fish")]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Status> {
    // Collected first: the generator has no way to report that writing failed.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli::command(), "ramal", &mut script);
    out.write_all(&script)?;
    Ok(Status::Done)
}

//! The command line: which command, with which arguments.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::commands;

/// Conversations with coding agents as trees.
#[derive(Debug, Parser)]
#[command(name = "ramal", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Rpc(commands::rpc::Args),
}

/// Reads the arguments and runs the command.
pub(crate) fn run() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Rpc(args) => commands::rpc::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ramal: {error:#}");
            ExitCode::FAILURE
        }
    }
}

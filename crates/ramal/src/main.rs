//! The `ramal` program: one command of the command line is run, and what goes wrong is told.

mod catalog;
mod chat;
mod choose;
mod cli;
mod commands;
mod drafts;
mod export;
mod extensions;
mod failure;
mod history;
mod mentioned;
mod models;
mod output;
mod permit;
mod progress;
mod remembered;
mod resolve;
mod rpc;
mod settings;
mod signals;
mod state;
mod themes;
#[allow(dead_code, reason = "one room of helpers for all commands; not each is used in every build")]
mod view;
mod work;
mod workshop;

use std::process::ExitCode;

fn main() -> ExitCode {
    signals::prepare();
    let cli = match cli::parse() {
        Ok(cli) => cli,
        Err(status) => return status.into(),
    };
    let done = output::to_stdout(|out| cli.run(out));
    match done {
        Ok(status) => status.into(),
        Err(error) => failure::report(&error, cli.globals.color).into(),
    }
}

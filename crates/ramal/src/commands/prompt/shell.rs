//! `ramal -p '!command'`: a command of the user's own, kept in the session; no model is asked.

use std::io::Write;
use std::path::Path;

use ramal_agent::AgentEvent;
use ramal_agent::shell::{self, ShellCommand, Surroundings};
use ramal_agent::tools::outputs_folder;
use ramal_session::{EntryId, NameSource, SessionManager, time};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::{Mode, Opened, Turn, leave, print_header};
use crate::commands::print_text;
use crate::failure::{self, Status};
use crate::output::raw_json;
use crate::signals::Signals;
use crate::{catalog, work};

/// What is told of a command.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ran {
    output: String,
    exit_code: Option<i32>,
    truncated: bool,
    full_output_path: Option<String>,
}

/// Runs a command where the session works, stores what came of it at the leaf, and prints it. The exit
/// status is 0 if that of the command is.
pub(super) fn run(
    opened: Opened,
    shell: &ShellCommand,
    turn: &Turn<'_>,
    out: &mut dyn Write,
) -> anyhow::Result<Status> {
    // What is wrong with the files of models is told by whoever uses a model.
    let (catalog, _) = catalog::load();
    work::hide_keys(&catalog, turn.settings);
    let mut session = opened.begin()?;
    if turn.mode == Mode::Json {
        print_header(&session, out)?;
    }
    let overflow = session.get_session_file().map(outputs_folder);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (message, signal) = runtime.block_on(run_command(shell, turn.cwd, overflow.as_deref()))?;
    runtime.shutdown_background();
    let stored = store(&mut session, turn.name, &message);
    let ran: Ran = serde_json::from_str(&message)?;
    if turn.mode == Mode::Text {
        // Also what cannot be kept has happened.
        print_text(out, &ran.output)?;
        out.flush()?;
    }
    let entry_id = stored?.to_string();
    leave(&session);
    if turn.mode == Mode::Json {
        let begun = AgentEvent::MessageStart { message: message.clone() };
        for event in [begun, AgentEvent::MessageEnd { message, entry_id }] {
            raw_json(out, &event.to_json())?;
            writeln!(out)?;
        }
        out.flush()?;
    }
    Ok(tell(&ran, signal))
}

fn store(session: &mut SessionManager, name: Option<&str>, message: &str) -> anyhow::Result<EntryId> {
    if let Some(name) = name {
        session.set_session_name(name, NameSource::User)?;
    }
    let id = session.append_message(message)?;
    session.sync()?;
    Ok(id)
}

/// Says how it ended, if that is worth a word.
fn tell(ran: &Ran, signal: Option<i32>) -> Status {
    if ran.truncated {
        let whole = ran.full_output_path.as_ref().map(|path| format!("; all of it is in {path}"));
        failure::note(&format!("This is the end of the output{}", whole.unwrap_or_default()));
    }
    if let Some(signal) = signal {
        return Status::Signalled(signal);
    }
    match ran.exit_code {
        Some(0) => Status::Done,
        Some(code) => {
            failure::note(&format!("The command ended with exit code {code}"));
            Status::NotThere
        }
        None => Status::NotThere,
    }
}

/// Runs it until it ends, or the user ends it; answers what is stored, and the signal.
async fn run_command(
    shell: &ShellCommand,
    cwd: &Path,
    overflow: Option<&Path>,
) -> anyhow::Result<(String, Option<i32>)> {
    let mut signals = Signals::new()?;
    let abort = CancellationToken::new();
    let with = Surroundings { cwd, overflow, abort: abort.clone(), timeout: None, update: &|_| {} };
    let running = shell::run(shell, &with, time::now);
    tokio::pin!(running);
    let mut ended_by = None;
    loop {
        tokio::select! {
            message = &mut running => return Ok((message, ended_by)),
            signal = signals.next() => {
                if ended_by.is_some() {
                    // Whoever asks twice does not want to wait.
                    std::process::exit(128 + signal);
                }
                ended_by = Some(signal);
                abort.cancel();
            }
        }
    }
}

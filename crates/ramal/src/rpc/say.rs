//! Commands that say something to the model, and commands of the user's own (contract, section 12).

use std::sync::PoisonError;

use ramal_agent::shell::{self, ShellCommand, Surroundings};
use ramal_agent::tools::outputs_folder;
use ramal_agent::{AgentError, AgentSession, Operation, Prompt};
use ramal_session::json::{self, members};
use ramal_session::time;
use tokio_util::sync::CancellationToken;

use super::Server;
use super::answer::{self, Refusal, Reply};
use super::request::Request;

/// Does a command of these; none if the command is not one of them.
pub(super) fn reply(server: &mut Server, request: &Request<'_>) -> Result<Option<Reply>, Refusal> {
    let reply = match &*request.command {
        "prompt" => prompt(server, request)?,
        "steer" => {
            let prompt = said(request)?;
            say(server, request, prompt, AgentSession::steer)?
        }
        "follow_up" => {
            let prompt = said(request)?;
            say(server, request, prompt, AgentSession::follow_up)?
        }
        "abort_and_prompt" => {
            let (agent, prompt) = (server.agent.clone(), said(request)?);
            server.begin(request, async move {
                agent.abort_and_prompt(prompt).await?;
                Ok(None)
            })
        }
        "retry" => begin(server, request, |agent| agent.retry().map(drop))?,
        "clear_queue" => {
            let (steering, follow_up) = server.agent.clear_queue();
            let texts = |prompts: &[Prompt]| {
                let texts: Vec<String> = prompts.iter().map(|prompt| json::quote(&prompt.text)).collect();
                texts.join(",")
            };
            Reply::Small(format!(
                "{{\"steering\":[{}],\"followUp\":[{}]}}",
                texts(&steering),
                texts(&follow_up)
            ))
        }
        "bash" => bash(server, request)?,
        _ => return Ok(None),
    };
    Ok(Some(reply))
}

/// What a request wants to be said.
fn said(request: &Request<'_>) -> Result<Prompt, Refusal> {
    let text = request.text("message")?;
    let mut images = Vec::new();
    if let Some(given) = request.get("images").filter(|given| *given != "null") {
        if !given.starts_with('[') {
            return Err(Refusal::new("`images` must be an array"));
        }
        for image in members::items(given.as_bytes()) {
            let has = |key| members::get_str(image, key).is_some();
            if members::get_str(image, "type").as_deref() != Some("image") || !has("data") || !has("mimeType")
            {
                return Err(Refusal::new(
                    "each of `images` must be an object with `type` \"image\", and strings `data` and `mimeType`",
                ));
            }
            images.push(String::from_utf8_lossy(image).into_owned());
        }
    }
    if text.trim().is_empty() && images.is_empty() {
        return Err(Refusal::new("`message` says nothing"));
    }
    Ok(Prompt { text, images, typed: None })
}

fn prompt(server: &Server, request: &Request<'_>) -> Result<Reply, Refusal> {
    let prompt = said(request)?;
    let behavior = request.text_if("streamingBehavior")?;
    match behavior.as_deref() {
        Some("steer") => say(server, request, prompt, AgentSession::steer),
        Some("followUp") => say(server, request, prompt, AgentSession::follow_up),
        Some(_) => Err(Refusal::new("`streamingBehavior` must be \"steer\" or \"followUp\"")),
        None if server.agent.running() == Some(Operation::Turn) => Err(Refusal::new(
            "the session is busy with a turn; say with `streamingBehavior` whether to \"steer\" it or to \"followUp\", or use `abort_and_prompt`",
        )),
        None => begin_turn(server, request, prompt),
    }
}

/// Says something to a turn that runs, or after what else runs; it is a prompt while nothing does.
fn say(
    server: &Server,
    request: &Request<'_>,
    prompt: Prompt,
    how: fn(&AgentSession, Prompt) -> Result<(), AgentError>,
) -> Result<Reply, Refusal> {
    if server.agent.running().is_none() {
        return begin_turn(server, request, prompt);
    }
    how(&server.agent, prompt)?;
    Ok(Reply::Done)
}

/// Begins a turn. That it was accepted is told before anything that comes of it.
fn begin_turn(server: &Server, request: &Request<'_>, prompt: Prompt) -> Result<Reply, Refusal> {
    begin(server, request, |agent| agent.prompt(prompt).map(drop))
}

fn begin(
    server: &Server,
    request: &Request<'_>,
    how: impl FnOnce(&AgentSession) -> Result<(), AgentError>,
) -> Result<Reply, Refusal> {
    if server.agent.model_choice()?.model.is_none() {
        // A server on this machine is looked for only where there is nothing else.
        server.agent.set_default_model(server.models.first_anywhere());
    }
    server.out.line_first(|| {
        how(&server.agent)?;
        Ok::<_, Refusal>(answer::line(request.id.as_deref(), &request.command, Ok(None)))
    })?;
    Ok(Reply::Elsewhere)
}

/// Runs a command of the user's. What came of it is stored at once, or when the turn that runs has
/// ended: within a turn it would stand between a call and its result.
fn bash(server: &mut Server, request: &Request<'_>) -> Result<Reply, Refusal> {
    let shell = ShellCommand {
        command: request.text("command")?,
        exclude_from_context: request.flag("excludeFromContext")?.unwrap_or(false),
    };
    server.agent.must_have_directory()?;
    let abort = CancellationToken::new();
    {
        let mut running = server.ends.bash.lock().unwrap_or_else(PoisonError::into_inner);
        if running.is_some() {
            return Err(Refusal::new("a command is running already; `abort_bash` ends it"));
        }
        *running = Some(abort.clone());
    }
    let (agent, ends, cwd) = (server.agent.clone(), server.ends.clone(), server.agent.cwd());
    let (session_id, overflow) = agent.with_session(|session| {
        (session.get_session_id().to_owned(), session.get_session_file().map(outputs_folder))
    });
    let work = async move {
        let with =
            Surroundings { cwd: &cwd, overflow: overflow.as_deref(), abort, timeout: None, update: &|_| {} };
        let message = shell::run(&shell, &with, time::now).await;
        *ends.bash.lock().unwrap_or_else(PoisonError::into_inner) = None;
        agent.append_aside(&session_id, message.clone())?;
        Ok(Some(result(&message)))
    };
    Ok(server.begin(request, work))
}

/// What the client is told of a command.
fn result(message: &str) -> String {
    let keys = ["output", "exitCode", "cancelled", "truncated", "fullOutputPath"];
    let told = keys.iter().filter_map(|key| {
        let value = members::get(message.as_bytes(), key)?;
        Some(format!("\"{key}\":{}", String::from_utf8_lossy(value)))
    });
    format!("{{{}}}", told.collect::<Vec<_>>().join(","))
}

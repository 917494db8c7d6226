//! Commands that say something to the model, and commands of the user's own (contract, section 12).

use std::sync::{Arc, PoisonError};

use ramal_agent::shell::{self, ShellCommand, Surroundings};
use ramal_agent::tools::outputs_folder;
use ramal_agent::{AgentError, AgentSession, Operation, Prompt};
use ramal_extension::Input;
use ramal_session::json::{self, members};
use ramal_session::time;
use tokio_util::sync::CancellationToken;

use super::Server;
use super::answer::{self, Refusal, Reply};
use super::outgoing::Outgoing;
use super::request::Request;
use crate::models::Models;

/// Does a command of these; none if the command is not one of them.
pub(super) fn reply(server: &mut Server, request: &Request<'_>) -> Result<Option<Reply>, Refusal> {
    let reply = match &*request.command {
        "prompt" => prompt(server, request)?,
        "steer" => {
            let prompt = said(request)?;
            say(server, request, prompt, How::Steer)?
        }
        "follow_up" => {
            let prompt = said(request)?;
            say(server, request, prompt, How::FollowUp)?
        }
        "abort_and_prompt" => {
            let (agent, prompt) = (server.agent.clone(), said(request)?);
            server.begin(request, async move {
                agent.abort_and_prompt(prompt).await?;
                Ok(None)
            })
        }
        "retry" => {
            let accepted = || answer::line(request.id.as_deref(), &request.command, Ok(None));
            begin(&server.agent, &server.out, &server.models, accepted, |agent| agent.retry().map(drop))?;
            Reply::Elsewhere
        }
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

/// How something is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// At once: nothing may run.
    Now,
    /// Within the turn that runs, as soon as it can be.
    Steer,
    /// When all is done.
    FollowUp,
}

impl How {
    /// What it is called on the wire; none for what is said at once.
    fn name(self) -> Option<&'static str> {
        match self {
            How::Now => None,
            How::Steer => Some("steer"),
            How::FollowUp => Some("followUp"),
        }
    }
}

fn prompt(server: &mut Server, request: &Request<'_>) -> Result<Reply, Refusal> {
    let prompt = said(request)?;
    let behavior = request.text_if("streamingBehavior")?;
    let how = match behavior.as_deref() {
        Some("steer") => How::Steer,
        Some("followUp") => How::FollowUp,
        Some(_) => return Err(Refusal::new("`streamingBehavior` must be \"steer\" or \"followUp\"")),
        None => How::Now,
    };
    say(server, request, prompt, how)
}

/// Says something, once the extensions have heard it, if there are any.
fn say(server: &mut Server, request: &Request<'_>, prompt: Prompt, how: How) -> Result<Reply, Refusal> {
    let saying = Saying {
        agent: server.agent.clone(),
        out: server.out.clone(),
        models: Arc::clone(&server.models),
        id: request.id.clone(),
        command: request.command.clone(),
        how,
    };
    if server.crew.now().is_none() {
        saying.say(prompt)?;
        return Ok(Reply::Elsewhere);
    }
    let (crew, abort, turn) = (Arc::clone(&server.crew), server.ends.token(), Arc::clone(&server.says));
    Ok(server.start(async move {
        // What came first is said first.
        let mine = turn.lock_owned().await;
        let text = prompt.text.clone();
        if let Some((name, args)) = crew.command(&text).await {
            drop(mine);
            saying.answer(Ok(()));
            crew.run_command_telling(&saying.agent, name, args, abort).await;
            return;
        }
        let streaming = saying.agent.running().and(saying.how.name());
        match crew.input(prompt, "rpc", streaming, &abort).await {
            Input::Handled => saying.answer(Ok(())),
            Input::Say(_) if abort.is_cancelled() => saying.answer(Err(Refusal::new("it was aborted"))),
            Input::Say(prompt) => {
                if let Err(refusal) = saying.say(prompt) {
                    saying.answer(Err(refusal));
                }
            }
        }
    }))
}

/// Something that is about to be said.
struct Saying {
    agent: AgentSession,
    out: Outgoing,
    models: Arc<Models>,
    id: Option<String>,
    command: String,
    how: How,
}

impl Saying {
    fn line(&self, outcome: Result<(), Refusal>) -> String {
        answer::line(self.id.as_deref(), &self.command, outcome.map(|()| None))
    }

    fn answer(&self, outcome: Result<(), Refusal>) {
        self.out.line(self.line(outcome));
    }

    /// Says it, and answers that it was accepted.
    fn say(&self, prompt: Prompt) -> Result<(), Refusal> {
        let agent = &self.agent;
        match self.how {
            How::Now if agent.running() == Some(Operation::Turn) => Err(Refusal::new(
                "the session is busy with a turn; say with `streamingBehavior` whether to \"steer\" it or to \"followUp\", or use `abort_and_prompt`",
            )),
            How::Steer if agent.running().is_some() => {
                agent.steer(prompt)?;
                self.answer(Ok(()));
                Ok(())
            }
            How::FollowUp if agent.running().is_some() => {
                agent.follow_up(prompt)?;
                self.answer(Ok(()));
                Ok(())
            }
            // It is a prompt while nothing runs.
            _ => begin(
                agent,
                &self.out,
                &self.models,
                || self.line(Ok(())),
                |agent| agent.prompt(prompt).map(drop),
            ),
        }
    }
}

/// Begins a turn. That it was accepted is told before anything that comes of it.
fn begin(
    agent: &AgentSession,
    out: &Outgoing,
    models: &Models,
    line: impl FnOnce() -> String,
    how: impl FnOnce(&AgentSession) -> Result<(), AgentError>,
) -> Result<(), Refusal> {
    if agent.model_choice()?.model.is_none() {
        // A server on this machine is looked for only where there is nothing else.
        agent.set_default_model(models.first_anywhere());
    }
    out.line_first(|| {
        how(agent)?;
        Ok::<_, Refusal>(line())
    })
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
    let crew = Arc::clone(&server.crew);
    let work = async move {
        let answered = crew.user_bash(&shell.command, shell.exclude_from_context, &abort).await;
        if let Some(answered) = answered {
            *ends.bash.lock().unwrap_or_else(PoisonError::into_inner) = None;
            let message = shell::ran_elsewhere(&shell, &answered, time::now());
            agent.append_aside(&session_id, message.clone())?;
            return Ok(Some(result(&message)));
        }
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

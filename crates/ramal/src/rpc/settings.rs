//! Commands that choose: the model, how much it thinks, and what is done by itself (contract,
//! section 12).

use ramal_agent::QueueMode;
use ramal_agent::hooks::ModelSource;
use ramal_model::ThinkingLevel;
use ramal_session::json::quote;

use super::Server;
use super::answer::{Refusal, Reply};
use super::hooks;
use super::models;
use super::request::Request;

/// Commands of pi's and oh-my-pi's that this program has nothing for, and what is there instead.
const NOT_HERE: [(&str, &str); 3] = [
    ("set_interrupt_mode", "ramal has one way to interrupt: what steers is said before the next call"),
    ("set_todos", "ramal keeps no list of things to do"),
    ("set_host_tools", "ramal runs its own tools only"),
];

/// Does a command of these; none if the command is not one of them.
pub(super) fn reply(server: &mut Server, request: &Request<'_>) -> Result<Option<Reply>, Refusal> {
    let agent = &server.agent;
    let reply = match &*request.command {
        "set_model" => {
            let name = format!("{}/{}", request.text("provider")?, request.text("modelId")?);
            agent.set_model(&name)?;
            Reply::Small(models::of_endpoint(&server.models.find(&name).map_err(Refusal::new)?))
        }
        "cycle_model" => cycle_model(server)?,
        "get_available_models" => {
            let models = server.models.usable(models::of_listed).join(",");
            Reply::Small(format!("{{\"models\":[{models}]}}"))
        }
        "set_thinking_level" => {
            let level = request.text("level")?.parse::<ThinkingLevel>().map_err(Refusal::new)?;
            agent.set_thinking_level(level)?;
            Reply::Done
        }
        "cycle_thinking_level" => {
            let now = agent.model_choice()?.thinking;
            let at = ThinkingLevel::ALL.iter().position(|level| *level == now).unwrap_or(0);
            let next = ThinkingLevel::ALL.iter().cycle().nth(at + 1).copied().unwrap_or_default();
            agent.set_thinking_level(next)?;
            Reply::Small(format!("{{\"level\":{}}}", quote(next.name())))
        }
        "set_steering_mode" => {
            agent.set_steering_mode(mode(request)?);
            Reply::Done
        }
        "set_follow_up_mode" => {
            agent.set_follow_up_mode(mode(request)?);
            Reply::Done
        }
        "set_auto_compaction" => {
            agent.set_auto_compaction(enabled(request)?);
            Reply::Done
        }
        "set_auto_retry" => {
            agent.set_auto_retry(enabled(request)?);
            Reply::Done
        }
        "set_hooks" => hooks::set_hooks(server, request)?,
        "get_commands" => commands(server),
        command => match NOT_HERE.iter().find(|(name, _)| *name == command) {
            Some((_, why)) => return Err(Refusal::new(*why)),
            None => return Ok(None),
        },
    };
    Ok(Some(reply))
}

/// The commands that extensions bring; there are no others.
fn commands(server: &Server) -> Reply {
    let all = server.crew.now().map(|now| now.commands()).unwrap_or_default();
    let written: Vec<String> = all
        .iter()
        .map(|command| {
            let about =
                command.description.as_deref().map(|text| format!(",\"description\":{}", quote(text)));
            format!(
                "{{\"name\":{}{},\"source\":\"extension\",\"path\":{}}}",
                quote(&command.name),
                about.unwrap_or_default(),
                quote(&command.extension.to_string_lossy())
            )
        })
        .collect();
    Reply::Small(format!("{{\"commands\":[{}]}}", written.join(",")))
}

fn enabled(request: &Request<'_>) -> Result<bool, Refusal> {
    request.flag("enabled")?.ok_or_else(|| Refusal::new("`enabled` is missing"))
}

fn mode(request: &Request<'_>) -> Result<QueueMode, Refusal> {
    match &*request.text("mode")? {
        "one-at-a-time" => Ok(QueueMode::OneAtATime),
        "all" => Ok(QueueMode::All),
        _ => Err(Refusal::new("`mode` must be \"one-at-a-time\" or \"all\"")),
    }
}

/// The name of a mode on the wire.
pub(super) fn mode_name(mode: QueueMode) -> &'static str {
    match mode {
        QueueMode::OneAtATime => "one-at-a-time",
        QueueMode::All => "all",
    }
}

/// The next of the models that can be used; null where there is no other.
fn cycle_model(server: &Server) -> Result<Reply, Refusal> {
    let usable = server.models.usable(|listed| (listed.name(), models::of_listed(listed)));
    let now = server.agent.model_choice()?.model;
    let at = usable.iter().position(|(name, _)| Some(name) == now.as_ref());
    let next = match at {
        Some(at) => usable.get((at + 1) % usable.len().max(1)),
        None => usable.first(),
    };
    match next.filter(|(name, _)| Some(name) != now.as_ref()) {
        None => Ok(Reply::Small("null".into())),
        Some((name, json)) => {
            server.agent.set_model_as(name, ModelSource::Cycle)?;
            let level = server.agent.model_choice()?.thinking;
            Ok(Reply::Small(format!("{{\"model\":{json},\"thinkingLevel\":{}}}", quote(level.name()))))
        }
    }
}

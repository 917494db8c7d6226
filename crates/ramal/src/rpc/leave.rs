//! Commands that end a turn and answer when they end: navigation, and going over to another session
//! (contract, section 12).

use std::path::Path;

use ramal_agent::{AgentError, AgentSession, NavigateOptions};
use ramal_session::SessionManager;
use ramal_session::json::quote;

use super::Server;
use super::answer::{Refusal, Reply};
use super::request::Request;
use crate::{failure, remembered};

/// Begins a command of these; none if the command is not one of them.
pub(super) fn reply(server: &mut Server, request: &Request<'_>) -> Result<Option<Reply>, Refusal> {
    let reply = match &*request.command {
        "navigate_tree" => navigate_tree(server, request)?,
        "branch" | "fork" => fork(server, request)?,
        "clone" => {
            let agent = server.agent.clone();
            server.begin(request, async move { cancelled(agent.clone_session().await) })
        }
        "new_session" => {
            let (agent, parent) = (server.agent.clone(), request.text_if("parentSession")?);
            server.begin(request, async move { cancelled(agent.new_session(parent.as_deref()).await) })
        }
        "switch_session" | "open_session" => switch_session(server, request)?,
        "compact" => {
            let (agent, instructions) = (server.agent.clone(), request.text_if("customInstructions")?);
            server.begin(request, async move {
                let compacted = agent.compact(instructions.as_deref()).await?;
                let compacted = compacted.ok_or_else(|| Refusal::new("the compaction was aborted"))?;
                moved(&agent);
                Ok(Some(compacted.to_json()))
            })
        }
        "handoff" => handoff(server, request)?,
        _ => return Ok(None),
    };
    Ok(Some(reply))
}

fn cancelled(outcome: Result<bool, AgentError>) -> Result<Option<String>, Refusal> {
    Ok(Some(format!("{{\"cancelled\":{}}}", outcome?)))
}

/// Remembers where one is after something moved or appended.
fn moved(agent: &AgentSession) {
    agent.with_session(|session| {
        failure::warn_without_locks(session);
        remembered::remember(session);
    });
}

fn navigate_tree(server: &mut Server, request: &Request<'_>) -> Result<Reply, Refusal> {
    let target = request.text("targetId")?;
    let options = NavigateOptions {
        summarize: request.flag("summarize")?.unwrap_or(false),
        custom_instructions: request.text_if("customInstructions")?,
        replace_instructions: request.flag("replaceInstructions")?.unwrap_or(false),
        label: request.text_if("label")?.filter(|label| !label.trim().is_empty()),
    };
    let agent = server.agent.clone();
    Ok(server.begin(request, async move {
        let done = agent.navigate_tree(&target, options).await?;
        let mut data = format!("{{\"cancelled\":{}", done.cancelled);
        if done.aborted {
            data += ",\"aborted\":true";
        }
        if let Some(text) = &done.editor_text {
            data += &format!(",\"editorText\":{}", quote(text));
        }
        if let Some(entry) = &done.summary_entry {
            data += &format!(",\"summaryEntry\":{entry}");
        }
        if !done.cancelled {
            moved(&agent);
        }
        Ok(Some(data + "}"))
    }))
}

fn fork(server: &mut Server, request: &Request<'_>) -> Result<Reply, Refusal> {
    let (agent, id) = (server.agent.clone(), request.text("entryId")?);
    Ok(server.begin(request, async move {
        let branched = agent.branch(&id).await?;
        let (text, cancelled) = (quote(&branched.selected_text), branched.cancelled);
        Ok(Some(format!("{{\"text\":{text},\"cancelled\":{cancelled}}}")))
    }))
}

fn handoff(server: &mut Server, request: &Request<'_>) -> Result<Reply, Refusal> {
    let (agent, instructions) = (server.agent.clone(), request.text_if("customInstructions")?);
    Ok(server.begin(request, async move {
        let Some(done) = agent.handoff(instructions.as_deref()).await? else {
            return Ok(Some("null".into()));
        };
        moved(&agent);
        let previous =
            done.previous_session_file.map(|file| format!(",\"previousSessionFile\":{}", quote(&file)));
        Ok(Some(format!(
            "{{\"brief\":{},\"entryId\":{}{}}}",
            quote(&done.brief),
            quote(&done.entry_id),
            previous.unwrap_or_default()
        )))
    }))
}

fn switch_session(server: &mut Server, request: &Request<'_>) -> Result<Reply, Refusal> {
    let path = server.cwd.join(Path::new(&request.text("sessionPath")?));
    let (agent, session_dir, cwd) = (server.agent.clone(), server.session_dir.clone(), server.cwd.clone());
    Ok(server.begin(request, async move {
        let open = || {
            let mut other = SessionManager::open_in(&path, session_dir.as_deref(), &cwd)?;
            remembered::recall(&mut other);
            Ok(other)
        };
        cancelled(agent.switch_session_with(&path, open).await)
    }))
}

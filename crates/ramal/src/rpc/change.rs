//! Commands that append, or move the leaf by themselves (contract, section 12).

use ramal_session::json::quote;
use ramal_session::{EntryId, NewEntry, SessionManager};

use super::Server;
use super::answer::{Refusal, Reply};
use super::read::leaf_id;
use super::request::Request;
use crate::{failure, remembered};

type Answer = Result<Reply, Refusal>;

/// Does a command that changes something; none if the command is not one of these.
pub(super) fn reply(server: &mut Server, request: &Request<'_>) -> Result<Option<Reply>, Refusal> {
    let answer = match &*request.command {
        "append" => append(server, request),
        "set_label" => set_label(server, request),
        "set_session_name" => set_session_name(server, request),
        "set_leaf" => set_leaf(server, request),
        "branch_with_summary" => branch_with_summary(server, request),
        "create_branched_session" => create_branched_session(server, request),
        _ => return Ok(None),
    };
    answer.map(Some)
}

/// After an append the log's own rule leads to the new entry, unless it is of those that do not
/// decide: only then the place has to be remembered.
fn appended(server: &Server, id: &EntryId) -> Reply {
    server.agent.with_session(|session| {
        failure::warn_without_locks(session);
        if !session.get_leaf_entry().is_some_and(|leaf| leaf.kind().decides_leaf()) {
            remembered::remember(session);
        }
    });
    Reply::Small(format!("{{\"entryId\":{}}}", quote(id)))
}

fn append(server: &Server, request: &Request<'_>) -> Answer {
    let entry = NewEntry::from_json(request.object("entry")?)?;
    let id = server.agent.with_session(|session| session.append(&entry))?;
    Ok(appended(server, &id))
}

fn set_label(server: &Server, request: &Request<'_>) -> Answer {
    let target = request.text("entryId")?;
    let label = request.text_if("label")?;
    let id = server.agent.set_label(&target, label.as_deref())?;
    Ok(appended(server, &id))
}

fn set_session_name(server: &Server, request: &Request<'_>) -> Answer {
    let name = request.text("name")?;
    let id = server.agent.set_session_name(&name)?;
    Ok(appended(server, &id))
}

fn set_leaf(server: &Server, request: &Request<'_>) -> Answer {
    let id = request.text_or_null("entryId")?;
    server.agent.must_be_idle()?;
    let leaf = server.agent.with_session(|session| {
        match id {
            Some(id) => session.branch(&id)?,
            None => session.reset_leaf(),
        }
        leaf_id(session)
    })?;
    server.ends.remember();
    Ok(Reply::Small(format!("{{\"leafId\":{leaf}}}")))
}

fn branch_with_summary(server: &Server, request: &Request<'_>) -> Answer {
    let from = request.text_or_null("entryId")?;
    let summary = request.text("summary")?;
    let from_extension = request.flag("fromExtension")?;
    let details = request.get("details");
    server.agent.must_be_idle()?;
    let id = server.agent.with_session(|session| {
        session.branch_with_summary(from.as_deref(), &summary, details, from_extension)
    })?;
    Ok(appended(server, &id))
}

/// What was appended to the session that is left is forced to disk first, as at its end; that it could
/// not be is said, and keeps nobody from leaving.
fn create_branched_session(server: &Server, request: &Request<'_>) -> Answer {
    let leaf = request.text("leafId")?;
    server.agent.must_be_idle()?;
    server.agent.with_session(|session| {
        if let Err(error) = session.sync() {
            failure::warn(&error.to_string());
        }
        session.create_branched_session(&leaf)?;
        Ok(Reply::Small(format!("{{\"sessionFile\":{}}}", session_file(session))))
    })
}

fn session_file(session: &SessionManager) -> String {
    let path = session.get_session_file().map(|path| quote(&path.to_string_lossy()));
    path.unwrap_or_else(|| "null".into())
}

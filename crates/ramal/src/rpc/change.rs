//! Commands that move, append or go to another session (contract, section 12).

use std::path::Path;

use ramal_session::json::quote;
use ramal_session::{EntryId, NameSource, NewEntry, SessionManager};

use super::Server;
use super::answer::{Refusal, Reply};
use super::read::leaf_id;
use super::request::Request;
use crate::{failure, remembered};

type Answer = Result<Reply<'static>, Refusal>;

/// Does a command that changes something; none if the command is not one of these.
pub(super) fn reply(server: &mut Server, request: &Request<'_>) -> Result<Option<Reply<'static>>, Refusal> {
    let answer = match &*request.command {
        "append" => append(server, request),
        "set_label" => set_label(server, request),
        "set_session_name" => set_session_name(server, request),
        "set_leaf" => set_leaf(server, request),
        "branch_with_summary" => branch_with_summary(server, request),
        "navigate_tree" => navigate_tree(server, request),
        "create_branched_session" => create_branched_session(server, request),
        "branch" | "fork" => fork(server, request),
        "clone" => clone(server),
        "new_session" => new_session(server, request),
        "switch_session" => switch_session(server, request),
        _ => return Ok(None),
    };
    answer.map(Some)
}

fn entry_id(id: &EntryId) -> Reply<'static> {
    Reply::Small(format!("{{\"entryId\":{}}}", quote(id)))
}

/// After an append the log's own rule leads to the new entry, unless it is of those that do not
/// decide: only then the place has to be remembered.
fn appended(server: &mut Server, id: &EntryId) -> Reply<'static> {
    failure::warn_without_locks(&server.session);
    if !server.session.get_leaf_entry().is_some_and(|leaf| leaf.kind().decides_leaf()) {
        server.remember();
    }
    entry_id(id)
}

fn append(server: &mut Server, request: &Request<'_>) -> Answer {
    let entry = NewEntry::from_json(request.object("entry")?)?;
    let id = server.session.append(&entry)?;
    Ok(appended(server, &id))
}

fn set_label(server: &mut Server, request: &Request<'_>) -> Answer {
    let target = request.text("entryId")?;
    let label = request.text_if("label")?;
    let id = server.session.append_label_change(&target, label.as_deref())?;
    Ok(appended(server, &id))
}

fn set_session_name(server: &mut Server, request: &Request<'_>) -> Answer {
    let name = request.text("name")?;
    let id = server.session.set_session_name(&name, NameSource::User)?;
    Ok(appended(server, &id))
}

fn set_leaf(server: &mut Server, request: &Request<'_>) -> Answer {
    match request.text_or_null("entryId")? {
        Some(id) => {
            // Another program may just have appended it.
            server.session.refresh().ok();
            server.session.branch(&id)?;
        }
        None => server.session.reset_leaf(),
    }
    server.remember();
    Ok(Reply::Small(format!("{{\"leafId\":{}}}", leaf_id(&server.session)?)))
}

fn branch_with_summary(server: &mut Server, request: &Request<'_>) -> Answer {
    let from = request.text_or_null("entryId")?;
    let summary = request.text("summary")?;
    let from_extension = request.flag("fromExtension")?;
    let details = request.get("details");
    let id = server.session.branch_with_summary(from.as_deref(), &summary, details, from_extension)?;
    Ok(appended(server, &id))
}

fn navigate_tree(server: &mut Server, request: &Request<'_>) -> Answer {
    let target = request.text("targetId")?;
    let summarize = request.flag("summarize")?.unwrap_or(false);
    request.text_if("customInstructions")?;
    request.flag("replaceInstructions")?;
    let label = request.text_if("label")?.filter(|label| !label.trim().is_empty());
    let session = &mut server.session;
    session.refresh().ok();
    let leaf = session.get_leaf_entry();
    if leaf.is_some() && session.get_entry(&target) == leaf {
        return Ok(Reply::Small("{\"cancelled\":false}".into()));
    }
    if summarize {
        return Err(Refusal::new(
            "a summary needs a model, and this version of ramal has none yet; navigate without `summarize`, or give a summary to `branch_with_summary`",
        ));
    }
    let moved = session.navigate(&target, label.as_deref())?;
    failure::warn_without_locks(session);
    server.remember();
    let editor_text = moved.editor_text.map(|text| format!(",\"editorText\":{}", quote(&text)));
    Ok(Reply::Small(format!("{{\"cancelled\":false{}}}", editor_text.unwrap_or_default())))
}

fn create_branched_session(server: &mut Server, request: &Request<'_>) -> Answer {
    let leaf = request.text("leafId")?;
    server.session.refresh().ok();
    leave(server, |session| Ok(session.create_branched_session(&leaf)?))?;
    Ok(Reply::Small(format!("{{\"sessionFile\":{}}}", session_file(&server.session))))
}

fn session_file(session: &SessionManager) -> String {
    let path = session.get_session_file().map(|path| quote(&path.to_string_lossy()));
    path.unwrap_or_else(|| "null".into())
}

fn fork(server: &mut Server, request: &Request<'_>) -> Answer {
    let id = request.text("entryId")?;
    server.session.refresh().ok();
    let text = leave(server, |session| Ok(session.fork_before(&id)?))?;
    Ok(Reply::Small(format!("{{\"text\":{},\"cancelled\":false}}", quote(&text))))
}

fn clone(server: &mut Server) -> Answer {
    leave(server, |session| Ok(session.clone_session()?))?;
    Ok(not_cancelled())
}

fn not_cancelled() -> Reply<'static> {
    Reply::Small("{\"cancelled\":false}".into())
}

fn new_session(server: &mut Server, request: &Request<'_>) -> Answer {
    let parent = request.text_if("parentSession")?;
    leave(server, |session| Ok(session.start_new(parent.as_deref())?))?;
    Ok(not_cancelled())
}

fn switch_session(server: &mut Server, request: &Request<'_>) -> Answer {
    let path = request.text("sessionPath")?;
    let path = server.cwd.join(Path::new(&path));
    let mut other = SessionManager::open_in(&path, server.session_dir.as_deref(), &server.cwd)?;
    remembered::recall(&mut other);
    leave(server, |session| {
        *session = other;
        Ok(())
    })?;
    Ok(not_cancelled())
}

/// Goes over to another session. What was appended to the one that is left is forced to disk first,
/// as at its end; that it could not be is said, and keeps nobody from leaving.
fn leave<T>(
    server: &mut Server,
    go: impl FnOnce(&mut SessionManager) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    if let Err(error) = server.session.sync() {
        failure::warn(&error.to_string());
    }
    go(&mut server.session)
}

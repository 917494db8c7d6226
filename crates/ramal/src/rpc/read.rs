//! Commands that only read (contract, section 12).

use ramal_session::json::quote;
use ramal_session::{EntryRef, Irregular, Kind, Role, SessionManager};

use super::answer::{Refusal, Reply};
use super::request::Request;
use super::{stats, stream};

/// Commands of programs that drive a model; this version has none to drive.
const NEED_A_MODEL: [&str; 22] = [
    "prompt",
    "steer",
    "follow_up",
    "abort_and_prompt",
    "clear_queue",
    "compact",
    "handoff",
    "bash",
    "set_model",
    "cycle_model",
    "get_available_models",
    "set_thinking_level",
    "cycle_thinking_level",
    "set_auto_compaction",
    "set_auto_retry",
    "set_steering_mode",
    "set_follow_up_mode",
    "set_interrupt_mode",
    "set_todos",
    "set_host_tools",
    "get_commands",
    "export_html",
];

/// Answers a command that only reads; refuses what is no command.
pub(super) fn reply<'s>(session: &'s SessionManager, request: &Request<'_>) -> Result<Reply<'s>, Refusal> {
    match &*request.command {
        "get_state" => state(session),
        "get_entries" => entries(session, request),
        "get_entry" => entry(session, request),
        "get_tree" => tree(session, request),
        "get_branch" => branch(session, request),
        "get_children" => children(session, request),
        "get_label" => label(session, request),
        "get_session_stats" => Ok(Reply::Small(stats::of(session)?)),
        "get_fork_messages" | "get_branch_messages" => Ok(fork_messages(session)),
        "get_last_assistant_text" => last_assistant_text(session),
        "get_context" | "get_model_messages" | "get_messages" => {
            Err(Refusal::new("this version of ramal cannot build contexts yet"))
        }
        // Nothing runs that could be ended.
        "abort" | "abort_bash" | "abort_retry" | "abort_compaction" | "abort_branch_summary" => {
            Ok(Reply::Done)
        }
        command if NEED_A_MODEL.contains(&command) => Err(Refusal::new(format!(
            "this version of ramal has no model yet, so it cannot do `{command}`; it serves the session and its tree"
        ))),
        command => Err(Refusal::new(format!("there is no command `{command}`"))),
    }
}

/// The leaf's id as JSON text.
pub(super) fn leaf_id(session: &SessionManager) -> Result<String, Refusal> {
    Ok(session.get_leaf_id()?.map_or_else(|| "null".into(), |id| quote(&id)))
}

fn state<'s>(session: &SessionManager) -> Result<Reply<'s>, Refusal> {
    let text = |text: Option<&str>| text.map_or_else(|| "null".into(), quote);
    let file = session.get_session_file().map(|path| path.to_string_lossy());
    let mut data = format!(
        "{{\"sessionId\":{},\"sessionFile\":{},\"leafId\":{},\"entryCount\":{},\"damagedLines\":{}",
        quote(session.get_session_id()),
        text(file.as_deref()),
        leaf_id(session)?,
        session.entry_count(),
        session.damaged_lines(),
    );
    if let Some(name) = session.get_session_name() {
        data += &format!(",\"sessionName\":{}", quote(&name));
    }
    data += &format!(
        ",\"thinkingLevel\":{},\"isStreaming\":false,\"isCompacting\":false,\"messageCount\":{},\"pendingMessageCount\":0}}",
        quote(&thinking_level(session)?),
        session.message_count(),
    );
    Ok(Reply::Small(data))
}

/// The latest thinking level on the path; off where none was set, or null.
fn thinking_level(session: &SessionManager) -> Result<String, Refusal> {
    let set = upwards(session).find(|entry| entry.kind() == Kind::ThinkingLevelChange);
    let level = set.map(EntryRef::read).transpose()?;
    let level = level.as_ref().and_then(|entry| entry.get_str("thinkingLevel"));
    Ok(level.map_or_else(|| "off".into(), Into::into))
}

/// The path from the leaf up to its root.
fn upwards(session: &SessionManager) -> impl Iterator<Item = EntryRef<'_>> {
    std::iter::successors(session.get_leaf_entry(), |entry| entry.parent())
}

fn entries<'s>(session: &'s SessionManager, request: &Request<'_>) -> Result<Reply<'s>, Refusal> {
    let from = match request.text_if("since")? {
        Some(id) => found(session, &id)?.position() + 1,
        None => 0,
    };
    let limit = request.count("limit")?.unwrap_or(usize::MAX);
    let leaf = leaf_id(session)?;
    Ok(Reply::large(move |out| {
        out.write_all(b"{\"entries\":")?;
        stream::entries(out, session.get_entries().skip(from).take(limit))?;
        write!(out, ",\"leafId\":{leaf}}}")
    }))
}

fn found<'s>(session: &'s SessionManager, id: &str) -> Result<EntryRef<'s>, Refusal> {
    session.get_entry(id).ok_or_else(|| Refusal::new(format!("no entry {id} in this session")))
}

fn entry<'s>(session: &'s SessionManager, request: &Request<'_>) -> Result<Reply<'s>, Refusal> {
    let found = session.get_entry(&request.text("entryId")?);
    Ok(Reply::large(move |out| {
        out.write_all(b"{\"entry\":")?;
        match found {
            Some(found) => stream::entry(out, found)?,
            None => out.write_all(b"null")?,
        }
        out.write_all(b"}")
    }))
}

fn tree<'s>(session: &'s SessionManager, request: &Request<'_>) -> Result<Reply<'s>, Refusal> {
    let flat = request.flag("flat")?.unwrap_or(false);
    let leaf = leaf_id(session)?;
    Ok(Reply::large(move |out| {
        let roots = session.get_tree();
        if flat {
            out.write_all(b"{\"rows\":")?;
            stream::rows(out, &roots)?;
        } else {
            out.write_all(b"{\"tree\":")?;
            stream::tree(out, &roots)?;
        }
        write!(out, ",\"leafId\":{leaf}}}")
    }))
}

fn branch<'s>(session: &'s SessionManager, request: &Request<'_>) -> Result<Reply<'s>, Refusal> {
    let path = match request.get("fromId") {
        // Before the first entry: as everywhere, null is that place.
        Some("null") => Vec::new(),
        _ => session.get_branch(request.text_if("fromId")?.as_deref()),
    };
    Ok(list(path))
}

fn children<'s>(session: &'s SessionManager, request: &Request<'_>) -> Result<Reply<'s>, Refusal> {
    Ok(list(session.get_children(request.text_or_null("parentId")?.as_deref())))
}

fn list(entries: Vec<EntryRef<'_>>) -> Reply<'_> {
    Reply::large(move |out| {
        out.write_all(b"{\"entries\":")?;
        stream::entries(out, entries)?;
        out.write_all(b"}")
    })
}

fn label<'s>(session: &SessionManager, request: &Request<'_>) -> Result<Reply<'s>, Refusal> {
    let label = session.get_label(&request.text("entryId")?).map(quote);
    Ok(Reply::Small(format!("{{\"label\":{}}}", label.as_deref().unwrap_or("null"))))
}

/// Every user message that can be said again another way, on all branches.
fn fork_messages(session: &SessionManager) -> Reply<'_> {
    Reply::large(move |out| {
        out.write_all(b"{\"messages\":[")?;
        let mut lead = "";
        for handle in session.get_entries() {
            let is_user = handle.kind() == Kind::Message && handle.role() == Role::User;
            if !is_user || handle.irregular() == Some(Irregular::NoId) {
                continue;
            }
            // One that cannot be read cannot be said again.
            let Ok(entry) = handle.read() else { continue };
            let text = entry.text();
            if !text.trim().is_empty() {
                write!(out, "{lead}{{\"entryId\":{},\"text\":{}}}", quote(entry.id()), quote(&text))?;
                lead = ",";
            }
        }
        out.write_all(b"]}")
    })
}

fn last_assistant_text<'s>(session: &SessionManager) -> Result<Reply<'s>, Refusal> {
    let last = upwards(session).find(|entry| entry.role() == Role::Assistant);
    let text = last.map(EntryRef::read).transpose()?.map(|entry| entry.text());
    let text = text.filter(|text| !text.trim().is_empty()).map(|text| quote(text.trim()));
    Ok(Reply::Small(format!("{{\"text\":{}}}", text.as_deref().unwrap_or("null"))))
}

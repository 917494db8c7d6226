//! Commands that only read (contract, section 12).

use std::io::{self, Write};
use std::path::PathBuf;

use ramal_session::json::quote;
use ramal_session::library::Places;
use ramal_session::{
    At, EntryRef, Irregular, Kind, ModelInput, ReadError, Role, SessionContext, SessionManager,
};

use super::answer::{Refusal, Reply};
use super::request::Request;
use super::stream;

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
        "get_context" => context(session, request),
        "get_model_messages" => model_messages(session, request),
        "get_messages" => messages(session),
        "get_session_stats" => stats(session),
        "get_fork_messages" | "get_branch_messages" => Ok(fork_messages(session)),
        "get_last_assistant_text" => last_assistant_text(session),
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
    let context = session.build_session_context(At::Leaf)?;
    if let Some(model) = context.model("default") {
        data += &format!(",\"model\":{}", quote(model));
    }
    data += &format!(
        ",\"thinkingLevel\":{},\"isStreaming\":false,\"isCompacting\":false,\"messageCount\":{},\"pendingMessageCount\":0}}",
        quote(&context.thinking_level),
        session.message_count(),
    );
    Ok(Reply::Small(data))
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
            stream::rows(out, session.get_cwd(), &roots)?;
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

/// The context that a request asks for: at an entry, before the first one (null), or at the leaf.
fn asked_context<'s>(
    session: &'s SessionManager,
    request: &Request<'_>,
) -> Result<SessionContext<'s>, Refusal> {
    let id = match request.get("leafId") {
        Some(_) => Some(request.text_or_null("leafId")?),
        None => None,
    };
    let at = match &id {
        None => At::Leaf,
        Some(None) => At::BeforeFirst,
        Some(Some(id)) => At::Entry(id),
    };
    Ok(session.build_session_context(at)?)
}

fn context<'s>(session: &'s SessionManager, request: &Request<'_>) -> Result<Reply<'s>, Refusal> {
    let context = asked_context(session, request)?;
    Ok(Reply::large_if(move |out| {
        let settings = context.state_json();
        // The settings are an object with members: the messages become one more.
        out.write_all(settings.strip_suffix('}').unwrap_or(&settings).as_bytes())?;
        out.write_all(b",\"messages\":")?;
        let whole = array(out, context.messages().map(|message| message.map(|message| message.json)))?;
        out.write_all(b"}")?;
        Ok(whole)
    }))
}

fn messages(session: &SessionManager) -> Result<Reply<'_>, Refusal> {
    let context = session.build_session_context(At::Leaf)?;
    Ok(Reply::large_if(move |out| {
        only_messages(out, context.messages().map(|message| message.map(|message| message.json)))
    }))
}

fn model_messages<'s>(session: &'s SessionManager, request: &Request<'_>) -> Result<Reply<'s>, Refusal> {
    let context = asked_context(session, request)?;
    let options = blob_folder().map(ModelInput::with_blobs).unwrap_or_default();
    Ok(Reply::large_if(move |out| only_messages(out, context.model_messages_with(options))))
}

/// Where oh-my-pi keeps the images that its logs refer to: beside its sessions.
fn blob_folder() -> Option<PathBuf> {
    Some(Places::from_environment().oh_my_pi?.with_file_name("blobs"))
}

fn only_messages(
    out: &mut dyn Write,
    messages: impl Iterator<Item = Result<String, ReadError>>,
) -> io::Result<Result<(), Refusal>> {
    out.write_all(b"{\"messages\":")?;
    let whole = array(out, messages)?;
    out.write_all(b"}")?;
    Ok(whole)
}

/// Writes JSON texts as an array, up to the first that cannot be had: a context with a hole in it is
/// no context.
fn array(
    out: &mut dyn Write,
    items: impl Iterator<Item = Result<String, ReadError>>,
) -> io::Result<Result<(), Refusal>> {
    out.write_all(b"[")?;
    let mut whole = Ok(());
    for (count, item) in items.enumerate() {
        match item {
            Ok(item) if count == 0 => out.write_all(item.as_bytes())?,
            Ok(item) => write!(out, ",{item}")?,
            Err(error) => {
                whole = Err(error.into());
                break;
            }
        }
    }
    out.write_all(b"]")?;
    Ok(whole)
}

fn stats<'s>(session: &SessionManager) -> Result<Reply<'s>, Refusal> {
    let totals = session.get_session_stats()?.to_json();
    let file = session.get_session_file().map(|path| quote(&path.to_string_lossy()));
    Ok(Reply::Small(format!(
        "{{\"sessionFile\":{},\"sessionId\":{},{}",
        file.as_deref().unwrap_or("null"),
        quote(session.get_session_id()),
        totals.strip_prefix('{').unwrap_or(&totals)
    )))
}

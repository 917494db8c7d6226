//! Commands that only read (contract, section 12).

use std::io::{self, BufWriter, Seek, Write};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use ramal_agent::{AgentSession, Operation};
use ramal_model::ThinkingLevel;
use ramal_session::json::quote;
use ramal_session::library::Places;
use ramal_session::{
    At, EntryRef, Irregular, Kind, ModelInput, ReadError, Role, SessionContext, SessionManager,
};

use tempfile::SpooledTempFile;

use super::answer::{Refusal, Reply};
use super::request::Request;
use super::settings::mode_name;
use super::stream::{self, Snapshot, Whole};
use super::{Server, models};

/// Bytes of a conversation that are in memory while a client reads it; the rest waits in a file.
const IN_MEMORY: usize = 512 * 1024;

/// Answers a command that only reads; refuses what is no command.
pub(super) fn reply(server: &Server, request: &Request<'_>) -> Result<Reply, Refusal> {
    let agent = &server.agent;
    match &*request.command {
        "get_state" => state(server),
        "get_entries" => entries(agent, request),
        "get_entry" => entry(agent, request),
        "get_tree" => tree(agent, request),
        "get_branch" => branch(agent, request),
        "get_children" => children(agent, request),
        "get_label" => label(agent, request),
        "get_context" => context(agent, request),
        "get_model_messages" => model_messages(agent, request),
        "get_messages" => messages(agent),
        "get_messages_page" => messages_page(agent, request),
        "get_session_stats" => stats(server),
        "get_fork_messages" | "get_branch_messages" => Ok(fork_messages(agent)),
        "get_last_assistant_text" => agent.with_session(|session| last_assistant_text(session)),
        // What there was to end has been ended when this was read.
        "abort" | "abort_bash" | "abort_retry" | "abort_compaction" | "abort_branch_summary" => {
            Ok(Reply::Done)
        }
        // Those that say to which question were acted on when they were read, but where a long line has
        // its type at the end.
        "hook_response" if server.hooks.answer(request) => Ok(Reply::Elsewhere),
        "hook_response" | "extension_ui_response" => {
            Err(Refusal::new("`id` must be the string that the question came with"))
        }
        command => Err(Refusal::new(format!("there is no command `{command}`"))),
    }
}

/// The leaf's id as JSON text.
pub(super) fn leaf_id(session: &SessionManager) -> Result<String, Refusal> {
    Ok(session.get_leaf_id()?.map_or_else(|| "null".into(), |id| quote(&id)))
}

fn state(server: &Server) -> Result<Reply, Refusal> {
    let agent = &server.agent;
    let (mut data, choice, level, messages) = agent.with_session(|session| {
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
        let choice = agent.model_choice_in(&context);
        Ok::<_, Refusal>((data, choice, context.thinking_level, session.message_count()))
    })?;
    if let Some(model) = &choice.model {
        data += &format!(",\"model\":{}", models::describe(&server.models, model));
    }
    // A level that only another program knows is told as it stands.
    let is_known = level.parse::<ThinkingLevel>().is_ok();
    let running = agent.running();
    let (steering, follow_up) = agent.queue_modes();
    data += &format!(
        ",\"thinkingLevel\":{},\"isStreaming\":{},\"isCompacting\":{},\"steeringMode\":\"{}\",\"followUpMode\":\"{}\",\"autoCompactionEnabled\":{},\"messageCount\":{messages},\"pendingMessageCount\":{}}}",
        quote(if is_known { choice.thinking.name() } else { &level }),
        running == Some(Operation::Turn),
        running == Some(Operation::Compaction) || server.ends.is_compacting.load(Ordering::Relaxed),
        mode_name(steering),
        mode_name(follow_up),
        agent.auto_compaction(),
        agent.pending_messages(),
    );
    // A turn that runs is open because it runs.
    if running.is_none() && agent.with_session(|session| ramal_agent::interruption(session))?.is_some() {
        data.truncate(data.len() - 1);
        data += ",\"interrupted\":true}";
    }
    Ok(Reply::Small(data))
}

/// The path from the leaf up to its root.
fn upwards(session: &SessionManager) -> impl Iterator<Item = EntryRef<'_>> {
    std::iter::successors(session.get_leaf_entry(), |entry| entry.parent())
}

fn entries(agent: &AgentSession, request: &Request<'_>) -> Result<Reply, Refusal> {
    let since = request.text_if("since")?;
    let limit = request.count("limit")?.unwrap_or(usize::MAX);
    let snapshot = Snapshot::of(agent);
    let (from, leaf) = agent.with_session(|session| {
        let from = match &since {
            Some(id) => found(session, id)?.position() + 1,
            None => 0,
        };
        Ok::<_, Refusal>((from, leaf_id(session)?))
    })?;
    Ok(Reply::large(move |out| {
        out.write_all(b"{\"entries\":")?;
        let whole = snapshot.entries(out, (from..snapshot.count()).take(limit))?;
        write!(out, ",\"leafId\":{leaf}}}")?;
        Ok(whole)
    }))
}

fn found<'s>(session: &'s SessionManager, id: &str) -> Result<EntryRef<'s>, Refusal> {
    session.get_entry(id).ok_or_else(|| Refusal::new(format!("no entry {id} in this session")))
}

fn entry(agent: &AgentSession, request: &Request<'_>) -> Result<Reply, Refusal> {
    let id = request.text("entryId")?;
    let mut data = b"{\"entry\":".to_vec();
    agent
        .with_session(|session| match session.get_entry(&id) {
            Some(found) => stream::entry(&mut data, found),
            None => data.write_all(b"null"),
        })
        .map_err(|error| Refusal::new(error.to_string()))?;
    data.push(b'}');
    Ok(Reply::large(move |out| out.write_all(&data).map(Ok)))
}

fn tree(agent: &AgentSession, request: &Request<'_>) -> Result<Reply, Refusal> {
    let flat = request.flag("flat")?.unwrap_or(false);
    let snapshot = Snapshot::of(agent);
    let (roots, leaf) = agent.with_session(|session| {
        let roots: Vec<usize> = session.get_tree().into_iter().map(EntryRef::position).collect();
        Ok::<_, Refusal>((roots, leaf_id(session)?))
    })?;
    Ok(Reply::large(move |out| {
        let whole = if flat {
            out.write_all(b"{\"rows\":")?;
            snapshot.rows(out, &roots)?
        } else {
            out.write_all(b"{\"tree\":")?;
            snapshot.tree(out, &roots)?
        };
        write!(out, ",\"leafId\":{leaf}}}")?;
        Ok(whole)
    }))
}

fn branch(agent: &AgentSession, request: &Request<'_>) -> Result<Reply, Refusal> {
    // Before the first entry: as everywhere, null is that place.
    let is_before_first = request.get("fromId") == Some("null");
    let from = request.text_if("fromId")?;
    Ok(list(agent, |session| match is_before_first {
        true => Vec::new(),
        false => session.get_branch(from.as_deref()),
    }))
}

fn children(agent: &AgentSession, request: &Request<'_>) -> Result<Reply, Refusal> {
    let parent = request.text_or_null("parentId")?;
    Ok(list(agent, |session| session.get_children(parent.as_deref())))
}

fn list(agent: &AgentSession, of: impl FnOnce(&SessionManager) -> Vec<EntryRef<'_>>) -> Reply {
    let snapshot = Snapshot::of(agent);
    let places: Vec<usize> =
        agent.with_session(|session| of(session).into_iter().map(EntryRef::position).collect());
    Reply::large(move |out| {
        out.write_all(b"{\"entries\":")?;
        let whole = snapshot.entries(out, places)?;
        out.write_all(b"}")?;
        Ok(whole)
    })
}

fn label(agent: &AgentSession, request: &Request<'_>) -> Result<Reply, Refusal> {
    let id = request.text("entryId")?;
    let label = agent.with_session(|session| session.get_label(&id).map(quote));
    Ok(Reply::Small(format!("{{\"label\":{}}}", label.as_deref().unwrap_or("null"))))
}

/// Every user message that can be said again another way, on all branches.
fn fork_messages(agent: &AgentSession) -> Reply {
    let snapshot = Snapshot::of(agent);
    Reply::large(move |out| {
        out.write_all(b"{\"messages\":[")?;
        let (mut places, mut lead) = (0..snapshot.count(), "");
        let whole = snapshot.write(out, |session, text| {
            let Some(place) = places.next() else { return Ok(false) };
            if let Some((id, says)) = session.get_entry_at(place).and_then(says_for_fork) {
                write!(text, "{lead}{{\"entryId\":{},\"text\":{}}}", quote(&id), quote(&says))?;
                lead = ",";
            }
            Ok(true)
        })?;
        out.write_all(b"]}")?;
        Ok(whole)
    })
}

/// The id and the text of a user message that has both.
fn says_for_fork(handle: EntryRef<'_>) -> Option<(String, String)> {
    let is_user = handle.kind() == Kind::Message && handle.role() == Role::User;
    if !is_user || handle.irregular() == Some(Irregular::NoId) {
        return None;
    }
    // One that cannot be read cannot be said again.
    let entry = handle.read().ok()?;
    let text = entry.text();
    (!text.trim().is_empty()).then(|| (entry.id().to_string(), text))
}

fn last_assistant_text(session: &SessionManager) -> Result<Reply, Refusal> {
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

fn context(agent: &AgentSession, request: &Request<'_>) -> Result<Reply, Refusal> {
    spooled(agent, |session, out| {
        let context = asked_context(session, request)?;
        let settings = context.state_json();
        // The settings are an object with members: the messages become one more.
        out.write_all(settings.strip_suffix('}').unwrap_or(&settings).as_bytes())?;
        out.write_all(b",\"messages\":")?;
        let whole = array(out, context.messages().map(|message| message.map(|message| message.json)))?;
        out.write_all(b"}")?;
        Ok(whole)
    })
}

fn messages(agent: &AgentSession) -> Result<Reply, Refusal> {
    spooled(agent, |session, out| {
        let context = session.build_session_context(At::Leaf)?;
        only_messages(out, context.messages().map(|message| message.map(|message| message.json)))
    })
}

/// Messages on one page at most.
const LONGEST_PAGE: usize = 256;

/// Some of the messages, from the one that the cursor names: how many are to come before it.
fn messages_page(agent: &AgentSession, request: &Request<'_>) -> Result<Reply, Refusal> {
    let cursor = request.text_if("cursor")?;
    let from = cursor.as_deref().map_or(Ok(0), str::parse::<usize>);
    let from = from.map_err(|_| Refusal::new("`cursor` must be what `nextCursor` of the page before was"))?;
    let limit = request.count("limit")?.unwrap_or(LONGEST_PAGE);
    if !(1..=LONGEST_PAGE).contains(&limit) {
        return Err(Refusal::new(format!("`limit` must be from 1 to {LONGEST_PAGE}")));
    }
    spooled(agent, |session, out| {
        let context = session.build_session_context(At::Leaf)?;
        let mut messages = context.messages().skip(from).map(|message| message.map(|message| message.json));
        out.write_all(b"{\"messages\":")?;
        let whole = array(out, messages.by_ref().take(limit))?;
        if messages.next().is_some() {
            write!(out, ",\"nextCursor\":\"{}\"", from.saturating_add(limit))?;
        }
        out.write_all(b"}")?;
        Ok(whole)
    })
}

fn model_messages(agent: &AgentSession, request: &Request<'_>) -> Result<Reply, Refusal> {
    let options = blob_folder().map(ModelInput::with_blobs).unwrap_or_default();
    spooled(agent, |session, out| {
        only_messages(out, asked_context(session, request)?.model_messages_with(options))
    })
}

/// An answer that is put together while nothing can change, and then written.
fn spooled(
    agent: &AgentSession,
    write: impl FnOnce(&SessionManager, &mut dyn Write) -> Result<Whole, Refusal>,
) -> Result<Reply, Refusal> {
    let mut spool = SpooledTempFile::new(IN_MEMORY);
    let whole = agent.with_session(|session| {
        let mut out = BufWriter::new(&mut spool);
        let whole = write(session, &mut out)?;
        out.flush()?;
        Ok::<_, Refusal>(whole)
    })?;
    spool.rewind()?;
    Ok(Reply::large(move |out| io::copy(&mut spool, out).map(|_| whole)))
}

/// Where oh-my-pi keeps the images that its logs refer to: beside its sessions.
fn blob_folder() -> Option<PathBuf> {
    Some(Places::from_environment().oh_my_pi?.with_file_name("blobs"))
}

fn only_messages(
    out: &mut dyn Write,
    messages: impl Iterator<Item = Result<String, ReadError>>,
) -> Result<Whole, Refusal> {
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
) -> Result<Whole, Refusal> {
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

fn stats(server: &Server) -> Result<Reply, Refusal> {
    let agent = &server.agent;
    let mut data = agent.with_session(|session| {
        let totals = session.get_session_stats()?.to_json();
        let file = session.get_session_file().map(|path| quote(&path.to_string_lossy()));
        Ok::<_, Refusal>(format!(
            "{{\"sessionFile\":{},\"sessionId\":{},{}",
            file.as_deref().unwrap_or("null"),
            quote(session.get_session_id()),
            totals.strip_prefix('{').unwrap_or(&totals)
        ))
    })?;
    let window = agent.model_choice()?.model.and_then(|model| server.models.window(&model));
    if let Some(window) = window.filter(|&window| window > 0)
        && data.ends_with('}')
    {
        let tokens = agent.context_tokens()?.tokens;
        let percent = (tokens as f64 / window as f64 * 1000.0).round() / 10.0;
        data.pop();
        data += &format!(
            ",\"contextUsage\":{{\"tokens\":{tokens},\"contextWindow\":{window},\"percent\":{percent}}}}}"
        );
    }
    Ok(Reply::Small(data))
}

//! `ramal context`: what a model would be sent, and about how much that is.

use std::io::Write;

use ramal_session::{At, Message, Role as Who, SessionManager, ToolCall, json};

use super::Json;
use crate::cli::Globals;
use crate::failure::Status;
use crate::output::raw_json;
use crate::resolve;
use crate::view::line::Line;
use crate::view::says::called_on;
use crate::view::style::{Palette, Role};
use crate::view::width::{fit, pad, pad_start, wrap};
use crate::view::{clean, human};

/// Show what a model would be sent
///
/// The state (model, thinking level, mode, tools) and the messages, each with about the tokens it takes:
/// four bytes are counted as one, an image as 1,200.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramal context
  ramal context examples/date-parser.jsonl --leaf 'works, but ugly'
  ramal context --entries --json | jq '.messages[].entryId'")]
pub(crate) struct Args {
    /// The session: a path, the beginning of an id, or a name; else the most recent one here
    session: Option<String>,
    /// The context at this entry, in place of the leaf
    #[arg(long, value_name = "ENTRY")]
    leaf: Option<String>,
    /// The messages as the session has them, each with its entry, before they are made ready for a model
    #[arg(long)]
    entries: bool,
    #[command(flatten)]
    json: Json,
}

pub(crate) fn run(args: &Args, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<Status> {
    let mut session = resolve::session(args.session.as_deref(), globals)?;
    if let Some(leaf) = &args.leaf {
        let id = resolve::entry(&session, leaf)?;
        session.branch(&id)?;
    }
    if args.json.json {
        write_json(&session, args.entries, out)?;
    } else {
        draw(&session, args.entries, globals.palette(), globals.columns(), out)?;
    }
    Ok(Status::Done)
}

/// A message on its way out, and the entry it comes from if that is asked for.
struct Outgoing {
    entry_id: Option<String>,
    json: String,
}

/// Hands on the messages one by one; no more than one is held.
fn each_message(
    session: &SessionManager,
    with_entries: bool,
    mut take: impl FnMut(Outgoing) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let context = session.build_session_context(At::Leaf)?;
    if with_entries {
        for message in context.messages() {
            let message = message?;
            let entry_id = Some(message.entry.id()?.as_str().to_owned());
            take(Outgoing { entry_id, json: message.json })?;
        }
    } else {
        for message in context.model_messages() {
            take(Outgoing { entry_id: None, json: message? })?;
        }
    }
    Ok(())
}

fn write_json(session: &SessionManager, with_entries: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    let context = session.build_session_context(At::Leaf)?;
    let leaf = session.get_leaf_id()?;
    let leaf = leaf.map_or_else(|| "null".into(), |id| json::quote(&id));
    let state = context.state_json();
    let state = state.strip_prefix('{').and_then(|state| state.strip_suffix('}')).unwrap_or_default();
    raw_json(out, &format!("{{\"leafId\":{leaf},{state},\"messages\":["))?;
    let (mut total, mut before) = (0, "");
    each_message(session, with_entries, |message| {
        let tokens = tokens(Message::new(&message.json));
        total += tokens;
        let entry = message.entry_id.map(|id| format!("\"entryId\":{},", json::quote(&id)));
        raw_json(out, &format!("{before}{{{}\"tokens\":{tokens},\"message\":", entry.unwrap_or_default()))?;
        raw_json(out, &message.json)?;
        write!(out, "}}")?;
        before = ",";
        Ok(())
    })?;
    writeln!(out, "],\"totalTokens\":{total}}}")?;
    Ok(())
}

/// Columns of a number of tokens.
const TOKENS: usize = 8;
/// Columns of a role.
const ROLE: usize = 10;

fn draw(
    session: &SessionManager,
    with_entries: bool,
    palette: Palette,
    columns: usize,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    for (name, value) in state(session)? {
        let value = clean::one_line(&value, columns);
        let mut line = Line::new(palette, &[]);
        line.push_fit(Role::Dim, &format!("{}  ", pad(name, TOKENS + ROLE)), columns);
        line.push_fit(Role::Assistant, &value, columns);
        writeln!(out, "{}", line.finish())?;
    }
    writeln!(out)?;
    let (mut total, mut count) = (0u64, 0u64);
    each_message(session, with_entries, |outgoing| {
        let message = Message::new(&outgoing.json);
        let tokens = tokens(message);
        total += tokens;
        count += 1;
        let id = outgoing.entry_id.map(|id| format!("{}  ", pad(&clean::one_line(&id, 8), 8)));
        let id = id.unwrap_or_default();
        let room = columns.saturating_sub(TOKENS + 2 + ROLE + 2 + id.chars().count());
        let role = clean::one_line(&message.get_str("role").unwrap_or_default(), ROLE);
        let look = match message.role() {
            Who::User => Role::User,
            Who::ToolResult if message.is_error() => Role::ToolFailed,
            Who::ToolResult => Role::Tool,
            _ => Role::Heading,
        };
        let mut line = Line::new(palette, &[]);
        let number = pad_start(&human::count(tokens), TOKENS);
        line.push_fit(Role::Dim, &format!("{number}  "), columns);
        line.push_fit(look, &format!("{}  ", pad(&role, ROLE)), columns);
        line.push_fit(Role::Dim, &id, columns);
        line.push_fit(Role::Assistant, &in_a_line(message, session.get_cwd(), room), columns);
        writeln!(out, "{}", line.finish())?;
        Ok(())
    })?;
    if count == 0 {
        for line in wrap("There are no messages at this place in the tree.", columns) {
            writeln!(out, "{line}")?;
        }
        return Ok(());
    }
    let messages = super::notices::several(count, "message", "messages");
    let line = format!("{}  in {messages}", pad_start(&human::count(total), TOKENS));
    writeln!(out, "\n{}", palette.paint(Role::Heading, &fit(&line, columns)))?;
    let note = "Tokens are estimated: four bytes are counted as one, an image as 1,200.";
    for line in wrap(note, columns) {
        writeln!(out, "{}", palette.paint(Role::Dim, line))?;
    }
    Ok(())
}

/// What is in force, by name; what says nothing is left out.
fn state(session: &SessionManager) -> anyhow::Result<Vec<(&'static str, String)>> {
    let context = session.build_session_context(At::Leaf)?;
    let mut lines = Vec::new();
    for (role, model) in &context.models {
        let role = if role == "default" { String::new() } else { format!(" ({role})") };
        lines.push(("model", format!("{model}{role}")));
    }
    lines.push(("thinking level", context.thinking_level.clone()));
    if context.mode != "none" {
        let data = context.mode_data.as_deref().unwrap_or_default();
        lines.push(("mode", format!("{} {data}", context.mode)));
    }
    lines.extend(context.service_tier.clone().map(|tier| ("service tier", tier)));
    lines.extend(context.active_tools.as_ref().map(|tools| ("tools", tools.join(", "))));
    for (name, list) in [("MCP tools", &context.selected_mcp_tools), ("rules", &context.injected_rules)] {
        if !list.is_empty() {
            lines.push((name, list.join(", ")));
        }
    }
    Ok(lines)
}

/// What a message says, in a line.
fn in_a_line(message: Message<'_>, cwd: &str, columns: usize) -> String {
    let mut parts = vec![message.text()];
    if parts.iter().all(|text| text.trim().is_empty()) {
        let call =
            |call: ToolCall<'_>| format!("▸ {} {}", call.name, called_on(&call.name, call.arguments, cwd));
        parts = message.tool_calls().map(call).collect();
    }
    let images = blocks_of(message, b"\"image\"");
    if images > 0 {
        parts.push(super::notices::several(images, "image", "images"));
    }
    clean::one_line(&parts.join(" "), columns)
}

fn blocks_of(message: Message<'_>, kind: &[u8]) -> u64 {
    message.blocks().filter(|block| json::get(block.as_bytes(), "type") == Some(kind)).count() as u64
}

/// Bytes that are counted as a token.
const BYTES: u64 = 4;
/// Tokens that an image is counted as.
const IMAGE: u64 = 1200;

/// About how many tokens a message takes: its texts, thoughts and calls.
fn tokens(message: Message<'_>) -> u64 {
    let mut bytes = 0u64;
    let mut any = false;
    for block in message.blocks() {
        any = true;
        for key in ["text", "thinking", "name"] {
            bytes += json::get_str(block.as_bytes(), key).map_or(0, |text| text.len() as u64);
        }
        bytes += json::get(block.as_bytes(), "arguments").map_or(0, |arguments| arguments.len() as u64);
    }
    if !any {
        let texts = ["content", "summary", "command", "code", "output"];
        bytes +=
            texts.iter().filter_map(|key| message.get_str(key)).map(|text| text.len() as u64).sum::<u64>();
    }
    bytes.div_ceil(BYTES) + blocks_of(message, b"\"image\"") * IMAGE
}

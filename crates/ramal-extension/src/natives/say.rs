//! What an extension says: to the model, and beside it.

use std::sync::Arc;

use ramal_agent::hooks::CustomMessage;
use ramal_agent::{AgentError, AgentSession, Prompt};
use ramal_session::json::quote;
use ramal_session::{Role, json};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{Answer, Args, Call, Op, nothing, said};
use crate::record::{Asking, Record};

pub(super) const OPS: &[(&str, Op)] = &[
    ("send_user", Op::Quick(send_user)),
    ("send_message", Op::Quick(send_message)),
    ("is_idle", Op::Quick(|call, args| Ok(call.session_of(args.at(0))?.running().is_none().to_string()))),
    (
        "has_pending",
        Op::Quick(|call, args| Ok((call.session_of(args.at(0))?.pending_messages() > 0).to_string())),
    ),
    (
        "abort",
        Op::Quick(|call, args| {
            call.session_of(args.at(0))?.abort();
            nothing()
        }),
    ),
];

/// Says something as the user would; where a command of an extension counts as one, it is run.
fn send_user(call: &Call, args: &Args) -> Answer {
    let session = call.session()?;
    let content: Value = serde_json::from_str(args.text(0)?).map_err(said)?;
    let prompt = prompt(&content)?;
    if args.flag(2) && run_command(call, &session, &prompt.text) {
        return nothing();
    }
    match args.text_if(1) {
        Some("steer") => session.steer(prompt),
        Some("followUp" | "nextTurn") => session.follow_up(prompt),
        _ => session.prompt(prompt).map(drop),
    }
    .map_err(|error| match error {
        AgentError::Busy { .. } => format!("{error}; `deliverAs` \"steer\" or \"followUp\" says it later"),
        error => error.to_string(),
    })?;
    nothing()
}

fn prompt(content: &Value) -> Result<Prompt, String> {
    match content {
        Value::String(text) => Ok(Prompt::text(text)),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block.get("text")?.as_str());
            let text = texts.collect::<Vec<_>>().join("\n");
            let images = blocks.iter().filter(|block| block.get("type").is_some_and(|kind| kind == "image"));
            Ok(Prompt { images: images.map(Value::to_string).collect(), ..Prompt::text(text) })
        }
        _ => Err("sendUserMessage: the content must be a string or an array of blocks".into()),
    }
}

/// Runs the command that a text stands for when nothing else runs. False if it stands for none.
fn run_command(call: &Call, session: &AgentSession, text: &str) -> bool {
    let Some(typed) = text.strip_prefix('/') else { return false };
    let (name, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    let has = |record: &Arc<Record>| record.registered(|known| known.commands.contains_key(name));
    let Some(record) = call.record.world.records().into_iter().find(has) else { return false };
    let (name, payload) = (name.to_owned(), format!("{{\"args\":{}}}", quote(rest.trim())));
    let session = session.clone();
    call.record.world.runtime.spawn(async move {
        session.wait_for_idle().await;
        // What was told of the end comes before.
        record.has_heard().await;
        let what = format!("command {name}");
        let asking = Asking {
            kind: "command",
            name: &name,
            what: what.clone(),
            payload,
            abort: CancellationToken::new(),
            limit: None,
            update: None,
        };
        if let Err(why) = record.ask(asking).await {
            record.world.report(&record, &what, &why);
        }
    });
    true
}

/// A message of the extension's own, as an entry; the model sees it, and answers if that is wanted.
fn send_message(call: &Call, args: &Args) -> Answer {
    let session = call.session()?;
    let content = args.text(1)?;
    if !json::is_valid(content) || !content.starts_with(['"', '[']) {
        return Err("sendMessage: `content` must be a string or an array of blocks".into());
    }
    let message = CustomMessage {
        custom_type: args.text(0)?.to_owned(),
        content: content.to_owned(),
        display: args.flag(2),
        details: args.text_if(3).map(str::to_owned),
    };
    let (triggers, later) = (args.flag(4), matches!(args.text_if(5), Some("followUp" | "nextTurn")));
    let triggers = triggers && args.text_if(5) != Some("nextTurn");
    if session.running().is_none() {
        let id = session.append_custom_message(&message).map_err(said)?;
        if triggers {
            session.go_on().map_err(said)?;
        }
        return Ok(quote(&id));
    }
    if !later {
        // The model sees it with its next request; if it makes none, it is asked afterwards.
        let id = session.append_custom_message(&message).map_err(said)?;
        if triggers {
            after(call, session, move |session| answer(session, &id));
        }
        return nothing();
    }
    after(call, session, move |session| {
        session.append_custom_message(&message).map_err(said)?;
        if triggers { session.go_on().map_err(said) } else { Ok(()) }
    });
    nothing()
}

/// Does something when nothing runs any more, if the session is the same then.
fn after(
    call: &Call,
    session: AgentSession,
    work: impl FnOnce(&AgentSession) -> Result<(), String> + Send + 'static,
) {
    let call = call.clone();
    let id = session.with_session(|manager| manager.get_session_id().to_owned());
    call.record.world.runtime.clone().spawn(async move {
        session.wait_for_idle().await;
        if session.with_session(|manager| manager.get_session_id() == id)
            && let Err(error) = work(&session)
        {
            call.record.world.report(&call.record, &call.owner.what, &error);
        }
    });
}

/// Has the model answer an entry that it has not answered.
fn answer(session: &AgentSession, id: &str) -> Result<(), String> {
    let is_answered = session.with_session(|manager| {
        let path = std::iter::successors(manager.get_leaf_entry(), |entry| entry.parent());
        let entry = manager.get_entry(id);
        path.take_while(|above| Some(*above) != entry).any(|entry| entry.role() == Role::Assistant)
    });
    if is_answered { Ok(()) } else { session.go_on().map_err(said) }
}

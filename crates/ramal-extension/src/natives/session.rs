//! Reads of the session, and small appends: each turns into JSON what is asked for, and no more.

use ramal_session::json::quote;
use ramal_session::{At, EntryId, EntryRef, SessionManager};

use super::{Answer, Args, Call, Op, nothing, said, text_or_null};

pub(super) const OPS: &[(&str, Op)] = &[
    (
        "session.current",
        Op::Quick(|call, _| {
            call.record.world.session().map_or_else(nothing, |session| {
                Ok(session.with_session(|manager| quote(manager.get_session_id())))
            })
        }),
    ),
    ("session.must_be", Op::Quick(|call, args| call.with(args.at(0), |_| nothing()))),
    (
        "session.leaf",
        Op::Quick(|call, args| {
            call.with(args.at(0), |manager| Ok(text_or_null(manager.get_leaf_id().map_err(said)?.as_deref())))
        }),
    ),
    (
        "session.leaf_entry",
        Op::Quick(|call, args| call.with(args.at(0), |manager| one(manager.get_leaf_entry()))),
    ),
    (
        "session.entry",
        Op::Quick(|call, args| call.with(args.at(0), |manager| one(manager.get_entry(args.text(1)?)))),
    ),
    (
        "session.branch",
        Op::Quick(|call, args| call.with(args.at(0), |manager| all(manager.get_branch(args.text_if(1))))),
    ),
    (
        "session.children",
        Op::Quick(|call, args| call.with(args.at(0), |manager| all(manager.get_children(args.text_if(1))))),
    ),
    ("session.entries", Op::Quick(|call, args| call.with(args.at(0), |manager| all(manager.get_entries())))),
    ("session.tree", Op::Quick(tree)),
    (
        "session.label",
        Op::Quick(|call, args| {
            call.with(args.at(0), |manager| Ok(text_or_null(manager.get_label(args.text(1)?))))
        }),
    ),
    (
        "session.header",
        Op::Quick(|call, args| call.with(args.at(0), |manager| Ok(manager.get_header().json().to_owned()))),
    ),
    (
        "session.name",
        Op::Quick(|call, args| {
            call.with(args.at(0), |manager| Ok(text_or_null(manager.get_session_name().as_deref())))
        }),
    ),
    ("session.cwd", Op::Quick(|call, args| call.with(args.at(0), |manager| Ok(quote(manager.get_cwd()))))),
    (
        "session.dir",
        Op::Quick(|call, args| call.with(args.at(0), |manager| Ok(path(manager.get_session_dir())))),
    ),
    (
        "session.id",
        Op::Quick(|call, args| call.with(args.at(0), |manager| Ok(quote(manager.get_session_id())))),
    ),
    (
        "session.file",
        Op::Quick(|call, args| call.with(args.at(0), |manager| Ok(path(manager.get_session_file())))),
    ),
    (
        "session.is_persisted",
        Op::Quick(|call, args| call.with(args.at(0), |manager| Ok(manager.is_persisted().to_string()))),
    ),
    ("session.context", Op::Quick(context)),
    (
        "append.message",
        Op::Quick(|call, args| {
            append(call, args, |manager| manager.append_message(args.text(1)?).map_err(said))
        }),
    ),
    (
        "append.entry",
        Op::Quick(|call, args| {
            append(call, args, |manager| {
                manager.append_custom_entry(args.text(1)?, args.text_if(2)).map_err(said)
            })
        }),
    ),
    (
        "append.custom_message",
        Op::Quick(|call, args| {
            append(call, args, |manager| {
                let (content, details) = (args.text(2)?, args.text_if(4));
                manager
                    .append_custom_message_entry(args.text(1)?, content, args.flag(3), details)
                    .map_err(said)
            })
        }),
    ),
    (
        "set_label",
        Op::Quick(|call, args| {
            append(call, args, |manager| {
                manager.append_label_change(args.text(1)?, args.text_if(2)).map_err(said)
            })
        }),
    ),
    (
        "set_name",
        Op::Quick(|call, args| {
            let session = call.session_of(args.at(0))?;
            Ok(quote(&session.set_session_name(args.text(1)?).map_err(said)?))
        }),
    ),
];

/// Appends something, and tells it.
fn append(
    call: &Call,
    args: &Args,
    work: impl FnOnce(&mut SessionManager) -> Result<EntryId, String>,
) -> Answer {
    let id = call.with(args.at(0), work)?;
    call.session()?.tell_appended(&id);
    Ok(quote(&id))
}

fn path(path: Option<&std::path::Path>) -> String {
    path.map_or_else(|| "null".into(), |path| quote(&path.to_string_lossy()))
}

fn one(entry: Option<EntryRef<'_>>) -> Answer {
    let entry = entry.map(EntryRef::read).transpose().map_err(said)?;
    Ok(entry.map_or_else(|| "null".into(), |entry| valid(entry.json())))
}

/// An entry whose text is no JSON is known by its envelope only.
fn valid(json: &str) -> String {
    if ramal_session::json::is_valid(json) { json.to_owned() } else { "null".into() }
}

fn all<'a>(entries: impl IntoIterator<Item = EntryRef<'a>>) -> Answer {
    let entries = entries.into_iter().map(|entry| one(Some(entry)));
    let entries: Result<Vec<String>, String> =
        entries.filter(|entry| entry.as_deref() != Ok("null")).collect();
    Ok(format!("[{}]", entries?.join(",")))
}

/// Every entry with the place of its parent in the list, its label, and when it was labelled: a tree of any
/// depth without recursion.
fn tree(call: &Call, args: &Args) -> Answer {
    call.with(args.at(0), |manager| {
        let rows = manager.get_entries().map(|entry| {
            let parent = entry.parent().map_or_else(|| "null".into(), |parent| parent.position().to_string());
            let labelled = entry.labelled_by().map(EntryRef::read).transpose().map_err(said)?;
            let time = labelled.as_ref().and_then(|entry| entry.timestamp());
            Ok(format!(
                "[{},{parent},{},{}]",
                one(Some(entry))?,
                text_or_null(entry.label()),
                text_or_null(time.as_deref())
            ))
        });
        Ok(format!("[{}]", rows.collect::<Result<Vec<String>, String>>()?.join(",")))
    })
}

fn context(call: &Call, args: &Args) -> Answer {
    call.with(args.at(0), |manager| {
        let context = manager.build_session_context(At::Leaf).map_err(said)?;
        let messages: Result<Vec<String>, _> =
            context.messages().map(|message| message.map(|message| message.json)).collect();
        let model = context.model("default").and_then(|name| name.split_once('/'));
        let model = model.map_or_else(
            || "null".into(),
            |(provider, id)| format!("{{\"provider\":{},\"modelId\":{}}}", quote(provider), quote(id)),
        );
        Ok(format!(
            "{{\"messages\":[{}],\"thinkingLevel\":{},\"model\":{model}}}",
            messages.map_err(said)?.join(","),
            quote(&context.thinking_level)
        ))
    })
}

//! What commands may do besides: move in the tree, and go to other sessions.

use std::path::Path;

use ramal_agent::{AgentSession, NavigateOptions};
use ramal_session::json::quote;
use serde_json::Value;

use super::{Answer, Args, Call, Later, Op, nothing, said, text_or_null};

pub(super) const OPS: &[(&str, Op)] = &[
    (
        "wait_for_idle",
        Op::Slow(|call, args, _| {
            Box::pin(async move {
                call.session_of(args.at(0))?.wait_for_idle().await;
                nothing()
            })
        }),
    ),
    ("navigate", Op::Slow(|call, args, _| Box::pin(navigate(call, args)))),
    ("branch", Op::Slow(|call, args, _| Box::pin(branch(call, args)))),
    ("fork_at", Op::Slow(|call, args, _| Box::pin(fork_at(call, args)))),
    (
        "new_session",
        Op::Slow(|call, args, _| {
            Box::pin(async move {
                let session = call.session_of(args.at(0))?;
                Ok(cancelled(session.new_session(args.text_if(1)).await.map_err(said)?))
            })
        }),
    ),
    (
        "switch_session",
        Op::Slow(|call, args, _| {
            Box::pin(async move {
                let session = call.session_of(args.at(0))?;
                let path = session.cwd().join(Path::new(args.text(1)?));
                Ok(cancelled(session.switch_session(&path).await.map_err(said)?))
            })
        }),
    ),
    ("compact", Op::Slow(compact)),
    (
        "reload",
        Op::Slow(|call, _, _| {
            Box::pin(async move {
                call.record.world.options.program.reload().await?;
                nothing()
            })
        }),
    ),
];

fn cancelled(cancelled: bool) -> String {
    format!("{{\"cancelled\":{cancelled}}}")
}

/// What is to be said again goes where one types, unless something stands there.
fn fill_editor(call: &Call, text: Option<&str>) {
    let ui = call.record.world.ui();
    if let Some(text) = text.filter(|text| !text.is_empty())
        && ui.editor_text().is_empty()
    {
        ui.set_editor_text(text);
    }
}

async fn navigate(call: Call, args: Args) -> Answer {
    let session = call.session_of(args.at(0))?;
    let given = args.at(2);
    let text = |key: &str| given.get(key).and_then(Value::as_str).map(str::to_owned);
    let flag = |key: &str| given.get(key).and_then(Value::as_bool).unwrap_or(false);
    let options = NavigateOptions {
        summarize: flag("summarize"),
        custom_instructions: text("customInstructions"),
        replace_instructions: flag("replaceInstructions"),
        label: text("label"),
    };
    let moved = session.navigate_tree(args.text(1)?, options).await.map_err(said)?;
    fill_editor(&call, moved.editor_text.as_deref());
    let mut answer = format!("{{\"cancelled\":{},\"aborted\":{}", moved.cancelled, moved.aborted);
    if let Some(text) = &moved.editor_text {
        answer += &format!(",\"editorText\":{}", quote(text));
    }
    if let Some(entry) = &moved.summary_entry {
        answer += &format!(",\"summaryEntry\":{entry}");
    }
    Ok(answer + "}")
}

async fn branch(call: Call, args: Args) -> Answer {
    let session = call.session_of(args.at(0))?;
    let branched = session.branch(args.text(1)?).await.map_err(said)?;
    if !branched.cancelled {
        fill_editor(&call, Some(&branched.selected_text));
    }
    Ok(format!(
        "{{\"cancelled\":{},\"selectedText\":{}}}",
        branched.cancelled,
        text_or_null(Some(&branched.selected_text))
    ))
}

async fn fork_at(call: Call, args: Args) -> Answer {
    let session = call.session_of(args.at(0))?;
    Ok(cancelled(session.branch_at(args.text(1)?).await.map_err(said)?))
}

/// Goes on also when nobody waits for it: the answer may be wanted only by `onComplete`.
fn compact(call: Call, args: Args, _: tokio_util::sync::CancellationToken) -> Later {
    Box::pin(async move {
        let session: AgentSession = call.session_of(args.at(0))?;
        let compacted = session.compact(args.text_if(1)).await.map_err(said)?;
        compacted.map_or_else(nothing, |compacted| Ok(compacted.to_json()))
    })
}

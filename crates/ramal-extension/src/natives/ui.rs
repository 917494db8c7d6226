//! What an extension shows and asks.

use std::time::Duration;

use ramal_session::json::quote;
use tokio_util::sync::CancellationToken;

use super::{Answer, Args, Call, Op, nothing, text_or_null};
use crate::ui::{Notice, Placement, Question};

pub(super) const OPS: &[(&str, Op)] = &[
    (
        "ui.select",
        Op::Slow(|call, args, signal| {
            Box::pin(async move {
                let question = question(&call, &args, signal, 2)?;
                let chosen = call.record.world.ui().select(question, args.texts(1)).await;
                Ok(text_or_null(chosen.as_deref()))
            })
        }),
    ),
    (
        "ui.confirm",
        Op::Slow(|call, args, signal| {
            Box::pin(async move {
                let question = question(&call, &args, signal, 2)?;
                Ok(call.record.world.ui().confirm(question, args.text(1)?.to_owned()).await.to_string())
            })
        }),
    ),
    (
        "ui.input",
        Op::Slow(|call, args, signal| {
            Box::pin(async move {
                let question = question(&call, &args, signal, 2)?;
                let placeholder = args.text_if(1).map(str::to_owned);
                Ok(text_or_null(call.record.world.ui().input(question, placeholder).await.as_deref()))
            })
        }),
    ),
    (
        "ui.editor",
        Op::Slow(|call, args, signal| {
            Box::pin(async move {
                let question = question(&call, &args, signal, 2)?;
                let prefill = args.text_if(1).map(str::to_owned);
                Ok(text_or_null(call.record.world.ui().editor(question, prefill).await.as_deref()))
            })
        }),
    ),
    ("ui.has", Op::Quick(|call, _| Ok(call.record.world.ui().has_ui().to_string()))),
    (
        "ui.notify",
        Op::Quick(|call, args| {
            let notice = match args.text_if(1) {
                Some("error") => Notice::Error,
                Some("warning") => Notice::Warning,
                _ => Notice::Info,
            };
            call.record.world.ui().notify(&call.record.name(), args.text(0)?, notice);
            nothing()
        }),
    ),
    (
        "ui.status",
        Op::Quick(|call, args| {
            call.record.world.ui().set_status(&call.record.name(), args.text(0)?, args.text_if(1));
            nothing()
        }),
    ),
    ("ui.widget", Op::Quick(widget)),
    (
        "ui.title",
        Op::Quick(|call, args| {
            call.record.world.ui().set_title(args.text(0)?);
            nothing()
        }),
    ),
    (
        "ui.set_editor",
        Op::Quick(|call, args| {
            call.record.world.ui().set_editor_text(args.text(0)?);
            nothing()
        }),
    ),
    ("ui.editor_text", Op::Quick(|call, _| Ok(quote(&call.record.world.ui().editor_text())))),
];

fn question(call: &Call, args: &Args, signal: CancellationToken, timeout: usize) -> Result<Question, String> {
    let milliseconds = args.at(timeout).as_f64().filter(|ms| *ms > 0.0);
    Ok(Question {
        extension: call.record.name(),
        title: args.text(0)?.to_owned(),
        timeout: milliseconds.map(|ms| Duration::from_secs_f64((ms / 1000.0).min(1e9))),
        signal,
    })
}

fn widget(call: &Call, args: &Args) -> Answer {
    let placement = match args.text_if(2) {
        Some("belowEditor") => Placement::BelowEditor,
        _ => Placement::AboveEditor,
    };
    let lines = (!args.at(1).is_null()).then(|| args.texts(1));
    call.record.world.ui().set_widget(&call.record.name(), args.text(0)?, lines.as_deref(), placement);
    nothing()
}

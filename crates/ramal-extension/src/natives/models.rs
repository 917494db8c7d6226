//! Models, what they are asked with, and how full the context is.

use ramal_model::{Endpoint, Request, ThinkingLevel};
use ramal_session::json::quote;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Answer, Args, Call, Op, nothing, said};

pub(super) const OPS: &[(&str, Op)] = &[
    ("model.current", Op::Quick(current)),
    ("model.find", Op::Quick(find)),
    ("model.all", Op::Quick(all)),
    ("set_model", Op::Quick(set_model)),
    ("thinking", Op::Quick(thinking)),
    ("set_thinking", Op::Quick(set_thinking)),
    ("context_usage", Op::Quick(usage)),
    ("system_prompt", Op::Quick(|call, args| Ok(quote(&call.session_of(args.at(0))?.system_prompt())))),
    ("model.complete", Op::Slow(|call, args, abort| Box::pin(complete(call, args, abort)))),
];

/// A model without its key and its address.
pub(crate) fn model(endpoint: &Endpoint) -> Value {
    let input = if endpoint.sees { json!(["text", "image"]) } else { json!(["text"]) };
    json!({
        "provider": endpoint.provider,
        "id": endpoint.model,
        "name": endpoint.model,
        "contextWindow": endpoint.context_window,
        "maxTokens": endpoint.max_output,
        "reasoning": endpoint.thinks,
        "input": input,
        "api": endpoint.api.name(),
        "cost": {
            "input": endpoint.cost.input,
            "output": endpoint.cost.output,
            "cacheRead": endpoint.cost.cache_read,
            "cacheWrite": endpoint.cost.cache_write,
        },
    })
}

fn current(call: &Call, args: &Args) -> Answer {
    let session = call.session_of(args.at(0))?;
    if let Ok(endpoint) = session.endpoint() {
        return Ok(model(&endpoint).to_string());
    }
    // One that cannot be used is chosen all the same.
    let name = session.model_choice().map_err(said)?.model;
    let name = name.as_deref().and_then(|name| name.split_once('/'));
    Ok(name
        .map_or(Value::Null, |(provider, id)| json!({ "provider": provider, "id": id, "name": id }))
        .to_string())
}

fn find(call: &Call, args: &Args) -> Answer {
    let found = call.session()?.find_model(args.text(0)?);
    Ok(found.map_or(Value::Null, |endpoint| model(&endpoint)).to_string())
}

fn all(call: &Call, _: &Args) -> Answer {
    let models: Vec<Value> = call.record.world.options.program.models().iter().map(model).collect();
    serde_json::to_string(&models).map_err(said)
}

/// False if there is no such model, or it cannot be used.
fn set_model(call: &Call, args: &Args) -> Answer {
    let (session, name) = (call.session()?, args.text(0)?);
    if session.find_model(name).is_err() {
        return Ok("false".into());
    }
    session.set_model(name).map_err(said)?;
    Ok("true".into())
}

fn thinking(call: &Call, _: &Args) -> Answer {
    Ok(quote(call.session()?.model_choice().map_err(said)?.thinking.name()))
}

fn set_thinking(call: &Call, args: &Args) -> Answer {
    let name = args.text(0)?;
    let level: ThinkingLevel = name.parse().map_err(|_| format!("there is no thinking level {name}"))?;
    call.session()?.set_thinking_level(level).map_err(said)?;
    nothing()
}

fn usage(call: &Call, args: &Args) -> Answer {
    let session = call.session_of(args.at(0))?;
    let Ok(endpoint) = session.endpoint() else { return nothing() };
    let tokens = session.context_tokens().map_err(said)?.tokens;
    let window = endpoint.context_window;
    let percent = if window == 0 { Value::Null } else { json!(tokens as f64 / window as f64 * 100.0) };
    Ok(json!({ "tokens": tokens, "contextWindow": window, "percent": percent }).to_string())
}

/// Asks a model for one answer, which is kept nowhere. No tool is offered, and no hook sees it.
async fn complete(call: Call, args: Args, abort: CancellationToken) -> Answer {
    let session = call.session()?;
    let (name, asked) = (args.text(0)?, args.at(1));
    let endpoint =
        session.find_model(name).map_err(|why| format!("the model {name} cannot be used: {why}"))?;
    let messages = asked.get("messages").and_then(Value::as_array);
    let messages: Vec<String> = messages.into_iter().flatten().map(Value::to_string).collect();
    if messages.is_empty() {
        return Err("complete: there is no message to be answered".into());
    }
    let level = asked.get("reasoning").and_then(Value::as_str);
    let request = Request {
        system: asked.get("systemPrompt").and_then(Value::as_str).unwrap_or_default().to_owned(),
        messages,
        thinking: level.and_then(|level| level.parse().ok()).unwrap_or_default(),
        max_output: asked.get("maxTokens").and_then(Value::as_u64),
        ..Request::default()
    };
    let outcome = session.language_model().stream(&endpoint, &request, abort).outcome().await;
    // What went wrong stands in the answer.
    Ok(outcome.answer.to_message_now(&endpoint))
}

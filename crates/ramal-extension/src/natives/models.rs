//! Models, what they are asked with, and how full the context is.

use ramal_model::{Endpoint, ThinkingLevel};
use ramal_session::json::quote;
use serde_json::{Value, json};

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
    ("tools", Op::Quick(tools)),
];

/// A model without its key and its address.
fn model(endpoint: &Endpoint) -> Value {
    let input = if endpoint.sees { json!(["text", "image"]) } else { json!(["text"]) };
    json!({
        "provider": endpoint.provider,
        "id": endpoint.model,
        "name": endpoint.model,
        "contextWindow": endpoint.context_window,
        "maxTokens": endpoint.max_output,
        "reasoning": endpoint.thinks,
        "input": input,
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

fn tools(call: &Call, _: &Args) -> Answer {
    let mut all: Vec<Value> = ramal_agent::tools::all()
        .iter()
        .map(|tool| tool.spec())
        .map(|spec| json!({ "name": spec.name, "description": spec.description }))
        .collect();
    for record in call.record.world.records() {
        record.registered(|registered| {
            let own = registered.tools.iter();
            all.extend(own.map(|(name, about)| json!({ "name": name, "description": about.description })));
        });
    }
    serde_json::to_string(&all).map_err(said)
}

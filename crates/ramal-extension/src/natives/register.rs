//! What an extension gives, and what it learns of the others.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Answer, Args, Call, Op, nothing, said, text_or_null};
use crate::tool::ExtensionTool;

pub(super) const OPS: &[(&str, Op)] = &[
    ("register", Op::Quick(register)),
    ("name_self", Op::Quick(name_self)),
    ("flag", Op::Quick(flag)),
    ("commands", Op::Quick(commands)),
    ("bus", Op::Quick(bus)),
];

fn register(call: &Call, args: &Args) -> Answer {
    let (kind, name) = (args.text(0)?, args.text(1)?);
    call.record.register(kind, name, args.at(2).clone())?;
    // One that comes later than the session is brought to it.
    if kind == "tool"
        && let Some(session) = call.record.world.session()
        && (call.record.world.options.adds_tools || session.tools().iter().any(|tool| tool.name == name))
    {
        session.add_tool(Arc::new(ExtensionTool { record: Arc::clone(&call.record), name: name.to_owned() }));
    }
    nothing()
}

fn name_self(call: &Call, args: &Args) -> Answer {
    call.record.rename(args.text(0)?);
    nothing()
}

fn flag(call: &Call, args: &Args) -> Answer {
    Ok(text_or_null(call.record.world.options.flags.get(args.text(0)?).map(String::as_str)))
}

fn commands(call: &Call, _: &Args) -> Answer {
    let world = &call.record.world;
    let mut all: Vec<Value> = Vec::new();
    for record in world.records() {
        let path = record.path.display().to_string();
        record.registered(|registered| {
            let own = registered.commands.iter().map(|(name, about)| {
                let source = json!({ "source": "extension", "path": path });
                json!({
                    "name": name, "description": about.description, "source": "extension", "path": path,
                    "sourceInfo": source,
                })
            });
            all.extend(own);
        });
    }
    let others = world.options.program.commands().into_iter();
    all.extend(others.map(|other| {
        let source = json!({ "source": other.source, "path": "" });
        json!({
            "name": other.name, "description": other.description, "source": other.source,
            "sourceInfo": source,
        })
    }));
    serde_json::to_string(&all).map_err(said)
}

/// Brings something to the other extensions; the nodes are those of `clone.js`.
fn bus(call: &Call, args: &Args) -> Answer {
    let (channel, nodes) = (args.text(0)?, args.text(1)?);
    let world = &call.record.world;
    let mut full = Vec::new();
    for record in world.records() {
        let is_self = Arc::ptr_eq(&record, &call.record);
        if !is_self && !record.send_over_bus(channel, nodes) {
            full.push(record.name());
        }
    }
    match full.is_empty() {
        true => nothing(),
        false => Err(format!(
            "the bus is full: {} has not heard what was sent before, or has no room for so much at once",
            full.join(", ")
        )),
    }
}

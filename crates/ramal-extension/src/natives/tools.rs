//! Tools: which there are, which the model is offered, and the built-in ones run by an extension.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramal_agent::tools::{self, Access, Tool};
use ramal_model::ToolSpec;
use ramal_session::json::is_valid;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Answer, Args, Call, Op, nothing, said};
use crate::permit::Wish;

pub(super) const OPS: &[(&str, Op)] = &[
    ("tools", Op::Quick(all)),
    (
        "tools.active",
        Op::Quick(|call, _| serde_json::to_string(&call.session()?.active_tools()).map_err(said)),
    ),
    (
        "tools.activate",
        Op::Quick(|call, args| {
            call.session()?.set_active_tools(Some(args.texts(0)));
            nothing()
        }),
    ),
    ("tool.spec", Op::Quick(|_, args| Ok(about(&built_in(args.text(0)?)?.spec()).to_string()))),
    ("tool.run", Op::Slow(|call, args, abort| Box::pin(run(call, args, abort)))),
];

fn about(spec: &ToolSpec) -> Value {
    let parameters: Value = serde_json::from_str(&spec.parameters).unwrap_or_default();
    json!({ "name": spec.name, "description": spec.description, "parameters": parameters })
}

/// All tools, and where each comes from.
fn all(call: &Call, _: &Args) -> Answer {
    let records = call.record.world.records();
    let owner = |name: &str| {
        let mut own = records.iter().rev();
        own.find(|record| record.registered(|registered| registered.tools.contains_key(name)))
    };
    let specs = call.session()?.tools();
    let all = specs.iter().map(|spec| {
        let mut tool = about(spec);
        let source = match owner(&spec.name) {
            Some(record) => json!({ "source": "extension", "path": record.path }),
            None => json!({ "source": "builtin", "path": "" }),
        };
        if let Some(tool) = tool.as_object_mut() {
            tool.insert("sourceInfo".into(), source);
        }
        tool
    });
    serde_json::to_string(&all.collect::<Vec<Value>>()).map_err(said)
}

fn built_in(name: &str) -> Result<Arc<dyn Tool>, String> {
    let named = tools::named(&[name]).map_err(said)?;
    named.into_iter().next().ok_or_else(|| format!("there is no tool {name}"))
}

/// Runs a built-in tool for an extension: what it does the extension does. The arguments are its name, those of
/// the call as JSON text, the directory, the call's id, and whether somebody listens to what it says meanwhile.
async fn run(call: Call, args: Args, abort: CancellationToken) -> Answer {
    let (tool, input) = (built_in(args.text(0)?)?, args.text(1)?.to_owned());
    if !is_valid(&input) {
        return Err("the arguments are no JSON".into());
    }
    let here = call.record.world.cwd();
    let cwd = args.text_if(2).map_or_else(|| here.clone(), |cwd| here.join(cwd));
    for access in tool.access(&input, &cwd) {
        if let Some(wish) = wish(access, &here) {
            call.may(&wish).await?;
        }
    }
    let overflow: Option<PathBuf> = call.record.world.session().and_then(|session| {
        session.with_session(|manager| manager.get_session_file().map(tools::outputs_folder))
    });
    let told = call.owner.update.clone().filter(|_| args.flag(4));
    let update = |text: String| {
        if let Some(told) = &told {
            told(text);
        }
    };
    let asked = tools::Call {
        id: args.text_if(3).unwrap_or_default(),
        arguments: &input,
        cwd: &cwd,
        overflow: overflow.as_deref(),
        abort,
        update: &update,
    };
    let result = tool.run(asked).await;
    let details = result.details.as_deref().unwrap_or("null");
    Ok(format!(
        "{{\"content\":{},\"details\":{details},\"isError\":{}}}",
        result.content_json(),
        result.is_error
    ))
}

/// What has to be allowed for a call; nothing within the session's directory.
fn wish(access: Access, here: &Path) -> Option<Wish> {
    let here = tools::paths::real(here);
    match access {
        Access::Read(path) => (!path.starts_with(&here)).then_some(Wish::Read(path)),
        Access::Write(path) => (!path.starts_with(&here)).then_some(Wish::Write(path)),
        Access::Run(command) => Some(Wish::Run(vec!["bash".into(), "-c".into(), command])),
        Access::Unknown => None,
    }
}

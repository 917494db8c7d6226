//! Programs that an extension runs with `pi.exec`.

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::run::{self, Limits, Order};
use super::{Answer, Args, Call, Op};
use crate::permit::Wish;

pub(super) const OPS: &[(&str, Op)] =
    &[("exec", Op::Slow(|call, args, abort| Box::pin(exec(call, args, abort))))];

/// Bytes that are kept of what a program writes.
const KEPT: u64 = 16 << 20;

/// Runs a program to its end: what it wrote, and its exit code.
async fn exec(call: Call, args: Args, abort: CancellationToken) -> Answer {
    let order = Order {
        program: args.text(0)?.to_owned(),
        arguments: args.texts(1),
        cwd: args.text_if(2).map_or_else(|| call.cwd(), |given| call.cwd().join(given)),
        variables: None,
        pipes: [false, true, true],
    };
    call.may(&Wish::Run(order.command())).await?;
    let limits =
        Limits { timeout: run::time(args.at(3)), kept: KEPT, signal: run::KILL, ..Limits::default() };
    let outcome = match run::to_end(&order, limits, &abort).await {
        Ok(outcome) => outcome,
        // As a shell would say it.
        Err(error) => {
            let why = format!("{} could not be started: {error}", order.program);
            return Ok(json!({ "stdout": "", "stderr": why, "code": 127, "killed": false }).to_string());
        }
    };
    let [out, err] = &outcome.outputs;
    Ok(json!({
        "stdout": String::from_utf8_lossy(out),
        "stderr": String::from_utf8_lossy(err),
        "code": outcome.status.and_then(|status| status.code()).unwrap_or(1),
        "killed": outcome.ended.is_some(),
    })
    .to_string())
}

//! Programs that an extension runs.

use std::process::Stdio;
use std::time::Duration;

use ramal_agent::tools::hidden_variables;
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

use super::{Answer, Args, Call, Op, said};
use crate::permit::Wish;

pub(super) const OPS: &[(&str, Op)] =
    &[("exec", Op::Slow(|call, args, abort| Box::pin(exec(call, args, abort))))];

/// Bytes that are kept of what a program writes.
const KEPT: u64 = 16 << 20;

/// Ends a program with all that it started when it is dropped.
struct Running(Option<u32>);

impl Drop for Running {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) = self.0.and_then(|id| rustix::process::Pid::from_raw(i32::try_from(id).ok()?)) {
            // It may have ended by itself.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

/// Runs a program to its end: what it wrote, and its exit code.
async fn exec(call: Call, args: Args, abort: CancellationToken) -> Answer {
    let (program, arguments) = (args.text(0)?.to_owned(), args.texts(1));
    let mut command = vec![program.clone()];
    command.extend(arguments.iter().cloned());
    call.may(&Wish::Run(command)).await?;
    let cwd = call.record.world.cwd();
    let cwd = args.text_if(2).map_or(cwd.clone(), |given| cwd.join(given));
    let mut command = Command::new(&program);
    command.args(&arguments).current_dir(&cwd).kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in hidden_variables() {
        command.env_remove(name);
    }
    #[cfg(unix)]
    command.process_group(0);
    let mut child = match command.spawn() {
        Ok(child) => child,
        // As a shell would say it.
        Err(error) => {
            let why = format!("{program} could not be started: {error}");
            return Ok(json!({ "stdout": "", "stderr": why, "code": 127, "killed": false }).to_string());
        }
    };
    let mut running = Running(child.id());
    let timeout = args.at(3).as_f64().filter(|ms| *ms > 0.0).map(|ms| Duration::from_secs_f64(ms / 1000.0));
    let over = async {
        match timeout {
            Some(timeout) => tokio::time::sleep(timeout).await,
            None => std::future::pending().await,
        }
    };
    let mut output = (Vec::new(), Vec::new());
    let ended = tokio::select! {
        biased;
        () = abort.cancelled() => None,
        ended = to_end(&mut child, &mut output) => Some(ended.map_err(said)?),
        () = over => None,
    };
    if ended.is_some() {
        // What it left in the background was meant to go on.
        running.0 = None;
    }
    let code = ended.map(|status| status.code().unwrap_or(1));
    Ok(json!({
        "stdout": String::from_utf8_lossy(&output.0),
        "stderr": String::from_utf8_lossy(&output.1),
        "code": code.unwrap_or(1),
        "killed": code.is_none(),
    })
    .to_string())
}

async fn to_end(
    child: &mut Child,
    output: &mut (Vec<u8>, Vec<u8>),
) -> std::io::Result<std::process::ExitStatus> {
    let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
    let read_out = async {
        if let Some(out) = &mut out {
            out.take(KEPT).read_to_end(&mut output.0).await?;
        }
        std::io::Result::Ok(())
    };
    let read_err = async {
        if let Some(err) = &mut err {
            err.take(KEPT).read_to_end(&mut output.1).await?;
        }
        std::io::Result::Ok(())
    };
    tokio::try_join!(read_out, read_err)?;
    // Whoever writes more than is kept is not to wait for a reader.
    drop((out, err));
    child.wait().await
}

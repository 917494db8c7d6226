//! Starting programs, for all that run any: each with a group of its own, without the variables that hold
//! keys, and ended with what it started.

use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use ramal_agent::tools::hidden_variables;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

/// A program that is to be run.
#[derive(Debug, Clone, Default)]
pub(super) struct Order {
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
    pub(super) cwd: PathBuf,
    /// All the variables that it gets; none: those of ramal.
    pub(super) variables: Option<Vec<(String, String)>>,
    /// Whether its input is written, and its outputs are read.
    pub(super) pipes: [bool; 3],
}

impl Order {
    /// The program with its arguments, as one is asked for a permission.
    pub(super) fn command(&self) -> Vec<String> {
        let mut command = vec![self.program.clone()];
        command.extend(self.arguments.iter().cloned());
        command
    }
}

/// The group of a program. Dropping it ends all that belongs to it.
#[derive(Debug)]
pub(super) struct Group(Option<u32>);

impl Group {
    /// Sends a signal to all that belongs to it.
    pub(super) fn signal(&self, signal: i32) {
        #[cfg(unix)]
        if let Some(group) = self.0.and_then(|id| rustix::process::Pid::from_raw(i32::try_from(id).ok()?))
            && let Some(signal) = rustix::process::Signal::from_named_raw(signal)
        {
            // It may have ended by itself.
            let _ = rustix::process::kill_process_group(group, signal);
        }
        #[cfg(not(unix))]
        let _ = signal;
    }

    /// What still goes on was meant to.
    pub(super) fn let_go(&mut self) {
        self.0 = None;
    }
}

/// The signal that cannot be refused.
pub(super) const KILL: i32 = 9;

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(KILL);
    }
}

/// Starts a program.
pub(super) fn start(order: &Order) -> io::Result<(Child, Group)> {
    if !order.cwd.is_dir() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let pipe = |at: usize| match order.pipes.get(at) {
        Some(true) => Stdio::piped(),
        _ => Stdio::null(),
    };
    let mut command = Command::new(&order.program);
    command.args(&order.arguments).current_dir(&order.cwd);
    command.stdin(pipe(0)).stdout(pipe(1)).stderr(pipe(2));
    match &order.variables {
        Some(variables) => {
            command.env_clear().envs(variables.iter().map(|(name, value)| (name, value)));
        }
        None => {
            for name in hidden_variables() {
                command.env_remove(name);
            }
        }
    }
    #[cfg(unix)]
    command.process_group(0);
    #[cfg(not(unix))]
    command.kill_on_drop(true);
    let child = command.spawn()?;
    let group = Group(child.id());
    Ok((child, group))
}

/// Why a program was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Aborted,
    Late,
    TooMuch,
}

/// What came of a program that was run to its end.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) outputs: [Vec<u8>; 2],
    pub(super) status: Option<ExitStatus>,
    pub(super) ended: Option<Ended>,
    pub(super) id: Option<u32>,
}

/// How a program is run to its end.
#[derive(Debug, Default)]
pub(super) struct Limits {
    pub(super) input: Vec<u8>,
    pub(super) timeout: Option<Duration>,
    /// Bytes that are kept of each output.
    pub(super) kept: u64,
    /// Whether it is ended when there are more. Otherwise the rest is passed over.
    pub(super) ends_beyond: bool,
    pub(super) signal: i32,
}

/// Milliseconds of JavaScript; zero is none.
pub(super) fn time(ms: &serde_json::Value) -> Option<Duration> {
    let ms = ms.as_f64().filter(|ms| *ms > 0.0)?;
    Duration::try_from_secs_f64(ms / 1000.0).ok()
}

/// Runs a program to its end.
///
/// # Errors
/// If it could not be started.
pub(super) async fn to_end(order: &Order, limits: Limits, abort: &CancellationToken) -> io::Result<Outcome> {
    let (mut child, mut group) = start(order)?;
    let mut outcome = Outcome { id: child.id(), ..Outcome::default() };
    let (input, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let [kept_out, kept_err] = &mut outcome.outputs;
    let given = async {
        if let Some(mut input) = input {
            // It may not want to read it.
            let _ = input.write_all(&limits.input).await;
        }
    };
    let run = async {
        let (out, err, ()) = tokio::join!(read(out, kept_out, &limits), read(err, kept_err, &limits), given);
        match out? || err? {
            true => Ok(None),
            false => child.wait().await.map(Some),
        }
    };
    let over = async {
        match limits.timeout {
            Some(timeout) => tokio::time::sleep(timeout).await,
            None => std::future::pending().await,
        }
    };
    let ended = tokio::select! {
        biased;
        () = abort.cancelled() => Err(Ended::Aborted),
        status = run => status?.ok_or(Ended::TooMuch),
        () = over => Err(Ended::Late),
    };
    match ended {
        Ok(status) => {
            group.let_go();
            outcome.status = Some(status);
        }
        Err(why) => {
            group.signal(limits.signal);
            outcome.ended = Some(why);
        }
    }
    Ok(outcome)
}

/// Reads what is kept; answers whether it has to be ended.
async fn read(from: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>, limits: &Limits) -> io::Result<bool> {
    let Some(mut from) = from else { return Ok(false) };
    (&mut from).take(limits.kept).read_to_end(kept).await?;
    if (kept.len() as u64) < limits.kept {
        return Ok(false);
    }
    let mut more = [0; 8192];
    while from.read(&mut more).await? > 0 {
        if limits.ends_beyond {
            return Ok(true);
        }
    }
    Ok(false)
}

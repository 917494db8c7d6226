//! Programs that an extension runs with `node:child_process`: started at once, and heard piece by piece.

use std::collections::HashMap;
use std::io;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::run::{self, Ended, Group, Limits, Order};
use super::{Answer, Args, Call, Op, nothing, said};
use crate::permit::Wish;

pub(super) const OPS: &[(&str, Op)] = &[
    ("child.run", Op::Quick(run_at_once)),
    ("child.start", Op::Quick(start)),
    ("child.kill", Op::Quick(kill)),
    ("child.unref", Op::Quick(unref)),
    ("child.next", Op::Slow(|call, args, _| Box::pin(next(call, args)))),
    ("child.write", Op::Slow(|call, args, _| Box::pin(write(call, args)))),
    ("child.end", Op::Slow(|call, args, _| Box::pin(end(call, args)))),
];

/// Bytes that are read of an output in one go.
const PIECE: usize = 64 << 10;
/// Pieces that wait to be heard. Until they are, the program waits.
const PIECES: usize = 16;

/// The programs that an extension runs.
#[derive(Default)]
pub(crate) struct Children(Mutex<HashMap<u64, Known>>);

impl Children {
    fn all(&self) -> MutexGuard<'_, HashMap<u64, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nobody hears of them any more.
    pub(crate) fn forget(&self) {
        self.all().clear();
    }
}

/// A program, and what is heard of it as long as somebody may listen.
#[derive(Clone)]
struct Known {
    running: Arc<Running>,
    heard: Arc<tokio::sync::Mutex<mpsc::Receiver<Heard>>>,
}

struct Running {
    id: u32,
    group: Mutex<Group>,
    input: tokio::sync::Mutex<Option<ChildStdin>>,
    /// Whether it goes on after the extension: `detached`, and let go with `unref`.
    is_detached: bool,
    is_let_go: CancellationToken,
}

impl Running {
    fn group(&self) -> MutexGuard<'_, Group> {
        self.group.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is heard of a program.
enum Heard {
    Piece(&'static str, Vec<u8>),
    End(&'static str),
    Exit(io::Result<ExitStatus>),
}

/// What is to be run: program, arguments, and an object with `cwd`, `env` and `stdio`.
fn order(call: &Call, args: &Args) -> Result<Order, String> {
    let options = args.at(2);
    let text = |name: &str| options.get(name).and_then(Value::as_str);
    let variables = options.get("env").and_then(Value::as_object).map(|env| {
        let pairs = env.iter().filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
        pairs.filter(|(name, value)| !name.contains(['=', '\0']) && !value.contains('\0')).collect()
    });
    let stdio = options.get("stdio").and_then(Value::as_array);
    let pipe = |at: usize| stdio.and_then(|stdio| stdio.get(at)).is_none_or(|one| one == "pipe");
    let cwd = call.cwd();
    let order = Order {
        program: args.text(0)?.to_owned(),
        arguments: args.texts(1),
        cwd: text("cwd").map_or_else(|| cwd.clone(), |given| cwd.join(given)),
        variables,
        pipes: [pipe(0), pipe(1), pipe(2)],
    };
    match order.program.is_empty() || order.command().iter().any(|part| part.contains('\0')) {
        true => Err("the program must be a text without NUL, and not empty".into()),
        false => Ok(order),
    }
}

/// A program that could not be started, as JavaScript makes an error of it.
fn not_started(order: &Order, error: &io::Error) -> Value {
    let (code, why) = match error.kind() {
        io::ErrorKind::NotFound => ("ENOENT", "it is not there, or its directory is not".to_owned()),
        io::ErrorKind::PermissionDenied => ("EACCES", "it cannot be executed".to_owned()),
        _ => ("EIO", error.to_string()),
    };
    failed(order, code, -error.raw_os_error().unwrap_or(2), &why)
}

fn failed(order: &Order, code: &str, errno: i32, why: &str) -> Value {
    json!({ "error": {
        "message": format!("spawn {} {code}: {why}", order.program),
        "code": code, "errno": errno, "path": order.program, "spawnargs": order.arguments,
        "syscall": format!("spawn {}", order.program),
    } })
}

/// Asks for the permission; the error otherwise.
fn allowed(call: &Call, order: &Order) -> Option<Value> {
    call.may_at_once(&Wish::Run(order.command())).err().map(|why| failed(order, "EACCES", -13, &why))
}

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal_of(_: ExitStatus) -> Option<i32> {
    None
}

/// Runs a program to its end, while JavaScript waits.
fn run_at_once(call: &Call, args: &Args) -> Answer {
    let options = args.at(2);
    let number = |name: &str| options.get(name).and_then(Value::as_u64);
    let input = options.get("input").filter(|input| !input.is_null());
    let input = input.map(|input| call.parcel(input)).transpose()?;
    let mut order = order(call, args)?;
    if let Some(refused) = allowed(call, &order) {
        return Ok(refused.to_string());
    }
    order.pipes[0] = input.is_some();
    let signal = number("killSignal").and_then(|signal| i32::try_from(signal).ok()).unwrap_or(15);
    let limits = Limits {
        input: input.unwrap_or_default(),
        timeout: options.get("timeout").and_then(run::time),
        kept: number("maxBuffer").unwrap_or(u64::MAX).min(call.memory() as u64 / 2),
        ends_beyond: true,
        signal,
    };
    let outcome = match call.at_once(async { Ok(run::to_end(&order, limits, &call.owner.given_up).await) })? {
        Ok(outcome) => outcome,
        Err(error) => return Ok(not_started(&order, &error).to_string()),
    };
    if outcome.ended == Some(Ended::Aborted) {
        return Err("it was aborted".into());
    }
    let [out, err] = outcome.outputs;
    let ended = match outcome.ended {
        Some(Ended::Late) => Some("ETIMEDOUT"),
        Some(_) => Some("ENOBUFS"),
        None => None,
    };
    Ok(json!({
        "pid": outcome.id,
        "stdout": order.pipes[1].then(|| call.put(out)).transpose()?,
        "stderr": order.pipes[2].then(|| call.put(err)).transpose()?,
        "code": outcome.status.and_then(|status| status.code()),
        "signal": outcome.status.map_or(Some(signal), signal_of),
        "ended": ended,
    })
    .to_string())
}

/// Starts a program: the number by which it is known, and its process id.
fn start(call: &Call, args: &Args) -> Answer {
    let order = order(call, args)?;
    if let Some(refused) = allowed(call, &order) {
        return Ok(refused.to_string());
    }
    let (mut child, group) = match run::start(&order) {
        Ok(started) => started,
        Err(error) => return Ok(not_started(&order, &error).to_string()),
    };
    let (sender, heard) = mpsc::channel(PIECES);
    let id = child.id().unwrap_or_default();
    let running = Arc::new(Running {
        id,
        group: Mutex::new(group),
        input: tokio::sync::Mutex::new(child.stdin.take()),
        is_detached: args.at(2).get("detached").and_then(Value::as_bool).unwrap_or(false),
        is_let_go: CancellationToken::new(),
    });
    let number = call.record.world.next_id();
    let known = Known { running: Arc::clone(&running), heard: Arc::new(tokio::sync::Mutex::new(heard)) };
    call.record.children.all().insert(number, known);
    let runtime = &call.record.world.runtime;
    if let Some(out) = child.stdout.take() {
        runtime.spawn(listen(out, "stdout", sender.clone()));
    }
    if let Some(err) = child.stderr.take() {
        runtime.spawn(listen(err, "stderr", sender.clone()));
    }
    let record = Arc::downgrade(&call.record);
    let (given_up, stopped) = (call.owner.given_up.clone(), call.record.stopped.clone());
    runtime.spawn(async move {
        let status = wait(child, &running, &given_up, &stopped).await;
        // What it left in the background was meant to go on.
        running.group().let_go();
        if given_up.is_cancelled()
            && let Some(record) = record.upgrade()
        {
            record.children.all().remove(&number);
        }
        // Nobody may listen any more.
        let _ = sender.send(Heard::Exit(status)).await;
    });
    Ok(json!({ "id": number, "pid": id }).to_string())
}

/// Waits until a program ends, or its time is over: that of whoever started it, or of the extension.
async fn wait(
    mut child: Child,
    running: &Running,
    given_up: &CancellationToken,
    stopped: &CancellationToken,
) -> io::Result<ExitStatus> {
    tokio::select! {
        biased;
        status = child.wait() => status,
        () = running.is_let_go.cancelled() => {
            running.group().let_go();
            child.wait().await
        }
        () = given_up.cancelled() => ended(&mut child, running).await,
        () = stopped.cancelled() => ended(&mut child, running).await,
    }
}

async fn ended(child: &mut Child, running: &Running) -> io::Result<ExitStatus> {
    running.group().signal(run::KILL);
    let _ = child.start_kill();
    child.wait().await
}

async fn listen(mut from: impl AsyncRead + Unpin, name: &'static str, sender: mpsc::Sender<Heard>) {
    let mut piece = vec![0; PIECE];
    loop {
        let count = tokio::select! {
            biased;
            () = sender.closed() => return,
            count = from.read(&mut piece) => count.unwrap_or_default(),
        };
        let heard = match piece.get(..count).filter(|piece| !piece.is_empty()) {
            Some(piece) => Heard::Piece(name, piece.to_vec()),
            None => Heard::End(name),
        };
        let is_over = matches!(heard, Heard::End(_));
        if sender.send(heard).await.is_err() || is_over {
            return;
        }
    }
}

fn known(call: &Call, args: &Args) -> Result<Known, String> {
    let id = args.at(0).as_u64().unwrap_or_default();
    let found = call.record.children.all().get(&id).cloned();
    found.ok_or_else(|| "the program has ended".into())
}

/// What is heard of it next. After the end of all there is `null`.
async fn next(call: Call, args: Args) -> Answer {
    let known = known(&call, &args)?;
    let mut heard = known.heard.lock().await;
    let told = match heard.recv().await {
        Some(Heard::Piece(name, bytes)) => json!({ "of": name, "bytes": call.put(bytes)? }),
        Some(Heard::End(name)) => json!({ "of": name }),
        Some(Heard::Exit(Ok(status))) => json!({ "code": status.code(), "signal": signal_of(status) }),
        Some(Heard::Exit(Err(error))) => return Err(said(error)),
        None => {
            call.record.children.all().remove(&args.at(0).as_u64().unwrap_or_default());
            Value::Null
        }
    };
    Ok(told.to_string())
}

async fn write(call: Call, args: Args) -> Answer {
    let bytes = call.parcel(args.at(1))?;
    let running = known(&call, &args)?.running;
    let mut input = running.input.lock().await;
    let input = input.as_mut().ok_or("its input is closed")?;
    input.write_all(&bytes).await.map_err(said)?;
    input.flush().await.map_err(said)?;
    nothing()
}

async fn end(call: Call, args: Args) -> Answer {
    if let Ok(known) = known(&call, &args) {
        known.running.input.lock().await.take();
    }
    nothing()
}

/// Sends a signal to a program and what it started: by our number, or by its process id. Whether there is
/// such a one.
fn kill(call: &Call, args: &Args) -> Answer {
    let id = args.at(0).as_u64().unwrap_or_default();
    let signal = args.at(1).as_i64().and_then(|signal| i32::try_from(signal).ok()).unwrap_or(15);
    let children = call.record.children.all();
    let found = match args.flag(2) {
        true => children.values().find(|known| u64::from(known.running.id) == id),
        false => children.get(&id),
    };
    let found = found.map(|known| known.running.group().signal(signal));
    Ok(json!(found.is_some()).to_string())
}

/// A program that is `detached` goes on after the extension.
fn unref(call: &Call, args: &Args) -> Answer {
    if let Ok(known) = known(call, args)
        && known.running.is_detached
    {
        known.running.is_let_go.cancel();
    }
    nothing()
}

//! Running a command of the shell: in a session of its own, its output read while it runs, and
//! ended with everything that it started.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::cut::{self, MAX_BYTES, MAX_LINES, Piece, Whole};
use super::environment::hidden_variables;

mod family;
mod pipe;
mod plain;

use family::Family;

/// How often the output so far is told while a command runs, at most.
const BETWEEN_UPDATES: Duration = Duration::from_millis(100);
/// How long a command that is ended may take to tidy up: after an abort, and after its time is over.
const GRACE_ABORT: Duration = Duration::from_millis(120);
const GRACE_TIME: Duration = Duration::from_secs(1);
/// How long to wait for what a killed process leaves.
const GRACE_KILLED: Duration = Duration::from_millis(500);
/// After a command is over something it started may keep its output open: how long silence is
/// listened to, and how long talk.
const SILENCE: Duration = Duration::from_millis(100);
const TALK: Duration = Duration::from_secs(1);
/// Bytes that may still come then: more than a pipe holds, so that nothing of the command's is lost.
const MOST_TALK: u64 = 2 << 20;
/// Bytes of output that are kept in memory. Escape sequences are taken out later, so that it is
/// more than is shown.
const KEPT: usize = 4 * MAX_BYTES;

/// What is to be run.
pub(crate) struct Order<'a> {
    pub(crate) command: &'a str,
    pub(crate) cwd: &'a Path,
    pub(crate) timeout: Option<Duration>,
    pub(crate) overflow: Option<&'a Path>,
    pub(crate) abort: &'a CancellationToken,
    pub(crate) update: &'a (dyn Fn(String) + Send + Sync),
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Exit(i32),
    Signal(i32),
    TimedOut,
    Aborted,
}

/// What came of a command.
pub(crate) struct Outcome {
    pub(crate) end: End,
    pub(crate) output: Output,
}

/// Runs a command to its end.
///
/// # Errors
/// If it could not be started; the text says why.
pub(crate) async fn run(order: &Order<'_>) -> Result<Outcome, String> {
    if !order.cwd.is_dir() {
        return Err(format!("The working directory {} is not there.", order.cwd.display()));
    }
    if order.abort.is_cancelled() {
        return Ok(Outcome { end: End::Aborted, output: Output::new(order.overflow) });
    }
    let shell = shell();
    let (mut child, mut pipe) = start(&shell, order)
        .map_err(|error| format!("The command could not be started with {}: {error}.", shell.display()))?;
    let mut family = Family::of(child.id());
    let mut heard = Heard { output: Output::new(order.overflow), open: true };
    let end = match run_on(order, &mut child, &mut pipe, &mut heard).await {
        // What goes on in the background was meant to.
        Ok(status) => status.map(end_of).map_err(|error| format!("Its end was not to be learned: {error}.")),
        Err((end, grace)) => {
            let ending = end_all(&mut child, &family, grace);
            tokio::pin!(ending);
            loop {
                // Who tidies up may have something to say, and must not wait to be heard.
                tokio::select! {
                    () = &mut ending => break Ok(end),
                    chunk = pipe.read(), if heard.open => heard.hear(chunk),
                }
            }
        }
    };
    family.let_go();
    let last = Instant::now() + TALK;
    let enough = heard.output.bytes + MOST_TALK;
    while heard.open && heard.output.bytes < enough && Instant::now() < last {
        match timeout(SILENCE, pipe.read()).await {
            Ok(chunk) => heard.hear(chunk),
            Err(_) => break,
        }
    }
    heard.output.finish();
    Ok(Outcome { end: end?, output: heard.output })
}

/// Runs a command until it ends by itself, or until it is to be ended, and in which time.
async fn run_on(
    order: &Order<'_>,
    child: &mut Child,
    pipe: &mut pipe::Pipe,
    heard: &mut Heard,
) -> Result<std::io::Result<ExitStatus>, (End, Duration)> {
    let deadline = order.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let mut due: Option<Instant> = None;
    let mut last_update: Option<Instant> = None;
    loop {
        tokio::select! {
            biased;
            () = order.abort.cancelled() => return Err((End::Aborted, GRACE_ABORT)),
            () = until(deadline) => return Err((End::TimedOut, GRACE_TIME)),
            status = child.wait() => return Ok(status),
            () = until(due) => {
                due = None;
                last_update = Some(Instant::now());
                (order.update)(heard.output.so_far());
            }
            chunk = pipe.read(), if heard.open => {
                heard.hear(chunk);
                due = due.or_else(|| Some(last_update.map_or_else(Instant::now, |last| last + BETWEEN_UPDATES)));
            }
        }
    }
}

/// What was heard of a command, and whether there may be more.
struct Heard {
    output: Output,
    open: bool,
}

impl Heard {
    fn hear(&mut self, chunk: Option<&[u8]>) {
        match chunk {
            Some(bytes) => self.output.push(bytes),
            None => self.open = false,
        }
    }
}

async fn until(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

/// Asks everything to end that the command started, and kills what has not done so in time.
async fn end_all(child: &mut Child, family: &Family, grace: Duration) {
    let mut members = family.members();
    family.ask_to_end(&members);
    let until = Instant::now() + grace;
    // The child is waited for all the while, since a dead one that nobody asks for counts as there.
    while Instant::now() < until {
        let gone = timeout(Duration::from_millis(10), child.wait()).await.is_ok();
        if gone {
            sleep(Duration::from_millis(10)).await;
        }
        members = family.still(members);
        if gone && members.is_empty() {
            return;
        }
    }
    let until = Instant::now() + GRACE_KILLED;
    loop {
        family.kill(&members);
        let _ = child.start_kill();
        let gone = timeout(Duration::from_millis(10), child.wait()).await.is_ok();
        members = family.still(members);
        if (gone && members.is_empty()) || Instant::now() >= until {
            return;
        }
        sleep(Duration::from_millis(5)).await;
    }
}

#[cfg(unix)]
fn end_of(status: ExitStatus) -> End {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exit(code),
        (None, signal) => End::Signal(signal.unwrap_or_default()),
    }
}

#[cfg(not(unix))]
fn end_of(status: ExitStatus) -> End {
    End::Exit(status.code().unwrap_or(-1))
}

fn start(shell: &Path, order: &Order<'_>) -> std::io::Result<(Child, pipe::Pipe)> {
    // One pipe for both, so that what was said stands in the order in which it was said.
    let (reader, writer) = std::io::pipe()?;
    let mut command = Command::new(shell);
    command
        // A command that begins with a dash is no option.
        .args(["-c", "--"])
        .arg(OsStr::new(order.command))
        .current_dir(order.cwd)
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .kill_on_drop(true);
    for name in hidden_variables() {
        command.env_remove(name);
    }
    #[cfg(unix)]
    // SAFETY: setsid is a single system call; it allocates nothing and takes no lock, so that it may be
    // called between fork and exec.
    unsafe {
        // No terminal either: a program that asks for a password there would wait for ever.
        command.pre_exec(|| rustix::process::setsid().map(drop).map_err(Into::into));
    }
    let child = command.spawn()?;
    // The command holds the writing ends, and they must be nowhere else for the pipe to end with it.
    drop(command);
    Ok((child, pipe::Pipe::new(reader)?))
}

/// The shell: bash where there is one.
fn shell() -> PathBuf {
    let in_path = |name: &str| {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
    };
    let bash = PathBuf::from("/bin/bash");
    if bash.is_file() {
        return bash;
    }
    let name = if cfg!(windows) { "bash.exe" } else { "bash" };
    in_path(name).unwrap_or_else(|| PathBuf::from("sh"))
}

/// The output of a command: its end in memory, the whole in a file once it is too long.
pub(crate) struct Output {
    kept: Vec<u8>,
    /// The beginning is not in `kept` any more.
    trimmed: bool,
    bytes: u64,
    newlines: u64,
    whole: Whole,
    spilled: bool,
    text: String,
}

impl Output {
    fn new(overflow: Option<&Path>) -> Output {
        let whole = Whole::new(overflow, "bash");
        let text = String::new();
        Output { kept: Vec::new(), trimmed: false, bytes: 0, newlines: 0, whole, spilled: false, text }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.newlines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.kept.extend_from_slice(bytes);
        if self.spilled {
            self.whole.write(bytes);
        } else if self.bytes > MAX_BYTES as u64 || self.newlines > MAX_LINES as u64 {
            self.spilled = true;
            self.whole.write(&self.kept);
        }
        if self.kept.len() > 2 * KEPT {
            self.kept.drain(..self.kept.len() - KEPT);
            self.trimmed = true;
        }
    }

    fn finish(&mut self) {
        self.text = self.readable();
        if !self.is_cut() {
            self.whole.discard();
        }
    }

    fn readable(&self) -> String {
        let mut kept = self.kept.as_slice();
        if self.trimmed {
            // It begins somewhere in a line.
            let line = memchr::memchr(b'\n', kept).filter(|&at| at < kept.len() / 2);
            kept = line.and_then(|at| kept.get(at + 1..)).unwrap_or(kept);
        }
        plain::plain(&String::from_utf8_lossy(kept))
    }

    fn so_far(&self) -> String {
        cut::tail(&self.readable()).text.to_owned()
    }

    /// What a model may see of it. Only after the end.
    pub(crate) fn piece(&self) -> Piece<'_> {
        let piece = cut::tail(&self.text);
        let by = piece.by.or(self.trimmed.then_some(cut::By::Bytes));
        Piece { by, ..piece }
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.piece().by.is_some()
    }

    /// Where the whole stands, if something was left out.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.whole.path()
    }

    /// What was left out, for the model.
    pub(crate) fn note(&self) -> Option<String> {
        let piece = self.piece();
        piece.by?;
        let total = self.total_lines();
        let shown = if piece.partial {
            format!("The end of line {total} is shown")
        } else {
            format!("The last {} of {total} lines are shown", piece.lines)
        };
        Some(format!("{shown} (limit {}).{}", cut::limit(piece.by), self.whole.note()))
    }

    fn total_lines(&self) -> u64 {
        self.newlines + u64::from(self.kept.last().is_some_and(|&last| last != b'\n'))
    }

    /// What was left out, for programs.
    pub(crate) fn truncation(&self) -> serde_json::Value {
        cut::truncation(&self.piece(), self.total_lines(), self.bytes)
    }
}

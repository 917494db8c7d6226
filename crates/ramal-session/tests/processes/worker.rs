//! The other process: how it is started and talked to, and what it does.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use ramal_session::SessionManager;

use crate::common::{message, plain_entry};

/// Names the environment variable that says what the worker is to do, in words between [`BETWEEN`].
const TASK: &str = "RAMAL_TEST_WORKER";
const BETWEEN: char = '\u{1f}';

/// A process that works on sessions as told.
pub(crate) struct Worker {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Worker {
    /// The command that starts a worker, for those who want to change it first.
    pub(crate) fn command(task: &[&str]) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        Worker::prepare(&mut command, task);
        command
    }

    /// As [`Worker::command`], started by another program that runs its arguments.
    pub(crate) fn command_below(program: &[&str], task: &[&str]) -> Command {
        let mut command = Command::new(program[0]);
        command.args(&program[1..]).arg(std::env::current_exe().unwrap());
        Worker::prepare(&mut command, task);
        command
    }

    fn prepare(command: &mut Command, task: &[&str]) {
        command
            .args(["--exact", "worker::worker", "--nocapture", "--test-threads=1"])
            .env(TASK, task.join(&BETWEEN.to_string()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
    }

    pub(crate) fn spawn(command: &mut Command) -> Worker {
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Worker { child, stdin, stdout }
    }

    /// A worker for one task.
    pub(crate) fn start(task: &[&str]) -> Worker {
        Worker::spawn(&mut Worker::command(task))
    }

    /// A worker that does what it is asked, one command after the other.
    pub(crate) fn serving() -> Worker {
        Worker::start(&["serve"])
    }

    /// A worker that has a session open.
    pub(crate) fn with(path: &Path) -> Worker {
        let mut worker = Worker::serving();
        assert_eq!(worker.ask(&["open", text(path)]), "ok");
        worker
    }

    /// Sends a command and does not wait.
    pub(crate) fn send(&mut self, command: &[&str]) {
        let mut line = command.join(&BETWEEN.to_string());
        line.push('\n');
        self.stdin.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    }

    /// The next thing the worker says; none once it has ended.
    pub(crate) fn hear(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            self.stdout.read_line(&mut line).unwrap();
            if let Some(said) = line.strip_prefix('@').and_then(|line| line.strip_suffix('\n')) {
                return Some(said.to_owned());
            }
            if line.is_empty() {
                return None;
            }
        }
    }

    /// Sends a command and answers what the worker says to it.
    #[track_caller]
    pub(crate) fn ask(&mut self, command: &[&str]) -> String {
        self.send(command);
        self.hear().unwrap_or_else(|| panic!("the worker ended on {command:?}: {:?}", self.child.wait()))
    }

    /// Appends a message of about `size` bytes; answers its id or what went wrong.
    #[track_caller]
    pub(crate) fn append(&mut self, text: &str, size: usize) -> Result<String, String> {
        let said = self.ask(&["append", text, &size.to_string()]);
        match said.strip_prefix("ack ") {
            Some(id) => Ok(id.to_owned()),
            None => Err(said),
        }
    }

    /// All that the worker still says until it ends, and whether it ended well.
    pub(crate) fn finish(mut self) -> (Vec<String>, bool) {
        self.stdin = None;
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        let status = self.child.wait().unwrap();
        // A line without its end was not said: its writer was killed in the middle of it.
        let lines = rest.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        let said = lines.filter_map(|line| line.strip_prefix('@')).map(str::to_owned).collect();
        (said, status.success())
    }

    /// As [`Worker::finish`]; the worker must end well.
    #[track_caller]
    pub(crate) fn finish_well(self) -> Vec<String> {
        let (said, well) = self.finish();
        assert!(well, "a worker failed: {said:?}");
        said
    }

    pub(crate) fn signal(&self, signal: libc::c_int) {
        // SAFETY: a signal to a child that was not waited for yet, so the number is still its.
        let result = unsafe { libc::kill(self.child.id() as libc::pid_t, signal) };
        assert_eq!(result, 0);
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
    }

    /// Waits until the worker is stopped by a signal.
    pub(crate) fn wait_until_stopped(&self) {
        let mut status = 0;
        // SAFETY: `status` is valid; with WUNTRACED a stop is answered without taking the child away.
        let pid = unsafe { libc::waitpid(self.child.id() as libc::pid_t, &mut status, libc::WUNTRACED) };
        assert!(pid > 0 && libc::WIFSTOPPED(status));
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// What the ids are that a worker says were appended.
pub(crate) fn acknowledged(said: &[String]) -> Vec<String> {
    said.iter().filter_map(|line| line.strip_prefix("ack ")).map(str::to_owned).collect()
}

/// Says something to whoever started this process.
pub(crate) fn say(what: &str) {
    let mut out = std::io::stdout().lock();
    // The line before may be unfinished: the test harness writes there, too.
    write!(out, "\n@{}\n", what.replace('\n', " ")).unwrap();
    out.flush().unwrap();
}

/// The worker itself; without a task it is a test that does nothing.
#[test]
fn worker() {
    let Ok(task) = std::env::var(TASK) else { return };
    let task: Vec<&str> = task.split(BETWEEN).collect();
    match *task.as_slice() {
        ["serve"] => serve(),
        ["append", path, tag, count, size, leaf] => {
            append(Path::new(path), tag, number(count), number(size), leaf);
        }
        ["hold", path] => hold(Path::new(path)),
        ["look", path, until] => look(Path::new(path), Path::new(until)),
        ["foreign", path, tag, count, pause_ms] => {
            foreign(Path::new(path), tag, number(count), Duration::from_millis(number(pause_ms) as u64));
        }
        ["small disk", folder] => crate::disk::on_a_small_disk(Path::new(folder)),
        _ => panic!("no such task: {task:?}"),
    }
}

fn number(text: &str) -> usize {
    text.parse().unwrap()
}

/// Appends so many messages at one leaf, or for ever with a count of 0.
fn append(path: &Path, tag: &str, count: usize, size: usize, leaf: &str) {
    let mut session = SessionManager::open(path, None).unwrap();
    if !leaf.is_empty() {
        session.branch(leaf).unwrap();
    }
    say("open");
    for turn in 0.. {
        if turn == count && count > 0 {
            break;
        }
        match session.append_message(&message(&format!("{tag}-{turn}"), size)) {
            Ok(id) => say(&format!("ack {id}")),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Holds the lock until it is told to go on, without ever appending.
fn hold(path: &Path) {
    let file = std::fs::File::open(path).unwrap();
    file.lock().unwrap();
    say("held");
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

/// Opens the file again and again: it must always open, and never hold fewer entries than before.
fn look(path: &Path, until: &Path) {
    let (mut times, mut before) = (0, 0);
    while !until.exists() || times == 0 {
        let session = SessionManager::open(path, None).unwrap();
        let count = session.entry_count();
        assert!(count >= before, "{count} entries after {before}");
        before = count;
        let branch = session.get_branch(None);
        for entry in branch.iter().rev().take(3) {
            assert!(!entry.read().unwrap().text().is_empty());
        }
        times += 1;
    }
    say(&format!("looked {times}"));
}

/// Appends whole lines without any lock, as other programs do; each in two halves if there is a pause.
fn foreign(path: &Path, tag: &str, count: usize, pause: Duration) {
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    say("open");
    for turn in 0..count {
        let id = format!("{tag}{turn:04}");
        let line = plain_entry(&id, "null", &id);
        if pause.is_zero() {
            file.write_all(line.as_bytes()).unwrap();
        } else {
            let (one, other) = line.split_at(line.len() / 2);
            file.write_all(one.as_bytes()).unwrap();
            std::thread::sleep(pause);
            file.write_all(other.as_bytes()).unwrap();
            std::thread::sleep(pause);
        }
        say(&format!("ack {id}"));
        std::thread::yield_now();
    }
}

/// Does as it is told on its standard input, and answers each command with one line.
fn serve() {
    let mut session: Option<SessionManager> = None;
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let command: Vec<&str> = line.split(BETWEEN).collect();
        say(&obey(&mut session, &command));
    }
}

fn obey(session: &mut Option<SessionManager>, command: &[&str]) -> String {
    let done = |error: Option<String>| error.unwrap_or_else(|| "ok".into());
    match *command {
        ["open", path] => {
            *session = None;
            match SessionManager::open(Path::new(path), None) {
                Ok(opened) => *session = Some(opened),
                Err(error) => return format!("error {error:?}"),
            }
            return "ok".into();
        }
        ["create", folder] => {
            *session = Some(SessionManager::create(Path::new("/work"), Some(Path::new(folder))).unwrap());
            return "ok".into();
        }
        ["umask", mask] => {
            // SAFETY: this changes nothing but the mask of this process.
            unsafe { libc::umask(u32::from_str_radix(mask, 8).unwrap() as libc::mode_t) };
            return "ok".into();
        }
        ["largest file", bytes] => {
            limit_files(number(bytes));
            return "ok".into();
        }
        _ => {}
    }
    let session = session.as_mut().unwrap();
    match *command {
        ["append", text, size] => match session.append_message(&message(text, number(size))) {
            Ok(id) => format!("ack {id}"),
            Err(error) => format!("error {error:?}"),
        },
        ["branch", id] => done(session.branch(id).err().map(|error| format!("error {error:?}"))),
        ["clone"] => match session.clone_session() {
            Ok(path) => path.unwrap().to_string_lossy().into_owned(),
            Err(error) => format!("error {error:?}"),
        },
        ["count"] => session.entry_count().to_string(),
        ["durability"] => format!("{:?}", session.durability()),
        ["file"] => session.get_session_file().unwrap().to_string_lossy().into_owned(),
        ["ids"] => {
            session.get_entries().map(|entry| entry.id().unwrap().to_string()).collect::<Vec<_>>().join(" ")
        }
        ["sync"] => done(session.sync().err().map(|error| format!("error {error:?}"))),
        _ => panic!("no such command: {command:?}"),
    }
}

/// Sets the size that no file may exceed. The signal for it is ignored, as every program that uses
/// the library has to: its default action ends the process.
fn limit_files(bytes: usize) {
    let limit = libc::rlimit { rlim_cur: bytes as libc::rlim_t, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` is valid, and no handler is installed.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &limit), 0);
    }
}

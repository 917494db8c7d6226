//! What was sent, for each directory: to be found again by whoever presses Up.
//!
//! One file for each directory below the state folder, a JSON string on each line, the newest last. Several
//! programs append to it at once: each takes a lock that lies beside it, and so nobody loses anything, also when one
//! of them makes the file shorter. A thread of its own does that.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::state::{self, Lock};

/// Prompts that are remembered.
const MOST: usize = 1000;

/// Lines above that which a file may have before it is made shorter.
const SLACK: usize = 200;

/// Bytes of a prompt that is remembered. What is longer was hardly typed.
const LONGEST: usize = 100_000;

/// Bytes that are read, from the end of the file.
const READ: u64 = 16 << 20;

/// How often the lock is tried, and the wait between. Whoever has it only appends a line.
const TRIES: u32 = 100;
const WAIT: Duration = Duration::from_millis(20);

/// What was sent in a directory.
#[derive(Debug)]
pub(crate) struct History {
    place: Option<Place>,
    /// None where nothing is remembered, or nothing is to come.
    sender: Option<Sender<String>>,
    thread: Option<JoinHandle<()>>,
    /// What was remembered last, so that nothing stands there twice in a row.
    last: Option<String>,
    problem: Arc<Mutex<Option<String>>>,
}

/// Where the file lies.
#[derive(Debug, Clone)]
struct Place {
    folder: PathBuf,
    file: PathBuf,
    lock: PathBuf,
}

impl History {
    /// The folder where it is remembered.
    pub(crate) fn usual_folder() -> Option<PathBuf> {
        state::folder("history")
    }

    /// What was sent in `directory`. Nothing is read yet.
    pub(crate) fn open(folder: Option<PathBuf>, directory: &Path) -> History {
        let name = state::name_for(&[directory.as_os_str().as_encoded_bytes()]);
        let place = folder.map(|folder| Place {
            file: folder.join(format!("{name}.jsonl")),
            lock: folder.join(format!("{name}.lock")),
            folder,
        });
        let problem = Arc::new(Mutex::new(None));
        let mut history = History { place, sender: None, thread: None, last: None, problem };
        if let Some(place) = history.place.clone() {
            let (sender, prompts) = channel();
            let told = Arc::clone(&history.problem);
            let thread = std::thread::Builder::new().name("history".into());
            history.thread = thread.spawn(move || append_all(&place, &prompts, &told)).ok();
            history.sender = Some(sender);
        }
        history
    }

    /// What is remembered, the newest first, as [`Editor::set_history`](ramal_tui::editor::Editor::set_history)
    /// wants it. Reads the file.
    pub(crate) fn read(&self) -> Vec<String> {
        let text = self.place.as_ref().and_then(|place| read(&place.file).ok());
        let mut prompts = prompts(&text.unwrap_or_default());
        prompts.reverse();
        prompts
    }

    /// A prompt was sent.
    pub(crate) fn push(&mut self, prompt: &str) {
        let is_worth_it = !prompt.trim().is_empty() && prompt.len() <= LONGEST;
        if !is_worth_it || self.last.as_deref() == Some(prompt) {
            return;
        }
        self.last = Some(prompt.to_owned());
        if let Some(sender) = &self.sender {
            // The thread goes on until this end is gone.
            let _ = sender.send(prompt.to_owned());
        }
    }

    /// What went wrong since this was asked the last time.
    pub(crate) fn problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for History {
    /// What was sent last is remembered, too.
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the user said in the open session, and below it what else is remembered: both the newest first, and
/// nothing twice.
pub(crate) fn with_session(
    said: impl IntoIterator<Item = String>,
    remembered: impl IntoIterator<Item = String>,
) -> Vec<String> {
    let mut seen = HashSet::new();
    let all = said.into_iter().chain(remembered).filter(|prompt| !prompt.trim().is_empty());
    all.filter(|prompt| seen.insert(prompt.clone())).take(MOST).collect()
}

fn append_all(place: &Place, prompts: &Receiver<String>, problem: &Mutex<Option<String>>) {
    while let Ok(prompt) = prompts.recv() {
        if let Err(error) = append(place, &prompt) {
            let text = format!("what was sent cannot be remembered in {}: {error}", place.file.display());
            *problem.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
        }
    }
}

fn append(place: &Place, prompt: &str) -> io::Result<()> {
    state::create_folder(&place.folder)?;
    let _lock = wait_for_lock(&place.lock)?;
    let mut file = state::open_to_append(&place.file)?;
    let mut line = serde_json::to_string(prompt)?;
    line.push('\n');
    // A line that a crash has torn must not take this one along.
    if !ends_whole(&mut file)? {
        line.insert(0, '\n');
    }
    file.write_all(line.as_bytes())?;
    drop(file);
    shorten(place)
}

fn wait_for_lock(place: &Path) -> io::Result<Lock> {
    for _ in 0..TRIES {
        match Lock::take(place)? {
            Some(lock) => return Ok(lock),
            None => std::thread::sleep(WAIT),
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "another program does not let go of it"))
}

fn ends_whole(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// Replaces a file that has grown too long by its end.
fn shorten(place: &Place) -> io::Result<()> {
    let text = read(&place.file)?;
    let is_cut = std::fs::metadata(&place.file)?.len() > READ;
    if !is_cut && text.iter().filter(|byte| **byte == b'\n').count() <= MOST + SLACK {
        return Ok(());
    }
    let mut lines = Vec::new();
    let mut room = usize::try_from(READ / 2).unwrap_or(usize::MAX);
    for prompt in prompts(&text).into_iter().rev() {
        let line = serde_json::to_string(&prompt)? + "\n";
        match room.checked_sub(line.len()) {
            Some(left) => room = left,
            None => break,
        }
        lines.push(line);
    }
    lines.reverse();
    state::replace(&place.folder, &place.file, lines.concat().as_bytes())
}

/// The end of a file, as much as is looked at.
fn read(place: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(place)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(READ)))?;
    let mut bytes = Vec::new();
    file.take(READ).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The last prompts in a text, the newest last. What is no JSON string, or was torn, is passed over.
fn prompts(text: &[u8]) -> Vec<String> {
    let lines = text.split(|byte| *byte == b'\n').rev();
    let mut prompts: Vec<String> =
        lines.filter_map(|line| serde_json::from_slice(line).ok()).take(MOST).collect();
    prompts.reverse();
    prompts
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn open(folder: &tempfile::TempDir, directory: &str) -> History {
        History::open(Some(folder.path().join("below")), Path::new(directory))
    }

    #[test]
    fn what_was_sent_is_there_the_next_time() {
        let folder = tempfile::tempdir().unwrap();
        let mut history = open(&folder, "/work");
        assert_eq!(history.read(), [""; 0]);
        let long = "x".repeat(LONGEST + 1);
        for prompt in ["one", "two\nlines \"quoted\" 日本", "two\nlines \"quoted\" 日本", " \n", &long, "one"]
        {
            history.push(prompt);
        }
        drop(history);
        let history = open(&folder, "/work");
        assert_eq!(history.read(), ["one", "two\nlines \"quoted\" 日本", "one"]);
        assert_eq!(history.problem(), None);
        assert_eq!(open(&folder, "/other").read(), [""; 0]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let file = &history.place.as_ref().unwrap().file;
            assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn several_programs_at_once_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        // So many that the file is made shorter while others append.
        let each = MOST / 2 - SLACK / 2;
        std::thread::scope(|scope| {
            for program in 0..4 {
                let folder = &folder;
                scope.spawn(move || {
                    let mut history = open(folder, "/work");
                    for number in 0..each {
                        history.push(&format!("{program} {number}"));
                    }
                });
            }
        });
        let all = open(&folder, "/work").read();
        assert_eq!(all.len(), MOST);
        for program in 0..4 {
            // The last ones of each, in their order.
            let own: Vec<_> =
                all.iter().filter_map(|prompt| prompt.strip_prefix(&format!("{program} "))).collect();
            let want: Vec<_> = (0..each).rev().take(own.len()).map(|number| number.to_string()).collect();
            assert_eq!(own, want, "{program}");
        }
    }

    #[test]
    fn the_oldest_ones_go() {
        let folder = tempfile::tempdir().unwrap();
        let mut history = open(&folder, "/work");
        for number in 0..MOST + 2 * SLACK {
            history.push(&number.to_string());
        }
        let place = history.place.clone().unwrap();
        drop(history);
        let lines = std::fs::read_to_string(&place.file).unwrap().lines().count();
        assert!((MOST..=MOST + SLACK).contains(&lines), "{lines}");
        let prompts = open(&folder, "/work").read();
        assert_eq!((prompts.len(), &*prompts[0]), (MOST, &*(MOST + 2 * SLACK - 1).to_string()));
    }

    #[test]
    fn a_torn_line_takes_no_other_along() {
        let folder = tempfile::tempdir().unwrap();
        let mut history = open(&folder, "/work");
        history.push("before");
        let place = history.place.clone().unwrap();
        drop(history);
        let mut file = state::open_to_append(&place.file).unwrap();
        file.write_all(b"17\n\xff\n{}\n\"torn").unwrap();
        let mut history = open(&folder, "/work");
        history.push("after");
        drop(history);
        assert_eq!(open(&folder, "/work").read(), ["after", "before"]);
    }

    #[test]
    fn what_cannot_be_remembered_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        File::create(&file).unwrap();
        let mut history = History::open(Some(file.join("below")), Path::new("/work"));
        let problem = Arc::clone(&history.problem);
        history.push("one");
        drop(history);
        assert!(problem.lock().unwrap().as_ref().is_some_and(|text| text.contains("below")));
        let mut nowhere = History::open(None, Path::new("/work"));
        nowhere.push("one");
        assert_eq!((nowhere.read(), nowhere.problem()), (Vec::new(), None));
    }

    #[test]
    fn what_the_session_says_comes_first() {
        let list = |prompts: &[&str]| prompts.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            with_session(list(&["s2", "both", "s1", " "]), list(&["newest", "both", "older", "s1"])),
            ["s2", "both", "s1", "newest", "older"]
        );
    }
}

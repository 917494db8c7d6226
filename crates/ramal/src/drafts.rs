//! What stands in the editor and was not sent, kept beyond the end of the program, however it ends.
//!
//! One small file for each session, and for each directory in which none has begun, below the state folder. When
//! two programs have the same session open, each keeps a draft of its own there: whoever has a draft holds a lock
//! with it, and a draft whose lock nobody holds belongs to the next who comes. Files are written on a thread of their
//! own, whole, at most every half second, and taken away when there is nothing to keep.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use ramal_tui::editor::Editor;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::state::{self, Lock};

/// The least time between two versions of a draft that are written.
const PERIOD: Duration = Duration::from_millis(500);

/// Bytes of a draft that is still kept.
const LONGEST: usize = 8 << 20;

/// For how long a draft waits for somebody to go on with it.
const STALE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Programs that keep drafts of one session at the same time.
const SLOTS: usize = 16;

/// Where a draft belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Whose {
    /// To a session, by its id.
    Session(String),
    /// To a directory in which no session has begun yet.
    Directory(PathBuf),
}

impl Whose {
    fn file_name(&self) -> String {
        match self {
            Whose::Session(id) => state::name_for(&[b"session", id.as_bytes()]),
            Whose::Directory(path) => state::name_for(&[b"directory", path.as_os_str().as_encoded_bytes()]),
        }
    }

    fn name(&self) -> String {
        match self {
            Whose::Session(id) => id.clone(),
            Whose::Directory(path) => path.to_string_lossy().into_owned(),
        }
    }
}

/// What is kept, as it stands in a file.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    /// The id or the directory: the file's name is only a hash of it.
    of: String,
    /// What is being written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    draft: Option<Box<RawValue>>,
    /// What was put aside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stash: Option<Box<RawValue>>,
}

/// What became of the text when it was put aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stashed {
    /// It waits.
    PutAside,
    /// What had waited is in the editor.
    BroughtBack,
    /// The two have changed places.
    Exchanged,
    /// There is nothing here and there.
    Nothing,
}

/// Keeps the draft of one editor.
#[derive(Debug)]
pub(crate) struct Drafts {
    folder: Option<PathBuf>,
    whose: Whose,
    /// Where it is kept; none where there is no place.
    slot: Option<Slot>,
    /// What was put aside, as a draft.
    stash: Option<String>,
    /// What the editor's revision was when it was looked at last.
    revision: u64,
    /// Whether something else is to be kept than is written.
    is_changed: bool,
    written: Option<Instant>,
    writer: Option<Writer>,
    /// What could not be done, until it is asked for.
    problem: Option<String>,
}

impl Drafts {
    /// Begins to keep what stands in `editor`, and puts in what was kept there before.
    pub(crate) fn open(folder: Option<PathBuf>, whose: Whose, editor: &mut Editor) -> Drafts {
        let writer = folder.clone().map(Writer::start).transpose();
        let problem = writer.as_ref().err().map(|error| format!("what is written cannot be kept: {error}"));
        let mut drafts = Drafts {
            writer: writer.unwrap_or_default(),
            folder,
            whose,
            slot: None,
            stash: None,
            revision: editor.revision(),
            is_changed: !editor.is_empty(),
            written: None,
            problem,
        };
        drafts.claim(Wants::ADraft);
        drafts.restore(editor);
        drafts
    }

    /// The folder where drafts are kept.
    pub(crate) fn usual_folder() -> Option<PathBuf> {
        state::folder("drafts")
    }

    /// To be called after everything that may have changed what is written: keeps it, or says when it is to be
    /// called again, since the last time was not long ago. What was sent or taken out is forgotten at once.
    pub(crate) fn follow(&mut self, editor: &Editor, now: Instant) -> Option<Duration> {
        self.is_changed |= std::mem::replace(&mut self.revision, editor.revision()) != editor.revision();
        if !self.is_changed {
            return None;
        }
        let passed = self.written.map_or(PERIOD, |written| now.saturating_duration_since(written));
        if passed < PERIOD && !self.is_nothing(editor) {
            return Some(PERIOD - passed);
        }
        self.written = Some(now);
        self.write(editor);
        None
    }

    /// Keeps what is written now, and waits until it is kept: the program ends.
    pub(crate) fn flush(&mut self, editor: &Editor) {
        self.is_changed |= std::mem::replace(&mut self.revision, editor.revision()) != editor.revision();
        if self.is_changed {
            self.write(editor);
        }
        if let Some(writer) = &self.writer {
            writer.wait();
        }
    }

    /// Another session is shown in the same editor. What stood there is kept where it belongs, and what was kept
    /// of the other one put in.
    pub(crate) fn switch(&mut self, whose: Whose, editor: &mut Editor) {
        if whose == self.whose {
            return;
        }
        self.is_changed |= self.revision != editor.revision();
        if self.is_changed {
            self.write(editor);
        }
        if let Some(writer) = &self.writer {
            writer.wait();
        }
        let has_no_place = self.slot.is_none() || self.writer.is_none() || self.problem.is_some();
        if has_no_place && !self.is_nothing(editor) {
            // What is kept nowhere goes along.
            (self.whose, self.slot) = (whose, None);
            self.claim(Wants::Nothing);
            self.is_changed = true;
            return;
        }
        (self.whose, self.slot, self.stash) = (whose, None, None);
        editor.clear();
        editor.dismiss_prefill();
        self.claim(Wants::ADraft);
        self.restore(editor);
    }

    /// The session that begins here has an id now: from now on the draft is kept with it.
    pub(crate) fn becomes(&mut self, whose: Whose) {
        if whose == self.whose {
            return;
        }
        if let (Some(slot), Some(writer)) = (&self.slot, &self.writer) {
            writer.order(slot.draft.clone(), None);
            writer.wait();
        }
        (self.whose, self.slot) = (whose, None);
        self.claim(Wants::Nothing);
        self.is_changed = true;
    }

    /// Puts what is written aside, or brings back what was.
    pub(crate) fn stash(&mut self, editor: &mut Editor) -> Stashed {
        let written = (!editor.is_empty()).then(|| editor.to_draft());
        let waiting = std::mem::replace(&mut self.stash, written);
        self.is_changed = true;
        match waiting {
            Some(waiting) => {
                let had_text = self.stash.is_some();
                match editor.restore_draft(&waiting) {
                    Ok(()) if had_text => Stashed::Exchanged,
                    Ok(()) => Stashed::BroughtBack,
                    Err(_) => Stashed::Nothing,
                }
            }
            None if self.stash.is_some() => {
                editor.clear();
                Stashed::PutAside
            }
            None => Stashed::Nothing,
        }
    }

    /// Whether something was put aside.
    pub(crate) fn has_stash(&self) -> bool {
        self.stash.is_some()
    }

    /// What went wrong since this was asked the last time.
    pub(crate) fn problem(&mut self) -> Option<String> {
        self.problem.take().or_else(|| self.writer.as_ref()?.problem())
    }

    fn is_nothing(&self, editor: &Editor) -> bool {
        editor.is_empty() && editor.pending_prefill().is_none() && self.stash.is_none()
    }

    /// Gives what is kept to the thread that writes.
    fn write(&mut self, editor: &Editor) {
        self.is_changed = false;
        let (Some(slot), Some(writer)) = (&self.slot, &self.writer) else { return };
        if self.is_nothing(editor) {
            return writer.order(slot.draft.clone(), None);
        }
        let raw = |text: String| RawValue::from_string(text).ok();
        let has_draft = !editor.is_empty() || editor.pending_prefill().is_some();
        let kept = Kept {
            of: self.whose.name(),
            draft: has_draft.then(|| editor.to_draft()).and_then(raw),
            stash: self.stash.clone().and_then(raw),
        };
        match serde_json::to_vec(&kept) {
            Ok(bytes) if bytes.len() <= LONGEST => writer.order(slot.draft.clone(), Some(bytes)),
            _ => {
                self.problem = Some("what is written is too long to be kept if the program ends".to_owned());
            }
        }
    }

    /// Takes the place where the draft is kept.
    fn claim(&mut self, wants: Wants) {
        let Some(folder) = &self.folder else { return };
        match Slot::claim(folder, &self.whose.file_name(), wants) {
            Ok(slot) => self.slot = slot,
            Err(error) => {
                self.problem = Some(format!(
                    "what is written cannot be kept in {}, if the program ends: {error}",
                    folder.display()
                ));
            }
        }
    }

    /// Puts in what was kept. What stands in the editor already comes first; then what was kept waits as a stash.
    fn restore(&mut self, editor: &mut Editor) {
        let kept =
            self.slot.as_ref().and_then(|slot| read(&slot.draft)).filter(|kept| kept.of == self.whose.name());
        let text = |raw: Option<Box<RawValue>>| raw.map(|raw| raw.get().to_owned());
        if let Some(kept) = kept {
            self.stash = text(kept.stash);
            match text(kept.draft) {
                Some(draft) if editor.is_empty() => drop(editor.restore_draft(&draft)),
                draft => self.stash = draft.or(self.stash.take()),
            }
        }
        self.revision = editor.revision();
    }
}

impl Drop for Drafts {
    /// All that was given to the thread is written before the lock is let go.
    fn drop(&mut self) {
        self.writer = None;
    }
}

fn read(place: &Path) -> Option<Kept> {
    let mut bytes = Vec::new();
    let most = u64::try_from(LONGEST).unwrap_or(u64::MAX);
    File::open(place).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Which place is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wants {
    /// One with a draft that nobody has, the newest of them; else one without.
    ADraft,
    /// One without a draft.
    Nothing,
}

/// The place of a draft, which is ours as long as this is there.
#[derive(Debug)]
struct Slot {
    draft: PathBuf,
    _lock: Lock,
}

impl Slot {
    /// A place for a draft of that name; none if so many programs have one that there is no other.
    fn claim(folder: &Path, name: &str, wants: Wants) -> io::Result<Option<Slot>> {
        state::create_folder(folder)?;
        let places = || (0..SLOTS).map(|number| folder.join(format!("{name}-{number}.json")));
        if wants == Wants::ADraft {
            let mut drafts: Vec<(SystemTime, PathBuf)> = places()
                .filter_map(|draft| Some((fs::metadata(&draft).ok()?.modified().ok()?, draft)))
                .collect();
            drafts.sort_unstable();
            for (_, draft) in drafts.into_iter().rev() {
                if let Some(slot) = Slot::take(draft)? {
                    return Ok(Some(slot));
                }
            }
        }
        for draft in places().filter(|draft| !draft.exists()) {
            if let Some(slot) = Slot::take(draft)? {
                return Ok(Some(slot));
            }
        }
        Ok(None)
    }

    fn take(draft: PathBuf) -> io::Result<Option<Slot>> {
        let lock = Lock::take(&draft.with_extension("lock"))?;
        Ok(lock.map(|lock| Slot { draft, _lock: lock }))
    }
}

/// Something for the thread that writes.
enum Order {
    /// A file is to have these bytes, or to be gone.
    Put(PathBuf, Option<Vec<u8>>),
    /// What was ordered before is to be done, and then this is to be dropped.
    Wait(Sender<()>),
}

/// The thread that writes.
#[derive(Debug)]
struct Writer {
    /// None: there is nothing to come.
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
    problem: Arc<Mutex<Option<String>>>,
}

impl Writer {
    fn start(folder: PathBuf) -> io::Result<Writer> {
        let (sender, orders) = channel();
        let problem = Arc::new(Mutex::new(None));
        let told = Arc::clone(&problem);
        let thread = std::thread::Builder::new().name("drafts".into()).spawn(move || {
            sweep(&folder, SystemTime::now());
            write_all(&folder, &orders, &told);
        })?;
        Ok(Writer { orders: Some(sender), thread: Some(thread), problem })
    }

    fn order(&self, place: PathBuf, bytes: Option<Vec<u8>>) {
        self.send(Order::Put(place, bytes));
    }

    /// Waits until all is written that was ordered.
    fn wait(&self) {
        let (done, is_done) = channel();
        self.send(Order::Wait(done));
        // It ends with an error when the other end is dropped, which is what is waited for.
        let _ = is_done.recv();
    }

    fn send(&self, order: Order) {
        if let Some(orders) = &self.orders {
            // The thread goes on until this end is gone.
            let _ = orders.send(order);
        }
    }

    fn problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn write_all(folder: &Path, orders: &Receiver<Order>, problem: &Mutex<Option<String>>) {
    while let Ok(first) = orders.recv() {
        let (mut files, mut waiting) = (HashMap::new(), Vec::new());
        for order in std::iter::once(first).chain(orders.try_iter()) {
            match order {
                // Of several versions the last one counts.
                Order::Put(place, bytes) => drop(files.insert(place, bytes)),
                Order::Wait(done) => waiting.push(done),
            }
        }
        for (place, bytes) in files {
            let done = match bytes {
                Some(bytes) => state::replace(folder, &place, &bytes),
                None => state::remove(&place),
            };
            if let Err(error) = done {
                let text = format!(
                    "what is written cannot be kept in {}, if the program ends: {error}",
                    place.display()
                );
                *problem.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
            }
        }
    }
}

/// Takes away what nobody has come back to.
fn sweep(folder: &Path, now: SystemTime) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
        let changed = fs::metadata(&path).and_then(|metadata| metadata.modified());
        let is_stale = changed.is_ok_and(|changed| now.duration_since(changed).is_ok_and(|age| age > STALE));
        let end = path.extension().and_then(|end| end.to_str());
        // What goes wrong here is tried again by the next program.
        let _ = match end {
            Some("tmp") if is_stale => state::remove(&path),
            Some("json") if is_stale => remove_unlocked(&path),
            Some("lock") if is_stale && !path.with_extension("json").exists() => remove_unlocked(&path),
            _ => Ok(()),
        };
    }
}

/// Takes a draft and its lock away, unless a program has it open, however long ago it wrote there.
fn remove_unlocked(path: &Path) -> io::Result<()> {
    let lock_place = path.with_extension("lock");
    let Some(_lock) = Lock::take(&lock_place)? else { return Ok(()) };
    state::remove(&path.with_extension("json"))?;
    state::remove(&lock_place)
}

#[cfg(test)]
mod tests;

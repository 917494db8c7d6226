//! What all extensions of a program share: the session, the user, what may be done, and each other.

use std::collections::HashMap;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use ramal_agent::AgentSession;
use ramal_model::Endpoint;
use tokio::runtime::Handle;

use crate::permit::{Always, Permits};
use crate::record::Record;
use crate::ui::{NoUi, Ui};

/// A line of the log of extensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// The extension.
    pub extension: String,
    /// `debug`, `info`, `warn` or `error`.
    pub level: String,
    /// What it says.
    pub text: String,
}

/// A command that is no extension's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherCommand {
    /// What is typed behind the slash.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// `prompt`, `skill` or `builtin`.
    pub source: String,
}

/// The program around the extensions: what it can be asked for.
pub trait Program: Send + Sync {
    /// Asks it to end.
    fn shut_down(&self) {}

    /// Loads extensions and the like anew, or says why that cannot be.
    fn reload(&self) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>> {
        Box::pin(async { Err("this program does not load extensions anew while it runs".into()) })
    }

    /// The models that can be used.
    fn models(&self) -> Vec<Endpoint> {
        Vec::new()
    }

    /// The commands that are not the extensions'.
    fn commands(&self) -> Vec<OtherCommand> {
        Vec::new()
    }
}

/// A program that can be asked for nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgram;

impl Program for NoProgram {}

/// With what extensions are run.
#[derive(Clone)]
pub struct Options {
    /// The directory as long as there is no session.
    pub cwd: PathBuf,
    /// How long JavaScript may run at a stretch. That it waits does not count.
    pub running_time: Duration,
    /// How long a handler may take to answer an event, besides what it waits for the user, for processes and
    /// models.
    pub event_time: Duration,
    /// Bytes that an extension may hold.
    pub memory: usize,
    /// Bytes of its stack.
    pub stack: usize,
    /// Takes what extensions log.
    pub log: Arc<dyn Fn(&LogLine) + Send + Sync>,
    /// Decides what they may do.
    pub permits: Arc<dyn Permits>,
    /// Folders whose files need a permission wherever they lie: settings, keys, what was answered.
    pub guarded: Vec<PathBuf>,
    /// The program.
    pub program: Arc<dyn Program>,
    /// What the command line says of their flags.
    pub flags: HashMap<String, String>,
    /// Whoever has the user; [`crate::Extensions::set_ui`] says it later.
    pub ui: Arc<dyn Ui>,
    /// Whether they may bring tools besides those that there are; otherwise they only stand in the places of
    /// some of them.
    pub adds_tools: bool,
    /// How the program is used.
    pub mode: Mode,
}

/// How a program is used, as extensions know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// In the terminal, by a person.
    Tui,
    /// By another program.
    Rpc,
    /// For one prompt, whose answer is printed.
    #[default]
    Print,
    /// For one prompt, whose events are printed.
    Json,
}

impl Mode {
    /// The name that extensions know it by.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Tui => "tui",
            Mode::Rpc => "rpc",
            Mode::Print => "print",
            Mode::Json => "json",
        }
    }
}

impl Options {
    /// The usual limits; nothing is allowed, nothing is logged.
    pub fn new(cwd: impl Into<PathBuf>) -> Options {
        Options {
            cwd: cwd.into(),
            running_time: Duration::from_secs(5),
            event_time: Duration::from_secs(30),
            memory: 256 << 20,
            stack: 1 << 20,
            log: Arc::new(|_| {}),
            permits: Arc::new(Always::Refuse),
            guarded: guarded(),
            program: Arc::new(NoProgram),
            flags: HashMap::new(),
            ui: Arc::new(NoUi),
            adds_tools: true,
            mode: Mode::default(),
        }
    }
}

/// The folders of ramal and of its relatives in which settings, keys and sessions lie.
fn guarded() -> Vec<PathBuf> {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let below = |folder: &str| home.as_ref().map(|home| home.join(folder));
    let named = |variable: &str, usual: &str| {
        let set = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        set.or_else(|| below(usual)).map(|folder| folder.join("ramal"))
    };
    let all = [
        below(".ramal"),
        below(".pi/agent"),
        below(".omp/agent"),
        named("XDG_CONFIG_HOME", ".config"),
        named("XDG_STATE_HOME", ".local/state"),
        named("XDG_DATA_HOME", ".local/share"),
    ];
    all.into_iter().flatten().collect()
}

/// What all share.
pub(crate) struct World {
    pub(crate) options: Options,
    pub(crate) runtime: Handle,
    pub(crate) http: crate::natives::fetch::Http,
    session: Mutex<Option<AgentSession>>,
    ui: Mutex<Arc<dyn Ui>>,
    records: Mutex<Vec<Weak<Record>>>,
    ids: AtomicU64,
    /// The listener that counts, by its number; none where that is 0.
    listens: AtomicU64,
    has_ended: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl World {
    pub(crate) fn new(options: Options) -> Arc<World> {
        let ui = Mutex::new(Arc::clone(&options.ui));
        Arc::new(World {
            options,
            runtime: Handle::current(),
            http: crate::natives::fetch::Http::default(),
            session: Mutex::default(),
            ui,
            records: Mutex::default(),
            ids: AtomicU64::new(1),
            listens: AtomicU64::new(0),
            has_ended: AtomicBool::new(false),
        })
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// The session at work.
    pub(crate) fn session(&self) -> Option<AgentSession> {
        lock(&self.session).clone()
    }

    pub(crate) fn ui(&self) -> Arc<dyn Ui> {
        Arc::clone(&lock(&self.ui))
    }

    pub(crate) fn set_ui(&self, ui: Arc<dyn Ui>) {
        *lock(&self.ui) = ui;
    }

    /// Puts the extensions around a session, or around none.
    pub(crate) fn attach(self: &Arc<Self>, session: Option<AgentSession>) {
        *lock(&self.session) = session;
        self.listens.store(0, Ordering::Relaxed);
        self.listen_if_wanted();
    }

    /// The extensions come to their end: others may take their place around the session.
    pub(crate) fn end(self: &Arc<Self>) {
        self.has_ended.store(true, Ordering::Relaxed);
        self.attach(None);
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }

    /// The directory that is worked in.
    pub(crate) fn cwd(&self) -> PathBuf {
        self.session().map_or_else(|| self.options.cwd.clone(), |session| session.cwd())
    }

    pub(crate) fn records(&self) -> Vec<Arc<Record>> {
        lock(&self.records).iter().filter_map(Weak::upgrade).collect()
    }

    pub(crate) fn add(&self, record: &Arc<Record>) {
        let mut records = lock(&self.records);
        records.retain(|record| record.strong_count() > 0);
        records.push(Arc::downgrade(record));
    }

    /// Listens to the session as soon as somebody wants to hear what happens in it: until then nothing is
    /// even put together.
    pub(crate) fn listen_if_wanted(self: &Arc<Self>) {
        let Some(session) = self.session() else { return };
        if !self.records().iter().any(|record| record.wants_events()) {
            return;
        }
        let number = self.next_id();
        if self.listens.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return;
        }
        let world = Arc::downgrade(self);
        let mut turns = crate::events::Turns::default();
        let turns = Mutex::new(std::mem::take(&mut turns));
        session.listen(move |event| {
            let Some(world) = world.upgrade() else { return false };
            if world.listens.load(Ordering::Relaxed) != number {
                return false;
            }
            let index = lock(&turns).index(event);
            for record in world.records() {
                record.forward(event, index);
            }
            true
        });
    }

    /// Tells the user that an extension failed in something.
    pub(crate) fn report(&self, record: &Record, what: &str, error: &str) {
        let name = record.name();
        self.log(&name, "error", &format!("{what}: {error}"));
        if let Some(session) = self.session() {
            session.tell_hook_error(&name, crate::events::known_name(what), error);
        }
    }

    pub(crate) fn log(&self, extension: &str, level: &str, text: &str) {
        (self.options.log)(&LogLine { extension: extension.into(), level: level.into(), text: text.into() });
    }
}

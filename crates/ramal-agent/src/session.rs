//! The handle of a session at work, and what belongs to it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use ramal_model::{Endpoint, LanguageModel, RetryPolicy, ThinkingLevel};
use ramal_session::{At, EntryId, NameSource, SessionManager, SessionStats};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::chosen::Changes;
use crate::compact::CompactionSettings;
use crate::error::AgentError;
use crate::events::AgentEvent;
use crate::hooks::Hook;
use crate::operation::{Operation, Stage};
use crate::queue::{Prompt, Queue};
use crate::title::Titles;
use crate::tools::{Access, Tool};

/// Finds the endpoint of a model that is named `provider/id`, or says why it cannot be used.
pub type FindModel = dyn Fn(&str) -> Result<Endpoint, String> + Send + Sync;

/// Decides whether a call of a tool may be run.
pub trait Permit: Send + Sync {
    /// True if it may. Asked for each call; may take as long as the user does.
    fn may_run<'a>(
        &'a self,
        tool: &'a str,
        arguments: &'a str,
        access: &'a [Access],
    ) -> std::pin::Pin<Box<dyn Future<Output = bool> + Send + 'a>>;
}

/// What a session at work needs besides its log.
#[derive(Clone)]
pub struct AgentConfig {
    /// Answers requests.
    pub model: Arc<dyn LanguageModel>,
    /// Finds models by name.
    pub find_model: Arc<FindModel>,
    /// The model where the path names none.
    pub default_model: Option<String>,
    /// How much to think where the path does not say.
    pub default_thinking: ThinkingLevel,
    /// The system prompt; the same for the whole session.
    pub system: String,
    /// The tools, in an order that stays the same.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Decides about calls of tools.
    pub permit: Arc<dyn Permit>,
    /// Who takes part, in order.
    pub hooks: Vec<Arc<dyn Hook>>,
    /// How long a hook may take.
    pub hook_limit: Duration,
    /// How often to ask a model again.
    pub retry: RetryPolicy,
    /// The directory that tools work in.
    pub cwd: PathBuf,
    /// Tokens that are kept free when a branch is summarised.
    pub summary_reserve: u64,
    /// When and how the conversation is made shorter.
    pub compaction: CompactionSettings,
}

/// What a session needs that one goes over to: its directory, the prompt and the permissions that follow
/// from it, the settings of its project. Given the session and what the one before had.
pub type Reconfigure = dyn Fn(&SessionManager, &AgentConfig) -> AgentConfig + Send + Sync;

/// A session at work. A handle: clones are the same session.
#[derive(Clone)]
pub struct AgentSession {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    manager: Mutex<SessionManager>,
    pub(crate) config: Mutex<Arc<AgentConfig>>,
    reconfigure: Mutex<Option<Arc<Reconfigure>>>,
    pub(crate) stage: Stage,
    pub(crate) queue: Mutex<Queue>,
    listeners: Mutex<Vec<Box<Listener>>>,
    pub(crate) switches: Switches,
    titles: Mutex<Titles>,
    /// The last answer whose count of tokens holds for the context as it is.
    counted: Mutex<Option<EntryId>>,
    seen: Mutex<Option<Seen>>,
    pub(crate) changes: Mutex<Changes>,
    /// The names of the tools that are offered; none: all.
    pub(crate) active_tools: Mutex<Option<Vec<String>>>,
    /// What stands in place of the system prompt until the model has nothing more to do.
    prompted: Mutex<Option<String>>,
}

/// What the model goes on seeing in place of the conversation of a copy up to its leaf then (contract,
/// section 7.2).
struct Seen {
    messages: Vec<String>,
    session: String,
    leaf: Option<EntryId>,
}

impl Seen {
    /// Whether it counts for the conversation up to an entry: that the copy it belongs to is still there,
    /// and the entry behind where it ends.
    fn counts(&self, manager: &SessionManager, entry: Option<&str>) -> bool {
        let Some(leaf) = self.leaf.as_deref() else { return self.session == manager.get_session_id() };
        let leaf = manager.get_entry(leaf);
        let entry = entry.and_then(|entry| manager.get_entry(entry));
        let mut path = std::iter::successors(entry, |entry| entry.parent());
        self.session == manager.get_session_id() && leaf.is_some() && path.any(|above| Some(above) == leaf)
    }
}

/// Hears an event; false says that it will hear no more.
type Listener = dyn Fn(&Arc<AgentEvent>) -> bool + Send;

/// What can be switched on and off while a session is at work.
pub(crate) struct Switches {
    auto_compaction: AtomicBool,
    auto_retry: AtomicBool,
    /// Ends the wait for another attempt.
    pub(crate) end_retry: Notify,
}

impl AgentSession {
    /// Puts a session to work.
    pub fn new(manager: SessionManager, config: AgentConfig) -> AgentSession {
        let switches = Switches {
            auto_compaction: config.compaction.enabled.into(),
            auto_retry: true.into(),
            end_retry: Notify::new(),
        };
        AgentSession {
            shared: Arc::new(Shared {
                titles: Mutex::new(Titles::of(&manager)),
                manager: Mutex::new(manager),
                config: Mutex::new(Arc::new(config)),
                reconfigure: Mutex::default(),
                stage: Stage::default(),
                queue: Mutex::default(),
                listeners: Mutex::default(),
                switches,
                counted: Mutex::default(),
                seen: Mutex::default(),
                changes: Mutex::default(),
                active_tools: Mutex::default(),
                prompted: Mutex::default(),
            }),
        }
    }

    /// Reads or appends: the session is locked as long as `work` runs, so it must not wait.
    ///
    /// Hooks use this as well. Moving the leaf is the business of the commands of this type; while one
    /// of them runs, use [`AgentSession::must_be_idle`] before moving it.
    pub fn with_session<T>(&self, work: impl FnOnce(&mut SessionManager) -> T) -> T {
        work(&mut self.manager())
    }

    /// As [`AgentSession::with_session`], for whoever has something better to do than to wait. None if somebody
    /// else is at the session.
    pub fn try_with_session<T>(&self, work: impl FnOnce(&mut SessionManager) -> T) -> Option<T> {
        match self.shared.manager.try_lock() {
            Ok(mut manager) => Some(work(&mut manager)),
            Err(TryLockError::Poisoned(error)) => Some(work(&mut error.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    pub(crate) fn manager(&self) -> MutexGuard<'_, SessionManager> {
        self.shared.manager.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn queue(&self) -> MutexGuard<'_, Queue> {
        self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn titles(&self) -> MutexGuard<'_, Titles> {
        self.shared.titles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn config(&self) -> Arc<AgentConfig> {
        Arc::clone(&self.shared.config.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Says how each session that is gone over to is made ready for work. Where nobody says, all of them
    /// work as the first one does.
    pub fn reconfigure_with(
        &self,
        reconfigure: impl Fn(&SessionManager, &AgentConfig) -> AgentConfig + Send + Sync + 'static,
    ) {
        *self.shared.reconfigure.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(reconfigure));
    }

    /// Makes ready for work in the session that `manager` holds now.
    pub(crate) fn reconfigure(&self, manager: &SessionManager) {
        let reconfigure = self.shared.reconfigure.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(reconfigure) = reconfigure {
            let config = reconfigure(manager, &self.config());
            *self.shared.config.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
        }
    }

    /// The directory that tools work in.
    pub fn cwd(&self) -> PathBuf {
        self.config().cwd.clone()
    }

    /// The system prompt: the session's, or what a hook put in its place for what the model is at.
    pub fn system_prompt(&self) -> String {
        self.prompted().clone().unwrap_or_else(|| self.config().system.clone())
    }

    fn prompted(&self) -> MutexGuard<'_, Option<String>> {
        self.shared.prompted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has another system prompt, or again the session's.
    pub(crate) fn prompt_with(&self, system: Option<String>) {
        *self.prompted() = system;
    }

    /// The endpoint of a model that is named `provider/id`, or why it cannot be used.
    ///
    /// # Errors
    /// Why not.
    pub fn find_model(&self, name: &str) -> Result<Endpoint, String> {
        (self.config().find_model)(name)
    }

    /// Works with something else from now on. What runs goes on with what it began with.
    pub fn configure(&self, change: impl FnOnce(&AgentConfig) -> AgentConfig) {
        let mut config = self.shared.config.lock().unwrap_or_else(PoisonError::into_inner);
        *config = Arc::new(change(&config));
    }

    /// Everything that happens from now on. A listener that does not listen costs memory, not time.
    pub fn subscribe(&self) -> UnboundedReceiver<Arc<AgentEvent>> {
        let (sender, receiver) = unbounded_channel();
        self.listen(move |event| sender.send(Arc::clone(event)).is_ok());
        receiver
    }

    /// Hears everything that happens from now on, where and when it happens: so it must not wait, nor
    /// use the session. False ends it.
    pub fn listen(&self, listener: impl Fn(&Arc<AgentEvent>) -> bool + Send + 'static) {
        self.shared.listeners.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(listener));
    }

    /// Whether anybody hears what happens.
    pub(crate) fn is_heard(&self) -> bool {
        !self.shared.listeners.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    pub(crate) fn emit(&self, event: AgentEvent) {
        self.emit_after(|| {}, event);
    }

    /// Tells an event right after `work`: nothing else is told between the two.
    pub(crate) fn emit_after(&self, work: impl FnOnce(), event: AgentEvent) {
        let event = Arc::new(event);
        let mut listeners = self.shared.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        work();
        listeners.retain(|listener| listener(&event));
    }

    /// What the session is busy with.
    pub fn running(&self) -> Option<Operation> {
        self.shared.stage.running()
    }

    /// Refuses what must not be done while something runs (contract, section 12).
    ///
    /// # Errors
    /// [`AgentError::Busy`] if something does.
    pub fn must_be_idle(&self) -> Result<(), AgentError> {
        self.shared.stage.must_be_idle()
    }

    /// Ends what runs, as soon as it can be ended; what came so far is kept.
    pub fn abort(&self) {
        self.shared.stage.abort();
    }

    /// Waits until nothing runs.
    pub async fn wait_for_idle(&self) {
        self.shared.stage.idle().await;
        // The end of a turn may just be being told.
        drop(self.shared.listeners.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Takes back what waits to be said: what steers, and what follows.
    pub fn clear_queue(&self) -> (Vec<Prompt>, Vec<Prompt>) {
        let (steering, follow_up) = {
            let mut queue = self.queue();
            (std::mem::take(&mut queue.steering), std::mem::take(&mut queue.follow_up))
        };
        if !steering.is_empty() || !follow_up.is_empty() {
            self.emit_queue();
        }
        (steering.into(), follow_up.into())
    }

    /// Switches the compaction that happens by itself on or off.
    pub fn set_auto_compaction(&self, enabled: bool) {
        self.shared.switches.auto_compaction.store(enabled, Ordering::Relaxed);
    }

    /// Whether the conversation is made shorter by itself.
    pub fn auto_compaction(&self) -> bool {
        self.shared.switches.auto_compaction.load(Ordering::Relaxed)
    }

    /// Switches on or off that a model is asked again after an error that passes.
    pub fn set_auto_retry(&self, enabled: bool) {
        self.shared.switches.auto_retry.store(enabled, Ordering::Relaxed);
        if !enabled {
            self.abort_retry();
        }
    }

    /// How often and how soon a model is asked again.
    pub(crate) fn retry_policy(&self) -> RetryPolicy {
        match self.shared.switches.auto_retry.load(Ordering::Relaxed) {
            true => self.config().retry,
            false => RetryPolicy { max_retries: 0, ..self.config().retry },
        }
    }

    /// Ends the wait for another attempt, and the turn with it.
    pub fn abort_retry(&self) {
        self.shared.switches.end_retry.notify_waiters();
    }

    /// Refuses work that cannot be done: no model can be asked, or the directory is gone.
    ///
    /// # Errors
    /// Which of the two.
    pub fn must_be_able_to_work(&self) -> Result<(), AgentError> {
        self.endpoint()?;
        self.must_have_directory()
    }

    /// Refuses work in a directory that is gone.
    ///
    /// # Errors
    /// [`AgentError::NoDirectory`] if it is.
    pub fn must_have_directory(&self) -> Result<(), AgentError> {
        let path = self.cwd();
        if path.is_dir() { Ok(()) } else { Err(AgentError::NoDirectory { path }) }
    }

    /// Gives the session a name of the user's.
    ///
    /// # Errors
    /// If it could not be appended.
    pub fn set_session_name(&self, name: &str) -> Result<EntryId, AgentError> {
        let id = self.manager().set_session_name(name, NameSource::User)?;
        self.emit(AgentEvent::SessionInfoChanged { name: name.to_owned() });
        Ok(id)
    }

    /// Puts a label on an entry, or takes it off.
    ///
    /// # Errors
    /// If there is no such entry, or it could not be appended.
    pub fn set_label(&self, entry: &str, label: Option<&str>) -> Result<EntryId, AgentError> {
        Ok(self.manager().append_label_change(entry, label)?)
    }

    /// Every user message with a text, on all branches, in the order of the log.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn get_user_messages_for_branching(&self) -> Result<Vec<(EntryId, String)>, AgentError> {
        Ok(self.manager().get_user_messages_for_branching()?)
    }

    /// Totals of the whole log, over all branches.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn get_session_stats(&self) -> Result<SessionStats, AgentError> {
        Ok(self.manager().get_session_stats()?)
    }

    /// An answer came whose provider counted the context.
    pub(crate) fn note_count(&self, answer: EntryId) {
        *self.shared.counted.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
    }

    /// The context is another one than what was counted.
    pub(crate) fn forget_count(&self) {
        *self.shared.counted.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub(crate) fn counted_answer(&self) -> Option<EntryId> {
        self.shared.counted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn seen(&self) -> MutexGuard<'_, Option<Seen>> {
        self.shared.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The messages that the model would be sent at an entry, or before the first one.
    pub(crate) fn messages_at(&self, entry: Option<&str>) -> Result<Vec<String>, AgentError> {
        let manager = self.manager();
        let at = |entry: Option<&str>| {
            let context = manager.build_session_context(entry.map_or(At::BeforeFirst, At::Entry))?;
            let messages: Result<Vec<String>, _> = context.model_messages().collect();
            messages.map_err(AgentError::from)
        };
        let mut messages = at(entry)?;
        if let Some(seen) = &*self.seen()
            && seen.counts(&manager, entry)
        {
            let known = at(seen.leaf.as_deref())?.len().min(messages.len());
            messages.splice(..known, seen.messages.iter().cloned());
        }
        Ok(messages)
    }

    /// The messages that the model would be sent now.
    pub(crate) fn seen_by_model(&self) -> Result<Vec<String>, AgentError> {
        let leaf = self.leaf_id()?;
        self.messages_at(leaf.as_deref())
    }

    /// The model goes on seeing `messages` in place of what is there now.
    pub(crate) fn keep_seen(&self, messages: Vec<String>) -> Result<(), AgentError> {
        let (leaf, session) = {
            let manager = self.manager();
            (manager.get_leaf_id()?, manager.get_session_id().to_owned())
        };
        *self.seen() = Some(Seen { messages, session, leaf });
        Ok(())
    }

    /// The model sees what is there: one has moved, or the conversation was made shorter.
    pub(crate) fn forget_seen(&self) {
        *self.seen() = None;
    }

    /// Whether the model may see something else than what is there.
    pub(crate) fn has_seen(&self) -> bool {
        self.seen().is_some()
    }

    /// The leaf's id.
    pub(crate) fn leaf_id(&self) -> Result<Option<EntryId>, AgentError> {
        Ok(self.manager().get_leaf_id()?)
    }

    pub(crate) fn session_file(&self) -> Option<PathBuf> {
        self.manager().get_session_file().map(Path::to_owned)
    }
}

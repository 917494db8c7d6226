//! One extension as the rest of the program sees it: what it registered, and the way to its thread.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use ramal_agent::AgentEvent;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;

use crate::bytes::Parcels;
use crate::events;
use crate::extension::Brings;
use crate::natives::child::Children;
use crate::natives::fetch::Responses;
use crate::owner::{Owner, Reply, Update};
use crate::permit::Identity;
use crate::thread::{self, Job};
use crate::watch::Watch;
use crate::world::World;

/// How often it is looked whether a handler takes too long.
const TICK: Duration = Duration::from_millis(250);
/// How long what runs may go on after nobody waits for it any more.
const GRACE: Duration = Duration::from_millis(100);
/// How long something that was aborted may take to tidy up.
const TIDY: Duration = Duration::from_secs(2);
/// How many times as long as JavaScript may run it may go on without looking whether to stop: a little of what is
/// built into it never does, and machines have much else to do.
const STUCK: u32 = 12;
/// Updates of a message that wait to be heard, at most: each brings the whole message.
const UPDATES: usize = 64;

/// Characters of the name of a tool, at most.
const NAME: usize = 128;

/// What an extension registered.
#[derive(Debug, Default)]
pub(crate) struct Registered {
    events: HashSet<String>,
    pub(crate) commands: BTreeMap<String, Described>,
    pub(crate) tools: BTreeMap<String, ToolSpecs>,
    pub(crate) shortcuts: BTreeMap<String, Described>,
    pub(crate) flags: BTreeMap<String, FlagSpec>,
    pub(crate) renderers: HashSet<String>,
    pub(crate) entry_renderers: HashSet<String>,
}

impl Registered {
    pub(crate) fn brings(&self) -> Brings {
        let sorted = |names: &HashSet<String>| {
            let mut names: Vec<String> = names.iter().cloned().collect();
            names.sort();
            names
        };
        Brings {
            events: sorted(&self.events),
            commands: self.commands.keys().cloned().collect(),
            tools: self.tools.keys().cloned().collect(),
            shortcuts: self.shortcuts.keys().cloned().collect(),
            flags: self.flags.keys().cloned().collect(),
            renderers: sorted(&self.renderers),
        }
    }
}

#[derive(Debug, Clone, Default, serde::Deserialize)]
pub(crate) struct Described {
    pub(crate) description: Option<String>,
    #[serde(default)]
    pub(crate) completes: bool,
}

#[derive(Debug, Clone, serde::Deserialize)]
pub(crate) struct ToolSpecs {
    pub(crate) description: String,
    /// JSON text.
    pub(crate) parameters: String,
}

#[derive(Debug, Clone, serde::Deserialize)]
pub(crate) struct FlagSpec {
    pub(crate) description: Option<String>,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) default: Option<String>,
}

/// How an extension is asked.
pub(crate) struct Asking<'a> {
    pub(crate) kind: &'static str,
    pub(crate) name: &'a str,
    /// What it is called in messages.
    pub(crate) what: String,
    /// JSON text.
    pub(crate) payload: String,
    pub(crate) abort: CancellationToken,
    /// How long it may take besides what it waits for.
    pub(crate) limit: Option<Duration>,
    pub(crate) update: Option<Arc<Update>>,
}

/// One extension.
pub(crate) struct Record {
    pub(crate) world: Arc<World>,
    pub(crate) watch: Arc<Watch>,
    pub(crate) path: PathBuf,
    jobs: Sender<Job>,
    /// Cancelled at its end.
    pub(crate) stopped: CancellationToken,
    /// Bytes on their way to JavaScript, and from there.
    pub(crate) parcels: Parcels,
    /// Programs that it runs.
    pub(crate) children: Children,
    /// Answers of servers whose bodies it may read.
    pub(crate) responses: Responses,
    identity: RwLock<Identity>,
    registered: RwLock<Registered>,
    /// Why nothing is asked of it any more.
    dead: RwLock<Option<String>>,
    told: UnboundedSender<(&'static str, Arc<AgentEvent>, u32)>,
    /// Events that were told and are not heard yet.
    untold: AtomicUsize,
    heard: Notify,
    /// Bytes that were sent over the bus and that it has not heard yet.
    bus: AtomicUsize,
}

fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

impl Record {
    /// Begins the thread of an extension; nothing is loaded yet.
    pub(crate) fn start(world: &Arc<World>, path: PathBuf) -> std::io::Result<Arc<Record>> {
        let (jobs, receiver) = channel();
        let (told, mut events) = unbounded_channel();
        let name = name_of(&path);
        let record = Arc::new(Record {
            world: Arc::clone(world),
            watch: Arc::new(Watch::new(world.options.running_time)),
            identity: RwLock::new(Identity { path: path.clone(), name, hash: String::new() }),
            path,
            jobs,
            stopped: CancellationToken::new(),
            parcels: Parcels::default(),
            children: Children::default(),
            responses: Responses::default(),
            registered: RwLock::default(),
            dead: RwLock::default(),
            told,
            untold: AtomicUsize::new(0),
            heard: Notify::new(),
            bus: AtomicUsize::new(0),
        });
        thread::start(Arc::clone(&record), receiver)?;
        world.add(&record);
        let weak = Arc::downgrade(&record);
        world.runtime.spawn(async move {
            while let Some((name, event, turn)) = events.recv().await {
                let Some(record) = weak.upgrade() else { return };
                record.hear(name, &event, turn).await;
            }
        });
        Ok(record)
    }

    pub(crate) fn name(&self) -> String {
        read(&self.identity).name.clone()
    }

    pub(crate) fn rename(&self, name: &str) {
        write(&self.identity).name = name.to_owned();
    }

    pub(crate) fn identity(&self) -> Identity {
        read(&self.identity).clone()
    }

    pub(crate) fn set_hash(&self, hash: String) {
        write(&self.identity).hash = hash;
    }

    pub(crate) fn registered<T>(&self, look: impl FnOnce(&Registered) -> T) -> T {
        look(&read(&self.registered))
    }

    /// Registers something; the texts are JSON.
    pub(crate) fn register(&self, kind: &str, name: &str, about: serde_json::Value) -> Result<(), String> {
        let wrong = |error: serde_json::Error| format!("{kind} {name}: {error}");
        let mut registered = write(&self.registered);
        let name = name.to_owned();
        match kind {
            "event" => {
                if !events::is_known(&name) {
                    let text = format!("the event {name} is not there; its handler is never called");
                    self.world.log(&self.name(), "warn", &text);
                }
                registered.events.insert(events::main_name(&name).to_owned());
                drop(registered);
                if events::is_told(&name) {
                    self.world.listen_if_wanted();
                }
            }
            "command" => {
                registered.commands.insert(name.clone(), serde_json::from_value(about).map_err(wrong)?);
            }
            "tool" => {
                if !can_be_called(&name) {
                    return Err(format!(
                        "registerTool: {name:?} cannot be the name of a tool: models call letters, digits, `_`, `-`, `.` and `:`, at most {NAME}"
                    ));
                }
                registered.tools.insert(name.clone(), serde_json::from_value(about).map_err(wrong)?);
            }
            "shortcut" => {
                registered.shortcuts.insert(name.clone(), serde_json::from_value(about).map_err(wrong)?);
            }
            "flag" => {
                registered.flags.insert(name.clone(), serde_json::from_value(about).map_err(wrong)?);
            }
            "renderer" => {
                registered.renderers.insert(name);
            }
            "entry_renderer" => {
                registered.entry_renderers.insert(name);
            }
            other => return Err(format!("{other} cannot be registered")),
        }
        Ok(())
    }

    /// Whether it has a handler for an event.
    pub(crate) fn hears(&self, event: &str) -> bool {
        read(&self.registered).events.contains(event) && read(&self.dead).is_none()
    }

    /// Whether it hears anything of what a session tells.
    pub(crate) fn wants_events(&self) -> bool {
        read(&self.registered).events.iter().any(|event| events::is_told(event))
    }

    /// Nothing is asked of it any more.
    pub(crate) fn disable(&self, why: &str) {
        write(&self.dead).get_or_insert_with(|| why.to_owned());
        self.let_go();
    }

    /// What it left with the program is over.
    fn let_go(&self) {
        self.stopped.cancel();
        self.children.forget();
    }

    pub(crate) fn dead(&self) -> Option<String> {
        read(&self.dead).clone()
    }

    pub(crate) fn send(&self, job: Job) {
        // A thread that has ended needs nothing any more.
        let _ = self.jobs.send(job);
    }

    /// Brings it something over the bus. False if it has not heard so much yet that it has no room for more.
    pub(crate) fn send_over_bus(&self, channel: &str, nodes: &str) -> bool {
        let size = bus_size(nodes);
        let room = self.world.options.memory / 32;
        if self.bus.fetch_add(size, Ordering::Relaxed).saturating_add(size) > room {
            self.bus.fetch_sub(size, Ordering::Relaxed);
            return false;
        }
        self.send(Job::Run {
            owner: Owner::new(self.world.next_id(), format!("bus {channel}"), None, None),
            kind: "bus",
            name: channel.to_owned(),
            payload: nodes.to_owned(),
        });
        true
    }

    /// It has heard something that came over the bus.
    pub(crate) fn heard_over_bus(&self, size: usize) {
        self.bus.fetch_sub(size, Ordering::Relaxed);
    }

    /// Ends its thread, and what runs there.
    pub(crate) fn stop(&self) {
        self.watch.end_all();
        self.send(Job::Stop);
        self.let_go();
    }

    /// Tells it something that happened in the session.
    pub(crate) fn forward(&self, event: &Arc<AgentEvent>, turn: u32) {
        for name in events::told(event) {
            self.forward_as(name, event, turn);
        }
    }

    fn forward_as(&self, name: &'static str, event: &Arc<AgentEvent>, turn: u32) {
        if !self.hears(name) {
            return;
        }
        let waiting = self.untold.load(Ordering::Relaxed);
        if matches!(**event, AgentEvent::MessageUpdate { .. }) && waiting >= UPDATES {
            return;
        }
        self.untold.fetch_add(1, Ordering::Relaxed);
        if self.told.send((name, Arc::clone(event), turn)).is_err() {
            self.untold.fetch_sub(1, Ordering::Relaxed);
        }
    }

    async fn hear(self: &Arc<Self>, name: &'static str, event: &AgentEvent, turn: u32) {
        let asking = Asking {
            kind: "event",
            name,
            what: name.to_owned(),
            payload: events::payload(name, event, turn),
            abort: CancellationToken::new(),
            limit: Some(self.world.options.event_time),
            update: None,
        };
        if let Err(error) = self.ask(asking).await {
            self.world.report(self, name, &error);
        }
        self.untold.fetch_sub(1, Ordering::Relaxed);
        self.heard.notify_waiters();
    }

    /// Waits until it has heard what was told so far.
    pub(crate) async fn has_heard(&self) {
        loop {
            let heard = self.heard.notified();
            if self.untold.load(Ordering::Relaxed) == 0 {
                return;
            }
            heard.await;
        }
    }

    /// Asks it for something, and waits for the answer: JSON text.
    pub(crate) async fn ask(&self, asking: Asking<'_>) -> Reply {
        if let Some(why) = self.dead() {
            return Err(why);
        }
        let (sender, mut reply) = oneshot::channel();
        let owner = Owner::new(self.world.next_id(), asking.what, Some(sender), asking.update);
        self.send(Job::Run {
            owner: Arc::clone(&owner),
            kind: asking.kind,
            name: asking.name.to_owned(),
            payload: asking.payload,
        });
        let mut asked = Asked { record: self, owner, is_over: false };
        let mut used = Duration::ZERO;
        let mut ran = None;
        let (mut lived, mut stuck) = (None, Duration::ZERO);
        let answer = loop {
            tokio::select! {
                biased;
                answer = &mut reply => break answer.unwrap_or_else(|_| Err(self.dead().unwrap_or_else(|| "the extension has ended".into()))),
                () = asking.abort.cancelled() => {
                    asked.give_up();
                    break match tokio::time::timeout(TIDY, &mut reply).await {
                        Ok(Ok(answer)) => answer,
                        _ => Err(ABORTED.into()),
                    };
                }
                () = tokio::time::sleep(TICK), if asking.limit.is_some() => {
                    // What runs has a limit of its own, in time that it really ran.
                    let runs = self.watch.running();
                    let still = runs.is_some() && runs == std::mem::replace(&mut ran, runs);
                    let life = self.watch.sign_of_life();
                    let hangs = life.is_some() && life == std::mem::replace(&mut lived, life);
                    stuck = if hangs { stuck + TICK } else { Duration::ZERO };
                    if stuck > self.world.options.running_time * STUCK {
                        let why = "what it runs cannot be stopped; it is switched off";
                        self.watch.end_all();
                        self.disable(why);
                        break Err(why.into());
                    }
                    if asked.owner.is_waiting() || still {
                        continue;
                    }
                    used += TICK;
                    if let Some(limit) = asking.limit.filter(|limit| used >= *limit) {
                        asked.give_up();
                        break Err(format!("it did not answer within {} s", limit.as_secs_f64()));
                    }
                }
            }
        };
        asked.is_over = true;
        answer
    }
}

/// What is said of something that was aborted and had no answer.
pub(crate) const ABORTED: &str = "it was aborted";

/// Something that was asked. Dropping it before it is answered gives it up.
struct Asked<'a> {
    record: &'a Record,
    owner: Arc<Owner>,
    is_over: bool,
}

impl Asked<'_> {
    /// Tells the extension that it is aborted; what spins is made to stop.
    fn give_up(&mut self) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        let (record, owner) = (self.record, &self.owner);
        record.send(Job::Abort(Arc::clone(owner)));
        // Its thread may wait for something itself, and hear of nothing else.
        owner.given_up.cancel();
        let watch = Arc::clone(&record.watch);
        let running = watch.running();
        record.world.runtime.spawn(async move {
            tokio::time::sleep(GRACE).await;
            if let Some(slice) = running {
                watch.end_slice(slice);
            }
        });
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.give_up();
    }
}

/// What something on the bus counts for: its nodes, and what is needed to bring them.
pub(crate) fn bus_size(nodes: &str) -> usize {
    nodes.len() + 256
}

/// Whether models, and whoever is asked about it, can have this name for a tool.
fn can_be_called(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte);
    (1..=NAME).contains(&name.len()) && name.bytes().all(is_plain)
}

/// What an extension is called: its file without the ending, or its folder where the file is an index.
pub fn name_of(path: &std::path::Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = path.parent().and_then(std::path::Path::file_name);
    match folder {
        Some(folder) if stem == "index" => folder.to_string_lossy().into_owned(),
        _ => stem,
    }
}

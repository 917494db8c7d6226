//! The thread of an extension: its engine, its jobs, its timers.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rquickjs::{CatchResultExt, Context, Ctx, Function, Module, Persistent, Runtime, Value};
use tokio_util::sync::CancellationToken;

use crate::bridge;
use crate::builtin;
use crate::loader::{Modules, compiled};
use crate::owner::Owner;
use crate::record::{Record, bus_size};

/// What a thread is to do.
pub(crate) enum Job {
    /// Ask the extension for something.
    Run { owner: Arc<Owner>, kind: &'static str, name: String, payload: String },
    /// Something that it waits for has come.
    Settle { owner: Arc<Owner>, id: u64, result: Result<String, String> },
    /// What was asked is not wanted any more.
    Abort(Arc<Owner>),
    /// The end.
    Stop,
}

/// Promises that may still go on after a slice was made to stop, so that what they hold is let go.
const AFTERMATH: usize = 10_000;

/// The module that an engine begins with. It imports the other one: what is compiled already can only be imported.
const START: &str = "ramal:start";
const HOST: &str = "ramal:host";

/// What the functions that JavaScript calls share with the thread.
pub(crate) struct State {
    pub(crate) record: Arc<Record>,
    pub(crate) modules: Modules,
    /// Whose work is done now.
    pub(crate) owner: RefCell<Arc<Owner>>,
    /// What was asked and is not answered.
    pub(crate) asked: RefCell<HashMap<u64, Arc<Owner>>>,
    /// What JavaScript waits for, and how it is ended.
    pub(crate) waits: RefCell<HashMap<u64, CancellationToken>>,
    /// Promises that were rejected while nobody was there to hear of it, and why.
    rejected: RefCell<Vec<(Persistent<Value<'static>>, Persistent<Value<'static>>)>>,
    due: RefCell<BTreeSet<(Instant, u64)>>,
    timers: RefCell<HashMap<u64, (Instant, Arc<Owner>)>>,
    ids: Cell<u64>,
}

impl State {
    pub(crate) fn next_id(&self) -> u64 {
        self.ids.set(self.ids.get() + 1);
        self.ids.get()
    }

    pub(crate) fn owner(&self) -> Arc<Owner> {
        Arc::clone(&self.owner.borrow())
    }

    pub(crate) fn set_timer(&self, id: u64, milliseconds: f64) {
        // Longer than a year is never.
        let after = Duration::from_secs_f64((milliseconds / 1000.0).clamp(0.0, 3e7));
        let at = Instant::now() + after;
        self.drop_timer(id);
        self.due.borrow_mut().insert((at, id));
        self.timers.borrow_mut().insert(id, (at, self.owner()));
    }

    pub(crate) fn drop_timer(&self, id: u64) {
        if let Some((at, _)) = self.timers.borrow_mut().remove(&id) {
            self.due.borrow_mut().remove(&(at, id));
        }
    }

    /// A promise was rejected, or somebody cares about one that was.
    fn note_rejection<'js>(&self, ctx: &Ctx<'js>, promise: Value<'js>, reason: Value<'js>, is_handled: bool) {
        let mut rejected = self.rejected.borrow_mut();
        if !is_handled {
            rejected.push((Persistent::save(ctx, promise), Persistent::save(ctx, reason)));
            return;
        }
        rejected.retain(|(known, _)| known.clone().restore(ctx).is_ok_and(|known| known != promise));
    }

    /// The timer that is due, or how long it is until one is.
    fn next_timer(&self) -> Result<(u64, Arc<Owner>), Option<Duration>> {
        let Some((at, id)) = self.due.borrow().first().copied() else { return Err(None) };
        let wait = at.saturating_duration_since(Instant::now());
        if !wait.is_zero() {
            return Err(Some(wait));
        }
        self.due.borrow_mut().pop_first();
        let owner = self.timers.borrow_mut().remove(&id).map(|(_, owner)| owner);
        owner.map(|owner| (id, owner)).ok_or(Some(Duration::ZERO))
    }
}

/// What the host module gives to be called.
struct Calls {
    run: Persistent<Function<'static>>,
    settle: Persistent<Function<'static>>,
    fire: Persistent<Function<'static>>,
    abort: Persistent<Function<'static>>,
    describe: Persistent<Function<'static>>,
}

impl Calls {
    fn of(ctx: &Ctx<'_>, state: &Rc<State>) -> rquickjs::Result<Calls> {
        bridge::install(ctx, state)?;
        let _first = compiled::one_first(HOST);
        let (name, source) = builtin::find(START).ok_or(rquickjs::Error::Unknown)?;
        let (module, done) = Module::declare(ctx.clone(), name, source)?.eval()?;
        done.finish::<()>()?;
        let host = module.namespace()?;
        let get =
            |name: &str| rquickjs::Result::Ok(Persistent::save(ctx, host.get::<_, Function<'_>>(name)?));
        Ok(Calls {
            run: get("run")?,
            settle: get("settle")?,
            fire: get("fire")?,
            abort: get("abort")?,
            describe: get("describe")?,
        })
    }
}

/// In the order in which its parts can be let go.
struct Engine {
    calls: Calls,
    context: Context,
    runtime: Runtime,
    state: Rc<State>,
}

/// Begins a thread that does the jobs of an extension.
pub(crate) fn start(record: Arc<Record>, jobs: Receiver<Job>) -> std::io::Result<()> {
    let name = format!("extension {}", record.name());
    // The engine's own limit has to be met before the thread's end.
    let stack = record.world.options.stack.saturating_mul(2).max(2 << 20);
    let thread = std::thread::Builder::new().name(name).stack_size(stack);
    thread.spawn(move || {
        let runtime = record.world.runtime.clone();
        // What is started from here runs on the threads of the program.
        let _within = runtime.enter();
        match Engine::new(&record) {
            Ok(engine) => engine.work(&jobs),
            Err(error) => {
                record.disable(&format!("the engine could not be started: {error}"));
                fail_all(&record, &jobs);
            }
        }
    })?;
    Ok(())
}

/// Whoever asks something of an extension that is dead is told so.
fn fail_all(record: &Record, jobs: &Receiver<Job>) {
    let why = record.dead().unwrap_or_default();
    while let Ok(job) = jobs.recv() {
        match job {
            Job::Run { owner, .. } => drop(owner.answer(Err(why.clone()))),
            Job::Stop => return,
            Job::Settle { .. } | Job::Abort(_) => {}
        }
    }
}

impl Engine {
    fn new(record: &Arc<Record>) -> Result<Engine, String> {
        let failed = |error: rquickjs::Error| error.to_string();
        let options = &record.world.options;
        let runtime = Runtime::new().map_err(failed)?;
        runtime.set_memory_limit(options.memory);
        runtime.set_max_stack_size(options.stack);
        let watch = Arc::clone(&record.watch);
        runtime.set_interrupt_handler(Some(Box::new(move || watch.stops())));
        let modules = Modules::default();
        modules.set_root(&record.path);
        runtime.set_loader(modules.clone(), modules.clone());
        let context = Context::full(&runtime).map_err(failed)?;
        let state = Rc::new(State {
            record: Arc::clone(record),
            modules,
            owner: RefCell::new(Owner::new(0, "load".into(), None, None)),
            asked: RefCell::default(),
            waits: RefCell::default(),
            rejected: RefCell::default(),
            due: RefCell::default(),
            timers: RefCell::default(),
            ids: Cell::new(0),
        });
        let own = Rc::downgrade(&state);
        runtime.set_host_promise_rejection_tracker(Some(Box::new(
            move |ctx, promise, reason, is_handled| {
                if let Some(state) = own.upgrade() {
                    state.note_rejection(&ctx, promise, reason, is_handled);
                }
            },
        )));
        let calls =
            context.with(|ctx| Calls::of(&ctx, &state).catch(&ctx).map_err(|error| error.to_string()))?;
        Ok(Engine { runtime, context, calls, state })
    }

    fn work(&self, jobs: &Receiver<Job>) {
        loop {
            let job = match self.state.next_timer() {
                Ok((id, owner)) => {
                    self.slice(&owner, |ctx| self.calls.fire.clone().restore(ctx)?.call((id,)));
                    // Jobs are not held up by timers that are always due.
                    jobs.try_recv().ok()
                }
                Err(None) => jobs.recv().ok().or(Some(Job::Stop)),
                Err(Some(wait)) => match jobs.recv_timeout(wait) {
                    Ok(job) => Some(job),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => Some(Job::Stop),
                },
            };
            match job {
                None => {}
                Some(Job::Stop) => break,
                Some(job) => self.do_job(job),
            }
            if self.state.record.dead().is_some() {
                break;
            }
        }
        for wait in self.state.waits.borrow().values() {
            wait.cancel();
        }
        let why = self.state.record.dead().unwrap_or_else(|| "the extension has ended".into());
        self.state.record.disable(&why);
        for (_, owner) in self.state.asked.borrow_mut().drain() {
            owner.answer(Err(why.clone()));
        }
        while let Ok(job) = jobs.try_recv() {
            if let Job::Run { owner, .. } = job {
                owner.answer(Err(why.clone()));
            }
        }
    }

    fn do_job(&self, job: Job) {
        match job {
            Job::Run { owner, kind, name, payload } => {
                if owner.given_up.is_cancelled() {
                    return;
                }
                self.state.asked.borrow_mut().insert(owner.id, Arc::clone(&owner));
                let over_bus = (kind == "bus").then(|| bus_size(&payload));
                self.slice(&owner, |ctx| {
                    self.calls.run.clone().restore(ctx)?.call((owner.id, kind, name, payload))
                });
                if let Some(size) = over_bus {
                    self.state.record.heard_over_bus(size);
                }
            }
            Job::Settle { owner, id, result } => {
                self.state.waits.borrow_mut().remove(&id);
                let (ok, text) = match result {
                    Ok(text) => (true, text),
                    Err(text) => (false, text),
                };
                self.slice(&owner, |ctx| self.calls.settle.clone().restore(ctx)?.call((id, ok, text)));
            }
            Job::Abort(owner) => {
                owner.given_up.cancel();
                self.slice(&owner, |ctx| self.calls.abort.clone().restore(ctx)?.call((owner.id,)));
            }
            Job::Stop => {}
        }
    }

    /// Runs JavaScript on behalf of an owner, and all promises that go on because of it.
    fn slice(&self, owner: &Arc<Owner>, work: impl FnOnce(&Ctx<'_>) -> rquickjs::Result<()>) {
        let watch = &self.state.record.watch;
        self.state.owner.replace(Arc::clone(owner));
        watch.begin();
        let mut failed = self.context.with(|ctx| {
            let done = work(&ctx);
            done.catch(&ctx).err().map(|error| bridge::told(&self.state, &error))
        });
        let mut after = 0;
        let mut is_endless = false;
        loop {
            match self.runtime.execute_pending_job() {
                Ok(false) => break,
                Ok(true) => {}
                Err(exception) => {
                    let said = exception.0.with(|ctx| {
                        let error = rquickjs::CaughtError::from_error(&ctx, rquickjs::Error::Exception);
                        bridge::told(&self.state, &error)
                    });
                    failed.get_or_insert(said);
                }
            }
            if watch.stops() {
                after += 1;
                if after > AFTERMATH {
                    is_endless = true;
                    break;
                }
            }
        }
        let unheard = self.unheard(owner);
        let (was_over, was_ended) = (watch.is_over(), watch.was_ended());
        watch.end();
        if was_over {
            self.was_stopped(owner, was_ended);
        } else if let Some(error) = failed {
            self.failed(owner, &error);
        }
        for error in unheard.iter().filter(|_| !was_over) {
            self.failed(owner, &format!("a promise was rejected that nobody handles: {error}"));
        }
        if is_endless {
            self.die("what it does without end could not be stopped otherwise");
        }
        self.look_at_memory();
    }

    /// Why promises were rejected that nobody has cared about until now. That what was aborted fails is
    /// no news.
    fn unheard(&self, owner: &Arc<Owner>) -> Vec<String> {
        let rejected = self.state.rejected.take();
        if rejected.is_empty() || owner.given_up.is_cancelled() {
            return Vec::new();
        }
        self.context.with(|ctx| {
            let told = rejected.into_iter().map(|(_, reason)| {
                let describe = self.calls.describe.clone().restore(&ctx)?;
                describe.call::<_, String>((reason.restore(&ctx)?,))
            });
            // What cannot even be described has brought its thread to its end already.
            told.filter_map(Result::ok).collect()
        })
    }

    fn was_stopped(&self, owner: &Arc<Owner>, was_ended: bool) {
        let record = &self.state.record;
        let limit = record.world.options.running_time.as_secs_f64();
        let why = match was_ended {
            true => "it was aborted while it ran".to_owned(),
            false => format!("it ran for more than {limit} s without a pause and was stopped"),
        };
        self.state.asked.borrow_mut().remove(&owner.id);
        if !owner.answer(Err(why.clone())) && !was_ended {
            record.world.report(record, &owner.what, &why);
        }
    }

    /// Something was thrown that nobody caught: by a timer, say.
    fn failed(&self, owner: &Arc<Owner>, error: &str) {
        let record = &self.state.record;
        record.world.report(record, &owner.what, error);
    }

    /// An extension that has used up its memory cannot even be told so.
    fn look_at_memory(&self) {
        let limit = self.state.record.world.options.memory;
        if !bridge::take_out_of_memory() {
            return;
        }
        self.runtime.run_gc();
        let used = usize::try_from(self.runtime.memory_usage().malloc_size).unwrap_or(usize::MAX);
        if used > limit / 4 * 3 {
            self.die(&format!("it holds more than {} MB of memory", limit >> 20));
        }
    }

    fn die(&self, why: &str) {
        let record = &self.state.record;
        let why = format!("{why}; it is switched off");
        let what = self.state.owner().what.clone();
        record.disable(&why);
        record.world.report(record, &what, &why);
    }
}

//! The functions that JavaScript can call, and what it says of errors.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use rquickjs::{CaughtError, Ctx, Exception, Function, IntoJs, Object, TypedArray, Value};

use tokio_util::sync::CancellationToken;

use crate::builtin;
use crate::bytes;
use crate::loader::Modules;
use crate::natives::{self, Call};
use crate::thread::{Job, State};

/// How long it may take to end what is cancelled.
const TIDY: Duration = Duration::from_millis(250);

thread_local! {
    static OUT_OF_MEMORY: Cell<bool> = const { Cell::new(false) };
}

/// Whether memory ran out since this was asked.
pub(crate) fn take_out_of_memory() -> bool {
    OUT_OF_MEMORY.take()
}

/// Puts the functions where `ramal:native` takes them from.
pub(crate) fn install<'js>(ctx: &Ctx<'js>, state: &Rc<State>) -> rquickjs::Result<()> {
    let given = Object::new(ctx.clone())?;
    let with = || Rc::clone(state);
    let function = |name: &str, function: Function<'js>| given.set(name, function);

    let own = with();
    function(
        "quick",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, op: String, args: String| {
            let done = own.record.watch.outside(|| natives::quick(&call(&own), &op, &args));
            done.map_err(|why| Exception::throw_message(&ctx, &why))
        })?,
    )?;
    let own = with();
    function(
        "slow",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, op: String, args: String| {
            slow(&own, &op, &args).map_err(|why| Exception::throw_message(&ctx, &why))
        })?,
    )?;
    let own = with();
    function(
        "cancel",
        Function::new(ctx.clone(), move |id: u64| {
            if let Some(wait) = own.waits.borrow().get(&id) {
                wait.cancel();
            }
        })?,
    )?;
    let own = with();
    function(
        "timer",
        Function::new(ctx.clone(), move |milliseconds: f64| {
            let id = own.next_id();
            own.set_timer(id, milliseconds);
            id
        })?,
    )?;
    let own = with();
    function("timerAgain", Function::new(ctx.clone(), move |id: u64, ms: f64| own.set_timer(id, ms))?)?;
    let own = with();
    function("untimer", Function::new(ctx.clone(), move |id: u64| own.drop_timer(id))?)?;
    let own = with();
    function(
        "done",
        Function::new(ctx.clone(), move |id: u64, ok: bool, text: String| {
            let Some(owner) = own.asked.borrow_mut().remove(&id) else { return };
            note_hash(&own);
            owner.answer(if ok { Ok(text) } else { Err(text) });
        })?,
    )?;
    let own = with();
    function(
        "update",
        Function::new(ctx.clone(), move |id: u64, json: String| {
            let update = own.asked.borrow().get(&id).and_then(|owner| owner.update.clone());
            if let (Some(update), Ok(text)) = (update, serde_json::from_str(&json)) {
                update(text);
            }
        })?,
    )?;
    let own = with();
    function(
        "place",
        Function::new(ctx.clone(), move |message: String, stack: String| placed(&own, &message, &stack))?,
    )?;
    let own = with();
    function(
        "log",
        Function::new(ctx.clone(), move |level: String, text: String| {
            own.record.world.log(&own.record.name(), &level, &text);
        })?,
    )?;
    function(
        "toBytes",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, text: String| TypedArray::<u8>::new_copy(ctx, text))?,
    )?;
    let own = with();
    function(
        "put",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, bytes: TypedArray<'js, u8>| {
            // SAFETY: as in `to_text`.
            let bytes = unsafe { bytes.as_bytes() }.unwrap_or_default().to_vec();
            let record = &own.record;
            let put = record.parcels.put(bytes, record.world.options.memory);
            put.map_err(|why| Exception::throw_range(&ctx, &why))
        })?,
    )?;
    let own = with();
    function(
        "take",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, id: u64| {
            // Copied, so that they count as memory of the extension.
            TypedArray::<u8>::new_copy(ctx, own.record.parcels.take(id).unwrap_or_default())
        })?,
    )?;
    function(
        "encode",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, text: String, encoding: String| {
            let made = bytes::encode(&text, &encoding);
            TypedArray::<u8>::new_copy(ctx.clone(), made.map_err(|why| Exception::throw_type(&ctx, &why))?)
        })?,
    )?;
    function(
        "decode",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, bytes: TypedArray<'js, u8>, encoding: String| {
            // SAFETY: as in `to_text`.
            let bytes = unsafe { bytes.as_bytes() }.unwrap_or_default();
            bytes::decode(bytes, &encoding).map_err(|why| Exception::throw_type(&ctx, &why))
        })?,
    )?;
    function("toText", Function::new(ctx.clone(), to_text)?)?;
    let own = with();
    function(
        "resolve",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, base: String, name: String| {
            own.modules.required(&base, &name).map_err(|why| Exception::throw_message(&ctx, &why))
        })?,
    )?;
    let own = with();
    function("isCommonjs", Function::new(ctx.clone(), move |name: String| own.modules.is_commonjs(&name))?)?;
    let own = with();
    function(
        "commonjs",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, name: String| own.modules.commonjs(&ctx, &name))?,
    )?;
    function(
        "namespace",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, name: String| Modules::namespace(&ctx, &name))?,
    )?;
    function(
        "isBuiltin",
        Function::new(ctx.clone(), |name: String| {
            builtin::find(&name).is_some_and(|(name, _)| name.starts_with("node:"))
        })?,
    )?;
    ctx.globals().set("__ramal", given)?;
    let began = Instant::now();
    let performance = Object::new(ctx.clone())?;
    performance.set("now", Function::new(ctx.clone(), move || began.elapsed().as_secs_f64() * 1000.0)?)?;
    performance.set("timeOrigin", ramal_session::time::now() as f64)?;
    ctx.globals().set("performance", performance)
}

fn to_text<'js>(ctx: Ctx<'js>, bytes: TypedArray<'js, u8>, is_strict: bool) -> rquickjs::Result<Value<'js>> {
    // SAFETY: nothing runs that could change the bytes or let them go before they are copied below.
    let bytes = unsafe { bytes.as_bytes() }.unwrap_or_default();
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into_js(&ctx),
        Err(_) if is_strict => Ok(Value::new_null(ctx)),
        Err(_) => String::from_utf8_lossy(bytes).into_js(&ctx),
    }
}

/// What an extension is allowed is remembered for all that it is made of until then.
fn note_hash(state: &State) {
    if let Some(hash) = state.modules.new_hash() {
        state.record.set_hash(hash);
    }
}

fn call(state: &Rc<State>) -> Call {
    note_hash(state);
    Call { record: Arc::clone(&state.record), owner: state.owner() }
}

/// Begins something that takes its time. What comes of it comes as a job.
fn slow(state: &Rc<State>, op: &str, args: &str) -> Result<u64, String> {
    let call = call(state);
    let owner = Arc::clone(&call.owner);
    let record = Arc::clone(&state.record);
    let cancel = owner.given_up.child_token();
    let work = natives::slow(call, op, args, cancel.clone())?;
    let id = state.next_id();
    state.waits.borrow_mut().insert(id, cancel.clone());
    let within = owner.within();
    let waits = owner.wait();
    let runtime = record.world.runtime.clone();
    let mut begun = Box::pin(async move {
        let work = async {
            tokio::select! {
                biased;
                result = work => result,
                () = ended_by_force(&cancel) => Err("it was aborted".to_owned()),
            }
        };
        let result = match within {
            Some(within) => within.scope(work).await,
            None => work.await,
        };
        record.send(Job::Settle { owner, id, result });
        drop(waits);
    });
    // It has begun when JavaScript goes on: whoever waits until nothing runs finds it.
    let _in_runtime = runtime.enter();
    let first = || begun.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    if state.record.watch.outside(first).is_pending() {
        runtime.spawn(begun);
    }
    Ok(id)
}

/// What is cancelled may end by itself, and say what it has so far.
async fn ended_by_force(cancel: &CancellationToken) {
    cancel.cancelled().await;
    tokio::time::sleep(TIDY).await;
}

/// What an error says that came out of JavaScript.
pub(crate) fn told(state: &State, error: &CaughtError<'_>) -> String {
    let text = match error {
        CaughtError::Exception(exception) => {
            let name = exception.as_object().get::<_, String>("name").unwrap_or_else(|_| "Error".into());
            let message = exception.message().unwrap_or_default();
            placed(state, &format!("{name}: {message}"), &exception.stack().unwrap_or_default())
        }
        other => other.to_string(),
    };
    if text.contains("out of memory") {
        OUT_OF_MEMORY.set(true);
    }
    text
}

/// An error with the place in the source where it was made: the first line of the stack that is in a file.
fn placed(state: &State, message: &str, stack: &str) -> String {
    if message.contains("out of memory") {
        OUT_OF_MEMORY.set(true);
    }
    let place = stack.lines().find_map(|line| {
        let line = line.trim().trim_end_matches(')');
        let (rest, column) = line.rsplit_once(':')?;
        let (rest, number) = rest.rsplit_once(':')?;
        let (number, column) = (number.parse().ok()?, column.parse().ok()?);
        let start = rest.find("(/").map(|at| at + 1).or_else(|| rest.find('/'))?;
        let file = rest.get(start..)?;
        let (line, column) = state.modules.source_of(file, number, column)?;
        Some(format!("{file}:{line}:{column}"))
    });
    match place {
        Some(place) => format!("{message} ({place})"),
        None => message.to_owned(),
    }
}

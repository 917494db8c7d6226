//! What extensions can have done: small functions over JSON, each with a name. A function is quick, and is
//! waited for on the extension's thread, or slow, and answers later. Other modules add rows to a table.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use ramal_agent::AgentSession;
use ramal_session::SessionManager;
use ramal_session::json::quote;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::owner::Owner;
use crate::permit::Wish;
use crate::record::Record;

mod about;
pub(crate) mod child;
mod crypto;
mod exec;
pub(crate) mod fetch;
mod fs;
mod models;
mod moves;
mod register;
mod run;
mod say;
mod session;
mod tools;
mod ui;
mod web;

pub(crate) use models::model;

/// Who calls.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) record: Arc<Record>,
    pub(crate) owner: Arc<Owner>,
}

/// An answer: JSON text, or what is thrown.
type Answer = Result<String, String>;

/// An answer that comes later.
type Later = Pin<Box<dyn Future<Output = Answer> + Send>>;

type Quick = fn(&Call, &Args) -> Answer;
type Slow = fn(Call, Args, CancellationToken) -> Later;

enum Op {
    Quick(Quick),
    Slow(Slow),
}

const TABLES: [&[(&str, Op)]; 14] = [
    about::OPS,
    child::OPS,
    crypto::OPS,
    exec::OPS,
    fetch::OPS,
    fs::OPS,
    models::OPS,
    moves::OPS,
    register::OPS,
    say::OPS,
    session::OPS,
    tools::OPS,
    ui::OPS,
    web::OPS,
];

fn find(name: &str) -> Result<&'static Op, String> {
    let mut all = TABLES.iter().flat_map(|table| table.iter());
    all.find(|(known, _)| *known == name).map(|(_, op)| op).ok_or_else(|| format!("there is no {name}"))
}

/// Does something at once. The arguments are a JSON array.
pub(crate) fn quick(call: &Call, name: &str, args: &str) -> Answer {
    match find(name)? {
        Op::Quick(op) => op(call, &Args::read(args)?),
        Op::Slow(_) => Err(format!("{name} takes its time")),
    }
}

/// Begins something. It is dropped when `cancel` is cancelled.
pub(crate) fn slow(call: Call, name: &str, args: &str, cancel: CancellationToken) -> Result<Later, String> {
    match find(name)? {
        Op::Slow(op) => Ok(op(call, Args::read(args)?, cancel)),
        Op::Quick(_) => Err(format!("{name} is done at once")),
    }
}

/// The arguments of a call.
#[derive(Debug)]
struct Args(Vec<Value>);

impl Args {
    fn read(json: &str) -> Result<Args, String> {
        serde_json::from_str(json).map(Args).map_err(|error| error.to_string())
    }

    fn at(&self, index: usize) -> &Value {
        self.0.get(index).unwrap_or(&Value::Null)
    }

    fn text(&self, index: usize) -> Result<&str, String> {
        self.text_if(index).ok_or_else(|| format!("argument {} must be a string", index + 1))
    }

    fn text_if(&self, index: usize) -> Option<&str> {
        self.at(index).as_str()
    }

    fn flag(&self, index: usize) -> bool {
        self.at(index).as_bool().unwrap_or(false)
    }

    /// Texts of an array.
    fn texts(&self, index: usize) -> Vec<String> {
        let items = self.at(index).as_array().into_iter().flatten();
        items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
    }
}

/// A text or null.
fn text_or_null(text: Option<&str>) -> String {
    text.map_or_else(|| "null".into(), quote)
}

fn nothing() -> Answer {
    Ok("null".into())
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl Call {
    /// The session at work.
    fn session(&self) -> Result<AgentSession, String> {
        let world = &self.record.world;
        world.session().ok_or_else(|| match world.has_ended() {
            true => "this context belongs to an extension that has ended: the extensions were loaded anew, or the program ends; use the context that a handler gets then".into(),
            false => "there is no session yet: use this in a handler, not while the extension is loaded".into(),
        })
    }

    /// Looks at the session whose id is given, or at whichever is there where that is null.
    fn with<T>(
        &self,
        id: &Value,
        look: impl FnOnce(&mut SessionManager) -> Result<T, String>,
    ) -> Result<T, String> {
        self.session()?.with_session(|manager| {
            must_be(manager, id)?;
            look(manager)
        })
    }

    /// The session at work, if it is the one whose id is given.
    fn session_of(&self, id: &Value) -> Result<AgentSession, String> {
        let session = self.session()?;
        session.with_session(|manager| must_be(manager, id))?;
        Ok(session)
    }

    /// The directory of the session, or of the program as long as there is none.
    fn cwd(&self) -> PathBuf {
        let world = &self.record.world;
        world.session().map_or_else(|| world.options.cwd.clone(), |session| session.cwd())
    }

    /// Bytes that the extension may hold.
    fn memory(&self) -> usize {
        self.record.world.options.memory
    }

    /// Bytes that JavaScript has put there for this call.
    fn parcel(&self, id: &Value) -> Result<Vec<u8>, String> {
        let found = id.as_u64().and_then(|id| self.record.parcels.take(id));
        found.ok_or_else(|| "the bytes are not there".into())
    }

    /// Puts bytes where JavaScript fetches them: their number.
    fn put(&self, bytes: Vec<u8>) -> Result<u64, String> {
        self.record.parcels.put(bytes, self.memory())
    }

    /// Waits for something on the extension's thread. That it waits does not count as running; Escape, and
    /// the end of the extension, end it.
    fn at_once<T>(&self, work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
        let (given_up, stopped) = (self.owner.given_up.clone(), self.record.stopped.clone());
        let _waits = self.owner.wait();
        self.record.world.runtime.block_on(async {
            tokio::select! {
                biased;
                () = given_up.cancelled() => Err("it was aborted".into()),
                () = stopped.cancelled() => Err("the extension has ended".into()),
                done = work => done,
            }
        })
    }

    /// Asks whether the extension may do something.
    pub(crate) fn may_at_once(&self, wish: &Wish) -> Result<(), String> {
        self.at_once(self.may(wish))
    }

    /// As [`Call::may_at_once`], without holding up the extension's thread.
    pub(crate) async fn may(&self, wish: &Wish) -> Result<(), String> {
        let identity = self.record.identity();
        match self.record.world.options.permits.may(&identity, wish).await {
            true => Ok(()),
            false => Err(format!("the extension {} is not allowed to {wish}", identity.name)),
        }
    }
}

/// A context belongs to one session. When that was left, it says so.
fn must_be(manager: &SessionManager, id: &Value) -> Result<(), String> {
    let now = manager.get_session_id();
    match id.as_str() {
        Some(id) if id != now => Err(format!(
            "this context belongs to the session {id}, which was left: the session is {now} now{}; use the context that the handler of the event gets",
            manager.get_session_file().map(|file| format!(" ({})", file.display())).unwrap_or_default()
        )),
        _ => Ok(()),
    }
}

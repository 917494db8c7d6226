//! Files, for `node:fs`. What is asked for is resolved to a path without links, that path is allowed or not,
//! and on that path it is done.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use self::error::FsError;
use self::place::{Access, Last, is_free, resolve};
use self::work::{Done, Means};
use super::{Answer, Args, Call, Op, said};
use crate::permit::Wish;

mod error;
mod open;
mod place;
mod work;

pub(super) const OPS: &[(&str, Op)] = &[
    ("fs", Op::Quick(at_once)),
    ("fs.later", Op::Slow(|call, args, abort| Box::pin(later(call, args, abort)))),
    ("fs.changed", Op::Slow(|call, args, _| Box::pin(changed(call, args)))),
];

/// How often a file that is watched is looked at.
const LOOK: Duration = Duration::from_millis(250);

/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    Read,
    Write,
    Truncate,
    Stat,
    Lstat,
    Access,
    List,
    MakeDir,
    Remove,
    Unlink,
    RemoveDir,
    Rename,
    Copy,
    RealPath,
    MakeTemp,
    Chmod,
    Link,
    ReadLink,
    Times,
}

/// What each is called, what errors call it, whether the last part of the path is followed, and what it does
/// to the file.
const DOINGS: [(&str, &str, Doing, Last, Access); 19] = [
    ("readFile", "open", Doing::Read, Last::Follow, Access::Read),
    ("writeFile", "open", Doing::Write, Last::Follow, Access::Write),
    ("truncate", "open", Doing::Truncate, Last::Follow, Access::Write),
    ("stat", "stat", Doing::Stat, Last::Follow, Access::Read),
    ("lstat", "lstat", Doing::Lstat, Last::Keep, Access::Read),
    ("access", "access", Doing::Access, Last::Follow, Access::Read),
    ("readdir", "scandir", Doing::List, Last::Follow, Access::Read),
    ("mkdir", "mkdir", Doing::MakeDir, Last::Follow, Access::Write),
    ("rm", "rm", Doing::Remove, Last::Keep, Access::Write),
    ("unlink", "unlink", Doing::Unlink, Last::Keep, Access::Write),
    ("rmdir", "rmdir", Doing::RemoveDir, Last::Keep, Access::Write),
    ("rename", "rename", Doing::Rename, Last::Keep, Access::Write),
    ("copyFile", "copyfile", Doing::Copy, Last::Follow, Access::Read),
    ("realpath", "realpath", Doing::RealPath, Last::Follow, Access::Read),
    ("mkdtemp", "mkdtemp", Doing::MakeTemp, Last::Keep, Access::Write),
    ("chmod", "chmod", Doing::Chmod, Last::Follow, Access::Write),
    ("symlink", "symlink", Doing::Link, Last::Keep, Access::Write),
    ("readlink", "readlink", Doing::ReadLink, Last::Keep, Access::Read),
    ("utimes", "utime", Doing::Times, Last::Follow, Access::Write),
];

/// What was asked for, as it was asked.
struct Order {
    doing: Doing,
    syscall: &'static str,
    last: Last,
    access: Access,
    path: String,
    dest: Option<String>,
    options: Value,
    bytes: Vec<u8>,
}

/// The same with paths that hold no link.
struct Placed {
    doing: Doing,
    path: PathBuf,
    dest: Option<PathBuf>,
    options: Value,
    bytes: Vec<u8>,
    wishes: Vec<Wish>,
}

impl Order {
    fn read(call: &Call, args: &Args) -> Result<Order, String> {
        let name = args.text(0)?;
        let found = DOINGS.iter().find(|(known, ..)| *known == name);
        let (_, syscall, doing, last, access) = *found.ok_or_else(|| format!("there is no {name}"))?;
        let options = args.at(2).clone();
        let bytes = args.at(3).as_u64().and_then(|id| call.record.parcels.take(id)).unwrap_or_default();
        let dest = options.get("dest").and_then(Value::as_str).map(str::to_owned);
        Ok(Order { doing, syscall, last, access, path: args.text(1)?.to_owned(), dest, options, bytes })
    }

    /// Where it is to be done, and what must be allowed for that.
    fn place(&mut self, call: &Call) -> Result<Placed, FsError> {
        let cwd = call.cwd();
        let path = resolve(&cwd.join(&self.path), self.last)?;
        let dest = match &self.dest {
            Some(dest) => Some(resolve(&cwd.join(dest), self.last)?),
            None => None,
        };
        let log = log_of(call);
        let of_dest = dest.as_ref().map(|dest| (dest, Access::Write));
        let mut wishes = Vec::new();
        for (path, access) in [(&path, self.access)].into_iter().chain(of_dest) {
            let is_log = log.as_ref().is_some_and(|log| log.starts_with(path) || is_same(log, path));
            match access {
                Access::Write if is_log => return Err(log_is_not_written()),
                Access::Read if is_log && log.as_ref() == Some(path) => {}
                _ if is_free(call, path, access) => {}
                Access::Read => wishes.push(Wish::Read(path.clone())),
                Access::Write => wishes.push(Wish::Write(path.clone())),
            }
        }
        let (options, bytes) = (std::mem::take(&mut self.options), std::mem::take(&mut self.bytes));
        Ok(Placed { doing: self.doing, path, dest, options, bytes, wishes })
    }

    fn told(&self, call: &Call, done: Result<Done, FsError>) -> Answer {
        let told = match done {
            Ok(Done::Json(value)) => json!({ "is": value }),
            Ok(Done::Bytes(bytes)) => {
                json!({ "bytes": call.record.parcels.put(bytes, call.memory())? })
            }
            Err(error) => json!({ "error": error.told(self.syscall, &self.path, self.dest.as_deref()) }),
        };
        Ok(told.to_string())
    }
}

/// The log of the session at work.
fn log_of(call: &Call) -> Option<PathBuf> {
    let session = call.record.world.session()?;
    let log = session.with_session(|manager| manager.get_session_file().map(Path::to_owned))?;
    resolve(&log, Last::Follow).ok()
}

/// The log belongs to the session: what is written there goes through it.
fn log_is_not_written() -> FsError {
    let why =
        "the log of the session at work is not written by extensions; pi.appendEntry keeps something in it";
    FsError::new("EPERM", -1, why)
}

/// Whether two paths are names of the same file.
#[cfg(unix)]
fn is_same(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |path| std::fs::symlink_metadata(path).ok().map(|about| (about.dev(), about.ino()));
    id(one).is_some() && id(one) == id(other)
}

#[cfg(not(unix))]
fn is_same(one: &Path, other: &Path) -> bool {
    one == other
}

fn refused(why: String) -> FsError {
    match why.contains("not allowed") {
        true => FsError::new("EACCES", -13, format!("permission denied: {why}")),
        false => FsError::new("ABORT_ERR", -125, why),
    }
}

fn at_once(call: &Call, args: &Args) -> Answer {
    let mut order = Order::read(call, args)?;
    let means = Means { limit: call.memory(), abort: call.owner.given_up.clone() };
    let done = order.place(call).and_then(|placed| {
        for wish in &placed.wishes {
            call.may_at_once(wish).map_err(refused)?;
        }
        work::work(placed, &means)
    });
    order.told(call, done)
}

async fn later(call: Call, args: Args, abort: CancellationToken) -> Answer {
    let mut order = Order::read(&call, &args)?;
    let done = do_later(&call, &mut order, abort).await;
    order.told(&call, done)
}

async fn do_later(call: &Call, order: &mut Order, abort: CancellationToken) -> Result<Done, FsError> {
    let placed = order.place(call)?;
    for wish in &placed.wishes {
        call.may(wish).await.map_err(refused)?;
    }
    let means = Means { limit: call.memory(), abort };
    let working = tokio::task::spawn_blocking(move || work::work(placed, &means));
    working.await.map_err(|error| FsError::new("EIO", -5, error.to_string()))?
}

/// Waits until a file, or a folder, is another than it was when `args[1]` was told of it.
async fn changed(call: Call, args: Args) -> Answer {
    let path = resolve(&call.cwd().join(args.text(0)?), Last::Follow).map_err(said)?;
    if !is_free(&call, &path, Access::Read) {
        call.may(&Wish::Read(path.clone())).await?;
    }
    let before = args.text(1)?.to_owned();
    loop {
        let looked = path.clone();
        let looking = tokio::task::spawn_blocking(move || std::fs::symlink_metadata(looked));
        // One that is not there has none.
        let now = looking.await.map_err(said)?.map(|about| work::stamp(&about)).unwrap_or_default();
        if now != before {
            return Ok(json!(now).to_string());
        }
        tokio::time::sleep(LOOK).await;
    }
}

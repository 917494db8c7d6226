//! Modules of ours, compiled once: an engine takes what another has compiled, which costs a fraction of it.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rquickjs::module::Declared;
use rquickjs::{Ctx, Module, Result, WriteOptions};

use crate::builtin::ALL;

static COMPILED: [OnceLock<Vec<u8>>; ALL.len()] = [const { OnceLock::new() }; ALL.len()];

/// Held by the engine that compiles what all need.
static FIRST: Mutex<()> = Mutex::new(());

/// Lets one engine after the other set itself up as long as nothing is compiled: ten that begin at once would
/// compile ten times.
pub(crate) fn one_first(name: &str) -> Option<MutexGuard<'static, ()>> {
    let is_compiled = || place(name).is_none_or(|(at, _)| at.get().is_some());
    let first = (!is_compiled()).then(|| FIRST.lock().unwrap_or_else(PoisonError::into_inner));
    first.filter(|_| !is_compiled())
}

fn place(name: &str) -> Option<(&'static OnceLock<Vec<u8>>, &'static str)> {
    let at = ALL.iter().position(|module| module.names.contains(&name))?;
    Some((COMPILED.get(at)?, ALL.get(at)?.source))
}

/// The module of this name, which is the first of its names; none if it is not ours.
pub(crate) fn declare<'js>(ctx: &Ctx<'js>, name: &str) -> Option<Result<Module<'js, Declared>>> {
    let (place, source) = place(name)?;
    if let Some(bytes) = place.get() {
        // SAFETY: the bytes were written by `compile` below, by the same engine in the same process, and nothing
        // can change them.
        return Some(unsafe { Module::load(ctx.clone(), bytes) });
    }
    Some(compile(ctx, name, source).map(|(module, bytes)| {
        // Another engine may have been quicker.
        let _ = place.set(bytes);
        module
    }))
}

fn compile<'js>(ctx: &Ctx<'js>, name: &str, source: &str) -> Result<(Module<'js, Declared>, Vec<u8>)> {
    let module = Module::declare(ctx.clone(), name, source)?;
    // Lines and names stay, for messages.
    let bytes = module.write(WriteOptions { strip_source: true, ..WriteOptions::default() })?;
    Ok((module, bytes))
}

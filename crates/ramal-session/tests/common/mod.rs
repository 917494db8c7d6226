//! What several tests share.
#![allow(dead_code, unreachable_pub, reason = "each test uses its own part of it")]

pub mod context;
pub mod json;
pub mod names;
pub mod pairs;
pub mod questions;
pub mod snapshot;

use std::path::{Path, PathBuf};

/// How many cases a property is tried with: `usual`, or so many times more as `RAMAL_CASES_TIMES` says.
pub fn cases(usual: u32) -> proptest::prelude::ProptestConfig {
    let times = std::env::var("RAMAL_CASES_TIMES").ok().and_then(|times| times.parse().ok());
    proptest::prelude::ProptestConfig {
        cases: usual.saturating_mul(times.unwrap_or(1)),
        max_shrink_iters: 2000,
        failure_persistence: None,
        ..Default::default()
    }
}

/// Files of a folder with an extension, by name.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|found| found == extension));
    files.sort();
    files
}

/// Writes a file of the test's own.
#[allow(clippy::disallowed_methods, reason = "a scratch file")]
pub fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}

/// Writes a file that nobody has touched for a while: nobody waits for its last line to be finished.
pub fn write_old(path: &Path, bytes: &[u8]) {
    write(path, bytes);
    let then = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    std::fs::File::options().append(true).open(path).unwrap().set_modified(then).unwrap();
}

/// Appends to a file as another program would that does not lock.
pub fn append(path: &Path, bytes: &[u8]) {
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    std::io::Write::write_all(&mut file, bytes).unwrap();
}

/// A folder of the test's own, under its real name.
pub fn scratch() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    (folder, path)
}

/// As [`scratch`], for small files and many of them: in memory where the system has such a place, so
/// that forcing them to disk costs nothing.
pub fn light_scratch() -> (tempfile::TempDir, PathBuf) {
    match tempfile::tempdir_in("/dev/shm") {
        Ok(folder) => {
            let path = folder.path().canonicalize().unwrap();
            (folder, path)
        }
        Err(_) => scratch(),
    }
}

/// Runs `check` over items on two threads whose stacks bear deep nesting, and answers what failed, in
/// the order of the items.
pub fn on_threads<T: Sync>(
    items: &[T],
    check: impl Fn(&T) -> Result<(), String> + Sync,
) -> Vec<(usize, String)> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let failures = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let worker = || {
                loop {
                    let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(item) = items.get(at) else { return };
                    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(item)));
                    let failure = match outcome {
                        Ok(Ok(())) => continue,
                        Ok(Err(failure)) => failure,
                        Err(panic) => format!("panicked: {}", panic_text(&*panic)),
                    };
                    failures.lock().unwrap().push((at, failure));
                }
            };
            std::thread::Builder::new().stack_size(256 << 20).spawn_scoped(scope, worker).unwrap();
        }
    });
    let mut failures = failures.into_inner().unwrap();
    failures.sort();
    failures
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    match (panic.downcast_ref::<String>(), panic.downcast_ref::<&str>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text,
        _ => "without a message",
    }
}

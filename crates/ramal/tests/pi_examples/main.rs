//! The examples that pi's package brings, each loaded and tried out; what came of it is written down as a table.
//!
//! Nothing of the package is here: `scripts/pi-examples.sh` installs it, says where it is, and keeps the table as
//! `docs/extensions-of-pi.md`. What each example is expected to do stands in [`table`], with the scenario that
//! shows it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod dialogs;
mod git;
mod model;
mod report;
mod scene;
mod sessions;
mod table;
mod terminal;
mod tools;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use report::{Loaded, Row};
use scene::Scene;

/// Several wait for something most of the time.
const AT_ONCE: usize = 3;

/// The examples in a folder, by their names: files, and folders with something to begin with.
fn found(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_one =
        |path: &PathBuf| path.extension().is_some_and(|end| end == "ts") || path.join("index.ts").exists();
    let name = |path: PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut names: Vec<String> = paths.filter(is_one).map(name).collect();
    names.sort();
    names
}

fn try_out(folder: &Path, name: &str) -> Row {
    let file = folder.join(name);
    let known = table::EXAMPLES.iter().find(|example| example.name == name.trim_end_matches(".ts"));
    let mut row =
        Row { name: name.to_owned(), known, loaded: scene::load(&file), tried: None, log: Vec::new() };
    if let (Some(scenario), Loaded::Yes(_)) = (known.and_then(|known| known.scenario), &row.loaded) {
        let scene = Scene::new(&file);
        let tried = catch_unwind(AssertUnwindSafe(|| scenario(&scene)));
        row.log = scene.log();
        row.tried = Some(tried.map_err(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
        }));
    }
    row
}

#[test]
#[ignore = "needs pi's package; scripts/pi-examples installs it and runs this"]
fn examples_of_pi() {
    let package =
        PathBuf::from(std::env::var_os("PI_PACKAGE").expect("PI_PACKAGE says where the package is"));
    let folder = package.join("examples/extensions");
    let wanted = std::env::var("PI_EXAMPLES").unwrap_or_default();
    let wanted: Vec<&str> = wanted.split_whitespace().collect();
    let is_wanted = |name: &String| wanted.is_empty() || wanted.contains(&name.trim_end_matches(".ts"));
    let names: Vec<String> = found(&folder).into_iter().filter(is_wanted).collect();
    assert!(!names.is_empty(), "{} has no examples", folder.display());
    let (next, rows) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|threads| {
        for _ in 0..AT_ONCE {
            threads.spawn(|| {
                while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let row = try_out(&folder, name);
                    rows.lock().unwrap().push(row);
                }
            });
        }
    });
    let mut rows = rows.into_inner().unwrap();
    rows.sort_by(|one, other| one.name.cmp(&other.name));
    if let Some(path) = std::env::var_os("PI_REPORT") {
        let date = std::env::var("PI_DATE").unwrap_or_default();
        #[expect(clippy::disallowed_methods, reason = "the report that is asked for")]
        fs::write(path, report::page(&package, &date, &rows)).unwrap();
    }
    let wrong: Vec<String> = rows.iter().filter_map(Row::wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

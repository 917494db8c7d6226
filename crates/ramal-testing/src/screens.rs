//! Files that screens are compared with.
//!
//! [`check`] compares a drawing with `screens/NAME.screen` in the folder of the test that calls it. Where they
//! differ the test fails and says how; with `UPDATE_SCREENS=1` the file is written instead, to be looked at
//! before it is committed.

use std::fs;
use std::panic::Location;
use std::path::{Path, PathBuf};

/// Compares a drawing with the file of that name.
///
/// # Panics
///
/// If they differ, or there is no such file.
#[track_caller]
pub fn check(name: &str, drawing: &str) {
    check_with(name, drawing, str::to_owned);
}

/// As [`check`], after `settle` has replaced what is different each time: dates, ids, paths.
///
/// # Panics
///
/// As [`check`].
#[track_caller]
pub fn check_with(name: &str, drawing: &str, settle: impl Fn(&str) -> String) {
    let path = beside(Location::caller()).join("screens").join(format!("{name}.screen"));
    let update = std::env::var_os("UPDATE_SCREENS").is_some_and(|it| it == "1");
    if let Err(difference) = compare(&path, &settle(drawing), update) {
        panic!("{difference}");
    }
}

/// The folder of a test. The compiler knows it from the workspace's root, the test runs in its crate's.
fn beside(caller: &Location<'_>) -> PathBuf {
    let here = std::env::current_dir().unwrap();
    let file = here.ancestors().map(|folder| folder.join(caller.file())).find(|file| file.exists());
    file.and_then(|file| file.parent().map(Path::to_owned)).unwrap_or(here)
}

fn compare(path: &Path, drawing: &str, update: bool) -> Result<(), String> {
    let drawing = format!("{}\n", drawing.trim_end_matches('\n'));
    let kept = fs::read_to_string(path).ok();
    if kept.as_ref() == Some(&drawing) {
        return Ok(());
    }
    if update {
        write(path, &drawing);
        return Ok(());
    }
    let hint = "UPDATE_SCREENS=1 keeps the new one";
    let shown = path.display();
    match kept {
        None => Err(format!("{shown} is not there; {hint}:\n{drawing}")),
        Some(kept) => {
            Err(format!("{shown} is another screen (+ is new); {hint}:\n{}", difference(&kept, &drawing)))
        }
    }
}

fn write(path: &Path, drawing: &str) {
    fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).unwrap();
    #[expect(clippy::disallowed_methods, reason = "a file of the tests, in version control")]
    fs::write(path, drawing).unwrap();
}

/// All rows, since a row is understood among its neighbours.
fn difference(kept: &str, drawing: &str) -> String {
    let rows = similar::TextDiff::from_lines(kept, drawing);
    let rows = rows.iter_all_changes().map(|row| format!("{}│{row}", row.tag()));
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_is_kept_and_compared() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("screens/some.screen");
        let missing = compare(&path, "one\ntwo", false).unwrap_err();
        assert!(missing.contains("is not there") && missing.ends_with("one\ntwo\n"), "{missing}");
        compare(&path, "one\ntwo", true).unwrap();
        compare(&path, "one\ntwo\n\n", false).unwrap();
        let other = compare(&path, "one\nthree", false).unwrap_err();
        assert!(other.ends_with(" │one\n-│two\n+│three\n"), "{other}");
        compare(&path, "one\nthree", true).unwrap();
        compare(&path, "one\nthree", false).unwrap();
    }

    #[test]
    fn files_lie_beside_the_test() {
        let folder = beside(Location::caller());
        assert!(folder.join("screens.rs").exists(), "{}", folder.display());
    }
}

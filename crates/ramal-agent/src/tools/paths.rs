//! Which file a path means that a model wrote, and where it really lies.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Links that are followed before it is called a loop, as the system does.
const MOST_LINKS: usize = 40;

/// `path` made absolute: `~` is the home of the user, what is relative begins at `cwd`, and `.` and
/// `..` are taken away as they are read, before any link is followed.
///
/// The tools open what this answers, so that what was allowed is what is touched.
pub fn resolve(path: &str, cwd: &Path) -> PathBuf {
    let home = |rest: &str| std::env::home_dir().map(|home| home.join(rest.trim_start_matches('/')));
    let path = match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => home(rest),
        _ => None,
    }
    .unwrap_or_else(|| PathBuf::from(path));
    let path = cwd.join(path);
    let path = std::path::absolute(&path).unwrap_or(path);
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(clean.pop()),
            other => clean.push(other),
        }
    }
    clean
}

/// Where an absolute path really lies: every link on the way is followed, also one that points to
/// nothing; what is not there yet is taken as it is written.
pub fn real(path: &Path) -> PathBuf {
    let parts = |path: &Path| -> Vec<OsString> {
        path.components().map(|component| component.as_os_str().to_owned()).collect()
    };
    let mut left: VecDeque<OsString> = parts(path).into();
    let mut real = PathBuf::new();
    let mut links = 0;
    while let Some(part) = left.pop_front() {
        if part == ".." {
            real.pop();
            continue;
        }
        if part == "." {
            continue;
        }
        let here = real.join(&part);
        match std::fs::read_link(&here) {
            Ok(target) if links < MOST_LINKS => {
                links += 1;
                // An absolute target begins with the root, which takes the place of all before it.
                for part in parts(&target).into_iter().rev() {
                    left.push_front(part);
                }
            }
            _ => real = here,
        }
    }
    real
}

/// `path` as it is shown: relative where it lies below `cwd`.
pub(super) fn shown(path: &Path, cwd: &Path) -> String {
    let relative = path.strip_prefix(cwd).ok().filter(|relative| !relative.as_os_str().is_empty());
    relative.unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn paths_are_resolved_as_they_are_read() {
        let home = std::env::home_dir().unwrap();
        for (path, want) in [
            ("a/b", "/w/a/b"),
            ("./a/./b/../c", "/w/a/c"),
            ("../../../..", "/"),
            ("/etc/../usr/", "/usr"),
            ("a//b", "/w/a/b"),
            ("~user", "/w/~user"),
            ("", "/w"),
        ] {
            assert_eq!(resolve(path, Path::new("/w")), Path::new(want), "{path}");
        }
        assert_eq!(resolve("~", Path::new("/w")), home);
        assert_eq!(resolve("~/x", Path::new("/w")), home.join("x"));
    }

    #[test]
    #[cfg(unix)]
    fn links_are_followed_even_to_nothing() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("in/deep")).unwrap();
        std::fs::create_dir(top.join("out")).unwrap();
        symlink(top.join("out"), top.join("in/link")).unwrap();
        symlink("../../out/new", top.join("in/deep/dangling")).unwrap();
        symlink("loop", top.join("in/loop")).unwrap();
        for (path, want) in [
            ("in/link/x/y", "out/x/y"),
            ("in/deep/dangling", "out/new"),
            ("in/not/there", "in/not/there"),
            ("in/loop/x", "in/loop/x"),
        ] {
            assert_eq!(real(&top.join(path)), top.join(want), "{path}");
        }
    }
}

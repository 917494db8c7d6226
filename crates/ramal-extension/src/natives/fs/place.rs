//! Where a path leads, and whether an extension may go there without being asked.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::natives::Call;

/// Links that are followed on the way to one file, at most.
const LINKS: usize = 40;

/// Whether the last part of a path is followed where it is a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    Follow,
    Keep,
}

/// The path without any link or `..` in it. What is not there stays as it is written: it may be about to be
/// made.
pub(super) fn resolve(path: &Path, last: Last) -> io::Result<PathBuf> {
    let mut rest: VecDeque<Part> = path.components().map(Part::of).collect();
    let mut found = PathBuf::new();
    let mut links = 0;
    while let Some(part) = rest.pop_front() {
        let name = match part {
            Part::Start(start) => {
                found.push(start);
                continue;
            }
            Part::Up => {
                found.pop();
                continue;
            }
            Part::Stay => continue,
            Part::Name(name) => name,
        };
        found.push(name);
        let is_last = rest.iter().all(|part| matches!(part, Part::Stay));
        if is_last && last == Last::Keep {
            continue;
        }
        // What cannot be looked at cannot be used either.
        let Ok(target) = std::fs::read_link(&found) else { continue };
        links += 1;
        if links > LINKS {
            return Err(too_many_links());
        }
        found.pop();
        for part in target.components().rev() {
            rest.push_front(Part::of(part));
        }
    }
    Ok(found)
}

enum Part {
    Start(OsString),
    Up,
    Stay,
    Name(OsString),
}

impl Part {
    fn of(component: Component<'_>) -> Part {
        match component {
            Component::Prefix(_) | Component::RootDir => Part::Start(component.as_os_str().to_owned()),
            Component::ParentDir => Part::Up,
            Component::CurDir => Part::Stay,
            Component::Normal(name) => Part::Name(name.to_owned()),
        }
    }
}

#[cfg(unix)]
fn too_many_links() -> io::Error {
    rustix::io::Errno::LOOP.into()
}

#[cfg(not(unix))]
fn too_many_links() -> io::Error {
    io::Error::other("too many symbolic links encountered")
}

/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// Whether nobody has to be asked: it lies in the session's directory or among temporary files, or is read
/// and lies beside the extension. Folders that are guarded are nowhere inside, and what they lie in is not written.
pub(super) fn is_free(call: &Call, path: &Path, access: Access) -> bool {
    let options = &call.record.world.options;
    let real = |path: &Path| resolve(path, Last::Follow).unwrap_or_else(|_| path.to_owned());
    let mut free = vec![real(&call.cwd()), real(&std::env::temp_dir())];
    if access == Access::Read {
        free.extend(call.record.path.parent().map(real));
    }
    let guarded: Vec<PathBuf> = options.guarded.iter().map(|folder| real(folder)).collect();
    // What is done to a folder is done to all that lies in it.
    let holds_guarded = access == Access::Write && guarded.iter().any(|guarded| guarded.starts_with(path));
    !holds_guarded && is_inside(path, &free, &guarded)
}

/// A folder that lies in a guarded one is free for itself: a project may lie anywhere.
fn is_inside(path: &Path, free: &[PathBuf], guarded: &[PathBuf]) -> bool {
    free.iter().any(|folder| {
        let is_kept = |guarded: &PathBuf| {
            path.starts_with(guarded) && (folder == guarded || !folder.starts_with(guarded))
        };
        // Everything lies below the root, which nobody means by it.
        folder.parent().is_some() && path.starts_with(folder) && !guarded.iter().any(is_kept)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_inside() {
        let paths = |all: &[&str]| all.iter().map(PathBuf::from).collect::<Vec<_>>();
        let inside = |path: &str, free: &[&str]| {
            is_inside(
                Path::new(path),
                &paths(free),
                &paths(&["/home/me/.config/ramal", "/home/me/.pi/agent"]),
            )
        };
        assert!(inside("/work/a", &["/work"]) && inside("/work", &["/work"]));
        assert!(!inside("/workshop/a", &["/work"]) && !inside("/etc/passwd", &["/"]));
        assert!(inside("/home/me/x", &["/home/me"]));
        assert!(!inside("/home/me/.config/ramal/trust", &["/home/me"]));
        assert!(!inside("/home/me/.pi/agent/auth.json", &["/home/me/.pi/agent"]));
        assert!(inside("/home/me/.pi/agent/extensions/a.json", &["/home/me/.pi/agent/extensions"]));
        assert!(!inside("/home/me/.pi/agent/auth.json", &["/home/me/.pi/agent/extensions"]));
    }

    #[cfg(unix)]
    #[test]
    fn where_a_path_leads() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("d")).unwrap();
        symlink("../gone", root.join("d/dangling")).unwrap();
        symlink("d", root.join("link")).unwrap();
        symlink("/etc", root.join("out")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let found = |path: &str, last| resolve(&root.join(path), last).ok();
        for (path, leads) in [
            ("link/new/file", "d/new/file"),
            ("d/./x/../y", "d/y"),
            ("link/dangling", "gone"),
            ("link/../d", "d"),
        ] {
            assert_eq!(found(path, Last::Follow), Some(root.join(leads)), "{path}");
        }
        assert_eq!(found("link", Last::Keep), Some(root.join("link")));
        assert_eq!(found("out/passwd", Last::Keep), Some(PathBuf::from("/etc/passwd")));
        assert_eq!(found("loop", Last::Follow), None);
    }
}

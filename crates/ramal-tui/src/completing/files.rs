//! The files of a directory, found by a thread of its own.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::WalkBuilder;

use crate::editor::CompletionItem;

/// Files and folders that are found at most.
const MOST: usize = 50_000;

/// Folders inside folders that are looked into before any deeper one: of a directory with more than [`MOST`]
/// files, those near by are the ones that are named.
const NEAR: usize = 3;

/// The files and folders of a directory, without what git ignores, as they were when it was read. A folder ends in
/// `/`. A copy costs next to nothing.
#[derive(Debug, Clone, Default)]
pub struct Files {
    /// Near ones first, folders before files, then by name.
    items: Arc<[CompletionItem]>,
    /// Whether the directory has more than these.
    is_cut: bool,
}

impl Files {
    /// These, in the order in which they are shown.
    pub fn new(paths: impl IntoIterator<Item = String>) -> Files {
        let mut paths: Vec<String> = paths.into_iter().filter(|path| can_be_typed(path)).collect();
        paths.sort_by_cached_key(|path| {
            let depth = path.trim_end_matches('/').matches('/').count();
            (depth, !path.ends_with('/'), path.clone())
        });
        Files { items: paths.into_iter().map(|path| CompletionItem::new(path, "")).collect(), is_cut: false }
    }

    /// All of them.
    pub fn items(&self) -> &[CompletionItem] {
        &self.items
    }

    /// Whether the directory has more than these.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Whether a folder, which ends in `/`, is among them.
    pub(super) fn has_folder(&self, folder: &str) -> bool {
        self.items.iter().any(|item| item.insert() == folder)
    }

    /// What is in a folder, and in the folders in it.
    pub(super) fn below(&self, folder: &str) -> Vec<CompletionItem> {
        let is_below = |path: &str| path.len() > folder.len() && path.starts_with(folder);
        self.items.iter().filter(|item| is_below(item.insert())).cloned().collect()
    }

    /// Whether these are the same, and not only alike.
    pub(super) fn is_same(&self, other: &Files) -> bool {
        Arc::ptr_eq(&self.items, &other.items)
    }
}

/// Whether a name survives being put into an editor: controls do not, and a quote would end a name in quotes.
fn can_be_typed(path: &str) -> bool {
    !path.contains(|c: char| c.is_control() || c == '"')
}

/// Knows the files of a directory, as far as they have been found.
#[derive(Debug)]
pub struct FileIndex {
    shared: Arc<Shared>,
    wishes: Sender<()>,
}

#[derive(Debug, Default)]
struct Shared {
    files: Mutex<Files>,
    is_over: AtomicBool,
}

impl FileIndex {
    /// Begins to read a directory. `tell` is called, on the thread that reads, whenever there are other files
    /// than before.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(root: impl Into<PathBuf>, tell: impl Fn() + Send + 'static) -> io::Result<FileIndex> {
        let (wishes, wished) = channel();
        let shared = Arc::new(Shared::default());
        let index = FileIndex { shared: Arc::clone(&shared), wishes };
        index.refresh();
        let root = root.into();
        std::thread::Builder::new()
            .name("files".into())
            .spawn(move || work(&root, MOST, &shared, &wished, &tell))?;
        Ok(index)
    }

    /// Reads the directory again, once more if it is being read: for when files may have come or gone.
    pub fn refresh(&self) {
        // The thread ends with this index, and not before.
        let _ = self.wishes.send(());
    }

    /// What is known now.
    pub fn files(&self) -> Files {
        self.shared.files.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for FileIndex {
    /// Nobody waits for the thread: a disk may be slow, and it only reads.
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
    }
}

fn work(root: &Path, most: usize, shared: &Shared, wished: &Receiver<()>, tell: &dyn Fn()) {
    while wished.recv().is_ok() {
        // What was wished for several times is done once.
        while wished.try_recv().is_ok() {}
        let is_over = || shared.is_over.load(Ordering::Relaxed);
        let show = |files: Files| {
            if !is_over() {
                *shared.files.lock().unwrap_or_else(PoisonError::into_inner) = files;
                tell();
            }
        };
        let is_first = shared.files.lock().unwrap_or_else(PoisonError::into_inner).items.is_empty();
        let near = read(root, Some(NEAR), most, HashSet::new(), &is_over);
        // Later there is more to lose by showing only a part.
        if is_first && !near.is_cut && near.has_deeper {
            show(Files::new(near.paths.iter().cloned()));
        }
        let found = match near.has_deeper && !near.is_cut {
            true => read(root, None, most, near.paths, &is_over),
            false => near,
        };
        show(Files { is_cut: found.is_cut, ..Files::new(found.paths) });
    }
}

/// What reading has found.
struct Found {
    paths: HashSet<String>,
    /// Whether there are more.
    is_cut: bool,
    /// Whether there are folders that were not looked into.
    has_deeper: bool,
}

/// Reads a directory down to a depth, and adds what it finds to what is known.
fn read(
    root: &Path,
    depth: Option<usize>,
    most: usize,
    mut paths: HashSet<String>,
    is_over: &dyn Fn() -> bool,
) -> Found {
    let mut has_deeper = false;
    for entry in walk(root, depth) {
        if is_over() {
            break;
        }
        // What cannot be read cannot be named.
        let Ok(entry) = entry else { continue };
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        has_deeper |= is_folder && depth == Some(entry.depth());
        let Some(mut path) = relative(entry.path(), root) else { continue };
        if is_folder {
            path.push('/');
        }
        if paths.len() >= most && !paths.contains(&path) {
            return Found { paths, is_cut: true, has_deeper };
        }
        paths.insert(path);
    }
    Found { paths, is_cut: false, has_deeper }
}

/// All below `root` without what git ignores and without its own folder. Links are not followed, so that nothing
/// outside is seen and nothing is seen twice.
fn walk(root: &Path, depth: Option<usize>) -> ignore::Walk {
    WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .max_depth(depth)
        .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git")
        .build()
}

/// A path as it is typed, from the root on and with slashes; none of the root itself, and none if it is no text.
fn relative(path: &Path, root: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> =
        path.strip_prefix(root).ok()?.components().map(|part| part.as_os_str().to_str()).collect();
    parts.map(|parts| parts.join("/")).filter(|path| !path.is_empty())
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "files of the test's own folder")]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::*;

    fn names(files: &Files) -> Vec<&str> {
        files.items().iter().map(CompletionItem::insert).collect()
    }

    fn folder(paths: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for path in paths {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        root
    }

    fn read_all(root: &Path, most: usize) -> Files {
        let shared = Shared::default();
        let (wish, wished) = channel();
        wish.send(()).unwrap();
        drop(wish);
        work(root, most, &shared, &wished, &|| {});
        shared.files.into_inner().unwrap()
    }

    #[test]
    fn near_ones_come_first_and_what_git_ignores_not_at_all() {
        let root = folder(&[
            "z.md",
            "src/main.rs",
            "src/deep/er/still/x.rs",
            "target/out",
            ".git/config",
            ".github/ci.yml",
            "my file.txt",
            "src/generated.rs",
        ]);
        fs::write(root.path().join(".gitignore"), "target/\ngenerated.rs\n").unwrap();
        let files = read_all(root.path(), MOST);
        assert_eq!(
            names(&files),
            [
                ".github/",
                "src/",
                ".gitignore",
                "my file.txt",
                "z.md",
                "src/deep/",
                ".github/ci.yml",
                "src/main.rs",
                "src/deep/er/",
                "src/deep/er/still/",
                "src/deep/er/still/x.rs",
            ]
        );
        assert!(!files.is_cut());
        assert!(files.has_folder("src/") && !files.has_folder("sr/"));
        let below = files.below("src/");
        assert_eq!(below.first().map(CompletionItem::insert), Some("src/deep/"));
        assert!(below.iter().all(|item| item.insert().starts_with("src/") && item.insert() != "src/"));
    }

    #[test]
    fn of_too_many_the_near_ones_are_named() {
        let root = folder(&["a/b/c/d/1", "a/b/c/d/2", "a/b/c/d/3", "a/b/c/d/4", "z"]);
        let files = read_all(root.path(), 6);
        assert!(files.is_cut());
        assert_eq!(names(&files)[..5], ["a/", "z", "a/b/", "a/b/c/", "a/b/c/d/"]);
        assert_eq!(names(&files).len(), 6);
        let files = read_all(root.path(), 2);
        assert!(files.is_cut() && names(&files).len() == 2, "{files:?}");
        assert!(!read_all(root.path(), 9).is_cut(), "as many as there are");
    }

    #[cfg(unix)]
    #[test]
    fn names_that_cannot_be_typed_are_left_out() {
        use std::os::unix::ffi::OsStrExt as _;
        let root = folder(&["plain", "a\"b", "line\nbreak", "es\x1bcape"]);
        fs::write(root.path().join(std::ffi::OsStr::from_bytes(b"\xff")), "").unwrap();
        assert_eq!(names(&read_all(root.path(), MOST)), ["plain"]);
        assert_eq!(names(&read_all(&root.path().join("none"), MOST)), [""; 0]);
    }

    #[test]
    fn it_reads_by_itself_and_again_when_told() {
        let root = folder(&["one"]);
        let (sender, told) = channel();
        let index = FileIndex::start(root.path(), move || sender.send(()).unwrap_or_default()).unwrap();
        let long = Duration::from_secs(60);
        told.recv_timeout(long).unwrap();
        let before = index.files();
        assert_eq!(names(&before), ["one"]);
        assert!(index.files().is_same(&before));
        fs::write(root.path().join("two"), "").unwrap();
        index.refresh();
        told.recv_timeout(long).unwrap();
        assert_eq!(names(&index.files()), ["one", "two"]);
        assert!(!index.files().is_same(&before));
    }
}

//! Real sessions to make requests from: the corpus, where it is there, and the examples.

use std::path::{Path, PathBuf};

use ramal_session::SessionManager;

/// Session files: the examples of the repository, and those of pi and oh-my-pi from the corpus
/// (`$RAMAL_CORPUS`, or `shared/corpus` beside the repository). Says so where there is no corpus.
pub fn session_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = jsonl_files(&root.join("examples"));
    assert!(!files.is_empty(), "the examples are missing");
    let corpus =
        std::env::var_os("RAMAL_CORPUS").map_or_else(|| root.join("../shared/corpus"), PathBuf::from);
    match corpus.is_dir() {
        true => files.extend(["pi", "oh-my-pi"].iter().flat_map(|name| jsonl_files(&corpus.join(name)))),
        false => eprintln!("skipped: there is no corpus at {}", corpus.display()),
    }
    files
}

fn jsonl_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    files
}

/// What goes to a model, for every leaf of a session, and for the entries on the way to the last of
/// them that are not too many: `(where, messages)`. The file is copied first.
pub fn conversations(path: &Path) -> Vec<(String, Vec<String>)> {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join(path.file_name().unwrap());
    std::fs::copy(path, &copy).unwrap();
    #[allow(clippy::permissions_set_readonly_false, reason = "a copy in a folder of its own")]
    {
        let mut permissions = std::fs::metadata(&copy).unwrap().permissions();
        permissions.set_readonly(false);
        std::fs::set_permissions(&copy, permissions).unwrap();
    }
    let session = SessionManager::open(&copy, Some(folder.path())).unwrap();
    let entries: Vec<_> = session.get_entries().collect();
    // Every leaf, and some places in the middle: a turn may have been left anywhere.
    let step = (entries.len() / 3).max(1);
    let mut found = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        if entry.has_children() && number % step != 0 {
            continue;
        }
        let id = entry.id().unwrap();
        let context = session.build_session_context(ramal_session::At::Entry(id.as_str())).unwrap();
        let messages = context.model_messages().map(Result::unwrap).collect();
        found.push((format!("{} at {}", path.display(), id.as_str()), messages));
    }
    found
}

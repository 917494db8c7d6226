//! Sessions that are no longer wanted: put where they can be taken back from, never removed.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Places;
use super::listing::is_log_name;

/// A program that moves files to the desktop's trash, told their path as its last argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrashProgram {
    /// Its name or path.
    pub command: PathBuf,
    /// What it is told before the path.
    pub arguments: Vec<String>,
}

impl TrashProgram {
    /// Those that are tried, in this order.
    pub fn usual() -> Vec<TrashProgram> {
        let program = |command: &str, arguments: &[&str]| TrashProgram {
            command: command.into(),
            arguments: arguments.iter().map(ToString::to_string).collect(),
        };
        vec![program("trash", &[]), program("gio", &["trash"])]
    }
}

/// Where a session went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trashed {
    /// The folder that holds it now; none for the desktop's trash.
    pub folder: Option<PathBuf>,
    /// The folder with its long outputs, if it could not be moved, too, and stands where it stood.
    pub left: Option<PathBuf>,
}

/// Why a session stays where it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrashError {
    /// One is at work in it.
    #[error("{path} is the session that is open; it stays", path = path.display())]
    IsOpen {
        /// The file.
        path: PathBuf,
    },
    /// It is no file, or has not the name of a session.
    #[error("{path} is not the file of a session; it stays", path = path.display())]
    NotASession {
        /// The path.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{path} could not be moved to {to}: {source}", path = path.display(), to = to.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Where it should have gone.
        to: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// The folder for what no program took, in the root of the sessions.
const FOLDER: &str = "trash";
/// Sessions of one name that there can be in the trash.
const SAME_NAME: usize = 1000;

/// Moves the session in a file to the trash, with the folder of its long outputs: by the first of the programs
/// that can, or else into the folder `trash` of the root where it lies. In that folder each session has one of
/// its own, where no listing looks. Never the one that is `open`.
///
/// It runs programs, so it belongs on a thread where waiting does no harm.
///
/// # Errors
/// If it is the open session, is no session, or could not be moved: it stays where it is then.
pub fn trash(
    places: &Places,
    path: &Path,
    open: Option<&Path>,
    programs: &[TrashProgram],
) -> Result<Trashed, TrashError> {
    let path = &std::path::absolute(path).unwrap_or_else(|_| path.into());
    if open.is_some_and(|open| is_same(open, path)) {
        return Err(TrashError::IsOpen { path: path.into() });
    }
    if !is_log_name(path) || !path.is_file() {
        return Err(TrashError::NotASession { path: path.into() });
    }
    let outputs = Some(path.with_extension("outputs")).filter(|outputs| outputs.is_dir());
    if let Some(program) = programs.iter().find(|program| takes(program, path)) {
        let left = outputs.filter(|outputs| !takes(program, outputs));
        return Ok(Trashed { folder: None, left });
    }
    let root = root_of(places, path);
    let io_error = |to: &Path, source| TrashError::Io { path: path.into(), to: to.into(), source };
    let folder = new_folder(&root, path).map_err(|source| io_error(&root.join(FOLDER), source))?;
    if let Err(source) = move_into(&folder, path) {
        // Only an empty folder is removed so.
        let _ = std::fs::remove_dir(&folder);
        return Err(io_error(&folder, source));
    }
    let left = outputs.filter(|outputs| move_into(&folder, outputs).is_err());
    Ok(Trashed { folder: Some(folder), left })
}

fn is_same(one: &Path, other: &Path) -> bool {
    one == other
        || matches!((std::fs::canonicalize(one), std::fs::canonicalize(other)), (Ok(a), Ok(b)) if a == b)
}

/// Whether a program has moved something away. What it says about it is of no use here: the next one is tried.
fn takes(program: &TrashProgram, path: &Path) -> bool {
    let mut command = Command::new(&program.command);
    command.args(&program.arguments).arg(path);
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success()) && is_gone(path)
}

fn is_gone(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// The root of the sessions among which a file lies; its own folder, if it lies elsewhere.
fn root_of(places: &Places, path: &Path) -> PathBuf {
    let roots = places.roots();
    let root = roots.iter().map(|(_, root)| *root).find(|root| path.starts_with(root));
    root.or_else(|| path.parent()).unwrap_or(Path::new("")).to_owned()
}

/// A folder that was not there before, so that nothing is ever written over.
fn new_folder(root: &Path, path: &Path) -> io::Result<PathBuf> {
    let trash = root.join(FOLDER);
    std::fs::create_dir_all(&trash)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    for number in 1..SAME_NAME {
        let folder = match number {
            1 => trash.join(&*name),
            number => trash.join(format!("{name}-{number}")),
        };
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn move_into(folder: &Path, path: &Path) -> io::Result<()> {
    std::fs::rename(path, folder.join(path.file_name().unwrap_or_default()))
}

//! The models there are, as this user's files and environment say, and the servers on this machine.

use std::io;
use std::path::PathBuf;

use ramal_model::Catalog;
use ramal_model::catalog::{Problem, Sources, local};

/// The user's folder for settings; none where the environment names no place for it.
pub(crate) fn settings_folder() -> Option<PathBuf> {
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let config = config.or_else(|| Some(std::env::home_dir()?.join(".config")))?;
    config.is_absolute().then(|| config.join("ramal"))
}

/// pi's folder of settings.
pub(crate) fn pi_folder() -> Option<PathBuf> {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    match std::env::var_os("PI_CODING_AGENT_DIR").filter(|folder| !folder.is_empty()).map(PathBuf::from) {
        Some(folder) => match (folder.strip_prefix("~"), &home) {
            (Ok(rest), Some(home)) => Some(home.join(rest)),
            _ => Some(folder),
        },
        None => home.map(|home| home.join(".pi/agent")),
    }
}

/// The catalog, and what in the files could not be used.
pub(crate) fn load() -> (Catalog, Vec<Problem>) {
    Catalog::load(&Sources {
        own: settings_folder().map(|folder| folder.join("models.toml")),
        pi: pi_folder().map(|folder| folder.join("models.json")),
        variables: &|name| std::env::var(name).ok(),
    })
}

/// The servers on this machine. On a thread of its own, since whoever asks may be on a runtime.
///
/// # Errors
/// If they cannot be looked for.
pub(crate) fn found_here() -> io::Result<Vec<local::Found>> {
    let find = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(runtime.block_on(local::find(&local::USUAL, local::LIMIT)))
    };
    let found = std::thread::scope(|scope| scope.spawn(find).join());
    found.unwrap_or_else(|_| Ok(Vec::new()))
}
